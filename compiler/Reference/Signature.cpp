// Binding of run-time arguments to a program's signature.
// SPDX-License-Identifier: MIT
#include "compiler/Reference/Memory.h"
#include "dialect/Tile/Limits.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

using namespace mlir;

namespace selvedge::reference {

namespace {

/// Bound to the memory of a tensor, 17 bytes an element.
constexpr int64_t maxElements = int64_t(1) << 30;

llvm::Error error(const llvm::Twine &message) {
  return llvm::createStringError("error: " + message + "\n");
}

/// `value` as an element of an integer type: truncated and saturated, NaN as 0,
/// as the runtime stores numbers; bytes as tiles hold them, with a sign.
int64_t toInteger(double value, Type type) {
  if (type.isInteger(1))
    return value != 0;
  unsigned width = type.getIntOrFloatBitWidth();
  bool isUnsigned = type.isUnsignedInteger();
  double end = std::ldexp(1.0, static_cast<int>(width) - (isUnsigned ? 0 : 1));
  double low = isUnsigned ? 0 : -end;
  if (std::isnan(value))
    return 0;
  // 2^63 itself is not an int64_t.
  auto integer = value >= end
                     ? static_cast<int64_t>(llvm::maskTrailingOnes<uint64_t>(
                           std::min(width - (isUnsigned ? 0 : 1), 63u)))
                     : static_cast<int64_t>(std::max(std::trunc(value), low));
  return width < 64 ? llvm::SignExtend64(integer, width) : integer;
}

std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleaveComma(shape, os);
  os << ']';
  return text;
}

llvm::Error fillFrom(Tensor &tensor, const HostTensor &input) {
  Type type = tensor.arg.getElementType();
  llvm::StringRef name = tensor.arg.getName().getValue();
  if (!input.dtype.empty() && input.dtype != dtypeOf(type))
    return error("tensor '" + name + "' has type " + input.dtype +
                 ", but the op takes " + dtypeOf(type));
  if (input.shape != tensor.shape)
    return error("tensor '" + name + "' has shape " + shapeText(input.shape) +
                 ", but the dims give " + shapeText(tensor.shape));
  size_t size = tensor.size();
  if (input.values.size() != size ||
      (!input.bounds.empty() && input.bounds.size() != size))
    return error("tensor '" + name + "' has " +
                 llvm::Twine(input.values.size()) +
                 " elements, but its shape has " + llvm::Twine(size));
  TileValue &elements = tensor.elements;
  if (!elements.isFloat) {
    for (double value : input.values)
      elements.ints.push_back(toInteger(value, type));
    return llvm::Error::success();
  }
  for (double value : input.values)
    elements.values.push_back(quantize(value, type));
  elements.bounds = input.bounds;
  return llvm::Error::success();
}

/// What an output's elements hold before any kernel; poison in a temp.
void fillWith(Tensor &tensor, Attribute init) {
  Type type = tensor.arg.getElementType();
  double value = std::numeric_limits<double>::quiet_NaN();
  int64_t integer = poisonInteger;
  if (auto number = dyn_cast_or_null<FloatAttr>(init))
    value = number.getValueAsDouble();
  else if (auto number = dyn_cast_or_null<IntegerAttr>(init))
    value = static_cast<double>(number.getInt());
  if (tensor.elements.isFloat) {
    tensor.elements.values.assign(tensor.size(), quantize(value, type));
    return;
  }
  if (init)
    integer = toInteger(value, type);
  tensor.elements.ints.assign(tensor.size(), integer);
}

llvm::Error bindTensor(Tensor &tensor, ArrayRef<int64_t> dims,
                       const std::vector<HostTensor> &inputs) {
  llvm::StringRef name = tensor.arg.getName().getValue();
  int64_t elements = 1;
  for (AffineExpr expr : tensor.arg.getShape().getResults()) {
    llvm::Expected<int64_t> extent = evaluateAffine(expr, dims);
    if (!extent)
      return extent.takeError();
    if (*extent < 0)
      return error("tensor '" + name + "' has extent " + llvm::Twine(*extent));
    if (llvm::MulOverflow(elements, *extent, elements) ||
        elements > maxElements)
      return error("tensor '" + name + "' has more than " +
                   llvm::Twine(maxElements) +
                   " elements, the most the reference takes");
    tensor.shape.push_back(*extent);
  }
  tensor.elements.isFloat = isa<FloatType>(tensor.arg.getElementType());
  auto input = llvm::find_if(
      inputs, [&](const HostTensor &t) { return t.name == name; });
  auto keep = dyn_cast_or_null<StringAttr>(tensor.arg.getInit());
  bool takesInput = tensor.arg.getRole() == tile::Role::In ||
                    tensor.arg.getRole() == tile::Role::InOut || keep;
  tensor.present = true;
  if (takesInput && input == inputs.end()) {
    if (!tensor.arg.getIsOptional())
      return error("tensor '" + name + "' is missing");
    tensor.present = false;
    return llvm::Error::success();
  }
  if (takesInput) {
    if (llvm::Error failure = fillFrom(tensor, *input))
      return failure;
  } else {
    fillWith(tensor, tensor.arg.getInit());
  }
  if (!tensor.isWritable())
    return llvm::Error::success();
  if (tensor.elements.isFloat)
    tensor.elements.bounds.resize(tensor.size());
  else
    tensor.elements.unsure.resize(tensor.size());
  return llvm::Error::success();
}

llvm::Expected<TileRef> bindScalar(tile::ScalarArgAttr arg,
                                   ArrayRef<int64_t> dims,
                                   const std::map<std::string, double> &given) {
  auto it = given.find(arg.getName().getValue().str());
  double value = 0;
  if (it != given.end()) {
    value = it->second;
  } else if (auto number = dyn_cast_or_null<FloatAttr>(arg.getValue())) {
    value = number.getValueAsDouble();
  } else if (auto number = dyn_cast_or_null<IntegerAttr>(arg.getValue())) {
    value = static_cast<double>(number.getInt());
  } else if (auto map = dyn_cast_or_null<AffineMapAttr>(arg.getValue())) {
    llvm::Expected<int64_t> result =
        evaluateAffine(map.getAffineMap().getResult(0), dims);
    if (!result)
      return result.takeError();
    value = static_cast<double>(*result);
  } else {
    return error("scalar '" + arg.getName().getValue() + "' is missing");
  }
  if (isa<FloatType>(arg.getType()))
    return makeScalar(quantize(value, arg.getType()));
  return makeScalar(toInteger(value, arg.getType()));
}

/// A result is only defined where the caller kept its promise.
llvm::Error checkPromise(tile::RequireAttr promise,
                         const Arguments &arguments) {
  auto tensor = llvm::find_if(arguments.tensors, [&](const Tensor &t) {
    return t.arg.getName() == promise.getTensor();
  });
  if (tensor == arguments.tensors.end() || !tensor->present)
    return llvm::Error::success();
  llvm::Expected<int64_t> lo =
      evaluateAffine(promise.getLo().getResult(0), arguments.dims);
  if (!lo)
    return lo.takeError();
  llvm::Expected<int64_t> hi =
      evaluateAffine(promise.getHi().getResult(0), arguments.dims);
  if (!hi)
    return hi.takeError();
  for (auto [i, value] : llvm::enumerate(tensor->elements.ints))
    if (value < *lo || value > *hi)
      return error("element " + llvm::Twine(i) + " of tensor '" +
                   promise.getTensor().getValue() + "' is " +
                   llvm::Twine(value) + ", but the op requires it in " +
                   llvm::Twine(*lo) + ".." + llvm::Twine(*hi));
  llvm::ArrayRef<int64_t> values = tensor->elements.ints;
  for (size_t i = 1; promise.getOrdered() && i < values.size(); ++i)
    if (values[i] < values[i - 1])
      return error("element " + llvm::Twine(i) + " of tensor '" +
                   promise.getTensor().getValue() + "' is " +
                   llvm::Twine(values[i]) + ", less than " +
                   llvm::Twine(values[i - 1]) +
                   " before it, but the op requires segments");
  return llvm::Error::success();
}

/// Whether no two elements of a tensor are equal, but for those below 0; else
/// the error that names two.
llvm::Error checkUnique(StringAttr name, const Arguments &arguments) {
  auto tensor = llvm::find_if(arguments.tensors, [&](const Tensor &t) {
    return t.arg.getName() == name;
  });
  if (tensor == arguments.tensors.end() || !tensor->present)
    return llvm::Error::success();
  std::unordered_map<int64_t, size_t> places;
  for (auto [i, value] : llvm::enumerate(tensor->elements.ints)) {
    auto [at, isNew] = places.try_emplace(value, i);
    if (value >= 0 && !isNew)
      return error("element " + llvm::Twine(i) + " of tensor '" +
                   name.getValue() + "' is " + llvm::Twine(value) +
                   ", as is element " + llvm::Twine(at->second) +
                   ", but the op requires them to be unique");
  }
  return llvm::Error::success();
}

/// An error where a promise is broken that the signature checks. One that it
/// does not check, and that keeps stores apart, lets them meet.
llvm::Error checkPromises(const Signature &signature, Arguments &arguments) {
  for (StringAttr name : signature.unique) {
    llvm::Error failure = checkUnique(name, arguments);
    if (signature.checksPromises && failure)
      return failure;
    if (failure)
      for (Tensor &tensor : arguments.tensors)
        tensor.mayMeet = true;
    llvm::consumeError(std::move(failure));
  }
  if (!signature.checksPromises)
    return llvm::Error::success();
  for (auto promise : signature.promises.getAsRange<tile::RequireAttr>())
    if (llvm::Error failure = checkPromise(promise, arguments))
      return failure;
  return llvm::Error::success();
}

} // namespace

