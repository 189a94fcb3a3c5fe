// Child processes: how they end, and that they end with their parent.
// SPDX-License-Identifier: MIT
#include "runtime/src/Process.h"

#include <csignal>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace selvedge;

namespace {

std::vector<std::string> shell(const std::string &text) {
  return {"/bin/sh", "-c", text};
}

TEST(Process, outputAndStatus) {
  auto result = runProcess(shell("echo out; echo err >&2; exit 3"));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->output, "out\nerr\n");
  EXPECT_EQ(result->exitStatus, 3);
  EXPECT_EQ(result->describe(), "failed with status 3");
  EXPECT_FALSE(result->wasKilled());
  auto missing = runProcess({"/nonexistent/program"});
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.status().message().find("No such file"), std::string::npos);
}

TEST(Process, signals) {
  auto killed = runProcess(shell("kill -9 $$"));
  ASSERT_TRUE(killed.ok());
  EXPECT_FALSE(killed->ok());
  EXPECT_TRUE(killed->wasKilled());
  EXPECT_EQ(killed->describe(), "was killed by signal 9 (Killed)");
  auto crashed = runProcess(shell("kill -SEGV $$"));
  ASSERT_TRUE(crashed.ok());
  EXPECT_FALSE(crashed->wasKilled());
  EXPECT_NE(crashed->describe().find("crashed with signal 11"),
            std::string::npos);
}

TEST(Process, limit) {
  auto result = runProcess(shell("exec sleep 60"), std::chrono::seconds(1));
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->timedOut);
  EXPECT_TRUE(result->wasKilled());
}

// Handlers and masks of this process are none of the child's business.
TEST(Process, startsWithDefaultSignals) {
  auto old = std::signal(SIGTERM, [](int) {});
  sigset_t some, before;
  ::sigemptyset(&some);
  ::sigaddset(&some, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &some, &before);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  auto result = runProcess(shell("kill -TERM $$; echo alive"));
  std::signal(SIGTERM, old);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->signal, SIGTERM);
}

TEST(Process, childrenEndWithTheirParent) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  pid_t parent = ::fork();
  if (parent == 0) {
    // The child inherits the pipe, whose other end notices when it is gone.
    (void)runProcess(
        shell("echo ready >&" + std::to_string(ends[1]) + "; exec sleep 60"));
    ::_exit(0);
  }
  ::close(ends[1]);
  char text[16];
  ASSERT_GT(::read(ends[0], text, sizeof(text)), 0);
  ::kill(parent, SIGTERM);
  ::waitpid(parent, nullptr, 0);
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(::read(ends[0], text, sizeof(text)), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  ::close(ends[0]);
}

TEST(MemoryFile, childrenReadAndWriteIt) {
  auto input = MemoryFile::create("some text\n"), output = MemoryFile::create();
  ASSERT_TRUE(input.ok() && output.ok());
  auto result =
      runProcess(shell("cat " + input->path() + " > " + output->path()));
  ASSERT_TRUE(result.ok() && result->ok()) << result->output;
  EXPECT_EQ(*output->read(), "some text\n");
  EXPECT_EQ(*input->read(), "some text\n");
}

} // namespace
