// Tiles over tensors, drawn at sample sizes.
// SPDX-License-Identifier: MIT
#include "compiler/Explain/Pictures.h"

#include "compiler/Explain/Sample.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace selvedge::explain {

using namespace mlir;
using namespace selvedge::tile;

namespace {

/// A predicate and the state of lanes where it is the first to be false.
struct Test {
  Value predicate;
  std::string origin;
  /// Whether no code evaluates it.
  bool untested = false;
};

/// Cells of one row of sample points, as runs of one state.
using Runs = std::vector<std::pair<int64_t, std::string>>;

class Painter {
public:
  Painter(Sample &sample, const std::vector<Test> &tests,
          const std::string &present, Picture &picture)
      : sample(sample), tests(tests), present(present), picture(picture) {}

  /// Every element decides for itself; rows that agree are one cell.
  void run() {
    Runs last = runsOf(0);
    int64_t from = 0, before = 0;
    // A diagonal in steps of this size still looks like one.
    int64_t step = std::max<int64_t>(1, picture.rows / 80);
    while (before + 1 < picture.rows) {
      int64_t row = std::min(before + step, picture.rows - 1);
      Runs runs = runsOf(row);
      if (runs != last) {
        int64_t edge = edgeBetween(before, row, last, runs);
        flush(last, from, edge);
        last = std::move(runs);
        from = edge;
      }
      before = row;
    }
    flush(last, from, picture.rows);
  }

private:
  std::string stateAt(int64_t row, int64_t col) {
    Sample::Point point{{picture.colAxis, col}};
    if (!picture.rowAxis.empty())
      point[picture.rowAxis] = row;
    bool isUntested = false, isUnknown = false;
    for (const Test &test : tests) {
      std::optional<int64_t> value = sample.evaluate(test.predicate, point);
      if (value && !*value && !test.untested)
        return test.origin;
      isUntested |= value && !*value;
      isUnknown |= !value;
    }
    return isUntested ? "untested" : isUnknown ? "unknown" : present;
  }

  Runs runsOf(int64_t row) {
    Runs runs;
    for (int64_t col = 0; col < picture.cols; ++col) {
      std::string state = stateAt(row, col);
      if (runs.empty() || runs.back().second != state)
        runs.push_back({col, state});
    }
    return runs;
  }

  /// The first row that is not like `above`: of an edge along a row the exact
  /// one, of a diagonal the last.
  int64_t edgeBetween(int64_t before, int64_t row, const Runs &above,
                      const Runs &below) {
    int64_t first = before + 1;
    Runs runs = runsOf(first);
    while (first < row && runs == above)
      runs = runsOf(++first);
    return runs == below ? first : row;
  }

  void flush(const Runs &runs, int64_t from, int64_t to) {
    for (size_t i = 0; i < runs.size(); ++i) {
      int64_t end = i + 1 < runs.size() ? runs[i + 1].first : picture.cols;
      picture.cells.push_back({runs[i].first, from, end - runs[i].first,
                               to - from, runs[i].second});
    }
  }

  Sample &sample;
  const std::vector<Test> &tests;
  /// The state where no test is false.
  std::string present;
  Picture &picture;
};

bool hasState(const Picture &picture, StringRef state) {
  return llvm::any_of(picture.cells,
                      [&](const Cell &cell) { return cell.state == state; });
}

/// Whether what a test leaves in the tile is cleared before use.
bool isCleared(const Record &record) {
  return llvm::any_of(record.instances, [](const Instance &instance) {
    return instance.op == "sm.clear";
  });
}

/// What lanes are that some code tests, and that are absent.
std::string testedWords(const Record &record) {
  if (isCleared(record))
    return "outside the shape memory is never touched; what is not valid may "
           "be "
           "read, but is cleared before use: the tile holds 0";
  if (record.kind == "load")
    return record.fill == "zero"
               ? "memory never touched; the tile holds 0"
               : "memory never touched; the lane is never read";
  if (record.kind == "mask")
    return "replaced by " + record.fill;
  return "never written";
}

/// What absent lanes of the record are, for the legend.
std::string absentWords(const Record &record, const Picture &picture) {
  bool anyTested =
      llvm::any_of(record.predicates, [](const Predicate &predicate) {
        return !predicate.proved && !predicate.untested;
      });
  std::string words = anyTested ? testedWords(record) : "";
  if (hasState(picture, "untested"))
    words += (words.empty() ? "" : "; what is untested is ") +
             std::string("read as it is, and removed later");
  if (hasState(picture, "unknown"))
    words += (words.empty() ? "" : "; ") +
             std::string("which lanes are absent depends on data");
  return words.empty() ? "none" : words;
}

ValueRange presenceOf(Operation *op, SmallVectorImpl<Value> &parts) {
  if (auto sink = dyn_cast<SinkOpInterface>(op))
    return sink.getPresence();
  Value condition = cast<arith::SelectOp>(op).getCondition();
  while (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    parts.insert(parts.begin(), both.getRhs());
    condition = both.getLhs();
  }
  parts.insert(parts.begin(), condition);
  return parts;
}

/// The axes of the access in the tensor's order.
SmallVector<StringAttr> axesInOrder(Operation *op) {
  SmallVector<StringAttr> axes;
  auto access = dyn_cast<TensorAccessOpInterface>(op);
  if (!access)
    return SmallVector<StringAttr>(axesOf(op->getResult(0).getType()));
  for (Value index : access.getIndices())
    for (StringAttr axis : axesOf(index.getType()))
      if (!llvm::is_contained(axes, axis))
        axes.push_back(axis);
  return axes;
}

} // namespace

std::vector<Picture>
drawPictures(ProgramOp program,
             const std::map<std::string, DictionaryAttr> &sizes,
             const std::map<std::string, Operation *> &operations,
             const Explanation &explanation) {
  std::vector<Picture> pictures;
  for (const Record &record : explanation.records) {
    auto found = operations.find(record.id);
    if (found == operations.end())
      continue;
    SmallVector<StringAttr> axes = axesInOrder(found->second);
    if (axes.empty() || axes.size() > 2)
      continue;
    auto size = sizes.find(record.kernel);
    Sample sample(found->second->getParentOfType<KernelOp>(),
                  size == sizes.end() ? DictionaryAttr() : size->second);
    Picture picture;
    picture.id = record.id;
    picture.title = record.subject;
    picture.fill = record.fill == "unread" ? "" : record.fill;
    picture.colAxis = axes.back().str();
    picture.cols = sample.coverOf(axes.back());
    picture.tileCols = sample.tileSize(axes.back());
    if (axes.size() == 2) {
      picture.rowAxis = axes.front().str();
      picture.rows = sample.coverOf(axes.front());
      picture.tileRows = sample.tileSize(axes.front());
    }
    std::vector<Test> tests;
    SmallVector<Value> parts;
    for (auto [i, p] : llvm::enumerate(presenceOf(found->second, parts)))
      if (i < record.predicates.size())
        tests.push_back({p, record.predicates[i].origin,
                         record.predicates[i].untested && !isCleared(record)});
    Painter(sample, tests, record.kind == "init" ? "init" : "present", picture)
        .run();
    picture.absent = absentWords(record, picture);
    picture.sample = sample.takeUsed();
    pictures.push_back(picture);
  }
  return pictures;
}

} // namespace selvedge::explain
