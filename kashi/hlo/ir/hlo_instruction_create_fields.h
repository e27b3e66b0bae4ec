// Helpers of the instruction factories (hlo_instruction_create*.cc) that set fields.
#ifndef KASHI_HLO_IR_HLO_INSTRUCTION_CREATE_FIELDS_H_
#define KASHI_HLO_IR_HLO_INSTRUCTION_CREATE_FIELDS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "kashi/hlo/ir/field_list.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::hlo::create_fields {

// Fields(With<HloField::k>{5}, …)
template <HloField field>
struct With {
  HloFieldType<field> value;
  void AddTo(HloFieldList* fields) { fields->Set<field>(std::move(value)); }
};
// As With, but sets no field if the value is the default.
template <HloField field>
struct WithUnless {
  HloFieldType<field> value;
  HloFieldType<field> usual;
  void AddTo(HloFieldList* fields) {
    if (!(value == usual)) fields->Set<field>(std::move(value));
  }
};
template <HloField field>
using WithFlag = WithUnless<field>;
template <HloField field>
struct WithOptional {
  std::optional<HloFieldType<field>> value;
  void AddTo(HloFieldList* fields) {
    if (value) fields->Set<field>(*std::move(value));
  }
};
template <typename... Entries>
HloFieldList Fields(Entries... entries) {
  HloFieldList fields;
  (entries.AddTo(&fields), ...);
  return fields;
}

inline With<HloField::dimensions> Dimensions(absl::Span<const int64_t> dimensions) { return {Int64List(dimensions)}; }
inline With<HloField::dimensions> Dimension(int64_t dimension) { return {Int64List({dimension})}; }
inline With<HloField::called_computations> Calls(absl::Span<HloComputation* const> computations) {
  return {ComputationVector(computations.begin(), computations.end())};
}
inline With<HloField::called_computations> Calls(HloComputation* computation) {
  return {ComputationVector({computation})};
}
inline With<HloField::called_computations> Calls(HloComputation* first, HloComputation* second) {
  return {ComputationVector({first, second})};
}

}  // namespace kashi::hlo::create_fields

#endif  // KASHI_HLO_IR_HLO_INSTRUCTION_CREATE_FIELDS_H_
