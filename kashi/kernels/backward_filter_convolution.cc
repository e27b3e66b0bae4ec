#include "kashi/kernels/backward_filter_convolution.h"

#include <algorithm>
#include <utility>

#include "absl/types/span.h"
#include "kashi/base/math.h"
#include "kashi/base/parallel.h"
#include "kashi/base/status.h"
#include "kashi/base/try_parallel.h"
#include "kashi/kernels/matrix_product_kernels.h"
#include "kashi/kernels/scratch_block.h"

namespace kashi::kernels {
namespace {

constexpr int64_t kStretch = 1024;           // places of the window that are multiplied at a time, about
constexpr int64_t kMaxSegments = 1 << 20;    // of all places of the result
constexpr int64_t kPlacesPerTask = 1 << 10;  // to pack

// A row of the window where it meets the image, for one place of the result.
struct Segment {
  int64_t row;            // of all rows of the window, of all inputs
  int64_t lhs, lhs_step;  // places of the image
  int64_t rhs, rhs_step;  // places of the window
  int64_t count;
};

int64_t ProductOf(absl::Span<const ConvolutionAxis> axes, int64_t ConvolutionAxis::*size) {
  int64_t product = 1;
  for (const ConvolutionAxis& axis : axes) product *= axis.*size;
  return product;
}

// s * stride + w * window_dilation is symmetric in s and w. So the window places that meet the image at s are those
// that MeetingOf finds for the s-th element of a window that moves over the window.
Meeting PlacesOfWindow(ConvolutionAxis axis, int64_t s) {
  std::swap(axis.stride, axis.window_dilation);
  std::swap(axis.out_size, axis.window_size);
  return MeetingOf(axis, s, {0, axis.out_size});
}

// The segments at the place `s` of the result, in the order of rows.
std::vector<Segment> SegmentsAt(const BackwardFilterConvolution& convolution, absl::Span<const int64_t> s) {
  std::vector<Segment> segments;
  for (int64_t i = 0; i < convolution.inputs; ++i) segments.push_back({i, i, 0, i, 0, 1});
  for (size_t d = 0; d < s.size(); ++d) {
    const ConvolutionAxis& axis = convolution.axes[d];
    const Meeting places = PlacesOfWindow(axis, s[d]);
    const bool is_last = d + 1 == s.size();
    std::vector<Segment> longer;
    for (const Segment& segment : segments) {
      const int64_t lhs = segment.lhs * axis.lhs_size + places.lhs_begin;
      const int64_t rhs = segment.rhs * axis.window_size + places.out_begin;
      if (is_last && places.count > 0) {
        longer.push_back({segment.row, lhs, places.lhs_step, rhs, places.out_step, places.count});
      }
      for (int64_t j = 0; j < places.count && !is_last; ++j) {
        const int64_t row = segment.row * axis.window_size + places.out_begin + j * places.out_step;
        longer.push_back({row, lhs + j * places.lhs_step, 0, rhs + j * places.out_step, 0, 1});
      }
    }
    segments = std::move(longer);
  }
  return segments;
}

template <typename T>
class BackwardFilterRunner {
 public:
  BackwardFilterRunner(const BackwardFilterConvolution& convolution, T* out, StopFunction check_stopped)
      : convolution_(convolution),
        out_(out),
        check_stopped_(check_stopped),
        image_(convolution.inputs * ProductOf(convolution.axes, &ConvolutionAxis::lhs_size)),
        window_(convolution.inputs * ProductOf(convolution.axes, &ConvolutionAxis::window_size)),
        places_(ProductOf(convolution.axes, &ConvolutionAxis::out_size)) {}

  int64_t PackedWords() const {
    return RoundUpTo<int64_t>(convolution_.rows, kernels_.rows) * image_ +
           RoundUpTo<int64_t>(convolution_.outputs, kernels_.columns) * window_;
  }

  void Pack(const T* lhs, const T* rhs, T* memory) {
    lhs_ = memory;
    rhs_ = memory + RoundUpTo<int64_t>(convolution_.rows, kernels_.rows) * image_;
    PackOperand(kernels_.pack_lhs, lhs, image_, convolution_.rows, kernels_.rows, false, lhs_);
    PackOperand(kernels_.pack_rhs, rhs, window_, convolution_.outputs, kernels_.columns, true, rhs_);
  }

  absl::Status Run() {
    std::vector<int64_t> s(convolution_.axes.size());
    for (int64_t place = 0; place < places_; ++place) {
      int64_t rest = place;
      for (size_t d = s.size(); d-- > 0; rest /= convolution_.axes[d].out_size) {
        s[d] = rest % convolution_.axes[d].out_size;
      }
      segments_.push_back(SegmentsAt(convolution_, s));
    }
    const int64_t panels = CeilOfRatio<int64_t>(convolution_.outputs, kernels_.columns), tasks = places_ * panels;
    // A thread with several panels reads a stretch of lhs from memory once for all of them.
    return base::TryParallelFor(tasks, CeilOfRatio<int64_t>(tasks, base::ParallelThreadCount()),
                                [&](int64_t begin, int64_t end, int) { return RunTasks(begin, end, panels); });
  }

