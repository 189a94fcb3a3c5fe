// Elements of every type as doubles, for files, printing and comparison.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_NUMERIC_H
#define SELVEDGE_NUMERIC_H

#include "selvedge/Tensor.h"

#include <span>

namespace selvedge::inline runtime {

/// Element `index` of a contiguous, possibly unaligned buffer.
double loadElement(DType dtype, const void *data, int64_t index);

/// Stores `value` as element `index`, rounded once to nearest even. Floats
/// overflow to infinity; integers truncate and saturate, NaN becomes 0.
void storeElement(DType dtype, void *data, int64_t index, double value);

/// All elements of a contiguous buffer.
std::vector<double> toDoubles(DType dtype, std::span<const std::byte> data);

/// All elements of a contiguous buffer of integers or bools.
std::vector<int64_t> toIntegers(DType dtype, std::span<const std::byte> data);

/// The contiguous bytes of `values` converted by storeElement().
std::vector<std::byte> fromDoubles(DType dtype, std::span<const double> values);

/// The largest finite value of `dtype`.
double maxFinite(DType dtype);

} // namespace selvedge::inline runtime

#endif // SELVEDGE_NUMERIC_H
