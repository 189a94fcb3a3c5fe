// Single instructions store what a GPU stored
// (tests/gpu/record_instructions.py). SPDX-License-Identifier: MIT
#include "Litmus.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>

namespace selvedge::testing {
namespace {

const std::filesystem::path folder = SELVEDGE_RECORDED;

uint32_t mixed(uint32_t i) { return i * 2654435761U; }

/// A multiple of an eighth in -8..8, as the upper half of an f32, or as f16.
uint16_t halfOf(uint32_t i, bool isF16) {
  float value = (static_cast<float>(mixed(i) >> 25) - 64) / 8;
  uint32_t bits = 0;
  std::memcpy(&bits, &value, 4);
  if (!isF16 || value == 0)
    return static_cast<uint16_t>(bits >> 16);
  return static_cast<uint16_t>((bits >> 16 & 0x8000) |
                               ((bits >> 23 & 0xFF) - 112) << 10 |
                               (bits >> 13 & 0x3FF));
}

/// The input, as the recording program makes it.
std::vector<uint8_t> contents(const Litmus &litmus) {
  constexpr uint32_t special[] = {
      0x7F800000, 0xFF800000, 0x7FC00000, 0x477FE000, 0x477FEFFF, 0x477FF000,
      0x7F7FFFFF, 0x7F7F8000, 0x7F7F7FFF, 0x33800000, 0x33000000, 0x33000001,
      0x43808000, 0x43818000, 0x80000000, 0x00000001};
  std::vector<uint8_t> data(litmus.inBytes);
  if (litmus.type == "bits") {
    for (uint32_t i = 0; i < data.size() / 4; ++i) {
      uint32_t word = i < std::size(special) ? special[i] : mixed(i) ^ i << 7;
      std::memcpy(data.data() + 4 * size_t(i), &word, 4);
    }
    return data;
  }
  for (uint32_t i = 0; i < data.size() / 2; ++i) {
    uint16_t half = halfOf(i, litmus.type == "f16");
    std::memcpy(data.data() + 2 * size_t(i), &half, 2);
  }
  return data;
}

std::string checksum(const std::vector<uint8_t> &data) {
  uint64_t result = 0xCBF29CE484222325;
  for (uint8_t byte : data)
    result = (result ^ byte) * 0x100000001B3;
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx",
                static_cast<unsigned long long>(result));
  return text;
}

std::map<std::string, std::string> readResults() {
  std::map<std::string, std::string> results;
  std::ifstream file(folder / "results.txt");
  for (std::string name, sum; file >> name >> sum;)
    results[name] = sum;
  return results;
}

std::vector<std::string> kernels() {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".mlir")
      names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

/// 40 rows of 60 elements, boxes of 16 rows of 64.
sim::TensorMap recordedMap() {
  sim::TensorMap map = {};
  map.type = 9;
  map.rank = 2;
  map.extents = {60, 40};
  map.strides = {128};
  map.box = {64, 16};
  map.steps = {1, 1};
  map.swizzle = 3;
  return map;
}

class RecordedTest : public ::testing::TestWithParam<std::string> {};

TEST_P(RecordedTest, StoresTheSame) {
  Litmus litmus = Litmus::read(folder / (GetParam() + ".mlir"));
  sim::TensorMap map = recordedMap();
  std::string sum;
  for (uint64_t schedule : {0, 1}) {
    LitmusRun run = runKernel(litmus, litmus.text, schedule, contents(litmus),
                              /*isOutDefined=*/true, map,
                              GetParam().rfind("tensor-store", 0) == 0);
    ASSERT_EQ(run.fault, "");
    sum = checksum(run.bytes);
    auto results = readResults();
    if (!results.count(GetParam()))
      GTEST_SKIP() << GetParam() << " " << sum << ": not recorded";
    EXPECT_EQ(sum, results[GetParam()]);
  }
}

INSTANTIATE_TEST_SUITE_P(Instructions, RecordedTest,
                         ::testing::ValuesIn(kernels()), [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// On an H200 a box whose first index is no multiple of 16 bytes is an illegal
// instruction, whatever the map.
TEST(Recorded, BoxesBeginAtWholeWords) {
  for (const char *name : {"tensor-load-corner", "tensor-store-corner"}) {
    Litmus litmus = Litmus::read(folder / (std::string(name) + ".mlir"));
    for (const char *first : {"-3", "1", "4"}) {
      std::string text = litmus.text;
      const std::string given = "%x = arith.constant -8";
      text.replace(text.find(given), given.size(),
                   std::string("%x = arith.constant ") + first);
      LitmusRun run = runKernel(
          litmus, text, 0, contents(litmus), /*isOutDefined=*/true,
          recordedMap(), std::string(name).rfind("tensor-store", 0) == 0);
      EXPECT_NE(run.fault.find("no multiple of 16 bytes"), std::string::npos)
          << name << " " << first << ": " << run.fault;
    }
  }
}

} // namespace
} // namespace selvedge::testing
