// What the subcommands share.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/Support.h"

#include "compiler/Target/TargetInfo.h"
#include "selvedge/DiskCache.h"
#include "selvedge/File.h"
#include "selvedge/Manifest.h"
#include "tools/selvedge/Help.h"
#include "tools/selvedge/RunDevices.h"
#include "tools/selvedge/Suggest.h"
#include "tools/selvedge/Terminal.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace selvedge::cli {

std::string printed(const nlohmann::ordered_json &json) {
  return json.dump(2, ' ', false,
                   nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

void printError(std::string_view message) {
  std::string text = fmt::format("selvedge: error: {}\n", message);
  fmt::print(stderr, "{}", showsColours() ? paint(text) : text);
}

int report(const Status &status) {
  if (status.ok())
    return exitDone;
  printError(status.message());
  return status.code() == ErrorCode::Failed ? exitFailed : exitBadInput;
}

int report(const CompileResult &result) {
  // Lines of the source may hold anything, zeros too.
  std::string text =
      showsColours() ? paint(result.diagnostics) : result.diagnostics;
  std::fwrite(text.data(), 1, text.size(), stderr);
  if (result.status != CompileStatus::Ok && result.diagnostics.empty())
    printError("the compilation failed");
  return static_cast<int>(result.status);
}

/// Says what takes long to who waits for it.
static void tellTerminal(CompileRequest &request) {
  if (!::isatty(STDERR_FILENO))
    return;
  auto start = std::chrono::steady_clock::now();
  request.progress = [start](const std::string &words) {
    if (std::chrono::steady_clock::now() - start > std::chrono::seconds(1))
      fmt::print(stderr, "{}\n", words);
  };
}

/// The architecture of `--arch`; that of the first GPU for "native".
static Result<std::string> readArch(const std::string &arch) {
  if (arch == "native") {
    Result<Device> device = Device::open(0);
    if (!device.ok())
      return Status::unavailable("--arch native: " + device.status().message());
    return bestArch(*device);
  }
  if (!arch.empty() && !targetInfo(arch))
    return Status::badInput(fmt::format(
        "unknown architecture '{}': expected {}, or native for "
        "that of the GPU{}",
        arch, targetNames("or"), didYouMean(arch, valuesOf("--arch"))));
  return arch;
}

Result<std::string> readNamedFile(const std::string &path) {
  Result<std::string> text = readFile(path);
  if (text.ok())
    return text;
  return Status(text.status().code(),
                text.status().message() + didYouMeanFile(path));
}

Result<std::string> readSource(const std::string &file) {
  if (file != "-")
    return readNamedFile(file);
  std::string text;
  std::array<char, 4096> part;
  while (size_t size = std::fread(part.data(), 1, part.size(), stdin))
    text.append(part.data(), size);
  if (std::ferror(stdin))
    return Status::badInput("cannot read standard input");
  return text;
}

Result<CompileRequest> makeRequest(const SourceOptions &options) {
  Result<std::string> arch = readArch(options.arch);
  if (!arch.ok())
    return arch.status();
  if (options.masks != "tile" && options.masks != "exact")
    return Status::badInput(fmt::format(
        "--mask '{}' is unknown: expected tile or exact{}", options.masks,
        didYouMean(options.masks, valuesOf("--mask"))));
  Result<std::string> source = readSource(options.file);
  if (!source.ok())
    return source.status();
  CompileRequest request;
  request.fileName = options.file == "-" ? "<stdin>" : options.file;
  request.source = std::move(*source);
  request.importFolders = options.importFolders;
  request.op = options.op;
  request.arch = *arch;
  request.sharedMemory = options.sharedMemory;
  request.plan = options.plan;
  const char *strict = std::getenv("SELVEDGE_STRICT");
  request.isStrict = options.isStrict || (strict && *strict);
  if (options.masks == "exact")
    request.masks = MaskMode::Exact;
  if (std::string cache = cacheFolder(); !cache.empty())
    request.planFolder = cache + "/plans";
  tellTerminal(request);
  return request;
}

std::string workOf(const CompileRequest &request) {
  return fmt::format(
      "compiling {}{} for {}: proofs, PTX and ptxas", request.fileName,
      request.op.empty() ? "" : ", op " + request.op, request.arch);
}

CompileRequest forOneDevice(CompileRequest request, int64_t sharedMemory) {
  std::optional<TargetInfo> target = targetInfo(request.arch);
  if (request.sharedMemory == 0 && target)
    request.sharedMemory =
        sharedMemory ? sharedMemory : target->smemBytesPerBlock;
  return request;
}

Result<std::map<std::string, std::string>>
parseBindings(const std::vector<std::string> &texts, std::string_view option) {
  std::map<std::string, std::string> bindings;
  for (const std::string &text : texts) {
    size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      return Status::badInput(
          fmt::format("{} expects NAME=VALUE, but got '{}'", option, text));
    std::string name = text.substr(0, equals);
    if (!bindings.emplace(name, text.substr(equals + 1)).second)
      return Status::badInput(fmt::format("{} binds '{}' twice", option, name));
  }
  return bindings;
}

Result<std::map<std::string, int64_t>>
parseShapes(const std::vector<std::string> &texts) {
  std::vector<std::string> parts;
  for (const std::string &text : texts)
    for (size_t begin = 0; begin <= text.size();) {
      size_t end = std::min(text.find(',', begin), text.size());
      parts.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
  Result<std::map<std::string, std::string>> bindings =
      parseBindings(parts, "--shape");
  if (!bindings.ok())
    return bindings.status();
  std::map<std::string, int64_t> shapes;
  for (const auto &[name, text] : *bindings) {
    int64_t value = 0;
    const char *end = text.data() + text.size();
    auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end || value < 0 || value > maxDim)
      return Status::badInput(
          fmt::format("--shape {} expects an integer in 0..{}, but got '{}'",
                      name, maxDim, text));
    shapes[name] = value;
  }
  return shapes;
}

Status writeOutput(const std::string &path, std::string_view content) {
  if (path != "-")
    return writeFileAtomically(path, {content});
  if (std::fwrite(content.data(), 1, content.size(), stdout) !=
          content.size() ||
      std::fflush(stdout) != 0)
    return Status::badInput("cannot write to standard output");
  return Status();
}

} // namespace selvedge::cli
