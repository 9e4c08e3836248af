/* SPDX-License-Identifier: Apache-2.0 */
#include "trampoline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cpu/detect.h"

_Static_assert(offsetof(struct trampoline_state, stack_top) == 56, "trampoline.S");
_Static_assert(offsetof(struct trampoline_state, gpr) == 80, "trampoline.S");
_Static_assert(offsetof(struct trampoline_state, rflags) == 208, "trampoline.S");
_Static_assert(offsetof(struct trampoline_state, vector_bits) == 224, "trampoline.S");
_Static_assert(offsetof(struct trampoline_state, saved_rsp) == 232, "trampoline.S");
_Static_assert(offsetof(struct trampoline_state, vector_fill) == 256, "trampoline.S");
_Static_assert(offsetof(struct trampoline_state, vectors) == 320, "trampoline.S");
_Static_assert(offsetof(struct trampoline_state, masks) == 2368, "trampoline.S");

FC_HIDDEN void trampoline_enter(void);

struct trampoline_state trampoline_state;
uint8_t *trampoline_stack;

const char *const trampoline_gpr_names[16] = {"rax", "rbx", "rcx", "rdx", "rsi", "rdi",
                                              "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                              "r12", "r13", "r14", "r15"};

const size_t trampoline_lengths[] = {
    0,   1,   2,   3,   4,   5,   7,   8,   9,   12,  15,  16,  17,  20,   24,   31,   32,
    33,  47,  48,  49,  63,  64,  65,  80,  95,  96,  97,  100, 111, 112,  127,  128,  129,
    144, 160, 176, 191, 192, 193, 208, 224, 240, 255, 256, 257, 272, 304,  320,  333,  383,
    384, 385, 400, 448, 480, 511, 512, 513, 528, 576, 600, 640, 768, 1024, 1040, 1536, 2048};
const size_t trampoline_length_count = sizeof trampoline_lengths / sizeof trampoline_lengths[0];

size_t trampoline_length(const struct harness_op *op, size_t i) {
  /* Block ops: as many blocks as an op on bytes would see of 16 bytes. */
  return op->unit == 1 ? trampoline_lengths[i] : trampoline_lengths[i] / 16 * op->unit;
}

void trampoline_init(void) {
  const size_t size = 4096 + TRAMPOLINE_STACK + 4096;
  uint8_t *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED || mprotect(p, 4096, PROT_NONE) != 0) {
    perror("mmap");
    exit(2);
  }
  trampoline_stack = p + 4096;
  const fc_features features = fc_cpu_detect();
  trampoline_state.vector_bits = features & FC_F(AVX512BW) ? 512 : features & FC_F(AVX) ? 256 : 128;
}

static int enter(struct harness_call *call, uint8_t *top) {
  struct trampoline_state *s = &trampoline_state;
  harness_set_words(call);
  memcpy(s->words, call->words, sizeof s->words);
  s->fn = call->target->kernel->fn;
  s->stack_top = (uintptr_t)top & ~(uint64_t)15;
  s->gpr_fill = 0xc0de5eedfeedfa00;
  trampoline_enter();
  return call->target->op->result == HARNESS_NONE ? 0 : (int)(uint32_t)s->gpr[RAX];
}

int trampoline_call(struct harness_call *call, uint8_t *top) {
  trampoline_state.mxcsr_in = 0x1f80;
  trampoline_state.x87_control_in = 0x037f;
  return enter(call, top);
}

int trampoline_run(struct harness_call *call, uint8_t paint) {
  struct trampoline_state *s = &trampoline_state;
  memset(trampoline_stack, paint, TRAMPOLINE_STACK + TRAMPOLINE_ABOVE);
  memset(s->vectors, 0, sizeof s->vectors);
  memset(s->vector_fill, 0xb6, sizeof s->vector_fill);
  s->mxcsr_in = 0xbf80; /* round down, flush to zero: neither the default nor fit for a float */
  s->x87_control_in = 0x027f; /* double precision */
  return enter(call, trampoline_stack + TRAMPOLINE_STACK);
}

size_t trampoline_depth(uint8_t paint) {
  const uint8_t *p = trampoline_stack, *top = trampoline_stack + TRAMPOLINE_STACK;
  while (p < top && *p == paint) p++;
  return (size_t)(top - p);
}
