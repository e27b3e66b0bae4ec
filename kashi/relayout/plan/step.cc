// Entry points: MakeStep, with the ordered list of kernels; StepContext; what a step says of itself. Kernels that need no
// more than a screen are here: rows, and elements one by one.
#include "kashi/relayout/plan/step.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kashi/array/primitive_util.h"
#include "kashi/base/math.h"
#include "kashi/relayout/kernels/transpose_kernels.h"
#include "kashi/relayout/plan/step_internal.h"

namespace kashi::internal {
namespace {

constexpr int64_t kLongRow = 512;       // bytes: rows that need no line of their own
constexpr int64_t kRowTask = 32 << 10;  // bytes of short rows: to find a task takes as long as to copy a KiB
constexpr int64_t kElementsChunk = 64;  // along either axis

// Where a task has all of the loop that TakeTaskRows took (`over_rows`), it takes as much of the next one as it wants: the loop
// that would follow in the grid, so that the order of rows stays. The outermost loop is left for boxes that run side by side.
GridLoop TakeMoreRows(int64_t bytes, GridLoop over_rows, Candidate* candidate) {
  Loops& loops = candidate->loops;
  Step& step = candidate->step;
  const int64_t inner_bytes = bytes * step.rows.chunk;
  if (over_rows.count > 1 || loops.size() < 2 || 2 * inner_bytes > kRowTask) return over_rows;
  const size_t next = Innermost(loops, step.context->streams ? &Loop::from : &Loop::to);
  step.outer_row_stride = loops[next];
  loops.erase(loops.begin() + next);
  const Loop& loop = step.outer_row_stride;
  step.rows = {step.rows.extent, loop.extent, ChunkOf(loop.extent, kRowTask / inner_bytes, 1), {}};
  return {step.rows.chunk_count(), loop.from * step.rows.chunk, loop.to * step.rows.chunk, GridLoop::Over::kRows};
}

const char* TryRows(Candidate* candidate) {
  Step& step = candidate->step;
  const int64_t bytes = step.element_bytes;
  bool fills_lines = bytes % kCacheLine == 0;
  for (const Loop& loop : candidate->loops) fills_lines = fills_lines && loop.to % (8 * kCacheLine) == 0;
  const bool is_continued = FindLoop(candidate->loops, &Loop::to, bytes * 8) < candidate->loops.size();
  if (!candidate->loops.empty() && bytes < kLongRow && !fills_lines) {
    if (bytes < kCacheLine || is_continued) return "rows: shorter than 512 bytes and not whole cache lines";
  }
  step.kernel = Kernel::kRows;
  step.columns = {1, bytes, std::min(bytes, kRowChunk), {}};
  step.element_bytes = 1;
  const GridLoop over_rows = TakeMoreRows(bytes, TakeTaskRows(bytes, candidate), candidate);
  MakeGrid(candidate->loops,
           {over_rows,
            {step.columns.chunk_count(), step.columns.chunk * 8, step.columns.chunk * 8, GridLoop::Over::kColumns}},
           &step);
  return nullptr;
}

// Elements that have no neighbours on either side still share cache lines: those close in the target are the rows of a block,
// those close in the source its columns.
void TakeElements(Candidate* candidate, const StepContext& context) {
  Step& step = candidate->step;
  Loops& loops = candidate->loops;
  step.kernel = Kernel::kElements;
  GridLoop over_rows = {1, 0, 0}, over_columns = {1, 0, 0};
  const auto take = [&](size_t i, Axis* axis, Loop* stride, GridLoop* over, GridLoop::Over which) {
    *stride = loops[i];
    loops.erase(loops.begin() + i);
    *axis = {1, stride->extent, std::min(stride->extent, kElementsChunk), {}};
    *over = {axis->chunk_count(), stride->from * axis->chunk, stride->to * axis->chunk, which};
  };
  if (!loops.empty()) take(loops.size() - 1, &step.rows, &step.row_stride, &over_rows, GridLoop::Over::kRows);
  if (!loops.empty()) {
    take(Innermost(loops, &Loop::from), &step.columns, &step.column_stride, &over_columns, GridLoop::Over::kColumns);
  }
  MakeGrid(loops, {over_rows, over_columns}, &step);
  step.shares_bytes = !IsWhole(context.to.slot_bits);
  if (step.shares_bytes) step.tasks_together = step.TaskCount();
}

bool IsSameForm(const StepContext& context) {
  return context.from.type == context.to.type && context.from.slot_bits == context.to.slot_bits;
}

}  // namespace

StepContext::StepContext(const ElementForm& given_from, const ElementForm& given_to) : from(given_from), to(given_to) {
  if (IsSameForm(*this) && IsWhole(to.slot_bits)) return;
  // Nothing changes: all bits of a slot move, also those that the type does not use.
  moves_nibbles = IsSameForm(*this) && to.slot_bits == 4;
  resizes_nibbles = from.type == to.type && primitive_util::BitWidth(to.type) == 4 &&
                    std::min(from.slot_bits, to.slot_bits) == 4 && std::max(from.slot_bits, to.slot_bits) == 8;
  if (IsSameForm(*this)) from.type = to.type = primitive_util::UnsignedIntegralTypeForBitWidth(to.slot_bits);
  const auto bits = [](PrimitiveType type) -> int64_t { return 8 * primitive_util::ByteWidth(type); };
  const PrimitiveType narrow = bits(from.type) < bits(to.type) ? from.type : to.type;
  scratch = {narrow, bits(narrow)};
  convert = RowFunctionFor(from, to);
  in = RowFunctionFor(from, scratch);
  out = RowFunctionFor(scratch, to);
}

Step MakeStep(Box box, const StepContext& context) {
  const int64_t bits = IsSameForm(context) ? WidenElement(&box, context.to.slot_bits) : 0;
  Candidate candidate{box.loops, {}};
  Step& step = candidate.step;
  step.from_offset = box.from_offset;
  step.to_offset = box.to_offset;
  step.context = &context;
  step.converts = bits == 0;
  const auto refused = [&](const char* why) {
    if (why != nullptr) step.refusals.push_back(why);
    return why != nullptr;
  };
  if (bits != 0) {
    step.element_bytes = bits / 8;
    if (refused(TryRows(&candidate)) && refused(TryExchange(&candidate)) && refused(TryInterleave(&candidate)) &&
        refused(TryBlocks(&candidate))) {
      TakeElements(&candidate, context);
    }
  } else {
    if (refused(TryConvert(&candidate, context)) && refused(TryConvertBlocks(&candidate, context))) {
      TakeElements(&candidate, context);
    }
  }
  return std::move(candidate.step);
}

int64_t Step::TaskCount() const {
  int64_t count = 1;
  for (const GridLoop& loop : grid) count *= loop.count;
  return count;
}

int64_t Step::TaskBytes() const {
  switch (kernel) {
    case Kernel::kRows:
      return rows.block() * columns.block();
    case Kernel::kTails:
    case Kernel::kExchange:
      return rows.block() * columns.block() * exchanged_sources.extent * exchanged_targets.extent * element_bytes;
    case Kernel::kInterleave:
    case Kernel::kBlocks:
      return rows.block() * columns.block() * element_bytes;
    case Kernel::kConvert:
      return CeilOfRatio<int64_t>(columns.block() * context->to.slot_bits, 8);
    case Kernel::kConvertBlocks:
      return CeilOfRatio<int64_t>(rows.block() * columns.block() * context->to.slot_bits, 8);
    case Kernel::kElements:
      return rows.block() * columns.block() * 16;  // as slow as so many bytes
  }
  return 1;
}

std::string Step::ToString() const {
  static constexpr const char* kNames[] = {"rows",  "exchange", "interleave",     "blocks",
                                           "tails", "convert",  "convert blocks", "elements"};
  std::string text = kNames[static_cast<int>(kernel)];
  switch (kernel) {
    case Kernel::kRows:
      absl::StrAppend(&text, " of ", columns.extent, " bytes, ", rows.block(), " at a time");
      break;
    case Kernel::kExchange:
      absl::StrAppend(&text, " of ", columns.extent, " words of ", exchanged_sources.extent, " x ", element_bytes,
                      " bytes, ", exchanged_targets.extent, " rows of them, ", rows.block(), " at a time");
      break;
    case Kernel::kInterleave:
      absl::StrAppend(&text, " of ", interleaving.rows, " rows x ", columns.block(), " columns of ", element_bytes,
                      " bytes", interleaving.is_back ? " in one run, " : ", ", rows.block() / interleaving.rows,
                      " at a time");
      break;
    case Kernel::kBlocks:
    case Kernel::kConvertBlocks:
      absl::StrAppend(&text, " of ", rows.block(), " rows x ", columns.block(), " columns of ", element_bytes,
                      " bytes");
      if (!shuffle.empty()) absl::StrAppend(&text, ", shuffled");
      if (words != Words::kNone) absl::StrAppend(&text, ", words of ", words == Words::kOfTarget ? "rows" : "columns");
      if (dense_columns > 1) absl::StrAppend(&text, ", ", dense_columns, " columns in one run");
      if (streamed_transpose != nullptr) absl::StrAppend(&text, ", line by line");
      if (line_tiles != nullptr) absl::StrAppend(&text, ", in tiles of whole lines");
      for (const Groups& groups : {context->from_groups, context->to_groups}) {
        if (groups.any()) absl::StrAppend(&text, ", groups of ", groups.packed, " as ", groups.padded, " bytes");
      }
      break;
    case Kernel::kTails:
      absl::StrAppend(&text, " of ", columns.extent, " words of ", word_elements, " x ", element_bytes,
                      " bytes, of which ", exchanged_sources.extent * exchanged_targets.extent, " are elements, ",
                      rows.block(), " at a time");
      break;
    case Kernel::kConvert:
      absl::StrAppend(&text, " of ", columns.extent, " elements");
      break;
    case Kernel::kElements:
      absl::StrAppend(&text, ": ", rows.block(), " x ", columns.block());
      break;
  }
  absl::StrAppend(&text, ", ", TaskCount(), TaskCount() == 1 ? " task" : " tasks",
                  context->streams ? ", past the caches" : "");
  if (tasks_together > 1) absl::StrAppend(&text, ", ", tasks_together, " by one thread (they share bytes)");
  for (const char* refusal : refusals) absl::StrAppend(&text, "\n    not ", refusal);
  return text;
}

}  // namespace kashi::internal
