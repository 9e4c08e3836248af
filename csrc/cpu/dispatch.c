/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu/dispatch.h"

#include <string.h>

#include "cpu/detect.h"
#include "cpu/self_test.h"

#if defined(_WIN32)
#include <windows.h>
#else
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

void fc_resolve(fc_features features, struct fc_table *table) {
  memset(table, 0, sizeof *table);
  table->features = features;
  for (size_t i = 0; i < fc_row_count; i++) {
    const struct fc_row *row = &fc_rows[i];
    if (table->chosen[row->op] == NULL && fc_row_runnable(row, features)) {
      table->chosen[row->op] = row;
    }
  }
#define X(op) table->op = (fc_##op##_fn *)table->chosen[FC_OP_##op]->kernels[0].fn;
  FC_OPS(X)
#undef X
  const struct fc_kernel *suite = table->chosen[FC_OP_aes]->kernels;
#define X(function) table->aes.function = (fc_aes_##function##_fn *)suite[FC_AES_##function].fn;
  FC_AES_FUNCTIONS(X)
#undef X
}

struct fc_page fc_sealed;

#if defined(_WIN32)

static void yield_thread(void) { SwitchToThread(); }

static int make_read_only(void *page, size_t size) {
  SYSTEM_INFO info;
  DWORD old;
  GetSystemInfo(&info);
  if (info.dwPageSize > FC_PAGE_BYTES) return 0;
  return VirtualProtect(page, size, PAGE_READONLY, &old) != 0;
}

#else

static void yield_thread(void) { sched_yield(); }

static int make_read_only(void *page, size_t size) {
  if (sysconf(_SC_PAGESIZE) > FC_PAGE_BYTES) return 0;
  return mprotect(page, size, PROT_READ) == 0;
}

#endif

static enum fc_seal_result fill(const char *setting, struct fc_seal_error *error) {
  fc_features features;
  const char *word;
  size_t len;
  if (fc_features_narrow(fc_cpu_detect(), setting, &features, &word, &len) != 0) {
    if (len > sizeof error->detail - 1) len = sizeof error->detail - 1;
    memcpy(error->detail, word, len);
    error->detail[len] = '\0';
    return FC_SEAL_UNKNOWN_WORD;
  }
  fc_resolve(features, &fc_sealed.table);
  for (size_t op = 0; op < FC_OP_COUNT; op++) {
    const char *failed = fc_self_test_row(fc_sealed.table.chosen[op]);
    if (failed != NULL) {
      strncpy(error->detail, failed, sizeof error->detail - 1);
      error->detail[sizeof error->detail - 1] = '\0';
      return FC_SEAL_SELF_TEST;
    }
  }
  return FC_SEAL_OK;
}

enum fc_seal_result fc_seal(const char *setting, struct fc_seal_error *error) {
  /* Load first: once sealed, the word is read-only memory and even a failing compare-and-swap would
   * fault. */
  for (;;) {
    int state = __atomic_load_n(&fc_sealed.state, __ATOMIC_ACQUIRE);
    if (state == FC_SEALED) return FC_SEAL_OK;
    if (state == FC_EMPTY && __atomic_compare_exchange_n(&fc_sealed.state, &state, FC_FILLING, 0,
                                                         __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
      break;
    }
    yield_thread();
  }
  const enum fc_seal_result result = fill(setting, error);
  if (result != FC_SEAL_OK) {
    memset(&fc_sealed.table, 0, sizeof fc_sealed.table);
    __atomic_store_n(&fc_sealed.state, FC_EMPTY, __ATOMIC_RELEASE);
    return result;
  }
  /* The last stores: a page is sealed before it is read-only, since afterwards nothing can be said. */
  fc_sealed.read_only = 1;
  __atomic_store_n(&fc_sealed.state, FC_SEALED, __ATOMIC_RELEASE);
  if (!make_read_only(&fc_sealed, sizeof fc_sealed)) fc_sealed.read_only = 0;
  return FC_SEAL_OK;
}
