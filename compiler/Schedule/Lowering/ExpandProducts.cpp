// tile-expand-products: products that tensor cores do not take.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_TILEEXPANDPRODUCTS
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

/// Whether an operand has one axis beside the contracted one.
bool isMatrix(DotOp dot, Value operand) {
  return axesOf(operand.getType()).size() == 2 &&
         llvm::count_if(axesOf(operand.getType()), [&](StringAttr axis) {
           return llvm::is_contained(dot.getOver(), Attribute(axis));
         }) == 1;
}

/// Two tiles of 16 bits, of two axes each, over one axis that they share.
bool isForTensorCores(DotOp dot) {
  Type lhs = getElementTypeOrSelf(dot.getLhs()),
       rhs = getElementTypeOrSelf(dot.getRhs());
  return lhs == rhs && lhs.getIntOrFloatBitWidth() == 16 &&
         dot.getOver().size() == 1 && isMatrix(dot, dot.getLhs()) &&
         isMatrix(dot, dot.getRhs()) && axesOf(dot.getType()).size() == 2;
}

/// The tile of f32 that has the axes of both operands, in the kernel's order.
Type productType(DotOp dot) {
  llvm::SmallSetVector<StringAttr, 4> own;
  llvm::SmallDenseMap<StringAttr, int64_t> sizes;
  for (Value operand : {dot.getLhs(), dot.getRhs()})
    for (auto [axis, size] : llvm::zip_equal(
             axesOf(operand.getType()),
             cast<RankedTensorType>(operand.getType()).getShape())) {
      own.insert(axis);
      sizes[axis] = size;
    }
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> shape;
  for (auto axis :
       dot->getParentOfType<KernelOp>().getAxes().getAsRange<AxisAttr>())
    if (own.contains(axis.getName())) {
      axes.push_back(axis.getName());
      shape.push_back(sizes.lookup(axis.getName()));
    }
  return tileType(Float32Type::get(dot.getContext()), axes, shape);
}

void expand(DotOp dot) {
  OpBuilder b(dot);
  Location loc = dot.getLoc();
  Type full = productType(dot);
  auto factor = [&](Value operand) {
    if (!getElementTypeOrSelf(operand).isF32())
      operand = arith::ExtFOp::create(
          b, loc, withElementType(operand.getType(), b.getF32Type()), operand);
    return broadcastTo(b, loc, operand, full);
  };
  // Each is added as it is made, by one instruction that rounds once.
  Value product =
      arith::MulFOp::create(b, loc, factor(dot.getLhs()), factor(dot.getRhs()),
                            arith::FastMathFlags::contract);
  Value sum = ReduceOp::create(b, loc, dot.getType(), Combine::Add, product,
                               dot.getOver(), dot.getPresence());
  if (dot.getInit())
    sum = arith::AddFOp::create(b, loc, dot.getInit(), sum);
  dot.replaceAllUsesWith(sum);
  dot.erase();
}

struct TileExpandProductsPass
    : impl::TileExpandProductsBase<TileExpandProductsPass> {
  using TileExpandProductsBase::TileExpandProductsBase;

  void runOnOperation() override {
    getOperation()->walk([&](DotOp dot) {
      StringRef kernel = dot->getParentOfType<KernelOp>().getSymName();
      if (!isForTensorCores(dot) || llvm::is_contained(in, kernel.str()))
        expand(dot);
    });
  }
};

} // namespace
} // namespace selvedge::schedule
