// A box with the kernel that moves it: one step of a plan.
//
// Kernels are tried in this order; each says why it cannot, and the last can always:
//
//   rows             runs of bytes on both sides that are long, or that fill whole cache lines
//   interleave       2 to 8 rows that are one run on the other side
//   blocks           a run along one axis of the source, a run along another of the target: transposes, interleavings, short
//                    rows
//   convert          runs on both sides whose elements change their form (type, packing)
//   convert blocks   the same as blocks, with such a change before or behind the transpose
//   elements         one by one
//
// A step is cut into tasks of some KiB, which may run in any order and at once.
#ifndef KASHI_RELAYOUT_STEP_H_
#define KASHI_RELAYOUT_STEP_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "kashi/relayout/boxes.h"
#include "kashi/relayout/interleave_kernel.h"
#include "kashi/relayout/row_functions.h"
#include "kashi/relayout/transpose_kernels.h"

namespace kashi {

enum class Kernel { kRows, kInterleave, kBlocks, kConvert, kConvertBlocks, kElements };

// What holds for all steps of a plan. Steps point to it.
struct StepContext {
  StepContext(const ElementForm& given_from, const ElementForm& given_to);

  ElementForm from;
  ElementForm to;
  bool moves_nibbles = false;  // both sides have slots of 4 bits, which move as they are
  bool streams = false;        // the target is larger than the caches: write past them
  // Where the forms differ, or elements are packed: elements in scratch memory have whole bytes, and the type that is narrower.
  ElementForm scratch;
  RowFunction convert;  // source to target
  RowFunction in;       // source to scratch
  RowFunction out;      // scratch to target
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
  Axis columns;                           // contiguous in the source; of kRows and kConvert: on both sides
  Interleaving interleaving;              // of kInterleave, whose axes are: these times `rows`, and elements of a row
  absl::InlinedVector<GridLoop, 6> grid;  // outermost first
  // Strides of the axes that are contiguous on neither side: of kRows from row to row, of kElements along both.
  Loop row_stride = {1, 0, 0};
  Loop column_stride = {1, 0, 0};
  int64_t dense_columns =
      1;  // columns of a block that follow one another in the target without gaps, if rows are not cut
  // Of kBlocks: bytes within each element change their order too: byte i of it comes from byte shuffle[i]. Empty: they do not.
  absl::InlinedVector<uint8_t, 16> shuffle;
  std::vector<int64_t> row_bytes;  // of kConvertBlocks whose rows all begin with a byte: rows.offsets in bytes
  bool runs_fill_bytes = false;    // of kConvertBlocks: the columns of a block are whole bytes apart in the target
  const StepContext* context;
  bool runs_fill_lines = false;           // all of the target's cache lines belong to one block, if the first does
  bool is_serial = false;                 // tasks share bytes of the target
  TransposeFunction transpose = nullptr;  // nullptr: an element size without one
  bool converts = false;                  // elements change their form, or are no whole bytes
  absl::InlinedVector<const char*, 4> refusals;  // of the kernels before this one

  int64_t TaskCount() const;
  int64_t TaskBytes() const;  // of the target, about
  std::string ToString() const;
};

// The step for a box. The context must outlive it.
Step MakeStep(Box box, const StepContext& context);

// Runs tasks begin .. end - 1.
void RunStep(const Step& step, const char* from, char* to, int64_t begin, int64_t end);

}  // namespace kashi

#endif  // KASHI_RELAYOUT_STEP_H_
