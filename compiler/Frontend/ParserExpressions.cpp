// Parser: expressions.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Parser.h"

using namespace llvm;

namespace selvedge::frontend {
namespace {

/// Deepest nesting of a construct; keeps every recursion over the tree small.
constexpr unsigned kMaxDepth = 200;

/// Binary operators by level, loosest first; comparison does not associate.
constexpr unsigned kComparison = 2, kAdditive = 3, kLevels = 5;
ArrayRef<StringRef> operatorsOf(unsigned level) {
  static constexpr StringRef orOps[] = {"||"}, andOps[] = {"&&"},
                             compareOps[] = {"<=", ">=", "==", "!=", "<", ">"},
                             addOps[] = {"+", "-"}, mulOps[] = {"*", "/", "%"};
  static const ArrayRef<StringRef> levels[kLevels] = {orOps, andOps, compareOps,
                                                      addOps, mulOps};
  return levels[level];
}

} // namespace

bool Parser::tooDeep() {
  if (depth <= kMaxDepth)
    return false;
  diags.error(peek().loc(),
              "expects at most " + Twine(kMaxDepth) + " levels of nesting");
  next = tokens.size() - 1; // nothing sensible can follow
  return true;
}

ExprPtr Parser::make(Expr::Kind kind, SMLoc loc, StringRef name,
                     std::vector<ExprPtr> args) {
  auto expr = std::make_unique<Expr>();
  expr->kind = kind;
  expr->loc = loc;
  expr->name = name;
  for (const ExprPtr &arg : args)
    expr->height = std::max(expr->height, arg->height + 1);
  expr->args = std::move(args);
  if (expr->height <= kMaxDepth)
    return expr;
  diags.error(loc,
              "expects at most " + Twine(kMaxDepth) + " operations in a chain",
              "name a part of it with 'let'");
  return nullptr;
}

ExprPtr Parser::parseExpr() {
  Nest nest(*this);
  if (tooDeep())
    return nullptr;
  ExprPtr expr = parseLogical();
  while (expr && (at("where") || at("else"))) {
    Token word = take();
    ExprPtr rhs = parseLogical();
    if (!rhs)
      return nullptr;
    expr = node(word.is("where") ? Expr::Kind::Where : Expr::Kind::Else,
                word.loc(), word.text, std::move(expr), std::move(rhs));
  }
  return expr;
}

ExprPtr Parser::parseLogical() { return parseBinary(0); }

ExprPtr Parser::parseAdditive() { return parseBinary(kAdditive); }

ExprPtr Parser::parseBinary(unsigned level) {
  if (level == kLevels)
    return parseCast();
  ExprPtr lhs = parseBinary(level + 1);
  bool again = false;
  while (lhs && peek().kind == Token::Kind::Punct &&
         is_contained(operatorsOf(level), peek().text)) {
    if (again && level == kComparison) {
      errorHere("expects a single comparison", "combine comparisons with '&&'");
      return nullptr;
    }
    again = true;
    Token op = take();
    ExprPtr rhs = parseBinary(level + 1);
    if (!rhs)
      return nullptr;
    lhs = node(Expr::Kind::Binary, op.loc(), op.text, std::move(lhs),
               std::move(rhs));
  }
  return lhs;
}

ExprPtr Parser::parseCast() {
  ExprPtr expr = parseUnary();
  while (expr && at("as")) {
    SMLoc loc = take().loc(), typeLoc;
    StringRef type;
    if (!expectName("a type after 'as'", type, typeLoc))
      return nullptr;
    expr = node(Expr::Kind::Cast, loc, type, std::move(expr));
  }
  return expr;
}

ExprPtr Parser::parseUnary() {
  if (!at("-") && !at("!"))
    return parsePostfix();
  Nest nest(*this);
  if (tooDeep())
    return nullptr;
  Token op = take();
  ExprPtr arg = parseUnary();
  return arg ? node(Expr::Kind::Unary, op.loc(), op.text, std::move(arg))
             : nullptr;
}

bool Parser::parseList(StringRef close, std::vector<ExprPtr> &list,
                       bool allowFull) {
  while (!at(close)) {
    if (allowFull && at(":"))
      list.push_back(make(Expr::Kind::Full, take().loc(), ":"));
    else
      list.push_back(parseExpr());
    if (!list.back())
      return false;
    bool isExpr = list.back()->kind != Expr::Kind::Full;
    if (allowFull && isExpr && at("+:")) {
      SMLoc loc = take().loc();
      ExprPtr length = parseAdditive();
      if (!length)
        return false;
      list.back() = node(Expr::Kind::Slice, loc, "+:", std::move(list.back()),
                         std::move(length));
    }
    if (at("..")) {
      diags.unsupported(peek().loc(), "a range inside an index",
                        "bind it with 'for' or in the kernel's ranges");
      return false;
    }
    if (!accept(","))
      break;
  }
  return expect(close, "after the list");
}

ExprPtr Parser::parsePostfix() {
  ExprPtr expr = parsePrimary();
  while (expr) {
    SMLoc loc = peek().loc();
    std::vector<ExprPtr> args;
    if (accept("[")) {
      args.push_back(std::move(expr));
      if (!parseList("]", args, /*allowFull=*/true))
        return nullptr;
      expr = make(Expr::Kind::Index, loc, "", std::move(args));
    } else if (accept(".")) {
      StringRef name;
      if (!expectName("the name of a method", name, loc) ||
          !expect("(", "after the method"))
        return nullptr;
      args.push_back(std::move(expr));
      if (!parseList(")", args, /*allowFull=*/false))
        return nullptr;
      expr = make(Expr::Kind::Method, loc, name, std::move(args));
    } else if (at("(")) {
      diags.error(loc, "expects a function before '('",
                  "only a name can be called");
      return nullptr;
    } else {
      return expr;
    }
  }
  return nullptr;
}

ExprPtr Parser::parseNumber() {
  const Token &token = take();
  bool isInt = token.kind == Token::Kind::Int;
  ExprPtr expr = make(isInt ? Expr::Kind::Int : Expr::Kind::Float, token.loc(),
                      token.text);
  if (isInt ? token.text.getAsInteger(10, expr->intValue)
            : token.text.getAsDouble(expr->floatValue)) {
    diags.error(token.loc(), isInt ? "expects an integer of at most 63 bits"
                                   : "expects a number in the range of f64");
    return nullptr;
  }
  return expr;
}

ExprPtr Parser::parsePrimary() {
  const Token &token = peek();
  SMLoc loc = token.loc();
  if (token.kind == Token::Kind::Int || token.kind == Token::Kind::Float)
    return parseNumber();
  if (accept("(")) {
    ExprPtr first = parseExpr();
    if (!first)
      return nullptr;
    if (accept(",")) {
      ExprPtr second = parseExpr();
      if (!second || !expect(")", "after the pair"))
        return nullptr;
      return node(Expr::Kind::Pair, loc, "", std::move(first),
                  std::move(second));
    }
    return expect(")", "after the expression") ? std::move(first) : nullptr;
  }
  if (at("true") || at("false")) {
    ExprPtr expr = make(Expr::Kind::Bool, loc, token.text);
    expr->intValue = take().is("true");
    return expr;
  }
  if (accept("inf")) {
    ExprPtr expr = make(Expr::Kind::Float, loc, "inf");
    expr->floatValue = std::numeric_limits<double>::infinity();
    return expr;
  }
  if (at("if"))
    return parseIfExpr();
  if (at("zeros"))
    return parseZeros();
  StringRef name;
  if (at("super"))
    name = take().text;
  else if (!expectName("an expression", name, loc))
    return nullptr;
  if (!accept("("))
    return make(Expr::Kind::Name, loc, name);
  std::vector<ExprPtr> args;
  if (!parseList(")", args, /*allowFull=*/false))
    return nullptr;
  if (name == "vjp")
    return parseVjp(loc, args);
  return make(Expr::Kind::Call, loc, name, std::move(args));
}

/// What follows `vjp(f)`.
ExprPtr Parser::parseVjp(SMLoc loc, const std::vector<ExprPtr> &of) {
  if (of.size() != 1 || of.front()->kind != Expr::Kind::Name) {
    diags.error(loc, "expects the name of a function in 'vjp(...)'",
                "'let (t, pull) = vjp(f)(x);' is f(x) and its derivative");
    return nullptr;
  }
  std::vector<ExprPtr> args;
  if (!expect("(", "before the function's arguments") ||
      !parseList(")", args, /*allowFull=*/false))
    return nullptr;
  return make(Expr::Kind::Vjp, loc, of.front()->name, std::move(args));
}

ExprPtr Parser::parseIfExpr() {
  SMLoc loc = take().loc();
  ExprPtr condition = parseLogical();
  if (!condition || !expect("{", "after the condition"))
    return nullptr;
  ExprPtr yes = parseExpr();
  if (!yes || !expect("}", "after the value") ||
      !expect("else", "with the other value") ||
      !expect("{", "before the other value"))
    return nullptr;
  ExprPtr no = parseExpr();
  if (!no || !expect("}", "after the value"))
    return nullptr;
  return node(Expr::Kind::If, loc, "if", std::move(condition), std::move(yes),
              std::move(no));
}

ExprPtr Parser::parseZeros() {
  SMLoc loc = take().loc(), typeLoc;
  StringRef type;
  std::vector<ExprPtr> axes;
  if (!expectName("a type after 'zeros'", type, typeLoc) ||
      !expect("[", "before the axes") ||
      !parseList("]", axes, /*allowFull=*/false))
    return nullptr;
  return make(Expr::Kind::Zeros, loc, type, std::move(axes));
}

} // namespace selvedge::frontend
