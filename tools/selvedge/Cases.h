// Options of a case, on the command line and in files of many cases.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_CASES_H
#define SELVEDGE_TOOLS_SELVEDGE_CASES_H

#include "tools/selvedge/RunCase.h"

namespace CLI {
class App;
} // namespace CLI

namespace selvedge::cli {

/// Adds the options of a case to a parser.
void addCaseFlags(CLI::App &command, CaseOptions &options);

/// Reads a file with the options of one case per line; empty lines and lines
/// that start with # are skipped. An option that a line lacks has the value of
/// `defaults`. Errors name file and line.
Result<std::vector<Case>> readCases(const std::string &path,
                                    const CaseOptions &defaults);

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_CASES_H
