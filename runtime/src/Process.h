// Child processes without a shell.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_RUNTIME_SRC_PROCESS_H
#define SELVEDGE_RUNTIME_SRC_PROCESS_H

#include "selvedge/Result.h"

#include <string>
#include <vector>

namespace selvedge::inline runtime {

/// How a child process ended.
struct ProcessResult {
  /// Exit status; 128 + signal for one that was killed.
  int exitStatus = 0;
  /// Standard output and standard error together.
  std::string output;
};

/// Runs `argv` (argv[0] is a path) and waits for its end.
Result<ProcessResult> runProcess(const std::vector<std::string> &argv);

/// A fresh private folder that is removed, with the files in it, at the end of
/// the scope.
class TemporaryFolder {
public:
  /// Creates it in TMPDIR or /tmp.
  static Result<TemporaryFolder> create();
  TemporaryFolder(TemporaryFolder &&other) noexcept;
  ~TemporaryFolder();
  TemporaryFolder &operator=(TemporaryFolder &&) = delete;

  /// The path of a file in it.
  std::string file(const std::string &name) const { return path + "/" + name; }

private:
  explicit TemporaryFolder(std::string path) : path(std::move(path)) {}
  std::string path;
};

} // namespace selvedge::inline runtime

#endif // SELVEDGE_RUNTIME_SRC_PROCESS_H
