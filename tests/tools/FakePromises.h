// What the kernels that check promises do, on the CPU.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TESTS_TOOLS_FAKEPROMISES_H
#define SELVEDGE_TESTS_TOOLS_FAKEPROMISES_H

#include <string>

namespace selvedge::test {

/// Executes a kernel of runtime/kernels/Promises.mlir; another is none of
/// its business.
void runPromises(const std::string &kernel, void **params);

} // namespace selvedge::test

#endif // SELVEDGE_TESTS_TOOLS_FAKEPROMISES_H
