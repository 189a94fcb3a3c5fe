// What checks of promises ask about the integers of a tensor.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_RUNTIME_SRC_INTEGERSCAN_H
#define SELVEDGE_RUNTIME_SRC_INTEGERSCAN_H

#include "selvedge/Promises.h"

namespace selvedge::inline runtime {

/// The elements of a tensor that break a promise.
struct Breach {
  int64_t count = 0;
  /// The first one, if there is one.
  int64_t position = 0;
};

/// The integers of a tensor, wherever they are. Positions count in the order of
/// indices.
class IntegerScan {
public:
  virtual ~IntegerScan() = default;

  /// Elements outside lo..hi.
  virtual Result<Breach> outside(int64_t lo, int64_t hi) = 0;
  /// Elements less than the one before.
  virtual Result<Breach> descending() = 0;
  /// Elements that are not negative and equal an earlier one.
  virtual Result<Breach> repeated() = 0;
  /// One element.
  virtual Result<int64_t> at(int64_t position) = 0;
  /// The first position of a value that is there.
  virtual Result<int64_t> find(int64_t value) = 0;
};

/// checkPromises() of what `integers` tells; an error of its own comes first.
Status checkPromises(const Manifest &manifest, const DimValues &dims,
                     size_t tensor, std::span<const int64_t> shape,
                     IntegerScan &integers);

} // namespace selvedge::inline runtime

#endif // SELVEDGE_RUNTIME_SRC_INTEGERSCAN_H
