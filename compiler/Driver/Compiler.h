// Source + bindings + target -> artefact: the compiler's one entry point.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_DRIVER_COMPILER_H
#define SELVEDGE_COMPILER_DRIVER_COMPILER_H

#include <cstdint>
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

/// What to compile.
struct CompileRequest {
  /// Name used in diagnostics, normally the path.
  std::string fileName;
  /// The text of the `.tile` file.
  std::string source;
  /// Op to compile; empty: the only op of the file, else the first one.
  std::string op;
  /// `--set NAME=VALUE` bindings of parameters.
  std::map<std::string, std::string> bindings;
  /// `sm_80` or `sm_90a`; empty where only the front end runs.
  std::string arch;
  /// Path of ptxas; empty: search PATH, CUDA_HOME and the usual places.
  std::string ptxas;
  /// Whether MLIR text shows the source places and safety notes of operations.
  bool printLocations = false;
};

/// Where a pipeline can be stopped to look at the program.
enum class Emit {
  Tile,
  TileBound,
  SmSeq,
  SmAsync,
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
  /// Milliseconds per phase, in order: "frontend", "passes", "ptx", "cubin".
  std::vector<std::pair<std::string, double>> phases;
};

/// Compiles to PTX and cubin (or only to PTX when `withCubin` is false).
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

/// Searches ptxas as CompileRequest::ptxas describes; empty when not found.
std::string findPtxas();

/// Version of the compiler, part of every cache key.
const char *compilerVersion();

} // namespace selvedge

#endif // SELVEDGE_COMPILER_DRIVER_COMPILER_H
