// A CUDA driver that runs tests/tools/Inputs/axpy.tile on the CPU.
// SPDX-License-Identifier: MIT
//
// `run --device gpu` is tested with it where there is no GPU. The kernels of
// the artefact are recognised by name and executed from their parameters; with
// FAKE_CUDA_FAULT they misbehave in one way each. Events tell the milliseconds
// that FAKE_CUDA_MS gives for the modules in the order in which they are loaded
// ("0.3,0.1"), 1 for the rest. FAKE_CUDA_GPU gives it the limits of a GPU
// (FakeCuda.h), which it then insists on, FAKE_CUDA_VERSION the version of its
// driver. Tests of the runtime watch launches
// of any kernel through FakeCuda.h.
#include "tests/tools/FakeCuda.h"

#include "runtime/src/CudaDriver.h"
#include "tests/tools/FakePromises.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace selvedge;

namespace {

constexpr int errorIllegalAddress = 700, errorInvalidHandle = 400,
              errorInvalidImage = 200;

/// What every kernel has without asking (CUDA C++ Programming Guide, "Compute
/// Capabilities").
constexpr int defaultSharedMemory = 48 * 1024;

/// What a captured launch does again: values of up to 8 bytes.
struct Node {
  std::string kernel;
  unsigned grid;
  std::vector<uint64_t> params;
};

struct UserObject {
  void *value;
  void (*destroy)(void *);
  int references = 0;
};

/// Graphs and their executables alike.
struct Graph {
  std::vector<Node> nodes;
  std::vector<UserObject *> objects;
};

struct Stream {
  CuHandle context = nullptr;
  Graph *capture = nullptr;
};

struct Function {
  std::string name;
  CuHandle context;
  int sharedMemory = defaultSharedMemory;
};

/// The contexts of two GPUs, and one that is nobody's primary one.
int contexts[3];
thread_local std::vector<CuHandle> current;

CuHandle currentContext() { return current.empty() ? nullptr : current.back(); }

struct State {
  /// Kernels ever asked for: a handle points to one.
  std::deque<Function> functions;
  /// Of cuStreamCreate; tests use other addresses as well.
  std::set<Stream *> streams;
  std::atomic<FakeCudaWatch> watch = nullptr;
  std::atomic<int> descriptors = 0;
  int launches = 0;
  bool lost = false;
  /// Of the last launch: whether it may start before the one ahead ends.
  bool isDependent = false;
  int modules = 0;
  /// Of all launches so far.
  double milliseconds = 0;
};
State state;

Stream *streamOf(CuHandle handle) {
  auto *stream = static_cast<Stream *>(handle);
  return state.streams.contains(stream) ? stream : nullptr;
}

void release(UserObject *object) {
  if (--object->references > 0)
    return;
  object->destroy(object->value);
  delete object;
}

bool fault(const char *name) {
  const char *wanted = std::getenv("FAKE_CUDA_FAULT");
  return wanted && std::strcmp(wanted, name) == 0;
}

/// Milliseconds per launch of the module that was loaded last.
double launchCost() {
  const char *costs = std::getenv("FAKE_CUDA_MS");
  for (int i = 1; costs && i < state.modules; ++i) {
    costs = std::strchr(costs, ',');
    costs = costs ? costs + 1 : nullptr;
  }
  return costs ? std::strtod(costs, nullptr) : 1;
}

/// The GPU that FAKE_CUDA_GPU names; else one of 4 multiprocessors with the
/// compute capability that FAKE_CUDA_CAPABILITY gives.
FakeCudaGpu gpu() {
  const char *name = std::getenv("FAKE_CUDA_GPU");
  for (const FakeCudaGpu &known : fakeCudaGpus)
    if (name && std::strcmp(known.name, name) == 0)
      return known;
  FakeCudaGpu plain{"fake", 8, 0, 4, 163 * 1024};
  const char *wanted = std::getenv("FAKE_CUDA_CAPABILITY");
  if (wanted && std::strlen(wanted) == 3) {
    plain.major = wanted[0] - '0';
    plain.minor = wanted[2] - '0';
    if (plain.major == 9)
      plain.sharedMemory = 227 * 1024;
  }
  return plain;
}

template <typename T>
T param(void **params, int index) {
  T value;
  std::memcpy(&value, params[index], sizeof(value));
  return value;
}

/// Row i, column j of a matrix whose three parameters start at `index`.
float &at(void **params, int index, int64_t i, int64_t j) {
  return param<float *>(params, index)[i * param<int64_t>(params, index + 1) +
                                       j * param<int64_t>(params, index + 2)];
}

/// N, y: the grid has a block for each row, M is not among the parameters.
void runInit(unsigned grid, void **params) {
  int columns = param<int32_t>(params, 0);
  bool isStale = fault("stale");
  for (unsigned i = 0; i < grid; ++i)
    for (int j = 0; j < columns; ++j)
      if (!isStale || i + j > 0)
        at(params, 1, i, j) = 0;
}

/// N, x, len, y, a.
void runMain(unsigned grid, void **params) {
  int columns = param<int32_t>(params, 0);
  const auto *lengths = param<const int32_t *>(params, 4);
  auto lengthStride = param<int64_t>(params, 5);
  auto scale = param<float>(params, 9);
  bool isStale = fault("stale");
  for (unsigned i = 0; i < grid; ++i) {
    int length = lengths ? lengths[i * lengthStride] : columns;
    for (int j = 0; j < length; ++j)
      if (!isStale || i + j > 0)
        at(params, 6, i, j) = scale * at(params, 1, i, j);
  }
  float &first = at(params, 6, 0, 0);
  // "late": one launch of many.
  bool isLate = fault("late") && ++state.launches == 19;
  if (fault("before") || isLate)
    (&first)[-1] = 1;
  if (fault("gap"))
    at(params, 6, 0, columns) = 1;
  if (fault("input"))
    at(params, 1, 0, 0) += 1;
  if (fault("leak"))
    first += 0 * at(params, 1, 0, columns - 1);
  if (fault("unstable"))
    first += static_cast<float>(state.launches++);
  state.lost = fault("lost");
}

/// tools/selvedge/BitCompare.h.
void runCompare(void **params) {
  if (std::memcmp(param<const void *>(params, 0),
                  param<const void *>(params, 1),
                  param<uint64_t>(params, 2)) != 0)
    *param<int32_t *>(params, 3) = 1;
}

void execute(const std::string &name, unsigned grid, void **params) {
  if (name.starts_with("axpy_init_y"))
    runInit(grid, params);
  else if (name.starts_with("axpy_main"))
    runMain(grid, params);
  else if (name == "selvedge_compare")
    runCompare(params);
  else
    test::runPromises(name, params);
  state.milliseconds += launchCost();
}

/// Parameters of a kernel that this driver executes.
size_t paramCount(const std::string &name) {
  return name.starts_with("axpy_main") ? 10 : name.starts_with("axpy") ? 4 : 0;
}

/// Nothing is mapped at the lowest addresses.
bool isMapped(CuPointer address) { return address >= 4096; }

bool isDependent(const CuLaunchConfig &config) {
  return std::any_of(
      config.attributes, config.attributes + config.numAttributes,
      [](const CuLaunchAttribute &attribute) {
        return attribute.id ==
                   cuLaunchAttributeProgrammaticStreamSerialization &&
               attribute.value == 1;
      });
}

CuResult launch(const CuLaunchConfig &config, const Function &function,
                void **params) {
  const auto &[name, context, most] = function;
  if (config.sharedMemory > static_cast<unsigned>(most))
    return cuErrorInvalidValue;
  state.isDependent = isDependent(config);
  if (FakeCudaWatch watch = state.watch)
    watch(name.c_str(), config.grid, params);
  if (fault("refuse"))
    return errorIllegalAddress;
  Stream *stream = streamOf(config.stream);
  if (stream && stream->context != context)
    return errorInvalidHandle;
  if (!stream || !stream->capture) {
    execute(name, config.grid[0], params);
    return cuSuccess;
  }
  Node &node =
      stream->capture->nodes.emplace_back(Node{name, config.grid[0], {}});
  for (size_t i = 0; i < paramCount(name); ++i)
    node.params.push_back(param<uint64_t>(params, static_cast<int>(i)));
  return cuSuccess;
}

} // namespace

