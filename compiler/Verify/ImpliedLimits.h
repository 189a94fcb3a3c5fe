// Limits of an index that another condition implies for rows that exist.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_IMPLIEDLIMITS_H
#define SELVEDGE_COMPILER_VERIFY_IMPLIEDLIMITS_H

#include "compiler/Verify/Facts.h"

namespace selvedge::verify {

/// Where `predicate` is false, the state that a reduction along `over` finds in
/// all rows that exist; none where nothing is known. A causal mask, for one,
/// implies that j < kv_len wherever i < M: rows past M are absent, and so is
/// what the reduction makes of them.
std::optional<State> stateInRows(const Facts &facts, mlir::Value predicate,
                                 mlir::StringAttr over);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_IMPLIEDLIMITS_H
