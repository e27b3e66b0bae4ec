#include "kashi/kernels/fft_transform.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "kashi/base/check.h"
#include "kashi/base/math.h"
#include "kashi/base/parallel.h"
#include "kashi/base/status.h"
#include "kashi/kernels/fft_blocks.h"
#include "kashi/kernels/loops.h"

namespace kashi::kernels {
namespace {

template <typename T>
FftScale<T> ScaleOf(const FftCall<T>& call) {
  return {call.scale, call.is_inverse};
}

void* At(const FftLines& lines, int64_t element, int64_t line, int bytes) {
  return static_cast<char*>(lines.data) + (element * lines.element_stride + line * lines.line_stride) * bytes;
}
// Elements from one on, of these many lines.
FftLines Part(const FftLines& lines, int64_t element, int64_t line, int64_t count, int bytes) {
  return {At(lines, element, line, bytes), lines.element_stride, lines.line_stride, count};
}
template <typename T>
FftLines Row(T* numbers) {
  return {numbers, 1, 0, 1};
}

// The number of groups of W columns that are read and written together: more adjacent bytes for each page of memory.
constexpr int64_t kColumnGroups = 4;

// A line in each lane.
template <typename T>
class LinePlan : public FftPlan<T> {
 public:
  LinePlan(int64_t n, int64_t groups) : blocks_(n), groups_(groups) {}

  int64_t lines() const override { return groups_ * FindFftKernels<T>().lanes; }
  int64_t thread_scratch() const override { return groups_ * blocks_.numbers(); }
  absl::Status Transform(const FftCall<T>& call, const FftScratch<T>& scratch, int thread,
                         StopFunction) const override {
    const int64_t step = blocks_.numbers();
    T* const memory = scratch.Of(thread);
    call.from_storage->load(call.from, blocks_.length(), call.is_inverse, memory, step);
    const int64_t groups = CeilOfRatio<int64_t>(call.from.count, FindFftKernels<T>().lanes);
    for (int64_t g = 0; g < groups; ++g) blocks_.Transform(memory + g * step);
    call.to_storage->store({memory, step, blocks_.order(), blocks_.length()}, ScaleOf(call), call.to);
    return absl::OkStatus();
  }

 private:
  FftBlocks<T> blocks_;
  int64_t groups_;
};

// A row in all lanes: lane a has the elements a, a + W, …
template <typename T>
class PartsPlan : public FftPlan<T> {
 public:
  explicit PartsPlan(int64_t n) : blocks_(n / W()), twiddles_(2 * n) {
    for (int64_t k = 0; k < blocks_.length(); ++k) {
      for (int64_t a = 0; a < W(); ++a) {
        const std::complex<double> root = FftRoot(a * k, n);
        twiddles_[k * 2 * W() + a] = static_cast<T>(root.real());
        twiddles_[k * 2 * W() + W() + a] = static_cast<T>(root.imag());
      }
    }
  }
  static int64_t W() { return FindFftKernels<T>().lanes; }
  static bool Takes(int64_t n) { return n % W() == 0 && n >= W() * W(); }

  int64_t lines() const override { return 1; }
  int64_t thread_scratch() const override { return blocks_.numbers(); }
  absl::Status Transform(const FftCall<T>& call, const FftScratch<T>& scratch, int thread,
                         StopFunction) const override {
    T* const blocks = scratch.Of(thread);
    call.from_storage->load({call.from.data, W(), 1, W()}, blocks_.length(), call.is_inverse, blocks, 0);
    blocks_.Transform(blocks);
    call.to_storage->join({blocks, blocks_.order(), blocks_.length(), twiddles_.data(), ScaleOf(call), call.to.data});
    return absl::OkStatus();
  }

 private:
  FftBlocks<T> blocks_;
  std::vector<T> twiddles_;  // as in FftJoin
};

// The root of unity w^e, e < n, as a product of two from short tables.
class RootTable {
 public:
  explicit RootTable(int64_t n) {
    while ((n >> bits_) > (int64_t{1} << bits_)) ++bits_;
    for (int64_t e = 0; e < std::min(n, int64_t{1} << bits_); ++e) low_.push_back(FftRoot(e, n));
    for (int64_t e = 0; e < n; e += int64_t{1} << bits_) high_.push_back(FftRoot(e, n));
  }
  std::complex<double> operator[](int64_t e) const {
    const std::complex<double> a = high_[e >> bits_], b = low_[e & ((int64_t{1} << bits_) - 1)];
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }

 private:
  int bits_ = 0;
  std::vector<std::complex<double>> low_, high_;
};

// A long line, as an array [n1][n2]: element j1 n2 + j2. With w = e^(-2 pi i / n),
//
//   X[k1 + n1 k2] = sum over j2 of e^(-2 pi i j2 k2 / n2)  w^(j2 k1)  sum over j1 of x[j1][j2] e^(-2 pi i j1 k1 / n1)
//
// W columns j2 are transformed at once and kept as blocks k1; then W of the k1.
template <typename T>
class MatrixPlan : public FftPlan<T> {
 public:
  MatrixPlan(int64_t n1, int64_t n2) : columns_(n1), rows_(n2), roots_(n1 * n2), lane_twiddles_(2 * W() * n2) {
    for (int64_t j = 0; j < n2; ++j) {
      for (int64_t q = 0; q < std::min(W(), n1); ++q) {
        const std::complex<double> root = roots_[j * q];
        lane_twiddles_[2 * W() * j + q] = static_cast<T>(root.real());
        lane_twiddles_[2 * W() * j + W() + q] = static_cast<T>(root.imag());
      }
    }
  }
  static int64_t W() { return FindFftKernels<T>().lanes; }

  int64_t lines() const override { return 1; }
  bool is_parallel() const override { return true; }
  int64_t shared_scratch() const override { return chunks() * chunk_blocks() * 2 * W(); }
  int64_t thread_scratch() const override { return kColumnGroups * rows_.numbers() + 2 * rows_.length(); }
  absl::Status Transform(const FftCall<T>& call, const FftScratch<T>& scratch, int,
                         StopFunction check_stopped) const override {
    const int64_t step = kColumnGroups * W();
    KASHI_RETURN_IF_ERROR(StoppableParallelFor(
        check_stopped, CeilOfRatio(rows_.length(), step), 1,
        [&](int64_t begin, int64_t, int) { TransformColumns(call, begin * step, scratch.shared); }));
    return StoppableParallelFor(check_stopped, CeilOfRatio(columns_.length(), step), 1,
                                [&](int64_t begin, int64_t, int thread) {
                                  TransformRows(call, begin * step, scratch.shared, scratch.Of(thread));
                                });
  }

 private:
  int64_t chunks() const { return CeilOfRatio(rows_.length(), W()); }
  int64_t chunk_blocks() const { return RoundUpTo(columns_.length(), W()); }

  // Columns from `first` on, in the chunks of their groups.
  void TransformColumns(const FftCall<T>& call, int64_t first, T* chunks) const {
    const int64_t n1 = columns_.length(), n2 = rows_.length();
    const int64_t count = std::min(kColumnGroups * W(), n2 - first), step = 2 * W() * chunk_blocks();
    T* const blocks = chunks + first / W() * step;
    void* const from = At(Row(call.from.data), first, 0, call.from_storage->bytes);
    call.from_storage->load({from, n2, 1, count}, n1, call.is_inverse, blocks, step);
    for (int64_t g = 0; g * W() < count; ++g) {
      columns_.Transform(blocks + g * step);
      std::fill(blocks + g * step + columns_.numbers(), blocks + (g + 1) * step, T{0});
    }
  }

  // Frequencies k1 from `first` on, and all k2.
  void TransformRows(const FftCall<T>& call, int64_t first, const T* chunks, T* memory) const {
    const int64_t n1 = columns_.length(), n2 = rows_.length(), step = rows_.numbers();
    const int64_t count = std::min(kColumnGroups * W(), n1 - first);
    T* const twiddles = memory + kColumnGroups * step;
    for (int64_t g = 0; g * W() < count; ++g) {
      const int64_t k = first + g * W();
      for (int64_t j = 0; j < n2; ++j) {
        const std::complex<double> root = roots_[j * k];
        twiddles[2 * j] = static_cast<T>(root.real());
        twiddles[2 * j + 1] = static_cast<T>(root.imag());
      }
      FindFftKernels<T>().turn(
          {chunks, columns_.order() + k, chunk_blocks(), n2, lane_twiddles_.data(), twiddles, memory + g * step});
      rows_.Transform(memory + g * step);
    }
    void* const to = At(Row(call.to.data), first, 0, call.to_storage->bytes);
    call.to_storage->store({memory, step, rows_.order(), n2}, ScaleOf(call), {to, n1, 1, count});
  }

