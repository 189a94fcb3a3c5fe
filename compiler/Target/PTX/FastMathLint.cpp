// Refuses LLVM IR that may assume finite values.
// SPDX-License-Identifier: MIT
#include "compiler/Target/PTX/Translate.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/raw_ostream.h"

namespace selvedge::ptx {

using namespace llvm;

namespace {

/// Names of the forbidden flags of an operation, each with a leading space.
std::string forbiddenFlags(const Instruction &instruction) {
  std::string flags;
  if (!isa<FPMathOperator>(instruction))
    return flags;
  FastMathFlags f = instruction.getFastMathFlags();
  if (f.noNaNs())
    flags += " nnan";
  if (f.noInfs())
    flags += " ninf";
  if (f.noSignedZeros())
    flags += " nsz";
  if (f.allowReassoc())
    flags += " reassoc";
  return flags;
}

bool hasNoFPClass(const AttributeList &attributes) {
  return attributes.hasAttrSomewhere(Attribute::NoFPClass);
}

class Lint {
public:
  void checkFunction(const Function &function) {
    for (const char *name : {"no-nans-fp-math", "no-infs-fp-math",
                             "no-signed-zeros-fp-math", "unsafe-fp-math"})
      if (function.getFnAttribute(name).getValueAsBool())
        report(function) << "function attribute " << name << "\n";
    if (hasNoFPClass(function.getAttributes()))
      report(function) << "nofpclass in the signature\n";
    for (const Instruction &instruction : instructions(function))
      checkInstruction(function, instruction);
  }

  Error finish() {
    if (numOffenders == 0)
      return Error::success();
    if (numOffenders > kMaxShown)
      os << "and " << numOffenders - kMaxShown << " more\n";
    return createStringError("LLVM IR may assume finite values:\n" + text);
  }

private:
  void checkInstruction(const Function &function,
                        const Instruction &instruction) {
    if (std::string flags = forbiddenFlags(instruction); !flags.empty())
      report(function) << "flags" << flags << " in" << instruction << "\n";
    if (auto *call = dyn_cast<CallBase>(&instruction);
        call && hasNoFPClass(call->getAttributes()))
      report(function) << "nofpclass in" << instruction << "\n";
  }

  raw_ostream &report(const Function &function) {
    if (++numOffenders > kMaxShown)
      return nulls();
    return os << "  @" << function.getName() << ": ";
  }

  static constexpr unsigned kMaxShown = 20;
  std::string text;
  raw_string_ostream os{text};
  unsigned numOffenders = 0;
};

} // namespace

Error lintFastMath(const Module &module) {
  Lint lint;
  for (const Function &function : module)
    lint.checkFunction(function);
  return lint.finish();
}

} // namespace selvedge::ptx
