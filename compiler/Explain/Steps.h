// The steps of a loop, drawn at sample sizes.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_EXPLAIN_STEPS_H
#define SELVEDGE_COMPILER_EXPLAIN_STEPS_H

#include "compiler/Explain/Explanation.h"
#include "compiler/Explain/Sample.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace selvedge::explain {

/// For each tile of the picture along its other axis, of which `others` are the
/// ranges, the steps of a loop over its step axis, whose parts are `parts`.
/// Nothing where data decides which steps there are.
std::vector<Step> stepsOf(const Picture &picture,
                          llvm::ArrayRef<mlir::scf::ForOp> parts,
                          llvm::ArrayRef<tile::RangeOp> others, Sample &sample);

} // namespace selvedge::explain

#endif // SELVEDGE_COMPILER_EXPLAIN_STEPS_H
