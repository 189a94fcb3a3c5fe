// What `explain` tells, free of IR.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_EXPLAIN_EXPLANATION_H
#define SELVEDGE_COMPILER_EXPLAIN_EXPLANATION_H

#include <cstdint>
#include <string>
#include <vector>

namespace selvedge::explain {

/// A place in the source; line 0 where there is none.
struct Place {
  unsigned line = 0;
  unsigned column = 0;
  /// The imported file that it is in; empty: the file that is explained.
  std::string file;
  /// The line's text without indentation.
  std::string text;

  /// "line 22", "flash_fwd.tile:22" in an imported file.
  std::string where() const {
    std::string number = std::to_string(line);
    return file.empty() ? "line " + number
                        : file.substr(file.rfind('/') + 1) + ":" + number;
  }
};

/// One condition under which a lane exists.
struct Predicate {
  /// In the words of the program: `j < kv_len[b]`.
  std::string text;
  /// `shape`, `range`, `valid`, `where`, `optional` or `pipeline`.
  std::string origin;
  Place place;
  /// Whether it is always true, so that no code tests it.
  bool proved = false;
  /// Why it is always true.
  std::string why;
  /// Whether no code tests it as what becomes of the lanes is removed later.
  bool untested = false;
  /// Whether only the partial iterations of a loop test it.
  bool partialOnly = false;
};

/// An operation of the final `sm` form that carries a record's id.
struct Instance {
  std::string kernel;
  std::string op;
  std::string mechanism;
  /// Static estimate: instructions of one thread that a kernel without safety
  /// would not execute.
  int64_t instructions = 0;
  /// `once per tile`, `per loop iteration`; where the loop is split, `per whole
  /// iteration` or `per partial iteration`.
  std::string frequency;
  /// Number of the loop around it among those of the program; -1 for none.
  int64_t loop = -1;
  /// Positions of the record's predicates that this operation need not test.
  std::vector<int64_t> proved;
  /// Positions of those that the extents of a tensor map test.
  std::vector<int64_t> byExtent;
};

/// A store of another kernel.
struct Writer {
  std::string kernel;
  std::string id;
  Place place;
};

/// A safety operation, or one that turned out to be unnecessary.
struct Record {
  std::string id;
  /// `load`, `mask`, `guard`, `store` or `init`.
  std::string kind;
  std::string kernel;
  std::string subject;
  /// Axes and sizes: `j 64 x D 128`.
  std::string tile;
  /// `unread`, `zero`, `-inf`, ...: what absent lanes hold; empty for stores.
  std::string fill;
  std::string reason;
  /// `inserted`, `proved`, `merged` or `unused`.
  std::string status = "inserted";
  Place place, consumer;
  std::vector<Predicate> predicates;
  std::vector<Instance> instances;
  /// Of what reads a tensor, or adds to it: who of the kernels before this one
  /// stores to it, and is complete before this one touches memory.
  std::vector<Writer> writers;
};

/// A demand that needed no operation.
struct Proof {
  std::string kernel;
  std::string subject;
  std::string claim;
  std::string why;
  Place place;
};

/// A tensor of the signature, or one between kernels.
struct Tensor {
  std::string name;
  std::string shape;
  /// `in`, `out`, `inout` or `temp`.
  std::string role;
  bool isOptional = false;
};

/// Lines of a source file that belong together: a declaration with its comment.
struct SourceBlock {
  /// The imported file that they are in; empty: the file that is explained.
  std::string file;
  unsigned firstLine = 1;
  std::vector<std::string> lines;
};

/// How an output becomes total.
struct Output {
  std::string name;
  std::string shape;
  std::string init;
  /// Id of the store or init record; empty for `keep`.
  std::string by;
  std::string why;
};

/// One choice of the plan and its reason.
struct Choice {
  /// `tiles`, `roles`, `rings`, ...
  std::string what;
  std::string choice;
  std::string why;
};

/// How a kernel runs for one class of tensors.
struct Schedule {
  std::string variant;
  std::string kernel;
  std::vector<Choice> choices;
};

/// A rectangle of a picture, in elements.
struct Cell {
  int64_t x, y, width, height;
  /// `present` (`init` where it is written by an initialisation); the origin of
  /// the first predicate that is false, `untested` where no code evaluates
  /// that; `unknown` where it depends on data.
  std::string state;
  bool operator==(const Cell &) const = default;
};

/// A rectangle of lanes that one step of a loop computes, in elements.
struct Step {
  int64_t x, y, width, height;
  /// `whole`: no condition on the step's index is tested; `partial`: they are;
  /// `skipped`: the loop leaves it out.
  std::string state;
};

/// The tiles over a tensor, or over the iterations of a kernel, drawn at sample
/// sizes.
struct Picture {
  /// Of a tensor its record's, of a kernel `kernel-main`.
  std::string id;
  std::string title;
  /// Axes; the row axis is empty for one-dimensional tiles.
  std::string rowAxis, colAxis;
  int64_t rows = 1, cols = 1;
  int64_t tileRows = 1, tileCols = 1;
  std::vector<Cell> cells;
  /// What absent lanes hold: `zero`, `-inf` or another constant; empty where
  /// nothing is put there.
  std::string fill;
  /// The same in words.
  std::string absent;
  /// `M = N = 333, kv_len = 249`.
  std::string sample;
  /// Of a kernel: the steps of its loop over one of the axes, the step axis.
  std::vector<Step> steps;
  std::string stepAxis;
  /// Of a kernel: ids of the records whose lanes are shown.
  std::vector<std::string> records;
};

/// The pictures of one kernel.
struct KernelPictures {
  std::string kernel;
  std::vector<Picture> pictures;
};

/// All of it.
struct Explanation {
  std::string file;
  std::string op;
  std::string arch;
  /// What the comment before the op says first.
  std::string purpose;
  std::vector<Tensor> tensors;
  /// Kernels of the program in the order of their launches.
  std::vector<std::string> kernels;
  std::vector<SourceBlock> sources;
  std::vector<Record> records;
  std::vector<Proof> proofs;
  std::vector<Output> outputs;
  std::vector<Schedule> schedules;
  /// One per record whose operation has tiles.
  std::vector<Picture> pictures;
  std::vector<KernelPictures> kernelPictures;
};

} // namespace selvedge::explain

#endif // SELVEDGE_COMPILER_EXPLAIN_EXPLANATION_H
