// Which thread holds or moves which element.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/LayoutCoverage.h"
#include "compiler/Verify/Arithmetic/Facts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/BitVector.h"

namespace selvedge::verify {

using namespace mlir;
using sm::AxisLayoutAttr;

/// Sum of the strides of the bits that are set in `number`.
static int64_t bitsOffset(ArrayRef<int64_t> strides, int64_t number) {
  int64_t offset = 0;
  for (auto [bit, stride] : llvm::enumerate(strides))
    offset += (number >> bit & 1) * stride;
  return offset;
}

LogicalResult checkCoverage(Operation *op, sm::LayoutAttr layout,
                            sm::BufferType buffer, int64_t warps) {
  if (layout.getAxes().size() != 2)
    return op->emitOpError("expects a layout of two axes, but got ") << layout;
  int64_t rowAt = layout.indexOf(buffer.getRowAxis()),
          colAt = layout.indexOf(buffer.getColAxis());
  if (rowAt < 0 || colAt < 0 || rowAt == colAt)
    return op->emitOpError("expects a layout of the buffer's axes ")
           << buffer.getRowAxis() << " and " << buffer.getColAxis()
           << ", but got " << layout;
  AxisLayoutAttr rowAxis = layout.getAxes()[rowAt],
                 colAxis = layout.getAxes()[colAt];
  int64_t rows = buffer.getRows(), cols = buffer.getCols();
  llvm::BitVector written(rows * cols);
  for (int64_t thread = 0; thread < 32 * warps; ++thread) {
    int64_t lane = thread % 32, warp = thread / 32;
    SmallVector<int64_t> ownCols = colAxis.indicesOf(lane, warp);
    for (int64_t row : rowAxis.indicesOf(lane, warp))
      for (int64_t col : ownCols) {
        if (row < 0 || row >= rows || col < 0 || col >= cols)
          return op->emitOpError("expects no access outside of ")
                 << rows << " x " << cols << " elements, but got row " << row
                 << ", column " << col << " by warp " << warp << ", lane "
                 << lane;
        written.set(row * cols + col);
      }
  }
  if (int first = written.find_first_unset(); first >= 0)
    return op->emitOpError("expects every element of the buffer to be written, "
                           "but row ")
           << first / cols << ", column " << first % cols << " is not";
  return success();
}

LogicalResult checkReduction(sm::ReduceOp reduce) {
  auto type = cast<RankedTensorType>(reduce.getSource().getType());
  sm::LayoutAttr layout = sm::layoutOf(type);
  int64_t position = layout.indexOf(reduce.getOverAttr());
  if (position < 0)
    return reduce.emitOpError("expects a source with the axis ")
           << reduce.getOverAttr() << ", but got " << type;
  AxisLayoutAttr axis = layout.getAxes()[position];
  // A bit of stride 0 repeats the axis and is not combined.
  SmallVector<int64_t> strides(axis.getLanes());
  llvm::append_range(strides, axis.getWarps());
  llvm::erase(strides, 0);
  llvm::BitVector combined(type.getDimSize(position));
  for (int64_t thread = 0; thread < int64_t(1) << strides.size(); ++thread)
    for (int64_t reg = 0; reg < axis.getNumRegs(); ++reg) {
      int64_t index = bitsOffset(strides, thread) + axis.regOffset(reg);
      if (index < 0 || index >= combined.size() || combined.test(index))
        return reduce.emitOpError("expects each of the ")
               << combined.size() << " indices of axis " << axis.getName()
               << " once, but got index " << index
               << (index < 0 || index >= combined.size() ? "" : " twice");
      combined.set(index);
    }
  if (int first = combined.find_first_unset(); first >= 0)
    return reduce.emitOpError("expects each of the ")
           << combined.size() << " indices of axis " << axis.getName()
           << " once, but index " << first << " is held by no thread";
  return success();
}

namespace {

/// Values that are multiples of one factor. One that depends on itself is taken
/// for a multiple meanwhile: if everything that enters the cycle is one, so is
/// each value that it takes.
class Multiples {
public:
  explicit Multiples(int64_t factor) : factor(factor) {}

