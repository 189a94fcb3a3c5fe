// The syntax tree of a `.tile` file.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_FRONTEND_AST_H
#define SELVEDGE_COMPILER_FRONTEND_AST_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/SMLoc.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace selvedge::frontend {

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

/// An expression. `name` is the name, operator, callee, method or type.
struct Expr {
  enum class Kind {
    Int,    ///< intValue
    Float,  ///< floatValue
    Bool,   ///< intValue
    Name,   ///< name
    Pair,   ///< (args[0], args[1])
    Full,   ///< `:` in an index
    Slice,  ///< args[0] +: args[1] in an index
    Unary,  ///< name args[0]
    Binary, ///< args[0] name args[1]
    Call,   ///< name(args...)
    Method, ///< args[0].name(args[1]...)
    Index,  ///< args[0][args[1], ...]
    Cast,   ///< args[0] as name
    Where,  ///< args[0] where args[1]
    Else,   ///< args[0] else args[1]
    If,     ///< if args[0] { args[1] } else { args[2] }
    Zeros,  ///< zeros name[args...]
    Vjp,    ///< vjp(name)(args...)
  };
  Kind kind = Kind::Int;
  llvm::SMLoc loc;
  llvm::StringRef name;
  int64_t intValue = 0;
  double floatValue = 0;
  std::vector<ExprPtr> args;
  /// Height of the tree, bounded by the parser.
  unsigned height = 1;
};

/// `name in hi`, `name in lo..hi`, `name in (lo +: hi)` or `(a, b) in (extentA,
/// extentB)`, with an optional block size. `split(range, part, parts)` is a
/// part of a range.
struct RangeDecl {
  llvm::SMLoc loc;
  std::vector<llvm::StringRef> names;
  /// `name = (a, b) in ...`: the name of the axis that the pairs are.
  llvm::StringRef fused;
  ExprPtr lo;
  std::vector<ExprPtr> hi;
  /// Null unless the range is split.
  ExprPtr part, parts;
  /// Whether hi is counted from lo.
  bool isLength = false;
  /// Of `for ... when`, or null.
  ExprPtr when;
  llvm::StringRef block;
  llvm::SMLoc blockLoc;
};

/// A statement of a kernel's body.
struct Stmt {
  enum class Kind { Let, Var, Assign, AddAssign, Eval, For, If };
  Kind kind = Kind::Eval;
  llvm::SMLoc loc;
  llvm::StringRef name;       ///< Let, Var
  llvm::StringRef second;     ///< Let: of a pair, else empty
  ExprPtr target;             ///< Assign, AddAssign: a Name or an Index
  ExprPtr value;              ///< value or condition
  RangeDecl range;            ///< For
  std::vector<Stmt> body;     ///< For, If
  std::vector<Stmt> elseBody; ///< If
};

/// A function: `fn f(x) = e;` or, inside an op, the hook `f(x) = e;`. A view is
/// one that is called with brackets: `view v[i] = e valid condition;`.
struct FnDecl {
  llvm::SMLoc loc;
  llvm::StringRef name;
  std::vector<llvm::StringRef> params;
  ExprPtr body;
  bool isHook = false;
  bool isView = false;
  /// View: where its elements exist; null for wherever the body does.
  ExprPtr valid;

  /// What it is, for messages.
  llvm::StringRef word() const { return isView ? "view" : "function"; }
};

struct KernelDecl {
  llvm::SMLoc loc;
  llvm::StringRef name;
  std::vector<RangeDecl> ranges;
  /// Whether the op has the kernel, known at compile time; null: it has.
  ExprPtr condition;
  std::vector<Stmt> body;
};

/// A compile-time parameter: `T: {bf16, f16} = bf16`, `D: int = 128`.
struct ParamDecl {
  llvm::SMLoc loc;
  llvm::StringRef name;
  /// "type", "int", "bool" or "float"; empty: as the default.
  llvm::StringRef kind;
  /// Allowed types, empty for any.
  std::vector<llvm::StringRef> types;
  ExprPtr defaultValue;
};

