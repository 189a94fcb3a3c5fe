// From the syntax tree of an op and its bindings to a `tile.program`.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_FRONTEND_ELABORATOR_H
#define SELVEDGE_COMPILER_FRONTEND_ELABORATOR_H

#include "compiler/Frontend/Diagnostics.h"
#include "compiler/Frontend/FoldCheck.h"
#include "compiler/Frontend/StoreCheck.h"
#include "compiler/Frontend/TileBuilder.h"
#include "compiler/Frontend/Value.h"
#include "dialect/Tile/BroadcastDims.h"
#include "dialect/Tile/LaunchSizes.h"
#include "dialect/Tile/ReducedDims.h"
#include "dialect/Tile/SchedulePins.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <deque>
#include <functional>
#include <set>
#include <tuple>

namespace selvedge::frontend {

/// `--set` bindings by parameter name.
using Bindings = std::map<std::string, std::string>;

/// Checks one op and emits it. Errors are reported and elaboration goes on, so
/// that a run finds several; the result of a run with errors is dropped.
class Elaborator {
public:
  Elaborator(mlir::MLIRContext *ctx, Diagnostics &diags, const FileAst &file);

  /// Null on error. With `isGradient` it is the op's backward that is emitted,
  /// with the functions and inputs of the variant `op`.
  mlir::OwningOpRef<mlir::ModuleOp>
  run(const OpDecl &op, const Bindings *bindings, bool isGradient = false);

  /// Is told of every value that gets a name, if it is set.
  std::function<void(llvm::SMLoc, mlir::Value, mlir::ValueRange)> onBinding;

private:
  struct DimInfo {
    mlir::AffineExpr extent;
    /// The identifier that the extent consists of, if it does.
    llvm::StringRef name;
    /// Both factors of a product.
    std::optional<std::pair<mlir::AffineExpr, mlir::AffineExpr>> factors;
  };
  struct TensorInfo {
    const ArgDecl *decl;
    mlir::Type element;
    std::vector<DimInfo> dims;
    mlir::Attribute init;
    tile::Overflow overflow = tile::Overflow::Sat;
    tile::RequireAttr promise;
    /// Whether the caller promises that no two elements are equal.
    bool isUnique = false;
    /// Of an input that is `diff`, in a gradient: the output that has its.
    std::optional<unsigned> gradient = {};
    /// Of a temp: what earlier kernels and the current one do with it.
    bool isStoredBefore = false, isStoredHere = false, isLoadedHere = false;
  };
  /// A dim that each launch chooses.
  struct LaunchSizeInfo {
    const LaunchDecl *decl;
    int64_t lo = 1, hi = 1;
    /// Most elements of the ranges that are split into so many parts.
    llvm::SmallVector<mlir::AffineExpr> parts;
  };
  struct ScalarInfo {
    const ArgDecl *decl;
    mlir::Type type;
    mlir::Attribute value;
  };
  /// An indexed tensor: indices, axes and presence of the access.
  struct Access {
    unsigned tensor = 0;
    std::vector<Val> indices;
    llvm::SmallVector<mlir::Value> values;
    llvm::SmallVector<mlir::StringAttr> axes;
    PredSet preds;
    /// What tells elements apart: one entry per index, two per pair.
    llvm::SmallVector<StoreCheck::Coordinate> coordinates;
  };

  // Elaborator.cpp: shared helpers and the emission of the program.
  /// A place in the source, named by the clause that is being elaborated.
  mlir::Location at(llvm::SMLoc loc) const;
  bool inKernel() const { return tb != nullptr; }
  bool spend(llvm::SMLoc loc);
  Variable *find(llvm::StringRef name);
  /// Tells of the values of a kernel that have got names.
  void tellBindings(tile::KernelOp kernel);
  /// Whether `name` is an input that an op adds to the one in whose text `loc`
  /// lies: whoever wrote that could not know of it, and may use the name.
  bool isHidden(llvm::SMLoc loc, llvm::StringRef name) const;
  Variable *define(llvm::SMLoc loc, llvm::StringRef name, Val value,
                   bool isMutable);
  std::vector<llvm::StringRef> visibleNames() const;
  mlir::Type elementOf(const Val &v) const;
  std::string describe(const Val &v) const;
  mlir::Value materialise(llvm::SMLoc loc, const Val &v, mlir::Type want = {});
  Val toSsa(llvm::SMLoc loc, const Val &v, mlir::Type want = {});
  std::string axisList(llvm::ArrayRef<mlir::StringAttr> axes) const;
  llvm::SmallVector<mlir::StringAttr> axesOfVal(const Val &v) const;
  /// Of `orderedAdds`, if there are any, the additions alone.
  void emitKernel(const KernelDecl &kernel, mlir::OpBuilder &builder);
  void dropSigns(mlir::Block &kernel);
  void eraseDeadOps(mlir::Operation *root);

