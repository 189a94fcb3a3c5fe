// Errors with file, line, column, caret and hint.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Diagnostics.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace selvedge::frontend {

Diagnostics::Diagnostics(StringRef fileName, StringRef text)
    : fileName(fileName.str()) {
  source = addFile(fileName, text);
}

StringRef Diagnostics::addFile(StringRef name, StringRef content) {
  auto buffer = MemoryBuffer::getMemBufferCopy(content, name);
  StringRef text = buffer->getBuffer();
  manager.AddNewSourceBuffer(std::move(buffer), SMLoc());
  return text;
}

StringRef Diagnostics::file(SMLoc loc) const {
  unsigned buffer = loc.isValid() ? manager.FindBufferContainingLoc(loc) : 0;
  return buffer ? manager.getMemoryBuffer(buffer)->getBufferIdentifier()
                : StringRef(fileName);
}

void Diagnostics::print(SMLoc loc, SourceMgr::DiagKind kind,
                        StringRef message) {
  raw_string_ostream os(output);
  if (loc.isValid()) {
    manager.GetMessage(loc, kind, message)
        .print(nullptr, os, /*ShowColors=*/false);
    return;
  }
  os << fileName << ": "
     << (kind == SourceMgr::DK_Error     ? "error"
         : kind == SourceMgr::DK_Warning ? "warning"
                                         : "note")
     << ": " << message << "\n";
}

void Diagnostics::report(SMLoc loc, SourceMgr::DiagKind kind, StringRef message,
                         const Twine &hint) {
  print(loc, kind, message);
  if (std::string text = hint.str(); !text.empty())
    output += "note: " + text + "\n";
}

void Diagnostics::error(SMLoc loc, const Twine &message, const Twine &hint) {
  std::string text = message.str();
  if (asWarnings) {
    // An error of two ops, which share a base, is one of each.
    ++numErrors;
    return warning(loc, message, hint);
  }
  lastShown = !full() && seen.insert({loc.getPointer(), text}).second;
  if (!lastShown)
    return;
  ++numErrors;
  report(loc, SourceMgr::DK_Error, text, hint);
  if (full())
    output += "note: too many errors, giving up\n";
}

void Diagnostics::warning(SMLoc loc, const Twine &message, const Twine &hint) {
  std::string text = message.str();
  lastShown = numWarnings < kMaxWarnings &&
              seen.insert({loc.getPointer(), text}).second;
  if (!lastShown)
    return;
  ++numWarnings;
  report(loc, SourceMgr::DK_Warning, text, hint);
}

void Diagnostics::unsupported(SMLoc loc, const Twine &what, const Twine &hint) {
  error(loc, what + " is not supported yet", hint);
}

void Diagnostics::note(SMLoc loc, const Twine &message) {
  if (lastShown)
    print(loc, SourceMgr::DK_Note, message.str());
}

SMLoc Diagnostics::place(unsigned line, unsigned column) {
  return manager.FindLocForLineAndColumn(manager.getMainFileID(), line, column);
}

std::pair<unsigned, unsigned> Diagnostics::lineAndColumn(SMLoc loc) const {
  return loc.isValid() ? manager.getLineAndColumn(loc)
                       : std::pair<unsigned, unsigned>(1, 1);
}

std::string didYouMean(StringRef name, ArrayRef<StringRef> candidates) {
  constexpr size_t kLongestName = 64; // the distance is quadratic
  if (name.size() > kLongestName)
    return "";
  unsigned limit = (name.size() + 2) / 3, best = limit + 1;
  StringRef nearest;
  for (StringRef c : candidates) {
    if (c.size() > kLongestName)
      continue;
    unsigned distance = name.edit_distance(c, true, limit);
    if (distance < best && distance < std::max(name.size(), c.size())) {
      best = distance;
      nearest = c;
    }
  }
  return nearest.empty() ? "" : ("did you mean '" + nearest + "'?").str();
}

} // namespace selvedge::frontend
