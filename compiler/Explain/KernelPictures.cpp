// The iterations of each kernel, drawn at sample sizes.
// SPDX-License-Identifier: MIT
#include "compiler/Explain/KernelPictures.h"

#include "compiler/Explain/Cells.h"
#include "compiler/Explain/Sample.h"
#include "compiler/Explain/Steps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

namespace selvedge::explain {

using namespace mlir;
using namespace selvedge::tile;

namespace {

/// The ranges of a kernel by axis, each with the value that it starts at.
using Ranges = llvm::MapVector<StringAttr, SmallVector<RangeOp>>;

class KernelPainter {
public:
  KernelPainter(KernelOp kernel, KernelOp bound, DictionaryAttr sizes,
                const Explanation &explanation)
      : name(kernel.getSymName().str()), sample(kernel, sizes),
        explanation(explanation) {
    bound.walk([&](RangeOp range) {
      StringAttr axis = axesOf(range.getType()).front();
      if (scf::ForOp loop = loopOf(range.getStart()))
        loops[axis].insert(loop);
      else if (isPlacedInLoop(range))
        placed.insert(axis);
      else if (!range.getStart().getDefiningOp<arith::ConstantOp>())
        blocks[axis].push_back(range);
    });
  }

  std::vector<Picture> run() {
    for (const Record &record : explanation.records)
      if (record.kernel == name && record.kind == "mask")
        if (const Picture *picture = pictureOf(record.id))
          addMask(*picture);
    for (auto &[axis, parts] : loops)
      if (llvm::none_of(result,
                        [&](const Picture &p) { return hasAxis(p, axis); }))
        addLoop(axis);
    for (auto [i, picture] : llvm::enumerate(result)) {
      picture.id = "kernel-" + name + (i ? "-" + std::to_string(i + 1) : "");
      picture.title = "kernel " + name;
      removeOutside(picture);
      addSteps(picture);
    }
    return std::move(result);
  }

private:
  /// The loop whose index `start` is.
  static scf::ForOp loopOf(Value start) {
    auto argument = dyn_cast<BlockArgument>(start);
    auto loop = argument
                    ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                    : scf::ForOp();
    return loop && argument == loop.getInductionVar() ? loop : scf::ForOp();
  }

  /// Whether a loop computes where the range begins: from a list, for instance.
  static bool isPlacedInLoop(RangeOp range) {
    Operation *start = range.getStart().getDefiningOp();
    return start && !isa<arith::ConstantOp>(start) &&
           start->getParentOfType<scf::ForOp>();
  }

  static bool hasAxis(const Picture &picture, StringAttr axis) {
    return picture.rowAxis == axis || picture.colAxis == axis;
  }

  const Picture *pictureOf(const std::string &id) {
    auto found = llvm::find_if(explanation.pictures,
                               [&](const Picture &p) { return p.id == id; });
    return found == explanation.pictures.end() ? nullptr : &*found;
  }

  /// Masks that remove the same lanes are one picture.
  void addMask(const Picture &mask) {
    auto found = llvm::find_if(result, [&](const Picture &p) {
      return p.rowAxis == mask.rowAxis && p.colAxis == mask.colAxis &&
             p.cells == mask.cells;
    });
    if (found == result.end()) {
      result.push_back(mask);
      found = std::prev(result.end());
    }
    found->records.push_back(mask.id);
  }

  /// Rows that no store has are no lanes of the kernel's results, whatever a
  /// mask says of them; steps without a mask end where loads do.
  void removeOutside(Picture &picture) {
    remove(picture, picture.rowAxis, "store", "unstored");
    if (picture.records.empty())
      remove(picture, picture.colAxis, "load", "");
  }

  /// Gives lanes at indices along `axis` that no access of this kind has its
  /// state, or `state` if there is one.
  void remove(Picture &picture, const std::string &axis, StringRef kind,
              const std::string &state) {
    std::vector<Cell> lines;
    for (const Record &record : explanation.records) {
      const Picture *access = record.kernel == name && record.kind == kind
                                  ? pictureOf(record.id)
                                  : nullptr;
      if (!access || !cutsAlike(picture, axis, *access))
        continue;
      addSample(picture, access->sample);
      std::vector<Cell> own = linesOf(picture, axis, *access, state);
      lines = lines.empty()
                  ? own
                  : combine(lines, own,
                            [](const std::string &, const std::string &line) {
                              return line.empty();
                            });
    }
    if (!lines.empty())
      picture.cells = combine(picture.cells, lines,
                              [](const std::string &, const std::string &line) {
                                return !line.empty();
                              });
  }

