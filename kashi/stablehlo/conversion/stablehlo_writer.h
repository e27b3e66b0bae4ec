// The writer of StableHLO text (hlo_to_stablehlo.h): its state, and the helpers of the functions for single operations.
#ifndef KASHI_STABLEHLO_CONVERSION_STABLEHLO_WRITER_H_
#define KASHI_STABLEHLO_CONVERSION_STABLEHLO_WRITER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/stablehlo/conversion/hlo_to_stablehlo.h"
#include "kashi/stablehlo/conversion/stablehlo_attribute_text.h"
#include "kashi/stablehlo/conversion/stablehlo_type_texts.h"

namespace kashi::stablehlo {

// A value of the text: result `index` of the operation with this number; index -1: its only result, or an argument.
// Number -1: the text has no such value, as for the context of an asynchronous operation.
struct ValueName {
  int64_t number = 0;
  int64_t index = -1;
};
inline constexpr ValueName kNoValue = {-1, -1};
// The arrays and tokens of a value of HLO, in the order of the leaves of its shape.
using ValueNames = absl::InlinedVector<ValueName, 1>;
using ShapeList = std::vector<const Shape*>;

// A region of an operation: a computation with arguments, or a branch, whose parameters are `captured` values.
struct WrittenRegion {
  const HloComputation* computation = nullptr;
  bool has_arguments = true;
  ValueNames captured = {};
};

// An operation to be written.
struct OperationText {
  absl::string_view name;  // "stablehlo.add"
  ValueNames operands;
  ShapeList operand_shapes;
  ShapeList result_shapes;
  std::vector<std::pair<absl::string_view, std::string>> properties;  // in order; no text: a unit attribute
  std::vector<WrittenRegion> regions;
  std::string attributes;  // discardable: "a = 1, b = 2"
  std::string location;

  void Set(absl::string_view property, std::string text) { properties.emplace_back(property, std::move(text)); }
  void SetInt(absl::string_view property, int64_t value) { Set(property, absl::StrCat(value, " : i64")); }
  void SetInt32(absl::string_view property, int64_t value) { Set(property, absl::StrCat(value, " : i32")); }
  void SetInts(absl::string_view property, absl::Span<const int64_t> values) { Set(property, IntegersText(values)); }
  void SetBool(absl::string_view property, bool value) { Set(property, value ? "true" : "false"); }
  void SetString(absl::string_view property, absl::string_view value) { Set(property, QuotedText(value)); }
  // #stablehlo<comparison_direction EQ>
  void SetEnum(absl::string_view property, absl::string_view kind, absl::string_view value) {
    Set(property, absl::StrCat("#stablehlo<", kind, " ", value, ">"));
  }
};

class StableHloWriter {
 public:
  StableHloWriter(const HloModule& module, const StableHloTextOptions& options) : module_(module), options_(options) {}

  absl::StatusOr<std::string> Write();

  // ---- For the functions of stablehlo_writer_table.cc.
  const HloModule& module() const { return module_; }
  // The names of a value that has been written: one for each leaf of its shape.
  const ValueNames& NamesOf(const HloInstruction* instruction) const { return values_.at(instruction); }
  // The names of all operands, in one list.
  ValueNames NamesOfOperands(const HloInstruction& instruction) const;
  // The names of one element of a tuple.
  ValueNames NamesOfElement(const HloInstruction& tuple, int64_t index);
  void SetNames(const HloInstruction* instruction, ValueNames names);
  // Writes an operation and returns the names of its results, one for each of `result_shapes`.
  absl::StatusOr<ValueNames> WriteOperation(const OperationText& operation);
  // Writes the operation, with the instruction's attributes. Its results are the leaves of the instruction's value.
  absl::Status WriteFor(const HloInstruction& instruction, OperationText operation);
  // As WriteFor, but the results are the elements of the instruction's tuple, which may be tuples themselves.
  absl::Status WriteWithElements(const HloInstruction& instruction, OperationText operation);
  // The operation with this name and all leaves of all operands.
  OperationText Operation(absl::string_view name, const HloInstruction& instruction) const;
  // Adds a value as an operand: all its leaves; AddTuple: one tuple, made of the leaves.
  void AddOperand(const HloInstruction& operand, OperationText* operation) const;
  absl::Status AddPackedOperand(const HloInstruction& operand, OperationText* operation);
  // "@f": writes the computation as a function.
  std::string FunctionSymbol(const HloComputation& computation);
  // Writes a computation here, with these values for its parameters, or a call of it as a function. Returns
  // the values of its root.
  absl::StatusOr<ValueNames> WriteComputation(const HloComputation& computation, const ValueNames& arguments);
  // OK if StableHLO has a type for each leaf.
  absl::Status CheckTypes(const Shape& shape);

