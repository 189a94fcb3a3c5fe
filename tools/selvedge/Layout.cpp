// How `run` lays tensors out in device memory.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/Layout.h"

#include "tools/selvedge/Suggest.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <optional>

namespace selvedge::cli {

namespace {

/// Elements between two rows of a padded tensor.
constexpr int64_t padding = 8;

/// In the order of the enumeration.
constexpr std::string_view kindNames[] = {
    "contiguous", "padded", "transposed", "permuted", "unaligned", "broadcast"};

std::optional<LayoutKind> kindFromName(std::string_view name) {
  const auto *known =
      std::find(std::begin(kindNames), std::end(kindNames), name);
  if (known == std::end(kindNames))
    return std::nullopt;
  return static_cast<LayoutKind>(known - std::begin(kindNames));
}

/// Dimensions that a tensor needs to have this layout.
size_t neededRank(LayoutKind kind) {
  switch (kind) {
  case LayoutKind::Contiguous:
  case LayoutKind::Unaligned:
    return 0;
  case LayoutKind::Broadcast:
    return 1;
  case LayoutKind::Padded:
  case LayoutKind::Transposed:
    return 2;
  case LayoutKind::Permuted:
    return 3;
  }
  return 0;
}

/// Why a tensor cannot have this layout; empty if it can.
std::string obstacle(LayoutKind kind, const ManifestTensor &tensor) {
  if (kind == LayoutKind::Broadcast && tensor.role != Role::In)
    return "is for inputs";
  if (kind == LayoutKind::Broadcast && tensor.unique)
    return "makes elements equal that the op requires to be unique";
  if (tensor.shape.size() < neededRank(kind))
    return fmt::format("needs rank {}, but the tensor has rank {}",
                       neededRank(kind), tensor.shape.size());
  return "";
}

/// Strides of a tensor whose dimensions follow each other in memory in
/// `order`, slowest first.
std::vector<int64_t> stridesInOrder(const std::vector<int64_t> &shape,
                                    const std::vector<size_t> &order) {
  std::vector<int64_t> permuted;
  for (size_t dim : order)
    permuted.push_back(shape[dim]);
  std::vector<int64_t> packed = contiguousStrides(permuted);
  std::vector<int64_t> strides(shape.size());
  for (size_t i = 0; i < order.size(); ++i)
    strides[order[i]] = packed[i];
  return strides;
}

/// The layout of a tensor whose dimensions that a caller may broadcast have one
/// element in memory.
Layout broadcastLayout(const std::vector<int64_t> &shape,
                       const std::vector<bool> &broadcasts) {
  Layout layout{shape, {}, shape};
  for (size_t d = 0; d < shape.size(); ++d)
    if (broadcasts[d] && shape[d] > 1)
      layout.given[d] = 1;
  layout.strides = contiguousStrides(layout.given);
  for (size_t d = 0; d < shape.size(); ++d)
    if (layout.given[d] != shape[d])
      layout.strides[d] = 0;
  return layout;
}

std::vector<int64_t> stridesOf(LayoutKind kind,
                               const std::vector<int64_t> &shape) {
  size_t rank = shape.size();
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t(0));
  std::vector<int64_t> stored = shape;
  switch (kind) {
  case LayoutKind::Contiguous:
  case LayoutKind::Unaligned:
    break;
  case LayoutKind::Padded:
    stored.back() += padding;
    break;
  case LayoutKind::Transposed:
    std::swap(order[rank - 1], order[rank - 2]);
    break;
  case LayoutKind::Permuted:
    std::swap(order[rank - 2], order[rank - 3]);
    break;
  case LayoutKind::Broadcast: {
    auto wide = std::ranges::find_if(stored, [](int64_t n) { return n > 1; });
    if (wide == stored.end())
      break;
    *wide = 1;
    std::vector<int64_t> strides = contiguousStrides(stored);
    strides[static_cast<size_t>(wide - stored.begin())] = 0;
    return strides;
  }
  }
  return stridesInOrder(stored, order);
}

/// What a caller gives.
std::vector<std::string> namesOf(const Manifest &signature) {
  std::vector<std::string> names;
  for (const ManifestTensor &tensor : signature.tensors)
    if (tensor.role != Role::Temp)
      names.push_back(tensor.name);
  return names;
}

} // namespace

std::vector<int64_t> Layout::places() const {
  auto count = std::accumulate(shape.begin(), shape.end(), int64_t(1),
                               std::multiplies<>());
  std::vector<int64_t> result(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    int64_t place = offset;
    int64_t rest = i;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d])
      place += rest % shape[d] * strides[d];
    result[static_cast<size_t>(i)] = place;
  }
  return result;
}

Layout makeLayout(LayoutKind kind, const std::vector<int64_t> &shape,
                  const std::vector<bool> &broadcasts) {
  Layout layout = kind == LayoutKind::Broadcast && !broadcasts.empty()
                      ? broadcastLayout(shape, broadcasts)
                      : Layout{shape, stridesOf(kind, shape), shape};
  layout.offset = kind == LayoutKind::Unaligned ? 1 : 0;
  layout.box = layout.offset;
  if (std::ranges::find(shape, 0) != shape.end())
    return layout;
  ++layout.box;
  for (size_t d = 0; d < shape.size(); ++d)
    layout.box += (shape[d] - 1) * layout.strides[d];
  return layout;
}

Result<std::map<std::string, LayoutKind>>
parseLayouts(const std::vector<std::string> &texts, const Manifest &signature) {
  std::map<std::string, LayoutKind> layouts;
  for (const std::string &text : texts) {
    size_t equals = text.find('=');
    bool forAll = equals == std::string::npos;
    std::string name = forAll ? "" : text.substr(0, equals);
    std::string kindText = forAll ? text : text.substr(equals + 1);
    std::optional<LayoutKind> kind = kindFromName(kindText);
    if (!kind)
      return Status::badInput(fmt::format(
          "--layout '{}' is unknown: expected {}{}", kindText,
          fmt::join(kindNames, ", "),
          didYouMean(kindText, {std::begin(kindNames), std::end(kindNames)})));
    bool found = false;
    for (const ManifestTensor &tensor : signature.tensors) {
      if (tensor.role == Role::Temp || (!forAll && tensor.name != name))
        continue;
      found = true;
      std::string reason = obstacle(*kind, tensor);
      if (reason.empty())
        layouts[tensor.name] = *kind;
      else if (!forAll)
        return Status::badInput(
            fmt::format("--layout {}: {} {}", text, kindText, reason));
    }
    if (!found && !forAll)
      return Status::badInput(
          fmt::format("--layout: op '{}' has no tensor '{}'{}", signature.op,
                      name, didYouMean(name, namesOf(signature))));
  }
  return layouts;
}

} // namespace selvedge::cli
