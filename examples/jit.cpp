// Compiles a source and launches it, in one program.
// SPDX-License-Identifier: MIT
#include "selvedge/CompileCached.h"
#include "selvedge/Op.h"

#include <cstdio>
#include <vector>

using namespace selvedge;

namespace {

int fail(const std::string &message) {
  std::fprintf(stderr, "jit: %s\n", message.c_str());
  return 1;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2)
    return fail("expects the file axpy.tile");
  // The source is any text; this one has its op from another file.
  CompileRequest request;
  request.fileName = "<jit>";
  request.source = "import \"" + std::string(argv[1]) + "\";";
  request.op = "axpy";
  request.arch = "sm_80";                          // "sm_90a" for Hopper
  CompileResult compiled = compileCached(request); // 2 ms the second time
  if (compiled.status != CompileStatus::Ok)
    return fail(compiled.diagnostics);

  Result<Device> device = Device::open(0);
  if (!device.ok())
    return fail(device.status().message());
  Result<Op> op =
      Op::load({compiled.manifest, compiled.ptx, compiled.cubin}, *device);
  if (!op.ok())
    return fail(op.status().message());
  std::vector<float> host = {2, 4, 6, 8};
  size_t size = host.size() * sizeof(float);
  Result<DeviceBuffer> x = device->allocate(size), y = device->allocate(size);
  if (!x.ok() || !y.ok())
    return fail("no memory");
  Status status = device->copyTo(x->data(), std::as_bytes(std::span(host)));
  LaunchArgs args;
  args.tensors["x"] = contiguousView(x->data(), DType::F32, {1, 4});
  args.tensors["y"] = contiguousView(y->data(), DType::F32, {1, 4});
  args.scalars["a"] = 0.5;
  if (status.ok())
    status = op->launch(args);
  if (status.ok())
    status =
        device->copyFrom(std::as_writable_bytes(std::span(host)), y->data());
  if (!status.ok())
    return fail(status.message());
  for (float value : host)
    std::printf("%g ", static_cast<double>(value));
  std::printf("\n");
}
