// Operations, regions and values of the text.
#include "kashi/stablehlo/conversion/stablehlo_writer.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/text/printed_opcode.h"

namespace kashi::stablehlo {
namespace {

// Regions that are nested deeper become functions: readers of MLIR limit the depth.
constexpr int kDeepestWrittenRegion = 24;
// Computations with more instructions that several instructions call become functions.
constexpr int64_t kMostCopiedInstructions = 64;

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

std::vector<std::string> StableHloWriter::TypesOf(const ShapeList& shapes) {
  std::vector<std::string> types;
  for (const Shape* shape : shapes) types.push_back(types_.Of(*shape));
  return types;
}

void StableHloWriter::AppendSignature(absl::Span<const std::string> operands, absl::Span<const std::string> results) {
  absl::StrAppend(&text_, "(", absl::StrJoin(operands, ", "), results.size() == 1 ? ") -> " : ") -> (",
                  absl::StrJoin(results, ", "), results.size() == 1 ? "" : ")");
}

// Compilers let operands differ in precision, and in dynamic sizes, from the types that an instruction requires.
absl::Status StableHloWriter::CheckOperands(const ValueNames& names, absl::Span<const std::string> types) const {
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].number < 0) {
      return Unimplemented("StableHLO has no value for the context of an asynchronous operation");
    }
    const std::string& type = value_types_.at({names[i].number, names[i].index});
    if (type == types[i]) continue;
    return Unimplemented("StableHLO has no form for an operand of type %s in the place of %s", type, types[i]);
  }
  return absl::OkStatus();
}

absl::Status StableHloWriter::CheckTypes(const Shape& shape) {
  for (const Shape* leaf : LeavesOf(shape)) types_.Of(*leaf);
  return types_.TakeError();
}

void StableHloWriter::SetNames(const HloInstruction* instruction, ValueNames names) {
  packed_.erase(instruction);
  values_[instruction] = std::move(names);
}

ValueNames StableHloWriter::NamesOfOperands(const HloInstruction& instruction) const {
  ValueNames names;
  for (const HloInstruction* operand : instruction.operands()) {
    const ValueNames& leaves = NamesOf(operand);
    names.insert(names.end(), leaves.begin(), leaves.end());
  }
  return names;
}

ValueNames StableHloWriter::NamesOfElement(const HloInstruction& tuple, int64_t index) {
  std::vector<int64_t>& ends = element_ends_[&tuple];
  if (ends.empty()) {
    int64_t end = 0;
    for (const Shape& element : tuple.shape().tuple_shapes()) {
      ends.push_back(end += ShapeUtil::GetLeafCount(element));
    }
  }
  const ValueNames& names = NamesOf(&tuple);
  return ValueNames(names.begin() + (index == 0 ? 0 : ends[index - 1]), names.begin() + ends[index]);
}

