// What the signature says about a kernel's integers.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/KernelSeed.h"

#include "compiler/Verify/Arithmetic/Facts.h"
#include "dialect/Sm/SmScheduler.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/MapVector.h"

#include <limits>

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::tile;

static std::optional<int64_t> sizeOf(KernelOp kernel, AxisAttr axis) {
  if (!kernel.getSizes())
    return std::nullopt;
  return cast<IntegerAttr>(kernel.getSizes()->get(axis.getName())).getInt();
}

SmallVector<SmallVector<DimSize>> fewSizesOf(sm::VariantOp variant) {
  constexpr int64_t most = 64;
  std::optional<AffineMap> conditions = variant.getConditions();
  if (!conditions)
    return {};
  SmallVector<SmallVector<DimSize>> few;
  for (unsigned dim = 0; dim < conditions->getNumSymbols(); ++dim) {
    AffineExpr symbol = getAffineSymbolExpr(dim, variant.getContext()),
               none = getAffineConstantExpr(0, variant.getContext());
    int64_t first = 0, last = maxExtent;
    for (AffineExpr condition : conditions->getResults()) {
      // `dim - first`, or `last - dim`.
      auto atNone = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(
          condition.replace(symbol, none), 0, conditions->getNumSymbols()));
      if (atNone && condition == symbol + atNone)
        first = std::max(first, -atNone.getValue());
      else if (atNone && condition == atNone - symbol)
        last = std::min(last, atNone.getValue());
    }
    if (last - first >= most)
      continue;
    SmallVector<DimSize> &sizes = few.emplace_back();
    for (int64_t size = first; size <= last; ++size)
      sizes.push_back({dim, size});
  }
  return few;
}

void seedSignature(ArrayAttr dims, ArrayAttr tensors, IndexValues &values,
                   SmallVectorImpl<Polynomial> &dimValues,
                   std::optional<DimSize> given) {
  for (unsigned i = 0; i < dims.size(); ++i)
    dimValues.push_back(given && given->dim == i
                            ? Polynomial(given->size)
                            : values.newSymbol(0, maxExtent));
  // The runtime refuses larger extents; of an absent tensor it sees none.
  for (auto tensor : tensors.getAsRange<TensorArgAttr>())
    if (!tensor.getIsOptional())
      for (AffineExpr extent : tensor.getShape().getResults())
        if (!isa<AffineSymbolExpr, AffineConstantExpr>(extent)) {
          Polynomial p = values.of(extent, dimValues);
          values.assume(p);
          values.assume(maxExtent - p);
        }
}

void assumePositive(AffineExpr extent, IndexValues &values,
                    ArrayRef<Polynomial> dims) {
  values.assume(values.of(extent, dims) - 1);
  auto isNonNegative = [&](AffineExpr factor) {
    return values.isNonNegative(values.of(factor, dims));
  };
  auto binary = dyn_cast<AffineBinaryOpExpr>(extent);
  if (!binary || !isNonNegative(binary.getLHS()))
    return;
  if (binary.getKind() == AffineExprKind::CeilDiv)
    return assumePositive(binary.getLHS(), values, dims);
  if (binary.getKind() == AffineExprKind::Mul && isNonNegative(binary.getRHS()))
    for (AffineExpr factor : {binary.getLHS(), binary.getRHS()})
      assumePositive(factor, values, dims);
}

void seedConditions(AffineMap conditions, IndexValues &values,
                    ArrayRef<Polynomial> dimValues) {
  for (AffineExpr condition : conditions.getResults())
    values.assume(values.of(condition, dimValues));
}

void seedKernel(KernelOp kernel, IndexValues &values,
                ArrayRef<Polynomial> dims) {
  if (std::optional<AffineMap> conditions = kernel.getProgram().getConditions())
    seedConditions(*conditions, values, dims);
  for (auto [i, dim] : llvm::enumerate(dims))
    values.define(kernel.getDimArg(i), dim);
  for (auto [i, attr] : llvm::enumerate(kernel.getRanges())) {
    AffineExpr extent = cast<IterAttr>(attr).getExtent().getResult(0);
    assumePositive(extent, values, dims);
    values.define(kernel.getCoord(i),
                  values.newSymbol(0, values.of(extent, dims) - 1));
  }
  // The plan may pad an extent, by less than a block.
  for (auto axis : kernel.getAxes().getAsRange<AxisAttr>())
    values.defineAxis(
        axis.getName(),
        sizeOf(kernel, axis).value_or(axis.getExtent() + maxBlock));
}

