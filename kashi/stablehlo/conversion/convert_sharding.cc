// Operations of Shardy, in the custom calls that XLA makes of them (docs/spec/vhlo.md 5.3).
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/stablehlo/conversion/convert_functions.h"
#include "kashi/stablehlo/conversion/converter.h"
#include "kashi/stablehlo/conversion/sdy_text.h"
#include "kashi/stablehlo/conversion/shapes.h"
#include "kashi/stablehlo/conversion/shardings.h"

namespace kashi::stablehlo {
namespace {

std::unique_ptr<HloInstruction> SideEffectCall(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                               absl::string_view target) {
  std::unique_ptr<HloInstruction> call = HloInstruction::CreateCustomCall(shape, operands, target);
  call->mutable_fields()->Set<HloField::custom_call_has_side_effect>(true);
  return call;
}

// The attribute of `name`, a list of shardings: those of the values that are kept.
absl::StatusOr<std::string> ShardingsText(OperationConverter& c, absl::string_view name,
                                          const std::vector<bool>& is_kept) {
  KASHI_ASSIGN_OR_RETURN(const Attribute* list, c.Find(name));
  const Attribute* shardings = FindField(*list, "shardings");
  if (shardings == nullptr) return InvalidArgument("`%s` has no shardings", name);
  std::vector<const Attribute*> kept;
  for (size_t i = 0; i < shardings->elements.size(); ++i) {
    KASHI_RETURN_IF_ERROR(HloShardingOfSdy(c.module().sdy_meshes(), *shardings->elements[i]).status());
    if (i >= is_kept.size() || is_kept[i]) kept.push_back(shardings->elements[i]);
  }
  return SdyShardingPerValueText(kept);
}

absl::StatusOr<Instructions> ElementsOrItself(OperationConverter& c, HloInstruction* value, size_t count) {
  if (count == 1 && !value->shape().IsTuple()) return Instructions{value};
  Instructions elements;
  for (size_t i = 0; i < count; ++i) {
    KASHI_ASSIGN_OR_RETURN(elements.emplace_back(), c.AddElement(value, static_cast<int64_t>(i)));
  }
  return elements;
}

// The body as a computation whose name identifies it to the evaluator.
absl::StatusOr<HloComputation*> ManualBody(OperationConverter& c) {
  if (c.operation().regions[0].blocks.size() != 1) return InvalidArgument("its region must have one block");
  const Block& block = c.operation().regions[0].blocks[0];
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<Scope> scope, c.module().OpenRegion(c.scope()));
  scope->computation->set_name("xla.sdy.manual_computation_body");
  for (size_t i = 0; i < block.arguments.size(); ++i) {
    KASHI_ASSIGN_OR_RETURN(const Shape shape, ShapeOfType(*block.arguments[i].type));
    scope->values[&block.arguments[i]] = scope->computation->AddParameter(
        HloInstruction::CreateParameter(static_cast<int64_t>(i), shape, absl::StrCat("Arg_", i)));
  }
  KASHI_ASSIGN_OR_RETURN(const Instructions results, c.module().ConvertBlock(scope.get(), block));
  HloInstruction* root =
      results.size() == 1 ? results[0] : scope->computation->AddInstruction(HloInstruction::CreateTuple(results));
  return c.module().Finish(std::move(scope), root);
}

}  // namespace

absl::Status ConvertShardingConstraint(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Attribute* sharding, c.Find("sharding"));
  KASHI_ASSIGN_OR_RETURN(const std::string text, SdyShardingPerValueText({sharding}));
  KASHI_ASSIGN_OR_RETURN(HloSharding tiles, HloShardingOfSdy(c.module().sdy_meshes(), *sharding));
  std::unique_ptr<HloInstruction> call =
      HloInstruction::CreateCustomCall(c.operand(0)->shape(), {c.operand(0)}, "Sharding");
  call->set_sharding(std::move(tiles));
  call->set_frontend_attribute("xla.sdy.sharding", text);
  return c.Finish(std::move(call));
}

absl::Status ConvertShardingGroup(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const int64_t group, c.Int("group_id"));
  std::unique_ptr<HloInstruction> call = SideEffectCall(ShapeUtil::MakeNil(), {c.operand(0)}, "xla.sdy.ShardingGroup");
  call->set_frontend_attribute("xla.sdy.sharding_group_id", absl::StrCat(group, " : i64"));
  return c.Finish(std::move(call));
}

