/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels: one typedef and one contract per op, and the rows of kernels.def as data.
 *
 * What holds for every op, and is not repeated below:
 *   - Pointers and lengths are public; everything they point to is secret unless marked public.
 *     Branches and addresses depend on public values only.
 *   - No alignment is required of user memory. Keys and hash states are aligned as their types say.
 *   - A length of zero is allowed, reads and writes nothing behind its pointers, and leaves state
 *     as it was. Pointers of zero-length operands may be NULL.
 *   - Nothing outside the operands is read or written.
 *   - `in == out` works. Any other overlap of an input with an output is the caller's fault (the
 *     binding refuses it); operands that are both inputs may overlap freely.
 *   - A kernel that held key material, hash state or plaintext clears the vector and caller-saved
 *     registers and the stack it used before it returns.
 *   - At most six arguments, all pointers or 64-bit lengths, and at most 2048 bytes of stack.
 */
#ifndef FC_KERNELS_H
#define FC_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "cpu/features.h"

#if defined(__GNUC__) || defined(__clang__)
#define FC_HIDDEN __attribute__((visibility("hidden")))
#else
#define FC_HIDDEN
#endif

#ifdef __cplusplus
#define FC_ALIGNAS(n) alignas(n)
#else
#define FC_ALIGNAS(n) _Alignas(n)
#endif

/* ---- Hashes ---------------------------------------------------------------------------------- */

/*
 * FIPS 180-4 sections 6.1.2, 6.2.2 and 6.4.2 over nblocks blocks, of 64, 64 and 128 bytes. `state`
 * holds H0 and on in native order and is updated in place.
 */
typedef void fc_sha1_blocks_fn(uint32_t state[5], const uint8_t *data, size_t nblocks);
typedef void fc_sha256_blocks_fn(uint32_t state[8], const uint8_t *data, size_t nblocks);
typedef void fc_sha512_blocks_fn(uint64_t state[8], const uint8_t *data, size_t nblocks);

/*
 * The same for as many messages at once as the row has lanes. `state` is an array of words as above,
 * aligned as they are: word i of lane j is number i * lanes + j. data[j] points to the nblocks blocks
 * of lane j; the array is public, as all pointers are, and is not changed. Lanes may share their data:
 * one without work gets any that is readable.
 */
typedef void fc_lanes_fn(void *state, const uint8_t *const *data, size_t nblocks);
typedef fc_lanes_fn fc_sha256_lanes_fn;
#define FC_MAX_LANES 16

/* ---- Compare --------------------------------------------------------------------------------- */

/* 0 if a[0..len) and b[0..len) are equal, else 1. Secret until the caller shows it. */
typedef int fc_timingsafe_bcmp_fn(const void *a, const void *b, size_t len);

/* -1, 0 or 1: the order of a[0..len) and b[0..len) as strings of unsigned bytes. */
typedef int fc_timingsafe_memcmp_fn(const void *a, const void *b, size_t len);

/* ---- AES ------------------------------------------------------------------------------------- */

/*
 * A key schedule. Which bytes mean what is the suite's layout:
 *   fips       schedule[0, 240): the encryption round keys of FIPS 197 in memory order, 16 bytes;
 *              schedule[240, 480): the decryption round keys of the equivalent inverse cipher
 *              (FIPS 197 section 5.3.5), in the order in which decryption uses them.
 *   bitsliced  see portable/aes_bitsliced.h
 *   vperm      see asm/x86_64/aes_vperm.S
 * Bytes that a layout or a shorter key does not use are zero. `rounds` (10, 12 or 14) is public.
 */
#define FC_AES_SCHEDULE_BYTES 960
struct fc_aes_key {
  FC_ALIGNAS(16) uint8_t schedule[FC_AES_SCHEDULE_BYTES];
  uint64_t rounds;
  uint64_t reserved;
};

/* What a suite derives from H = AES_K(0) once per key: powers of H, in the form it likes. */
#define FC_GHASH_KEY_BYTES 1024
struct fc_ghash_key {
  FC_ALIGNAS(16) uint8_t powers[FC_GHASH_KEY_BYTES];
};

