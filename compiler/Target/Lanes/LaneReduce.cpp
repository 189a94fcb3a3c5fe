// Emits the code of one thread of a kernel: reductions.
// SPDX-License-Identifier: MIT
#include "compiler/Target/Lanes/LaneEmitter.h"

#include "llvm/ADT/MapVector.h"

namespace selvedge::lanes {

using namespace mlir;
using namespace selvedge::sm;
using tile::Combine;

Value LaneEmitter::combine(Combine kind, Value x, Value y) {
  bool isFloat = isa<FloatType>(x.getType());
  switch (kind) {
  case Combine::Add:
    return isFloat ? arith::AddFOp::create(b, loc(), x, y).getResult()
                   : arith::AddIOp::create(b, loc(), x, y).getResult();
  case Combine::Max:
    return isFloat ? arith::MaximumFOp::create(b, loc(), x, y).getResult()
                   : arith::MaxSIOp::create(b, loc(), x, y).getResult();
  case Combine::Min:
    break;
  }
  return isFloat ? arith::MinimumFOp::create(b, loc(), x, y).getResult()
                 : arith::MinSIOp::create(b, loc(), x, y).getResult();
}

Value LaneEmitter::shuffleXor(Value v, int64_t mask) {
  StringRef name = v.getType().isF32() ? "llvm.nvvm.shfl.sync.bfly.f32"
                                       : "llvm.nvvm.shfl.sync.bfly.i32";
  return intrinsic(name, v.getType(), {i32(-1), v, i32(mask), i32(31)});
}

/// Combines over warps through `row` of a buffer: every thread writes its part,
/// then reads those of the warps whose numbers differ from its own in
/// `warpBits`.
Value LaneEmitter::exchangeWarps(Combine kind, Value v,
                                 ArrayRef<int64_t> warpBits, Value scratch,
                                 int64_t row) {
  static constexpr int64_t bytes = 4;
  Value base =
      add(bufferBases[scratch],
          i32(row * cast<BufferType>(scratch.getType()).getRowBytes()));
  auto address = [&](Value who) {
    return sharedPointer(add(mul(who, i32(bytes)), base));
  };
  LLVM::StoreOp::create(b, loc(), v, address(thread), 4);
  intrinsic("llvm.nvvm.barrier.cta.sync.aligned.all", {}, {i32(0)});
  // Each thread starts from its own part, so the order of the sum, and with it
  // the rounding, may differ between warps; starting from the smallest warp
  // number makes all threads compute the same bits.
  int64_t mask = 0;
  for (int64_t bit : warpBits)
    mask |= int64_t(32) << bit;
  Value first = arith::AndIOp::create(b, loc(), thread, i32(~mask));
  Value result;
  for (int64_t combination = 0; combination < (int64_t(1) << warpBits.size());
       ++combination) {
    int64_t offset = 0;
    for (auto [i, bit] : llvm::enumerate(warpBits))
      if (combination >> i & 1)
        offset |= int64_t(32) << bit;
    Value part = LLVM::LoadOp::create(
        b, loc(), v.getType(),
        address(arith::OrIOp::create(b, loc(), first, i32(offset))), 4);
    result = result ? combine(kind, result, part) : part;
  }
  return result;
}

/// The product that a reduction adds up, if it may be added as it is made.
static arith::MulFOp fusedProduct(ReduceOp reduce) {
  auto product = reduce.getSource().getDefiningOp<arith::MulFOp>();
  bool mayFuse =
      product && reduce.getKind() == tile::Combine::Add &&
      bitEnumContainsAll(product.getFastmath(), arith::FastMathFlags::contract);
  return mayFuse ? product : arith::MulFOp();
}

/// Some registers of a reduction as one.
Value LaneEmitter::combineRegisters(ReduceOp reduce, ArrayRef<int64_t> regs) {
  const Registers &source = lanes(reduce.getSource());
  if (arith::MulFOp product = fusedProduct(reduce)) {
    const Registers &lhs = lanes(product.getLhs()),
                    &rhs = lanes(product.getRhs());
    Value sum = source[regs.front()];
    for (int64_t reg : regs.drop_front())
      sum = math::FmaOp::create(b, loc(), lhs[reg], rhs[reg], sum);
    return sum;
  }
  // A tree: short dependence chains.
  SmallVector<Value> group =
      llvm::map_to_vector(regs, [&](int64_t reg) { return source[reg]; });
  while (group.size() > 1) {
    SmallVector<Value> next;
    for (size_t i = 0; i < group.size(); i += 2)
      next.push_back(i + 1 < group.size()
                         ? combine(reduce.getKind(), group[i], group[i + 1])
                         : group[i]);
    group = next;
  }
  return group.front();
}

LogicalResult LaneEmitter::emitReduce(ReduceOp reduce) {
  if (reduce.exchanges() && !reduce.getScratch())
    return reduce.emitOpError("expects a buffer for the parts of its warps");
  LayoutAttr from = layoutOf(reduce.getSource().getType()),
             to = layoutOf(reduce.getType());
  int64_t position = from.indexOf(reduce.getOverAttr());
  AxisLayoutAttr axis = from.getAxes()[position];
  int64_t count = to ? to.getNumRegs() : 1;

  SmallVector<SmallVector<int64_t>> groups(count);
  for (int64_t reg = 0; reg < from.getNumRegs(); ++reg) {
    SmallVector<int64_t> where = from.unflatten(reg);
    where.erase(where.begin() + position);
    groups[to ? to.flatten(where) : 0].push_back(reg);
  }
  Registers result;
  for (ArrayRef<int64_t> group : groups) {
    Value v = combineRegisters(reduce, group);
    for (auto [bit, stride] : llvm::enumerate(axis.getLanes()))
      if (stride != 0)
        v = combine(reduce.getKind(), v, shuffleXor(v, int64_t(1) << bit));
    result.push_back(v);
  }

  SmallVector<int64_t> warpBits;
  for (auto [bit, stride] : llvm::enumerate(axis.getWarps()))
    if (stride != 0)
      warpBits.push_back(bit);
  if (!warpBits.empty())
    for (auto [row, v] : llvm::enumerate(result))
      v = exchangeWarps(reduce.getKind(), v, warpBits, reduce.getScratch(),
                        row);
  lanes(reduce) = result;
  return success();
}

/// Joined in several chains: each operation waits for the one before.
static constexpr size_t mostChains = 4;

/// Two chains per result where there are few: as short as the pipeline needs,
/// and fewer live registers than a tree. Where the first quarter of the
/// elements is summed up both have a sum of their own.
void LaneEmitter::emitFold(FoldOp fold) {
  LayoutAttr from = layoutOf(fold.getSource().getType()),
             to = layoutOf(fold.getType());
  int64_t position = from.indexOf(fold.getOverAttr());
  SmallVector<SmallVector<Value>> partial(to.getNumRegs());
  // Results are chains beside each other, too.
  const size_t chains = partial.size() < mostChains ? 2 : 1;
  SmallVector<size_t> taken(to.getNumRegs());
  const Registers &all = lanes(fold.getSource());
  Registers &early = heads[fold];
  for (auto [reg, v] : llvm::enumerate(all)) {
    SmallVector<int64_t> where = from.unflatten(static_cast<int64_t>(reg));
    where[position] = 0;
    int64_t group = to.flatten(where);
    SmallVector<Value> &sums = partial[group];
    if (sums.size() < chains)
      sums.push_back(v);
    else
      sums[taken[group] % chains] =
          combine(fold.getKind(), sums[taken[group] % chains], v);
    ++taken[group];
    if (reg + 1 == std::max<size_t>(1, all.size() / 4))
      early = sums;
  }
  Registers result;
  for (SmallVector<Value> &sums : partial) {
    Value total = sums.front();
    for (Value v : llvm::drop_begin(sums))
      total = combine(fold.getKind(), total, v);
    result.push_back(total);
  }
  lanes(fold) = result;
}

/// One compare can join its result with that of another.
void LaneEmitter::emitAny(AnyOp any) {
  ArrayRef<Value> values = lanes(any.getCondition());
  SmallVector<Value> chains(values.take_front(mostChains));
  auto join = [&](Value &chain, Value v) {
    chain = arith::OrIOp::create(b, loc(), chain, v);
  };
  for (auto [i, v] : llvm::enumerate(values.drop_front(chains.size())))
    join(chains[i % mostChains], v);
  for (Value v : ArrayRef(chains).drop_front())
    join(chains.front(), v);
  lanes(any) = {intrinsic("llvm.nvvm.vote.any.sync", b.getI1Type(),
                          {i32(-1), chains.front()})};
}

/// Narrow elements two at a time. Inf and NaN times anything are Inf or NaN,
/// and so is every sum with them, of which zero times is NaN. So values are
/// multiplied with each other where no finite ones of interest overflow, which
/// takes half as many operations; f16 would from 256 on, and is multiplied with
/// zero.
void LaneEmitter::emitNotFinite(NotFiniteOp test) {
  SmallVector<Value> values(lanes(test.getSource()));
  Type type = values.front().getType();
  bool multipliesPairs = !type.isF16();
  if (!type.isF32()) {
    SmallVector<Value> pairs;
    for (size_t i = 0; i < values.size(); i += 2) {
      Value pair = LLVM::PoisonOp::create(b, loc(), VectorType::get({2}, type));
      for (size_t j : {size_t(0), size_t(1)})
        pair = LLVM::InsertElementOp::create(
            b, loc(), pair, values[std::min(i + j, values.size() - 1)],
            i32(static_cast<int64_t>(j)));
      pairs.push_back(pair);
    }
    values = std::move(pairs);
    type = values.front().getType();
  }
  Value zero = arith::ConstantOp::create(b, loc(), b.getZeroAttr(type));
  SmallVector<std::pair<Value, Value>> products;
  for (size_t i = 0; i < values.size(); i += multipliesPairs ? 2 : 1)
    products.push_back({values[i], multipliesPairs && i + 1 < values.size()
                                       ? values[i + 1]
                                       : zero});
  SmallVector<Value> chains(std::min(mostChains, products.size()), zero);
  for (auto [i, factors] : llvm::enumerate(products)) {
    Value &chain = chains[i % chains.size()];
    chain = LLVM::FMAOp::create(b, loc(), factors.first, factors.second, chain);
  }
  Value sum = chains.front();
  for (Value chain : ArrayRef(chains).drop_front())
    sum = LLVM::FMAOp::create(b, loc(), sum, zero, chain);
  if (multipliesPairs)
    sum = LLVM::FMAOp::create(b, loc(), sum, zero, zero);
  auto isNaN = [&](Value v) -> Value {
    return arith::CmpFOp::create(b, loc(), arith::CmpFPredicate::UNO, v, v);
  };
  Value found;
  if (type.isF32()) {
    found = isNaN(sum);
  } else {
    auto element = [&](int64_t i) -> Value {
      return LLVM::FPExtOp::create(
          b, loc(), b.getF32Type(),
          LLVM::ExtractElementOp::create(b, loc(), sum, i32(i)));
    };
    found =
        arith::OrIOp::create(b, loc(), isNaN(element(0)), isNaN(element(1)));
  }
  lanes(test) = {
      intrinsic("llvm.nvvm.vote.any.sync", b.getI1Type(), {i32(-1), found})};
}

} // namespace selvedge::lanes
