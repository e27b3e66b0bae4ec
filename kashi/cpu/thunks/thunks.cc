#include "kashi/cpu/thunks/thunks.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/denormals.h"
#include "kashi/base/status.h"
#include "kashi/buffers/leaves.h"
#include "kashi/evaluator/contraction.h"
#include "kashi/evaluator/parallel_for.h"
#include "kashi/literal/strided_copy.h"
#include "kashi/values/value_util.h"

namespace kashi::cpu {
namespace {

// Element operations of a loop between two looks whether the run was stopped: some 10 microseconds.
constexpr int64_t kWorkPerCheck = 16384;

int64_t IntegerAt(PrimitiveType type, const void* data) {
  return primitive_util::IntegralTypeSwitch(
      [&](auto constant) -> int64_t {
        using T = primitive_util::NativeTypeOf<constant>;
        T value;
        std::memcpy(&value, data, sizeof(value));
        if constexpr (sizeof(T) == 8) {
          // An unsigned start beyond the array is clamped to its end, not taken for a negative one.
          if (static_cast<uint64_t>(value) > INT64_MAX && type == U64) return INT64_MAX;
        }
        return static_cast<int64_t>(value);
      },
      type);
}

absl::Status CopyBytes(const evaluator::EvaluationRun& run, const void* from, void* to, int64_t bytes) {
  constexpr int64_t kGrain = int64_t{256} << 10;
  if (bytes <= kGrain) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
    return absl::OkStatus();
  }
  return evaluator::ParallelFor(run, bytes, kGrain, [&](int64_t begin, int64_t end, int) {
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin,
                static_cast<size_t>(end - begin));
  });
}

}  // namespace

absl::Status StepThunk::Run(const ThunkFrame& frame) const {
  return step_.RunOnMemory(frame.run, frame.pointers + operands_, frame.pointers + results_);
}

std::optional<ElementThunk::Sizes> ElementThunk::SizesOf(const HloInstruction& instruction,
                                                         const kernels::ElementKernel& kernel) {
  Sizes sizes;
  sizes.elements = ShapeUtil::ElementsIn(instruction.shape());
  for (const HloInstruction* operand : instruction.operands()) {
    const PrimitiveType type = kernel.input_types[sizes.operands.size()];
    const bool has_sizes = operand->shape().dimensions() == instruction.shape().dimensions();
    if (operand->shape().element_type() != type || (!has_sizes && !ShapeUtil::IsScalar(operand->shape()))) {
      return std::nullopt;
    }
    sizes.operands.push_back({primitive_util::ByteWidth(type), !has_sizes});
    sizes.repeats = sizes.repeats || !has_sizes;
  }
  return sizes;
}

absl::Status ElementThunk::Run(const ThunkFrame& frame) const {
  const base::KeepDenormals keep;
  void* const* const inputs = frame.pointers + first_;
  void* const output = inputs[sizes_.operands.size()];
  if (sizes_.repeats) {
    RunRepeating(frame, output);
  } else {
    kernel_(inputs, output, sizes_.elements);
  }
  return absl::OkStatus();
}

// The function reads an element of each operand for each element of the result: it gets copies of the one element, for
// a part of the result at a time.
void ElementThunk::RunRepeating(const ThunkFrame& frame, void* output) const {
  constexpr int64_t kPart = 256, kMostBytes = 16;  // elements; bytes of one
  alignas(64) char copies[3][kPart * kMostBytes];
  std::array<const void*, 3> inputs = {};
  for (size_t k = 0; k < sizes_.operands.size(); ++k) {
    if (!sizes_.operands[k].is_repeated) continue;
    const int64_t bytes = sizes_.operands[k].element_bytes, part = std::min(kPart, sizes_.elements);
    for (int64_t i = 0; i < part; ++i) {
      std::memcpy(&copies[k][i * bytes], frame.pointers[first_ + k], static_cast<size_t>(bytes));
    }
    inputs[k] = copies[k];
  }
  const int64_t output_bytes = primitive_util::ByteWidth(kernel_.output_type);
  for (int64_t i = 0; i < sizes_.elements; i += kPart) {
    for (size_t k = 0; k < sizes_.operands.size(); ++k) {
      if (sizes_.operands[k].is_repeated) continue;
      inputs[k] = static_cast<const char*>(frame.pointers[first_ + k]) + i * sizes_.operands[k].element_bytes;
    }
    kernel_(inputs.data(), static_cast<char*>(output) + i * output_bytes, std::min(kPart, sizes_.elements - i));
  }
}

absl::Status CopyThunk::Run(const ThunkFrame& frame) const {
  return CopyBytes(frame.run, frame.pointers[source_], frame.pointers[source_ + 1], bytes_);
}

namespace {

template <typename T>
kernels::MatrixOperand<T> OperandOf(const void* data, const codegen::DotMatrices::Strides& strides) {
  return {static_cast<const T*>(data), strides.batch, strides.row, strides.column};
}

}  // namespace

