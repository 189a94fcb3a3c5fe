// Compilation with a cache of artefacts on disk.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/CompileCached.h"

#include "compiler/Driver/ArtifactCache.h"
#include "compiler/Driver/VariantCompiler.h"
#include "compiler/Target/PTX/Ptxas.h"
#include "selvedge/DiskCache.h"

#include <chrono>
#include <optional>

namespace selvedge {

using driver::ArtifactCache;

static CompileResult compileWith(const CompileRequest &request,
                                 const std::string &ptxas) {
  auto start = std::chrono::steady_clock::now();
  ArtifactCache cache(request, ptxas);
  if (std::optional<CompileResult> found = cache.read()) {
    std::chrono::duration<double, std::milli> time =
        std::chrono::steady_clock::now() - start;
    found->phases.emplace_back("cache", time.count());
    return std::move(*found);
  }
  CompileResult result = compile(request);
  cache.write(result);
  return result;
}

/// The same request, which takes plans of the cache where it names no others.
static CompileRequest withStoredPlans(const CompileRequest &request) {
  CompileRequest complete = request;
  if (request.planFolder.empty() && !request.ignoresStoredPlans &&
      !cacheFolder().empty())
    complete.planFolder = cacheFolder() + "/plans";
  return complete;
}

CompileResult compileCached(const CompileRequest &request) {
  CompileRequest complete = withStoredPlans(request);
  std::string ptxas = ptx::findPtxas(request.ptxas);
  return ptxas.empty() || request.arch.empty() ? compile(complete)
                                               : compileWith(complete, ptxas);
}

LaunchCode compileForLaunches(const CompileRequest &request) {
  return driver::VariantCompiler::begin(withStoredPlans(request));
}

} // namespace selvedge
