// What an op requires of the integers that it is called with.
// SPDX-License-Identifier: MIT
#include "selvedge/Promises.h"

#include "runtime/src/IntegerScan.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_set>

namespace selvedge::inline runtime {

namespace {

/// Integers in host memory.
class HostIntegers : public IntegerScan {
public:
  explicit HostIntegers(std::span<const int64_t> values) : values(values) {}

  Result<Breach> outside(int64_t lo, int64_t hi) override {
    return breachOf([&](size_t i) { return values[i] < lo || values[i] > hi; });
  }
  Result<Breach> descending() override {
    return breachOf(
        [&](size_t i) { return i > 0 && values[i] < values[i - 1]; });
  }
  Result<Breach> repeated() override {
    std::unordered_set<int64_t> seen;
    return breachOf([&](size_t i) {
      return values[i] >= 0 && !seen.insert(values[i]).second;
    });
  }
  Result<int64_t> at(int64_t position) override {
    return values[static_cast<size_t>(position)];
  }
  Result<int64_t> find(int64_t value) override {
    return std::ranges::find(values, value) - values.begin();
  }

private:
  template <typename Breaks>
  Breach breachOf(Breaks breaks) const {
    Breach breach;
    for (size_t i = 0; i < values.size(); ++i)
      if (breaks(i) && breach.count++ == 0)
        breach.position = static_cast<int64_t>(i);
    return breach;
  }

  std::span<const int64_t> values;
};

/// The promises of one tensor.
class Checker {
public:
  Checker(const std::string &name, std::span<const int64_t> shape,
          IntegerScan &integers)
      : name(name), shape(shape), integers(integers) {}

  Status checkRange(int64_t lo, int64_t hi);
  Status checkOrder();
  Status checkUnique();

private:
  Status error(const Breach &breach, const std::string &why);

  const std::string &name;
  std::span<const int64_t> shape;
  IntegerScan &integers;
};

Status Checker::error(const Breach &breach, const std::string &why) {
  Result<int64_t> value = integers.at(breach.position);
  if (!value.ok())
    return value.status();
  std::string others =
      breach.count > 1 ? fmt::format("; {} elements break this", breach.count)
                       : "";
  return Status::badInput(fmt::format("tensor '{}' at {} is {}, {}{}", name,
                                      indexToString(shape, breach.position),
                                      *value, why, others));
}

Status Checker::checkRange(int64_t lo, int64_t hi) {
  Result<Breach> breach = integers.outside(lo, hi);
  if (!breach.ok() || breach->count == 0)
    return breach.status();
  return error(*breach, fmt::format("outside the required {}..{}", lo, hi));
}

Status Checker::checkOrder() {
  Result<Breach> breach = integers.descending();
  if (!breach.ok() || breach->count == 0)
    return breach.status();
  Result<int64_t> before = integers.at(breach->position - 1);
  if (!before.ok())
    return before.status();
  return error(*breach, fmt::format("less than {} before it; segments are "
                                    "required",
                                    *before));
}

Status Checker::checkUnique() {
  Result<Breach> breach = integers.repeated();
  if (!breach.ok() || breach->count == 0)
    return breach.status();
  Result<int64_t> value = integers.at(breach->position);
  Result<int64_t> twin = value.ok() ? integers.find(*value) : value;
  if (!twin.ok())
    return twin.status();
  return error(*breach, fmt::format("as at {}; unique ones are required",
                                    indexToString(shape, *twin)));
}

} // namespace

bool hasPromises(const Manifest &manifest, size_t tensor) {
  return manifest.tensors[tensor].unique ||
         std::ranges::find(manifest.ranges, tensor, &ManifestRange::tensor) !=
             manifest.ranges.end();
}

Status checkPromises(const Manifest &manifest, const DimValues &dims,
                     size_t tensor, std::span<const int64_t> shape,
                     IntegerScan &integers) {
  const ManifestTensor &declared = manifest.tensors[tensor];
  Checker checker(declared.name, shape, integers);
  if (declared.unique)
    if (Status s = checker.checkUnique(); !s.ok())
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
    if (Status s = checker.checkRange(*lo, *hi); !s.ok())
      return s;
    if (range.ordered)
      if (Status s = checker.checkOrder(); !s.ok())
        return s;
  }
  return Status();
}

Status checkPromises(const Manifest &manifest, const DimValues &dims,
                     size_t tensor, std::span<const int64_t> shape,
                     std::span<const int64_t> values) {
  HostIntegers integers(values);
  return checkPromises(manifest, dims, tensor, shape, integers);
}

} // namespace selvedge::inline runtime
