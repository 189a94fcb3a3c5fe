// The declarations of the source that an explanation speaks of.
// SPDX-License-Identifier: MIT
#include "compiler/Explain/SourceBlocks.h"

#include "llvm/ADT/StringExtras.h"

#include <map>
#include <set>

namespace selvedge::explain {

using llvm::ArrayRef;
using llvm::StringRef;

/// Whether `line` is the first one of the op.
static bool declares(StringRef line, StringRef op) {
  if (!line.consume_front("op "))
    return false;
  line = line.ltrim();
  return line.consume_front(op) &&
         (line.empty() ||
          (!llvm::isAlnum(line.front()) && line.front() != '_'));
}

/// Whether a declaration, or its comment, begins after an empty line.
static bool beginsBlock(ArrayRef<StringRef> lines, size_t i) {
  return i == 0 ||
         (lines[i - 1].trim().empty() && !lines[i].empty() &&
          (llvm::isAlpha(lines[i].front()) || lines[i].front() == '/'));
}

/// The lines, numbered from 1, that the explanation links to; by file.
static std::map<std::string, std::set<unsigned>>
linkedLines(const Explanation &explanation) {
  std::map<std::string, std::set<unsigned>> linked{{"", {}}};
  auto add = [&](const Place &place) {
    if (place.line)
      linked[place.file].insert(place.line);
  };
  for (const Record &record : explanation.records) {
    add(record.place);
    add(record.consumer);
    for (const Predicate &predicate : record.predicates)
      add(predicate.place);
    for (const Writer &writer : record.writers)
      add(writer.place);
  }
  for (const Proof &proof : explanation.proofs)
    add(proof.place);
  return linked;
}

std::vector<SourceBlock> sourceBlocks(const SourceText &source,
                                      const Explanation &explanation) {
  std::vector<SourceBlock> blocks;
  for (const auto &[file, linked] : linkedLines(explanation)) {
    ArrayRef<StringRef> lines = source.linesOf(file);
    for (size_t begin = 0, end; begin < lines.size(); begin = end) {
      end = begin + 1;
      while (end < lines.size() && !beginsBlock(lines, end))
        ++end;
      auto first = linked.lower_bound(begin + 1);
      bool isLinked = first != linked.end() && *first <= end;
      ArrayRef<StringRef> block = lines.slice(begin, end - begin);
      if (!isLinked && llvm::none_of(block, [&](StringRef line) {
            return declares(line, explanation.op);
          }))
        continue;
      while (block.back().trim().empty() && block.size() > 1)
        block = block.drop_back();
      SourceBlock shown{file, static_cast<unsigned>(begin + 1), {}};
      for (StringRef line : block)
        shown.lines.push_back(line.rtrim().str());
      blocks.push_back(std::move(shown));
    }
  }
  return blocks;
}

std::string purposeOf(const std::vector<SourceBlock> &blocks,
                      const std::string &op) {
  for (const SourceBlock &block : blocks) {
    std::string text;
    bool isFirst = true;
    for (StringRef line : block.lines) {
      if (declares(line, op))
        return text;
      line.consume_front("//");
      isFirst &= !line.trim().empty();
      if (isFirst)
        text += (text.empty() ? "" : " ") + line.trim().str();
    }
  }
  return "";
}

} // namespace selvedge::explain