  // Bindings.cpp: parameters.
  /// Inputs of an op that the chain, which begins with the backward it names,
  /// does not have: functions of the op that use them are none of its.
  void warnOfOwnInputs(const OpDecl &forward);
  bool flatten(const OpDecl &op, bool isGradient);
  /// The op of that name; an error at `loc` where there is none, `why` it is
  /// wanted.
  const OpDecl *findOp(llvm::SMLoc loc, llvm::StringRef name,
                       llvm::StringRef why);
  bool bindParameters(const Bindings *bindings);
  Val bindParameter(const ParamDecl &param, const std::string *text);
  Val parseBinding(const ParamDecl &param, llvm::StringRef text);
  Val checkParameter(const ParamDecl &param, Val value, llvm::SMLoc loc,
                     llvm::StringRef origin);
  void collectFunctions();
  mlir::Type builtinType(llvm::StringRef name) const;
  mlir::Type resolveType(llvm::SMLoc loc, llvm::StringRef name);

  // Signature.cpp
  bool buildSignature();
  void collectDims(const Expr &extent, std::set<llvm::StringRef> &taken);
  void addTensor(const ArgDecl &arg);
  /// An output for the gradient of each input that is `diff`.
  void addGradients(std::set<llvm::StringRef> &names);
  /// Gives a gradient dims of its own where its input may be broadcast.
  void addReducedDims(const ArgDecl &input, TensorInfo &gradient,
                      std::set<llvm::StringRef> &names);
  bool addOutputTraits(const ArgDecl &arg, TensorInfo &info);
  void addScalar(const ArgDecl &arg);
  void addPromise(const RequireDecl &require);
  void addLaunchSize(const LaunchDecl &launch);
  llvm::SmallVector<tile::LaunchSize> chosenSizes() const;
  mlir::AffineExpr evalExtent(const Expr &e, llvm::StringRef what);
  mlir::AffineMap mapOf(llvm::ArrayRef<mlir::AffineExpr> results) const;
  mlir::ArrayAttr tensorAttrs() const;
  llvm::SmallVector<tile::BroadcastDims> broadcastDims() const;

  // Schedules.cpp
  /// What the schedules of the op and of those that it extends pin.
  llvm::SmallVector<tile::SchedulePin> schedulePins();
  void addSchedule(const ScheduleDecl &schedule,
                   llvm::SmallVectorImpl<tile::SchedulePin> &pins);
  /// The number of a pin, 0 for `off`; none on error.
  std::optional<int64_t> pinnedNumber(const PinDecl &pin, bool isBlock);
  llvm::SmallVector<mlir::StringAttr> uniqueTensors() const;
  mlir::ArrayAttr scalarAttrs() const;
  mlir::DictionaryAttr paramAttrs() const;

  // Expressions.cpp
  Val eval(const Expr &e);
  Val evalKind(const Expr &e);
  Val evalName(const Expr &e);
  std::optional<Val> lookupSignature(llvm::StringRef name);
  Val evalCondition(const Expr &e, llvm::StringRef what,
                    llvm::StringRef inClause = "");
  Val evalWhere(const Expr &e);
  /// The predicates that a condition consists of.
  llvm::SmallVector<mlir::Value> termsOf(llvm::SMLoc loc, const Val &condition);
  Val applyWhere(llvm::SMLoc loc, const Val &value, const Val &condition);
  Val evalElse(const Expr &e);
  Val evalIf(const Expr &e);
  Val evalZeros(const Expr &e);
  std::optional<bool> constantCondition(const Expr &e, const Val &v);
  Val convert(llvm::SMLoc loc, const Val &v, mlir::Type to,
              tile::Overflow overflow);
  /// i32 within the range of `byte`.
  mlir::Value saturated(mlir::Location l, mlir::Value value,
                        mlir::IntegerType byte);
  mlir::Value constantByte(mlir::Location l, int64_t value,
                           mlir::IntegerType type);
  /// An element of 8 bits, which any wider type has exactly.
  Val convertByte(llvm::SMLoc loc, const Val &byte, mlir::Type to);
  /// A number as i32, i8 or u8: toward zero, saturated, NaN as 0.
  Val convertToInteger(llvm::SMLoc loc, const Val &v, mlir::Type to);
  mlir::StringAttr resolveAxis(const Expr &e, bool create, bool quiet = false);

