// Writes manifests.
// SPDX-License-Identifier: MIT
#include "compiler/Target/PTX/Manifest.h"

#include "dialect/Sm/Sm.h"
#include "dialect/Tile/Accumulate.h"
#include "dialect/Tile/BroadcastDims.h"
#include "dialect/Tile/LaunchSizes.h"
#include "dialect/Tile/ReducedDims.h"
#include "dialect/Tile/Tile.h"
#include "dialect/Tile/UniqueTensors.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

namespace selvedge::ptx {

using namespace mlir;
namespace json = llvm::json;

namespace {

/// The part of an op that plan and program share.
struct Signature {
  StringRef name;
  ArrayAttr dims, tensors, scalars, promises;
  SmallVector<tile::LaunchSize> launchSizes;
  DictionaryAttr params;
  llvm::StringSet<> anyOrder;
  SmallVector<StringAttr> unique;
  SmallVector<tile::BroadcastDims> broadcast;
  SmallVector<tile::ReducedDim> reduced;
};

/// Writes one manifest. Members keep the order of docs/manifest.md; the first
/// thing that has no JSON form is remembered and fails finish().
class ManifestWriter {
public:
  explicit ManifestWriter(const Signature &signature) : signature(signature) {}

  void writeHeader(StringRef compilerVersion, StringRef arch);
  void writeSignature();
  void writeVariant(sm::VariantOp variant);

  llvm::Expected<std::string> finish() {
    os.flush();
    if (!problem.empty())
      return llvm::createStringError(problem);
    return std::move(text) + "\n";
  }

private:
  json::Value expression(AffineExpr expr);
  json::Value single(AffineMap map);
  json::Value shape(AffineMap map);
  json::Value grid(AffineMap map);
  json::Value number(Attribute value);
  json::Value parameter(Attribute value);
  json::Array box(sm::TensorMapArgAttr map);
  json::Value argument(Attribute arg);
  StringRef dtype(Type type);
  void writeTensor(tile::TensorArgAttr tensor);
  void writeScalar(tile::ScalarArgAttr scalar);
  void writeAligned(ArrayAttr tensors, sm::VariantOp variant);
  void writeLaunch(sm::LaunchOp launch);

  template <typename AttrTy, typename Fn>
  void writeList(StringRef key, ArrayAttr items, Fn writeItem) {
    writer.attributeArray(key, [&] {
      for (auto item : items.getAsRange<AttrTy>())
        writer.object([&] { writeItem(item); });
    });
  }

  /// Remembers the first problem and stands in for the missing value.
  template <typename T>
  json::Value fail(StringRef what, T subject) {
    if (problem.empty()) {
      llvm::raw_string_ostream out(problem);
      out << what << ": " << subject;
    }
    return nullptr;
  }

