// Plans that were measured, or found to assemble well, on disk.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/PlanStore.h"

#include "compiler/Driver/Pipeline.h"
#include "compiler/Schedule/Plan/PlanChoice.h"
#include "dialect/Tile/Tile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MD5.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

namespace selvedge::driver {

using namespace mlir;
namespace json = llvm::json;

/// What the file is for, digested: two classes never share one.
static std::string fileName(const CompileRequest &request, ModuleOp module) {
  tile::ProgramOp program = *module.getOps<tile::ProgramOp>().begin();
  std::string key;
  llvm::raw_string_ostream os(key);
  os << compilerVersion() << '\0' << request.arch << '\0'
     << program.getSymName() << '\0' << program.getParams() << '\0'
     << request.source;
  for (const auto &[path, text] : importedFiles(request))
    os << '\0' << text;
  // Masks that are exact take registers of their own.
  if (request.masks == MaskMode::Exact)
    os << '\0' << "exact";
  // Plans for devices with less than the target have to fit.
  if (std::optional<int64_t> limit = sharedMemoryLimit(request))
    os << '\0' << "shared memory " << *limit;
  llvm::MD5 digest;
  digest.update(key);
  llvm::MD5::MD5Result result;
  digest.final(result);
  return (program.getSymName() + "-" + request.arch + "-" + result.digest() +
          ".json")
      .str();
}

PlanStore::PlanStore(const CompileRequest &request, ModuleOp module)
    : device(request.device) {
  llvm::SmallString<128> path(request.planFolder);
  llvm::sys::path::append(path, fileName(request, module));
  file = path.str().str();
}

/// Whether brackets nest deeper than in any file of plans: the parser recurses.
static bool isTooDeep(llvm::StringRef text) {
  constexpr int limit = 16;
  int depth = 0;
  for (char c : text) {
    depth += c == '[' || c == '{';
    depth -= c == ']' || c == '}';
    if (depth > limit)
      return true;
  }
  return false;
}

json::Object PlanStore::read() const {
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer || isTooDeep((*buffer)->getBuffer()))
    return {};
  llvm::Expected<json::Value> value = json::parse((*buffer)->getBuffer());
  if (!value) {
    llvm::consumeError(value.takeError());
    return {};
  }
  json::Object *object = value->getAsObject();
  return object ? std::move(*object) : json::Object();
}

/// Text of a member; empty where there is none.
static std::string textOf(const json::Object &object, StringRef key) {
  return object.getString(key).value_or("").str();
}

std::optional<StoredPlan> PlanStore::find() const {
  json::Object content = read();
  auto valid = [](StoredPlan stored) -> std::optional<StoredPlan> {
    if (stored.origin.empty() || !schedule::parseChoice(stored.plan))
      return std::nullopt;
    return stored;
  };
  if (json::Array *measured = content.getArray("measured"))
    for (json::Value &entry : llvm::reverse(*measured)) {
      json::Object *object = entry.getAsObject();
      if (!object || (!device.empty() && textOf(*object, "device") != device))
        continue;
      std::string origin =
          "measured: the fastest of " +
          std::to_string(object->getInteger("candidates").value_or(0)) +
          " candidates on " + textOf(*object, "device") + ", " +
          textOf(*object, "shape");
      return valid({textOf(*object, "plan"), origin});
    }
  if (json::Object *verdict = content.getObject("verdict"))
    return valid({textOf(*verdict, "plan"), textOf(*verdict, "why")});
  return std::nullopt;
}

llvm::Error PlanStore::write(json::Object content) const {
  if (std::error_code error =
          llvm::sys::fs::create_directories(llvm::sys::path::parent_path(file)))
    return llvm::createFileError(llvm::sys::path::parent_path(file), error);
  return llvm::writeToOutput(file, [&](llvm::raw_ostream &os) {
    os << llvm::formatv("{0:2}", json::Value(std::move(content))) << "\n";
    return llvm::Error::success();
  });
}

llvm::Error PlanStore::keepVerdict(const StoredPlan &verdict) {
  json::Object content = read();
  content["verdict"] =
      json::Object{{"plan", verdict.plan}, {"why", verdict.origin}};
  return write(std::move(content));
}

llvm::Error PlanStore::keepMeasurement(const PlanMeasurement &measurement) {
  json::Object content = read();
  json::Array measured;
  if (json::Array *old = content.getArray("measured"))
    for (json::Value &entry : *old)
      if (json::Object *object = entry.getAsObject();
          object && textOf(*object, "device") != measurement.device)
        measured.push_back(std::move(entry));
  measured.push_back(json::Object{{"device", measurement.device},
                                  {"plan", measurement.plan},
                                  {"shape", measurement.shape},
                                  {"milliseconds", measurement.milliseconds},
                                  {"candidates", measurement.numCandidates}});
  content["measured"] = std::move(measured);
  return write(std::move(content));
}

} // namespace selvedge::driver
