// What `compile --json` prints.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/CompileJson.h"

#include <nlohmann/json.hpp>

namespace selvedge::cli {

using Json = nlohmann::ordered_json;

static Json kernelsOf(const Manifest &manifest, const CompileResult &result) {
  Json kernels = Json::array();
  for (const ManifestVariant &variant : manifest.variants)
    for (const ManifestLaunch &launch : variant.launches)
      for (const KernelUse &use : result.kernels)
        if (use.name == launch.kernel)
          kernels.push_back(
              {{"name", use.name},
               {"variant", variant.name},
               {"threads", launch.block},
               {"registers", use.registers},
               {"spill_bytes", use.spillBytes},
               {"stack_bytes", use.stackBytes},
               {"shared_bytes", use.staticSmemBytes + launch.smemBytes}});
  return kernels;
}

std::string describeCompiled(const Manifest &manifest,
                             const CompileRequest &request,
                             const CompileResult &result,
                             const std::string &output) {
  Json json{{"version", 1},
            {"op", manifest.op},
            {"arch", request.arch},
            {"params", Json::object()},
            {"output", output},
            {"kernels", kernelsOf(manifest, result)},
            {"milliseconds", Json::object()},
            {"plan", result.plan},
            {"remarks", result.remarks}};
  for (const auto &[name, value] : manifest.params)
    json["params"][name] = value;
  for (const auto &[name, milliseconds] : result.phases)
    json["milliseconds"][name] = milliseconds;
  for (const std::string &complaint : result.complaints)
    json["remarks"].push_back(complaint);
  return json.dump(2);
}

} // namespace selvedge::cli
