// Explanations for a terminal.
// SPDX-License-Identifier: MIT
#include "compiler/Explain/Render.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace selvedge::explain {

std::vector<InstanceGroup> groupInstances(const Record &record) {
  std::vector<InstanceGroup> groups;
  auto same = [](const Instance &a, const Instance &b) {
    return a.op == b.op && a.mechanism == b.mechanism &&
           a.instructions == b.instructions && a.frequency == b.frequency;
  };
  // First of each kernel, then those of kernels that have equally many.
  for (const Instance &instance : record.instances) {
    auto found = llvm::find_if(groups, [&](const InstanceGroup &g) {
      return same(g.first, instance) && g.kernels.front() == instance.kernel;
    });
    if (found == groups.end()) {
      groups.push_back({instance, {instance.kernel}, 0});
      found = std::prev(groups.end());
    }
    ++found->count;
  }
  std::vector<InstanceGroup> merged;
  for (InstanceGroup &group : groups) {
    auto found = llvm::find_if(merged, [&](const InstanceGroup &g) {
      return same(g.first, group.first) && g.count == group.count;
    });
    if (found == merged.end())
      merged.push_back(std::move(group));
    else
      found->kernels.push_back(group.kernels.front());
  }
  return merged;
}

std::string costText(const Instance &instance) {
  return std::to_string(instance.instructions) +
         (instance.instructions == 1 ? " instruction" : " instructions") +
         " per thread " + instance.frequency;
}

namespace {

void printPlace(llvm::raw_ostream &os, const char *label, const Place &place) {
  if (place.line)
    os << "      " << label << " " << place.where() << ": " << place.text
       << "\n";
}

void printPredicate(llvm::raw_ostream &os, const Predicate &predicate) {
  os << "      "
     << (predicate.proved     ? "proved  "
         : predicate.untested ? "untested  "
                              : "tested  ")
     << predicate.text << "  (" << predicate.origin;
  if (predicate.proved)
    os << ": " << predicate.why;
  else if (predicate.place.line)
    os << ", " << predicate.place.where();
  if (predicate.untested && !predicate.proved)
    os << "; what lies there is removed later";
  else if (predicate.partialOnly)
    os << "; in partial iterations only";
  os << ")\n";
}

void printRecord(llvm::raw_ostream &os, const Record &record) {
  os << "  " << llvm::left_justify(record.id, 13) << " " << record.subject;
  if (!record.tile.empty())
    os << "  tile " << record.tile;
  if (record.status != "inserted")
    os << "  [" << record.status << "]";
  os << "\n";
  printPlace(os, "at", record.place);
  if (record.kind == "load" || record.kind == "mask")
    os << "      absent lanes: " << record.fill << "\n";
  else if (record.kind == "store")
    os << "      absent lanes: not written\n";
  if (!record.reason.empty() && record.reason != record.fill &&
      record.kind != "store")
    os << "      "
       << (record.kind == "load" || record.kind == "mask" ? "demanded: "
                                                          : "why: ")
       << record.reason << "\n";
  printPlace(os, "by", record.consumer);
  for (const Predicate &predicate : record.predicates)
    printPredicate(os, predicate);
  for (const Writer &writer : record.writers)
    os << "      after kernel " << writer.kernel << ", which stores to "
       << record.subject << "  (" << writer.id
       << (writer.place.line ? ", " + writer.place.where() : "") << ")\n";
  for (const InstanceGroup &group : groupInstances(record)) {
    os << "      -> " << group.first.mechanism << "; " << costText(group.first);
    if (group.count > 1)
      os << ", at " << group.count << " places";
    os << "  [" << llvm::join(group.kernels, ", ") << "]\n";
  }
}

void printKind(llvm::raw_ostream &os, const Explanation &e, const char *kind,
               const char *title) {
  bool any = false;
  for (const Record &record : e.records) {
    if (record.kind != kind)
      continue;
    if (!any)
      os << "\n" << title << "\n";
    any = true;
    printRecord(os, record);
  }
}

} // namespace

std::string renderText(const Explanation &e) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << e.file << ": op " << e.op << " for " << e.arch << "\n"
     << "A lane that is absent (outside the shape, not valid, masked) must not "
        "reach a result.\n"
        "tested: code decides at run time; proved: always true, no code; "
        "untested: no code, what lies there reaches no result. Costs are "
        "static estimates.\n";
  printKind(os, e, "load", "LOADS");
  printKind(os, e, "mask", "MASKS of scores, reductions and products");
  printKind(os, e, "guard", "SOFTMAX GUARDS");
  printKind(os, e, "store", "STORES");
  printKind(os, e, "init", "INITIALISATIONS");
  os << "\nOUTPUTS\n";
  for (const Output &output : e.outputs)
    os << "  " << output.name << output.shape << " out_init " << output.init
       << ": " << (output.by.empty() ? "" : output.by + ", ") << output.why
       << "\n";
  if (!e.proofs.empty())
    os << "\nPRODUCTS: lanes that must not contribute\n";
  for (const Proof &proof : e.proofs)
    os << "  " << proof.subject << " (" << proof.place.where() << "), "
       << proof.claim << ": " << proof.why << "\n";
  for (const Schedule &schedule : e.schedules) {
    os << "\nSCHEDULE of variant " << schedule.variant << ": "
       << schedule.kernel << "\n";
    for (const Choice &choice : schedule.choices)
      os << "  " << llvm::left_justify(choice.what, 10) << choice.choice
         << "\n            because: " << choice.why << "\n";
  }
  return text;
}

} // namespace selvedge::explain
