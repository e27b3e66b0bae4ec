// Calls and control flow (docs/spec/hlo-ops.md 10.3).
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/base/math.h"
#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/hlo/attributes/sharding_builder.h"
#include "kashi/hlo/builder/xla_lowering.h"

namespace kashi {

using hlo::Inferred;
using hlo::Joined;
using hlo::Lower;
using hlo::NewInstruction;
using hlo::NodeOr;
using hlo::Nodes;
using hlo::XlaLowering;
namespace {

// ---- Conditionals.

absl::Status CheckSelector(const Shape& shape, PrimitiveType type, absl::string_view kind) {
  if (shape.IsArray() && ShapeUtil::IsScalar(shape) && shape.element_type() == type) return absl::OkStatus();
  return InvalidArgument("Argument to %s-Conditional is not a scalar of %s type (%s).", kind,
                         type == PRED ? "PRED" : "S32", ShapeUtil::HumanString(shape));
}

XlaOp IndexedConditional(XlaOp branch_index, std::vector<XlaComputationRef> computations,
                         absl::Span<const XlaOp> operands) {
  return Lower(branch_index.builder(), Joined({branch_index}, operands), [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_RETURN_IF_ERROR(CheckSelector(x[0]->shape(), S32, "indexed"));
    if (computations.size() != operands.size()) {
      return InvalidArgument("Conditional has %d branches, but %d operands.", computations.size(), operands.size());
    }
    std::vector<HloComputation*> branches;
    for (const XlaComputationRef& computation : computations) {
      KASHI_ASSIGN_OR_RETURN(branches.emplace_back(), to.Embed(computation));
    }
    return to.AddInferred(HloInstruction::CreateConditional(Inferred(), x[0], branches, x.subspan(1)));
  });
}

// ---- Custom calls.

struct CustomCallOptions {
  const std::string& target;
  const Shape& shape;
  const std::string& opaque;
  bool has_side_effect;
  OutputOperandAliasingSpan output_operand_aliasing;
  const Literal* literal;
  CustomCallSchedule schedule;
  CustomCallApiVersion api_version;
};

absl::Status CheckOperandLayouts(const Shape& shape, size_t operand_count, absl::Span<const Shape> operand_shapes) {
  if (!LayoutUtil::HasLayout(shape)) {
    return InvalidArgument("Result shape must have layout for custom call with constrained layout.");
  }
  if (operand_shapes.size() != operand_count) {
    return InvalidArgument(
        "Must specify a shape with layout for each operand for custom call with constrained layout; given %d shapes, "
        "expected %d",
        operand_shapes.size(), operand_count);
  }
  for (size_t i = 0; i < operand_shapes.size(); ++i) {
    if (LayoutUtil::HasLayout(operand_shapes[i])) continue;
    return InvalidArgument("No layout specified for operand %d for custom call with constrained layout.", i);
  }
  return absl::OkStatus();
}

// Adds a custom call with further fields: operand shapes, window, …
NodeOr AddCustomCall(XlaLowering& to, Nodes operands, const CustomCallOptions& options, HloFieldList fields = {}) {
  if (absl::StartsWith(options.target, "$")) {
    return InvalidArgument(
        "Invalid custom_call_target \"%s\": Call targets that start with '$' are reserved for internal use.",
        options.target);
  }
  const auto* operand_shapes = fields.Find<HloField::operand_shapes_with_layout>();
  if (operand_shapes) {
    KASHI_RETURN_IF_ERROR(CheckOperandLayouts(options.shape, operands.size(), *operand_shapes));
  }
  fields.Set<HloField::custom_call_target>(options.target);
  if (options.has_side_effect) fields.Set<HloField::custom_call_has_side_effect>(true);
  if (!options.output_operand_aliasing.empty()) {
    fields.Set<HloField::output_operand_aliasing>(
        {options.output_operand_aliasing.begin(), options.output_operand_aliasing.end()});
  }
  if (options.literal != nullptr) fields.Set<HloField::literal>(SharedLiteral(options.literal->Clone()));
  if (options.schedule != SCHEDULE_NONE) fields.Set<HloField::custom_call_schedule>(options.schedule);
  if (options.api_version != API_VERSION_ORIGINAL) fields.Set<HloField::api_version>(options.api_version);
  NewInstruction call = HloInstruction::Create(HloOpcode::kCustomCall, options.shape, operands, std::move(fields));
  if (!options.opaque.empty()) call->set_raw_backend_config_string(options.opaque);
  return to.Add(std::move(call));
}

HloFieldList OperandShapes(absl::Span<const Shape> shapes) {
  HloFieldList fields;
  fields.Set<HloField::operand_shapes_with_layout>(std::vector<Shape>(shapes.begin(), shapes.end()));
  return fields;
}

XlaOp CustomCallOf(XlaBuilder* builder, absl::Span<const XlaOp> operands, const CustomCallOptions& options,
                   const XlaComputationRef* computation, HloFieldList fields) {
  return Lower(builder, operands, [&](XlaLowering& to, Nodes x) -> NodeOr {
    if (computation != nullptr) {
      KASHI_ASSIGN_OR_RETURN(HloComputation * called, to.Embed(*computation));
      fields.Set<HloField::called_computations>(ComputationVector{called});
    }
    return AddCustomCall(to, x, options, std::move(fields));
  });
}

// ---- Between full and shard shapes.

// Dimension `single_dim` becomes manual, the others stay: the devices along it become the last tile dimension.
OpSharding ManualAlong(const OpSharding& sharding, int single_dim) {
  if (single_dim < 0 || sharding.type() != OpSharding::OTHER) return sharding_builder::Manual();
  const Int64List& dims = sharding.tile_assignment_dimensions();
  Array<int64_t> old_tile(std::vector<int64_t>(dims.begin(), dims.end()));
  old_tile.SetValues(sharding.tile_assignment_devices());
  std::vector<int64_t> sizes(dims.begin(), dims.end());
  sizes.push_back(std::exchange(sizes[single_dim], 1));
  Array<int64_t> tile(sizes);
  tile.Each([&](absl::Span<const int64_t> index, int64_t* device) {
    std::vector<int64_t> old_index(index.begin(), index.end() - 1);
    old_index[single_dim] = index.back();
    *device = old_tile(old_index);
  });
  OpSharding manual;
  manual.set_type(OpSharding::OTHER);
  manual.mutable_tile_assignment_dimensions()->Assign(sizes.begin(), sizes.end());
  manual.mutable_tile_assignment_devices()->Assign(tile.begin(), tile.end());
  if (sharding.replicate_on_last_tile_dim()) manual.add_last_tile_dims(OpSharding::REPLICATED);
  for (const OpSharding::Type type : sharding.last_tile_dims()) manual.add_last_tile_dims(type);
  manual.add_last_tile_dims(OpSharding::MANUAL);
  return manual;
}

std::string UnspecifiedDimensions(absl::Span<const int64_t> dimensions) {
  if (dimensions.empty()) return "";
  return absl::StrCat("unspecified_dims=[", absl::StrJoin(dimensions, ","), "]");
}

// `input` annotated with one sharding, then the call `target` annotated with the other.
absl::StatusOr<XlaOp> ConvertSpmd(XlaBuilder* builder, XlaOp input, const OpSharding& input_sharding,
                                  const std::string& target, const Shape& output_shape,
                                  const OpSharding& output_sharding, absl::Span<const int64_t> unspecified_dims) {
  KASHI_ASSIGN_OR_RETURN(const Shape input_shape, builder->GetShape(input));
  const std::string opaque = UnspecifiedDimensions(unspecified_dims);
  XlaOp annotated;
  {
    XlaScopedShardingAssignment assign(builder, input_sharding);
    annotated = CustomCall(builder, "Sharding", {input}, input_shape, opaque);
  }
  XlaScopedShardingAssignment assign(builder, output_sharding);
  return CustomCall(builder, target, {annotated}, output_shape, opaque);
}

absl::Status CheckManualSharding(const Shape& shape, const OpSharding& sharding, int single_dim) {
  const int rank = shape.IsArray() ? static_cast<int>(shape.dimensions_size()) : 0;
  if (sharding.type() != OpSharding::OTHER) return absl::OkStatus();
  KASHI_ASSIGN_OR_RETURN(const HloSharding checked, HloSharding::FromProto(sharding));
  if (single_dim >= rank || sharding.tile_assignment_dimensions_size() < rank ||
      sharding.tile_assignment_devices_size() != checked.tile_assignment().num_elements()) {
    return InvalidArgument("sharding %s does not fit %s", checked.ToString(), ShapeUtil::HumanString(shape));
  }
  return absl::OkStatus();
}

}  // namespace

// ---- Calls ---------------------------------------------------------------------------------------------------------

XlaOp Call(XlaBuilder* builder, const XlaComputationRef& computation, absl::Span<const XlaOp> operands) {
  return Lower(builder, operands, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_ASSIGN_OR_RETURN(HloComputation * called, to.Embed(computation));
    return to.AddInferred(HloInstruction::CreateCall(Inferred(), x, called));
  });
}

