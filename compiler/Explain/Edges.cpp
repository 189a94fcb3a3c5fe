// Which kernels write what other kernels of the op read.
// SPDX-License-Identifier: MIT
#include "compiler/Explain/Edges.h"

#include "dialect/Tile/Accumulate.h"

namespace selvedge::explain {

using namespace mlir;
using namespace selvedge::tile;

namespace {

/// A record's access: kernels are numbered in the order of their launches.
struct Access {
  Record *record = nullptr;
  StringAttr tensor;
  int64_t kernel = 0;
  bool stores = false;
  /// Whether it needs what is there.
  bool reads = false;
};

} // namespace

void findWriters(ProgramOp program,
                 const std::map<std::string, Operation *> &operations,
                 Explanation &explanation) {
  llvm::DenseMap<Operation *, int64_t> numbers;
  for (KernelOp kernel : program.getOps<KernelOp>())
    numbers.insert({kernel, static_cast<int64_t>(numbers.size())});
  std::vector<Access> accesses;
  for (Record &record : explanation.records) {
    auto found = operations.find(record.id);
    auto access = found == operations.end()
                      ? TensorAccessOpInterface()
                      : dyn_cast<TensorAccessOpInterface>(found->second);
    if (!access)
      continue;
    auto kernel = access->getParentOfType<KernelOp>();
    bool stores = access.isStore();
    accesses.push_back(
        {&record, kernel.getTensorArgOf(access.getAccessed()).getName(),
         numbers.lookup(kernel), stores, !stores || addsToMemory(access)});
  }
  for (const Access &reader : accesses)
    for (const Access &writer : accesses)
      if (reader.reads && writer.stores && writer.tensor == reader.tensor &&
          writer.kernel < reader.kernel)
        reader.record->writers.push_back(
            {writer.record->kernel, writer.record->id, writer.record->place});
}

} // namespace selvedge::explain
