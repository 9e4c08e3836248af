/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every .S file shares: how a function begins and ends, where constants live, how registers are
 * cleared, and the notes that the linker reads. Include it first. AT&T syntax throughout.
 */
#ifndef FC_ASM_H
#define FC_ASM_H

#ifdef __APPLE__
#define FC_SYMBOL(name) _##name
#define FC_HIDE(name) .private_extern FC_SYMBOL(name)
#define FC_TYPE(name)
#define FC_SIZE(name)
#define FC_RODATA .section __TEXT,__const
#else
#define FC_SYMBOL(name) name
#define FC_HIDE(name) .hidden name
#define FC_TYPE(name) .type name, @function
#define FC_SIZE(name) .size name, . - name
#define FC_RODATA .section .rodata
#endif

/* Begin and end a kernel: global but hidden, typed and sized, with CET and unwind marks. */
#define FC_FUNC(name)      \
  .text;                   \
  .globl FC_SYMBOL(name);  \
  FC_HIDE(name);           \
  FC_TYPE(name);           \
  .p2align 5;              \
  FC_SYMBOL(name):         \
  .cfi_startproc;          \
  endbr64

#define FC_END(name) \
  .cfi_endproc;      \
  FC_SIZE(name)

/* A helper that only kernels of the same file call; no endbr64, since nothing reaches it indirectly. */
#define FC_LOCAL_FUNC(name) \
  .text;                    \
  FC_TYPE(name);            \
  .p2align 5;               \
  name:                     \
  .cfi_startproc

/* A helper that a wider suite's file calls as well. */
#define FC_SHARED_FUNC(name) \
  .globl FC_SYMBOL(name);    \
  FC_HIDE(name);             \
  FC_LOCAL_FUNC(FC_SYMBOL(name))

/* Save and restore a callee-saved register with the unwind information kept right. */
#define FC_PUSH(reg)           \
  pushq reg;                   \
  .cfi_adjust_cfa_offset 8;    \
  .cfi_rel_offset reg, 0

#define FC_POP(reg)            \
  popq reg;                    \
  .cfi_adjust_cfa_offset -8;   \
  .cfi_restore reg

/* Clear vector registers first..last (numbers). The VEX form clears the whole register. */
.macro FC_CLEAR_XMM first, last
  .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
  .if \n >= \first && \n <= \last
  pxor %xmm\n, %xmm\n
  .endif
  .endr
.endm

/* ymm and zmm: vzeroall clears registers 0-15 whole and ends the AVX state in one instruction. */
.macro FC_CLEAR_YMM
  vzeroall
.endm

.macro FC_CLEAR_ZMM_HIGH
  .irp n, 16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
  vpxorq %xmm\n, %xmm\n, %xmm\n
  .endr
.endm

#if defined(__linux__) && defined(__ELF__)
/* Non-executable stack. */
.section .note.GNU-stack, "", @progbits
/* IBT and SHSTK: x86 feature 1 AND property (0xc0000002) with bits 0 and 1. */
.section .note.gnu.property, "a"
.p2align 3
.long 4
.long 16
.long 5
.asciz "GNU"
.long 0xc0000002
.long 4
.long 3
.long 0
.text
#endif

#endif