XlaOp CompositeCall(XlaBuilder* builder, const XlaComputationRef& computation, absl::Span<const XlaOp> operands,
                    const std::string& name, std::optional<absl::string_view> attributes,
                    std::optional<int64_t> version) {
  return Lower(builder, operands, [&](XlaLowering& to, Nodes x) -> NodeOr {
    if (name.empty()) return InvalidArgument("a composite call needs a composite.name whose value is non-empty");
    if (attributes.has_value() && attributes->empty()) {
      return InvalidArgument("the composite.attributes of composite call %s must be {} or non-empty", name);
    }
    if (version.value_or(0) < 0) {
      return InvalidArgument("the composite.version of composite call %s must be a non-negative integer, but is %d",
                             name, *version);
    }
    KASHI_ASSIGN_OR_RETURN(HloComputation * called, to.Embed(computation));
    return to.AddInferred(HloInstruction::CreateCompositeCall(
        Inferred(), x, called, name, std::string(attributes.value_or("{}")), version.value_or(0)));
  });
}

XlaOp While(const XlaComputationRef& condition, const XlaComputationRef& body, XlaOp init) {
  return Lower({init}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_ASSIGN_OR_RETURN(HloComputation * body_computation, to.Embed(body));
    KASHI_ASSIGN_OR_RETURN(HloComputation * condition_computation, to.Embed(condition));
    return to.AddInferred(HloInstruction::CreateWhile(Inferred(), condition_computation, body_computation, x[0]));
  });
}

