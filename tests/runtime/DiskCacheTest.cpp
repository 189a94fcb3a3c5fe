// The cache of compilations on disk.
// SPDX-License-Identifier: MIT
#include "selvedge/DiskCache.h"
#include "selvedge/File.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

using namespace selvedge;
namespace fs = std::filesystem;

namespace {

/// A folder of its own as XDG_CACHE_HOME.
class Cache : public testing::Test {
protected:
  void SetUp() override {
    root = fs::temp_directory_path() /
           ("selvedge-cache-test-" + std::to_string(::getpid()));
    ::setenv("XDG_CACHE_HOME", root.c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("XDG_CACHE_HOME");
    fs::remove_all(root);
  }
  fs::path file(const std::string &key) const {
    return root / "selvedge" / key;
  }

  fs::path root;
};

TEST_F(Cache, returnsWhatWasWritten) {
  std::string content("\0\1binary", 8);
  EXPECT_FALSE(DiskCache().read("k"));
  DiskCache().write("k", content);
  EXPECT_EQ(DiskCache().read("k"), content);
}

TEST_F(Cache, keysTellPartsApart) {
  std::string key = DiskCache::key({"ab", "c"}, "x");
  EXPECT_EQ(key, DiskCache::key({"ab", "c"}, "x"));
  EXPECT_NE(key, DiskCache::key({"a", "bc"}, "x"));
  EXPECT_NE(key, DiskCache::key({"abc"}, "x"));
  EXPECT_NE(key, DiskCache::key({"ab", "c", ""}, "x"));
  EXPECT_NE(key, DiskCache::key({"c", "ab"}, "x"));
}

TEST_F(Cache, tornFilesAreNoEntries) {
  DiskCache().write("k", "some content");
  std::string whole = *readFile(file("k"));
  for (const std::string &torn :
       {whole.substr(0, whole.size() - 1), whole + "x", whole.substr(0, 10),
        std::string(), std::string(whole.size(), '0')}) {
    ASSERT_TRUE(writeFileAtomically(file("k"), {torn}).ok());
    EXPECT_FALSE(DiskCache().read("k"));
  }
}

TEST_F(Cache, removesWhatWasNotUsedForLongest) {
  std::string content(100, 'x');
  for (const char *key : {"a", "b", "c"})
    DiskCache().write(key, content);
  auto now = fs::file_time_type::clock::now();
  fs::last_write_time(file("a"), now - std::chrono::hours(3));
  fs::last_write_time(file("b"), now - std::chrono::hours(2));
  fs::last_write_time(file("c"), now - std::chrono::hours(1));
  // Reading counts as use.
  EXPECT_TRUE(DiskCache().read("a"));
  DiskCache(3 * 132).write("d", content);
  EXPECT_FALSE(DiskCache().read("b"));
  for (const char *key : {"a", "c", "d"})
    EXPECT_TRUE(DiskCache().read(key)) << key;
}

TEST_F(Cache, changedFilesAreOtherFiles) {
  fs::create_directories(root);
  std::string path = root / "program";
  ASSERT_TRUE(writeFileAtomically(path, {"one"}).ok());
  std::string before = identifyFile(path);
  EXPECT_EQ(before, identifyFile(path));
  ASSERT_TRUE(writeFileAtomically(path, {"three"}).ok());
  EXPECT_NE(before, identifyFile(path));
}

// Size and time can be made equal; the time of the change of them cannot.
TEST_F(Cache, disguisedFilesAreOtherFiles) {
  fs::create_directories(root);
  std::string path = root / "program";
  std::ofstream(path) << "one";
  auto time = fs::last_write_time(path);
  std::string before = identifyFile(path);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::ofstream(path) << "two";
  fs::last_write_time(path, time);
  EXPECT_NE(before, identifyFile(path));
}

TEST_F(Cache, codeIsKnownByItsBuild) {
  std::string self =
      identifyCode(reinterpret_cast<const void *>(&identifyFile));
  EXPECT_TRUE(self.starts_with("build ")) << self;
  EXPECT_NE(self, identifyCode(reinterpret_cast<const void *>(&::getpid)));
}

TEST_F(Cache, concurrentUse) {
  std::vector<std::thread> threads;
  std::string content(5000, 'y');
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 50; ++j) {
        std::string key = "k" + std::to_string(j % 7);
        DiskCache(20000).write(key, content);
        std::optional<std::string> entry = DiskCache().read(key);
        EXPECT_TRUE(!entry || *entry == content);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(Cache, needsNoFolder) {
  const char *variable = std::getenv("HOME");
  std::string home = variable ? variable : "";
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("HOME");
  DiskCache().write("k", "content");
  EXPECT_FALSE(DiskCache().read("k"));
  ::setenv("HOME", home.c_str(), 1);
}

} // namespace
