// Executes a thread block whose warpgroups have roles.
// SPDX-License-Identifier: MIT
#include "compiler/Physical/RoleAgent.h"

using namespace mlir;

namespace selvedge::physical {

using reference::errorAt;

/// Steps after which a block is taken for one that never ends.
static constexpr int64_t stepLimit = 1 << 20;

llvm::Error runRoles(sm::KernelOp kernel,
                     llvm::function_ref<std::unique_ptr<RoleAgent>()> make) {
  // Executes what comes before the roles.
  std::unique_ptr<RoleAgent> setup = make();
  std::vector<std::unique_ptr<RoleAgent>> agents;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    auto role = dyn_cast<sm::RoleOp>(op);
    if (!role) {
      if (llvm::Error failure = setup->execute(&op))
        return failure;
      continue;
    }
    bool isSingle = role.getSingle();
    auto members = static_cast<int64_t>(isSingle ? role.getNumWarps()
                                                 : role.getWarpgroups());
    for (int64_t member = 0; member < members; ++member) {
      std::unique_ptr<RoleAgent> agent = make();
      agent->values = setup->values;
      agent->threads = isSingle ? 1 : 128;
      agent->warps = isSingle ? 1 : 4;
      agent->values[role.getBody().getArgument(0)] =
          reference::makeScalar(member);
      agent->enter(role.getBody().front(), role);
      agents.push_back(std::move(agent));
    }
  }
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

} // namespace selvedge::physical
