// The numbers that plans are made of: block sizes that are tried, best first,
// and limits. SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_PLAN_PLANTABLES_H
#define SELVEDGE_COMPILER_SCHEDULE_PLAN_PLANTABLES_H

#include <cstdint>

namespace selvedge::schedule {

/// Block sizes by role, best first.
struct Candidate {
  int64_t rows, cols, contracted, warps;
  /// Warps that share the axis of lanes; 0: as many as have a vector of it.
  int64_t laneWarps = 0;
  /// Steps of axes that each thread holds completely.
  int64_t local = 16;
  /// Elements of a block that no product has at most; 0: as many as threads
  /// share.
  int64_t most = 0;
  /// Elements of a block of the kernel's ranges for each of those.
  int64_t each = 1;
  /// Warps share columns, and computed operands go through shared memory.
  bool sharesOperands = false;
};

/// Rows on all warps: products whose operands stay in registers, reductions
/// along columns.
inline constexpr Candidate rowCandidates[] = {
    {128, 64, 64, 8}, {64, 64, 64, 4}, {64, 32, 32, 4}, {64, 16, 16, 4}};
/// 32 rows per warp, tried before: what a warp reads from shared memory serves
/// twice as many products, and shared memory is what products wait for (heads
/// of 128: 80 reads per 256 products instead of 144).
inline constexpr Candidate wideRowCandidates[] = {{128, 64, 64, 4},
                                                  {128, 32, 32, 4}};
/// Warps share rows and columns although operands are computed, where registers
/// have no room for 32 rows per warp: warps read less of shared memory with
/// squares of their own than with 16 rows (gradients of keys, heads of 128: 144
/// reads per 320 products instead of 184, 16 % less time).
inline constexpr Candidate sharedOperandCandidates[] = {
    {128, 64, 64, 8, 0, 16, 0, 1, true},
    {128, 128, 128, 8, 0, 16, 0, 1, true},
    {64, 64, 64, 8, 0, 16, 0, 1, true},
    {64, 32, 32, 8, 0, 16, 0, 1, true}};
/// Keys in parts, since queries are too few to fill the chip: more rows would
/// be multiplied for nothing.
inline constexpr Candidate splitCandidates[] = {{64, 64, 64, 4},
                                                {64, 32, 32, 4}};
/// For any strides, first of all where two thread blocks of it fit the
/// registers of a multiprocessor: each waits for single elements (heads of 64
/// take 38 % less time than in steps of 64 columns).
inline constexpr Candidate universalCandidate{128, 32, 32, 8};
/// Warpgroups of 64 rows each: four where the accumulators are small.
inline constexpr Candidate warpgroupCandidates[] = {
    {256, 64, 64, 16}, {128, 128, 64, 8}, {128, 64, 64, 8},
    {64, 64, 64, 4},   {64, 32, 32, 4},   {64, 16, 16, 4}};
/// The same of parts of a range, which few rows ask for (heads of 64 and four
/// rows: 1.6 times the bandwidth of blocks of 256 rows).
inline constexpr Candidate splitWarpgroupCandidates[] = {{64, 64, 64, 4},
                                                         {64, 128, 64, 4}};
/// The same for plain products, whose accumulators are all that registers hold.
inline constexpr Candidate plainWarpgroupCandidates[] = {
    {128, 256, 64, 8}, {128, 128, 64, 8}, {128, 64, 64, 8}, {64, 64, 64, 4}};
/// Rows of several heads: the packed program is for few of them
/// (`tile-pack-rows`). Short steps leave room for rings of many slots, and
/// registers for the indices of pairs.
inline constexpr Candidate packedCandidates[] = {
    {64, 32, 32, 4}, {64, 64, 64, 4}, {64, 16, 16, 4}};
inline constexpr Candidate packedWarpgroupCandidates[] = {
    {64, 64, 64, 4}, {64, 128, 64, 4}, {64, 32, 32, 4}, {64, 16, 16, 4}};
/// Warps share rows and columns: plain products.
inline constexpr Candidate squareCandidates[] = {
    {128, 128, 32, 8}, {64, 64, 32, 4}, {32, 32, 32, 4}};
/// No products and no loops: each element is read once. Thread blocks of few
/// rows cost more to start than to run.
inline constexpr Candidate streamCandidates[] = {{1, 1024, 1, 2, 0, 16, 0, 4},
                                                 {1, 1024, 1, 2, 0, 16, 0, 2}};
/// No products: two kilobytes of a row at a time. Few registers let many thread
/// blocks hide each other's latency. The others are for measurements.
inline constexpr Candidate elementwiseCandidates[] = {
    {1, 1024, 1, 2}, {1, 512, 1, 2}, {1, 1024, 1, 4}};
/// Nothing is read, as where outputs are initialised: no latency has to be
/// hidden, and thread blocks that store little cost more to start than to run.
inline constexpr Candidate storeCandidates[] = {{1, 2048, 1, 2, 0, 16, 0, 4},
                                                {1, 1024, 1, 2, 0, 16, 0, 2},
                                                {1, 1024, 1, 2}};
/// Tiles of three axes and more, of which threads hold one or several
/// completely.
inline constexpr Candidate smallElementwiseCandidates[] = {
    {1, 1024, 1, 2, 0, 4}, {1, 512, 1, 2, 0, 4}, {1, 256, 1, 4, 0, 4},
    {1, 256, 1, 4, 0, 2},  {1, 256, 1, 4, 0, 1}, {1, 64, 1, 4, 0, 1},
    {1, 32, 1, 4, 0, 1}};
/// Words per thread of the largest tile of such a kernel: a few of them live at
/// a time.
inline constexpr int64_t elementwiseWords = 64;
/// Words per thread of a tile that has another axis beside those of
/// accumulators.
inline constexpr int64_t wordsBesideProducts = 64;
/// Registers per thread that no plan may exceed: what spills of more would be
/// slower than memory, and long to compile.
inline constexpr int64_t mostRegisters = 2048;
/// The same where no products keep others waiting: elements are unrolled.
inline constexpr int64_t mostElementwiseRegisters = 4096;
/// Where no other fits: what registers do not hold goes to local memory.
inline constexpr Candidate lastCandidates[] = {
    {64, 16, 16, 4},       {32, 16, 16, 2},       {16, 16, 16, 1},
    {64, 16, 16, 4, 0, 1}, {32, 16, 16, 2, 0, 1}, {16, 16, 16, 1, 0, 1}};
/// Where not even those do: tiles of four axes beside products.
inline constexpr Candidate singleCandidates[] = {{64, 16, 16, 4, 0, 1, 1},
                                                 {32, 16, 16, 2, 0, 1, 1},
                                                 {16, 16, 16, 1, 0, 1, 1}};

/// The same without products: tiles of four axes and more, or sums whose parts
/// warps have no room to exchange.
inline constexpr Candidate singleElementwiseCandidates[] = {
    {1, 32, 1, 4, 0, 1, 8},
    {1, 32, 1, 4, 0, 1, 1},
    {1, 32, 1, 1, 0, 1, 8},
    {1, 32, 1, 1, 0, 1, 1}};

/// Columns of an accumulator of which a warp holds 16 rows and has registers
/// left.
inline constexpr int64_t mostRepeatedColumns = 256;

/// Rows that are read more than once: vectors of 16 bytes that each thread has
/// in flight, best first. Many hide latency with few threads, so that few rows
/// share the first cache.
inline constexpr int64_t vectorsInFlight[] = {4, 2};
/// Blocks of fewer threads would be too many for a multiprocessor.
inline constexpr int64_t smallestBlock = 128;

/// Rows of accumulators that a warp has at least.
inline constexpr int64_t rowsOfWarp = 16;

/// Registers that addresses, predicates, fragments and loop state take beside
/// accumulators where there are many to be had, and how few they can be (seen
/// in SASS of the templates).
inline constexpr int64_t registerOverhead = 72, leastOverhead = 31;
/// The same where another warpgroup copies in bulk.
inline constexpr int64_t bulkRegisterOverhead = 32;
/// The same where single elements are copied.
inline constexpr int64_t elementOverhead = 80;
/// By so much ptxas may exceed the estimate without that warpgroup: attention
/// at D = 256 spills where 224 or 248 are estimated, and does not at 212.
inline constexpr int64_t registerReserve = 32;

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_PLAN_PLANTABLES_H
