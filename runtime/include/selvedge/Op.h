// A compiled op on a GPU.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_OP_H
#define SELVEDGE_OP_H

#include "selvedge/Artifact.h"
#include "selvedge/Device.h"
#include "selvedge/LaunchView.h"
#include "selvedge/LazyCode.h"

#include <memory>
#include <optional>

namespace selvedge::inline runtime {

/// How an artefact's code gets onto a GPU.
enum class LoadPath {
  /// The cubin fits the GPU.
  Cubin,
  /// The GPU is newer: the PTX is assembled for it.
  Ptx
};

/// How code for `arch` ("sm_80", "sm_90a") runs on a GPU of compute
/// capability `major`.`minor`; Unavailable when it cannot.
Result<LoadPath> chooseLoadPath(const std::string &arch, int major, int minor);

/// What a launch does besides launching.
struct LaunchOptions {
  /// Checks what the op requires of integers first, and launches nothing where
  /// that does not hold. Copies them to the host and waits for the stream, so
  /// it is an error where that is captured.
  bool validate = false;
};

/// An op, loaded on one device. Thread safe.
class Op {
public:
  /// Loads the code of an artefact. Where the PTX has to be assembled, ptxas is
  /// used if present, otherwise the driver's compiler.
  static Result<Op> load(const Artifact &artifact, const Device &device);

  /// The same of code that is made when a launch needs it: each variant by the
  /// first launch that takes it, which waits.
  static Result<Op> load(std::shared_ptr<LazyCode> code, const Device &device);

  /// The op's signature and program; of LazyCode its present one. Lives as long
  /// as the op.
  const Manifest &manifest() const;
  /// "cubin", "ptx assembled by ptxas" or "ptx assembled by the driver"; of
  /// LazyCode "made when a launch needs it".
  const std::string &origin() const;

  /// Bytes of workspace that launch() needs for these shapes.
  Result<uint64_t> workspaceSize(const LaunchArgs &args) const;
  Result<uint64_t> workspaceSize(const LaunchView &view) const;

  /// Does all that the first launch with such arguments would do before it
  /// launches: checks them, compiles where the op has LazyCode, and loads. Not
  /// while a stream of the context is captured.
  Status prepare(const LaunchArgs &args) const;
  Status prepare(const LaunchView &view) const;

  /// Checks the arguments and launches on `stream` (a CUstream; null: the
  /// default stream). Allocates no device memory and does not wait, unless
  /// `options` ask for it. What was found out about the last types, shapes,
  /// strides and alignments is remembered: such launches allocate no host
  /// memory either.
  Status launch(const LaunchArgs &args, void *stream = nullptr,
                const LaunchOptions &options = {}) const;

  /// The same for arguments in the caller's memory.
  Status launch(const LaunchView &view, void *stream = nullptr,
                const LaunchOptions &options = {}) const;

  /// What LaunchOptions::validate does before it launches: the error names the
  /// tensor, the first element that breaks a promise, and how many do.
  Status validate(const LaunchView &view, void *stream = nullptr) const;

private:
  struct Impl;
  explicit Op(std::shared_ptr<Impl> impl) : impl(std::move(impl)) {}
  std::shared_ptr<Impl> impl;
};

} // namespace selvedge::inline runtime

#endif // SELVEDGE_OP_H
