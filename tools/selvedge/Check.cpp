// `selvedge check`.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/CheckCoverage.h"
#include "tools/selvedge/CheckShrink.h"
#include "tools/selvedge/Commands.h"
#include "tools/selvedge/Progress.h"
#include "tools/selvedge/SourceFlags.h"

#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace selvedge::cli {

namespace {

/// The work of a case (CheckSource::limit) that takes a good part of a second.
constexpr double simLimit = 2e6, gpuLimit = 1e9;

/// Cases with a failure of their own that are reported.
constexpr size_t mostFailures = 3;

struct CheckOptions {
  SourceOptions source;
  std::string device;
  /// SimOptions::text.
  std::string lanes;
  /// 0: all that there is, once.
  size_t cases = 0;
  uint64_t seed = 0;
  bool json = false;
};

/// Rounds after which what no case has reached counts as missed.
constexpr size_t mostRounds = 4;

using Names = std::vector<std::string>;

struct Failure {
  size_t number = 0;
  std::string why, command;
};

/// One run of the command.
class Checker {
public:
  Checker(const CheckOptions &options, CompileRequest request,
          std::optional<Device> device)
      : options(options), request(std::move(request)),
        device(std::move(device)), isRef(options.device == "ref"),
        isSim(!this->device && !isRef) {}

  Status run();
  int report(const Status &status) const;

private:
  Status prepare();
  Status runOptions(const CaseOptions &one,
                    std::optional<uint64_t> schedule = std::nullopt);
  /// What no case has reached so far.
  Names findMissing();
  void addFailure(const CheckCase &made, const Status &status);
  std::string commandFor(const CaseOptions &one) const;
  nlohmann::ordered_json toJson() const;

  const CheckOptions &options;
  CompileRequest request;
  std::optional<Device> device;
  bool isRef, isSim;
  std::optional<CaseRunner> runner;
  std::optional<CaseMaker> maker;
  std::optional<Coverage> coverage;
  /// Of `ref`: forms have a variant for any strides and dims; empty elsewhere.
  std::string lastVariant, variant;
  std::vector<Failure> failures;
  Names missing;
  bool isIncomplete = false;
  size_t done = 0;
  double seconds = 0;
  /// The case that took longest, and how long.
  std::pair<double, std::string> slowest;
};

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

/// A word as a shell takes it.
std::string quote(const std::string &word) {
  if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW"
                             "XYZ0123456789_-+=.,:/@%") == std::string::npos)
    return word;
  std::string quoted = "'";
  for (char c : word)
    quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

/// The name of the last variant of a form's text.
std::string findLastVariant(const std::string &text) {
  constexpr std::string_view word = "sm.variant \"";
  size_t at = text.rfind(word);
  if (at == std::string::npos)
    return "";
  at += word.size();
  return text.substr(at, text.find('"', at) - at);
}

Status Checker::prepare() {
  Result<Problem> signature = makeSignature(request, options.source.sets,
                                            /*mayLackScalars=*/true);
  if (!signature.ok())
    return signature.status();
  std::optional<SimOptions> sim;
  if (isSim) {
    sim.emplace();
    sim->text = options.lanes;
  }
  runner.emplace(request, device,
                 PhysicalOptions{isRef ? "sm:async" : "", "", ""}, sim);
  runner->setQuiet();
  if (Status s = runner->prepare(*signature); !s.ok())
    return s;
  if (isRef)
    lastVariant = findLastVariant(runner->getText());
  CheckSource source;
  CompileResult found =
      findPlanFacts(forOneDevice(signature->request,
                                 device ? device->sharedMemoryPerBlock() : 0),
                    source.facts);
  if (Status s = statusOf(found); !s.ok())
    return s;
  // Which tensors select something does not depend on dims.
  std::map<std::string, int64_t> ones;
  for (const std::string &dim : signature->signature.dims)
    ones[dim] = 1;
  auto selectors = findSelectors(*signature, ones);
  if (!selectors.ok())
    return selectors.status();
  for (const auto &[tensor, count] : *selectors)
    source.selectors.insert(tensor);
  source.problem = std::move(*signature);
  source.program = runner->getProgram();
  source.sets = options.source.sets;
  source.hasLayouts = !isRef;
  source.limit = device ? gpuLimit : simLimit;
  if (device)
    source.poisons = 7;
  source.seed = options.seed;
  maker.emplace(std::move(source));
  coverage.emplace(*maker);
  return Status();
}

