// The kernel that fills shared memory and registers.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/Scrub.h"

#include "selvedge/Ptxas.h"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace selvedge;
using namespace selvedge::cli;

namespace {

TEST(Scrub, wordsHoldElementsOfTheData) {
  EXPECT_EQ(poisonWord(Poison::Nan, DType::BF16), 0x7fc07fc0u);
  EXPECT_EQ(poisonWord(Poison::NegInf, DType::F16), 0xfc00fc00u);
  EXPECT_EQ(poisonWord(Poison::Inf, DType::F32), 0x7f800000u);
  EXPECT_EQ(poisonWord(Poison::Ones, DType::F32), 0xffffffffu);
}

TEST(Scrub, assembles) {
  if (!locatePtxas().ok())
    GTEST_SKIP() << "no ptxas";
  ::setenv("XDG_CACHE_HOME", testing::TempDir().c_str(), 1);
  for (const char *arch : {"sm_80", "sm_86", "sm_90"}) {
    Result<std::string> cubin = assemblePtx(scrubPtx(), arch);
    EXPECT_TRUE(cubin.ok()) << arch << ": " << cubin.status().message();
  }
}

} // namespace
