// A computation, or a loop, as a sequence of thunks: every array has its place before the program runs.
//
// An array is in one of four homes:
//
//   frame      at an offset in a small block that belongs to one run; arrays share places that they need at different
//              times
//   argument   where the caller has it; only read
//   result     in memory that becomes a result
//   constant   in the program
#ifndef KASHI_CPU_THUNKS_THUNK_PROGRAM_H_
#define KASHI_CPU_THUNKS_THUNK_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "kashi/array/shape.h"
#include "kashi/cpu/thunks/thunk.h"
#include "kashi/evaluator/compiled_step.h"
#include "kashi/values/value.h"

namespace kashi::internal {

enum class Home : char { kFrame, kArgument, kResult, kConstant };

// Where an array is. `number`: that of the array of the frame, the argument (all tuples taken apart), the result or the
// constant.
struct Place {
  Home home = Home::kFrame;
  int64_t number = 0;
};

// What ThunkEmitter makes.
struct ThunkProgramParts {
  ThunkSequence thunks;
  std::vector<Place> pointers;  // the table that all thunks use
  std::vector<Place> leaves;    // another one, of ThunkSequence's steps
  // The arrays of the frame. Those that are needed at different times may overlap.
  struct FrameArray {
    int64_t offset, bytes;
  };
  std::vector<FrameArray> frame_arrays;
  int64_t frame_bytes = 0;
  int packed_count = 0;  // right operands of dots that are packed in advance
  std::vector<Value> constants;
  Shape result_shape;
  // For each array of the result: its own memory, or an argument or a constant that is returned as it is.
  std::vector<Place> results;
  struct Update {
    int64_t argument, result;
  };
  // The result's memory starts with the elements of the argument, which nothing reads later: if nobody else holds it,
  // the result takes its memory.
  std::vector<Update> updates;
  bool flush_denormals = false;

  // "frame+64", "argument 0".
  std::string TextOf(const Place& place) const { return TextOf(place, frame_arrays); }
  static std::string TextOf(const Place& place, absl::Span<const FrameArray> frame_arrays);
};

class ThunkProgram : public CompiledStep, public CompiledCall {
 public:
  explicit ThunkProgram(ThunkProgramParts parts);
  ~ThunkProgram() override;

  absl::StatusOr<Value> Run(Operation& op) const override { return Run(op.operands, op.run); }
  absl::StatusOr<Value> Run(absl::Span<Value> arguments, EvaluationRun& run) const override;
  bool has_steps() const override { return true; }
  // The same on memory: a pointer for each array of the arguments and of the result, tuples taken apart. Allocates
  // nothing, but for steps of the evaluator and for the frames of more threads than before. Memory of results must not
  // overlap that of arguments.
  absl::Status RunOnMemory(absl::Span<const void* const> arguments, absl::Span<void* const> results,
                           EvaluationRun& run) const;
  int64_t result_count() const { return static_cast<int64_t>(parts_.results.size()); }

 private:
  // The memory of one run: kept for the next one.
  struct Frame;
  struct Patch {
    int64_t pointer, number;  // of the argument or result
  };
  using Arrays = absl::InlinedVector<Value, 8>;

  std::unique_ptr<Frame> TakeFrame() const;
  // ThunkFrame::leaves.
  std::vector<void*> LeavesOf(const Frame& frame, absl::Span<const void* const> arguments,
                              absl::Span<void* const> results) const;
  // Lets all pointers to arguments and results point to these. The memory of an updated argument is that of its result.
  void SetArrays(absl::Span<const void* const> arguments, absl::Span<void* const> results, Frame* frame) const;
  // Runs the thunks.
  absl::Status RunFrame(absl::Span<const void* const> arguments, absl::Span<void* const> results,
                        EvaluationRun& run) const;
  absl::StatusOr<Arrays> MakeResults(Arrays& arguments, EvaluationRun& run) const;

  ThunkProgramParts parts_;
  std::vector<DenseShape> result_shapes_;
  std::vector<int64_t> result_bytes_;
  std::vector<Patch> argument_patches_, result_patches_;
  std::vector<Patch> update_patches_;  // where an updated argument was: number of the result
  mutable absl::Mutex mutex_;
  mutable std::vector<std::unique_ptr<Frame>> free_frames_;
};

}  // namespace kashi::internal

#endif  // KASHI_CPU_THUNKS_THUNK_PROGRAM_H_
