/* SPDX-License-Identifier: Apache-2.0 */
/* The state that call_kernel (start.S) reads and writes; shared by C and assembly. */
#ifndef FC_BOCHS_CALL_H
#define FC_BOCHS_CALL_H

/* Offsets in struct call_registers. GPRs are in the order of their encoding: rax rcx rdx rbx ... */
#define REGISTERS_FLAGS 128
#define REGISTERS_MASK 136
#define REGISTERS_MXCSR 200
#define REGISTERS_ZMM 256
#define REGISTERS_BYTES 2304

/* Offsets in struct call_state. */
#define CALL_FN 0
#define CALL_ARGS 8
#define CALL_STACK 56
#define CALL_HOST_RSP 64
#define CALL_BEFORE 128
#define CALL_AFTER (CALL_BEFORE + REGISTERS_BYTES)

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

enum gpr {
  RAX,
  RCX,
  RDX,
  RBX,
  RSP,
  RBP,
  RSI,
  RDI,
  R8,
  R9,
  R10,
  R11,
  R12,
  R13,
  R14,
  R15,
  GPR_COUNT
};

struct call_registers {
  uint64_t gpr[GPR_COUNT];
  uint64_t flags;
  uint64_t mask[8];
  uint64_t mxcsr;
  _Alignas(64) uint64_t zmm[32][8];
};

struct call_state {
  void (*fn)(void);
  uint64_t args[6];
  uint64_t stack; /* what rsp is before the call instruction */
  uint64_t host_rsp;
  _Alignas(64) struct call_registers before, after;
};

_Static_assert(offsetof(struct call_registers, flags) == REGISTERS_FLAGS, "call.h");
_Static_assert(offsetof(struct call_registers, mask) == REGISTERS_MASK, "call.h");
_Static_assert(offsetof(struct call_registers, mxcsr) == REGISTERS_MXCSR, "call.h");
_Static_assert(offsetof(struct call_registers, zmm) == REGISTERS_ZMM, "call.h");
_Static_assert(sizeof(struct call_registers) == REGISTERS_BYTES, "call.h");
_Static_assert(offsetof(struct call_state, args) == CALL_ARGS, "call.h");
_Static_assert(offsetof(struct call_state, stack) == CALL_STACK, "call.h");
_Static_assert(offsetof(struct call_state, host_rsp) == CALL_HOST_RSP, "call.h");
_Static_assert(offsetof(struct call_state, before) == CALL_BEFORE, "call.h");
_Static_assert(offsetof(struct call_state, after) == CALL_AFTER, "call.h");

extern struct call_state call_state;

/*
 * Load every register from call_state.before (arguments from call_state.args), call call_state.fn
 * on the stack call_state.stack, store every register in call_state.after. call_faulted is where an
 * exception inside fn resumes: call_kernel then returns with `after` as it was.
 */
void call_kernel(void);
void call_faulted(void);
#endif

#endif
