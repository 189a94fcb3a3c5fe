// A choice among the plans of an op's kernels, as text.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Plan/PlanChoice.h"

#include "llvm/ADT/StringExtras.h"

namespace selvedge::schedule {

using llvm::StringRef;

/// More buffers than these fit no shared memory.
static constexpr int64_t maxDepth = 8;
static constexpr llvm::StringLiteral withoutRolesKey = "roles=off";

llvm::ArrayRef<llvm::StringLiteral> scheduleAspects() {
  static constexpr llvm::StringLiteral aspects[] = {
      "turns", "pipeline", "backward", "speculation", "lag"};
  return aspects;
}

std::string printChoice(const PlanChoice &choice) {
  std::string text;
  auto add = [&](const std::string &entry) {
    text += (text.empty() ? "" : ";") + entry;
  };
  for (const auto &[kernel, key] : choice.tiles)
    add(kernel + ":" + key);
  for (const std::string &kernel : choice.withoutRoles)
    add(kernel + ":" + withoutRolesKey.str());
  for (const std::string &aspect : choice.off)
    add(aspect + "=off");
  if (choice.rings)
    add("rings=" + std::to_string(choice.rings));
  if (choice.stages)
    add("stages=" + std::to_string(choice.stages));
  if (!choice.bulk)
    add("bulk=off");
  return text;
}

std::optional<PlanChoice> parseChoice(StringRef text) {
  PlanChoice choice;
  if (text.empty())
    return choice;
  for (StringRef entry : llvm::split(text, ';')) {
    auto [kernel, key] = entry.split(':');
    auto [name, value] = entry.split('=');
    if (!kernel.empty() && key == withoutRolesKey) {
      choice.withoutRoles.insert(kernel.str());
      continue;
    }
    if (!kernel.empty() && !key.empty()) {
      choice.tiles[kernel.str()] = key.str();
      continue;
    }
    int64_t depth = 0;
    if (entry == "bulk=off")
      choice.bulk = false;
    else if (value == "off" && llvm::is_contained(scheduleAspects(), name))
      choice.off.insert(name.str());
    else if ((name != "rings" && name != "stages") ||
             value.getAsInteger(10, depth) || depth < 2 || depth > maxDepth)
      return std::nullopt;
    else
      (name == "rings" ? choice.rings : choice.stages) = depth;
  }
  return choice;
}

} // namespace selvedge::schedule