int64_t DotThunk::PackedBytesOf(const codegen::DotMatrices& matrices) {
  const auto bytes = [&](auto zero) {
    using T = decltype(zero);
    return kernels::PackedRhsBytes<T>(matrices.sizes, OperandOf<T>(nullptr, matrices.lhs),
                                      OperandOf<T>(nullptr, matrices.rhs));
  };
  return matrices.type == F64 ? bytes(double()) : bytes(float());
}

template <typename T>
const T* DotThunk::Packed(const ThunkFrame& frame) const {
  if (packed_ == kNone) return nullptr;
  PackedRhs& packed = frame.packed[packed_];
  if (packed.memory == nullptr) packed.memory = std::make_unique<kernels::ScratchBlock>(PackedBytesOf(matrices_));
  T* const words = static_cast<T*>(packed.memory->data());
  if (words != nullptr && !packed.is_valid) {
    kernels::PackRhs(matrices_.sizes, OperandOf<T>(frame.pointers[first_ + 1], matrices_.rhs), words);
    packed.is_valid = true;
  }
  return words;
}

template <typename T>
absl::Status DotThunk::Multiply(const ThunkFrame& frame) const {
  void* const* const pointers = frame.pointers + first_;
  const kernels::MatrixProductSizes& sizes = matrices_.sizes;
  const kernels::MatrixOperand<T> lhs = OperandOf<T>(pointers[0], matrices_.lhs),
                                  rhs = OperandOf<T>(pointers[1], matrices_.rhs);
  const kernels::MatrixResult<T> out = {static_cast<T*>(pointers[2]), sizes.m * sizes.n, sizes.n};
  const auto check_stopped = [&frame] { return frame.run.CheckStopped(); };
  if (const T* const packed = Packed<T>(frame); packed != nullptr) {
    return kernels::MatrixProductOfPacked<T>(sizes, lhs, packed, out, check_stopped);
  }
  return kernels::MatrixProduct<T>(sizes, lhs, rhs, out, kernels::MatrixProductMode::kAssign, check_stopped);
}

absl::Status DotThunk::Run(const ThunkFrame& frame) const {
  const base::KeepDenormals keep;
  return matrices_.type == F64 ? Multiply<double>(frame) : Multiply<float>(frame);
}

absl::Status LinearAlgebraThunk::Run(const ThunkFrame& frame) const {
  constexpr int64_t kGrain = 32768;  // element operations: some 10 microseconds
  kernels::LinearAlgebraFunction* const function = kernels::FindLinearAlgebra(call_.kind, call_.type);
  const int64_t matrices = std::max<int64_t>(1, kGrain / call_.WorkOfMatrix());
  return evaluator::ParallelFor(frame.run, call_.batch, matrices, [&](int64_t begin, int64_t end, int) {
    const base::KeepDenormals keep;
    function(frame.pointers + operands_, frame.pointers + results_, begin, end, call_.m, call_.n, call_.p, call_.others,
             call_.flags);
  });
}

SlicePlace::SlicePlace(const HloInstruction& slice, int64_t start_operand, absl::Span<const int64_t> array_sizes,
                       absl::Span<const int64_t> part_sizes)
    : part_sizes_(part_sizes.begin(), part_sizes.end()),
      part_strides_(evaluator::RowMajorStrides(part_sizes)),
      array_strides_(evaluator::RowMajorStrides(array_sizes)),
      element_bytes_(primitive_util::ByteWidth(slice.shape().element_type())) {
  for (size_t d = 0; d < array_sizes.size(); ++d) {
    last_starts_.push_back(array_sizes[d] - part_sizes[d]);
    index_types_.push_back(slice.operand(start_operand + static_cast<int64_t>(d))->shape().element_type());
  }
}

int64_t SlicePlace::OffsetAt(void* const* indices) const {
  int64_t offset = 0;
  for (size_t d = 0; d < rank(); ++d) {
    offset += array_strides_[d] * std::clamp<int64_t>(IntegerAt(index_types_[d], indices[d]), 0, last_starts_[d]);
  }
  return offset * element_bytes_;
}

absl::Status DynamicSliceThunk::Run(const ThunkFrame& frame) const {
  void* const* const pointers = frame.pointers + first_;
  const char* const source = static_cast<const char*>(pointers[0]) + place_.OffsetAt(pointers + 1);
  return literal::CopyStridedUntil(place_.part_sizes(), place_.element_bytes(), {source, place_.array_strides()},
                                   {static_cast<char*>(pointers[1 + place_.rank()]), place_.part_strides()},
                                   [&frame] { return frame.run.CheckStopped(); });
}

absl::Status UpdateSliceThunk::Run(const ThunkFrame& frame) const {
  void* const* const pointers = frame.pointers + first_ + 1;
  char* const target = static_cast<char*>(pointers[1 + place_.rank()]) + place_.OffsetAt(pointers + 1);
  return literal::CopyStridedUntil(place_.part_sizes(), place_.element_bytes(),
                                   {static_cast<const char*>(pointers[0]), place_.part_strides()},
                                   {target, place_.array_strides()}, [&frame] { return frame.run.CheckStopped(); });
}

