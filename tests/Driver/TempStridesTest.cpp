// The compiler makes addresses of temps with the strides that the runtime lays
// them out with.
// SPDX-License-Identifier: MIT
#include "dialect/Sm/Sm.h"
#include "dialect/Tile/Tile.h"
#include "selvedge/Plan.h"

#include <gtest/gtest.h>

using namespace mlir;
using selvedge::DType;

namespace {

/// Strides that follow from the declaration of a temp whose first extent is a
/// dim.
SmallVector<int64_t> known(MLIRContext &context, Type element,
                           ArrayRef<int64_t> extents) {
  SmallVector<AffineExpr> shape{getAffineSymbolExpr(0, &context)};
  for (int64_t extent : extents)
    shape.push_back(getAffineConstantExpr(extent, &context));
  return selvedge::sm::knownStrides(selvedge::tile::TensorArgAttr::get(
      &context, StringAttr::get(&context, "t"), selvedge::tile::Role::Temp,
      element, AffineMap::get(0, 1, shape, &context), /*isOptional=*/false,
      Attribute(), selvedge::tile::Overflow::Sat));
}

TEST(TempStrides, AreThoseOfTheRuntime) {
  MLIRContext context;
  context.loadDialect<selvedge::tile::TileDialect, selvedge::sm::SmDialect>();
  Builder b(&context);
  const std::pair<Type, DType> types[] = {{b.getF32Type(), DType::F32},
                                          {b.getBF16Type(), DType::BF16},
                                          {b.getI32Type(), DType::I32},
                                          {b.getI8Type(), DType::I8}};
  const std::vector<int64_t> shapes[] = {{},     {128},     {3},        {1},
                                         {5, 7}, {4, 1, 9}, {2, 33, 64}};
  for (auto [element, dtype] : types)
    for (const std::vector<int64_t> &extents : shapes) {
      std::vector<int64_t> all{6};
      all.insert(all.end(), extents.begin(), extents.end());
      SmallVector<int64_t> found = known(context, element, extents);
      std::vector<int64_t> strides = selvedge::tempStrides(dtype, all);
      ASSERT_EQ(found.size(), all.size());
      EXPECT_EQ(std::vector<int64_t>(found.begin(), found.end()), strides);
    }
}

TEST(TempStrides, FollowFromConstantsAlone) {
  MLIRContext context;
  context.loadDialect<selvedge::tile::TileDialect, selvedge::sm::SmDialect>();
  SmallVector<AffineExpr> shape{getAffineConstantExpr(4, &context),
                                getAffineSymbolExpr(0, &context)};
  auto tensor = [&](selvedge::tile::Role role) {
    return selvedge::tile::TensorArgAttr::get(
        &context, StringAttr::get(&context, "t"), role,
        Float32Type::get(&context), AffineMap::get(0, 1, shape, &context),
        /*isOptional=*/false, Attribute(), selvedge::tile::Overflow::Sat);
  };
  EXPECT_EQ(selvedge::sm::knownStrides(tensor(selvedge::tile::Role::Temp)),
            (SmallVector<int64_t>{1}));
  EXPECT_TRUE(
      selvedge::sm::knownStrides(tensor(selvedge::tile::Role::In)).empty());
}

} // namespace
