// CallConfig: the part of a backend config that says what a call of a library computes.
//
//   backend_config={"operation_queue_id":"0","gemm_backend_config":{"alpha_real":1,"beta":0,…}}     since 2023
//   backend_config={"alpha_real":1,"beta":0,…}                                                      before
//
// Numbers may be strings, as protobuf writes 64-bit integers. Errors name the instruction and the key.
#ifndef KASHI_GPU_CALLS_CALL_CONFIG_H_
#define KASHI_GPU_CALLS_CALL_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/gpu_calls/json_value.h"
#include "kashi/hlo/attributes/xla_data.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::gpu_calls {

class CallConfig {
 public:
  // The object with this key in the call's backend config; or the whole config, if it has no such key. An empty config
  // is an empty object. INVALID_ARGUMENT for text that is no object of JSON. The call must outlive the result.
  static absl::StatusOr<CallConfig> Read(const HloInstruction& call, absl::string_view key);

  bool Has(absl::string_view key) const { return object_.Find(key) != nullptr; }

  // The value of a key, or `missing` if there is none. INVALID_ARGUMENT for another type, for a number that is not
  // finite or no integer, and without `missing` for a key that is not there.
  absl::StatusOr<double> Number(absl::string_view key, std::optional<double> missing = std::nullopt) const;
  absl::StatusOr<int64_t> Integer(absl::string_view key, std::optional<int64_t> missing = std::nullopt) const;
  absl::StatusOr<bool> Bool(absl::string_view key, bool missing) const;
  absl::StatusOr<std::string> Text(absl::string_view key, absl::string_view missing) const;
  absl::StatusOr<DotDimensionNumbers> DotDimensions(absl::string_view key) const;
  // Of the key precision_config; the default if there is none. Unknown names count as the default.
  PrecisionConfig Precision() const;

  // INVALID_ARGUMENT or UNIMPLEMENTED about the value of a key: "custom-call.1: backend_config: KEY WHAT".
  absl::Status Wrong(absl::string_view key, absl::string_view what) const;
  absl::Status Unknown(absl::string_view key, absl::string_view what) const;

 private:
  CallConfig(const HloInstruction& call, JsonValue object) : call_(&call), object_(std::move(object)) {}
  std::string Describe(absl::string_view key, absl::string_view what) const;
  absl::StatusOr<const JsonValue*> Required(absl::string_view key) const;

  const HloInstruction* call_;
  JsonValue object_;
};

}  // namespace kashi::gpu_calls

#endif  // KASHI_GPU_CALLS_CALL_CONFIG_H_
