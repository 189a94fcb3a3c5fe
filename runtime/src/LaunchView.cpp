// The arguments of a launch, in memory of the caller.
// SPDX-License-Identifier: MIT
#include "selvedge/LaunchView.h"

namespace selvedge::inline runtime {

ArgsView::ArgsView(const LaunchArgs &args)
    : workspace(args.workspace), workspaceBytes(args.workspaceBytes) {
  tensors.reserve(args.tensors.size());
  for (const auto &[name, tensor] : args.tensors)
    tensors.push_back(
        {name, tensor.data, tensor.dtype, tensor.shape, tensor.strides});
  scalars.reserve(args.scalars.size());
  for (const auto &[name, value] : args.scalars)
    scalars.push_back({name, value});
  dims.reserve(args.dims.size());
  for (const auto &[name, value] : args.dims)
    dims.push_back({name, value});
}

TensorView toTensorView(const TensorRef &ref) {
  TensorView view;
  view.data = ref.data;
  view.dtype = ref.dtype;
  view.shape.assign(ref.shape.begin(), ref.shape.end());
  if (ref.contiguous)
    view.strides = contiguousStrides(view.shape);
  else
    view.strides.assign(ref.strides.begin(), ref.strides.end());
  return view;
}

LaunchArgs toLaunchArgs(const LaunchView &view) {
  LaunchArgs args;
  for (const TensorRef &tensor : view.tensors)
    args.tensors[std::string(tensor.name)] = toTensorView(tensor);
  for (const ScalarRef &scalar : view.scalars)
    args.scalars[std::string(scalar.name)] = scalar.value;
  for (const DimRef &dim : view.dims)
    args.dims[std::string(dim.name)] = dim.value;
  args.workspace = view.workspace;
  args.workspaceBytes = view.workspaceBytes;
  return args;
}

} // namespace selvedge::inline runtime
