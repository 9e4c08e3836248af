/* SPDX-License-Identifier: Apache-2.0 */
#define CONTEXT struct fc_sha256
#define INIT fc_sha256_init
#define WORD uint32_t
#define STORE_WORD fc_store_be32
#define BLOCKS FC_TABLE.sha256_blocks
#define LANES FC_TABLE.sha256_lanes
#define LANES_OP FC_OP_sha256_lanes
#define MANY fc_sha256_many
#include "hash/many_engine.h"
