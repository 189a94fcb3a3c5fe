// The sizes for which a kernel with roles is executed.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Trials.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

static std::optional<int64_t> constantOf(Value value) {
  APInt constant;
  return matchPattern(value, m_ConstantInt(&constant))
             ? std::optional(constant.getSExtValue())
             : std::nullopt;
}

/// The largest constant by which `value`, or its sum with a constant, is
/// divided, or in steps of which a loop goes up to it.
static int64_t blockOf(Value value) {
  int64_t block = 1;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    std::optional<int64_t> other;
    if (auto loop = dyn_cast<scf::ForOp>(user)) {
      if (value == loop.getUpperBound())
        other = constantOf(loop.getStep());
    } else if (user->getNumOperands() == 2) {
      other = constantOf(user->getOperand(1 - use.getOperandNumber()));
    }
    if (!other)
      continue;
    if (isa<arith::AddIOp>(user))
      block = std::max(block, blockOf(user->getResult(0)));
    else if (isa<scf::ForOp>(user) ||
             (use.getOperandNumber() == 0 &&
              isa<arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp,
                  arith::DivSIOp, arith::DivUIOp>(user)))
      block = std::max(block, *other);
  }
  return block;
}

std::vector<Trial> makeTrials(KernelOp kernel, int64_t longCount) {
  if (kernel.getBody().getOps<RoleOp>().empty())
    return {Trial()};
  struct Dim {
    Value value;
    int64_t block;
  };
  SmallVector<Dim> dims, uncut;
  for (auto [attr, argument] :
       llvm::zip(kernel.getArgs(), kernel.getBody().getArguments()))
    if (isa<DimArgAttr>(attr)) {
      int64_t block = blockOf(argument);
      (block > 1 ? dims : uncut).push_back({argument, block});
    }
  // Where fewer than two are cut, others give a thread block its tiles.
  size_t varied =
      std::min(std::max<size_t>(2, dims.size()), dims.size() + uncut.size());
  llvm::append_range(dims, uncut);

  SmallVector<int64_t> choices{1, 2, 3, longCount};
  std::vector<Trial> trials;
  SmallVector<size_t> counts(varied, 0);
  while (true) {
    auto isLong = [&](size_t i) { return choices[i] == longCount; };
    bool isLegal = llvm::none_of(counts, isLong) ||
                   (llvm::count_if(counts, isLong) == 1 &&
                    llvm::all_of(counts, [&](size_t i) { return i != 2; }));
    if (isLegal) {
      Trial &trial = trials.emplace_back();
      trial.block = 0;
      trial.blocks = 1;
      for (auto [i, dim] : llvm::enumerate(dims))
        trial.dims.push_back(
            {dim.value, i < varied ? dim.block * choices[counts[i]] : 1});
    }
    size_t i = 0;
    while (i < varied && ++counts[i] == choices.size())
      counts[i++] = 0;
    if (i == varied)
      return trials;
  }
}

std::string Trial::str(KernelOp kernel) const {
  std::string text;
  for (auto [value, size] : dims) {
    auto attr = cast<DimArgAttr>(
        kernel.getArgs()[cast<BlockArgument>(value).getArgNumber()]);
    text += llvm::formatv("{0} = {1}, ", attr.getDim().getValue(), size);
  }
  if (block)
    text += llvm::formatv("block {0} of {1}", *block, *blocks);
  return text;
}

} // namespace selvedge::verify
