#include "kashi/analysis/hlo_cost_analysis_properties.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace kashi {
namespace {

constexpr absl::string_view kPlainKeys[] = {
    HloCostProperties::kFlopsKey,          HloCostProperties::kTranscendentalsKey, HloCostProperties::kBytesAccessedKey,
    HloCostProperties::kOptimalSecondsKey, HloCostProperties::kUtilizationKey,     "bytes accessedout{}",
};

// The number N of an operand from the text "N{}", in exactly this form ("7{}"); -1 for any other text.
int64_t WholeOperand(absl::string_view rest) {
  int64_t operand;
  if (!absl::ConsumeSuffix(&rest, "{}") || !absl::SimpleAtoi(rest, &operand)) return -1;
  return operand >= 0 && absl::StrCat(operand) == rest ? operand : -1;
}

// The property and the operand that a key names.
struct OperandKey {
  int64_t operand = -1;  // none
  bool is_utilization = false;
};

OperandKey ParseOperandKey(absl::string_view key) {
  if (absl::ConsumePrefix(&key, HloCostProperties::kBytesAccessedKey)) return {WholeOperand(key), false};
  if (absl::ConsumePrefix(&key, HloCostProperties::kUtilizationKey)) return {WholeOperand(key), true};
  return {};
}

}  // namespace

std::string HloCostProperties::OperandBytesAccessedKey(int64_t operand, const ShapeIndex& index) {
  return absl::StrCat(kBytesAccessedKey, operand, index.ToString());
}

std::string HloCostProperties::OperandUtilizationKey(int64_t operand, const ShapeIndex& index) {
  return absl::StrCat(kUtilizationKey, operand, index.ToString());
}

std::string HloCostProperties::OutputBytesAccessedKey(const ShapeIndex& index) {
  return absl::StrCat(kBytesAccessedKey, "out", index.ToString());
}

const float* HloCostProperties::Find(absl::string_view key) const {
  const auto* plain = std::find(std::begin(kPlainKeys), std::end(kPlainKeys), key);
  if (plain != std::end(kPlainKeys)) return &plain_[plain - std::begin(kPlainKeys)];
  const OperandKey parsed = ParseOperandKey(key);
  if (parsed.operand >= 0 && parsed.operand < kMaxOperands) {
    if (parsed.operand >= operands_.size()) return nullptr;
    const Operand& operand = operands_[parsed.operand];
    return parsed.is_utilization ? &operand.utilization : &operand.bytes;
  }
  const auto found = others_.find(key);
  return found == others_.end() ? nullptr : &found->second;
}

float* HloCostProperties::FindOrAdd(absl::string_view key) {
  const OperandKey parsed = ParseOperandKey(key);
  if (parsed.operand >= 0 && parsed.operand < kMaxOperands) OperandAt(parsed.operand);
  if (const float* found = Find(key)) return const_cast<float*>(found);
  return &others_[key];
}

HloCostProperties::Operand& HloCostProperties::OperandAt(int64_t operand) {
  if (operand >= operands_.size()) operands_.resize(operand + 1);
  return operands_[operand];
}

float& HloCostProperties::operator[](absl::string_view key) { return *FindOrAdd(key); }

float HloCostProperties::operator[](absl::string_view key) const {
  const float* found = Find(key);
  return found == nullptr ? 0 : *found;
}

float HloCostProperties::operand_bytes_accessed(int64_t operand, const ShapeIndex& index) const {
  return (*this)[OperandBytesAccessedKey(operand, index)];
}

float HloCostProperties::operand_utilization(int64_t operand, const ShapeIndex& index) const {
  return (*this)[OperandUtilizationKey(operand, index)];
}

float HloCostProperties::output_bytes_accessed(const ShapeIndex& index) const {
  return (*this)[OutputBytesAccessedKey(index)];
}

void HloCostProperties::set_operand_bytes_accessed(int64_t operand, const ShapeIndex& index, float value) {
  if (index.empty() && operand >= 0 && operand < kMaxOperands) {
    OperandAt(operand).bytes = value;
  } else {
    (*this)[OperandBytesAccessedKey(operand, index)] = value;
  }
}

void HloCostProperties::set_operand_utilization(int64_t operand, const ShapeIndex& index, float value) {
  if (index.empty() && operand >= 0 && operand < kMaxOperands) {
    OperandAt(operand).utilization = value;
  } else {
    (*this)[OperandUtilizationKey(operand, index)] = value;
  }
}

void HloCostProperties::set_output_bytes_accessed(const ShapeIndex& index, float value) {
  (*this)[OutputBytesAccessedKey(index)] = value;
}

void HloCostProperties::ForEach(absl::FunctionRef<void(absl::string_view key, float value)> use) const {
  for (size_t i = 0; i < plain_.size(); ++i) {
    if (plain_[i] != 0) use(kPlainKeys[i], plain_[i]);
  }
  for (size_t i = 0; i < operands_.size(); ++i) {
    if (operands_[i].bytes != 0) use(OperandBytesAccessedKey(static_cast<int64_t>(i)), operands_[i].bytes);
    if (operands_[i].utilization != 0) use(OperandUtilizationKey(static_cast<int64_t>(i)), operands_[i].utilization);
  }
  for (const auto& [key, value] : others_) {
    if (value != 0) use(key, value);
  }
}

bool HloCostProperties::empty() const {
  bool is_empty = true;
  ForEach([&](absl::string_view, float) { is_empty = false; });
  return is_empty;
}

template <typename F>
HloCostProperties& HloCostProperties::Combine(const HloCostProperties& other, F combine) {
  for (size_t i = 0; i < plain_.size(); ++i) plain_[i] = combine(plain_[i], other.plain_[i]);
  if (operands_.size() < other.operands_.size()) operands_.resize(other.operands_.size());
  for (size_t i = 0; i < other.operands_.size(); ++i) {
    operands_[i].bytes = combine(operands_[i].bytes, other.operands_[i].bytes);
    operands_[i].utilization = combine(operands_[i].utilization, other.operands_[i].utilization);
  }
  for (const auto& [key, value] : other.others_) {
    float& mine = others_[key];
    mine = combine(mine, value);
  }
  return *this;
}

HloCostProperties& HloCostProperties::operator+=(const HloCostProperties& other) {
  return Combine(other, [](float a, float b) { return a + b; });
}

HloCostProperties& HloCostProperties::operator-=(const HloCostProperties& other) {
  return Combine(other, [](float a, float b) { return a - b; });
}

HloCostProperties& HloCostProperties::TakeMax(const HloCostProperties& other) {
  return Combine(other, [](float a, float b) { return b == 0 ? a : std::max(a, b); });
}

}  // namespace kashi