/// One dimension of a tensor, with the name that `valid` uses for its index.
struct DimDecl {
  llvm::SMLoc loc;
  /// `~`: the caller may give one element for all.
  bool isBroadcast = false;
  llvm::StringRef binder;
  ExprPtr extent;
};

/// A tensor or scalar of a signature, or a tensor between kernels.
struct ArgDecl {
  llvm::SMLoc loc;
  llvm::StringRef name;
  llvm::SMLoc typeLoc;
  llvm::StringRef elementType;
  bool isTensor = false;
  bool isOutput = false;
  /// `temp NAME: ...;`
  bool isTemp = false;
  /// `inout NAME: ...`
  bool isInOut = false;
  /// `diff NAME: ...`: gradients of the op are taken of it, too.
  bool isDiff = false;
  /// Additions are made in the order of the program.
  bool isDeterministic = false;
  bool isOptional = false;
  std::vector<DimDecl> dims;
  ExprPtr valid;
  ExprPtr defaultValue;
  /// out_init(value); `keep` sets initKeep instead.
  ExprPtr init;
  bool initKeep = false;
  /// "sat", "inf" or empty.
  llvm::StringRef overflow;

  /// Whether kernels store it.
  bool isStored() const { return isOutput || isTemp || isInOut; }
  /// `output`, `temp` or `inout`, for messages.
  llvm::StringRef storedWord() const {
    return isTemp ? "temp" : isInOut ? "inout" : "output";
  }
};

/// `tensor in lo..hi`, both inclusive, or `segments(tensor, hi)`: in 0..hi, and
/// none less than the one before it; or `unique(tensor)`: no two are equal, but
/// for those below 0.
struct RequireDecl {
  llvm::SMLoc loc;
  llvm::StringRef tensor;
  /// Null for 0.
  ExprPtr lo;
  /// Null for `unique`.
  ExprPtr hi;
  bool isOrdered = false;
};

/// `launch name in lo..hi`: a dim that each launch chooses.
struct LaunchDecl {
  llvm::SMLoc loc;
  llvm::StringRef name;
  ExprPtr lo, hi;
};

/// `name = value;` in a schedule.
struct PinDecl {
  llvm::SMLoc loc;
  llvm::StringRef name;
  /// Null for `off`.
  ExprPtr value;
};

/// `schedule kernel for sm_80, sm_90a { ... }`: what the plan is to choose.
struct ScheduleDecl {
  llvm::SMLoc loc;
  /// Empty: of the whole op.
  llvm::StringRef kernel;
  /// Empty: for all.
  std::vector<std::pair<llvm::SMLoc, llvm::StringRef>> targets;
  std::vector<PinDecl> pins;
};

/// `name = value` in `extends base<...>`.
struct BindDecl {
  llvm::SMLoc loc;
  llvm::StringRef name;
  ExprPtr value;
};

/// `import "path";`
struct ImportDecl {
  /// Of the path.
  llvm::SMLoc loc;
  llvm::StringRef path;
};

struct OpDecl {
  llvm::SMLoc loc;
  /// Whether it stands in a file that the compiled one imports.
  bool isImported = false;
  llvm::StringRef name;
  /// From `op` to the brace of the body.
  llvm::StringRef signatureText;
  std::vector<ParamDecl> params;
  std::vector<ArgDecl> inputs, outputs, temps;
  std::vector<RequireDecl> requirements;
  std::vector<LaunchDecl> launches;
  llvm::StringRef base;
  llvm::SMLoc baseLoc;
  std::vector<BindDecl> binds;
  /// The op of its gradient, if it names one.
  llvm::StringRef backward;
  llvm::SMLoc backwardLoc;
  std::vector<FnDecl> fns;
  std::vector<KernelDecl> kernels;
  std::vector<ScheduleDecl> schedules;
};

struct FileAst {
  std::vector<ImportDecl> imports;
  std::vector<OpDecl> ops;
  std::vector<FnDecl> fns;
};

} // namespace selvedge::frontend

#endif // SELVEDGE_COMPILER_FRONTEND_AST_H
