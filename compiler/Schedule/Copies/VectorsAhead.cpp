// sm-vectors-ahead: steps of products load vectors one step ahead.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Copies/RepeatedTiles.h"
#include "compiler/Schedule/Passes.h"
#include "dialect/Sm/WarpMove.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_SMVECTORSAHEAD
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

constexpr int64_t lanesOfWarp = 32;

/// The type of a vector of which each lane of a warp holds other elements,
/// those of a register side by side, where `type` repeats them in more
/// registers; null where it does not.
RankedTensorType spreadType(Type type) {
  LayoutAttr layout = layoutOf(type);
  if (!layout || layout.getAxes().size() != 1 ||
      getElementTypeOrSelf(type).getIntOrFloatBitWidth() != 32)
    return {};
  AxisLayoutAttr axis = layout.getAxes()[0];
  int64_t ofWarp = axis.getSize();
  for (int64_t stride : axis.getWarps())
    if (stride)
      ofWarp /= 2;
  // Each warp's are side by side, as products have them.
  if (!llvm::isPowerOf2_64(ofWarp) ||
      llvm::any_of(axis.getWarps(),
                   [&](int64_t stride) { return stride % ofWarp; }))
    return {};
  int64_t parts = std::max<int64_t>(1, ofWarp / lanesOfWarp);
  if (axis.getNumRegs() < 4 * parts)
    return {};
  SmallVector<int64_t> sizes, strides, lanes;
  if (parts > 1) {
    sizes.push_back(parts);
    strides.push_back(lanesOfWarp);
  }
  for (int64_t lane = 1; lane < lanesOfWarp; lane *= 2)
    lanes.push_back(lane < ofWarp ? lane : 0);
  auto spread = AxisLayoutAttr::get(type.getContext(), axis.getName(), sizes,
                                    strides, lanes, axis.getWarps());
  return RankedTensorType::get(axis.getSize(), getElementTypeOrSelf(type),
                               LayoutAttr::get(type.getContext(), {spread}));
}

/// Whether conditions follow from a value: presence, or what a mask chooses by.
/// Their words are those of the program, for the verifiers, and say where what
/// they are made of is loaded.
bool makesConditions(Value value) {
  llvm::SetVector<Value> reached;
  reached.insert(value);
  for (size_t i = 0; i < reached.size(); ++i) {
    if (getElementTypeOrSelf(reached[i].getType()).isInteger(1))
      return true;
    for (Operation *user : reached[i].getUsers())
      if (isa<BroadcastOp, RelayoutOp>(user) ||
          isa<arith::ArithDialect, math::MathDialect>(user->getDialect()))
        reached.insert_range(user->getResults());
  }
  return false;
}

/// Loads of a loop's vectors, for one of its steps.
class Vectors {
public:
  explicit Vectors(scf::ForOp loop) : loop(loop) {
    for (auto load : loop.getBody()->getOps<LoadOp>())
      if (canRunAhead(load))
        loads.push_back(load);
  }

  ArrayRef<LoadOp> getLoads() const { return loads; }

  SmallVector<Type> types() const {
    return llvm::map_to_vector(
        loads, [](LoadOp load) -> Type { return spreadType(load.getType()); });
  }

  /// What the step at `index` needs.
  SmallVector<Value> at(OpBuilder &b, Value index) const {
    IRMapping scalars;
    scalars.map(loop.getInductionVar(), index);
    return llvm::map_to_vector(loads, [&](LoadOp load) -> Value {
      IRMapping mapping = scalars;
      RepeatedTiles spread = spreadOf(load);
      for (Value v : load.getIndices())
        spread.repeat(b, v, mapping);
      auto clone = cast<LoadOp>(b.clone(*load, mapping));
      Type type = spread.typeOf(load.getType());
      clone.getResult().setType(type);
      // They begin anywhere.
      clone.setVector(1);
      return clone.getResult();
    });
  }

private:
  RepeatedTiles spreadOf(LoadOp load) const {
    AxisLayoutAttr axis = layoutOf(spreadType(load.getType())).getAxes()[0];
    return RepeatedTiles({{axis.getName(), axis}}, loop);
  }