// Its operations replace it. The shardings of its operands and results are only hints.
absl::Status ConvertNamedComputation(OperationConverter& c) {
  if (c.operation().regions[0].blocks.size() != 1) return c.Invalid("its region must have one block");
  const Block& block = c.operation().regions[0].blocks[0];
  if (block.arguments.size() != c.operands().size()) {
    return c.Invalid("has %d operands, but its region takes %d", c.operands().size(), block.arguments.size());
  }
  for (size_t i = 0; i < block.arguments.size(); ++i) c.scope().values[&block.arguments[i]] = c.operand(i);
  KASHI_ASSIGN_OR_RETURN(const Instructions results, c.module().ConvertBlock(&c.scope(), block));
  if (results.size() != c.operation().results.size()) {
    return c.Invalid("has %d results, but its region returns %d", c.operation().results.size(), results.size());
  }
  return c.SetResults(results);
}

namespace {

struct ManualBorder {
  absl::string_view target, shardings_name;
  std::string manual_axes;
};

// Takes values across a border of a manual region: arrays by one custom call, tokens as they are.
absl::StatusOr<Instructions> CrossBorder(OperationConverter& c, const ManualBorder& border,
                                         absl::Span<HloInstruction* const> values, const std::vector<Shape>& to) {
  std::vector<bool> is_array;
  Instructions arrays, crossed;
  std::vector<const Shape*> shapes;
  for (size_t i = 0; i < values.size(); ++i) {
    is_array.push_back(!values[i]->shape().IsToken());
    if (is_array[i]) arrays.push_back(values[i]);
    if (is_array[i]) shapes.push_back(&to[i]);
  }
  KASHI_ASSIGN_OR_RETURN(const std::string shardings, ShardingsText(c, border.shardings_name, is_array));
  if (!arrays.empty()) {
    const Shape shape = shapes.size() == 1 ? *shapes[0] : ShapeUtil::MakeTupleShapeWithPtrs(shapes);
    std::unique_ptr<HloInstruction> call = SideEffectCall(shape, arrays, border.target);
    call->set_frontend_attribute(absl::StrCat("xla.sdy.", border.shardings_name), shardings);
    call->set_frontend_attribute("xla.sdy.manual_axes", border.manual_axes);
    KASHI_ASSIGN_OR_RETURN(HloInstruction* const moved, c.Add(std::move(call)));
    KASHI_ASSIGN_OR_RETURN(crossed, ElementsOrItself(c, moved, shapes.size()));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (!is_array[i]) crossed.insert(crossed.begin() + static_cast<int64_t>(i), values[i]);
  }
  return crossed;
}

}  // namespace

absl::Status ConvertManualComputation(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Attribute* axes, c.Find("manual_axes"));
  KASHI_ASSIGN_OR_RETURN(const std::string manual_axes, SdyManualAxesText(*axes));
  KASHI_ASSIGN_OR_RETURN(HloComputation* const body, ManualBody(c));
  std::vector<Shape> local_shapes, global_shapes;
  for (const HloInstruction* parameter : body->parameter_instructions()) local_shapes.push_back(parameter->shape());
  if (local_shapes.size() != c.operands().size()) return c.Invalid("its region takes another number of operands");
  KASHI_ASSIGN_OR_RETURN(
      const Instructions locals,
      CrossBorder(c, {"xla.sdy.GlobalToLocalShape", "in_shardings", manual_axes}, c.operands(), local_shapes));
  std::unique_ptr<HloInstruction> run = HloInstruction::CreateCall(body->root_instruction()->shape(), locals, body);
  run->set_frontend_attribute("inlineable", "false");
  KASHI_ASSIGN_OR_RETURN(HloInstruction* const ran, c.Add(std::move(run)));
  const size_t count = c.operation().results.size();
  if (count == 0) return absl::OkStatus();
  KASHI_ASSIGN_OR_RETURN(const Instructions results, ElementsOrItself(c, ran, count));
  KASHI_ASSIGN_OR_RETURN(const Shape global, c.ResultsShape());
  for (size_t i = 0; i < count; ++i) {
    global_shapes.push_back(global.IsTuple() ? global.tuple_shapes(static_cast<int>(i)) : global);
  }
  KASHI_ASSIGN_OR_RETURN(
      const Instructions globals,
      CrossBorder(c, {"xla.sdy.LocalToGlobalShape", "out_shardings", manual_axes}, results, global_shapes));
  return c.SetResults(globals);
}

}  // namespace kashi::stablehlo
