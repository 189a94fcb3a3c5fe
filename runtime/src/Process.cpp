// Child processes without a shell.
// SPDX-License-Identifier: MIT
#include "runtime/src/Process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace selvedge::inline runtime {

namespace {

using Clock = std::chrono::steady_clock;

/// The part of a child between its birth and its program: it shares the
/// parent's memory, so that it only makes system calls. Returns the error.
int become(char *const *argv, int output, const sigset_t &mask, pid_t parent) {
  // Set before the check: a parent that ends in between is noticed.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
    return errno;
  if (::getppid() != parent)
    return ESRCH;
  // Handlers of the parent must not run here.
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action = {};
    if (::sigaction(number, nullptr, &action) == 0 &&
        action.sa_handler != SIG_IGN && action.sa_handler != SIG_DFL) {
      action = {};
      action.sa_handler = SIG_DFL;
      ::sigaction(number, &action, nullptr);
    }
  }
  int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing < 0 || ::dup2(nothing, 0) < 0 || ::dup2(output, 1) < 0 ||
      ::dup2(output, 2) < 0)
    return errno;
  if (nothing > 2)
    ::close(nothing);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::execve(argv[0], argv, environ);
  return errno;
}

/// Starts `argv`; what it prints goes to `output`. 0 or the error.
int start(char *const *argv, int output, pid_t &child) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t parent = ::getpid();
  // Written by the child, which has this memory until it has a program.
  volatile int error = 0;
  // fork() would copy the tables of a process that holds all of LLVM.
  child = ::vfork(); // NOLINT
  if (child == 0) {
    error = become(argv, output, before, parent);
    ::_exit(127);
  }
  if (child < 0)
    error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (child > 0 && error != 0)
    ::waitpid(child, nullptr, 0);
  return error;
}

/// Appends what comes from `source` until its end; false at the deadline.
bool readAll(int source, Clock::time_point deadline, std::string &output) {
  std::array<char, 4096> chunk = {};
  while (true) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - Clock::now());
    if (left.count() <= 0)
      return false;
    pollfd wait = {source, POLLIN, 0};
    int ready = ::poll(&wait, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno != EINTR)
      return true;
    if (ready <= 0)
      continue;
    ssize_t got = ::read(source, chunk.data(), chunk.size());
    if (got == 0 || (got < 0 && errno != EINTR))
      return true;
    if (got > 0)
      output.append(chunk.data(), static_cast<size_t>(got));
  }
}

} // namespace

bool ProcessResult::wasKilled() const {
  switch (signal) {
  case 0:
  case SIGSEGV:
  case SIGBUS:
  case SIGILL:
  case SIGFPE:
  case SIGABRT:
  case SIGTRAP:
  case SIGSYS:
    return timedOut;
  default:
    return true;
  }
}

std::string ProcessResult::describe() const {
  if (timedOut)
    return "took too long";
  if (signal == 0)
    return "failed with status " + std::to_string(exitStatus);
  return (wasKilled() ? "was killed by signal " : "crashed with signal ") +
         std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

Result<ProcessResult> runProcess(const std::vector<std::string> &argv,
                                 std::chrono::seconds limit) {
  auto failure = [&](int error) {
    return Status::failed("cannot run '" + argv[0] +
                          "': " + std::strerror(error));
  };
  std::array<int, 2> ends = {};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return failure(errno);
  std::vector<char *> pointers;
  pointers.reserve(argv.size() + 1);
  for (const std::string &argument : argv)
    pointers.push_back(const_cast<char *>(argument.c_str()));
  pointers.push_back(nullptr);
  pid_t child = 0;
  int error = start(pointers.data(), ends[1], child);
  ::close(ends[1]);
  ProcessResult result;
  if (error == 0)
    result.timedOut = !readAll(ends[0], Clock::now() + limit, result.output);
  ::close(ends[0]);
  if (error != 0)
    return failure(error);
  if (result.timedOut)
    ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return failure(errno);
  if (WIFEXITED(status))
    result.exitStatus = WEXITSTATUS(status);
  else
    result.signal = WTERMSIG(status);
  return result;
}

} // namespace selvedge::inline runtime