  // Arithmetic.cpp
  Val evalUnary(const Expr &e);
  /// `!condition`, pushed inwards to the terms of `&&` and `||`.
  Val negation(llvm::SMLoc loc, const Val &condition);
  Val evalBinary(const Expr &e);
  Val evalLogical(const Expr &e);
  Val binary(llvm::SMLoc loc, llvm::StringRef op, const Val &a, const Val &b);
  Val foldConstants(llvm::SMLoc loc, llvm::StringRef op, const Val &a,
                    const Val &b);
  Val foldInts(llvm::SMLoc loc, llvm::StringRef op, int64_t a, int64_t b);
  Val foldAffine(llvm::SMLoc loc, llvm::StringRef op, const Val &a,
                 const Val &b);
  Val affineVal(llvm::SMLoc loc, mlir::AffineExpr expr);
  mlir::AffineExpr asAffine(const Val &v) const;
  /// a - b in normal form.
  mlir::AffineExpr difference(mlir::AffineExpr a, mlir::AffineExpr b) const;
  Val integerBinary(llvm::SMLoc loc, llvm::StringRef op, const Val &a,
                    const Val &b);
  Val floatBinary(llvm::SMLoc loc, llvm::StringRef op, const Val &a,
                  const Val &b);
  mlir::Type commonType(llvm::SMLoc loc, llvm::StringRef op, const Val &a,
                        const Val &b);
  void deriveFacts(llvm::StringRef op, const Val &a, const Val &b,
                   Val &result) const;
  /// The same of the larger or the smaller one.
  void deriveExtreme(bool isMax, const Val &a, const Val &b, Val &result) const;
  /// The same of a multiple of an index, and of what is added to one.
  void deriveMultiple(llvm::StringRef op, const Val &a, const Val &b,
                      Val &result) const;

  // Calls.cpp
  Val evalCall(const Expr &e);
  Val inlineFn(const Expr &e, const FnDecl &fn);
  /// The same with arguments that are known.
  Val inlineFn(const Expr &e, const FnDecl &fn, std::vector<Val> args);
  /// Enters a frame in which the parameters of `fn` are `args`; none on error.
  bool bindCall(const Expr &e, const FnDecl &fn, llvm::ArrayRef<ExprPtr> args);
  bool bindValues(const Expr &e, const FnDecl &fn, std::vector<Val> values);
  /// Leaves that frame.
  Val leaveWith(Val result);
  /// What the function that is being inlined overrides; null for nothing.
  const FnDecl *overridden() const;
  Val callMath(const Expr &e);
  Val callMinMax(const Expr &e);
  Val callSelect(const Expr &e);
  /// `c ? a : b` per lane, with the presence of the side that is taken.
  Val selectVal(const Expr &e, const Val &c, const Val &a, const Val &b);
  Val callReduce(const Expr &e);
  /// The axes that the arguments after the first one name.
  bool reducedAxes(const Expr &e, const Val &reduced,
                   llvm::SmallVectorImpl<mlir::StringAttr> &over);
  Val callRel(const Expr &e);
  Val callAny(const Expr &e);
  Val callPresent(const Expr &e);
  Val callDot(const Expr &e, const Val *init);
  /// The two numbers of bf16 that a number of f32 is the sum of, but for its
  /// last 8 bits.
  std::pair<mlir::Value, mlir::Value> splitFactor(mlir::Location l,
                                                  mlir::Value factor);
  bool isDot(const Expr &e) const;
  bool expectArgs(const Expr &e, size_t count, llvm::StringRef what);

