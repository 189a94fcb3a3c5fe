// Emits the code of one thread of a kernel: accesses by vectors of which a
// row's end may cut one. SPDX-License-Identifier: MIT
#include "compiler/Target/SM80/LaneEmitter.h"

namespace selvedge::sm80 {

using namespace mlir;
using namespace selvedge::sm;

/// Whether `predicate` holds for indices along `axis` up to some bound: with an
/// element of a vector those before it exist.
static bool holdsBelow(Value predicate, StringAttr axis) {
  auto compare = predicate.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt)
    return false;
  auto range = compare.getLhs().getDefiningOp<RangeOp>();
  return range && compare.getRhs().getDefiningOp<SplatOp>() &&
         distOf(range.getType()).getAxes()[0].getName() == axis;
}

SmallVector<LaneEmitter::Cut> LaneEmitter::cutsOf(DistAttr dist,
                                                  ValueRange indices,
                                                  ValueRange presence,
                                                  ArrayRef<Access> accesses) {
  if (accesses.front().regs.size() == 1 ||
      llvm::all_of(accesses, [](const Access &a) { return a.isUniform(); }))
    return {};
  StringAttr axis = distOf(indices.back().getType()).getAxes()[0].getName();
  for (Value p : presence) {
    DistAttr own = distOf(p.getType());
    if (own && own.indexOf(axis) >= 0 && !holdsBelow(p, axis))
      return {};
  }
  Value yes = arith::ConstantIntOp::create(b, loc(), 1, 1);
  return llvm::map_to_vector(accesses, [&](const Access &access) {
    Value whole = access.present.back();
    Value no = arith::XOrIOp::create(b, loc(), whole, yes);
    return Cut{whole, conjunction({access.present.front(), no})};
  });
}

/// Whether the end of a row cuts any vector of this thread.
Value LaneEmitter::isAnyCut(ArrayRef<Cut> cuts) {
  Value any = cuts.front().isCut;
  for (const Cut &cut : cuts.drop_front())
    any = arith::OrIOp::create(b, loc(), any, cut.isCut);
  return any;
}

/// All vectors that exist are on their way before the first is used; one that
/// is cut is rare, and read element by element.
LaneEmitter::Registers LaneEmitter::loadCut(ArrayRef<Access> accesses,
                                            ArrayRef<Cut> cuts, Type element,
                                            StringRef cache) {
  int64_t size = bytesOf(element), width = accesses.front().regs.size(),
          bytes = width * size;
  Registers words;
  for (auto [access, cut] : llvm::zip_equal(accesses, cuts))
    llvm::append_range(words,
                       loadRaw(access.pointer, cut.isWhole, bytes, cache));
  int64_t perAccess = words.size() / accesses.size(),
          perWord = width / perAccess;
  auto branch = scf::IfOp::create(
      b, loc(), llvm::map_to_vector(words, [](Value v) { return v.getType(); }),
      isAnyCut(cuts), true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc(), words);
    b.setInsertionPointToStart(branch.thenBlock());
    Registers filled(words);
    for (auto [a, access] : llvm::enumerate(accesses))
      for (int64_t i = 0; i < width; ++i) {
        Value pointer =
            bytesAhead(access.pointer, static_cast<int32_t>(i * size));
        Value present = conjunction({cuts[a].isCut, access.present[i]});
        Value bits = loadRaw(pointer, present, size, cache).front();
        Value &word = filled[a * perAccess + i / perWord];
        if (bits.getType() != word.getType())
          bits = arith::ExtUIOp::create(b, loc(), word.getType(), bits);
        // What is absent reads as zero, a vector that is cut as well.
        Value shift = arith::ConstantOp::create(
            b, loc(), b.getIntegerAttr(word.getType(), i % perWord * size * 8));
        word = arith::OrIOp::create(
            b, loc(), word, arith::ShLIOp::create(b, loc(), bits, shift));
      }
    scf::YieldOp::create(b, loc(), filled);
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
  for (auto [access, cut] : llvm::zip_equal(accesses, cuts))
    for (auto [i, v] : llvm::enumerate(valuesOf(access))) {
      Value pointer = bytesAhead(
          access.pointer, static_cast<int32_t>(i * bytesOf(v.getType())));
      storeWords(pointer, conjunction({cut.isCut, access.present[i]}), v,
                 cache);
    }
}

} // namespace selvedge::sm80
