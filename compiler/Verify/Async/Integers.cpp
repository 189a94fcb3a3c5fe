// Scalar integers of a kernel on one control path.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Async/Integers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/Support/MathExtras.h"

namespace selvedge::verify {

using namespace mlir;

uint64_t Integers::hashOf(const Key &key) {
  // Two numbers are no keys of a DenseMap.
  return static_cast<uint64_t>(
             llvm::hash_combine(key.kind, key.attributes, key.type, key.result,
                                llvm::hash_combine_range(key.details))) >>
         1;
}

std::optional<Integers::Number> Integers::find(const Key &key,
                                               uint64_t hash) const {
  auto last = numbers.find(hash);
  if (last == numbers.end())
    return std::nullopt;
  for (std::optional<Number> at = last->second; at; at = nodes[*at].next) {
    const Node &node = nodes[*at];
    if (node.kind == key.kind && node.attributes == key.attributes &&
        node.type == key.type && node.result == key.result &&
        key.details == ArrayRef<uint32_t>(node.details))
      return node.same.value_or(*at);
  }
  return std::nullopt;
}

Integers::Number Integers::add(const Key &key, uint64_t hash, Node node) {
  node.kind = key.kind;
  node.attributes = key.attributes;
  node.type = key.type;
  node.result = key.result;
  node.details.assign(key.details.begin(), key.details.end());
  Number number = nodes.size();
  auto [last, isNew] = numbers.try_emplace(hash, number);
  if (!isNew)
    node.next = std::exchange(last->second, number);
  nodes.push_back(std::move(node));
  return number;
}

/// Numbers of 64 bits as halves.
static SmallVector<uint32_t, 8> halves(ArrayRef<uint64_t> numbers) {
  SmallVector<uint32_t, 8> parts;
  for (uint64_t number : numbers)
    parts.append(
        {static_cast<uint32_t>(number), static_cast<uint32_t>(number >> 32)});
  return parts;
}

Integers::Number Integers::constant(Type type, int64_t value) {
  unsigned width = ConstantIntRanges::getStorageBitwidth(type);
  APInt bits(width, value, /*isSigned=*/true, /*implicitTrunc=*/true);
  SmallVector<uint32_t, 8> parts = halves(bits.getZExtValue());
  Key key{nullptr, nullptr, type.getAsOpaquePointer(), 0, parts};
  uint64_t hash = hashOf(key);
  if (std::optional<Number> known = find(key, hash))
    return *known;
  Node node;
  node.width = width;
  node.isConstant = true;
  node.cached = ConstantIntRanges::constant(bits);
  node.value = bits.getSExtValue();
  return add(key, hash, std::move(node));
}

Integers::Number Integers::expression(Operation *op, unsigned result,
                                      ArrayRef<Number> operands) {
  Type type = op->getResult(result).getType();
  auto [dictionary, isNew] = attributes.try_emplace(op);
  if (isNew)
    dictionary->second = op->getAttrDictionary();
  Key key{op->getName().getAsOpaquePointer(),
          dictionary->second.getAsOpaquePointer(), type.getAsOpaquePointer(),
          result, operands};
  uint64_t hash = hashOf(key);
  if (std::optional<Number> known = find(key, hash))
    return *known;

  Node node;
  node.op = isa<InferIntRangeInterface>(op) ? op : nullptr;
  node.result = result;
  node.details.assign(operands.begin(), operands.end());
  node.width = ConstantIntRanges::getStorageBitwidth(type);
  if (llvm::all_of(operands, [&](Number o) { return nodes[o].isConstant; }))
    if (std::optional<APInt> value = infer(node).getConstantValue()) {
      node.same = constant(type, value->getSExtValue());
      add(key, hash, node);
      return *node.same;
    }
  return add(key, hash, std::move(node));
}

Integers::Number Integers::unknown(Type type, const void *kind,
                                   ArrayRef<uint64_t> details) {
  SmallVector<uint32_t, 8> parts = halves(details);
  Key key{kind, nullptr, type.getAsOpaquePointer(), 0, parts};
  uint64_t hash = hashOf(key);
  if (std::optional<Number> known = find(key, hash))
    return *known;
  Node node;
  node.width = ConstantIntRanges::getStorageBitwidth(type);
  return add(key, hash, std::move(node));
}

ConstantIntRanges Integers::infer(const Node &node) {
  ConstantIntRanges result = ConstantIntRanges::maxRange(node.width);
  if (!node.op)
    return result;
  SmallVector<ConstantIntRanges> operands;
  for (Number operand : node.details) {
    operands.push_back(range(operand));
    nodes[operand].usedIn = state;
  }
  cast<InferIntRangeInterface>(node.op).inferResultRanges(
      operands, [&](Value value, const ConstantIntRanges &inferred) {
        if (value == node.op->getResult(node.result))
          result = inferred;
      });
  return result;
}

ConstantIntRanges Integers::range(Number number) {
  if (nodes[number].isConstant)
    return *nodes[number].cached;
  if (nodes[number].cachedIn == state)
    return *nodes[number].cached;
  ConstantIntRanges result = infer(nodes[number]);
  Node &node = nodes[number];
  if (node.assumedIn == path) {
    ConstantIntRanges both = result.intersection(*node.assumed);
    bool isEmpty = both.smin().sgt(both.smax());
    contradictory |= isEmpty;
    result = isEmpty ? *node.assumed : both;
  }
  node.cached = result;
  node.cachedIn = state;
  return result;
}

std::optional<int64_t> Integers::known(Number number) {
  if (nodes[number].isConstant)
    return nodes[number].value;
  std::optional<APInt> value = range(number).getConstantValue();
  return value ? std::optional(value->getSExtValue()) : std::nullopt;
}

void Integers::narrow(Number number, const ConstantIntRanges &to) {
  Node &node = nodes[number];
  if (node.isConstant)
    return;
  ConstantIntRanges both = range(number).intersection(to);
  bool isEmpty = both.smin().sgt(both.smax());
  contradictory |= isEmpty;
  node.assumed = isEmpty ? to : both;
  node.assumedIn = path;
  // Other ranges stay unless they were found from this one.
  if (node.usedIn == state)
    ++state;
  else
    node.cached = node.assumed;
}

void Integers::assume(Number number, int64_t low, int64_t high) {
  unsigned width = nodes[number].width;
  auto bound = [&](int64_t value) {
    return APInt(width,
                 std::clamp(value, llvm::minIntN(width), llvm::maxIntN(width)),
                 /*isSigned=*/true);
  };
  narrow(number, ConstantIntRanges::fromSigned(bound(low), bound(high)));
}

static std::optional<llvm::CmpInst::Predicate>
signedPredicate(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return llvm::CmpInst::ICMP_EQ;
  case arith::CmpIPredicate::slt:
    return llvm::CmpInst::ICMP_SLT;
  case arith::CmpIPredicate::sle:
    return llvm::CmpInst::ICMP_SLE;
  case arith::CmpIPredicate::sgt:
    return llvm::CmpInst::ICMP_SGT;
  case arith::CmpIPredicate::sge:
    return llvm::CmpInst::ICMP_SGE;
  default:
    return {};
  }
}