 private:
  void PackOperand(PackFunction pack, const T* from, int64_t places, int64_t count, int64_t width, bool fills_width,
                   T* to) const {
    base::ParallelFor(places, kPlacesPerTask, [&](int64_t begin, int64_t end, int) {
      pack({from + begin * count, 1, count, count, end - begin, width, fills_width, /*flipped_bits=*/0,
            to + begin * width, places * width});
    });
  }

  // Task place * panels + panel.
  absl::Status RunTasks(int64_t begin, int64_t end, int64_t panels) const {
    const int64_t row_length = convolution_.axes.back().window_size;
    const int64_t rows = window_ / row_length, rows_of_stretch = CeilOfRatio(kStretch, row_length);
    for (int64_t row = 0; row < rows; row += rows_of_stretch) {
      KASHI_RETURN_IF_ERROR(check_stopped_());
      for (int64_t task = begin; task < end; ++task) {
        const std::vector<Segment>& all = segments_[task / panels];
        const auto before = [](const Segment& segment, int64_t limit) { return segment.row < limit; };
        const auto first = std::lower_bound(all.begin(), all.end(), row, before);
        const auto last = std::lower_bound(first, all.end(), row + rows_of_stretch, before);
        const absl::Span<const Segment> segments(all.data() + (first - all.begin()), last - first);
        RunPanel(task / panels, task % panels * kernels_.columns, segments);
      }
    }
    return absl::OkStatus();
  }

  void RunPanel(int64_t place, int64_t column, absl::Span<const Segment> segments) const {
    RegisterTile<T> tile;
    tile.lhs_row_stride = 1;
    tile.out_row_stride = convolution_.outputs;
    tile.columns = std::min<int64_t>(kernels_.columns, convolution_.outputs - column);
    tile.add = true;
    for (int64_t row = 0; row < convolution_.rows; row += kernels_.rows) {
      tile.rows = std::min<int64_t>(kernels_.rows, convolution_.rows - row);
      tile.out = out_ + (place * convolution_.rows + row) * convolution_.outputs + column;
      const TileFunction<T> run = kernels_.TileOf(tile.rows);
      for (const Segment& segment : segments) {
        tile.k = segment.count;
        tile.lhs = lhs_ + row * image_ + segment.lhs * kernels_.rows;
        tile.lhs_column_stride = segment.lhs_step * kernels_.rows;
        tile.rhs = rhs_ + column * window_ + segment.rhs * kernels_.columns;
        tile.rhs_row_stride = segment.rhs_step * kernels_.columns;
        run(tile);
      }
    }
  }

  const PackedKernels<T>& kernels_ = FindKernels<T>().packed;
  const BackwardFilterConvolution& convolution_;
  T* out_;
  StopFunction check_stopped_;
  int64_t image_, window_;  // places, of all inputs
  int64_t places_;          // of the result
  T* lhs_ = nullptr;        // packed
  T* rhs_ = nullptr;
  std::vector<std::vector<Segment>> segments_;  // for each place of the result
};

}  // namespace

bool BackwardFilterConvolution::IsWorthIt() const {
  constexpr int64_t kLeastSize = 4, kLeastRow = 8;
  if (axes.empty() || rows < kLeastSize || outputs < kLeastSize || axes.back().window_size < kLeastRow) return false;
  const int64_t places = ProductOf(axes, &ConvolutionAxis::out_size);
  const int64_t window = ProductOf(axes, &ConvolutionAxis::window_size);
  if (inputs == 0 || places == 0 || window < places) return false;
  const int64_t rows_of_window = inputs * (window / axes.back().window_size);
  return rows_of_window <= kMaxSegments / places;
}

template <typename T>
absl::StatusOr<bool> RunBackwardFilterConvolution(const BackwardFilterConvolution& convolution, const T* lhs,
                                                  const T* rhs, T* out, StopFunction check_stopped) {
  BackwardFilterRunner<T> runner(convolution, out, check_stopped);
  const ScratchBlock memory(runner.PackedWords() * static_cast<int64_t>(sizeof(T)));
  if (memory.data() == nullptr) return false;
  runner.Pack(lhs, rhs, static_cast<T*>(memory.data()));
  KASHI_RETURN_IF_ERROR(runner.Run());
  return true;
}

#define KASHI_INSTANTIATE(T)                                                                                          \
  template absl::StatusOr<bool> RunBackwardFilterConvolution<T>(const BackwardFilterConvolution&, const T*, const T*, \
                                                                T*, StopFunction);
KASHI_INSTANTIATE(float)
KASHI_INSTANTIATE(double)
KASHI_INSTANTIATE(uint32_t)
KASHI_INSTANTIATE(uint64_t)
#undef KASHI_INSTANTIATE

}  // namespace kashi::kernels
