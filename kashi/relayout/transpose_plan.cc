#include "kashi/relayout/transpose_plan.h"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "kashi/array/layout.h"
#include "kashi/array/permutation_util.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/math.h"
#include "kashi/base/parallel.h"
#include "kashi/base/status.h"
#include "kashi/base/util.h"
#include "kashi/base/wrapping.h"
#include "kashi/relayout/simd/ef57.h"

namespace kashi {

using base::ParallelFor;
using base::WrappingMultiply;
using base::WrappingRoundUpTo;
namespace {

using relayout::ConvertF64ToEf57;
using Options = TransposePlan::Options;
using Tiling = TransposePlan::Tiling;
using Striding = TransposePlan::Striding;

// A task plans its part itself, which is to be little beside the moving.
constexpr int64_t kMinTaskBytes = 256 << 10;
// More than any machine has threads, and few enough for their bookkeeping to be nothing.
constexpr int kMaxTasks = 1024;
constexpr int64_t kCacheLineBytes = 64;

// The size of a box that goes through a buffer: doubles in all (half of a usual second-level cache), and along the
// dimensions that are most minor on either side, so that both sides see whole cache lines.
constexpr int64_t kStageDoubles = 32 << 10;
constexpr int64_t kStageRunDoubles = 64;

std::string Numbers(absl::Span<const int64_t> numbers) { return absl::StrJoin(numbers, ","); }

absl::Status CheckTiling(absl::string_view side, const Tiling& tiling, size_t rank) {
  if (tiling.tiling.size() > rank) {
    return InvalidArgument("%s tiling (%s) has more entries than the array has dimensions, %d", side,
                           Numbers(tiling.tiling), rank);
  }
  for (int64_t size : tiling.tiling) {
    if (size < 1) return InvalidArgument("%s tiling (%s) has sizes below 1", side, Numbers(tiling.tiling));
  }
  return absl::OkStatus();
}

absl::Status CheckInputLayout(const Options& options) {
  if (const Tiling* tiling = std::get_if<Tiling>(&options.input_layout)) {
    return CheckTiling("Input", *tiling, options.dims.size());
  }
  const absl::Span<const int64_t> strides = std::get<Striding>(options.input_layout).strides_in_bytes;
  if (strides.size() == options.dims.size()) return absl::OkStatus();
  return InvalidArgument("%d strides (%s) for %d dimensions (%s)", strides.size(), Numbers(strides),
                         options.dims.size(), Numbers(options.dims));
}

absl::Status CheckOptions(const Options& options) {
  for (int64_t size : options.dims) {
    if (size < 0) return InvalidArgument("dims must be nonnegative, got %s", Numbers(options.dims));
  }
  if (options.permutation.size() != options.dims.size()) {
    return InvalidArgument("permutation (%s) must have as many entries as dims (%s)", Numbers(options.permutation),
                           Numbers(options.dims));
  }
  if (!IsPermutation(options.permutation)) {
    return InvalidArgument("permutation argument is no permutation: %s", Numbers(options.permutation));
  }
  if (options.num_threads < 1) return InvalidArgument("num_threads must be at least 1, got %d", options.num_threads);
  KASHI_RETURN_IF_ERROR(CheckInputLayout(options));
  return CheckTiling("Output", options.output_tiling, options.dims.size());
}

absl::StatusOr<PrimitiveType> TypeOfSize(size_t bytes) {
  constexpr PrimitiveType kTypes[] = {U8, U16, U32, U64, C128};
  for (PrimitiveType type : kTypes) {
    if (primitive_util::ByteWidth(type) == bytes) return type;
  }
  return InvalidArgument("elem_size_in_bytes must be 1, 2, 4, 8 or 16, got %d", bytes);
}

// Empty where a tiling changes nothing.
DimensionVector EffectiveTiling(const Tiling& tiling) {
  const bool is_trivial =
      std::all_of(tiling.tiling.begin(), tiling.tiling.end(), [](int64_t size) { return size == 1; });
  if (is_trivial) return {};
  return DimensionVector(tiling.tiling.begin(), tiling.tiling.end());
}

DimensionVector EffectiveInputTiling(const Options& options) {
  const Tiling* tiling = std::get_if<Tiling>(&options.input_layout);
  return tiling == nullptr ? DimensionVector() : EffectiveTiling(*tiling);
}

DimensionVector InputStridesOf(const Options& options) {
  if (const Striding* striding = std::get_if<Striding>(&options.input_layout)) {
    return DimensionVector(striding->strides_in_bytes.begin(), striding->strides_in_bytes.end());
  }
  DimensionVector strides(options.dims.size());
  int64_t stride = static_cast<int64_t>(options.elem_size_in_bytes);
  for (size_t i = strides.size(); i-- > 0;) {
    strides[i] = stride;
    stride = WrappingMultiply(stride, options.dims[i]);
  }
  return strides;
}

// The tile size of this dimension of a side; 1 if it has no tiles.
int64_t TileSize(absl::Span<const int64_t> tiling, size_t rank, size_t dimension) {
  const size_t untiled = rank - tiling.size();
  return dimension < untiled ? 1 : tiling[dimension - untiled];
}

// Products wrap around only where a factor is 0: Create has checked the others.
int64_t PaddedElements(absl::Span<const int64_t> dims, absl::Span<const int64_t> tiling) {
  int64_t elements = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    elements = WrappingMultiply(elements, WrappingRoundUpTo(dims[i], TileSize(tiling, dims.size(), i)));
  }
  return elements;
}

// `major_to_minor` are the dimensions in the order of memory.
absl::StatusOr<Placement> PlaceInOrder(PrimitiveType type, absl::Span<const int64_t> dims,
                                       absl::Span<const int64_t> major_to_minor, absl::Span<const int64_t> tiling) {
  const DimensionVector minor_to_major(major_to_minor.rbegin(), major_to_minor.rend());
  std::vector<Tile> tiles;
  if (!tiling.empty()) tiles.emplace_back(tiling);
  KASHI_ASSIGN_OR_RETURN(Shape shape, ShapeUtil::MakeValidatedShapeWithDenseLayout(type, dims, minor_to_major, tiles));
  return Placement::OfLayout(shape);
}

absl::StatusOr<Placement> PlaceRowMajor(PrimitiveType type, absl::Span<const int64_t> dims,
                                        absl::Span<const int64_t> tiling = {}) {
  DimensionVector order(dims.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  return PlaceInOrder(type, dims, order, tiling);
}

absl::StatusOr<Placement> PlaceInput(const Options& options, PrimitiveType type) {
  if (const Striding* striding = std::get_if<Striding>(&options.input_layout)) {
    return Placement::OfStrides(type, options.dims, striding->strides_in_bytes);
  }
  return PlaceRowMajor(type, options.dims, EffectiveInputTiling(options));
}

// The input of kF64ToEf57 before its doubles are split: the last dimension has half the size, and twice the stride.
absl::StatusOr<Placement> PlaceDoubles(const Options& options) {
  if (options.elem_size_in_bytes != sizeof(float)) {
    return InvalidArgument("EF57 requires an element size of 4 bytes, got %d", options.elem_size_in_bytes);
  }
  DimensionVector dims(options.dims.begin(), options.dims.end());
  DimensionVector strides = InputStridesOf(options);
  if (dims.empty() || dims.back() % 2 != 0 || strides.back() != sizeof(float)) {
    return InvalidArgument(
        "EF57 requires an innermost dimension of even size and stride 4, got dims (%s), strides (%s)", Numbers(dims),
        Numbers(strides));
  }
  dims.back() /= 2;
  strides.back() = sizeof(double);
  if (std::holds_alternative<Striding>(options.input_layout)) return Placement::OfStrides(U64, dims, strides);
  DimensionVector tiling = EffectiveInputTiling(options);
  if (!tiling.empty()) {
    if (tiling.back() % 2 != 0) return InvalidArgument("EF57 requires an even last tile size: %s", Numbers(tiling));
    tiling.back() /= 2;
  }
  return PlaceRowMajor(U64, dims, tiling);
}

// Padding keeps its bytes: no value is promised for it, and partial plans could not tell to which of them it belongs.
RelayoutOptions OptionsFor(int threads) {
  RelayoutOptions options;
  options.padding = std::nullopt;
  options.threads = threads;
  return options;
}

// The beginning of the i-th of n even shares of `count`.
int64_t ShareBegin(int64_t count, int64_t i, int64_t n) { return count / n * i + std::min(i, count % n); }

// Lets one thread wait for the others. After Wait no thread uses it any more.
class Countdown {
 public:
  explicit Countdown(int count) : count_(count) {}

  void Decrement() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--count_ == 0) is_zero_.notify_all();
  }
  void Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    is_zero_.wait(lock, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable is_zero_;
  int count_;
};

template <typename List>
void EraseFrom(const std::vector<bool>& is_erased, List& list) {
  size_t kept = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    if (!is_erased[i]) list[kept++] = list[i];
  }
  list.resize(kept);
}

