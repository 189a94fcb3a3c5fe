// The part of the page that says how kernels run.
// SPDX-License-Identifier: MIT
#include "compiler/Explain/Html.h"

namespace selvedge::explain {

/// What the plan chooses, for readers who have never seen a kernel.
static constexpr struct {
  const char *what, *title, *meaning;
} aspects[] = {
    {"when", "Chosen when", "a launch takes the first kernel that fits"},
    {"tiles", "Tiles",
     "a thread block works on a tile of the result, in steps over the rest"},
    {"roles", "Division of work",
     "a warpgroup is 128 threads that multiply together; TMA copies a box of a "
     "tensor by itself, described by a tensor map"},
    {"products", "Products", "tensor cores multiply whole tiles"},
    {"copies", "Copies", "tiles travel from memory to shared memory"},
    {"registers", "Registers", "the fastest memory, private to a thread"},
    {"rings", "Rings",
     "tiles arrive in the slots of a ring in shared memory while others are "
     "in use"},
    {"overlap", "Overlap", "products run beside other arithmetic"},
    {"loads", "Loads", "tensors that threads read from memory themselves"},
    {"turns", "Turns", "the tensor cores serve one warpgroup at a time"},
    {"softmax", "Softmax",
     "weights are taken against the largest score so far"},
    {"launch", "Launch", "how tiles are given to thread blocks"},
    {"results", "Results", "how results reach memory"},
    {"alone", "Chosen alone", "kernels of a variant that need less"},
    {"start", "Start", "when its thread blocks may begin"},
    {"rows", "Rows", "rows that are read more than once stay in registers"},
    {"packing", "Packing", "rows that read the same keys share a tile"},
    {"masks", "Masks", "data that a mask removes may be NaN or Inf"},
    {"steps", "Order of steps", "the order in which a tile's loop runs"},
    {"order", "Order of tiles", "which tiles thread blocks take first"},
    {"pipeline", "Pipeline", "whether a tile begins before the last one ends"},
};

static void row(llvm::raw_ostream &os, const Choice &choice) {
  std::string title = choice.what, meaning;
  for (const auto &aspect : aspects)
    if (choice.what == aspect.what) {
      title = aspect.title;
      meaning = aspect.meaning;
    }
  os << "<tr><td><strong>" << escapeXml(title) << "</strong>";
  if (!meaning.empty())
    os << "<br/><span class=\"dim\">" << escapeXml(meaning) << "</span>";
  os << "</td><td>" << withTerms(choice.choice) << "</td><td>"
     << withTerms(choice.why) << "</td></tr>\n";
}

void writeSchedules(llvm::raw_ostream &os,
                    const std::vector<Schedule> &schedules) {
  if (schedules.empty())
    return;
  beginSection(os, "schedules", "How it runs");
  os << "<p>Choices of the compiler, which change the speed but never a "
        "result. One kernel per class of tensors; a launch takes the first "
        "that fits.</p>\n";
  for (const Schedule &schedule : schedules) {
    os << "<h3 id=\"" << scheduleAnchor(schedule.variant, schedule.kernel)
       << "\">Variant " << escapeXml(schedule.variant) << ": <code>"
       << escapeXml(schedule.kernel)
       << "</code></h3>\n<div class=\"wide\"><table "
          "class=\"choices\">\n<tr><th scope=\"col\">Aspect</th><th "
          "scope=\"col\">Choice</th><th scope=\"col\">Because</th></tr>\n";
    for (const Choice &choice : schedule.choices)
      row(os, choice);
    os << "</table></div>\n";
  }
  os << "</section>\n";
}

} // namespace selvedge::explain
