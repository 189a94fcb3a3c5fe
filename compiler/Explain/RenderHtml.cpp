// Explanations as one self-contained page.
// SPDX-License-Identifier: MIT
#include "compiler/Explain/Html.h"
#include "compiler/Explain/HtmlStyle.h"
#include "compiler/Explain/Render.h"

#include "llvm/ADT/STLExtras.h"

namespace selvedge::explain {

namespace {

constexpr const char *introduction =
    "A kernel works on tiles of a fixed size, but tensors have any size. The "
    "last tile of a tensor is only partly filled, and parts of a tensor may "
    "hold data that does not count. An element of a tile is called a "
    "<em>lane</em>; lanes without data are <em>absent</em>. Their memory may "
    "hold anything, so it must never reach a result. This page shows every "
    "operation that the compiler inserted for that, and every one that it "
    "proved unnecessary.";

void link(llvm::raw_ostream &os, const std::string &id,
          const std::string &title) {
  os << "<li><a href=\"#" << escapeXml(id) << "\">" << escapeXml(title)
     << "</a></li>";
}

void writeContents(llvm::raw_ostream &os, const Explanation &e) {
  os << "<nav aria-label=\"contents\"><ul>\n";
  link(os, "summary", "Summary");
  if (!e.sources.empty())
    link(os, "source", "Program");
  for (const std::string &kernel : e.kernels)
    if (hasKernelPictures(e, kernel))
      link(os, "kernel-" + kernel, "Picture of " + kernel);
  for (const Tensor &tensor : e.tensors)
    if (hasTensorPictures(e, tensor.name))
      link(os, tensorAnchor(tensor.name), "Picture of " + tensor.name);
  for (const std::string &kernel : e.kernels)
    link(os, "operations-" + kernel, "Operations of " + kernel);
  link(os, "outputs", "Outputs");
  if (!e.proofs.empty())
    link(os, "products", "Products");
  if (!e.schedules.empty())
    link(os, "schedules", "How it runs");
  link(os, "words", "Words");
  os << "\n</ul></nav>\n";
}

} // namespace

std::string renderHtml(const Explanation &e) {
  std::string text, title = escapeXml(e.op) + ": how padding stays out of the "
                                              "results";
  llvm::raw_string_ostream os(text);
  os << "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" "
        "lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<meta "
        "name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\"/>\n<title>"
     << title << "</title>\n<style>" << style
     << "</style>\n</head>\n<body>\n<header>\n<h1>" << title
     << "</h1>\n<p class=\"dim\">" << escapeXml(e.file) << ", compiled for "
     << escapeXml(e.arch) << "</p>\n";
  if (!e.purpose.empty())
    os << "<p class=\"purpose\">" << escapeXml(e.purpose) << "</p>\n";
  os << "</header>\n";
  writeContents(os, e);
  os << "<main>\n<p>" << introduction << "</p>\n";
  writeSummary(os, e);
  os << "<div class=\"beside\">\n";
  writeSource(os, e);
  os << "<div class=\"facts\">\n";
  writePictures(os, e);
  writeOperations(os, e);
  os << "</div>\n</div>\n";
  writeOutputs(os, e);
  writeProducts(os, e);
  writeSchedules(os, e.schedules);
  beginSection(os, "words", "Words");
  writeTerms(os);
  os << "</section>\n</main>\n<script>" << script
     << "</script>\n</body>\n</html>\n";
  return text;
}

} // namespace selvedge::explain
