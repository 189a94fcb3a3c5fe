// Runs kernels over their grids.
// SPDX-License-Identifier: MIT
#include "compiler/Physical/Launch.h"
#include "compiler/Physical/RoleAgent.h"

#include <deque>

using namespace mlir;

namespace selvedge::physical {

using reference::Arguments;
using reference::errorAt;
using reference::Tensor;

namespace {

void startKernel(Arguments &arguments) {
  for (Tensor &tensor : arguments.tensors)
    if (tensor.isWritable())
      tensor.stored.assign(tensor.size(), 0);
}

/// Runs one kernel of the tile dialect over its iterations.
llvm::Error runKernel(tile::KernelOp kernel, Arguments &arguments,
                      PoisonSource &poison) {
  if (!kernel.getSizes())
    return errorAt(kernel, "has no bound sizes: run tile-bind-blocks first");
  startKernel(arguments);
  SmallVector<int64_t> counts, steps;
  int64_t iterations = 1;
  for (auto range : kernel.getRanges().getAsRange<tile::IterAttr>()) {
    llvm::Expected<int64_t> extent = reference::evaluateAffine(
        range.getExtent().getResult(0), arguments.dims);
    if (!extent)
      return extent.takeError();
    int64_t step = 1;
    if (range.getBlock())
      step = kernel.getSizes()->getAs<IntegerAttr>(range.getName()).getInt();
    steps.push_back(step);
    counts.push_back(llvm::divideCeilSigned(*extent, step));
    iterations *= counts.back();
  }
  Memo memo;
  for (int64_t i = 0; i < iterations; ++i) {
    EarlyWrites none;
    Executor executor(poison, none, memo);
    for (auto [d, dim] : llvm::enumerate(arguments.dims))
      executor.values[kernel.getDimArg(d)] = reference::makeScalar(dim);
    for (auto [t, tensor] : llvm::enumerate(arguments.tensors))
      executor.tensors[kernel.getTensorArgument(t)] = &tensor;
    for (auto [s, scalar] : llvm::enumerate(arguments.scalars))
      executor.values[kernel.getScalarArgument(s)] = scalar;
    int64_t rest = i;
    for (size_t d = counts.size(); d-- > 0; rest /= counts[d])
      executor.values[kernel.getCoord(d)] =
          reference::makeScalar(rest % counts[d] * steps[d]);
    if (llvm::Error failure = executor.run(kernel.getBody().front()))
      return failure;
  }
  return llvm::Error::success();
}

/// Whether every result of a map of dims, if there is one, is at least 0.
bool areMet(std::optional<AffineMap> conditions, const Arguments &arguments) {
  return !conditions ||
         llvm::all_of(conditions->getResults(), [&](AffineExpr condition) {
           llvm::Expected<int64_t> value =
               reference::evaluateAffine(condition, arguments.dims);
           if (value)
             return *value >= 0;
           llvm::consumeError(value.takeError());
           return false;
         });
}

/// Whether contiguous tensors on aligned addresses have rows that `when`, of
/// `variant` or a launch, needs aligned.
bool suits(sm::VariantOp variant, ArrayAttr when, const Arguments &arguments) {
  auto align = static_cast<int64_t>(variant.getAlign());
  for (auto name : when.getAsRange<StringAttr>())
    for (const Tensor &tensor : arguments.tensors) {
      if (tensor.arg.getName() != name || !tensor.present)
        continue;
      int64_t stride = tile::bytesOf(tensor.arg.getElementType());
      for (size_t d = tensor.shape.size(); d-- > 0;) {
        bool last = d + 1 == tensor.shape.size();
        if (!last && tensor.shape[d] > 1 && stride % align != 0)
          return false;
        stride *= tensor.shape[d];
      }
    }
  return true;
}

/// Passes the arguments of one block by the kernel's list of them.
void passArguments(sm::KernelOp kernel, sm::PlanOp plan, Arguments &arguments,
                   Executor &executor) {
  auto position = [](auto range, auto matches) {
    return std::distance(range.begin(), llvm::find_if(range, matches));
  };
  auto tensorOf = [&](StringRef name) {
    return llvm::find_if(arguments.tensors,
                         [&](const Tensor &tensor) {
                           return tensor.arg.getName() == name;
                         })
        .operator->();
  };
  for (auto [attr, argument] :
       llvm::zip_equal(kernel.getArgs(), kernel.getBody().getArguments())) {
    if (auto pointer = dyn_cast<sm::PointerArgAttr>(attr)) {
      executor.tensors[argument] = tensorOf(pointer.getTensor());
    } else if (auto map = dyn_cast<sm::TensorMapArgAttr>(attr)) {
      executor.tensors[argument] = tensorOf(map.getTensor());
    } else if (auto dim = dyn_cast<sm::DimArgAttr>(attr)) {
      executor.values[argument] = reference::makeScalar(arguments.dims[position(
          plan.getDims().getAsRange<StringAttr>(),
          [&](StringAttr name) { return name == dim.getDim(); })]);
    } else if (auto scalar = dyn_cast<sm::ScalarArgAttr>(attr)) {
      executor.values[argument] = arguments.scalars[position(
          plan.getScalars().getAsRange<tile::ScalarArgAttr>(),
          [&](tile::ScalarArgAttr arg) {
            return arg.getName() == scalar.getScalar();
          })];
    }
  }
}

/// Runs one block: again where it turns out that a warp may have written early
/// what another had still to read.
llvm::Error runBlock(sm::KernelOp kernel, sm::PlanOp plan, int64_t block,
                     const Grid &grid, Arguments &arguments,
                     PoisonSource &poison, Memo &memo) {
  EarlyWrites early;
  for (;;) {
    Executor executor(poison, early, memo);
    executor.blockId = block;
    executor.numBlocks = grid.blocks;
    passArguments(kernel, plan, arguments, executor);
    if (llvm::Error failure = executor.run(kernel.getBody().front()))
      return failure;
    if (executor.isCopying())
      return errorAt(kernel, "ends with a copy in flight, which may write to "
                             "the shared memory of another block");
    if (!executor.mustRunAgain())
      return llvm::Error::success();
    executor.undoStores();
  }
}

/// Runs one block of a kernel whose warpgroups have roles; each agent has a
/// memo, which those of other blocks share.
llvm::Error runRoleBlock(sm::KernelOp kernel, sm::PlanOp plan, int64_t block,
                         Grid &grid, Arguments &arguments, PoisonSource &poison,
                         std::deque<Memo> &memos) {
  EarlyWrites none;
  size_t agents = 0;
  return runRoles(kernel, poison, grid, [&](RoleMemory &memory) {
    if (agents == memos.size())
      memos.emplace_back();
    auto agent = std::make_unique<RoleAgent>(poison, none, memos[agents++],
                                             memory, grid);
    agent->blockId = block;
    passArguments(kernel, plan, arguments, *agent);
    return agent;
  });
}

/// Notes what the kernel that has just run stored, if it is one that
/// initialises a tensor.
void noteInit(sm::KernelOp kernel, const Arguments &arguments,
              Footprint &initialised) {
  std::optional<tile::SourceAttr> source = kernel.getSource();
  if (!source ||
      !source->getKernel().getLeafReference().getValue().starts_with("init_"))
    return;
  for (const Tensor &tensor : arguments.tensors) {
    if (!tensor.present || !tensor.isWritable())
      continue;
    std::vector<uint8_t> &noted = initialised[tensor.arg.getName().str()];
    noted.resize(tensor.stored.size());
    for (auto [all, stored] : llvm::zip_equal(noted, tensor.stored))
      all |= stored;
  }
}

llvm::Error runLaunch(sm::LaunchOp launch, sm::PlanOp plan,
                      Arguments &arguments, PoisonSource &poison,
                      Footprint *initialised) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<sm::KernelOp>(
      launch->getParentOfType<ModuleOp>(), launch.getKernelAttr());
  if (!kernel)
    return errorAt(launch, "launches '" + launch.getKernel() +
                               "', which is not in the module");
  startKernel(arguments);
  int64_t blocks = 1;
  for (AffineExpr expr : launch.getGrid().getResults()) {
    llvm::Expected<int64_t> count =
        reference::evaluateAffine(expr, arguments.dims);
    if (!count)
      return count.takeError();
    blocks *= std::max<int64_t>(0, *count);
  }
  // Few blocks, so that they have several tiles each.
  if (launch.getPersistent())
    blocks = std::min<int64_t>(blocks, 2);
  Grid grid{blocks, 0};
  bool hasRoles = kernel.hasRoles();
  std::deque<Memo> memos(1);
  for (int64_t block = 0; block < blocks; ++block)
    if (llvm::Error failure = hasRoles
                                  ? runRoleBlock(kernel, plan, block, grid,
                                                 arguments, poison, memos)
                                  : runBlock(kernel, plan, block, grid,
                                             arguments, poison, memos.front()))
      return failure;
  if (initialised)
    noteInit(kernel, arguments, *initialised);
  return llvm::Error::success();
}

/// The launches of the last variant, some of them replaced, as the runtime
/// chooses them (docs/manifest.md): those of the first variant of which one can
/// be taken that has conditions.
SmallVector<sm::LaunchOp> chooseLaunches(sm::PlanOp plan, sm::VariantOp last,
                                         const Arguments &arguments) {
  auto launches = llvm::to_vector(last.getBody().getOps<sm::LaunchOp>());
  for (auto variant : plan.getBody().getOps<sm::VariantOp>()) {
    if (variant == last || !areMet(variant.getConditions(), arguments))
      continue;
    auto chosen = launches;
    bool isUsed = false;
    for (auto [own, launch] :
         llvm::zip(variant.getBody().getOps<sm::LaunchOp>(), chosen)) {
      std::optional<ArrayAttr> when = own.getWhen();
      if (!when || !suits(variant, *when, arguments))
        continue;
      launch = own;
      isUsed |= !when->empty();
    }
    if (isUsed)
      return chosen;
  }
  return launches;
}

} // namespace

