/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries of the C kernels: each row `portable` of kernels.def is reached through one of these,
 * which calls the C body and then clears what C cannot: the registers and the stack that it used.
 *
 * Contract: kernels.h, every op with a row `portable`; the body is fc_<op>_portable_body
 * Needs: nothing beyond the baseline (pxor and movaps are SSE2)
 * Arguments: those of the op, untouched
 * Registers: xmm0-15, rdi and r8-r11 are cleared, rax only where the op returns nothing. rcx, rdx and
 *   rsi, whatever the body left in them, have been overwritten with the depth and addresses of the
 *   stack, which are public. A body that the build made use AVX ends with vzeroupper, as compilers do.
 * Secret: whatever the body left in registers and below its frame
 * Public registers: rcx rdx rsi
 *
 * The entries are generated from kernels.def, so that a new C row needs nothing here. A row's stack is
 * cleared to the depth that kernels.h allows; the ops in portable_stack.h name a smaller one, since a
 * store for every 16 bytes is what a short message would pay for. tests/native/abi.c measures what the
 * bodies use and fails if it is more than what is cleared. Measured on Zen 3: 10 cycles on a compare of
 * 16 bytes (14 without), 23 on a block of SHA-256 (494), 40 to 80 on a block of AES (700).
 */
#include "fc_asm.h"
#include "portable_stack.h"

#if !defined(__ELF__) || !defined(__LP64__)
#error "written for the System V calling convention; elsewhere the C kernels have their names"
#endif

/* ---- The entries --------------------------------------------------------------------------------- */

#define STACK_BYTES %rcx
#define STACK_END %rdx
#define STACK_NEXT %rsi
#define ZERO %xmm0

.macro ENTRY name, stack, returns
FC_TYPE(\name)
.globl \name
.hidden \name
.p2align 5
\name:
  .cfi_startproc
  endbr64
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  call \name\()_body
  .if !\returns
  xorl %eax, %eax
  .endif
  movl $\stack, %ecx
  jmp .Lclear
  .cfi_endproc
  FC_SIZE(\name)
.endm

/* Every entry ends here, its 8 bytes of alignment still on the stack. */
  .text
  FC_TYPE(fc_portable_clear)
  .p2align 5
fc_portable_clear:
  .cfi_startproc
  .cfi_adjust_cfa_offset 8
.Lclear:
  FC_CLEAR_XMM 0, 15
  movq %rsp, STACK_END
  .cfi_def_cfa_register STACK_END
  subq STACK_BYTES, %rsp
  movq %rsp, STACK_NEXT
.Lclear_next:
  movaps ZERO, (STACK_NEXT)
  movaps ZERO, 16(STACK_NEXT)
  movaps ZERO, 32(STACK_NEXT)
  movaps ZERO, 48(STACK_NEXT)
  addq $64, STACK_NEXT
  cmpq STACK_END, STACK_NEXT
  jne .Lclear_next
  movq STACK_END, %rsp
  .cfi_def_cfa_register %rsp
  xorl %edi, %edi
  xorl %r8d, %r8d
  xorl %r9d, %r9d
  xorl %r10d, %r10d
  xorl %r11d, %r11d
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  ret
  .cfi_endproc
  FC_SIZE(fc_portable_clear)

#define FC_KERNEL(op, isa, features) \
  FC_IF_PORTABLE(isa, ENTRY fc_##op##_##isa, FC_STACK(op), FC_RETURNS(op);)
#define FC_AES_SUITE(isa, layout, features, functions) FC_IF_PORTABLE(isa, functions)
#define FN(function, isa) ENTRY fc_aes_##function##_##isa, FC_STACK(aes_##function), 0;

#include "../../csrc/kernels.def"
