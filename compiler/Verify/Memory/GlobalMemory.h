// The tensors of a plan while its launches are executed with concrete sizes.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_MEMORY_GLOBALMEMORY_H
#define SELVEDGE_COMPILER_VERIFY_MEMORY_GLOBALMEMORY_H

#include "compiler/Verify/Memory/LaneTiles.h"
#include "compiler/Verify/Memory/WrittenElements.h"
#include "dialect/Sm/Sm.h"

#include "llvm/ADT/StringMap.h"

namespace selvedge::verify {

/// Whether a kernel has a store to a tensor, whatever its presence.
bool hasStoreTo(sm::KernelOp kernel, llvm::StringRef tensor);

/// The tensor that a kernel initialises; empty for a kernel of the program:
/// what that stores is stored, be it the value that initialises.
llvm::StringRef initialisedBy(sm::KernelOp kernel);

/// Which elements of each output and temp have been written, and by whom: every
/// access lies inside its tensor, an element is stored once, after it was
/// initialised or instead, and one of a temp is written before it is read.
class GlobalMemory {
public:
  /// Whether all thread blocks of a launch are executed, or some of which
  /// nothing is demanded together: outputs then may be of any size.
  enum class Parts { All, Some };
  /// The tensors of a plan, for given dims, with or without optional ones. What
  /// integers in memory are is one of `samples`, the element's number telling
  /// which; lengths of segments are samples, or in proportion to them. Each
  /// further tensor begins with the `turn`-th after the one before. Integers
  /// that are promised to differ are a permutation of their numbers, with -1
  /// for some.
  GlobalMemory(sm::PlanOp plan, llvm::ArrayRef<int64_t> sizes,
               llvm::ArrayRef<int64_t> samples, bool hasOptionals,
               int64_t turn = 0, Parts parts = Parts::All);

  /// Whether the runtime takes tensors of these sizes: no extent is larger than
  /// a dim may be.
  bool canBePassed() const;

  /// Whether optional tensors are passed.
  bool hasOptionals() const { return isComplete; }

  /// Integers number the elements of a dimension, or blocks of `size` of them:
  /// most are of one that exists.
  void setNumbers(llvm::StringRef integers, llvm::StringRef tensor,
                  unsigned dim, int64_t size);

  /// Where segments begin and end, even if the caller promises otherwise.
  void setSegments(llvm::StringRef tensor, llvm::ArrayRef<int64_t> ends);

  /// Before anything else but getWork(), which may say that it is too much:
  /// nothing has been written.
  void begin();
  /// Other launches, which are not executed, have written all that they may.
  void assumeLaunched();
  /// What follows belongs to this kernel.
  void startLaunch(mlir::Operation *kernel);
  /// Whether it only initialises.
  bool isInitialising() const { return initialises; }

  /// What follows is an access of which `describe` tells in errors.
  void startAccess(std::function<void(mlir::InFlightDiagnostic &)> describe) {
    describeAccess = std::move(describe);
  }

  /// What memory holds, as lanes have it (LaneTile): an integer is one of the
  /// samples, a number is 1, -1, 0 or 1/2; none for what the caller may not
  /// have set.
  std::optional<int64_t> elementOf(llvm::StringRef tensor,
                                   llvm::ArrayRef<int64_t> indices) const;

  /// Of so many integers that number something, one is behind the last number.
  static constexpr int64_t numWithLast = 4;

  /// Which of the samples an integer is; none where others decide.
  std::optional<size_t> sampleOf(llvm::StringRef tensor,
                                 llvm::ArrayRef<int64_t> indices) const;

  /// The size of a dim of the signature, and what is made of sizes.
  int64_t sizeOf(unsigned dim) const { return sizes[dim]; }
  std::optional<int64_t> extentOf(mlir::AffineMap extent) const;
  /// Sizes, and integers in memory: where something may end.
  llvm::SmallVector<int64_t, 16> getEnds() const {
    llvm::SmallVector<int64_t, 16> ends(sizes.begin(), sizes.end());
    llvm::append_range(ends, samples);
    return ends;
  }

  /// An access of lanes where all of `presence` is true.
  mlir::LogicalResult load(mlir::Operation *op, llvm::StringRef tensor,
                           mlir::ValueRange indices, mlir::ValueRange presence,
                           LaneTiles &lanes);
  mlir::LogicalResult store(mlir::Operation *op, llvm::StringRef tensor,
                            mlir::ValueRange indices, mlir::ValueRange presence,
                            LaneTiles &lanes);
  /// Additions to elements that launches before this one have written.
  mlir::LogicalResult add(mlir::Operation *op, llvm::StringRef tensor,
                          mlir::ValueRange indices, mlir::ValueRange presence,
                          LaneTiles &lanes);
  /// The same of a box, clipped to the tensor.
  mlir::LogicalResult addBox(mlir::Operation *op, llvm::StringRef tensor,
                             llvm::ArrayRef<int64_t> start,
                             llvm::ArrayRef<int64_t> box);
  /// A bulk store of a box, clipped to the tensor.
  mlir::LogicalResult storeBox(mlir::Operation *op, llvm::StringRef tensor,
                               llvm::ArrayRef<int64_t> start,
                               llvm::ArrayRef<int64_t> box);

