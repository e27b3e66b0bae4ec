// FftAxis: the transforms along one axis of an array, of complex or real numbers.
#ifndef KASHI_KERNELS_FFT_AXIS_H_
#define KASHI_KERNELS_FFT_AXIS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "kashi/base/math.h"
#include "kashi/base/work_meter.h"
#include "kashi/kernels/fft_transform.h"

namespace kashi::kernels {

enum class FftNumbers {
  kComplex,
  kRealToHalf,  // n real numbers become frequencies 0 .. n / 2; the others are their conjugates
  kHalfToReal,  // the way back
};

// An array seen as [outer][length][inner]; `length` is the operand's, which may be n / 2 + 1.
struct FftAxisShape {
  int64_t outer, length, inner;

  bool operator==(const FftAxisShape& other) const {
    return outer == other.outer && length == other.length && inner == other.inner;
  }
};

// T: float or double, in which all is computed.
template <typename T>
class FftAxis {
 public:
  // Real numbers lie in rows (inner is 1). Time and memory: as MakeFftPlan.
  FftAxis(FftNumbers numbers, int64_t length, const FftAxisShape& shape);

  // The shape of the operand.
  const FftAxisShape& shape() const { return shape_; }
  // Elements of T that TransformAll needs.
  int64_t scratch() const;
  // Transforms `from` to `to`: other memory, or the same if both have complex numbers of one type. The storages tell
  // whether the numbers are float or double. Inverse transforms are divided by the length. Ends early with the error of
  // check_stopped.
  [[nodiscard]] absl::Status TransformAll(const void* from, const FftStorage<T>& from_storage, void* to,
                                          const FftStorage<T>& to_storage, bool is_inverse, StopFunction check_stopped,
                                          T* scratch) const;

 private:
  struct Job {
    const char* from;
    const FftStorage<T>& from_storage;
    char* to;
    const FftStorage<T>& to_storage;
    bool is_inverse;
    FftScratch<T> scratch;
    StopFunction check_stopped;
  };

  // Groups are the lines of one call of the plan.
  int64_t groups_of_outer() const { return CeilOfRatio(is_rows() ? shape_.outer : shape_.inner, plan_->lines()); }
  int64_t groups() const { return groups_of_outer() * (is_rows() ? 1 : shape_.outer); }
  absl::Status TransformGroup(const Job& job, int64_t group, int thread) const;
  absl::Status TransformReal(const Job& job, int64_t group, int thread) const;
  absl::Status TransformFromReal(const Job& job, const FftLines& from, char* to, T* rows, int thread) const;
  absl::Status TransformToReal(const Job& job, const char* from, const FftLines& to, T* rows, int thread) const;

  bool is_rows() const { return shape_.inner == 1; }
  // Real numbers that have an even length are transformed as half as many complex ones.
  bool is_halved() const { return numbers_ != FftNumbers::kComplex && length_ % 2 == 0; }
  int64_t plan_length() const { return is_halved() ? length_ / 2 : length_; }
  // Elements of T for rows between complex numbers and real ones.
  int64_t row_numbers() const { return numbers_ == FftNumbers::kComplex ? 0 : 2 * plan_->lines() * plan_length(); }
  int64_t shared_scratch() const;
  int64_t thread_scratch() const;

  FftNumbers numbers_;
  int64_t length_;
  FftAxisShape shape_;
  std::unique_ptr<const FftPlan<T>> plan_;
  std::vector<T> half_twiddles_;  // as in FftHalves
};

}  // namespace kashi::kernels

#endif  // KASHI_KERNELS_FFT_AXIS_H_
