// The functions of jit.h.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/CompileCached.h"
#include "compiler/Driver/JitRequest.h"
#include "compiler/Target/TargetInfo.h"
#include "runtime/src/CApiGuard.h"
#include "runtime/src/CApiOp.h"
#include "selvedge/Artifact.h"
#include "selvedge/jit.h"

#include <ranges>

using namespace selvedge;
using capi::fail;
using capi::failNull;
using capi::findNull;
using capi::guarded;
using capi::readRequest;

/// The artefact, and what the compiler said.
struct selvedge_compiled {
  std::string artifact;
  std::string warnings;
};

static std::string textOr(const char *text, const char *other) {
  return text ? text : other;
}

const char *capi::findNull(const selvedge_compile_request &from) {
  if (!from.source)
    return "the source is null";
  if ((from.binding_count && !from.bindings) ||
      (from.import_folder_count && !from.import_folders))
    return "an array of the request is null and its count is not 0";
  for (size_t i = 0; i < from.binding_count; ++i)
    if (!from.bindings[i].name || !from.bindings[i].value)
      return "the name or value of a binding is null";
  for (size_t i = 0; i < from.import_folder_count; ++i)
    if (!from.import_folders[i])
      return "an import folder is null";
  return nullptr;
}

CompileRequest capi::readRequest(const selvedge_compile_request &from) {
  CompileRequest request;
  request.source = from.source;
  request.fileName = textOr(from.file_name, "<memory>");
  request.op = textOr(from.op, "");
  request.arch = textOr(from.arch, "");
  request.masks = from.exact_masks ? MaskMode::Exact : MaskMode::Tile;
  for (size_t i = 0; i < from.binding_count; ++i)
    request.bindings[from.bindings[i].name] = from.bindings[i].value;
  for (size_t i = 0; i < from.import_folder_count; ++i)
    request.importFolders.emplace_back(from.import_folders[i]);
  return request;
}

static const char *missingArch(const selvedge_compile_request &from) {
  return from.arch ? nullptr : "the architecture is null";
}

/// The architecture whose code runs best on `device`.
static Result<std::string> archOf(const Device &device) {
  auto [major, minor] = device.capability();
  Status last;
  for (const TargetInfo &target : targets | std::views::reverse) {
    Result<LoadPath> path =
        chooseLoadPath(std::string(target.name), major, minor);
    if (path.ok())
      return std::string(target.name);
    last = path.status();
  }
  return last;
}

selvedge_status selvedge_compile(const selvedge_compile_request *request,
                                 selvedge_compiled **compiled) {
  if (!request || !compiled)
    return failNull(request ? "the result is null" : "the request is null");
  *compiled = nullptr;
  if (const char *null = findNull(*request))
    return failNull(null);
  if (const char *null = missingArch(*request))
    return failNull(null);
  return guarded(SELVEDGE_FAILED, [&] {
    CompileResult result = compileCached(readRequest(*request));
    if (result.status != CompileStatus::Ok)
      return fail(result.status == CompileStatus::BadInput ? SELVEDGE_BAD_INPUT
                                                           : SELVEDGE_FAILED,
                  result.diagnostics.c_str());
    *compiled = new selvedge_compiled{
        encodeArtifact({result.manifest, result.ptx, result.cubin}),
        std::move(result.diagnostics)};
    return SELVEDGE_OK;
  });
}

selvedge_op *selvedge_jit(const selvedge_compile_request *request,
                          int ordinal) {
  if (!request)
    return failNull("the request is null"), nullptr;
  if (const char *null = findNull(*request))
    return failNull(null), nullptr;
  return guarded<selvedge_op *>(nullptr, [&]() -> selvedge_op * {
    Result<Device> device = Device::open(ordinal);
    CompileRequest read = readRequest(*request);
    if (read.arch.empty()) {
      // Without a GPU there is no architecture to compile for.
      Result<std::string> arch =
          device.ok() ? archOf(*device) : device.status();
      if (!arch.ok())
        return fail(arch.status()), nullptr;
      read.arch = *arch;
    }
    if (device.ok())
      read.sharedMemory = device->sharedMemoryPerBlock();
    LaunchCode compiled = compileForLaunches(read);
    if (!compiled.code) {
      fail(compiled.result.status == CompileStatus::BadInput
               ? SELVEDGE_BAD_INPUT
               : SELVEDGE_FAILED,
           compiled.result.diagnostics.c_str());
      return nullptr;
    }
    return capi::makeOp(device.ok() ? Op::load(compiled.code, *device)
                                    : device.status(),
                        device);
  });
}

void selvedge_free_compiled(selvedge_compiled *compiled) { delete compiled; }

const void *selvedge_compiled_bytes(const selvedge_compiled *compiled,
                                    size_t *size) {
  if (size)
    *size = compiled ? compiled->artifact.size() : 0;
  if (!compiled || !size) {
    failNull(compiled ? "the size is null" : "the compilation is null");
    return nullptr;
  }
  return compiled->artifact.data();
}

const char *selvedge_compiled_warnings(const selvedge_compiled *compiled) {
  return compiled ? compiled->warnings.c_str() : "";
}
