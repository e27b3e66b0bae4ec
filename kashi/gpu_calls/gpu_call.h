// The custom calls of cuBLAS and cuDNN: which they are (gpu_calls.def), and what they compute, as plain operations.
//
//   %d = (f32[32,48], s8[33554432]) custom-call(%a, %b, %bias), custom_call_target="__cublas$lt$matmul",
//        backend_config={"gemm_backend_config":{"alpha_real":1,"beta":0,"dot_dimension_numbers":{…},"epilogue":"BIAS"}}
//
// is a dot, the broadcast of the bias and their sum, and 32 MiB of scratch memory. LowerGpuCall makes these operations,
// so that costs and runs follow from those of plain operations and there is no second place that knows a meaning.
//
// The operations compute in the type in which the library adds up: f32 for types of 8 and 16 bits, s32 for products of
// integers with an integer result, otherwise the type of the result. The result is rounded once, at the end.
#ifndef KASHI_GPU_CALLS_GPU_CALL_H_
#define KASHI_GPU_CALLS_GPU_CALL_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/array/shape.h"
#include "kashi/hlo/attributes/xla_data.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::gpu_calls {

struct GpuCall {
  enum class Counts { kProducts, kAll, kElements };  // gpu_calls.def
  absl::string_view target;
  absl::string_view config_key;
  Counts counts;
};

// The row of an instruction; null for other instructions and other targets. O(1).
const GpuCall* FindGpuCall(const HloInstruction& instruction);
const GpuCall* FindGpuCall(absl::string_view target);

// The array at the end of the results that the library uses as scratch memory: s8 or u8, of one dimension. Null: none.
// Pre: FindGpuCall(call).
const Shape* ScratchOf(const HloInstruction& call);

// Which part of a call is lowered.
enum class LoweredPart {
  kAll,
  // Up to its last product: epilogues, scales and modes that are not known do not matter. The result is that of the
  // products.
  kProducts,
};

// A module whose entry computes the results of the call, without scratch memory, from its operands. A tuple, if the
// call has one; then without its last element if that is scratch memory. Pre: FindGpuCall(call).
//
// INVALID_ARGUMENT for a config that is no such config, and for shapes that do not fit. UNIMPLEMENTED for modes that
// are not known, and for arrays of dynamic sizes. The messages begin with the name of the call. O(text of the config).
absl::StatusOr<std::shared_ptr<const HloModule>> LowerGpuCall(const HloInstruction& call,
                                                              LoweredPart part = LoweredPart::kAll);

// The queue (a stream of CUDA) on which XLA runs an instruction, by its backend config; 0, the main one, if it names
// none. Queues run beside each other. Of any instruction.
int64_t OperationQueueOf(const HloInstruction& instruction);

// The precision that the config asks of the products; the default if it has none. Pre: FindGpuCall(call).
PrecisionConfig PrecisionOf(const HloInstruction& call);

}  // namespace kashi::gpu_calls

#endif  // KASHI_GPU_CALLS_GPU_CALL_H_
