/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted leaks: functions that every check of constant time must catch before its verdict on the
 * kernels counts. Only the harness links them.
 */
#ifndef FC_LEAKS_H
#define FC_LEAKS_H

#include "kernels.h"

fc_timingsafe_bcmp_fn leak_early_exit;      /* stops at the first byte that differs */
fc_timingsafe_bcmp_fn leak_jump;            /* in assembly: jumps on the bytes that it compares */
fc_aes_expand_key_fn leak_table_expand_key; /* FIPS 197 with the S-box as a table */
fc_aes_ecb_encrypt_fn leak_table_ecb_encrypt;

#endif
