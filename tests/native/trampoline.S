/* SPDX-License-Identifier: Apache-2.0 */
/*
 * void trampoline_enter(void): make the call that trampoline_state describes and fill in the rest of
 * it. The caller's own registers and control words are as before.
 */
#include "fc_asm.h"

#define S trampoline_state
#define FN S(%rip)
#define WORD(i) S+8+8*i(%rip)
#define STACK_TOP S+56(%rip)
#define GPR_FILL S+64(%rip)
#define MXCSR_IN S+72(%rip)
#define X87_CONTROL_IN S+76(%rip)
#define GPR(i) S+80+8*i(%rip)
#define RFLAGS S+208(%rip)
#define MXCSR S+216(%rip)
#define X87_CONTROL S+220(%rip)
#define X87_TAGS S+222(%rip)
#define VECTOR_BITS S+224(%rip)
#define SAVED_RSP S+232(%rip)
#define VECTOR_FILL S+256(%rip)
#define VECTORS S+320
#define MASKS S+2368

.macro FILL_GPR reg, number
  movq GPR_FILL, \reg
  addq $\number, \reg
.endm

FC_FUNC(trampoline_enter)
  FC_PUSH(%rbx)
  FC_PUSH(%rbp)
  FC_PUSH(%r12)
  FC_PUSH(%r13)
  FC_PUSH(%r14)
  FC_PUSH(%r15)
  subq $72, %rsp
  .cfi_adjust_cfa_offset 72
  stmxcsr 64(%rsp)
  fnstcw 68(%rsp)
  movq %rsp, SAVED_RSP

  /* Vectors: the fill in xmm0-15, zero above, so that a missing vzeroupper shows. */
  cmpq $256, VECTOR_BITS
  jb .Lfill_xmm
  vzeroall
.Lfill_xmm:
  .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
  movdqu VECTOR_FILL, %xmm\n
  .endr
  cmpq $512, VECTOR_BITS
  jb .Lfill_gpr
  .irp n, 16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
  vpxorq %zmm\n, %zmm\n, %zmm\n
  .endr
  .irp n, 1,2,3,4,5,6,7
  kxorw %k\n, %k\n, %k\n
  .endr

.Lfill_gpr:
  FILL_GPR %rax, 0
  FILL_GPR %rbx, 1
  FILL_GPR %rbp, 6
  FILL_GPR %r10, 10
  FILL_GPR %r11, 11
  FILL_GPR %r12, 12
  FILL_GPR %r13, 13
  FILL_GPR %r14, 14
  FILL_GPR %r15, 15
  movq WORD(0), %rdi
  movq WORD(1), %rsi
  movq WORD(2), %rdx
  movq WORD(3), %rcx
  movq WORD(4), %r8
  movq WORD(5), %r9
  ldmxcsr MXCSR_IN
  fninit
  fldcw X87_CONTROL_IN
  cld
  movq STACK_TOP, %rsp
  cmpq %rsp, %rsp /* flags that a test of a length does not leave: a kernel must make its own */
  call *FN

  /* Nothing is trusted before it is stored; mov leaves the flags alone. */
  movq %rax, GPR(0)
  movq %rbx, GPR(1)
  movq %rcx, GPR(2)
  movq %rdx, GPR(3)
  movq %rsi, GPR(4)
  movq %rdi, GPR(5)
  movq %rbp, GPR(6)
  movq %rsp, GPR(7)
  movq %r8, GPR(8)
  movq %r9, GPR(9)
  movq %r10, GPR(10)
  movq %r11, GPR(11)
  movq %r12, GPR(12)
  movq %r13, GPR(13)
  movq %r14, GPR(14)
  movq %r15, GPR(15)
  movq SAVED_RSP, %rsp
  pushfq
  popq RFLAGS
  cld
  stmxcsr MXCSR
  fnstenv (%rsp)
  movw (%rsp), %ax
  movw %ax, X87_CONTROL
  movw 8(%rsp), %ax
  movw %ax, X87_TAGS

  cmpq $256, VECTOR_BITS
  ja .Lstore_zmm
  jb .Lstore_xmm
  .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
  vmovdqu %ymm\n, VECTORS+64*\n(%rip)
  .endr
  vzeroupper
  jmp .Lrestore
.Lstore_zmm:
  .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
  vmovdqu64 %zmm\n, VECTORS+64*\n(%rip)
  .endr
  .irp n, 0,1,2,3,4,5,6,7
  kmovq %k\n, MASKS+8*\n(%rip)
  .endr
  vzeroupper
  jmp .Lrestore
.Lstore_xmm:
  .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
  movdqu %xmm\n, VECTORS+64*\n(%rip)
  .endr

.Lrestore:
  fninit
  ldmxcsr 64(%rsp)
  fldcw 68(%rsp)
  addq $72, %rsp
  .cfi_adjust_cfa_offset -72
  FC_POP(%r15)
  FC_POP(%r14)
  FC_POP(%r13)
  FC_POP(%r12)
  FC_POP(%rbp)
  FC_POP(%rbx)
  ret
FC_END(trampoline_enter)
