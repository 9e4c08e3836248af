/* SPDX-License-Identifier: Apache-2.0 */
/* A set of CPU features as one word, and the pure functions over such sets. */
#ifndef FC_CPU_FEATURES_H
#define FC_CPU_FEATURES_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t fc_features;

enum fc_feature_id {
#define FC_FEATURE(id, name, level, needs) FC_##id,
#include "cpu/features.def"
#undef FC_FEATURE
  FC_FEATURE_COUNT
};

/* The set that holds one feature: FC_F(AVX2). */
#define FC_F(id) ((fc_features)1 << FC_##id)

struct fc_feature_info {
  const char *name;
  fc_features needs;
  unsigned level;
};
extern const struct fc_feature_info fc_feature_infos[FC_FEATURE_COUNT];

/* The feature called name[0..len), or -1. */
int fc_feature_by_name(const char *name, size_t len);

/* The set less every feature that lacks one it needs. */
fc_features fc_features_close(fc_features set);

/* Every feature of the x86-64 levels 1..level; level 0 is scalar, the empty set. */
fc_features fc_features_of_level(unsigned level);

/*
 * Narrow `usable` by a FASTCRYPT_CPU setting: `[level]{,-feature}` (README, "Choosing kernels").
 * NULL and "" mean native. On success returns 0. On a word it does not know returns -1 with the
 * word's bounds in *word and *word_len; *out is then untouched.
 */
int fc_features_narrow(fc_features usable, const char *setting, fc_features *out, const char **word,
                       size_t *word_len);

#endif
