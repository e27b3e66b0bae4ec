// reduce and map (docs/spec/hlo-ops.md, 3).
//
// A reduce sees its operand as axes, kept and reduced in turn, with neighbours of one kind made one:
//
//   f32[8,6,5,7], dimensions={1,2}      8 kept, 30 reduced, 7 kept
//
// There are two ways through it.
//
//   In order: 512 outputs at a time, for each reduced position in row-major order one call for all of them. This is the
//   left fold  f(f(f(init, x0), x1), x2)  of the evaluator, for any f.
//
//   In segments, where the order makes no difference (integers; maximum, minimum; sums of floating-point numbers, which
//   the evaluator accumulates in f64): the innermost rows are contiguous, and fold into each other in runs as
//   long as the processor likes. Blocks of 64 Ki elements fold each for itself, and then in order, so that the sum does
//   not depend on the number of threads.
#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/algorithm/container.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/fold.h"
#include "kashi/evaluator/operation_table.h"
#include "kashi/hlo/ir/combiner.h"
#include "kashi/literal/strided_walk.h"

namespace kashi::evaluator {
namespace {

// ---------------------------------------------------------------------------------------------------------------------
// Axes
// ---------------------------------------------------------------------------------------------------------------------

struct Axes {
  DimensionVector sizes, strides;

  void Add(int64_t size, int64_t stride) {
    sizes.push_back(size);
    strides.push_back(stride);
  }
  int64_t count() const {
    int64_t count = 1;
    for (int64_t size : sizes) count *= size;
    return count;
  }
  // The position of the i-th element, in row-major order.
  int64_t PositionOf(int64_t i) const {
    int64_t position = 0;
    for (size_t axis = sizes.size(); axis-- > 0;) {
      position += i % sizes[axis] * strides[axis];
      i /= sizes[axis];
    }
    return position;
  }
};

struct AxesOfReduce {
  Axes kept, reduced;
  bool last_is_reduced = false;
};

AxesOfReduce MakeAxes(absl::Span<const int64_t> sizes, absl::Span<const int64_t> dimensions) {
  AxesOfReduce axes;
  int64_t stride = 1;
  Axes* last = nullptr;
  for (int64_t i = sizes.size() - 1; i >= 0; --i) {
    if (sizes[i] == 1) continue;
    const bool is_reduced = absl::c_linear_search(dimensions, i);
    Axes* these = is_reduced ? &axes.reduced : &axes.kept;
    if (last == nullptr) axes.last_is_reduced = is_reduced;
    if (these == last) {
      these->sizes.back() *= sizes[i];
    } else {
      these->Add(sizes[i], stride);
    }
    last = these;
    stride *= sizes[i];
  }
  for (Axes* these : {&axes.kept, &axes.reduced}) {
    std::reverse(these->sizes.begin(), these->sizes.end());
    std::reverse(these->strides.begin(), these->strides.end());
  }
  return axes;
}

// ---------------------------------------------------------------------------------------------------------------------
// Accumulation in any order
// ---------------------------------------------------------------------------------------------------------------------

template <typename T>
void AddToSums(double* __restrict sums, const void* x, int64_t n) {
  const T* __restrict numbers = static_cast<const T*>(x);
  int64_t j = 0;
  for (; j + 8 <= n; j += 8) {
    for (int64_t i = 0; i < 8; ++i) sums[j + i] += static_cast<double>(numbers[j + i]);
  }
  for (; j < n; ++j) sums[j] += static_cast<double>(numbers[j]);
}

// Reduces one array whose elements may fold in any order. Sums of floating-point numbers accumulate in f64 and are
// rounded when they are stored; all other accumulators have the type of the elements.
struct Combiner {
  PrimitiveType element, accumulator;
  kernels::ElementKernel load, merge, store;
  void (*add_to_sums)(double* sums, const void* x, int64_t n) = nullptr;

