// The driver of tests/tools/FakeCuda.cpp, found at run time.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TESTS_RUNTIME_FAKE_H
#define SELVEDGE_TESTS_RUNTIME_FAKE_H

#include "tests/tools/FakeCuda.h"

#include <dlfcn.h>

namespace selvedge::test {

/// A function of the driver; null where that is not the fake one, or lacks it.
template <typename Function>
Function fakeFunction(const char *name) {
  void *driver = ::dlopen("libcuda.so.1", RTLD_NOW);
  return driver ? reinterpret_cast<Function>(::dlsym(driver, name)) : nullptr;
}

/// Calls a function of the driver by its name.
template <typename... Args>
int callDriver(const char *name, Args... args) {
  auto function = fakeFunction<int (*)(Args...)>(name);
  return function ? function(args...) : -1;
}

/// tests/tools/Inputs/axpy.tile, as it is compiled; the driver executes it.
inline constexpr const char *axpyManifest = R"json({
  "selvedge": 1, "compiler": "0.1.0", "op": "axpy", "arch": "sm_80", "params": {},
  "dims": ["M", "N"],
  "tensors": [
    {"name": "x", "role": "in", "dtype": "f32", "shape": ["M", "N"], "optional": false},
    {"name": "len", "role": "in", "dtype": "i32", "shape": ["M"], "optional": true},
    {"name": "y", "role": "out", "dtype": "f32", "shape": ["M", "N"], "optional": false}
  ],
  "scalars": [{"name": "a", "dtype": "f32", "default": 2}],
  "requires": [{"tensor": "len", "lo": 0, "hi": "N"}],
  "variants": [
    {"name": "universal", "when": [],
     "launches": [
       {"kernel": "axpy_init_y", "grid": ["M"], "block": 32, "smem": 0,
        "args": [{"dim": "N"}, {"pointer": "y"}, {"stride": ["y", 0]}, {"stride": ["y", 1]}]},
       {"kernel": "axpy_main_universal", "grid": ["M"], "block": 32, "smem": 0,
        "args": [{"dim": "N"}, {"pointer": "x"}, {"stride": ["x", 0]}, {"stride": ["x", 1]},
                 {"pointer": "len"}, {"stride": ["len", 0]},
                 {"pointer": "y"}, {"stride": ["y", 0]}, {"stride": ["y", 1]}, {"scalar": "a"}]}]}
  ]
})json";

} // namespace selvedge::test

#endif // SELVEDGE_TESTS_RUNTIME_FAKE_H
