// What was meant by a word that is nearly another one.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_SUGGEST_H
#define SELVEDGE_TOOLS_SELVEDGE_SUGGEST_H

#include <string>
#include <string_view>
#include <vector>

namespace selvedge::cli {

/// The known word that is nearest to `word`, upper case or not; empty where
/// none is near.
std::string nearest(std::string_view word,
                    const std::vector<std::string> &known);

/// "; did you mean 'causal'?" where a known word is near, else nothing.
std::string didYouMean(std::string_view word,
                       const std::vector<std::string> &known);

/// The same of a file that is not there: others of its folder with its suffix.
std::string didYouMeanFile(const std::string &path);

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_SUGGEST_H
