// What instructions and modules have besides operations, operands and shapes, and may do without: metadata, shardings,
// layouts, optional attributes …
#ifndef KASHI_REDUCTION_ATTRIBUTES_H_
#define KASHI_REDUCTION_ATTRIBUTES_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::reduction {

// A row of the table of what any instruction may have.
struct AttributeKind {
  absl::string_view name;
  int64_t (*count)(const HloInstruction& instruction);  // 0: it has none
  void (*erase)(HloInstruction* instruction);           // afterwards the count is 0
};
absl::Span<const AttributeKind> AttributeKinds();

// The fields that only optional attributes of its operation use (ops.def), and that it has. Without such a field it is
// still an instruction of its operation. It has another meaning then, where the attribute has one.
std::vector<HloField> OptionalFieldsOf(const HloInstruction& instruction);

// Parts of its window that are not the default: stride, padding, dilation, reversal.
int64_t CountWindowParts(const HloInstruction& instruction);

// All of these, and 1 or 2 for a constant that is not all zeros (1: all ones, and small).
int64_t CountAttributes(const HloInstruction& instruction);

// A row of the table of what a module may have.
struct ModuleAttributeKind {
  absl::string_view name;
  int64_t (*count)(const HloModule& module);
  void (*erase)(HloModule* module);
};
absl::Span<const ModuleAttributeKind> ModuleAttributeKinds();
int64_t CountModuleAttributes(const HloModule& module);

}  // namespace kashi::reduction

#endif  // KASHI_REDUCTION_ATTRIBUTES_H_
