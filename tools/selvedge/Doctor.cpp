// `selvedge doctor`.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/Compiler.h"
#include "compiler/Target/TargetInfo.h"
#include "selvedge/Device.h"
#include "selvedge/DiskCache.h"
#include "selvedge/Op.h"
#include "selvedge/Ptxas.h"
#include "tools/selvedge/Commands.h"
#include "tools/selvedge/Support.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace selvedge::cli {

namespace {

/// Collects lines and remembers whether anything is broken. What is merely
/// absent is not broken.
class Report {
public:
  /// "topic      text".
  void line(std::string_view topic, std::string_view text) {
    content += fmt::format("{:<10} {}\n", topic, text);
    // A line without a topic goes on with the one before.
    if (topic.empty())
      json.back()["details"].push_back(text);
    else
      json.push_back({{"topic", topic}, {"text", text}, {"works", true}});
  }
  /// A line about something that is there and does not work.
  void broken(std::string_view topic, std::string_view text) {
    line(topic, fmt::format("BROKEN: {}", text));
    json.back()["text"] = text;
    json.back()["works"] = false;
    exitStatus = exitFailed;
  }

  std::string content;
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  int exitStatus = exitDone;
};

void inspectPtxas(Report &report) {
  Result<std::string> path = locatePtxas();
  if (!path.ok()) {
    const char *chosen = std::getenv("SELVEDGE_PTXAS");
    if (chosen && *chosen)
      report.broken("ptxas", path.status().message());
    else
      report.line("ptxas", path.status().message());
    return;
  }
  Result<std::string> version = ptxasVersion(*path);
  if (version.ok())
    report.line("ptxas", fmt::format("{} ({})", *version, *path));
  else
    report.broken("ptxas", version.status().message());
}

void inspectGpu(Report &report, int ordinal) {
  std::string topic = fmt::format("gpu {}", ordinal);
  Result<Device> device = Device::open(ordinal);
  if (!device.ok())
    return report.broken(topic, device.status().message());
  auto [major, minor] = device->capability();
  report.line(topic, fmt::format("{}, compute capability {}.{}, {} SMs, {} MiB",
                                 device->name(), major, minor,
                                 device->multiprocessors(),
                                 device->memoryBytes() >> 20));
  for (const TargetInfo &target : targets) {
    Result<LoadPath> path =
        chooseLoadPath(std::string(target.name), major, minor);
    std::string how = path.status().message();
    if (path.ok())
      how = *path == LoadPath::Cubin ? "runs" : "runs, PTX assembled for it";
    report.line("", fmt::format("{}: {}", target.name, how));
  }
}

void inspectDriver(Report &report) {
  Result<int> count = Device::count();
  if (!count.ok())
    return report.line("driver", count.status().message());
  if (*count == 0)
    return report.line("driver", "found, no GPU");
  if (Result<Device> device = Device::open(); device.ok())
    report.line("driver",
                fmt::format("CUDA {}.{}", device->driverVersion() / 1000,
                            device->driverVersion() % 1000 / 10));
  for (int i = 0; i < *count; ++i)
    inspectGpu(report, i);
}

void inspectCache(Report &report) {
  std::string folder = cacheFolder();
  if (folder.empty())
    return report.line("cache", "off: neither XDG_CACHE_HOME nor HOME is set");
  bool exists = ::access(folder.c_str(), F_OK) == 0;
  if (exists && ::access(folder.c_str(), W_OK) != 0)
    return report.broken("cache", folder + " is not writable");
  report.line("cache", folder + (exists ? "" : " (not created yet)"));
}

} // namespace

Action addDoctor(CLI::App &app) {
  auto asJson = std::make_shared<bool>(false);
  CLI::App *command =
      app.add_subcommand("doctor", "report what this machine can do");
  command->add_flag("--json", *asJson, "print JSON");
  return [asJson] {
    Report lines;
    lines.line("selvedge", compilerVersion());
    inspectPtxas(lines);
    inspectDriver(lines);
    inspectCache(lines);
    int written =
        report(writeOutput("-", *asJson ? printed(lines.json) : lines.content));
    return written ? written : lines.exitStatus;
  };
}

} // namespace selvedge::cli
