// Refuses PTX of a kernel that may start early and does not wait first.
// SPDX-License-Identifier: MIT
#include "compiler/Target/PTX/Translate.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace selvedge::ptx {

using namespace llvm;

/// What may stand ahead of the wait: declarations and arithmetic. Whatever
/// accesses memory has an address in brackets; parameters are no memory.
static bool mayPrecedeWait(StringRef statement) {
  if (statement.empty() || statement.starts_with("."))
    return true;
  if (statement.ends_with(":") || statement.starts_with("@"))
    return false;
  StringRef opcode = statement.take_until(isSpace);
  if (statement.contains('[') && !opcode.starts_with("ld.param"))
    return false;
  return StringSwitch<bool>(opcode.split('.').first)
      .Cases({"bra", "brx", "call", "ret", "exit", "trap"}, false)
      .Default(true);
}

Error checkLaunchWait(StringRef ptx, StringRef kernel) {
  auto [head, text] = ptx.split((".visible .entry " + kernel + "(").str());
  // Its parameters and directives come before a brace of its own line.
  text = text.split("\n{").second;
  while (!text.empty()) {
    StringRef line;
    std::tie(line, text) = text.split('\n');
    line = line.split("//").first.trim();
    if (line == "griddepcontrol.wait;")
      return Error::success();
    while (!line.empty()) {
      StringRef statement;
      std::tie(statement, line) = line.split(';');
      statement = statement.trim(" \t{}");
      if (!mayPrecedeWait(statement))
        return createStringError("kernel '" + kernel +
                                 "' may start while the one before it runs, "
                                 "and does not wait ahead of: " +
                                 statement);
    }
  }
  return createStringError("kernel '" + kernel +
                           "' may start while the one before it runs, and "
                           "does not wait");
}

} // namespace selvedge::ptx
