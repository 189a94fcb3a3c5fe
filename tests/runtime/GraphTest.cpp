// Launches that are captured into graphs, on the driver of tests/tools.
// SPDX-License-Identifier: MIT
#include "selvedge/Op.h"
#include "tests/runtime/Fake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace selvedge;
using test::callDriver;
using testing::HasSubstr;

namespace {

/// Kernels with counters, of which a launch takes two.
constexpr const char *counted = R"json({
  "selvedge": 1, "compiler": "0.1.0", "op": "counted", "arch": "sm_80", "params": {},
  "dims": ["N"],
  "tensors": [{"name": "y", "role": "out", "dtype": "f32", "shape": ["N"], "optional": false}],
  "scalars": [], "requires": [],
  "variants": [{"name": "universal", "when": [], "launches": [
    {"kernel": "first", "grid": ["N"], "block": 32, "smem": 0, "args": [{"pointer": "y"}, {"counter": true}]},
    {"kernel": "second", "grid": ["N"], "block": 32, "smem": 0, "args": [{"pointer": "y"}, {"counter": true}]}]}]
})json";

/// Counters that launches have taken.
std::vector<uint64_t> taken;

void watchCounters(const char *, std::array<unsigned, 3>, void **params) {
  taken.push_back(*static_cast<uint64_t *>(params[1]));
}

class Graphs : public testing::Test {
protected:
  void load(const char *manifest) {
    Result<Device> opened = Device::open();
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    device.emplace(*opened);
    Result<Op> loaded = Op::load({manifest, "", "\177ELF"}, *device);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    op.emplace(std::move(*loaded));
    stream = *device->createStream();
    taken.clear();
  }
  void TearDown() override {
    setWatch(nullptr);
    EXPECT_TRUE(device->destroyStream(stream).ok());
  }
  void setWatch(FakeCudaWatch watch) {
    test::fakeFunction<FakeCudaSetWatch>("fakeCudaWatch")(watch);
  }

  /// A graph of `launches` launches; null where one fails.
  void *capture(const LaunchArgs &args, int launches = 1) {
    EXPECT_EQ(callDriver("cuStreamBeginCapture_v2", stream, 0), 0);
    Status status;
    for (int i = 0; i < launches && status.ok(); ++i)
      status = op->launch(args, stream);
    void *graph = nullptr;
    EXPECT_EQ(callDriver("cuStreamEndCapture", stream, &graph), 0);
    error = status.message();
    if (!status.ok())
      destroy(std::exchange(graph, nullptr));
    return graph;
  }
  void *instantiate(void *graph) {
    void *executable = nullptr;
    EXPECT_EQ(
        callDriver("cuGraphInstantiateWithFlags", &executable, graph, 0ull), 0);
    return executable;
  }
  void destroy(void *graph) {
    EXPECT_EQ(callDriver("cuGraphDestroy", graph), 0);
  }

  std::optional<Device> device;
  std::optional<Op> op;
  void *stream = nullptr;
  std::string error;
};

LaunchArgs countedArgs() {
  LaunchArgs args;
  args.tensors["y"] =
      contiguousView(reinterpret_cast<void *>(0x1000), DType::F32, {8});
  return args;
}

TEST_F(Graphs, launchesOfAGraphHaveCountersOfTheirOwn) {
  load(counted);
  setWatch(watchCounters);
  ASSERT_TRUE(op->launch(countedArgs(), stream).ok());
  void *first = capture(countedArgs(), 3), *second = capture(countedArgs());
  ASSERT_TRUE(first && second) << error;
  // Launches of the stream share one; two kernels follow each other.
  ASSERT_EQ(taken.size(), 2u + 6u + 2u);
  EXPECT_EQ(taken[0], taken[1]);
  EXPECT_EQ(std::set<uint64_t>(taken.begin() + 1, taken.end()).size(), 9u);
  destroy(first);
  destroy(second);
}

TEST_F(Graphs, countersComeBack) {
  load(counted);
  setWatch(watchCounters);
  std::set<uint64_t> all;
  // Recapture without end: as many launches as ten pools.
  for (int i = 0; i < 50000; ++i) {
    taken.clear();
    void *graph = capture(countedArgs());
    ASSERT_TRUE(graph) << "round " << i << ": " << error;
    all.insert(taken.begin(), taken.end());
    // The executable keeps them when the graph is gone.
    void *executable = instantiate(graph);
    destroy(graph);
    std::vector<uint64_t> kept = taken;
    taken.clear();
    void *other = capture(countedArgs());
    ASSERT_TRUE(other);
    for (uint64_t counter : taken)
      EXPECT_EQ(std::count(kept.begin(), kept.end(), counter), 0);
    destroy(other);
    EXPECT_EQ(callDriver("cuGraphExecDestroy", executable), 0);
  }
  EXPECT_LE(all.size(), 8192u);
}

TEST_F(Graphs, tooManyAtATimeSaysSo) {
  load(counted);
  std::vector<void *> graphs;
  while (void *graph = capture(countedArgs(), 512))
    graphs.push_back(graph);
  EXPECT_EQ(graphs.size(), 8u);
  EXPECT_THAT(error, HasSubstr("graphs that exist hold 8192 launches"));
  // Other launches are not concerned, and what is destroyed is free.
  EXPECT_TRUE(op->launch(countedArgs(), stream).ok());
  destroy(graphs.back());
  graphs.pop_back();
  void *graph = capture(countedArgs(), 512);
  EXPECT_TRUE(graph) << error;
  graphs.push_back(graph);
  // Graphs may be destroyed after the op.
  op.reset();
  for (void *rest : graphs)
    destroy(rest);
}

TEST_F(Graphs, replaysSeeTheLengthsOfTheMoment) {
  load(test::axpyManifest);
  constexpr int rows = 4, columns = 16;
  std::vector<float> x(rows * columns), y(rows * columns, -1);
  std::vector<int32_t> lengths(rows);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i + 1);
  LaunchArgs args;
  args.tensors["x"] = contiguousView(x.data(), DType::F32, {rows, columns});
  args.tensors["y"] = contiguousView(y.data(), DType::F32, {rows, columns});
  args.tensors["len"] = contiguousView(lengths.data(), DType::I32, {rows});
  void *graph = capture(args);
  ASSERT_TRUE(graph) << error;
  EXPECT_EQ(y[0], -1) << "capturing executes nothing";
  void *executable = instantiate(graph);
  std::mt19937 random(1);
  for (int replay = 0; replay < 1000; ++replay) {
    for (int32_t &length : lengths)
      length = static_cast<int32_t>(random() % (columns + 1));
    ASSERT_EQ(callDriver("cuGraphLaunch", executable, stream), 0);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) {
        auto at = static_cast<size_t>(i * columns + j);
        ASSERT_EQ(y[at], j < lengths[static_cast<size_t>(i)] ? 2 * x[at] : 0)
            << "replay " << replay;
      }
  }
  EXPECT_EQ(callDriver("cuGraphExecDestroy", executable), 0);
  destroy(graph);
}

} // namespace
