// Which values of integer inputs select something.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/Selections.h"

#include "compiler/Analysis/Selections.h"
#include "compiler/Driver/Session.h"

#include "llvm/Support/MathExtras.h"

namespace selvedge {

using namespace mlir;

/// The value of an extent; none where a dim is not known.
static std::optional<int64_t>
evaluate(AffineExpr extent, tile::ProgramOp program,
         const std::map<std::string, int64_t> &dims) {
  SmallVector<AffineExpr> values;
  for (auto name : program.getDims().getAsRange<StringAttr>()) {
    auto found = dims.find(name.str());
    values.push_back(
        found == dims.end()
            ? getAffineSymbolExpr(values.size(), extent.getContext())
            : getAffineConstantExpr(found->second, extent.getContext()));
  }
  auto constant = dyn_cast<AffineConstantExpr>(extent.replaceSymbols(values));
  return constant ? std::optional(constant.getValue()) : std::nullopt;
}

CompileResult findSelections(const CompileRequest &request,
                             const std::map<std::string, int64_t> &dims,
                             std::map<std::string, int64_t> &counts) {
  counts.clear();
  driver::Session session(request);
  if (!session.parse())
    return std::move(session.result);
  for (auto program : session.getModule().getOps<tile::ProgramOp>())
    for (const analysis::Selection &one : analysis::findSelections(program)) {
      std::optional<int64_t> extent = evaluate(one.extent, program, dims);
      if (!extent)
        continue;
      int64_t count = llvm::divideCeilSigned(*extent, one.factor) * one.divisor;
      auto [at, isNew] = counts.try_emplace(one.tensor.str(), count);
      at->second = std::min(at->second, count);
    }
  return {};
}

} // namespace selvedge