/// Adds the factors of a product.
static void addFactors(Value product, IndexValues &values,
                       SmallVectorImpl<Polynomial> &factors) {
  if (auto both = product.getDefiningOp<arith::MulIOp>())
    for (Value factor : both->getOperands())
      addFactors(factor, values, factors);
  else
    factors.push_back(values.of(product));
}

/// The tile of a role that goes from the thread block's own to the next one as
/// long as that is one of the launch; null for other loops.
///
///     scf.while (%t = sm.block_id) { scf.condition(%t < %m * %n) }
///     do { ... scf.yield(sm.next_tile) }
static Value tileOf(scf::WhileOp loop, IndexValues &values,
                    ArrayRef<Polynomial> counts) {
  scf::ConditionOp condition = loop.getConditionOp();
  auto compare = condition.getCondition().getDefiningOp<arith::CmpIOp>();
  auto tested =
      compare ? dyn_cast<BlockArgument>(compare.getLhs()) : BlockArgument();
  if (!tested || tested.getOwner() != loop.getBeforeBody() ||
      compare.getPredicate() != arith::CmpIPredicate::slt)
    return {};
  unsigned number = tested.getArgNumber();
  if (!loop.getInits()[number].getDefiningOp<sm::BlockIdOp>() ||
      !loop.getYieldOp().getOperand(number).getDefiningOp<sm::NextTileOp>())
    return {};
  SmallVector<Polynomial> factors, open;
  addFactors(compare.getRhs(), values, factors);
  auto isCount = [](const Polynomial &p) { return !(p == Polynomial(1)); };
  llvm::copy_if(counts, std::back_inserter(open), isCount);
  for (const Polynomial &factor : llvm::make_filter_range(factors, isCount)) {
    auto *same = llvm::find(open, factor);
    if (same == open.end())
      return {};
    open.erase(same);
  }
  if (!open.empty())
    return {};
  for (auto [value, handed] :
       llvm::zip_equal(loop.getAfterArguments(), condition.getArgs()))
    if (handed == tested)
      return value;
  return {};
}

void seedLaunch(sm::LaunchOp launch, sm::KernelOp kernel, IndexValues &values,
                ArrayRef<Polynomial> dims) {
  auto plan = launch->getParentOfType<sm::PlanOp>();
  for (auto [attr, argument] :
       llvm::zip_equal(kernel.getArgs(), kernel.getBody().getArguments()))
    if (auto dim = dyn_cast<sm::DimArgAttr>(attr))
      if (const auto *it = llvm::find(plan.getDims(), dim.getDim());
          it != plan.getDims().end())
        values.define(argument, dims[it - plan.getDims().begin()]);
  auto variant = launch->getParentOfType<sm::VariantOp>();
  if (std::optional<AffineMap> conditions = variant.getConditions())
    seedConditions(*conditions, values, dims);
  SmallVector<Polynomial> counts;
  for (AffineExpr count : launch.getGrid().getResults()) {
    counts.push_back(values.of(count, dims));
    // A grid with a zero is not launched, nor one of more blocks than 32 bits
    // tell apart.
    assumePositive(count, values, dims);
    values.assume(Polynomial(std::numeric_limits<int32_t>::max()) -
                  counts.back());
  }
  llvm::MapVector<StringAttr, int64_t> sizes;
  kernel.walk([&](Operation *op) {
    if (isa<sm::BlockIdOp>(op))
      values.defineBelowProduct(op->getResult(0), counts);
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      if (Value tile = tileOf(loop, values, counts))
        values.defineBelowProduct(tile, counts);
    if (auto range = dyn_cast<sm::RangeOp>(op)) {
      auto type = cast<RankedTensorType>(range.getType());
      int64_t &size = sizes[axisNames(type).front()];
      size = std::max(size, type.getDimSize(0));
    }
  });
  for (auto [axis, size] : sizes)
    values.defineAxis(axis, size);
}

} // namespace selvedge::verify