  /// Whether the access has the axis, and as much of it.
  static bool cutsAlike(const Picture &picture, const std::string &axis,
                        const Picture &access) {
    int64_t length = axis == picture.rowAxis ? picture.rows : picture.cols;
    return !axis.empty() &&
           ((access.rowAxis == axis && access.rows == length) ||
            (access.colAxis == axis && access.cols == length));
  }

  /// The state of the access at each index along `axis`, for all lanes of it;
  /// none where the first lane is one that it has.
  static std::vector<Cell> linesOf(const Picture &picture,
                                   const std::string &axis,
                                   const Picture &access,
                                   const std::string &state) {
    bool byRows = access.rowAxis == axis;
    std::vector<Cell> lines;
    for (const Cell &cell : access.cells) {
      if ((byRows ? cell.x : cell.y) != 0)
        continue;
      int64_t at = byRows ? cell.y : cell.x,
              size = byRows ? cell.height : cell.width;
      bool isKept = isPresent(cell.state) || cell.state == "unknown" ||
                    cell.state == "untested";
      std::string line = isKept ? "" : state.empty() ? cell.state : state;
      lines.push_back(axis == picture.rowAxis
                          ? Cell{0, at, picture.cols, size, line}
                          : Cell{at, 0, size, picture.rows, line});
    }
    return lines;
  }

  /// A loop without masks: its steps over the first axis of the kernel.
  void addLoop(StringAttr axis) {
    Picture picture;
    picture.colAxis = axis.str();
    picture.cols = sample.coverOf(axis);
    picture.tileCols = sample.tileSize(axis);
    if (!blocks.empty()) {
      StringAttr row = blocks.front().first;
      picture.rowAxis = row.str();
      picture.rows = sample.coverOf(row);
      picture.tileRows = sample.tileSize(row);
    }
    picture.cells = {{0, 0, picture.cols, picture.rows, "present"}};
    result.push_back(picture);
  }

  void addSteps(Picture &picture) {
    for (auto &[axis, parts] : loops)
      if (hasAxis(picture, axis)) {
        picture.stepAxis = axis.str();
        picture.steps = stepsOf(picture, parts.getArrayRef(),
                                blockRangesBeside(picture), sample);
        break;
      }
    // No sample knows which steps such a loop takes.
    for (StringAttr axis : placed)
      if (picture.stepAxis.empty() && hasAxis(picture, axis))
        picture.stepAxis = axis.str();
    addSample(picture, sample.takeUsed());
  }

  /// Ranges over the axis of the picture that is not the step axis.
  ArrayRef<RangeOp> blockRangesBeside(const Picture &picture) {
    for (auto &[axis, ranges] : blocks)
      if (axis != picture.stepAxis && hasAxis(picture, axis))
        return ranges;
    return {};
  }

  /// Values that the picture does not name yet.
  static void addSample(Picture &picture, StringRef used) {
    SmallVector<StringRef> parts;
    used.split(parts, ", ", -1, /*KeepEmpty=*/false);
    for (StringRef part : parts)
      if (!StringRef(", " + picture.sample + ", ")
               .contains((", " + part + ", ").str()))
        picture.sample += (picture.sample.empty() ? "" : ", ") + part.str();
  }

  std::string name;
  Sample sample;
  const Explanation &explanation;
  /// Ranges of blocks: of the tile that a thread block computes.
  Ranges blocks;
  /// Loops by the axis that they step over, in the order of the program.
  llvm::MapVector<StringAttr, llvm::SetVector<scf::ForOp>> loops;
  /// Axes of which each step lies where the loop computes.
  llvm::SetVector<StringAttr> placed;
  std::vector<Picture> result;
};

} // namespace

std::vector<KernelPictures>
drawKernels(ProgramOp program, ProgramOp bound,
            const std::map<std::string, DictionaryAttr> &sizes,
            const Explanation &explanation) {
  std::vector<KernelPictures> result;
  for (KernelOp kernel : program.getOps<KernelOp>())
    for (KernelOp later : bound.getOps<KernelOp>()) {
      if (later.getSymName() != kernel.getSymName())
        continue;
      std::vector<Picture> pictures;
      auto size = sizes.find(kernel.getSymName().str());
      if (!kernel.isInit())
        pictures =
            KernelPainter(kernel, later,
                          size == sizes.end() ? DictionaryAttr() : size->second,
                          explanation)
                .run();
      result.push_back({kernel.getSymName().str(), std::move(pictures)});
    }
  return result;
}

} // namespace selvedge::explain
