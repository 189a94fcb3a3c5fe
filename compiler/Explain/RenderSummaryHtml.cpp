// The first screen of the page.
// SPDX-License-Identifier: MIT
#include "compiler/Explain/Html.h"
#include "compiler/Explain/Summary.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace selvedge::explain {

namespace {

/// "3 loads", "1 load".
std::string counted(int64_t count, const std::string &noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

/// `q`, `k` and `kv_len` (optional).
std::string listOf(const Explanation &e, llvm::ArrayRef<const char *> roles) {
  std::vector<std::string> names;
  for (const Tensor &tensor : e.tensors)
    if (llvm::is_contained(roles, tensor.role))
      names.push_back("<code>" + escapeXml(tensor.name + tensor.shape) +
                      "</code>" + (tensor.isOptional ? " (optional)" : ""));
  std::string text;
  for (auto [i, name] : llvm::enumerate(names))
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + name;
  return text;
}

/// "Hopper (H100, H200)".
const char *deviceOf(const std::string &arch) {
  return arch == "sm_90a"  ? "Hopper GPUs such as the H100"
         : arch == "sm_80" ? "Ampere GPUs such as the A100, and later ones"
                           : "GPUs";
}

const Choice *choiceOf(const Schedule &schedule, llvm::StringRef what) {
  auto found = llvm::find_if(schedule.choices,
                             [&](const Choice &c) { return c.what == what; });
  return found == schedule.choices.end() ? nullptr : &*found;
}

class SummaryWriter {
public:
  SummaryWriter(llvm::raw_ostream &os, const Explanation &e)
      : os(os), e(e), summary(summarise(e)) {}

  void write() {
    beginSection(os, "summary", "Summary");
    signature();
    counts();
    conditions();
    costs();
    os << "</section>\n";
  }

private:
  void signature() {
    std::string inputs = listOf(e, {"in", "inout"}),
                outputs = listOf(e, {"out", "inout"}),
                temps = listOf(e, {"temp"});
    os << "<p><code>" << escapeXml(e.op) << "</code> reads "
       << (inputs.empty() ? "nothing" : inputs) << ", and writes " << outputs
       << ". ";
    if (!temps.empty())
      os << "Its kernels hand over " << temps << ". ";
    os << "It is compiled for <code>" << escapeXml(e.arch) << "</code>, "
       << deviceOf(e.arch) << ".</p>\n";
  }

  void counts() {
    os << "<p>Operations that the compiler inserted, or relies on, so that "
          "only valid data reaches a result:</p>\n";
    begin("counts", {"Kernel", "loads", "of them filled with 0", "masks",
                     "softmax guards", "stores", "initialisations"});
    for (const KernelCounts &k : summary.kernels) {
      os << "<tr><th scope=\"row\"><a href=\"#operations-"
         << escapeXml(k.kernel) << "\">" << escapeXml(k.kernel) << "</a></th>";
      cell("loads", std::to_string(k.loads));
      cell("of them filled with 0", std::to_string(k.fills));
      cell("masks", std::to_string(k.masks));
      cell("softmax guards", std::to_string(k.guards));
      cell("stores", std::to_string(k.stores));
      cell("initialisations", std::to_string(k.inits));
      os << "</tr>\n";
    }
    os << "</table></div>\n";
  }

  void begin(const char *id, llvm::ArrayRef<const char *> columns) {
    os << "<div class=\"wide\"><table class=\"numbers\" id=\"" << id
       << "\">\n<tr>";
    for (const char *column : columns)
      os << "<th scope=\"col\">" << column << "</th>";
    os << "</tr>\n";
  }

  /// On small screens a cell says the name of its column.
  void cell(const char *column, const std::string &content) {
    os << "<td data-name=\"" << column << "\">" << content << "</td>";
  }

  void bar(const char *style, int64_t count, int64_t total) {
    if (count)
      os << "<span class=\"" << style << "\" style=\"flex-grow: " << count
         << "\" title=\"" << count << " of " << total << "\"></span>";
  }

  void conditions() {
    int64_t total = summary.tested + summary.partialOnly + summary.proved +
                    summary.untested;
    os << "<p>These operations have " << counted(total, "condition")
       << " under which a lane counts. <strong>" << summary.proved
       << " are proved always true and cost nothing.</strong></p>\n<div "
          "class=\"bar\" aria-hidden=\"true\">";
    bar("is-proved", summary.proved, total);
    bar("is-untested", summary.untested, total);
    bar("is-partial", summary.partialOnly, total);
    bar("is-tested", summary.tested, total);
    os << "</div>\n<ul class=\"keys\" id=\"conditions\">\n<li><i "
          "class=\"is-proved\"></i><b>"
       << summary.proved
       << "</b> proved: true for every lane, no code</li>\n<li><i "
          "class=\"is-untested\"></i><b>"
       << summary.untested
       << "</b> not tested: what lies there is removed later</li>\n<li><i "
          "class=\"is-partial\"></i><b>"
       << summary.partialOnly
       << "</b> tested in partial steps only</li>\n<li><i "
          "class=\"is-tested\"></i><b>"
       << summary.tested
       << "</b> tested wherever the operation is</li>\n</ul>\n";
    std::vector<std::string> gone;
    if (summary.operationsProved)
      gone.push_back(std::to_string(summary.operationsProved) +
                     " proved unnecessary");
    if (summary.operationsMerged)
      gone.push_back(std::to_string(summary.operationsMerged) +
                     " merged with an equal one");
    if (summary.operationsUnused)
      gone.push_back(std::to_string(summary.operationsUnused) +
                     " without a use");
    if (!gone.empty())
      os << "<p>Operations that are no longer there: " << llvm::join(gone, ", ")
         << ".</p>\n";
  }

  /// The cost of one kind of step, or of `every` one where none are told apart.
  static std::string costOf(const std::optional<int64_t> &cost,
                            const std::optional<int64_t> &every) {
    if (cost)
      return std::to_string(*cost);
    return every ? std::to_string(*every) + ", as every step" : "no such step";
  }

  void costs() {
    os << "<p>Safety costs this many instructions of one thread, by a static "
          "estimate: what a kernel without it would not execute. A launch "
          "takes the first variant that fits its tensors.</p>\n";
    begin("costs", {"Variant", "per whole step", "per partial step",
                    "once per tile, at most", "plan", "warp roles"});
    for (auto [cost, schedule] : llvm::zip_equal(summary.costs, e.schedules)) {
      os << "<tr><th scope=\"row\"><a href=\"#"
         << scheduleAnchor(cost.variant, cost.kernel) << "\">"
         << escapeXml(cost.variant) << "</a><br/><code>"
         << escapeXml(cost.kernel) << "</code></th>";
      cell("per whole step", costOf(cost.whole, cost.step));
      cell("per partial step", costOf(cost.partial, cost.step));
      cell("once per tile, at most", std::to_string(cost.perTile));
      const Choice *tiles = choiceOf(schedule, "tiles");
      cell("plan", tiles ? withTerms(tiles->choice) : "");
      cell("warp roles", rolesOf(schedule));
      os << "</tr>\n";
    }
    os << "</table></div>\n";
  }

  std::string rolesOf(const Schedule &schedule) {
    const Choice *roles = choiceOf(schedule, "roles");
    if (!roles)
      return e.arch == "sm_80" ? "none: on this target every thread makes "
                                 "copies of its own"
                               : "none";
    if (llvm::StringRef(roles->choice).starts_with("none"))
      return "none: " + withTerms(roles->why);
    return "yes: " + withTerms(roles->choice);
  }

  llvm::raw_ostream &os;
  const Explanation &e;
  Summary summary;
};

} // namespace

void writeSummary(llvm::raw_ostream &os, const Explanation &explanation) {
  SummaryWriter(os, explanation).write();
}

} // namespace selvedge::explain