// Also for lists with an entry for each dimension of the output; the dimensions that stay get new numbers.
template <typename List>
void EraseFromOutput(const std::vector<bool>& is_erased, List& permutation, List& b_tiling) {
  std::vector<bool> is_erased_in_output;
  for (int64_t dimension : permutation) is_erased_in_output.push_back(is_erased[dimension]);
  EraseFrom(is_erased_in_output, permutation);
  EraseFrom(is_erased_in_output, b_tiling);
  for (int64_t& dimension : permutation) {
    dimension -= std::count(is_erased.begin(), is_erased.begin() + dimension, true);
  }
}

}  // namespace

TransposePlan::TransposePlan(const Options& options, RelayoutPlan plan)
    : elem_size_in_bytes_(options.elem_size_in_bytes),
      input_dims_(options.dims.begin(), options.dims.end()),
      permutation_(options.permutation.begin(), options.permutation.end()),
      input_tiling_(EffectiveInputTiling(options)),
      input_strides_(InputStridesOf(options)),
      output_tiling_(EffectiveTiling(options.output_tiling)),
      transformation_(options.transformation),
      num_threads_(options.num_threads),
      plan_(std::move(plan)) {
  for (int64_t dimension : permutation_) output_dims_.push_back(input_dims_[dimension]);
}

