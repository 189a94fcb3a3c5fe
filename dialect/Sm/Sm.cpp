// Registration, layouts and verifiers of the sm dialect; (Cn) refers to the
// op's documentation. SPDX-License-Identifier: MIT
#include "dialect/Sm/SmScheduler.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace selvedge::sm;

#include "dialect/Sm/SmDialect.cpp.inc"
#include "dialect/Sm/SmEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/Sm/SmAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/Sm/SmTypes.cpp.inc"

#include "dialect/Sm/SmInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "dialect/Sm/SmRoleOps.cpp.inc"

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
#include "dialect/Sm/SmRoleOps.cpp.inc"
      >();
  addOperations<NextTileOp, ResetTilesOp, AwaitLaunchOp, AdmitLaunchOp>();
}

int64_t AxisLayoutAttr::getNumRegs() const {
  int64_t n = 1;
  for (int64_t size : getRegSizes())
    n *= size;
  return n;
}

int64_t AxisLayoutAttr::regOffset(int64_t reg) const {
  int64_t offset = 0;
  for (auto [size, stride] : llvm::zip_equal(getRegSizes(), getRegStrides())) {
    offset += (reg % size) * stride;
    reg /= size;
  }
  return offset;
}

SmallVector<int64_t> AxisLayoutAttr::indicesOf(int64_t lane,
                                               int64_t warp) const {
  int64_t base = 0;
  for (auto [bit, stride] : llvm::enumerate(getLanes()))
    base += (lane >> bit & 1) * stride;
  for (auto [bit, stride] : llvm::enumerate(getWarps()))
    base += (warp >> bit & 1) * stride;
  SmallVector<int64_t> indices;
  for (int64_t reg = 0; reg < getNumRegs(); ++reg)
    indices.push_back(base + regOffset(reg));
  return indices;
}

int64_t AxisLayoutAttr::getSize() const {
  int64_t last = 0;
  for (auto [size, stride] : llvm::zip_equal(getRegSizes(), getRegStrides()))
    last += (size - 1) * stride;
  for (int64_t stride : getLanes())
    last += stride;
  for (int64_t stride : getWarps())
    last += stride;
  return last + 1;
}

LogicalResult
RoleScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                         Overlap overlap, StepOrder order, int64_t slots,
                         int64_t tileSlots, int64_t storeParts, int64_t host,
                         bool speculates, bool joined, bool pipelined,
                         bool inTurn, bool late) {
  if (slots < 2 || tileSlots < 1 || tileSlots > 2 || storeParts < 0)
    return emitError() << "expects at least 2 slots, 1 or 2 tileSlots and no "
                          "storeParts below 0, found "
                       << slots << ", " << tileSlots << " and " << storeParts;
  if ((speculates || pipelined) && overlap != Overlap::Lagged)
    return emitError() << "expects overlap = lagged where it speculates or is "
                          "pipelined, found "
                       << stringifyOverlap(overlap);
  if ((order != StepOrder::Forward || joined) && !speculates)
    return emitError() << "expects to speculate where steps are not forward or "
                          "loops are joined, found order = "
                       << stringifyStepOrder(order);
  return success();
}

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringAttr rowAxis, StringAttr colAxis,
                                 int64_t rows, int64_t cols, Type elementType,
                                 int64_t swizzle, int64_t stages, int64_t panel,
                                 bool interleaved, int64_t lead) {
  constexpr int64_t mostBits = 128 * 8;
  bool isLead =
      lead == 0 || (llvm::isPowerOf2_64(lead) && rowAxis.empty() &&
                    lead * elementType.getIntOrFloatBitWidth() <= mostBits);
  if (!isLead)
    return emitError() << "expects the lead of a vector, a power of two of at "
                          "most 128 bytes, but got "
                       << lead;
  return success();
}

SmallVector<std::pair<StringAttr, int64_t>, 2> BufferType::getAxes() const {
  SmallVector<std::pair<StringAttr, int64_t>, 2> axes;
  if (!isVector())
    axes.push_back({getRowAxis(), getRows()});
  axes.push_back({getColAxis(), getCols()});
  return axes;
}

BufferType BufferType::withStages(int64_t stages) const {
  return get(getContext(), getRowAxis(), getColAxis(), getRows(), getCols(),
             getElementType(), getSwizzle(), stages, getPanel(),
             getInterleaved(), getLead());
}

