// Tokens to a syntax tree, by recursive descent with recovery.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_FRONTEND_PARSER_H
#define SELVEDGE_COMPILER_FRONTEND_PARSER_H

#include "compiler/Frontend/Ast.h"
#include "compiler/Frontend/Lexer.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace selvedge::frontend {

/// Parses the text of `diags`, without what it imports. What could be parsed is
/// returned also when there are errors.
FileAst parseFile(Diagnostics &diags);
/// The same of another text that `diags` holds.
FileAst parseText(Diagnostics &diags, llvm::StringRef text);

/// The parser's state; use parseFile().
class Parser {
public:
  Parser(Diagnostics &diags, llvm::StringRef text);
  FileAst parse();

private:
  // Tokens.
  const Token &peek(unsigned ahead = 0) const;
  const Token &take();
  bool at(llvm::StringRef what) const { return peek().is(what); }
  bool accept(llvm::StringRef what);
  bool expect(llvm::StringRef what, llvm::StringRef context);
  bool expectName(llvm::StringRef what, llvm::StringRef &name,
                  llvm::SMLoc &loc);
  void errorHere(const llvm::Twine &message, const llvm::Twine &hint = {});
  std::string describe(const Token &token) const;
  /// Skips to the next of `stops` outside brackets, or to the closing bracket
  /// of the enclosing construct; does not consume it.
  void skipTo(llvm::ArrayRef<llvm::StringRef> stops);
  /// As skipTo, past closing brackets of the kinds in `passed`.
  void skipOver(llvm::StringRef passed, llvm::ArrayRef<llvm::StringRef> stops);
  void skipBlock();

  // Parser.cpp: files and signatures.
  bool parseImport(FileAst &file);
  bool parseOp(FileAst &file);
  bool parseParams(OpDecl &op);
  bool parseArgs(std::vector<ArgDecl> &args, bool outputs);
  bool parseArg(ArgDecl &arg);
  bool parseTemp(OpDecl &op);
  bool parseLaunch(OpDecl &op);
  bool parseDims(ArgDecl &arg);
  bool parseOutputAttributes(ArgDecl &arg);
  bool parseExtends(OpDecl &op);
  bool parseRequires(OpDecl &op);
  bool parseOpBody(OpDecl &op);
  bool parseFn(std::vector<FnDecl> &fns, bool isHook);
  bool parseView(OpDecl &op);
  bool parseFnParams(FnDecl &fn, llvm::StringRef close);
  bool parseKernel(OpDecl &op);
  bool parseSchedule(OpDecl &op);
  bool parsePin(ScheduleDecl &schedule);
  bool misplacedItem();

  // ParserStatements.cpp
  bool parseRange(RangeDecl &range);
  bool parseBlock(std::vector<Stmt> &body);
  bool parseStmt(std::vector<Stmt> &body);
  bool parseBinding(Stmt &stmt);
  bool parseFor(Stmt &stmt);
  bool parseIf(Stmt &stmt);

  // ParserExpressions.cpp
  ExprPtr parseExpr();
  ExprPtr parseLogical();
  ExprPtr parseBinary(unsigned level);
  ExprPtr parseAdditive();
  ExprPtr parseCast();
  ExprPtr parseUnary();
  ExprPtr parsePostfix();
  ExprPtr parsePrimary();
  ExprPtr parseVjp(llvm::SMLoc loc, const std::vector<ExprPtr> &of);
  ExprPtr parseNumber();
  ExprPtr parseIfExpr();
  ExprPtr parseZeros();
  bool parseList(llvm::StringRef close, std::vector<ExprPtr> &list,
                 bool allowFull);
  ExprPtr make(Expr::Kind kind, llvm::SMLoc loc, llvm::StringRef name,
               std::vector<ExprPtr> args = {});
  template <typename... Args>
  ExprPtr node(Expr::Kind kind, llvm::SMLoc loc, llvm::StringRef name,
               Args... args) {
    std::vector<ExprPtr> list;
    (list.push_back(std::move(args)), ...);
    return make(kind, loc, name, std::move(list));
  }

  /// Counts nesting for the lifetime of a parse function.
  struct Nest {
    explicit Nest(Parser &p) : p(p) { ++p.depth; }
    ~Nest() { --p.depth; }
    Parser &p;
  };
  bool tooDeep();

  Diagnostics &diags;
  std::vector<Token> tokens;
  size_t next = 0;
  unsigned depth = 0;
};

} // namespace selvedge::frontend

#endif // SELVEDGE_COMPILER_FRONTEND_PARSER_H
