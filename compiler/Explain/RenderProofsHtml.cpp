// Outputs and products on the page.
// SPDX-License-Identifier: MIT
#include "compiler/Explain/Html.h"

namespace selvedge::explain {

void writeOutputs(llvm::raw_ostream &os, const Explanation &e) {
  beginSection(os, "outputs", "Outputs");
  os << "<p>Every element of an output is defined after the op, whatever the "
        "buffer held before.</p>\n<div class=\"wide\"><table>\n<tr><th "
        "scope=\"col\">Output</th><th scope=\"col\">Initial value</th><th "
        "scope=\"col\">How it becomes complete</th></tr>\n";
  for (const Output &o : e.outputs) {
    os << "<tr><td><code>" << escapeXml(o.name + o.shape) << "</code></td><td>"
       << escapeXml(o.init) << "</td><td>" << escapeXml(o.why);
    if (!o.by.empty())
      os << " (" << recordLink(o.by) << ")";
    os << "</td></tr>\n";
  }
  os << "</table></div>\n</section>\n";
}

void writeProducts(llvm::raw_ostream &os, const Explanation &e) {
  if (e.proofs.empty())
    return;
  beginSection(os, "products", "Products");
  os << "<p>An absent lane of an axis that a product sums over must add "
        "nothing. So one factor is exactly zero there, and the other one is "
        "finite.</p>\n<div class=\"wide\"><table>\n<tr><th "
        "scope=\"col\">Factor</th><th scope=\"col\">Lanes</th><th "
        "scope=\"col\">Their values</th></tr>\n";
  for (const Proof &proof : e.proofs) {
    os << "<tr><td>" << escapeXml(proof.subject);
    if (proof.place.line)
      os << "<br/>" << lineLink(proof.place);
    os << "</td><td>" << escapeXml(proof.claim) << "</td><td>"
       << escapeXml(proof.why) << "</td></tr>\n";
  }
  os << "</table></div>\n</section>\n";
}

} // namespace selvedge::explain
