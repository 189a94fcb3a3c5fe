// The smallest case that still fails.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/CheckShrink.h"

#include "tools/selvedge/Support.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace selvedge::cli {

namespace {

/// A minute of trials is worth it, an hour is not.
constexpr std::chrono::seconds longest(60);

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

class Shrinker {
public:
  Shrinker(CaseOptions options,
           const std::function<bool(const CaseOptions &)> &fails)
      : options(std::move(options)), fails(fails) {}

  CaseOptions run(const std::set<std::string> &free) {
    bool isSmaller = true;
    while (isSmaller && isTime()) {
      isSmaller = shrinkPoison();
      isSmaller |=
          dropEach([](CaseOptions &one) -> auto & { return one.layouts; });
      isSmaller |= dropEach(
          [](CaseOptions &one) -> auto & { return one.problem.plants; });
      isSmaller |= dropEach(
          [](CaseOptions &one) -> auto & { return one.problem.fills; });
      isSmaller |= dropEach(
          [](CaseOptions &one) -> auto & { return one.problem.omitted; });
      isSmaller |= dropScalars(free);
      isSmaller |= shrinkDims();
    }
    return options;
  }

private:
  bool isTime() const {
    return std::chrono::steady_clock::now() - start < longest;
  }

  bool accept(CaseOptions smaller) {
    if (!isTime() || !fails(smaller))
      return false;
    options = std::move(smaller);
    return true;
  }

  bool shrinkPoison() {
    std::vector<std::string> kinds = split(options.poison, ',');
    if (kinds.size() == 1)
      return false;
    for (const std::string &kind : kinds) {
      CaseOptions smaller = options;
      smaller.poison = kind;
      if (accept(std::move(smaller)))
        return true;
    }
    return false;
  }

  /// Leaves out elements of a list one by one.
  template <typename Get>
  bool dropEach(Get get) {
    bool isSmaller = false;
    for (size_t i = get(options).size(); i-- > 0;) {
      CaseOptions smaller = options;
      auto &others = get(smaller);
      others.erase(others.begin() + static_cast<ptrdiff_t>(i));
      isSmaller |= accept(std::move(smaller));
    }
    return isSmaller;
  }

  bool dropScalars(const std::set<std::string> &free) {
    bool isSmaller = false;
    for (size_t i = options.problem.sets.size(); i-- > 0;) {
      if (!free.contains(split(options.problem.sets[i], '=').front()))
        continue;
      CaseOptions smaller = options;
      smaller.problem.sets.erase(smaller.problem.sets.begin() +
                                 static_cast<ptrdiff_t>(i));
      isSmaller |= accept(std::move(smaller));
    }
    return isSmaller;
  }

  bool shrinkDims() {
    bool isSmaller = false;
    auto parsed = parseShapes(options.problem.shapes);
    if (options.problem.shapes.empty() || !parsed.ok())
      return false;
    std::map<std::string, int64_t> dims = std::move(*parsed);
    for (auto &[name, extent] : dims) {
      int64_t whole = extent;
      for (int64_t smaller :
           {int64_t(1), int64_t(2), whole / 2, whole - whole / 4, whole - 1}) {
        if (smaller >= extent || smaller < 1)
          continue;
        int64_t before = std::exchange(extent, smaller);
        if (tryDims(dims, smaller)) {
          isSmaller = true;
          break;
        }
        extent = before;
      }
    }
    return isSmaller;
  }

  /// With values as they are, and with those that exceed the dim cut: lengths.
  bool tryDims(const std::map<std::string, int64_t> &dims, int64_t limit) {
    std::vector<std::string> extents;
    for (const auto &[name, extent] : dims)
      extents.push_back(fmt::format("{}={}", name, extent));
    CaseOptions smaller = options;
    smaller.problem.shapes = {fmt::format("{}", fmt::join(extents, ","))};
    if (accept(smaller))
      return true;
    for (std::string &fill : smaller.problem.fills)
      fill = cutValues(fill, limit);
    return smaller.problem.fills != options.problem.fills &&
           accept(std::move(smaller));
  }

  /// Integers of NAME=V,V,... that are above a limit become the limit.
  static std::string cutValues(const std::string &fill, int64_t limit) {
    size_t equals = fill.find('=');
    std::vector<std::string> values = split(fill.substr(equals + 1), ',');
    for (std::string &value : values) {
      int64_t number = 0;
      const char *end = value.data() + value.size();
      auto [stop, error] = std::from_chars(value.data(), end, number);
      if (error == std::errc() && stop == end && number > limit)
        value = fmt::format("{}", limit);
    }
    return fmt::format("{}={}", fill.substr(0, equals), fmt::join(values, ","));
  }

  CaseOptions options;
  const std::function<bool(const CaseOptions &)> &fails;
  const std::chrono::steady_clock::time_point start =
      std::chrono::steady_clock::now();
};

} // namespace

CaseOptions shrink(CaseOptions options, const std::set<std::string> &free,
                   const std::function<bool(const CaseOptions &)> &fails) {
  return Shrinker(std::move(options), fails).run(free);
}

} // namespace selvedge::cli