BufferType BufferType::withAxes(StringAttr rows, StringAttr cols) const {
  return get(getContext(), rows, cols, getRows(), getCols(), getElementType(),
             getSwizzle(), getStages(), getPanel(), getInterleaved(),
             getLead());
}

BufferType BufferType::withInterleavedRows() const {
  return get(getContext(), getRowAxis(), getColAxis(), getRows(), getCols(),
             getElementType(), getSwizzle(), getStages(), getPanel(),
             /*interleaved=*/true, getLead());
}

BufferType BufferType::withLead(int64_t lead) const {
  return get(getContext(), getRowAxis(), getColAxis(), getRows(), getCols(),
             getElementType(), getSwizzle(), getStages(), getPanel(),
             getInterleaved(), lead);
}

TensorMapArgAttr TensorMapArgAttr::in(Piece piece) {
  PairsAttr pairs = getPairs();
  return get(getContext(), getTensor(), getBox(),
             PairsAttr::get(getContext(), pairs.getOuter(), pairs.getInner(),
                            pairs.getBy(), piece),
             getSwizzle());
}

std::optional<size_t> BufferType::getRowDimension(ArrayRef<int64_t> box) const {
  ArrayRef<int64_t> extents = box.drop_back();
  const int64_t *found = llvm::find(extents, getRows());
  if (isVector() || found == extents.end())
    return std::nullopt;
  return static_cast<size_t>(found - extents.begin());
}

int64_t LayoutAttr::getNumRegs() const {
  int64_t n = 1;
  for (AxisLayoutAttr axis : getAxes())
    n *= axis.getNumRegs();
  return n;
}

int64_t LayoutAttr::indexOf(StringAttr name) const {
  for (auto [i, axis] : llvm::enumerate(getAxes()))
    if (axis.getName() == name)
      return static_cast<int64_t>(i);
  return -1;
}

SmallVector<int64_t> LayoutAttr::unflatten(int64_t reg) const {
  SmallVector<int64_t> regs(getAxes().size());
  for (size_t i = getAxes().size(); i-- > 0;) {
    int64_t n = getAxes()[i].getNumRegs();
    regs[i] = reg % n;
    reg /= n;
  }
  return regs;
}

int64_t LayoutAttr::flatten(ArrayRef<int64_t> regs) const {
  int64_t reg = 0;
  for (auto [axis, r] : llvm::zip_equal(getAxes(), regs))
    reg = reg * axis.getNumRegs() + r;
  return reg;
}

namespace selvedge::sm {

bool isRegisterTile(Type type) { return layoutOf(type) != nullptr; }

LayoutAttr layoutOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto layout = tensor ? dyn_cast_or_null<LayoutAttr>(tensor.getEncoding())
                       : LayoutAttr();
  return layout && static_cast<int64_t>(layout.getAxes().size()) ==
                       tensor.getRank()
             ? layout
             : LayoutAttr();
}

/// How far the rows of an accumulator's lanes are apart, by the bits of a lane.
static constexpr int64_t rowLanes[] = {0, 0, 1, 2, 4},
                         interleavedLanes[] = {0, 0, 2, 4, 1};

bool isAccumulatorRows(AxisLayoutAttr axis, bool isInterleaved) {
  return axis.getRegSizes() == ArrayRef<int64_t>{2} &&
         axis.getRegStrides() == ArrayRef<int64_t>{8} &&
         axis.getLanes() ==
             ArrayRef(isInterleaved ? interleavedLanes : rowLanes) &&
         axis.getWarps() == ArrayRef<int64_t>{16, 32};
}

/// Whether each bit, of a lane's or a warp's number, divides some axis.
static bool divides(LayoutAttr layout,
                    ArrayRef<int64_t> (AxisLayoutAttr::*bitsOf)() const) {
  ArrayRef<AxisLayoutAttr> axes = layout.getAxes();
  if (axes.empty())
    return false;
  size_t bits = (axes.front().*bitsOf)().size();
  return llvm::all_of(llvm::seq<size_t>(0, bits), [&](size_t bit) {
    return llvm::any_of(
        axes, [&](AxisLayoutAttr axis) { return (axis.*bitsOf)()[bit] != 0; });
  });
}

bool isOfOneWarp(LayoutAttr layout) {
  return divides(layout, &AxisLayoutAttr::getWarps);
}

