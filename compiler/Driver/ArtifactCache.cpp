// What compilations gave, on disk.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/ArtifactCache.h"

#include "compiler/Driver/Pipeline.h"
#include "selvedge/Artifact.h"
#include "selvedge/DiskCache.h"
#include "selvedge/File.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/ManagedStatic.h"

namespace selvedge::driver {

/// This compiler: the program or library that holds it, and the libraries that
/// it was linked with.
static std::string identifyCompiler() {
  using Verify = llvm::LogicalResult (*)(mlir::Operation *, bool);
  std::string text = compilerVersion();
  for (const void *inside :
       {reinterpret_cast<const void *>(&identifyCompiler),
        reinterpret_cast<const void *>(static_cast<Verify>(&mlir::verify)),
        reinterpret_cast<const void *>(&llvm::llvm_shutdown)})
    text += ' ' + identifyCode(inside);
  return text;
}

static std::string keyOf(const CompileRequest &request,
                         const std::string &ptxas) {
  static const std::string compiler = identifyCompiler();
  std::string assembler = identifyFile(ptxas);
  // All devices, all that have what the target has, or less.
  std::string sharedMemory =
      request.sharedMemory == 0
          ? ""
          : std::to_string(sharedMemoryLimit(request).value_or(0));
  std::vector<std::string_view> parts = {
      compiler,
      assembler,
      request.arch,
      request.op,
      request.source,
      request.plan,
      request.planFolder,
      request.device,
      sharedMemory,
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

ArtifactCache::ArtifactCache(const CompileRequest &request, std::string ptxas)
    : request(request), ptxas(std::move(ptxas)),
      key(keyOf(request, this->ptxas)) {}

std::string ArtifactCache::notedName(std::string_view suffix) const {
  std::vector<std::string_view> parts = {key, request.fileName};
  std::vector<std::pair<std::string, std::string>> imported =
      importedFiles(request);
  for (const auto &[path, text] : imported)
    parts.push_back(path);
  return DiskCache::key(parts, suffix);
}

std::string ArtifactCache::nameOf(std::string_view part) const {
  return part.empty() ? key
                      : DiskCache::key({key, part}, request.arch + ".selv");
}

std::optional<CompileResult>
ArtifactCache::readEntry(const std::string &name) const {
  std::optional<std::string> content = DiskCache().read(name);
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

std::optional<CompileResult> ArtifactCache::read(std::string_view part) const {
  if (std::optional<CompileResult> silent = readEntry(nameOf(part));
      silent || !part.empty())
    return silent;
  std::optional<std::string> notes = DiskCache().read(notedName(".notes"));
  if (!notes)
    return std::nullopt;
  std::optional<CompileResult> result = readEntry(notedName(".selv"));
  if (result)
    result->diagnostics = std::move(*notes);
  return result;
}

void ArtifactCache::write(const CompileResult &result,
                          std::string_view part) const {
  bool isSilent = result.diagnostics.empty();
  // An imported file may have changed meanwhile.
  if (result.status != CompileStatus::Ok || (!isSilent && !part.empty()) ||
      keyOf(request, ptxas) != key)
    return;
  DiskCache cache;
  if (isSilent)
    return cache.write(nameOf(part), makeEntry(result));
  cache.write(notedName(".selv"), makeEntry(result));
  cache.write(notedName(".notes"), result.diagnostics);
}

} // namespace selvedge::driver
