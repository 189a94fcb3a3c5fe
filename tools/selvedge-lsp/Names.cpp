// What each name of a file means.
// SPDX-License-Identifier: MIT
#include "tools/selvedge-lsp/Names.h"

#include "compiler/Frontend/Imports.h"
#include "llvm/ADT/STLExtras.h"

#include <set>
#include <tuple>

using namespace llvm;
using namespace selvedge::frontend;

namespace selvedge::lsp {

namespace {

/// Names of different kinds do not meet.
enum class Space { Op, Function, Kernel, Block, Signature };

/// Of what the whole file sees.
constexpr size_t wholeFile = SIZE_MAX;

class Resolver {
public:
  Resolver(const Diagnostics &diags, const FileAst &file,
           std::vector<Symbol> &symbols, std::map<size_t, size_t> &uses)
      : diags(diags), file(file), symbols(symbols), uses(uses) {}

  void run() {
    joinFamilies();
    // What is declared first: a name may be used before its declaration.
    for (bool isDeclaring : {true, false}) {
      declares = isDeclaring;
      for (const FnDecl &fn : file.fns)
        visitFileFn(fn);
      for (const OpDecl &op : file.ops)
        visitOp(op);
    }
  }

private:
  using Scope = std::map<StringRef, size_t>;

  /// Ops whose signatures are one: each has the number of its family.
  void joinFamilies() {
    for (size_t i = 0; i < file.ops.size(); ++i)
      families.push_back(i);
    auto join = [&](size_t op, StringRef other) {
      for (size_t i = 0; i < file.ops.size(); ++i)
        if (size_t from = families[i], to = families[op];
            file.ops[i].name == other)
          llvm::replace(families, from, to);
    };
    for (size_t i = 0; i < file.ops.size(); ++i) {
      join(i, file.ops[i].base);
      join(i, file.ops[i].backward);
    }
  }

  /// The family under which a name of an op is known: a function of the file
  /// takes a name of any op that calls it, so that these are one, too.
  size_t keyOf(Space space, StringRef name) const {
    return shared.contains({space, name}) ? wholeFile : family;
  }

  void declare(Space space, StringRef name) {
    if (!name.empty() && declares)
      declared.insert({space, family, name});
    if (!name.empty() && !declares)
      record(name, symbolOf(space, keyOf(space, name), name));
  }

  /// Whether there is such a name; then it is recorded.
  bool use(Space space, StringRef name) {
    if (declares)
      return false;
    bool isOp = space == Space::Op;
    bool isKnown =
        declared.contains({space, isOp ? wholeFile : family, name}) ||
        shared.contains({space, name});
    if (isKnown) {
      record(name,
             symbolOf(space, isOp ? wholeFile : keyOf(space, name), name));
      return true;
    }
    // A function of the file, for an op that has none of that name.
    if (space != Space::Function ||
        !declared.contains({space, wholeFile, name}))
      return false;
    record(name, symbolOf(space, wholeFile, name));
    return true;
  }

  size_t symbolOf(Space space, size_t key, StringRef name) {
    auto [found, isNew] =
        global.try_emplace({space, key, name}, symbols.size());
    if (isNew)
      symbols.emplace_back();
    return found->second;
  }

  /// `name` is a slice of the text that it stands in.
  void record(StringRef name, size_t symbol) {
    StringRef text = diags.text();
    if (name.begin() >= text.begin() && name.end() <= text.end())
      uses[static_cast<size_t>(name.begin() - text.begin())] = symbol;
    else
      symbols[symbol].otherFile =
          diags.file(SMLoc::getFromPointer(name.data())).str();
  }

  void defineLocal(StringRef name) {
    if (name.empty() || declares)
      return;
    scopes.back()[name] = symbols.size();
    symbols.emplace_back().isLocal = true;
    record(name, symbols.size() - 1);
  }

  std::optional<size_t> findLocal(StringRef name) const {
    for (const Scope &scope : reverse(scopes))
      if (auto found = scope.find(name); found != scope.end())
        return found->second;
    return std::nullopt;
  }

  void useName(StringRef name) {
    if (std::optional<size_t> local = findLocal(name)) {
      if (!declares)
        record(name, *local);
      return;
    }
    if (inFileFn && declares) {
      shareFree(name);
      return;
    }
    if (!use(Space::Signature, name))
      use(Space::Function, name);
  }

  /// A value that is called is a derivative, which has a pair's second name.
  void useCalled(StringRef name) {
    std::optional<size_t> local = findLocal(name);
    if (local && pulls.contains(*local)) {
      record(name, *local);
      return;
    }
    if (inFileFn && declares)
      shareFree(name);
    else
      use(Space::Function, name);
  }

  /// What a function of the file does not declare: that of any op.
  void shareFree(StringRef name) { free.insert(name); }

  void visitFileFn(const FnDecl &fn) {
    family = wholeFile;
    inFileFn = true;
    declare(Space::Function, fn.name);
    visitFn(fn);
    inFileFn = false;
  }

  void visitFn(const FnDecl &fn) {
    scopes.emplace_back();
    if (declares && inFileFn)
      for (StringRef param : fn.params)
        scopes.back()[param] = 0;
    for (StringRef param : fn.params)
      defineLocal(param);
    visit(fn.body);
    visit(fn.valid);
    scopes.pop_back();
  }

