// Who executes a kernel in verify-sm-async.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Async/SmAsyncRules.h"

#include "llvm/Support/FormatVariadic.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

static constexpr unsigned warpThreads = 32, warpgroupWarps = 4, agentWarps = 2,
                          numAgents = warpgroupWarps / agentWarps;

void SmAsyncRules::addAgent(std::string name, Member member, unsigned group) {
  Agent &agent = agents.emplace_back(numbers);
  agent.name = std::move(name);
  agent.actor = order.addAgent(member.threads);
  agent.group = group;
  members.push_back(std::move(member));
}

void SmAsyncRules::addAgents(KernelOp kernel) {
  auto roles = kernel.getBody().getOps<RoleOp>();
  if (roles.empty())
    for (int64_t warp : {0, 1})
      addAgent(llvm::formatv("warp {0}", warp), {.warp = warp, .parts = 2}, 0);
  unsigned group = 0;
  for (RoleOp role : roles) {
    if (role.getSingle()) {
      // Numbered as its block argument does: several are one warp apart.
      for (uint64_t warp = 0; warp < role.getNumWarps(); ++warp)
        addAgent(
            role.getNumWarps() == 1
                ? llvm::formatv("thread \"{0}\"", role.getName()).str()
                : llvm::formatv("thread {0} of \"{1}\"", warp, role.getName())
                      .str(),
            {.role = role,
             .warpgroup = static_cast<int64_t>(warp),
             .warp = static_cast<int64_t>(role.getFirstWarp() + warp)},
            group++);
      continue;
    }
    for (uint64_t warpgroup = 0; warpgroup < role.getWarpgroups();
         ++warpgroup, ++group)
      for (unsigned warp = 0; warp < numAgents; ++warp)
        addAgent(llvm::formatv("warpgroup {0} of \"{1}\", warp {2}", warpgroup,
                               role.getName(), warp),
                 {.role = role,
                  .threads = agentWarps * warpThreads,
                  .warps = agentWarps,
                  .warpgroup = static_cast<int64_t>(warpgroup),
                  .warp = warp,
                  .parts = numAgents},
                 group);
  }
}

Progress SmAsyncRules::role(Agent &agent, RoleOp op) {
  Member &member = memberOf(agent);
  if (member.role != op)
    return Progress::Advanced;
  Value number = op.getBody().getArgument(0);
  agent.values[number] = {
      Tracked::Kind::Integer,
      integers.constant(number.getType(), member.warpgroup)};
  agent.enter(op.getBody().front());
  return Progress::Advanced;
}

bool SmAsyncRules::isWholeWarp(Agent &agent, Operation *op) {
  Member &member = memberOf(agent);
  if (!member.role || (!member.role.getSingle() && !agent.isOneThread()))
    return true;
  op->emitOpError("expects all threads of a warpgroup, found one that executes "
                  "it alone (")
      << agent.where().str() << ")";
  return false;
}

bool SmAsyncRules::isOneThread(Agent &agent, Operation *op) {
  if (threadsOf(agent) == 1)
    return true;
  op->emitOpError("expects one thread, of a single role or chosen by "
                  "sm.leader, found a warp (")
      << agent.where().str() << ")";
  return false;
}

} // namespace selvedge::verify
