/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much stack the entries of the C kernels clear (portable_entries.S), and which ops return an int.
 * Read by the assembler and by the harness, which holds the numbers against what the bodies use.
 *
 *   #define FC_STACK_<op> ~, bytes     a multiple of 64; without one FC_STACK_DEFAULT
 *   #define FC_RETURNS_<op> ~, 1
 */
#ifndef FC_PORTABLE_STACK_H
#define FC_PORTABLE_STACK_H

/*
 * What kernels.h allows, less the entry's own 16 bytes. The numbers below are what gcc 12 and clang 19
 * use at the level of -O2, -O3 and -Os that uses most, and a quarter for other compilers.
 */
#define FC_STACK_DEFAULT 1984
#define FC_STACK_timingsafe_bcmp ~, 128
#define FC_STACK_timingsafe_memcmp ~, 128
#define FC_STACK_sha1_blocks ~, 320
#define FC_STACK_sha256_blocks ~, 320
#define FC_STACK_sha256_lanes ~, 384
#define FC_STACK_sha512_blocks ~, 512
#define FC_STACK_aes_expand_key ~, 1024
#define FC_STACK_aes_ecb_encrypt ~, 512
#define FC_STACK_aes_ecb_decrypt ~, 512
#define FC_STACK_aes_cbc_encrypt ~, 512
#define FC_STACK_aes_cbc_decrypt ~, 640
#define FC_STACK_aes_cbc_encrypt_many ~, 704
#define FC_STACK_aes_ctr ~, 576
#define FC_STACK_aes_xts_encrypt ~, 704
#define FC_STACK_aes_xts_decrypt ~, 704
#define FC_STACK_aes_ghash_key ~, 640
#define FC_STACK_aes_ghash ~, 704
#define FC_STACK_aes_gcm_encrypt ~, 1024
#define FC_STACK_aes_gcm_decrypt ~, 1024
#define FC_STACK_aes_gcm_seal ~, 1280
#define FC_STACK_aes_gcm_open ~, 1280

#define FC_RETURNS_timingsafe_bcmp ~, 1
#define FC_RETURNS_timingsafe_memcmp ~, 1

/* FC_SECOND(FC_STACK_op, default, ~): the op's value where it has one, else the default. */
#define FC_SECOND(a, b, ...) b
#define FC_SECOND_OF(...) FC_SECOND(__VA_ARGS__)
#define FC_STACK(op) FC_SECOND_OF(FC_STACK_##op, FC_STACK_DEFAULT, ~)
#define FC_RETURNS(op) FC_SECOND_OF(FC_RETURNS_##op, 0, ~)

/* FC_IF_PORTABLE(isa, x): x if isa is `portable`, else nothing. */
#define FC_ISA_portable ~, 1
#define FC_IF_1(...) __VA_ARGS__
#define FC_IF_0(...)
#define FC_IF_PASTE(n, ...) FC_IF_##n(__VA_ARGS__)
#define FC_IF(n, ...) FC_IF_PASTE(n, __VA_ARGS__)
#define FC_IF_PORTABLE(isa, ...) FC_IF(FC_SECOND_OF(FC_ISA_##isa, 0, ~), __VA_ARGS__)

#endif