bool isHeldOnce(LayoutAttr layout) {
  return isOfOneWarp(layout) && divides(layout, &AxisLayoutAttr::getLanes);
}

Type interleaveRows(Type tile, StringAttr rowAxis) {
  auto type = cast<RankedTensorType>(tile);
  LayoutAttr layout = layoutOf(type);
  auto axes = llvm::to_vector(layout.getAxes());
  AxisLayoutAttr &rows = axes[layout.indexOf(rowAxis)];
  rows = AxisLayoutAttr::get(rows.getContext(), rows.getName(),
                             rows.getRegSizes(), rows.getRegStrides(),
                             interleavedLanes, rows.getWarps());
  return RankedTensorType::get(type.getShape(), type.getElementType(),
                               LayoutAttr::get(type.getContext(), axes));
}

} // namespace selvedge::sm

ArrayAttr selvedge::sm::launchArgs(KernelOp kernel) {
  MLIRContext *ctx = kernel.getContext();
  SmallVector<Attribute> args;
  for (auto [attr, argument] :
       llvm::zip_equal(kernel.getArgs(), kernel.getBody().getArguments())) {
    args.push_back(attr);
    if (auto type = dyn_cast<selvedge::tile::GlobalType>(argument.getType()))
      for (unsigned d = 0; d < type.getRank(); ++d)
        args.push_back(
            StrideArgAttr::get(ctx, cast<PointerArgAttr>(attr).getTensor(), d));
  }
  return ArrayAttr::get(ctx, args);
}

SmallVector<int64_t>
selvedge::sm::knownStrides(selvedge::tile::TensorArgAttr tensor) {
  // As the runtime's tempRowAlign.
  constexpr uint64_t rowBytes = 16;
  SmallVector<int64_t> strides;
  ArrayRef<AffineExpr> shape = tensor.getShape().getResults();
  if (tensor.getRole() != selvedge::tile::Role::Temp || shape.empty())
    return strides;
  strides.push_back(1);
  uint64_t unit = rowBytes / selvedge::tile::bytesOf(tensor.getElementType());
  for (size_t d = shape.size() - 1; d > 0; --d) {
    auto extent = dyn_cast<AffineConstantExpr>(shape[d]);
    int64_t stride = 0;
    if (!extent || extent.getValue() < 1 ||
        llvm::MulOverflow(
            strides.front(),
            d + 1 == shape.size()
                ? static_cast<int64_t>(llvm::alignTo(extent.getValue(), unit))
                : extent.getValue(),
            stride))
      break;
    strides.insert(strides.begin(), stride);
  }
  return strides;
}

LogicalResult PlanOp::verify() {
  VariantOp last;
  for (auto variant : getBody().getOps<VariantOp>())
    last = variant;
  if (last && !last.getWhen().empty())
    return emitOpError(
               "expects the last variant to have no condition, but got 'when' ")
           << last.getWhen();
  if (last && last.getConditions())
    return emitOpError(
               "expects the last variant to have no condition, but got 'dims' ")
           << last.getConditionsAttr();
  return success();
}

/// Two roles of one warpgroup.
static LogicalResult verifyShared(RoleOp role, RoleOp earlier) {
  for (Operation *op = earlier->getNextNode(); op != role;
       op = op->getNextNode())
    if (auto between = dyn_cast<RoleOp>(op);
        !between || !between.sharesWarpgroup(role))
      return role.emitOpError("expects to follow the roles of its warpgroup, "
                              "but got '")
             << op->getName() << "' in between";
  if (role.getRegisters() != earlier.getRegisters())
    return role.emitOpError("expects the ")
           << earlier.getRegisters() << " registers of role "
           << earlier.getNameAttr() << ", but got " << role.getRegisters();
  bool areApart =
      role.getSingle() && earlier.getSingle() &&
      (role.getFirstWarp() >= earlier.getFirstWarp() + earlier.getNumWarps() ||
       earlier.getFirstWarp() >= role.getFirstWarp() + role.getNumWarps());
  if (!areApart)
    return role.emitOpError("expects single threads of warps that role ")
           << earlier.getNameAttr() << " does not have";
  return success();
}

std::string VariantOp::nameOf(tile::VersionAttr version, bool isBulk) {
  if (version.getKind() != tile::VersionKind::Program)
    return version.str();
  return (isBulk ? "bulk" : "aligned") + version.deviceSuffix();
}

bool KernelOp::hasRoles() { return !getBody().getOps<RoleOp>().empty(); }

