// Measuring the plans of an op.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/Tune.h"

#include "tools/selvedge/Progress.h"

#include <algorithm>
#include <fmt/format.h>

namespace selvedge::cli {

namespace {

/// The entries of a choice of plans about the version for any strides, which no
/// candidate changes.
std::string universalEntries(const std::string &plan) {
  std::string entries;
  for (size_t begin = 0; begin < plan.size();) {
    size_t end = std::min(plan.find(';', begin), plan.size());
    std::string entry = plan.substr(begin, end - begin);
    if (entry.starts_with("universal."))
      entries += ";" + entry;
    begin = end + 1;
  }
  return entries;
}

std::string firstLine(const std::string &text) {
  return text.substr(0, text.find('\n'));
}

class Tuner {
public:
  Tuner(const Problem &problem, const Device &device)
      : problem(problem), device(device) {}

  Result<Tuning> run(size_t top) {
    std::vector<PlanCandidate> candidates;
    if (Status s = statusOf(listPlans(problem.request, candidates)); !s.ok())
      return s;
    candidates.resize(std::min(candidates.size(), top));
    Result<BenchArgs> placed = BenchArgs::place(problem, device);
    if (!placed.ok())
      return placed.status();
    Progress progress(candidates.size() + 1);
    progress.show(0, "the model's choice, assembled");
    CompileResult model = compile(problem.request);
    if (Status s = statusOf(model); !s.ok())
      return s;
    modelPtx = model.ptx;
    for (PlanCandidate &candidate : candidates)
      candidate.plan += universalEntries(model.plan);
    Tuning tuning;
    for (PlanCandidate &candidate : candidates) {
      progress.show(tuning.tried.size() + 1, candidate.words);
      tuning.tried.push_back(tryOne(candidate, *placed));
      const Tried &tried = tuning.tried.back();
      progress.show(
          tuning.tried.size() + 1,
          tried.dropped.empty()
              ? fmt::format("{}: {:.4f} ms", candidate.words,
                            tried.timing.median)
              : fmt::format("{}: dropped, {}", candidate.words, tried.dropped));
      // After an illegal access the context is lost.
      if (!tried.dropped.empty())
        if (Status s = device.synchronize(); !s.ok())
          return s;
    }
    return finish(std::move(tuning));
  }

private:
  Tried tryOne(const PlanCandidate &candidate, BenchArgs &args) {
    Tried tried{candidate, {}, ""};
    CompileRequest request = problem.request;
    request.plan = candidate.plan;
    CompileResult compiled = compile(request);
    if (compiled.status != CompileStatus::Ok) {
      tried.dropped = compiled.complaints.empty()
                          ? firstLine(compiled.diagnostics)
                          : compiled.complaints.front();
      return tried;
    }
    // Depths that memory does not allow give the same code again.
    for (const auto &[words, ptx] : known)
      if (ptx == compiled.ptx) {
        tried.dropped = "the same code as " + words;
        return tried;
      }
    known.emplace_back(candidate.words, compiled.ptx);
    Result<Op> op =
        Op::load({compiled.manifest, compiled.ptx, compiled.cubin}, device);
    Result<Timing> timing =
        op.ok() ? args.time(*op) : Result<Timing>(op.status());
    if (!timing.ok()) {
      tried.dropped = timing.status().message();
      return tried;
    }
    // Kernels of variants that were not launched may spill. What would be used
    // without tuning is the measure of the others, whatever it spills.
    bool isModel = compiled.ptx == modelPtx;
    for (const std::string &kernel :
         isModel ? std::vector<std::string>() : timing->kernels)
      for (const std::string &complaint : compiled.complaints)
        if (complaint.starts_with(kernel + " "))
          tried.dropped = complaint;
    tried.timing = std::move(*timing);
    return tried;
  }

  Result<Tuning> finish(Tuning tuning) {
    const Tried *best = nullptr;
    int64_t measured = 0;
    for (const Tried &tried : tuning.tried)
      if (tried.dropped.empty()) {
        ++measured;
        if (!best || tried.timing.median < best->timing.median)
          best = &tried;
      }
    if (!best)
      return Status::failed(fmt::format(
          "all {} candidates were dropped; the first: {}", tuning.tried.size(),
          tuning.tried.empty() ? "there is none"
                               : tuning.tried.front().dropped));
    tuning.winner = static_cast<size_t>(best - tuning.tried.data());
    if (problem.request.planFolder.empty())
      return tuning;
    std::string shape;
    for (const auto &[name, value] : problem.namedDims())
      shape += fmt::format("{}{}={}", shape.empty() ? "" : ",", name, value);
    CompileResult kept = keepPlan(problem.request,
                                  {device.name(), best->candidate.plan, shape,
                                   best->timing.median, measured},
                                  tuning.stored);
    if (Status s = statusOf(kept); !s.ok())
      return s;
    return tuning;
  }

  const Problem &problem;
  const Device &device;
  /// Code of the model's choice.
  std::string modelPtx;
  /// Words and PTX of what was compiled.
  std::vector<std::pair<std::string, std::string>> known;
};

} // namespace

Result<Tuning> tune(const Problem &problem, const Device &device, size_t top) {
  return Tuner(problem, device).run(top);
}

} // namespace selvedge::cli
