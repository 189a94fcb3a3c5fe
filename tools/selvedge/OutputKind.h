// The file that `compile` writes: its kind and its name.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_OUTPUTKIND_H
#define SELVEDGE_TOOLS_SELVEDGE_OUTPUTKIND_H

#include <string>

namespace selvedge::cli {

/// What --emit would be for a file of this name; empty: the artefact.
std::string kindOfFile(const std::string &path);

/// Why nothing is written to a file of this name: its suffix is nearly one that
/// says what to write, "; did you mean '.cubin'?" and how to go on. Empty where
/// the suffix is one, or like none.
std::string slipOfSuffix(const std::string &path);

/// The name of the output of `source` where none is given: that of the source
/// with the suffix of `emit`, in the working directory; "-" for text.
std::string defaultOutput(const std::string &source, const std::string &emit);

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_OUTPUTKIND_H
