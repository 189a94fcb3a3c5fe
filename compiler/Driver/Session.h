// One compilation, step by step.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_DRIVER_SESSION_H
#define SELVEDGE_COMPILER_DRIVER_SESSION_H

#include "compiler/Driver/Pipeline.h"
#include "compiler/Driver/Proof.h"
#include "compiler/Schedule/Plan/FitDevices.h"
#include "compiler/Target/PTX/Ptxas.h"
#include "dialect/Sm/Sm.h"
#include "dialect/Tile/Tile.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/ADT/Twine.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>

namespace selvedge::driver {

struct PassOutcome;

/// What comes of a program behind Emit::SmFinal, also where that fails.
struct Code {
  /// Manifest, PTX, cubin, status, diagnostics and phases.
  CompileResult result;
  ptx::PtxasLog log;
};

/// Runs the steps of a compilation on one context and collects diagnostics and
/// times in a CompileResult. Each step returns false after it recorded why it
/// failed; no later step may follow.
class Session {
public:
  explicit Session(const CompileRequest &request, Proofs proofs = Proofs::Made);

  /// Refuses an unknown `arch`.
  bool checkArch();
  /// After parse(): takes the plans that the request names, or those that its
  /// folder holds for this program.
  bool choosePlans();
  /// Finds ptxas for assemble().
  bool locatePtxas();
  /// Text to tile dialect.
  bool parse();
  /// Makes watchers of the passes, all of the same thing.
  using Observe = std::function<std::unique_ptr<mlir::PassInstrumentation>()>;
  /// Runs the passes up to `stage`, watched if `observe` is given. Kernels
  /// whose roles a verifier refuses are planned again without, and a remark
  /// says so.
  bool runPasses(Emit stage, const Observe &observe = nullptr);
  /// Whether several threads may use what the session has: always, but while
  /// passes run and when they were watched.
  bool isThreadSafe() { return context.isMultithreadingEnabled(); }
  /// Prepares passes with other plans; what is the same for all plans is not
  /// done again.
  void restart(const schedule::PlanChoice &choice, const std::string &origin);
  /// While plans are looked for there are no versions for devices with less
  /// shared memory than others: restart() leaves them out.
  void setSearching(bool on) { isSearching = on; }
  /// After runPasses() to Emit::SmAsync: whether a kernel takes more shared
  /// memory than some devices have for which code is.
  bool takesMoreThanLeast();
  /// Before parse(): takes the plans, and the ptxas, of another session.
  void follow(const Session &other);
  /// After follow(): the same program with other plans.
  void choose(const schedule::PlanChoice &choice, const std::string &origin) {
    plans.choice = choice;
    plans.origin = origin;
  }
  /// Time of passes is that of proofs: somebody guesses what they give.
  void expectGuess() { hasGuess = true; }
  /// The program with all there is to say about it: equal where everything that
  /// comes next is.
  std::string printWhole();
  /// After runPasses() to Emit::SmFinal: the proof of the program, if this
  /// session runs verifiers.
  std::optional<Proof> getProof();
  /// Lowers kernels to LLVM IR, for printLLVM(), and checks it.
  bool lowerToLLVM();
  /// After runPasses() to Emit::SmFinal: the host program to JSON.
  bool writeManifest();
  /// Names of kernels.
  using Names = std::set<std::string>;
  /// Those that a variant launches.
  Names kernelsOf(size_t variant);
  /// From Emit::SmFinal to PTX, kernels side by side: these, or all. The
  /// program stays as it is.
  bool translateKernels(const std::optional<Names> &names = std::nullopt);
  /// Both.
  bool emitPtx() { return writeManifest() && translateKernels(); }
  /// PTX to cubin.
  bool assemble();
  /// What emitPtx() and assemble() gave.
  Code getCode() const { return {result, log}; }
  /// Takes that of another session with the same program.
  void takeCode(Code code);
  /// Signature to JSON.
  bool writeSignature();

  /// In form async: kernels that take more shared memory than there is, with
  /// their plans, and what they take.
  struct TooLarge {
    mlir::Operation *kernel;
    std::string plan, why;
  };
  std::vector<TooLarge> findTooLarge();
  /// Those plans are taken no longer. False where there are none.
  bool dropTooLarge();
  /// The same: programs without a version for devices that have less than one
  /// of their kernels takes.
  std::vector<mlir::Operation *> findForSmallDevices();
  /// They get one. False where none does.
  bool addForSmallDevices();
  /// After passes stopped: what they stopped at is planned otherwise. False
  /// where nothing is.
  bool replan(const PassOutcome &outcome);

  /// The program in its present form.
  mlir::ModuleOp getModule() { return *module; }
  /// The program for which plans are to be bound, once passes have run.
  mlir::ModuleOp getUnbound() { return *unbound; }
  /// The same as text, with locations if the request asks for them.
  std::string printModule();
  std::string printLLVM();

  /// The plans in effect, and whether the model alone chose them.
  const ChosenPlans &getPlans() const { return plans; }
  bool isFree() const { return plans.origin.empty(); }
  /// After assemble(): what ptxas made of each kernel, and whose it is, whether
  /// or not ptxas refused.
  const ptx::PtxasLog &getLog() const { return log; }

