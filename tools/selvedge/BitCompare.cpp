// Comparison of device memory bit for bit, on the device.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/BitCompare.h"

#include <array>
#include <fmt/format.h>

namespace selvedge::cli {

namespace {

constexpr uint32_t threads = 256;
/// They fill a multiprocessor.
constexpr uint32_t blocksPerMultiprocessor = 8;

} // namespace

// Each thread compares 16 bytes at a time, as far apart as all threads need.
std::string comparePtx() {
  return fmt::format(R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry selvedge_compare(
  .param .u64 first, .param .u64 second, .param .u64 bytes, .param .u64 flag)
.maxntid {0}, 1, 1
{{
  .reg .pred %more, %differs;
  .reg .b32 %a<4>, %b<4>, %block, %thread, %one;
  .reg .b64 %first, %second, %bytes, %flag, %at, %step, %address;
  ld.param.u64 %first, [first];
  ld.param.u64 %second, [second];
  ld.param.u64 %bytes, [bytes];
  ld.param.u64 %flag, [flag];
  mov.u32 %one, 1;
  mov.u32 %thread, %tid.x;
  mov.u32 %block, %ctaid.x;
  mad.lo.u32 %thread, %block, {0}, %thread;
  mul.wide.u32 %at, %thread, 16;
  mov.u32 %block, %nctaid.x;
  mul.wide.u32 %step, %block, {1};
next:
  setp.lt.u64 %more, %at, %bytes;
  @!%more bra done;
  add.u64 %address, %first, %at;
  ld.global.v4.u32 {{%a0, %a1, %a2, %a3}}, [%address];
  add.u64 %address, %second, %at;
  ld.global.v4.u32 {{%b0, %b1, %b2, %b3}}, [%address];
  xor.b32 %a0, %a0, %b0;
  xor.b32 %a1, %a1, %b1;
  xor.b32 %a2, %a2, %b2;
  xor.b32 %a3, %a3, %b3;
  or.b32 %a0, %a0, %a1;
  or.b32 %a2, %a2, %a3;
  or.b32 %a0, %a0, %a2;
  setp.ne.u32 %differs, %a0, 0;
  @%differs st.global.u32 [%flag], %one;
  add.u64 %at, %at, %step;
  bra next;
done:
  ret;
}}
)",
                     threads, threads * BitCompare::alignment);
}

Result<BitCompare> BitCompare::load(const Device &device) {
  auto [major, minor] = device.capability();
  Result<Module> module = Module::loadPtx(device, comparePtx(),
                                          fmt::format("sm_{}{}", major, minor));
  if (!module.ok())
    return module.status();
  Result<Kernel> kernel = module->kernel("selvedge_compare", 0);
  if (!kernel.ok())
    return kernel.status();
  BitCompare compare;
  compare.kernel = std::move(*kernel);
  compare.blocks =
      blocksPerMultiprocessor * static_cast<uint32_t>(device.multiprocessors());
  return compare;
}

Status BitCompare::run(const void *first, const void *second, uint64_t bytes,
                       void *flag) const {
  std::array<uint64_t, 4> params = {reinterpret_cast<uintptr_t>(first),
                                    reinterpret_cast<uintptr_t>(second), bytes,
                                    reinterpret_cast<uintptr_t>(flag)};
  return kernel.launch({{blocks, 1, 1}, threads}, params);
}

} // namespace selvedge::cli
