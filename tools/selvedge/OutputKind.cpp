// The file that `compile` writes: its kind and its name.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/OutputKind.h"

#include "tools/selvedge/Suggest.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <utility>
#include <vector>

namespace selvedge::cli {

static constexpr std::pair<const char *, const char *> suffixes[] = {
    {".cubin", "cubin"}, {".ptx", "ptx"},       {".h", "header"},
    {".hpp", "header"},  {".json", "manifest"}, {".ll", "llvm"},
};

std::string kindOfFile(const std::string &path) {
  std::string suffix = std::filesystem::path(path).extension().string();
  for (auto [known, emit] : suffixes)
    if (suffix == known)
      return emit;
  return "";
}

std::string slipOfSuffix(const std::string &path) {
  // Shorter ones are near to many that mean something else, such as .o.
  constexpr size_t shortest = sizeof(".ptx") - 1;
  std::string suffix = std::filesystem::path(path).extension().string();
  std::vector<std::string> known = {".selv"};
  for (auto [name, emit] : suffixes)
    if (std::string_view(name).size() >= shortest)
      known.push_back(name);
  if (suffix.size() < shortest ||
      std::ranges::find(known, suffix) != known.end())
    return "";
  std::string near = didYouMean(suffix, known);
  if (near.empty())
    return "";
  return fmt::format("-o '{}': the suffix '{}' does not say what to write{} "
                     "With --emit any name will do",
                     path, suffix, near);
}

std::string defaultOutput(const std::string &source, const std::string &emit) {
  if (!emit.empty() && emit != "cubin" && emit != "header")
    return "-";
  std::string stem =
      source == "-" ? "kernel" : std::filesystem::path(source).stem().string();
  return stem + (emit.empty() ? ".selv" : emit == "cubin" ? ".cubin" : ".h");
}

} // namespace selvedge::cli
