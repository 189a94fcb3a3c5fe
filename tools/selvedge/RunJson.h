// What `run --json` prints.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_RUNJSON_H
#define SELVEDGE_TOOLS_SELVEDGE_RUNJSON_H

#include "tools/selvedge/RunCase.h"

#include <nlohmann/json.hpp>

namespace selvedge::cli {

/// What a case gave: whether it passed or why not, where it ran, and type,
/// shape and statistics of every output, with its comparisons.
nlohmann::ordered_json describeRun(const CaseRunner &runner,
                                   const Status &status, const Outputs &outputs,
                                   double seconds);

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_RUNJSON_H
