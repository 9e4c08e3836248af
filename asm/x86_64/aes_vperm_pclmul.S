/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GCM for processors with PCLMULQDQ and without AES-NI: CTR of the vperm suite, GHASH of the aesni suite.
 *
 * Contract: kernels.h, the ops of an AES suite; layout vperm. The other functions of the row are those of
 *   the suites vperm (all that is AES) and aesni (GHASH).
 *
 * Needs: SSSE3 (pshufb) for CTR; PCLMULQDQ, SSSE3 and SSE4.1 for GHASH, see aes_aesni.S.
 *
 * Arguments: role (register) in aes_vperm_gcm.inc.
 *
 * Registers: callee-saved ones hold public arguments; what is called clears what it uses, xmm0 and the
 *   stack are cleared here.
 *
 * Secret: all that the pointers point to, but for counter, j0, aad and the lengths.
 * Public registers: rax rcx rdx rsi rdi r8 r9 r10 r11 rbx rbp r12 r13 r14 r15
 */
#include "fc_asm.h"

#define S %xmm0
#define TMP %rax

#include "aes_vperm_gcm.inc"

/* void fc_aes_gcm_encrypt_vperm_pclmul(const struct fc_gcm_key *key, counter, y, in, out, size_t len) */
FC_FUNC(fc_aes_gcm_encrypt_vperm_pclmul)
  GCM_ENCRYPT FC_SYMBOL(fc_aes_ghash_aesni)
FC_END(fc_aes_gcm_encrypt_vperm_pclmul)

/* void fc_aes_gcm_decrypt_vperm_pclmul(const struct fc_gcm_key *key, counter, y, in, out, size_t len) */
FC_FUNC(fc_aes_gcm_decrypt_vperm_pclmul)
  GCM_DECRYPT FC_SYMBOL(fc_aes_ghash_aesni)
FC_END(fc_aes_gcm_decrypt_vperm_pclmul)

/* void fc_aes_gcm_seal_vperm_pclmul(const struct fc_gcm_key *key, const struct fc_gcm_message *message) */
FC_FUNC(fc_aes_gcm_seal_vperm_pclmul)
  GCM_SEAL FC_SYMBOL(fc_aes_ghash_aesni)
FC_END(fc_aes_gcm_seal_vperm_pclmul)

/* void fc_aes_gcm_open_vperm_pclmul(const struct fc_gcm_key *key, const struct fc_gcm_message *message) */
FC_FUNC(fc_aes_gcm_open_vperm_pclmul)
  GCM_OPEN FC_SYMBOL(fc_aes_ghash_aesni)
FC_END(fc_aes_gcm_open_vperm_pclmul)
