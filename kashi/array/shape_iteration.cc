// Loops over the indices of an array: ShapeUtil's section "iteration". All of them are IndexLoop's steps.
#include <algorithm>
#include <limits>
#include <mutex>

#include "kashi/array/shape_util.h"
#include "kashi/base/check.h"
#include "kashi/base/math.h"
#include "kashi/base/parallel.h"
#include "kashi/base/status.h"
#include "kashi/base/wrapping.h"

namespace kashi {

using base::ParallelFor;
using base::WrappingAdd;
namespace {

// Fewer steps than this are not worth another thread: a visitor takes anything from a store to a dot product.
constexpr int64_t kParallelGrain = 8;

// The dimensions of a loop in the order in which they vary, with their steps. Stepping allocates nothing.
class IndexLoop {
 public:
  IndexLoop(const Shape& shape, absl::Span<const int64_t> base, absl::Span<const int64_t> count,
            absl::Span<const int64_t> incr) {
    const int64_t rank = shape.dimensions_size();
    KASHI_CHECK_EQ(rank, base.size());
    KASHI_CHECK_EQ(rank, count.size());
    KASHI_CHECK_EQ(rank, incr.size());
    const absl::Span<const int64_t> minor_to_major = shape.layout().minor_to_major();
    KASHI_CHECK_EQ(rank, minor_to_major.size()) << shape;
    index_.assign(base.begin(), base.end());
    if (std::find(shape.dimensions().begin(), shape.dimensions().end(), 0) != shape.dimensions().end()) {
      has_steps_ = false;
      return;
    }
    for (int64_t dimension : minor_to_major) {
      KASHI_CHECK(0 <= dimension && dimension < rank) << shape;
      // A dimension without extent is visited at its base all the same, as in XLA.
      if (count[dimension] <= 0) continue;
      KASHI_CHECK_GE(incr[dimension], 0) << "dimension " << dimension;
      // A dimension that does not move never comes to its end, as in XLA: the visitor must stop the loop.
      const int64_t steps =
          incr[dimension] == 0 ? std::numeric_limits<int64_t>::max() : CeilOfRatio(count[dimension], incr[dimension]);
      if (steps > 1) levels_.push_back({dimension, base[dimension], incr[dimension], steps});
    }
  }

  // Saturates: such a loop never reaches its end.
  int64_t steps() const {
    if (!has_steps_) return 0;
    int64_t steps = 1;
    for (const Level& level : levels_) {
      steps = CheckedMultiply(steps, level.steps).value_or(std::numeric_limits<int64_t>::max());
    }
    return steps;
  }

  // Calls visit(index) for each index from the start on, until it returns false.
  template <typename Visit>
  void Run(Visit visit) {
    if (has_steps_) RunFrom(std::numeric_limits<int64_t>::max(), visit);
  }

  // Calls visit(index) in the same way for `count` > 0 steps from step `first` on.
  template <typename Visit>
  void Run(int64_t first, int64_t count, Visit visit) {
    for (Level& level : levels_) {
      level.step = first % level.steps;
      index_[level.dimension] = level.base + level.step * level.incr;
      first /= level.steps;
    }
    RunFrom(count, visit);
  }

 private:
  struct Level {
    int64_t dimension;
    int64_t base;
    int64_t incr;
    int64_t steps;     // at least 2
    int64_t step = 0;  // where index_ stands
  };

  // The fastest level has a loop of its own, with its state in registers: it is nearly all of the steps.
  template <typename Visit>
  void RunFrom(int64_t count, Visit& visit) {
    const absl::Span<const int64_t> index = index_;
    if (levels_.empty()) {
      visit(index);
      return;
    }
    const Level fastest = levels_.front();
    int64_t& moving = index_[fastest.dimension];
    int64_t step = fastest.step;
    do {
      for (; step < fastest.steps; ++step, moving = WrappingAdd(moving, fastest.incr)) {
        if (!visit(index) || --count == 0) return;
      }
      step = 0;
      moving = fastest.base;
    } while (NextOfTheOthers());
  }

  bool NextOfTheOthers() {
    for (size_t i = 1; i < levels_.size(); ++i) {
      Level& level = levels_[i];
      if (++level.step < level.steps) {
        index_[level.dimension] += level.incr;
        return true;
      }
      level.step = 0;
      index_[level.dimension] = level.base;
    }
    return false;
  }

