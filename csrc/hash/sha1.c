/* SPDX-License-Identifier: Apache-2.0 */
#define CONTEXT struct fc_sha1
#define WORD uint32_t
#define BLOCKS FC_TABLE.sha1_blocks
#define UPDATE fc_sha1_update
#include "hash/engine.h"

/* FIPS 180-4 section 5.3.1. */
ALGORITHM(sha1, 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0)