  CompileResult result;

private:
  bool badInput(const llvm::Twine &message, const llvm::Twine &hint = "");
  bool internalError(const llvm::Twine &message);
  /// Runs passes on a copy of `source`, which becomes the module. On several
  /// threads if they all succeed, else on one.
  PassOutcome attempt(mlir::ModuleOp source,
                      llvm::function_ref<void(mlir::OpPassManager &)> build,
                      const Observe &observe, bool isVerified = true);
  bool runProgramPasses(Emit stage, const Observe &observe);
  /// From the parsed program to what is the same for all plans.
  PassOutcome attemptProgramPasses(Emit stage, const Observe &observe);
  bool runKernelPasses(Emit stage, const Observe &observe);
  /// The same without verification; false where it failed.
  bool transform(mlir::ModuleOp source,
                 llvm::function_ref<void(mlir::OpPassManager &)> build);
  /// Records what passes did; false where they failed.
  bool conclude(const PassOutcome &outcome);
  /// Records a failure.
  bool refuse(const PassOutcome &outcome);
  /// Has warps execute the kernel of that name; false where they already do.
  bool keepFromRoles(const std::string &name, const std::string &why);
  /// Has its lanes load what its steps read beside products, and no ring bring
  /// it; false where they do.
  bool keepFromReads(const std::string &name, const std::string &why);
  /// Has loops that differ by their masks stay apart; false where they do.
  bool keepFromJoins(const std::string &name, const std::string &why);
  /// Has its softmax take the maximum of each step; false where it does.
  bool keepFromLazySoftmax(const std::string &name, const std::string &why);
  /// After a verifier refused kernels: their plans are taken no longer, nor any
  /// that share operands if they do. False where no kernel may take another:
  /// after a few refusals the plan is not what is wrong.
  bool dropRefused(const PassOutcome &outcome);
  /// Begins again where columns of accumulators were split: they stay together.
  /// False where none were.
  bool keepColumns(const std::string &why);
  /// Begins again where a verifier refuses every plan: loops over short loops
  /// stay so. False where there are none.
  bool keepNests(const PassOutcome &outcome);
  /// Begins again where a verifier refuses every plan: loops stay whole. False
  /// where it did so before.
  bool keepLoops(const PassOutcome &outcome);
  /// Begins again where versions for some dims are refused: there are none.
  /// False where something else is.
  bool keepKernels(const PassOutcome &outcome);
  /// By name, the kernels of a version that passes failed at, and why.
  schedule::Unplanned failuresOf(tile::ProgramOp version,
                                 const PassOutcome &outcome);
  /// Drops versions for one part whose kernels were refused or have no plan:
  /// the program takes one part, too. False where there are none.
  bool dropSingleParts(const PassOutcome &outcome);
  /// Begins again with the programs before versions were added, and these
  /// remarks.
  void takeWritten(std::vector<std::string> remarks);
  /// Notes which kernels passes shall stop at if they have no roles.
  void notePlannedRoles();
  /// After they stopped: has warps execute these. False where there are none.
  bool replanWithoutRoles();
  /// Whether code is for devices of which some have less shared memory.
  bool isForAllDevices();
  /// Where the model says that kernels take more than some devices have: finds
  /// out by passes without verifiers, so that these run once.
  void prepareForSmallDevices();
  /// Leaves the program of that name, a version for devices with little shared
  /// memory, out.
  void keepFromSmallDevices(const std::string &name,
                            const schedule::Unplanned &unplanned);
  /// Gives a program whose kernels have no plan for such devices a version in
  /// which these kernels multiply without tensor cores.
  bool addWithoutTensorCores(tile::ProgramOp program,
                             schedule::Unplanned &unplanned);
  /// After passes failed: leaves those out that they failed at. False where
  /// there are none.
  bool dropForSmallDevices(const PassOutcome &outcome);
  /// Whether plans fit that have what schedules pin; an error where none does.
  bool checkSchedules(const TargetInfo &target);
  /// Begins again where kernels with products have no plan: these multiply
  /// without tensor cores. False where there are none.
  bool keepFromTensorCores(const std::string &why);
  /// Calls `visit` for all launches of the host program, with the kernel for
  /// which plans are to be bound; null where that is not known.
  void visitLaunches(
      llvm::function_ref<void(size_t variant, sm::LaunchOp, tile::KernelOp)>
          visit);
  /// From Emit::SmFinal to the code of a thread, all kernels as one module.
  bool lowerToLanes(Emit stage);
  /// Before kernels become functions: whose code each is.
  void noteOrigins();
  /// Stores a manifest, or the error that stands for it.
  bool keepManifest(llvm::Expected<std::string> text);

  const CompileRequest &request;
  const Proofs proofs;
  bool hasGuess = false;
  bool isSearching = false;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module, unbound, written;
  /// The program before columns were split; null where none are.
  mlir::OwningOpRef<mlir::ModuleOp> parsed;
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> llvmModule;
  std::string ptxas, frontendDiagnostics, programDiagnostics;
  ChosenPlans plans;
  /// Versions for devices with little shared memory, by name, that were planned
  /// again.
  std::set<std::string> triedWithoutTensorCores;
  /// How often verifiers refused kernels for which another plan could be taken.
  std::map<std::string, unsigned> refusals;
  /// Why kernels are kept from roles, in the order of plans.withoutRoles.
  std::vector<std::string> reasons;
  ptx::PtxasLog log;
  /// By kernel: the name of its plan, whether it is for any strides, and
  /// whether it has roles.
  std::map<std::string, std::tuple<std::string, bool, bool>> origins;
};

} // namespace selvedge::driver

#endif // SELVEDGE_COMPILER_DRIVER_SESSION_H