struct fc_gcm_key {
  struct fc_aes_key aes;
  struct fc_ghash_key ghash;
};

/* One message of GCM. Every field is public; of what the pointers point to, j0 and aad are. */
struct fc_gcm_message {
  const uint8_t *j0;  /* 16 bytes, SP 800-38D section 7.1 step 2 */
  const uint8_t *aad; /* aad_len bytes */
  uint64_t aad_len;
  const uint8_t *in; /* len bytes */
  uint8_t *out;      /* len bytes; may equal in */
  uint64_t len;
  uint8_t *tag; /* 16 bytes, written */
};

/* One chain of CBC among several. What iv points to is 16 bytes, and advances. */
struct fc_cbc_chain {
  uint8_t *iv;
  const uint8_t *in;
  uint8_t *out; /* may equal in */
};

/* FIPS 197 section 5.2. key_len is 16, 24 or 32. Writes every byte of *key. */
typedef void fc_aes_expand_key_fn(struct fc_aes_key *key, const uint8_t *bytes, size_t key_len);

/* nblocks blocks of 16 bytes, each on its own (SP 800-38A section 6.1). */
typedef void fc_aes_ecb_encrypt_fn(const struct fc_aes_key *key, const uint8_t *in, uint8_t *out,
                                   size_t nblocks);
typedef void fc_aes_ecb_decrypt_fn(const struct fc_aes_key *key, const uint8_t *in, uint8_t *out,
                                   size_t nblocks);

/* SP 800-38A section 6.2. iv is the chaining value: on return the last ciphertext block. */
typedef void fc_aes_cbc_encrypt_fn(const struct fc_aes_key *key, uint8_t iv[16], const uint8_t *in,
                                   uint8_t *out, size_t nblocks);
typedef void fc_aes_cbc_decrypt_fn(const struct fc_aes_key *key, uint8_t iv[16], const uint8_t *in,
                                   uint8_t *out, size_t nblocks);

/*
 * cbc_encrypt on nchains independent chains of nblocks blocks each, side by side: one chain waits
 * for each of its rounds, several fill the time. The chains themselves are public and not written;
 * no output overlaps anything of another chain.
 */
typedef void fc_aes_cbc_encrypt_many_fn(const struct fc_aes_key *key,
                                        const struct fc_cbc_chain *chains, size_t nchains,
                                        size_t nblocks);

/*
 * SP 800-38A section 6.5 with a big-endian 128-bit counter that wraps at 2^128. len is in bytes and
 * need not be a multiple of 16. On return counter has been advanced by the number of blocks begun,
 * so only the last call on a stream may end inside a block. The counter is public.
 */
typedef void fc_aes_ctr_fn(const struct fc_aes_key *key, uint8_t counter[16], const uint8_t *in,
                           uint8_t *out, size_t len);

/*
 * IEEE 1619 (XTS) over nblocks whole blocks: out = E(in ^ tweak) ^ tweak, or D for decryption, and
 * tweak = tweak * alpha after each block. The tweak is the encrypted one, E_K2(i), and is advanced
 * by nblocks multiplications. It is secret. Ciphertext stealing is done above (aes/xts.c).
 */
typedef void fc_aes_xts_encrypt_fn(const struct fc_aes_key *key, uint8_t tweak[16],
                                   const uint8_t *in, uint8_t *out, size_t nblocks);
typedef void fc_aes_xts_decrypt_fn(const struct fc_aes_key *key, uint8_t tweak[16],
                                   const uint8_t *in, uint8_t *out, size_t nblocks);

/* Derive *ghash from the hash subkey h. Writes every byte of *ghash. */
typedef void fc_aes_ghash_key_fn(struct fc_ghash_key *ghash, const uint8_t h[16]);

/*
 * SP 800-38D section 6.4: y = (y ^ block) * H over data[0..len), the last block padded with zeros.
 * y is in the byte order of the standard.
 */
typedef void fc_aes_ghash_fn(const struct fc_ghash_key *ghash, uint8_t y[16], const uint8_t *data,
                             size_t len);

