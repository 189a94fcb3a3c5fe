// Co-operative scheduling of the agents of one execution.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ASYNC_ROUNDROBIN_H
#define SELVEDGE_COMPILER_VERIFY_ASYNC_ROUNDROBIN_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace selvedge::verify {

/// What a step of an agent came to. Ignored: it advanced, and its rule has
/// nothing to say about the operation, whoever executes it.
enum class Progress { Advanced, Blocked, Finished, Failed, Ignored };

/// How an execution ended.
enum class Ending { Finished, Deadlock, Failed };

/// Steps each of `agents` agents until it blocks or finishes, in turn. The
/// order is fixed: where synchronisation is deterministic, so is the verdict.
inline Ending runRoundRobin(unsigned agents,
                            llvm::function_ref<Progress(unsigned)> step) {
  while (true) {
    bool advanced = false, finished = true;
    for (unsigned agent = 0; agent < agents; ++agent) {
      Progress progress = step(agent);
      while (progress == Progress::Advanced) {
        advanced = true;
        progress = step(agent);
      }
      if (progress == Progress::Failed)
        return Ending::Failed;
      finished &= progress == Progress::Finished;
    }
    if (finished)
      return Ending::Finished;
    if (!advanced)
      return Ending::Deadlock;
  }
}

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ASYNC_ROUNDROBIN_H