Status Checker::runOptions(const CaseOptions &one,
                           std::optional<uint64_t> schedule) {
  Result<Case> parsed = parseCase(one);
  if (!parsed.ok())
    return parsed.status();
  parsed->schedule = schedule;
  Outputs outputs;
  return runner->run(*parsed, outputs);
}

/// The message, with what the comparison found.
std::string explain(const Status &status, const std::string &report) {
  std::string why = status.message();
  if (size_t at = report.find("first at flat"); at != std::string::npos) {
    size_t begin = report.rfind('\n', at) + 1;
    why += "; " + report.substr(begin, report.find('\n', at) - begin);
  }
  while (!why.empty() && why.back() == '\n')
    why.pop_back();
  return why;
}

std::string Checker::commandFor(const CaseOptions &one) const {
  std::vector<std::string> words = {"selvedge", "run", options.source.file};
  auto add = [&](const char *option, const std::string &value) {
    if (!value.empty())
      words.insert(words.end(), {option, value});
  };
  auto addAll = [&](const char *option,
                    const std::vector<std::string> &values) {
    for (const std::string &value : values)
      add(option, value);
  };
  addAll("-I", options.source.importFolders);
  add("--op", options.source.op);
  add("--arch", request.arch);
  add("--plan", options.source.plan);
  if (request.sharedMemory != 0)
    add("--shared-memory", std::to_string(request.sharedMemory));
  if (options.source.masks != "tile")
    add("--mask", options.source.masks);
  addAll("--set", one.problem.sets);
  add("--device", isRef ? "ref" : isSim ? "sim" : options.device);
  if (isRef)
    add("--form", "sm:async");
  add("--variant", variant);
  add("--lanes", options.lanes);
  addAll("--shape", one.problem.shapes);
  addAll("--omit", one.problem.omitted);
  addAll("--fill", one.problem.fills);
  addAll("--plant", one.problem.plants);
  addAll("--layout", one.layouts);
  add("--seed", one.seed);
  add("--poison", one.poison);
  add("--compare", one.compare);
  std::string command;
  for (const std::string &word : words)
    command += (command.empty() ? "" : " ") + quote(word);
  return command;
}

void Checker::addFailure(const CheckCase &made, const Status &status) {
  Failure failure{done, explain(status, runner->getReport()),
                  commandFor(made.options)};
  bool isLost = device && !device->synchronize().ok();
  auto fails = [&](const CaseOptions &one) {
    return runOptions(one).code() == ErrorCode::Failed;
  };
  // As `run` does it: in all schedules.
  if (!isLost && failures.size() < mostFailures && fails(made.options)) {
    std::set<std::string> free;
    for (const ManifestScalar &scalar :
         maker->getSource().problem.signature.scalars)
      if (scalar.defaultValue)
        free.insert(scalar.name);
    for (const std::string &set : options.source.sets)
      free.erase(set.substr(0, set.find('=')));
    CaseOptions small = shrink(made.options, free, fails);
    failure.why = explain(runOptions(small), runner->getReport());
    failure.command = commandFor(small);
  }
  failures.push_back(std::move(failure));
}

Names Checker::findMissing() {
  coverage->update(*runner, isSim);
  return coverage->findMissing();
}

