// Explanations as one self-contained page.
// SPDX-License-Identifier: MIT
#include "compiler/Explain/HtmlStyle.h"
#include "compiler/Explain/Render.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

namespace selvedge::explain {

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

namespace {

constexpr const char *introduction =
    "A kernel works on tiles of a fixed size, but tensors have any size: the "
    "last tile of a tensor is only partly filled, and parts of a tensor may "
    "hold data that does not count. Lanes of a tile without data are "
    "<em>absent</em>. What their memory holds is arbitrary, so it must never "
    "reach a result. This page lists each operation that the compiler "
    "inserted for that, and each one that it proved unnecessary.";

/// The states of the pictures and what they mean.
constexpr std::pair<const char *, const char *> states[] = {
    {"present", "present: data that counts"},
    {"shape", "outside the tensor's shape"},
    {"range", "outside the range of the loop"},
    {"valid", "inside the shape, but not valid"},
    {"where", "removed by a mask"},
    {"optional", "of a tensor that is not given"},
    {"untested", "absent, and not tested: removed later"},
    {"unknown", "present or absent: depends on data"},
    {"init", "written by an initialisation"}};

constexpr std::pair<const char *, const char *> fills[] = {
    {"fill-zero", "filled with 0"}, {"fill-infinity", "replaced by -inf"}};

class Page {
public:
  explicit Page(const Explanation &e) : e(e), os(text) {}

  std::string write() {
    os << "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" "
          "lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<meta "
          "name=\"viewport\" content=\"width=device-width, "
          "initial-scale=1\"/>\n<title>"
       << escapeXml(e.op) << ": how padding stays out of the results</title>\n"
       << "<style>" << style << "</style>\n</head>\n<body>\n<h1>"
       << escapeXml(e.op) << ": how padding stays out of the results</h1>\n"
       << "<p class=\"dim\">" << escapeXml(e.file) << ", compiled for "
       << escapeXml(e.arch) << "</p>\n<p>" << introduction << "</p>\n";
    pictures();
    operations();
    outputs();
    products();
    os << renderScheduleHtml(e.schedules) << "</body>\n</html>\n";
    return text;
  }

private:
  void pictures() {
    if (e.pictures.empty())
      return;
    os << "<h2>Tiles</h2>\n<p>Each picture shows the tiles (thin lines) that "
          "the kernel lays over a tensor or a tile of scores. The sizes are "
          "samples, named under the picture; real ones are chosen at "
          "launch.</p>\n";
    os << patterns;
    legend();
    os << "<div class=\"pictures\">\n";
    for (const Picture &picture : e.pictures) {
      os << "<figure id=\"picture-" << escapeXml(picture.id)
         << "\"><figcaption><strong>" << escapeXml(picture.title)
         << "</strong> <a href=\"#" << escapeXml(picture.id) << "\">"
         << escapeXml(picture.id) << "</a></figcaption>\n"
         << renderSvg(picture)
         << "<figcaption>Absent lanes: " << escapeXml(picture.absent);
      if (!picture.sample.empty())
        os << "<br/><span class=\"dim\">drawn for " << escapeXml(picture.sample)
           << "</span>";
      os << "</figcaption></figure>\n";
    }
    os << "</div>\n";
  }

  void legend() {
    std::set<std::string> used;
    for (const Picture &picture : e.pictures)
      for (const Cell &cell : picture.cells)
        used.insert(cell.state);
    os << "<p class=\"legend\">";
    for (auto [state, meaning] : states)
      if (used.contains(state))
        os << "<span><i class=\"" << state << "\"></i>" << meaning << "</span>";
    for (auto [fill, meaning] : fills)
      os << "<span><svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 14 "
            "14\"><path class=\""
         << fill << "\" d=\"M0,0 H14 V14 H0 Z\"/></svg>" << meaning
         << "</span>";
    os << "<span><i class=\"partial\"></i>outlined: a partial tile</span>"
          "</p>\n";
  }

  void operations() {
    os << "<h2>Operations</h2>\n<p>Conditions are <em>tested</em> while the "
          "kernel runs, or <span class=\"proved\">proved</span> always true, "
          "which costs nothing, or untested where what lies there is removed "
          "later. Costs are static estimates per thread.</p>\n"
          "<div "
          "class=\"wide\"><table>\n<tr><th>Operation</th><th>Why</th><th>A "
          "lane is present where</th><th>How, and at what cost</th></tr>\n";
    for (const Record &record : e.records)
      row(record);
    os << "</table></div>\n";
  }

