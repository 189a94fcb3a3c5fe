// Edits of values that make a program wrong.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TESTS_PHYSICAL_MUTANTEDITS_H
#define SELVEDGE_TESTS_PHYSICAL_MUTANTEDITS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/APFloat.h"

#include <optional>

namespace selvedge::testing {

/// A copy of a module, and which operation became which.
struct ModuleCopy {
  explicit ModuleCopy(mlir::ModuleOp module)
      : module(mlir::cast<mlir::ModuleOp>(module->clone(map))) {}

  mlir::IRMapping map;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Repetition of a scalar or tile in either dialect; false for null.
bool isRepeat(mlir::Operation *op);

/// The value behind repetitions.
mlir::Value source(mlir::Value value);

/// The number that all lanes of `value` hold, if it is a constant.
std::optional<llvm::APFloat> constantOf(mlir::Value value);

/// `attr` in all lanes of `type`.
mlir::Value splat(mlir::OpBuilder &b, mlir::Location loc, mlir::TypedAttr attr,
                  mlir::Type type);

/// How a part of a predicate is made wrong.
enum class Fault { Delete, Widen, Narrow };
constexpr std::pair<Fault, const char *> faults[] = {
    {Fault::Delete, "deleted"}, {Fault::Widen, "+1"}, {Fault::Narrow, "-1"}};

/// A compare that holds for one index more or less; null if there is none.
mlir::Value shifted(mlir::OpBuilder &b, mlir::Value predicate, Fault fault);

/// The compare with the index of another axis, from `indices`; null if there is
/// none. For `tile`.
mlir::Value onOtherAxis(mlir::OpBuilder &b, mlir::Value predicate,
                        mlir::ValueRange indices);

/// Adds the parts of a conjunction, each once.
void leaves(mlir::Value condition, llvm::SmallVectorImpl<mlir::Value> &found);

/// `condition` with one part made wrong; null if nothing would be left.
mlir::Value rebuilt(mlir::OpBuilder &b, mlir::Value condition, mlir::Value leaf,
                    Fault fault);

} // namespace selvedge::testing

#endif // SELVEDGE_TESTS_PHYSICAL_MUTANTEDITS_H