  /// How many lanes and elements have been gone through.
  uint64_t getWork() const { return work; }
  void addWork(uint64_t more) { work += more; }

  /// An error, with what describes the access.
  mlir::LogicalResult refuse(mlir::InFlightDiagnostic &error) const {
    describeAccess(error);
    return mlir::failure();
  }
  mlir::LogicalResult refuse(mlir::InFlightDiagnostic &&error) const {
    return refuse(error);
  }

  /// Whether every element of every output was written.
  mlir::LogicalResult finish(mlir::Operation *plan) const;
  /// Whether all rows of segments, whose `ends` are in memory, were stored
  /// along `dim`, wherever one of them was.
  mlir::LogicalResult checkRows(mlir::Operation *plan, llvm::StringRef tensor,
                                unsigned dim, llvm::StringRef ends) const;
  /// Whether an element that the program stores was stored, not only
  /// initialised; errors at `plan` if not.
  mlir::LogicalResult checkStored(mlir::Operation *plan, llvm::StringRef tensor,
                                  llvm::ArrayRef<int64_t> indices) const;
  /// Whether every element of a tensor was written; errors at `plan` if not.
  mlir::LogicalResult checkWritten(mlir::Operation *plan,
                                   llvm::StringRef tensor) const;
  /// How many elements of a tensor were written.
  uint64_t numWritten(llvm::StringRef tensor) const;
  /// Whether some element was stored, not only initialised.
  bool isStored(llvm::StringRef tensor) const;

private:
  /// What has become of an element.
  enum Written : uint8_t {
    Never = 0,
    Initialised = 1,
    Stored = 2,
    /// By lanes whose presence is not known, or by an earlier kernel of the
    /// program, so that another one may do it.
    Perhaps = 4,
  };
  struct Contents {
    tile::TensorArgAttr arg;
    llvm::SmallVector<int64_t, 4> extents;
    /// Of outputs, since begin().
    WrittenElements written = {};
    /// Of segments: where they begin and end.
    std::vector<int64_t> rows = {};
    /// Of other integers: which sample comes first.
    int64_t shift = 0;
    /// Of integers that number elements: how many there are; else 0.
    int64_t numbered = 0;
    /// Of integers that are promised to lie in a range: the largest.
    std::optional<int64_t> most = std::nullopt;
    /// Of integers that differ: from an element to the next one, modulo their
    /// number; 0 for others.
    int64_t uniqueStep = 0;
    /// Whether some store went to elements that are not known.
    bool isUnknown = false;
    /// Whether something was added to elements.
    bool isAddedTo = false;
    /// Whether a launch has initialised it.
    bool isInitialised = false;
    /// The kernel of the program whose launch has stored to it last.
    mlir::Attribute storedBy = {};
    /// Kernels launched so far that store elements of it.
    llvm::SmallVector<mlir::Operation *, 2> writers = {};
  };

  /// Which of the samples an element is.
  size_t sampleOf(const Contents &contents, int64_t element) const {
    return (element + contents.shift) % samples.size();
  }

  enum class Access { Load, Store, Add };
  mlir::LogicalResult access(mlir::Operation *op, llvm::StringRef tensor,
                             mlir::ValueRange indices,
                             mlir::ValueRange presence, LaneTiles &lanes,
                             Access kind);
  mlir::LogicalResult checkOutput(mlir::Operation *op,
                                  const Contents &contents);
  /// Calls `visit` for each element of a box of an output, clipped to the
  /// tensor.
  mlir::LogicalResult
  forBox(mlir::Operation *op, llvm::StringRef tensor,
         llvm::ArrayRef<int64_t> start, llvm::ArrayRef<int64_t> box,
         llvm::function_ref<mlir::LogicalResult(Contents &, int64_t)> visit);
  mlir::LogicalResult write(mlir::Operation *op, Contents &contents,
                            int64_t element, bool isCertain);
  /// Of a temp.
  mlir::LogicalResult read(mlir::Operation *op, const Contents &contents,
                           int64_t element);
  static std::string nameOf(const Contents &contents, int64_t element);

  llvm::StringMap<Contents> tensors;
  std::function<void(mlir::InFlightDiagnostic &)> describeAccess;
  llvm::SmallVector<int64_t, 8> sizes, samples;
  bool isComplete;
  uint64_t work = 0;
  /// Whether the launch initialises: all that it stores are values of elements
  /// that no kernel stores.
  bool initialises = false;
};

/// Elements of the tensors that values of a kernel stand for. A tensor's name
/// is looked up once for all elements that follow each other.
class KnownElements {
public:
  explicit KnownElements(const GlobalMemory &memory) : memory(memory) {}

  std::optional<int64_t> operator()(mlir::Value of,
                                    llvm::ArrayRef<int64_t> indices);

private:
  const GlobalMemory &memory;
  mlir::Value tensor;
  std::string name;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_MEMORY_GLOBALMEMORY_H
