// Factors that are the same in all threads and steps of a kernel.
// SPDX-License-Identifier: MIT
#include "compiler/Target/PTX/UniformFactors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

namespace selvedge::ptx {

using namespace mlir;

bool isApproximateDivision(Operation *op) {
  auto div = dyn_cast<arith::DivFOp>(op);
  if (!div)
    return false;
  arith::FastMathFlags flags = div.getFastmath();
  return arith::bitEnumContainsAny(flags, arith::FastMathFlags::arcp |
                                              arith::FastMathFlags::afn);
}

/// The value of a constant by which one can multiply and divide.
static std::optional<double> constantOf(Value v) {
  APFloat value(0.0f);
  if (!v.getType().isF32() || !matchPattern(v, m_ConstantFloat(&value)) ||
      !value.isNormal())
    return std::nullopt;
  return value.convertToFloat();
}

static bool isUniform(Value v) {
  auto argument = dyn_cast<BlockArgument>(v);
  bool isOfKernel =
      argument && isa<LLVM::LLVMFuncOp>(argument.getOwner()->getParentOp());
  return (isOfKernel && v.getType().isF32()) || constantOf(v);
}

/// The uniform operand of a product or an approximate quotient, and the other.
static std::optional<std::pair<Value, Value>> uniformOperand(Operation *op) {
  bool isProduct = isa<arith::MulFOp>(op);
  if (!isProduct && !isApproximateDivision(op))
    return std::nullopt;
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  if (isUniform(rhs))
    return std::pair{rhs, lhs};
  if (isProduct && isUniform(lhs))
    return std::pair{lhs, rhs};
  return std::nullopt;
}

UniformFactors::Product UniformFactors::of(Value x, double constant) {
  SmallVector<Factor> factors;
  Value rest = x;
  while (Operation *def = rest.getDefiningOp()) {
    auto operands = uniformOperand(def);
    if (!operands)
      break;
    bool divides = isa<arith::DivFOp>(def);
    if (std::optional<double> value = constantOf(operands->first))
      constant = divides ? constant / *value : constant * *value;
    else
      factors.push_back({operands->first, divides});
    rest = operands->second;
  }
  return {rest, compute(x.getParentRegion(), constant, factors)};
}

std::optional<UniformFactors::Use> UniformFactors::useOf(Value x,
                                                         double constant) {
  auto product = x.hasOneUse() ? dyn_cast<arith::MulFOp>(*x.user_begin())
                               : arith::MulFOp();
  auto operands = product ? uniformOperand(product) : std::nullopt;
  if (!operands || operands->second != x)
    return std::nullopt;
  Value factor = operands->first;
  if (std::optional<double> value = constantOf(factor))
    return Use{product, factor,
               compute(x.getParentRegion(), constant * *value, {})};
  return Use{product, factor,
             compute(x.getParentRegion(), constant, {{factor, false}})};
}

Value UniformFactors::compute(Region *in, double constant,
                              ArrayRef<Factor> factors) {
  auto kernel = in->getParentOfType<LLVM::LLVMFuncOp>();
  std::vector<std::pair<const void *, bool>> key;
  for (auto [value, divides] : factors)
    key.push_back({value.getAsOpaquePointer(), divides});
  Value &result = computed[{kernel.getAsOpaquePointer(), constant, key}];
  if (result)
    return result;
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  Location loc = kernel.getLoc();
  result = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(constant));
  for (auto [value, divides] : factors)
    result = divides ? LLVM::CallIntrinsicOp::create(
                           b, loc, b.getF32Type(),
                           b.getStringAttr("llvm.nvvm.div.full"),
                           ValueRange{result, value})
                           .getResults()
                     : arith::MulFOp::create(b, loc, result, value).getResult();
  return result;
}

} // namespace selvedge::ptx