 private:
  void CountCallers();
  absl::Status WriteFunction(const HloComputation& computation);
  absl::Status WriteEntry(const HloComputation& entry);
  std::string ArgumentAttributes(const HloInstruction& parameter);
  void AddAliases(int64_t parameter, std::vector<std::string>* attributes);
  std::string ResultAttributes(const HloInstruction& root, size_t count) const;
  std::string ModuleAttributes() const;
  absl::Status WriteInstructions(const HloComputation& computation);
  absl::Status AddProblem(const HloInstruction& instruction, const absl::Status& status);
  absl::Status ErrorOfProblems() const;
  absl::Status WriteRegions(absl::Span<const WrittenRegion> regions);
  absl::Status WriteRegion(const WrittenRegion& region);
  absl::StatusOr<ValueNames> WriteFunctionCall(const HloComputation& computation, const ValueNames& arguments);
  absl::Status WriteReturn(absl::string_view name, const ValueNames& names, const ShapeList& shapes);
  // Begins a block with arguments of these shapes; locations may be empty.
  ValueNames WriteArguments(const ShapeList& shapes, absl::Span<const std::string> locations);
  void BindParameters(const HloComputation& computation, const ValueNames& leaves);
  // Gets the leaves of a value of this shape by get_tuple_element.
  absl::Status Unpack(ValueName value, const Shape& shape, ValueNames* leaves);
  // Makes a value of this shape from the first leaves in the list, and removes them from it.
  absl::StatusOr<ValueName> Pack(const Shape& shape, absl::Span<const ValueName>* leaves);
  bool IsWrittenInPlace(const HloComputation& computation) const;
  std::string AttributesOf(const HloInstruction& instruction) const;
  std::string LocationOf(const HloInstruction& instruction) const;

  void Indent() { text_.append(2 * static_cast<size_t>(depth_), ' '); }
  void AppendNames(const ValueNames& names);
  void AppendSignature(absl::Span<const std::string> operands, absl::Span<const std::string> results);
  std::vector<std::string> TypesOf(const ShapeList& shapes);
  absl::Status CheckOperands(const ValueNames& names, absl::Span<const std::string> types) const;

  const HloModule& module_;
  const StableHloTextOptions options_;
  std::string text_;
  TypeTexts types_;
  int depth_ = 0;     // of regions
  int in_place_ = 0;  // computations that are written in place of a call, within each other
  int64_t next_number_ = 0;
  absl::flat_hash_map<const HloInstruction*, ValueNames> values_;
  absl::flat_hash_map<std::pair<int64_t, int64_t>, std::string> value_types_;      // by number and index
  absl::flat_hash_map<const HloInstruction*, ValueName> packed_;                   // tuples, if made
  absl::flat_hash_map<const HloInstruction*, std::vector<int64_t>> element_ends_;  // in the leaves of a tuple
  absl::flat_hash_map<const HloComputation*, int64_t> caller_counts_;
  absl::flat_hash_map<const HloComputation*, std::string> function_names_;
  absl::flat_hash_set<std::string> taken_names_;
  std::vector<const HloComputation*> functions_to_write_;
  std::vector<StableHloProblem> problems_;
  absl::flat_hash_set<const HloInstruction*> problematic_;
};

// The leaves of a shape: arrays and tokens.
ShapeList LeavesOf(const Shape& shape);

// Writes one instruction. UNIMPLEMENTED if StableHLO has no form for it.
absl::Status WriteInstruction(StableHloWriter& writer, const HloInstruction& instruction);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_CONVERSION_STABLEHLO_WRITER_H_
