// Elaborator: additions in order, where iterations of a kernel meet.
//
// Iterations of a kernel run in any order. What they add in order to elements
// that they share has a kernel of its own, in which the ranges that may meet
// are loops:
//
//   kernel main(b in B, i in M by BM) { o[b, i] = f(x[b, i]);  s[i] += g(x[b,
//   i]); }
//
// with `s: f32[M] deterministic` is, for the additions,
//
//   kernel main_s(i in M by BM) { for b in B { s[i] += g(x[b, i]); } }
//
// ahead of the other: what that changes in place it has not changed yet.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Elaborator.h"

using namespace mlir;
using namespace selvedge::tile;

namespace selvedge::frontend {

std::optional<bool> Elaborator::checkAddition(SMLoc loc, unsigned tensor,
                                              const Access &access) {
  const TensorInfo &info = tensors[tensor];
  StringRef name = info.decl->name;
  bool inOrder = info.decl->isDeterministic && info.element.isF32();
  SmallVector<StringRef> meeting;
  bool anyOrder =
      stores->add(loc, name, tensor, access.coordinates, inOrder, meeting);
  if (meeting.empty())
    return anyOrder;
  if (!addInOrder(tensor, meeting))
    stores->reportMeeting(loc, name, meeting.front());
  return std::nullopt;
}

/// Whether an expression mentions one of the names.
static bool mentions(const Expr &e, ArrayRef<StringRef> names) {
  return (e.kind == Expr::Kind::Name && llvm::is_contained(names, e.name)) ||
         llvm::any_of(
             e.args, [&](const ExprPtr &arg) { return mentions(*arg, names); });
}

bool Elaborator::addInOrder(unsigned tensor, ArrayRef<StringRef> meeting) {
  if (orderedAdds)
    return false;
  OrderedAdds adds{tensor, {}, {}};
  for (const RangeDecl &range : currentKernel->ranges) {
    // A loop has no pairs as one axis.
    bool isLoop = false;
    for (auto [number, name] : llvm::enumerate(range.names))
      if (range.fused.empty() && llvm::is_contained(meeting, name)) {
        adds.loops.push_back({&range, number});
        isLoop = true;
      }
    if (isLoop)
      continue;
    // What remains a range begins and ends outside of the loops.
    SmallVector<const Expr *> parts{range.lo.get(), range.part.get(),
                                    range.parts.get()};
    for (const ExprPtr &hi : range.hi)
      parts.push_back(hi.get());
    if (llvm::any_of(parts, [&](const Expr *part) {
          return part && mentions(*part, meeting);
        }))
      return false;
  }
  if (adds.loops.size() != meeting.size())
    return false;
  auto known = llvm::find_if(
      leftAdds, [&](const OrderedAdds &left) { return left.tensor == tensor; });
  if (known == leftAdds.end())
    leftAdds.push_back(std::move(adds));
  return true;
}

bool Elaborator::isLoopInOrder(const RangeDecl &range, size_t number) const {
  return orderedAdds &&
         llvm::any_of(orderedAdds->loops, [&](const KernelIndex &index) {
           return index.range == &range && index.number == number;
         });
}

void Elaborator::emitKernels(const KernelDecl &kernel, OpBuilder &builder) {
  emitKernel(kernel, builder);
  OpBuilder::InsertionGuard guard(builder);
  Block &program = *builder.getInsertionBlock();
  if (auto last =
          program.empty() ? KernelOp() : dyn_cast<KernelOp>(program.back());
      last && last.getSymName() == kernel.name)
    builder.setInsertionPoint(last);
  for (OrderedAdds &adds : std::exchange(leftAdds, {})) {
    adds.name = (kernel.name + "_" + tensors[adds.tensor].decl->name).str();
    while (llvm::any_of(chain.back()->kernels, [&](const KernelDecl &other) {
      return other.name == adds.name;
    }))
      adds.name += "_";
    orderedAdds = &adds;
    emitKernel(kernel, builder);
    orderedAdds = nullptr;
  }
}

void Elaborator::elaborateInOrder(ArrayRef<KernelIndex> loops,
                                  const KernelDecl &kernel) {
  frames.back().scopes.emplace_back();
  if (loops.empty())
    return elaborate(kernel.body);
  auto [range, number] = loops.front();
  LoopBounds bounds;
  if (!loopBounds(*range, number, bounds))
    return;
  Location l = at(range->loc);
  scf::ForOp loop = tb->enterLoop(l, bounds.start, bounds.stop, bounds.step);
  bindLoopVar(*range, number, bounds, loop.getInductionVar());
  elaborateInOrder(loops.drop_front(), kernel);
  tb->createHere<scf::YieldOp>(l);
  tb->leave();
  if (bounds.axis)
    folds->add(
        {range->names[number], bounds.axis, loop, loop.getInductionVar(), {}});
}

} // namespace selvedge::frontend
