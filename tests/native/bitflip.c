/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every row of timingsafe_bcmp and timingsafe_memcmp against answers known by construction: two
 * equal strings, of which a byte or two are then changed. bitflip [--row NAME] [--quick]
 *
 * An operand lies so many bytes after an unmapped page ("at" an offset) or right before one ("at
 * the end"). The bytes around one string always differ from those around the other.
 *
 *   bits    Every length 0..320: the equal strings, then every bit of every byte flipped alone, in
 *           one string and the other by turns. With the strings at each of the 31 pairs of offsets
 *           0..15 one of which is 0, and with one or both at the end.
 *   bytes   Every length 0..320 at the other 225 pairs of offsets 0..15: the equal strings, then
 *           one bit of every byte, of which the number depends on the byte and the offsets.
 *   pairs   Every length 0..320, every two bytes: the same bit of both flipped in one string, and
 *           all bits of one byte in one string and of the other in the other. These differences
 *           cancel in a sum or an exclusive or.
 *   grid    Every pair of offsets 0..63, every length 0..512: the equal strings, then one bit of
 *           the first, the middle and the last byte. It contains the 44 pairs of an offset up to 50
 *           and a length up to 383 that Tempesta's test_mem_fast.c checks.
 *   long    Lengths around 1, 4 and 64 KiB: one bit of every byte, at 64 KiB of every 61st.
 *
 * --quick, for emulators: bits with both strings at offset 0 and both at the end only, and pairs of
 * lengths up to 70. A kernel that writes to a string or around it fails too.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"

#define AREA_BYTES ((size_t)1 << 17)
#define AT_END ((size_t)-1)
#define MAX_LEN 320

typedef int compare_fn(const void *a, const void *b, size_t len);

/* One operand's memory, between two unmapped pages. All of it is `fill` but for the string. */
struct area {
  uint8_t *data;
  uint8_t fill;
  size_t at; /* of the string, or AT_END */
  uint8_t *string;
};

/* Whatever the check of one row needs, and where it failed. */
struct test {
  const char *id;
  compare_fn *compare;
  bool orders; /* timingsafe_memcmp */
  struct area a, b;
  size_t len;
  size_t calls;
  const char *part;
  char failure[200];
  uint8_t text[AREA_BYTES]; /* what both strings hold */
};

static struct test test;

/* ---- Memory ---------------------------------------------------------------------------------- */

static struct area make_area(uint8_t fill) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  uint8_t *p = mmap(NULL, AREA_BYTES + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED || mprotect(p + page, AREA_BYTES, PROT_READ | PROT_WRITE) != 0) {
    perror("bitflip");
    exit(2);
  }
  memset(p + page, fill, AREA_BYTES);
  return (struct area){p + page, fill, 0, p + page};
}

static void place_string(struct area *area, const uint8_t *text, size_t len, size_t at) {
  area->at = at;
  area->string = area->data + (at == AT_END ? AREA_BYTES - len : at);
  memcpy(area->string, text, len);
}

/* Whether the string is as it was placed; then it is not there any more. */
static bool take_string(struct area *area, const uint8_t *text, size_t len) {
  bool same = memcmp(area->string, text, len) == 0;
  memset(area->string, area->fill, len);
  return same;
}

static bool is_filled(const struct area *area) {
  return area->data[0] == area->fill && memcmp(area->data, area->data + 1, AREA_BYTES - 1) == 0;
}

/* ---- One comparison -------------------------------------------------------------------------- */

static const char *at_text(const struct area *area, char text[24]) {
  if (area->at == AT_END) return "the end";
  snprintf(text, 24, "%zu", area->at);
  return text;
}

static bool fail(struct test *t, const char *what, int got, int wanted) {
  char at_a[24], at_b[24];
  snprintf(t->failure, sizeof t->failure, "length %zu at %s and %s, %s: %d, not %d", t->len,
           at_text(&t->a, at_a), at_text(&t->b, at_b), what, got, wanted);
  return false;
}

/* Leave zeros and ones by turns where a kernel might forget to begin from its own. */
static void dirty_registers(uint64_t junk) {
#if defined(__x86_64__)
  __asm__ volatile(
      "movq %0, %%r8\n\tmovq %0, %%r9\n\tmovq %0, %%r10\n\tmovq %0, %%r11\n\t"
      "movq %0, %%xmm0\n\tpunpcklqdq %%xmm0, %%xmm0\n\t"
      "movdqa %%xmm0, %%xmm1\n\tmovdqa %%xmm0, %%xmm2\n\tmovdqa %%xmm0, %%xmm3"
      :
      : "r"(junk)
      : "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3");
#else
  (void)junk;
#endif
}