absl::StatusOr<std::unique_ptr<TransposePlan>> TransposePlan::Create(const Options& options) {
  KASHI_RETURN_IF_ERROR(CheckOptions(options));
  KASHI_ASSIGN_OR_RETURN(const PrimitiveType type, TypeOfSize(options.elem_size_in_bytes));
  KASHI_ASSIGN_OR_RETURN(const Placement to,
                         PlaceInOrder(type, options.dims, options.permutation, EffectiveTiling(options.output_tiling)));
  KASHI_ASSIGN_OR_RETURN(const Placement from, PlaceInput(options, type));
  KASHI_ASSIGN_OR_RETURN(RelayoutPlan moves, RelayoutPlan::Make(from, to, OptionsFor(options.num_threads)));
  std::unique_ptr<TransposePlan> plan(new TransposePlan(options, std::move(moves)));
  if (options.transformation == Transformation::kF64ToEf57) KASHI_RETURN_IF_ERROR(plan->PlanStages(options));
  plan->PlanTasks();
  return plan;
}

absl::Status TransposePlan::PlanStages(const Options& options) {
  KASHI_ASSIGN_OR_RETURN(doubles_, PlaceDoubles(options));
  const absl::Span<const int64_t> sizes = doubles_->dimensions();
  stage_sizes_.assign(sizes.size(), 1);
  int64_t doubles = 1;
  const auto grow = [&](size_t dimension, int64_t limit) {
    const int64_t others = doubles / stage_sizes_[dimension];
    stage_sizes_[dimension] = std::clamp<int64_t>(sizes[dimension], 1, std::max<int64_t>(limit / others, 1));
    doubles = others * stage_sizes_[dimension];
  };
  grow(sizes.size() - 1, kStageRunDoubles);
  grow(permutation_.back(), kStageRunDoubles * stage_sizes_.back());
  for (size_t i = sizes.size(); i-- > 0;) grow(i, kStageDoubles);
  return absl::OkStatus();
}

int64_t TransposePlan::StageCount() const {
  int64_t count = 1;
  for (size_t i = 0; i < stage_sizes_.size(); ++i) {
    count = WrappingMultiply(count, CeilOfRatio(doubles_->dimensions()[i], stage_sizes_[i]));
  }
  return count;
}

// Cuts the most major dimension of the output that has pieces enough, else the one that has most.
void TransposePlan::PlanTasks() {
  const int64_t wanted = std::min({int64_t{num_threads_}, int64_t{kMaxTasks},
                                   Product(input_dims_) * static_cast<int64_t>(elem_size_in_bytes_) / kMinTaskBytes});
  if (wanted < 2) return;
  if (doubles_) {
    tasks_ = static_cast<int>(std::min(wanted, StageCount()));
    return;
  }
  const size_t rank = output_dims_.size();
  int64_t best_pieces = 1;
  for (size_t i = 0; i < rank && best_pieces < 4 * wanted; ++i) {
    const int64_t dimension = permutation_[i];
    int64_t granule = std::max(TileSize(output_tiling_, rank, i), TileSize(input_tiling_, rank, dimension));
    if (i + 1 == rank) granule = std::max(granule, kCacheLineBytes / static_cast<int64_t>(elem_size_in_bytes_));
    const int64_t pieces = CeilOfRatio(output_dims_[i], granule);
    if (pieces <= best_pieces) continue;
    best_pieces = pieces;
    cut_dimension_ = dimension;
    cut_granule_ = granule;
  }
  tasks_ = static_cast<int>(std::min(wanted, best_pieces));
}

