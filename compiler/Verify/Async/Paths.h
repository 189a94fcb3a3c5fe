// Enumerates the choices that a kernel's data could make.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ASYNC_PATHS_H
#define SELVEDGE_COMPILER_VERIFY_ASYNC_PATHS_H

#include "llvm/ADT/SmallVector.h"

namespace selvedge::verify {

/// Depth-first enumeration: a run asks choose() at each choice and takes what
/// it returns; advance() prepares the next run until all have been made.
class Paths {
public:
  /// One of 0..count-1, 0 first.
  unsigned choose(unsigned count) {
    if (next == choices.size())
      choices.push_back({0, count});
    return choices[next++].taken;
  }

  /// Whether there is another path.
  bool advance() {
    choices.truncate(next);
    next = 0;
    while (!choices.empty() && choices.back().taken + 1 == choices.back().count)
      choices.pop_back();
    if (choices.empty())
      return false;
    ++choices.back().taken;
    return true;
  }

private:
  struct Choice {
    unsigned taken, count;
  };
  llvm::SmallVector<Choice> choices;
  size_t next = 0;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ASYNC_PATHS_H
