// Parser: files, signatures and the items of an op.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Parser.h"

using namespace llvm;

namespace selvedge::frontend {

FileAst parseFile(Diagnostics &diags) { return parseText(diags, diags.text()); }

FileAst parseText(Diagnostics &diags, StringRef text) {
  return Parser(diags, text).parse();
}

Parser::Parser(Diagnostics &diags, StringRef text)
    : diags(diags), tokens(lex(diags, text)) {}

const Token &Parser::peek(unsigned ahead) const {
  return tokens[std::min(next + ahead, tokens.size() - 1)];
}

const Token &Parser::take() {
  const Token &token = peek();
  next = std::min(next + 1, tokens.size() - 1);
  return token;
}

bool Parser::accept(StringRef what) {
  if (!at(what))
    return false;
  take();
  return true;
}

std::string Parser::describe(const Token &token) const {
  if (token.kind == Token::Kind::End)
    return "end of file";
  return ("'" + token.text.take_front(40) + "'").str();
}

void Parser::errorHere(const Twine &message, const Twine &hint) {
  diags.error(peek().loc(), message + ", but got " + describe(peek()), hint);
}

bool Parser::expect(StringRef what, StringRef context) {
  if (accept(what))
    return true;
  errorHere("expects '" + what + "' " + context);
  return false;
}

bool Parser::expectName(StringRef what, StringRef &name, SMLoc &loc) {
  loc = peek().loc();
  if (peek().kind != Token::Kind::Name) {
    errorHere("expects " + what);
    return false;
  }
  if (isReserved(peek().text)) {
    errorHere("expects " + what,
              "'" + peek().text + "' is a word of the language");
    return false;
  }
  name = take().text;
  return true;
}

void Parser::skipTo(ArrayRef<StringRef> stops) {
  unsigned open = 0;
  for (; peek().kind != Token::Kind::End; take()) {
    const Token &t = peek();
    bool isOpen = t.is("(") || t.is("[") || t.is("{");
    bool isClose = t.is(")") || t.is("]") || t.is("}");
    if (open == 0 && (isClose || is_contained(stops, t.text)))
      return;
    if (isOpen)
      ++open;
    if (isClose)
      --open;
  }
}

void Parser::skipOver(StringRef passed, ArrayRef<StringRef> stops) {
  skipTo(stops);
  while (peek().text.size() == 1 && passed.contains(peek().text)) {
    take();
    skipTo(stops);
  }
}

void Parser::skipBlock() {
  skipTo({"{", ";"});
  if (accept(";") || !accept("{"))
    return;
  skipTo({});
  accept("}");
}

FileAst Parser::parse() {
  FileAst file;
  while (peek().kind != Token::Kind::End && !diags.full()) {
    bool ok = false;
    if (at("op")) {
      ok = parseOp(file);
    } else if (accept("fn")) {
      ok = parseFn(file.fns, /*isHook=*/false);
    } else if (at("import")) {
      ok = parseImport(file);
    } else if (!misplacedItem()) {
      errorHere("expects 'op', 'fn' or 'import'");
    } else {
      ok = true;
    }
    if (ok)
      continue;
    // Resume at the next item; always make progress.
    auto atItem = [&] {
      return at("op") || at("fn") ||
             (at("import") && peek(1).kind == Token::Kind::String);
    };
    if (!atItem())
      take();
    while (peek().kind != Token::Kind::End && !atItem())
      take();
  }
  return file;
}

bool Parser::parseImport(FileAst &file) {
  take();
  if (peek().kind != Token::Kind::String) {
    errorHere("expects the name of a file in quotes",
              "an example is import \"flash_fwd.tile\";");
    return false;
  }
  ImportDecl import;
  import.loc = peek().loc();
  import.path = take().text.drop_front().drop_back();
  if (import.path.empty()) {
    diags.error(import.loc, "expects the name of a file, but got '\"\"'");
    return false;
  }
  if (!expect(";", "after the import"))
    return false;
  file.imports.push_back(import);
  return true;
}

/// What belongs into an op, or before its body.
bool Parser::misplacedItem() {
  for (auto [word, place] :
       {std::pair("schedule", "write it into the op, or into one that extends "
                              "it"),
        std::pair("launch", "write it behind the outputs of the op")}) {
    if (!at(word))
      continue;
    diags.error(peek().loc(), "'" + Twine(word) + "' does not belong here",
                place);
    skipBlock();
    return true;
  }
  return false;
}

bool Parser::parseOp(FileAst &file) {
  const char *begin = take().text.data();
  OpDecl op;
  if (!expectName("the name of the op", op.name, op.loc))
    return false;
  if (accept("<") && !parseParams(op))
    return false;
  if (at("(")) {
    take();
    if (!parseArgs(op.inputs, /*outputs=*/false))
      return false;
  }
  if (accept("extends") && !parseExtends(op))
    return false;
  if (accept("requires") && !parseRequires(op))
    return false;
  if (accept("->")) {
    if (!expect("(", "before the outputs") ||
        !parseArgs(op.outputs, /*outputs=*/true))
      return false;
  }
  if (accept("backward") &&
      !expectName("the name of an op", op.backward, op.backwardLoc))
    return false;
  while (accept("launch"))
    if (!parseLaunch(op))
      return false;
  op.signatureText = StringRef(begin, peek().loc().getPointer() - begin);
  if (!parseOpBody(op))
    return false;
  file.ops.push_back(std::move(op));
  return true;
}

bool Parser::parseParams(OpDecl &op) {
  do {
    ParamDecl param;
    if (!expectName("the name of a parameter", param.name, param.loc))
      return false;
    if (accept(":")) {
      if (accept("{")) {
        param.kind = "type";
        do {
          SMLoc loc;
          if (!expectName("a type", param.types.emplace_back(), loc))
            return false;
        } while (accept(","));
        if (!expect("}", "after the types"))
          return false;
      } else {
        SMLoc loc;
        if (!expectName("the kind of the parameter", param.kind, loc))
          return false;
        if (param.kind == "scorefn") {
          diags.unsupported(loc, "a function as parameter",
                            "bind functions with 'extends'");
          return false;
        }
        static constexpr StringRef kinds[] = {"int", "bool", "float", "type"};
        if (!is_contained(kinds, param.kind)) {
          diags.error(loc,
                      "expects 'int', 'bool', 'float', 'type' or a set of "
                      "types, but got '" +
                          param.kind + "'",
                      didYouMean(param.kind, kinds));
          return false;
        }
      }
    }
    if (accept("=") && !(param.defaultValue = parseAdditive()))
      return false;
    op.params.push_back(std::move(param));
  } while (accept(","));
  return expect(">", "after the parameters");
}

/// A launch takes 32 KB of parameters at most; each tensor takes 16 bytes of
/// them and more.
static constexpr size_t kMaxArgs = 1024;

bool Parser::parseArgs(std::vector<ArgDecl> &args, bool outputs) {
  while (!at(")")) {
    if (args.size() == kMaxArgs) {
      diags.error(peek().loc(), "an op has at most " + Twine(kMaxArgs) +
                                    (outputs ? " outputs" : " inputs"));
      return false;
    }
    ArgDecl arg;
    arg.isOutput = outputs;
    if (parseArg(arg))
      args.push_back(std::move(arg));
    else
      skipOver("]", {",", "op"});
    if (!accept(","))
      break;
  }
  return expect(")", outputs ? "after the outputs" : "after the inputs");
}

bool Parser::parseArg(ArgDecl &arg) {
  if (at("diff") && arg.isStored()) {
    diags.error(peek().loc(), "expects 'diff' among the inputs");
    return false;
  }
  arg.isDiff = accept("diff");
  if (at("inout") && (arg.isOutput || arg.isTemp || arg.isDiff)) {
    diags.error(peek().loc(), arg.isDiff ? "an inout cannot be 'diff'"
                                         : "expects 'inout' among the inputs");
    return false;
  }
  arg.isInOut = accept("inout");
  if (!expectName("the name of an argument", arg.name, arg.loc) ||
      !expect(":", "and a type after the name") ||
      !expectName("a type", arg.elementType, arg.typeLoc))
    return false;
  arg.isTensor = accept("[");
  if (arg.isTensor && !parseDims(arg))
    return false;
  arg.isOptional = accept("?");
  if (accept("valid") && !(arg.valid = parseLogical()))
    return false;
  if (at("if")) {
    diags.unsupported(peek().loc(), "a type chosen by a condition");
    return false;
  }
  if (accept("=") && !(arg.defaultValue = parseExpr()))
    return false;
  return parseOutputAttributes(arg);
}

bool Parser::parseDims(ArgDecl &arg) {
  while (!at("]")) {
    DimDecl dim;
    dim.loc = peek().loc();
    if (at("~") && arg.isStored()) {
      diags.error(peek().loc(),
                  "a dimension that is broadcast belongs to inputs, but '" +
                      arg.name + "' is " +
                      (arg.isTemp    ? "a temp"
                       : arg.isInOut ? "an inout"
                                     : "an output"),
                  "one element cannot hold what is stored to many");
      return false;
    }
    dim.isBroadcast = accept("~");
    if (peek().kind == Token::Kind::Name && peek(1).is("in")) {
      if (!expectName("the name of an index", dim.binder, dim.loc))
        return false;
      take();
    }
    if (!(dim.extent = parseAdditive()))
      return false;
    arg.dims.push_back(std::move(dim));
    if (!accept(","))
      break;
  }
  return expect("]", "after the dimensions");
}

bool Parser::parseOutputAttributes(ArgDecl &arg) {
  while (at("out_init") || at("overflow") || at("deterministic")) {
    Token word = take();
    // Of an input that is `diff` it is said of its gradient.
    if (!arg.isStored() && !(arg.isDiff && word.is("deterministic"))) {
      diags.error(word.loc(), "'" + word.text + "' belongs to outputs, but '" +
                                  arg.name + "' is an input");
      return false;
    }
    arg.isDeterministic |= word.is("deterministic");
    if (word.is("deterministic"))
      continue;
    if (!expect("(", "after the word"))
      return false;
    if (word.is("overflow")) {
      if (!at("sat") && !at("inf")) {
        errorHere("expects 'sat' or 'inf'");
        return false;
      }
      arg.overflow = take().text;
    } else if (accept("keep")) {
      arg.initKeep = true;
    } else if (!(arg.init = parseExpr())) {
      return false;
    }
    if (!expect(")", "after the value"))
      return false;
  }
  return true;
}

bool Parser::parseExtends(OpDecl &op) {
  if (!expectName("the name of an op", op.base, op.baseLoc))
    return false;
  if (!accept("<"))
    return true;
  do {
    BindDecl bind;
    if (!expectName("the name of a parameter", bind.name, bind.loc) ||
        !expect("=", "after the parameter") || !(bind.value = parseAdditive()))
      return false;
    op.binds.push_back(std::move(bind));
  } while (accept(","));
  return expect(">", "after the bindings");
}

bool Parser::parseRequires(OpDecl &op) {
  do {
    SMLoc start = peek().loc();
    if (at("segments") && peek(1).is("(")) {
      RequireDecl &require = op.requirements.emplace_back();
      require.isOrdered = true;
      take();
      take();
      if (!expectName("the name of a tensor", require.tensor, require.loc) ||
          !expect(",", "after the tensor") || !(require.hi = parseAdditive()) ||
          !expect(")", "after the end of the segments"))
        return false;
      continue;
    }
    if (at("unique") && peek(1).is("(")) {
      RequireDecl &require = op.requirements.emplace_back();
      take();
      take();
      if (!expectName("the name of a tensor", require.tensor, require.loc) ||
          !expect(")", "after the tensor"))
        return false;
      continue;
    }
    if (peek(1).is("(") || peek(1).is("[") ||
        (peek().kind == Token::Kind::Name && !peek(1).is("in"))) {
      diags.unsupported(start, "this promise",
                        "'tensor in lo..hi', 'segments(tensor, N)' and "
                        "'unique(tensor)' can be required");
      skipTo({",", "->", "{", "launch"});
      continue;
    }
    RequireDecl require;
    if (!expectName("the name of a tensor", require.tensor, require.loc) ||
        !expect("in", "after the tensor") || !(require.lo = parseAdditive()) ||
        !expect("..", "between the bounds") || !(require.hi = parseAdditive()))
      return false;
    op.requirements.push_back(std::move(require));
  } while (accept(","));
  return true;
}

bool Parser::parseLaunch(OpDecl &op) {
  LaunchDecl launch;
  if (!expectName("the name of a size", launch.name, launch.loc) ||
      !expect("in", "after the size") || !(launch.lo = parseAdditive()) ||
      !expect("..", "between the bounds") || !(launch.hi = parseAdditive()))
    return false;
  op.launches.push_back(std::move(launch));
  return true;
}

bool Parser::parseOpBody(OpDecl &op) {
  if (!accept("{")) {
    errorHere("expects '{' before the body of the op",
              at("requires") ? "promises stand before the outputs"
              : at(",") && !op.launches.empty()
                  ? "each further size has a 'launch' of its own"
                  : "");
    return false;
  }
  while (!at("}") && !at("op") && peek().kind != Token::Kind::End &&
         !diags.full()) {
    bool ok = false;
    if (accept("kernel")) {
      ok = parseKernel(op);
    } else if (accept("temp")) {
      ok = parseTemp(op);
    } else if (accept("fn")) {
      ok = parseFn(op.fns, /*isHook=*/false);
    } else if (accept("view")) {
      ok = parseView(op);
    } else if (accept("schedule")) {
      ok = parseSchedule(op);
    } else if (peek().kind == Token::Kind::Name && !isReserved(peek().text) &&
               peek(1).is("(")) {
      ok = parseFn(op.fns, /*isHook=*/true);
    } else if (misplacedItem()) {
      ok = true;
    } else {
      errorHere("expects 'kernel', 'temp', 'view', 'schedule', 'fn' or a "
                "function");
      take();
    }
    if (!ok) {
      skipOver(")]", {";", "kernel", "op"});
      accept(";");
    }
  }
  return expect("}", "after the body of the op");
}

bool Parser::parseSchedule(OpDecl &op) {
  ScheduleDecl schedule;
  schedule.loc = peek().loc();
  if (!at("for") && !at("{") &&
      !expectName("the name of a kernel", schedule.kernel, schedule.loc))
    return false;
  if (accept("for")) {
    do {
      auto &[loc, name] = schedule.targets.emplace_back();
      if (!expectName("the name of a target", name, loc))
        return false;
    } while (accept(","));
  }
  if (!expect("{", "before the choices of the schedule"))
    return false;
  while (!at("}"))
    if (!parsePin(schedule)) {
      skipTo({});
      accept("}");
      return true;
    }
  op.schedules.push_back(std::move(schedule));
  return expect("}", "after the choices");
}

bool Parser::parsePin(ScheduleDecl &schedule) {
  PinDecl pin;
  if (!expectName("the name of a block size, 'warps', 'roles', 'rings' or "
                  "'stages'",
                  pin.name, pin.loc) ||
      !expect("=", "after the name"))
    return false;
  if (!accept("off") && !(pin.value = parseAdditive()))
    return false;
  schedule.pins.push_back(std::move(pin));
  return expect(";", "after the choice");
}

bool Parser::parseTemp(OpDecl &op) {
  ArgDecl arg;
  arg.isTemp = true;
  if (!parseArg(arg) || !expect(";", "after the temp"))
    return false;
  if (!arg.isTensor) {
    diags.error(arg.typeLoc,
                "expects a tensor type for temp '" + arg.name + "'");
    return true;
  }
  op.temps.push_back(std::move(arg));
  return true;
}

bool Parser::parseFn(std::vector<FnDecl> &fns, bool isHook) {
  FnDecl fn;
  fn.isHook = isHook;
  if (!expectName("the name of the function", fn.name, fn.loc) ||
      !expect("(", "after the name") || !parseFnParams(fn, ")") ||
      !expect("=", "before the value of the function") ||
      !(fn.body = parseExpr()) || !expect(";", "after the function"))
    return false;
  fns.push_back(std::move(fn));
  return true;
}

bool Parser::parseView(OpDecl &op) {
  FnDecl view;
  view.isHook = view.isView = true;
  if (!expectName("the name of the view", view.name, view.loc) ||
      !expect("[", "after the name") || !parseFnParams(view, "]") ||
      !expect("=", "before the elements of the view") ||
      !(view.body = parseExpr()) ||
      (accept("valid") && !(view.valid = parseLogical())) ||
      !expect(";", "after the view"))
    return false;
  op.fns.push_back(std::move(view));
  return true;
}

bool Parser::parseFnParams(FnDecl &fn, StringRef close) {
  while (!at(close)) {
    SMLoc loc;
    StringRef name;
    if (!expectName("the name of a parameter", name, loc))
      return false;
    if (is_contained(fn.params, name)) {
      diags.error(loc, "expects distinct names, but got '" + name + "' twice");
      return false;
    }
    fn.params.push_back(name);
    if (!accept(","))
      break;
  }
  return expect(close, "after the parameters");
}

bool Parser::parseKernel(OpDecl &op) {
  KernelDecl kernel;
  if (!expectName("the name of the kernel", kernel.name, kernel.loc) ||
      !expect("(", "before the ranges"))
    return false;
  while (!at(")")) {
    if (!parseRange(kernel.ranges.emplace_back())) {
      skipTo({});
      break;
    }
    if (!accept(","))
      break;
  }
  if (!expect(")", "after the ranges") ||
      (accept("if") && !(kernel.condition = parseLogical())) ||
      !parseBlock(kernel.body))
    return false;
  op.kernels.push_back(std::move(kernel));
  return true;
}

} // namespace selvedge::frontend