  FftBlocks<T> columns_, rows_;
  RootTable roots_;
  std::vector<T> lane_twiddles_;  // as in FftTurn
};

// Any n. Because j k = (j^2 + k^2 - (k - j)^2) / 2, with c[j] = e^(-pi i j^2 / n),
//
//   X[k] = c[k] sum over j of x[j] c[j] / c[k - j]
//
// is a convolution; it goes around in a row of at least 2 n - 1 numbers.
template <typename T>
class ConvolutionPlan : public FftPlan<T> {
 public:
  explicit ConvolutionPlan(int64_t n)
      : length_(n),
        padded_(PaddedLength(n)),
        plan_(MakeFftPlan<T>(padded_, /*is_rows=*/true, 1)),
        chirp_(2 * n),
        filter_(2 * padded_) {
    int64_t square = 0;  // j^2 modulo 2n
    for (int64_t j = 0; j < n; ++j) {
      const std::complex<double> root = FftRoot(square, 2 * n);
      chirp_[2 * j] = static_cast<T>(root.real());
      chirp_[2 * j + 1] = static_cast<T>(root.imag());
      for (int64_t to : {j, (padded_ - j) % padded_}) {
        filter_[2 * to] = static_cast<T>(root.real() / static_cast<double>(padded_));
        filter_[2 * to + 1] = static_cast<T>(-root.imag() / static_cast<double>(padded_));
      }
      square = (square + 2 * j + 1) % (2 * n);
    }
    TransformFilter();
  }

  int64_t lines() const override { return 1; }
  bool is_parallel() const override { return plan_->is_parallel(); }
  int64_t shared_scratch() const override { return is_parallel() ? 2 * padded_ + plan_->shared_scratch() : 0; }
  int64_t thread_scratch() const override { return plan_->thread_scratch() + (is_parallel() ? 0 : 2 * padded_); }
  absl::Status Transform(const FftCall<T>& call, const FftScratch<T>& scratch, int thread,
                         StopFunction check_stopped) const override {
    const FftStorage<T>& own = FindFftKernels<T>().template Storage<T>();
    T* row = is_parallel() ? scratch.shared + plan_->shared_scratch() : scratch.Of(thread) + plan_->thread_scratch();
    call.from_storage->multiply_from({call.from.data, chirp_.data(), length_, call.is_inverse, {1, false}, row});
    std::fill(row + 2 * length_, row + 2 * padded_, T{0});
    KASHI_RETURN_IF_ERROR(
        plan_->Transform({Row(row), &own, Row(row), &own, /*is_inverse=*/false, 1}, scratch, thread, check_stopped));
    KASHI_RETURN_IF_ERROR(check_stopped());
    own.multiply_to({row, filter_.data(), padded_, false, {1, false}, row});
    KASHI_RETURN_IF_ERROR(
        plan_->Transform({Row(row), &own, Row(row), &own, /*is_inverse=*/true, 1}, scratch, thread, check_stopped));
    call.to_storage->multiply_to({row, chirp_.data(), length_, false, ScaleOf(call), call.to.data});
    return absl::OkStatus();
  }

 private:
  // A length with fast transforms.
  static int64_t PaddedLength(int64_t n) {
    const int64_t lanes = FindFftKernels<T>().lanes;
    int64_t best = INT64_MAX;
    for (int64_t odd : {1, 3, 5, 9, 15}) {
      int64_t padded = odd * lanes * lanes;
      while (padded < 2 * n - 1) padded *= 2;
      best = std::min(best, padded);
    }
    return best;
  }

  void TransformFilter() {
    const FftStorage<T>& own = FindFftKernels<T>().template Storage<T>();
    std::vector<T> memory(plan_->shared_scratch() + plan_->thread_scratch() * base::ParallelThreadCount());
    const FftScratch<T> scratch{memory.data(), memory.data() + plan_->shared_scratch(), plan_->thread_scratch()};
    const FftLines row = Row(filter_.data());
    const absl::Status status =
        plan_->Transform({row, &own, row, &own, /*is_inverse=*/false, 1}, scratch, 0, NeverStopped);
    KASHI_CHECK(status.ok()) << status;
  }

  int64_t length_, padded_;
  std::unique_ptr<const FftPlan<T>> plan_;
  std::vector<T> chirp_;   // complex numbers
  std::vector<T> filter_;  // the transform of 1 / chirp, divided by its length
};

// Columns by a plan for rows: W of them become rows, and columns again.
template <typename T>
class TransposingPlan : public FftPlan<T> {
 public:
  explicit TransposingPlan(int64_t n) : length_(n), plan_(MakeFftPlan<T>(n, /*is_rows=*/true, W())) {}
  static int64_t W() { return FindFftKernels<T>().lanes; }

