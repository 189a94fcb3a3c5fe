// Programs and data for kernels with roles: rows that bulk copies can move.
// SPDX-License-Identifier: MIT
#include "Cases.h"

namespace selvedge::testing {

Case makeRoleCase(const std::string &fullName) {
  auto [name, width] = llvm::StringRef(fullName).split(' ');
  Case test = makeCase(name.str());
  test.name = fullName;
  test.edges.clear();
  test.kits.clear();
  if (name == "matmul") {
    const int64_t m = 400, n = 456, k = 328;
    test.dims = {{"M", m}, {"N", n}, {"K", k}};
    // Rings wrap, and the last step is not full.
    test.kits.push_back(
        {"rounds",
         {randomTensor("a", {m, k}, 5), randomTensor("b", {k, n}, 6)}});
    return test;
  }
  // The last rows that exist share a warp with others, of the last warpgroup.
  const int64_t b = 2, m = 450;
  int64_t d = 64;
  (void)width.getAsInteger(10, d);
  if (name == "decay") {
    const int64_t n = 300;
    test.dims = {{"B", b}, {"M", m}, {"H", 1}, {"N", n}};
    test.kits.push_back({"rounds",
                         {randomTensor("q", {b, m, 1, d}, 1),
                          randomTensor("k", {b, n, 1, d}, 2),
                          randomTensor("v", {b, n, 1, d}, 3)}});
    return test;
  }
  test.bindings["D"] = std::to_string(d);
  test.dims = {{"B", b}, {"M", m}, {"G", 1}, {"R", 1}};
  auto kit = [&](std::vector<Kit> &kits, const std::string &kind, int64_t n,
                 std::vector<double> lengths) {
    auto batch = static_cast<int64_t>(lengths.size());
    kits.push_back({kind,
                    {randomTensor("q", {batch, m, 1, d}, 1),
                     randomTensor("k", {batch, n, 1, d}, 2),
                     randomTensor("v", {batch, n, 1, d}, 3),
                     tensor("kv_len", {batch}, std::move(lengths))}});
    kits.back().dims = {{"B", batch}, {"N", n}};
    if (name == "gemma")
      kits.back().scalars["W"] = 300;
  };
  kit(test.kits, "rounds", 700, {690, 512});
  kit(test.kits, "short", 300, {290, 0});
  // A tile of one step, after one whose last step is not full either.
  // Bulk copies need rows of masks that begin at multiples of 16 bytes.
  kit(test.edges, "edge", name == "masked" ? 132 : 130, {100, 40});
  // Rings of tiles wrap; full steps come first, too.
  kit(test.edges, "tiles", 200, {128, 40, 150, 0, 200, 64});
  if (name == "masked")
    addMasks(test);
  return test;
}

} // namespace selvedge::testing
