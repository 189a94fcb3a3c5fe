// What the cases of `check` have reached.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/CheckCoverage.h"

#include "selvedge/Numeric.h"

#include <algorithm>
#include <fmt/format.h>

namespace selvedge::cli {

namespace {

/// What an extent is to a block of it.
constexpr const char *relations[] = {"nothing", "part of one", "whole ones",
                                     "a rest behind whole ones",
                                     "more than four"};

/// How a tensor's elements lie in their required range.
constexpr const char *placesOfLowest[] = {"lowest first", "lowest between",
                                          "lowest last"};

/// Where a segment is empty, and what no segment has.
constexpr const char *placesOfEmpty[] = {"empty first", "empty between",
                                         "empty last", "elements before all",
                                         "elements behind all"};

/// What elements select.
constexpr const char *selected[] = {"all select something",
                                    "some select nothing"};

std::string blockName(const std::string &dim, int64_t block,
                      const char *relation) {
  return fmt::format("{} by {}: {}", dim, block, relation);
}

} // namespace

Coverage::Coverage(const CaseMaker &maker) : maker(maker) {
  const CheckSource &source = maker.getSource();
  const Manifest &signature = source.problem.signature;
  for (const auto &[dim, blocks] : source.facts.blocks)
    for (int64_t block : blocks)
      if (block > 1)
        for (const char *relation : relations)
          if (relation != relations[4] ||
              (source.facts.loops.contains(dim) && block == *blocks.rbegin()))
            at(blockName(dim, block, relation)) = 0;
  for (const ManifestRange &range : signature.ranges) {
    const ManifestTensor &tensor = signature.tensors[range.tensor];
    if (range.ordered) {
      for (const char *place : placesOfEmpty)
        at(fmt::format("{}: {}", tensor.name, place)) = 0;
      continue;
    }
    at(tensor.name + ": lowest") = 0;
    at(tensor.name + ": highest") = 0;
    if (!tensor.shape.empty())
      for (const char *place : placesOfLowest)
        at(fmt::format("{}: {}", tensor.name, place)) = 0;
  }
  for (const std::string &selector : source.selectors)
    for (const char *what : selected)
      at(fmt::format("{}: {}", selector, what)) = 0;
  for (const Kit &kit : maker.getKits())
    at("data: " + kit.describe(signature)) = 0;
  for (const std::string &variant : maker.getVariants())
    at("variant " + variant) = 0;
}

int64_t &Coverage::at(const std::string &name) {
  auto found = std::ranges::find(counters, name,
                                 &std::pair<std::string, int64_t>::first);
  if (found != counters.end())
    return found->second;
  return counters.emplace_back(name, 0).second;
}

void Coverage::recordBlocks(const Problem &problem) {
  std::map<std::string, int64_t> dims = problem.namedDims();
  for (const auto &[dim, blocks] : maker.getSource().facts.blocks)
    for (int64_t block : blocks) {
      if (block <= 1)
        continue;
      int64_t extent = dims.at(dim);
      const char *relation = extent == 0           ? relations[0]
                             : extent < block      ? relations[1]
                             : extent % block == 0 ? relations[2]
                                                   : relations[3];
      ++at(blockName(dim, block, relation));
      if (extent > 4 * block)
        ++at(blockName(dim, block, relations[4]));
    }
}

void Coverage::recordRanges(const Problem &problem) {
  const Manifest &signature = problem.signature;
  for (const ManifestRange &range : signature.ranges) {
    const ManifestTensor &tensor = signature.tensors[range.tensor];
    auto input = problem.inputs.find(tensor.name);
    Result<int64_t> lo = range.lo.evaluate(problem.dims, signature.dims);
    Result<int64_t> hi = range.hi.evaluate(problem.dims, signature.dims);
    if (input == problem.inputs.end() || !lo.ok() || !hi.ok() || *lo >= *hi)
      continue;
    std::vector<double> values = toDoubles(tensor.dtype, input->second.data);
    if (range.ordered) {
      recordSegments(tensor.name, values, static_cast<double>(*lo),
                     static_cast<double>(*hi));
      continue;
    }
    auto isLowest = [&](double value) {
      return value == static_cast<double>(*lo);
    };
    bool hasLowest = std::ranges::any_of(values, isLowest);
    at(tensor.name + ": lowest") += hasLowest;
    at(tensor.name + ": highest") +=
        std::ranges::find(values, static_cast<double>(*hi)) != values.end();
    if (!hasLowest || tensor.shape.empty() ||
        std::ranges::all_of(values, isLowest))
      continue;
    bool isPlaced[] = {isLowest(values.front()), false,
                       isLowest(values.back())};
    isPlaced[1] = values.size() > 2 &&
                  std::any_of(values.begin() + 1, values.end() - 1, isLowest);
    for (size_t i = 0; i < std::size(isPlaced); ++i)
      at(fmt::format("{}: {}", tensor.name, placesOfLowest[i])) += isPlaced[i];
  }
}

void Coverage::recordSegments(const std::string &name,
                              const std::vector<double> &bounds, double lo,
                              double hi) {
  size_t segments = bounds.empty() ? 0 : bounds.size() - 1;
  if (segments == 0)
    return;
  auto isEmpty = [&](size_t i) { return bounds[i] == bounds[i + 1]; };
  bool isBetween = false;
  for (size_t i = 1; i + 1 < segments; ++i)
    isBetween |= isEmpty(i);
  bool isReached[] = {isEmpty(0), isBetween, isEmpty(segments - 1),
                      bounds.front() > lo, bounds.back() < hi};
  for (size_t i = 0; i < std::size(isReached); ++i)
    at(fmt::format("{}: {}", name, placesOfEmpty[i])) += isReached[i];
}

void Coverage::recordSelections(const Problem &problem) {
  const CheckSource &source = maker.getSource();
  if (source.selectors.empty())
    return;
  auto counts = findSelectors(source.problem, problem.namedDims());
  if (!counts.ok())
    return;
  for (const auto &[name, count] : *counts) {
    auto input = problem.inputs.find(name);
    if (input == problem.inputs.end() || input->second.data.empty())
      continue;
    bool isAll = std::ranges::all_of(
        toDoubles(input->second.dtype, input->second.data), [&](double value) {
          return value >= 0 && value < static_cast<double>(count);
        });
    ++at(fmt::format("{}: {}", name, selected[isAll ? 0 : 1]));
  }
}

void Coverage::record(const CheckCase &made, const CaseRunner &runner) {
  ++at("data: " + made.kit);
  if (!runner.getProblem())
    return;
  recordBlocks(*runner.getProblem());
  recordRanges(*runner.getProblem());
  recordSelections(*runner.getProblem());
}

void Coverage::update(const CaseRunner &runner, bool isSim) {
  const Manifest *program = runner.getProgram();
  std::map<std::string, int64_t> variants;
  for (const auto &[name, count] : runner.getSightings().variants) {
    // Of launches that are chosen one by one some are the last variant's, and
    // no tensor may be able to make all of them so: kernels that access nothing
    // but temps find them aligned.
    bool isMixed =
        program && name.ends_with(" and " + program->variants.back().name);
    variants[isMixed ? program->variants.back().name : name] += count;
  }
  for (const auto &[variant, count] : variants)
    at("variant " + variant) = count;
  bool isPersistent =
      program &&
      std::ranges::any_of(program->variants, [](const auto &variant) {
        return std::ranges::any_of(variant.launches,
                                   &ManifestLaunch::persistent);
      });
  if (!isSim || !isPersistent)
    return;
  // A slot of a ring has a phase per filling.
  constexpr int64_t twice = 3;
  at("several tiles per thread block") = runner.getSightings().manyTiles;
  at("rings that go round twice") = runner.getSightings().phases >= twice;
}

std::vector<std::string> Coverage::findMissing() const {
  std::vector<std::string> missing;
  for (const auto &[name, count] : counters)
    if (count == 0)
      missing.push_back(name);
  return missing;
}

} // namespace selvedge::cli
