// Fourier transforms for the compiled engine.
#ifndef KASHI_EVALUATOR_FFT_H_
#define KASHI_EVALUATOR_FFT_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/statusor.h"
#include "kashi/evaluator/operation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/kernels/fft_axis.h"
#include "kashi/values/value.h"

namespace kashi::evaluator {

// The prepared axes of one instruction's transforms, kept for the next run. Thread-safe.
template <typename T>
class FftAxes {
 public:
  // The axis that was kept, if it has this shape; otherwise a new one.
  std::shared_ptr<const kernels::FftAxis<T>> FindOrMake(int64_t axis, kernels::FftNumbers numbers, int64_t length,
                                                        const kernels::FftAxisShape& shape);

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<const kernels::FftAxis<T>>> axes_;
};

// Whether operand and result of the FFT are arrays of F32 and C64, or of F64 and C128.
bool IsFftOfOnePrecision(const HloInstruction& fft);

// Evaluate<HloOpcode::kFft> for such an FFT, but F32 and C64 are computed in f32.
class FftOfOnePrecision {
 public:
  absl::StatusOr<Value> Evaluate(Operation& op);

 private:
  FftAxes<float> f32_;
  FftAxes<double> f64_;
};

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_FFT_H_
