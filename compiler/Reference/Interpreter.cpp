// Runs kernels over their iterations.
// SPDX-License-Identifier: MIT
#include "compiler/Reference/Interpreter.h"
#include "compiler/Reference/Iteration.h"
#include "dialect/Tile/Accumulate.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

using namespace mlir;

namespace selvedge::reference {

namespace {

/// Size of a block symbol: what the plan bound, else the option, cut to the
/// extent of the kernel range that uses it.
void chooseSizes(KernelContext &context, ArrayRef<int64_t> extents,
                 const ReferenceOptions &options) {
  int64_t preferred = std::clamp<int64_t>(options.blockSize, 1, 1 << 16);
  tile::KernelOp kernel = context.kernel;
  for (auto [range, extent] :
       llvm::zip(kernel.getRanges().getAsRange<tile::IterAttr>(), extents))
    if (range.getBlock())
      context.blocks[range.getBlock().getValue()] =
          std::clamp<int64_t>(extent, 1, preferred);
  for (auto axis : kernel.getAxes().getAsRange<tile::AxisAttr>()) {
    int64_t size = axis.getExtent();
    if (axis.getBlock())
      size = context.blocks.try_emplace(axis.getBlock().getValue(), preferred)
                 .first->second;
    if (kernel.getSizes())
      size = kernel.getSizes()->getAs<IntegerAttr>(axis.getName()).getInt();
    if (kernel.getSizes() && axis.getBlock())
      context.blocks[axis.getBlock().getValue()] = size;
    context.extents[axis.getName()] = size;
  }
  // A block of a loop whose axis no tile has.
  kernel.walk([&](tile::BlockSizeOp op) {
    context.blocks.try_emplace(op.getBlock(), preferred);
  });
}

} // namespace

llvm::Error runKernel(tile::KernelOp kernel, Arguments &arguments,
                      const ReferenceOptions &options) {
  for (Tensor &tensor : arguments.tensors)
    if (tensor.isWritable())
      tensor.stored.assign(tensor.size(), 0);
  // The extent of each range, where its block has the size that `sizeOf` gives.
  llvm::SmallVector<int64_t> extents;
  auto findExtents = [&](auto sizeOf) -> llvm::Error {
    extents.clear();
    for (auto range : kernel.getRanges().getAsRange<tile::IterAttr>()) {
      llvm::Expected<int64_t> extent = evaluateAffine(
          range.getExtentFor(sizeOf(range)).getResult(0), arguments.dims);
      if (!extent)
        return extent.takeError();
      extents.push_back(*extent);
    }
    return llvm::Error::success();
  };
  if (llvm::Error failure = findExtents([](tile::IterAttr) { return 1; }))
    return failure;
  KernelContext context(kernel, arguments);
  chooseSizes(context, extents, options);
  if (llvm::Error failure = findExtents([&](tile::IterAttr range) {
        return range.getBlock()
                   ? context.blocks.lookup(range.getBlock().getValue())
                   : 1;
      }))
    return failure;

  llvm::SmallVector<int64_t> counts, steps;
  int64_t iterations = 1;
  for (auto [range, extent] :
       llvm::zip(kernel.getRanges().getAsRange<tile::IterAttr>(), extents)) {
    int64_t step = range.getBlock()
                       ? context.blocks.lookup(range.getBlock().getValue())
                       : 1;
    steps.push_back(step);
    counts.push_back(extent <= 0 ? 0 : (extent + step - 1) / step);
    iterations *= counts.back();
  }

  // Of several errors, that of the first iteration is reported.
  std::atomic<int64_t> next = 0;
  std::mutex mutex;
  int64_t failed = iterations;
  llvm::Error failure = llvm::Error::success();
  auto work = [&] {
    for (int64_t i = next++; i < iterations; i = next++) {
      llvm::SmallVector<int64_t> coordinates(counts.size());
      int64_t rest = i;
      for (size_t d = counts.size(); d-- > 0; rest /= counts[d])
        coordinates[d] = rest % counts[d] * steps[d];
      llvm::Error error = Iteration(context, coordinates).run();
      if (!error)
        continue;
      next = iterations;
      std::lock_guard lock(mutex);
      if (i < failed) {
        consumeError(std::move(failure));
        failure = std::move(error);
        failed = i;
      } else {
        consumeError(std::move(error));
      }
    }
  };
  // Where iterations meet, they add one after the other.
  bool adds = kernel
                  .walk([](tile::StoreOp store) {
                    return tile::addsToMemory(store) ? WalkResult::interrupt()
                                                     : WalkResult::advance();
                  })
                  .wasInterrupted();
  int64_t threads = adds              ? 1
                    : options.threads ? options.threads
                                      : std::thread::hardware_concurrency();
  threads = std::clamp<int64_t>(threads, 1, std::max<int64_t>(iterations, 1));
  std::vector<std::thread> pool;
  for (int64_t i = 1; i < threads; ++i)
    pool.emplace_back(work);
  work();
  for (std::thread &thread : pool)
    thread.join();
  return failure;
}

} // namespace selvedge::reference
