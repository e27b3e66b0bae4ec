// The values of absent attributes: omitted by the writer of a text, or unknown to an old VHLO operation.
#ifndef KASHI_STABLEHLO_PROGRAM_DEFAULT_ATTRIBUTES_H_
#define KASHI_STABLEHLO_PROGRAM_DEFAULT_ATTRIBUTES_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_type.h"
#include "kashi/stablehlo/program/operation_table.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {

// Makes defaults in a program's arena, those that depend on nothing only once. The program must outlive the object.
class DefaultAttributes {
 public:
  explicit DefaultAttributes(Program* program) : program_(program) {}

  // The default of the row's attribute for an operation whose operands are set. nullptr for kOptional. For kRequired,
  // or if the default needs the rank of the first operand and this is unknown, an error that names the attribute.
  absl::StatusOr<const Attribute*> Make(const AttributeRow& row, const Operation& operation);

  // "i64", "i32", "f64", …; each is made once.
  const Type* ElementType(PrimitiveType element);
  // The type none.
  const Type* NoneType();

 private:
  const Attribute* MakeOnce(const AttributeRow& row);
  absl::StatusOr<const Attribute*> MakeForRank(const AttributeRow& row, const Operation& operation);
  Attribute* New(Attribute::Kind kind);
  Attribute* NewNumber(Attribute::Kind kind, PrimitiveType element, int64_t value);
  Attribute* NewEnum(absl::string_view text);
  Attribute* NewAccuracy();
  Attribute* NewTensor(PrimitiveType element, absl::Span<const int64_t> dimensions, int64_t value);

  static constexpr size_t kDefaults = static_cast<size_t>(AttributeDefault::kSpatialFalses) + 1;
  static constexpr size_t kForms = static_cast<size_t>(AttributeForm::kMesh) + 1;

  Program* program_;
  std::array<const Attribute*, kDefaults> made_ = {};
  std::array<const Attribute*, kForms> first_values_ = {};
  std::array<const Type*, static_cast<size_t>(PrimitiveType_MAX) + 1> element_types_ = {};
  const Type* none_ = nullptr;
};

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_PROGRAM_DEFAULT_ATTRIBUTES_H_