  void place(const Place &place) {
    if (place.line)
      os << "<br/><span class=\"dim\">" << escapeXml(place.where())
         << "</span> <code>" << escapeXml(place.text) << "</code>";
  }

  static const char *nameOf(const std::string &kind) {
    return kind == "load"    ? "load of "
           : kind == "mask"  ? "mask of the "
           : kind == "guard" ? "guard of the "
           : kind == "store" ? "store to "
                             : "initialisation of ";
  }

  void row(const Record &r) {
    os << "<tr id=\"" << escapeXml(r.id) << "\"><td><strong>" << nameOf(r.kind)
       << escapeXml(r.subject) << "</strong><br/><code>" << escapeXml(r.id)
       << "</code>";
    if (!r.tile.empty())
      os << "<br/><span class=\"dim\">tile " << escapeXml(r.tile) << "</span>";
    place(r.place);
    os << "</td><td>" << why(r);
    place(r.consumer);
    os << "</td><td>";
    for (const Predicate &p : r.predicates)
      predicate(p);
    for (const Writer &writer : r.writers)
      os << "<div>after kernel <code>" << escapeXml(writer.kernel)
         << "</code>, which stores to " << escapeXml(r.subject)
         << " (<a href=\"#" << escapeXml(writer.id) << "\">"
         << escapeXml(writer.id) << "</a>)</div>";
    os << "</td><td>";
    instances(r);
    os << "</td></tr>\n";
  }

  static std::string why(const Record &r) {
    if (r.kind == "load")
      return r.fill == "zero" ? "Absent lanes hold 0, as the " +
                                    escapeXml(llvm::StringRef(r.reason)
                                                  .split(", by ")
                                                  .second.str()) +
                                    " demands."
                              : "Absent lanes are read by nobody.";
    if (r.kind == "mask")
      return "Absent lanes become " + escapeXml(r.fill) + " before the " +
             escapeXml(r.reason) + ".";
    if (r.kind == "store")
      return "Absent lanes must not be written.";
    return escapeXml(r.reason) + ".";
  }

  void predicate(const Predicate &p) {
    os << "<div" << (p.proved ? " class=\"proved\"" : "") << "><code>"
       << escapeXml(p.text) << "</code> <span class=\"dim\">" << p.origin;
    if (p.proved)
      os << ", proved: " << escapeXml(p.why);
    else if (p.untested)
      os << ", untested: what lies there is removed later";
    if (p.partialOnly && !p.untested)
      os << ", in partial iterations only";
    os << "</span></div>";
  }

  void instances(const Record &r) {
    if (r.status == "proved")
      os << "<span class=\"proved\">Proved unnecessary.</span>";
    else if (r.status == "merged")
      os << "Merged with an equal operation.";
    else if (r.status == "unused")
      os << "Removed: nobody uses the result.";
    for (const InstanceGroup &group : groupInstances(r)) {
      os << "<div>" << escapeXml(group.first.mechanism) << "<br/>"
         << escapeXml(costText(group.first));
      if (group.count > 1)
        os << ", at " << group.count << " places";
      os << "<br/><span class=\"dim\">"
         << escapeXml(llvm::join(group.kernels, ", ")) << "</span></div>";
    }
  }

  void outputs() {
    os << "<h2>Outputs</h2>\n<p>Every element of an output is defined after "
          "the kernel, whatever the buffer held before.</p>\n<table>\n";
    for (const Output &o : e.outputs) {
      os << "<tr><td><code>" << escapeXml(o.name + o.shape)
         << "</code></td><td>initial value " << escapeXml(o.init) << "</td><td>"
         << escapeXml(o.why);
      if (!o.by.empty())
        os << " (<a href=\"#" << escapeXml(o.by) << "\">" << escapeXml(o.by)
           << "</a>)";
      os << "</td></tr>\n";
    }
    os << "</table>\n";
  }

  void products() {
    if (e.proofs.empty())
      return;
    os << "<h2>Products</h2>\n<p>An absent lane of a contracted axis must add "
          "nothing: one factor is exactly zero and the other is "
          "finite.</p>\n<div class=\"wide\"><table>\n";
    for (const Proof &proof : e.proofs) {
      os << "<tr><td>" << escapeXml(proof.subject);
      place(proof.place);
      os << "</td><td>" << escapeXml(proof.claim) << "</td><td>"
         << escapeXml(proof.why) << "</td></tr>\n";
    }
    os << "</table></div>\n";
  }

  const Explanation &e;
  std::string text;
  llvm::raw_string_ostream os;
};

} // namespace

std::string renderHtml(const Explanation &explanation) {
  return Page(explanation).write();
}

} // namespace selvedge::explain
