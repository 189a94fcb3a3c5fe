// Examples and suggestions.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/Help.h"

#include <CLI/CLI.hpp>
#include <map>

namespace selvedge::cli {

/// Lines behind "selvedge ".
static const std::map<std::string_view, std::vector<std::string_view>>
    examples = {
        {"compile",
         {"compile k.tile --arch sm_90a                    writes k.selv",
          "compile k.tile --arch native -o k.cubin         the kind is that of "
          "the suffix",
          "compile k.tile --arch sm_80 --emit sm:seq       a stage, on "
          "standard output",
          "compile k.tile --op 'grad(f)' --arch sm_90a --set D=64 --json",
          "compile - --arch sm_80 -o k.h < k.tile          a header for C"}},
        {"run",
         {"run k.tile --device ref --shape B=2,M=33,N=65   without a GPU",
          "run k.tile --shape B=2,M=33,N=65 --poison all --compare ref,clean",
          "run k.tile -i in.safetensors -o out.safetensors",
          "run k.tile --device sim --arch sm_90a --shape M=33 --layout "
          "x=transposed --repeat 2"}},
        {"check",
         {"check k.tile                                    on the GPU, or on "
          "sim",
          "check k.tile --arch sm_90a --device sim --cases 20 --seed 7"}},
        {"explain",
         {"explain k.tile --arch sm_90a",
          "explain k.tile --plan main:BM64-BN64-BK32-w4    as bench --tune "
          "names plans",
          "explain k.tile --set causal=true --html k.html  with pictures"}},
        {"bench",
         {"bench k.tile --shape B=2,M=4096,N=4096,G=8,R=4",
          "bench k.tile --shape B=2,M=4096,N=4096 --tune   keeps the fastest "
          "plan",
          "bench k.tile --shape B=2,M=4096,N=4096 --tune --top 8 --json"}},
        {"list", {"list", "list k.tile", "list --json k.tile"}},
        {"fmt",
         {"fmt k.tile", "fmt --check *.tile", "fmt --check --json *.tile",
          "fmt - < k.tile"}},
        {"doctor", {"doctor", "doctor --json"}},
        {"version", {"version", "version --json"}},
        {"help",
         {"help compile", "help --man | man -l -",
          "help --json                                     options of all "
          "commands"}},
        {"completion",
         {"completion bash > ~/.local/share/bash-completion/completions/"
          "selvedge",
          "completion zsh > ~/.zfunc/_selvedge"}},
};

std::vector<std::string> examplesOf(std::string_view command) {
  std::vector<std::string> lines;
  for (std::string_view line : examples.at(command))
    lines.push_back("selvedge " + std::string(line));
  return lines;
}

void addExamples(CLI::App &app) {
  for (CLI::App *command : app.get_subcommands({})) {
    std::string text = "Examples:";
    for (const std::string &line : examplesOf(command->get_name()))
      text += "\n  " + line;
    command->footer(text);
  }
  app.footer("selvedge help COMMAND tells a command's options, with examples.");
}

std::vector<std::string> commandNames(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::App *command : app.get_subcommands({}))
    names.push_back(command->get_name());
  return names;
}

CLI::App *findCommand(CLI::App &app, std::string_view name) {
  for (CLI::App *command : app.get_subcommands({}))
    if (command->get_name() == name)
      return command;
  return nullptr;
}

std::vector<std::string> optionNames(const CLI::App &command) {
  std::vector<std::string> names;
  for (const CLI::Option *option : command.get_options()) {
    for (const std::string &name : option->get_snames())
      names.push_back("-" + name);
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> valuesOf(std::string_view option) {
  if (option == "--arch")
    return {"sm_80", "sm_90a", "native"};
  if (option == "--device")
    return {"gpu", "sim", "ref"};
  if (option == "--mask")
    return {"tile", "exact"};
  if (option == "--emit")
    return {"cubin",    "ptx",      "llvm",     "header", "manifest",  "sm:seq",
            "sm:async", "sm:final", "sm:lanes", "tile",   "tile:bound"};
  if (option == "--poison")
    return {"none",      "nan",    "inf", "ninf", "max",
            "subnormal", "random", "ff",  "all"};
  if (option == "--compare")
    return {"ref", "clean", "mask"};
  return {};
}

} // namespace selvedge::cli