  int64_t lines() const override { return W(); }
  bool is_parallel() const override { return plan_->is_parallel(); }
  int64_t shared_scratch() const override { return is_parallel() ? rows_numbers() + plan_->shared_scratch() : 0; }
  int64_t thread_scratch() const override {
    return plan_->thread_scratch() + kPiece * 2 * W() + (is_parallel() ? 0 : rows_numbers());
  }
  absl::Status Transform(const FftCall<T>& call, const FftScratch<T>& scratch, int thread,
                         StopFunction check_stopped) const override {
    const FftStorage<T>& own = FindFftKernels<T>().template Storage<T>();
    T* const piece = scratch.Of(thread) + plan_->thread_scratch();
    T* const memory = is_parallel() ? scratch.shared + plan_->shared_scratch() : piece + kPiece * 2 * W();
    const FftLines rows{memory, 1, length_, call.from.count};
    Move(call.from, *call.from_storage, rows, own, piece);
    for (int64_t line = 0; line < rows.count; line += plan_->lines()) {
      KASHI_RETURN_IF_ERROR(check_stopped());
      const FftLines some = Part(rows, 0, line, std::min(plan_->lines(), rows.count - line), own.bytes);
      KASHI_RETURN_IF_ERROR(
          plan_->Transform({some, &own, some, &own, call.is_inverse, call.scale}, scratch, thread, check_stopped));
    }
    Move(rows, own, call.to, *call.to_storage, piece);
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kPiece = 64;  // elements that are moved at once

  int64_t rows_numbers() const { return 2 * W() * length_; }
  void Move(const FftLines& from, const FftStorage<T>& from_storage, const FftLines& to,
            const FftStorage<T>& to_storage, T* piece) const {
    std::array<int32_t, kPiece> order;
    std::iota(order.begin(), order.end(), 0);
    for (int64_t j = 0; j < length_; j += kPiece) {
      const int64_t count = std::min(kPiece, length_ - j);
      from_storage.load(Part(from, j, 0, from.count, from_storage.bytes), count, /*is_swapped=*/false, piece,
                        kPiece * 2 * W());
      to_storage.store({piece, kPiece * 2 * W(), order.data(), count}, {1, false},
                       Part(to, j, 0, to.count, to_storage.bytes));
    }
  }

  int64_t length_;
  std::unique_ptr<const FftPlan<T>> plan_;
};

// Bytes of complex numbers of a transform that stay in the caches of a processor core.
constexpr int64_t kCacheBytes = 1 << 18;

template <typename T>
int64_t BytesOf(int64_t numbers) {
  return SaturatingMultiply(numbers, 2 * sizeof(T));
}

// The factor n1 <= n2 of n = n1 n2 that leaves the fewest lanes idle, and is near to n2.
int64_t MatrixRows(int64_t n, int64_t lanes) {
  int64_t best = 1;
  double best_cost = std::numeric_limits<double>::infinity();
  for (int64_t n1 = 2; n1 <= n / n1; ++n1) {
    if (n % n1 != 0) continue;
    const int64_t n2 = n / n1;
    const double padded = static_cast<double>(RoundUpTo(n1, lanes)) * static_cast<double>(RoundUpTo(n2, lanes));
    const double cost = padded * std::sqrt(static_cast<double>(n1 + n2));
    if (cost < best_cost) best = n1;
    best_cost = std::min(cost, best_cost);
  }
  return best;
}

}  // namespace

template <typename T>
std::unique_ptr<const FftPlan<T>> MakeFftPlan(int64_t length, bool is_rows, int64_t lines) {
  const int64_t lanes = FindFftKernels<T>().lanes;
  const bool has_small_factors = IsFftBlockLength(length);
  if (!is_rows) {
    const bool fits = BytesOf<T>(length) <= kCacheBytes / 2;
    if (fits && has_small_factors) return std::make_unique<LinePlan<T>>(length, kColumnGroups);
    return std::make_unique<TransposingPlan<T>>(length);
  }
  if (!has_small_factors) return std::make_unique<ConvolutionPlan<T>>(length);
  if (PartsPlan<T>::Takes(length) && BytesOf<T>(length) <= kCacheBytes) return std::make_unique<PartsPlan<T>>(length);
  const bool has_full_lanes = lines >= lanes || length < lanes * lanes;
  if (has_full_lanes && BytesOf<T>(length) <= kCacheBytes / lanes) return std::make_unique<LinePlan<T>>(length, 1);
  const int64_t n1 = MatrixRows(length, lanes);
  return std::make_unique<MatrixPlan<T>>(n1, length / n1);
}

template std::unique_ptr<const FftPlan<float>> MakeFftPlan(int64_t length, bool is_rows, int64_t lines);
template std::unique_ptr<const FftPlan<double>> MakeFftPlan(int64_t length, bool is_rows, int64_t lines);

}  // namespace kashi::kernels