StringRef KernelOp::getTensorName(Value argument) {
  Attribute arg = getArgs()[cast<BlockArgument>(argument).getArgNumber()];
  if (auto map = dyn_cast<TensorMapArgAttr>(arg))
    return map.getTensor();
  return cast<PointerArgAttr>(arg).getTensor();
}

LogicalResult KernelOp::verify() {
  Block &block = getBody().front();
  if (block.getNumArguments() != getArgs().size())
    return emitOpError("expects ")
           << getArgs().size() << " block arguments, but got "
           << block.getNumArguments();
  // Without roles one layout spans all warps: one bit per halving.
  bool isPowerOfTwo = (getWarps() & (getWarps() - 1)) == 0;
  if (getWarps() == 0 || getWarps() > 32)
    return emitOpError("expects 1 to 32 warps, but got ") << getWarps();
  if (block.getOps<RoleOp>().empty() && !isPowerOfTwo)
    return emitOpError("expects a power of two of warps, but got ")
           << getWarps();
  for (auto role : block.getOps<RoleOp>()) {
    if (4 * (role.getFirst() + role.getWarpgroups()) > getWarps())
      return role.emitOpError("expects warpgroups of the kernel's ")
             << getWarps() << " warps, but got " << role.getFirst() << " to "
             << role.getFirst() + role.getWarpgroups() - 1;
    for (auto other : block.getOps<RoleOp>())
      if (other != role && other->isBeforeInBlock(role) &&
          role.sharesWarpgroup(other) && failed(verifyShared(role, other)))
        return failure();
  }
  return success();
}

LogicalResult RoleOp::verify() {
  if (getRegisters() % 8 != 0 || getRegisters() < 24 || getRegisters() > 240)
    return emitOpError("expects a multiple of 8 from 24 to 240 registers, "
                       "but got ")
           << getRegisters();
  if (getWarps() != 0 &&
      (!getSingle() || getWarpgroups() != 1 || getFirstWarp() + getWarps() > 4))
    return emitOpError("expects single threads of 1 to 4 warps of one "
                       "warpgroup, but got ")
           << getWarps() << " from " << getFirstWarp();
  Block &block = getBody().front();
  if (block.getNumArguments() != 1 ||
      !block.getArgument(0).getType().isInteger(32))
    return emitOpError("expects one block argument, the i32 number of the "
                       "warpgroup");
  return success();
}

LayoutAttr selvedge::sm::foldedLayout(LayoutAttr source, StringAttr over) {
  SmallVector<AxisLayoutAttr> axes;
  for (AxisLayoutAttr axis : source.getAxes()) {
    if (axis.getName() == over) {
      SmallVector<int64_t> lanes(axis.getLanes()), warps(axis.getWarps());
      int64_t next = 1;
      for (SmallVector<int64_t> *strides : {&lanes, &warps})
        for (int64_t &stride : *strides)
          if (stride != 0) {
            stride = next;
            next *= 2;
          }
      axis =
          AxisLayoutAttr::get(source.getContext(), over, {}, {}, lanes, warps);
    }
    axes.push_back(axis);
  }
  return LayoutAttr::get(source.getContext(), axes);
}

static SmallVector<std::pair<StringAttr, int64_t>, 2> axesAndSizes(Type type) {
  if (auto buffer = dyn_cast<BufferType>(type))
    return buffer.getAxes();
  SmallVector<std::pair<StringAttr, int64_t>, 2> result;
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return {};
  for (auto [axis, size] :
       llvm::zip_equal(layoutOf(type).getAxes(), tensor.getShape()))
    result.push_back({axis.getName(), size});
  return result;
}

/// Of reductions, products and what contributes to one: each predicate removes
/// lanes of `over` from one of `sources`.
static LogicalResult checkPresence(Operation *op, ValueRange presence,
                                   StringAttr over, ValueRange sources) {
  for (Value p : presence) {
    auto axes = axesAndSizes(p.getType());
    auto isWithin = [&](Value source) {
      auto all = axesAndSizes(source.getType());
      return llvm::all_of(
          axes, [&](auto &axis) { return llvm::is_contained(all, axis); });
    };
    if (llvm::none_of(axes, [&](auto &axis) { return axis.first == over; }) ||
        llvm::none_of(sources, isWithin))
      return op->emitOpError("expects every 'presence' to have the axis ")
             << over << " and only axes of one operand, but got "
             << p.getType();
  }
  return success();
}

