// Filling shared memory and registers of a GPU with a pattern.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/Scrub.h"

#include <array>
#include <cstring>
#include <fmt/format.h>

namespace selvedge::cli {

namespace {

/// Threads of a block: with 64 registers each they own the register file.
constexpr uint32_t threads = 1024;
/// Registers that hold the pattern when a thread ends.
constexpr int heldRegisters = 48;
/// Bytes that one store of every thread fills.
constexpr uint32_t rowBytes = threads * 4;
/// Rows that every GPU since sm_80 has.
constexpr int commonRows = 24;
/// One block fills a multiprocessor; some end before all have one.
constexpr uint32_t waves = 4;

} // namespace

// Word i of block b gets pattern ^ (hash(i, b) & mask). All held registers are
// loaded before a barrier and stored after it: volatile accesses stay in
// order, so at the barrier they are alive at once.
std::string scrubPtx() {
  std::string ptx = R"(.version 7.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 pool[];
.visible .entry selvedge_scrub(
  .param .u32 pattern, .param .u32 mask, .param .u32 bytes)
.maxntid 1024, 1, 1
{
  .reg .pred %more;
  .reg .b32 %at, %limit, %pattern, %mask, %hash, %part, %block, %base;
)";
  ptx += fmt::format("  .reg .b32 %held<{}>;\n", heldRegisters);
  ptx += R"(  ld.param.u32 %pattern, [pattern];
  ld.param.u32 %mask, [mask];
  ld.param.u32 %limit, [bytes];
  mov.u32 %part, %tid.x;
  mov.u32 %block, %ctaid.x;
  mov.u32 %base, pool;
  shl.b32 %at, %part, 2;
fill:
  setp.lt.u32 %more, %at, %limit;
  @!%more bra filled;
  mad.lo.u32 %hash, %block, 0x9e3779b9, %at;
  mul.lo.u32 %hash, %hash, 0x85ebca6b;
  shr.u32 %part, %hash, 15;
  xor.b32 %hash, %hash, %part;
  mul.lo.u32 %hash, %hash, 0xc2b2ae35;
  and.b32 %hash, %hash, %mask;
  xor.b32 %hash, %hash, %pattern;
  add.u32 %part, %base, %at;
  st.volatile.shared.u32 [%part], %hash;
)";
  ptx += fmt::format("  add.u32 %at, %at, {};\n", rowBytes);
  ptx += R"(  bra fill;
filled:
  bar.sync 0;
  mov.u32 %part, %tid.x;
  shl.b32 %at, %part, 2;
  add.u32 %base, %base, %at;
)";
  for (int i = 0; i < heldRegisters; ++i)
    ptx += fmt::format("  ld.volatile.shared.u32 %held{}, [%base+{}];\n", i,
                       i % commonRows * static_cast<int>(rowBytes));
  ptx += "  bar.sync 0;\n";
  for (int i = 0; i < heldRegisters; ++i)
    ptx += fmt::format("  st.volatile.shared.u32 [%base+{}], %held{};\n",
                       i % commonRows * static_cast<int>(rowBytes), i);
  return ptx + "  ret;\n}\n";
}

uint32_t poisonWord(Poison poison, DType dtype) {
  std::array<std::byte, 8> bytes = {};
  fillPoison(poison, dtype, bytes);
  uint32_t word = 0;
  std::memcpy(&word, bytes.data(), sizeof(word));
  return word;
}

Result<Scrubber> Scrubber::load(const Device &device) {
  auto [major, minor] = device.capability();
  Result<Module> module =
      Module::loadPtx(device, scrubPtx(), fmt::format("sm_{}{}", major, minor));
  if (!module.ok())
    return module.status();
  Scrubber scrubber;
  scrubber.bytes = static_cast<uint32_t>(device.sharedMemoryPerBlock());
  scrubber.blocks = waves * static_cast<uint32_t>(device.multiprocessors());
  Result<Kernel> kernel = module->kernel("selvedge_scrub", scrubber.bytes);
  if (!kernel.ok())
    return kernel.status();
  scrubber.kernel = std::move(*kernel);
  return scrubber;
}

Status Scrubber::run(Poison poison, DType dtype) const {
  uint32_t mask = poison == Poison::Random ? ~uint32_t(0) : 0;
  std::array<uint64_t, 3> params = {poisonWord(poison, dtype), mask, bytes};
  return kernel.launch({{blocks, 1, 1}, threads}, params);
}

} // namespace selvedge::cli
