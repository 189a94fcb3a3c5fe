// tile-interior-parts: full steps of interior blocks test nothing.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Loops/LoopBounds.h"
#include "compiler/Schedule/Passes.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_TILEINTERIORPARTS
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;
using analysis::LinearIndex;

/// More than any upper bound of a loop.
constexpr int64_t noBound = int64_t(1) << 31;

class Splitter : BoundBuilder {
public:
  explicit Splitter(scf::ForOp loop) : BoundBuilder(loop), loop(loop) {}

  void run() {
    if (!loop.getInductionVar().getType().isInteger(32))
      return;
    llvm::SetVector<Value> compares;
    for (Operation &op : *loop.getBody()) {
      if (op.getNumRegions() != 0)
        return;
      if (auto load = dyn_cast<LoadOp>(op); load && !isGather(load))
        for (Value p : presenceOf(&op))
          collectCompares(p, compares);
    }
    for (Value compare : compares)
      if (!classify(compare))
        return;
    // What all lanes share is tested once per step: no part is worth that, and
    // of tiles that are no tile at all there need not be any.
    bool isOfLanes = llvm::any_of(edges, [](const Edge &edge) {
      return !edge.form.axes.empty() || !edge.form.quotients.empty();
    });
    if (isOfLanes && llvm::none_of(*loop.getBody(), [&](Operation &op) {
          return sumsOverEdge(&op);
        }))
      split();
  }

private:
  /// Predicates of the block, as `form <= 0`.
  struct Edge {
    Value compare;
    LinearIndex form;
  };

  /// Whether an index is loaded, too: it has absent lanes of its own, for which
  /// the predicate is needed.
  static bool isGather(LoadOp load) {
    SetVector<Operation *> slice;
    BackwardSliceOptions options;
    options.inclusive = options.omitBlockArguments = true;
    for (Value index : load.getIndices())
      (void)getBackwardSlice(index, &slice, options);
    return llvm::any_of(slice, llvm::IsaPred<LoadOp>);
  }

  /// Whether a reduction or product runs over an axis of an edge: it needs the
  /// fills of loads, whose absent lanes it would add up.
  bool sumsOverEdge(Operation *op) {
    if (!isa<ReduceOp, DotOp>(op))
      return false;
    llvm::SetVector<Value> own;
    for (Value p : presenceOf(op))
      collectCompares(p, own);
    return llvm::any_of(
        edges, [&](const Edge &edge) { return own.contains(edge.compare); });
  }

  /// False where `compare` makes these partial steps.
  bool classify(Value compare) {
    if (compare.getDefiningOp<KnownOp>())
      return true;
    if (!loop.isDefinedOutsideOfLoop(compare))
      return false;
    std::optional<LinearIndex> form = analysis::linearCompare(compare);
    if (form && !form->scalars.empty() &&
        llvm::all_of(form->axes,
                     [&](auto &term) {
                       return static_cast<bool>(blockOf(term.first));
                     }) &&
        llvm::all_of(form->quotients,
                     [&](auto &term) { return hasExtreme(term.first); }))
      edges.push_back({compare, *form});
    return true;
  }

  void split() {
    // 1 where all edges hold in all lanes, else 0.
    Value inside = i64(1);
    for (const Edge &edge : edges)
      inside = min(inside, sub(i64(1), extreme(edge.form, true)));
    inside = max(inside, i64(0));
    SmallVector<Value> carried(loop.getInitArgs());
    carried = clone(inside, carried, true);
    carried = clone(sub(i64(1), inside), carried, false);
    loop.replaceAllUsesWith(carried);
    loop.erase();
  }

  /// The loop where `runs` is 1, nothing where it is 0.
  SmallVector<Value> clone(Value runs, ValueRange inits, bool isInside) {
    Value end =
        narrow(min(wide(loop.getUpperBound()), mul(runs, i64(noBound))));
    auto part = scf::ForOp::create(b, loc, loop.getLowerBound(), end,
                                   loop.getStep(), inits);
    if (inits.empty())
      part.getBody()->getTerminator()->erase();
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), part.getInductionVar());
    mapping.map(loop.getRegionIterArgs(), part.getRegionIterArgs());
    OpBuilder in = OpBuilder::atBlockEnd(part.getBody());
    // Other sinks keep the predicates: values from outside have lanes for which
    // they are needed.
    IRMapping known;
    if (isInside)
      for (const Edge &edge : edges)
        known.map(edge.compare,
                  KnownOp::create(in, loc, edge.compare.getType(), edge.compare)
                      .getResult());
    for (Operation &op : *loop.getBody())
      if (auto load = dyn_cast<LoadOp>(in.clone(op, mapping));
          load && !isGather(load))
        for (OpOperand &p : load.getPresenceMutable())
          p.set(known.lookupOrDefault(p.get()));
    return part.getResults();
  }

  scf::ForOp loop;
  SmallVector<Edge> edges;
};

struct TileInteriorPartsPass
    : impl::TileInteriorPartsBase<TileInteriorPartsPass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    for (auto program : getOperation().getOps<ProgramOp>())
      if (!program.isForBulkCopies())
        program.walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      Splitter(loop).run();
  }
};

} // namespace
} // namespace selvedge::schedule
