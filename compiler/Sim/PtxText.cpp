// The text of an inline assembly as statements.
// SPDX-License-Identifier: MIT
#include "compiler/Sim/PtxText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace selvedge::sim {

namespace {

class Parser {
public:
  explicit Parser(llvm::StringRef text) : rest(text) {}

  llvm::Expected<std::vector<PtxStatement>> run() {
    std::vector<PtxStatement> statements;
    for (skip(); !rest.empty(); skip()) {
      // A scope hides nothing here: names of one text differ.
      if (take("{") || take("}") || take(";"))
        continue;
      PtxStatement statement;
      if (!parse(statement))
        return llvm::createStringError("'" + std::string(rest.take_front(40)) +
                                       "' is no PTX that is known");
      statements.push_back(std::move(statement));
    }
    return statements;
  }

private:
  void skip() { rest = rest.ltrim(); }
  bool take(llvm::StringRef token) {
    skip();
    return rest.consume_front(token);
  }

  static bool isWord(char c) {
    return llvm::isAlnum(c) || c == '_' || c == '.' || c == ':' || c == '%';
  }
  /// A name; colons belong to opcodes where they are double.
  std::string word() {
    skip();
    size_t end = 0;
    while (end < rest.size() &&
           (isWord(rest[end]) || rest.substr(end).starts_with("${:uid}"))) {
      if (rest[end] == '$') {
        end += llvm::StringRef("${:uid}").size();
        continue;
      }
      if (rest[end] == ':') {
        if (!rest.substr(end).starts_with("::"))
          break;
        ++end;
      }
      ++end;
    }
    std::string result = rest.take_front(end).str();
    rest = rest.drop_front(end);
    return result;
  }

  bool parseOperands(std::vector<PtxOperand> &operands, llvm::StringRef end) {
    while (!take(end)) {
      if (!operands.empty() && !take(","))
        return false;
      if (!parseOperand(operands.emplace_back()))
        return false;
    }
    return true;
  }

  bool parseOperand(PtxOperand &operand) {
    skip();
    if (take("{")) {
      operand.kind = PtxOperand::Kind::List;
      return parseOperands(operand.parts, "}");
    }
    if (take("[")) {
      operand.kind = PtxOperand::Kind::Address;
      return parseOperands(operand.parts, "]");
    }
    if (take("$")) {
      operand.kind = PtxOperand::Kind::Argument;
      return !rest.consumeInteger(10, operand.number);
    }
    // A float is written by its bits.
    if (rest.starts_with("0f")) {
      uint64_t bits = 0;
      rest = rest.drop_front(2);
      if (rest.take_front(8).getAsInteger(16, bits))
        return false;
      rest = rest.drop_front(8);
      operand.number = static_cast<int64_t>(bits);
      return true;
    }
    if (!rest.empty() && (llvm::isDigit(rest[0]) || rest[0] == '-'))
      return !rest.consumeInteger(0, operand.number);
    operand.kind = PtxOperand::Kind::Name;
    operand.name = word();
    return !operand.name.empty();
  }

  bool parse(PtxStatement &statement) {
    if (take(".reg")) {
      statement.registerType = word();
      return parseOperands(statement.operands, ";");
    }
    if (take("@")) {
      statement.isNegated = take("!");
      if (!parseOperand(statement.guard.emplace()))
        return false;
    }
    std::string name = word();
    if (name.empty())
      return false;
    if (take(":")) {
      statement.label = name;
      return true;
    }
    statement.opcode = name;
    return parseOperands(statement.operands, ";");
  }

  llvm::StringRef rest;
};

} // namespace

llvm::Expected<std::vector<PtxStatement>> parsePtx(llvm::StringRef text) {
  // The last statement may lack its semicolon.
  text = text.trim();
  if (text.starts_with("{"))
    text = text.drop_back().rtrim();
  std::string all = (text + ";").str();
  return Parser(all).run();
}

} // namespace selvedge::sim
