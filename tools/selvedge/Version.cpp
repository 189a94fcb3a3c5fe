// `selvedge version`.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/Compiler.h"
#include "tools/selvedge/Commands.h"
#include "tools/selvedge/Support.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

namespace selvedge::cli {

Action addVersion(CLI::App &app) {
  auto asJson = std::make_shared<bool>(false);
  app.add_subcommand("version", "print the version")
      ->add_flag("--json", *asJson, "print JSON");
  return [asJson] {
    const char *words =
        *asJson ? "{{\"selvedge\": \"{}\"}}\n" : "selvedge {}\n";
    return report(
        writeOutput("-", fmt::format(fmt::runtime(words), compilerVersion())));
  };
}

} // namespace selvedge::cli
