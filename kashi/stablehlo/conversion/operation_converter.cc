#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/inference/instruction_shape.h"
#include "kashi/stablehlo/conversion/converter.h"
#include "kashi/stablehlo/conversion/sdy_text.h"
#include "kashi/stablehlo/conversion/shapes.h"
#include "kashi/stablehlo/conversion/shardings.h"

namespace kashi::stablehlo {
namespace {

// Broadcast's shape cannot be inferred: the result determines the added dimensions.
absl::Status CheckBroadcast(const HloInstruction& broadcast) {
  const Shape& from = broadcast.operand(0)->shape();
  const Shape& to = broadcast.shape();
  const absl::Span<const int64_t> dimensions = broadcast.dimensions();
  if (!from.IsArray() || !to.IsArray() || from.dimensions().size() != dimensions.size() ||
      from.element_type() != to.element_type()) {
    return InvalidArgument("%s does not broadcast to %s", ShapeUtil::HumanString(from), ShapeUtil::HumanString(to));
  }
  std::vector<bool> is_used(to.dimensions().size(), false);
  for (size_t i = 0; i < dimensions.size(); ++i) {
    const int64_t d = dimensions[i];
    const bool is_one = d >= 0 && d < static_cast<int64_t>(is_used.size()) && !is_used[d];
    if (!is_one || from.dimensions(static_cast<int>(i)) != to.dimensions(static_cast<int>(d))) {
      return InvalidArgument("dimension %d of %s does not become dimension %d of %s", i, ShapeUtil::HumanString(from),
                             d, ShapeUtil::HumanString(to));
    }
    is_used[d] = true;
  }
  return absl::OkStatus();
}

// The shape with the element types of `types`.
Shape WithElementTypes(Shape shape, const Shape& types) {
  ShapeUtil::ForEachMutableLeafShape(&shape, [&types](Shape* leaf, const ShapeIndex& index) {
    if (leaf->IsArray()) leaf->set_element_type(ShapeUtil::GetSubshape(types, index).element_type());
  });
  return shape;
}

constexpr char kUnknownSizes[] =
    "the sizes of its result are not known: they do not follow from the shapes of its operands, or depend on values";

}  // namespace

// Whether the result's type follows from the operands. Types of reductions may be wider.
absl::Status OperationConverter::CheckShape(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kBroadcast) return CheckBroadcast(instruction);
  KASHI_RETURN_IF_ERROR(hlo::CheckInstructionIsComplete(instruction));
  const absl::StatusOr<Shape> inferred = hlo::InferInstructionShape(instruction);
  if (inferred.status().code() == absl::StatusCode::kUnimplemented) return absl::OkStatus();
  if (!inferred.ok()) return inferred.status();
  if (ShapeUtil::CompatibleIgnoringFpPrecision(*inferred, instruction.shape())) return absl::OkStatus();
  return InvalidArgument("its operands make %s, but its type says %s", ShapeUtil::HumanString(*inferred),
                         ShapeUtil::HumanString(instruction.shape()));
}

// Gives the instruction the sizes that its type leaves open.
absl::Status OperationConverter::SettleShape(HloInstruction* instruction) {
  if (!instruction->shape().is_unbounded_dynamic()) return CheckShape(*instruction);
  KASHI_RETURN_IF_ERROR(hlo::CheckInstructionIsComplete(*instruction));
  const absl::StatusOr<Shape> inferred = hlo::InferInstructionShape(*instruction);
  if (inferred.status().code() == absl::StatusCode::kUnimplemented) return Unimplemented("%s", kUnknownSizes);
  if (!inferred.ok()) return inferred.status();
  if (!FitsType(instruction->shape(), *inferred)) {
    return InvalidArgument("its operands make %s, but its type says %s", ShapeUtil::HumanString(*inferred),
                           ShapeUtil::HumanString(instruction->shape()));
  }
  if (inferred->is_unbounded_dynamic()) return Unimplemented("%s", kUnknownSizes);
  *instruction->mutable_shape() = WithElementTypes(*inferred, instruction->shape());
  return absl::OkStatus();
}

absl::StatusOr<Shape> OperationConverter::ResultShape(size_t i) const {
  KASHI_ASSIGN_OR_RETURN(const Shape* shape, module_.ShapeOf(*operation_.results[i].type));
  return *shape;
}

