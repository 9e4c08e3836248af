/* SPDX-License-Identifier: Apache-2.0 */
/* Names, dependences and levels of CPU features, and the FASTCRYPT_CPU grammar. No CPU is asked. */
#include "cpu/features.h"

#include <string.h>

const struct fc_feature_info fc_feature_infos[FC_FEATURE_COUNT] = {
#define FC_FEATURE(id, name, level, needs) {name, needs, level},
#include "cpu/features.def"
#undef FC_FEATURE
};

static int same(const char *word, size_t len, const char *name) {
  return strlen(name) == len && memcmp(word, name, len) == 0;
}

int fc_feature_by_name(const char *name, size_t len) {
  for (int id = 0; id < FC_FEATURE_COUNT; id++) {
    if (same(name, len, fc_feature_infos[id].name)) return id;
  }
  return -1;
}

fc_features fc_features_close(fc_features set) {
  /* Each pass removes at least one feature, or it is the last. */
  for (;;) {
    fc_features closed = set;
    for (int id = 0; id < FC_FEATURE_COUNT; id++) {
      if (fc_feature_infos[id].needs & ~closed) closed &= ~((fc_features)1 << id);
    }
    if (closed == set) return set;
    set = closed;
  }
}

fc_features fc_features_of_level(unsigned level) {
  fc_features set = 0;
  for (int id = 0; id < FC_FEATURE_COUNT; id++) {
    if (fc_feature_infos[id].level <= level) set |= (fc_features)1 << id;
  }
  return set;
}

/* The ceiling that a level word sets. Other architectures know scalar and native only. */
static int ceiling_of(const char *word, size_t len, fc_features *ceiling) {
  static const struct {
    const char *name;
    unsigned level;
  } levels[] = {{"scalar", 0},
#if defined(__x86_64__)
                {"x86-64", 1},    {"baseline", 1},  {"x86-64-v2", 2},
                {"x86-64-v3", 3}, {"x86-64-v4", 4},
#endif
                {"native", 99}};
  for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
    if (same(word, len, levels[i].name)) {
      *ceiling = fc_features_of_level(levels[i].level);
      return 0;
    }
  }
  return -1;
}

/* The set that `-word` removes; avx512 stands for all of its forms. */
static int removal_of(const char *word, size_t len, fc_features *removed) {
  int id = same(word, len, "avx512") ? FC_AVX512F : fc_feature_by_name(word, len);
  if (id < 0) return -1;
  *removed = (fc_features)1 << id;
  return 0;
}

int fc_features_narrow(fc_features usable, const char *setting, fc_features *out, const char **word,
                       size_t *word_len) {
  fc_features set = usable;
  const char *p = setting != NULL && setting[0] != '\0' ? setting : "native";
  for (int first = 1;; first = 0) {
    size_t len = strcspn(p, ",");
    fc_features mask;
    if (p[0] == '-' && removal_of(p + 1, len - 1, &mask) == 0) {
      set &= ~mask;
    } else if (first && p[0] != '-' && ceiling_of(p, len, &mask) == 0) {
      set &= mask;
    } else {
      *word = p;
      *word_len = len;
      return -1;
    }
    if (p[len] == '\0') break;
    p += len + 1;
  }
  *out = fc_features_close(set);
  return 0;
}
