/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A planted leak: compares byte by byte and jumps over the instruction that notes a difference.
 * Every byte is read, so only the jump tells.
 *
 * Contract: kernels.h, op timingsafe_bcmp
 * Secret: everything behind A and B, and yet a jump tests it
 * Public registers: rdi rsi rdx rcx
 */
#include "fc_asm.h"

#define A %rdi
#define B %rsi
#define LEN %rdx
#define I %rcx
#define RESULT %eax
#define BYTE %r8b

FC_FUNC(leak_jump)
  xorl RESULT, RESULT
  xorl %ecx, %ecx
.Lnext:
  cmpq LEN, I
  je .Ldone
  movb (A, I), BYTE
  cmpb (B, I), BYTE
  je .Lsame
  movl $1, RESULT
.Lsame:
  incq I
  jmp .Lnext
.Ldone:
  xorl %r8d, %r8d
  ret
FC_END(leak_jump)
