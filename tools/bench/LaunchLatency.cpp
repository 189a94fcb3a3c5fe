// Host time of a launch through the C interface.
// SPDX-License-Identifier: MIT
#include "selvedge/Artifact.h"
#include "selvedge/DLPack.h"
#include "selvedge/Device.h"
#include "selvedge/Plan.h"
#include "selvedge/selvedge.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <memory>

using namespace selvedge;

namespace {

constexpr const char *usage =
    "usage: launch-latency ARTEFACT DIM=VALUE...\n"
    "Launches the op with every tensor that is not optional and prints the "
    "host time of a launch. With the\ndriver of tests/tools/FakeCuda.cpp "
    "(LD_LIBRARY_PATH=build/tests/tools/fake-cuda) that is the runtime's own\n"
    "time; FAKE_CUDA_CAPABILITY=9.0 makes it a Hopper GPU.\n";

constexpr int rounds = 15, launchesPerRound = 2000;
/// Distance between the tensors of two layers, which keeps every alignment.
constexpr int64_t layerBytes = 4096;
constexpr int layers = 32;

/// One call's arguments, as a framework would hold them.
struct Call {
  std::vector<TensorView> views;
  std::vector<dlpack::Tensor> tensors;
  std::vector<selvedge_tensor> named;
  selvedge_arguments arguments = {};

  void finish(const std::vector<const char *> &names) {
    for (size_t i = 0; i < views.size(); ++i)
      tensors.push_back(toDLPack(views[i]));
    for (size_t i = 0; i < views.size(); ++i)
      named.push_back({names[i], &tensors[i]});
    arguments.tensors = named.data();
    arguments.tensor_count = named.size();
  }
};

/// What all calls share: the signature and memory for the largest of them.
struct Problem {
  Manifest manifest;
  std::map<std::string, int64_t> dims;
  std::vector<DeviceBuffer> memory;

  /// Arguments of layer `layer` with the largest dim smaller by `shrink`.
  Result<std::unique_ptr<Call>> call(int64_t layer, int64_t shrink) const;
  Status allocate(const Device &device);
  std::pair<std::string, int64_t> largest() const {
    return *std::ranges::max_element(
        dims, {}, [](const auto &dim) { return dim.second; });
  }
};

Status Problem::allocate(const Device &device) {
  Result<DimValues> values = bindDims(manifest, {}, dims);
  if (!values.ok())
    return values.status();
  if (Status s = requireAllDims(manifest, *values); !s.ok())
    return s;
  for (const ManifestTensor &tensor : manifest.tensors) {
    Result<int64_t> bytes = byteCount(manifest, tensor, *values);
    if (!bytes.ok())
      return bytes.status();
    Result<DeviceBuffer> buffer =
        device.allocate(static_cast<uint64_t>(*bytes + layers * layerBytes));
    if (!buffer.ok())
      return buffer.status();
    memory.push_back(std::move(*buffer));
  }
  return Status();
}

Result<std::unique_ptr<Call>> Problem::call(int64_t layer,
                                            int64_t shrink) const {
  std::map<std::string, int64_t> fixed = dims;
  fixed[largest().first] -= shrink;
  Result<DimValues> values = bindDims(manifest, {}, fixed);
  if (!values.ok())
    return values.status();
  auto call = std::make_unique<Call>();
  std::vector<const char *> names;
  for (size_t i = 0; i < manifest.tensors.size(); ++i) {
    const ManifestTensor &tensor = manifest.tensors[i];
    if (tensor.optional || tensor.role == Role::Temp)
      continue;
    Result<std::vector<int64_t>> shape = shapeOf(manifest, tensor, *values);
    if (!shape.ok())
      return shape.status();
    auto *data = static_cast<std::byte *>(memory[i].data());
    call->views.push_back(
        contiguousView(data + layer * layerBytes, tensor.dtype, *shape));
    names.push_back(tensor.name.c_str());
  }
  call->finish(names);
  return call;
}

/// The fastest round's nanoseconds per launch of `calls` in turn.
void measure(const char *what, const selvedge_op *op,
             const std::vector<std::unique_ptr<Call>> &calls,
             const std::function<void()> &wait) {
  double fastest = std::numeric_limits<double>::infinity();
  size_t next = 0;
  for (int round = 0; round < rounds; ++round) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < launchesPerRound; ++i) {
      if (selvedge_launch(op, &calls[next]->arguments, nullptr) != 0) {
        fmt::print("{}: {}\n", what, selvedge_last_error());
        return;
      }
      next = next + 1 == calls.size() ? 0 : next + 1;
    }
    std::chrono::duration<double, std::nano> time =
        std::chrono::steady_clock::now() - start;
    fastest = std::min(fastest, time.count() / launchesPerRound);
    wait();
  }
  fmt::print("{:<44} {:>8.0f} ns\n", what, fastest);
}

Status run(const char *path, Problem &problem) {
  Result<Artifact> artifact = readArtifact(path);
  if (!artifact.ok())
    return artifact.status();
  Result<Manifest> manifest = parseManifest(artifact->manifest);
  if (!manifest.ok())
    return manifest.status();
  problem.manifest = std::move(*manifest);
  Result<Device> device = Device::open();
  if (!device.ok())
    return device.status();
  if (Status s = problem.allocate(*device); !s.ok())
    return s;
  auto start = std::chrono::steady_clock::now();
  std::unique_ptr<selvedge_op, void (*)(selvedge_op *)> op(
      selvedge_load(path, 0), selvedge_unload);
  if (!op)
    return Status::failed(selvedge_last_error());
  std::chrono::duration<double, std::milli> loading =
      std::chrono::steady_clock::now() - start;
  fmt::print("{:<44} {:>8.2f} ms\n", "load", loading.count());
  auto wait = [&] { (void)device->synchronize(); };
  auto series = [&](const char *what, int64_t count, bool newShapes) {
    std::vector<std::unique_ptr<Call>> calls;
    for (int64_t i = 0; i < count; ++i) {
      auto call = problem.call(newShapes ? 0 : i, newShapes ? i : 0);
      if (!call.ok())
        return call.status();
      calls.push_back(std::move(*call));
    }
    measure(what, op.get(), calls, wait);
    return Status();
  };
  int64_t largest = problem.largest().second;
  for (Status status :
       {series("the same tensors", 1, false),
        series("32 layers: tensors in other places", layers, false),
        series("8 shapes in turn", std::min<int64_t>(8, largest), true),
        series("another shape each time", largest, true)})
    if (!status.ok())
      return status;
  return Status();
}

} // namespace

int main(int argc, char **argv) {
  Problem problem;
  for (int i = 2; i < argc; ++i) {
    std::string_view text = argv[i];
    size_t at = std::min(text.find('='), text.size());
    int64_t value = 0;
    auto [stop, error] =
        std::from_chars(text.data() + std::min(at + 1, text.size()),
                        text.data() + text.size(), value);
    if (error != std::errc() || stop != text.data() + text.size()) {
      fmt::print(stderr, "'{}' is not DIM=VALUE\n{}", text, usage);
      return 2;
    }
    problem.dims[std::string(text.substr(0, at))] = value;
  }
  if (argc < 3) {
    fmt::print(stderr, "{}", usage);
    return 2;
  }
  if (Status status = run(argv[1], problem); !status.ok()) {
    fmt::print(stderr, "error: {}\n", status.message());
    return 1;
  }
  return 0;
}
