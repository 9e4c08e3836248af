/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.def as constant arrays. The build defines FC_HAVE_<op>_<isa> as 1 for each kernel that it
 * compiled; a row whose kernel is missing keeps its place with a NULL function, so that `info` can
 * say why it does not run.
 */
#include "kernels.h"

/* FC_BUILT(macro): 1 if macro is defined as 1, else 0. */
#define FC_BUILT_1 ~, 1
#define FC_SECOND(a, b, ...) b
#define FC_SECOND_OF(...) FC_SECOND(__VA_ARGS__, 0, ~)
#define FC_BUILT_PASTE(value) FC_SECOND_OF(FC_BUILT_##value)
#define FC_BUILT(macro) FC_BUILT_PASTE(macro)

/* FC_IF(1, x) is x; FC_IF(0, x) is NULL: the symbol of a missing kernel must not even be named. */
#define FC_IF_1(x) x
#define FC_IF_0(x) NULL
#define FC_IF_PASTE(n, x) FC_IF_##n(x)
#define FC_IF(n, x) FC_IF_PASTE(n, x)

#define FC_SLOT(have, name) {FC_IF(FC_BUILT(have), (fc_any_fn *)name), #name}

/* Declarations. */
#define FC_KERNEL(op, isa, features) extern FC_HIDDEN fc_##op##_fn fc_##op##_##isa;
#define FC_AES_SUITE(isa, layout, features, functions) functions
#define FN(function, isa) extern FC_HIDDEN fc_aes_##function##_fn fc_aes_##function##_##isa;
#include "kernels.def"
#undef FC_KERNEL
#undef FC_AES_SUITE
#undef FN

/* The functions of each row. */
#define FC_KERNEL(op, isa, features) \
  static const struct fc_kernel op##_##isa[] = {FC_SLOT(FC_HAVE_##op##_##isa, fc_##op##_##isa)};
#define FC_AES_SUITE(isa, layout, features, functions) \
  static const struct fc_kernel aes_##isa[FC_AES_FUNCTION_COUNT] = {functions};
#define FN(function, isa) \
  [FC_AES_##function] = FC_SLOT(FC_HAVE_aes_##isa, fc_aes_##function##_##isa),
#include "kernels.def"
#undef FC_KERNEL
#undef FC_AES_SUITE
#undef FN

/* The rows. */
#undef FC_LANES_KERNEL
const struct fc_row fc_rows[] = {
#define FC_KERNEL(op, isa, features) FC_LANES_KERNEL(op, isa, 0, 0, features)
#define FC_LANES_KERNEL(op, isa, lanes, min_fill, features) \
  {FC_OP_##op, #isa, features, FC_AES_LAYOUT_NONE, op##_##isa, lanes, min_fill},
#define FC_AES_SUITE(isa, layout, features, functions) \
  {FC_OP_aes, #isa, features, FC_AES_LAYOUT_##layout, aes_##isa, 0, 0},
#include "kernels.def"
#undef FC_KERNEL
#undef FC_LANES_KERNEL
#undef FC_AES_SUITE
};

const size_t fc_row_count = sizeof fc_rows / sizeof fc_rows[0];

const char *const fc_op_names[FC_OP_COUNT] = {
#define X(op) #op,
    FC_OPS(X)
#undef X
        "aes"};

const char *const fc_aes_function_names[FC_AES_FUNCTION_COUNT] = {
#define X(function) #function,
    FC_AES_FUNCTIONS(X)
#undef X
};

size_t fc_row_kernel_count(const struct fc_row *row) {
  return row->op == FC_OP_aes ? FC_AES_FUNCTION_COUNT : 1;
}

int fc_row_built(const struct fc_row *row) {
  for (size_t i = 0; i < fc_row_kernel_count(row); i++) {
    if (row->kernels[i].fn == NULL) return 0;
  }
  return 1;
}

int fc_row_runnable(const struct fc_row *row, fc_features features) {
  return fc_row_built(row) && (row->features & ~features) == 0;
}