llvm::StringRef dtypeOf(Type type) { return tile::nameOf(type); }

double numberOf(int64_t integer, Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  if (type.isUnsignedInteger() && width < 64)
    integer &= llvm::maskTrailingOnes<uint64_t>(width);
  return static_cast<double>(integer);
}

llvm::Expected<int64_t> evaluateAffine(AffineExpr expr,
                                       ArrayRef<int64_t> dims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr);
      symbol && symbol.getPosition() < dims.size())
    return dims[symbol.getPosition()];
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return error("an extent is not an expression of the dims");
  llvm::Expected<int64_t> lhs = evaluateAffine(binary.getLHS(), dims);
  if (!lhs)
    return lhs.takeError();
  llvm::Expected<int64_t> rhs = evaluateAffine(binary.getRHS(), dims);
  if (!rhs)
    return rhs.takeError();
  int64_t result = 0;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    if (llvm::AddOverflow(*lhs, *rhs, result))
      break;
    return result;
  case AffineExprKind::Mul:
    if (llvm::MulOverflow(*lhs, *rhs, result))
      break;
    return result;
  default:
    if (*rhs < 1)
      return error("an extent, or a default of a scalar, divides by " +
                   llvm::Twine(*rhs));
    if (expr.getKind() == AffineExprKind::Mod)
      return llvm::mod(*lhs, *rhs);
    return expr.getKind() == AffineExprKind::FloorDiv
               ? llvm::divideFloorSigned(*lhs, *rhs)
               : llvm::divideCeilSigned(*lhs, *rhs);
  }
  return error("an extent overflows 64 bits");
}

