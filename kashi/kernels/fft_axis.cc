#include "kashi/kernels/fft_axis.h"

#include <algorithm>
#include <complex>
#include <type_traits>

#include "kashi/base/parallel.h"
#include "kashi/base/status.h"
#include "kashi/kernels/fft_blocks.h"
#include "kashi/kernels/loops.h"

namespace kashi::kernels {
namespace {

// S: the number type of the array; T: that of the row. The next two are for odd lengths.
template <typename S, typename T>
void ComplexFromReal(const S* from, int64_t n, T* row) {
  for (int64_t j = 0; j < n; ++j) {
    row[2 * j] = static_cast<T>(from[j]);
    row[2 * j + 1] = 0;
  }
}
template <typename S, typename T>
void RealFromComplex(const T* row, int64_t n, S* to) {
  for (int64_t j = 0; j < n; ++j) to[j] = static_cast<S>(row[2 * j]);
}

// Frequencies 0 .. n/2 of a real signal: the others are their conjugates. Frequency 0 is its own conjugate, so its
// imaginary part is ignored.
template <typename S, typename T>
void FullFromHalf(const S* from, int64_t n, T* row) {
  row[0] = static_cast<T>(from[0]);
  row[1] = 0;
  for (int64_t j = 1; 2 * j < n; ++j) {
    row[2 * j] = row[2 * (n - j)] = static_cast<T>(from[2 * j]);
    row[2 * j + 1] = static_cast<T>(from[2 * j + 1]);
    row[2 * (n - j) + 1] = -row[2 * j + 1];
  }
}
template <typename S, typename T>
void HalfFromFull(const T* row, int64_t n, S* to) {
  for (int64_t j = 0; j < n / 2 * 2 + 2; ++j) to[j] = static_cast<S>(row[j]);
}

// function(S*): the memory as numbers of its type.
template <typename T, typename Memory, typename Function>
void WithNumbers(Memory* memory, const FftStorage<T>& storage, Function function) {
  using Narrow = std::conditional_t<std::is_const_v<Memory>, const float, float>;
  using Wide = std::conditional_t<std::is_const_v<Memory>, const double, double>;
  if (storage.bytes == 2 * sizeof(float)) return function(reinterpret_cast<Narrow*>(memory));
  function(reinterpret_cast<Wide*>(memory));
}

template <typename T>
const FftStorage<T>& OwnStorage() {
  return FindFftKernels<T>().template Storage<T>();
}

}  // namespace

template <typename T>
FftAxis<T>::FftAxis(FftNumbers numbers, int64_t length, const FftAxisShape& shape)
    : numbers_(numbers), length_(length), shape_(shape) {
  plan_ = MakeFftPlan<T>(plan_length(), is_rows(), is_rows() ? shape.outer : shape.inner);
  for (int64_t k = 0; is_halved() && k <= length / 4; ++k) {
    const std::complex<double> root = FftRoot(k, length);
    half_twiddles_.insert(half_twiddles_.end(), {static_cast<T>(root.real()), static_cast<T>(root.imag())});
  }
}

template <typename T>
int64_t FftAxis<T>::shared_scratch() const {
  return RoundUpTo<int64_t>(plan_->shared_scratch() + (plan_->is_parallel() ? row_numbers() : 0), 64 / sizeof(T));
}
template <typename T>
int64_t FftAxis<T>::thread_scratch() const {
  return RoundUpTo<int64_t>(plan_->thread_scratch() + (plan_->is_parallel() ? 0 : row_numbers()), 64 / sizeof(T));
}
template <typename T>
int64_t FftAxis<T>::scratch() const {
  return shared_scratch() + base::ParallelThreadCount() * thread_scratch();
}

template <typename T>
absl::Status FftAxis<T>::TransformAll(const void* from, const FftStorage<T>& from_storage, void* to,
                                      const FftStorage<T>& to_storage, bool is_inverse, StopFunction check_stopped,
                                      T* scratch) const {
  const Job job{static_cast<const char*>(from),
                from_storage,
                static_cast<char*>(to),
                to_storage,
                is_inverse,
                {scratch, scratch + shared_scratch(), thread_scratch()},
                check_stopped};
  if (plan_->is_parallel()) {
    for (int64_t group = 0; group < groups(); ++group) {
      KASHI_RETURN_IF_ERROR(check_stopped());
      KASHI_RETURN_IF_ERROR(TransformGroup(job, group, 0));
    }
    return absl::OkStatus();
  }
  const int64_t elements = plan_->lines() * length_;
  return StoppableParallelFor(check_stopped, /*parallel=*/true, groups(), 1 + (1 << 13) / elements,
                              [&](int64_t begin, int64_t end, int thread) {
                                for (int64_t group = begin; group < end; ++group)
                                  KASHI_RETURN_IF_ERROR(TransformGroup(job, group, thread));
                                return absl::OkStatus();
                              });
}

template <typename T>
absl::Status FftAxis<T>::TransformGroup(const Job& job, int64_t group, int thread) const {
  if (numbers_ != FftNumbers::kComplex) return TransformReal(job, group, thread);
  const int64_t first = group % groups_of_outer() * plan_->lines(), outer = group / groups_of_outer();
  const int64_t lines = is_rows() ? shape_.outer : shape_.inner;
  const int64_t line_stride = is_rows() ? length_ : 1, origin = outer * length_ * shape_.inner + first * line_stride;
  const int64_t count = std::min(plan_->lines(), lines - first);
  const FftLines from{const_cast<char*>(job.from) + origin * job.from_storage.bytes, shape_.inner, line_stride, count};
  const FftLines to{job.to + origin * job.to_storage.bytes, shape_.inner, line_stride, count};
  const T scale = job.is_inverse ? static_cast<T>(1.0 / static_cast<double>(length_)) : T{1};
  return plan_->Transform({from, &job.from_storage, to, &job.to_storage, job.is_inverse, scale}, job.scratch, thread,
                          job.check_stopped);
}

template <typename T>
absl::Status FftAxis<T>::TransformReal(const Job& job, int64_t group, int thread) const {
  T* const rows = plan_->is_parallel() ? job.scratch.shared + plan_->shared_scratch()
                                       : job.scratch.Of(thread) + plan_->thread_scratch();
  const int64_t first = group * plan_->lines(), count = std::min(plan_->lines(), shape_.outer - first);
  const int64_t reals = first * length_, frequencies = first * (length_ / 2 + 1);
  if (numbers_ == FftNumbers::kRealToHalf) {
    char* const from = const_cast<char*>(job.from) + reals * job.from_storage.bytes / 2;
    return TransformFromReal(job, {from, 1, plan_length(), count}, job.to + frequencies * job.to_storage.bytes, rows,
                             thread);
  } else {
    char* const to = job.to + reals * job.to_storage.bytes / 2;
    return TransformToReal(job, job.from + frequencies * job.from_storage.bytes, {to, 1, plan_length(), count}, rows,
                           thread);
  }
}

// If the length is even, a real row is half as many complex numbers as it lies.
template <typename T>
absl::Status FftAxis<T>::TransformFromReal(const Job& job, const FftLines& from, char* to, T* rows, int thread) const {
  const FftStorage<T>* const own = &OwnStorage<T>();
  const FftLines between{rows, 1, plan_length(), from.count};
  for (int64_t line = 0; line < from.count && !is_halved(); ++line) {
    WithNumbers(static_cast<const char*>(from.data), job.from_storage, [&](const auto* numbers) {
      ComplexFromReal(numbers + line * length_, length_, rows + 2 * line * length_);
    });
  }
  KASHI_RETURN_IF_ERROR(plan_->Transform(
      {is_halved() ? from : between, is_halved() ? &job.from_storage : own, between, own, /*is_inverse=*/false, 1},
      job.scratch, thread, job.check_stopped));
  for (int64_t line = 0; line < from.count; ++line, to += (length_ / 2 + 1) * job.to_storage.bytes) {
    const T* const row = rows + 2 * line * plan_length();
    if (is_halved()) {
      job.to_storage.split_halves({row, to, plan_length(), half_twiddles_.data()});
    } else {
      WithNumbers(to, job.to_storage, [&](auto* numbers) { HalfFromFull(row, length_, numbers); });
    }
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status FftAxis<T>::TransformToReal(const Job& job, const char* from, const FftLines& to, T* rows,
                                         int thread) const {
  const FftStorage<T>* const own = &OwnStorage<T>();
  for (int64_t line = 0; line < to.count; ++line, from += (length_ / 2 + 1) * job.from_storage.bytes) {
    T* const row = rows + 2 * line * plan_length();
    if (is_halved()) {
      job.from_storage.join_halves({from, row, plan_length(), half_twiddles_.data()});
    } else {
      WithNumbers(from, job.from_storage, [&](const auto* numbers) { FullFromHalf(numbers, length_, row); });
    }
  }
  const FftLines between{rows, 1, plan_length(), to.count};
  const T scale = static_cast<T>(1.0 / static_cast<double>(length_));
  KASHI_RETURN_IF_ERROR(plan_->Transform(
      {between, own, is_halved() ? to : between, is_halved() ? &job.to_storage : own, /*is_inverse=*/true, scale},
      job.scratch, thread, job.check_stopped));
  for (int64_t line = 0; line < to.count && !is_halved(); ++line) {
    WithNumbers(static_cast<char*>(to.data), job.to_storage,
                [&](auto* numbers) { RealFromComplex(rows + 2 * line * length_, length_, numbers + line * length_); });
  }
  return absl::OkStatus();
}

template class FftAxis<float>;
template class FftAxis<double>;

}  // namespace kashi::kernels
