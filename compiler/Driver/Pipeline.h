// Which passes run, in which order.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_DRIVER_PIPELINE_H
#define SELVEDGE_COMPILER_DRIVER_PIPELINE_H

#include "compiler/Driver/Compiler.h"
#include "compiler/Driver/StopPass.h"
#include "compiler/Schedule/Plan/PlanChoice.h"
#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/StringRef.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace selvedge::driver {

/// Whether verifiers run between the passes.
enum class Proofs {
  Made,
  /// Of the same program by somebody else, side by side: what these passes make
  /// is a guess until then (EarlyCode.h).
  Elsewhere
};

/// The pass that stops at kernels that take more shared memory than they may.
constexpr const char *stopAtTooLarge = "stop-at-too-large";

/// Plans that the pipeline binds instead of the first ones.
struct ChosenPlans {
  schedule::PlanChoice choice;
  /// Who chose them, for `explain`.
  std::string origin;
  /// Depths that a schedule of the program pins, as in PlanChoice; 0: none.
  int64_t pinnedRings = 0, pinnedStages = 0;

  /// Depths in effect: a choice goes first.
  int64_t rings() const { return choice.rings ? choice.rings : pinnedRings; }
  int64_t stages() const {
    return choice.stages ? choice.stages : pinnedStages;
  }
  /// By name in a PlanChoice, kernels that are kept from roles.
  std::vector<std::string> withoutRoles;
  /// The same, kernels that can still be kept from them: passes stop where one
  /// has none.
  std::vector<std::string> mayHaveRoles;
  /// The same, kernels whose lanes load what steps read beside products.
  std::vector<std::string> withoutReads;
  /// The same, kernels whose masked loops and the one between stay apart.
  std::vector<std::string> withoutJoins;
  /// The same, kernels whose softmax takes each step's maximum.
  std::vector<std::string> withoutLazySoftmax;
  /// By name in the source, kernels that no plan fits unless they multiply
  /// without tensor cores, and why.
  std::map<std::string, std::string> withoutTensorCores;
  /// By name, programs without a version for devices with less shared memory
  /// than others.
  std::vector<std::string> withoutSmallDevices;
  /// Why columns of accumulators stay together; empty: they do not.
  std::string keepsColumns;
  /// Why loops over short loops stay so; empty where they become one.
  std::string keepsNests;
  /// Why loops are not split into parts; empty where they are.
  std::string keepsLoops;
  /// Why no version for some dims has other kernels; empty where some may.
  std::string keepsKernels;
  /// Whether a kernel that is planned for roles must have them.
  bool isStrict = false;
};

/// What the request leaves to a thread block; none where that is no less than
/// what the target has.
std::optional<int64_t> sharedMemoryLimit(const CompileRequest &request);

/// Appends what is folded in a module of the tile dialect before all else.
void buildFoldPipeline(mlir::OpPassManager &pm, Proofs proofs);

/// Appends the pass that splits columns of accumulators in a module of the tile
/// dialect.
void buildColumnsPipeline(mlir::OpPassManager &pm, Proofs proofs);

/// Appends the passes that expand products and add versions of programs for
/// some dims to a module of the tile dialect.
void buildPackPipeline(mlir::OpPassManager &pm, const ChosenPlans &plans,
                       Proofs proofs);

/// Appends the passes from there to `stage`, at least Emit::TileBound, at most
/// to where plans are bound: what is the same for all plans.
void buildProgramPipeline(mlir::OpPassManager &pm, Emit stage,
                          llvm::StringRef arch, const ChosenPlans &plans,
                          MaskMode masks = MaskMode::Tile,
                          Proofs proofs = Proofs::Made);

/// Appends the passes from there to `stage`, at most to Emit::SmFinal. Behind
/// Emit::SmAsync, which is what is verified of any kernel, no pass changes
/// values. Kernels are compared with `written`: the programs after
/// buildColumnsPipeline(), and those with packed rows after
/// buildPackPipeline(). They stop where `isTooLarge` says so of form async,
/// before that is verified.
void buildKernelPipeline(mlir::OpPassManager &pm, Emit stage,
                         llvm::StringRef arch, const ChosenPlans &plans,
                         MaskMode masks, Proofs proofs, IsFutile isTooLarge,
                         mlir::ModuleOp written = {});

/// Appends the passes from there to per-thread code, which all later stages
/// need, and those that clean it up, kernel by kernel: then it is
/// Emit::SmLanes. The rest is not MLIR's.
void buildLanePipeline(mlir::OpPassManager &pm);
void addLaneCleanUp(mlir::OpPassManager &pm);

} // namespace selvedge::driver

#endif // SELVEDGE_COMPILER_DRIVER_PIPELINE_H
