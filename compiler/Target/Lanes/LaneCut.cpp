// Accesses by vectors of which the end of a row may cut one.
// SPDX-License-Identifier: MIT
#include "compiler/Target/Lanes/LaneEmitter.h"

#include "mlir/IR/Matchers.h"

namespace selvedge::lanes {

using namespace mlir;
using namespace selvedge::sm;

/// The compare by which `predicate` holds for indices along `axis` up to some
/// bound: with an element of a vector those before it exist.
static arith::CmpIOp boundOf(Value predicate, StringAttr axis) {
  auto compare = predicate.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt)
    return {};
  auto range = compare.getLhs().getDefiningOp<RangeOp>();
  bool isBound = range && compare.getRhs().getDefiningOp<SplatOp>() &&
                 layoutOf(range.getType()).getAxes()[0].getName() == axis;
  return isBound ? compare : arith::CmpIOp();
}

SmallVector<LaneEmitter::Cut>
LaneEmitter::cutsOf(LayoutAttr layout, ValueRange indices, ValueRange presence,
                    ArrayRef<Access> accesses, int64_t elementBytes) {
  constexpr int64_t wordBytes = 4;
  if (accesses.front().regs.size() == 1 || elementBytes > wordBytes ||
      accesses.front().regs.size() * elementBytes % wordBytes != 0 ||
      llvm::all_of(accesses, [](const Access &a) { return a.isUniform(); }))
    return {};
  LayoutAttr last = layoutOf(indices.back().getType());
  if (!last)
    return {};
  StringAttr axis = last.getAxes()[0].getName();
  SmallVector<Value> bounds, others;
  for (Value p : presence) {
    LayoutAttr own = layoutOf(p.getType());
    bool isOther = !own || own.indexOf(axis) < 0;
    if (!isOther && !boundOf(p, axis))
      return {};
    (isOther ? others : bounds).push_back(p);
  }
  // Without a bound of its own a vector is not cut by the end of a row.
  if (bounds.empty())
    return {};
  Value yes = arith::ConstantIntOp::create(b, loc(), 1, 1);
  return llvm::map_to_vector(accesses, [&](const Access &access) {
    auto allOf = [&](ArrayRef<Value> predicates, int64_t reg) {
      return conjunction(llvm::map_to_vector(
          predicates, [&](Value p) { return laneOf(p, layout, reg); }));
    };
    Cut cut;
    int64_t first = access.regs.front();
    cut.inRow = allOf(others, first);
    cut.begins = allOf(bounds, first);
    Value ends = allOf(bounds, access.regs.back());
    cut.isWhole = conjunction({ends, cut.inRow});
    cut.isCut =
        conjunction({cut.begins, arith::XOrIOp::create(b, loc(), ends, yes)});
    for (Value p : bounds) {
      arith::CmpIOp bound = boundOf(p, axis);
      cut.bounds.push_back({laneOf(bound.getLhs(), layout, first),
                            laneOf(bound.getRhs(), layout, first)});
    }
    return cut;
  });
}

/// Whether an element of a vector lies before the end of its row. Said anew
/// where it is asked, which is rare: predicates of all elements are too many to
/// be kept.
Value LaneEmitter::isBeforeEnd(const Cut &cut, int64_t element) {
  SmallVector<Value> conditions;
  for (auto [first, bound] : cut.bounds)
    conditions.push_back(arith::CmpIOp::create(
        b, loc(), arith::CmpIPredicate::slt, add(first, i32(element)), bound));
  return conjunction(conditions);
}

/// Whether the end of a row cuts any vector of this thread.
Value LaneEmitter::isAnyCut(ArrayRef<Cut> cuts) {
  Value any = cuts.front().isCut;
  for (const Cut &cut : cuts.drop_front())
    any = arith::OrIOp::create(b, loc(), any, cut.isCut);
  return any;
}

/// What a select puts past the end of rows, where that alone is done with what
/// `load` reads, and the element type has the value.
std::optional<LaneEmitter::RowFill> LaneEmitter::fillOf(LoadOp load) {
  Value value = load.getResult();
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(value.getType()));
  while (element && value.hasOneUse()) {
    Operation *user = *value.user_begin();
    if (isa<arith::ExtFOp>(user)) {
      value = user->getResult(0);
      continue;
    }
    auto select = dyn_cast<arith::SelectOp>(user);
    auto other =
        select ? select.getFalseValue().getDefiningOp<SplatOp>() : SplatOp();
    FloatAttr constant;
    if (!other || select.getTrueValue() != value ||
        !matchPattern(other.getValue(), m_Constant(&constant)))
      break;
    Value condition = select.getCondition();
    if (auto repeated = condition.getDefiningOp<BroadcastOp>())
      condition = repeated.getSource();
    SmallVector<Value> bounds;
    StringAttr axis =
        layoutOf(load.getIndices().back().getType()).getAxes()[0].getName();
    for (Value p : load.getPresence())
      if (boundOf(p, axis))
        bounds.push_back(p);
    APFloat fill = constant.getValue();
    bool losesInfo = false;
    fill.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
    if (bounds != SmallVector<Value>{condition} || losesInfo)
      break;
    return RowFill{select, fill.bitcastToAPInt()};
  }
  return std::nullopt;
}

bool LaneEmitter::isVector(LoadOp load) {
  LayoutAttr layout = layoutOf(load.getType());
  return layout && layout.getAxes().size() == 1 && load.getVector() > 1;
}

