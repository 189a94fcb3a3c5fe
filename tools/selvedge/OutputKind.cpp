// The file that `compile` writes: its kind and its name.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/OutputKind.h"

#include <filesystem>
#include <utility>

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

std::string defaultOutput(const std::string &source, const std::string &emit) {
  if (!emit.empty() && emit != "cubin" && emit != "header")
    return "-";
  std::string stem =
      source == "-" ? "kernel" : std::filesystem::path(source).stem().string();
  return stem + (emit.empty() ? ".selv" : emit == "cubin" ? ".cubin" : ".h");
}

} // namespace selvedge::cli