llvm::Expected<Arguments>
bindArguments(const Signature &signature,
              const std::map<std::string, int64_t> &dims,
              const std::map<std::string, double> &scalars,
              const std::vector<HostTensor> &inputs) {
  Arguments arguments;
  for (auto dim : signature.dims.getAsRange<StringAttr>()) {
    auto it = dims.find(dim.getValue().str());
    if (it == dims.end())
      return error("dim '" + dim.getValue() + "' is missing");
    if (it->second < 0 || it->second > tile::maxExtent)
      return error("dim '" + dim.getValue() + "' is " +
                   llvm::Twine(it->second) + ", but must lie in 0..2^31-16385");
    arguments.dims.push_back(it->second);
  }
  for (auto arg : signature.tensors.getAsRange<tile::TensorArgAttr>()) {
    Tensor &tensor = arguments.tensors.emplace_back();
    tensor.arg = arg;
    if (llvm::Error failure = bindTensor(tensor, arguments.dims, inputs))
      return failure;
  }
  for (auto arg : signature.scalars.getAsRange<tile::ScalarArgAttr>()) {
    llvm::Expected<TileRef> scalar = bindScalar(arg, arguments.dims, scalars);
    if (!scalar)
      return scalar.takeError();
    arguments.scalars.push_back(*scalar);
  }
  if (llvm::Error failure = checkPromises(signature, arguments))
    return failure;
  return arguments;
}

} // namespace selvedge::reference
