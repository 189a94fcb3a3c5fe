// Small tile programs for the tests of device `ref`.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TESTS_REFERENCE_TESTPROGRAMS_H
#define SELVEDGE_TESTS_REFERENCE_TESTPROGRAMS_H

#include "compiler/Reference/Reference.h"

#include <limits>
#include <string>
#include <vector>

namespace selvedge::testing {

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double inf = std::numeric_limits<double>::infinity();

/// A tensor of a test program; `shape` names dims or gives numbers, `rest` are
/// further parameters of #tile.tensor_arg.
struct Arg {
  std::string name;
  std::string role;
  std::string type;
  std::vector<std::string> shape;
  std::string rest = {};
};

/// A range of a kernel over a dim, by `block` unless that is empty.
struct Range {
  std::string name;
  std::string dim;
  std::string block;
};

/// A kernel. Its block arguments are %DIM, %TENSOR, %SCALAR and %RANGE0.
struct Kernel {
  std::vector<Range> ranges;
  /// Axes by name; "i:BM" takes a block's size, "d:4" is an extent.
  std::vector<std::string> axes;
  std::string body;
};

/// A program. Bodies may use the aliases #i #j #d #ij #id #jd for axes, !Xi !Xj
/// !Xd !Xij !Xid !Xjd for tiles of element X: f (f32), h (f16), b (bf16), n
/// (i32), p (i1).
struct Program {
  std::vector<std::string> dims;
  std::vector<Arg> tensors;
  std::vector<Kernel> kernels;
  std::vector<std::string> scalars = {};
  std::string promises = {};

  std::string text() const;
};

/// What a run gave; `diagnostics` is empty on success.
struct Outcome {
  std::vector<HostTensor> outputs;
  std::string diagnostics;

  /// An output by name; an empty tensor when there is none.
  const HostTensor &operator[](const std::string &name) const;
};

/// Parses and interprets.
Outcome run(const std::string &text, const std::map<std::string, int64_t> &dims,
            const std::vector<HostTensor> &inputs,
            const ReferenceOptions &options = {},
            const std::map<std::string, double> &scalars = {});

/// An input tensor.
HostTensor tensor(std::string name, std::vector<int64_t> shape,
                  std::vector<double> values);

/// Normally distributed numbers, rounded to f32 or to bf16.
std::vector<double> randomNumbers(size_t count, unsigned seed,
                                  bool bfloat = false);

/// Nearest bf16 of a float, ties to even.
float toBFloat(float value);

/// The forward of attention over q[M, 8], k[N, 8], v[N, 8] with `type` as
/// element type: keys j < len, and j < i + shift with `causal`; o and lse.
std::string flashForward(const std::string &type, bool causal);

} // namespace selvedge::testing

#endif // SELVEDGE_TESTS_REFERENCE_TESTPROGRAMS_H
