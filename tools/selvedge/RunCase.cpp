// One problem of `run`: executed on a device and compared.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/RunCase.h"

#include "tools/selvedge/GuardedImage.h"
#include "tools/selvedge/Suggest.h"
#include "tools/selvedge/Support.h"

#include <charconv>
#include <fmt/format.h>

namespace selvedge::cli {

namespace {

constexpr int64_t maxLaunches = 1000;

/// The first schedules of `sim` are the extremes.
constexpr uint64_t numExtremes = 4;

template <typename T>
bool parseInteger(const std::string &text, T &value) {
  const char *end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

Status parseComparisons(const std::string &text, Case &theCase) {
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string name = text.substr(begin, end - begin);
    if (name != "ref" && name != "clean" && name != "mask")
      return Status::badInput(fmt::format(
          "--compare '{}' is unknown: expected ref, mask, clean or several{}",
          name, didYouMean(name, {"ref", "mask", "clean"})));
    (name == "clean" ? theCase.comparesClean : theCase.comparesRef) = true;
    theCase.mayLoseRows |= name == "mask";
    begin = end + 1;
  }
  return Status();
}

/// Makes inputs that are broadcast equal along those dimensions; those of a
/// file have to be.
Status broadcastInputs(Problem &problem,
                       const std::map<std::string, LayoutKind> &layouts,
                       bool fromFile) {
  for (auto &[name, array] : problem.inputs) {
    auto layout = layouts.find(name);
    if (layout == layouts.end() || layout->second != LayoutKind::Broadcast)
      continue;
    const ManifestTensor &tensor =
        problem.signature.tensors[*problem.signature.findTensor(name)];
    GuardedImage image(
        array.dtype, makeLayout(layout->second, array.shape, tensor.broadcasts),
        Poison::None);
    image.store(array.data);
    std::vector<std::byte> equal = image.load(image.bytes());
    if (fromFile && equal != array.data)
      return Status::badInput(fmt::format(
          "--layout {}=broadcast: the elements of the file differ along {}",
          name,
          tensor.broadcasts.empty()
              ? "the first dimension with an extent above 1"
              : "a dimension that is broadcast"));
    array.data = std::move(equal);
  }
  return Status();
}

} // namespace

Result<Case> parseCase(const CaseOptions &options) {
  Case theCase;
  Result<std::vector<Poison>> poisons = parsePoisons(options.poison);
  if (!poisons.ok())
    return poisons.status();
  theCase.poisons = std::move(*poisons);
  if (Status s = parseComparisons(options.compare, theCase); !s.ok())
    return s;
  if (!parseInteger(options.repeat, theCase.launches) || theCase.launches < 1 ||
      theCase.launches > maxLaunches)
    return Status::badInput(
        fmt::format("--repeat expects an integer in 1..{}, but got '{}'",
                    maxLaunches, options.repeat));
  theCase.layouts = options.layouts;
  theCase.problem = options.problem;
  if (!parseInteger(options.seed, theCase.problem.seed))
    return Status::badInput(
        fmt::format("--seed expects an integer in 0..2^64 - 1, but got '{}'",
                    options.seed));
  if (theCase.problem.breaksRequires && theCase.comparesRef)
    return Status::badInput("--break-requires leaves nothing to compare with: "
                            "results rely on what the op requires");
  bool fromFile = !options.problem.inputFile.empty();
  if (fromFile && !options.problem.omitted.empty())
    return Status::badInput("--omit is for random inputs: with -i, leave the "
                            "tensor out of the file");
  if (fromFile && !options.problem.fills.empty())
    return Status::badInput("--fill is for random inputs, not for -i");
  if (fromFile && !options.problem.plants.empty())
    return Status::badInput("--plant is for random inputs, not for -i");
  return theCase;
}

Result<const Reference *> CaseRunner::referenceOf(const Problem &problem) {
  if (!lastProblem || lastProblem->dims != problem.dims ||
      lastProblem->scalars != problem.scalars ||
      lastProblem->inputs != problem.inputs) {
    lastProblem.reset();
    Result<Reference> reference = runOnReference(problem);
    if (!reference.ok())
      return reference.status();
    lastReference = std::move(*reference);
    lastProblem = problem;
  }
  return &lastReference;
}

void CaseRunner::say(const std::string &words) {
  if (isQuiet)
    report += words;
  else
    fmt::print("{}", words);
}

void CaseRunner::sayResults(const Problem &problem, const std::string &on,
                            const Outputs &outputs) {
  place = fmt::format("{} on {}", problem.signature.op, on);
  say(place + "\n" + summarise(problem, outputs));
}

bool CaseRunner::agrees(const Problem &problem, const Case &theCase,
                        const Outputs &outputs, const Reference &reference) {
  bool isFine = true;
  for (Comparison &found :
       compareOutputs(problem, outputs, reference, theCase.mayLoseRows)) {
    say(describe(found));
    isFine &= found.outside == 0;
    comparisons.push_back(std::move(found));
  }
  return isFine;
}

const Manifest *CaseRunner::getProgram() const {
  return op ? &op->manifest() : simOp ? &simOp->manifest() : nullptr;
}

Status CaseRunner::prepare(const Problem &problem) {
  if (sim) {
    Result<SimOp> loaded = SimOp::load(problem, *sim);
    if (!loaded.ok())
      return loaded.status();
    simOp.emplace(std::move(*loaded));
  } else if (device) {
    Result<GpuOp> loaded = GpuOp::load(problem.request, *device);
    if (!loaded.ok())
      return loaded.status();
    op.emplace(std::move(*loaded));
  } else {
    Result<std::string> lowered = lowerTo(physical, problem.request);
    if (!lowered.ok())
      return lowered.status();
    text = std::move(*lowered);
  }
  return Status();
}

Status CaseRunner::runReferenceCase(const Problem &problem, const Case &theCase,
                                    Outputs &outputs) {
  if (theCase.launches > 1)
    return Status::badInput("--repeat needs --device gpu");
  if (theCase.comparesClean && physical.form.empty())
    return Status::badInput("--compare clean needs --device gpu or sim, or "
                            "--form");
  Result<const Reference *> reference = referenceOf(problem);
  if (!reference.ok())
    return reference.status();
  if (!physical.form.empty())
    return runPhysicalCase(problem, theCase, **reference, outputs);
  Result<Outputs> rounded = roundOutputs(problem, **reference);
  if (!rounded.ok())
    return rounded.status();
  outputs = std::move(*rounded);
  sayResults(problem, "ref", outputs);
  if (theCase.comparesRef && !agrees(problem, theCase, outputs, **reference))
    return Status::failed("the outputs differ from those of 'ref'");
  return Status();
}

Status CaseRunner::runPhysicalCase(const Problem &problem, const Case &theCase,
                                   const Reference &reference,
                                   Outputs &outputs) {
  if (!text)
    if (Status s = prepare(problem); !s.ok())
      return s;
  std::vector<Poison> poisons = theCase.poisons;
  if (theCase.comparesClean)
    poisons.insert(poisons.begin(), Poison::None);
  bool fine = true;
  for (Poison poison : poisons) {
    Result<Outputs> result =
        runPhysical(problem, physical, *text, poison, reference);
    if (!result.ok())
      return result.status();
    if (theCase.comparesClean && !outputs.empty())
      if (Status s = compareBits(
              problem, *result,
              fmt::format("the run with poison {}", poisonName(poison)),
              outputs, "the clean one");
          !s.ok())
        return s;
    outputs = std::move(*result);
    sayResults(
        problem,
        fmt::format("ref ({}, poison {})", physical.form, poisonName(poison)),
        outputs);
    if (theCase.comparesRef)
      fine &= agrees(problem, theCase, outputs, reference);
  }
  return fine ? Status()
              : Status::failed("the outputs differ from those of 'ref'");
}

Status CaseRunner::runSimCase(const Problem &problem, const Case &theCase,
                              Execution execution, Outputs &outputs) {
  if (execution.launches > 1)
    return Status::badInput("--repeat needs --device gpu");
  // What the reference reads is anything, too, where a promise is broken.
  if (!theCase.problem.breaksRequires) {
    Result<const Reference *> reference = referenceOf(problem);
    if (!reference.ok())
      return reference.status();
    execution.reference = *reference;
  }
  if (!simOp)
    if (Status s = prepare(problem); !s.ok())
      return s;
  std::vector<Poison> poisons = theCase.poisons;
  if (theCase.comparesClean)
    poisons.insert(poisons.begin(), Poison::None);
  for (size_t i = 0; i < poisons.size(); ++i)
    for (int64_t s = 0; s < (theCase.schedule ? 1 : sim->schedules); ++s) {
      Poison poison = execution.poison = poisons[i];
      uint64_t schedule = static_cast<uint64_t>(s);
      if (theCase.schedule)
        schedule = (*theCase.schedule + i) % numExtremes;
      Result<GpuOutcome> outcome = simOp->run(problem, execution, schedule);
      std::string name = fmt::format("the run with poison {} and schedule {}",
                                     poisonName(poison), schedule);
      if (!outcome.ok())
        return Status(outcome.status().code(),
                      fmt::format("{}: {}", name, outcome.status().message()));
      if (outputs.empty()) {
        outputs = outcome->outputs;
        ++sightings.variants[outcome->variant];
        sightings.manyTiles += outcome->hasManyTiles;
        sightings.phases = simOp->maxPhases();
        sayResults(
            problem,
            fmt::format("sim ({}, {})", problem.request.arch, outcome->variant),
            outputs);
      } else if (Status s = compareBits(problem, outcome->outputs, name,
                                        outputs, "the first");
                 !s.ok()) {
        return s;
      }
    }
  if (!sim->coverage.empty())
    if (Status s = simOp->writeCoverage(sim->coverage); !s.ok())
      return s;
  if (theCase.comparesRef &&
      !agrees(problem, theCase, outputs, *execution.reference))
    return Status::failed("the outputs differ from those of 'ref'");
  return Status();
}

Status CaseRunner::runGpuCase(const Problem &problem, const Case &theCase,
                              Execution execution, Outputs &outputs) {
  if (!op)
    if (Status s = prepare(problem); !s.ok())
      return s;
  Outputs clean;
  if (theCase.comparesClean) {
    execution.poison = Poison::None;
    Result<GpuOutcome> outcome = op->run(problem, execution);
    if (!outcome.ok())
      return outcome.status();
    clean = std::move(outcome->outputs);
  }
  bool fine = true;
  for (Poison poison : theCase.poisons) {
    auto error = [&](const Status &status) {
      return Status(status.code(),
                    fmt::format("with --poison {}: {}", poisonName(poison),
                                status.message()));
    };
    execution.poison = poison;
    Result<GpuOutcome> outcome = op->run(problem, execution);
    if (!outcome.ok())
      return error(outcome.status());
    if (outputs.empty()) {
      outputs = outcome->outputs;
      ++sightings.variants[outcome->variant];
      sayResults(problem,
                 fmt::format("gpu ({}, {}, {})", device->name(),
                             problem.request.arch, outcome->variant),
                 outputs);
    }
    if (theCase.comparesClean)
      if (Status s = compareBits(problem, outcome->outputs, "this run", clean,
                                 "the clean one");
          !s.ok())
        return error(s);
    if (theCase.comparesRef) {
      if (theCase.poisons.size() > 1)
        say(fmt::format("poison {}\n", poisonName(poison)));
      fine &= agrees(problem, theCase, outcome->outputs, *execution.reference);
    }
  }
  return fine ? Status()
              : Status::failed("the outputs differ from those of 'ref'");
}

Status CaseRunner::run(const Case &theCase, Outputs &outputs) {
  outputs.clear();
  report.clear();
  place.clear();
  comparisons.clear();
  ProblemOptions options = theCase.problem;
  options.onReference = !device || theCase.comparesRef;
  Result<Problem> problem = makeProblem(request, options);
  if (!problem.ok())
    return problem.status();
  Execution execution;
  auto layouts = parseLayouts(theCase.layouts, problem->signature);
  if (!layouts.ok())
    return layouts.status();
  execution.layouts = std::move(*layouts);
  execution.launches = theCase.launches;
  if (Status s = broadcastInputs(*problem, execution.layouts,
                                 !theCase.problem.inputFile.empty());
      !s.ok())
    return s;
  if (sim)
    return runSimCase(*problem, theCase, std::move(execution), outputs);
  if (!device)
    return runReferenceCase(*problem, theCase, outputs);
  if (theCase.comparesRef) {
    Result<const Reference *> reference = referenceOf(*problem);
    if (!reference.ok())
      return reference.status();
    execution.reference = *reference;
  }
  return runGpuCase(*problem, theCase, std::move(execution), outputs);
}

} // namespace selvedge::cli
