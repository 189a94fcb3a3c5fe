// Arguments by name.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_RUNTIME_SRC_FINDLAST_H
#define SELVEDGE_RUNTIME_SRC_FINDLAST_H

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace selvedge::inline runtime {

/// Position of the argument that counts, the last one of the name.
template <typename Ref>
std::optional<size_t> findLast(std::span<const Ref> refs,
                               std::string_view name) {
  for (size_t i = refs.size(); i-- > 0;)
    if (refs[i].name == name)
      return i;
  return std::nullopt;
}

} // namespace selvedge::inline runtime

#endif // SELVEDGE_RUNTIME_SRC_FINDLAST_H
