// What the subcommands share: exit statuses, messages, files, options.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_SUPPORT_H
#define SELVEDGE_TOOLS_SELVEDGE_SUPPORT_H

#include "compiler/Driver/Compiler.h"
#include "selvedge/Result.h"

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace selvedge::cli {

/// Exit statuses of the program.
enum ExitStatus : int {
  exitDone = 0,
  /// The kernel or a comparison failed.
  exitFailed = 1,
  /// The input or the environment is wrong.
  exitBadInput = 2
};

/// Options that `compile` and `run` share.
struct SourceOptions {
  std::string file;
  std::string op;
  std::string arch;
  std::vector<std::string> sets;
  /// CompileRequest::importFolders.
  std::vector<std::string> importFolders;
  /// CompileRequest::plan.
  std::string plan;
  /// CompileRequest::sharedMemory.
  int64_t sharedMemory = 0;
  /// CompileRequest::isStrict; the variable SELVEDGE_STRICT sets it, too.
  bool isStrict = false;
  /// CompileRequest::masks.
  std::string masks = "tile";
};

/// JSON as commands print it: indented, a line at the end, bytes that are no
/// UTF-8 replaced.
std::string printed(const nlohmann::ordered_json &json);

/// Prints "selvedge: error: <message>" on standard error.
void printError(std::string_view message);

/// Prints the error and returns its exit status; exitDone for success.
int report(const Status &status);

/// Prints a compilation's diagnostics and returns its exit status.
int report(const CompileResult &result);

/// A file; where there is none the message names one that may be meant.
Result<std::string> readNamedFile(const std::string &path);

/// A file, or standard input for "-".
Result<std::string> readSource(const std::string &file);

/// Reads the source and checks `arch`; `--set` is not looked at. Plans are kept
/// in the cache folder. What takes more than a second says so on a terminal.
Result<CompileRequest> makeRequest(const SourceOptions &options);

/// The request for one device, where it does not say for which: one whose
/// thread blocks have so much shared memory, or, with 0, all that the
/// architecture may have. `ref` and `sim` are such devices.
CompileRequest forOneDevice(CompileRequest request, int64_t sharedMemory = 0);

/// What a compilation does, for who waits for it.
std::string workOf(const CompileRequest &request);

/// Splits NAME=VALUE strings of option `option`; names must not repeat.
Result<std::map<std::string, std::string>>
parseBindings(const std::vector<std::string> &texts, std::string_view option);

/// Parses "B=2,M=1024" strings of `--shape`.
Result<std::map<std::string, int64_t>>
parseShapes(const std::vector<std::string> &texts);

/// Writes to a file, atomically, or to standard output for "-".
Status writeOutput(const std::string &path, std::string_view content);

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_SUPPORT_H
