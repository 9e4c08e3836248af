/* SPDX-License-Identifier: Apache-2.0 */
#include "bodies.h"

#include <string.h>

#if defined(FC_HAVE_portable_entries)

#include "x86_64/portable_stack.h"

#define FC_KERNEL(op, isa, features) \
  FC_IF_PORTABLE(isa, extern FC_HIDDEN fc_##op##_fn fc_##op##_portable_body;)
#define FC_AES_SUITE(isa, layout, features, functions) FC_IF_PORTABLE(isa, functions)
#define FN(function, isa) extern FC_HIDDEN fc_aes_##function##_fn fc_aes_##function##_portable_body;
#include "kernels.def"
#undef FC_KERNEL
#undef FC_AES_SUITE
#undef FN

static const struct body bodies[] = {
#define BODY(name, stack) {{(fc_any_fn *)name##_body, #name}, stack},
#define FC_KERNEL(op, isa, features) FC_IF_PORTABLE(isa, BODY(fc_##op##_portable, FC_STACK(op)))
#define FC_AES_SUITE(isa, layout, features, functions) FC_IF_PORTABLE(isa, functions)
#define FN(function, isa) BODY(fc_aes_##function##_portable, FC_STACK(aes_##function))
#include "kernels.def"
#undef FC_KERNEL
#undef FC_AES_SUITE
#undef FN
};

const struct body *body_of(const struct fc_kernel *kernel) {
  for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
    if (strcmp(bodies[i].kernel.symbol, kernel->symbol) == 0) return &bodies[i];
  }
  return NULL;
}

#else

const struct body *body_of(const struct fc_kernel *kernel) {
  (void)kernel;
  return NULL;
}

#endif
