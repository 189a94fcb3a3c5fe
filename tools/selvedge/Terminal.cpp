// Standard error as somebody reads it: colours, and a word while it takes long.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/Terminal.h"

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <fmt/format.h>
#include <mutex>
#include <stop_token>
#include <unistd.h>
#include <utility>

namespace selvedge::cli {

static bool isSet(const char *value) { return value && *value; }

bool showsColours() {
  if (isSet(std::getenv("CLICOLOR_FORCE")))
    return true;
  return !isSet(std::getenv("NO_COLOR")) && ::isatty(STDERR_FILENO);
}

static constexpr std::string_view bold = "\033[1m", reset = "\033[0m",
                                  green = "\033[1;32m";

/// A line of a message, or of the source.
static void paintLine(std::string_view line, std::string &text) {
  if (!line.empty() && line.find_first_not_of(" \t^~") == line.npos &&
      line.find('^') != line.npos) {
    text.append(green).append(line).append(reset);
    return;
  }
  for (auto [word, colour] :
       {std::pair<std::string_view, std::string_view>("error: ", "\033[1;31m"),
        {"warning: ", "\033[1;35m"},
        {"note: ", "\033[1;36m"}}) {
    size_t at = line.find(word);
    // At the beginning, or behind a place.
    if (at == line.npos || (at > 0 && !line.substr(0, at).ends_with(": ")))
      continue;
    text.append(bold).append(line.substr(0, at)).append(reset);
    text.append(colour).append(word).append(reset);
    text.append(bold).append(line.substr(at + word.size())).append(reset);
    return;
  }
  text.append(line);
}

static void tellIfLong(const std::stop_token &stop, const std::string &words) {
  std::mutex mutex;
  std::condition_variable_any end;
  std::unique_lock lock(mutex);
  auto isOver = [&] { return stop.stop_requested(); };
  if (!end.wait_for(lock, stop, std::chrono::seconds(1), isOver))
    fmt::print(stderr, "{}\n", words);
}

Patience::Patience(std::string words) {
  if (::isatty(STDERR_FILENO))
    waiter = std::jthread(tellIfLong, std::move(words));
}

std::string paint(std::string_view diagnostics) {
  std::string text;
  for (size_t begin = 0; begin < diagnostics.size();) {
    size_t end = diagnostics.find('\n', begin);
    paintLine(diagnostics.substr(begin, end - begin), text);
    if (end == diagnostics.npos)
      break;
    text += '\n';
    begin = end + 1;
  }
  return text;
}

} // namespace selvedge::cli