  int element_bytes() const { return primitive_util::ByteWidth(element); }
  int accumulator_bytes() const { return primitive_util::ByteWidth(accumulator); }
  void Load(const void* x, void* accumulators, int64_t n) const { load(&x, accumulators, n); }
  void Store(const void* accumulators, void* x, int64_t n) const { store(&accumulators, x, n); }
  void Merge(const void* x, void* accumulators, int64_t n) const {
    const void* const inputs[] = {accumulators, x};
    merge(inputs, accumulators, n);
  }
  void Fold(const void* x, void* accumulators, int64_t n) const {
    if (add_to_sums == nullptr) return Merge(x, accumulators, n);
    add_to_sums(static_cast<double*>(accumulators), x, n);
  }
};

// Whether f gives the same in any order. Sums of floating-point numbers (is_sum) do so because they accumulate in f64.
bool MayReorder(HloOpcode opcode, PrimitiveType type, bool* is_sum) {
  *is_sum = opcode == HloOpcode::kAdd && primitive_util::IsFloatingPointType(type);
  if (opcode == HloOpcode::kMaximum || opcode == HloOpcode::kMinimum) return !primitive_util::IsComplexType(type);
  if (!hlo::MayRegroup(opcode)) return false;
  return *is_sum || primitive_util::IsIntegralType(type) || type == PRED;
}

std::optional<Combiner> FindCombiner(const LaneFunction& function) {
  const std::optional<HloOpcode> opcode = function.AsBinary();
  bool is_sum;
  if (!opcode.has_value() || !MayReorder(*opcode, function.result_types()[0], &is_sum)) return std::nullopt;
  Combiner combiner;
  combiner.element = function.result_types()[0];
  combiner.accumulator = is_sum ? F64 : combiner.element;
  absl::StatusOr<kernels::ElementKernel> load = kernels::FindConvertKernel(combiner.element, combiner.accumulator);
  absl::StatusOr<kernels::ElementKernel> store = kernels::FindConvertKernel(combiner.accumulator, combiner.element);
  absl::StatusOr<kernels::ElementKernel> merge =
      kernels::FindBinaryKernel(*opcode, combiner.accumulator, combiner.accumulator, combiner.accumulator);
  if (!load.ok() || !store.ok() || !merge.ok()) return std::nullopt;
  combiner.load = *std::move(load);
  combiner.store = *std::move(store);
  combiner.merge = *std::move(merge);
  if (is_sum) {
    combiner.add_to_sums = primitive_util::FloatingPointTypeSwitch(
        [](auto type) { return &AddToSums<primitive_util::NativeTypeOf<type>>; }, combiner.element);
  }
  return combiner;
}

// ---------------------------------------------------------------------------------------------------------------------
// In segments
// ---------------------------------------------------------------------------------------------------------------------

// Each outer position has `rows` rows of `width` elements with stride `width` (the innermost axes):
//
//   for o in outer kept: for q in outer reduced: for r in rows: for k in width
//     out[o][k] = f(out[o][k], x[position(o) + position(q) + r * width + k])
class SegmentedReduce {
 public:
  SegmentedReduce(const Combiner& combiner, const AxesOfReduce& axes) : combiner_(combiner), outer_(axes) {
    if (!outer_.last_is_reduced && !outer_.kept.sizes.empty()) width_ = TakeLast(&outer_.kept);
    if (!outer_.reduced.sizes.empty()) rows_ = TakeLast(&outer_.reduced);
    chunks_ = (width_ + kMaxChunk - 1) / kMaxChunk;
    chunk_ = (width_ + chunks_ - 1) / chunks_;
    positions_ = outer_.reduced.count();
    rows_per_block_ = std::max<int64_t>(1, kBlockElements / chunk_);
    positions_per_block_ = std::max<int64_t>(1, rows_per_block_ / rows_);
    blocks_per_position_ = (rows_ + rows_per_block_ - 1) / rows_per_block_;
    blocks_ = blocks_per_position_ * ((positions_ + positions_per_block_ - 1) / positions_per_block_);
  }

  // Shorter segments are better folded in order, many outputs at a time.
  bool IsWorthIt() const { return rows_ * width_ >= 64 || outer_.kept.count() * width_ < 64; }

