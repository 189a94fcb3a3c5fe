// Atomic replacement of files.
// SPDX-License-Identifier: MIT
#include "selvedge/File.h"

#include <filesystem>
#include <gtest/gtest.h>

using namespace selvedge;
namespace fs = std::filesystem;

namespace {

/// A fresh folder per test.
class FileTest : public testing::Test {
protected:
  void SetUp() override {
    folder = testing::TempDir() + "/selvedge-file-test";
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  size_t countFiles() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder), {}));
  }

  std::string folder;
};

TEST_F(FileTest, replaces) {
  std::string path = folder + "/a";
  ASSERT_TRUE(writeFileAtomically(path, {"one"}).ok());
  ASSERT_TRUE(writeFileAtomically(path, {"t", "wo"}).ok());
  EXPECT_EQ(*readFile(path), "two");
  EXPECT_EQ(countFiles(), 1u);
}

TEST_F(FileTest, keepsSymbolicLinks) {
  ASSERT_TRUE(writeFileAtomically(folder + "/a", {"one"}).ok());
  fs::create_symlink(folder + "/a", folder + "/link");
  ASSERT_TRUE(writeFileAtomically(folder + "/link", {"two"}).ok());
  EXPECT_TRUE(fs::is_symlink(folder + "/link"));
  EXPECT_EQ(*readFile(folder + "/a"), "two");
}

TEST_F(FileTest, errorsLeaveNothing) {
  EXPECT_FALSE(writeFileAtomically(folder, {"x"}).ok());
  EXPECT_FALSE(writeFileAtomically(folder + "/no/such", {"x"}).ok());
  EXPECT_EQ(countFiles(), 0u);
  auto missing = readFile(folder + "/missing");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.status().message().find("missing"), std::string::npos);
  EXPECT_FALSE(readFile(folder).ok());
}

TEST_F(FileTest, writesToDevices) {
  EXPECT_TRUE(writeFileAtomically("/dev/null", {"x"}).ok());
  EXPECT_FALSE(writeFileAtomically("/dev/full", {"x"}).ok());
}

} // namespace
