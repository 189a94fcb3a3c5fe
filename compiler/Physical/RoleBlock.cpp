// Executes a thread block whose warpgroups have roles.
// SPDX-License-Identifier: MIT
#include "compiler/Physical/RoleAgent.h"

using namespace mlir;

namespace selvedge::physical {

using reference::errorAt;

/// Steps after which a block is taken for one that never ends.
static constexpr int64_t stepLimit = 1 << 20;

namespace {

/// One run of a block.
class RoleBlock {
public:
  using Make =
      llvm::function_ref<std::unique_ptr<RoleAgent>(RoleMemory &memory)>;

  RoleBlock(sm::KernelOp kernel, PoisonSource &poison, Races &races)
      : kernel(kernel), memory(poison, races) {}

  llvm::Error run(Make make);
  bool hasNewRaces() const { return memory.hasNewRaces(); }
  void undoStores() {
    for (const std::unique_ptr<RoleAgent> &agent : agents)
      agent->undoStores();
  }

private:
  /// Executes what comes before the roles, and makes their agents.
  llvm::Error start(Make make);

  sm::KernelOp kernel;
  RoleMemory memory;
  std::vector<std::unique_ptr<RoleAgent>> agents;
};

} // namespace

llvm::Error RoleBlock::start(Make make) {
  std::unique_ptr<RoleAgent> setup = make(memory);
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    auto role = dyn_cast<sm::RoleOp>(op);
    if (!role) {
      if (llvm::Error failure = setup->execute(&op))
        return failure;
      continue;
    }
    auto members = static_cast<int64_t>(
        role.getSingle() ? role.getNumWarps() : role.getWarpgroups());
    for (int64_t member = 0; member < members; ++member) {
      std::unique_ptr<RoleAgent> agent = make(memory);
      agent->values = setup->values;
      agent->start(role, member, agents.size());
      agents.push_back(std::move(agent));
    }
  }
  return llvm::Error::success();
}

llvm::Error RoleBlock::run(Make make) {
  if (llvm::Error failure = start(make))
    return failure;
  int64_t steps = 0;
  for (size_t at = 0; at < agents.size();) {
    RoleAgent &agent = *agents[at];
    if (agent.isFinished()) {
      ++at;
      continue;
    }
    bool releases = isa_and_nonnull<sm::ArriveOp>(agent.next());
    llvm::Expected<bool> passed = agent.step();
    if (!passed)
      return passed.takeError();
    if (++steps > stepLimit)
      return errorAt(kernel, "does not end");
    // Whoever lets others go on comes after all of them: the earliest write and
    // the latest read are the worst.
    if (releases)
      std::rotate(agents.begin() + at, agents.begin() + at + 1, agents.end());
    at = *passed ? 0 : at + 1;
  }
  for (const std::unique_ptr<RoleAgent> &agent : agents)
    if (!agent->isFinished())
      return errorAt(agent->next(), "waits for ever");
  return llvm::Error::success();
}

llvm::Error
runRoles(sm::KernelOp kernel, PoisonSource &poison, Grid &grid,
         llvm::function_ref<std::unique_ptr<RoleAgent>(RoleMemory &)> make) {
  Races races;
  const int64_t handedOut = grid.handedOut;
  RoleBlock first(kernel, poison, races);
  llvm::Error failure = first.run(make);
  if (failure || !first.hasNewRaces())
    return failure;
  first.undoStores();
  grid.handedOut = handedOut;
  // What poison does there may race, too: it is wrong as it is.
  return RoleBlock(kernel, poison, races).run(make);
}

} // namespace selvedge::physical
