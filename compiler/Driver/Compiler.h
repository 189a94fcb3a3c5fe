// Source + bindings + target -> artefact: the compiler's one entry point.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_DRIVER_COMPILER_H
#define SELVEDGE_COMPILER_DRIVER_COMPILER_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mlir {
class MLIRContext;
class ModuleOp;
} // namespace mlir

namespace selvedge {

/// What data that a mask removes, but that is present, may do where it is NaN
/// or Inf.
enum class MaskMode {
  /// Make rows of the same tile of a product NaN.
  Tile,
  /// Nothing.
  Exact
};

/// What to compile.
struct CompileRequest {
  /// Name used in diagnostics, normally the path.
  std::string fileName;
  /// The text of the `.tile` file.
  std::string source;
  /// Where `import` looks, after the importing file's folder and before
  /// templateFolders().
  std::vector<std::string> importFolders;
  /// Op to compile; empty: the only op of the file, else the first one.
  std::string op;
  /// `--set NAME=VALUE` bindings of parameters.
  std::map<std::string, std::string> bindings;
  /// `sm_80` or `sm_90a`; empty where only the front end runs.
  std::string arch;
  /// Shared memory that a thread block of the device has, in bytes: kernels
  /// take no more. 0: code is for all devices of the architecture, and kernels
  /// that take more than some of them have get a second version.
  int64_t sharedMemory = 0;
  /// `--mask`.
  MaskMode masks = MaskMode::Tile;
  /// Path of ptxas; empty: search PATH, CUDA_HOME and the usual places.
  std::string ptxas;
  /// Plans to bind (compiler/Schedule/Plan/PlanChoice.h); empty: those stored
  /// in `planFolder` for the program, else the model's.
  std::string plan;
  /// Folder of plans that were measured, or found to assemble well, before.
  /// Empty: none is read or written by compile(); compileCached() takes that of
  /// the cache, where `bench --tune` stores plans.
  std::string planFolder;
  /// Whether compileCached() leaves plans alone where no folder is given.
  bool ignoresStoredPlans = false;
  /// Name of the GPU whose measurements count; empty: the latest of any.
  std::string device;
  /// Whether it is an error that a verifier refuses the roles of a kernel,
  /// which then runs without.
  bool isStrict = false;
  /// Is told, in a line of words, what takes long: a search for plans. Empty:
  /// nobody. Called by the thread that compiles.
  std::function<void(const std::string &)> progress;
  /// Whether MLIR text shows the source places and safety notes of operations.
  bool printLocations = false;
};

/// Where a pipeline can be stopped to look at the program.
enum class Emit {
  Tile,
  TileBound,
  SmSeq,
  SmAsync,
  SmFinal,
  SmLanes,
  Llvm,
  Ptx,
  Cubin,
  Manifest
};

/// Status of a compilation, mapped to the exit status of the command line.
enum class CompileStatus {
  Ok = 0,
  /// A defect of the compiler itself (a verifier refused its output, ptxas
  /// failed).
  InternalError = 1,
  /// The source, a binding or the environment is wrong; diagnostics say where.
  BadInput = 2
};

/// What a kernel takes of a thread's registers, as ptxas says.
struct KernelUse {
  std::string name;
  int64_t registers = 0;
  int64_t stackBytes = 0;
  int64_t spillBytes = 0;
  /// Beside what its launches ask for.
  int64_t staticSmemBytes = 0;
};

/// Everything a compilation produced. `diagnostics` is text ready to print
/// (file:line:column, the line, a caret, a hint), also for successful runs
/// with warnings.
struct CompileResult {
  CompileStatus status = CompileStatus::Ok;
  std::string diagnostics;
  /// JSON of docs/manifest.md.
  std::string manifest;
  std::string ptx;
  std::string cubin;
  /// The choice of plans in effect; empty where the model's first ones are.
  std::string plan;
  /// The file of the plan folder that was asked for plans, whether or not it
  /// exists; empty where none was.
  std::string planFile;
  /// What a program lost on its way, and why: kernels without warp roles.
  std::vector<std::string> remarks;
  /// Why the plans are not good: kernels that spill, or are serialised.
  std::vector<std::string> complaints;
  /// Of compile() with a cubin.
  std::vector<KernelUse> kernels;
  /// Milliseconds per phase, in order: "frontend", "passes", "ptx", "cubin".
  std::vector<std::pair<std::string, double>> phases;
};

/// Compiles to PTX and cubin (or only to PTX when `withCubin` is false). Where
/// ptxas spills or serialises a kernel whose plan the model alone chose, the
/// next plans are tried; `planFolder` remembers what was found.
CompileResult compile(const CompileRequest &request, bool withCubin = true);

/// Runs the pipeline up to `stage` and returns its text in `text`.
CompileResult emitText(const CompileRequest &request, Emit stage,
                       std::string &text);

/// Parses, checks and returns the op's signature as a manifest without
/// variants (needs no `arch`): what `run --device ref` and `list` need.
CompileResult describe(const CompileRequest &request);

/// Form of an explanation.
enum class ExplainFormat { Text, Json, Html };

/// Compiles up to `sm:async` and tells in `text` what keeps each load, score
/// and output safe, why, how and at what cost.
CompileResult explainOp(const CompileRequest &request, ExplainFormat format,
                        std::string &text);

/// One op of a file as `list` shows it.
struct OpSummary {
  std::string name;
  /// The signature in one line, as in the source.
  std::string signature;
  /// The comment block above the op.
  std::string comment;
};

/// Lists the ops of a file; diagnostics as in compile().
CompileResult listOps(const CompileRequest &request,
                      std::vector<OpSummary> &ops);

/// A choice of plans, for measuring.
struct PlanCandidate {
  /// For CompileRequest::plan.
  std::string plan;
  /// `main: BM 128, BN 64, 8 warps`.
  std::string words;
};

/// The choices for the variant that aligned tensors select, best first by the
/// model.
CompileResult listPlans(const CompileRequest &request,
                        std::vector<PlanCandidate> &candidates);

/// The winner of a measurement.
struct PlanMeasurement {
  std::string device;
  std::string plan;
  /// What was measured: `B=2,M=1024`.
  std::string shape;
  double milliseconds = 0;
  int64_t numCandidates = 0;
};

/// Stores the winner for later compilations with the same `planFolder`, and
/// says where.
CompileResult keepPlan(const CompileRequest &request,
                       const PlanMeasurement &measurement, std::string &path);

/// Folders that may hold the shipped templates, best first: the variable
/// SELVEDGE_TEMPLATES, then places beside the program or library that holds the
/// compiler.
std::vector<std::string> templateFolders();

/// The files that the source of `request` imports, directly or not: paths and
/// texts.
std::vector<std::pair<std::string, std::string>>
importedFiles(const CompileRequest &request);

/// Searches ptxas as CompileRequest::ptxas describes; empty when not found.
std::string findPtxas();

/// Version of the compiler, part of every cache key.
const char *compilerVersion();

} // namespace selvedge

#endif // SELVEDGE_COMPILER_DRIVER_COMPILER_H
