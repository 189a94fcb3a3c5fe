// Verifiers of the tile dialect; (Cn) refers to the op's documentation.
// SPDX-License-Identifier: MIT
#include "dialect/Tile/Tile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace selvedge::tile;

namespace {

bool containsAll(ArrayRef<StringAttr> set, ArrayRef<StringAttr> subset) {
  return llvm::all_of(subset,
                      [&](StringAttr a) { return llvm::is_contained(set, a); });
}

/// Axes of `type` must be among `allowed`.
LogicalResult checkAxes(Operation *op, StringRef what, Type type,
                        ArrayRef<StringAttr> allowed) {
  for (StringAttr axis : axesOf(type))
    if (!llvm::is_contained(allowed, axis))
      return op->emitOpError("expects the axes of ")
             << what << " among those of the operation, but got axis " << axis;
  return success();
}

LogicalResult checkPresence(Operation *op, ValueRange presence,
                            ArrayRef<StringAttr> allowed, ArrayAttr over = {}) {
  for (Value p : presence) {
    if (failed(checkAxes(op, "'presence'", p.getType(), allowed)))
      return failure();
    if (over && llvm::none_of(axesOf(p.getType()), [&](StringAttr a) {
          return llvm::is_contained(over, Attribute(a));
        }))
      return op->emitOpError(
                 "expects every 'presence' to mention an axis of 'over' ")
             << over;
  }
  return success();
}

SmallVector<StringAttr> unionOfAxes(ValueRange values) {
  SmallVector<StringAttr> axes;
  for (Value v : values)
    for (StringAttr a : axesOf(v.getType()))
      if (!llvm::is_contained(axes, a))
        axes.push_back(a);
  return axes;
}

LogicalResult checkIndices(Operation *op, GlobalType tensor,
                           ValueRange indices) {
  if (indices.size() != tensor.getRank())
    return op->emitOpError("expects ")
           << tensor.getRank() << " indices, but got " << indices.size();
  return success();
}

} // namespace

bool ProgramOp::hasExtent(AffineExpr extent) {
  return llvm::any_of(
      getTensors().getAsRange<TensorArgAttr>(), [&](TensorArgAttr tensor) {
        return !tensor.getIsOptional() &&
               llvm::is_contained(tensor.getShape().getResults(), extent);
      });
}

bool ProgramOp::accesses(TensorArgAttr tensor) {
  return walk([&](TensorAccessOpInterface access) {
           auto kernel = access->getParentOfType<KernelOp>();
           return kernel.getTensorArgOf(access.getAccessed()) == tensor
                      ? WalkResult::interrupt()
                      : WalkResult::advance();
         })
      .wasInterrupted();
}

bool ProgramOp::isForBulkCopies() {
  return getKind() != VersionKind::Universal &&
         llvm::any_of((*this)->getBlock()->getOps<ProgramOp>(),
                      [&](ProgramOp other) {
                        return other.getKind() == VersionKind::Universal &&
                               other.getVersionOf() == getBaseName();
                      });
}

VersionKind ProgramOp::getKind() {
  return getVersion() ? getVersion()->getKind() : VersionKind::Program;
}

void ProgramOp::makeVersion(ProgramOp base, VersionAttr version) {
  setVersionAttr(version);
  setVersionOf(base.getBaseName());
  if (version.getShared())
    setSharedMemory(version.getShared());
  setSymName((base.getBaseName() + "." + version.str()).str());
}

SourceAttr KernelOp::getSource() {
  ProgramOp program = getProgram();
  MLIRContext *ctx = getContext();
  auto version = program.getVersion().value_or(
      VersionAttr::get(ctx, VersionKind::Program, 0));
  return SourceAttr::get(
      ctx,
      SymbolRefAttr::get(ctx, program.getBaseName(),
                         FlatSymbolRefAttr::get(ctx, getSymName())),
      version);
}

LogicalResult ProgramOp::verify() {
  llvm::StringSet<> names;
  auto unique = [&](StringRef name) { return names.insert(name).second; };
  for (Attribute d : getDims())
    if (!unique(cast<StringAttr>(d).getValue()))
      return emitOpError("expects distinct names, but got ") << d << " twice";
  for (unsigned i = 0; i < getTensors().size(); ++i)
    if (!unique(getTensorArg(i).getName().getValue()))
      return emitOpError("expects distinct names, but got ")
             << getTensorArg(i).getName() << " twice";
  for (unsigned i = 0; i < getScalars().size(); ++i)
    if (!unique(getScalarArg(i).getName().getValue()))
      return emitOpError("expects distinct names, but got ")
             << getScalarArg(i).getName() << " twice";
  if (getVersion().has_value() != getVersionOf().has_value())
    return emitOpError("expects 'version' and 'version_of' together");
  bool hasConditions = getConditions().has_value();
  if (isForSomeDims() ? !hasConditions
                      : getKind() == VersionKind::Universal && hasConditions)
    return emitOpError("expects 'conditions' of a version for some dims, and "
                       "none of a universal one");
  if ((getKind() == VersionKind::Rows) != getRowThreads().has_value())
    return emitOpError("expects 'row_threads' of a version for rows only");
  if (isForSmallDevices() && getSharedMemory() != getVersion()->getShared())
    return emitOpError("expects 'shared_memory' of ")
           << getVersion()->getShared() << ", as its version says";
  if (getConditions() && (getConditions()->getNumDims() != 0 ||
                          getConditions()->getNumSymbols() != getDims().size()))
    return emitOpError("expects 'conditions' on ")
           << getDims().size() << " dims, but got " << getConditionsAttr();
  return success();
}

