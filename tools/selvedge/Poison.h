// Contents for memory that a kernel must not depend on.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_POISON_H
#define SELVEDGE_TOOLS_SELVEDGE_POISON_H

#include "selvedge/Tensor.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace selvedge::cli {

/// What `--poison` offers.
enum class Poison { None, Nan, Inf, NegInf, Max, Random, Subnormal };

/// Parses the option's value.
std::optional<Poison> poisonFromName(std::string_view name);

/// Fills memory that holds elements of `dtype`. Integers have neither NaN (-1
/// instead) nor infinities or subnormals (the largest value instead); None
/// means zeros.
void fillPoison(Poison poison, DType dtype, std::span<std::byte> memory);

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_POISON_H
