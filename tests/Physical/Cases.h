// Programs and data for the tests of physical execution.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TESTS_PHYSICAL_CASES_H
#define SELVEDGE_TESTS_PHYSICAL_CASES_H

#include "compiler/Physical/Physical.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringRef.h"

namespace selvedge::testing {

/// Inputs of one run.
struct Kit {
  std::string name;
  std::vector<HostTensor> inputs;
  std::map<std::string, double> scalars = {};
  /// Whether the inputs keep the op's promises.
  bool isPromised = true;
  /// Dims in which it differs from the case.
  std::map<std::string, int64_t> dims = {};
};

/// A program with shapes off its tiles, and data that show faults.
struct Case {
  std::string name;
  std::string path;
  std::string op;
  std::map<std::string, std::string> bindings;
  std::map<std::string, int64_t> dims;
  std::vector<Kit> kits;
  /// Sizes at which a loop's last full step just fits, or just does not.
  std::vector<Kit> edges = {};
};

/// Attention without and with a causal mask, with capped scores in a window,
/// and over keys that a tensor names; a softmax; a matrix product; reductions
/// with stores that do not cover their outputs, and over lanes that the program
/// fills.
inline constexpr const char *caseNames[] = {"dense",   "causal",  "gemma",
                                            "masked",  "softmax", "matmul",
                                            "partial", "filled"};
Case makeCase(const std::string &name);

/// Those with something to wait for, and a reduction that is alone in its loop.
inline constexpr const char *asyncCaseNames[] = {"dense",  "causal", "gemma",
                                                 "masked", "matmul", "sums"};

/// The same programs with rows that bulk copies can move, for kernels with
/// roles; and one whose steps must keep their order.
inline constexpr const char *roleCaseNames[] = {"dense",  "causal", "gemma",
                                                "masked", "matmul", "decay"};
/// "causal 128" is that with heads of 128, instead of 64.
Case makeRoleCase(const std::string &fullName);

/// A softmax of rows for each variant of `tile-row-classes`, some in several
/// steps.
inline constexpr const char *rowVariants[] = {"upto2048", "upto4096",
                                              "upto16384", "aligned"};
Case makeRowCase(const std::string &variant);

/// Gives each kit of a forward over named keys its mask, which keeps about half
/// of them.
void addMasks(Case &test);

/// Tensors of given values, and of normal ones.
HostTensor tensor(std::string name, std::vector<int64_t> shape,
                  std::vector<double> values);
HostTensor randomTensor(std::string name, std::vector<int64_t> shape,
                        unsigned seed, double mean = 0);

/// What logical mode says of a kit.
struct Expected {
  std::vector<HostTensor> outputs;
  physical::Footprint loaded;
};

/// What physical mode said.
struct Outcome {
  std::vector<HostTensor> outputs;
  std::string diagnostics;
};

/// The program as the front end builds it.
mlir::OwningOpRef<mlir::ModuleOp> build(mlir::MLIRContext &context,
                                        const Case &test);

/// A context with every dialect, quiet about errors.
void prepare(mlir::MLIRContext &context);

/// Runs a pipeline given as text.
bool transform(mlir::ModuleOp module, llvm::StringRef pipeline);

/// Pipelines: the safety passes; bound tiles from there; sm.seq from there;
/// the verifiers of tile, of bound tiles, of sm.seq.
inline constexpr llvm::StringLiteral safetyPipeline =
    "cse,tile.program(tile-exact-compares),cse,"
    "tile.program(tile-obligations,tile-output-init),cse";
inline constexpr llvm::StringLiteral boundPipeline =
    "tile-expand-softmax,cse,tile-bind-blocks,tile-simplify-presence,"
    "canonicalize,cse";
inline constexpr llvm::StringLiteral seqPipeline =
    "tile-to-sm,canonicalize,cse";
/// The same with loops in parts, as the driver runs them but for
/// `tile-interior-parts`: the safety passes; claims of full steps on bound
/// tiles; bound tiles without what they prove; the verifier of claims.
inline constexpr llvm::StringLiteral exactPipeline =
    "cse,tile.program(tile-exact-compares),cse,"
    "tile.program(tile-obligations,tile-output-init),cse";
inline constexpr llvm::StringLiteral claimsPipeline =
    "tile-loop-parts,tile-expand-softmax,cse,tile-bind-blocks";
inline constexpr llvm::StringLiteral simplifyPipeline =
    "tile-simplify-presence,canonicalize,cse";
inline constexpr llvm::StringLiteral verifyClaimsPipeline =
    "tile.program(tile.kernel(verify-tile-known))";
inline constexpr llvm::StringLiteral verifyPipeline =
    "tile.program(tile.kernel(verify-tile-padding,verify-tile-bounds),"
    "verify-tile-coverage)";
inline constexpr llvm::StringLiteral verifySeqPipeline =
    "sm.kernel(verify-sm-padding),verify-sm-bounds";
/// Form async from sm.seq, and its verifiers.
inline constexpr llvm::StringLiteral asyncPipeline =
    "sm.kernel(sm-long-tiles-first,sm-lazy-softmax,sm-single-steps,"
    "sm-skip-empty-tiles,sm-async-copies,sm-reduce-scratch),cse";
inline constexpr llvm::StringLiteral verifyAsyncPipeline =
    "sm.kernel(verify-sm-padding,verify-sm-async)";

/// Form roles from bound tiles, for another target.
inline constexpr llvm::StringLiteral rolesPipeline =
    "tile-loop-parts,tile-expand-softmax,cse,tile-split-variants{arch=sm_90a},"
    "tile-interior-parts,tile-bind-blocks{arch=sm_90a},"
    "tile-simplify-presence,canonicalize,cse,tile-to-sm,canonicalize,cse,"
    "sm-schedule-roles,sm-warp-roles,sm.kernel(sm-single-steps,sm-async-copies,"
    "sm-reduce-scratch)"
    ",cse";

/// Form async from safe tiles, with versions for rows of some length.
inline constexpr llvm::StringLiteral rowsPipeline =
    "tile-loop-parts,tile-expand-softmax,cse,tile-row-classes{arch=sm_90a},"
    "tile-interior-parts,tile-bind-blocks{arch=sm_90a},"
    "tile-simplify-presence,canonicalize,cse,tile-to-sm,canonicalize,cse,"
    "sm.kernel(sm-single-steps,sm-async-copies,sm-reduce-scratch),cse";

/// Logical mode.
Expected expect(mlir::ModuleOp program, const Case &test, const Kit &kit);

/// Physical mode.
Outcome execute(mlir::ModuleOp module, const Case &test, const Kit &kit,
                const Expected &expected, physical::Poison poison,
                const std::string &variant = "");

/// First difference from logical mode beyond its bounds; empty for none.
std::string beyondBounds(const Outcome &run, const Expected &expected);

/// Whether two runs gave the same bits, or failed alike.
bool isSame(const Outcome &a, const Outcome &b);

} // namespace selvedge::testing

#endif // SELVEDGE_TESTS_PHYSICAL_CASES_H