  // Derivatives.cpp
  /// `vjp(f)(x, ...)`: the pair of f(x, ...) and its derivative by x.
  Val evalVjp(const Expr &e);
  Val callPull(const Expr &e, const Val &pull);
  /// Of what was loaded since `first`: how `value` changes with inputs that are
  /// `diff`. What the argument `x` is made of is nothing of the function's.
  std::vector<std::pair<size_t, Val>>
  inputSlopes(llvm::SMLoc loc, mlir::Value value, mlir::Value x, size_t first);
  /// `pull.inputs(g)`: adds what a gradient gives for inputs that are `diff`.
  Val pullInputs(const Expr &e, const Val &pull);
  /// The gradient that is passed to a pull.
  Val gradientArgument(const Expr &argument, const llvm::Twine &of);
  void addToGradient(llvm::SMLoc loc, const Access &access, const Val &g);
  /// The sum of `v` over the axes that are not among `axes`.
  Val summedTo(llvm::SMLoc loc, const Val &v,
               llvm::ArrayRef<mlir::StringAttr> axes);
  /// Where a dim of the gradient says that it is a sum, index 0 in place of all
  /// that the access has along it.
  void reduceIndices(llvm::SMLoc loc, Access &access);
  /// Values made of `x`, and how they change with it: what is missing does not.
  struct Slopes {
    llvm::SMLoc loc;
    mlir::Value x;
    llvm::DenseMap<mlir::Value, Val> known;
  };
  Val slopeOf(Slopes &slopes, mlir::Value v);
  Val slopeOfOp(Slopes &slopes, mlir::Operation *op);
  /// `v` times the derivative of an elementwise operation by its operand `i`.
  Val timesPartial(llvm::SMLoc loc, mlir::Operation *op, unsigned i,
                   const Val &v);
  Val scalarOperand(mlir::Operation *op, unsigned i);
  /// An operation whose result is one of two operands.
  struct Choice {
    mlir::Value condition;
    unsigned yes, no;
  };
  std::optional<Choice> choiceOf(llvm::SMLoc loc, mlir::Operation *op);
  Val selectSlope(llvm::SMLoc loc, mlir::Value condition, const Val &a,
                  const Val &b);
  Val scaled(llvm::SMLoc loc, const Val &a, const Val &b);
  Val added(llvm::SMLoc loc, const Val &a, const Val &b);

  // Sweep.cpp: derivatives of functions of whole rows.
  /// What takes gradients of `value` back to `x`, in place of which the
  /// function was given `standIn`, and to loads since `first`.
  std::shared_ptr<Sweep> sweepOf(const Val &x, mlir::Value standIn,
                                 const Val &value, size_t first);
  static bool hasReduction(const Sweep &sweep);
  struct SweptGradients {
    Val x;
    std::vector<std::pair<size_t, Val>> loads;
  };
  SweptGradients sweepBack(llvm::SMLoc loc, const Sweep &sweep, Val g);
  /// The gradient of operand `i` for that of the result.
  Val throughOp(llvm::SMLoc loc, mlir::Operation *op, unsigned i, const Val &g);
  Val throughReduction(llvm::SMLoc loc, tile::ReduceOp op, const Val &g);
  /// The sum of two gradients: lanes that one of them lacks are 0 there.
  Val addedGradients(llvm::SMLoc loc, const Val &a, const Val &b);
  /// 0 in lanes that predicates other than those of `kept` leave out.
  Val filledBeyond(llvm::SMLoc loc, const Val &g, const PredSet &kept);

  // Indexing.cpp
  Val evalIndex(const Expr &e);
  /// Kernels run one after the other, the iterations of one in any order.
  bool checkTempLoad(llvm::SMLoc loc, TensorInfo &temp);
  bool resolveAccess(const Expr &e, Access &access);
  Val evalFull(llvm::SMLoc loc, const DimInfo &dim);
  /// Reports a second `:` or slice along the axis of another index.
  bool reportDiagonal(llvm::SMLoc loc, llvm::StringRef axis,
                      llvm::ArrayRef<llvm::StringRef> others,
                      const ArgDecl &tensor);
  bool addIndex(llvm::SMLoc loc, Access &access, const DimInfo &dim, Val index);
  /// The one index that a pair stands for.
  Val pairIndex(llvm::SMLoc loc, Access &access, const DimInfo &dim,
                const Val &index);
  mlir::Value indexValue(llvm::SMLoc loc, const Val &index, PredSet &preds);
  void addValidity(Access &access);
  Val load(llvm::SMLoc loc, Access &access);
  Val loadPresent(llvm::SMLoc loc, Access &access);

