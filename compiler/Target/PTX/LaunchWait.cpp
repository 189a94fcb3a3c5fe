// Refuses PTX of a kernel that may start early and does not wait in time.
// SPDX-License-Identifier: MIT
#include "compiler/Target/PTX/Translate.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
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

/// Calls `visit` with the statements of a kernel, as long as that is true.
static void forStatements(StringRef ptx, StringRef kernel,
                          function_ref<bool(StringRef)> visit) {
  StringRef text = ptx.split((".visible .entry " + kernel + "(").str()).second;
  // Its parameters and directives come before a brace of its own line.
  text = text.split("\n{").second;
  // It ends with another one.
  text = text.split("\n}").first;
  while (!text.empty()) {
    StringRef line;
    std::tie(line, text) = text.split('\n');
    line = line.split("//").first.trim();
    while (!line.empty()) {
      StringRef statement;
      std::tie(statement, line) = line.split(';');
      statement = statement.trim(" \t{}");
      if (!statement.empty() && !visit(statement))
        return;
    }
  }
}

static constexpr StringLiteral wait = "griddepcontrol.wait";

static Error noWait(StringRef kernel, const Twine &why) {
  return createStringError("kernel '" + kernel +
                           "' may start while the one before it runs, and "
                           "does not wait" +
                           why);
}

/// Fails where a statement that has to wait stands ahead of the first wait, or
/// where there is none.
static Error checkAhead(StringRef ptx, StringRef kernel,
                        function_ref<bool(StringRef)> mustWait) {
  bool waits = false;
  std::string before;
  forStatements(ptx, kernel, [&](StringRef statement) {
    waits = statement == wait;
    if (!waits && mustWait(statement))
      before = statement.str();
    return !waits && before.empty();
  });
  if (!before.empty())
    return noWait(kernel, " ahead of: " + before);
  return waits ? Error::success() : noWait(kernel, "");
}

Error checkLaunchWait(StringRef ptx, StringRef kernel) {
  return checkAhead(ptx, kernel, [](StringRef statement) {
    return !mayPrecedeWait(statement);
  });
}

/// The registers, and parameters of the kernel, that a piece of text names.
static SmallVector<StringRef> namesIn(StringRef text, StringRef kernel) {
  SmallVector<StringRef> names;
  while (!text.empty()) {
    size_t end = 0;
    while (end < text.size() &&
           (isAlnum(text[end]) || StringRef("%_$").contains(text[end])))
      ++end;
    StringRef name = text.take_front(end);
    if (name.starts_with("%") || name.starts_with((kernel + "_param_").str()))
      names.push_back(name);
    text = text.drop_front(std::max<size_t>(end, 1));
  }
  return names;
}

Error checkLateWait(StringRef ptx, StringRef kernel,
                    const DenseSet<unsigned> &parameters) {
  StringSet<> made;
  for (unsigned number : parameters)
    made.insert((kernel + "_param_" + Twine(number)).str());
  auto isMade = [&](ArrayRef<StringRef> names) {
    return any_of(names, [&](StringRef name) { return made.contains(name); });
  };
  // What is computed from such a number, but not what is loaded by it.
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    forStatements(ptx, kernel, [&](StringRef statement) {
      if (statement.starts_with("@"))
        statement = statement.split(' ').second;
      StringRef opcode = statement.take_until(isSpace),
                operands = statement.drop_front(opcode.size());
      bool isLoad =
          opcode.starts_with("ld.") && !opcode.starts_with("ld.param");
      SmallVector<StringRef> names = namesIn(operands, kernel);
      if (!isLoad && !names.empty() && names.front().starts_with("%") &&
          isMade(ArrayRef(names).drop_front()))
        isChanged |= made.insert(names.front()).second;
      return true;
    });
  }
  return checkAhead(ptx, kernel, [&](StringRef statement) {
    return !statement.starts_with("ld.param") &&
           isMade(namesIn(statement.split('[').second, kernel));
  });
}

} // namespace selvedge::ptx
