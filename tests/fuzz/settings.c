/* SPDX-License-Identifier: Apache-2.0 */
/* The grammar of FASTCRYPT_CPU on any text: what a setting grants, and where an error points. */
#include <stdlib.h>
#include <string.h>

#include "cpu/dispatch.h"
#include "cpu/features.h"
#include "fuzz.h"

static const fc_features all = ((fc_features)1 << FC_FEATURE_COUNT) - 1;

static void check_table(fc_features features) {
  struct fc_table table;
  fc_resolve(features, &table);
  for (size_t op = 0; op < FC_OP_COUNT; op++) {
    if (table.chosen[op] == NULL) fuzz_fail("no row for %s", fc_op_names[op]);
    if (table.chosen[op]->features & ~features) fuzz_fail("%s needs more", table.chosen[op]->name);
  }
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fc_features usable = 0, out = ~(fc_features)0, again;
  const char *word = NULL;
  size_t word_len = 0;
  if (size < sizeof usable) return 0;
  memcpy(&usable, data, sizeof usable);
  usable = fc_features_close(usable & all);
  const size_t len = size - sizeof usable;
  char *setting = malloc(len + 1); /* of exactly its size, so that a sanitizer sees its end */
  if (setting == NULL) return 0;
  memcpy(setting, data + sizeof usable, len);
  setting[len] = '\0';
  const size_t setting_len = strlen(setting);

  if (fc_features_narrow(usable, setting, &out, &word, &word_len) == 0) {
    if (out & ~usable) fuzz_fail("more than was usable");
    if (fc_features_close(out) != out) fuzz_fail("not closed");
    if (fc_features_narrow(out, setting, &again, &word, &word_len) != 0 || again != out) {
      fuzz_fail("narrowing twice gives another set");
    }
    check_table(out);
  } else {
    if (out != ~(fc_features)0) fuzz_fail("an error changed the result");
    if (word < setting || word + word_len > setting + setting_len) fuzz_fail("word out of bounds");
    if (memchr(word, ',', word_len) != NULL) fuzz_fail("a word with a comma");
    if (word != setting && word[-1] != ',') fuzz_fail("a word that begins inside another");
  }
  free(setting);
  return 0;
}
