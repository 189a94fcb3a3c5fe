// Command line options that several subcommands have.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_SOURCEFLAGS_H
#define SELVEDGE_TOOLS_SELVEDGE_SOURCEFLAGS_H

#include "compiler/Target/TargetInfo.h"
#include "tools/selvedge/Support.h"

#include <CLI/CLI.hpp>

namespace selvedge::cli {

/// Adds an option that may be repeated, and takes one value each time: what
/// follows is the command's own.
inline void addRepeated(CLI::App &command, const char *name,
                        std::vector<std::string> &values, const char *help) {
  command.add_option(name, values, help)
      ->type_size(1)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

/// Adds -I: every command that reads sources has it.
inline void addImportFlag(CLI::App &command,
                          std::vector<std::string> &folders) {
  addRepeated(command, "-I", folders,
              "a folder in which imported files are looked for, before the "
              "shipped templates; may be repeated (no default)");
}

/// More than any GPU has.
inline constexpr int64_t mostSharedMemory = int64_t(1) << 30;

/// Adds FILE, -I, --op, --arch, --mask, --plan, --shared-memory, --strict and
/// --set. `archDefault` says which target the command takes without --arch.
inline void addSourceFlags(CLI::App &command, SourceOptions &options,
                           const std::string &archDefault) {
  command
      .add_option("FILE", options.file, "the .tile file; - for standard input")
      ->required();
  addImportFlag(command, options.importFolders);
  command.add_option("--op", options.op, "the op (default: the first)");
  command.add_option("--arch", options.arch,
                     targetNames("or") + "; native: that of the first GPU (" +
                         archDefault + ")");
  command.add_option("--mask", options.masks,
                     "what NaN and Inf that a mask removes may do: tile "
                     "(make rows of their tile NaN) or exact (nothing) "
                     "(default: tile)");
  command.add_option("--plan", options.plan,
                     "plans to bind, as bench --tune names them (default: the "
                     "stored ones of bench --tune, or else the model's)");
  command
      .add_option("--shared-memory", options.sharedMemory,
                  "bytes of shared memory that a thread block of the device "
                  "has: plans take no more (default: the device that runs the "
                  "op; compile: plans for all devices of the architecture)")
      ->check(CLI::Range(int64_t(1), mostSharedMemory));
  command.add_flag("--strict", options.isStrict,
                   "fail where a verifier refuses warp roles, instead of doing "
                   "without (also SELVEDGE_STRICT=1)");
  addRepeated(command, "--set", options.sets,
              "NAME=VALUE, binds a parameter; may be repeated (default: "
              "that of the parameter)");
}

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_SOURCEFLAGS_H
