// Look-ups in a parsed manifest.
// SPDX-License-Identifier: MIT
#include "selvedge/Manifest.h"

#include <algorithm>
#include <fmt/format.h>

namespace selvedge::inline runtime {

namespace {

template <typename Range>
std::optional<size_t> findNamed(const Range &range, std::string_view name) {
  auto it = std::find_if(range.begin(), range.end(),
                         [&](const auto &item) { return item.name == name; });
  if (it == range.end())
    return std::nullopt;
  return static_cast<size_t>(it - range.begin());
}

} // namespace

std::optional<size_t> Manifest::findDim(std::string_view name) const {
  auto it = std::find(dims.begin(), dims.end(), name);
  if (it == dims.end())
    return std::nullopt;
  return static_cast<size_t>(it - dims.begin());
}

std::optional<size_t> Manifest::findTensor(std::string_view name) const {
  return findNamed(tensors, name);
}

std::optional<size_t> Manifest::findScalar(std::string_view name) const {
  return findNamed(scalars, name);
}

bool Manifest::hasParam(std::string_view name) const {
  return std::any_of(params.begin(), params.end(),
                     [&](const auto &param) { return param.first == name; });
}

std::string typeToString(const Manifest &manifest,
                         const ManifestTensor &tensor) {
  std::string text = nameOf(tensor.dtype);
  text += '[';
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    if (i > 0)
      text += ", ";
    if (tensor.mayBroadcast(i))
      text += '~';
    text += tensor.shape[i].toString(manifest.dims);
  }
  return text + ']';
}

} // namespace selvedge::inline runtime
