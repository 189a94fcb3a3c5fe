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

} // namespace selvedge::inline runtime