  const Signature &signature;
  std::string text, problem;
  llvm::raw_string_ostream os{text};

public:
  json::OStream writer{os, 2};
};

} // namespace

/// An expression of two operands, as readers evaluate it.
static json::Value call(StringRef operation, json::Value left,
                        json::Value right) {
  return json::Object{
      {operation, json::Array{std::move(left), std::move(right)}}};
}

static StringRef operationName(AffineExprKind kind) {
  switch (kind) {
  case AffineExprKind::Add:
    return "add";
  case AffineExprKind::Mul:
    return "mul";
  case AffineExprKind::Mod:
    return "mod";
  case AffineExprKind::FloorDiv:
    return "floordiv";
  case AffineExprKind::CeilDiv:
    return "ceildiv";
  default:
    return "";
  }
}

json::Value ManifestWriter::expression(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    unsigned position = symbol.getPosition();
    if (position >= signature.dims.size())
      return fail("symbol without a dim", expr);
    return cast<StringAttr>(signature.dims[position]).getValue();
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return fail("expression of something else than dims", expr);
  // MLIR spells a - b as a + b * -1.
  AffineExpr lhs = binary.getLHS(), rhs = binary.getRHS();
  StringRef name = operationName(expr.getKind());
  if (expr.getKind() == AffineExprKind::Add)
    if (auto product = dyn_cast<AffineBinaryOpExpr>(rhs);
        product && product.getKind() == AffineExprKind::Mul &&
        product.getRHS() == getAffineConstantExpr(-1, expr.getContext())) {
      name = "sub";
      rhs = product.getLHS();
    }
  json::Value left = expression(lhs), right = expression(rhs);
  return call(name, std::move(left), std::move(right));
}

json::Value ManifestWriter::single(AffineMap map) {
  if (map.getNumResults() != 1)
    return fail("map has to have one result", map);
  return expression(map.getResult(0));
}

json::Value ManifestWriter::shape(AffineMap map) {
  json::Array extents;
  for (AffineExpr extent : map.getResults())
    extents.push_back(expression(extent));
  return extents;
}

/// The product of the map's results. A count below zero is no iteration; two of
/// them must not multiply to a positive grid.
json::Value ManifestWriter::grid(AffineMap map) {
  auto mayBeNegative = [](AffineExpr count) {
    bool found = false;
    count.walk([&](AffineExpr part) {
      auto constant = dyn_cast<AffineConstantExpr>(part);
      found |= constant && constant.getValue() < 0;
    });
    return found;
  };
  json::Value product = nullptr;
  for (AffineExpr count : map.getResults()) {
    json::Value factor = expression(count);
    if (mayBeNegative(count))
      factor = call("max", 0, std::move(factor));
    product = product.kind() == json::Value::Null
                  ? std::move(factor)
                  : call("mul", std::move(product), std::move(factor));
  }
  return json::Array{std::move(product)};
}

json::Value ManifestWriter::number(Attribute value) {
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return integer.getInt();
  if (auto map = dyn_cast<AffineMapAttr>(value)) {
    AffineMap affine = map.getValue();
    if (affine.getNumResults() != 1)
      return fail("not one number", map);
    json::Value value = expression(affine.getResult(0));
    // A name alone would be a number that JSON does not have, such as "nan".
    return value.kind() == json::Value::String
               ? call("add", std::move(value), 0)
               : std::move(value);
  }
  auto real = dyn_cast<FloatAttr>(value);
  if (!real)
    return fail("not a number", value);
  double v = real.getValueAsDouble();
  // JSON has no such numbers.
  if (std::isnan(v))
    return "nan";
  if (std::isinf(v))
    return v > 0 ? "inf" : "-inf";
  return v;
}

json::Value ManifestWriter::parameter(Attribute value) {
  if (auto boolean = dyn_cast<BoolAttr>(value))
    return boolean.getValue();
  if (auto string = dyn_cast<StringAttr>(value))
    return string.getValue();
  if (auto type = dyn_cast<TypeAttr>(value))
    return dtype(type.getValue());
  return number(value);
}

StringRef ManifestWriter::dtype(Type type) {
  StringRef name = tile::nameOf(type);
  if (name.empty())
    fail("type without a dtype", type);
  return name;
}

void ManifestWriter::writeHeader(StringRef compilerVersion, StringRef arch) {
  writer.attribute("selvedge", 1);
  writer.attribute("compiler", compilerVersion);
  writer.attribute("op", signature.name);
  if (!arch.empty())
    writer.attribute("arch", arch);
}

void ManifestWriter::writeSignature() {
  writer.attributeObject("params", [&] {
    for (NamedAttribute param : signature.params)
      writer.attribute(param.getName(), parameter(param.getValue()));
  });
  writer.attributeArray("dims", [&] {
    for (auto dim : signature.dims.getAsRange<StringAttr>())
      writer.value(dim.getValue());
  });
  writeList<tile::TensorArgAttr>(
      "tensors", signature.tensors,
      [&](tile::TensorArgAttr tensor) { writeTensor(tensor); });
  writeList<tile::ScalarArgAttr>(
      "scalars", signature.scalars,
      [&](tile::ScalarArgAttr scalar) { writeScalar(scalar); });
  writeList<tile::RequireAttr>(
      "requires", signature.promises, [&](tile::RequireAttr promise) {
        writer.attribute("tensor", promise.getTensor().getValue());
        writer.attribute("lo", single(promise.getLo()));
        writer.attribute("hi", single(promise.getHi()));
        if (promise.getOrdered())
          writer.attribute("ordered", true);
      });
  if (!signature.reduced.empty())
    writer.attributeArray("reduced", [&] {
      for (const tile::ReducedDim &dim : signature.reduced)
        writer.object([&] {
          writer.attribute("dim", dim.name.getValue());
          writer.attribute("tensor", dim.tensor.getValue());
          writer.attribute("dimension", dim.dimension);
        });
    });
  if (signature.launchSizes.empty())
    return;
  writer.attributeArray("launch", [&] {
    for (const tile::LaunchSize &size : signature.launchSizes)
      writer.object([&] {
        writer.attribute("dim", size.name);
        writer.attribute("lo", size.lo);
        writer.attribute("hi", size.hi);
        writer.attribute("parts", shape(size.parts));
      });
  });
}

void ManifestWriter::writeTensor(tile::TensorArgAttr tensor) {
  writer.attribute("name", tensor.getName().getValue());
  writer.attribute("role", tile::stringifyRole(tensor.getRole()));
  writer.attribute("dtype", dtype(tensor.getElementType()));
  writer.attribute("shape", shape(tensor.getShape()));
  writer.attribute("optional", tensor.getIsOptional());
  if (signature.anyOrder.contains(tensor.getName().getValue()))
    writer.attribute("anyOrder", true);
  if (llvm::is_contained(signature.unique, tensor.getName()))
    writer.attribute("unique", true);
  for (const tile::BroadcastDims &input : signature.broadcast)
    if (input.tensor == tensor.getName())
      writer.attribute("broadcast", json::Array(input.dims));
  Attribute init = tensor.getInit();
  if (!init)
    return;
  auto keyword = dyn_cast<StringAttr>(init);
  writer.attribute("init",
                   keyword ? json::Value(keyword.getValue()) : number(init));
}

void ManifestWriter::writeScalar(tile::ScalarArgAttr scalar) {
  writer.attribute("name", scalar.getName().getValue());
  writer.attribute("dtype", dtype(scalar.getType()));
  if (Attribute value = scalar.getValue())
    writer.attribute("default", number(value));
}

json::Array ManifestWriter::box(sm::TensorMapArgAttr map) {
  json::Array extents(map.getBox());
  if (sm::PairsAttr pairs = map.getPairs()) {
    StringRef by = pairs.getBy().getValue();
    int64_t rows = map.getBox()[pairs.getOuter()];
    bool isPart = pairs.getPiece() == sm::Piece::Part;
    extents[pairs.getInner()] = call(isPart ? "gcd" : "min", rows, by);
    extents[pairs.getOuter()] = pairs.getPiece() == sm::Piece::Groups
                                    ? call("max", 1, call("floordiv", rows, by))
                                    : json::Value(1);
  }
  return extents;
}

json::Value ManifestWriter::argument(Attribute arg) {
  return llvm::TypeSwitch<Attribute, json::Value>(arg)
      .Case([&](sm::PointerArgAttr a) -> json::Value {
        return json::Object{{"pointer", a.getTensor().getValue()}};
      })
      .Case([&](sm::TensorMapArgAttr a) -> json::Value {
        json::Array map{a.getTensor().getValue(), box(a)};
        if (a.getSwizzle() == 0)
          map.push_back("plain");
        return json::Object{{"tensorMap", std::move(map)}};
      })
      .Case([&](sm::StrideArgAttr a) -> json::Value {
        return json::Object{
            {"stride", json::Array{a.getTensor().getValue(), a.getDim()}}};
      })
      .Case([&](sm::DimArgAttr a) -> json::Value {
        return json::Object{{"dim", a.getDim().getValue()}};
      })
      .Case([&](sm::CounterArgAttr) -> json::Value {
        return json::Object{{"counter", true}};
      })
      .Case([&](sm::ScalarArgAttr a) -> json::Value {
        return json::Object{{"scalar", a.getScalar().getValue()}};
      })
      .Default([&](Attribute a) { return fail("not a kernel argument", a); });
}

/// Conditions of rows that are multiples of the variant's alignment.
void ManifestWriter::writeAligned(ArrayAttr tensors, sm::VariantOp variant) {
  for (auto tensor : tensors.getAsRange<StringAttr>())
    writer.object([&] {
      writer.attribute("tensor", tensor.getValue());
      writer.attribute("align", static_cast<int64_t>(variant.getAlign()));
    });
}

void ManifestWriter::writeLaunch(sm::LaunchOp launch) {
  writer.attribute("kernel", launch.getKernel());
  writer.attribute("grid", grid(launch.getGrid()));
  if (launch.getPersistent())
    writer.attribute("persistent", true);
  if (launch.getDependent())
    writer.attribute("dependent", true);
  writer.attribute("block", static_cast<int64_t>(launch.getBlock()));
  writer.attribute("smem", static_cast<int64_t>(launch.getSmem()));
  if (std::optional<ArrayAttr> when = launch.getWhen())
    writer.attributeArray("when", [&] {
      writeAligned(*when, launch->getParentOfType<sm::VariantOp>());
    });
  writer.attributeArray("args", [&] {
    for (Attribute arg : launch.getArgs())
      writer.value(argument(arg));
  });
}

void ManifestWriter::writeVariant(sm::VariantOp variant) {
  writer.attribute("name", variant.getName());
  writer.attributeArray("when", [&] {
    writeAligned(variant.getWhen(), variant);
    if (std::optional<AffineMap> conditions = variant.getConditions())
      for (AffineExpr condition : conditions->getResults())
        writer.object([&] { writer.attribute("dims", expression(condition)); });
  });
  writer.attributeArray("launches", [&] {
    for (auto launch : variant.getBody().getOps<sm::LaunchOp>())
      writer.object([&] { writeLaunch(launch); });
  });
}

llvm::Expected<std::string> writeManifest(sm::PlanOp plan, StringRef arch,
                                          StringRef compilerVersion,
                                          bool exactMasks) {
  Signature signature{plan.getOp(),
                      plan.getDims(),
                      plan.getTensors(),
                      plan.getScalars(),
                      plan.getPromises(),
                      tile::getLaunchSizes(plan),
                      plan.getParams(),
                      {},
                      tile::getUniqueTensors(plan),
                      tile::getBroadcastDims(plan),
                      tile::getReducedDims(plan)};
  ManifestWriter manifest(signature);
  manifest.writer.object([&] {
    manifest.writeHeader(compilerVersion, arch);
    if (exactMasks)
      manifest.writer.attribute("mask", "exact");
    manifest.writeSignature();
    manifest.writer.attributeArray("variants", [&] {
      for (auto variant : plan.getBody().getOps<sm::VariantOp>())
        manifest.writer.object([&] { manifest.writeVariant(variant); });
    });
  });
  return manifest.finish();
}

llvm::Expected<std::string> writeSignature(tile::ProgramOp program,
                                           StringRef compilerVersion) {
  Signature signature{program.getSymName(),
                      program.getDims(),
                      program.getTensors(),
                      program.getScalars(),
                      program.getPromises(),
                      tile::getLaunchSizes(program),
                      program.getParams(),
                      tile::tensorsOfAnyOrder(program),
                      tile::getUniqueTensors(program),
                      tile::getBroadcastDims(program),
                      tile::getReducedDims(program)};
  ManifestWriter manifest(signature);
  manifest.writer.object([&] {
    manifest.writeHeader(compilerVersion, "");
    manifest.writeSignature();
  });
  return manifest.finish();
}

} // namespace selvedge::ptx
