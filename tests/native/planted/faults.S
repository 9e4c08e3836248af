/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compare kernels with one fault each that C could not have. Every one compares right, byte by byte
 * and without a branch on the bytes.
 *
 * Contract: kernels.h, op timingsafe_bcmp
 * Secret: everything behind A and B
 * Public registers: rdi rsi rdx rcx
 */
#include "fc_asm.h"

#define A %rdi
#define B %rsi
#define LEN %rdx
#define I %rcx

/* al: the OR of all differences; eax: 0 or 1 in the end. Clobbers r8 and clears it. */
.macro COMPARE
  xorl %eax, %eax
  xorl %ecx, %ecx
.Lnext\@:
  cmpq LEN, I
  je .Ldone\@
  movb (A, I), %r8b
  xorb (B, I), %r8b
  orb %r8b, %al
  incq I
  jmp .Lnext\@
.Ldone\@:
  negl %eax
  sbbl %eax, %eax
  negl %eax
  xorl %r8d, %r8d
.endm

FC_FUNC(fault_changes_rbx)
  COMPARE
  movl %edx, %ebx
  ret
FC_END(fault_changes_rbx)

/* For one length only. */
FC_FUNC(fault_changes_r15)
  COMPARE
  cmpq $333, LEN
  cmoveq LEN, %r15
  ret
FC_END(fault_changes_r15)

FC_FUNC(fault_sets_direction)
  COMPARE
  std
  ret
FC_END(fault_sets_direction)

FC_FUNC(fault_changes_mxcsr)
  COMPARE
  movl $0x1f80, -4(%rsp)
  ldmxcsr -4(%rsp)
  ret
FC_END(fault_changes_mxcsr)

/* Needs AVX. */
FC_FUNC(fault_dirty_upper)
  COMPARE
  vpcmpeqd %ymm3, %ymm3, %ymm3
  ret
FC_END(fault_dirty_upper)

/* Keeps the length where a signal handler's frame goes, and compares too little if it is gone. */
FC_FUNC(fault_below_red_zone)
  movq LEN, -512(%rsp)
  xorl %ecx, %ecx
.Lwait:
  incl %ecx
  cmpl $20000, %ecx
  jne .Lwait
  cmpq %rdx, -512(%rsp)
  movl $0, %ecx
  cmovneq %rcx, LEN
  COMPARE
  ret
FC_END(fault_below_red_zone)

FC_FUNC(fault_leaves_vector)
  COMPARE
  cmpq $16, LEN
  jb .Lshort
  movdqu (A), %xmm9
.Lshort:
  ret
FC_END(fault_leaves_vector)

/* One for each caller-saved register: the first byte of B stays in it. */
.macro LEAVES_REGISTER name, reg
FC_FUNC(\name)
  COMPARE
  testq LEN, LEN
  jz .Lempty\@
  movzbl (B), \reg
.Lempty\@:
  ret
FC_END(\name)
.endm

LEAVES_REGISTER fault_leaves_rcx, %ecx
LEAVES_REGISTER fault_leaves_rdx, %edx
LEAVES_REGISTER fault_leaves_rsi, %esi
LEAVES_REGISTER fault_leaves_rdi, %edi
LEAVES_REGISTER fault_leaves_r8, %r8d
LEAVES_REGISTER fault_leaves_r9, %r9d
LEAVES_REGISTER fault_leaves_r10, %r10d
LEAVES_REGISTER fault_leaves_r11, %r11d

FC_FUNC(fault_leaves_stack)
  COMPARE
  subq $200, %rsp
  .cfi_adjust_cfa_offset 200
  cmpq $8, LEN
  jb .Lnothing
  movq (A), %r8
  movq %r8, 40(%rsp)
  xorl %r8d, %r8d
.Lnothing:
  addq $200, %rsp
  .cfi_adjust_cfa_offset -200
  ret
FC_END(fault_leaves_stack)