LogicalResult KernelOp::verify() {
  ProgramOp program = getProgram();
  unsigned shared = program.getNumSharedArgs();
  Block &block = getBody().front();
  if (block.getNumArguments() != shared + getRanges().size())
    return emitOpError("expects ")
           << shared + getRanges().size() << " block arguments, but got "
           << block.getNumArguments();
  for (unsigned i = 0; i < block.getNumArguments(); ++i) {
    Type type = block.getArgument(i).getType();
    unsigned firstTensor = program.getDims().size(),
             firstScalar = firstTensor + program.getTensors().size();
    Type wanted = IntegerType::get(getContext(), 32);
    if (i >= firstTensor && i < firstScalar) {
      TensorArgAttr arg = program.getTensorArg(i - firstTensor);
      wanted = GlobalType::get(getContext(), arg.getShape().getNumResults(),
                               signlessOf(arg.getElementType()));
    } else if (i >= firstScalar && i < shared) {
      wanted = program.getScalarArg(i - firstScalar).getType();
    }
    if (type != wanted)
      return emitOpError("expects block argument ")
             << i << " of type " << wanted << ", but got " << type;
  }
  for (auto range : getRanges().getAsRange<IterAttr>()) {
    unsigned ownSizes = range.getBlock() && !getSizes() ? 1 : 0;
    if (range.getExtent().getNumDims() > ownSizes)
      return emitOpError("expects an extent of range ")
             << range.getName() << " that depends on dims"
             << (ownSizes ? " and the range's own block" : "");
  }
  llvm::StringSet<> names;
  for (Attribute a : getAxes()) {
    auto axis = cast<AxisAttr>(a);
    if (!names.insert(axis.getName().getValue()).second)
      return emitOpError("expects distinct axes, but got ")
             << axis.getName() << " twice";
    if ((axis.getBlock() != nullptr) == (axis.getExtent() > 0))
      return emitOpError("expects axis ")
             << axis.getName()
             << " to have either a block or an extent above 0";
    if (!getSizes())
      continue;
    auto size = getSizes()->getAs<IntegerAttr>(axis.getName());
    if (!size || size.getInt() < std::max<int64_t>(1, axis.getExtent()))
      return emitOpError("expects 'sizes' to give axis ")
             << axis.getName() << " a size of at least its extent";
  }
  return success();
}

LogicalResult RangeOp::verify() {
  if (axesOf(getType()).size() != 1 ||
      !getElementTypeOrSelf(getType()).isInteger(32))
    return emitOpError("expects a tile of i32 with one axis, but got ")
           << getType();
  return success();
}

LogicalResult SplatOp::verify() {
  if (getElementTypeOrSelf(getType()) != getValue().getType())
    return emitOpError("expects the element type ")
           << getValue().getType() << ", but got " << getType();
  return success();
}

LogicalResult BroadcastOp::verify() {
  auto from = cast<RankedTensorType>(getSource().getType()),
       to = cast<RankedTensorType>(getType());
  if (from.getElementType() != to.getElementType() ||
      from.getRank() >= to.getRank() || !containsAll(axesOf(to), axesOf(from)))
    return emitOpError("expects the source's axes to be a proper subset of the "
                       "result's, but got ")
           << from << " and " << to;
  return success();
}

LogicalResult LoadOp::verify() {
  if (failed(checkIndices(*this, getTensor().getType(), getIndices())))
    return failure();
  SmallVector<StringAttr> axes = unionOfAxes(getIndices());
  ArrayRef<StringAttr> got = axesOf(getType());
  if (got.size() != axes.size() || !containsAll(axes, got) ||
      getElementTypeOrSelf(getType()) != getTensor().getType().getElementType())
    return emitOpError("expects a result with the axes of the indices and "
                       "element type ")
           << getTensor().getType().getElementType() << ", but got "
           << getType();
  return success(succeeded(checkPresence(*this, getPresence(), got)) &&
                 succeeded(checkGarbage(*this, getPresence(), getGarbage())));
}

