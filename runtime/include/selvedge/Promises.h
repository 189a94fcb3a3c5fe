// What an op requires of the integers that it is called with.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_PROMISES_H
#define SELVEDGE_PROMISES_H

#include "selvedge/Manifest.h"

#include <span>

namespace selvedge::inline runtime {

/// Whether the op requires anything of the values of a tensor, by its position.
bool hasPromises(const Manifest &manifest, size_t tensor);

/// Checks all that the op requires of a tensor: ranges, segments, unique ones.
/// `values` are its elements in the order of their indices. The error names the
/// tensor, the first element that breaks a promise, and how many do.
Status checkPromises(const Manifest &manifest, const DimValues &dims,
                     size_t tensor, std::span<const int64_t> shape,
                     std::span<const int64_t> values);

} // namespace selvedge::inline runtime

#endif // SELVEDGE_PROMISES_H
