/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that show what the emulator executes (probe_*) and functions that each break one rule
 * of a kernel (bad_*), to show that the checks of runtime.c see it. Arguments by the C prototypes in
 * main.c.
 */
#include "fc_asm.h"

/* vaesenc on four blocks: probe_vaesenc(blocks[4], round_keys[4]) */
FC_FUNC(probe_vaesenc)
  vmovdqu64 (%rdi), %zmm17
  vaesenc (%rsi), %zmm17, %zmm17
  vmovdqu64 %zmm17, (%rdi)
  vzeroupper
  ret
FC_END(probe_vaesenc)

/* Four products of 64 by 64 bits, low halves of each lane: probe_vpclmulqdq(product, a, b) */
FC_FUNC(probe_vpclmulqdq)
  vmovdqu64 (%rsi), %zmm18
  vpclmulqdq $0x00, (%rdx), %zmm18, %zmm18
  vmovdqu64 %zmm18, (%rdi)
  vzeroupper
  ret
FC_END(probe_vpclmulqdq)

/*
 * The tail of an AVX-512 compare: bytes at and behind `len` (below 64) are masked off and may be on
 * a page that is not present. probe_masked_difference(a, b, len) is 1 if a byte differs.
 */
FC_FUNC(probe_masked_difference)
  movq $-1, %rax
  bzhiq %rdx, %rax, %rax
  kmovq %rax, %k1
  vmovdqu8 (%rdi), %zmm16{%k1}{z}
  vmovdqu8 (%rsi), %zmm17{%k1}{z}
  vpternlogq $0x5a, %zmm17, %zmm16, %zmm16
  vptestmb %zmm16, %zmm16, %k2
  xorl %eax, %eax
  kortestq %k2, %k2
  setnz %al
  vzeroupper
  ret
FC_END(probe_masked_difference)

/* ---- One broken rule each; the argument of the last two points to a secret ------------------- */

FC_FUNC(bad_callee_saved)
  movl $1, %ebx
  ret
FC_END(bad_callee_saved)

FC_FUNC(bad_no_vzeroupper)
  vpcmpeqd %ymm3, %ymm3, %ymm3
  ret
FC_END(bad_no_vzeroupper)

FC_FUNC(bad_direction)
  std
  ret
FC_END(bad_direction)

FC_FUNC(bad_opcode)
  ud2
  ret
FC_END(bad_opcode)

FC_FUNC(bad_stack)
  subq $2056, %rsp
  pushq %rax
  addq $2064, %rsp
  ret
FC_END(bad_stack)

/* No endbr64. */
  .globl bad_entry
bad_entry:
  ret

FC_FUNC(bad_secret_in_register)
  vmovdqu64 (%rdi), %xmm29
  ret
FC_END(bad_secret_in_register)

FC_FUNC(bad_secret_in_mask)
  kmovq (%rdi), %k5
  ret
FC_END(bad_secret_in_mask)

FC_FUNC(bad_secret_on_stack)
  movq (%rdi), %rax
  pushq %rax
  popq %rcx
  xorl %eax, %eax
  xorl %ecx, %ecx
  ret
FC_END(bad_secret_on_stack)

/* Reads and writes one byte at the argument. */
FC_FUNC(bad_read)
  movzbl (%rdi), %eax
  ret
FC_END(bad_read)

FC_FUNC(bad_write)
  movb $1, (%rdi)
  ret
FC_END(bad_write)