  // Slices.cpp
  /// `first +: length`: as many elements as a parameter says.
  Val evalSlice(const Expr &e);
  SliceInfo sliceInfo(llvm::SMLoc loc, const Val &first, int64_t length);
  /// What keeps the index `value` inside, and tells its elements apart.
  bool addSlice(llvm::SMLoc loc, Access &access, mlir::AffineExpr extent,
                const Val &index, mlir::Value value);

  // Views.cpp
  const FnDecl *findView(llvm::StringRef name) const;
  void checkViews();
  Val evalView(const Expr &e, const FnDecl &view);
  /// What a view says of the elements that its body loads.
  void addViewTerms(Access &access) const;

  // Slips.cpp
  /// Warns of an index that is hardly meant.
  void warnOfIndex(const Expr &index, const TensorInfo &info,
                   const DimInfo &dim, const Val &value);
  void warnIfOutside(llvm::SMLoc loc, const TensorInfo &info,
                     const DimInfo &dim, const Val &value);

  // Presence.cpp
  /// Adds what `value` needs for being inside an extent; true for nothing.
  bool requireInside(llvm::SMLoc loc, const Val &index, mlir::Value value,
                     mlir::AffineExpr extent, PredSet &preds);
  bool provablyNonNegative(mlir::AffineExpr expr) const;
  /// Whether an index of 32 bits counts the lanes of all blocks of a range that
  /// ends at `stop`, whatever the dims are.
  bool isIndexOfBlocks(mlir::AffineExpr stop) const;
  /// The most that an index may be where it exists, whatever the dims are; none
  /// where it may be negative, or nothing is known.
  std::optional<int64_t> greatestOf(const Val &index) const;
  /// Removes from `preds` those that only say where an axis ends, and returns
  /// them: past its end a tile has no lanes that could be selected or filled.
  PredSet takeEnds(llvm::SMLoc loc, PredSet &preds);
  PredSet joinSelected(llvm::SMLoc loc, mlir::Value condition, PredSet a,
                       PredSet b);
  PredSet joinElse(llvm::SMLoc loc, const PredSet &value,
                   const PredSet &otherwise);
  /// Parts the predicates by whether they mention one of `over`, and consumes
  /// the lanes outside of those axes' ranges with them.
  void splitPreds(llvm::SMLoc loc, const PredSet &preds,
                  llvm::ArrayRef<mlir::StringAttr> over, PredSet &consumed,
                  PredSet &kept);

  // Softmax.cpp
  Val callSoftmax(const Expr &e);
  Val evalMethod(const Expr &e);
  Val softmaxUpdate(const Expr &e, Variable &state);
  Val softmaxInclude(const Expr &e, Variable &state);
  Val softmaxFinish(const Expr &e, Variable &state);
  /// The accumulators among the arguments, from position `first` on.
  bool collectAccs(const Expr &e, const Variable &state, mlir::StringAttr over,
                   llvm::SmallVectorImpl<Variable *> &accs, size_t first = 2);
  Val scoreArgument(const Expr &e, const Variable &state);

  // SoftmaxMerge.cpp
  Val softmaxMerge(const Expr &e, Variable &state);
  /// One part per row; `add` joins the part of a weight to what is kept.
  void mergeRows(mlir::Location l, Variable &state, Variable &acc,
                 const Val &lse,
                 llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> add);
  /// The normalised rows of a part. They are loaded beside the log-sum-exp that
  /// says whether there are any: a load that waits for another takes as long as
  /// both.
  Val mergedOutput(const Expr &e, llvm::ArrayRef<mlir::StringAttr> axes);
  Val callSoftmaxWeight(const Expr &e);
  mlir::Value compareWithEmpty(mlir::Location l, mlir::arith::CmpFPredicate how,
                               mlir::Value lse);