  absl::Status Run(const EvaluationRun& run, const char* x, const void* init, char* out) {
    const int64_t tasks = outer_.kept.count() * chunks_;
    const int64_t elements_per_task = chunk_ * rows_ * positions_ / blocks_;
    std::vector<double> partials(blocks_ == 1 ? 0 : tasks * blocks_ * doubles_per_chunk());
    kernels::PerThread<Scratch> scratches;
    KASHI_RETURN_IF_ERROR(CheckedParallelFor(
        run, /*parallel=*/true, tasks * blocks_, kernels::ParallelGrain(elements_per_task),
        [&](int64_t begin, int64_t end, int thread) {
          Scratch& scratch = scratches.Get(thread, *this);
          for (int64_t i = begin; i < end; ++i) {
            double* partial = blocks_ == 1 ? scratch.partial.data() : &partials[i * doubles_per_chunk()];
            FoldBlock(x, i / blocks_, i % blocks_, scratch, partial);
            if (blocks_ == 1) Finish(i, partial, init, scratch, out);
          }
          return absl::OkStatus();
        }));
    if (blocks_ == 1) return absl::OkStatus();
    Scratch scratch(*this);
    for (int64_t i = 0; i < tasks; ++i) Finish(i, &partials[i * blocks_ * doubles_per_chunk()], init, scratch, out);
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kMaxChunk = 2048;        // outputs folded at a time
  static constexpr int64_t kBlockElements = 65536;  // elements folded at a time
  static constexpr int64_t kLanes = 512;

  // Doubles for alignment only.
  struct Scratch {
    explicit Scratch(const SegmentedReduce& reduce)
        : partial(reduce.doubles_per_chunk()), total(reduce.doubles_per_chunk()), lanes(2 * kLanes) {}
    std::vector<double> partial, total, lanes;
  };
  int64_t doubles_per_chunk() const { return (chunk_ * combiner_.accumulator_bytes() + 7) / 8; }

  static int64_t TakeLast(Axes* axes) {
    const int64_t size = axes->sizes.back();
    axes->sizes.pop_back();
    axes->strides.pop_back();
    return size;
  }
  int64_t FirstOfChunk(int64_t task) const { return task % chunks_ * chunk_; }
  int64_t SizeOfChunk(int64_t task) const { return std::min(chunk_, width_ - FirstOfChunk(task)); }

  void FoldBlock(const char* x, int64_t task, int64_t block, Scratch& scratch, void* partial) const {
    const int64_t start = outer_.kept.PositionOf(task / chunks_) + FirstOfChunk(task);
    const int64_t first_position = block / blocks_per_position_ * positions_per_block_;
    const int64_t last_position = std::min(positions_, first_position + positions_per_block_);
    const int64_t first_row = block % blocks_per_position_ * rows_per_block_;
    const int64_t rows = std::min(rows_ - first_row, rows_per_block_);
    for (int64_t q = first_position; q < last_position; ++q) {
      const int64_t position = start + outer_.reduced.PositionOf(q) + first_row * width_;
      FoldRows(x + position * combiner_.element_bytes(), rows, SizeOfChunk(task), q == first_position, scratch,
               partial);
    }
  }

  // Folds rows into `partial`; begins it with the first row if `is_first`.
  void FoldRows(const char* x, int64_t rows, int64_t width, bool is_first, Scratch& scratch, void* partial) const {
    const int64_t row_bytes = width_ * combiner_.element_bytes();
    if (width == width_ && 2 * width <= kLanes && rows > 1) {
      FoldShortRows(x, rows, scratch.lanes.data());
      if (is_first) {
        std::memcpy(partial, scratch.lanes.data(), width * combiner_.accumulator_bytes());
      } else {
        combiner_.Merge(scratch.lanes.data(), partial, width);
      }
      return;
    }
    if (is_first) combiner_.Load(x, partial, width);
    for (int64_t row = is_first ? 1 : 0; row < rows; ++row) combiner_.Fold(x + row * row_bytes, partial, width);
  }

  // Several rows at a time fold into as many rows of lanes, whose halves then fold into each other:
  //
  //   lanes[0..4)  +=  row 0 1 2 3,  4 5 6 7,  8 9 . .       lanes[0..2) += lanes[2..4)       lanes[0] += lanes[1]
  void FoldShortRows(const char* x, int64_t rows, void* lanes) const {
    const int64_t row_bytes = width_ * combiner_.element_bytes();
    int64_t side_by_side = 1;
    while (2 * side_by_side <= rows && 2 * side_by_side * width_ <= kLanes) side_by_side *= 2;
    combiner_.Load(x, lanes, side_by_side * width_);
    for (int64_t row = side_by_side; row < rows; row += side_by_side) {
      combiner_.Fold(x + row * row_bytes, lanes, std::min(side_by_side, rows - row) * width_);
    }
    while (side_by_side > 1) {
      side_by_side /= 2;
      combiner_.Merge(static_cast<char*>(lanes) + side_by_side * width_ * combiner_.accumulator_bytes(), lanes,
                      side_by_side * width_);
    }
  }

  // init, and the blocks of a task in their order.
  void Finish(int64_t task, const double* partials, const void* init, Scratch& scratch, char* out) const {
    const int64_t width = SizeOfChunk(task);
    char* total = reinterpret_cast<char*>(scratch.total.data());
    combiner_.Load(init, total, 1);
    kernels::FillElements(combiner_.accumulator_bytes(), total, total, width);
    for (int64_t i = 0; i < blocks_; ++i) combiner_.Merge(partials + i * doubles_per_chunk(), total, width);
    combiner_.Store(total, out + (task / chunks_ * width_ + FirstOfChunk(task)) * combiner_.element_bytes(), width);
  }

  const Combiner& combiner_;
  AxesOfReduce outer_;
  int64_t rows_ = 1, width_ = 1;
  int64_t chunks_, chunk_;  // of a row
  int64_t positions_;       // of the outer reduced axes
  int64_t rows_per_block_, positions_per_block_, blocks_per_position_, blocks_;
};

// ---------------------------------------------------------------------------------------------------------------------
// In order
// ---------------------------------------------------------------------------------------------------------------------

class OrderedReduce {
 public:
  OrderedReduce(Reduction& reduction, const Combiner* combiner, const AxesOfReduce& axes)
      : reduction_(reduction),
        sums_(combiner != nullptr && combiner->add_to_sums != nullptr ? combiner : nullptr),
        axes_(axes),
        outputs_(axes.kept.count()),
        inputs_(reduction.input_data()),
        accumulators_(reduction.accumulator_data()) {
    if (!axes_.last_is_reduced || axes_.reduced.sizes.empty()) return;
    inner_ = axes_.reduced.sizes.back();
    axes_.reduced.sizes.pop_back();
    axes_.reduced.strides.pop_back();
  }