// Every function has the signature of CudaDriver.h and does nothing unless it
// says so here.
#define DEFINE(name, parameters, ...)                                          \
  extern "C" __attribute__((                                                   \
      visibility("default"))) CuResult name parameters __VA_ARGS__

DEFINE(cuInit, (unsigned), { return cuSuccess; })
DEFINE(cuDriverGetVersion, (int *version), {
  const char *wanted = std::getenv("FAKE_CUDA_VERSION");
  *version = wanted ? std::atoi(wanted) : 13000;
  return cuSuccess;
})
DEFINE(cuGetErrorName, (CuResult result, const char **name), {
  *name = result == errorIllegalAddress  ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : result == errorInvalidHandle ? "CUDA_ERROR_INVALID_HANDLE"
                                         : "FAKE";
  return cuSuccess;
})
DEFINE(cuGetErrorString, (CuResult, const char **text), {
  *text = "as the test asked for";
  return cuSuccess;
})
DEFINE(cuDeviceGetCount, (int *count), {
  *count = 2;
  return cuSuccess;
})
DEFINE(cuDeviceGet, (CuDevice * device, int ordinal), {
  *device = ordinal;
  return cuSuccess;
})
DEFINE(cuDeviceGetName, (char *name, int size, CuDevice), {
  std::strncpy(name, gpu().name, static_cast<size_t>(size));
  return cuSuccess;
})
DEFINE(cuDeviceGetAttribute, (int *value, int which, CuDevice), {
  *value = which == cuAttributeComputeCapabilityMajor   ? gpu().major
           : which == cuAttributeComputeCapabilityMinor ? gpu().minor
           : which == cuAttributeMultiprocessorCount    ? gpu().multiprocessors
                                                        : gpu().sharedMemory;
  return cuSuccess;
})
DEFINE(cuDeviceTotalMem_v2, (size_t *bytes, CuDevice), {
  *bytes = size_t(1) << 30;
  return cuSuccess;
})
DEFINE(cuDevicePrimaryCtxRetain, (CuHandle * context, CuDevice device), {
  *context = &contexts[device];
  return cuSuccess;
})
DEFINE(cuDevicePrimaryCtxRelease_v2, (CuDevice), { return cuSuccess; })
DEFINE(cuCtxGetCurrent, (CuHandle * context), {
  *context = currentContext();
  return cuSuccess;
})
DEFINE(cuCtxPushCurrent_v2, (CuHandle context), {
  current.push_back(context);
  return cuSuccess;
})
DEFINE(cuCtxPopCurrent_v2, (CuHandle * context), {
  *context = currentContext();
  current.pop_back();
  return cuSuccess;
})
DEFINE(cuCtxGetDevice, (CuDevice * device), {
  // The third context is on the second GPU.
  *device = currentContext() == &contexts[0] ? 0 : 1;
  return cuSuccess;
})
DEFINE(cuCtxSynchronize, (),
       { return state.lost ? errorIllegalAddress : cuSuccess; })
