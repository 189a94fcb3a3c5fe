// Scalar integers of a kernel on one control path.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Integers.h"

#include "llvm/Support/MathExtras.h"

namespace selvedge::verify {

using namespace mlir;

Integers::Number Integers::add(Key key, Node node) {
  auto [at, isNew] = numbers.try_emplace(std::move(key), nodes.size());
  if (isNew)
    nodes.push_back(std::move(node));
  return at->second;
}

Integers::Number Integers::constant(Type type, int64_t value) {
  Node node;
  node.width = ConstantIntRanges::getStorageBitwidth(type);
  node.isConstant = true;
  APInt bits(node.width, value, /*isSigned=*/true, /*implicitTrunc=*/true);
  node.cached = ConstantIntRanges::constant(bits);
  return add(
      {nullptr, nullptr, type.getAsOpaquePointer(), 0, {bits.getZExtValue()}},
      std::move(node));
}

Integers::Number Integers::expression(Operation *op, unsigned result,
                                      ArrayRef<Number> operands) {
  Node node;
  Type type = op->getResult(result).getType();
  node.op = isa<InferIntRangeInterface>(op) ? op : nullptr;
  node.result = result;
  node.operands.assign(operands.begin(), operands.end());
  node.width = ConstantIntRanges::getStorageBitwidth(type);
  bool isConstant = node.op && llvm::all_of(operands, [&](Number operand) {
                      return nodes[operand].isConstant;
                    });
  if (isConstant)
    if (std::optional<APInt> value = infer(node).getConstantValue())
      return constant(type, value->getSExtValue());
  auto [dictionary, isNew] = attributes.try_emplace(op);
  if (isNew)
    dictionary->second = op->getAttrDictionary();
  return add({op->getName().getAsOpaquePointer(),
              dictionary->second.getAsOpaquePointer(),
              type.getAsOpaquePointer(), result,
              llvm::SmallVector<uint64_t, 2>(operands.begin(), operands.end())},
             std::move(node));
}

Integers::Number Integers::unknown(Type type, const void *key,
                                   ArrayRef<uint64_t> details) {
  Node node;
  node.width = ConstantIntRanges::getStorageBitwidth(type);
  return add({key, nullptr, type.getAsOpaquePointer(), 0,
              llvm::SmallVector<uint64_t, 2>(details)},
             std::move(node));
}

ConstantIntRanges Integers::infer(const Node &node) {
  ConstantIntRanges result = ConstantIntRanges::maxRange(node.width);
  if (!node.op)
    return result;
  SmallVector<ConstantIntRanges> operands;
  for (Number operand : node.operands)
    operands.push_back(range(operand));
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
    result = both.smin().sgt(both.smax()) ? *node.assumed : both;
  }
  node.cached = result;
  node.cachedIn = state;
  return result;
}

std::optional<int64_t> Integers::known(Number number) {
  std::optional<APInt> value = range(number).getConstantValue();
  return value ? std::optional(value->getSExtValue()) : std::nullopt;
}

void Integers::assume(Number number, int64_t low, int64_t high) {
  if (nodes[number].isConstant)
    return;
  unsigned width = nodes[number].width;
  auto bound = [&](int64_t value) {
    return APInt(width,
                 std::clamp(value, llvm::minIntN(width), llvm::maxIntN(width)),
                 /*isSigned=*/true);
  };
  ConstantIntRanges assumed =
      ConstantIntRanges::fromSigned(bound(low), bound(high))
          .intersection(range(number));
  nodes[number].assumed = assumed;
  nodes[number].assumedIn = path;
  ++state;
}

void Integers::startPath() {
  ++path;
  ++state;
}

} // namespace selvedge::verify
