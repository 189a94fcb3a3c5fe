// Arithmetic of integers, bits and conditions on 32 lanes.
// SPDX-License-Identifier: MIT
#include "compiler/Sim/Block.h"

#include <type_traits>

namespace selvedge::sim {

namespace {

/// dst = f(a, b) in the lanes given.
template <typename D, typename S, typename F>
void map(D *__restrict dst, const S *__restrict a, const S *__restrict b,
         uint32_t lanes, F f) {
  if (lanes == allLanes) {
    for (unsigned lane = 0; lane < warpLanes; ++lane)
      dst[lane] = f(a[lane], b[lane]);
    return;
  }
  forLanes(lanes, [&](unsigned lane) { dst[lane] = f(a[lane], b[lane]); });
}

template <typename S>
S ceilDiv(S x, S y) {
  S q = x / y;
  return q + ((x % y != 0 && (x % y > 0) == (y > 0)) ? 1 : 0);
}

template <typename S>
S floorDiv(S x, S y) {
  S q = x / y;
  return q - ((x % y != 0 && (x % y > 0) != (y > 0)) ? 1 : 0);
}

template <typename U>
void binary(Int kind, U *dst, const U *a, const U *b, uint32_t lanes) {
  using S = std::make_signed_t<U>;
  constexpr U bits = sizeof(U) * 8;
  auto signedly = [&](auto f) {
    map(dst, a, b, lanes, [&](U x, U y) {
      return static_cast<U>(f(static_cast<S>(x), static_cast<S>(y)));
    });
  };
  // Who divides by zero has been refused; the smallest by -1 wraps.
  auto divides = [&](auto f) {
    signedly([&](S x, S y) {
      return y == -1 ? static_cast<S>(U(0) - U(x)) : f(x, y);
    });
  };
  switch (kind) {
  case Int::Add:
    return map(dst, a, b, lanes, [](U x, U y) { return x + y; });
  case Int::Sub:
    return map(dst, a, b, lanes, [](U x, U y) { return x - y; });
  case Int::Mul:
    return map(dst, a, b, lanes, [](U x, U y) { return x * y; });
  case Int::And:
    return map(dst, a, b, lanes, [](U x, U y) { return x & y; });
  case Int::Or:
    return map(dst, a, b, lanes, [](U x, U y) { return x | y; });
  case Int::Xor:
    return map(dst, a, b, lanes, [](U x, U y) { return x ^ y; });
  case Int::Shl:
    return map(dst, a, b, lanes,
               [](U x, U y) { return y < bits ? x << y : U(0); });
  case Int::ShrU:
    return map(dst, a, b, lanes,
               [](U x, U y) { return y < bits ? x >> y : U(0); });
  case Int::ShrS:
    return map(dst, a, b, lanes, [](U x, U y) {
      return static_cast<U>(static_cast<S>(x) >> (y < bits ? y : bits - 1));
    });
  case Int::DivU:
    return map(dst, a, b, lanes, [](U x, U y) { return x / y; });
  case Int::RemU:
    return map(dst, a, b, lanes, [](U x, U y) { return x % y; });
  case Int::CeilDivU:
    return map(dst, a, b, lanes,
               [](U x, U y) { return x / y + (x % y != 0 ? 1 : 0); });
  case Int::DivS:
    return divides([](S x, S y) { return x / y; });
  case Int::RemS:
    return signedly([](S x, S y) { return y == -1 ? S(0) : x % y; });
  case Int::CeilDivS:
    return divides([](S x, S y) { return ceilDiv(x, y); });
  case Int::FloorDivS:
    return divides([](S x, S y) { return floorDiv(x, y); });
  case Int::MinS:
    return signedly([](S x, S y) { return x < y ? x : y; });
  case Int::MaxS:
    return signedly([](S x, S y) { return x > y ? x : y; });
  case Int::MinU:
    return map(dst, a, b, lanes, [](U x, U y) { return x < y ? x : y; });
  case Int::MaxU:
    return map(dst, a, b, lanes, [](U x, U y) { return x > y ? x : y; });
  case Int::AbsS:
    return signedly([](S x, S) { return x < 0 ? S(U(0) - U(x)) : x; });
  }
}

template <typename U>
void compare(Compare kind, uint32_t *dst, const U *a, const U *b,
             uint32_t lanes) {
  using S = std::make_signed_t<U>;
  auto signedly = [&](auto f) {
    map(dst, a, b, lanes, [&](U x, U y) -> uint32_t {
      return f(static_cast<S>(x), static_cast<S>(y));
    });
  };
  switch (kind) {
  case Compare::Eq:
    return map(dst, a, b, lanes, [](U x, U y) -> uint32_t { return x == y; });
  case Compare::Ne:
    return map(dst, a, b, lanes, [](U x, U y) -> uint32_t { return x != y; });
  case Compare::LtU:
    return map(dst, a, b, lanes, [](U x, U y) -> uint32_t { return x < y; });
  case Compare::LeU:
    return map(dst, a, b, lanes, [](U x, U y) -> uint32_t { return x <= y; });
  case Compare::GtU:
    return map(dst, a, b, lanes, [](U x, U y) -> uint32_t { return x > y; });
  case Compare::GeU:
    return map(dst, a, b, lanes, [](U x, U y) -> uint32_t { return x >= y; });
  case Compare::LtS:
    return signedly([](S x, S y) { return x < y; });
  case Compare::LeS:
    return signedly([](S x, S y) { return x <= y; });
  case Compare::GtS:
    return signedly([](S x, S y) { return x > y; });
  case Compare::GeS:
    return signedly([](S x, S y) { return x >= y; });
  }
}

bool dividesBy(Int kind) {
  return kind == Int::DivU || kind == Int::DivS || kind == Int::RemU ||
         kind == Int::RemS || kind == Int::CeilDivS || kind == Int::CeilDivU ||
         kind == Int::FloorDivS;
}

uint32_t signExtend(uint32_t value, unsigned width) {
  unsigned shift = 32 - width;
  return static_cast<uint32_t>(static_cast<int32_t>(value << shift) >>
                               static_cast<int>(shift));
}

uint32_t maskOf(unsigned width) {
  return width >= 32 ? ~uint32_t(0) : (uint32_t(1) << width) - 1;
}

/// A set of bytes as the bytes themselves.
uint32_t bytesOf(Shadow shadow) {
  uint32_t bits = 0;
  for (unsigned i = 0; i < 4; ++i)
    bits |= (shadow >> i & 1 ? uint32_t(0xFF) : 0) << 8 * i;
  return bits;
}

/// The bytes that have a bit.
Shadow shadowOf(uint32_t bits) {
  Shadow shadow = 0;
  for (unsigned i = 0; i < 4; ++i)
    shadow |= Shadow((bits >> 8 * i & 0xFF) != 0) << i;
  return shadow;
}

} // namespace

/// A bit that the other operand decides is defined.
void Block::spreadBitwise(Warp &w, const Instr &in, uint32_t lanes) {
  if (!w.isDirty[in.a] && !w.isDirty[in.b])
    return clean(w, in.dst, lanes);
  bool isAnd = static_cast<Int>(in.kind) == Int::And,
       isOr = static_cast<Int>(in.kind) == Int::Or;
  forLanes(lanes, [&](unsigned lane) {
    uint32_t a = bytesOf(see(w, in.a, lane, in)),
             b = bytesOf(see(w, in.b, lane, in));
    uint32_t x = w.word(in.a)[lane], y = w.word(in.b)[lane];
    uint32_t open = a | b;
    if (isAnd)
      open = (a & b) | (a & y & ~b) | (b & x & ~a);
    else if (isOr)
      open = (a & b) | (a & ~y & ~b) | (b & ~x & ~a);
    setShadow(w, in.dst, lane, shadowOf(open & maskOf(in.width)));
  });
}

/// Bytes move with a shift by a known number of bits.
void Block::spreadShift(Warp &w, const Instr &in, uint32_t lanes) {
  if (!w.isDirty[in.a] || w.isDirty[in.b])
    return spread(w, in, lanes, 2);
  Int kind = static_cast<Int>(in.kind);
  forLanes(lanes, [&](unsigned lane) {
    uint32_t open = bytesOf(see(w, in.a, lane, in));
    uint32_t by = w.word(in.b)[lane];
    if (by >= 32)
      open = kind == Int::ShrS && open >> 31 ? ~uint32_t(0) : 0;
    else if (kind == Int::Shl)
      open <<= by;
    else if (kind == Int::ShrU)
      open >>= by;
    else
      open = static_cast<uint32_t>(static_cast<int32_t>(open) >>
                                   static_cast<int32_t>(by));
    setShadow(w, in.dst, lane, shadowOf(open & maskOf(in.width)));
  });
}

template <typename Word>
bool Block::checkDivisor(Warp &w, const Instr &in, const Word *by,
                         uint32_t lanes) {
  if (!needs(w, in.b, lanes, in, "a division"))
    return false;
  forLanes(lanes, [&](unsigned lane) {
    if (by[lane] == 0)
      fail(w, lane, in, "divides by zero");
  });
  return fault.empty();
}

void Block::executeInt(Warp &w, const Instr &in, uint32_t lanes) {
  auto kind = static_cast<Int>(in.kind);
  const uint32_t *a = w.word(in.a), *b = w.word(in.b);
  uint32_t *dst = w.word(in.dst);
  if (dividesBy(kind) && !checkDivisor(w, in, b, lanes))
    return;
  if (in.width == 32) {
    binary(kind, dst, a, b, lanes);
  } else {
    // Narrow values have zeros above; what is signed sees their sign.
    bool isSigned = kind == Int::DivS || kind == Int::RemS ||
                    kind == Int::CeilDivS || kind == Int::FloorDivS ||
                    kind == Int::MinS || kind == Int::MaxS ||
                    kind == Int::ShrS || kind == Int::AbsS;
    uint32_t x[warpLanes] = {}, y[warpLanes] = {};
    forLanes(lanes, [&](unsigned lane) {
      x[lane] = isSigned ? signExtend(a[lane], in.width) : a[lane];
      y[lane] = isSigned && kind != Int::ShrS ? signExtend(b[lane], in.width)
                                              : b[lane];
    });
    binary(kind, dst, x, y, lanes);
    forLanes(lanes, [&](unsigned lane) { dst[lane] &= maskOf(in.width); });
  }
  switch (kind) {
  case Int::And:
  case Int::Or:
  case Int::Xor:
    return spreadBitwise(w, in, lanes);
  case Int::Shl:
  case Int::ShrU:
  case Int::ShrS:
    return spreadShift(w, in, lanes);
  default:
    return spread(w, in, lanes, 2);
  }
}

void Block::executeIntWide(Warp &w, const Instr &in, uint32_t lanes) {
  auto kind = static_cast<Int>(in.kind);
  const uint64_t *a = w.wide(in.a), *b = w.wide(in.b);
  if (dividesBy(kind) && !checkDivisor(w, in, b, lanes))
    return;
  binary(kind, w.wide(in.dst), a, b, lanes);
  spread(w, in, lanes, 2);
}

void Block::executeCompare(Warp &w, const Instr &in, uint32_t lanes) {
  auto kind = static_cast<Compare>(in.kind);
  uint32_t *dst = w.word(in.dst);
  if (in.width == 64) {
    compare(kind, dst, w.wide(in.a), w.wide(in.b), lanes);
  } else if (in.width == 32) {
    compare(kind, dst, w.word(in.a), w.word(in.b), lanes);
  } else {
    uint32_t x[warpLanes] = {}, y[warpLanes] = {};
    forLanes(lanes, [&](unsigned lane) {
      x[lane] = signExtend(w.word(in.a)[lane], in.width);
      y[lane] = signExtend(w.word(in.b)[lane], in.width);
    });
    compare(kind, dst, x, y, lanes);
  }
  spread(w, in, lanes, 2);
}

void Block::executeSelect(Warp &w, const Instr &in, uint32_t lanes) {
  const uint32_t *condition = w.word(in.a);
  if (in.op == Op::SelectWide) {
    const uint64_t *x = w.wide(in.b), *y = w.wide(in.c);
    uint64_t *dst = w.wide(in.dst);
    forLanes(lanes, [&](unsigned lane) {
      dst[lane] = condition[lane] & 1 ? x[lane] : y[lane];
    });
  } else {
    const uint32_t *__restrict x = w.word(in.b), *__restrict y = w.word(in.c);
    uint32_t *__restrict dst = w.word(in.dst);
    if (lanes == allLanes)
      for (unsigned lane = 0; lane < warpLanes; ++lane)
        dst[lane] = condition[lane] & 1 ? x[lane] : y[lane];
    else
      forLanes(lanes, [&](unsigned lane) {
        dst[lane] = condition[lane] & 1 ? x[lane] : y[lane];
      });
  }
  if (!w.isDirty[in.a] && !w.isDirty[in.b] && !w.isDirty[in.c])
    return clean(w, in.dst, lanes);
  forLanes(lanes, [&](unsigned lane) {
    Shadow shadow = see(w, in.a, lane, in)
                        ? undefinedWord
                        : see(w, condition[lane] & 1 ? in.b : in.c, lane, in);
    setShadow(w, in.dst, lane, shadow);
  });
}

void Block::executeConversion(Warp &w, const Instr &in, uint32_t lanes) {
  uint32_t *dst = w.word(in.dst);
  const uint32_t *a = in.a == noSlot ? nullptr : w.word(in.a);
  auto each = [&](auto f) {
    forLanes(lanes, [&](unsigned lane) { dst[lane] = f(lane); });
  };
  auto eachWide = [&](auto f) {
    uint64_t *wide = w.wide(in.dst);
    forLanes(lanes, [&](unsigned lane) { wide[lane] = f(lane); });
  };
  switch (in.op) {
  case Op::ThreadId:
    each([&](unsigned lane) { return w.number * warpLanes + lane; });
    return clean(w, in.dst, lanes);
  case Op::LaneId:
    each([&](unsigned lane) { return lane; });
    return clean(w, in.dst, lanes);
  case Op::BlockId:
    each([&](unsigned) { return number; });
    return clean(w, in.dst, lanes);
  case Op::BlockCount:
    each([&](unsigned) { return launch.blocks; });
    return clean(w, in.dst, lanes);
  case Op::ZeroExtend:
    each([&](unsigned lane) { return a[lane] & maskOf(in.width); });
    break;
  case Op::SignExtend:
    each([&](unsigned lane) {
      return signExtend(a[lane], in.width) & maskOf(in.other);
    });
    break;
  case Op::Truncate:
    each([&](unsigned lane) { return a[lane] & maskOf(in.width); });
    // What is cut off is as good as defined.
    if (w.isDirty[in.a]) {
      forLanes(lanes, [&](unsigned lane) {
        Shadow shadow = see(w, in.a, lane, in);
        setShadow(w, in.dst, lane,
                  shadowOf(bytesOf(shadow) & maskOf(in.width)));
      });
      return;
    }
    break;
  case Op::FromWide: {
    const uint64_t *wide = w.wide(in.a);
    each([&](unsigned lane) {
      return static_cast<uint32_t>(wide[lane]) & maskOf(in.width);
    });
    break;
  }
  case Op::ToWide:
    eachWide(
        [&](unsigned lane) -> uint64_t { return a[lane] & maskOf(in.width); });
    break;
  case Op::ToWideSigned:
    eachWide([&](unsigned lane) {
      return static_cast<uint64_t>(static_cast<int64_t>(
          static_cast<int32_t>(signExtend(a[lane], in.width))));
    });
    break;
  case Op::AddWideConstant: {
    const uint64_t *wide = w.wide(in.a);
    eachWide([&](unsigned lane) {
      return wide[lane] + static_cast<uint64_t>(in.imm);
    });
    break;
  }
  default:
    break;
  }
  spread(w, in, lanes, 1);
}

/// Halves and bytes of a register keep their states apart.
void Block::executeBits(Warp &w, const Instr &in, uint32_t lanes) {
  auto shift = static_cast<unsigned>(in.imm);
  uint32_t mask = maskOf(in.width);
  const uint32_t *a = w.word(in.a);
  uint32_t *dst = w.word(in.dst);
  if (in.op == Op::ExtractBits) {
    forLanes(lanes,
             [&](unsigned lane) { dst[lane] = a[lane] >> shift & mask; });
    if (!w.isDirty[in.a])
      return clean(w, in.dst, lanes);
    forLanes(lanes, [&](unsigned lane) {
      uint32_t open = bytesOf(see(w, in.a, lane, in)) >> shift & mask;
      setShadow(w, in.dst, lane, shadowOf(open));
    });
    return;
  }
  const uint32_t *b = w.word(in.b);
  forLanes(lanes, [&](unsigned lane) {
    dst[lane] = (a[lane] & ~(mask << shift)) | (b[lane] & mask) << shift;
  });
  if (!w.isDirty[in.a] && !w.isDirty[in.b])
    return clean(w, in.dst, lanes);
  forLanes(lanes, [&](unsigned lane) {
    uint32_t open = (bytesOf(see(w, in.a, lane, in)) & ~(mask << shift)) |
                    (bytesOf(see(w, in.b, lane, in)) & mask) << shift;
    setShadow(w, in.dst, lane, shadowOf(open));
  });
}

} // namespace selvedge::sim
