// The kernels that check promises, and memory for them.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_RUNTIME_SRC_PROMISEKERNELS_H
#define SELVEDGE_RUNTIME_SRC_PROMISEKERNELS_H

#include "runtime/src/CudaDriver.h"
#include "selvedge/Module.h"
#include "selvedge/Tensor.h"

#include <mutex>
#include <optional>
#include <vector>

namespace selvedge::inline runtime {

struct TensorWalk;

/// What kernel `selvedge_outside` looks for.
struct Question {
  int64_t lo = 0, hi = 0;
  /// Whether the element before takes the place of `lo`.
  bool isOrder = false;
  /// Whether it looks for elements of lo..hi, not for others.
  bool isInside = false;

  std::vector<uint64_t> params() const;
};

/// What both kernels take first: a tensor, and the device addresses of the
/// walk's inner dimensions and of what is found.
std::vector<uint64_t> tensorParams(const TensorView &tensor,
                                   const TensorWalk &walk, CuPointer inner,
                                   CuPointer found);

/// The kernels of runtime/kernels/Promises.mlir in one context, which its ops
/// share. Thread-safe.
class PromiseKernels {
public:
  /// Threads of a block.
  static constexpr uint32_t threads = 256;

  struct Code {
    Kernel outside, repeated;
  };

  /// Device memory for one check. Destroyed when the stream is done with it.
  class Scratch {
  public:
    Scratch(PromiseKernels &owner, CuPointer address, bool isKept, void *stream)
        : owner(owner), address(address), isKept(isKept), stream(stream) {}
    Scratch(const Scratch &) = delete;
    Scratch &operator=(const Scratch &) = delete;
    ~Scratch();
    CuPointer data() const { return address; }

  private:
    PromiseKernels &owner;
    CuPointer address;
    bool isKept;
    void *stream;
  };

  /// Those of the context of `device`; loads nothing yet.
  static std::shared_ptr<PromiseKernels> of(const Device &device);
  ~PromiseKernels();

  const Device &device() const { return gpu; }
  /// Loads the code at the first call. Unavailable where the driver cannot.
  Result<const Code *> code();
  /// Memory that work on `stream` may use, once there is code; null where there
  /// is none.
  std::unique_ptr<Scratch> allocate(uint64_t bytes, void *stream);

private:
  explicit PromiseKernels(const Device &device) : gpu(device) {}
  Result<Code> load() const;

  Device gpu;
  std::mutex mutex;
  std::optional<Result<Code>> loaded;
  /// Of equal size: those that no check uses.
  std::vector<CuPointer> free;
};

} // namespace selvedge::inline runtime

#endif // SELVEDGE_RUNTIME_SRC_PROMISEKERNELS_H