LogicalResult FoldOp::verify() {
  if (layoutOf(getType()) !=
      foldedLayout(layoutOf(getSource().getType()), getOverAttr()))
    return emitOpError("expects one element per thread along axis ")
           << getOverAttr() << ", but got " << getType();
  return checkPresence(*this, getPresence(), getOverAttr(), getSource());
}

LogicalResult AfterOp::verify() {
  auto fold = getFold().getDefiningOp<FoldOp>();
  Operation *source = fold ? fold.getSource().getDefiningOp() : nullptr;
  if (!source || fold.getKind() != tile::Combine::Add ||
      source->getName().getStringRef() != "math.exp2")
    return emitOpError("expects the result of an sm.fold that adds results of "
                       "math.exp2");
  return success();
}

LogicalResult ContributesOp::verify() {
  return checkPresence(*this, getPresence(), getOverAttr(), getSource());
}

LogicalResult BroadcastOp::verify() {
  LayoutAttr to = layoutOf(getType());
  for (AxisLayoutAttr axis : layoutOf(getSource().getType()).getAxes())
    if (!llvm::is_contained(to.getAxes(), axis))
      return emitOpError("expects the result to lay out axis ")
             << axis.getName() << " as the source does";
  return success();
}

/// The buffer by which an operation exchanges parts is of the right type.
static LogicalResult checkScratch(ExchangeOpInterface op) {
  Value scratch = op.getExchangeScratch();
  if (!scratch)
    return success();
  int64_t threads = 32 * op->getParentOfType<KernelOp>().getWarps();
  auto found = cast<BufferType>(scratch.getType());
  BufferType expected = op.scratchType(threads);
  if (found.getRows() != expected.getRows() ||
      found.getCols() != expected.getCols() ||
      found.getElementType() != expected.getElementType() ||
      found.getStages() != 1)
    return op->emitOpError("expects a buffer like ")
           << expected << ", but got " << found;
  return success();
}

LogicalResult ReduceOp::verify() {
  SmallVector<AxisLayoutAttr> rest;
  for (AxisLayoutAttr axis : layoutOf(getSource().getType()).getAxes())
    if (axis.getName() != getOverAttr())
      rest.push_back(axis);
  LayoutAttr result = layoutOf(getType());
  if (result ? result.getAxes() != ArrayRef<AxisLayoutAttr>(rest)
             : !rest.empty())
    return emitOpError("expects the source's layout without axis ")
           << getOverAttr() << ", but got " << getType();
  if (failed(checkScratch(*this)))
    return failure();
  return checkPresence(*this, getPresence(), getOverAttr(), getSource());
}

bool ReduceOp::exchanges() {
  LayoutAttr layout = layoutOf(getSource().getType());
  int64_t position = layout.indexOf(getOverAttr());
  return position >= 0 &&
         llvm::any_of(layout.getAxes()[position].getWarps(),
                      [](int64_t stride) { return stride != 0; });
}

Value ReduceOp::getExchangeScratch() { return getScratch(); }

void ReduceOp::setExchangeScratch(Value scratch) {
  getScratchMutable().assign(scratch);
}

BufferType ReduceOp::scratchType(int64_t threads) {
  Builder b(getContext());
  LayoutAttr result = layoutOf(getType());
  return BufferType::get(getContext(), b.getStringAttr("register"),
                         b.getStringAttr("thread"),
                         result ? result.getNumRegs() : 1, threads,
                         getElementTypeOrSelf(getType()), /*swizzle=*/0,
                         /*stages=*/1, /*panel=*/0);
}

int64_t BlockIdOp::placeOf(int64_t block, int64_t blocks, int64_t columns) {
  int64_t most = std::max<int64_t>(1, windowPlaces / columns),
          first = block / (most * columns) * most,
          rows = std::min(most, blocks / columns - first),
          inside = block - first * columns;
  return (first + inside % rows) * columns + inside / rows;
}

/// A condition takes a byte.
static Type elementOfScratch(RelayoutOp relayout) {
  Type element = getElementTypeOrSelf(relayout.getType());
  return element.isInteger(1) ? IntegerType::get(relayout.getContext(), 8)
                              : element;
}

