// Compilation with a cache of artefacts on disk.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/CompileCached.h"

#include "compiler/Target/PTX/Ptxas.h"
#include "selvedge/Artifact.h"
#include "selvedge/DiskCache.h"
#include "selvedge/File.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/ManagedStatic.h"

#include <chrono>
#include <optional>

namespace selvedge {

/// This compiler: the program or library that holds it, and the libraries that
/// it was linked with.
static std::string identifyCompiler() {
  using Verify = llvm::LogicalResult (*)(mlir::Operation *, bool);
  std::string text = compilerVersion();
  for (const void *inside :
       {reinterpret_cast<const void *>(&compileCached),
        reinterpret_cast<const void *>(static_cast<Verify>(&mlir::verify)),
        reinterpret_cast<const void *>(&llvm::llvm_shutdown)})
    text += ' ' + identifyCode(inside);
  return text;
}

static std::string keyOf(const CompileRequest &request,
                         const std::string &ptxas) {
  static const std::string compiler = identifyCompiler();
  std::string assembler = identifyFile(ptxas);
  std::vector<std::string_view> parts = {
      compiler,
      assembler,
      request.arch,
      request.op,
      request.source,
      request.plan,
      request.planFolder,
      request.device,
      request.masks == MaskMode::Exact ? "exact" : "tile",
      request.isStrict ? "strict" : ""};
  std::vector<std::pair<std::string, std::string>> imported =
      importedFiles(request);
  for (const auto &[path, text] : imported)
    parts.push_back(text);
  // Where the files end and the bindings begin.
  parts.push_back("");
  for (const auto &[name, value] : request.bindings)
    parts.insert(parts.end(), {name, value});
  return DiskCache::key(parts, request.arch + ".selv");
}

/// What a file of plans holds, in digits; "none" where there is no file.
static std::string planState(const std::string &path) {
  Result<std::string> text = path.empty() ? std::string() : readFile(path);
  return text.ok() ? checksumOf(*text) : "none";
}

/// An entry of the cache: the file of plans that the compilation asked, its
/// state then, and the artefact.
static std::string makeEntry(const CompileResult &result) {
  return result.planFile + '\n' + planState(result.planFile) + '\n' +
         encodeArtifact({result.manifest, result.ptx, result.cubin});
}

/// The key of a compilation that said something, which names files.
static std::string notedKey(const std::string &key,
                            const CompileRequest &request,
                            std::string_view suffix) {
  std::vector<std::string_view> parts = {key, request.fileName};
  std::vector<std::pair<std::string, std::string>> imported =
      importedFiles(request);
  for (const auto &[path, text] : imported)
    parts.push_back(path);
  return DiskCache::key(parts, suffix);
}

/// The artefact of an entry whose plans are still the same.
static std::optional<CompileResult> readEntry(const DiskCache &cache,
                                              const std::string &key) {
  std::optional<std::string> content = cache.read(key);
  if (!content)
    return std::nullopt;
  std::string_view entry = *content;
  size_t path = entry.find('\n');
  size_t state = path == entry.npos ? path : entry.find('\n', path + 1);
  if (state == entry.npos || planState(std::string(entry.substr(0, path))) !=
                                 entry.substr(path + 1, state - path - 1))
    return std::nullopt;
  Result<Artifact> artifact = decodeArtifact(entry.substr(state + 1));
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
  if (std::optional<CompileResult> silent = readEntry(cache, key))
    return silent;
  std::optional<std::string> notes =
      cache.read(notedKey(key, request, ".notes"));
  if (!notes)
    return std::nullopt;
  std::optional<CompileResult> result =
      readEntry(cache, notedKey(key, request, ".selv"));
  if (result)
    result->diagnostics = std::move(*notes);
  return result;
}

static CompileResult compileWith(const CompileRequest &request,
                                 const std::string &ptxas) {
  auto start = std::chrono::steady_clock::now();
  DiskCache cache;
  std::string key = keyOf(request, ptxas);
  if (std::optional<CompileResult> found = readCache(cache, key, request)) {
    std::chrono::duration<double, std::milli> time =
        std::chrono::steady_clock::now() - start;
    found->phases.emplace_back("cache", time.count());
    return std::move(*found);
  }
  CompileResult result = compile(request);
  // An imported file may have changed meanwhile.
  if (result.status != CompileStatus::Ok || keyOf(request, ptxas) != key)
    return result;
  if (result.diagnostics.empty()) {
    cache.write(key, makeEntry(result));
  } else {
    cache.write(notedKey(key, request, ".selv"), makeEntry(result));
    cache.write(notedKey(key, request, ".notes"), result.diagnostics);
  }
  return result;
}

CompileResult compileCached(const CompileRequest &request) {
  std::string ptxas = ptx::findPtxas(request.ptxas);
  if (!request.planFolder.empty() || request.ignoresStoredPlans ||
      cacheFolder().empty())
    return ptxas.empty() || request.arch.empty() ? compile(request)
                                                 : compileWith(request, ptxas);
  CompileRequest complete = request;
  complete.planFolder = cacheFolder() + "/plans";
  return ptxas.empty() || request.arch.empty() ? compile(complete)
                                               : compileWith(complete, ptxas);
}

} // namespace selvedge