  void visitOp(const OpDecl &op) {
    family = wholeFile;
    declare(Space::Op, op.name);
    use(Space::Op, op.base);
    use(Space::Op, op.backward);
    family = families[static_cast<size_t>(&op - file.ops.data())];
    for (const ParamDecl &param : op.params) {
      declareShared(Space::Signature, param.name);
      for (StringRef type : param.types)
        useName(type);
      visit(param.defaultValue);
    }
    for (const auto *args : {&op.inputs, &op.outputs, &op.temps})
      for (const ArgDecl &arg : *args)
        visitArg(arg);
    for (const RequireDecl &require : op.requirements) {
      useName(require.tensor);
      visit(require.lo);
      visit(require.hi);
    }
    for (const LaunchDecl &launch : op.launches) {
      declareShared(Space::Signature, launch.name);
      visit(launch.lo);
      visit(launch.hi);
    }
    for (const BindDecl &bind : op.binds) {
      useName(bind.name);
      visit(bind.value);
    }
    for (const FnDecl &fn : op.fns) {
      declareShared(Space::Function, fn.name);
      visitFn(fn);
    }
    for (const KernelDecl &kernel : op.kernels)
      visitKernel(kernel);
    for (const ScheduleDecl &schedule : op.schedules) {
      use(Space::Kernel, schedule.kernel);
      for (const PinDecl &pin : schedule.pins) {
        use(Space::Block, pin.name);
        visit(pin.value);
      }
    }
  }

  /// A name of an op that functions of the file may mean.
  void declareShared(Space space, StringRef name) {
    if (declares && free.contains(name))
      shared.insert({space, name});
    declare(space, name);
  }

  void visitArg(const ArgDecl &arg) {
    declareShared(Space::Signature, arg.name);
    useName(arg.elementType);
    scopes.emplace_back();
    for (const DimDecl &dim : arg.dims) {
      declareDims(dim.extent);
      visit(dim.extent);
    }
    for (const DimDecl &dim : arg.dims)
      defineLocal(dim.binder);
    visit(arg.valid);
    scopes.pop_back();
    visit(arg.defaultValue);
    visit(arg.init);
  }

  /// A name in an extent that nothing else declares is a dim.
  void declareDims(const ExprPtr &extent) {
    if (!extent || !declares)
      return;
    if (extent->kind == Expr::Kind::Name)
      declareShared(Space::Signature, extent->name);
    for (const ExprPtr &arg : extent->args)
      declareDims(arg);
  }

  void visitKernel(const KernelDecl &kernel) {
    declare(Space::Kernel, kernel.name);
    visit(kernel.condition);
    scopes.emplace_back();
    for (const RangeDecl &range : kernel.ranges)
      visitRange(range);
    visitBlock(kernel.body);
    scopes.pop_back();
  }

  void visitRange(const RangeDecl &range) {
    visit(range.lo);
    for (const ExprPtr &hi : range.hi)
      visit(hi);
    visit(range.part);
    visit(range.parts);
    defineLocal(range.fused);
    for (StringRef name : range.names)
      defineLocal(name);
    visit(range.when);
    declare(Space::Block, range.block);
  }

  void visitBlock(const std::vector<Stmt> &body) {
    scopes.emplace_back();
    for (const Stmt &stmt : body)
      visitStmt(stmt);
    scopes.pop_back();
  }

  void visitStmt(const Stmt &stmt) {
    visit(stmt.target);
    visit(stmt.value);
    if (stmt.kind == Stmt::Kind::For) {
      scopes.emplace_back();
      visitRange(stmt.range);
      visitBlock(stmt.body);
      scopes.pop_back();
      return;
    }
    visitBlock(stmt.body);
    visitBlock(stmt.elseBody);
    defineLocal(stmt.name);
    if (!stmt.second.empty() && !declares)
      pulls.insert(symbols.size());
    defineLocal(stmt.second);
  }

  void visit(const ExprPtr &expr) {
    if (!expr)
      return;
    switch (expr->kind) {
    case Expr::Kind::Name:
    case Expr::Kind::Cast:
    case Expr::Kind::Zeros:
      useName(expr->name);
      break;
    case Expr::Kind::Call:
    case Expr::Kind::Vjp:
      useCalled(expr->name);
      break;
    default:
      break;
    }
    for (const ExprPtr &arg : expr->args)
      visit(arg);
  }

  const Diagnostics &diags;
  const FileAst &file;
  std::vector<Symbol> &symbols;
  std::map<size_t, size_t> &uses;
  /// By op.
  std::vector<size_t> families;
  /// Whether names are declared, or else used.
  bool declares = true;
  bool inFileFn = false;
  /// Of the op that is visited.
  size_t family = wholeFile;
  std::set<std::tuple<Space, size_t, StringRef>> declared;
  /// Names that functions of the file take from ops, and those of them that an
  /// op declares.
  std::set<StringRef> free;
  std::set<std::pair<Space, StringRef>> shared;
  std::map<std::tuple<Space, size_t, StringRef>, size_t> global;
  std::vector<Scope> scopes;
  /// Local symbols that can be called.
  std::set<size_t> pulls;
};

} // namespace

Names::Names(StringRef path, StringRef text) {
  Diagnostics diags(path, text);
  FileAst file = parseWithImports(diags, {});
  if (diags.hasErrors()) {
    error = StringRef(diags.rendered()).split('\n').first.str();
    return;
  }
  Resolver(diags, file, symbols, uses).run();
}

std::optional<size_t> Names::find(size_t offset) const {
  auto found = uses.find(offset);
  return found == uses.end() ? std::nullopt : std::optional(found->second);
}

} // namespace selvedge::lsp
