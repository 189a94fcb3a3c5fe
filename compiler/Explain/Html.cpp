// Pieces of the page of an explanation.
// SPDX-License-Identifier: MIT
#include "compiler/Explain/Html.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <optional>

namespace selvedge::explain {

using llvm::StringRef;

/// Terms of docs/glossary.md and of the hardware, longer ones before those that
/// they contain.
static constexpr std::pair<const char *, const char *> terms[] = {
    {"shared memory", "fast memory of a multiprocessor, which the threads of a "
                      "thread block share"},
    {"tensor map", "a description of a tensor by which the hardware copies "
                   "boxes of it, and knows where it ends"},
    {"warpgroup", "four warps, 128 threads, that multiply together"},
    {"warp", "32 threads that run together"},
    {"TMA", "tensor memory accelerator: the part of a Hopper GPU that copies a "
            "box of a tensor by itself"},
    {"cp.async", "an instruction that copies 16 bytes to shared memory while "
                 "the thread goes on; bytes past its source size become 0"},
    {"st.shared", "a store to shared memory"},
    {"predicated", "executed only where a condition holds"},
    {"select", "takes one of two values by a condition, without a branch"},
    {"vote", "the threads of a warp agree whether any of them needs "
             "something"},
    {"fence", "orders writes by threads before reads by the copy and product "
              "hardware"},
    {"barrier", "threads wait there for each other"},
    {"tensor core", "the hardware that multiplies tiles"},
    {"register", "the fastest memory, private to a thread"},
    {"slot", "a place for a tile in shared memory; several are used in turn"},
    {"L2", "the cache that all multiprocessors share"},
    {"persistent", "its thread blocks take one tile after another"},
};

static bool isWord(char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; }

/// Where `term` is in `text` as a word of its own, or in the plural.
static std::optional<std::pair<size_t, size_t>> findTerm(StringRef text,
                                                         StringRef term) {
  for (size_t at = text.find(term); at != StringRef::npos;
       at = text.find(term, at + 1)) {
    size_t end = at + term.size();
    if (end < text.size() && text[end] == 's')
      ++end;
    if ((at == 0 || !isWord(text[at - 1])) &&
        (end == text.size() || !isWord(text[end])))
      return std::pair(at, end);
  }
  return std::nullopt;
}

/// Explains the terms of `text` from the one at `first` on.
static std::string explainFrom(size_t first, const std::string &text) {
  for (size_t i = first; i < std::size(terms); ++i) {
    auto [term, meaning] = terms[i];
    std::optional<std::pair<size_t, size_t>> found = findTerm(text, term);
    if (!found)
      continue;
    auto [begin, end] = *found;
    return explainFrom(i + 1, text.substr(0, begin)) + "<abbr title=\"" +
           escapeXml(meaning) + "\">" + text.substr(begin, end - begin) +
           "</abbr>" + explainFrom(i + 1, text.substr(end));
  }
  return escapeXml(text);
}

std::string withTerms(const std::string &text) { return explainFrom(0, text); }

void beginSection(llvm::raw_ostream &os, llvm::StringRef id,
                  llvm::StringRef title) {
  os << "<section id=\"" << id << "\" aria-labelledby=\"" << id
     << "-title\">\n<h2 id=\"" << id << "-title\">" << title << "</h2>\n";
}

void writeTerms(llvm::raw_ostream &os) {
  constexpr std::pair<const char *, const char *> own[] = {
      {"tile", "a block of a tensor, or of results, that is worked on at once"},
      {"lane", "one element of a tile; not a thread"},
      {"absent lane", "a lane without data that counts: outside of a tensor's "
                      "shape, not valid, or removed by a mask"},
      {"fill", "zeros that a load writes for absent lanes"},
      {"mask", "replaces lanes after they were computed, so that a softmax, "
               "sum or maximum does not see them"},
      {"guard", "a test in the arithmetic of softmax for rows without keys"},
      {"initialisation", "a store that defines what no kernel writes"},
      {"whole step", "a step of a loop in which every lane that its index "
                     "decides is present: nothing is tested for it"},
      {"partial step", "a step at an edge: its conditions are tested"},
      {"skipped step", "a step that the loop leaves out, as it has no lane"},
  };
  os << "<dl>\n";
  auto write = [&](auto list) {
    for (auto [term, meaning] : list)
      os << "<div><dt>" << term << "</dt><dd>" << escapeXml(meaning)
         << "</dd></div>\n";
  };
  write(llvm::ArrayRef(own));
  write(llvm::ArrayRef(terms));
  os << "</dl>\n";
}

std::string escapeXml(const std::string &text) {
  std::string result;
  for (char c : text)
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      // XML has no control characters but these.
      if (static_cast<unsigned char>(c) >= 0x20 || c == '\t' || c == '\n')
        result += c;
    }
  return result;
}

/// Links have no escapes, and ids no spaces.
static std::string plain(StringRef name) {
  std::string result;
  for (char c : name)
    result += isWord(c) || c == '-' ? c : '-';
  return result;
}

std::string baseName(const std::string &file) {
  return file.substr(file.rfind('/') + 1);
}

std::string lineAnchor(const std::string &file, unsigned line) {
  return (file.empty() ? "line" : plain(baseName(file))) + "-" +
         std::to_string(line);
}

std::string lineLink(const Place &place) {
  return "<a href=\"#" + lineAnchor(place.file, place.line) + "\">" +
         escapeXml(place.where()) + "</a>";
}

std::string recordLink(const std::string &id) {
  return "<a href=\"#" + escapeXml(id) + "\">" + escapeXml(id) + "</a>";
}

std::string tensorAnchor(const std::string &tensor) {
  return "tensor-" + plain(tensor);
}

std::string scheduleAnchor(const std::string &variant,
                           const std::string &kernel) {
  return "schedule-" + plain(variant) + "-" + plain(kernel);
}

bool hasTensorPictures(const Explanation &explanation,
                       const std::string &tensor) {
  return llvm::any_of(explanation.records,
                      [&](const Record &record) {
                        return record.subject == tensor &&
                               llvm::any_of(explanation.pictures,
                                            [&](const Picture &picture) {
                                              return picture.id == record.id;
                                            });
                      }) &&
         llvm::any_of(explanation.tensors,
                      [&](const Tensor &t) { return t.name == tensor; });
}

bool hasKernelPictures(const Explanation &explanation,
                       const std::string &kernel) {
  return llvm::any_of(explanation.kernelPictures, [&](const KernelPictures &k) {
    return k.kernel == kernel && !k.pictures.empty();
  });
}

} // namespace selvedge::explain
