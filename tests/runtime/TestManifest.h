// A manifest that several tests share.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TESTS_RUNTIME_TESTMANIFEST_H
#define SELVEDGE_TESTS_RUNTIME_TESTMANIFEST_H

#include "selvedge/Manifest.h"

namespace selvedge::test {

/// An attention-like op with every feature of the format.
inline constexpr std::string_view attentionManifest = R"json({
  "selvedge": 1, "compiler": "0.1.0", "op": "attention", "arch": "sm_80",
  "params": {"T": "bf16", "D": 64, "causal": false},
  "dims": ["B", "M", "G", "R", "N"],
  "tensors": [
    {"name": "q", "role": "in", "dtype": "bf16", "shape": ["B", "M", {"mul": ["G", "R"]}, 64], "optional": false},
    {"name": "k", "role": "in", "dtype": "bf16", "shape": ["B", "N", "G", 64], "optional": false},
    {"name": "kv_len", "role": "in", "dtype": "i32", "shape": ["B"], "optional": true},
    {"name": "partial", "role": "temp", "dtype": "f32", "shape": ["B", 3]},
    {"name": "sums", "role": "temp", "dtype": "f32", "shape": ["M"]},
    {"name": "o", "role": "out", "dtype": "bf16", "shape": ["B", "M", {"mul": ["G", "R"]}, 64], "optional": false, "init": "-inf"}
  ],
  "scalars": [{"name": "scale", "dtype": "f32", "default": 0.125}, {"name": "window", "dtype": "i32"}],
  "requires": [{"tensor": "kv_len", "lo": 0, "hi": "N"}],
  "variants": [
    {"name": "aligned", "when": [{"tensor": "q", "align": 16}, {"tensor": "kv_len", "align": 16}],
     "launches": [
       {"kernel": "prep", "grid": ["N"], "block": 32, "smem": 0, "args": []},
       {"kernel": "main", "grid": [{"ceildiv": ["M", 64]}, "B"], "block": 128, "smem": 65536,
        "args": [{"pointer": "q"}, {"stride": ["q", 1]}, {"pointer": "kv_len"}, {"stride": ["kv_len", 0]},
                 {"pointer": "sums"}, {"dim": "M"}, {"scalar": "scale"}, {"scalar": "window"}]}]},
    {"name": "universal", "when": [], "launches": []}
  ]
})json";

/// The parsed attentionManifest.
inline Manifest parsedAttention() { return *parseManifest(attentionManifest); }

} // namespace selvedge::test

#endif // SELVEDGE_TESTS_RUNTIME_TESTMANIFEST_H