  absl::Status Run(const EvaluationRun& run) {
    // Blocks of outputs stop at the ends of rows, if rows are long: then no element of the operand need be gathered.
    const bool by_row = !axes_.last_is_reduced && !axes_.kept.sizes.empty() && axes_.kept.sizes.back() >= 64;
    const int64_t row = by_row ? axes_.kept.sizes.back() : outputs_;
    const int64_t blocks_per_row = (row + kLanes - 1) / kLanes;
    const int64_t block = (row + blocks_per_row - 1) / blocks_per_row;
    kernels::PerThread<Scratch> scratches;
    return CheckedParallelFor(
        run, reduction_.function->is_parallel(), outputs_ / row * blocks_per_row,
        kernels::ParallelGrain(block * inner_ * axes_.reduced.count()), [&](int64_t begin, int64_t end, int thread) {
          Scratch& scratch = scratches.Get(thread, reduction_);
          for (int64_t i = begin; i < end; ++i) {
            const int64_t in_row = i % blocks_per_row * block;
            if (in_row >= row) continue;
            KASHI_RETURN_IF_ERROR(FoldBlock(i / blocks_per_row * row + in_row, std::min(block, row - in_row), scratch));
          }
          return absl::OkStatus();
        });
  }

 private:
  static constexpr int64_t kLanes = LaneFunction::kManyLanes;
  static constexpr int64_t kDepth = 16;