XlaOp Conditional(XlaOp predicate, XlaOp true_operand, const XlaComputationRef& true_computation, XlaOp false_operand,
                  const XlaComputationRef& false_computation) {
  return Lower({predicate, true_operand, false_operand}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_RETURN_IF_ERROR(CheckSelector(x[0]->shape(), PRED, "predicated"));
    KASHI_ASSIGN_OR_RETURN(HloComputation * on_true, to.Embed(true_computation));
    KASHI_ASSIGN_OR_RETURN(HloComputation * on_false, to.Embed(false_computation));
    return to.AddInferred(HloInstruction::CreateConditional(Inferred(), x[0], x[1], on_true, x[2], on_false));
  });
}

XlaOp Conditional(XlaOp branch_index, absl::Span<const XlaComputation* const> branch_computations,
                  absl::Span<const XlaOp> branch_operands) {
  std::vector<XlaComputationRef> computations;
  for (const XlaComputation* computation : branch_computations) computations.emplace_back(*computation);
  return IndexedConditional(branch_index, std::move(computations), branch_operands);
}

XlaOp Conditional(XlaOp branch_index, absl::Span<const XlaComputationId> branch_computations,
                  absl::Span<const XlaOp> branch_operands) {
  return IndexedConditional(branch_index,
                            std::vector<XlaComputationRef>(branch_computations.begin(), branch_computations.end()),
                            branch_operands);
}

// ---- Custom calls --------------------------------------------------------------------------------------------------

XlaOp CustomCall(XlaBuilder* builder, const std::string& call_target_name, absl::Span<const XlaOp> operands,
                 const Shape& shape, const std::string& opaque, bool has_side_effect,
                 OutputOperandAliasingSpan output_operand_aliasing, const Literal* literal, CustomCallSchedule schedule,
                 CustomCallApiVersion api_version) {
  return CustomCallOf(
      builder, operands,
      {call_target_name, shape, opaque, has_side_effect, output_operand_aliasing, literal, schedule, api_version},
      /*computation=*/nullptr, {});
}

XlaOp CustomCallWithComputation(XlaBuilder* builder, const std::string& call_target_name,
                                absl::Span<const XlaOp> operands, const XlaComputationRef& computation,
                                const Shape& shape, const std::string& opaque, bool has_side_effect,
                                OutputOperandAliasingSpan output_operand_aliasing, const Literal* literal,
                                CustomCallSchedule schedule, CustomCallApiVersion api_version) {
  return CustomCallOf(
      builder, operands,
      {call_target_name, shape, opaque, has_side_effect, output_operand_aliasing, literal, schedule, api_version},
      &computation, {});
}

