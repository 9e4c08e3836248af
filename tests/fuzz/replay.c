/* SPDX-License-Identifier: Apache-2.0 */
/* A main for a fuzz target where libFuzzer is not: run it on each file named. */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

int main(int argc, char **argv) {
  LLVMFuzzerInitialize(&argc, &argv);
  for (int i = 1; i < argc; i++) {
    FILE *file = fopen(argv[i], "rb");
    uint8_t *data = malloc(1 << 20);
    if (file == NULL || data == NULL) return 2;
    const size_t size = fread(data, 1, 1 << 20, file);
    fclose(file);
    printf("%s\n", argv[i]);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
  }
  return 0;
}
