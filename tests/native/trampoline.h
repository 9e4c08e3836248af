/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls a kernel on a stack of its own with every register known beforehand, and keeps what every
 * register holds afterwards.
 */
#ifndef FC_TRAMPOLINE_H
#define FC_TRAMPOLINE_H

#include "harness.h"

#define TRAMPOLINE_STACK 65536
#define TRAMPOLINE_ABOVE 512 /* bytes above the return address, which belong to the caller */

/* trampoline.S knows the offsets. */
struct trampoline_state {
  fc_any_fn *fn;
  uint64_t words[HARNESS_MAX_WORDS];
  uint64_t stack_top; /* rsp before the call pushes the return address */
  uint64_t gpr_fill;  /* register i (rax rbx rcx ...) starts as gpr_fill + i, arguments apart */
  uint32_t mxcsr_in, x87_control_in;
  uint64_t gpr[16]; /* after: rax rbx rcx rdx rsi rdi rbp rsp r8 ... r15 */
  uint64_t rflags;
  uint32_t mxcsr;
  uint16_t x87_control, x87_tags;
  uint64_t vector_bits; /* 128, 256 or 512: what this CPU has */
  uint64_t saved_rsp;
  uint64_t padding;
  _Alignas(64) uint8_t vector_fill[64];
  uint8_t vectors[32][64]; /* after: 16 registers, 32 with 512 bits */
  uint64_t masks[8];
};
extern FC_HIDDEN struct trampoline_state trampoline_state;

enum { RAX, RBX, RCX, RDX, RSI, RDI, RBP, RSP, R8, R9, R10, R11, R12, R13, R14, R15 };
extern const char *const trampoline_gpr_names[16];

/* The stack that kernels run on: [trampoline_stack, + TRAMPOLINE_STACK), above it the caller's
 * part. */
extern uint8_t *trampoline_stack;
void trampoline_init(void);

/* Paint the stack, call the kernel, keep the registers. Returns its result as harness_run does. */
int trampoline_run(struct harness_call *call, uint8_t paint);

/* Call the kernel on the stack that ends at `top`, nothing painted, every control word at its
 * default: for checks that look at other things and must survive a kernel that breaks the ABI. */
int trampoline_call(struct harness_call *call, uint8_t *top);

/* How deep below the caller the last run wrote, in bytes, its return address included. */
size_t trampoline_depth(uint8_t paint);

/* Lengths that reach every path of a kernel, or of any that one would write. */
extern const size_t trampoline_lengths[];
extern const size_t trampoline_length_count;
size_t trampoline_length(const struct harness_op *op, size_t i);

#endif
