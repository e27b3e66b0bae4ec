// A computation, or a loop, as a sequence of thunks: the place of every array is known before the program runs
// (kashi/buffers/buffer_assignment.h).
#ifndef KASHI_CPU_THUNKS_THUNK_PROGRAM_H_
#define KASHI_CPU_THUNKS_THUNK_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "kashi/buffers/buffer_assignment.h"
#include "kashi/cpu/thunks/thunk.h"
#include "kashi/evaluator/compiled_step.h"
#include "kashi/values/value.h"

namespace kashi::cpu {

// The output of ThunkEmitter.
struct ThunkProgramParts {
  buffers::BufferAssignment buffers;
  std::vector<Value> constants;
  ThunkSequence thunks;
  std::vector<int> pointers;  // buffers: the table that all thunks use
  std::vector<int> leaves;    // another one, of ThunkSequence's steps
  int packed_count = 0;       // right operands of dots that are packed in advance
  bool flush_denormals = false;
};

class ThunkProgram : public evaluator::CompiledStep {
 public:
  explicit ThunkProgram(ThunkProgramParts parts);
  ~ThunkProgram() override;

  absl::StatusOr<Value> Run(evaluator::Operation& op) const override { return Run(op.operands, op.run); }
  // Takes the arguments.
  absl::StatusOr<Value> Run(absl::Span<Value> arguments, evaluator::EvaluationRun& run) const;
  bool has_steps() const override { return true; }
  // Runs on memory: a pointer for each array of the arguments and of the result, with tuples taken apart. Allocates
  // nothing, except for arenas of more than kMostKeptBytes, steps of the evaluator, and the frames of more threads than
  // before. Memory of results must not overlap that of arguments.
  absl::Status RunOnMemory(absl::Span<const void* const> arguments, absl::Span<void* const> results,
                           evaluator::EvaluationRun& run) const;
  int64_t result_count() const { return static_cast<int64_t>(parts_.buffers.results.size()); }
  const buffers::BufferAssignment& buffers() const { return parts_.buffers; }

 private:
  // An arena up to this size is kept for the next run, and no budget counts it. A larger one is memory of the run.
  static constexpr int64_t kMostKeptBytes = int64_t{1} << 20;

  // The memory of one run: kept for the next one.
  struct Frame;
  struct Patch {
    int64_t pointer, number;  // of the argument or result; in the arena: its offset
  };
  using Arrays = absl::InlinedVector<Value, 8>;

  std::unique_ptr<Frame> TakeFrame() const;
  bool KeepsArena() const { return parts_.buffers.arena_bytes <= kMostKeptBytes; }
  // ThunkFrame::leaves.
  std::vector<void*> LeavesOf(const Frame& frame, char* arena, absl::Span<const void* const> arguments,
                              absl::Span<void* const> results) const;
  // A large arena, from the memory of the run.
  absl::StatusOr<Value> MakeArena(evaluator::EvaluationRun& run, Frame* frame) const;
  // Sets all pointers to arguments and results to these. The memory of an updated argument is that of its result.
  void SetArrays(absl::Span<const void* const> arguments, absl::Span<void* const> results, Frame* frame) const;
  // Runs the thunks.
  absl::Status RunFrame(absl::Span<const void* const> arguments, absl::Span<void* const> results,
                        evaluator::EvaluationRun& run) const;
  absl::StatusOr<Arrays> MakeResults(Arrays& arguments, evaluator::EvaluationRun& run) const;

  ThunkProgramParts parts_;
  std::vector<DenseShape> result_shapes_;
  std::vector<int64_t> result_bytes_;
  std::vector<Patch> argument_patches_, result_patches_;
  std::vector<Patch> arena_patches_;   // of an arena that is not kept
  std::vector<Patch> guest_patches_;   // Buffer::lies_in: number of the result
  std::vector<Patch> update_patches_;  // where an updated argument was: number of the result
  mutable absl::Mutex mutex_;
  mutable std::vector<std::unique_ptr<Frame>> free_frames_;
};

}  // namespace kashi::cpu

#endif  // KASHI_CPU_THUNKS_THUNK_PROGRAM_H_