  struct Scratch {
    explicit Scratch(const Reduction& reduction)
        : fold(*reduction.function, std::min<int64_t>(kLanes, reduction.accumulators[0].element_count())),
          positions(kLanes),
          sums(kLanes) {
      for (const Value& input : reduction.inputs) {
        gathered.emplace_back(kDepth * kLanes * input.element_bytes() / sizeof(double));
      }
    }
    LaneFold fold;
    std::vector<int64_t> positions;
    std::vector<double> sums;
    std::vector<std::vector<double>> gathered;  // doubles for alignment only
  };

  absl::Status FoldBlock(int64_t first, int64_t n, Scratch& scratch) {
    FindPositions(first, n, scratch.positions.data());
    const bool is_contiguous = scratch.positions[n - 1] - scratch.positions[0] == n - 1;
    Targets accumulators = accumulators_;
    for (int64_t i = 0; i < reduction_.size(); ++i) {
      accumulators[i] += first * reduction_.accumulators[i].element_bytes();
    }
    reduction_.FillWithInits(first, first + n);
    if (sums_ != nullptr) sums_->Load(accumulators[0], scratch.sums.data(), n);
    absl::Status status;
    literal::WalkRowMajor(axes_.reduced.sizes, axes_.reduced.strides, [&](absl::Span<const int64_t>, int64_t position) {
      status = is_contiguous ? FoldRuns(position + scratch.positions[0], n, accumulators, scratch)
                             : FoldGathered(position, n, accumulators, scratch);
      return status.ok();
    });
    if (sums_ != nullptr) sums_->Store(scratch.sums.data(), accumulators[0], n);
    return status;
  }

  // The positions at which the elements of n outputs begin.
  void FindPositions(int64_t first, int64_t n, int64_t* positions) const {
    DimensionVector index(axes_.kept.sizes.size());
    int64_t rest = first;
    for (size_t axis = index.size(); axis-- > 0;) {
      index[axis] = rest % axes_.kept.sizes[axis];
      rest /= axes_.kept.sizes[axis];
    }
    int64_t position = axes_.kept.PositionOf(first);
    for (int64_t j = 0; j < n; ++j) {
      positions[j] = position;
      for (size_t axis = index.size(); axis-- > 0;) {
        position += axes_.kept.strides[axis];
        if (++index[axis] < axes_.kept.sizes[axis]) break;
        position -= axes_.kept.sizes[axis] * axes_.kept.strides[axis];
        index[axis] = 0;
      }
    }
  }

  absl::Status Fold(const Targets& accumulators, const Sources& x, int64_t n, Scratch& scratch) const {
    if (sums_ == nullptr) return scratch.fold.Run(accumulators, x, n);
    sums_->Fold(x[0], scratch.sums.data(), n);
    return absl::OkStatus();
  }

  absl::Status FoldRuns(int64_t position, int64_t n, const Targets& accumulators, Scratch& scratch) {
    Sources x = inputs_;
    for (int64_t i = 0; i < reduction_.size(); ++i) x[i] += position * reduction_.inputs[i].element_bytes();
    for (int64_t r = 0; r < inner_; ++r) {
      KASHI_RETURN_IF_ERROR(Fold(accumulators, x, n, scratch));
      for (int64_t i = 0; i < reduction_.size(); ++i) x[i] += reduction_.inputs[i].element_bytes();
    }
    return absl::OkStatus();
  }

  // The innermost axis in steps: reads consecutive elements of each output while they are in the cache.
  absl::Status FoldGathered(int64_t position, int64_t n, const Targets& accumulators, Scratch& scratch) {
    Sources x(reduction_.size());
    for (int64_t r = 0; r < inner_; r += kDepth) {
      const int64_t depth = std::min(kDepth, inner_ - r);
      for (int64_t i = 0; i < reduction_.size(); ++i) {
        x[i] = reinterpret_cast<char*>(scratch.gathered[i].data());
        const int bytes = reduction_.inputs[i].element_bytes();
        kernels::GatherRuns(bytes, inputs_[i] + (position + r) * bytes, scratch.positions.data(), n, depth,
                            reinterpret_cast<char*>(scratch.gathered[i].data()));
      }
      for (int64_t d = 0; d < depth; ++d) {
        KASHI_RETURN_IF_ERROR(Fold(accumulators, x, n, scratch));
        for (int64_t i = 0; i < reduction_.size(); ++i) x[i] += n * reduction_.inputs[i].element_bytes();
      }
    }
    return absl::OkStatus();
  }