  /// Whether every lane of the vector exists, a lane that does not being one of
  /// its own step, no conditions follow from it, nothing stores to its tensor,
  /// its indices follow from the loop's, and lanes can give each other what
  /// they hold.
  bool canRunAhead(LoadOp load) const {
    RankedTensorType type = spreadType(load.getType());
    return type && load.getPresence().empty() && !makesConditions(load) &&
           llvm::none_of(load.getTensor().getUsers(), llvm::IsaPred<StoreOp>) &&
           llvm::all_of(load.getIndices(),
                        [&](Value v) { return spreadOf(load).canRepeat(v); }) &&
           WarpMove::findCheap(layoutOf(type), layoutOf(load.getType()),
                               type.getElementTypeBitWidth() / 8);
  }

  mutable scf::ForOp loop;
  SmallVector<LoadOp> loads;
};

struct SmVectorsAheadPass : impl::SmVectorsAheadBase<SmVectorsAheadPass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (!loop.getBody()->getOps<MmaOp>().empty())
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      run(loop);
  }

private:
  /// Those of the first step; anything where there is none.
  static SmallVector<Value> first(IRRewriter &b, scf::ForOp loop,
                                  const Vectors &vectors) {
    Location loc = loop.getLoc();
    SmallVector<Type> types = vectors.types();
    Value runs =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                              loop.getLowerBound(), loop.getUpperBound());
    auto branch = scf::IfOp::create(b, loc, types, runs, true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, loc, vectors.at(b, loop.getLowerBound()));
    b.setInsertionPointToStart(branch.elseBlock());
    SmallVector<Value> zeros;
    for (Type type : types)
      zeros.push_back(arith::ConstantOp::create(
          b, loc, cast<TypedAttr>(b.getZeroAttr(type))));
    scf::YieldOp::create(b, loc, zeros);
    return branch.getResults();
  }

  /// Those of the step after this one; of the last one whatever lies where its
  /// elements do.
  static SmallVector<Value> next(OpBuilder &b, scf::ForOp loop,
                                 const Vectors &vectors) {
    Location loc = loop.getLoc();
    Value one = arith::ConstantIntOp::create(b, loc, 1, 32),
          last = arith::SubIOp::create(b, loc, loop.getUpperBound(), one),
          ahead = arith::AddIOp::create(b, loc, loop.getInductionVar(),
                                        loop.getStep());
    return vectors.at(b, arith::MinSIOp::create(b, loc, ahead, last));
  }

  static void run(scf::ForOp loop) {
    IRRewriter b(loop);
    if (Vectors(loop).getLoads().empty())
      return;
    SmallVector<Value> inits = first(b, loop, Vectors(loop));
    // The loads move with the body.
    auto grown = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        b, inits, /*replaceInitOperandUsesInLoop=*/false,
        [](OpBuilder &, Location, ArrayRef<BlockArgument> added) {
          return llvm::to_vector_of<Value>(added);
        }));
    Vectors vectors(grown);
    ArrayRef<BlockArgument> held =
        grown.getRegionIterArgs().take_back(inits.size());
    b.setInsertionPointToStart(grown.getBody());
    SmallVector<Value> ahead = next(b, grown, vectors);
    auto yield = cast<scf::YieldOp>(grown.getBody()->getTerminator());
    yield->setOperands(yield.getNumOperands() - ahead.size(), ahead.size(),
                       ahead);
    for (auto [of, vector] : llvm::zip_equal(vectors.getLoads(), held)) {
      LoadOp load = of;
      b.setInsertionPoint(load);
      Value moved = RelayoutOp::create(b, load.getLoc(), load.getType(), vector,
                                       /*scratch=*/Value());
      b.replaceOp(load, moved);
    }
  }
};

} // namespace
} // namespace selvedge::schedule