absl::StatusOr<Shape> OperationConverter::ResultShapeOfSizes(size_t sizes, size_t i) const {
  KASHI_ASSIGN_OR_RETURN(Shape shape, ResultShape(i));
  if (!shape.is_unbounded_dynamic()) return shape;
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> values, KnownOperand(sizes, "the sizes of its result"));
  std::vector<int64_t> dimensions = values;
  std::vector<bool> is_dynamic(values.size(), false);
  bool fits = shape.IsArray() && static_cast<int64_t>(values.size()) == shape.dimensions_size();
  for (int d = 0; fits && d < static_cast<int>(values.size()); ++d) {
    fits = values[d] >= 0;
    if (shape.is_unbounded_dynamic_dimension(d)) continue;
    dimensions[d] = shape.dimensions(d);
    is_dynamic[d] = shape.is_dynamic_dimension(d);
    fits = fits && (is_dynamic[d] || values[d] == dimensions[d]);
  }
  if (fits) return ShapeUtil::MakeValidatedShape(shape.element_type(), dimensions, is_dynamic);
  return InvalidArgument("operand %d says the sizes [%s], but the type of the result is %s", sizes,
                         absl::StrJoin(values, ","), ShapeUtil::HumanString(shape));
}

std::optional<std::vector<int64_t>> OperationConverter::KnownNumbers(const HloInstruction* instruction) const {
  const Literal* value = module_.known().Find(instruction);
  if (value == nullptr || !value->shape().IsArray() || !value->shape().AreAllLeavesIntegers()) return std::nullopt;
  const Literal wide = value->Convert(S64).value();
  const absl::Span<const int64_t> numbers = wide.data<int64_t>();
  return std::vector<int64_t>(numbers.begin(), numbers.end());
}

absl::StatusOr<std::vector<int64_t>> OperationConverter::KnownOperand(size_t i, absl::string_view what) const {
  if (i >= operands_.size()) return InvalidArgument("has no operand %d", i);
  std::optional<std::vector<int64_t>> numbers = KnownNumbers(operands_[i]);
  if (numbers.has_value()) return *std::move(numbers);
  return Unimplemented(
      "HLO needs %s as numbers, but operand %d depends on values that are only known at run time: make it depend on "
      "constants and on sizes of arguments only",
      what, i);
}

absl::StatusOr<Shape> OperationConverter::ResultsShape() const {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < operation_.results.size(); ++i) {
    KASHI_ASSIGN_OR_RETURN(shapes.emplace_back(), ResultShape(i));
  }
  if (shapes.size() == 1) return std::move(shapes[0]);
  return ShapeUtil::MakeTupleShape(shapes);
}

absl::StatusOr<HloInstruction*> OperationConverter::Add(std::unique_ptr<HloInstruction> instruction) {
  KASHI_RETURN_IF_ERROR(SettleShape(instruction.get()));
  return AddUnchecked(std::move(instruction));
}

HloInstruction* OperationConverter::AddUnchecked(std::unique_ptr<HloInstruction> instruction) {
  const LocationConverter::Metadata& metadata = module_.locations().Convert(operation_.location);
  const bool is_own = instruction->opcode() != HloOpcode::kTuple && instruction->opcode() != HloOpcode::kConstant &&
                      instruction->opcode() != HloOpcode::kGetTupleElement;
  if (is_own) instruction->set_shared_metadata(metadata.value);
  instruction->set_text_place(module_.PlaceOf(operation_));
  return scope_.computation->AddInstruction(std::move(instruction), is_own ? metadata.name : "");
}

