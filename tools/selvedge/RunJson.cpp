// What `run --json` prints.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/RunJson.h"

#include <cmath>
#include <fmt/format.h>

namespace selvedge::cli {

using Json = nlohmann::ordered_json;

/// JSON has no infinite numbers.
static Json numberOf(double value) {
  return std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value));
}

static Json jsonOf(const HostArray &array) {
  Statistics of = statisticsOf(array);
  Json json{{"type", nameOf(array.dtype)}, {"shape", array.shape}};
  if (of.finite > 0)
    json.update({{"min", of.min}, {"max", of.max}, {"mean", of.mean}});
  json.update({{"nan", of.nan}, {"inf", of.infinite}});
  return json;
}

static Json jsonOf(const Comparison &comparison) {
  Json json{{"output", comparison.output},
            {"elements", comparison.elements},
            {"outside", comparison.outside},
            {"max_error", numberOf(comparison.maxError)},
            {"max_error_over_bound", numberOf(comparison.maxRatio)}};
  if (comparison.lost > 0)
    json["nan_behind_a_mask"] = comparison.lost;
  if (comparison.outside > 0)
    json["first"] = {{"index", comparison.first},
                     {"got", numberOf(comparison.got)},
                     {"expected", numberOf(comparison.expected)},
                     {"bound", numberOf(comparison.bound)}};
  return json;
}

Json describeRun(const CaseRunner &runner, const Status &status,
                 const Outputs &outputs, double seconds) {
  Json json{{"ok", status.ok()},         {"error", status.message()},
            {"ran", runner.getPlace()},  {"seconds", seconds},
            {"outputs", Json::object()}, {"comparisons", Json::array()}};
  for (const auto &[name, array] : outputs)
    json["outputs"][name] = jsonOf(array);
  for (const Comparison &comparison : runner.getComparisons())
    json["comparisons"].push_back(jsonOf(comparison));
  return json;
}

} // namespace selvedge::cli
