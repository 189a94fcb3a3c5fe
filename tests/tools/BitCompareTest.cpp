// The kernel that compares device memory.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/BitCompare.h"

#include "selvedge/Ptxas.h"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace selvedge;
using namespace selvedge::cli;

namespace {

TEST(BitCompare, assembles) {
  if (!locatePtxas().ok())
    GTEST_SKIP() << "no ptxas";
  ::setenv("XDG_CACHE_HOME", testing::TempDir().c_str(), 1);
  for (const char *arch : {"sm_80", "sm_86", "sm_90"}) {
    Result<std::string> cubin = assemblePtx(comparePtx(), arch);
    EXPECT_TRUE(cubin.ok()) << arch << ": " << cubin.status().message();
  }
}

} // namespace