DEFINE(cuModuleLoadDataEx,
       (CuHandle * module, const void *image, unsigned, int *, void **values), {
         if (fault("image")) {
           std::strcpy(static_cast<char *>(values[0]),
                       std::memcmp(image, "\177ELF", 4) == 0 ? "bad cubin"
                                                             : "bad PTX");
           return errorInvalidImage;
         }
         *module = currentContext();
         ++state.modules;
         return cuSuccess;
       })
DEFINE(cuModuleUnload, (CuHandle), { return cuSuccess; })
DEFINE(cuModuleGetFunction,
       (CuHandle * function, CuHandle module, const char *name), {
         *function = &state.functions.emplace_back(Function{name, module});
         return cuSuccess;
       })
DEFINE(cuFuncSetAttribute, (CuHandle function, int which, int value), {
  if (which != cuFuncAttributeMaxDynamicSharedSizeBytes)
    return cuSuccess;
  if (value > gpu().sharedMemory)
    return cuErrorInvalidValue;
  static_cast<Function *>(function)->sharedMemory = value;
  return cuSuccess;
})
DEFINE(cuLaunchKernel,
       (CuHandle function, unsigned grid, unsigned gridY, unsigned gridZ,
        unsigned, unsigned, unsigned, unsigned shared, CuHandle stream,
        void **params, void **),
       {
         return launch({{grid, gridY, gridZ}, {1, 1, 1}, shared, stream},
                       *static_cast<const Function *>(function), params);
       })
DEFINE(
    cuLaunchKernelEx,
    (const CuLaunchConfig *config, CuHandle function, void **params, void **), {
      return launch(*config, *static_cast<const Function *>(function), params);
    })
