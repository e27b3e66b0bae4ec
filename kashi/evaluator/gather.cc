// gather (docs/spec/hlo-ops.md 5): for each window w of the result
//
//   S = the index of w, brought to the operand's dimensions and clamped so that the window lies within
//   result[w, i] = operand[S + i]
#include <algorithm>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/operation.h"
#include "kashi/evaluator/parallel_for.h"
#include "kashi/kernels/indexed_windows.h"
#include "kashi/literal/strided_copy.h"

namespace kashi::evaluator {
namespace {

// Elements worth another thread, and bytes of a window that is worth one.
constexpr int64_t kElementsPerTask = 16 * 1024;
constexpr int64_t kLargeWindowBytes = 1 << 20;

using Places = kernels::IndexedWindows::Places;

// Row after row of a window, each for all windows of a block: rows are often single elements, and places close by.
void GatherWindows(const kernels::IndexedWindows& windows, const Value& operand, int64_t begin, int64_t end,
                   char* out) {
  Places places;
  const int element_bytes = operand.element_bytes();
  for (int64_t block = begin; block < end; block += kernels::IndexedWindows::kMaxPlaces) {
    const int64_t n = windows.FindPlaces(block, std::min(kernels::IndexedWindows::kMaxPlaces, end - block),
                                         kernels::IndexedWindows::Beyond::kClamp, places);
    windows.ForEachRow([&](int64_t from, int64_t to) {
      kernels::CopyRows(operand.bytes() + from * element_bytes, places.operand.data(), out + to * element_bytes,
                        places.batch.data(), n, element_bytes, windows.row() * element_bytes);
    });
  }
}

// Few windows, each large enough to be copied by several threads.
absl::Status GatherLargeWindows(const EvaluationRun& run, const kernels::IndexedWindows& windows, const Value& operand,
                                char* out) {
  DimensionVector bounds, from_strides, to_strides;
  for (const kernels::IndexedWindows::Loop& loop : windows.loops()) {
    bounds.push_back(loop.bound);
    from_strides.push_back(loop.operand_stride);
    to_strides.push_back(loop.batch_stride);
  }
  bounds.push_back(windows.row());
  from_strides.push_back(1);
  to_strides.push_back(1);
  Places places;
  const int element_bytes = operand.element_bytes();
  for (int64_t i = 0; i < windows.window_count(); ++i) {
    KASHI_RETURN_IF_ERROR(run.CheckStopped());
    windows.FindPlaces(i, 1, kernels::IndexedWindows::Beyond::kClamp, places);
    KASHI_RETURN_IF_ERROR(literal::CopyStridedUntil(
        bounds, element_bytes, {operand.bytes() + places.operand[0] * element_bytes, from_strides},
        {out + places.batch[0] * element_bytes, to_strides}, [&run] { return run.CheckStopped(); }));
  }
  return absl::OkStatus();
}

}  // namespace

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kGather>(Operation& op) {
  const Value& operand = op.operands[0];
  const GatherDimensionNumbers& numbers = op.instruction.gather_dimension_numbers();
  KASHI_ASSIGN_OR_RETURN(Value out, op.MakeResult());
  if (out.element_count() == 0) return out;
  if (operand.element_count() == 0) {  // Windows may be 0 wide in collapsed dimensions.
    std::memset(out.mutable_data(), 0, out.byte_count());
    return out;
  }
  const Value& indices = op.operands[1];
  const absl::StatusOr<kernels::IndexedWindows> windows = kernels::IndexedWindows::Make(
      {numbers.offset_dims(), numbers.collapsed_slice_dims(), numbers.start_index_map(),
       numbers.operand_batching_dims(), numbers.start_indices_batching_dims(), numbers.index_vector_dim()},
      operand.dimensions(), {indices.element_type(), indices.dimensions(), indices.untyped_data()}, out.dimensions());
  if (!windows.ok()) return InvalidArgument("%s: %s", op.instruction.name(), windows.status().message());
  if (!windows->HasRoom()) {
    return InvalidArgument("%s: windows are larger than the operand, %s", op.instruction.name(),
                           ShapeUtil::HumanString(operand.shape()));
  }
  const int64_t window_elements = windows->window_element_count();
  char* to = out.mutable_bytes();
  if (window_elements * operand.element_bytes() >= kLargeWindowBytes) {
    KASHI_RETURN_IF_ERROR(GatherLargeWindows(op.run, *windows, operand, to));
  } else {
    KASHI_RETURN_IF_ERROR(
        ParallelFor(op.run, windows->window_count(), std::max<int64_t>(1, kElementsPerTask / window_elements),
                    [&](int64_t begin, int64_t end, int) { GatherWindows(*windows, operand, begin, end, to); }));
  }
  return out;
}

}  // namespace kashi::evaluator
