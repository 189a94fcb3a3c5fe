// Registration and type helpers of the tile dialect.
// SPDX-License-Identifier: MIT
#include "dialect/Tile/Tile.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace selvedge::tile;

#include "dialect/Tile/TileDialect.cpp.inc"
#include "dialect/Tile/TileEnums.cpp.inc"
#include "dialect/Tile/TileInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/Tile/TileAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/Tile/TileTypes.cpp.inc"

#define GET_OP_CLASSES
#include "dialect/Tile/TileComputeOps.cpp.inc"

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/Tile/TileAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/Tile/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/Tile/TileComputeOps.cpp.inc"
      >();
}

namespace selvedge::tile {

std::string VersionAttr::deviceSuffix() const {
  constexpr int64_t kilobyte = 1024;
  if (getShared() == 0)
    return "";
  return getShared() % kilobyte
             ? "_" + std::to_string(getShared())
             : "_" + std::to_string(getShared() / kilobyte) + "k";
}

std::string VersionAttr::str() const {
  switch (getKind()) {
  case VersionKind::Program:
    return deviceSuffix().substr(getShared() ? 1 : 0);
  case VersionKind::Rows:
    return (getLimit() ? "upto" + std::to_string(getLimit()) : "aligned") +
           deviceSuffix();
  case VersionKind::Universal:
  case VersionKind::Packed:
  case VersionKind::Single:
    return stringifyVersionKind(getKind()).str() + deviceSuffix();
  }
  llvm_unreachable("no other kinds");
}

std::string SourceAttr::str() const {
  std::string version = getVersion().str();
  return version + (version.empty() ? "" : ".") +
         getKernel().getLeafReference().str();
}

AffineMap IterAttr::getExtentFor(int64_t size) const {
  AffineMap extent = getExtent();
  if (extent.getNumDims() == 0)
    return extent;
  // As a number of whole blocks, so that dividing by their size cannot wrap.
  auto at = [&](int64_t value) {
    AffineExpr block = getAffineConstantExpr(value, getContext());
    return extent.getResult(0).replaceDimsAndSymbols(block, {});
  };
  unsigned symbols = extent.getNumSymbols();
  AffineExpr perBlock = simplifyAffineExpr(at(1) - at(0), 0, symbols);
  return AffineMap::get(0, symbols, (at(0).ceilDiv(size) + perBlock) * size);
}

bool isTile(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() == 0)
    return false;
  auto axes = dyn_cast_or_null<AxesAttr>(tensor.getEncoding());
  return axes &&
         static_cast<int64_t>(axes.getNames().size()) == tensor.getRank();
}

int64_t bytesOf(Type element) {
  return std::max(8u, element.getIntOrFloatBitWidth()) / 8;
}

StringRef nameOf(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element)) {
    switch (integer.getWidth()) {
    case 1:
      return "bool";
    case 8:
      return integer.isUnsigned() ? "u8" : "i8";
    case 32:
      return "i32";
    case 64:
      return "i64";
    default:
      return "";
    }
  }
  return llvm::TypeSwitch<Type, StringRef>(element)
      .Case([](Float32Type) { return "f32"; })
      .Case([](BFloat16Type) { return "bf16"; })
      .Case([](Float16Type) { return "f16"; })
      .Case([](Float64Type) { return "f64"; })
      .Case([](Float8E4M3FNType) { return "e4m3"; })
      .Case([](Float8E5M2Type) { return "e5m2"; })
      .Default([](Type) { return ""; });
}

bool isByteFloat(Type element) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(element);
}

Type signlessOf(Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  return integer ? IntegerType::get(element.getContext(), integer.getWidth())
                 : element;
}

ArrayRef<StringAttr> axesOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto axes =
      tensor ? dyn_cast_or_null<AxesAttr>(tensor.getEncoding()) : AxesAttr();
  return axes ? axes.getNames() : ArrayRef<StringAttr>();
}

Type tileType(Type elementType, ArrayRef<StringAttr> axes,
              ArrayRef<int64_t> sizes) {
  if (axes.empty())
    return elementType;
  return RankedTensorType::get(sizes, elementType,
                               AxesAttr::get(elementType.getContext(), axes));
}

Type withElementType(Type type, Type elementType) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return RankedTensorType::get(tensor.getShape(), elementType,
                                 tensor.getEncoding());
  return elementType;
}

Value broadcastTo(OpBuilder &builder, Location loc, Value value, Type shape) {
  if (!isTile(shape))
    return value;
  Type type = withElementType(shape, getElementTypeOrSelf(value.getType()));
  if (value.getType() == type)
    return value;
  if (!isTile(value.getType()))
    return SplatOp::create(builder, loc, type, value);
  return BroadcastOp::create(builder, loc, type, value);
}

ProgramOp KernelOp::getProgram() {
  return cast<ProgramOp>((*this)->getParentOp());
}

BlockArgument KernelOp::getDimArg(unsigned i) {
  return getBody().getArgument(i);
}

BlockArgument KernelOp::getTensorArgument(unsigned i) {
  return getBody().getArgument(getProgram().getDims().size() + i);
}

BlockArgument KernelOp::getScalarArgument(unsigned i) {
  return getTensorArgument(getProgram().getTensors().size() + i);
}

BlockArgument KernelOp::getCoord(unsigned i) {
  return getBody().getArgument(getProgram().getNumSharedArgs() + i);
}

TensorArgAttr KernelOp::getTensorArgOf(Value tensor) {
  return getProgram().getTensorArg(cast<BlockArgument>(tensor).getArgNumber() -
                                   getProgram().getDims().size());
}

SmallVector<Value> testedOf(ValueRange presence, ArrayRef<int64_t> garbage) {
  SmallVector<Value> tested;
  for (auto [i, p] : llvm::enumerate(presence))
    if (!llvm::is_contained(garbage, static_cast<int64_t>(i)))
      tested.push_back(p);
  return tested;
}

LogicalResult checkGarbage(Operation *op, ValueRange presence,
                           ArrayRef<int64_t> garbage) {
  for (int64_t position : garbage)
    if (position < 0 || position >= static_cast<int64_t>(presence.size()))
      return op->emitOpError("expects 'garbage' to have positions of its ")
             << presence.size() << " predicates, but got " << position;
  return success();
}

} // namespace selvedge::tile
