// scatter (docs/spec/hlo-ops.md 5): for each window w of the updates, in row-major order
//
//   S = the index of w, brought to the operands' dimensions; windows that would reach beyond are left out
//   (x1, x2, …)[S + i] = to_apply(x1[S + i], x2[S + i], …, u1[w, i], u2[w, i], …)
//
// in place if the operands are unique. Windows go one after the other, rows of a window at once.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/base/try_parallel.h"
#include "kashi/evaluator/lane_function.h"
#include "kashi/evaluator/operation.h"
#include "kashi/kernels/element_kernel.h"
#include "kashi/kernels/indexed_windows.h"
#include "kashi/values/writable.h"

namespace kashi::evaluator {
namespace {

using Places = kernels::IndexedWindows::Places;

// Elements worth another thread.
constexpr int64_t kElementsPerTask = 16 * 1024;
// Elements of a row worth telling another thread where the windows are.
constexpr int64_t kShortestRowPart = 64;

// Calls visit(begin, n) for all windows in order, some at a time.
template <typename Visit>
absl::Status ForEachBlock(const EvaluationRun& run, const kernels::IndexedWindows& windows, Visit&& visit) {
  constexpr int64_t kUpdatesPerCheck = int64_t{1} << 18;
  const int64_t updates_per_block =
      kernels::IndexedWindows::kMaxPlaces * std::max<int64_t>(1, windows.window_element_count());
  const int64_t blocks_per_check = std::max<int64_t>(1, kUpdatesPerCheck / updates_per_block);
  int64_t blocks = 0;
  for (int64_t begin = 0; begin < windows.window_count(); begin += kernels::IndexedWindows::kMaxPlaces) {
    if (++blocks % blocks_per_check == 0) KASHI_RETURN_IF_ERROR(run.CheckStopped());
    KASHI_RETURN_IF_ERROR(visit(begin, std::min(kernels::IndexedWindows::kMaxPlaces, windows.window_count() - begin)));
  }
  return absl::OkStatus();
}

// Calls visit(first, n, operand_offset, batch_offset) for row after row of the n windows from places[first]: for all
// all windows together if that changes no element's order of updates, otherwise window by window.
//
//   windows 0 0 0      rows of both at once: what the upper row of window 1 updates, the lower one of window 0
//           0 0 0      has not updated yet
//             1 1 1
//             1 1 1
template <typename Visit>
absl::Status ForEachRowOfBlock(const kernels::IndexedWindows& windows, int64_t found, Visit&& visit) {
  const int64_t together = windows.may_overlap_partly() && !windows.loops().empty() ? 1 : found;
  absl::Status status;
  for (int64_t first = 0; first < found; first += together) {
    windows.ForEachRow([&](int64_t operand_offset, int64_t batch_offset) {
      if (status.ok()) status = visit(first, together, operand_offset, batch_offset);
    });
  }
  return status;
}

// Calls visit(begin, end) for the parts of the row, on several threads if that is faster. Every element gets its
// updates in the order of the windows, for any parts.
absl::Status ForEachRowPart(const kernels::IndexedWindows& windows,
                            absl::FunctionRef<absl::Status(int64_t begin, int64_t end)> visit) {
  if (windows.may_overlap_partly()) return visit(0, windows.row());
  const int64_t updates_per_column = windows.window_count() * windows.window_element_count() / windows.row();
  return base::TryParallelFor(windows.row(), std::max(kShortestRowPart, kElementsPerTask / updates_per_column),
                              [&](int64_t begin, int64_t end, int) { return visit(begin, end); });
}

// x[S + i] = u[w, i]
absl::Status Assign(const EvaluationRun& run, const kernels::IndexedWindows& windows, const Value& update, Value& x) {
  Places places;
  const int bytes = x.element_bytes();
  char* to = x.mutable_bytes();
  return ForEachBlock(run, windows, [&](int64_t begin, int64_t n) {
    const int64_t found = windows.FindPlaces(begin, n, kernels::IndexedWindows::Beyond::kSkip, places);
    return ForEachRowOfBlock(windows, found, [&](int64_t first, int64_t count, int64_t x_offset, int64_t u_offset) {
      kernels::CopyRows(update.bytes() + u_offset * bytes, &places.batch[first], to + x_offset * bytes,
                        &places.operand[first], count, bytes, windows.row() * bytes);
      return absl::OkStatus();
    });
  });
}

// x[S + i] = kernel(x[S + i], u[w, i])
absl::Status ApplyBinary(const EvaluationRun& run, const kernels::IndexedWindows& windows,
                         const kernels::ElementKernel& kernel, const Value& update, Value& x) {
  const int bytes = x.element_bytes();
  char* const to = x.mutable_bytes();
  return ForEachRowPart(windows, [&](int64_t part_begin, int64_t part_end) {
    Places places;
    return ForEachBlock(run, windows, [&](int64_t begin, int64_t n) {
      const int64_t found = windows.FindPlaces(begin, n, kernels::IndexedWindows::Beyond::kSkip, places);
      return ForEachRowOfBlock(windows, found, [&](int64_t first, int64_t count, int64_t x_offset, int64_t u_offset) {
        for (int64_t i = first; i < first + count; ++i) {
          char* row = to + (places.operand[i] + x_offset + part_begin) * bytes;
          const void* inputs[] = {row, update.bytes() + (places.batch[i] + u_offset + part_begin) * bytes};
          kernel(inputs, row, part_end - part_begin);
        }
        return absl::OkStatus();
      });
    });
  });
}

// Scatters any number of operands, with any function.
absl::Status ApplyFunction(const EvaluationRun& run, const kernels::IndexedWindows& windows,
                           const LaneFunction& function, absl::Span<const Value> updates, absl::Span<Value> xs) {
  const size_t n_operands = xs.size();
  LaneFunction::Scratch scratch(function, std::min(windows.row(), LaneFunction::kManyLanes));
  std::vector<const void*> inputs(2 * n_operands);
  std::vector<void*> outputs(n_operands);
  std::vector<char*> to;
  for (Value& x : xs) to.push_back(x.mutable_bytes());
  Places places;
  return ForEachBlock(run, windows, [&](int64_t begin, int64_t n) {
    const int64_t found = windows.FindPlaces(begin, n, kernels::IndexedWindows::Beyond::kSkip, places);
    return ForEachRowOfBlock(windows, found, [&](int64_t first, int64_t count, int64_t x_offset, int64_t u_offset) {
      for (int64_t i = first; i < first + count; ++i) {
        for (size_t k = 0; k < n_operands; ++k) {
          outputs[k] = to[k] + (places.operand[i] + x_offset) * xs[k].element_bytes();
          inputs[k] = outputs[k];
          inputs[n_operands + k] = updates[k].bytes() + (places.batch[i] + u_offset) * updates[k].element_bytes();
        }
        KASHI_RETURN_IF_ERROR(function.Run(scratch, inputs, outputs, windows.row()));
      }
      return absl::OkStatus();
    });
  });
}

absl::Status Apply(Operation& op, const kernels::IndexedWindows& windows, const LaneFunction& function,
                   absl::Span<const Value> updates, absl::Span<Value> xs) {
  if (function.AsParameter() == 0) return absl::OkStatus();
  if (function.AsParameter() == 1) return Assign(op.run, windows, updates[0], xs[0]);
  if (function.AsBinary().has_value()) {
    const PrimitiveType type = function.result_types()[0];
    KASHI_ASSIGN_OR_RETURN(const kernels::ElementKernel kernel,
                           kernels::FindBinaryKernel(*function.AsBinary(), type, type, type));
    return ApplyBinary(op.run, windows, kernel, updates[0], xs[0]);
  }
  return ApplyFunction(op.run, windows, function, updates, xs);
}

// An operand as the function takes it, to be written to.
absl::StatusOr<Value> TakeOperand(Operation& op, int64_t i, PrimitiveType type) {
  Value value = std::move(op.operands[i]);
  if (!primitive_util::CastPreservesValues(value.element_type(), type)) {
    return Unimplemented("%s: scatter of %s by a computation on %s", op.instruction.name(),
                         primitive_util::LowercasePrimitiveTypeName(value.element_type()),
                         primitive_util::LowercasePrimitiveTypeName(type));
  }
  KASHI_ASSIGN_OR_RETURN(value, op.run.Convert(std::move(value), type));
  return values::MakeWritable(op.run.budget(), std::move(value));
}

absl::Status ScatterInto(Operation& op, const LaneFunction& function, absl::Span<Value> xs) {
  const int64_t n = static_cast<int64_t>(xs.size());
  std::vector<Value> updates(n);
  for (int64_t i = 0; i < n; ++i) {
    KASHI_ASSIGN_OR_RETURN(updates[i],
                           op.run.Convert(std::move(op.operands[n + 1 + i]), function.parameter_types()[n + i]));
    if (xs[i].dimensions() != xs[0].dimensions() || updates[i].dimensions() != updates[0].dimensions()) {
      return Unimplemented("%s: scatter to operands of different sizes", op.instruction.name());
    }
  }
  if (xs[0].element_count() == 0 || updates[0].element_count() == 0) return absl::OkStatus();
  const ScatterDimensionNumbers& numbers = op.instruction.scatter_dimension_numbers();
  const Value& indices = op.operands[n];
  const absl::StatusOr<kernels::IndexedWindows> windows = kernels::IndexedWindows::Make(
      {numbers.update_window_dims(), numbers.inserted_window_dims(), numbers.scatter_dims_to_operand_dims(),
       numbers.input_batching_dims(), numbers.scatter_indices_batching_dims(), numbers.index_vector_dim()},
      xs[0].dimensions(), {indices.element_type(), indices.dimensions(), indices.untyped_data()},
      updates[0].dimensions());
  if (!windows.ok()) return InvalidArgument("%s: %s", op.instruction.name(), windows.status().message());
  return Apply(op, *windows, function, updates, xs);
}

}  // namespace

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kScatter>(Operation& op) {
  KASHI_ASSIGN_OR_RETURN(const LaneFunction* function, op.run.Lanes(*op.instruction.to_apply()));
  const int64_t n = static_cast<int64_t>(op.operands.size()) / 2;
  const absl::Span<const PrimitiveType> parameters = function->parameter_types();
  if (parameters.size() != 2 * static_cast<size_t>(n) || function->result_types() != parameters.subspan(0, n)) {
    return InvalidArgument("The computation of %s does not fit its operands.", op.instruction.name());
  }
  std::vector<Value> xs(n);
  for (int64_t i = 0; i < n; ++i) {
    KASHI_ASSIGN_OR_RETURN(xs[i], TakeOperand(op, i, function->parameter_types()[i]));
  }
  KASHI_RETURN_IF_ERROR(ScatterInto(op, *function, absl::MakeSpan(xs)));
  for (int64_t i = 0; i < n; ++i) {
    KASHI_ASSIGN_OR_RETURN(xs[i], op.run.Convert(std::move(xs[i]), op.result(i)->element_type()));
  }
  if (n == 1) return std::move(xs[0]);
  return Value::MakeTuple(std::move(xs));
}

}  // namespace kashi::evaluator
