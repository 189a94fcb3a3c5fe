// Tests of the diagnostics.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Diagnostics.h"

#include "gtest/gtest.h"

using namespace selvedge::frontend;

namespace {

llvm::SMLoc locAt(const Diagnostics &diags, size_t offset) {
  return llvm::SMLoc::getFromPointer(diags.text().data() + offset);
}

TEST(Diagnostics, ShowsPlaceLineCaretAndHint) {
  Diagnostics diags("t.tile", "one\ntwo three\n");
  diags.error(locAt(diags, 8), "bad word", "try four");
  EXPECT_EQ(diags.rendered(), "t.tile:2:5: error: bad word\n"
                              "two three\n"
                              "    ^\n"
                              "note: try four\n");
}

TEST(Diagnostics, ReportsAPlaceAndMessageOnce) {
  Diagnostics diags("t.tile", "x");
  diags.error(locAt(diags, 0), "bad");
  diags.error(locAt(diags, 0), "bad");
  diags.error(locAt(diags, 0), "worse");
  EXPECT_EQ(diags.errorCount(), 2u);
}

TEST(Diagnostics, GivesUpAfterManyErrors) {
  Diagnostics diags("t.tile", std::string(100, 'x'));
  for (size_t i = 0; i < 100; ++i)
    diags.error(locAt(diags, i), "bad");
  EXPECT_TRUE(diags.full());
  EXPECT_EQ(diags.errorCount(), 20u);
}

TEST(Diagnostics, NamesTheFileWithoutAPlace) {
  Diagnostics diags("t.tile", "");
  diags.error({}, "nothing here");
  EXPECT_EQ(diags.rendered(), "t.tile: error: nothing here\n");
}

TEST(Diagnostics, SuggestsTheNearestName) {
  EXPECT_EQ(didYouMean("tahn", {"exp", "tanh"}), "did you mean 'tanh'?");
  EXPECT_EQ(didYouMean("banana", {"exp", "tanh"}), "");
  EXPECT_EQ(didYouMean("x", {"y"}), "");
  EXPECT_EQ(didYouMean("", {"y"}), "");
}

} // namespace
