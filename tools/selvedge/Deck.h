// Draws at random, but everything once before anything comes again.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_DECK_H
#define SELVEDGE_TOOLS_SELVEDGE_DECK_H

#include "tools/selvedge/RandomSequence.h"

#include <utility>
#include <vector>

namespace selvedge::cli {

/// Cards that are shuffled whenever all have been drawn.
template <typename T>
class Deck {
public:
  Deck() = default;
  explicit Deck(std::vector<T> cards) : cards(std::move(cards)) {}

  bool isEmpty() const { return cards.empty(); }
  size_t size() const { return cards.size(); }
  const std::vector<T> &getCards() const { return cards; }

  /// Only of one that is not empty.
  const T &draw(RandomSequence &random) {
    if (next == 0)
      for (size_t i = cards.size(); i > 1; --i) {
        auto other = random.uniform(0, static_cast<int64_t>(i) - 1);
        std::swap(cards[i - 1], cards[static_cast<size_t>(other)]);
      }
    const T &card = cards[next];
    next = (next + 1) % cards.size();
    return card;
  }

private:
  std::vector<T> cards;
  size_t next = 0;
};

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_DECK_H