  bool has_steps_ = true;
  DimensionVector index_;
  absl::InlinedVector<Level, InlineRank()> levels_;  // the fastest first; only dimensions that move
};

// Arguments of the forms that go over the whole array.
struct WholeArray {
  explicit WholeArray(const Shape& shape) : base(shape.dimensions_size(), 0), incr(shape.dimensions_size(), 1) {}
  DimensionVector base;
  DimensionVector incr;
};

}  // namespace

absl::Status ShapeUtil::ForEachIndexWithStatus(const Shape& shape, absl::Span<const int64_t> base,
                                               absl::Span<const int64_t> count, absl::Span<const int64_t> incr,
                                               ForEachVisitorFunction visitor) {
  IndexLoop loop(shape, base, count, incr);
  absl::Status status;
  loop.Run([&](absl::Span<const int64_t> index) {
    const absl::StatusOr<bool> goes_on = visitor(index);
    if (ABSL_PREDICT_TRUE(goes_on.ok())) return *goes_on;
    status = goes_on.status();
    return false;
  });
  return status;
}

absl::Status ShapeUtil::ForEachIndexWithStatus(const Shape& shape, const IndexIterationSpace& space,
                                               ForEachVisitorFunction visitor) {
  return ForEachIndexWithStatus(shape, space.index_base, space.index_count, space.index_incr, visitor);
}

absl::Status ShapeUtil::ForEachIndexWithStatus(const Shape& shape, ForEachVisitorFunction visitor) {
  const WholeArray whole(shape);
  return ForEachIndexWithStatus(shape, whole.base, shape.dimensions(), whole.incr, visitor);
}

void ShapeUtil::ForEachIndex(const Shape& shape, absl::Span<const int64_t> base, absl::Span<const int64_t> count,
                             absl::Span<const int64_t> incr, ForEachVisitorFunction visitor) {
  ForEachIndexWithStatus(shape, base, count, incr, visitor).IgnoreError();
}

void ShapeUtil::ForEachIndex(const Shape& shape, ForEachVisitorFunction visitor) {
  ForEachIndexWithStatus(shape, visitor).IgnoreError();
}

void ShapeUtil::ForEachIndexNoStatus(const Shape& shape, absl::Span<const int64_t> base,
                                     absl::Span<const int64_t> count, absl::Span<const int64_t> incr,
                                     ForEachVisitorFunctionNoStatus visitor) {
  IndexLoop loop(shape, base, count, incr);
  loop.Run(visitor);
}

void ShapeUtil::ForEachIndexNoStatus(const Shape& shape, ForEachVisitorFunctionNoStatus visitor) {
  const WholeArray whole(shape);
  ForEachIndexNoStatus(shape, whole.base, shape.dimensions(), whole.incr, visitor);
}

absl::Status ShapeUtil::ForEachIndexParallelWithStatus(const Shape& shape, absl::Span<const int64_t> base,
                                                       absl::Span<const int64_t> count, absl::Span<const int64_t> incr,
                                                       ForEachParallelVisitorFunction visitor) {
  const IndexLoop start(shape, base, count, incr);
  KASHI_CHECK_LT(start.steps(), std::numeric_limits<int64_t>::max()) << "this parallel loop would never end";
  std::mutex mutex;
  absl::Status first_error;  // by the serial order, so that it is the same in every run
  int64_t first_error_step = std::numeric_limits<int64_t>::max();
  ParallelFor(start.steps(), kParallelGrain, [&](int64_t begin, int64_t end, int thread) {
    IndexLoop loop = start;
    int64_t step = begin;
    loop.Run(begin, end - begin, [&](absl::Span<const int64_t> index) {
      const absl::StatusOr<bool> result = visitor(index, thread);
      if (ABSL_PREDICT_FALSE(!result.ok())) {
        std::lock_guard<std::mutex> lock(mutex);
        if (step < first_error_step) {
          first_error = result.status();
          first_error_step = step;
        }
      }
      ++step;
      return true;
    });
  });
  return first_error;
}

absl::Status ShapeUtil::ForEachIndexParallelWithStatus(const Shape& shape, ForEachParallelVisitorFunction visitor) {
  const WholeArray whole(shape);
  return ForEachIndexParallelWithStatus(shape, whole.base, shape.dimensions(), whole.incr, visitor);
}

void ShapeUtil::ForEachIndexParallel(const Shape& shape, absl::Span<const int64_t> base,
                                     absl::Span<const int64_t> count, absl::Span<const int64_t> incr,
                                     ForEachParallelVisitorFunction visitor) {
  KASHI_CHECK_OK(ForEachIndexParallelWithStatus(shape, base, count, incr, visitor));
}

void ShapeUtil::ForEachIndexParallel(const Shape& shape, ForEachParallelVisitorFunction visitor) {
  KASHI_CHECK_OK(ForEachIndexParallelWithStatus(shape, visitor));
}

int ShapeUtil::GetForEachIndexParallelThreadCount() { return base::ParallelThreadCount(); }

}  // namespace kashi
