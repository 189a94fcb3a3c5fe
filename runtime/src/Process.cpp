// Child processes without a shell.
// SPDX-License-Identifier: MIT
#include "runtime/src/Process.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace selvedge::inline runtime {

Result<ProcessResult> runProcess(const std::vector<std::string> &argv) {
  auto failure = [&](int error) {
    return Status::failed(
        fmt::format("cannot run '{}': {}", argv[0], std::strerror(error)));
  };
  std::array<int, 2> ends = {};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return failure(errno);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  std::vector<char *> pointers;
  for (const std::string &argument : argv)
    pointers.push_back(const_cast<char *>(argument.c_str()));
  pointers.push_back(nullptr);
  pid_t child = 0;
  int error = ::posix_spawn(&child, pointers[0], &actions, nullptr,
                            pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  ProcessResult result;
  std::array<char, 4096> chunk = {};
  while (error == 0) {
    ssize_t got = ::read(ends[0], chunk.data(), chunk.size());
    if (got > 0)
      result.output.append(chunk.data(), static_cast<size_t>(got));
    else if (got == 0 || errno != EINTR)
      break;
  }
  ::close(ends[0]);
  if (error != 0)
    return failure(error);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return failure(errno);
  result.exitStatus =
      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

Result<TemporaryFolder> TemporaryFolder::create() {
  const char *root = std::getenv("TMPDIR");
  std::string pattern =
      std::string(root && *root ? root : "/tmp") + "/selvedge.XXXXXX";
  if (!::mkdtemp(pattern.data()))
    return Status::failed(fmt::format("cannot create a folder in '{}': {}",
                                      root && *root ? root : "/tmp",
                                      std::strerror(errno)));
  return TemporaryFolder(pattern);
}

TemporaryFolder::TemporaryFolder(TemporaryFolder &&other) noexcept
    : path(std::exchange(other.path, "")) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path.empty())
    std::filesystem::remove_all(path, ignored);
}

} // namespace selvedge::inline runtime
