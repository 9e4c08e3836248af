/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_call(fn, words): call fn with six words, between two marks that the tracer knows. The breakpoint
 * stops the child; from there on the tracer steps until trace_end. Under Bochs both marks are an
 * instruction that its debugger stops at.
 */
#include "fc_asm.h"

#ifdef FC_BOCHS
#define MARK_BEGIN xchgw %bx, %bx
#define MARK_END xchgw %bx, %bx
#else
#define MARK_BEGIN int3
#define MARK_END
#endif

FC_FUNC(trace_call)
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  movq %rdi, %rax
  movq %rsi, %r10
  movq 0(%r10), %rdi
  movq 8(%r10), %rsi
  movq 16(%r10), %rdx
  movq 24(%r10), %rcx
  movq 32(%r10), %r8
  movq 40(%r10), %r9
.globl trace_begin
trace_begin:
  MARK_BEGIN
  call *%rax
.globl trace_end
trace_end:
  MARK_END
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  ret
FC_END(trace_call)
