// Evaluates predicates at sample sizes.
// SPDX-License-Identifier: MIT
#include "compiler/Explain/Sample.h"

#include "compiler/Explain/Words.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

namespace selvedge::explain {

using namespace mlir;
using namespace selvedge::tile;

Sample::Sample(KernelOp kernel, DictionaryAttr sizes)
    : kernel(kernel), sizes(sizes) {
  largest = 8;
  for (auto axis : kernel.getAxes().getAsRange<AxisAttr>())
    if (axis.getBlock() && isDrawn(axis.getName()))
      largest = std::max(largest, tileSize(axis.getName()));
}

bool Sample::isDrawn(StringAttr axis) {
  // What initialises looks at the ends of all segments in a loop.
  return !kernel.isInit() ||
         llvm::any_of(kernel.getRanges().getAsRange<IterAttr>(),
                      [&](IterAttr range) { return range.getName() == axis; });
}

int64_t Sample::lengthOver(StringAttr axis) {
  // Tiles of similar sizes share one length, so that diagonals are diagonals;
  // one that is much smaller would be drawn too often.
  int64_t size = tileSize(axis) * 8 < largest ? tileSize(axis) : largest;
  return size * 5 / 2 + std::max<int64_t>(1, size / 8);
}

int64_t Sample::tileSize(StringAttr axis) const {
  auto size = sizes ? sizes.getAs<IntegerAttr>(axis) : IntegerAttr();
  return size ? size.getInt() : 64;
}

int64_t Sample::coverOf(StringAttr axis) {
  bool blocked =
      llvm::any_of(kernel.getAxes().getAsRange<AxisAttr>(), [&](AxisAttr a) {
        return a.getName() == axis && a.getBlock();
      });
  return blocked ? static_cast<int64_t>(
                       llvm::alignTo(lengthOver(axis), tileSize(axis)))
                 : tileSize(axis);
}

void Sample::startAt(ArrayRef<RangeOp> ranges, int64_t value) {
  for (RangeOp range : ranges)
    starts[range.getStart()] = value;
}

int64_t Sample::note(StringRef name, int64_t value) {
  used[name.str()] = std::to_string(value);
  return value;
}

std::string Sample::takeUsed() {
  std::string text;
  for (const auto &[name, value] : used)
    text += (text.empty() ? "" : ", ") + name + " = " + value;
  used.clear();
  return text;
}

/// A dim that tiles run over is long: its bound is compared with their indices.
int64_t Sample::dim(unsigned position) {
  ProgramOp program = kernel.getProgram();
  StringRef name = cast<StringAttr>(program.getDims()[position]).getValue();
  for (Operation *user : kernel.getDimArg(position).getUsers())
    if (auto splat = dyn_cast<SplatOp>(user))
      for (Operation *use : splat->getUsers())
        if (auto compare = dyn_cast<arith::CmpIOp>(use))
          if (auto range =
                  stripRepeats(compare.getLhs()).getDefiningOp<RangeOp>();
              range && isDrawn(axesOf(range.getType()).front()))
            return note(name, lengthOver(axesOf(range.getType()).front()));
  return note(name, 2);
}

int64_t Sample::affine(AffineExpr expr) {
  if (auto c = dyn_cast<AffineConstantExpr>(expr))
    return c.getValue();
  if (auto s = dyn_cast<AffineSymbolExpr>(expr))
    return dim(s.getPosition());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t a = affine(binary.getLHS()), b = affine(binary.getRHS());
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return a + b;
  case AffineExprKind::Mul:
    return a * b;
  case AffineExprKind::FloorDiv:
    return b > 0 ? llvm::divideFloorSigned(a, b) : 0;
  case AffineExprKind::CeilDiv:
    return b > 0 ? llvm::divideCeilSigned(a, b) : 0;
  default:
    return b > 0 ? llvm::mod(a, b) : 0;
  }
}

