// Fuzzes the C interface: any bytes as an artefact, any arguments.
// SPDX-License-Identifier: MIT
#include "selvedge/Artifact.h"
#include "selvedge/DLPack.h"
#include "selvedge/selvedge.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

using namespace selvedge;

namespace {

/// Choices made by the input, again and again from its beginning.
struct Choices {
  const uint8_t *data;
  size_t size;
  size_t next = 0;

  unsigned operator()(unsigned limit) {
    return size ? data[next++ % size] % limit : 0;
  }
};

/// A tensor of any type and size, often that of the signature.
dlpack::Tensor makeTensor(Choices &choose, const selvedge_tensor_info &info,
                          std::array<int64_t, 4> &shape,
                          std::array<int64_t, 4> &strides) {
  static constexpr int64_t extents[] = {0, 1, 2, 7, 64, 1 << 20, -1, INT64_MIN};
  for (size_t i = 0; i < shape.size(); ++i) {
    shape[i] = extents[choose(std::size(extents))];
    strides[i] = extents[choose(std::size(extents))];
  }
  dlpack::Tensor tensor = {};
  tensor.data = choose(4) ? reinterpret_cast<void *>(4096) : nullptr;
  tensor.device = {choose(8) ? 2 : 1, static_cast<int32_t>(choose(8) / 7)};
  tensor.ndim = choose(8) ? static_cast<int32_t>(std::min<size_t>(info.rank, 4))
                          : static_cast<int32_t>(choose(6)) - 1;
  tensor.ndim = std::min(tensor.ndim, 4);
  tensor.dtype = {info.code, info.bits, static_cast<uint16_t>(choose(8) > 0)};
  tensor.shape = choose(16) ? shape.data() : nullptr;
  tensor.strides = choose(2) ? strides.data() : nullptr;
  tensor.byteOffset = choose(8) ? 0 : choose(255);
  return tensor;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  selvedge_free_signature(selvedge_decode_signature(data, size));
  std::string artifact = encodeArtifact(
      {std::string(reinterpret_cast<const char *>(data), size), "ptx", ""});
  selvedge_signature *signature =
      selvedge_decode_signature(artifact.data(), artifact.size());
  Choices choose{data, size};
  std::array<dlpack::Tensor, 8> tensors = {};
  std::array<std::array<int64_t, 4>, 8> shapes = {}, strides = {};
  std::array<selvedge_tensor, 8> names = {};
  size_t count = 0;
  for (size_t i = 0; i < selvedge_tensor_count(signature) + 1; ++i) {
    selvedge_tensor_info info = {};
    bool known = selvedge_get_tensor(signature, i, &info) == SELVEDGE_OK;
    if (known != (i < selvedge_tensor_count(signature)))
      std::abort();
    if (!known || count == tensors.size() || info.role == SELVEDGE_TEMP)
      continue;
    tensors[count] = makeTensor(choose, info, shapes[count], strides[count]);
    names[count] = {choose(16) ? info.name : nullptr,
                    choose(16) ? &tensors[count] : nullptr};
    ++count;
  }
  selvedge_dim dim = {selvedge_get_dim(signature, 0), choose(9)};
  selvedge_arguments arguments = {choose(16) ? names.data() : nullptr,
                                  count,
                                  nullptr,
                                  choose(16) ? 0u : 1u,
                                  nullptr,
                                  0,
                                  &dim,
                                  choose(2)};
  int file = ::memfd_create("artifact", 0);
  if (::write(file, artifact.data(), artifact.size()) < 0)
    std::abort();
  std::string path = "/proc/self/fd/" + std::to_string(file);
  char text[512];
  size_t room = choose(2) ? sizeof(text) : choose(9);
  selvedge_status status =
      selvedge_describe(path.c_str(), &arguments, text, room);
  if (status != SELVEDGE_OK && !*selvedge_last_error())
    std::abort();
  if (status == SELVEDGE_OK && !std::memchr(text, 0, room))
    std::abort();
  ::close(file);
  selvedge_free_signature(signature);
  return 0;
}
