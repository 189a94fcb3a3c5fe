// What `run` executes: an op's signature with dims, scalars and tensors.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_RUNPROBLEM_H
#define SELVEDGE_TOOLS_SELVEDGE_RUNPROBLEM_H

#include "compiler/Driver/Compiler.h"
#include "selvedge/Manifest.h"
#include "selvedge/Plan.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace selvedge::cli {

/// A contiguous tensor in host memory.
struct HostArray {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<std::byte> data;

  bool operator==(const HostArray &) const = default;
};

/// Options of `run` that decide the problem.
struct ProblemOptions {
  std::vector<std::string> sets;
  std::vector<std::string> shapes;
  /// Optional tensors to leave out of random inputs.
  std::vector<std::string> omitted;
  /// NAME=VALUE[,VALUE...]: values of a random input instead, repeated.
  std::vector<std::string> fills;
  /// NAME=VALUE@DIM:FROM[..TO]: one value in a slice of a random input.
  std::vector<std::string> plants;
  /// Empty: random inputs.
  std::string inputFile;
  uint64_t seed = 0;
  /// Whether inputs may break what the op requires: results are anything then.
  bool breaksRequires = false;
  /// Whether `ref` executes it, which takes more memory and time.
  bool onReference = false;
};

/// A complete, checked problem.
struct Problem {
  CompileRequest request;
  Manifest signature;
  DimValues dims;
  /// Those that the caller gives; each launch chooses the others.
  DimValues given;
  /// All scalars, rounded to their type.
  std::map<std::string, double> scalars;
  /// The present inputs and inouts, and given outputs with `init` keep.
  std::map<std::string, HostArray> inputs;

  /// The dims by name.
  std::map<std::string, int64_t> namedDims() const;
  /// Those that the caller gives.
  std::map<std::string, int64_t> givenDims() const;
};

/// The op's signature; `sets` that are no scalars are bound in the request, the
/// others, with defaults for the rest, are in `scalars`. A scalar that has no
/// value is an error, but where `mayLackScalars`.
Result<Problem> makeSignature(CompileRequest request,
                              const std::vector<std::string> &sets,
                              bool mayLackScalars = false);

/// Binds `--set`, `--shape` and `-i`, or draws random inputs, and checks all
/// of it against the signature. `request` has no bindings yet.
Result<Problem> makeProblem(CompileRequest request,
                            const ProblemOptions &options);

/// Status for a compilation: its diagnostics have been printed already.
Status statusOf(const CompileResult &result);

/// By input of integers without a required range that select pages, blocks or
/// rows of other tensors: how many values from 0 on do, for these dims.
Result<std::map<std::string, int64_t>>
findSelectors(const Problem &problem,
              const std::map<std::string, int64_t> &dims);

/// Draws the inputs of `problem`, whose dims are known: floats standard
/// normal, integers uniform in their required range or among those that select
/// something (findSelectors()), else 0. Every tensor
/// has its own sequence, derived from the seed and its name. Those that
/// `options` fill take the values given.
Status drawInputs(Problem &problem, const ProblemOptions &options);

/// Checks the `requires` of the signature; names tensor, index and value.
Status checkRanges(const Problem &problem);

/// An uninitialised array of a tensor of the signature.
Result<HostArray> makeArray(const Problem &problem,
                            const ManifestTensor &tensor);

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_RUNPROBLEM_H