/// Three quarters of what the signature promises, so that the end of the valid
/// data lies inside the shape. Segments begin with an element at 0.
std::optional<int64_t> Sample::loaded(LoadOp load, const Point &point) {
  ProgramOp program = kernel.getProgram();
  StringAttr name = kernel.getTensorArgOf(load.getTensor()).getName();
  std::string text = name.str();
  int64_t value = largest;
  for (auto promise : program.getPromises().getAsRange<RequireAttr>()) {
    if (promise.getTensor() != name)
      continue;
    value = std::max(affine(promise.getLo().getResult(0)),
                     affine(promise.getHi().getResult(0)) * 3 / 4);
    if (!promise.getOrdered())
      continue;
    std::optional<int64_t> index = evaluate(load.getIndices().back(), point);
    if (!index)
      return std::nullopt;
    text += "[" + std::to_string(*index) + "]";
    if (*index <= 0)
      value = affine(promise.getLo().getResult(0));
  }
  return note(text, value);
}

/// Whether integers made of `v` are indices of some access.
static bool formsIndex(Value v) {
  return llvm::any_of(v.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto access = dyn_cast<TensorAccessOpInterface>(user))
      return llvm::is_contained(access.getIndices(), use.get());
    return user->getNumResults() == 1 &&
           isa<SplatOp, BroadcastOp, arith::AddIOp, arith::MulIOp,
               arith::SelectOp, arith::MaxSIOp, arith::MinSIOp>(user) &&
           formsIndex(user->getResult(0));
  });
}

/// Of a table whose entries select something: each the one of its number. Other
/// integers that differ from lane to lane are data.
std::optional<int64_t> Sample::loadedFromTable(LoadOp load,
                                               const Point &point) {
  if (load.getIndices().empty() || !formsIndex(load.getResult()))
    return std::nullopt;
  std::optional<int64_t> entry = evaluate(load.getIndices().back(), point);
  if (entry)
    used[kernel.getTensorArgOf(load.getTensor()).getName().str()] = "0 1 2 ...";
  return entry;
}

