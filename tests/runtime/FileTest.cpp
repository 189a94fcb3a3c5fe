// Atomic replacement of files.
// SPDX-License-Identifier: MIT
#include "selvedge/File.h"

#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

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

TEST_F(FileTest, newFilesHaveTheUsualMode) {
  mode_t mask = ::umask(027);
  ASSERT_TRUE(writeFileAtomically(folder + "/new", {"x"}).ok());
  ::umask(mask);
  EXPECT_EQ(fs::status(folder + "/new").permissions(), fs::perms(0640));
  fs::permissions(folder + "/new", fs::perms(0600));
  ASSERT_TRUE(writeFileAtomically(folder + "/new", {"y"}).ok());
  EXPECT_EQ(fs::status(folder + "/new").permissions(), fs::perms(0600));
}

// The mask belongs to the process: other threads create files meanwhile.
TEST_F(FileTest, leavesTheMaskAlone) {
  mode_t mask = ::umask(077);
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    while (!stop)
      EXPECT_TRUE(writeFileAtomically(folder + "/a", {"x"}).ok());
  });
  int open = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string path = folder + "/private";
    int file = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0666);
    struct stat info = {};
    ::fstat(file, &info);
    open += (info.st_mode & 077) != 0;
    ::close(file);
    ::unlink(path.c_str());
  }
  stop = true;
  writer.join();
  ::umask(mask);
  EXPECT_EQ(open, 0);
}

// A file is written without a name. It has one besides its own for the moment
// between two system calls, when all of it is there.
TEST_F(FileTest, killedWritersLeaveNoHalfFile) {
  int nameless = ::open(folder.c_str(), O_TMPFILE | O_WRONLY, 0666);
  if (nameless < 0)
    GTEST_SKIP() << "this file system knows no files without a name";
  ::close(nameless);
  constexpr size_t size = 10 << 20;
  pid_t child = ::fork();
  if (child == 0) {
    std::string content(size, 'x');
    while (true)
      (void)writeFileAtomically(folder + "/a", {content});
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_LE(countFiles(), 2u);
  for (const auto &file : fs::directory_iterator(folder))
    EXPECT_EQ(file.file_size(), size) << file.path();
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
