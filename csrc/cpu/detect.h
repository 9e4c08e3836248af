/* SPDX-License-Identifier: Apache-2.0 */
/* What this CPU and its operating system let us use. The only code that asks either. */
#ifndef FC_CPU_DETECT_H
#define FC_CPU_DETECT_H

#include "cpu/features.h"

/* The words of CPUID and XGETBV that features are read from; synthetic ones in tests. */
struct fc_cpuid {
  uint32_t leaf1_ecx, leaf1_edx;
  uint32_t leaf7_ebx, leaf7_ecx;
  uint32_t leaf7_1_eax;
  uint32_t leaf80000001_ecx;
  uint64_t xcr0; /* 0 if OSXSAVE is clear */
};

/*
 * Pure: the usable features, closed under `needs`. A feature in ymm registers needs XCR0 bits 1-2,
 * one in zmm or mask registers also bits 5-7. SSE-encoded AES-NI, PCLMULQDQ and SHA-NI need neither.
 */
fc_features fc_cpu_decode(const struct fc_cpuid *cpuid);

/* Read them from this CPU. All zero on other architectures. */
void fc_cpu_read(struct fc_cpuid *cpuid);

/* fc_cpu_decode of fc_cpu_read. */
fc_features fc_cpu_detect(void);

#endif