  // Statements.cpp
  void elaborate(const std::vector<Stmt> &body);
  void elaborateStmt(const Stmt &stmt);
  void elaborateBinding(const Stmt &stmt);
  void elaboratePair(const Stmt &stmt, const Val &v);
  void assign(const Stmt &stmt);
  void assignVar(const Stmt &stmt, Variable &var);
  void store(const Stmt &stmt);
  Val evalStored(const Expr &e, const TensorInfo &target);
  /// A function of dims that `bound` is at most, and so what indices of a range
  /// that ends there are below; null where none is known.
  mlir::AffineExpr endOf(const Val &bound) const;
  Val rangeVal(llvm::SMLoc loc, mlir::StringAttr axis, mlir::Value start,
               const Val &lo, const Val &hi);

  // KernelRanges.cpp
  bool checkBlockName(const RangeDecl &range);
  /// The coordinate of a range of the kernel, behind those that there are or
  /// before them.
  mlir::Value addCoordinate(const RangeDecl &range, llvm::StringRef name,
                            mlir::AffineMap extent, mlir::Block &block,
                            llvm::SmallVectorImpl<mlir::Attribute> &iters,
                            bool isFirst = false);
  bool bindKernelRange(const RangeDecl &range, mlir::Block &block,
                       llvm::SmallVectorImpl<mlir::Attribute> &iters);
  /// `i in (first +: length)`, where `first` is no function of dims.
  bool bindPart(const RangeDecl &range, const Val &first, const Val &length,
                mlir::Block &block,
                llvm::SmallVectorImpl<mlir::Attribute> &iters);
  /// `i in split(lo..hi, part, parts)`: elements, equally many per part.
  bool bindSplit(const RangeDecl &range, mlir::Block &block,
                 llvm::SmallVectorImpl<mlir::Attribute> &iters);
  /// The iteration of which `start` is a multiple of the length; null for none.
  mlir::Value partNumber(const Expr &start, const Val &length);
  /// `r = (i, u) in (M, R) by BM`: one axis of pairs.
  bool bindPairs(const RangeDecl &range, mlir::Block &block,
                 llvm::SmallVectorImpl<mlir::Attribute> &iters);

  // Segments.cpp
  /// A kernel's range over the rows of a segment, whose tiles are handed out
  /// together with those of all other segments.
  struct SegmentRange {
    const RangeDecl *rows = nullptr;
    /// The range of segments, which has no coordinate of its own.
    const RangeDecl *segment = nullptr;
    unsigned tensor = 0;
    /// Number of segments, and the end of the last one.
    mlir::AffineExpr count, end;
  };
  /// The one of `kernel`; none on error, and where there is none.
  std::optional<SegmentRange> findSegments(const KernelDecl &kernel, bool &ok);
  bool bindSegments(const SegmentRange &segments, mlir::Block &block,
                    llvm::SmallVectorImpl<mlir::Attribute> &iters);
  /// The first row of a segment, inside 0..end whatever memory holds.
  mlir::Value firstRow(const SegmentRange &segments, const Val &segment);
  /// The number of the segment that tile number `tile` belongs to.
  mlir::Value findSegment(const SegmentRange &segments, mlir::Value tile,
                          mlir::Value block);

  // OrderedAdds.cpp
  /// One of the names of a kernel's range.
  struct KernelIndex {
    const RangeDecl *range;
    size_t number;
    llvm::StringRef name() const { return range->names[number]; }
  };
  /// What is added in order to a tensor, where iterations of `loops` may meet:
  /// it has a kernel of its own, which takes these one after the other.
  struct OrderedAdds {
    unsigned tensor;
    llvm::SmallVector<KernelIndex, 2> loops;
    std::string name;
  };
  /// Checks an addition of the kernel at hand: whether it may be made in any
  /// order; none where the kernel does not make it.
  std::optional<bool> checkAddition(llvm::SMLoc loc, unsigned tensor,
                                    const Access &access);
  /// Whether the kernel at hand is for additions to another tensor.
  bool isOfOtherKernel(unsigned tensor) const {
    return orderedAdds && orderedAdds->tensor != tensor;
  }
  /// Gives additions a kernel of their own; false where they cannot have one.
  bool addInOrder(unsigned tensor, llvm::ArrayRef<llvm::StringRef> meeting);
  /// A kernel, and before it those for additions that it leaves to them: they
  /// see memory as it does.
  void emitKernels(const KernelDecl &kernel, mlir::OpBuilder &builder);
  bool isLoopInOrder(const RangeDecl &range, size_t number) const;
  /// The body of a kernel in loops over ranges of it.
  void elaborateInOrder(llvm::ArrayRef<KernelIndex> loops,
                        const KernelDecl &kernel);

