// The safetensors reader and writer, whole and damaged files.
// SPDX-License-Identifier: MIT
#include "selvedge/Safetensors.h"
#include "selvedge/File.h"

#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <random>

using namespace selvedge;

namespace {

std::span<const std::byte> bytesOf(const std::string &text) {
  return std::as_bytes(std::span(text));
}

/// A file with this header and `dataBytes` zeros.
std::string makeFile(const std::string &header, size_t dataBytes) {
  std::string file(8, '\0');
  uint64_t size = header.size();
  std::memcpy(file.data(), &size, 8);
  return file + header + std::string(dataBytes, '\0');
}

std::string writeSample() {
  std::string path = testing::TempDir() + "/safetensors-test.safetensors";
  static const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  static const std::vector<int8_t> y = {-1, 2, 3};
  std::vector<SafetensorsEntry> entries = {
      {"y", DType::I8, {3}, std::as_bytes(std::span(y))},
      {"x", DType::F32, {2, 3}, std::as_bytes(std::span(x))},
      {"empty", DType::F64, {0, 4}, {}},
      {"scalar", DType::I8, {}, std::as_bytes(std::span(y)).first(1)},
  };
  EXPECT_TRUE(writeSafetensors(path, entries, {{"made", "here"}}).ok());
  std::string text = *readFile(path);
  std::filesystem::remove(path);
  return text;
}

std::string failure(const std::string &file) {
  auto parsed = parseSafetensors(bytesOf(file), "in.safetensors");
  EXPECT_FALSE(parsed.ok());
  EXPECT_NE(parsed.status().message().find("in.safetensors"),
            std::string::npos);
  return parsed.status().message();
}

TEST(Safetensors, roundTrip) {
  std::string text = writeSample();
  auto parsed = parseSafetensors(bytesOf(text));
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_EQ(parsed->tensors.size(), 4u);
  EXPECT_EQ(parsed->metadata.at("made"), "here");
  const SafetensorsEntry *x = parsed->find("x");
  ASSERT_TRUE(x);
  EXPECT_EQ(x->shape, (std::vector<int64_t>{2, 3}));
  float last = 0;
  std::memcpy(&last, x->data.data() + 20, 4);
  EXPECT_EQ(last, 6);
  EXPECT_EQ((x->data.data() - bytesOf(text).data()) % 4, 0);
  EXPECT_EQ(parsed->find("nothing"), nullptr);
}

TEST(Safetensors, everyTruncationIsAnError) {
  std::string text = writeSample();
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(parseSafetensors(bytesOf(text.substr(0, size))).ok()) << size;
  EXPECT_FALSE(parseSafetensors(bytesOf(text + "x")).ok());
}

TEST(Safetensors, randomDamageNeverCrashes) {
  std::string text = writeSample();
  std::mt19937_64 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = text;
    for (uint64_t flips = random() % 4 + 1; flips > 0; --flips)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    // Sizes stay unchanged often enough that this gets deep into the reader.
    auto parsed = parseSafetensors(bytesOf(damaged));
    if (!parsed.ok())
      continue;
    for (const SafetensorsEntry &entry : parsed->tensors)
      EXPECT_LE(entry.data.size(), damaged.size());
  }
}

TEST(Safetensors, errorsNameTheTensor) {
  struct Case {
    const char *header;
    size_t dataBytes;
    const char *culprit;
  };
  const Case cases[] = {
      {R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4, "'t'"},
      {R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 4, "'t'"},
      {R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8, "'t'"},
      {R"({"t":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8, "'t'"},
      {R"({"t":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})", 8, "'t'"},
      {R"({"t":{"dtype":"Q4","shape":[2],"data_offsets":[0,8]}})", 8, "Q4"},
      {R"({"t":{"shape":[2],"data_offsets":[0,8]}})", 8, "'dtype'"},
      {R"({"t":{"dtype":"F32","shape":2,"data_offsets":[0,8]}})", 8, "shape"},
      {R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0]}})", 8, "'t'"},
      {R"({"t":7})", 0, "'t'"},
      {R"({"t":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})",
       0, "'t'"},
      {R"({"a":{"dtype":"I8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"I8","shape":[4],"data_offsets":[2,6]}})",
       6, "'b'"},
      {R"({"a":{"dtype":"I8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"I8","shape":[4],"data_offsets":[6,10]}})",
       10, "hole"},
      {R"({"a":{"dtype":"I8","shape":[4],"data_offsets":[0,4]}})", 5, "follow"},
      {R"({"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1]}})",
       1, "'a' twice"},
      {R"({"__metadata__":{"x":1}})", 0, "__metadata__"},
      {R"([])", 0, "'{'"},
      {R"({"t":)", 0, "JSON"},
  };
  for (const Case &c : cases) {
    std::string message = failure(makeFile(c.header, c.dataBytes));
    EXPECT_NE(message.find(c.culprit), std::string::npos)
        << c.header << ": " << message;
  }
}

TEST(Safetensors, hugeHeaderIsRefused) {
  std::string file(8, '\xff');
  EXPECT_NE(failure(file).find("100000000"), std::string::npos);
}

TEST(Safetensors, nestedHeaderDoesNotOverflowTheStack) {
  (void)failure(makeFile("{\"t\":" + std::string(1000000, '['), 0));
}

TEST(Safetensors, inconsistentTensorIsNotWritten) {
  std::string path = testing::TempDir() + "/never-written.safetensors";
  std::vector<SafetensorsEntry> entries = {{"x", DType::F32, {2}, {}}};
  EXPECT_FALSE(writeSafetensors(path, entries).ok());
  EXPECT_FALSE(std::filesystem::exists(path));
}

} // namespace
