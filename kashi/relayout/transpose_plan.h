// XLA's transposer: the dimensions of an array in another order, tiles or byte strides on the way in, tiles on the way
// out. It has XLA's names and meanings (docs/spec/xla-api.md, 29.2), and uses RelayoutPlan, which can do all this and
// more with two shapes.
//
//   const int64_t dims[] = {1000, 1001}, permutation[] = {1, 0}, tiling[] = {8, 128};
//   TransposePlan::Options options;          // spans: the lists that they view must live until Create returns
//   options.elem_size_in_bytes = 4;
//   options.dims = dims;
//   options.permutation = permutation;       // dimension i of the output is dimension permutation[i] of the input
//   options.output_tiling = {tiling};        // of the most minor dimensions of the output
//   KASHI_ASSIGN_OR_RETURN(std::unique_ptr<TransposePlan> plan, TransposePlan::Create(options));
//   plan->Execute(a, b);                     // b: plan->OutputNumElems() * 4 bytes
//
// Beyond XLA's: tiles on both sides at once.
#ifndef KASHI_RELAYOUT_TRANSPOSE_PLAN_H_
#define KASHI_RELAYOUT_TRANSPOSE_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/relayout/placement.h"
#include "kashi/relayout/relayout_plan.h"

namespace kashi {

class TransposePlan {
 public:
  enum class Transformation {
    kNone = 0,
    // The input is doubles: the last dimension counts their halves of 4 bytes, two a double. In place of each double
    // comes its pair of floats (ef57.h), and then the 4-byte elements are transposed.
    kF64ToEf57 = 1,
  };

  // Sizes of a tile of the most minor dimensions. It may have fewer entries than the array has dimensions: each row of
  // a 3x2 array with the tiling {4} takes 4 elements.
  struct Tiling {
    absl::Span<const int64_t> tiling;
  };
  // One for each dimension of the input; negative and 0 are allowed.
  struct Striding {
    absl::Span<const int64_t> strides_in_bytes;
  };

  struct Options {
    size_t elem_size_in_bytes;  // 1, 2, 4, 8 or 16
    absl::Span<const int64_t> dims;
    absl::Span<const int64_t> permutation;
    std::variant<Tiling, Striding> input_layout = Tiling{};
    Tiling output_tiling;
    Transformation transformation = Transformation::kNone;
    int num_threads = 1;  // at most; 1 or more
  };

  // INVALID_ARGUMENT for options that make no sense; for kF64ToEf57 also unless the elements have 4 bytes and pairs of
  // them are doubles: the last dimension is even, its stride 4, its tile even. Cost: microseconds.
  static absl::StatusOr<std::unique_ptr<TransposePlan>> Create(const Options& options);

  // Moves all of `a` to `b`, which do not overlap and may be misaligned. Returns when all is done. With
  // `schedule_work`, which must run the functions it is given, in any thread, at any time, the work is handed out in
  // Parallelism() tasks, except one that the caller runs; without, up to num_threads threads of ours work. Padding of
  // a tiled output keeps the bytes it had. Any number of threads may execute one plan at once.
  void Execute(const void* a, void* b,
               std::optional<absl::FunctionRef<void(std::function<void()>)>> schedule_work = std::nullopt) const;

  // The options on the first line, then the plan behind them.
  std::string ToString() const;

  size_t ElemSizeInBytes() const { return elem_size_in_bytes_; }
  // The number of elements of the buffers, with the padding of tiles, without the gaps of strides.
  int64_t InputNumElems() const;
  int64_t OutputNumElems() const;
  absl::Span<const int64_t> InputDims() const { return input_dims_; }
  absl::Span<const int64_t> OutputDims() const { return output_dims_; }
  // Bytes. For an input without Striding: those of the row-major array, ignoring its tiles.
  absl::Span<const int64_t> InputStrides() const { return input_strides_; }
  // Tasks that Execute hands out: at most num_threads, fewer for small arrays.
  int Parallelism() const { return tasks_; }

