// Child processes without a shell, and files that no folder knows.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_RUNTIME_SRC_PROCESS_H
#define SELVEDGE_RUNTIME_SRC_PROCESS_H

#include "selvedge/Result.h"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

// For the compiler, too, which has neither fmt nor the runtime.
namespace selvedge::inline runtime {

/// How a child process ended.
struct ProcessResult {
  /// Exit status; of no meaning where a signal ended it.
  int exitStatus = 0;
  /// The signal that ended it; 0: none.
  int signal = 0;
  /// It took too long and was killed.
  bool timedOut = false;
  /// Standard output and standard error together.
  std::string output;

  /// Exit status 0.
  bool ok() const { return exitStatus == 0 && signal == 0; }
  /// Somebody ended it: a person, the system that is out of memory, a limit.
  /// False where it crashed.
  bool wasKilled() const;
  /// "failed with status 1", "was killed by signal 9 (Killed)", "took too
  /// long".
  std::string describe() const;
};

/// Runs `argv` (argv[0] is a path) and waits for its end. The child is killed
/// when it takes longer than `limit`, and when this process ends first,
/// however it ends.
Result<ProcessResult>
runProcess(const std::vector<std::string> &argv,
           std::chrono::seconds limit = std::chrono::hours(1));

/// A file in memory that child processes can open: it needs no folder, and
/// nothing is left of it however this process ends.
class MemoryFile {
public:
  /// Creates it with this content.
  static Result<MemoryFile> create(std::string_view content = "");
  MemoryFile(MemoryFile &&other) noexcept;
  ~MemoryFile();
  MemoryFile &operator=(MemoryFile &&) = delete;

  /// What it holds now.
  Result<std::string> read() const;
  /// Its path, for as long as this object lives.
  std::string path() const;

private:
  explicit MemoryFile(int number) : number(number) {}
  int number;
};

} // namespace selvedge::inline runtime

#endif // SELVEDGE_RUNTIME_SRC_PROCESS_H
