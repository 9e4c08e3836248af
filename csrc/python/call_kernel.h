/* SPDX-License-Identifier: Apache-2.0 */
/* call_kernel(op, name, ...): run one row of the table directly, for tests and benches. */
#ifndef FC_PYTHON_CALL_KERNEL_H
#define FC_PYTHON_CALL_KERNEL_H

#include <pybind11/pybind11.h>

namespace fc {
void add_call_kernel(pybind11::module_ &module);
}

#endif