void Integers::assumeCondition(Number number, bool isTrue) {
  assume(number, isTrue ? -1 : 0, isTrue ? -1 : 0);
  auto compare = dyn_cast_or_null<arith::CmpIOp>(nodes[number].op);
  auto predicate =
      compare ? signedPredicate(compare.getPredicate()) : std::nullopt;
  if (!predicate)
    return;
  if (!isTrue)
    predicate = llvm::CmpInst::getInversePredicate(*predicate);
  auto narrowBy = [&](Number narrowed, llvm::CmpInst::Predicate relation,
                      Number other) {
    ConstantIntRanges known = range(other);
    llvm::ConstantRange allowed = llvm::ConstantRange::makeAllowedICmpRegion(
        relation,
        llvm::ConstantRange::getNonEmpty(known.smin(), known.smax() + 1));
    if (!allowed.isEmptySet())
      narrow(narrowed, ConstantIntRanges::fromSigned(allowed.getSignedMin(),
                                                     allowed.getSignedMax()));
  };
  Number lhs = nodes[number].details[0], rhs = nodes[number].details[1];
  narrowBy(lhs, *predicate, rhs);
  narrowBy(rhs, llvm::CmpInst::getSwappedPredicate(*predicate), lhs);
}

void Integers::startPath() {
  ++path;
  ++state;
  contradictory = false;
}

} // namespace selvedge::verify
