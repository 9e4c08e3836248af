/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The image's entry, the exception entries, and the call of a kernel with every register known
 * before and recorded after.
 */
#include "call.h"

#define CR0_CLEAR 0xc /* EM, TS */
#define CR0_SET 0x10022 /* MP, NE, WP: read-only pages are read-only to us as well */
#define CR4_SET 0x40600 /* OSFXSR, OSXMMEXCPT, OSXSAVE */
#define XCR0_SET 0xe7 /* x87, SSE, AVX, opmask, zmm0-15 high halves, zmm16-31 */

  .section .text.start, "ax"
  .globl image_start
image_start:
  endbr64
  xorl %eax, %eax
  movw %ax, %ds
  movw %ax, %es
  movw %ax, %ss
  leaq host_stack_end(%rip), %rsp

  movq %cr0, %rax
  andq $~CR0_CLEAR, %rax
  orq $CR0_SET, %rax
  movq %rax, %cr0
  movq %cr4, %rax
  orq $CR4_SET, %rax
  movq %rax, %cr4
  xorl %ecx, %ecx
  xorl %edx, %edx
  movl $XCR0_SET, %eax
  xsetbv
  fninit

  leaq image_bss(%rip), %rdi
  leaq image_end(%rip), %rcx
  subq %rdi, %rcx
  xorl %eax, %eax
  rep stosb
  call image_main
1:
  hlt
  jmp 1b

/* ---- Exceptions ------------------------------------------------------------------------------ */

  .text
  .irp vector, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
exception_\vector:
  endbr64
  /* The CPU pushes an error code for 8, 10-14, 17, 21, 29 and 30 only. */
  .if !((0x60227d00 >> \vector) & 1)
  pushq $0
  .endif
  pushq $\vector
  jmp exception_common
  .endr

exception_common:
  .irp reg, r15,r14,r13,r12,r11,r10,r9,r8,rdi,rsi,rbp,rbx,rdx,rcx,rax
  pushq %\reg
  .endr
  cld
  movq %rsp, %rdi
  call exception /* may change where the frame returns to */
  .irp reg, rax,rcx,rdx,rbx,rbp,rsi,rdi,r8,r9,r10,r11,r12,r13,r14,r15
  popq %\reg
  .endr
  addq $16, %rsp
  iretq

  .section .rodata
  .p2align 3
  .globl exception_entries
exception_entries:
  .irp vector, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
  .quad exception_\vector
  .endr

/* ---- Calling a kernel ------------------------------------------------------------------------ */

#define BEFORE call_state + CALL_BEFORE
#define AFTER call_state + CALL_AFTER

  .text
  .globl call_kernel
call_kernel:
  endbr64
  .irp reg, rbx,rbp,r12,r13,r14,r15
  pushq %\reg
  .endr
  movq %rsp, call_state + CALL_HOST_RSP(%rip)

  .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
  vmovdqu64 BEFORE + REGISTERS_ZMM + 64*\n(%rip), %zmm\n
  .endr
  .irp n, 0,1,2,3,4,5,6,7
  kmovq BEFORE + REGISTERS_MASK + 8*\n(%rip), %k\n
  .endr
  ldmxcsr BEFORE + REGISTERS_MXCSR(%rip)

  movq BEFORE + 8*0(%rip), %rax
  movq BEFORE + 8*3(%rip), %rbx
  movq BEFORE + 8*5(%rip), %rbp
  movq BEFORE + 8*10(%rip), %r10
  movq BEFORE + 8*11(%rip), %r11
  movq BEFORE + 8*12(%rip), %r12
  movq BEFORE + 8*13(%rip), %r13
  movq BEFORE + 8*14(%rip), %r14
  movq BEFORE + 8*15(%rip), %r15
  movq call_state + CALL_ARGS + 8*0(%rip), %rdi
  movq call_state + CALL_ARGS + 8*1(%rip), %rsi
  movq call_state + CALL_ARGS + 8*2(%rip), %rdx
  movq call_state + CALL_ARGS + 8*3(%rip), %rcx
  movq call_state + CALL_ARGS + 8*4(%rip), %r8
  movq call_state + CALL_ARGS + 8*5(%rip), %r9
  movq call_state + CALL_STACK(%rip), %rsp
  call *call_state + CALL_FN(%rip)

  movq %rax, AFTER + 8*0(%rip)
  movq %rcx, AFTER + 8*1(%rip)
  movq %rdx, AFTER + 8*2(%rip)
  movq %rbx, AFTER + 8*3(%rip)
  movq %rsp, AFTER + 8*4(%rip)
  movq %rbp, AFTER + 8*5(%rip)
  movq %rsi, AFTER + 8*6(%rip)
  movq %rdi, AFTER + 8*7(%rip)
  movq %r8, AFTER + 8*8(%rip)
  movq %r9, AFTER + 8*9(%rip)
  movq %r10, AFTER + 8*10(%rip)
  movq %r11, AFTER + 8*11(%rip)
  movq %r12, AFTER + 8*12(%rip)
  movq %r13, AFTER + 8*13(%rip)
  movq %r14, AFTER + 8*14(%rip)
  movq %r15, AFTER + 8*15(%rip)
  movq call_state + CALL_HOST_RSP(%rip), %rsp
  pushfq
  popq AFTER + REGISTERS_FLAGS(%rip)
  stmxcsr AFTER + REGISTERS_MXCSR(%rip)
  .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
  vmovdqu64 %zmm\n, AFTER + REGISTERS_ZMM + 64*\n(%rip)
  .endr
  .irp n, 0,1,2,3,4,5,6,7
  kmovq %k\n, AFTER + REGISTERS_MASK + 8*\n(%rip)
  .endr

  .globl call_faulted
call_faulted:
  endbr64
  movq call_state + CALL_HOST_RSP(%rip), %rsp
  cld
  vzeroupper
  ldmxcsr default_mxcsr(%rip)
  .irp reg, r15,r14,r13,r12,rbp,rbx
  popq %\reg
  .endr
  ret

  .section .rodata
  .p2align 2
default_mxcsr:
  .long 0x1f80

/* ---- Stacks ---------------------------------------------------------------------------------- */

  .bss
  .p2align 12
  .skip 32768
host_stack_end:
  .globl exception_stack_end
  .skip 16384
exception_stack_end:

  .section .note.GNU-stack, "", @progbits
