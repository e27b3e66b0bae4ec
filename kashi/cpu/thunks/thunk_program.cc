#include "kashi/cpu/thunks/thunk_program.h"

#include <cstring>
#include <new>
#include <utility>

#include "kashi/base/status.h"
#include "kashi/cpu/flush_denormals.h"
#include "kashi/cpu/thunks/frame_allocator.h"
#include "kashi/cpu/thunks/leaves.h"
#include "kashi/evaluator/computation_plan.h"
#include "kashi/evaluator/value_util.h"

namespace kashi::internal {
namespace {

using Arrays = absl::InlinedVector<Value, 8>;

// The arrays of a value. Those of a tuple are unique afterwards if only the tuple held them.
void TakeApart(Value value, Arrays* arrays) {
  if (!value.is_tuple()) {
    arrays->push_back(std::move(value));
    return;
  }
  std::vector<Value> elements(value.elements().begin(), value.elements().end());
  value = Value();
  for (Value& element : elements) TakeApart(std::move(element), arrays);
}

Value PutTogether(const Shape& shape, Value*& array) {
  if (!shape.IsTuple()) return std::move(*array++);
  std::vector<Value> elements;
  for (const Shape& element : shape.tuple_shapes()) elements.push_back(PutTogether(element, array));
  return Value::MakeTuple(std::move(elements));
}

void AddArrayShapes(const Shape& shape, std::vector<DenseShape>* shapes) {
  if (!shape.IsTuple()) {
    shapes->push_back(MakeDenseShape(shape));
    return;
  }
  for (const Shape& element : shape.tuple_shapes()) AddArrayShapes(element, shapes);
}

}  // namespace

struct ThunkProgram::Frame {
  explicit Frame(const ThunkProgramParts& parts) : pointers(parts.pointers.size()), packed(parts.packed_count) {
    memory = static_cast<char*>(
        ::operator new(static_cast<size_t>(parts.frame_bytes), std::align_val_t(FrameAllocator::kAlignment)));
    for (size_t i = 0; i < pointers.size(); ++i) {
      const Place& place = parts.pointers[i];
      if (place.home == Home::kFrame) pointers[i] = memory + place.number;
      // Thunks only read what is not theirs.
      if (place.home == Home::kConstant) {
        pointers[i] = const_cast<void*>(parts.constants[place.number].untyped_data());
      }
    }
  }
  ~Frame() { ::operator delete(memory, std::align_val_t(FrameAllocator::kAlignment)); }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  char* memory;
  std::vector<void*> pointers;
  std::vector<PackedRhs> packed;
};

ThunkProgram::ThunkProgram(ThunkProgramParts parts) : parts_(std::move(parts)) {
  AddArrayShapes(parts_.result_shape, &result_shapes_);
  result_bytes_ = LeafBytes(parts_.result_shape).value();
  for (size_t i = 0; i < parts_.pointers.size(); ++i) {
    const Patch patch = {static_cast<int64_t>(i), parts_.pointers[i].number};
    if (parts_.pointers[i].home == Home::kArgument) argument_patches_.push_back(patch);
    for (const ThunkProgramParts::Update& update : parts_.updates) {
      const bool is_updated = parts_.pointers[i].home == Home::kArgument && patch.number == update.argument;
      if (is_updated) update_patches_.push_back({patch.pointer, update.result});
    }
    if (parts_.pointers[i].home == Home::kResult) result_patches_.push_back(patch);
  }
}

ThunkProgram::~ThunkProgram() = default;

std::unique_ptr<ThunkProgram::Frame> ThunkProgram::TakeFrame() const {
  {
    const absl::MutexLock lock(&mutex_);
    if (!free_frames_.empty()) {
      std::unique_ptr<Frame> frame = std::move(free_frames_.back());
      free_frames_.pop_back();
      return frame;
    }
  }
  return std::make_unique<Frame>(parts_);
}

// Memory for the results. An argument that a result starts with is the result's memory afterwards.
absl::StatusOr<ThunkProgram::Arrays> ThunkProgram::MakeResults(Arrays& arguments, EvaluationRun& run) const {
  Arrays results(parts_.results.size());
  for (const ThunkProgramParts::Update& update : parts_.updates) {
    KASHI_ASSIGN_OR_RETURN(Value memory, MakeWritable(run, std::move(arguments[update.argument])));
    results[update.result] = Value::WithShape(std::move(memory), result_shapes_[update.result]);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (parts_.results[i].home != Home::kResult || !results[i].is_nothing()) continue;
    KASHI_ASSIGN_OR_RETURN(results[i], run.MakeArray(result_shapes_[i]));
  }
  return results;
}

absl::Status ThunkProgram::RunFrame(absl::Span<const void* const> arguments, absl::Span<void* const> results,
                                    EvaluationRun& run) const {
  std::unique_ptr<Frame> frame = TakeFrame();
  for (const Patch& patch : argument_patches_) {
    frame->pointers[patch.pointer] = const_cast<void*>(arguments[patch.number]);
  }
  for (const Patch& patch : result_patches_) frame->pointers[patch.pointer] = results[patch.number];
  for (const Patch& patch : update_patches_) frame->pointers[patch.pointer] = results[patch.number];
  {
    const FlushDenormals flush(parts_.flush_denormals);
    KASHI_RETURN_IF_ERROR(run.Spend(parts_.thunks.work()));
    KASHI_RETURN_IF_ERROR(parts_.thunks.Run({frame->pointers.data(), run, frame->packed.data()}));
    KASHI_RETURN_IF_ERROR(run.CheckStopped());
  }
  const absl::MutexLock lock(&mutex_);
  free_frames_.push_back(std::move(frame));
  return absl::OkStatus();
}

absl::StatusOr<Value> ThunkProgram::Run(absl::Span<Value> arguments, EvaluationRun& run) const {
  Arrays arrays;
  for (Value& argument : arguments) TakeApart(std::move(argument), &arrays);
  absl::InlinedVector<const void*, 16> argument_data;
  for (const Value& array : arrays) argument_data.push_back(array.untyped_data());
  KASHI_ASSIGN_OR_RETURN(Arrays results, MakeResults(arrays, run));
  absl::InlinedVector<void*, 16> result_data;
  for (Value& result : results) result_data.push_back(result.is_nothing() ? nullptr : result.mutable_data());
  KASHI_RETURN_IF_ERROR(RunFrame(argument_data, result_data, run));
  for (size_t i = 0; i < results.size(); ++i) {
    const Place& place = parts_.results[i];
    if (place.home == Home::kArgument) results[i] = Value::WithShape(arrays[place.number], result_shapes_[i]);
    if (place.home == Home::kConstant) results[i] = Value::WithShape(parts_.constants[place.number], result_shapes_[i]);
  }
  Value* array = results.data();
  return PutTogether(parts_.result_shape, array);
}

absl::Status ThunkProgram::RunOnMemory(absl::Span<const void* const> arguments, absl::Span<void* const> results,
                                       EvaluationRun& run) const {
  for (const ThunkProgramParts::Update& update : parts_.updates) {
    std::memcpy(results[update.result], arguments[update.argument], result_bytes_[update.result]);
  }
  KASHI_RETURN_IF_ERROR(RunFrame(arguments, results, run));
  for (size_t i = 0; i < results.size(); ++i) {
    const Place& place = parts_.results[i];
    if (place.home == Home::kArgument) std::memcpy(results[i], arguments[place.number], result_bytes_[i]);
    if (place.home == Home::kConstant) {
      std::memcpy(results[i], parts_.constants[place.number].untyped_data(), result_bytes_[i]);
    }
  }
  return absl::OkStatus();
}

}  // namespace kashi::internal
