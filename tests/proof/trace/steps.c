/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which instructions of one shared object run: single-steps a program between pairs of SIGUSR1 that
 * it sends itself, and prints the offsets in the object that ran, one line per pair.
 *
 *   steps OBJECT program arguments...      OBJECT: what its path in /proc/PID/maps ends with
 *
 *   ran STEPS INSIDE offset offset ...     STEPS: all instructions, INSIDE: those in the object
 */
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

struct object {
  uint64_t start, end;
  uint8_t *ran; /* one byte per address */
  size_t inside;
};

static void give_up(const char *why) {
  perror(why);
  exit(2);
}

static int ends_with(const char *line, const char *end) {
  const size_t a = strcspn(line, "\n"), b = strlen(end);
  return a >= b && strncmp(line + a - b, end, b) == 0;
}

static void find_object(pid_t child, const char *name, struct object *object) {
  char path[64], line[4096];
  snprintf(path, sizeof path, "/proc/%d/maps", (int)child);
  FILE *maps = fopen(path, "r");
  if (maps == NULL) give_up(path);
  object->start = object->end = object->inside = 0;
  while (fgets(line, sizeof line, maps) != NULL) {
    uint64_t start, end;
    if (!ends_with(line, name) || sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) != 2) continue;
    if (object->start == 0) object->start = start;
    object->end = end;
  }
  fclose(maps);
  if (object->start == 0) {
    fprintf(stderr, "steps: no %s is mapped\n", name);
    exit(2);
  }
  object->ran = calloc(object->end - object->start, 1);
  if (object->ran == NULL) give_up("calloc");
}

static void print_object(const struct object *object, size_t steps) {
  printf("ran %zu %zu", steps, object->inside);
  for (uint64_t i = 0; i < object->end - object->start; i++) {
    if (object->ran[i]) printf(" %" PRIx64, i);
  }
  printf("\n");
}

static void note_instruction(pid_t child, struct object *object) {
  const long rip =
      ptrace(PTRACE_PEEKUSER, child, (void *)offsetof(struct user_regs_struct, rip), NULL);
  const uint64_t offset = (uint64_t)rip - object->start;
  if (offset >= object->end - object->start) return;
  object->ran[offset] = 1;
  object->inside++;
}

/* Step until the next SIGUSR1. */
static void step_to_mark(pid_t child, const char *name) {
  struct object object;
  size_t steps = 0;
  int status;
  long signal = 0;
  find_object(child, name, &object);
  for (;;) {
    if (ptrace(PTRACE_SINGLESTEP, child, NULL, (void *)signal) != 0) give_up("singlestep");
    if (waitpid(child, &status, 0) < 0) give_up("waitpid");
    if (!WIFSTOPPED(status)) {
      fprintf(stderr, "steps: the program ended between two marks, status 0x%x\n",
              (unsigned)status);
      exit(2);
    }
    if (WSTOPSIG(status) == SIGUSR1) break;
    signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
    steps++;
    note_instruction(child, &object);
  }
  print_object(&object, steps);
  free(object.ran);
}

int main(int argc, char **argv) {
  int status;
  if (argc < 3) {
    fprintf(stderr, "usage: %s OBJECT program arguments...\n", argv[0]);
    return 2;
  }
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    execvp(argv[2], argv + 2);
    give_up(argv[2]);
  }
  if (child < 0 || waitpid(child, &status, 0) < 0) give_up("fork");
  ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)PTRACE_O_EXITKILL);
  for (long signal = 0;;) {
    ptrace(PTRACE_CONT, child, NULL, (void *)signal);
    if (waitpid(child, &status, 0) < 0) give_up("waitpid");
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
    signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
    if (signal != SIGUSR1) continue;
    step_to_mark(child, argv[1]);
    signal = 0;
  }
}