tile::ProgramOp versionFor(tile::ProgramOp program,
                           const Arguments &arguments) {
  for (auto other :
       program->getParentOfType<ModuleOp>().getOps<tile::ProgramOp>())
    if ((other.isForSomeDims() || other.getKind() == tile::VersionKind::Rows) &&
        !other.isForSmallDevices() &&
        other.getVersionOf() == program.getSymName() &&
        areMet(other.getConditions(), arguments))
      return other;
  return program;
}

llvm::Error launchProgram(tile::ProgramOp program, Arguments &arguments,
                          PoisonSource &poison) {
  for (auto kernel : program.getBody().getOps<tile::KernelOp>())
    if (llvm::Error failure = runKernel(kernel, arguments, poison))
      return failure;
  return llvm::Error::success();
}

llvm::Error launchPlan(sm::PlanOp plan, llvm::StringRef variant,
                       Arguments &arguments, PoisonSource &poison,
                       Footprint *initialised) {
  for (auto candidate : plan.getBody().getOps<sm::VariantOp>()) {
    bool named = candidate.getName() == variant;
    if (!variant.empty() && !named)
      continue;
    if (!areMet(candidate.getConditions(), arguments)) {
      if (named)
        return errorAt(plan, "has variant '" + variant +
                                 "', but that is for other dims");
      continue;
    }
    if (!suits(candidate, candidate.getWhen(), arguments)) {
      if (named)
        return errorAt(plan, "has variant '" + variant +
                                 "', but contiguous tensors of these dims do "
                                 "not have the alignment that it needs");
      continue;
    }
    bool isLast = !named && candidate.getWhen().empty();
    auto own = candidate.getBody().getOps<sm::LaunchOp>();
    for (sm::LaunchOp launch : isLast
                                   ? chooseLaunches(plan, candidate, arguments)
                                   : llvm::to_vector(own))
      if (llvm::Error failure =
              runLaunch(launch, plan, arguments, poison, initialised))
        return failure;
    return llvm::Error::success();
  }
  return errorAt(plan, "has no variant '" + variant + "'");
}

} // namespace selvedge::physical
