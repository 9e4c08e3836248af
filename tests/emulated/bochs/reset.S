/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ROM: from the reset vector to 64-bit mode, then into the image, which the emulator has put in
 * RAM at IMAGE_BASE. It replaces the BIOS, so that nothing runs that is not ours. 64 KiB, seen at
 * 0xf0000 and at the top of 4 GiB. Linked at 0xf0000 as a flat binary.
 */
/* Three pages of RAM for the first page tables; runtime.c makes the final ones. */
#define TABLES 0x10000
#define PML4 TABLES
#define PDPT (TABLES + 0x1000)
#define PD (TABLES + 0x2000)

#define PRESENT_WRITE 0x3
#define PRESENT_WRITE_2MIB 0x83
#define CR0_PE 0x1
#define CR0_PG 0x80000000
#define CR0_CD_NW 0x60000000
#define CR4_PAE 0x20
#define MSR_EFER 0xc0000080
#define EFER_LME_NXE 0x900

  .text
  .code16
reset16:
  cli
  lgdtl %cs:gdt_pointer - ROM_BASE
  movl %cr0, %eax
  orl $CR0_PE, %eax
  movl %eax, %cr0
  ljmpl $0x08, $reset32

  .code32
reset32:
  movw $0x10, %ax
  movw %ax, %ds
  movw %ax, %es
  movw %ax, %ss

  /* Identity map of the first GiB in pages of 2 MiB. */
  cld
  xorl %eax, %eax
  movl $TABLES, %edi
  movl $(3 * 4096 / 4), %ecx
  rep stosl
  movl $(PDPT + PRESENT_WRITE), PML4
  movl $(PD + PRESENT_WRITE), PDPT
  movl $PRESENT_WRITE_2MIB, %eax
  movl $PD, %edi
1:
  movl %eax, (%edi)
  addl $8, %edi
  addl $0x200000, %eax
  cmpl $(PD + 4096), %edi
  jne 1b

  movl $PML4, %eax
  movl %eax, %cr3
  movl %cr4, %eax
  orl $CR4_PAE, %eax
  movl %eax, %cr4
  movl $MSR_EFER, %ecx
  rdmsr
  orl $EFER_LME_NXE, %eax
  wrmsr
  movl %cr0, %eax
  andl $~CR0_CD_NW, %eax
  orl $CR0_PG, %eax
  movl %eax, %cr0
  ljmpl $0x18, $IMAGE_BASE

  .p2align 3
gdt:
  .quad 0
  .quad 0x00cf9b000000ffff /* 0x08: code, 32 bits */
  .quad 0x00cf93000000ffff /* 0x10: data */
  .quad 0x00af9b000000ffff /* 0x18: code, 64 bits */
gdt_pointer:
  .word 31
  .long gdt

  .org 0xfff0
  .code16
  ljmpw $0xf000, $(reset16 - ROM_BASE)
  .org 0x10000
