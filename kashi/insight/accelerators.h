// The peaks of TPUs, GPUs and of this processor: the table accelerators.def, which names its sources.
#ifndef KASHI_INSIGHT_ACCELERATORS_H_
#define KASHI_INSIGHT_ACCELERATORS_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_type.h"
#include "kashi/array/tpu_tiling.h"

namespace kashi::insight {

enum class AcceleratorKind { kCpu, kTpu, kGpu };

// One device as XLA sees it. Rates are per second: of operations, where a multiplication and an addition are two, and
// of bytes. 0: the device has no unit for them, or its maker does not say.
struct Accelerator {
  std::string name;  // "v5e", "h100", "cpu"
  AcceleratorKind kind = AcceleratorKind::kCpu;
  std::optional<TpuGeneration> tpu;
  // Products of matrices and convolutions, by the type of the operands.
  double matrix_f64 = 0, matrix_f32 = 0, matrix_tf32 = 0, matrix_bf16 = 0, matrix_f8 = 0, matrix_s8 = 0, matrix_s4 = 0;
  double vector_f32 = 0, vector_f64 = 0;  // all other arithmetic
  double memory_bandwidth = 0;
  double memory_bytes = 0;
  double on_chip_bytes = 0;  // vector memory of a TPU, the last cache of a GPU
  int matrix_tile = 0;       // rows and columns of a TPU's matrix unit
  std::string source;

  // All other arithmetic on this type, complex numbers included. Never 0 if vector_f32 is not.
  double VectorRate(PrimitiveType type) const;
};

// The rows of the table, in its order. "cpu" is not among them: its peaks must be measured.
absl::Span<const Accelerator> Accelerators();
// Null for names that are not in the table. Case does not matter.
const Accelerator* FindAccelerator(absl::string_view name);
std::string AcceleratorNames();  // "v2, v3, …", for messages

// A processor with these measured rates. Narrow types are as fast as f32, f64 is half as fast.
Accelerator MakeCpu(double f32_flops_per_second, double memory_bytes_per_second);

}  // namespace kashi::insight

#endif  // KASHI_INSIGHT_ACCELERATORS_H_
