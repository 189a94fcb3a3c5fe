// A progress bar on standard error.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/Progress.h"

#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

namespace selvedge::cli {

static constexpr size_t barWidth = 24;

Progress::Progress(size_t total)
    : total(total), isTerminal(::isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (isTerminal)
    std::fputc('\n', stderr);
}

void Progress::show(size_t done, std::string_view text) {
  size_t full = total == 0 ? barWidth : barWidth * done / total;
  // The rest of an older, longer line is erased.
  fmt::print(stderr, "{}[{}{}] {} of {}  {}{}", isTerminal ? "\r" : "",
             std::string(full, '#'), std::string(barWidth - full, '.'), done,
             total, text, isTerminal ? "\033[K" : "\n");
  std::fflush(stderr);
}

} // namespace selvedge::cli
