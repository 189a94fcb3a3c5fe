// selvedge-fuzz: carries out the steps of requests, one line of JSON each on
// standard input, and answers one line per step. Each request runs in a
// process of its own, which starts again behind a step that crashed.
// SPDX-License-Identifier: MIT
#include "compiler/Target/TargetInfo.h"
#include "tools/selvedge-fuzz/Steps.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <iostream>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace {

using namespace selvedge;
using namespace selvedge::fuzz;
using Clock = std::chrono::steady_clock;

double processorSeconds(clockid_t clock = CLOCK_PROCESS_CPUTIME_ID) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) * 1e-9;
}

/// What another process has computed; 0 where it is gone.
double processorSecondsOf(pid_t process) {
  clockid_t clock{};
  return ::clock_getcpuclockid(process, &clock) == 0 ? processorSeconds(clock)
                                                     : 0;
}

void limitStep(const Request &request) {
  rlimit limit{};
  ::getrlimit(RLIMIT_CPU, &limit);
  limit.rlim_cur =
      static_cast<rlim_t>(processorSeconds()) + 1 + request.cpuSeconds;
  ::setrlimit(RLIMIT_CPU, &limit);
}

void writeLine(int fd, std::string line) {
  line += '\n';
  for (size_t done = 0; done < line.size();) {
    ssize_t n = ::write(fd, line.data() + done, line.size() - done);
    if (n <= 0)
      ::_exit(3);
    done += static_cast<size_t>(n);
  }
}

/// By step, whether it succeeded.
using Successes = std::vector<bool>;

/// Seconds of processor time after which a step is not repeated.
constexpr double tooLongToRepeat = 1.5;

/// `seconds` are those of the steps before.
Reply runStep(Runner &runner, const Step &step, const Successes &succeeded,
              const std::vector<double> &seconds) {
  Reply reply;
  if (step.after && !succeeded[*step.after])
    reply.status = "skipped";
  else if (step.repeats && seconds[*step.repeats] > tooLongToRepeat)
    reply.status = "once";
  else
    return runner.run(step);
  return reply;
}

/// In the child: the steps from `first` on.
[[noreturn]] void runSteps(const Request &request, size_t first,
                           Successes succeeded, int out) {
  rlimit memory{request.memoryBytes, request.memoryBytes};
  ::setrlimit(RLIMIT_AS, &memory);
  rlimit core{0, 0};
  ::setrlimit(RLIMIT_CORE, &core);
  Runner runner(request);
  std::vector<double> seconds(request.steps.size());
  for (size_t i = first; i < request.steps.size(); ++i) {
    limitStep(request);
    auto start = Clock::now();
    double spent = processorSeconds();
    Reply reply;
    try {
      reply = runStep(runner, request.steps[i], succeeded, seconds);
      succeeded[i] = reply.status == "ok";
    } catch (const std::exception &error) {
      std::fprintf(stderr, "exception: %s\n", error.what());
      ::_exit(4);
    }
    reply.milliseconds =
        std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    seconds[i] = processorSeconds() - spent;
    reply.processorMilliseconds = 1000 * seconds[i];
    writeLine(out, printReply(i, reply));
  }
  ::_exit(0);
}

std::string readAll(int fd) {
  std::string text(size_t(1) << 16, '\0');
  ::lseek(fd, 0, SEEK_SET);
  ssize_t n = ::read(fd, text.data(), text.size());
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return text;
}

/// What a child that ended too early has to say.
Reply replyForDeath(int status, bool late, const std::string &errors) {
  Reply reply;
  bool isTime = WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;
  reply.status = isTime || late ? "timeout" : "crash";
  if (WIFSIGNALED(status))
    reply.message = ::strsignal(WTERMSIG(status));
  else
    reply.message = "exit status " + std::to_string(WEXITSTATUS(status));
  // The last lines before the stack trace.
  std::string kept = errors.substr(0, errors.find("PLEASE submit"));
  kept = kept.substr(0, kept.find("Stack dump"));
  size_t end = kept.find_last_not_of('\n');
  if (end != std::string::npos && !isTime) {
    size_t begin = kept.rfind('\n', end);
    begin = begin == std::string::npos ? 0 : begin + 1;
    reply.message += ": " + kept.substr(begin, end - begin + 1);
  }
  return reply;
}

/// Carries out steps from `first` on in a child; returns the first step that
/// was not answered.
size_t watch(const Request &request, size_t first, Successes &succeeded) {
  int pipes[2];
  int errors = ::memfd_create("errors", 0);
  if (::pipe(pipes) != 0 || errors < 0)
    throw std::runtime_error("no pipe");
  pid_t child = ::fork();
  if (child == 0) {
    ::close(pipes[0]);
    ::dup2(errors, 2);
    runSteps(request, first, succeeded, pipes[1]);
  }
  ::close(pipes[1]);
  std::string pending;
  size_t answered = first;
  bool late = false;
  // A step that waits instead of computing is caught by the wall clock. On a
  // machine with much to do one that computes may take longer.
  int patience = static_cast<int>(request.cpuSeconds) * 1000;
  double computed = 0;
  for (;;) {
    pollfd poller{pipes[0], POLLIN, 0};
    if (::poll(&poller, 1, patience) == 0) {
      constexpr double hardlyAny = 0.02;
      double now = processorSecondsOf(child);
      if (now - std::exchange(computed, now) > hardlyAny)
        continue;
      late = true;
      ::kill(child, SIGKILL);
      break;
    }
    char buffer[4096];
    ssize_t n = ::read(pipes[0], buffer, sizeof(buffer));
    if (n <= 0)
      break;
    pending.append(buffer, static_cast<size_t>(n));
    for (size_t end; (end = pending.find('\n')) != std::string::npos;) {
      std::string line = pending.substr(0, end);
      std::cout << line << std::endl;
      succeeded[answered] = line.find(R"("status":"ok")") != std::string::npos;
      pending.erase(0, end + 1);
      ++answered;
    }
  }
  ::close(pipes[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (answered < request.steps.size()) {
    std::cout << printReply(answered,
                            replyForDeath(status, late, readAll(errors)))
              << std::endl;
    ++answered;
  }
  ::close(errors);
  return answered;
}

/// Tables that LLVM and MLIR build once are built before processes part.
void warmUp() {
  CompileRequest request;
  request.fileName = "warm.tile";
  request.source = "op f(x: f32[M]) -> (y: f32[M] out_init(0)) {\n"
                   "  kernel main(i in M by BM) { y[i] = x[i]; }\n}\n";
  for (const TargetInfo &target : targets) {
    request.arch = target.name;
    compile(request, /*withCubin=*/false);
  }
}

} // namespace

int main() {
  std::signal(SIGPIPE, SIG_IGN);
  warmUp();
  std::string line;
  while (std::getline(std::cin, line)) {
    try {
      Request request = parseRequest(line);
      Successes succeeded(request.steps.size());
      for (size_t next = 0; next < request.steps.size();)
        next = watch(request, next, succeeded);
    } catch (const std::exception &error) {
      std::cout << R"({"error": ")" << error.what() << "\"}" << std::endl;
    }
    std::cout << R"({"done": true})" << std::endl;
  }
  return 0;
}
