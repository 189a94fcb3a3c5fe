// Registration, layouts and verifiers of the sm dialect; (Cn) refers to the
// op's documentation. SPDX-License-Identifier: MIT
#include "dialect/Sm/Sm.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace selvedge::sm;

#include "dialect/Sm/SmDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/Sm/SmAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/Sm/SmTypes.cpp.inc"

#define GET_OP_CLASSES
#include "dialect/Sm/SmOps.cpp.inc"

void SmDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/Sm/SmAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/Sm/SmTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/Sm/SmOps.cpp.inc"
      >();
}

int64_t AxisDistAttr::getNumRegs() const {
  int64_t n = 1;
  for (int64_t size : getRegSizes())
    n *= size;
  return n;
}

int64_t AxisDistAttr::regOffset(int64_t reg) const {
  int64_t offset = 0;
  for (auto [size, stride] : llvm::zip_equal(getRegSizes(), getRegStrides())) {
    offset += (reg % size) * stride;
    reg /= size;
  }
  return offset;
}

int64_t AxisDistAttr::getSize() const {
  int64_t last = 0;
  for (auto [size, stride] : llvm::zip_equal(getRegSizes(), getRegStrides()))
    last += (size - 1) * stride;
  for (int64_t stride : getLanes())
    last += stride;
  for (int64_t stride : getWarps())
    last += stride;
  return last + 1;
}

int64_t DistAttr::getNumRegs() const {
  int64_t n = 1;
  for (AxisDistAttr axis : getAxes())
    n *= axis.getNumRegs();
  return n;
}

int64_t DistAttr::indexOf(StringAttr name) const {
  for (auto [i, axis] : llvm::enumerate(getAxes()))
    if (axis.getName() == name)
      return static_cast<int64_t>(i);
  return -1;
}

SmallVector<int64_t> DistAttr::unflatten(int64_t reg) const {
  SmallVector<int64_t> regs(getAxes().size());
  for (size_t i = getAxes().size(); i-- > 0;) {
    int64_t n = getAxes()[i].getNumRegs();
    regs[i] = reg % n;
    reg /= n;
  }
  return regs;
}

int64_t DistAttr::flatten(ArrayRef<int64_t> regs) const {
  int64_t reg = 0;
  for (auto [axis, r] : llvm::zip_equal(getAxes(), regs))
    reg = reg * axis.getNumRegs() + r;
  return reg;
}

namespace selvedge::sm {

bool isRegisterTile(Type type) { return distOf(type) != nullptr; }

DistAttr distOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto dist =
      tensor ? dyn_cast_or_null<DistAttr>(tensor.getEncoding()) : DistAttr();
  return dist && static_cast<int64_t>(dist.getAxes().size()) == tensor.getRank()
             ? dist
             : DistAttr();
}

} // namespace selvedge::sm

LogicalResult PlanOp::verify() {
  VariantOp last;
  for (auto variant : getBody().getOps<VariantOp>())
    last = variant;
  if (last && !last.getWhen().empty())
    return emitOpError(
               "expects the last variant to have no condition, but got 'when' ")
           << last.getWhen();
  return success();
}

LogicalResult KernelOp::verify() {
  Block &block = getBody().front();
  if (block.getNumArguments() != getArgs().size())
    return emitOpError("expects ")
           << getArgs().size() << " block arguments, but got "
           << block.getNumArguments();
  if (getWarps() == 0 || getWarps() > 32 ||
      (getWarps() & (getWarps() - 1)) != 0)
    return emitOpError("expects 1 to 32 warps, a power of two, but got ")
           << getWarps();
  return success();
}

LogicalResult BroadcastOp::verify() {
  DistAttr to = distOf(getType());
  for (AxisDistAttr axis : distOf(getSource().getType()).getAxes())
    if (!llvm::is_contained(to.getAxes(), axis))
      return emitOpError("expects the result to distribute axis ")
             << axis.getName() << " as the source does";
  return success();
}

LogicalResult ReduceOp::verify() {
  SmallVector<AxisDistAttr> rest;
  for (AxisDistAttr axis : distOf(getSource().getType()).getAxes())
    if (axis.getName() != getOverAttr())
      rest.push_back(axis);
  DistAttr result = distOf(getType());
  if (result ? result.getAxes() != ArrayRef<AxisDistAttr>(rest) : !rest.empty())
    return emitOpError("expects the source's distribution without axis ")
           << getOverAttr() << ", but got " << getType();
  return success();
}

LogicalResult SlotOp::verify() {
  BufferType ring = getRing().getType(), slot = getType();
  if (slot.getStages() != 1 ||
      slot != BufferType::get(getContext(), ring.getRowAxis(),
                              ring.getColAxis(), ring.getRows(), ring.getCols(),
                              ring.getElementType(), ring.getSwizzle(), 1))
    return emitOpError("expects one stage of ") << ring << ", but got " << slot;
  return success();
}

static SmallVector<std::pair<StringAttr, int64_t>> axesAndSizes(Type type) {
  if (auto buffer = dyn_cast<BufferType>(type))
    return {{buffer.getRowAxis(), buffer.getRows()},
            {buffer.getColAxis(), buffer.getCols()}};
  SmallVector<std::pair<StringAttr, int64_t>> result;
  auto tensor = cast<RankedTensorType>(type);
  for (auto [axis, size] :
       llvm::zip_equal(distOf(type).getAxes(), tensor.getShape()))
    result.push_back({axis.getName(), size});
  return result;
}

static Type operandElement(Type type) {
  auto buffer = dyn_cast<BufferType>(type);
  return buffer ? buffer.getElementType() : getElementTypeOrSelf(type);
}

LogicalResult MmaOp::verify() {
  auto result = axesAndSizes(getType());
  for (Value operand : {getLhs(), getRhs()}) {
    auto axes = axesAndSizes(operand.getType());
    int shared = 0, free = 0;
    for (auto &axis : axes) {
      shared += axis.first == getOverAttr();
      free += llvm::is_contained(result, axis);
      if (axis.second % 16 != 0)
        return emitOpError("expects axes of a multiple of 16, but got ")
               << axis.second << " for " << axis.first;
    }
    if (axes.size() != 2 || shared != 1 || free != 1)
      return emitOpError("expects operands with the axis ")
             << getOverAttr() << " and one of the result, but got "
             << operand.getType();
  }
  Type element = operandElement(getLhs().getType());
  if (element != operandElement(getRhs().getType()) ||
      !(element.isBF16() || element.isF16()))
    return emitOpError("expects two bf16 or two f16 operands");
  if (result.size() != 2)
    return emitOpError("expects a result with two axes, but got ") << getType();
  return success();
}
