// reduce-window (docs/spec/hlo-ops.md, 3). For each block of outputs, for each offset of the window in row-major order,
// one call folds all elements at this offset into the accumulators, which are the outputs themselves:
//
//   f32[7] -> f32[7], size=3 pad=2_0       w = 0:  out[2..7) = f(out[2..7), x[0..5))
//                                          w = 1:  out[1..7) = f(out[1..7), x[0..6))
//                                          w = 2:  out[0..7) = f(out[0..7), x[0..7))
//
// Cumulative windows take one pass instead, however large they are:
//
//   f32[7] -> f32[7], size=7 pad=6_0       out[o] = f(out[o - 1], x[o]), where out[-1] is the initial value
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "kashi/array/primitive_util.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/fold.h"
#include "kashi/evaluator/operation_table.h"
#include "kashi/evaluator/window_walk.h"
#include "kashi/hlo/ir/combiner.h"
#include "kashi/literal/strided_walk.h"

namespace kashi::evaluator {
namespace {

// The arrays of a reduction, in elements.
class Folding {
 public:
  explicit Folding(Reduction& reduction)
      : reduction_(reduction), inputs_(reduction.input_data()), accumulators_(reduction.accumulator_data()) {}

  // accumulators[out, out + n) = f(accumulators[out, out + n), inputs[in, in + n))
  absl::Status Fold(int64_t out, int64_t in, int64_t n, LaneFold& fold) const {
    Targets accumulators = accumulators_;
    Sources x = inputs_;
    for (int64_t i = 0; i < reduction_.size(); ++i) {
      accumulators[i] += out * reduction_.accumulators[i].element_bytes();
      x[i] += in * reduction_.inputs[i].element_bytes();
    }
    return fold.Run(accumulators, x, n);
  }

 protected:
  Reduction& reduction_;
  Sources inputs_;
  Targets accumulators_;
};

class WindowedReduce : private Folding {
 public:
  WindowedReduce(Reduction& reduction, const WindowWalk& walk)
      : Folding(reduction),
        walk_(walk),
        chunk_(std::min(walk.width(), kLanes)),
        chunks_((walk.width() + chunk_ - 1) / chunk_),
        block_(std::clamp<int64_t>(kLanes / chunk_, 1, walk.row_outputs())),
        blocks_((walk.row_outputs() + block_ - 1) / block_) {}

  absl::Status Run(const EvaluationRun& run) {
    kernels::PerThread<Scratch> scratches;
    // A window is taken to have 4 elements: with more, a piece is only larger than it needs to be.
    return CheckedParallelFor(
        run, reduction_.function->is_parallel(), walk_.rows() * blocks_ * chunks_,
        kernels::ParallelGrain(4 * block_ * chunk_), [&](int64_t begin, int64_t end, int thread) {
          Scratch& scratch = scratches.Get(thread, reduction_);
          for (int64_t i = begin; i < end; ++i) {
            KASHI_RETURN_IF_ERROR(FoldBlock(run, i / chunks_ / blocks_, i / chunks_ % blocks_, i % chunks_, scratch));
          }
          return absl::OkStatus();
        });
  }

 private:
  static constexpr int64_t kLanes = 2048;

  struct Scratch {
    explicit Scratch(const Reduction& reduction) : fold(*reduction.function, LaneFunction::kManyLanes) {
      for (int64_t i = 0; i < reduction.size(); ++i) {
        x.emplace_back(kLanes * reduction.inputs[i].element_bytes() / sizeof(double));
        accumulators.emplace_back(kLanes * reduction.accumulators[i].element_bytes() / sizeof(double));
      }
    }
    LaneFold fold;
    std::vector<std::vector<double>> x, accumulators;  // doubles for alignment only
  };

  // Elements [first, first + size) of the vectors of outputs [begin, end) of a row.
  absl::Status FoldBlock(const EvaluationRun& evaluation, int64_t row, int64_t block, int64_t chunk, Scratch& scratch) {
    const int64_t begin = block * block_, end = std::min(begin + block_, walk_.row_outputs());
    const int64_t first = chunk * chunk_, size = std::min(chunk_, walk_.width() - first);
    const int64_t row_start = row * walk_.row_elements() + first;
    const int64_t start = row_start + begin * walk_.width();
    reduction_.FillWithInits(start,
                             start + (end - begin) * size);  // a vector of several chunks has its own block
    return walk_.VisitRow(evaluation, row, begin, end, [&](const WindowWalk::Run& run) {
      return FoldRun(run, row_start + run.output * walk_.width(), run.input + first, size, scratch);
    });
  }

