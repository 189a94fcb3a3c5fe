// The kernels that check promises, on device `sim`.
// SPDX-License-Identifier: MIT
#include "compiler/Sim/Simulator.h"
#include "runtime/src/PromiseKernels.h"
#include "runtime/src/TensorWalk.h"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <sstream>

namespace selvedge::testing {
namespace {

using Found = std::pair<int64_t, int64_t>;
using Values = std::vector<int64_t>;

constexpr int64_t least = INT64_MIN, greatest = INT64_MAX;

std::string readText() {
  std::ifstream file(SELVEDGE_PROMISES);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Words that nobody but the kernels changes.
sim::Region words(const char *name, const Values &values, bool isAtomic) {
  std::vector<uint8_t> bytes(values.size() * 8);
  if (!values.empty())
    std::memcpy(bytes.data(), values.data(), bytes.size());
  size_t size = bytes.size();
  sim::Region region{name, std::move(bytes),
                     std::vector<sim::State>(size, sim::State::Defined)};
  region.isWritable = region.isAtomic = isAtomic;
  return region;
}

/// A tensor whose memory ends with its outermost elements. Nobody may touch
/// what lies between them.
struct Tensor {
  TensorView view;
  TensorWalk walk;
  sim::Region region;

  Tensor(DType dtype, std::vector<int64_t> shape, std::vector<int64_t> strides)
      : view{nullptr, dtype, std::move(shape), std::move(strides)},
        walk(*walkThrough(view)) {
    auto size = static_cast<size_t>(walk.highest - walk.lowest + elementSize());
    region = {"tensor", std::vector<uint8_t>(size, 0xA5),
              std::vector<sim::State>(size, sim::State::Outside)};
  }

  int64_t elementSize() const { return sizeOf(view.dtype); }
  uint8_t *place(int64_t position) {
    return region.bytes.data() + walk.offsetOf(position) - walk.lowest;
  }
  void set(int64_t position, int64_t value) {
    uint8_t *at = place(position);
    std::memcpy(at, &value, static_cast<size_t>(elementSize()));
    std::fill_n(region.state.begin() + (at - region.bytes.data()),
                elementSize(), sim::State::Defined);
  }
  /// In the order of indices.
  Values values() {
    Values result;
    for (int64_t i = 0; i < walk.count; ++i) {
      int32_t narrow = 0;
      int64_t wide = 0;
      std::memcpy(&narrow, place(i), 4);
      if (view.dtype == DType::I64)
        std::memcpy(&wide, place(i), 8);
      result.push_back(view.dtype == DType::I64 ? wide : narrow);
    }
    return result;
  }
};

class Promises : public ::testing::Test {
protected:
  void SetUp() override {
    std::string problem;
    simulator = sim::Simulator::loadText(readText(), problem);
    ASSERT_TRUE(simulator) << problem;
  }

  /// What a kernel finds. Blocks that are there at the same time take turns.
  Found run(const char *kernel, const Tensor &tensor,
            const std::vector<uint64_t> &params, int64_t slots, uint32_t blocks,
            uint64_t seed) {
    sim::GlobalMemory memory;
    Values inner;
    for (const WalkDimension &dimension : tensor.walk.inner)
      inner.insert(inner.end(), {dimension.extent, dimension.distance});
    TensorView view = tensor.view;
    view.data = reinterpret_cast<void *>(
        memory.add(tensor.region) - static_cast<uint64_t>(tensor.walk.lowest));
    uint64_t walkAt = memory.add(words("walk", inner, false)),
             found = memory.add(words("found", {0, greatest}, true));
    std::vector<uint64_t> all = tensorParams(view, tensor.walk, walkAt, found);
    if (slots > 0)
      all.push_back(memory.add(
          words("table", Values(static_cast<size_t>(slots), -1), true)));
    all.insert(all.end(), params.begin(), params.end());
    sim::Launch launch;
    launch.kernel = kernel;
    launch.blocks = blocks;
    launch.threads = PromiseKernels::threads;
    launch.isPersistent = true;
    for (uint64_t param : all)
      launch.arguments.push_back({param});
    EXPECT_EQ(simulator->run(launch, memory, sim::Schedule(seed)), "");
    Found result;
    std::memcpy(&result.first, memory.at(found).bytes.data(), 8);
    std::memcpy(&result.second, memory.at(found).bytes.data() + 8, 8);
    return result;
  }

  void expectOutside(Tensor &tensor, const Question &question, uint32_t blocks,
                     uint64_t seed) {
    Values values = tensor.values();
    Found expected{0, greatest};
    for (size_t i = 0; i < values.size(); ++i) {
      int64_t lo = question.isOrder ? values[i > 0 ? i - 1 : 0] : question.lo;
      bool isOutside = values[i] < lo || values[i] > question.hi;
      if (isOutside != question.isInside && expected.first++ == 0)
        expected.second = static_cast<int64_t>(i);
    }
    EXPECT_EQ(
        run("selvedge_outside", tensor, question.params(), 0, blocks, seed),
        expected);
  }

  void expectRepeated(Tensor &tensor, int64_t slots, uint32_t blocks,
                      uint64_t seed) {
    Values values = tensor.values();
    std::set<int64_t> seen;
    Found expected{0, greatest};
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i] >= 0 && !seen.insert(values[i]).second &&
          expected.first++ == 0)
        expected.second = static_cast<int64_t>(i);
    EXPECT_EQ(run("selvedge_repeated", tensor, {static_cast<uint64_t>(slots)},
                  slots, blocks, seed),
              expected);
  }

