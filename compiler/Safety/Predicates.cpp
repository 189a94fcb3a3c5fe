// Equality of predicates by structure.
// SPDX-License-Identifier: MIT
#include "compiler/Safety/Predicates.h"
#include "compiler/Analysis/LinearIndex.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace selvedge::safety {

using namespace mlir;
using analysis::source;

bool sameExpression(Value a, Value b) {
  a = source(a);
  b = source(b);
  if (a == b)
    return true;
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  if (!x || !y || x->getName() != y->getName() ||
      x->getNumOperands() != y->getNumOperands() || !isMemoryEffectFree(x) ||
      x->getNumRegions() != 0 ||
      x->getAttrDictionary() != y->getAttrDictionary() ||
      x->hashProperties() != y->hashProperties() ||
      x->getResultTypes() != y->getResultTypes())
    return false;
  return llvm::all_of(
      llvm::zip_equal(x->getOperands(), y->getOperands()), [](auto pair) {
        return sameExpression(std::get<0>(pair), std::get<1>(pair));
      });
}

bool implies(Value condition, Value predicate) {
  if (sameExpression(condition, predicate))
    return true;
  auto both = source(condition).getDefiningOp<arith::AndIOp>();
  return both && (implies(both.getLhs(), predicate) ||
                  implies(both.getRhs(), predicate));
}

} // namespace selvedge::safety