  bool contains(Value value) {
    if (!visited.insert(value).second)
      return true;
    if (auto argument = dyn_cast<BlockArgument>(value))
      return containsArgument(argument);
    Operation *def = value.getDefiningOp();
    if (auto constant = dyn_cast<arith::ConstantIntOp>(def))
      return constant.value() % factor == 0;
    if (isa<arith::MulIOp>(def))
      return llvm::any_of(def->getOperands(), [&](Value v) {
        // What was taken for granted on a way that fails is not.
        auto before = visited;
        if (contains(v))
          return true;
        visited = std::move(before);
        return false;
      });
    if (auto receive = dyn_cast<sm::ReceiveOp>(def))
      return llvm::all_of(receive.getMailbox().getUsers(),
                          [&](Operation *user) {
                            auto post = dyn_cast<sm::PostOp>(user);
                            return !post || contains(post.getValue());
                          });
    if (auto branch = dyn_cast<RegionBranchOpInterface>(def))
      return containsInputs(branch, {def, def->getResults()},
                            cast<OpResult>(value).getResultNumber());
    auto operands = def->getOperands();
    if (isa<arith::SelectOp>(def))
      operands = operands.drop_front();
    else if (!isa<arith::AddIOp, arith::SubIOp, arith::TruncIOp, arith::ExtSIOp,
                  arith::MinSIOp, arith::MaxSIOp>(def))
      return false;
    return llvm::all_of(operands, [&](Value v) { return contains(v); });
  }

private:
  bool containsArgument(BlockArgument argument) {
    Region *region = argument.getOwner()->getParent();
    auto branch = dyn_cast<RegionBranchOpInterface>(region->getParentOp());
    if (!branch)
      return false;
    auto loop = dyn_cast<scf::ForOp>(branch.getOperation());
    unsigned first = loop ? 1 : 0;
    if (argument.getArgNumber() < first)
      return contains(loop.getLowerBound()) && contains(loop.getStep());
    return containsInputs(branch,
                          {region, region->getArguments().drop_front(first)},
                          argument.getArgNumber() - first);
  }

  /// What may become input `index` of `successor`.
  bool containsInputs(RegionBranchOpInterface branch, RegionSuccessor successor,
                      unsigned index) {
    SmallVector<Value> values;
    branch.getPredecessorValues(successor, index, values);
    return !values.empty() &&
           llvm::all_of(values, [&](Value v) { return contains(v); });
  }

  int64_t factor;
  DenseSet<Value> visited;
};

} // namespace

bool isMultipleOf(Value value, int64_t factor) {
  return Multiples(factor).contains(value);
}

LogicalResult checkVector(Operation *op, ValueRange indices, int64_t vector) {
  if (vector == 1)
    return success();
  auto range = indices.empty() ? sm::RangeOp()
                               : indices.back().getDefiningOp<sm::RangeOp>();
  if (!range || !llvm::isPowerOf2_64(vector))
    return op->emitOpError("expects the last index to be a range for 'vector' ")
           << vector;
  AxisLayoutAttr axis = sm::layoutOf(range.getType()).getAxes().front();
  if (axis.getRegSizes().empty() || axis.getRegStrides()[0] != 1 ||
      axis.getRegSizes()[0] % vector != 0)
    return op->emitOpError("expects 'vector' ")
           << vector << " adjacent elements per thread, but got " << axis;
  for (ArrayRef<int64_t> strides :
       {axis.getRegStrides().drop_front(), axis.getLanes(), axis.getWarps()})
    for (int64_t stride : strides)
      if (stride % vector != 0)
        return op->emitOpError("expects accesses at multiples of 'vector' ")
               << vector << ", but got " << axis;
  if (!isMultipleOf(range.getStart(), vector))
    return op->emitOpError("expects a start that is a multiple of 'vector' ")
           << vector;
  for (Value index : indices.drop_back())
    if (mentions(index, axis.getName()))
      return op->emitOpError("expects only the last index to depend on axis ")
             << axis.getName() << " for 'vector' " << vector;
  return success();
}

} // namespace selvedge::verify