/*
 * The middle of GCM: CTR with a counter whose low 32 bits alone count (and wrap), and GHASH over
 * the ciphertext. counter is the first one to use (public); y is the running GHASH value. Both are
 * advanced. Only the last call on a message may have a len that is no multiple of 16.
 */
typedef void fc_aes_gcm_encrypt_fn(const struct fc_gcm_key *key, uint8_t counter[16], uint8_t y[16],
                                   const uint8_t *in, uint8_t *out, size_t len);
typedef void fc_aes_gcm_decrypt_fn(const struct fc_gcm_key *key, uint8_t counter[16], uint8_t y[16],
                                   const uint8_t *in, uint8_t *out, size_t len);

/*
 * A whole message, SP 800-38D sections 7.1 and 7.2 from j0 on, with the full 16-byte tag. gcm_open
 * decrypts and writes the tag it computed; it does not compare. The caller compares, and wipes
 * `out` if they differ. The message structure itself is never written.
 */
typedef void fc_aes_gcm_seal_fn(const struct fc_gcm_key *key, const struct fc_gcm_message *message);
typedef void fc_aes_gcm_open_fn(const struct fc_gcm_key *key, const struct fc_gcm_message *message);

/* ---- The rows -------------------------------------------------------------------------------- */

/* The ops that have a row per kernel, and the functions of an AES suite (one row for them all). */
#define FC_ONE_STREAM_OPS(X) \
  X(sha1_blocks)     \
  X(sha256_blocks)   \
  X(sha512_blocks)   \
  X(timingsafe_bcmp) \
  X(timingsafe_memcmp)

#define FC_LANES_OPS(X) X(sha256_lanes)

#define FC_OPS(X) FC_ONE_STREAM_OPS(X) FC_LANES_OPS(X)

#define FC_AES_FUNCTIONS(X) \
  X(expand_key)             \
  X(ecb_encrypt)            \
  X(ecb_decrypt)            \
  X(cbc_encrypt)            \
  X(cbc_decrypt)            \
  X(cbc_encrypt_many)       \
  X(ctr)                    \
  X(xts_encrypt)            \
  X(xts_decrypt)            \
  X(ghash_key)              \
  X(ghash)                  \
  X(gcm_encrypt)            \
  X(gcm_decrypt)            \
  X(gcm_seal)               \
  X(gcm_open)

enum fc_op {
#define X(op) FC_OP_##op,
  FC_OPS(X)
#undef X
      FC_OP_aes,
  FC_OP_COUNT
};

enum fc_aes_function {
#define X(fn) FC_AES_##fn,
  FC_AES_FUNCTIONS(X)
#undef X
      FC_AES_FUNCTION_COUNT
};

enum fc_aes_layout {
  FC_AES_LAYOUT_NONE,
  FC_AES_LAYOUT_FIPS,
  FC_AES_LAYOUT_BITSLICED,
  FC_AES_LAYOUT_VPERM
};

typedef void fc_any_fn(void);

/* One function of a row and its symbol's name. fn is NULL where the build has no such kernel. */
struct fc_kernel {
  fc_any_fn *fn;
  const char *symbol;
};

struct fc_row {
  enum fc_op op;
  const char *name; /* the isa part of the symbol: "shani" */
  fc_features features;
  enum fc_aes_layout layout;       /* suites only */
  const struct fc_kernel *kernels; /* one, or FC_AES_FUNCTION_COUNT for a suite */
  size_t lanes;                    /* multi-lane hashes only: messages at once, and from how many */
  size_t min_fill;                 /* on they take less time than one after another */
};

extern FC_HIDDEN const struct fc_row fc_rows[];
extern FC_HIDDEN const size_t fc_row_count;
extern FC_HIDDEN const char *const fc_op_names[FC_OP_COUNT];
extern FC_HIDDEN const char *const fc_aes_function_names[FC_AES_FUNCTION_COUNT];

/* How many functions the row has, and whether the build has all of them. */
FC_HIDDEN size_t fc_row_kernel_count(const struct fc_row *row);
FC_HIDDEN int fc_row_built(const struct fc_row *row);

/* Whether the row is built and a CPU with these features can run it. */
FC_HIDDEN int fc_row_runnable(const struct fc_row *row, fc_features features);

#endif