  // `out` and `in` are elements; each of the run's vectors has `size` of them that count.
  absl::Status FoldRun(const WindowWalk::Run& run, int64_t out, int64_t in, int64_t size, Scratch& scratch) {
    const bool is_dense = size == walk_.width();
    if (run.count == 1 || (is_dense && run.output_step == 1 && run.input_step == 1)) {
      return Fold(out, in, run.count * size, scratch.fold);
    }
    if (size >= kLongVector) {
      for (int64_t i = 0; i < run.count; ++i) {
        KASHI_RETURN_IF_ERROR(Fold(out + i * run.output_step * walk_.width(), in + i * run.input_step * walk_.width(),
                                   size, scratch.fold));
      }
      return absl::OkStatus();
    }
    return FoldScattered(run, out, in, size, scratch);
  }

  // Vectors that are not contiguous are copied to buffers where they are.
  absl::Status FoldScattered(const WindowWalk::Run& run, int64_t out, int64_t in, int64_t size, Scratch& scratch) {
    Targets accumulators(reduction_.size());
    Sources x(reduction_.size());
    for (int64_t i = 0; i < reduction_.size(); ++i) {
      const int x_bytes = reduction_.inputs[i].element_bytes(), bytes = reduction_.accumulators[i].element_bytes();
      char* x_buffer = reinterpret_cast<char*>(scratch.x[i].data());
      CopyVectors(x_bytes, run.count, size, inputs_[i] + in * x_bytes, run.input_step * walk_.width(), x_buffer, size);
      x[i] = x_buffer;
      accumulators[i] = accumulators_[i] + out * bytes;
      if (run.output_step == 1) continue;
      char* const buffer = reinterpret_cast<char*>(scratch.accumulators[i].data());
      CopyVectors(bytes, run.count, size, accumulators[i], run.output_step * walk_.width(), buffer, size);
      accumulators[i] = buffer;
    }
    KASHI_RETURN_IF_ERROR(scratch.fold.Run(accumulators, x, run.count * size));
    if (run.output_step == 1) return absl::OkStatus();
    for (int64_t i = 0; i < reduction_.size(); ++i) {
      const int bytes = reduction_.accumulators[i].element_bytes();
      CopyVectors(bytes, run.count, size, accumulators[i], size, accumulators_[i] + out * bytes,
                  run.output_step * walk_.width());
    }
    return absl::OkStatus();
  }

  static void CopyVectors(int bytes, int64_t count, int64_t size, const char* source, int64_t source_stride,
                          char* target, int64_t target_stride) {
    if (size == 1 && target_stride == 1) return kernels::GatherStrided(bytes, source, source_stride, target, count);
    literal::CopyStrided({count, size}, bytes, {source, {source_stride, 1}}, {target, {target_stride, 1}});
  }

  static constexpr int64_t kLongVector = 32;

  const WindowWalk& walk_;
  int64_t chunk_, chunks_;  // of a vector
  int64_t block_, blocks_;  // of a row
};

// Each window has the elements of its neighbour and more. Windows that begin at the front (a cumulative sum) fold in
// the order of the definition, so any computation will do. Windows that end at the back fold in reverse, so the
// computation must be associative and commutative.
class CumulativeReduce : private Folding {
 public:
  enum class Direction { kForward, kBackward };
  static std::optional<Direction> DirectionOf(const Reduction& reduction, const WindowWalk& walk) {
    if (walk.IsPrefix()) return Direction::kForward;
    if (walk.IsSuffix() && MayReorder(reduction, walk)) return Direction::kBackward;
    return std::nullopt;
  }

  CumulativeReduce(Reduction& reduction, const WindowWalk& walk, Direction direction)
      : Folding(reduction),
        walk_(walk),
        direction_(direction),
        chunk_(std::min(walk.width(), LaneFunction::kManyLanes)),
        chunks_((walk.width() + chunk_ - 1) / chunk_) {}

  absl::Status Run(const EvaluationRun& run) {
    return CheckedParallelFor(run, reduction_.function->is_parallel(), walk_.rows() * chunks_,
                              kernels::ParallelGrain((walk_.row_inputs() + walk_.row_outputs()) * chunk_),
                              [&](int64_t begin, int64_t end, int) {
                                LaneFold fold(*reduction_.function, chunk_);
                                for (int64_t i = begin; i < end; ++i) {
                                  KASHI_RETURN_IF_ERROR(FoldRow(run, i / chunks_, i % chunks_, fold));
                                }
                                return absl::OkStatus();
                              });
  }

