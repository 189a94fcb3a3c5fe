// From a watched compilation to its explanation.
// SPDX-License-Identifier: MIT
#include "compiler/Explain/Edges.h"
#include "compiler/Explain/Explain.h"
#include "compiler/Explain/KernelPictures.h"
#include "compiler/Explain/Mechanism.h"
#include "compiler/Explain/Pictures.h"
#include "compiler/Explain/Proofs.h"
#include "compiler/Explain/Schedules.h"
#include "compiler/Explain/SourceBlocks.h"
#include "compiler/Explain/Words.h"
#include "dialect/Sm/Sm.h"
#include "dialect/Tile/Provenance.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <map>
#include <set>

namespace selvedge::explain {

using namespace mlir;
using namespace selvedge::tile;

namespace {

class Collector {
public:
  Collector(Trace &trace, ModuleOp module, const Source &source)
      : trace(trace), module(module), source(source.file, source.text) {
    result.file = source.file;
  }

  Explanation run() {
    ProgramOp program = *trace.safe->getOps<ProgramOp>().begin();
    result.op = program.getSymName().str();
    program.walk([&](Operation *op) {
      if (std::optional<SafetyNote> note = noteOf(op->getLoc()))
        addRecord(op, *note);
    });
    module.walk([&](Operation *op) {
      if (std::optional<SafetyNote> note = noteOf(op->getLoc()))
        addInstance(op, *note);
    });
    addRemoved();
    nameParts();
    for (Record &record : result.records)
      settle(record);
    findWriters(program, operations, result);
    result.proofs = productProofs(program, source);
    result.outputs = outputs(program);
    result.schedules = schedules(module);
    result.pictures = drawPictures(program, trace.sizes, operations, result);
    for (auto bound : trace.bound->getOps<ProgramOp>())
      if (bound.isBase())
        result.kernelPictures =
            drawKernels(program, bound, trace.sizes, result);
    result.tensors = tensorsOf(program);
    for (KernelOp kernel : program.getOps<KernelOp>())
      result.kernels.push_back(kernel.getSymName().str());
    result.sources = sourceBlocks(source, result);
    result.purpose = purposeOf(result.sources, result.op);
    return std::move(result);
  }

private:
  static std::string kernelOf(Operation *op) {
    return op->getParentOfType<KernelOp>().getSymName().str();
  }

  Record &start(const SafetyNote &note, Location loc) {
    byId[note.id] = result.records.size();
    Record record;
    record.id = note.id;
    record.kind = note.kind;
    record.subject = note.subject;
    record.reason = note.reason;
    record.place = source.placeOf(loc);
    if (std::optional<Location> consumer = consumerOf(loc))
      record.consumer = source.placeOf(*consumer);
    result.records.push_back(record);
    return result.records.back();
  }

  void addRecord(Operation *op, const SafetyNote &note) {
    Record &record = start(note, op->getLoc());
    operations[note.id] = op;
    record.kernel = kernelOf(op);
    if (auto load = dyn_cast<LoadOp>(op)) {
      record.tile = tileWords(op, load.getType());
      record.fill = load.getFill() == Fill::Zero ? "zero" : "unread";
      describe(record, load.getPresence());
      append(record.predicates,
             rangeProofs(load->getParentOfType<KernelOp>(), load.getTensor(),
                         load.getIndices(), record.predicates));
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      record.tile = tileWords(op, store.getValue().getType());
      describe(record, store.getPresence());
      append(record.predicates,
             rangeProofs(store->getParentOfType<KernelOp>(), store.getTensor(),
                         store.getIndices(), record.predicates));
    } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
      record.tile = tileWords(op, select.getType());
      Value fill = stripRepeats(select.getFalseValue());
      record.fill = wordsFor(fill);
      describe(record, conjuncts(select.getCondition()));
    }
  }

  static void append(std::vector<Predicate> &to, std::vector<Predicate> from) {
    to.insert(to.end(), from.begin(), from.end());
  }

  std::string tileWords(Operation *op, Type type) {
    std::string text;
    DictionaryAttr sizes = trace.sizes[kernelOf(op)];
    for (StringAttr axis : axesOf(type)) {
      text += (text.empty() ? "" : " x ") + axis.str();
      if (auto size = sizes ? sizes.getAs<IntegerAttr>(axis) : IntegerAttr())
        text += " " + std::to_string(size.getInt());
    }
    return text.empty() ? "one element" : text;
  }

  void describe(Record &record, ValueRange presence) {
    for (Value p : presence)
      record.predicates.push_back(
          {wordsFor(p), originOf(p), placeOf(p), false, ""});
    numTested[record.id] = record.predicates.size();
  }

