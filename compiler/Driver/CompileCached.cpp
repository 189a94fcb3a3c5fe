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

/// The key of a compilation that said something, which names the file.
static std::string notedKey(const std::string &key,
                            const CompileRequest &request,
                            std::string_view suffix) {
  return DiskCache::key({key, request.fileName}, suffix);
}

static std::optional<CompileResult> readArtifact(const DiskCache &cache,
                                                 const std::string &key) {
  std::optional<std::string> entry = cache.read(key);
  if (!entry)
    return std::nullopt;
  Result<Artifact> artifact = decodeArtifact(*entry);
  if (!artifact.ok())
    return std::nullopt;
  CompileResult result;
  result.manifest = std::move(artifact->manifest);
  result.ptx = std::move(artifact->ptx);
  result.cubin = std::move(artifact->cubin);
  return result;
}

static std::optional<CompileResult> readCache(const DiskCache &cache,
                                              const std::string &key,
                                              const CompileRequest &request) {
  if (std::optional<CompileResult> silent = readArtifact(cache, key))
    return silent;
  std::optional<std::string> notes =
      cache.read(notedKey(key, request, ".notes"));
  if (!notes)
    return std::nullopt;
  std::optional<CompileResult> result =
      readArtifact(cache, notedKey(key, request, ".selv"));
  if (result)
    result->diagnostics = std::move(*notes);
  return result;
}

CompileResult compileCached(const CompileRequest &request) {
  auto start = std::chrono::steady_clock::now();
  std::string ptxas = ptx::findPtxas(request.ptxas);
  if (ptxas.empty() || request.arch.empty())
    return compile(request);
  DiskCache cache;
  if (std::optional<CompileResult> found =
          readCache(cache, keyOf(request, ptxas), request)) {
    std::chrono::duration<double, std::milli> time =
        std::chrono::steady_clock::now() - start;
    found->phases.emplace_back("cache", time.count());
    return std::move(*found);
  }
  CompileResult result = compile(request);
  if (result.status != CompileStatus::Ok)
    return result;
  // The compilation may have stored its plans.
  std::string key = keyOf(request, ptxas);
  std::string content =
      encodeArtifact({result.manifest, result.ptx, result.cubin});
  if (result.diagnostics.empty()) {
    cache.write(key, content);
  } else {
    cache.write(notedKey(key, request, ".selv"), content);
    cache.write(notedKey(key, request, ".notes"), result.diagnostics);
  }
  return result;
}

} // namespace selvedge
