// The cards of operations.
// SPDX-License-Identifier: MIT
#include "compiler/Explain/Html.h"
#include "compiler/Explain/Render.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace selvedge::explain {

namespace {

constexpr struct {
  const char *kind, *plural, *card;
} kinds[] = {{"load", "Loads", "Load of "},
             {"mask", "Masks", "Mask of the "},
             {"guard", "Guards of the softmax", "Guard of the "},
             {"store", "Stores", "Store to "},
             {"init", "Initialisations", "Initialisation of "}};

/// Where conditions come from.
constexpr std::pair<const char *, const char *> origins[] = {
    {"shape", "the index is inside the tensor"},
    {"range", "the index is inside the range of a loop or kernel"},
    {"valid", "the valid clause of the tensor"},
    {"where", "a mask of the program"},
    {"optional", "the tensor may be left out"},
    {"pipeline", "a copy that is issued ahead must not run past the loop"}};

class CardWriter {
public:
  CardWriter(llvm::raw_ostream &os, const Explanation &e) : os(os), e(e) {}

  void write() {
    beginSection(os, "operations", "Operations");
    os << "<p>Each card is an operation of the program that must not let an "
          "absent lane reach a result. Conditions are <em>tested</em> while "
          "the kernel runs, or <em>proved</em> always true, which costs "
          "nothing, or <em>not tested</em> where what lies there is removed "
          "later.</p>\n";
    for (const std::string &kernel : e.kernels) {
      os << "<h3 id=\"operations-" << escapeXml(kernel) << "\">Kernel <code>"
         << escapeXml(kernel) << "</code></h3>\n";
      for (const auto &kind : kinds)
        cards(kernel, kind.kind, kind.plural, kind.card);
    }
    os << "</section>\n";
  }

private:
  void cards(const std::string &kernel, llvm::StringRef kind,
             const char *plural, const char *title) {
    auto isHere = [&](const Record &r) {
      return r.kernel == kernel && r.kind == kind;
    };
    if (llvm::none_of(e.records, isHere))
      return;
    os << "<h4>" << plural << "</h4>\n<div class=\"cards\">\n";
    for (const Record &record : e.records)
      if (isHere(record))
        card(record, title);
    os << "</div>\n";
  }

  /// Ids of the parts of the page that speak of the same.
  std::string partners(const Record &r) {
    std::vector<std::string> ids;
    if (r.place.line)
      ids.push_back(lineAnchor(r.place.file, r.place.line));
    if (hasTensorPictures(e, r.subject))
      ids.push_back(tensorAnchor(r.subject));
    if (r.kind == "mask" && hasKernelPictures(e, r.kernel))
      ids.push_back("kernel-" + r.kernel);
    return escapeXml(llvm::join(ids, " "));
  }

  void card(const Record &r, const char *title) {
    os << "<article class=\"card " << r.kind << "\" id=\"" << escapeXml(r.id)
       << "\" data-with=\"" << partners(r) << "\">\n<h5>" << title << "<code>"
       << escapeXml(r.subject) << "</code>";
    if (r.status != "inserted")
      os << " <span class=\"badge proved\">" << escapeXml(r.status)
         << "</span>";
    os << "</h5>\n<p class=\"dim\"><code>" << escapeXml(r.id) << "</code>";
    if (!r.tile.empty())
      os << " · tile " << escapeXml(r.tile);
    if (r.place.line)
      os << " · " << lineLink(r.place);
    if (hasTensorPictures(e, r.subject))
      os << " · <a href=\"#" << tensorAnchor(r.subject) << "\">picture</a>";
    else if (r.kind == "mask" && hasKernelPictures(e, r.kernel))
      os << " · <a href=\"#kernel-" << escapeXml(r.kernel) << "\">picture</a>";
    os << "</p>\n<p>" << why(r);
    if (r.consumer.line)
      os << " (" << lineLink(r.consumer) << ")";
    os << "</p>\n";
    conditions(r);
    instances(r);
    os << "</article>\n";
  }

  /// The consumer that a reason ends with, of which the language has a shorter
  /// name.
  static std::string consumerOf(const Record &r) {
    llvm::StringRef name = llvm::StringRef(r.reason).split(", by ").second;
    return name.consume_front("dot ") ? "product " + name.str() : name.str();
  }

  static std::string why(const Record &r) {
    if (r.kind == "load")
      return r.fill == "zero" ? "Absent lanes hold 0, as the " +
                                    escapeXml(consumerOf(r)) + " demands."
                              : "Absent lanes are never read.";
    if (r.kind == "mask")
      return "Absent lanes become " + escapeXml(r.fill) + " before the " +
             escapeXml(r.reason) + ".";
    if (r.kind == "store")
      return "Absent lanes must not be written.";
    return "The reason: " + escapeXml(r.reason) + ".";
  }

  void conditions(const Record &r) {
    if (r.predicates.empty() && r.writers.empty())
      return;
    os << "<p class=\"label\">A lane is present where</p>\n<ul "
          "class=\"conditions\">\n";
    for (const Predicate &p : r.predicates)
      condition(p);
    for (const Writer &writer : r.writers)
      os << "<li><span class=\"badge\">order</span> after kernel <code>"
         << escapeXml(writer.kernel) << "</code>, which stores to "
         << escapeXml(r.subject) << " (" << recordLink(writer.id) << ")</li>\n";
    os << "</ul>\n";
  }

  void origin(const std::string &name) {
    for (auto [origin, meaning] : origins)
      if (name == origin)
        os << "<abbr title=\"" << meaning << "\">" << name << "</abbr>";
  }

  void condition(const Predicate &p) {
    const char *state = p.proved     ? "proved"
                        : p.untested ? "untested"
                                     : "tested";
    os << "<li><span class=\"badge " << state << "\">"
       << (p.proved || !p.untested ? state : "not tested") << "</span> <code>"
       << escapeXml(p.text) << "</code> <span "
       << "class=\"dim\">";
    origin(p.origin);
    if (p.proved)
      os << ": " << escapeXml(p.why);
    else if (p.untested)
      os << ": what lies there is removed later";
    if (p.partialOnly && !p.untested)
      os << ", in partial steps only";
    if (!p.proved && p.place.line)
      os << ", " << lineLink(p.place);
    os << "</span></li>\n";
  }

  void instances(const Record &r) {
    const char *gone =
        r.status == "proved"   ? "Proved unnecessary: there is no code."
        : r.status == "merged" ? "Merged with an equal operation."
        : r.status == "unused" ? "Removed: the result is not used."
                               : nullptr;
    if (gone)
      os << "<p class=\"proved\">" << gone << "</p>\n";
    std::vector<InstanceGroup> groups = groupInstances(r);
    if (groups.empty())
      return;
    os << "<details><summary>How, and at what cost (" << groups.size()
       << (groups.size() == 1 ? " way" : " ways")
       << ")</summary>\n<ul class=\"ways\">\n";
    for (const InstanceGroup &group : groups) {
      os << "<li>" << withTerms(group.first.mechanism) << ". <strong>"
         << escapeXml(costText(group.first)) << "</strong>";
      if (group.count > 1)
        os << ", at " << group.count << " places";
      os << "<br/><span class=\"dim\"><code>"
         << escapeXml(llvm::join(group.kernels, ", "))
         << "</code></span></li>\n";
    }
    os << "</ul></details>\n";
  }

  llvm::raw_ostream &os;
  const Explanation &e;
};

} // namespace

void writeOperations(llvm::raw_ostream &os, const Explanation &explanation) {
  CardWriter(os, explanation).write();
}

} // namespace selvedge::explain
