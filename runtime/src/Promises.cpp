// What an op requires of the integers that it is called with.
// SPDX-License-Identifier: MIT
#include "selvedge/Promises.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>

namespace selvedge::inline runtime {

namespace {

/// The elements of one tensor that break one promise.
struct Breach {
  int64_t count = 0;
  /// The first one.
  int64_t position = 0;

  void add(int64_t at) {
    if (count++ == 0)
      position = at;
  }
};

/// The integers of one tensor, and who they are in errors.
struct Integers {
  const std::string &name;
  std::span<const int64_t> shape;
  std::span<const int64_t> values;

  auto size() const { return static_cast<int64_t>(values.size()); }
  int64_t at(int64_t position) const {
    return values[static_cast<size_t>(position)];
  }
  Status error(const Breach &breach, const std::string &why) const {
    std::string others =
        breach.count > 1 ? fmt::format("; {} elements break this", breach.count)
                         : "";
    return Status::badInput(fmt::format("tensor '{}' at {} is {}, {}{}", name,
                                        indexToString(shape, breach.position),
                                        at(breach.position), why, others));
  }
};

Status checkRange(const Integers &integers, int64_t lo, int64_t hi) {
  Breach breach;
  for (int64_t i = 0; i < integers.size(); ++i)
    if (integers.at(i) < lo || integers.at(i) > hi)
      breach.add(i);
  return breach.count == 0
             ? Status()
             : integers.error(
                   breach, fmt::format("outside the required {}..{}", lo, hi));
}

Status checkOrder(const Integers &integers) {
  Breach breach;
  for (int64_t i = 1; i < integers.size(); ++i)
    if (integers.at(i) < integers.at(i - 1))
      breach.add(i);
  return breach.count == 0
             ? Status()
             : integers.error(
                   breach,
                   fmt::format("less than {} before it; segments are required",
                               integers.at(breach.position - 1)));
}

Status checkUnique(const Integers &integers) {
  std::unordered_map<int64_t, int64_t> places;
  Breach breach;
  for (int64_t i = 0; i < integers.size(); ++i)
    if (integers.at(i) >= 0 && !places.try_emplace(integers.at(i), i).second)
      breach.add(i);
  return breach.count == 0
             ? Status()
             : integers.error(
                   breach,
                   fmt::format(
                       "as at {}; unique ones are required",
                       indexToString(integers.shape,
                                     places[integers.at(breach.position)])));
}

} // namespace

bool hasPromises(const Manifest &manifest, size_t tensor) {
  return manifest.tensors[tensor].unique ||
         std::ranges::find(manifest.ranges, tensor, &ManifestRange::tensor) !=
             manifest.ranges.end();
}

Status checkPromises(const Manifest &manifest, const DimValues &dims,
                     size_t tensor, std::span<const int64_t> shape,
                     std::span<const int64_t> values) {
  const ManifestTensor &declared = manifest.tensors[tensor];
  Integers integers{declared.name, shape, values};
  if (declared.unique)
    if (Status s = checkUnique(integers); !s.ok())
      return s;
  for (const ManifestRange &range : manifest.ranges) {
    if (range.tensor != tensor)
      continue;
    Result<int64_t> lo = range.lo.evaluate(dims, manifest.dims);
    Result<int64_t> hi = range.hi.evaluate(dims, manifest.dims);
    if (!lo.ok() || !hi.ok())
      return Status::badInput(
          fmt::format("requires of tensor '{}': {}", declared.name,
                      (lo.ok() ? hi : lo).status().message()));
    if (Status s = checkRange(integers, *lo, *hi); !s.ok())
      return s;
    if (range.ordered)
      if (Status s = checkOrder(integers); !s.ok())
        return s;
  }
  return Status();
}

} // namespace selvedge::inline runtime
