// A box with the kernel that moves it: one step of a plan.
//
// Kernels are tried in this order; each says why it cannot, and the last can always:
//
//   rows             runs of bytes on both sides that are long, or that fill whole cache lines
//   exchange         runs of words of a few elements on both sides, which change partners
//   interleave       2 to 8 rows that are one run on the other side
//   blocks           a run along one axis of the source, a run along another of the target: transposes, interleavings, short
//                    rows
//   convert          runs on both sides whose elements change their form (type, packing)
//   convert blocks   the same as blocks, with such a change before or behind the transpose
//   elements         one by one
//
// Where elements do not fill words (groups.h), steps of other forms are tried before all these:
//
//   blocks           of groups that are padded on the way
//   tails            runs on one side; on the other words of which they are a part, and padding the rest
//
// A step is cut into tasks of some KiB, which may run in any order and at once.
#ifndef KASHI_RELAYOUT_PLAN_STEP_H_
#define KASHI_RELAYOUT_PLAN_STEP_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "kashi/relayout/kernels/exchange_kernel.h"
#include "kashi/relayout/kernels/group_kernel.h"
#include "kashi/relayout/kernels/interleave_kernel.h"
#include "kashi/relayout/kernels/line_tiles.h"
#include "kashi/relayout/kernels/row_functions.h"
#include "kashi/relayout/kernels/streamed_transpose.h"
#include "kashi/relayout/kernels/transpose_kernels.h"
#include "kashi/relayout/plan/boxes.h"

namespace kashi::internal {

enum class Kernel { kRows, kExchange, kInterleave, kBlocks, kTails, kConvert, kConvertBlocks, kElements };

constexpr int64_t kTailTask = 8192;  // bytes of words, at most

// What holds for all steps of a plan. Steps point to it.
struct StepContext {
  StepContext(const ElementForm& given_from, const ElementForm& given_to);

  ElementForm from;
  ElementForm to;
  bool moves_nibbles = false;    // both sides have slots of 4 bits, which move as they are
  bool resizes_nibbles = false;  // elements of 4 bits: one side has slots of 4, the other a byte for each
  bool streams = false;          // the target is larger than the caches: write past them
  // Where the forms differ, or elements are packed: elements in scratch memory have whole bytes, and the type that is narrower.
  ElementForm scratch;
  RowFunction convert;  // source to target
  RowFunction in;       // source to scratch
  RowFunction out;      // scratch to target
  // Where a side has groups, boxes go by its padded strides (groups.h), and steps by those in memory.
  Groups from_groups;
  Groups to_groups;
  GroupLanes lanes;        // of the side that has them
  std::vector<char> fill;  // kTailTask bytes of padding, for kTails

  bool has_groups() const { return from_groups.any() || to_groups.any(); }
};

// Elements that are contiguous on one side: some loops whole, and a part of one more.
//
//   loops, inner first:   8 whole, 16 whole, 100 in chunks of 3      ->  a block has 8*16*3 elements (the last chunk fewer)
struct Axis {
  int64_t whole = 1;   // elements of the loops that each block has whole
  int64_t extent = 1;  // of the loop that is cut
  int64_t chunk = 1;   // of it in a block
  // Where each element of a full block is on the side where the axis is not contiguous (rows: in the source; columns: in the
  // target). Bytes; for conversions, bits.
  std::vector<int64_t> offsets;
  int64_t overhang = 0;   // offsets behind those of a full block, for chunks that are not the last
  int64_t stride = 0;     // between neighbours among the first offsets
  bool collides = false;  // on that side, the first cache has no room for a line of each of 64 neighbours
  int64_t stretch = 1;    // offsets that have this stride; then follow as many that have it too, at some other place