static int compare(struct test *t) {
  t->calls++;
  dirty_registers(0 - (uint64_t)(t->calls & 1));
  return t->compare(t->a.string, t->b.string, t->len);
}

static bool equal_is_0(struct test *t) {
  int got = compare(t);
  return got == 0 || fail(t, "equal", got, 0);
}

/* Compare after a change whose first byte is i. */
static bool differs(struct test *t, size_t i, size_t j, uint8_t mask) {
  int wanted = t->orders && t->a.string[i] < t->b.string[i] ? -1 : 1;
  int got = compare(t);
  if (got == wanted) return true;
  char what[80];
  snprintf(what, sizeof what, "bits %02x of byte %zu and byte %zu", mask, i, j);
  return fail(t, what, got, wanted);
}

/* With mask flipped in byte i of one string. */
static bool flip(struct test *t, size_t i, uint8_t mask, bool in_b) {
  uint8_t *byte = (in_b ? t->b.string : t->a.string) + i;
  *byte ^= mask;
  bool ok = differs(t, i, i, mask);
  *byte ^= mask;
  return ok;
}

/* With mask flipped in byte i of a and in byte j > i of a or b. */
static bool flip_two(struct test *t, size_t i, size_t j, uint8_t mask, bool in_b) {
  uint8_t *second = (in_b ? t->b.string : t->a.string) + j;
  t->a.string[i] ^= mask;
  *second ^= mask;
  bool ok = differs(t, i, j, mask);
  t->a.string[i] ^= mask;
  *second ^= mask;
  return ok;
}

static uint8_t bit(size_t number) {
  return (uint8_t)(1u << (number & 7));
}

/* ---- Strings of one length at one place ------------------------------------------------------ */

typedef bool sweep_fn(struct test *t);

static bool sweep(struct test *t, size_t len, size_t at_a, size_t at_b, sweep_fn *changes) {
  t->len = len;
  place_string(&t->a, t->text, len, at_a);
  place_string(&t->b, t->text, len, at_b);
  bool ok = equal_is_0(t) && changes(t);
  bool a_same = take_string(&t->a, t->text, len);
  bool b_same = take_string(&t->b, t->text, len);
  return ok && ((a_same && b_same) || fail(t, "a string was written to", 1, 0));
}

static bool every_bit(struct test *t) {
  for (size_t i = 0; i < 8 * t->len; i++) {
    if (!flip(t, i / 8, bit(i), i & 1)) return false;
  }
  return true;
}

static bool every_byte(struct test *t) {
  size_t first_bit = t->a.at + 3 * t->b.at;
  for (size_t i = 0; i < t->len; i++) {
    if (!flip(t, i, bit(first_bit + i), (first_bit + i) & 8)) return false;
  }
  return true;
}

static bool every_61st_byte(struct test *t) {
  for (size_t i = 0; i < t->len; i += 61) {
    if (!flip(t, i, bit(i), i & 8)) return false;
  }
  return t->len == 0 || flip(t, t->len - 1, 1, false);
}

static bool every_two_bytes(struct test *t) {
  for (size_t i = 0; i < t->len; i++) {
    for (size_t j = i + 1; j < t->len; j++) {
      if (!flip_two(t, i, j, bit(i + j), false) || !flip_two(t, i, j, 0xff, true)) return false;
    }
  }
  return true;
}

static bool three_bytes(struct test *t) {
  size_t n = t->len;
  return n == 0 || (flip(t, 0, bit(n), false) && flip(t, n / 2, bit(n + 1), true) &&
                    flip(t, n - 1, bit(n + 2), false));
}

/* ---- The parts ------------------------------------------------------------------------------- */

static bool lengths(struct test *t, size_t max, size_t at_a, size_t at_b, sweep_fn *changes) {
  for (size_t len = 0; len <= max; len++) {
    if (!sweep(t, len, at_a, at_b, changes)) return false;
  }
  return true;
}

static bool bits_quick(struct test *t) {
  return lengths(t, MAX_LEN, 0, 0, every_bit) && lengths(t, MAX_LEN, AT_END, AT_END, every_bit);
}