absl::Status OperationConverter::AddAttributesTo(HloInstruction* instruction) {
  AddFrontendAttributes(operation_.Find("mhlo.frontend_attributes"), instruction);
  const absl::StatusOr<std::optional<HloSharding>> sharding = ShardingIn(module_.sdy_meshes(), operation_.attributes);
  if (!sharding.ok()) return sharding.status();
  if (sharding->has_value()) instruction->set_sharding(**sharding);
  if (const Attribute* rule = operation_.Find("sdy.sharding_rule"); rule != nullptr) {
    KASHI_ASSIGN_OR_RETURN(const std::string text, SdyShardingRuleText(*rule));
    instruction->set_frontend_attribute("xla.sdy.sharding_rule", text);
  }
  const Attribute* per_value = operation_.Find("sdy.sharding");
  const Attribute* shardings = per_value == nullptr ? nullptr : FindField(*per_value, "shardings");
  if (shardings == nullptr || shardings->elements.empty()) return absl::OkStatus();
  KASHI_ASSIGN_OR_RETURN(const std::string text, SdyShardingPerValueText(shardings->elements));
  instruction->set_frontend_attribute("xla.sdy.sharding", text);
  std::vector<HloSharding> leaves;
  for (const Attribute* value : shardings->elements) {
    KASHI_ASSIGN_OR_RETURN(HloSharding leaf, HloShardingOfSdy(module_.sdy_meshes(), *value));
    leaves.push_back(std::move(leaf));
  }
  const bool is_tuple = instruction->shape().IsTuple();
  if (is_tuple && ShapeUtil::GetLeafCount(instruction->shape()) != static_cast<int64_t>(leaves.size())) {
    return absl::OkStatus();
  }
  instruction->set_sharding(is_tuple ? HloSharding::FlatTuple(std::move(leaves)) : std::move(leaves[0]));
  return absl::OkStatus();
}

absl::Status OperationConverter::Finish(std::unique_ptr<HloInstruction> instruction) {
  KASHI_ASSIGN_OR_RETURN(HloInstruction* const added, Add(std::move(instruction)));
  KASHI_RETURN_IF_ERROR(AddAttributesTo(added));
  if (operation_.results.size() != 1) return SetResultsToElements(added);
  return SetResults({added});
}

absl::Status OperationConverter::Finish(absl::StatusOr<std::unique_ptr<HloInstruction>> instruction) {
  if (!instruction.ok()) return instruction.status();
  return Finish(*std::move(instruction));
}

absl::Status OperationConverter::SetResults(absl::Span<HloInstruction* const> results) {
  if (results.size() != operation_.results.size()) {
    return InvalidArgument("has %d results instead of %d", operation_.results.size(), results.size());
  }
  for (size_t i = 0; i < results.size(); ++i) {
    KASHI_ASSIGN_OR_RETURN(const Shape* shape, module_.ShapeOf(*operation_.results[i].type));
    if (!FitsType(*shape, results[i]->shape())) {
      return InvalidArgument("result %d has the type %s instead of %s", i, ShapeUtil::HumanString(*shape),
                             ShapeUtil::HumanString(results[i]->shape()));
    }
    scope_.values[&operation_.results[i]] = results[i];
  }
  return absl::OkStatus();
}

absl::Status OperationConverter::SetResultsToElements(HloInstruction* tuple) {
  Instructions elements;
  for (size_t i = 0; i < operation_.results.size(); ++i) {
    KASHI_ASSIGN_OR_RETURN(elements.emplace_back(), AddElement(tuple, static_cast<int64_t>(i)));
  }
  return SetResults(elements);
}

absl::StatusOr<HloInstruction*> OperationConverter::AddTuple(absl::Span<HloInstruction* const> elements) {
  return Add(HloInstruction::CreateTuple(elements));
}

absl::StatusOr<HloInstruction*> OperationConverter::AddElement(HloInstruction* tuple, int64_t index) {
  const Shape& shape = tuple->shape();
  if (!shape.IsTuple() || index < 0 || index >= shape.tuple_shapes_size()) {
    return InvalidArgument("%s has no element %d", ShapeUtil::HumanString(shape), index);
  }
  return Add(HloInstruction::CreateGetTupleElement(tuple, index));
}

absl::StatusOr<HloComputation*> OperationConverter::RegionAsComputation(size_t region) {
  const Region& source = operation_.regions[region];
  if (source.blocks.size() != 1) return InvalidArgument("region %d must have one block", region);
  const Block& block = source.blocks[0];
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<Scope> scope, module_.OpenRegion(scope_));
  for (size_t i = 0; i < block.arguments.size(); ++i) {
    KASHI_ASSIGN_OR_RETURN(const Shape shape, ShapeOfType(*block.arguments[i].type));
    scope->values[&block.arguments[i]] = scope->computation->AddParameter(
        HloInstruction::CreateParameter(static_cast<int64_t>(i), shape, absl::StrCat("Arg_", i)));
  }
  KASHI_ASSIGN_OR_RETURN(const Instructions results, module_.ConvertBlock(scope.get(), block));
  HloInstruction* root =
      results.size() == 1 ? results[0] : scope->computation->AddInstruction(HloInstruction::CreateTuple(results));
  return module_.Finish(std::move(scope), root);
}

}  // namespace kashi::stablehlo
