#include "kashi/matching/operation_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kashi/array/layout_util.h"
#include "kashi/base/fingerprint.h"
#include "kashi/hlo/ir/elided_constant.h"
#include "kashi/literal/literal.h"

namespace kashi::matching {

using base::FingerprintOf;
using hlo::IsElidedConstant;
namespace {

// Of the elements in row-major order, so that the layout does not count.
std::string FingerprintOfValue(const Literal& literal) {
  if (!literal.shape().IsArray()) return FingerprintOf(literal.ToString()).ToString();
  const auto of_bytes = [](const Literal& dense) {
    return FingerprintOf({static_cast<const char*>(dense.untyped_data()), static_cast<size_t>(dense.size_bytes())})
        .ToString();
  };
  if (LayoutUtil::IsMonotonicWithDim0Major(literal.shape().layout())) return of_bytes(literal);
  return of_bytes(literal.Relayout(LayoutUtil::GetDefaultLayoutForShape(literal.shape())));
}

}  // namespace

std::string OperationText(const HloInstruction& instruction) {
  static const HloPrintOptions options =
      HloPrintOptions::Canonical()
          .set_print_subcomputation_mode(HloPrintOptions::PrintSubcomputationMode::kOff)
          .set_print_result_shape(false)
          .set_print_operand_shape(false)
          .set_print_backend_config(true)
          .set_print_original_value(false)
          .set_syntax_sugar_async_ops(false);
  return instruction.ToString(options);
}

std::string AttributesOf(const HloInstruction& instruction) {
  const std::string text = OperationText(instruction);
  const size_t end = text.find("), ");
  return end == std::string::npos ? "none" : text.substr(end + 3);
}

std::string OperationKey(const HloInstruction& instruction, bool with_layouts) {
  std::string key = absl::StrCat(instruction.shape().ToString(with_layouts), " ", OperationText(instruction));
  if (IsElidedConstant(instruction)) {
    absl::StrAppend(&key, "#elided");
  } else if (instruction.IsConstant()) {
    absl::StrAppend(&key, "#", FingerprintOfValue(instruction.literal()));
  }
  return key;
}

}  // namespace kashi::matching
