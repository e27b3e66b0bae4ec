// Operations, regions and values of the text.
#include "kashi/stablehlo/conversion/stablehlo_writer.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"

namespace kashi::stablehlo {
namespace {

// Regions that are nested deeper become functions: readers of MLIR limit the depth.
constexpr int kDeepestWrittenRegion = 24;

std::string ValueText(const ValueName& value) {
  return value.index < 0 ? absl::StrCat("%", value.number) : absl::StrCat("%", value.number, "#", value.index);
}

ShapeList ShapesOfParameters(const HloComputation& computation) {
  ShapeList shapes;
  for (const HloInstruction* parameter : computation.parameter_instructions()) {
    const ShapeList leaves = LeavesOf(parameter->shape());
    shapes.insert(shapes.end(), leaves.begin(), leaves.end());
  }
  return shapes;
}

}  // namespace

ShapeList LeavesOf(const Shape& shape) {
  ShapeList leaves;
  ShapeUtil::ForEachLeafShape(shape, [&](const Shape& leaf, const ShapeIndex&) { leaves.push_back(&leaf); });
  return leaves;
}

void StableHloWriter::AppendNames(const ValueNames& names) {
  absl::StrAppend(&text_, absl::StrJoin(names, ", ",
                                        [](std::string* out, const ValueName& name) { out->append(ValueText(name)); }));
}

absl::Status StableHloWriter::AppendSignature(const ShapeList& operands, const ShapeList& results) {
  const auto append = [&](const ShapeList& shapes) -> absl::Status {
    for (size_t i = 0; i < shapes.size(); ++i) {
      KASHI_ASSIGN_OR_RETURN(const std::string type, TypeTextOfShape(*shapes[i]));
      absl::StrAppend(&text_, i == 0 ? "" : ", ", type);
    }
    return absl::OkStatus();
  };
  text_.append("(");
  KASHI_RETURN_IF_ERROR(append(operands));
  text_.append(results.size() == 1 ? ") -> " : ") -> (");
  KASHI_RETURN_IF_ERROR(append(results));
  if (results.size() != 1) text_.append(")");
  return absl::OkStatus();
}

absl::StatusOr<ValueNames> StableHloWriter::WriteOperation(const OperationText& operation) {
  ValueNames results;
  const size_t result_count = operation.result_shapes.size();
  Indent();
  if (result_count > 0) {
    const int64_t number = next_number_++;
    absl::StrAppend(&text_, "%", number, result_count == 1 ? "" : absl::StrCat(":", result_count), " = ");
    for (size_t i = 0; i < result_count; ++i) {
      results.push_back({number, result_count == 1 ? -1 : static_cast<int64_t>(i)});
    }
  }
  absl::StrAppend(&text_, "\"", operation.name, "\"(");
  AppendNames(operation.operands);
  text_.append(")");
  if (!operation.properties.empty()) {
    absl::StrAppend(&text_, " <{",
                    absl::StrJoin(operation.properties, ", ",
                                  [](std::string* out, const auto& property) {
                                    absl::StrAppend(out, property.first, property.second.empty() ? "" : " = ",
                                                    property.second);
                                  }),
                    "}>");
  }
  KASHI_RETURN_IF_ERROR(WriteRegions(operation.regions));
  if (!operation.attributes.empty()) absl::StrAppend(&text_, " {", operation.attributes, "}");
  text_.append(" : ");
  KASHI_RETURN_IF_ERROR(AppendSignature(operation.operand_shapes, operation.result_shapes));
  absl::StrAppend(&text_, operation.location, "\n");
  return results;
}

absl::Status StableHloWriter::WriteFor(const HloInstruction& instruction, OperationText operation) {
  operation.result_shapes = LeavesOf(instruction.shape());
  operation.attributes = AttributesOf(instruction);
  operation.location = LocationOf(instruction);
  KASHI_ASSIGN_OR_RETURN(values_[&instruction], WriteOperation(operation));
  return absl::OkStatus();
}

absl::Status StableHloWriter::WriteWithElements(const HloInstruction& instruction, OperationText operation) {
  const Shape& shape = instruction.shape();
  // A tuple of one is one result, which keeps it apart from its element.
  if (shape.IsTuple() && shape.tuple_shapes().size() != 1) {
    for (const Shape& element : shape.tuple_shapes()) operation.result_shapes.push_back(&element);
  } else {
    operation.result_shapes.push_back(&shape);
  }
  operation.attributes = AttributesOf(instruction);
  operation.location = LocationOf(instruction);
  KASHI_ASSIGN_OR_RETURN(const ValueNames results, WriteOperation(operation));
  ValueNames leaves;
  for (size_t i = 0; i < results.size(); ++i) {
    KASHI_RETURN_IF_ERROR(Unpack(results[i], *operation.result_shapes[i], &leaves));
  }
  values_[&instruction] = std::move(leaves);
  return absl::OkStatus();
}

OperationText StableHloWriter::Operation(absl::string_view name, const HloInstruction& instruction) const {
  OperationText operation;
  operation.name = name;
  for (const HloInstruction* operand : instruction.operands()) AddOperand(*operand, &operation);
  return operation;
}

void StableHloWriter::AddOperand(const HloInstruction& operand, OperationText* operation) const {
  const ValueNames& names = NamesOf(&operand);
  operation->operands.insert(operation->operands.end(), names.begin(), names.end());
  const ShapeList leaves = LeavesOf(operand.shape());
  operation->operand_shapes.insert(operation->operand_shapes.end(), leaves.begin(), leaves.end());
}

absl::Status StableHloWriter::AddPackedOperand(const HloInstruction& operand, OperationText* operation) {
  const ValueNames names = NamesOf(&operand);
  absl::Span<const ValueName> leaves = names;
  KASHI_ASSIGN_OR_RETURN(const ValueName packed, Pack(operand.shape(), &leaves));
  operation->operands.push_back(packed);
  operation->operand_shapes.push_back(&operand.shape());
  return absl::OkStatus();
}

absl::StatusOr<ValueName> StableHloWriter::Pack(const Shape& shape, absl::Span<const ValueName>* leaves) {
  if (!shape.IsTuple()) {
    const ValueName leaf = leaves->front();
    leaves->remove_prefix(1);
    return leaf;
  }
  OperationText tuple;
  tuple.name = "stablehlo.tuple";
  for (const Shape& element : shape.tuple_shapes()) {
    KASHI_ASSIGN_OR_RETURN(const ValueName value, Pack(element, leaves));
    tuple.operands.push_back(value);
    tuple.operand_shapes.push_back(&element);
  }
  tuple.result_shapes = {&shape};
  KASHI_ASSIGN_OR_RETURN(const ValueNames results, WriteOperation(tuple));
  return results[0];
}

absl::Status StableHloWriter::Unpack(ValueName value, const Shape& shape, ValueNames* leaves) {
  if (!shape.IsTuple()) {
    leaves->push_back(value);
    return absl::OkStatus();
  }
  for (size_t i = 0; i < shape.tuple_shapes().size(); ++i) {
    const Shape& element = shape.tuple_shapes()[i];
    OperationText get;
    get.name = "stablehlo.get_tuple_element";
    get.operands = {value};
    get.operand_shapes = {&shape};
    get.result_shapes = {&element};
    get.SetInt32("index", static_cast<int64_t>(i));
    KASHI_ASSIGN_OR_RETURN(const ValueNames results, WriteOperation(get));
    KASHI_RETURN_IF_ERROR(Unpack(results[0], element, leaves));
  }
  return absl::OkStatus();
}

// ---- Regions --------------------------------------------------------------------------------------------------------

absl::Status StableHloWriter::WriteRegions(absl::Span<const WrittenRegion> regions) {
  for (size_t i = 0; i < regions.size(); ++i) {
    text_.append(i == 0 ? " ({\n" : ", {\n");
    ++depth_;
    KASHI_RETURN_IF_ERROR(WriteRegion(regions[i]));
    --depth_;
    Indent();
    text_.append("}");
  }
  if (!regions.empty()) text_.append(")");
  return absl::OkStatus();
}

absl::Status StableHloWriter::WriteRegion(const WrittenRegion& region) {
  const HloComputation& computation = *region.computation;
  ValueNames arguments = region.captured;
  if (region.has_arguments) {
    KASHI_ASSIGN_OR_RETURN(arguments, WriteArguments(ShapesOfParameters(computation), {}));
  }
  const ShapeList result_shapes = LeavesOf(computation.root_instruction()->shape());
  if (!IsInlined(computation)) {
    KASHI_ASSIGN_OR_RETURN(const ValueNames results, CallInRegion(computation, arguments));
    return WriteReturn("stablehlo.return", results, result_shapes);
  }
  BindParameters(computation, arguments);
  KASHI_RETURN_IF_ERROR(WriteInstructions(computation));
  return WriteReturn("stablehlo.return", NamesOf(computation.root_instruction()), result_shapes);
}

absl::StatusOr<ValueNames> StableHloWriter::CallInRegion(const HloComputation& computation,
                                                         const ValueNames& arguments) {
  OperationText call;
  call.name = "func.call";
  call.operands = arguments;
  call.operand_shapes = ShapesOfParameters(computation);
  call.result_shapes = LeavesOf(computation.root_instruction()->shape());
  call.Set("callee", FunctionSymbol(computation));
  return WriteOperation(call);
}

// A computation that is used once, or that has no regions itself, is written where it is used. So the text cannot grow
// exponentially where computations share computations.
bool StableHloWriter::IsInlined(const HloComputation& computation) const {
  if (depth_ > kDeepestWrittenRegion) return false;
  const auto callers = caller_counts_.find(&computation);
  if (callers != caller_counts_.end() && callers->second <= 1) return true;
  for (const HloInstruction* instruction : computation.instructions()) {
    if (!instruction->called_computations().empty()) return false;
  }
  return true;
}

absl::StatusOr<ValueNames> StableHloWriter::WriteArguments(const ShapeList& shapes,
                                                           absl::Span<const std::string> locations) {
  ValueNames names;
  if (shapes.empty()) return names;
  text_.append(2 * static_cast<size_t>(depth_ - 1), ' ');
  text_.append("^bb0(");
  for (size_t i = 0; i < shapes.size(); ++i) {
    KASHI_ASSIGN_OR_RETURN(const std::string type, TypeTextOfShape(*shapes[i]));
    names.push_back({next_number_++});
    absl::StrAppend(&text_, i == 0 ? "" : ", ", ValueText(names.back()), ": ", type,
                    i < locations.size() ? locations[i] : "");
  }
  text_.append("):\n");
  return names;
}

void StableHloWriter::BindParameters(const HloComputation& computation, const ValueNames& leaves) {
  auto next = leaves.begin();
  for (const HloInstruction* parameter : computation.parameter_instructions()) {
    const auto end = next + ShapeUtil::GetLeafCount(parameter->shape());
    values_[parameter] = ValueNames(next, end);
    next = end;
  }
}

absl::Status StableHloWriter::WriteReturn(absl::string_view name, const ValueNames& names, const ShapeList& shapes) {
  OperationText operation;
  operation.name = name;
  operation.operands = names;
  operation.operand_shapes = shapes;
  return WriteOperation(operation).status();
}

absl::Status StableHloWriter::WriteInstructions(const HloComputation& computation) {
  for (const HloInstruction* instruction : module_.InstructionOrder(computation)) {
    KASHI_RETURN_IF_ERROR(WriteInstruction(*this, *instruction));
  }
  return absl::OkStatus();
}

}  // namespace kashi::stablehlo