/// Whether a loop looks for the segment of a thread block.
bool Sample::isSegmentSearch(Operation *loop) {
  ProgramOp program = kernel.getProgram();
  if (!isa<scf::ForOp>(loop) || !isa<KernelOp>(loop->getParentOp()))
    return false;
  return loop
      ->walk([&](LoadOp load) {
        StringAttr name = kernel.getTensorArgOf(load.getTensor()).getName();
        for (auto p : program.getPromises().getAsRange<RequireAttr>())
          if (p.getTensor() == name && p.getOrdered())
            return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

std::optional<int64_t> Sample::argument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  auto loop = dyn_cast<scf::ForOp>(parent);
  // The first step of a loop around.
  if (loop && argument == loop.getInductionVar())
    return evaluate(loop.getLowerBound(), {});
  if (!isa<KernelOp>(parent))
    return std::nullopt;
  ProgramOp program = kernel.getProgram();
  unsigned i = argument.getArgNumber(), dims = program.getDims().size(),
           tensors = program.getTensors().size(),
           scalars = program.getScalars().size();
  if (i < dims)
    return dim(i);
  i -= dims + tensors;
  if (i < scalars) {
    ScalarArgAttr scalar = program.getScalarArg(i);
    auto value = dyn_cast_or_null<IntegerAttr>(scalar.getValue());
    // Longer than the picture would be invisible.
    return note(scalar.getName().getValue(),
                std::min(value ? value.getInt() : largest, largest / 2));
  }
  // The first of the independent iterations.
  return 0;
}

static bool isCondition(Value v) {
  return getElementTypeOrSelf(v.getType()).isInteger(1);
}

/// An i32, or a tile of one.
static bool isSingle(Value v) {
  Type type = v.getType();
  return type.isInteger(32) ||
         (getElementTypeOrSelf(type).isInteger(32) && axesOf(type).empty());
}

std::optional<int64_t> Sample::evaluate(Value v, const Point &point) {
  if (auto start = starts.find(v); start != starts.end())
    return start->second;
  Operation *def = v.getDefiningOp();
  if (!def)
    return argument(cast<BlockArgument>(v));
  if (isa<SplatOp, BroadcastOp>(def))
    return evaluate(def->getOperand(0), point);
  if (auto range = dyn_cast<RangeOp>(def)) {
    auto found = point.find(axesOf(range.getType())[0].str());
    return found == point.end() ? std::nullopt : std::optional(found->second);
  }
  if (auto c = dyn_cast<arith::ConstantOp>(def)) {
    auto value = dyn_cast<IntegerAttr>(c.getValue());
    return !value ? std::nullopt
           : value.getType().isInteger(1)
               ? std::optional<int64_t>(value.getValue().getBoolValue())
               : std::optional(value.getInt());
  }
  if (isa<IsPresentOp>(def))
    return 1;
  if (auto block = dyn_cast<BlockSizeOp>(def)) {
    for (auto axis : kernel.getAxes().getAsRange<AxisAttr>())
      if (axis.getBlock() == block.getBlockAttr())
        return tileSize(axis.getName());
    return std::nullopt;
  }
  if (auto load = dyn_cast<LoadOp>(def))
    return isSingle(v) ? loaded(load, point) : loadedFromTable(load, point);
  // The first one, as of other iterations.
  if (isSegmentSearch(def))
    return 0;
  SmallVector<int64_t> in;
  bool isConjunction = isa<arith::AndIOp>(def) && isCondition(v),
       isDisjunction = isa<arith::OrIOp>(def) && isCondition(v);
  bool isKnown = true;
  for (Value operand : def->getOperands()) {
    std::optional<int64_t> value = evaluate(operand, point);
    // One operand may decide.
    if (value && ((isConjunction && !*value) || (isDisjunction && *value)))
      return value;
    isKnown &= value.has_value();
    in.push_back(value.value_or(0));
  }
  if (!isKnown)
    return std::nullopt;
  if (isa<arith::SelectOp>(def))
    return in[0] ? in[1] : in[2];
  if (isa<arith::ExtUIOp>(def))
    return in[0] & llvm::maskTrailingOnes<uint64_t>(
                       getElementTypeOrSelf(def->getOperand(0).getType())
                           .getIntOrFloatBitWidth());
  if (isa<arith::ExtSIOp, arith::IndexCastOp>(def))
    return in[0];
  if (isa<arith::TruncIOp>(def))
    return llvm::SignExtend64(
        static_cast<uint64_t>(in[0]),
        getElementTypeOrSelf(v.getType()).getIntOrFloatBitWidth());
  if (in.size() != 2)
    return std::nullopt;
  if (auto compare = dyn_cast<arith::CmpIOp>(def))
    return arith::applyCmpPredicate(compare.getPredicate(),
                                    APInt(64, in[0], /*isSigned=*/true),
                                    APInt(64, in[1], /*isSigned=*/true));
  if (isa<arith::AddIOp>(def))
    return in[0] + in[1];
  if (isa<arith::SubIOp>(def))
    return in[0] - in[1];
  if (isa<arith::MulIOp>(def))
    return in[0] * in[1];
  if (isa<arith::AndIOp>(def))
    return in[0] & in[1];
  if (isa<arith::OrIOp>(def))
    return in[0] | in[1];
  if (isa<arith::XOrIOp>(def))
    return in[0] ^ in[1];
  if (isa<arith::MaxSIOp>(def))
    return std::max(in[0], in[1]);
  if (isa<arith::MinSIOp>(def))
    return std::min(in[0], in[1]);
  if (isa<arith::DivUIOp>(def) && in[0] >= 0 && in[1] > 0)
    return in[0] / in[1];
  if (isa<arith::FloorDivSIOp>(def) && in[1] > 0)
    return llvm::divideFloorSigned(in[0], in[1]);
  if (isa<arith::CeilDivSIOp>(def) && in[1] > 0)
    return llvm::divideCeilSigned(in[0], in[1]);
  if (isa<arith::RemSIOp>(def) && in[1] > 0)
    return in[0] % in[1];
  return std::nullopt;
}

} // namespace selvedge::explain
