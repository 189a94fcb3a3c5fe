// Contents of everything that a result must not depend on.
// SPDX-License-Identifier: MIT
#include "compiler/Physical/Poison.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;

namespace selvedge::physical {

llvm::StringRef nameOf(Poison kind) {
  switch (kind) {
  case Poison::None:
    return "none";
  case Poison::Nan:
    return "nan";
  case Poison::Inf:
    return "inf";
  case Poison::NegInf:
    return "ninf";
  case Poison::Max:
    return "max";
  case Poison::Random:
    return "random";
  case Poison::Subnormal:
    return "subnormal";
  }
  llvm_unreachable("all kinds are handled");
}

double PoisonSource::floating(Type type) {
  const reference::Format &format = reference::formatOf(type);
  // e4m3 has no Inf.
  bool hasInf = !isa<Float8E4M3FNType>(type);
  switch (kind) {
  case Poison::None:
    return 0;
  case Poison::Nan:
    return std::numeric_limits<double>::quiet_NaN();
  case Poison::Inf:
    return hasInf ? std::numeric_limits<double>::infinity()
                  : std::numeric_limits<double>::quiet_NaN();
  case Poison::NegInf:
    return hasInf ? -std::numeric_limits<double>::infinity()
                  : std::numeric_limits<double>::quiet_NaN();
  case Poison::Max:
    return format.maxFinite;
  case Poison::Subnormal:
    return 2 * format.subnormal;
  case Poison::Random:
    break;
  }
  // Of any magnitude that leaves products of f16 finite.
  int exponent = static_cast<int>(engine() % 15) - 7;
  double mantissa = 1 + static_cast<double>(engine() >> 12) * 0x1p-52;
  double value = std::ldexp(engine() & 1 ? mantissa : -mantissa, exponent);
  return reference::quantize(value, type);
}

int64_t PoisonSource::integer(Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  uint64_t bits = 0;
  switch (kind) {
  case Poison::None:
    break;
  case Poison::Nan:
    bits = 0x5A5A5A5A5A5A5A5A;
    break;
  case Poison::Inf:
  case Poison::Max:
    bits = llvm::maskTrailingOnes<uint64_t>(width == 1 ? 1 : width - 1);
    break;
  case Poison::NegInf:
    bits = uint64_t(1) << (width - 1);
    break;
  case Poison::Subnormal:
    bits = 1;
    break;
  case Poison::Random:
    bits = engine();
    break;
  }
  return width == 1 ? static_cast<int64_t>(bits & 1)
                    : llvm::SignExtend64(bits, width);
}

std::shared_ptr<reference::TileValue>
PoisonSource::tile(const reference::TileShape &shape, Type elementType) {
  auto result = std::make_shared<reference::TileValue>();
  result->shape = shape;
  result->isFloat = isa<FloatType>(elementType);
  auto fill = [&](auto &lanes, auto next) {
    if (kind != Poison::Random)
      return lanes.assign(shape.lanes(), next());
    lanes.resize(shape.lanes());
    std::generate(lanes.begin(), lanes.end(), next);
  };
  if (result->isFloat)
    fill(result->values, [&] { return floating(elementType); });
  else
    fill(result->ints, [&] { return integer(elementType); });
  return result;
}

} // namespace selvedge::physical