/// Asks for what the next step reads, if its end is known to lie within the
/// loop's, as that of a full step: by then it is in L2, and a vector, which is
/// there anyway, in L1.
void LaneEmitter::prefetchNext(LoadOp load, ArrayRef<Access> accesses) {
  auto loop = dyn_cast<scf::ForOp>(load->getParentOp());
  auto range = load.getIndices().empty()
                   ? RangeOp()
                   : load.getIndices().back().getDefiningOp<RangeOp>();
  bool isOfStep = !load.getCache() && isVector(load);
  bool isRead = load.getCache() == Cache::EvictLast && load.getVector() > 1;
  if (!(isOfStep || isRead) || !loop || !range ||
      range.getStart() != loop.getInductionVar())
    return;
  APInt step;
  if (!matchPattern(loop.getStep(), m_ConstantInt(&step)))
    return;
  Type element = getElementTypeOrSelf(load.getType());
  // Wraps for no step that there is: i32 holds every index of a block.
  Value next = add(lane1(loop.getInductionVar()), i32(step.getSExtValue()));
  Value isStep = arith::CmpIOp::create(b, loc(), arith::CmpIPredicate::slt,
                                       next, lane1(loop.getUpperBound()));
  for (const Access &access : accesses) {
    if (!access.isUniform())
      return;
    Value pointer =
        bytesAhead(access.pointer, static_cast<int32_t>(step.getSExtValue() *
                                                        bytesOf(element)));
    inlineAsm({}, {pointer, conjunction({isStep, access.present.front()})},
              isOfStep ? "@$1 prefetch.global.L1 [$0];"
                       : "@$1 prefetch.global.L2 [$0];",
              "l,b");
  }
}

/// All vectors that exist are on their way before the first is used; one that
/// is cut is rare, and read element by element.
LaneEmitter::Registers LaneEmitter::loadCut(ArrayRef<Access> accesses,
                                            ArrayRef<Cut> cuts, Type element,
                                            StringRef cache,
                                            const APInt &fill) {
  int64_t size = bytesOf(element), width = accesses.front().regs.size(),
          bytes = width * size;
  // What an absent element reads as: zero if all that it lacks is its row.
  auto absent = [&](Value isBefore, const APInt &bits) {
    int64_t value =
        bits.getBitWidth() < 32 ? bits.getZExtValue() : bits.getSExtValue();
    return bits.isZero()
               ? Value()
               : arith::SelectOp::create(b, loc(), isBefore, i32(0), i32(value))
                     .getResult();
  };
  Registers words;
  for (auto [access, cut] : llvm::zip_equal(accesses, cuts))
    llvm::append_range(words,
                       loadRaw(access.pointer, cut.isWhole, bytes, cache,
                               absent(cut.begins, APInt::getSplat(32, fill))));
  int64_t perAccess = words.size() / accesses.size(),
          perWord = width / perAccess;
  auto types = [](ValueRange values) { return TypeRange(values); };
  auto branch = scf::IfOp::create(b, loc(), types(words), isAnyCut(cuts), true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc(), words);
    b.setInsertionPointToStart(branch.thenBlock());
    Registers results;
    for (auto [a, access] : llvm::enumerate(accesses)) {
      ArrayRef<Value> whole = ArrayRef(words).slice(a * perAccess, perAccess);
      auto one = scf::IfOp::create(b, loc(), types(whole), cuts[a].isCut, true);
      llvm::append_range(results, one.getResults());
      OpBuilder::InsertionGuard inner(b);
      b.setInsertionPointToStart(one.elseBlock());
      scf::YieldOp::create(b, loc(), whole);
      b.setInsertionPointToStart(one.thenBlock());
      Registers parts(perAccess);
      for (int64_t i = 0; i < width; ++i) {
        Value isBefore = isBeforeEnd(cuts[a], i);
        Value bits =
            loadRaw(bytesAhead(access.pointer, static_cast<int32_t>(i * size)),
                    conjunction({isBefore, cuts[a].inRow}), size, cache,
                    absent(isBefore, fill))
                .front();
        if (bits.getType() != b.getI32Type())
          bits = arith::ExtUIOp::create(b, loc(), b.getI32Type(), bits);
        bits =
            arith::ShLIOp::create(b, loc(), bits, i32(i % perWord * size * 8));
        Value &word = parts[i / perWord];
        word = word ? arith::OrIOp::create(b, loc(), word, bits).getResult()
                    : bits;
      }
      scf::YieldOp::create(b, loc(), parts);
    }
    scf::YieldOp::create(b, loc(), results);
  }
  Registers elements;
  for (int64_t a = 0, end = accesses.size(); a < end; ++a) {
    Registers own(branch.getResults().slice(a * perAccess, perAccess));
    llvm::append_range(elements, unpack(own, bytes, element));
  }
  return elements;
}

void LaneEmitter::storeCut(
    ArrayRef<Access> accesses, ArrayRef<Cut> cuts,
    llvm::function_ref<SmallVector<Value>(const Access &)> valuesOf,
    StringRef cache) {
  for (auto [access, cut] : llvm::zip_equal(accesses, cuts))
    storeWords(access.pointer, cut.isWhole, valuesOf(access), cache);
  auto branch = scf::IfOp::create(b, loc(), TypeRange(), isAnyCut(cuts), false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  for (auto [access, cut] : llvm::zip_equal(accesses, cuts)) {
    auto one = scf::IfOp::create(b, loc(), TypeRange(), cut.isCut, false);
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(one.thenBlock());
    for (auto [i, v] : llvm::enumerate(valuesOf(access))) {
      Value pointer = bytesAhead(
          access.pointer, static_cast<int32_t>(i * bytesOf(v.getType())));
      storeWords(pointer, conjunction({isBeforeEnd(cut, i), cut.inRow}), v,
                 cache);
    }
  }
}

} // namespace selvedge::lanes
