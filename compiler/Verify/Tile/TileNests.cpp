// verify-tile-nests: one loop in the place of a loop over short loops.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Passes.h"
#include "compiler/Verify/Tile/ComparesPrograms.h"
#include "compiler/Verify/Tile/LoopSteps.h"
#include "dialect/Tile/Limits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/BuiltinOps.h"

namespace selvedge::verify {

#define GEN_PASS_DEF_VERIFYTILENESTS
#include "compiler/Verify/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

/// No plan has larger blocks of what a short loop walks: several of them lie
/// between the largest extent and 2^31.
constexpr int64_t mostColumns = maxBlock / 4;

/// A loop of which each step is one of `perEntry` of an entry: the number of
/// steps is `min(max(count, 0), largest extent / perEntry) * perEntry`, and
/// `perEntry` is an extent over the step, rounded up.
struct FlatLoop {
  scf::ForOp loop;
  Value count, perEntry, extent, step;
  arith::DivUIOp entry;
  arith::RemUIOp part;
  /// Where the step begins: `first + part * step`.
  arith::AddIOp index;
};

/// An operation of two operands, in either order of these; null for others.
template <typename Op>
Op madeOf(Value value, Value operand, Value &other) {
  auto op = value.getDefiningOp<Op>();
  if (!op || (op.getLhs() != operand && op.getRhs() != operand))
    return {};
  other = op.getLhs() == operand ? op.getRhs() : op.getLhs();
  return op;
}

std::optional<FlatLoop> matchFlat(scf::ForOp loop) {
  FlatLoop flat{loop, {}, {}, {}, {}, {}, {}, {}};
  auto steps = loop.getUpperBound().getDefiningOp<arith::MulIOp>();
  if (!steps || !isZeroInteger(loop.getLowerBound()) ||
      !isOneInteger(loop.getStep()))
    return std::nullopt;
  flat.perEntry = steps.getRhs();
  auto perEntry = flat.perEntry.getDefiningOp<arith::CeilDivSIOp>();
  auto entries = steps.getLhs().getDefiningOp<arith::MinSIOp>();
  auto count = entries ? entries.getLhs().getDefiningOp<arith::MaxSIOp>()
                       : arith::MaxSIOp();
  auto most = entries ? entries.getRhs().getDefiningOp<arith::DivUIOp>()
                      : arith::DivUIOp();
  if (!perEntry || !count || !isZeroInteger(count.getRhs()) || !most ||
      getConstantIntValue(most.getLhs()) != maxExtent ||
      most.getRhs() != flat.perEntry)
    return std::nullopt;
  flat.count = count.getLhs();
  flat.extent = perEntry.getLhs();
  flat.step = perEntry.getRhs();
  for (Operation *user : loop.getInductionVar().getUsers()) {
    bool isDigit = isa<arith::DivUIOp, arith::RemUIOp>(user) &&
                   user->getOperand(0) == loop.getInductionVar() &&
                   user->getOperand(1) == flat.perEntry;
    if (!isDigit)
      return std::nullopt;
    if (auto entry = dyn_cast<arith::DivUIOp>(user))
      flat.entry = entry;
    else
      flat.part = cast<arith::RemUIOp>(user);
  }
  if (!flat.entry || !flat.part || !flat.part->hasOneUse())
    return std::nullopt;
  Operation *product = *flat.part->getUsers().begin();
  Value step, first;
  if (!product->hasOneUse() || product->getBlock() != loop.getBody() ||
      !madeOf<arith::MulIOp>(product->getResult(0), flat.part, step) ||
      step != flat.step)
    return std::nullopt;
  Operation *sum = *product->getUsers().begin();
  flat.index = sum->getBlock() == loop.getBody()
                   ? madeOf<arith::AddIOp>(sum->getResult(0),
                                           product->getResult(0), first)
                   : arith::AddIOp();
  return flat.index ? std::optional(flat) : std::nullopt;
}

/// The loop over entries, and in it the one over the steps of an entry.
void unflatten(FlatLoop flat) {
  OpBuilder b(flat.loop);
  Location loc = flat.loop.getLoc();
  auto outer = scf::ForOp::create(b, loc, flat.loop.getLowerBound(), flat.count,
                                  flat.loop.getStep(), flat.loop.getInitArgs());
  Block *from = flat.loop.getBody(), *to = outer.getBody();
  Operation *product = *flat.part->getUsers().begin();
  Value first = flat.index.getLhs() == product->getResult(0)
                    ? flat.index.getRhs()
                    : flat.index.getLhs();
  to->getOperations().splice(to->end(), from->getOperations(), from->begin(),
                             flat.index->getIterator());
  flat.entry.replaceAllUsesWith(outer.getInductionVar());
  b.setInsertionPointToEnd(to);
  Value columns = arith::MulIOp::create(b, loc, flat.perEntry, flat.step);
  auto inner = scf::ForOp::create(b, loc, first,
                                  arith::AddIOp::create(b, loc, first, columns),
                                  flat.step, outer.getRegionIterArgs());
  scf::YieldOp::create(b, loc, inner.getResults());
  Block *body = inner.getBody();
  flat.index.replaceAllUsesWith(inner.getInductionVar());
  body->getOperations().splice(body->end(), from->getOperations(),
                               std::next(flat.index->getIterator()),
                               from->end());
  for (auto [old, argument] : llvm::zip_equal(flat.loop.getRegionIterArgs(),
                                              inner.getRegionIterArgs()))
    old.replaceAllUsesWith(argument);
  flat.loop.replaceAllUsesWith(outer.getResults());
  flat.index.erase();
  product->erase();
  flat.part.erase();
  flat.entry.erase();
  flat.loop.erase();
}

/// A loop that ends at the largest extent at the latest runs as before if it
/// begins there at the latest. In front of it stands where it may end as far as
/// one of `flats` says.
void cutLower(scf::ForOp inner, ArrayRef<FlatLoop> flats) {
  auto end = inner.getUpperBound().getDefiningOp<arith::MinSIOp>();
  if (!inner->getParentOfType<scf::ForOp>() || !end ||
      getConstantIntValue(end.getRhs()) != maxExtent)
    return;
  OpBuilder b(inner);
  Location loc = inner.getLoc();
  auto i32 = [&](int64_t v) -> Value {
    return arith::ConstantIntOp::create(b, loc, v, 32);
  };
  Value first = arith::MinSIOp::create(b, loc, inner.getLowerBound(),
                                       i32(maxExtent)),
        step = inner.getStep();
  inner.setLowerBound(first);
  for (const FlatLoop &flat : flats)
    if (std::optional<int64_t> extent = getConstantIntValue(flat.extent)) {
      Value perEntry = arith::CeilDivSIOp::create(b, loc, i32(*extent), step);
      arith::AddIOp::create(b, loc, first,
                            arith::MulIOp::create(b, loc, perEntry, step));
    }
}

/// The loops of `after` are taken apart again: what each then runs is what
/// `before` runs, and steps that do nothing.
LogicalResult check(ProgramOp before, ProgramOp after) {
  OwningOpRef<ProgramOp> nested(after.clone()), cut(before.clone());
  SmallVector<FlatLoop> flats;
  nested->walk([&](scf::ForOp loop) {
    if (std::optional<FlatLoop> flat = matchFlat(loop))
      flats.push_back(*flat);
  });
  cut->walk([&](scf::ForOp loop) { cutLower(loop, flats); });
  llvm::for_each(flats, unflatten);
  SameProgram programs;
  if (failed(programs.compare(*nested, *cut)))
    return failure();
  for (const SplitLoop &split : programs.getLoops())
    if (failed(LoopSteps(split, programs, mostColumns).check()))
      return failure();
  return success();
}

struct VerifyTileNestsPass
    : ComparesPrograms<impl::VerifyTileNestsBase<VerifyTileNestsPass>> {
  using ComparesPrograms::ComparesPrograms;

  LogicalResult compare(ProgramOp before, ProgramOp after) override {
    return check(before, after);
  }
};

} // namespace

std::unique_ptr<Pass> createVerifyTileNests(OpPassManager pipeline) {
  return std::make_unique<VerifyTileNestsPass>(std::move(pipeline));
}

} // namespace selvedge::verify
