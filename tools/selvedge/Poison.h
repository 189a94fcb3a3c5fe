// Contents for memory that a kernel must not depend on.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_POISON_H
#define SELVEDGE_TOOLS_SELVEDGE_POISON_H

#include "selvedge/Tensor.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace selvedge::cli {

/// What `--poison` offers.
enum class Poison { None, Nan, Inf, NegInf, Max, Random, Subnormal, Ones };

/// The option's word: "nan".
std::string_view poisonName(Poison poison);

/// Parses the option's value: kinds separated by commas, or "all" for every
/// kind but none.
Result<std::vector<Poison>> parsePoisons(std::string_view text);

/// Fills memory that holds elements of `dtype`: NaN, an infinity, the largest
/// finite value, the largest subnormal, random bytes, or bytes of 0xFF. None
/// means zeros. Integers have -1 for NaN, their limits for infinities and 1 for
/// a subnormal.
void fillPoison(Poison poison, DType dtype, std::span<std::byte> memory);

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_POISON_H