DEFINE(cuMemAlloc_v2, (CuPointer * pointer, size_t bytes), {
  *pointer = reinterpret_cast<uintptr_t>(
      std::aligned_alloc(512, (bytes + 511) / 512 * 512));
  return cuSuccess;
})
DEFINE(cuMemFree_v2, (CuPointer pointer), {
  std::free(reinterpret_cast<void *>(static_cast<uintptr_t>(pointer)));
  return cuSuccess;
})
DEFINE(cuMemAllocAsync, (CuPointer * pointer, size_t bytes, CuHandle), {
  return fault("memory") ? cuErrorOutOfMemory : cuMemAlloc_v2(pointer, bytes);
})
DEFINE(cuMemFreeAsync, (CuPointer pointer, CuHandle),
       { return cuMemFree_v2(pointer); })
DEFINE(cuMemsetD8Async,
       (CuPointer pointer, unsigned char value, size_t bytes, CuHandle), {
         std::memset(reinterpret_cast<void *>(static_cast<uintptr_t>(pointer)),
                     value, bytes);
         return cuSuccess;
       })
DEFINE(cuMemcpyHtoD_v2, (CuPointer target, const void *source, size_t bytes), {
  std::memcpy(reinterpret_cast<void *>(static_cast<uintptr_t>(target)), source,
              bytes);
  return cuSuccess;
})
DEFINE(cuMemcpyDtoH_v2, (void *target, CuPointer source, size_t bytes), {
  std::memcpy(target,
              reinterpret_cast<const void *>(static_cast<uintptr_t>(source)),
              bytes);
  return cuSuccess;
})
DEFINE(cuMemcpyHtoDAsync_v2,
       (CuPointer target, const void *source, size_t bytes, CuHandle),
       { return cuMemcpyHtoD_v2(target, source, bytes); })
DEFINE(cuMemcpyDtoHAsync_v2,
       (void *target, CuPointer source, size_t bytes, CuHandle), {
         return isMapped(source) ? cuMemcpyDtoH_v2(target, source, bytes)
                                 : cuErrorInvalidValue;
       })
DEFINE(cuMemcpyDtoDAsync_v2,
       (CuPointer target, CuPointer source, size_t bytes, CuHandle), {
         return cuMemcpyDtoH_v2(
             reinterpret_cast<void *>(static_cast<uintptr_t>(target)), source,
             bytes);
       })
DEFINE(cuMemcpy2DAsync_v2, (const CuCopy2D *copy, CuHandle), {
  if (copy->sourceType != cuMemoryTypeUnified ||
      copy->targetType != cuMemoryTypeHost || copy->sourcePitch < copy->width ||
      copy->targetPitch < copy->width || !isMapped(copy->source))
    return cuErrorInvalidValue;
  for (size_t i = 0; i < copy->height; ++i)
    cuMemcpyDtoH_v2(static_cast<std::byte *>(copy->targetHost) +
                        i * copy->targetPitch,
                    copy->source + i * copy->sourcePitch, copy->width);
  return cuSuccess;
})
DEFINE(cuTensorMapEncodeTiled,
       (void *map, int, uint32_t rank, void *address, const uint64_t *extents,
        const uint64_t *strides, const uint32_t *, const uint32_t *, int, int,
        int, int),
       {
         FakeCudaDescriptor descriptor{address, {}, {}};
         std::copy_n(extents, rank, descriptor.extents);
         std::copy_n(strides, rank - 1, descriptor.strides);
         std::memcpy(map, &descriptor, sizeof(descriptor));
         ++state.descriptors;
         return cuSuccess;
       })
