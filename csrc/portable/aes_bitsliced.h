/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the portable AES suite share: AES on four blocks at once, bit-sliced.
 *
 * A state is eight words; word i holds bit i of the 64 bytes of four blocks. The byte in row r and
 * column c of block b (FIPS 197 section 3.4: byte r + 4c in memory) is at bit 16r + 4c + b:
 *
 *   bit  63      48 47      32 31      16 15       0
 *       | row 3    | row 2    | row 1    | row 0    |      in each row: column 3 | 2 | 1 | 0,
 *                                                          in each column: block 3 | 2 | 1 | 0
 *
 * ShiftRows is never done. A round works on the state as the rounds before it left it, so after i
 * rounds the byte that FIPS 197 has in column c of row r is in column c + ir (mod 4). Then the four
 * bytes that MixColumns mixes are each one row and i columns apart, and finding them is a rotation
 * (section "MixColumns" of aes_bitsliced.c). After 12 rounds everything is back in its place; after
 * 10 and 14, rows 1 and 3 are off by two columns, which is put right once.
 *
 * The layout `bitsliced` of a key schedule: round key i is eight words in native byte order at
 * schedule[64 i]. Each has the bits of a state, the same for all four blocks, with the columns
 * where round i has them. To each byte of round keys 1 and up 0x63 is added, the constant of the
 * S-box, which the circuit leaves out. (InvMixColumns maps it to itself.)
 */
#ifndef FC_AES_BITSLICED_H
#define FC_AES_BITSLICED_H

#include "portable/portable.h"

enum { FC_AES_BLOCK = 16, FC_AES_BATCH_BLOCKS = 4, FC_AES_BATCH = 64 };

/* FIPS 197 sections 5.1 and 5.3 on four blocks. in == out is allowed. */
FC_HIDDEN void fc_bitsliced_encrypt(const struct fc_aes_key *key, const uint8_t in[FC_AES_BATCH],
                                    uint8_t out[FC_AES_BATCH]);
FC_HIDDEN void fc_bitsliced_decrypt(const struct fc_aes_key *key, const uint8_t in[FC_AES_BATCH],
                                    uint8_t out[FC_AES_BATCH]);

/* For the key schedule. The S-box without its 0x63, on the 64 bytes of a state. */
FC_HIDDEN void fc_bitsliced_sub_bytes(uint64_t state[8]);

/* For the key schedule. Four round keys to a state, the columns of the b-th where round 4n + b has
   them. */
FC_HIDDEN void fc_bitsliced_pack_round_keys(const uint8_t keys[FC_AES_BATCH], uint64_t state[8]);

/* The functions of the row, so that the compiler holds each against its contract. */
#define X(function) \
  extern FC_HIDDEN fc_aes_##function##_fn FC_C_KERNEL(fc_aes_##function##_portable);
FC_AES_FUNCTIONS(X)
#undef X

#endif