 private:
  static bool MayReorder(const Reduction& reduction, const WindowWalk& walk) {
    const std::optional<HloOpcode> opcode = reduction.function->AsBinary();
    const bool is_integral = primitive_util::IsIntegralType(reduction.accumulators[0].element_type());
    if (!is_integral && walk.row_window() <= kOrderedWindowElements) return false;
    return opcode.has_value() && hlo::MayRegroup(*opcode);
  }

  // One number for each position in a row: a chain of sums or products, in a register.
  template <typename T, typename F>
  absl::Status ScanRow(const EvaluationRun& run, int64_t row, F f) {
    constexpr int64_t kStepsPerCheck = 1 << 20;
    const bool is_forward = direction_ == Direction::kForward;
    const T* const inputs = reinterpret_cast<const T*>(inputs_[0]) + row * walk_.row_inputs();
    T* const outputs = reinterpret_cast<T*>(accumulators_[0]) + row * walk_.row_elements();
    reduction_.FillWithInits(row * walk_.row_elements(), row * walk_.row_elements() + 1);
    T sum = outputs[0];
    int64_t done = is_forward ? 0 : walk_.row_inputs();
    for (int64_t k = 0; k < walk_.row_outputs(); ++k) {
      if (k % kStepsPerCheck == 0) KASHI_RETURN_IF_ERROR(run.CheckStopped());
      const int64_t o = is_forward ? k : walk_.row_outputs() - 1 - k;
      const WindowWalk::Inputs window = walk_.InputsOf(o);
      if (is_forward) {
        while (done < window.end) sum = f(sum, inputs[done++]);
      } else {
        while (done > window.begin) sum = f(sum, inputs[--done]);
      }
      outputs[o] = sum;
    }
    return absl::OkStatus();
  }

  // The scan of a row in one of the types with a simple form; nothing: there is none.
  using Scan = absl::Status (CumulativeReduce::*)(const EvaluationRun&, int64_t);
  template <typename T>
  static Scan ScanOf(HloOpcode opcode) {
    if (opcode == HloOpcode::kAdd) return &CumulativeReduce::ScanSums<T>;
    return opcode == HloOpcode::kMultiply ? &CumulativeReduce::ScanProducts<T> : nullptr;
  }
  template <typename T>
  absl::Status ScanSums(const EvaluationRun& run, int64_t row) {
    return ScanRow<T>(run, row, [](T a, T b) { return static_cast<T>(a + b); });
  }
  template <typename T>
  absl::Status ScanProducts(const EvaluationRun& run, int64_t row) {
    return ScanRow<T>(run, row, [](T a, T b) { return static_cast<T>(a * b); });
  }
  Scan FindScan() const {
    const std::optional<HloOpcode> opcode = reduction_.function->AsBinary();
    if (!opcode.has_value() || reduction_.size() != 1 || walk_.width() != 1 ||
        reduction_.inputs[0].element_type() != reduction_.accumulators[0].element_type()) {
      return nullptr;
    }
    switch (reduction_.accumulators[0].element_type()) {
      case F32:
        return ScanOf<float>(*opcode);
      case F64:
        return ScanOf<double>(*opcode);
      case S32:
      case U32:
        return ScanOf<uint32_t>(*opcode);
      case S64:
      case U64:
        return ScanOf<uint64_t>(*opcode);
      default:
        return nullptr;
    }
  }

