// Physical execution: every lane exists, and what no one may read is poison.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_PHYSICAL_PHYSICAL_H
#define SELVEDGE_COMPILER_PHYSICAL_PHYSICAL_H

#include "compiler/Physical/Poison.h"
#include "compiler/Reference/Reference.h"

#include "mlir/IR/BuiltinOps.h"

namespace selvedge::physical {

/// By tensor, per element whether it is inside of what results may depend on.
using Footprint = std::map<std::string, std::vector<uint8_t>>;

/// How a module is executed.
struct Options {
  Poison poison = Poison::Nan;
  uint64_t seed = 0;
  /// Variant of an `sm.plan`; empty: the first that suits contiguous tensors.
  std::string variant;
  /// Elements of inputs that keep their values, all others hold poison; null:
  /// all keep them. ReferenceOptions::loaded records one.
  const Footprint *inside = nullptr;
  /// Receives, of an `sm.plan`, the elements that kernels which initialise
  /// outputs and temps store; null: nobody asks.
  Footprint *initialised = nullptr;
};

/// Executes a module as hardware would: one `tile.program` whose sizes are
/// bound and whose softmax is expanded, or one `sm.plan` with its kernels in
/// form `seq` or `async`, with roles or without. Padding lanes, buffers and
/// outputs start as poison; sinks other than stores ignore their presence, as
/// lowerings do; floats are rounded to their types. An access of a lane outside
/// its tensor's shape is an error. The op's promises are not checked. Outputs
/// have no bounds. False: `diagnostics` says why.
bool run(mlir::ModuleOp module, const std::map<std::string, int64_t> &dims,
         const std::map<std::string, double> &scalars,
         const std::vector<HostTensor> &inputs,
         std::vector<HostTensor> &outputs, std::string &diagnostics,
         const Options &options = {});

/// The same for a module as text.
bool runText(const std::string &text,
             const std::map<std::string, int64_t> &dims,
             const std::map<std::string, double> &scalars,
             const std::vector<HostTensor> &inputs,
             std::vector<HostTensor> &outputs, std::string &diagnostics,
             const Options &options = {});

} // namespace selvedge::physical

#endif // SELVEDGE_COMPILER_PHYSICAL_PHYSICAL_H
