// math-to-nvvm: math functions to NVPTX approximations.
// SPDX-License-Identifier: MIT
#include "compiler/Target/PTX/Passes.h"
#include "compiler/Target/PTX/UniformFactors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

namespace selvedge::ptx {

#define GEN_PASS_DEF_MATHTONVVM
#include "compiler/Target/PTX/Passes.h.inc"

using namespace mlir;

namespace {

constexpr double kLog2E = 1.4426950408889634;
constexpr double kLn2 = 0.6931471805599453;

/// Builds f32 expressions at one place. No operation carries fast-math flags.
class Emitter {
public:
  Emitter(OpBuilder &builder, Location loc) : b(builder), loc(loc) {}

  Value constant(double value) {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value fma(Value x, Value y, Value z) {
    return math::FmaOp::create(b, loc, x, y, z);
  }
  Value call(StringRef intrinsic, ValueRange args) {
    return LLVM::CallIntrinsicOp::create(b, loc, b.getF32Type(),
                                         b.getStringAttr(intrinsic), args)
        .getResults();
  }
  Value exp2(Value x) { return call("llvm.nvvm.ex2.approx.ftz.f32", x); }
  Value exp(Value x) { return exp2(mul(x, constant(kLog2E))); }
  Value log2(Value x) { return call("llvm.nvvm.lg2.approx.f", x); }
  Value log(Value x) { return mul(log2(x), constant(kLn2)); }
  Value rsqrt(Value x) { return call("llvm.nvvm.rsqrt.approx.f", x); }
  Value div(Value x, Value y) { return call("llvm.nvvm.div.full", {x, y}); }

private:
  OpBuilder &b;
  Location loc;
};

} // namespace

/// 1 - 2 / (exp(2 x) + 1): five operations, where a result that is as accurate
/// for small arguments takes eighteen. What loses the leading digits of a small
/// x is at most 2^-21 and so nothing beside a score's weight. Saturation needs
/// no test: exp gives 0 or Inf, 2 / Inf = 0. NaN passes through exp. What x and
/// the result are multiplied by, as in c * tanh(x / c), costs nothing.
static Value emitTanh(math::TanhOp op, Value x, Emitter &emit,
                      UniformFactors &factors) {
  auto [rest, factor] = factors.of(x, 2 * kLog2E);
  Value e = emit.exp2(emit.mul(rest, factor));
  Value q =
      emit.call("llvm.nvvm.rcp.approx.ftz.f", emit.add(e, emit.constant(1)));
  if (auto use = factors.useOf(op.getResult(), -2)) {
    OpBuilder builder(use->product);
    Value scaled = math::FmaOp::create(builder, use->product->getLoc(), q,
                                       use->scaled, use->factor);
    use->product->getResult(0).replaceAllUsesWith(scaled);
    use->product->erase();
  }
  return emit.fma(q, emit.constant(-2), emit.constant(1));
}

/// The f32 expression for `op` with the given f32 operands, or null.
static Value emitFunction(Operation *op, Emitter &emit, ValueRange in,
                          UniformFactors &factors) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<math::ExpOp>([&](auto) { return emit.exp(in[0]); })
      .Case<math::Exp2Op>([&](auto) { return emit.exp2(in[0]); })
      .Case<math::LogOp>([&](auto) { return emit.log(in[0]); })
      .Case<math::Log2Op>([&](auto) { return emit.log2(in[0]); })
      .Case<math::RsqrtOp>([&](auto) { return emit.rsqrt(in[0]); })
      .Case([&](math::TanhOp tanh) {
        return emitTanh(tanh, in[0], emit, factors);
      })
      .Case<arith::DivFOp>([&](auto) { return emit.div(in[0], in[1]); })
      .Default(Value());
}

/// True for functions that PTX has under the upstream lowering.
static bool isNativeFunction(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
             math::CountLeadingZerosOp, math::CountTrailingZerosOp,
             math::CtPopOp, math::FloorOp, math::FmaOp, math::IsFiniteOp,
             math::IsInfOp, math::IsNaNOp, math::RoundEvenOp, math::SqrtOp,
             math::TruncOp>(op);
}

/// `cvt.rzi.s32.f32` saturates and makes 0 of NaN, where LLVM's `fptosi` may do
/// anything.
static LogicalResult lowerToInteger(arith::FPToSIOp op) {
  if (!op.getIn().getType().isF32() || !op.getType().isInteger(32))
    return op.emitOpError("has no NVPTX lowering");
  OpBuilder builder(op);
  auto call = LLVM::CallIntrinsicOp::create(
      builder, op.getLoc(), op.getType(),
      builder.getStringAttr("llvm.nvvm.f2i.rz"), ValueRange{op.getIn()});
  op.replaceAllUsesWith(call->getResult(0));
  op.erase();
  return success();
}

static LogicalResult lowerFunction(Operation *op, UniformFactors &factors) {
  if (auto toInteger = dyn_cast<arith::FPToSIOp>(op))
    return lowerToInteger(toInteger);
  Type type = op->getResult(0).getType();
  if (!type.isF32() && !type.isF16() && !type.isBF16())
    return op->emitOpError("has no NVPTX lowering for type ") << type;
  OpBuilder builder(op);
  SmallVector<Value> operands(op->getOperands());
  if (!type.isF32())
    for (Value &v : operands)
      v = arith::ExtFOp::create(builder, op->getLoc(), builder.getF32Type(), v);
  Emitter emit(builder, op->getLoc());
  Value result = emitFunction(op, emit, operands, factors);
  if (!result)
    return op->emitOpError("has no NVPTX lowering");
  if (!type.isF32())
    result = arith::TruncFOp::create(builder, op->getLoc(), type, result);
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return success();
}

namespace {

struct MathToNVVM : impl::MathToNVVMBase<MathToNVVM> {
  void runOnOperation() override {
    SmallVector<Operation *> worklist;
    getOperation()->walk([&](Operation *op) {
      bool isMath = isa<math::MathDialect>(op->getDialect());
      if ((isMath && !isNativeFunction(op)) || isApproximateDivision(op) ||
          isa<arith::FPToSIOp>(op))
        worklist.push_back(op);
    });
    // Users first: what they have in their factors need not be computed.
    UniformFactors factors;
    for (Operation *op : llvm::reverse(worklist))
      if (isOpTriviallyDead(op))
        op->erase();
      else if (failed(lowerFunction(op, factors)))
        signalPassFailure();
  }
};

} // namespace

} // namespace selvedge::ptx
