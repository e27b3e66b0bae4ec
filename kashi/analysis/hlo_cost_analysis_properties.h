// The properties of XLA's cost analysis, for an instruction or summed over several: numbers by key
// (docs/spec/xla-api.md 29.3).
//
//   "flops"  "transcendentals"  "bytes accessed"  "optimal_seconds"  "utilization"
//   "bytes accessed0{}"     of operand 0; "bytes accessed1{0,2}": of a part of operand 1
//   "bytes accessedout{}"   of the result; "bytes accessedout{1}": of a part of it
//   "utilization0{}"        the fraction of operand 0 that is used
//
// Any other key may be set too. A key that is not set reads as 0, and a key with the value 0 counts as not set. The
// numbers are floats, as in XLA. Those of whole operands and of the result are in vectors, so that sums over many
// instructions are fast.
#ifndef KASHI_ANALYSIS_HLO_COST_ANALYSIS_PROPERTIES_H_
#define KASHI_ANALYSIS_HLO_COST_ANALYSIS_PROPERTIES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "kashi/array/shape_index.h"

namespace kashi {

class HloCostProperties {
 public:
  static constexpr char kFlopsKey[] = "flops";
  static constexpr char kTranscendentalsKey[] = "transcendentals";
  static constexpr char kBytesAccessedKey[] = "bytes accessed";
  static constexpr char kOptimalSecondsKey[] = "optimal_seconds";
  static constexpr char kUtilizationKey[] = "utilization";

  // "bytes accessed0{}", "utilization1{0}", "bytes accessedout{}".
  static std::string OperandBytesAccessedKey(int64_t operand, const ShapeIndex& index = {});
  static std::string OperandUtilizationKey(int64_t operand, const ShapeIndex& index = {});
  static std::string OutputBytesAccessedKey(const ShapeIndex& index = {});

  // The reference holds until another key is set.
  float& operator[](absl::string_view key);
  float operator[](absl::string_view key) const;

  float operand_bytes_accessed(int64_t operand, const ShapeIndex& index = {}) const;
  float operand_utilization(int64_t operand, const ShapeIndex& index = {}) const;
  float output_bytes_accessed(const ShapeIndex& index = {}) const;
  void set_operand_bytes_accessed(int64_t operand, float value) { set_operand_bytes_accessed(operand, {}, value); }
  void set_operand_bytes_accessed(int64_t operand, const ShapeIndex& index, float value);
  void set_operand_utilization(int64_t operand, float value) { set_operand_utilization(operand, {}, value); }
  void set_operand_utilization(int64_t operand, const ShapeIndex& index, float value);
  void set_output_bytes_accessed(float value) { set_output_bytes_accessed({}, value); }
  void set_output_bytes_accessed(const ShapeIndex& index, float value);

  // All values that are not 0: first keys without numbers, then operands, then the others in no order.
  void ForEach(absl::FunctionRef<void(absl::string_view key, float value)> use) const;

  // Each key by itself.
  HloCostProperties& operator+=(const HloCostProperties& other);
  HloCostProperties& operator-=(const HloCostProperties& other);
  // Takes the larger of both; keys that `other` has not set stay as they are.
  HloCostProperties& TakeMax(const HloCostProperties& other);

  // The size in plain numbers, approximately: a key of its own counts as 16.
  size_t size() const { return plain_.size() + 2 * operands_.size() + 16 * others_.size(); }
  bool empty() const;

 private:
  struct Operand {
    float bytes = 0;
    float utilization = 0;
  };
  // Operands from here on have names among the others.
  static constexpr int64_t kMaxOperands = 1 << 16;

  const float* Find(absl::string_view key) const;
  float* FindOrAdd(absl::string_view key);
  Operand& OperandAt(int64_t operand);
  template <typename F>
  HloCostProperties& Combine(const HloCostProperties& other, F combine);

  std::array<float, 6> plain_ = {};  // in the order of kPlainKeys, in the .cc
  std::vector<Operand> operands_;
  absl::flat_hash_map<std::string, float> others_;
};

}  // namespace kashi

#endif  // KASHI_ANALYSIS_HLO_COST_ANALYSIS_PROPERTIES_H_