  Place placeOf(Value predicate) {
    Operation *def = stripRepeats(predicate).getDefiningOp();
    return def ? source.placeOf(def->getLoc()) : Place();
  }

  /// Clauses name their predicates; the rest bounds an index by a shape or a
  /// range.
  static std::string originOf(Value predicate) {
    Value v = stripRepeats(predicate);
    if (v.getDefiningOp<IsPresentOp>())
      return "optional";
    std::string clause = clauseOf(predicate);
    if (!clause.empty())
      return clause;
    auto compare = v.getDefiningOp<arith::CmpIOp>();
    Value bound = compare ? stripRepeats(compare.getRhs()) : Value();
    bool isExtent = bound && (isa<BlockArgument>(bound) ||
                              bound.getDefiningOp<arith::ConstantOp>() ||
                              bound.getDefiningOp<arith::MulIOp>());
    return isExtent ? "shape" : "range";
  }

  /// Guards that later passes removed; the program has never shown them.
  void addRemoved() {
    for (const auto &[id, removal] : trace.removed)
      if (!byId.contains(id))
        if (std::optional<SafetyNote> note = noteOf(removal.loc))
          start(*note, removal.loc).kernel =
              StringRef(id).rsplit('.').first.str();
  }

  void addInstance(Operation *op, const SafetyNote &note) {
    auto found = byId.find(note.id);
    // Guards appear when softmax is expanded.
    Record &record = found == byId.end() ? start(note, op->getLoc())
                                         : result.records[found->second];
    if (record.kernel.empty())
      record.kernel = StringRef(note.id).rsplit('.').first.str();
    size_t kept = numTested[note.id] - note.proved.size();
    for (int64_t position : note.untested) {
      if (llvm::is_contained(note.proved, position))
        continue;
      --kept;
      record.predicates[position].untested = true;
    }
    if (numPredicates(op) > kept && record.kind == "load" &&
        llvm::none_of(record.predicates, [](const Predicate &p) {
          return p.origin == "pipeline";
        }))
      record.predicates.push_back(
          {"the block loaded ahead starts before the loop's end",
           "pipeline",
           {},
           false,
           ""});
    Instance instance = describeInstance(op, note.kind);
    instance.proved.assign(note.proved.begin(), note.proved.end());
    instance.byExtent.assign(note.byExtent.begin(), note.byExtent.end());
    if (Operation *steps = stepsAround(op)) {
      instance.loop = loopNumbers
                          .try_emplace(partOf(steps),
                                       static_cast<int64_t>(loopNumbers.size()))
                          .first->second;
      loops.push_back(
          {note.id, record.instances.size(), partOf(steps), rareCase(op)});
      if (!note.byLoop.empty())
        whole.insert(partOf(steps));
    }
    for (int64_t position : note.byLoop)
      knownByLoop.insert({note.id, position});
    for (int64_t position : note.byPredicate)
      knownByPredicate.insert({note.id, position});
    record.instances.push_back(instance);
    if (note.kind == "guard" && record.fill.empty())
      describeGuard(record, op);
  }

  static void describeGuard(Record &record, Operation *op) {
    auto select = dyn_cast<arith::SelectOp>(op);
    if (!select)
      return;
    for (Value arm : {select.getTrueValue(), select.getFalseValue()}) {
      Operation *def = arm.getDefiningOp();
      while (def && def->getNumOperands() == 1)
        def = def->getOperand(0).getDefiningOp();
      if (auto constant = dyn_cast_or_null<arith::ConstantOp>(def)) {
        record.fill = wordsFor(Attribute(constant.getValue()));
        return;
      }
    }
  }

  void prove(Record &record, size_t position) {
    Predicate &predicate = record.predicates[position];
    predicate.proved = true;
    std::pair<std::string, int64_t> key{record.id, position};
    predicate.why = knownByPredicate.contains(key)
                        ? "another condition is false wherever it is"
                    : knownByLoop.contains(key)
                        ? "the bounds of the loop"
                        : "true for every lane of the bound tile";
  }

  /// The loop around `op`, or the branch that one of a single step became
  /// (`sm-single-steps`); null for none.
  static Operation *stepsAround(Operation *op) {
    Operation *steps = op->getParentOp();
    while (!isa<sm::KernelOp>(steps) && !isSteps(steps))
      steps = steps->getParentOp();
    return isa<sm::KernelOp>(steps) ? nullptr : steps;
  }

