// verify-sm-alignment: wide accesses are aligned where their variant is taken.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/LayoutCoverage.h"
#include "compiler/Verify/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace selvedge::verify {

#define GEN_PASS_DEF_VERIFYSMALIGNMENT
#include "compiler/Verify/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

/// What bulk copies and tensor maps move at once.
constexpr int64_t bulkBytes = 16;

/// Checks a kernel as one launch of a variant runs it. The variant's `when`, or
/// what of it the launch has of its own, makes the base and all strides but the
/// last multiples of `align` bytes, and the last stride 1; so an element is
/// aligned as its last index is. (Of a dimension of one element the only index
/// is 0, whatever its stride.)
class Verifier {
public:
  Verifier(VariantOp variant, LaunchOp launch, KernelOp kernel)
      : variant(variant), launch(launch), kernel(kernel) {}

  LogicalResult run() {
    // Else an argument would be another tensor's pointer or stride.
    if (launch.getArgs() != launchArgs(kernel))
      return launch.emitOpError("expects the arguments of its kernel, ")
             << launchArgs(kernel);
    // Who takes the variant as a whole looks at its own conditions alone.
    for (Attribute tensor : conditions())
      if (!llvm::is_contained(variant.getWhen(), tensor))
        return launch.emitOpError("expects conditions of its variant, ")
               << variant.getWhen() << ", but got " << tensor;
    if (failed(checkStrides()))
      return failure();
    for (auto map : kernel.getArgs().getAsRange<Attribute>())
      if (auto attr = dyn_cast<TensorMapArgAttr>(map))
        if (failed(checkGuard(launch, attr.getTensor(), bulkBytes)))
          return failure();
    return failure(
        kernel.walk([&](Operation *op) { return WalkResult(check(op)); })
            .wasInterrupted());
  }

private:
  /// Addresses are made with them, whatever the launch passes.
  LogicalResult checkStrides() {
    for (auto tensor : variant->getParentOfType<PlanOp>()
                           .getTensors()
                           .getAsRange<tile::TensorArgAttr>())
      for (Attribute arg : kernel.getArgs())
        if (auto pointer = dyn_cast<PointerArgAttr>(arg);
            pointer && pointer.getTensor() == tensor.getName() &&
            !pointer.getStrides().empty() &&
            pointer.getStrides() != ArrayRef(knownStrides(tensor)))
          return launch.emitOpError("expects strides that follow from ")
                 << tensor << ", but got " << pointer;
    return success();
  }

  LogicalResult check(Operation *op) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<LoadOp, StoreOp, CopyOp, CopyAsyncOp>([&](auto access) {
          int64_t vector = access.getVector();
          if (vector == 1)
            return success();
          return success(
              succeeded(checkVector(access, access.getIndices(), vector)) &&
              succeeded(checkTensor(access, access.getTensor(),
                                    vector * bytesOf(access.getTensor()))));
        })
        .Case<BulkLoadOp, BulkReduceOp>([&](auto access) {
          return success(
              succeeded(checkStart(access, access.getIndices(),
                                   bytesOf(access.getTensor()))) &&
              succeeded(checkTensor(access, access.getTensor(), bulkBytes)));
        })
        .Case([&](TmaLoadOp load) {
          // With a lead it begins at the last multiple of it.
          int64_t bytes = bytesOf(load.getMap().getType().getElementType()),
                  lead = load.getBuffer().getType().getLead();
          return lead > 0 && lead * bytes % bulkBytes == 0
                     ? success()
                     : checkStart(load, load.getIndices(), bytes);
        })
        .Case([&](TmaStoreOp store) {
          return checkStart(store, store.getIndices(),
                            bytesOf(store.getMap().getType().getElementType()));
        })
        .Default([](Operation *) { return success(); });
  }

  /// What is known wherever the kernel is launched.
  ArrayAttr conditions() {
    return launch.getWhen().value_or(variant.getWhen());
  }

  static int64_t bytesOf(Type element) {
    return std::max(8u, element.getIntOrFloatBitWidth()) / 8;
  }

  static int64_t bytesOf(Value tensor) {
    return bytesOf(cast<tile::GlobalType>(tensor.getType()).getElementType());
  }

  /// Of a row that is contiguous in memory, of elements of so many bytes.
  static LogicalResult checkStart(Operation *op, ValueRange indices,
                                  int64_t bytes) {
    if (isMultipleOf(indices.back(), bulkBytes / bytes))
      return success();
    return op->emitOpError("expects a last index that is a multiple of ")
           << bulkBytes / bytes << ": bulk copies begin at whole words of "
           << bulkBytes << " bytes";
  }

  LogicalResult checkTensor(Operation *op, Value handle, int64_t bytes) {
    auto argument = dyn_cast<BlockArgument>(handle);
    auto pointer = argument && argument.getOwner() == &kernel.getBody().front()
                       ? dyn_cast<PointerArgAttr>(
                             kernel.getArgs()[argument.getArgNumber()])
                       : PointerArgAttr();
    if (!pointer)
      return op->emitOpError("expects a tensor of the kernel's arguments");
    return checkGuard(op, pointer.getTensor(), bytes);
  }

  /// Accesses of `bytes` to `tensor` are aligned wherever the variant is taken.
  LogicalResult checkGuard(Operation *op, StringAttr tensor, int64_t bytes) {
    auto explain = [&](InFlightDiagnostic diag) -> LogicalResult {
      diag.attachNote(variant.getLoc())
          << "variant \"" << variant.getName() << "\" launches the kernel";
      return diag;
    };
    if (!llvm::is_contained(conditions(), tensor))
      return explain(op->emitOpError("accesses ")
                     << tensor << " by " << bytes << " bytes, so it expects a "
                     << (launch.getWhen() ? "launch" : "variant")
                     << " with that tensor in 'when', but found "
                     << conditions());
    if (static_cast<int64_t>(variant.getAlign()) % bytes != 0 ||
        variant.getAlign() == 0)
      return explain(op->emitOpError("accesses ")
                     << tensor << " by " << bytes
                     << " bytes, so it expects a variant whose 'align' is a "
                        "multiple of that, but found "
                     << variant.getAlign());
    return success();
  }

  VariantOp variant;
  LaunchOp launch;
  KernelOp kernel;
};

struct VerifySmAlignmentPass
    : impl::VerifySmAlignmentBase<VerifySmAlignmentPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    SymbolTable symbols(getOperation());
    WalkResult result = getOperation().walk([&](LaunchOp launch) {
      auto variant = launch->getParentOfType<VariantOp>();
      auto kernel = symbols.lookup<KernelOp>(launch.getKernel());
      if (!kernel) {
        launch.emitOpError("expects a kernel of this module, but got '")
            << launch.getKernel() << "'";
        return WalkResult::interrupt();
      }
      return WalkResult(Verifier(variant, launch, kernel).run());
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
} // namespace selvedge::verify
