// Device `ref`: executes an op by the contract, in fp64, with error bounds.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_REFERENCE_REFERENCE_H
#define SELVEDGE_COMPILER_REFERENCE_REFERENCE_H

#include "compiler/Driver/Compiler.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace selvedge {

namespace tile {
class ProgramOp;
} // namespace tile

/// A contiguous tensor on the host, row-major.
struct HostTensor {
  std::string name;
  /// As in docs/manifest.md; empty: whatever the signature says.
  std::string dtype;
  std::vector<int64_t> shape;
  std::vector<double> values;
  /// Per element, how far the value of a correct kernel may be from `values`.
  /// Infinite: any value is accepted. Unused where the value is Inf or NaN and
  /// the bound finite: there the kernel's value must be Inf or NaN too. Empty:
  /// all 0.
  std::vector<double> bounds;
};

/// How the interpreter runs; never changes a result beyond rounding.
struct ReferenceOptions {
  /// Size bound to every block symbol, at most the extent of the kernel range
  /// that uses it.
  int64_t blockSize = 64;
  /// Threads that share a kernel's iterations; 0: one per processor.
  unsigned threads = 0;
  /// Whether inputs that break a promise are refused. Accesses stay inside of
  /// tensors either way.
  bool checkPromises = true;
  /// If not null: receives for every input that was given one byte per element,
  /// 1 where some kernel loaded the element at a present lane. No result
  /// depends on the other elements.
  std::map<std::string, std::vector<uint8_t>> *reads = nullptr;
  /// If not null: receives for every output and temp, but for outputs that are
  /// kept, one byte per element, 1 where the result depends on its out_init: a
  /// kernel loads it, or adds to it, before any stores it; or it is an output's
  /// and none does.
  std::map<std::string, std::vector<uint8_t>> *initial = nullptr;
};

/// Elaborates the request's op and executes it. `inputs` go by name; absent
/// optional tensors are simply missing. `outputs` receives every out and inout
/// tensor: the unrounded fp64 values, and bounds that include the rounding to
/// the output's type. False: `diagnostics` says why.
bool runReference(const CompileRequest &request,
                  const std::map<std::string, int64_t> &dims,
                  const std::map<std::string, double> &scalars,
                  const std::vector<HostTensor> &inputs,
                  std::vector<HostTensor> &outputs, std::string &diagnostics,
                  const ReferenceOptions &options = {});

/// The same for a module that is already built.
bool interpretProgram(tile::ProgramOp program,
                      const std::map<std::string, int64_t> &dims,
                      const std::map<std::string, double> &scalars,
                      const std::vector<HostTensor> &inputs,
                      std::vector<HostTensor> &outputs,
                      std::string &diagnostics,
                      const ReferenceOptions &options = {});

} // namespace selvedge

#endif // SELVEDGE_COMPILER_REFERENCE_REFERENCE_H