absl::StatusOr<ValueNames> StableHloWriter::WriteOperation(const OperationText& operation) {
  const std::vector<std::string> operand_types = TypesOf(operation.operand_shapes);
  types_.TakeError().IgnoreError();  // a problem of the instructions that make them
  const std::vector<std::string> result_types = TypesOf(operation.result_shapes);
  KASHI_RETURN_IF_ERROR(types_.TakeError());
  KASHI_RETURN_IF_ERROR(CheckOperands(operation.operands, operand_types));
  ValueNames results;
  const size_t result_count = operation.result_shapes.size();
  Indent();
  if (result_count > 0) {
    const int64_t number = next_number_++;
    absl::StrAppend(&text_, "%", number, result_count == 1 ? "" : absl::StrCat(":", result_count), " = ");
    for (size_t i = 0; i < result_count; ++i) {
      results.push_back({number, result_count == 1 ? -1 : static_cast<int64_t>(i)});
      value_types_[{results[i].number, results[i].index}] = result_types[i];
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
  AppendSignature(operand_types, result_types);
  absl::StrAppend(&text_, operation.location, "\n");
  return results;
}

absl::Status StableHloWriter::WriteFor(const HloInstruction& instruction, OperationText operation) {
  operation.result_shapes = LeavesOf(instruction.shape());
  operation.attributes = AttributesOf(instruction);
  operation.location = LocationOf(instruction);
  KASHI_ASSIGN_OR_RETURN(ValueNames names, WriteOperation(operation));
  SetNames(&instruction, std::move(names));
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
  SetNames(&instruction, std::move(leaves));
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
  if (!packed_.contains(&operand)) {
    const ValueNames names = NamesOf(&operand);
    absl::Span<const ValueName> leaves = names;
    KASHI_ASSIGN_OR_RETURN(packed_[&operand], Pack(operand.shape(), &leaves));
  }
  operation->operands.push_back(packed_[&operand]);
  operation->operand_shapes.push_back(&operand.shape());
  return absl::OkStatus();
}

// Pack and Unpack do not recurse, because tuples may be some thousand deep.
absl::StatusOr<ValueName> StableHloWriter::Pack(const Shape& shape, absl::Span<const ValueName>* leaves) {
  const auto next_leaf = [&] {
    const ValueName leaf = leaves->front();
    leaves->remove_prefix(1);
    return leaf;
  };
  if (!shape.IsTuple()) return next_leaf();
  std::vector<OperationText> tuples;  // the outer ones first
  const auto begin = [&](const Shape& tuple) {
    tuples.emplace_back().name = "stablehlo.tuple";
    tuples.back().result_shapes = {&tuple};
  };
  begin(shape);
  while (true) {
    OperationText& tuple = tuples.back();
    const Shape& tuple_shape = *tuple.result_shapes[0];
    if (tuple.operands.size() == tuple_shape.tuple_shapes().size()) {
      KASHI_ASSIGN_OR_RETURN(const ValueNames results, WriteOperation(tuple));
      tuples.pop_back();
      if (tuples.empty()) return results[0];
      tuples.back().operands.push_back(results[0]);
      continue;
    }
    const Shape& element = tuple_shape.tuple_shapes()[tuple.operands.size()];
    tuple.operand_shapes.push_back(&element);
    if (element.IsTuple()) {
      begin(element);
    } else {
      tuple.operands.push_back(next_leaf());
    }
  }
}

absl::Status StableHloWriter::Unpack(ValueName value, const Shape& shape, ValueNames* leaves) {
  struct Part {
    ValueName value;
    const Shape* shape;
    size_t next = 0;  // the element that comes next
  };
  std::vector<Part> parts = {{value, &shape}};
  while (!parts.empty()) {
    Part& part = parts.back();
    if (!part.shape->IsTuple() || part.next == part.shape->tuple_shapes().size()) {
      if (!part.shape->IsTuple()) leaves->push_back(part.value);
      parts.pop_back();
      continue;
    }
    const Shape& element = part.shape->tuple_shapes()[part.next];
    OperationText get;
    get.name = "stablehlo.get_tuple_element";
    get.operands = {part.value};
    get.operand_shapes = {part.shape};
    get.result_shapes = {&element};
    get.SetInt32("index", static_cast<int64_t>(part.next++));
    KASHI_ASSIGN_OR_RETURN(const ValueNames results, WriteOperation(get));
    parts.push_back({results[0], &element});
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
  if (region.has_arguments) arguments = WriteArguments(ShapesOfParameters(computation), {});
  KASHI_ASSIGN_OR_RETURN(const ValueNames results, WriteComputation(computation, arguments));
  return WriteReturn("stablehlo.return", results, LeavesOf(computation.root_instruction()->shape()));
}

absl::StatusOr<ValueNames> StableHloWriter::WriteComputation(const HloComputation& computation,
                                                             const ValueNames& arguments) {
  if (!IsWrittenInPlace(computation)) return WriteFunctionCall(computation, arguments);
  BindParameters(computation, arguments);
  ++in_place_;
  KASHI_RETURN_IF_ERROR(WriteInstructions(computation));
  --in_place_;
  return NamesOf(computation.root_instruction());
}

absl::StatusOr<ValueNames> StableHloWriter::WriteFunctionCall(const HloComputation& computation,
                                                              const ValueNames& arguments) {
  OperationText call;
  call.name = "func.call";
  call.operands = arguments;
  call.operand_shapes = ShapesOfParameters(computation);
  call.result_shapes = LeavesOf(computation.root_instruction()->shape());
  call.Set("callee", FunctionSymbol(computation));
  return WriteOperation(call);
}

// A computation that is used once, or that is small and calls none, is written where it is used. So the text cannot
// grow exponentially where computations share computations, nor with the square of the module where many instructions
// share one.
bool StableHloWriter::IsWrittenInPlace(const HloComputation& computation) const {
  if (in_place_ > kDeepestWrittenRegion) return false;
  const auto callers = caller_counts_.find(&computation);
  if (callers != caller_counts_.end() && callers->second <= 1) return true;
  if (computation.instruction_count() > kMostCopiedInstructions) return false;
  for (const HloInstruction* instruction : computation.instructions()) {
    if (!instruction->called_computations().empty()) return false;
  }
  return true;
}

ValueNames StableHloWriter::WriteArguments(const ShapeList& shapes, absl::Span<const std::string> locations) {
  ValueNames names;
  if (shapes.empty()) return names;
  text_.append(2 * static_cast<size_t>(depth_ - 1), ' ');
  text_.append("^bb0(");
  for (size_t i = 0; i < shapes.size(); ++i) {
    names.push_back({next_number_++});
    std::string type = types_.Of(*shapes[i]);
    absl::StrAppend(&text_, i == 0 ? "" : ", ", ValueText(names.back()), ": ", type,
                    i < locations.size() ? locations[i] : "");
    value_types_[{names[i].number, names[i].index}] = std::move(type);
  }
  text_.append("):\n");
  return names;
}

void StableHloWriter::BindParameters(const HloComputation& computation, const ValueNames& leaves) {
  auto next = leaves.begin();
  for (const HloInstruction* parameter : computation.parameter_instructions()) {
    const auto end = next + ShapeUtil::GetLeafCount(parameter->shape());
    SetNames(parameter, ValueNames(next, end));
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
    const absl::Status written = WriteInstruction(*this, *instruction);
    if (!written.ok()) KASHI_RETURN_IF_ERROR(AddProblem(*instruction, written));
  }
  return absl::OkStatus();
}

// ---- Problems -------------------------------------------------------------------------------------------------------

// The text is dropped, but the rest of the module may have more problems: the value gets names.
absl::Status StableHloWriter::AddProblem(const HloInstruction& instruction, const absl::Status& status) {
  if (!absl::IsUnimplemented(status) && !absl::IsInvalidArgument(status)) return status;
  if (problematic_.insert(&instruction).second) problems_.push_back({&instruction, status});
  ValueNames names;
  for (const Shape* leaf : LeavesOf(instruction.shape())) {
    names.push_back({next_number_++});
    value_types_[{names.back().number, names.back().index}] = types_.Of(*leaf);
  }
  types_.TakeError().IgnoreError();  // the instruction has a problem already
  SetNames(&instruction, std::move(names));
  return absl::OkStatus();
}

absl::Status StableHloWriter::ErrorOfProblems() const {
  constexpr size_t kMostLines = 20;
  if (problems_.empty()) return absl::OkStatus();
  std::vector<std::string> lines;
  for (const auto& [instruction, status] : problems_) {
    if (lines.size() == kMostLines) {
      lines.push_back(absl::StrCat("and ", problems_.size() - kMostLines, " more"));
      break;
    }
    lines.push_back(absl::StrCat("instruction ", instruction->name(), " (", hlo::PrintedOpcode(*instruction),
                                 "): ", status.message()));
  }
  return absl::Status(problems_[0].status.code(), absl::StrJoin(lines, "\n"));
}

}  // namespace kashi::stablehlo
