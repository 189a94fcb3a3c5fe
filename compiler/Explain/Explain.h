// From a watched compilation to its explanation.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_EXPLAIN_EXPLAIN_H
#define SELVEDGE_COMPILER_EXPLAIN_EXPLAIN_H

#include "compiler/Explain/Explanation.h"
#include "compiler/Explain/Trace.h"

namespace selvedge::explain {

/// The program's text and how it is called in the explanation.
struct Source {
  std::string file;
  std::string text;
};

/// Joins the program after the safety passes (`trace`) with its final `sm`
/// form (`module`).
Explanation collect(Trace &trace, mlir::ModuleOp module, const Source &source);

} // namespace selvedge::explain

#endif // SELVEDGE_COMPILER_EXPLAIN_EXPLAIN_H