Status Checker::run() {
  if (Status s = prepare(); !s.ok())
    return s;
  auto start = std::chrono::steady_clock::now();
  size_t total = options.cases ? options.cases : maker->getRound();
  // What needs several draws at a time comes late.
  size_t most = options.cases ? total : total * mostRounds;
  std::optional<Progress> progress;
  if (::isatty(STDERR_FILENO))
    progress.emplace(total);
  while (done < total || (done < most && !findMissing().empty())) {
    CheckCase made = maker->next();
    // A form's first variants take nearly all contiguous tensors.
    variant = isRef && done % 3 == 2 ? lastVariant : "";
    runner->setVariant(variant);
    std::optional<uint64_t> schedule;
    if (isSim)
      schedule = done;
    if (progress)
      progress->show(std::min(done, total),
                     commandFor(made.options).substr(0, 100));
    auto begin = std::chrono::steady_clock::now();
    Status status = runOptions(made.options, schedule);
    if (double took = secondsSince(begin); took > slowest.first)
      slowest = {took, commandFor(made.options)};
    ++done;
    if (!status.ok() && status.code() != ErrorCode::Failed)
      return Status(status.code(),
                    fmt::format("case {} cannot be executed: {}: {}", done,
                                commandFor(made.options), status.message()));
    coverage->record(made, *runner);
    if (status.ok())
      continue;
    addFailure(made, status);
    if (device && !device->synchronize().ok())
      break;
  }
  if (progress)
    progress->show(total, "");
  // A run of a few cases need not reach all.
  missing = findMissing();
  isIncomplete = !options.cases && !missing.empty();
  seconds = secondsSince(start);
  return Status();
}

nlohmann::ordered_json Checker::toJson() const {
  nlohmann::ordered_json json{
      {"version", 1},
      {"op", maker->getSource().problem.signature.op},
      {"arch", request.arch},
      {"device", isRef   ? "ref"
                 : isSim ? "sim"
                         : device->name()},
      {"cases", done},
      {"failed", failures.size()},
      {"seconds", seconds},
      {"slowest", {{"seconds", slowest.first}, {"command", slowest.second}}},
      {"failures", nlohmann::ordered_json::array()},
      {"coverage", nlohmann::ordered_json::object()},
      {"missing", missing}};
  for (const Failure &failure : failures)
    json["failures"].push_back({{"case", failure.number},
                                {"why", failure.why},
                                {"command", failure.command}});
  for (const auto &[name, count] : coverage->getCounters())
    json["coverage"][name] = count;
  return json;
}

int Checker::report(const Status &status) const {
  if (!status.ok())
    return !status.message().empty()            ? cli::report(status)
           : status.code() == ErrorCode::Failed ? exitFailed
                                                : exitBadInput;
  int exit = failures.empty() && !isIncomplete ? exitDone : exitFailed;
  if (options.json) {
    fmt::print("{}", printed(toJson()));
    return exit;
  }
  for (const Failure &failure : failures)
    fmt::print("case {} FAILED: {}\n  {}\n", failure.number, failure.why,
               failure.command);
  for (const std::string &name : isIncomplete ? missing : Names())
    fmt::print("no case has: {}\n", name);
  fmt::print("{} on {} ({}): {} cases, {} failed, {:.1f} s\n",
             maker->getSource().problem.signature.op,
             isRef   ? "ref"
             : isSim ? "sim"
                     : device->name(),
             request.arch, done, failures.size(), seconds);
  return exit;
}

int runCheck(const CheckOptions &options) {
  if (!options.lanes.empty() && options.device != "sim")
    return report(Status::badInput("--lanes is for --device sim"));
  Result<CompileRequest> request = makeRequest(options.source);
  if (!request.ok())
    return report(request.status());
  Result<std::optional<Device>> device =
      chooseDevice(options.device, request->arch);
  if (!device.ok())
    return report(device.status());
  if (*device)
    request->device = (*device)->name();
  else if (request->arch.empty())
    request->arch = "sm_80";
  Checker checker(options, std::move(*request), *device);
  Status status = checker.run();
  return checker.report(status);
}

} // namespace

Action addCheck(CLI::App &app) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App *command = app.add_subcommand(
      "check", "run cases that kernels break on, compared with 'ref'");
  addSourceFlags(*command, options->source,
                 "default: that of the GPU, without one sm_80");
  command->add_option("--device", options->device,
                      "gpu, gpu:N, sim or ref (default: gpu if there is one, "
                      "else sim)");
  command->add_option("--cases", options->cases,
                      "how many (default: as many as it takes for everything "
                      "to come once)");
  command->add_option("--seed", options->seed,
                      "of cases and data (default: 0)");
  command->add_flag("--json", options->json, "print JSON");
  command->add_option("--lanes", options->lanes,
                      "with --device sim: execute this file of form sm:lanes "
                      "(default: what the compiler emits)");
  return [options] { return runCheck(*options); };
}

} // namespace selvedge::cli
