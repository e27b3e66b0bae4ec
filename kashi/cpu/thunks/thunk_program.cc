#include "kashi/cpu/thunks/thunk_program.h"

#include <cstring>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kashi/base/denormals.h"
#include "kashi/base/guard_pages.h"
#include "kashi/base/status.h"
#include "kashi/buffers/leaves.h"
#include "kashi/evaluator/computation_plan.h"
#include "kashi/values/value_util.h"
#include "kashi/values/writable.h"

namespace kashi::cpu {
namespace {

using Arrays = absl::InlinedVector<Value, 8>;

void AddArrayShapes(const Shape& shape, std::vector<DenseShape>* shapes) {
  if (!shape.IsTuple()) {
    shapes->push_back(MakeDenseShape(shape));
    return;
  }
  for (const Shape& element : shape.tuple_shapes()) AddArrayShapes(element, shapes);
}

}  // namespace

struct ThunkProgram::Frame {
  Frame(const ThunkProgramParts& parts, bool has_arena)
      : guard_pages(base::CurrentGuardPages()),
        addresses(parts.buffers.buffers.size()),
        pointers(parts.pointers.size()),
        packed(parts.packed_count) {
    base::HasGuardPages() ? PlaceBetweenGuards(parts) : PlaceTogether(parts, has_arena);
    for (size_t i = 0; i < pointers.size(); ++i) pointers[i] = addresses[parts.pointers[i]];
  }
  ~Frame() {
    ::operator delete(memory, std::align_val_t(buffers::kArenaAlignment));
    for (void* array : guarded) base::FreeGuarded(array);
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  void PlaceTogether(const ThunkProgramParts& parts, bool has_arena) {
    if (has_arena) {
      memory = static_cast<char*>(
          ::operator new(static_cast<size_t>(parts.buffers.arena_bytes), std::align_val_t(buffers::kArenaAlignment)));
    }
    for (size_t i = 0; i < addresses.size(); ++i) {
      const buffers::Buffer& buffer = parts.buffers.buffers[i];
      if (buffer.home == buffers::Home::kArena && buffer.lies_in < 0 && has_arena)
        addresses[i] = memory + buffer.offset;
      // Thunks only read memory that is not theirs.
      if (buffer.home == buffers::Home::kConstant) {
        addresses[i] = const_cast<void*>(parts.constants[buffer.number].untyped_data());
      }
    }
  }
  // Each array in pages of its own, also those that overlap otherwise.
  void PlaceBetweenGuards(const ThunkProgramParts& parts) {
    for (size_t i = 0; i < addresses.size(); ++i) {
      const buffers::Buffer& buffer = parts.buffers.buffers[i];
      if (buffer.home == buffers::Home::kArena) {
        addresses[i] = base::AllocateGuarded(buffer.bytes, /*alignment=*/1);
        KASHI_CHECK(addresses[i] != nullptr) << "no memory for an array of the arena between guard pages";
        guarded.push_back(addresses[i]);
      } else if (buffer.home == buffers::Home::kConstant) {
        const Value& value = parts.constants[buffer.number];
        constants.push_back(Value::Borrow(value.dense_shape(), value.untyped_data(), values::LentBy(this)));
        addresses[i] = const_cast<void*>(constants.back().untyped_data());
      }
      if (addresses[i] != nullptr) base::NameGuarded(addresses[i], parts.buffers.NameOf(static_cast<int>(i)));
    }
  }

  const base::GuardPages guard_pages;
  char* memory = nullptr;        // the arena, if it is kept and not between guard pages
  std::vector<void*> guarded;    // the arrays of the arena
  std::vector<Value> constants;  // constants between guard pages
  std::vector<void*> addresses;  // of the buffers; null: of arguments, results, and an arena that is not kept
  std::vector<void*> pointers;
  std::vector<PackedRhs> packed;
};

ThunkProgram::ThunkProgram(ThunkProgramParts parts) : parts_(std::move(parts)) {
  AddArrayShapes(parts_.buffers.result_shape, &result_shapes_);
  result_bytes_ = buffers::LeafBytes(parts_.buffers.result_shape).value();
  for (size_t i = 0; i < parts_.pointers.size(); ++i) {
    const buffers::Buffer& buffer = parts_.buffers.buffers[parts_.pointers[i]];
    const Patch patch = {static_cast<int64_t>(i), buffer.number};
    if (buffer.lies_in >= 0) {
      guest_patches_.push_back({patch.pointer, buffer.lies_in});
    } else if (buffer.home == buffers::Home::kArena && !KeepsArena()) {
      arena_patches_.push_back({patch.pointer, buffer.offset});
    }
    if (buffer.home == buffers::Home::kResult) result_patches_.push_back(patch);
    if (buffer.home != buffers::Home::kArgument) continue;
    argument_patches_.push_back(patch);
    for (const buffers::BufferAssignment::Update& update : parts_.buffers.updates) {
      if (patch.number == update.argument) update_patches_.push_back({patch.pointer, update.result});
    }
  }
}

ThunkProgram::~ThunkProgram() = default;

std::unique_ptr<ThunkProgram::Frame> ThunkProgram::TakeFrame() const {
  {
    const absl::MutexLock lock(&mutex_);
    while (!free_frames_.empty()) {
      std::unique_ptr<Frame> frame = std::move(free_frames_.back());
      free_frames_.pop_back();
      if (frame->guard_pages == base::CurrentGuardPages()) return frame;
    }
  }
  return std::make_unique<Frame>(parts_, KeepsArena());
}

// Memory for the results. An argument that a result starts with is the result's memory afterwards, and so is one in
// which a result may lie, if nobody else holds it.
absl::StatusOr<ThunkProgram::Arrays> ThunkProgram::MakeResults(Arrays& arguments, evaluator::EvaluationRun& run) const {
  const buffers::Leaves& buffers = parts_.buffers.results;
  Arrays results(buffers.size());
  for (const buffers::BufferAssignment::Update& update : parts_.buffers.updates) {
    KASHI_ASSIGN_OR_RETURN(Value memory, values::MakeWritable(run.budget(), std::move(arguments[update.argument])));
    results[update.result] = Value::WithShape(std::move(memory), result_shapes_[update.result]);
  }
  for (const buffers::LeafAlias& alias : parts_.buffers.aliases) {
    Value& argument = arguments[alias.argument];
    if (argument.is_unique()) {
      results[alias.result] = Value::WithShape(std::move(argument), result_shapes_[alias.result]);
    }
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (parts_.buffers.buffers[buffers[i]].home != buffers::Home::kResult || !results[i].is_nothing()) continue;
    KASHI_ASSIGN_OR_RETURN(results[i], run.MakeArray(result_shapes_[i]));
  }
  return results;
}

std::vector<void*> ThunkProgram::LeavesOf(const Frame& frame, char* arena, absl::Span<const void* const> arguments,
                                          absl::Span<void* const> results) const {
  const auto address_of = [&](int number) -> void* {
    const buffers::Buffer& buffer = parts_.buffers.buffers[number];
    if (buffer.home == buffers::Home::kResult) return results[buffer.number];
    if (buffer.lies_in >= 0 && !base::HasGuardPages()) return results[buffer.lies_in];
    if (buffer.home == buffers::Home::kArena && arena != nullptr) return arena + buffer.offset;
    if (buffer.home != buffers::Home::kArgument) return frame.addresses[number];
    for (const buffers::BufferAssignment::Update& update : parts_.buffers.updates) {
      if (update.argument == buffer.number) return results[update.result];
    }
    return const_cast<void*>(arguments[buffer.number]);
  };
  std::vector<void*> leaves;
  for (int buffer : parts_.leaves) leaves.push_back(address_of(buffer));
  return leaves;
}

void ThunkProgram::SetArrays(absl::Span<const void* const> arguments, absl::Span<void* const> results,
                             Frame* frame) const {
  for (const Patch& patch : argument_patches_) {
    frame->pointers[patch.pointer] = const_cast<void*>(arguments[patch.number]);
  }
  for (const Patch& patch : result_patches_) frame->pointers[patch.pointer] = results[patch.number];
  for (const Patch& patch : update_patches_) frame->pointers[patch.pointer] = results[patch.number];
  if (!base::HasGuardPages()) {
    for (const Patch& patch : guest_patches_) frame->pointers[patch.pointer] = results[patch.number];
    return;
  }
  for (const Patch& patch : argument_patches_) {
    base::NameGuarded(arguments[patch.number], absl::StrCat("argument ", patch.number));
  }
  for (const Patch& patch : result_patches_) {
    base::NameGuarded(results[patch.number], absl::StrCat("result ", patch.number));
  }
}

absl::StatusOr<Value> ThunkProgram::MakeArena(evaluator::EvaluationRun& run, Frame* frame) const {
  if (KeepsArena() || base::HasGuardPages()) return Value();
  const int64_t bytes = parts_.buffers.arena_bytes;
  absl::StatusOr<Value> arena = Value::MakeArray(MakeDenseShape(U8, {bytes}), run.budget());
  if (!arena.ok()) {
    return WithMessage(arena.status(), absl::StrCat("the arrays between the steps of the program, in one block: ",
                                                    arena.status().message()));
  }
  char* const begin = arena->mutable_bytes();
  for (const Patch& patch : arena_patches_) frame->pointers[patch.pointer] = begin + patch.number;
  return arena;
}

absl::Status ThunkProgram::RunFrame(absl::Span<const void* const> arguments, absl::Span<void* const> results,
                                    evaluator::EvaluationRun& run) const {
  std::unique_ptr<Frame> frame = TakeFrame();
  SetArrays(arguments, results, frame.get());
  KASHI_ASSIGN_OR_RETURN(Value arena, MakeArena(run, frame.get()));
  {
    const base::DenormalMode denormals(parts_.flush_denormals);
    const bool is_compared = run.hooks().checker != nullptr;
    const bool is_observed = run.step_clock() != nullptr || base::HasGuardPages() || is_compared;
    char* const arena_bytes = arena.is_nothing() ? nullptr : arena.mutable_bytes();
    std::vector<void*> leaves = is_compared ? LeavesOf(*frame, arena_bytes, arguments, results) : std::vector<void*>();
    KASHI_RETURN_IF_ERROR(run.Spend(parts_.thunks.work()));
    KASHI_RETURN_IF_ERROR(parts_.thunks.Run(
        {frame->pointers.data(), run, frame->packed.data(), is_observed, is_compared ? leaves.data() : nullptr}));
    KASHI_RETURN_IF_ERROR(run.CheckStopped());
  }
  const absl::MutexLock lock(&mutex_);
  free_frames_.push_back(std::move(frame));
  return absl::OkStatus();
}

absl::StatusOr<Value> ThunkProgram::Run(absl::Span<Value> arguments, evaluator::EvaluationRun& run) const {
  Arrays arrays;
  for (Value& argument : arguments) values::TakeLeaves(std::move(argument), &arrays);
  absl::InlinedVector<const void*, 16> argument_data;
  for (const Value& array : arrays) argument_data.push_back(array.untyped_data());
  KASHI_ASSIGN_OR_RETURN(Arrays results, MakeResults(arrays, run));
  absl::InlinedVector<void*, 16> result_data;
  for (Value& result : results) result_data.push_back(result.is_nothing() ? nullptr : result.mutable_data());
  KASHI_RETURN_IF_ERROR(RunFrame(argument_data, result_data, run));
  for (size_t i = 0; i < results.size(); ++i) {
    const buffers::Buffer& buffer = parts_.buffers.buffers[parts_.buffers.results[i]];
    if (buffer.home == buffers::Home::kArgument)
      results[i] = Value::WithShape(arrays[buffer.number], result_shapes_[i]);
    if (buffer.home == buffers::Home::kConstant) {
      results[i] = Value::WithShape(parts_.constants[buffer.number], result_shapes_[i]);
    }
  }
  Value* leaf = results.data();
  return values::ValueOfLeaves(parts_.buffers.result_shape, &leaf);
}

absl::Status ThunkProgram::RunOnMemory(absl::Span<const void* const> arguments, absl::Span<void* const> results,
                                       evaluator::EvaluationRun& run) const {
  for (const buffers::BufferAssignment::Update& update : parts_.buffers.updates) {
    std::memcpy(results[update.result], arguments[update.argument], result_bytes_[update.result]);
  }
  KASHI_RETURN_IF_ERROR(RunFrame(arguments, results, run));
  for (size_t i = 0; i < results.size(); ++i) {
    const buffers::Buffer& buffer = parts_.buffers.buffers[parts_.buffers.results[i]];
    if (buffer.home == buffers::Home::kArgument) std::memcpy(results[i], arguments[buffer.number], result_bytes_[i]);
    if (buffer.home == buffers::Home::kConstant) {
      std::memcpy(results[i], parts_.constants[buffer.number].untyped_data(), result_bytes_[i]);
    }
  }
  return absl::OkStatus();
}

}  // namespace kashi::cpu