LogicalResult StoreOp::verify() {
  if (failed(checkIndices(*this, getTensor().getType(), getIndices())))
    return failure();
  if (getElementTypeOrSelf(getValue().getType()) !=
      getTensor().getType().getElementType())
    return emitOpError("expects a value of element type ")
           << getTensor().getType().getElementType() << ", but got "
           << getValue().getType();
  SmallVector<StringAttr> axes = unionOfAxes(getIndices());
  if (failed(checkAxes(*this, "'value'", getValue().getType(), axes)))
    return failure();
  return checkPresence(*this, getPresence(), axes);
}

LogicalResult ConvertOp::verify() {
  Type to = getElementTypeOrSelf(getType());
  if (!getElementTypeOrSelf(getSource().getType()).isF32() ||
      !(to.isBF16() || to.isF16() || isByteFloat(to)) ||
      withElementType(getSource().getType(), to) != getType())
    return emitOpError("expects to narrow f32 to bf16, f16 or a float of 8 "
                       "bits on equal axes, but got ")
           << getSource().getType() << " to " << getType();
  if (isByteFloat(to) && getOverflow() != Overflow::Clamp)
    return emitOpError("expects 'clamp' for ") << to;
  return success();
}

LogicalResult DotOp::verify() {
  ArrayRef<StringAttr> a = axesOf(getLhs().getType()),
                       b = axesOf(getRhs().getType());
  SmallVector<StringAttr> rest;
  for (StringAttr axis : unionOfAxes({getLhs(), getRhs()}))
    if (!llvm::is_contained(getOver(), Attribute(axis)))
      rest.push_back(axis);
  for (auto axis : getOver().getAsRange<StringAttr>())
    if (!llvm::is_contained(a, axis) || !llvm::is_contained(b, axis))
      return emitOpError(
                 "expects every axis of 'over' in both operands, but got ")
             << axis;
  ArrayRef<StringAttr> got = axesOf(getType());
  if (got.size() != rest.size() || !containsAll(rest, got) ||
      !getElementTypeOrSelf(getType()).isF32())
    return emitOpError("expects an f32 result with the axes that are not "
                       "contracted, but got ")
           << getType();
  if (getInit() && getInit().getType() != getType())
    return emitOpError("expects 'init' of type ")
           << getType() << ", but got " << getInit().getType();
  return checkPresence(*this, getPresence(), unionOfAxes({getLhs(), getRhs()}),
                       getOver());
}

LogicalResult ReduceOp::verify() {
  SmallVector<StringAttr> rest;
  for (StringAttr axis : axesOf(getSource().getType()))
    if (!llvm::is_contained(getOver(), Attribute(axis)))
      rest.push_back(axis);
  if (ArrayRef<StringAttr>(rest) != axesOf(getType()) ||
      rest.size() + getOver().size() != axesOf(getSource().getType()).size() ||
      getElementTypeOrSelf(getType()) !=
          getElementTypeOrSelf(getSource().getType()))
    return emitOpError("expects a result with the source's axes without ")
           << getOver() << ", but got " << getType();
  return checkPresence(*this, getPresence(), axesOf(getSource().getType()),
                       getOver());
}

LogicalResult SoftmaxUpdateOp::verify() {
  SmallVector<StringAttr> rows;
  for (StringAttr axis : axesOf(getScores().getType()))
    if (axis != getOverAttr())
      rows.push_back(axis);
  if (rows.size() + 1 != axesOf(getScores().getType()).size())
    return emitOpError("expects 'scores' to have the axis ") << getOverAttr();
  for (Value state : {getMax(), getSum()})
    if (axesOf(state.getType()) != ArrayRef<StringAttr>(rows) ||
        !getElementTypeOrSelf(state.getType()).isF32())
      return emitOpError(
                 "expects f32 states with the axes of 'scores' without ")
             << getOverAttr() << ", but got " << state.getType();
  if (getWeights().getType() != getScores().getType() ||
      getNewMax().getType() != getMax().getType() ||
      getNewSum().getType() != getSum().getType() ||
      TypeRange(getNewAccs()) != TypeRange(getAccs()))
    return emitOpError("expects results of the operands' types");
  for (Value acc : getAccs())
    if (!containsAll(axesOf(acc.getType()), rows) ||
        llvm::is_contained(axesOf(acc.getType()), getOverAttr()))
      return emitOpError(
                 "expects accumulators with the axes of 'max' and without ")
             << getOverAttr() << ", but got " << acc.getType();
  SmallVector<Attribute, 1> over{getOverAttr()};
  return checkPresence(*this, getPresence(), axesOf(getScores().getType()),
                       ArrayAttr::get(getContext(), over));
}
