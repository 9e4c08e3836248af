/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tracers know about the code: each instruction's memory operands and each function's
 * name, as tests/proof/traces.py wrote them down with a disassembler.
 *
 * The file has one line per function, `F name start size`, and after it one per instruction,
 * `I address padding count` and count times `base index scale displacement`. base and index are
 * places in struct user_regs_struct, or -1; a displacement relative to rip is already absolute.
 */
#ifndef FC_PROOF_DECODE_H
#define FC_PROOF_DECODE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

enum { DECODE_MAX_OPERANDS = 2 };

struct decode_operand {
  int base, index; /* numbers of 64-bit registers in struct user_regs_struct, or -1 */
  uint64_t scale, displacement;
};

struct decode_instruction {
  uint64_t address;
  int padding; /* a nop that aligns what follows: never needs to run */
  int executed;
  size_t operand_count;
  struct decode_operand operands[DECODE_MAX_OPERANDS];
};

struct decode_function {
  char name[96];
  uint64_t start, size;
  struct decode_instruction *instructions;
  size_t count;
};

/* Read the file; exits with a message if that fails. */
void decode_load(const char *path);

/* All functions, by address. */
struct decode_function *decode_functions(size_t *count);

/* The function or instruction at an address, or NULL. */
struct decode_function *decode_function_at(uint64_t address);
struct decode_instruction *decode_at(uint64_t address);

uint64_t decode_effective_address(const struct decode_operand *operand,
                                  const struct user_regs_struct *regs);

#endif
