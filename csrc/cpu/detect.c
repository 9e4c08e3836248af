/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu/detect.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { OSXSAVE = 27 };

enum state { SSE_STATE, YMM_STATE, ZMM_STATE };

/* clang-format off */
/* Where each feature's CPUID bit is, and which register state the OS must save for it. */
enum word { LEAF1_ECX, LEAF1_EDX, LEAF7_EBX, LEAF7_ECX, LEAF7_1_EAX, LEAF80000001_ECX, WORD_COUNT };

static const struct {
  enum fc_feature_id id;
  enum word word;
  unsigned bit;
  enum state state;
} bits[] = {
    {FC_SSE2, LEAF1_EDX, 26, SSE_STATE},
    {FC_SSE3, LEAF1_ECX, 0, SSE_STATE},
    {FC_PCLMULQDQ, LEAF1_ECX, 1, SSE_STATE},
    {FC_SSSE3, LEAF1_ECX, 9, SSE_STATE},
    {FC_FMA, LEAF1_ECX, 12, YMM_STATE},
    {FC_SSE4_1, LEAF1_ECX, 19, SSE_STATE},
    {FC_SSE4_2, LEAF1_ECX, 20, SSE_STATE},
    {FC_MOVBE, LEAF1_ECX, 22, SSE_STATE},
    {FC_POPCNT, LEAF1_ECX, 23, SSE_STATE},
    {FC_AES, LEAF1_ECX, 25, SSE_STATE},
    {FC_AVX, LEAF1_ECX, 28, YMM_STATE},
    {FC_F16C, LEAF1_ECX, 29, YMM_STATE},
    {FC_BMI1, LEAF7_EBX, 3, SSE_STATE},
    {FC_AVX2, LEAF7_EBX, 5, YMM_STATE},
    {FC_BMI2, LEAF7_EBX, 8, SSE_STATE},
    {FC_AVX512F, LEAF7_EBX, 16, ZMM_STATE},
    {FC_AVX512DQ, LEAF7_EBX, 17, ZMM_STATE},
    {FC_ADX, LEAF7_EBX, 19, SSE_STATE},
    {FC_AVX512IFMA, LEAF7_EBX, 21, ZMM_STATE},
    {FC_AVX512CD, LEAF7_EBX, 28, ZMM_STATE},
    {FC_SHA_NI, LEAF7_EBX, 29, SSE_STATE},
    {FC_AVX512BW, LEAF7_EBX, 30, ZMM_STATE},
    {FC_AVX512VL, LEAF7_EBX, 31, ZMM_STATE},
    {FC_AVX512VBMI, LEAF7_ECX, 1, ZMM_STATE},
    {FC_AVX512VBMI2, LEAF7_ECX, 6, ZMM_STATE},
    {FC_GFNI, LEAF7_ECX, 8, SSE_STATE},
    {FC_VAES, LEAF7_ECX, 9, YMM_STATE},
    {FC_VPCLMULQDQ, LEAF7_ECX, 10, YMM_STATE},
    {FC_SHA512, LEAF7_1_EAX, 0, YMM_STATE},
    {FC_LZCNT, LEAF80000001_ECX, 5, SSE_STATE},
};
/* clang-format on */

fc_features fc_cpu_decode(const struct fc_cpuid *c) {
  const uint32_t words[WORD_COUNT] = {c->leaf1_ecx, c->leaf1_edx,   c->leaf7_ebx,
                                      c->leaf7_ecx, c->leaf7_1_eax, c->leaf80000001_ecx};
  const uint64_t xcr0 = (c->leaf1_ecx >> OSXSAVE & 1) != 0 ? c->xcr0 : 0;
  const uint64_t needed[] = {[SSE_STATE] = 0, [YMM_STATE] = 0x06, [ZMM_STATE] = 0xe6};
  fc_features set = 0;
  for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
    const int cpu_has = (words[bits[i].word] >> bits[i].bit & 1) != 0;
    const int os_saves = (xcr0 & needed[bits[i].state]) == needed[bits[i].state];
    if (cpu_has && os_saves) set |= (fc_features)1 << bits[i].id;
  }
  return fc_features_close(set);
}

#if defined(__x86_64__)

/* XGETBV by its bytes would serve assemblers from before 2008; ours all know the name. */
static uint64_t read_xcr0(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}

/*
 * In a virtual machine every CPUID is a trap of some microseconds, so each leaf is asked once and the
 * highest leaf is not asked again for each. Leaf 0x80000001 is there on every x86-64: it is what says
 * that the CPU is one.
 */
void fc_cpu_read(struct fc_cpuid *c) {
  uint32_t highest, a, b, ecx, d;
  memset(c, 0, sizeof *c);
  __cpuid(0, highest, b, ecx, d);
  __cpuid(1, a, b, c->leaf1_ecx, c->leaf1_edx);
  if (highest >= 7) {
    __cpuid_count(7, 0, a, c->leaf7_ebx, c->leaf7_ecx, d);
    /* EAX of leaf 7 is its highest subleaf. */
    if (a >= 1) __cpuid_count(7, 1, c->leaf7_1_eax, b, ecx, d);
  }
  __cpuid(0x80000001u, a, b, c->leaf80000001_ecx, d);
  /* Without OSXSAVE the instruction itself is undefined (field reports of SIGILL in detection). */
  if (c->leaf1_ecx >> OSXSAVE & 1) c->xcr0 = read_xcr0();
}

#else

void fc_cpu_read(struct fc_cpuid *c) { memset(c, 0, sizeof *c); }

#endif

fc_features fc_cpu_detect(void) {
  struct fc_cpuid cpuid;
  fc_cpu_read(&cpuid);
  return fc_cpu_decode(&cpuid);
}