 protected:
  // For source compatibility alone; RelayoutPlan does this in another way. Both rewrite six lists that describe a
  // transposition: for each dimension of the input its size, byte stride (between tiles, if any), byte stride within a
  // tile, and tile size (1: none); for each dimension of the output the input's dimension and its tile size.
  // Pre: all have as many entries, `permutation` is one.
  using Dimensions = absl::InlinedVector<int64_t, 4>;
  // Takes out dimensions of size 1 without tiles.
  static void RemoveTrivialDimensions(Dimensions& a_dims, Dimensions& permutation, Dimensions& lda,
                                      Dimensions& lda_tile, Dimensions& a_tiling, Dimensions& b_tiling);
  // Merges neighbours in the input that are neighbours in the output too, in the same order, if neither has tiles
  // and one stride steps through both.
  static void CoalesceDimensions(Dimensions& a_dims, Dimensions& permutation, Dimensions& lda, Dimensions& lda_tile,
                                 Dimensions& a_tiling, Dimensions& b_tiling);

 private:
  TransposePlan(const Options& options, RelayoutPlan plan);

  absl::Status PlanStages(const Options& options);
  void PlanTasks();
  void ExecuteTask(int task, const char* a, char* b) const;
  void ExecuteStages(int64_t begin, int64_t end, const char* a, char* b) const;
  void ExecuteStage(absl::Span<const int64_t> starts, const char* a, char* b, char* buffer) const;
  int64_t StageCount() const;

  size_t elem_size_in_bytes_;
  DimensionVector input_dims_;
  DimensionVector output_dims_;
  DimensionVector permutation_;
  DimensionVector input_tiling_;  // empty: none, or strides
  DimensionVector input_strides_;
  DimensionVector output_tiling_;
  Transformation transformation_;
  int num_threads_;

  // The transposition of the elements, whatever happens to them before.
  RelayoutPlan plan_;

  // Tasks without stages: this dimension of the input is cut, into pieces of this size or multiples of it.
  int tasks_ = 1;
  int64_t cut_dimension_ = 0;
  int64_t cut_granule_ = 1;

  // For kF64ToEf57: the input as doubles, and the size of the boxes of it that go through a buffer, one by one.
  std::optional<Placement> doubles_;
  DimensionVector stage_sizes_;
};

// All that a plan depends on, as a key for maps.
struct TransposePlanCacheKey {
  using Numbers = absl::InlinedVector<int64_t, 4>;

  explicit TransposePlanCacheKey(const TransposePlan::Options& options);

  bool operator==(const TransposePlanCacheKey& other) const;
  bool operator!=(const TransposePlanCacheKey& other) const { return !(*this == other); }
  template <typename H>
  friend H AbslHashValue(H h, const TransposePlanCacheKey& key) {
    return H::combine(std::move(h), key.elem_size_in_bytes, key.dims, key.permutation, key.input_layout_is_tiling,
                      key.input_layout, key.output_tiling, key.transformation, key.num_threads);
  }

  size_t elem_size_in_bytes;
  Numbers dims;
  Numbers permutation;
  bool input_layout_is_tiling;
  Numbers input_layout;
  Numbers output_tiling;
  TransposePlan::Transformation transformation;
  int num_threads;
};

// A cache of the plans used last. Threads may share it (unlike XLA's).
class TransposePlanCache {
 public:
  // Keeps up to `capacity` plans; none if it is below 1.
  explicit TransposePlanCache(int capacity) : capacity_(capacity) {}
  TransposePlanCache(const TransposePlanCache&) = delete;
  TransposePlanCache& operator=(const TransposePlanCache&) = delete;

  // The plan for these options, made if it is not stored yet. Errors are those of Create, and are not stored.
  absl::StatusOr<std::shared_ptr<TransposePlan>> GetOrCreate(const TransposePlan::Options& options);

 private:
  using Entry = std::pair<TransposePlanCacheKey, std::shared_ptr<TransposePlan>>;

  std::shared_ptr<TransposePlan> Find(const TransposePlanCacheKey& key);
  void Insert(const TransposePlanCacheKey& key, std::shared_ptr<TransposePlan> plan);

  const int capacity_;
  std::mutex mutex_;
  std::list<Entry> entries_;  // the one used last is the first
  absl::flat_hash_map<TransposePlanCacheKey, std::list<Entry>::iterator> by_key_;
};

}  // namespace kashi

#endif  // KASHI_RELAYOUT_TRANSPOSE_PLAN_H_