  std::unique_ptr<sim::Simulator> simulator;
};

TEST_F(Promises, extremes) {
  for (DType dtype : {DType::I32, DType::I64}) {
    Tensor tensor(dtype, {600}, {1});
    int64_t low = dtype == DType::I32 ? INT32_MIN : least,
            high = dtype == DType::I32 ? INT32_MAX : greatest;
    for (int64_t i = 0; i < 600; ++i)
      tensor.set(i, i % 3 == 0 ? low : i % 3 == 1 ? high : 0);
    for (const Question &question :
         {Question{low, high}, Question{least, greatest},
          Question{low, high - 1}, Question{low + 1, high}, Question{0, -1},
          Question{high, low}, Question{least, greatest, true},
          Question{high, high, false, true}, Question{1, 1, false, true}})
      expectOutside(tensor, question, 2, 0);
    expectRepeated(tensor, 1200, 2, 0);
  }
}

TEST_F(Promises, oneElement) {
  for (int64_t value : {-1, 0, 7}) {
    Tensor tensor(DType::I64, {}, {});
    tensor.set(0, value);
    expectOutside(tensor, {0, 5}, 1, 0);
    expectOutside(tensor, {least, greatest, true}, 1, 0);
    expectRepeated(tensor, 2, 1, 0);
  }
}

/// Values that differ in the upper half only, and a table with one free slot.
TEST_F(Promises, valuesThatMeetInTheTable) {
  Tensor tensor(DType::I64, {700}, {1});
  for (int64_t i = 0; i < 700; ++i)
    tensor.set(i, (i * 37 % 650) << 32);
  for (uint64_t seed = 0; seed < 8; ++seed)
    for (int64_t slots : {701, 1400})
      expectRepeated(tensor, slots, 3, seed);
}

/// The earliest of equal elements comes to the table at any time.
TEST_F(Promises, allEqual) {
  Tensor tensor(DType::I32, {900}, {1});
  for (int64_t i = 0; i < 900; ++i)
    tensor.set(i, i < 5 ? -1 : 3);
  for (uint64_t seed = 0; seed < 12; ++seed)
    expectRepeated(tensor, 1800, 4, seed);
}

TEST_F(Promises, anyStrides) {
  std::mt19937 random(11);
  auto draw = [&](int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(random);
  };
  for (int i = 0; i < 60; ++i) {
    DType dtype = draw(0, 1) ? DType::I32 : DType::I64;
    std::vector<int64_t> shape(static_cast<size_t>(draw(1, 5))),
        strides(shape.size());
    int64_t dense = draw(1, 3);
    for (size_t d = shape.size(); d-- > 0;) {
      shape[d] = draw(1, 7);
      strides[d] = draw(0, 5) == 0 ? 0 : (draw(0, 1) ? dense : -dense);
      dense *= shape[d] + draw(0, 2);
    }
    Tensor tensor(dtype, shape, strides);
    int64_t most = draw(0, 1) ? 1 << 20 : 40;
    for (int64_t p = 0; p < tensor.walk.count; ++p)
      tensor.set(p, draw(-5, most));
    auto blocks = static_cast<uint32_t>(draw(1, 4));
    auto seed = static_cast<uint64_t>(i);
    expectOutside(tensor, {draw(-5, 0), draw(20, most)}, blocks, seed);
    expectOutside(tensor, {least, greatest, true}, blocks, seed);
    expectOutside(tensor, {7, 7, false, true}, blocks, seed);
    expectRepeated(tensor, 2 * tensor.walk.count, blocks, seed);
  }
}

} // namespace
} // namespace selvedge::testing