LogicalResult RelayoutOp::verify() {
  if (axesAndSizes(getSource().getType()) != axesAndSizes(getType()) ||
      getElementTypeOrSelf(getSource()) != getElementTypeOrSelf(getType()))
    return emitOpError("expects a result with the source's axes, sizes and "
                       "element type, but got ")
           << getType();
  return checkScratch(*this);
}

std::optional<WarpMove> RelayoutOp::findMove() {
  return WarpMove::findCheap(layoutOf(getSource().getType()),
                             layoutOf(getType()),
                             tile::bytesOf(elementOfScratch(*this)));
}

bool RelayoutOp::exchanges() { return !findMove(); }

Value RelayoutOp::getExchangeScratch() { return getScratch(); }

void RelayoutOp::setExchangeScratch(Value scratch) {
  getScratchMutable().assign(scratch);
}

BufferType RelayoutOp::scratchType(int64_t threads) {
  Builder b(getContext());
  return BufferType::get(getContext(), b.getStringAttr("tile"),
                         b.getStringAttr("element"), 1,
                         cast<RankedTensorType>(getType()).getNumElements(),
                         elementOfScratch(*this), /*swizzle=*/0, /*stages=*/1,
                         /*panel=*/0);
}

LogicalResult SlotOp::verify() {
  BufferType ring = getRing().getType(), slot = getType();
  if (slot.withAxes(ring.getRowAxis(), ring.getColAxis()) != ring.withStages(1))
    return emitOpError("expects one stage of ") << ring << ", but got " << slot;
  auto all = axesAndSizes(slot);
  for (Value p : getPresence())
    for (auto &axis : axesAndSizes(p.getType()))
      if (!llvm::is_contained(all, axis))
        return emitOpError("expects every 'presence' to have axes of the "
                           "buffer only, but got ")
               << p.getType();
  return tile::checkGarbage(*this, getPresence(), getGarbage());
}

LogicalResult CopyOp::verify() {
  return tile::checkGarbage(*this, getPresence(), getGarbage());
}

LogicalResult CopyAsyncOp::verify() {
  return tile::checkGarbage(*this, getPresence(), getGarbage());
}

/// Whether the threads of a warpgroup take each of so many indices and no
/// other.
static bool takesEach(AxisLayoutAttr axis, int64_t count) {
  constexpr int64_t threads = 128;
  llvm::SmallBitVector taken(count);
  for (int64_t thread = 0; thread < threads; ++thread)
    for (int64_t index : axis.indicesOf(thread % 32, thread / 32)) {
      if (index < 0 || index >= count)
        return false;
      taken.set(index);
    }
  return taken.all();
}

LogicalResult ClearOp::verify() {
  auto [axis, extent] = getBuffer().getType().getAxes().front();
  bool isVector = getBuffer().getType().isVector();
  StringRef what = isVector ? "columns of the vector" : "rows of the buffer";
  for (Value p : getPresence()) {
    LayoutAttr layout = layoutOf(p.getType());
    if (!layout || layout.getAxes().size() != 1 ||
        layout.getAxes().front().getName() != axis)
      return emitOpError("expects every 'presence' to have the axis ")
             << axis << " of the " << what << " alone, but got " << p.getType();
    if (!takesEach(layout.getAxes().front(), extent))
      return emitOpError("expects the threads of a warpgroup to take the ")
             << extent << " " << what << " and no other, but got "
             << layout.getAxes().front();
  }
  return success();
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
  return checkPresence(*this, getPresence(), getOverAttr(),
                       {getLhs(), getRhs()});
}

SmallVector<WgmmaOp::Pair> WgmmaOp::getPairs() {
  SmallVector<Pair> pairs{{getLhs(), getRhs(), getOverAttr()}};
  for (auto [i, over] : llvm::enumerate(getMoreOver()))
    pairs.push_back(
        {getMore()[2 * i], getMore()[2 * i + 1], cast<StringAttr>(over)});
  return pairs;
}

/// Whether `buffer` is the B of one half step: 8 contracted columns, rows of 16
/// bytes as they lie.
static bool isHalfStep(BufferType buffer, Value other, StringAttr over) {
  return buffer.getColAxis() == over && buffer.getCols() == 8 &&
         buffer.getSwizzle() == 0 && buffer.getStages() == 1 &&
         isRegisterTile(other.getType());
}