  int64_t block() const { return whole * chunk; }
  int64_t chunk_count() const { return (extent + chunk - 1) / chunk; }
  int64_t BlockAt(int64_t index) const { return whole * std::min(chunk, extent - index * chunk); }
};

// Which side of a block has words of 8 elements of 4 bits that are far apart on the other one (nibble_words.h).
enum class Words { kNone, kOfTarget, kOfSource };

// One loop over blocks.
struct GridLoop {
  int64_t count;
  int64_t from;  // bits
  int64_t to;
  enum class Over { kOuter, kRows, kColumns } over = Over::kOuter;
};

// A few rows of one side that are a run of the other. A task has some of them: all of `inner`, a chunk of `outer`.
struct Interleaving {
  int64_t rows = 0;
  bool is_back = false;    // a run becomes rows
  int64_t row_stride = 0;  // bytes, on the side that has rows
  Loop inner = {1, 0, 0};
  Loop outer = {1, 0, 0};
  // Of runs that become rows past the caches: rows are long, and moved in parts that may share cache lines; or they are short,
  // and go on with the next interleaving of `outer`.
  bool has_long_rows = false;
  bool continues_rows = false;
  InterleaveFunctions functions;
};

struct Step {
  Kernel kernel;
  int64_t from_offset;  // bits
  int64_t to_offset;
  int64_t element_bytes = 1;              // what moves as one; for conversions, an element between `in` and `out`
  Axis rows;                              // contiguous in the target; of kRows: as many as a task has
  Axis columns;                           // contiguous in the source; of kRows, kExchange, kTails and kConvert: on both
  Interleaving interleaving;              // of kInterleave, whose axes are: these times `rows`, and elements of a row
  absl::InlinedVector<GridLoop, 6> grid;  // outermost first
  // Strides of the axes that are contiguous on neither side: of kRows and kExchange from row to row, of kElements along both.
  Loop row_stride = {1, 0, 0};
  Loop outer_row_stride = {1, 0, 0};  // of kRows: from rows.whole rows to the next so many
  Loop column_stride = {1, 0, 0};
  int64_t dense_columns =
      1;  // columns of a block that follow one another in the target without gaps, if rows are not cut
  // Of kExchange, whose columns are words: rows of words that change partners with one another (exchange_kernel.h).
  ExchangeFunction exchange = nullptr;
  Loop exchanged_sources = {1, 0, 0};
  Loop exchanged_targets = {1, 0, 0};
  // Of kTails, whose columns are words: the elements of a word that are not padding are one of the loops above, with as many
  // rows on the other side.
  int64_t word_elements = 1;
  bool fills_words = false;  // the words are the target's
  // Of kBlocks: bytes within each element change their order too: byte i of it comes from byte shuffle[i]. Empty: they do not.
  absl::InlinedVector<uint8_t, 16> shuffle;
  std::vector<int64_t> row_bytes;  // of kConvertBlocks whose rows all begin with a byte: rows.offsets in bytes
  Words words = Words::kNone;      // of kConvertBlocks
  bool runs_fill_bytes = false;    // of kConvertBlocks: the columns of a block are whole bytes apart in the target
  const StepContext* context;
  bool runs_fill_lines = false;           // all of the target's cache lines belong to one block, if the first does
  bool shares_bytes = false;              // tasks may share bytes of the target, with one another or with other steps'
  int64_t tasks_together = 1;             // tasks n*i .. n*i + n - 1 share none with others: one thread runs them
  TransposeFunction transpose = nullptr;  // nullptr: an element size without one
  StreamedTransposeFunction streamed_transpose = nullptr;  // of long kBlocks past the caches; nullptr: by `transpose`
  LineTilesFunction line_tiles = nullptr;                  // of kBlocks within the caches; likewise
  bool converts = false;                                   // elements change their form, or are no whole bytes
  absl::InlinedVector<const char*, 4> refusals;            // of the kernels before this one

  int64_t TaskCount() const;
  int64_t TaskBytes() const;  // of the target, about
  std::string ToString() const;
};

// The step for a box. The context must outlive it.
Step MakeStep(Box box, const StepContext& context);

// The same for a side that has groups. Nothing where they do not become blocks.
std::optional<Step> MakeGroupStep(const Box& box, const StepContext& context);

// The same for a box that is a tail on the side that has words (groups.h): all of each word may be read, or written.
std::optional<Step> MakeTailStep(const Box& box, const StepContext& context, int64_t word_elements, bool fills_words);

// Runs tasks begin .. end - 1.
void RunStep(const Step& step, const char* from, char* to, int64_t begin, int64_t end);

}  // namespace kashi::internal

#endif  // KASHI_RELAYOUT_PLAN_STEP_H_