static bool bits(struct test *t) {
  for (size_t at = 0; at < 16; at++) {
    if (!lengths(t, MAX_LEN, at, 0, every_bit) || !lengths(t, MAX_LEN, 0, at, every_bit)) {
      return false;
    }
  }
  return lengths(t, MAX_LEN, AT_END, AT_END, every_bit) &&
         lengths(t, MAX_LEN, AT_END, 0, every_bit) && lengths(t, MAX_LEN, 0, AT_END, every_bit);
}

static bool bytes(struct test *t) {
  for (size_t at_a = 1; at_a < 16; at_a++) {
    for (size_t at_b = 1; at_b < 16; at_b++) {
      if (!lengths(t, MAX_LEN, at_a, at_b, every_byte)) return false;
    }
  }
  return true;
}

static bool pairs_quick(struct test *t) {
  return lengths(t, 70, 0, AT_END, every_two_bytes);
}

static bool pairs(struct test *t) {
  return lengths(t, MAX_LEN, 0, AT_END, every_two_bytes);
}

static bool grid(struct test *t) {
  for (size_t at_a = 0; at_a < 64; at_a++) {
    for (size_t at_b = 0; at_b < 64; at_b++) {
      if (!lengths(t, 512, at_a, at_b, three_bytes)) return false;
    }
  }
  return true;
}

static bool long_strings(struct test *t) {
  static const size_t around[] = {1024, 4096, 65536};
  for (size_t i = 0; i < sizeof around / sizeof around[0]; i++) {
    sweep_fn *changes = around[i] < 65536 ? every_byte : every_61st_byte;
    for (size_t len = around[i] - 1; len <= around[i] + 1; len++) {
      if (!sweep(t, len, 1, AT_END, changes)) return false;
    }
  }
  return true;
}

struct part {
  const char *name;
  bool (*run)(struct test *t);
  bool (*run_quick)(struct test *t); /* or NULL: left out */
};

static const struct part parts[] = {
    {"bits", bits, bits_quick}, {"bytes", bytes, NULL},       {"pairs", pairs, pairs_quick},
    {"grid", grid, NULL},       {"long", long_strings, NULL},
};

static bool run_parts(struct test *t) {
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    bool (*run)(struct test *) = harness_options.quick ? parts[i].run_quick : parts[i].run;
    if (run == NULL) continue;
    t->part = parts[i].name;
    if (!run(t)) return false;
    if (!is_filled(&t->a) || !is_filled(&t->b)) return fail(t, "memory around it changed", 1, 0);
  }
  return true;
}

static void check_target(struct test *t, const struct harness_target *target) {
  const char *reason = harness_not_runnable(target);
  if (reason != NULL) {
    harness_report(HARNESS_UNDECIDABLE, target->id, "bitflip", "%s", reason);
    return;
  }
  t->id = target->id;
  t->compare = (compare_fn *)target->kernel->fn;
  t->orders = target->row->op == FC_OP_timingsafe_memcmp;
  t->calls = 0;
  if (run_parts(t)) {
    harness_report(HARNESS_PASS, target->id, "bitflip", "%zu calls", t->calls);
  } else {
    harness_report(HARNESS_FAIL, target->id, t->part, "%s", t->failure);
  }
}

/* The kernel read an unmapped page: say where and end. */
static void on_fault(int signal_number) {
  (void)signal_number;
  fail(&test, "fault", 1, 0);
  harness_report(HARNESS_FAIL, test.id, test.part, "%s", test.failure);
  fflush(stdout);
  _exit(1);
}

int main(int argc, char **argv) {
  uint64_t seed = 1;
  harness_parse(argc, argv);
  signal(SIGSEGV, on_fault);
  signal(SIGBUS, on_fault);
  test.a = make_area(0xa5);
  test.b = make_area(0x5a);
  harness_random(&seed, "text", test.text, sizeof test.text);

  size_t count;
  struct harness_target *targets = harness_targets(fc_rows, fc_row_count, &count);
  for (size_t i = 0; i < count; i++) {
    enum fc_op op = targets[i].row->op;
    if (op != FC_OP_timingsafe_bcmp && op != FC_OP_timingsafe_memcmp) continue;
    if (harness_selected(&targets[i])) check_target(&test, &targets[i]);
  }
  free(targets);
  return harness_failed();
}