  // Loops.cpp
  void elaborateFor(const Stmt &stmt);
  /// Enters a loop of one step where the condition of `when` holds, and of none
  /// where it does not; null without such a condition.
  mlir::scf::ForOp enterWhen(const RangeDecl &range, mlir::ValueRange carried);
  struct LoopBounds {
    Val lo, hi;
    /// Of the loop; `rangeStart` is that of the whole range of a part.
    mlir::Value start, stop, step, rangeStart;
    mlir::StringAttr axis;
    /// Iterations around it that each of its elements tells.
    llvm::SmallVector<size_t, 1> tells;
  };
  /// Those of one of the range's names.
  bool loopBounds(const RangeDecl &range, size_t number, LoopBounds &bounds);
  /// Narrows bounds to the part that `split` names.
  bool splitBounds(const RangeDecl &range, size_t number, LoopBounds &bounds);
  /// A range of `most` elements, null where data say how many, has `parts`.
  void noteParts(const Val &parts, mlir::AffineExpr most);
  mlir::Value integerScalar(const Expr &e, llvm::StringRef what);
  /// A range with an absent bound is empty.
  void makeTotal(llvm::SMLoc loc, Val &lo, Val &hi);
  BlockedRange blockedRange(const RangeDecl &range, const LoopBounds &bounds,
                            mlir::Operation *loop,
                            llvm::ArrayRef<Variable *> carried) const;
  mlir::Value clampBound(llvm::SMLoc loc, const Val &bound, bool isUpper);
  void bindLoopVar(const RangeDecl &range, size_t number,
                   const LoopBounds &bounds, mlir::Value iv);
  void collectAssigned(const std::vector<Stmt> &body,
                       llvm::SmallVectorImpl<Variable *> &vars);
  void collectAssigned(const Expr &e, llvm::SmallVectorImpl<Variable *> &vars);

  mlir::MLIRContext *ctx;
  Diagnostics &diags;
  const FileAst &file;

  /// The op and the ops it extends, most derived first.
  std::vector<const OpDecl *> chain;
  std::map<llvm::StringRef, Val> params;
  std::vector<llvm::StringRef> paramOrder;
  std::map<llvm::StringRef, unsigned> dimIndex;
  std::vector<llvm::StringRef> dimNames;
  std::vector<TensorInfo> tensors;
  /// Outputs that no source declares, and their names.
  std::deque<std::pair<std::string, ArgDecl>> gradients;
  bool isGradient = false;
  std::vector<tile::ReducedDim> reducedDims;
  std::vector<ScalarInfo> scalars;
  std::vector<mlir::Attribute> promises;
  std::vector<LaunchSizeInfo> launchSizes;
  /// Definitions by name, most derived first.
  std::map<llvm::StringRef, std::vector<const FnDecl *>> functions;

  std::unique_ptr<TileBuilder> tb;
  mlir::Block *kernelBlock = nullptr;
  const KernelDecl *currentKernel = nullptr;
  /// Of the kernel at hand: those that it is for, or null, and those that it
  /// leaves to others.
  const OrderedAdds *orderedAdds = nullptr;
  std::vector<OrderedAdds> leftAdds;
  std::vector<Frame> frames;
  std::unique_ptr<StoreCheck> stores;
  std::unique_ptr<FoldCheck> folds;
  /// Softmax states that no variable owns yet.
  std::vector<std::unique_ptr<Variable>> newStates;
  /// Conditions of the views that are being expanded.
  PredSet viewTerms;
  unsigned steps = 0;
  unsigned evalDepth = 0;
  /// `valid` or `where`: what locations are named while one is elaborated.
  llvm::StringRef clause;
  /// Loads of inputs that are `diff`, and what they gave.
  std::vector<std::pair<mlir::Value, Access>> diffLoads;
  /// Of the kernel at hand, if somebody is to be told: what has got a name.
  std::vector<std::tuple<llvm::SMLoc, mlir::Value, PredSet>> bound;
};

} // namespace selvedge::frontend

#endif // SELVEDGE_COMPILER_FRONTEND_ELABORATOR_H
