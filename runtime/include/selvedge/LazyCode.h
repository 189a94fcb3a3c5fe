// Code of an op that is made when a launch needs it.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_LAZYCODE_H
#define SELVEDGE_LAZYCODE_H

#include "selvedge/Artifact.h"

#include <cstddef>

namespace selvedge::inline runtime {

/// What LazyCode::compile() gives.
struct VariantCode {
  /// Its manifest may say something else than the one so far, whose place it
  /// takes; what had been compiled by that one is asked for again.
  Artifact artifact;
  /// Whether it holds the code of all variants. Else it has the same ones as
  /// the manifest so far.
  bool isWhole = false;
};

/// The host program of an op, and the code of one variant at a time. A compiler
/// implements it; Op::load() takes it.
class LazyCode {
public:
  LazyCode() = default;
  LazyCode(const LazyCode &) = delete;
  LazyCode &operator=(const LazyCode &) = delete;
  virtual ~LazyCode();

  /// As in an artefact.
  virtual const std::string &manifest() const = 0;
  /// Compiles the variant of that number. Called by one thread at a time.
  virtual Result<VariantCode> compile(size_t variant) = 0;
};

} // namespace selvedge::inline runtime

#endif // SELVEDGE_LAZYCODE_H
