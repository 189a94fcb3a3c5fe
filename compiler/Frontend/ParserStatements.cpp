// Parser: ranges and statements.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Parser.h"

using namespace llvm;

namespace selvedge::frontend {

bool Parser::parseRange(RangeDecl &range) {
  range.loc = peek().loc();
  SMLoc loc;
  if (peek().kind == Token::Kind::Name && peek(1).is("=")) {
    if (!expectName("the name of the pairs", range.fused, loc))
      return false;
    take();
    if (!at("(")) {
      errorHere("expects '(' before a pair of indices",
                "one axis of pairs is 'r = (i, u) in (M, R) by BM'");
      return false;
    }
  }
  bool isPair = accept("(");
  if (!expectName("the name of an index", range.names.emplace_back(), loc))
    return false;
  if (isPair &&
      (!expect(",", "in a pair of indices") ||
       !expectName("the name of an index", range.names.emplace_back(), loc) ||
       !expect(")", "after the pair")))
    return false;
  if (!expect("in", "after the index"))
    return false;
  bool isSplit = !isPair && at("split") && peek(1).is("(");
  if (isSplit) {
    take();
    take();
  }
  if (isPair) {
    if (!expect("(", "before the pair of extents") ||
        !(range.hi.emplace_back() = parseAdditive()) ||
        !expect(",", "in the pair of extents") ||
        !(range.hi.emplace_back() = parseAdditive()) ||
        !expect(")", "after the pair of extents"))
      return false;
  } else {
    // `(start +: length)` cannot be told from a bracketed bound before its end.
    size_t begin = next;
    if (accept("(")) {
      skipTo({"+:"});
      range.isLength = at("+:");
      next = begin;
    }
    if (range.isLength) {
      take();
      if (!(range.lo = parseAdditive()) ||
          !expect("+:", "after the start of the range") ||
          !(range.hi.emplace_back() = parseAdditive()) ||
          !expect(")", "after the length of the range"))
        return false;
    } else if (!(range.hi.emplace_back() = parseAdditive())) {
      return false;
    } else if (accept("..")) {
      range.lo = std::move(range.hi.back());
      if (!(range.hi.back() = parseAdditive()))
        return false;
    }
  }
  if (isSplit &&
      (!expect(",", "after the range to split") ||
       !(range.part = parseAdditive()) ||
       !expect(",", "after the number of the part") ||
       !(range.parts = parseAdditive()) || !expect(")", "after the parts")))
    return false;
  if (accept("by") &&
      !expectName("the name of a block size", range.block, range.blockLoc))
    return false;
  return !accept("when") || (range.when = parseLogical());
}

bool Parser::parseBlock(std::vector<Stmt> &body) {
  Nest nest(*this);
  if (tooDeep() || !expect("{", "before a block"))
    return false;
  while (!at("}") && peek().kind != Token::Kind::End && !diags.full()) {
    if (at("kernel") || at("op")) {
      errorHere("expects '}' after the block");
      return false;
    }
    size_t before = next;
    if (parseStmt(body))
      continue;
    skipOver(")]", {";", "let", "var", "for", "if", "kernel", "op"});
    accept(";");
    if (next == before)
      take();
  }
  return expect("}", "after the block");
}

bool Parser::parseStmt(std::vector<Stmt> &body) {
  Stmt stmt;
  stmt.loc = peek().loc();
  if (at("temp") || at("view")) {
    errorHere("expects a statement", "it belongs to an op, beside kernels");
    return false;
  }
  if (misplacedItem())
    return true;
  if (at("let") || at("var")) {
    if (!parseBinding(stmt))
      return false;
  } else if (at("for")) {
    if (!parseFor(stmt))
      return false;
  } else if (at("if")) {
    if (!parseIf(stmt))
      return false;
  } else {
    if (!(stmt.value = parseExpr()))
      return false;
    stmt.kind = Stmt::Kind::Eval;
    if (at("=") || at("+=")) {
      stmt.kind = at("=") ? Stmt::Kind::Assign : Stmt::Kind::AddAssign;
      if (stmt.value->kind != Expr::Kind::Name &&
          stmt.value->kind != Expr::Kind::Index) {
        diags.error(stmt.value->loc,
                    "expects a variable or an element of an output to the "
                    "left of '" +
                        peek().text + "'");
        return false;
      }
      stmt.target = std::move(stmt.value);
      stmt.loc = take().loc();
      if (!(stmt.value = parseExpr()))
        return false;
    }
    if (!expect(";", "after the statement"))
      return false;
  }
  body.push_back(std::move(stmt));
  return true;
}

bool Parser::parseBinding(Stmt &stmt) {
  stmt.kind = take().is("let") ? Stmt::Kind::Let : Stmt::Kind::Var;
  bool isPair = stmt.kind == Stmt::Kind::Let && accept("(");
  SMLoc loc;
  if (!expectName("a name", stmt.name, stmt.loc) ||
      (isPair && (!expect(",", "in a pair of names") ||
                  !expectName("a name", stmt.second, loc) ||
                  !expect(")", "after the pair of names"))) ||
      !expect("=", "after the name") || !(stmt.value = parseExpr()))
    return false;
  return expect(";", "after the statement");
}

bool Parser::parseFor(Stmt &stmt) {
  take();
  stmt.kind = Stmt::Kind::For;
  return parseRange(stmt.range) && parseBlock(stmt.body);
}

bool Parser::parseIf(Stmt &stmt) {
  Nest nest(*this); // chains of `else if`
  take();
  stmt.kind = Stmt::Kind::If;
  if (tooDeep() || !(stmt.value = parseLogical()) || !parseBlock(stmt.body))
    return false;
  if (!accept("else"))
    return true;
  if (!at("if"))
    return parseBlock(stmt.elseBody);
  Stmt &chained = stmt.elseBody.emplace_back();
  chained.loc = peek().loc();
  return parseIf(chained);
}

} // namespace selvedge::frontend