  Reduction& reduction_;
  const Combiner* sums_;
  AxesOfReduce axes_;
  int64_t inner_ = 1;  // the last axis, if it is a reduced one, which `axes_` then no longer has
  int64_t outputs_;
  Sources inputs_;
  Targets accumulators_;
};

}  // namespace

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kReduce>(Operation& op) {
  KASHI_ASSIGN_OR_RETURN(Reduction reduction, MakeReduction(op));
  const Value& x = reduction.inputs[0];
  const int64_t outputs = reduction.accumulators[0].element_count();
  if (outputs == 0) return MakeResults(op, std::move(reduction.accumulators));
  if (x.element_count() == 0) {
    reduction.FillWithInits(0, outputs);
    return MakeResults(op, std::move(reduction.accumulators));
  }
  const AxesOfReduce axes = MakeAxes(x.dimensions(), op.instruction.dimensions());
  if (axes.kept.count() != outputs) {
    return InvalidArgument("The operand of %s does not have the sizes of its result.", op.instruction.name());
  }
  const std::optional<Combiner> combiner = FindCombiner(*reduction.function);
  if (combiner.has_value()) {
    SegmentedReduce segmented(*combiner, axes);
    if (segmented.IsWorthIt()) {
      KASHI_RETURN_IF_ERROR(segmented.Run(op.run, x.bytes(), reduction.inits[0].untyped_data(),
                                          reduction.accumulators[0].mutable_bytes()));
      return MakeResults(op, std::move(reduction.accumulators));
    }
  }
  OrderedReduce ordered(reduction, combiner.has_value() ? &*combiner : nullptr, axes);
  KASHI_RETURN_IF_ERROR(ordered.Run(op.run));
  return MakeResults(op, std::move(reduction.accumulators));
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kMap>(Operation& op) {
  KASHI_ASSIGN_OR_RETURN(const LaneFunction* function, op.run.Lanes(*op.instruction.to_apply()));
  const absl::Span<const PrimitiveType> parameters = function->parameter_types();
  const size_t arguments = op.operands.size();
  if (parameters.size() != arguments || function->result_types().size() != 1) {
    return InvalidArgument("The computation of %s does not fit its operands.", op.instruction.name());
  }
  KASHI_ASSIGN_OR_RETURN(Value out, op.MakeResultOf(function->result_types()[0], op.result()->dimensions()));
  for (size_t i = 0; i < arguments; ++i) {
    KASHI_ASSIGN_OR_RETURN(op.operands[i], op.run.Convert(std::move(op.operands[i]), parameters[i]));
    if (op.operands[i].element_count() != out.element_count() && op.operands[i].rank() != 0) {
      return InvalidArgument("The operands of %s have different sizes.", op.instruction.name());
    }
    if (op.operands[i].rank() == out.rank()) continue;
    // A scalar among arrays is broadcast.
    KASHI_ASSIGN_OR_RETURN(Value full, op.run.MakeArray(parameters[i], out.dimensions()));
    kernels::FillElements(full.element_bytes(), op.operands[i].untyped_data(), full.mutable_bytes(),
                          full.element_count());
    op.operands[i] = std::move(full);
  }
  kernels::PerThread<LaneFunction::Scratch> scratches;
  char* target = out.mutable_bytes();
  KASHI_RETURN_IF_ERROR(CheckedParallelFor(
      op.run, function->is_parallel(), out.element_count(), kernels::ParallelGrain(1),
      [&](int64_t begin, int64_t end, int thread) {
        absl::InlinedVector<const void*, 4> inputs;
        for (const Value& operand : op.operands) inputs.push_back(operand.bytes() + begin * operand.element_bytes());
        void* const output = target + begin * out.element_bytes();
        return function->Run(scratches.Get(thread, *function, LaneFunction::kManyLanes), inputs, {output}, end - begin);
      }));
  std::vector<Value> results;
  results.push_back(std::move(out));
  return MakeResults(op, std::move(results));
}

}  // namespace kashi::evaluator
