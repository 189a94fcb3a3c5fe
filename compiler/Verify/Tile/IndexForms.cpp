// Integers of a kernel as sums, the same however they are written.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Tile/IndexForms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <numeric>

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::tile;

namespace {
/// First word of an atom's key.
enum Tag : uint64_t { Leaf, Lane, Element, Quotient, Opaque };
} // namespace

static uint64_t bits(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

/// Sums wrap.
static int64_t wrapped(int64_t number) {
  return static_cast<int32_t>(static_cast<uint64_t>(number));
}

IndexForms::Atom IndexForms::atom(Key key, AtomInfo info) {
  auto [at, isNew] = atoms.try_emplace(std::move(key), infos.size());
  if (isNew)
    infos.push_back(info);
  return at->second;
}

IndexForms::Form IndexForms::form(Sum sum) {
  auto [at, isNew] = forms.try_emplace(sum, sums.size());
  if (isNew)
    sums.push_back(std::move(sum));
  return at->second;
}

IndexForms::Sum IndexForms::combine(const Sum &a, const Sum &b,
                                    int64_t factor) {
  Sum result = a;
  result.constant = wrapped(a.constant + factor * b.constant);
  for (auto [atom, times] : b.terms) {
    int64_t &sum = result.terms[atom];
    sum = wrapped(sum + factor * times);
    if (sum == 0)
      result.terms.erase(atom);
  }
  return result;
}

bool IndexForms::isUniform(Form form) const {
  return llvm::all_of(sums[form].terms, [&](const auto &term) {
    return infos[term.first].isUniform;
  });
}

IndexForms::Form IndexForms::multiple(Value value, int64_t size) {
  Atom number = atom({Leaf, bits(value.getAsOpaquePointer())}, {});
  return form({{{number, size}}, 0});
}

IndexForms::Form IndexForms::of(Value value) {
  if (auto at = known.find(value); at != known.end())
    return at->second;
  Form result = compute(value);
  known[value] = result;
  return result;
}

/// `sum / by`, rounding down. What is less than a common divisor of `by` and
/// all else changes nothing.
IndexForms::Form IndexForms::quotient(const Sum &sum, int64_t by) {
  int64_t divisor = by, most = 0;
  bool isBounded = true;
  Sum rest;
  for (auto [atom, times] : sum.terms)
    if (int64_t lanes = infos[atom].lanes) {
      isBounded &= times > 0;
      most += times * (lanes - 1);
    } else {
      divisor = std::gcd(divisor, times);
      rest.terms[atom] = times;
    }
  int64_t below = ((sum.constant % divisor) + divisor) % divisor;
  if (isBounded && most + below < divisor) {
    for (auto &[atom, times] : rest.terms)
      times /= divisor;
    rest.constant = (sum.constant - below) / divisor;
    by /= divisor;
  } else {
    rest = sum;
  }
  Form left = form(std::move(rest));
  if (by == 1)
    return left;
  return single(
      atom({Quotient, left, static_cast<uint64_t>(by)}, {0, isUniform(left)}));
}

IndexForms::Form IndexForms::element(LoadOp load) {
  Key key{Element, of(load.getTensor())};
  bool isSame = true;
  for (Value index : load.getIndices()) {
    key.push_back(of(index));
    isSame &= isUniform(key.back());
  }
  return single(atom(std::move(key), {0, isSame}));
}

IndexForms::Form IndexForms::opaque(Operation *op, OpResult result) {
  Key key{Opaque, bits(op->getName().getAsOpaquePointer()),
          bits(op->getAttrDictionary().getAsOpaquePointer()),
          bits(getElementTypeOrSelf(result.getType()).getAsOpaquePointer()),
          result.getResultNumber()};
  bool isSame = true;
  for (Value operand : op->getOperands()) {
    key.push_back(of(operand));
    isSame &= isUniform(key.back());
  }
  return single(atom(std::move(key), {0, isSame}));
}

IndexForms::Form IndexForms::compute(Value value) {
  auto leaf = [&] {
    return single(atom({Leaf, bits(value.getAsOpaquePointer())},
                       {0, !isTile(value.getType())}));
  };
  Operation *op = value.getDefiningOp();
  if (!op)
    return leaf();
  if (isa<SplatOp, BroadcastOp>(op))
    return of(op->getOperand(0));
  if (auto load = dyn_cast<LoadOp>(op))
    return element(load);
  if (auto range = dyn_cast<RangeOp>(op)) {
    StringAttr axis = axesOf(range.getType()).front();
    Atom lane =
        atom({Lane, bits(axis.getAsOpaquePointer())},
             {cast<RankedTensorType>(range.getType()).getDimSize(0), false});
    return form(combine(sums[of(range.getStart())], {{{lane, 1}}, 0}, 1));
  }
  if (!isMemoryEffectFree(op) || op->getNumRegions() != 0)
    return leaf();
  APInt number;
  bool isInt = getElementTypeOrSelf(value.getType()).isInteger(32);
  if (isInt && matchPattern(value, m_ConstantInt(&number)))
    return form({{}, number.getSExtValue()});
  if (isInt && isa<arith::AddIOp, arith::SubIOp>(op)) {
    Form a = of(op->getOperand(0)), b = of(op->getOperand(1));
    return form(combine(sums[a], sums[b], isa<arith::AddIOp>(op) ? 1 : -1));
  }
  if (isInt && isa<arith::MulIOp>(op)) {
    Form a = of(op->getOperand(0)), b = of(op->getOperand(1));
    if (sums[a].terms.empty())
      std::swap(a, b);
    if (sums[b].terms.empty())
      return form(combine({}, sums[a], sums[b].constant));
  }
  if (isInt && isa<arith::FloorDivSIOp>(op)) {
    Form a = of(op->getOperand(0)), b = of(op->getOperand(1));
    if (sums[b].terms.empty() && sums[b].constant > 0)
      return quotient(Sum(sums[a]), sums[b].constant);
  }
  return opaque(op, cast<OpResult>(value));
}

} // namespace selvedge::verify
