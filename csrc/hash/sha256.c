/* SPDX-License-Identifier: Apache-2.0 */
#define CONTEXT struct fc_sha256
#define WORD uint32_t
#define BLOCKS FC_TABLE.sha256_blocks
#define UPDATE fc_sha256_update
#include "hash/engine.h"

/* FIPS 180-4 sections 5.3.2 and 5.3.3. */
ALGORITHM(sha224, 0xc1059ed8, 0x367cd507, 0x3070dd17, 0xf70e5939, 0xffc00b31, 0x68581511,
          0x64f98fa7, 0xbefa4fa4)
ALGORITHM(sha256, 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
          0x1f83d9ab, 0x5be0cd19)
