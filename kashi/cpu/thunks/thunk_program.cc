#include "kashi/cpu/thunks/thunk_program.h"

#include <cstring>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kashi/base/guard_pages.h"
#include "kashi/base/status.h"
#include "kashi/cpu/flush_denormals.h"
#include "kashi/cpu/thunks/frame_allocator.h"
#include "kashi/cpu/thunks/leaves.h"
#include "kashi/evaluator/computation_plan.h"
#include "kashi/values/value_util.h"

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

std::string ThunkProgramParts::TextOf(const Place& place, absl::Span<const FrameArray> frame_arrays) {
  static constexpr const char* kHomes[] = {"frame+", "argument ", "result ", "constant "};
  const int64_t number = place.home == Home::kFrame ? frame_arrays[place.number].offset : place.number;
  return absl::StrCat(kHomes[static_cast<int>(place.home)], number);
}

struct ThunkProgram::Frame {
  explicit Frame(const ThunkProgramParts& parts)
      : guard_pages(CurrentGuardPages()), pointers(parts.pointers.size()), packed(parts.packed_count) {
    HasGuardPages() ? PlaceBetweenGuards(parts) : PlaceTogether(parts);
    for (size_t i = 0; i < pointers.size(); ++i) {
      const Place& place = parts.pointers[i];
      if (place.home == Home::kFrame) pointers[i] = arrays[place.number];
      // Thunks only read what is not theirs.
      if (place.home == Home::kConstant) pointers[i] = const_cast<void*>(constants[place.number].untyped_data());
    }
  }
  ~Frame() {
    ::operator delete(memory, std::align_val_t(FrameAllocator::kAlignment));
    if (memory != nullptr) return;
    for (void* array : arrays) FreeGuarded(array);
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  void PlaceTogether(const ThunkProgramParts& parts) {
    memory = static_cast<char*>(
        ::operator new(static_cast<size_t>(parts.frame_bytes), std::align_val_t(FrameAllocator::kAlignment)));
    for (const ThunkProgramParts::FrameArray& array : parts.frame_arrays) arrays.push_back(memory + array.offset);
    constants = parts.constants;
  }
  // Each array in pages of its own, also those that overlap otherwise.
  void PlaceBetweenGuards(const ThunkProgramParts& parts) {
    for (size_t i = 0; i < parts.frame_arrays.size(); ++i) {
      arrays.push_back(AllocateGuarded(parts.frame_arrays[i].bytes, /*alignment=*/1));
      KASHI_CHECK(arrays.back() != nullptr) << "no memory for an array of a frame between guard pages";
      NameGuarded(arrays.back(), parts.TextOf({Home::kFrame, static_cast<int64_t>(i)}));
    }
    for (size_t i = 0; i < parts.constants.size(); ++i) {
      const Value& value = parts.constants[i];
      constants.push_back(Value::Borrow(value.dense_shape(), value.untyped_data(), LentBy(this)));
      NameGuarded(constants.back().untyped_data(), parts.TextOf({Home::kConstant, static_cast<int64_t>(i)}));
    }
  }

  const GuardPages guard_pages;
  char* memory = nullptr;     // of all arrays together; null: between guard pages
  std::vector<void*> arrays;  // of ThunkProgramParts::frame_arrays
  std::vector<Value> constants;
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
    while (!free_frames_.empty()) {
      std::unique_ptr<Frame> frame = std::move(free_frames_.back());
      free_frames_.pop_back();
      if (frame->guard_pages == CurrentGuardPages()) return frame;
    }
  }
  return std::make_unique<Frame>(parts_);
}

// Memory for the results. An argument that a result starts with is the result's memory afterwards.
absl::StatusOr<ThunkProgram::Arrays> ThunkProgram::MakeResults(Arrays& arguments, EvaluationRun& run) const {
  Arrays results(parts_.results.size());
  for (const ThunkProgramParts::Update& update : parts_.updates) {
    KASHI_ASSIGN_OR_RETURN(Value memory, MakeWritable(run.budget(), std::move(arguments[update.argument])));
    results[update.result] = Value::WithShape(std::move(memory), result_shapes_[update.result]);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (parts_.results[i].home != Home::kResult || !results[i].is_nothing()) continue;
    KASHI_ASSIGN_OR_RETURN(results[i], run.MakeArray(result_shapes_[i]));
  }
  return results;
}

std::vector<void*> ThunkProgram::LeavesOf(const Frame& frame, absl::Span<const void* const> arguments,
                                          absl::Span<void* const> results) const {
  const auto address_of = [&](const Place& place) -> void* {
    switch (place.home) {
      case Home::kFrame:
        return frame.arrays[place.number];
      case Home::kConstant:
        return const_cast<void*>(frame.constants[place.number].untyped_data());
      case Home::kResult:
        return results[place.number];
      case Home::kArgument:
        break;
    }
    for (const ThunkProgramParts::Update& update : parts_.updates) {
      if (update.argument == place.number) return results[update.result];
    }
    return const_cast<void*>(arguments[place.number]);
  };
  std::vector<void*> leaves;
  for (const Place& place : parts_.leaves) leaves.push_back(address_of(place));
  return leaves;
}

void ThunkProgram::SetArrays(absl::Span<const void* const> arguments, absl::Span<void* const> results,
                             Frame* frame) const {
  for (const Patch& patch : argument_patches_) {
    frame->pointers[patch.pointer] = const_cast<void*>(arguments[patch.number]);
  }
  for (const Patch& patch : result_patches_) frame->pointers[patch.pointer] = results[patch.number];
  for (const Patch& patch : update_patches_) frame->pointers[patch.pointer] = results[patch.number];
  if (!HasGuardPages()) return;
  for (const Patch& patch : argument_patches_) {
    NameGuarded(arguments[patch.number], parts_.TextOf({Home::kArgument, patch.number}));
  }
  for (const Patch& patch : result_patches_) {
    NameGuarded(results[patch.number], parts_.TextOf({Home::kResult, patch.number}));
  }
}

absl::Status ThunkProgram::RunFrame(absl::Span<const void* const> arguments, absl::Span<void* const> results,
                                    EvaluationRun& run) const {
  std::unique_ptr<Frame> frame = TakeFrame();
  SetArrays(arguments, results, frame.get());
  {
    const FlushDenormals flush(parts_.flush_denormals);
    const bool is_compared = run.hooks().checker != nullptr;
    const bool is_observed = run.step_clock() != nullptr || HasGuardPages() || is_compared;
    const std::vector<void*> leaves = is_compared ? LeavesOf(*frame, arguments, results) : std::vector<void*>();
    KASHI_RETURN_IF_ERROR(run.Spend(parts_.thunks.work()));
    KASHI_RETURN_IF_ERROR(parts_.thunks.Run(
        {frame->pointers.data(), run, frame->packed.data(), is_observed, is_compared ? leaves.data() : nullptr}));
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
