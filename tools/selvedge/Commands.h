// The subcommands: each adds itself to the parser and runs on its options.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_COMMANDS_H
#define SELVEDGE_TOOLS_SELVEDGE_COMMANDS_H

#include <functional>

namespace CLI {
class App;
} // namespace CLI

namespace selvedge::cli {

/// Runs a subcommand after parsing and returns the exit status.
using Action = std::function<int()>;

/// `compile`: source to artefact or to any stage of the pipeline.
Action addCompile(CLI::App &app);
/// `run`: compile and execute on a device.
Action addRun(CLI::App &app);
/// `check`: cases that kernels break on, compared with `ref`.
Action addCheck(CLI::App &app);
/// `explain`: what keeps each load, score and output safe.
Action addExplain(CLI::App &app);
/// `bench`: how long an op takes on the GPU, and its fastest plan.
Action addBench(CLI::App &app);
/// `fmt`: the layout of source text.
Action addFmt(CLI::App &app);
/// `list`: ops of files or of the shipped templates.
Action addList(CLI::App &app);
/// `doctor`: what this machine can do.
Action addDoctor(CLI::App &app);
/// `version`: one line.
Action addVersion(CLI::App &app);
/// `help`: of a command, or the manual page.
Action addHelp(CLI::App &app);
/// `completion`: a script for a shell.
Action addCompletion(CLI::App &app);

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_COMMANDS_H
