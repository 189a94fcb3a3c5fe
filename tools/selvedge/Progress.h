// A progress bar on standard error.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_PROGRESS_H
#define SELVEDGE_TOOLS_SELVEDGE_PROGRESS_H

#include <cstddef>
#include <string_view>

namespace selvedge::cli {

/// Redraws one line of a terminal; elsewhere each state is a line of its own.
class Progress {
public:
  explicit Progress(size_t total);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// `done` steps are complete; `text` says what comes, or came, of them.
  void show(size_t done, std::string_view text);

private:
  size_t total;
  bool isTerminal;
};

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_PROGRESS_H
