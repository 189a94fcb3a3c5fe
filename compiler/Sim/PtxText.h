// The text of an inline assembly as statements.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SIM_PTXTEXT_H
#define SELVEDGE_COMPILER_SIM_PTXTEXT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace selvedge::sim {

/// An operand: a register that the text declares, one of the assembly's
/// operands, a number, several in braces, or what stands in brackets.
struct PtxOperand {
  enum class Kind { Name, Argument, Number, List, Address };

  Kind kind = Kind::Number;
  std::string name = {};
  int64_t number = 0;
  std::vector<PtxOperand> parts = {};
};

/// `LABEL:`, `.reg .TYPE NAMES`, or `@!GUARD OPCODE OPERANDS`.
struct PtxStatement {
  std::string label = {};
  std::string registerType = {};
  std::optional<PtxOperand> guard = std::nullopt;
  bool isNegated = false;
  std::string opcode = {};
  std::vector<PtxOperand> operands = {};
};

/// Splits a text; fails on what no statement looks like.
llvm::Expected<std::vector<PtxStatement>> parsePtx(llvm::StringRef text);

} // namespace selvedge::sim

#endif // SELVEDGE_COMPILER_SIM_PTXTEXT_H
