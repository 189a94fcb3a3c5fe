// The smallest case that still fails.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_CHECKSHRINK_H
#define SELVEDGE_TOOLS_SELVEDGE_CHECKSHRINK_H

#include "tools/selvedge/RunCase.h"

#include <functional>

namespace selvedge::cli {

/// Makes a failing case smaller while `fails` says that it still fails: fewer
/// kinds of poison, layouts, values and tensors, smaller dims. Scalars that are
/// no parameters are `free` to go.
CaseOptions shrink(CaseOptions options, const std::set<std::string> &free,
                   const std::function<bool(const CaseOptions &)> &fails);

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_CHECKSHRINK_H
