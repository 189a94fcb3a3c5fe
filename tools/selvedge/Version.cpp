// `selvedge version`.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/Compiler.h"
#include "tools/selvedge/Commands.h"
#include "tools/selvedge/Support.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace selvedge::cli {

Action addVersion(CLI::App &app) {
  app.add_subcommand("version", "print the version");
  return [] {
    return report(
        writeOutput("-", fmt::format("selvedge {}\n", compilerVersion())));
  };
}

} // namespace selvedge::cli