static LogicalResult verifyOperand(WgmmaOp op, Value operand, Value other,
                                   StringAttr over) {
  auto result = axesAndSizes(op.getType());
  auto axes = axesAndSizes(operand.getType());
  auto buffer = dyn_cast<BufferType>(operand.getType());
  auto otherBuffer = dyn_cast<BufferType>(other.getType());
  bool isHalf = (buffer && isHalfStep(buffer, other, over)) ||
                (otherBuffer && isHalfStep(otherBuffer, operand, over));
  int shared = 0, free = 0;
  for (auto &axis : axes) {
    bool isOver = axis.first == over;
    shared += isOver;
    free += llvm::is_contained(result, axis);
    if (isOver && axis.second % (isHalf ? 8 : 16) != 0)
      return op.emitOpError("expects a contracted extent that is a multiple of "
                            "16, but got ")
             << axis.second;
  }
  if (axes.size() != 2 || shared != 1 || free != 1)
    return op.emitOpError("expects operands with the axis ")
           << over << " and one of the result, but got " << operand.getType();
  if (buffer && !isHalf &&
      (buffer.getPanelRowBytes() != 128 || buffer.getSwizzle() != 7 ||
       buffer.getStages() != 1))
    return op.emitOpError("expects one stage of a buffer with panels of 128 "
                          "bytes and swizzle 7, but got ")
           << buffer;
  return success();
}

/// Threads hold the rows of a result in the order in which A has them.
static LogicalResult checkRowOrder(WgmmaOp op) {
  StringAttr rowAxis;
  for (AxisLayoutAttr axis : layoutOf(op.getType()).getAxes())
    if (isAccumulatorRows(axis, /*isInterleaved=*/true))
      rowAxis = axis.getName();
  for (WgmmaOp::Pair pair : op.getPairs())
    for (Value operand : {pair.lhs, pair.rhs}) {
      auto buffer = dyn_cast<BufferType>(operand.getType());
      LayoutAttr tile = layoutOf(operand.getType());
      bool isInterleaved = buffer && buffer.getInterleaved(),
           hasRows = rowAxis && (buffer ? buffer.getRowAxis() == rowAxis ||
                                              buffer.getColAxis() == rowAxis
                                        : tile.indexOf(rowAxis) >= 0);
      if (isInterleaved != hasRows ||
          (isInterleaved && buffer.getRowAxis() != rowAxis))
        return op.emitOpError("expects interleaved rows of the result and of "
                              "the buffer that has them, or of neither, but "
                              "got ")
               << operand.getType() << " and " << op.getType();
    }
  return success();
}

LogicalResult WgmmaOp::verify() {
  if (getInit() && getInit().getType() != getType())
    return emitOpError("expects an init of the result's type, but got ")
           << getInit().getType();
  if (getMore().size() != 2 * getMoreOver().size())
    return emitOpError("expects two operands for each of the ")
           << getMoreOver().size() << " axes of 'plus', but got "
           << getMore().size();
  Type element = operandElement(getLhs().getType());
  for (Pair pair : getPairs()) {
    if (failed(verifyOperand(*this, pair.lhs, pair.rhs, pair.over)) ||
        failed(verifyOperand(*this, pair.rhs, pair.lhs, pair.over)))
      return failure();
    if (element != operandElement(pair.lhs.getType()) ||
        element != operandElement(pair.rhs.getType()) ||
        !(element.isBF16() || element.isF16()))
      return emitOpError("expects bf16 or f16 operands, all of one type");
  }
  if (failed(checkRowOrder(*this)))
    return failure();
  return checkPresence(*this, getPresence(), getOverAttr(),
                       {getLhs(), getRhs()});
}

LogicalResult ReadOp::verify() {
  BufferType buffer = getBuffer().getType();
  auto held = axesAndSizes(buffer), read = axesAndSizes(getType());
  bool hasSame =
      held.size() == read.size() && llvm::all_of(held, [&](const auto &axis) {
        return llvm::is_contained(read, axis);
      });
  // In form seq the copy to the buffer says it.
  auto slot = getBuffer().getDefiningOp<SlotOp>();
  if (buffer.getLead() && !getBuffer().getDefiningOp<AllocOp>() &&
      (!slot || slot.getIndices().empty()))
    return emitOpError("expects a vector with a lead to say what it holds");
  if (buffer.getStages() != 1 || !hasSame ||
      buffer.getElementType() != getElementTypeOrSelf(getType()))
    return emitOpError("expects the elements of one stage of a buffer, but "
                       "got ")
           << buffer << " and " << getType();
  return success();
}

