// The program beside its explanation.
// SPDX-License-Identifier: MIT
#include "compiler/Explain/Html.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace selvedge::explain {

static std::vector<const Record *>
recordsAt(const Explanation &e, const std::string &file, unsigned line) {
  std::vector<const Record *> result;
  for (const Record &record : e.records)
    if (record.place.file == file && record.place.line == line)
      result.push_back(&record);
  return result;
}

static void writeLine(llvm::raw_ostream &os, const Explanation &e,
                      const std::string &file, unsigned number,
                      const std::string &line) {
  std::string anchor = lineAnchor(file, number);
  std::vector<const Record *> records = recordsAt(e, file, number);
  os << "<li id=\"" << anchor << "\" value=\"" << number << "\"";
  if (!records.empty())
    os << " class=\"linked\" data-with=\""
       << escapeXml(llvm::join(
              llvm::map_range(records, [](const Record *r) { return r->id; }),
              " "))
       << "\"";
  os << "><code"
     << (llvm::StringRef(line).trim().starts_with("//") ? " class=\"comment\""
                                                        : "")
     << ">" << escapeXml(line) << "</code>";
  if (!records.empty()) {
    os << "<span class=\"marks\">";
    for (const Record *record : records)
      os << "<a class=\"mark " << record->kind << "\" href=\"#"
         << escapeXml(record->id) << "\">" << record->kind << " "
         << escapeXml(record->subject) << "</a> ";
    os << "</span>";
  }
  os << "</li>\n";
}

void writeSource(llvm::raw_ostream &os, const Explanation &e) {
  if (e.sources.empty())
    return;
  beginSection(os, "source", "The program");
  os << "<p>Links under a line lead to the operations that it needs.</p>\n<div "
        "class=\"listing\" tabindex=\"0\" role=\"region\" "
        "aria-label=\"source\">\n";
  const std::string *file = nullptr;
  for (const SourceBlock &block : e.sources) {
    if (!file || *file != block.file)
      os << "<h3>"
         << escapeXml(block.file.empty() ? e.file : baseName(block.file))
         << "</h3>\n";
    file = &block.file;
    os << "<ol class=\"code\">\n";
    for (auto [i, line] : llvm::enumerate(block.lines))
      writeLine(os, e, block.file, block.firstLine + static_cast<unsigned>(i),
                line);
    os << "</ol>\n";
  }
  os << "</div>\n</section>\n";
}

} // namespace selvedge::explain
