// Conversions between doubles and every element type.
// SPDX-License-Identifier: MIT
#include "selvedge/Numeric.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace selvedge::inline runtime {

namespace {

template <typename T>
T loadAs(const void *data, int64_t index) {
  T value;
  std::memcpy(&value,
              static_cast<const char *>(data) + index * int64_t(sizeof(T)),
              sizeof(T));
  return value;
}

template <typename T>
void storeAs(void *data, int64_t index, T value) {
  std::memcpy(static_cast<char *>(data) + index * int64_t(sizeof(T)), &value,
              sizeof(T));
}

/// e4m3 has no Inf, and one NaN of each sign.
double fromE4M3(uint8_t bits) {
  int exponent = bits >> 3 & 15;
  int mantissa = bits & 7;
  if (exponent == 15 && mantissa == 7)
    return std::numeric_limits<double>::quiet_NaN();
  double magnitude = exponent == 0 ? std::ldexp(mantissa, -9)
                                   : std::ldexp(mantissa + 8, exponent - 10);
  return bits & 0x80 ? -magnitude : magnitude;
}

double fromHalf(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  int mantissa = bits & 1023;
  double magnitude = 0;
  if (exponent == 31)
    magnitude = mantissa ? std::numeric_limits<double>::quiet_NaN()
                         : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    magnitude = std::ldexp(mantissa, -24);
  else
    magnitude = std::ldexp(mantissa + 1024, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/// Rounds once to a 16-bit format with `mantissaBits` stored bits whose
/// smallest normal is 2^minExponent. Going through float would round twice.
uint16_t toSmallFloat(double value, int mantissaBits, int minExponent) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  int exponentMask = (1 << (15 - mantissaBits)) - 1;
  uint16_t infinity = static_cast<uint16_t>(exponentMask << mantissaBits);
  if (std::isnan(value))
    return sign | infinity | static_cast<uint16_t>(1 << (mantissaBits - 1));
  if (std::isinf(value))
    return sign | infinity;
  double magnitude = std::fabs(value);
  if (magnitude == 0)
    return sign;
  int exponent = std::max(std::ilogb(magnitude), minExponent);
  // In units of the last place; nearbyint() rounds to nearest even.
  auto units = static_cast<uint32_t>(
      std::nearbyint(std::ldexp(magnitude, mantissaBits - exponent)));
  // A carry into the exponent, and from subnormal to normal, comes out right
  // because the encoding is monotonic.
  uint32_t bits =
      units + (static_cast<uint32_t>(exponent - minExponent) << mantissaBits);
  return sign | static_cast<uint16_t>(std::min<uint32_t>(bits, infinity));
}

/// Rounds once to a float of 8 bits with `mantissaBits` stored bits; what is
/// too large, and Inf, becomes `beyond`.
uint8_t toByte(double value, int mantissaBits, uint8_t beyond) {
  uint8_t sign = std::signbit(value) ? 0x80 : 0;
  int minExponent = 2 - (1 << (6 - mantissaBits));
  double magnitude = std::fabs(value);
  if (std::isnan(value))
    return sign | 0x7f;
  // Larger than any, and small enough for `ilogb`.
  magnitude = std::min(magnitude, 0x1p20);
  int exponent = magnitude == 0 ? minExponent
                                : std::max(std::ilogb(magnitude), minExponent);
  auto units = static_cast<int>(
      std::nearbyint(std::ldexp(magnitude, mantissaBits - exponent)));
  int bits = units + ((exponent - minExponent) << mantissaBits);
  return sign | static_cast<uint8_t>(std::min<int>(bits, beyond));
}

template <typename T>
T toInteger(double value) {
  if (std::isnan(value))
    return 0;
  // The upper limit of i64 is not a double; compare before converting.
  if (value >= static_cast<double>(std::numeric_limits<T>::max()))
    return std::numeric_limits<T>::max();
  if (value <= static_cast<double>(std::numeric_limits<T>::min()))
    return std::numeric_limits<T>::min();
  return static_cast<T>(value);
}

/// Conversion to float of a finite value beyond its range is undefined.
float toFloat(double value) {
  constexpr double limit = 0x1.ffffffp127; // halfway between max and 2^128
  if (std::fabs(value) >= limit && std::isfinite(value))
    return std::copysign(std::numeric_limits<float>::infinity(),
                         static_cast<float>(std::signbit(value) ? -1 : 1));
  return static_cast<float>(value);
}

} // namespace

double loadElement(DType dtype, const void *data, int64_t index) {
  switch (dtype) {
  case DType::BF16:
    return std::bit_cast<float>(uint32_t(loadAs<uint16_t>(data, index)) << 16);
  case DType::F16:
    return fromHalf(loadAs<uint16_t>(data, index));
  case DType::F32:
    return loadAs<float>(data, index);
  case DType::F64:
    return loadAs<double>(data, index);
  case DType::I32:
    return loadAs<int32_t>(data, index);
  case DType::I64:
    return static_cast<double>(loadAs<int64_t>(data, index));
  case DType::I8:
    return loadAs<int8_t>(data, index);
  case DType::U8:
    return loadAs<uint8_t>(data, index);
  case DType::Bool:
    return loadAs<uint8_t>(data, index) != 0;
  case DType::E4M3:
    return fromE4M3(loadAs<uint8_t>(data, index));
  // The upper byte of an f16.
  case DType::E5M2:
    return fromHalf(static_cast<uint16_t>(loadAs<uint8_t>(data, index) << 8));
  }
  return 0;
}

void storeElement(DType dtype, void *data, int64_t index, double value) {
  switch (dtype) {
  case DType::BF16:
    return storeAs(data, index, toSmallFloat(value, 7, -126));
  case DType::F16:
    return storeAs(data, index, toSmallFloat(value, 10, -14));
  case DType::F32:
    return storeAs(data, index, toFloat(value));
  case DType::F64:
    return storeAs(data, index, value);
  case DType::I32:
    return storeAs(data, index, toInteger<int32_t>(value));
  case DType::I64:
    return storeAs(data, index, toInteger<int64_t>(value));
  case DType::I8:
    return storeAs(data, index, toInteger<int8_t>(value));
  case DType::U8:
    return storeAs(data, index, toInteger<uint8_t>(value));
  case DType::Bool:
    return storeAs<uint8_t>(data, index, value != 0);
  case DType::E4M3:
    return storeAs(data, index, toByte(value, 3, 0x7f));
  case DType::E5M2:
    return storeAs(data, index, toByte(value, 2, 0x7c));
  }
}

std::vector<double> toDoubles(DType dtype, std::span<const std::byte> data) {
  std::vector<double> values(data.size() / static_cast<size_t>(sizeOf(dtype)));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = loadElement(dtype, data.data(), static_cast<int64_t>(i));
  return values;
}

std::vector<int64_t> toIntegers(DType dtype, std::span<const std::byte> data) {
  auto count = static_cast<int64_t>(data.size()) / sizeOf(dtype);
  std::vector<int64_t> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    // A double does not hold all integers of 64 bits.
    values[static_cast<size_t>(i)] =
        dtype == DType::I64
            ? loadAs<int64_t>(data.data(), i)
            : static_cast<int64_t>(loadElement(dtype, data.data(), i));
  return values;
}

std::vector<std::byte> fromDoubles(DType dtype,
                                   std::span<const double> values) {
  std::vector<std::byte> data(values.size() *
                              static_cast<size_t>(sizeOf(dtype)));
  for (size_t i = 0; i < values.size(); ++i)
    storeElement(dtype, data.data(), static_cast<int64_t>(i), values[i]);
  return data;
}

double maxFinite(DType dtype) {
  switch (dtype) {
  case DType::BF16:
    return 0x1.fep127;
  case DType::F16:
    return 65504;
  case DType::F32:
    return std::numeric_limits<float>::max();
  case DType::F64:
    return std::numeric_limits<double>::max();
  case DType::I32:
    return std::numeric_limits<int32_t>::max();
  case DType::I64:
    return static_cast<double>(std::numeric_limits<int64_t>::max());
  case DType::I8:
    return std::numeric_limits<int8_t>::max();
  case DType::U8:
    return std::numeric_limits<uint8_t>::max();
  case DType::Bool:
    return 1;
  case DType::E4M3:
    return 448;
  case DType::E5M2:
    return 57344;
  }
  return 0;
}

} // namespace selvedge::inline runtime