void TransposePlan::Execute(const void* a, void* b,
                            std::optional<absl::FunctionRef<void(std::function<void()>)>> schedule_work) const {
  const char* from = static_cast<const char*>(a);
  char* to = static_cast<char*>(b);
  if (tasks_ == 1 || (!schedule_work && !doubles_)) {
    if (doubles_) return ExecuteStages(0, StageCount(), from, to);
    return plan_.Execute(from, to);
  }
  if (!schedule_work) {
    return ParallelFor(tasks_, /*grain=*/1, [&](int64_t begin, int64_t end, int) {
      for (int64_t task = begin; task < end; ++task) ExecuteTask(static_cast<int>(task), from, to);
    });
  }
  Countdown others(tasks_ - 1);
  for (int task = 1; task < tasks_; ++task) {
    (*schedule_work)([this, task, from, to, &others] {
      ExecuteTask(task, from, to);
      others.Decrement();
    });
  }
  ExecuteTask(0, from, to);
  others.Wait();
}

void TransposePlan::ExecuteTask(int task, const char* a, char* b) const {
  if (doubles_) {
    const int64_t stages = StageCount();
    return ExecuteStages(ShareBegin(stages, task, tasks_), ShareBegin(stages, task + 1, tasks_), a, b);
  }
  const int64_t size = input_dims_[cut_dimension_];
  const int64_t pieces = CeilOfRatio(size, cut_granule_);
  const int64_t begin = ShareBegin(pieces, task, tasks_) * cut_granule_;
  const int64_t end = std::min(ShareBegin(pieces, task + 1, tasks_) * cut_granule_, size);
  DimensionVector starts(input_dims_.size(), 0);
  DimensionVector sizes = input_dims_;
  starts[cut_dimension_] = begin;
  sizes[cut_dimension_] = end - begin;
  // A part of the plan that Create has made: nothing can fail any more.
  RelayoutPlan::Make(plan_.from().Slice(starts, sizes).value(), plan_.to().Slice(starts, sizes).value(), OptionsFor(1))
      .value()
      .Execute(a, b);
}

void TransposePlan::ExecuteStages(int64_t begin, int64_t end, const char* a, char* b) const {
  if (begin == end) return;
  const std::unique_ptr<char[]> buffer(new char[Product(stage_sizes_) * sizeof(double)]);
  DimensionVector starts(stage_sizes_.size());
  for (int64_t stage = begin; stage < end; ++stage) {
    int64_t rest = stage;
    for (size_t i = starts.size(); i-- > 0;) {
      const int64_t count = CeilOfRatio(doubles_->dimensions()[i], stage_sizes_[i]);
      starts[i] = rest % count * stage_sizes_[i];
      rest /= count;
    }
    ExecuteStage(starts, a, b, buffer.get());
  }
}

// Doubles to the buffer in row-major order, to floats there, and on to where they belong.
void TransposePlan::ExecuteStage(absl::Span<const int64_t> starts, const char* a, char* b, char* buffer) const {
  DimensionVector begin(starts.begin(), starts.end());
  DimensionVector sizes(starts.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    sizes[i] = std::min(stage_sizes_[i], doubles_->dimensions()[i] - starts[i]);
  }
  RelayoutPlan::Make(doubles_->Slice(begin, sizes).value(), PlaceRowMajor(U64, sizes).value(), OptionsFor(1))
      .value()
      .Execute(a, buffer);
  ConvertF64ToEf57(buffer, buffer, Product(sizes));
  begin.back() *= 2;
  sizes.back() *= 2;
  RelayoutPlan::Make(PlaceRowMajor(U32, sizes).value(), plan_.to().Slice(begin, sizes).value(), OptionsFor(1))
      .value()
      .Execute(buffer, b);
}

std::string TransposePlan::ToString() const {
  return absl::StrCat("elem_size=", elem_size_in_bytes_, " a_dims=", Numbers(input_dims_),
                      " b_dims=", Numbers(output_dims_), " permutation=", Numbers(permutation_),
                      " a_tiling=", Numbers(input_tiling_), " b_tiling=", Numbers(output_tiling_),
                      " a_strides=", Numbers(input_strides_),
                      " transformation=", transformation_ == Transformation::kF64ToEf57 ? "ef57" : "none",
                      " num_threads=", num_threads_, " parallelism=", tasks_, "\n", plan_.ToString());
}

