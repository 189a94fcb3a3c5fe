// Compilation with a cache of artefacts on disk.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/CompileCached.h"

#include "compiler/Target/PTX/Ptxas.h"
#include "selvedge/Artifact.h"
#include "selvedge/DiskCache.h"

#include <chrono>
#include <dlfcn.h>

namespace selvedge {

/// This compiler: the program or library that holds it.
static std::string identifyCompiler() {
  Dl_info info = {};
  if (!::dladdr(reinterpret_cast<const void *>(&compileCached), &info) ||
      !info.dli_fname)
    return compilerVersion();
  // A program's name is as it was called.
  std::string path = info.dli_fname;
  return std::string(compilerVersion()) + ' ' +
         identifyFile(path.find('/') == std::string::npos ? "/proc/self/exe"
                                                          : path);
}

static std::string keyOf(const CompileRequest &request,
                         const std::string &ptxas) {
  static const std::string compiler = identifyCompiler();
  std::string assembler = identifyFile(ptxas);
  // Any plan that is stored changes the folder.
  std::string plans =
      request.planFolder.empty() ? "" : identifyFile(request.planFolder);
  std::vector<std::string_view> parts = {
      compiler,
      assembler,
      request.arch,
      request.op,
      request.source,
      request.plan,
      plans,
      request.device,
      request.masks == MaskMode::Exact ? "exact" : "tile",
      request.isStrict ? "strict" : ""};
  for (const auto &[name, value] : request.bindings)
    parts.insert(parts.end(), {name, value});
  return DiskCache::key(parts, request.arch + ".selv");
}

CompileResult compileCached(const CompileRequest &request) {
  auto start = std::chrono::steady_clock::now();
  std::string ptxas = ptx::findPtxas(request.ptxas);
  if (ptxas.empty() || request.arch.empty())
    return compile(request);
  DiskCache cache;
  std::string key = keyOf(request, ptxas);
  if (std::optional<std::string> entry = cache.read(key))
    if (Result<Artifact> artifact = decodeArtifact(*entry); artifact.ok()) {
      CompileResult result;
      result.manifest = std::move(artifact->manifest);
      result.ptx = std::move(artifact->ptx);
      result.cubin = std::move(artifact->cubin);
      std::chrono::duration<double, std::milli> time =
          std::chrono::steady_clock::now() - start;
      result.phases.emplace_back("cache", time.count());
      return result;
    }
  CompileResult result = compile(request);
  // The compilation may have stored its plans.
  if (result.status == CompileStatus::Ok && result.diagnostics.empty())
    cache.write(keyOf(request, ptxas),
                encodeArtifact({result.manifest, result.ptx, result.cubin}));
  return result;
}

} // namespace selvedge
