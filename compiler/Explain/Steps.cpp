// The steps of a loop, drawn at sample sizes.
// SPDX-License-Identifier: MIT
#include "compiler/Explain/Steps.h"

#include "compiler/Explain/Cells.h"
#include "dialect/Tile/Provenance.h"

namespace selvedge::explain {

using namespace mlir;
using namespace selvedge::tile;

namespace {

/// A picture seen along its step axis.
struct Direction {
  explicit Direction(const Picture &picture)
      : isColumns(picture.colAxis == picture.stepAxis),
        size(isColumns ? picture.tileCols : picture.tileRows),
        length(isColumns ? picture.cols : picture.rows),
        otherSize(isColumns ? picture.tileRows : picture.tileCols),
        otherLength(isColumns ? picture.rows : picture.cols) {}

  Step stepAt(int64_t begin, int64_t end, int64_t other,
              const std::string &state) const {
    return isColumns ? Step{begin, other, end - begin, otherSize, state}
                     : Step{other, begin, otherSize, end - begin, state};
  }

  bool isColumns;
  /// Of a step, and of all.
  int64_t size, length;
  /// Of a tile, and of all.
  int64_t otherSize, otherLength;
};

} // namespace

/// Whether a part of a loop tests nothing that its index decides.
static bool isWhole(scf::ForOp loop) {
  bool tests = false, known = false;
  for (Operation &op : *loop.getBody()) {
    auto sink = dyn_cast<SinkOpInterface>(op);
    tests |= sink && !sink.getPresence().empty();
    std::optional<SafetyNote> note = noteOf(op.getLoc());
    known |= note && !note->byLoop.empty();
  }
  return known || !tests;
}

/// First indices of steps and their states; nothing where they depend on data.
static std::optional<std::map<int64_t, std::string>>
statesOf(ArrayRef<scf::ForOp> parts, const Direction &along, Sample &sample) {
  std::map<int64_t, std::string> states;
  for (int64_t start = 0; start < along.length; start += along.size)
    states[start] = "skipped";
  for (scf::ForOp part : parts) {
    std::optional<int64_t> low = sample.evaluate(part.getLowerBound(), {}),
                           high = sample.evaluate(part.getUpperBound(), {});
    if (!low || !high)
      return std::nullopt;
    for (int64_t start = *low; start < std::min(*high, along.length);
         start += along.size)
      states[start] = isWhole(part) ? "whole" : "partial";
  }
  return states;
}

/// Steps that begin elsewhere than tiles do cut what is skipped short.
static void addSteps(const std::map<int64_t, std::string> &states,
                     int64_t other, const Direction &along,
                     std::vector<Step> &steps) {
  int64_t reached = 0;
  for (auto state = states.begin(); state != states.end(); ++state) {
    auto next = std::next(state);
    int64_t begin = std::max(state->first, reached),
            end = std::min(state->first + along.size, along.length);
    if (state->second == "skipped" && next != states.end())
      end = std::min(end, next->first);
    if (end <= begin)
      continue;
    reached = end;
    steps.push_back(along.stepAt(begin, end, other, state->second));
  }
}

static bool hasLane(const Picture &picture, const Step &step) {
  return llvm::any_of(picture.cells, [&](const Cell &cell) {
    return isPresent(cell.state) && cell.x < step.x + step.width &&
           step.x < cell.x + cell.width && cell.y < step.y + step.height &&
           step.y < cell.y + cell.height;
  });
}

std::vector<Step> stepsOf(const Picture &picture, ArrayRef<scf::ForOp> parts,
                          ArrayRef<RangeOp> others, Sample &sample) {
  Direction along(picture);
  std::vector<Step> steps;
  for (int64_t other = 0; other < along.otherLength; other += along.otherSize) {
    sample.startAt(others, other);
    std::optional<std::map<int64_t, std::string>> states =
        statesOf(parts, along, sample);
    if (!states)
      return {};
    addSteps(*states, other, along, steps);
  }
  // Where a loop begins at an index from memory no sample agrees with it.
  bool disagrees = llvm::any_of(steps, [&](const Step &step) {
    return step.state == "skipped" && hasLane(picture, step);
  });
  return disagrees ? std::vector<Step>() : steps;
}

} // namespace selvedge::explain