namespace {

// Whether its results may be made in memory of the caller: members of a group keep the arrays that they exchange.
bool TakesMemory(const evaluator::ComputationPlanStep& step) {
  const HloInstruction& instruction = *step.instruction;
  return !GetHloOpcodeInfo(instruction.opcode()).Has(HloOpcodeFlags::kCollective) &&
         absl::c_all_of(step.results, [](const DenseShape& shape) { return shape != nullptr; });
}

}  // namespace

EvaluatorThunk::EvaluatorThunk(std::shared_ptr<const evaluator::ComputationPlanStep> step, int64_t first,
                               int64_t updated)
    : step_(std::move(step)), first_(first), results_(first), updated_(updated), takes_memory_(TakesMemory(*step_)) {
  for (const HloInstruction* operand : step_->instruction->operands()) {
    results_ += ShapeUtil::GetLeafCount(operand->shape());
  }
}

absl::Status EvaluatorThunk::Run(const ThunkFrame& frame) const {
  const base::KeepDenormals keep;
  void* const* results = frame.pointers + results_;
  const void* const* next = frame.pointers + first_;
  absl::InlinedVector<Value, 4> operands;
  for (const HloInstruction* operand : step_->instruction->operands()) {
    operands.push_back(values::BorrowLeaves(operand->shape(), &next));
  }
  absl::InlinedVector<Value, 2> memory;
  if (updated_ != kNone) {
    operands[updated_] = Value::OnMemory(step_->results[0], results[0]);
  } else if (takes_memory_) {
    for (size_t i = 0; i < step_->results.size(); ++i) {
      memory.push_back(Value::OnMemory(step_->results[i], results[i]));
    }
  }
  KASHI_ASSIGN_OR_RETURN(const Value result,
                         frame.run.EvaluateStep(*step_, absl::MakeSpan(operands), absl::MakeSpan(memory)));
  return values::VisitLeaves(result, [&](const Value& leaf) {
    void* const to = *results++;
    return to == leaf.untyped_data() ? absl::OkStatus()
                                     : CopyBytes(frame.run, leaf.untyped_data(), to, leaf.byte_count());
  });
}

void WhileThunk::Place(bool is_swapped, const ThunkFrame& frame) const {
  for (const BufferSwap& swap : swaps_) {
    void *from = frame.pointers[swap.own], *to = frame.pointers[swap.own + 1];
    if (is_swapped) std::swap(from, to);
    for (int64_t i : swap.to_from) frame.pointers[i] = from;
    for (int64_t i : swap.to_to) frame.pointers[i] = to;
    if (frame.leaves == nullptr) continue;
    for (int64_t i : swap.leaves_from) frame.leaves[i] = from;
    for (int64_t i : swap.leaves_to) frame.leaves[i] = to;
  }
}

absl::Status WhileThunk::Leave(bool is_swapped, const ThunkFrame& frame) const {
  if (!is_swapped) return absl::OkStatus();
  Place(false, frame);
  for (const BufferSwap& swap : swaps_) {
    KASHI_RETURN_IF_ERROR(CopyBytes(frame.run, frame.pointers[swap.own], frame.pointers[swap.own + 1], swap.bytes));
  }
  return absl::OkStatus();
}

absl::Status WhileThunk::Run(const ThunkFrame& frame) const {
  const int64_t max_iterations = frame.run.options().max_loop_iterations;
  const int64_t work_of_iteration = SaturatingAdd(SaturatingAdd(condition_.work(), body_.work()), 1);
  int64_t work = 0;
  bool is_swapped = false;
  for (int number : packed_) frame.packed[number].is_valid = false;
  for (int64_t iteration = 0;; ++iteration) {
    work = SaturatingAdd(work, work_of_iteration);
    if (work > kWorkPerCheck) {
      KASHI_RETURN_IF_ERROR(frame.run.Spend(work));
      work = 0;
    }
    KASHI_RETURN_IF_ERROR(condition_.Run(frame));
    if (!*static_cast<const bool*>(frame.pointers[first_])) {
      KASHI_RETURN_IF_ERROR(Leave(is_swapped, frame));
      return frame.run.Spend(work);
    }
    if (max_iterations >= 0 && iteration >= max_iterations) return frame.run.LoopIsTooLong(loop_);
    KASHI_RETURN_IF_ERROR(body_.Run(frame));
    if (swaps_.empty()) continue;
    is_swapped = !is_swapped;
    Place(is_swapped, frame);
  }
}

absl::Status ConditionalThunk::Run(const ThunkFrame& frame) const {
  const void* const selector = frame.pointers[first_];
  int64_t branch = 0;
  if (has_predicate_) {
    branch = *static_cast<const bool*>(selector) ? 0 : 1;
  } else {
    const int64_t count = static_cast<int64_t>(branches_.size());
    branch = *static_cast<const int32_t*>(selector);
    if (branch < 0 || branch >= count) branch = count - 1;
  }
  KASHI_RETURN_IF_ERROR(frame.run.Spend(branches_[branch].work()));
  return branches_[branch].Run(frame);
}

}  // namespace kashi::cpu