DEFINE(cuStreamCreate, (CuHandle * handle, unsigned), {
  auto *stream = new Stream{currentContext(), nullptr};
  state.streams.insert(stream);
  *handle = stream;
  return cuSuccess;
})
DEFINE(cuStreamDestroy_v2, (CuHandle handle), {
  state.streams.erase(static_cast<Stream *>(handle));
  delete static_cast<Stream *>(handle);
  return cuSuccess;
})
DEFINE(cuStreamGetCtx, (CuHandle handle, CuHandle *context), {
  Stream *stream = streamOf(handle);
  *context = stream ? stream->context : &contexts[0];
  return cuSuccess;
})
DEFINE(cuStreamGetId, (CuHandle stream, unsigned long long *id), {
  *id = reinterpret_cast<uintptr_t>(stream);
  return cuSuccess;
})
DEFINE(cuStreamIsCapturing, (CuHandle handle, int *status), {
  Stream *stream = streamOf(handle);
  *status = stream && stream->capture ? 1 : 0;
  return cuSuccess;
})
DEFINE(cuStreamBeginCapture_v2, (CuHandle handle, int), {
  streamOf(handle)->capture = new Graph;
  return cuSuccess;
})
DEFINE(cuStreamEndCapture, (CuHandle handle, CuHandle *graph), {
  *graph = std::exchange(streamOf(handle)->capture, nullptr);
  return cuSuccess;
})
DEFINE(cuStreamGetCaptureInfo_v2,
       (CuHandle handle, int *status, unsigned long long *id, CuHandle *graph,
        const CuHandle **, size_t *),
       {
         Stream *stream = streamOf(handle);
         *status = stream && stream->capture ? 1 : 0;
         *id = 1;
         *graph = stream ? stream->capture : nullptr;
         return cuSuccess;
       })
DEFINE(cuUserObjectCreate,
       (CuHandle * object, void *value, void (*destroy)(void *),
        unsigned references, unsigned),
       {
         *object = new UserObject{value, destroy, static_cast<int>(references)};
         return cuSuccess;
       })
DEFINE(cuUserObjectRelease, (CuHandle object, unsigned count), {
  for (unsigned i = 0; i < count; ++i)
    release(static_cast<UserObject *>(object));
  return cuSuccess;
})
DEFINE(cuGraphRetainUserObject,
       (CuHandle graph, CuHandle object, unsigned, unsigned), {
         // The caller's reference moves to the graph.
         static_cast<Graph *>(graph)->objects.push_back(
             static_cast<UserObject *>(object));
         return cuSuccess;
       })
DEFINE(cuGraphInstantiateWithFlags,
       (CuHandle * executable, CuHandle graph, unsigned long long), {
         auto *copy = new Graph(*static_cast<Graph *>(graph));
         for (UserObject *object : copy->objects)
           ++object->references;
         *executable = copy;
         return cuSuccess;
       })
DEFINE(cuGraphLaunch, (CuHandle executable, CuHandle), {
  for (const Node &node : static_cast<Graph *>(executable)->nodes) {
    std::vector<void *> params;
    for (const uint64_t &value : node.params)
      params.push_back(const_cast<uint64_t *>(&value));
    execute(node.kernel, node.grid, params.data());
  }
  return cuSuccess;
})
DEFINE(cuGraphDestroy, (CuHandle handle), {
  auto *graph = static_cast<Graph *>(handle);
  for (UserObject *object : graph->objects)
    release(object);
  delete graph;
  return cuSuccess;
})
DEFINE(cuGraphExecDestroy, (CuHandle executable),
       { return cuGraphDestroy(executable); })
DEFINE(cuStreamSynchronize, (CuHandle), { return cuSuccess; })
DEFINE(cuEventCreate, (CuHandle * event, unsigned), {
  *event = new double(0);
  return cuSuccess;
})
DEFINE(cuEventDestroy_v2, (CuHandle event), {
  delete static_cast<double *>(event);
  return cuSuccess;
})
DEFINE(cuEventRecord, (CuHandle event, CuHandle), {
  *static_cast<double *>(event) = state.milliseconds;
  return cuSuccess;
})
DEFINE(cuEventSynchronize, (CuHandle), { return cuSuccess; })
DEFINE(cuEventElapsedTime, (float *ms, CuHandle start, CuHandle end), {
  *ms = static_cast<float>(*static_cast<double *>(end) -
                           *static_cast<double *>(start));
  return cuSuccess;
})

extern "C" __attribute__((visibility("default"))) void
fakeCudaWatch(FakeCudaWatch watch) {
  state.watch = watch;
}
extern "C" __attribute__((visibility("default"))) void *fakeCudaContext() {
  return &contexts[2];
}
extern "C" __attribute__((visibility("default"))) bool fakeCudaIsDependent() {
  return state.isDependent;
}
extern "C" __attribute__((visibility("default"))) int fakeCudaDescriptors() {
  return state.descriptors;
}