int64_t TransposePlan::InputNumElems() const { return PaddedElements(input_dims_, input_tiling_); }
int64_t TransposePlan::OutputNumElems() const { return PaddedElements(output_dims_, output_tiling_); }

void TransposePlan::RemoveTrivialDimensions(Dimensions& a_dims, Dimensions& permutation, Dimensions& lda,
                                            Dimensions& lda_tile, Dimensions& a_tiling, Dimensions& b_tiling) {
  const Dimensions position = InversePermutation<Dimensions>(permutation);
  std::vector<bool> is_erased(a_dims.size());
  for (size_t i = 0; i < a_dims.size(); ++i) {
    is_erased[i] = a_dims[i] == 1 && a_tiling[i] == 1 && b_tiling[position[i]] == 1;
  }
  EraseFromOutput(is_erased, permutation, b_tiling);
  for (Dimensions* list : {&a_dims, &lda, &lda_tile, &a_tiling}) EraseFrom(is_erased, *list);
}

void TransposePlan::CoalesceDimensions(Dimensions& a_dims, Dimensions& permutation, Dimensions& lda,
                                       Dimensions& lda_tile, Dimensions& a_tiling, Dimensions& b_tiling) {
  const Dimensions position = InversePermutation<Dimensions>(permutation);
  std::vector<bool> is_erased(a_dims.size());
  for (size_t i = 1; i < a_dims.size(); ++i) {
    const bool is_tiled =
        a_tiling[i - 1] != 1 || a_tiling[i] != 1 || b_tiling[position[i - 1]] != 1 || b_tiling[position[i]] != 1;
    if (is_tiled || position[i] != position[i - 1] + 1 || lda[i - 1] != lda[i] * a_dims[i]) continue;
    a_dims[i] *= a_dims[i - 1];
    is_erased[i - 1] = true;
  }
  EraseFromOutput(is_erased, permutation, b_tiling);
  for (Dimensions* list : {&a_dims, &lda, &lda_tile, &a_tiling}) EraseFrom(is_erased, *list);
}

TransposePlanCacheKey::TransposePlanCacheKey(const TransposePlan::Options& options)
    : elem_size_in_bytes(options.elem_size_in_bytes),
      dims(options.dims.begin(), options.dims.end()),
      permutation(options.permutation.begin(), options.permutation.end()),
      input_layout_is_tiling(std::holds_alternative<Tiling>(options.input_layout)),
      output_tiling(options.output_tiling.tiling.begin(), options.output_tiling.tiling.end()),
      transformation(options.transformation),
      num_threads(options.num_threads) {
  const absl::Span<const int64_t> layout = input_layout_is_tiling
                                               ? std::get<Tiling>(options.input_layout).tiling
                                               : std::get<Striding>(options.input_layout).strides_in_bytes;
  input_layout.assign(layout.begin(), layout.end());
}

bool TransposePlanCacheKey::operator==(const TransposePlanCacheKey& other) const {
  const auto members = [](const TransposePlanCacheKey& key) {
    return std::tie(key.elem_size_in_bytes, key.dims, key.permutation, key.input_layout_is_tiling, key.input_layout,
                    key.output_tiling, key.transformation, key.num_threads);
  };
  return members(*this) == members(other);
}

absl::StatusOr<std::shared_ptr<TransposePlan>> TransposePlanCache::GetOrCreate(const TransposePlan::Options& options) {
  const TransposePlanCacheKey key(options);
  if (std::shared_ptr<TransposePlan> plan = Find(key)) return plan;
  // Made outside the lock: two threads may make the same plan, and the later one's replaces the other.
  KASHI_ASSIGN_OR_RETURN(std::shared_ptr<TransposePlan> plan, TransposePlan::Create(options));
  Insert(key, plan);
  return plan;
}

std::shared_ptr<TransposePlan> TransposePlanCache::Find(const TransposePlanCacheKey& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->second;
}

void TransposePlanCache::Insert(const TransposePlanCacheKey& key, std::shared_ptr<TransposePlan> plan) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    entries_.erase(found->second);
    by_key_.erase(found);
  }
  entries_.emplace_front(key, std::move(plan));
  by_key_[key] = entries_.begin();
  while (static_cast<int64_t>(entries_.size()) > std::max(capacity_, 0)) {
    by_key_.erase(entries_.back().first);
    entries_.pop_back();
  }
}

}  // namespace kashi
