// Strides of the layouts that `run` offers.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/Layout.h"

#include <gmock/gmock.h>
#include <set>

using namespace selvedge;
using namespace selvedge::cli;
using testing::ElementsAre;

namespace {

TEST(Layout, strides) {
  std::vector<int64_t> shape = {2, 3, 5, 7};
  Layout contiguous = makeLayout(LayoutKind::Contiguous, shape);
  EXPECT_THAT(contiguous.strides, ElementsAre(105, 35, 7, 1));
  EXPECT_EQ(contiguous.box, 210);
  Layout padded = makeLayout(LayoutKind::Padded, shape);
  EXPECT_THAT(padded.strides, ElementsAre(225, 75, 15, 1));
  EXPECT_EQ(padded.box, 225 + 150 + 60 + 7);
  Layout transposed = makeLayout(LayoutKind::Transposed, shape);
  EXPECT_THAT(transposed.strides, ElementsAre(105, 35, 1, 5));
  Layout permuted = makeLayout(LayoutKind::Permuted, shape);
  EXPECT_THAT(permuted.strides, ElementsAre(105, 7, 21, 1));
  Layout unaligned = makeLayout(LayoutKind::Unaligned, shape);
  EXPECT_THAT(unaligned.strides, ElementsAre(105, 35, 7, 1));
  EXPECT_EQ(unaligned.offset, 1);
  EXPECT_EQ(unaligned.box, 211);
  Layout broadcast = makeLayout(LayoutKind::Broadcast, shape);
  EXPECT_THAT(broadcast.strides, ElementsAre(0, 35, 7, 1));
  EXPECT_EQ(broadcast.box, 105);
  Layout named = makeLayout(LayoutKind::Broadcast, {2, 1, 3, 4},
                            {false, true, true, false});
  EXPECT_THAT(named.strides, ElementsAre(4, 4, 0, 1));
  EXPECT_THAT(named.given, ElementsAre(2, 1, 1, 4));
  EXPECT_EQ(named.box, 8);
  EXPECT_THAT(makeLayout(LayoutKind::Broadcast, {1, 3, 4}).strides,
              ElementsAre(4, 0, 1));
}

TEST(Layout, everyElementHasItsPlaceInTheBox) {
  for (LayoutKind kind :
       {LayoutKind::Contiguous, LayoutKind::Padded, LayoutKind::Transposed,
        LayoutKind::Permuted, LayoutKind::Unaligned}) {
    Layout layout = makeLayout(kind, {3, 2, 4});
    std::vector<int64_t> places = layout.places();
    EXPECT_EQ(std::set<int64_t>(places.begin(), places.end()).size(), 24u);
    EXPECT_EQ(*std::ranges::min_element(places), layout.offset);
    EXPECT_EQ(*std::ranges::max_element(places), layout.box - 1);
  }
}

TEST(Layout, emptyAndScalarTensors) {
  EXPECT_EQ(makeLayout(LayoutKind::Padded, {3, 0}).box, 0);
  EXPECT_TRUE(makeLayout(LayoutKind::Padded, {3, 0}).places().empty());
  EXPECT_EQ(makeLayout(LayoutKind::Unaligned, {0}).box, 1);
  EXPECT_EQ(makeLayout(LayoutKind::Contiguous, {}).box, 1);
  EXPECT_THAT(makeLayout(LayoutKind::Unaligned, {}).places(), ElementsAre(1));
}

Manifest signature() {
  Manifest manifest;
  manifest.op = "op";
  DimExpr extent;
  manifest.tensors = {{"x", Role::In, DType::F32, {extent, extent}},
                      {"len", Role::In, DType::I32, {extent}},
                      {"y", Role::Out, DType::F32, {extent, extent}},
                      {"tmp", Role::Temp, DType::F32, {extent, extent}}};
  return manifest;
}

TEST(Layout, parses) {
  auto one = parseLayouts({"x=transposed", "x=padded"}, signature());
  ASSERT_TRUE(one.ok());
  EXPECT_THAT(*one, ElementsAre(testing::Pair("x", LayoutKind::Padded)));
  // Where a layout does not fit, a tensor keeps what it had.
  auto all = parseLayouts({"unaligned", "broadcast", "y=padded"}, signature());
  ASSERT_TRUE(all.ok());
  EXPECT_THAT(*all, ElementsAre(testing::Pair("len", LayoutKind::Broadcast),
                                testing::Pair("x", LayoutKind::Broadcast),
                                testing::Pair("y", LayoutKind::Padded)));
}

TEST(Layout, refuses) {
  auto message = [](const std::string &text) {
    auto result = parseLayouts({text}, signature());
    EXPECT_EQ(result.status().code(), ErrorCode::BadInput);
    return result.status().message();
  };
  EXPECT_THAT(message("x=diagonal"),
              testing::StartsWith("--layout 'diagonal' is unknown: expected "));
  EXPECT_EQ(message("len=padded"), "--layout len=padded: padded needs rank 2, "
                                   "but the tensor has rank 1");
  EXPECT_EQ(message("y=broadcast"),
            "--layout y=broadcast: broadcast is for inputs");
  EXPECT_EQ(message("tmp=padded"), "--layout: op 'op' has no tensor 'tmp'");
}

} // namespace
