// What is said of a value that depends on a block size.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/FoldCheck.h"

using namespace mlir;
using namespace selvedge::tile;

namespace selvedge::frontend {
namespace {

/// The place in the source of an operation.
llvm::SMLoc placeOf(Diagnostics &diags, Operation *op) {
  auto place =
      op ? op->getLoc()->findInstanceOf<FileLineColLoc>() : FileLineColLoc();
  return place ? diags.place(place.getLine(), place.getColumn())
               : llvm::SMLoc();
}

/// "sum", "maximum" or "minimum".
std::string reductionName(Operation *op) {
  auto reduce = dyn_cast_if_present<ReduceOp>(op);
  Combine how = reduce ? reduce.getKind() : Combine::Add;
  return how == Combine::Max   ? "maximum"
         : how == Combine::Min ? "minimum"
                               : "sum";
}

} // namespace

std::string StepAnalysis::nameOf(int carried) const {
  bool isNamed =
      carried >= 0 && static_cast<size_t>(carried) < range.names.size();
  return isNamed ? ("'" + range.names[carried] + "'").str() : "a variable";
}

void StepAnalysis::report(const Form &form, Operation *user) {
  std::string name = nameOf(form.carried),
              axis = ("'" + range.name + "'").str();
  std::string state = nameOf(form.state);
  StringRef bareName = StringRef(name).trim('\''), bareAxis = range.name;
  StringRef bareState = StringRef(state).trim('\'');
  std::string depends = ", which depends on the block size";
  Operation *where = form.where ? form.where : user;
  std::string message, hint;
  switch (form.reason) {
  case CutReason::PerStep:
    if (form.carried < 0)
      name = "an element";
    message = name + " grows once per block of " + axis + depends;
    hint = ("add what the elements give: count(t, " + bareAxis +
            ") or sum(t, " + bareAxis + ")")
               .str();
    break;
  case CutReason::Reads:
    message = "inside the loop " + name + " holds a result of the blocks of " +
              axis + " so far" + depends;
    hint = ("a loop with 'by' may add a sum over " + axis + " to " + name +
            ", or take 'max' or 'min' with one; use " + name +
            " after the loop, or loop without 'by'");
    break;
  case CutReason::Mixed:
    message = name + " is combined in more than one way in the loop over " +
              axis + depends;
    hint = "carry a sum, a maximum and a minimum in a variable each";
    break;
  case CutReason::Block:
    if (form.carried >= 0) {
      message =
          name + " holds what the last block of " + axis + " gives" + depends;
      bool isSum = reductionName(where) == "sum";
      hint = (isSum ? "write '" + bareName + " += ...'"
                    : "combine: '" + bareName + " = " +
                          StringRef(reductionName(where)).take_front(3) + "(" +
                          bareName + ", ...)'")
                 .str();
      break;
    }
    if (asksForSteps(where)) {
      message = "the steps that 'any' leaves out may do something" + depends;
      hint = "each sum, update and store of the step needs 'where' with the "
             "condition of 'any', and no 'else'";
      break;
    }
    message = "this uses a reduction over one block of " + axis + depends;
    hint = range.loop ? "carry it in a variable, and use that after the loop"
                      : "iterations of a kernel are independent: reduce over "
                        "the range of a loop";
    break;
  case CutReason::Weights:
    message = "the weights that " + state +
              " returns are relative to the scores so far" + depends;
    hint = ("an accumulator that the update rescales may add dot(p, ...) or "
            "sum(p * ..., " +
            bareAxis + "); in a second loop " + bareState +
            ".weight(s) is the normalised weight")
               .str();
    break;
  case CutReason::Running:
    message = "inside the loop " + name + " is a softmax of the scores so far" +
              depends;
    hint = ("use " + name + " after the loop over " + axis);
    break;
  case CutReason::NotRescaled:
    message = name + " is not rescaled by " + state +
              ", whose weights are added to it";
    hint = ("write " + bareState + ".update(s, " + bareName + ")").str();
    break;
  case CutReason::Unweighted:
    message = name + " is rescaled by " + state +
              ", but what is added to it is no product of its weights";
    hint = ("carry it in a variable that " + state + " does not rescale");
    break;
  case CutReason::ScoresPerStep:
    message = name + " is updated once per block of " + axis +
              ", with scores that do not have its axis" + depends;
    hint = "the scores of a loop over " + axis + " need its axis";
    break;
  case CutReason::Include:
    message = name + " includes a score once per block of " + axis + depends;
    hint = ("include it after the loop over " + axis);
    break;
  case CutReason::BlockSoftmax:
    message = "this softmax runs over one block of " + axis + depends;
    hint = range.loop ? "declare it before the loop"
                      : "iterations of a kernel are independent: run it along "
                        "the range of a loop";
    break;
  }
  diags.error(placeOf(diags, where), message, hint);
  if (llvm::SMLoc use = placeOf(diags, user);
      where != user && isa<StoreOp>(user) && use.isValid())
    diags.note(use, "it is stored here");
}

} // namespace selvedge::frontend