LogicalResult PanelOp::verify() {
  BufferType from = getBuffer().getType(), to = getType();
  auto panel = BufferType::get(getContext(), from.getRowAxis(),
                               from.getColAxis(), from.getRows(),
                               from.getPanelCols(), from.getElementType(),
                               from.getSwizzle(), 1, from.getPanel());
  if (from.getPanel() == 0 || from.getStages() != 1 || to != panel)
    return emitOpError("expects one panel of one stage of ")
           << from << ", but got " << to;
  return success();
}

int64_t ColumnsOp::getFirstReg() {
  LayoutAttr layout = layoutOf(getSource().getType());
  AxisLayoutAttr axis = layout.getAxes()[layout.indexOf(getOverAttr())];
  for (int64_t reg = 0; reg < axis.getNumRegs(); ++reg)
    if (axis.regOffset(reg) == static_cast<int64_t>(getFrom()))
      return reg;
  return -1;
}

LogicalResult ColumnsOp::verify() {
  LayoutAttr from = layoutOf(getSource().getType()), to = layoutOf(getType());
  auto isPart = [&](AxisLayoutAttr whole, AxisLayoutAttr part) {
    int64_t first = getFirstReg();
    if (first < 0 || first + part.getNumRegs() > whole.getNumRegs() ||
        whole.getLanes() != part.getLanes() ||
        whole.getWarps() != part.getWarps())
      return false;
    for (int64_t reg = 0; reg < part.getNumRegs(); ++reg)
      if (whole.regOffset(first + reg) !=
          static_cast<int64_t>(getFrom()) + part.regOffset(reg))
        return false;
    return true;
  };
  bool fits = from.getAxes().size() == to.getAxes().size() &&
              from.indexOf(getOverAttr()) >= 0 &&
              getElementTypeOrSelf(getType()) ==
                  getElementTypeOrSelf(getSource().getType());
  for (size_t i = 0; fits && i < from.getAxes().size(); ++i) {
    AxisLayoutAttr whole = from.getAxes()[i], part = to.getAxes()[i];
    fits = whole.getName() == part.getName() &&
           (whole.getName() == getOverAttr() ? isPart(whole, part)
                                             : whole == part);
  }
  if (!fits)
    return emitOpError("expects registers of ")
           << getSource().getType() << " along axis " << getOverAttr()
           << " from index " << getFrom() << " on, but got " << getType();
  return success();
}

LogicalResult StageFragmentOp::verify() {
  BufferType buffer = getBuffer().getType();
  int64_t registers = layoutOf(getSource().getType()).getNumRegs();
  if (buffer.getRows() != 128 || buffer.getCols() != registers ||
      buffer.getPanel() == 0 || buffer.getPanelRowBytes() != 16 ||
      buffer.getSwizzle() != 0 || buffer.getStages() != 1 ||
      buffer.getElementType() != getElementTypeOrSelf(getSource().getType()))
    return emitOpError("expects one stage of 128 x ")
           << registers << " elements in panels of 16 bytes without swizzle, "
           << "but got " << buffer;
  return success();
}

/// What moves as it lies.
static LogicalResult verifyBulk(Operation *op,
                                selvedge::tile::GlobalType tensor,
                                ValueRange indices, BufferType buffer) {
  if (tensor.getElementType() != buffer.getElementType() ||
      tensor.getRank() != indices.size())
    return op->emitOpError("expects a tensor of ")
           << buffer.getElementType() << " with " << indices.size()
           << " dimensions, but got " << tensor;
  if (buffer.getStages() != 1 || buffer.getSwizzle() != 0 ||
      buffer.getBytes() % 16 != 0)
    return op->emitOpError("expects one stage of a multiple of 16 bytes "
                           "without swizzle, but got ")
           << buffer;
  return success();
}

LogicalResult BulkLoadOp::verify() {
  return verifyBulk(*this, getTensor().getType(), getIndices(),
                    getBuffer().getType());
}

LogicalResult BulkReduceOp::verify() {
  if (getKind() != selvedge::tile::Combine::Add ||
      !getBuffer().getType().getElementType().isF32())
    return emitOpError("expects to add f32 elements, but got ")
           << selvedge::tile::stringifyCombine(getKind()) << " of "
           << getBuffer().getType().getElementType();
  return verifyBulk(*this, getTensor().getType(), getIndices(),
                    getBuffer().getType());
}