XlaOp CustomCallWithLayout(XlaBuilder* builder, const std::string& call_target_name, absl::Span<const XlaOp> operands,
                           const Shape& shape_with_layout, absl::Span<const Shape> operand_shapes_with_layout,
                           const std::string& opaque, bool has_side_effect,
                           OutputOperandAliasingSpan output_operand_aliasing, const Literal* literal,
                           CustomCallSchedule schedule, CustomCallApiVersion api_version) {
  return CustomCallOf(builder, operands,
                      {call_target_name, shape_with_layout, opaque, has_side_effect, output_operand_aliasing, literal,
                       schedule, api_version},
                      /*computation=*/nullptr, OperandShapes(operand_shapes_with_layout));
}

XlaOp CustomCallWithComputationAndLayouts(XlaBuilder* builder, const std::string& call_target_name,
                                          absl::Span<const XlaOp> operands, const XlaComputationRef& computation,
                                          const Shape& shape_with_layout,
                                          absl::Span<const Shape> operand_shapes_with_layout, const std::string& opaque,
                                          bool has_side_effect, OutputOperandAliasingSpan output_operand_aliasing,
                                          const Literal* literal, CustomCallSchedule schedule,
                                          CustomCallApiVersion api_version) {
  return CustomCallOf(builder, operands,
                      {call_target_name, shape_with_layout, opaque, has_side_effect, output_operand_aliasing, literal,
                       schedule, api_version},
                      &computation, OperandShapes(operand_shapes_with_layout));
}

XlaOp CustomCallWithConvDnums(XlaBuilder* builder, const std::string& call_target_name,
                              absl::Span<const XlaOp> operands, const Shape& shape,
                              absl::Span<const Shape> operand_shapes_with_layout, const std::string& opaque,
                              bool has_side_effect, OutputOperandAliasingSpan output_operand_aliasing,
                              const Literal* literal, Window window, ConvolutionDimensionNumbers dimension_numbers,
                              CustomCallSchedule schedule, CustomCallApiVersion api_version) {
  HloFieldList fields = operand_shapes_with_layout.empty() ? HloFieldList() : OperandShapes(operand_shapes_with_layout);
  fields.Set<HloField::window>(std::move(window));
  fields.Set<HloField::convolution_dimension_numbers>(std::move(dimension_numbers));
  return CustomCallOf(
      builder, operands,
      {call_target_name, shape, opaque, has_side_effect, output_operand_aliasing, literal, schedule, api_version},
      /*computation=*/nullptr, std::move(fields));
}

// ---- Between full and shard shapes ---------------------------------------------------------------------------------

absl::StatusOr<XlaOp> ConvertSpmdFullToShardShape(XlaBuilder* builder, XlaOp input, int single_dim,
                                                  const OpSharding& manual_sharding,
                                                  absl::Span<const int64_t> unspecified_dims) {
  KASHI_ASSIGN_OR_RETURN(Shape shard, builder->GetShape(input));
  KASHI_RETURN_IF_ERROR(CheckManualSharding(shard, manual_sharding, single_dim));
  if (manual_sharding.type() == OpSharding::OTHER) {
    for (int i = 0; i < shard.dimensions_size(); ++i) {
      if (single_dim >= 0 && i != single_dim) continue;
      const int64_t partitions = manual_sharding.tile_assignment_dimensions(i);
      if (partitions > 1) shard.set_dimensions(i, CeilOfRatio(shard.dimensions(i), partitions));
    }
  }
  return ConvertSpmd(builder, input, manual_sharding, "SPMDFullToShardShape", shard,
                     ManualAlong(manual_sharding, single_dim), unspecified_dims);
}

absl::StatusOr<XlaOp> ConvertSpmdShardToFullShape(XlaBuilder* builder, XlaOp input, const Shape& output_shape,
                                                  int single_dim, const OpSharding& manual_sharding,
                                                  absl::Span<const int64_t> unspecified_dims) {
  KASHI_RETURN_IF_ERROR(CheckManualSharding(output_shape, manual_sharding, single_dim));
  return ConvertSpmd(builder, input, ManualAlong(manual_sharding, single_dim), "SPMDShardToFullShape", output_shape,
                     manual_sharding, unspecified_dims);
}

}  // namespace kashi
