// Attributes as StableHLO's operations have them, in text and in plain bytecode, in the form of operation_table.h.
#ifndef KASHI_STABLEHLO_PROGRAM_NORMAL_FORM_H_
#define KASHI_STABLEHLO_PROGRAM_NORMAL_FORM_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_type.h"
#include "kashi/stablehlo/program/default_attributes.h"
#include "kashi/stablehlo/program/operation_table.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {

class NormalForm {
 public:
  // Borrows both. New attributes lie in the program's arena.
  NormalForm(Program* program, DefaultAttributes* defaults) : program_(*program), defaults_(*defaults) {}

  // Sets the operation's attributes: records are flattened, defaults added; discardable ones come last, sorted. `row`:
  // null for an operation that is not in the table. Pre: the operation has its name and operands. INVALID_ARGUMENT,
  // with the names of the operation and the attribute, if one is missing or has another form.
  absl::Status SetAttributes(absl::Span<const NamedAttribute> given, const OperationRow* row, Operation* operation);

 private:
  using Numbers = absl::InlinedVector<int64_t, 8>;

  const Attribute* Normalise(const AttributeRow& row, const Attribute* value);
  const Attribute* NewList(PrimitiveType element, absl::Span<const int64_t> dimensions, const Numbers& numbers);

  Program& program_;
  DefaultAttributes& defaults_;
};

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_PROGRAM_NORMAL_FORM_H_