  absl::Status FoldRow(const EvaluationRun& run, int64_t row, int64_t chunk, LaneFold& fold) {
    if (const Scan scan = FindScan(); scan != nullptr) return (this->*scan)(run, row);
    const bool is_forward = direction_ == Direction::kForward;
    const int64_t first = chunk * chunk_, size = std::min(chunk_, walk_.width() - first);
    const int64_t outputs = row * walk_.row_elements() + first;
    const int64_t inputs = row * walk_.row_inputs() * walk_.width() + first;
    const int64_t steps_per_check = std::max<int64_t>(1, (1 << 18) / size);
    int64_t done = is_forward ? 0 : walk_.row_inputs(),
            steps = 0;  // the inputs before `done` (backward: from `done` on) are in the last output
    for (int64_t k = 0; k < walk_.row_outputs(); ++k) {
      const int64_t o = is_forward ? k : walk_.row_outputs() - 1 - k;
      const int64_t out = outputs + o * walk_.width();
      if (k == 0) {
        reduction_.FillWithInits(out, out + size);
      } else {
        CopyOutputs(is_forward ? out - walk_.width() : out + walk_.width(), out, size);
      }
      const WindowWalk::Inputs window = walk_.InputsOf(o);
      while (is_forward ? done < window.end : done > window.begin) {
        if (++steps % steps_per_check == 0) KASHI_RETURN_IF_ERROR(run.CheckStopped());
        const int64_t next = is_forward ? done++ : --done;
        KASHI_RETURN_IF_ERROR(Fold(out, inputs + next * walk_.width(), size, fold));
      }
    }
    return absl::OkStatus();
  }

  void CopyOutputs(int64_t from, int64_t to, int64_t size) {
    for (int64_t i = 0; i < reduction_.size(); ++i) {
      const int bytes = reduction_.accumulators[i].element_bytes();
      std::copy_n(accumulators_[i] + from * bytes, size * bytes, accumulators_[i] + to * bytes);
    }
  }

  const WindowWalk& walk_;
  Direction direction_;
  int64_t chunk_, chunks_;  // of a vector
};

absl::Status ReduceWindows(const EvaluationRun& run, Reduction& reduction, const WindowWalk& walk) {
  if (const auto direction = CumulativeReduce::DirectionOf(reduction, walk)) {
    return CumulativeReduce(reduction, walk, *direction).Run(run);
  }
  return WindowedReduce(reduction, walk).Run(run);
}

// Whether vectors across all parts save calls: where rows are so short that calls cost more than the work or, in
// cumulative windows, whose rows are a chain, where vectors are so short.
bool ProfitsFromPartsInnermost(const Reduction& reduction, const WindowWalk& walk) {
  const bool is_chain = CumulativeReduce::DirectionOf(reduction, walk).has_value();
  const int64_t lanes = is_chain ? walk.width() : walk.row_elements();
  return lanes < 16 && walk.parts() > (is_chain ? 1 : lanes);
}

// [parts, elements] -> [elements, parts] of an array that has these.
absl::StatusOr<Value> Transpose(EvaluationRun& run, const Value& value, int64_t rows, int64_t columns) {
  KASHI_ASSIGN_OR_RETURN(Value out, run.MakeArray(value.dense_shape()));
  literal::CopyStrided({columns, rows}, value.element_bytes(), {value.bytes(), {1, columns}},
                       {out.mutable_bytes(), {rows, 1}});
  return out;
}

// The parts (images, say, of a pooling) become the innermost dimension, and their results go back.
absl::Status ReduceWithPartsInnermost(Operation& op, Reduction& reduction, const WindowWalk& walk) {
  for (Value& input : reduction.inputs) {
    KASHI_ASSIGN_OR_RETURN(input, Transpose(op.run, input, walk.parts(), walk.part_inputs()));
  }
  const WindowWalk inner = walk.WithPartsInnermost();
  KASHI_RETURN_IF_ERROR(ReduceWindows(op.run, reduction, inner));
  for (Value& result : reduction.accumulators) {
    KASHI_ASSIGN_OR_RETURN(result, Transpose(op.run, result, walk.part_outputs(), walk.parts()));
  }
  return absl::OkStatus();
}

}  // namespace

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kReduceWindow>(Operation& op) {
  KASHI_ASSIGN_OR_RETURN(Reduction reduction, MakeReduction(op));
  const Value& x = reduction.inputs[0];
  Value& out = reduction.accumulators[0];
  KASHI_ASSIGN_OR_RETURN(const WindowWalk walk, WindowWalk::Make(op.instruction, x.dimensions(), out.dimensions()));
  if (x.element_count() == 0 || out.element_count() == 0) {
    reduction.FillWithInits(0, out.element_count());
  } else if (ProfitsFromPartsInnermost(reduction, walk)) {
    KASHI_RETURN_IF_ERROR(ReduceWithPartsInnermost(op, reduction, walk));
  } else {
    KASHI_RETURN_IF_ERROR(ReduceWindows(op.run, reduction, walk));
  }
  return MakeResults(op, std::move(reduction.accumulators));
}

}  // namespace kashi::evaluator
