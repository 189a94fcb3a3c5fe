// What the numbers are that a role takes a tile by.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/TileWords.h"

#include "dialect/Sm/Sm.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

namespace {

/// An argument of a loop over tiles, and the words that it may be.
struct Argument {
  Value value;
  SmallVector<ReceiveOp, 4> words = {};
};

} // namespace

/// Adds the words of one mailbox that branches choose from; false where there
/// are others, or none.
static bool addWords(Value value, SmallVectorImpl<ReceiveOp> &words) {
  Operation *def = value.getDefiningOp();
  if (auto receive = dyn_cast_or_null<ReceiveOp>(def)) {
    words.push_back(receive);
    return receive.getMailbox() == words.front().getMailbox();
  }
  auto branch = dyn_cast_or_null<scf::IfOp>(def);
  unsigned number = branch ? cast<OpResult>(value).getResultNumber() : 0;
  return branch && addWords(branch.thenYield().getOperand(number), words) &&
         addWords(branch.elseYield().getOperand(number), words);
}

/// Those of a loop that hands on what it is given.
static SmallVector<Argument> argumentsOf(scf::WhileOp loop) {
  SmallVector<Argument> arguments;
  for (auto [value, tested] : llvm::zip_equal(
           loop.getAfterArguments(), loop.getConditionOp().getArgs())) {
    auto before = dyn_cast<BlockArgument>(tested);
    if (!before || before.getOwner() != loop.getBeforeBody())
      continue;
    unsigned number = before.getArgNumber();
    Argument argument{value};
    if (addWords(loop.getInits()[number], argument.words) &&
        addWords(loop.getYieldOp().getOperands()[number], argument.words))
      arguments.push_back(std::move(argument));
  }
  return arguments;
}

/// Whether words are those of the same tiles: received side by side.
static bool areReceivedTogether(const Argument &a, const Argument &b) {
  return llvm::equal(a.words, b.words, [](ReceiveOp word, ReceiveOp other) {
    return word->getBlock() == other->getBlock() &&
           word.getStage() == other.getStage();
  });
}

/// Adds what is posted for an argument, by place; false where a place posts it
/// twice, or not beside the others.
static bool addPosts(const Argument &argument,
                     llvm::MapVector<Block *, TileWords> &words,
                     llvm::DenseMap<Block *, Value> &stages) {
  ReceiveOp word = argument.words.front();
  for (Operation *user : word.getMailbox().getUsers()) {
    auto post = dyn_cast<PostOp>(user);
    if (!post)
      continue;
    Block *place = post->getBlock();
    auto [stage, isNew] = stages.try_emplace(place, post.getStage());
    if (stage->second != post.getStage() ||
        !words[place].insert({argument.value, post.getValue()}).second)
      return false;
  }
  return true;
}

static std::vector<TileWords> tileWordsOf(scf::WhileOp loop) {
  SmallVector<Argument> arguments = argumentsOf(loop);
  llvm::MapVector<Block *, TileWords> words;
  llvm::DenseMap<Block *, Value> stages;
  for (const Argument &argument : arguments)
    if (!areReceivedTogether(argument, arguments.front()) ||
        !addPosts(argument, words, stages))
      return {};
  std::vector<TileWords> result;
  for (auto &[place, posted] : words) {
    // One that a place does not post would be an older one's.
    if (posted.size() != arguments.size())
      return {};
    result.push_back(std::move(posted));
  }
  return result;
}

std::vector<TileWords> tileWordsAt(Operation *op) {
  auto loop = op->getParentOfType<scf::WhileOp>();
  return loop ? tileWordsOf(loop) : std::vector<TileWords>();
}

} // namespace selvedge::verify