  static bool isSteps(Operation *op) {
    auto branch = dyn_cast<scf::IfOp>(op);
    return isa<scf::ForOp>(op) ||
           (branch && llvm::any_of(branch->getBlock()->getOps<scf::ForOp>(),
                                   [&](scf::ForOp loop) {
                                     return loop.getLoc() == branch.getLoc();
                                   }));
  }

  /// A loop of the final program by kernel, place in the source and position
  /// among the loops of its role that have this place: roles run loops of their
  /// own over the same steps, in the same order.
  struct Part {
    Operation *kernel;
    const void *place;
    unsigned number;
    auto operator<=>(const Part &) const = default;
  };

  static Part partOf(Operation *steps) {
    Operation *scope = steps->getParentOfType<sm::RoleOp>();
    if (!scope)
      scope = steps->getParentOfType<sm::KernelOp>();
    unsigned number = 0;
    scope->walk<WalkOrder::PreOrder>([&](Operation *other) {
      if (other == steps)
        return WalkResult::interrupt();
      number += isSteps(other) && other->getLoc() == steps->getLoc();
      return WalkResult::advance();
    });
    return {steps->getParentOfType<sm::KernelOp>(),
            steps->getLoc().getAsOpaquePointer(), number};
  }

  /// The case of a warp's vote in which alone `op` runs, if there is one.
  enum class Rare { No, Speculation, Redo };
  static Rare rareCase(Operation *op) {
    for (auto branch = op->getParentOfType<scf::IfOp>(); branch;
         branch = branch->getParentOfType<scf::IfOp>())
      if (auto vote = branch.getCondition().getDefiningOp<sm::AnyOp>()) {
        std::optional<SafetyNote> note = noteOf(vote.getLoc());
        bool isRedo = note && StringRef(note->id).contains(".redo");
        return isRedo ? Rare::Redo : Rare::Speculation;
      }
    return Rare::No;
  }

  /// Loops of one place in the source are parts of it; those that need not test
  /// something run the whole iterations.
  void nameParts() {
    for (const InLoop &in : loops) {
      std::string &frequency =
          result.records[byId[in.id]].instances[in.instance].frequency;
      bool split = llvm::any_of(whole, [&](const Part &other) {
        return other.kernel == in.part.kernel && other.place == in.part.place;
      });
      if (split)
        frequency = whole.contains(in.part) ? "per whole iteration"
                                            : "per partial iteration";
      if (in.rare == Rare::Speculation)
        frequency += " where the speculation fails";
      else if (in.rare == Rare::Redo)
        frequency = "lane by lane where a sum is not finite";
    }
  }

  /// A predicate is proved if no instance tests it.
  void join(Record &record) {
    for (size_t i = 0; i < numTested[record.id]; ++i) {
      size_t count = llvm::count_if(record.instances, [&](const Instance &in) {
        return llvm::is_contained(in.proved, static_cast<int64_t>(i));
      });
      if (count == record.instances.size())
        prove(record, i);
      else
        record.predicates[i].partialOnly =
            knownByLoop.contains({record.id, static_cast<int64_t>(i)});
    }
    for (Instance &instance : record.instances)
      describeTests(record, numTested[record.id], instance);
  }

  /// A record whose operation is gone from the final form.
  void settle(Record &record) {
    if (!record.instances.empty())
      return join(record);
    auto removal = trace.removed.find(record.id);
    StringRef pass = removal == trace.removed.end()
                         ? StringRef()
                         : StringRef(removal->second.pass);
    if (pass == "tile-simplify-presence") {
      record.status = "proved";
      for (size_t i = 0; i < numTested[record.id]; ++i)
        prove(record, i);
    } else {
      record.status = pass == "cse" ? "merged" : "unused";
    }
  }

  Trace &trace;
  ModuleOp module;
  SourceText source;
  Explanation result;
  std::map<std::string, size_t> byId;
  std::map<std::string, Operation *> operations;
  /// By id: predicates that the operation began with.
  std::map<std::string, size_t> numTested;
  /// Instances inside loops, to name the part of the loop that they are in.
  struct InLoop {
    std::string id;
    size_t instance;
    Part part;
    Rare rare;
  };
  std::vector<InLoop> loops;
  std::map<Part, int64_t> loopNumbers;
  std::set<Part> whole;
  /// Positions of predicates that hold by the bounds of a loop's part.
  std::set<std::pair<std::string, int64_t>> knownByLoop;
  /// Those that hold wherever another predicate does.
  std::set<std::pair<std::string, int64_t>> knownByPredicate;
};

} // namespace

Explanation collect(Trace &trace, ModuleOp module, const Source &source) {
  return Collector(trace, module, source).run();
}

} // namespace selvedge::explain
