// strip-discardable-attributes: verifiers read the program, not notes on it.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Passes.h"

#include "mlir/IR/Builders.h"

namespace selvedge::verify {

#define GEN_PASS_DEF_STRIPATTRIBUTES
#include "compiler/Verify/Passes.h.inc"

namespace {

using namespace mlir;

struct StripAttributesPass : impl::StripAttributesBase<StripAttributesPass> {
  void runOnOperation() override {
    DictionaryAttr none = DictionaryAttr::get(&getContext());
    getOperation()->walk([&](Operation *op) { op->setDiscardableAttrs(none); });
  }
};

} // namespace
} // namespace selvedge::verify
