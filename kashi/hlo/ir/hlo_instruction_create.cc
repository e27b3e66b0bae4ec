// XLA's factories: each puts its arguments into the fields that ops.def and fields.def name. A field with the value of
// its absence (no grouping, no layout constraint, the usual comparison …) is not made, so that instructions from
// factories, text and protos are equal when they mean the same.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_instruction_create_fields.h"

namespace kashi {
using hlo::create_fields::Calls;
using hlo::create_fields::Dimension;
using hlo::create_fields::Dimensions;
using hlo::create_fields::Fields;
using hlo::create_fields::With;
using hlo::create_fields::WithFlag;
using hlo::create_fields::WithOptional;
using hlo::create_fields::WithUnless;

namespace {

using Instruction = std::unique_ptr<HloInstruction>;
using Operands = absl::InlinedVector<HloInstruction*, 4>;

WithOptional<HloField::precision_config> Precision(const PrecisionConfig& config) {
  const bool is_usual = config.algorithm() == PrecisionConfig::ALG_UNSET &&
                        absl::c_all_of(config.operand_precision(),
                                       [](PrecisionConfig::Precision p) { return p == PrecisionConfig::DEFAULT; });
  return {is_usual ? std::nullopt : std::optional<PrecisionConfig>(config)};
}
WithFlag<HloField::indices_are_sorted> Sorted(bool value) { return {value, false}; }

Operands Joined(absl::Span<HloInstruction* const> first, absl::Span<HloInstruction* const> second) {
  Operands joined(first.begin(), first.end());
  joined.insert(joined.end(), second.begin(), second.end());
  return joined;
}
Operands Joined(HloInstruction* first, absl::Span<HloInstruction* const> second) {
  return Joined(absl::MakeConstSpan(&first, 1), second);
}

// Dies unless the opcode takes this number of operands and needs no attributes.
void CheckPlain(HloOpcode opcode, int arity) {
  const HloOpcodeInfo& info = GetHloOpcodeInfo(opcode);
  KASHI_CHECK_EQ(static_cast<int>(info.arity), arity) << info.name;
  for (const HloOpcodeAttribute& entry : info.attributes) {
    KASHI_CHECK(entry.need != HloOpcodeAttribute::kRequired)
        << info.name << " needs " << HloAttributeName(entry.attribute);
  }
}

}  // namespace

// ---- Elementwise and plain -----------------------------------------------------------------------------------------

Instruction HloInstructionFactories::CreateParameter(int64_t parameter_number, const Shape& shape,
                                                     absl::string_view name) {
  Instruction parameter =
      Create(HloOpcode::kParameter, shape, {}, Fields(With<HloField::parameter_number>{parameter_number}));
  parameter->SetAndSanitizeName(name);
  return parameter;
}

Instruction HloInstructionFactories::CreateConstant(Literal literal) {
  const Shape shape = literal.shape();
  return Create(HloOpcode::kConstant, shape, {}, Fields(With<HloField::literal>{SharedLiteral(std::move(literal))}));
}

Instruction HloInstructionFactories::CreateIota(const Shape& shape, int64_t iota_dimension) {
  return Create(HloOpcode::kIota, shape, {}, Fields(With<HloField::iota_dimension>{iota_dimension}));
}

Instruction HloInstructionFactories::CreateTuple(absl::Span<HloInstruction* const> elements) {
  std::vector<const Shape*> shapes;
  for (const HloInstruction* element : elements) shapes.push_back(&element->shape());
  return Create(HloOpcode::kTuple, ShapeUtil::MakeTupleShapeWithPtrs(shapes), elements);
}

Instruction HloInstructionFactories::CreateGetTupleElement(const Shape& shape, HloInstruction* operand, int64_t index) {
  return Create(HloOpcode::kGetTupleElement, shape, {operand}, Fields(With<HloField::tuple_index>{index}));
}

Instruction HloInstructionFactories::CreateGetTupleElement(HloInstruction* operand, int64_t index) {
  return CreateGetTupleElement(ShapeUtil::GetTupleElementShape(operand->shape(), index), operand, index);
}

Instruction HloInstructionFactories::CreateUnary(const Shape& shape, HloOpcode opcode, HloInstruction* operand,
                                                 std::optional<ResultAccuracy> result_accuracy) {
  CheckPlain(opcode, 1);
  const auto accuracy = WithUnless<HloField::result_accuracy>{result_accuracy.value_or(ResultAccuracy()), {}};
  return Create(opcode, shape, {operand}, Fields(accuracy));
}

Instruction HloInstructionFactories::CreateBinary(const Shape& shape, HloOpcode opcode, HloInstruction* lhs,
                                                  HloInstruction* rhs) {
  CheckPlain(opcode, 2);
  return Create(opcode, shape, {lhs, rhs});
}

Instruction HloInstructionFactories::CreateTernary(const Shape& shape, HloOpcode opcode, HloInstruction* lhs,
                                                   HloInstruction* rhs, HloInstruction* ehs) {
  CheckPlain(opcode, 3);
  return Create(opcode, shape, {lhs, rhs, ehs});
}

Instruction HloInstructionFactories::CreateVariadic(const Shape& shape, HloOpcode opcode,
                                                    absl::Span<HloInstruction* const> operands) {
  CheckPlain(opcode, kHloOpcodeIsVariadic);
  return Create(opcode, shape, operands);
}

Instruction HloInstructionFactories::CreateCompare(const Shape& shape, HloInstruction* lhs, HloInstruction* rhs,
                                                   ComparisonDirection direction,
                                                   std::optional<Comparison::Type> type) {
  HloFieldList fields = Fields(With<HloField::comparison_direction>{direction});
  if (type && *type != Comparison::DefaultComparisonType(lhs->shape().element_type())) {
    fields.Set<HloField::comparison_type>(*type);
  }
  return Create(HloOpcode::kCompare, shape, {lhs, rhs}, std::move(fields));
}

Instruction HloInstructionFactories::CreateConvert(const Shape& shape, HloInstruction* operand) {
  return Create(HloOpcode::kConvert, shape, {operand});
}
Instruction HloInstructionFactories::CreateBitcast(const Shape& shape, HloInstruction* operand) {
  return Create(HloOpcode::kBitcast, shape, {operand});
}
Instruction HloInstructionFactories::CreateBitcastConvert(const Shape& shape, HloInstruction* operand) {
  return Create(HloOpcode::kBitcastConvert, shape, {operand});
}
Instruction HloInstructionFactories::CreateStochasticConvert(const Shape& shape, HloInstruction* operand,
                                                             HloInstruction* random) {
  return Create(HloOpcode::kStochasticConvert, shape, {operand, random});
}

Instruction HloInstructionFactories::CreateReducePrecision(const Shape& shape, HloInstruction* operand,
                                                           int exponent_bits, int mantissa_bits) {
  return Create(HloOpcode::kReducePrecision, shape, {operand},
                Fields(With<HloField::exponent_bits>{exponent_bits}, With<HloField::mantissa_bits>{mantissa_bits}));
}

// ---- Shape and data movement ---------------------------------------------------------------------------------------

Instruction HloInstructionFactories::CreateBroadcast(const Shape& shape, HloInstruction* operand,
                                                     absl::Span<const int64_t> broadcast_dimensions) {
  return Create(HloOpcode::kBroadcast, shape, {operand}, Fields(Dimensions(broadcast_dimensions)));
}

Instruction HloInstructionFactories::CreateReshape(const Shape& shape, HloInstruction* operand,
                                                   int64_t inferred_dimension) {
  const bool is_unbounded = shape.is_unbounded_dynamic() || operand->shape().is_unbounded_dynamic();
  KASHI_CHECK(is_unbounded || ShapeUtil::ElementsIn(shape) == ShapeUtil::ElementsIn(operand->shape()))
      << "reshape of " << operand->shape() << " to " << shape;
  return Create(HloOpcode::kReshape, shape, {operand},
                Fields(WithUnless<HloField::inferred_dimension>{inferred_dimension, -1}));
}

Instruction HloInstructionFactories::CreateDynamicReshape(const Shape& shape, HloInstruction* data_operand,
                                                          absl::Span<HloInstruction* const> dim_sizes) {
  return Create(HloOpcode::kDynamicReshape, shape, Joined(data_operand, dim_sizes));
}

Instruction HloInstructionFactories::CreateTranspose(const Shape& shape, HloInstruction* operand,
                                                     absl::Span<const int64_t> dimensions) {
  return Create(HloOpcode::kTranspose, shape, {operand}, Fields(Dimensions(dimensions)));
}

Instruction HloInstructionFactories::CreateReverse(const Shape& shape, HloInstruction* operand,
                                                   absl::Span<const int64_t> dimensions) {
  return Create(HloOpcode::kReverse, shape, {operand}, Fields(Dimensions(dimensions)));
}

Instruction HloInstructionFactories::CreatePad(const Shape& shape, HloInstruction* operand,
                                               HloInstruction* padding_value, const PaddingConfig& padding_config) {
  return Create(HloOpcode::kPad, shape, {operand, padding_value},
                Fields(With<HloField::padding_config>{padding_config}));
}

Instruction HloInstructionFactories::CreateConcatenate(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                       int64_t dimension) {
  return Create(HloOpcode::kConcatenate, shape, operands, Fields(Dimension(dimension)));
}

Instruction HloInstructionFactories::CreateSlice(const Shape& shape, HloInstruction* operand,
                                                 absl::Span<const int64_t> start_indices,
                                                 absl::Span<const int64_t> limit_indices,
                                                 absl::Span<const int64_t> strides) {
  SliceRanges ranges;
  ranges.starts.assign(start_indices.begin(), start_indices.end());
  ranges.limits.assign(limit_indices.begin(), limit_indices.end());
  ranges.strides.assign(strides.begin(), strides.end());
  return Create(HloOpcode::kSlice, shape, {operand}, Fields(With<HloField::slice_ranges>{std::move(ranges)}));
}

Instruction HloInstructionFactories::CreateDynamicSlice(const Shape& shape, HloInstruction* operand,
                                                        absl::Span<HloInstruction* const> start_indices,
                                                        absl::Span<const int64_t> slice_sizes) {
  return Create(HloOpcode::kDynamicSlice, shape, Joined(operand, start_indices),
                Fields(With<HloField::dynamic_slice_sizes>{Int64List(slice_sizes)}));
}

Instruction HloInstructionFactories::CreateDynamicUpdateSlice(const Shape& shape, HloInstruction* operand,
                                                              HloInstruction* update,
                                                              absl::Span<HloInstruction* const> start_indices) {
  return Create(HloOpcode::kDynamicUpdateSlice, shape, Joined({operand, update}, start_indices));
}

Instruction HloInstructionFactories::CreateGather(const Shape& shape, HloInstruction* operand,
                                                  HloInstruction* start_indices,
                                                  const GatherDimensionNumbers& dimension_numbers,
                                                  absl::Span<const int64_t> slice_sizes, bool indices_are_sorted) {
  return Create(HloOpcode::kGather, shape, {operand, start_indices},
                Fields(With<HloField::gather_dimension_numbers>{dimension_numbers},
                       With<HloField::gather_slice_sizes>{Int64List(slice_sizes)}, Sorted(indices_are_sorted)));
}

Instruction HloInstructionFactories::CreateScatter(const Shape& shape, HloInstruction* operand,
                                                   HloInstruction* scatter_indices, HloInstruction* updates,
                                                   HloComputation* update_computation,
                                                   const ScatterDimensionNumbers& dimension_numbers,
                                                   bool indices_are_sorted, bool unique_indices) {
  return CreateScatter(shape, absl::MakeConstSpan(&operand, 1), scatter_indices, absl::MakeConstSpan(&updates, 1),
                       update_computation, dimension_numbers, indices_are_sorted, unique_indices);
}

Instruction HloInstructionFactories::CreateScatter(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                   HloInstruction* scatter_indices,
                                                   absl::Span<HloInstruction* const> updates,
                                                   HloComputation* update_computation,
                                                   const ScatterDimensionNumbers& dimension_numbers,
                                                   bool indices_are_sorted, bool unique_indices) {
  return Create(HloOpcode::kScatter, shape, Joined(operands, Joined(scatter_indices, updates)),
                Fields(With<HloField::scatter_dimension_numbers>{dimension_numbers}, Sorted(indices_are_sorted),
                       WithFlag<HloField::unique_indices>{unique_indices, false}, Calls(update_computation)));
}

Instruction HloInstructionFactories::CreateGetDimensionSize(const Shape& shape, HloInstruction* operand,
                                                            int64_t dimension) {
  return Create(HloOpcode::kGetDimensionSize, shape, {operand}, Fields(Dimension(dimension)));
}

Instruction HloInstructionFactories::CreateSetDimensionSize(const Shape& shape, HloInstruction* operand,
                                                            HloInstruction* val, int64_t dimension) {
  return Create(HloOpcode::kSetDimensionSize, shape, {operand, val}, Fields(Dimension(dimension)));
}

// ---- Reductions, windows, sorting ----------------------------------------------------------------------------------

Instruction HloInstructionFactories::CreateReduce(const Shape& shape, HloInstruction* operand,
                                                  HloInstruction* init_value, absl::Span<const int64_t> dimensions,
                                                  HloComputation* reduce_computation) {
  return CreateReduce(shape, absl::MakeConstSpan(&operand, 1), absl::MakeConstSpan(&init_value, 1), dimensions,
                      reduce_computation);
}

Instruction HloInstructionFactories::CreateReduce(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                  absl::Span<HloInstruction* const> init_values,
                                                  absl::Span<const int64_t> dimensions,
                                                  HloComputation* reduce_computation) {
  return Create(HloOpcode::kReduce, shape, Joined(operands, init_values),
                Fields(Dimensions(dimensions), Calls(reduce_computation)));
}

Instruction HloInstructionFactories::CreateReduceWindow(const Shape& shape, HloInstruction* operand,
                                                        HloInstruction* init_value, const Window& window,
                                                        HloComputation* reduce_computation) {
  return CreateReduceWindow(shape, absl::MakeConstSpan(&operand, 1), absl::MakeConstSpan(&init_value, 1), window,
                            reduce_computation);
}

Instruction HloInstructionFactories::CreateReduceWindow(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                        absl::Span<HloInstruction* const> init_values,
                                                        const Window& window, HloComputation* reduce_computation) {
  return Create(HloOpcode::kReduceWindow, shape, Joined(operands, init_values),
                Fields(With<HloField::window>{window}, Calls(reduce_computation)));
}

Instruction HloInstructionFactories::CreateMap(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                               HloComputation* map_computation) {
  Int64List all;
  for (int64_t i = 0; i < shape.rank(); ++i) all.Add(i);
  return Create(HloOpcode::kMap, shape, operands, Fields(Dimensions(all), Calls(map_computation)));
}

Instruction HloInstructionFactories::CreateSort(const Shape& shape, int64_t dimension,
                                                absl::Span<HloInstruction* const> operands, HloComputation* compare,
                                                bool is_stable) {
  return Create(HloOpcode::kSort, shape, operands,
                Fields(Dimension(dimension), WithFlag<HloField::is_stable>{is_stable, false}, Calls(compare)));
}

Instruction HloInstructionFactories::CreateTopK(const Shape& shape, HloInstruction* input, int64_t k, bool largest) {
  return Create(HloOpcode::kTopK, shape, {input}, Fields(With<HloField::k>{k}, With<HloField::largest>{largest}));
}

Instruction HloInstructionFactories::CreateSelectAndScatter(const Shape& shape, HloInstruction* operand,
                                                            HloComputation* select, const Window& window,
                                                            HloInstruction* source, HloInstruction* init_value,
                                                            HloComputation* scatter) {
  return Create(HloOpcode::kSelectAndScatter, shape, {operand, source, init_value},
                Fields(With<HloField::window>{window}, Calls(select, scatter)));
}

// ---- Contractions, linear algebra, Fourier transform, normalisation, random numbers -------------------------------

Instruction HloInstructionFactories::CreateDot(const Shape& shape, HloInstruction* lhs, HloInstruction* rhs,
                                               const DotDimensionNumbers& dimension_numbers,
                                               const PrecisionConfig& precision_config) {
  return Create(HloOpcode::kDot, shape, {lhs, rhs},
                Fields(With<HloField::dot_dimension_numbers>{dimension_numbers}, Precision(precision_config)));
}

Instruction HloInstructionFactories::CreateRaggedDot(const Shape& shape, HloInstruction* lhs, HloInstruction* rhs,
                                                     HloInstruction* group_sizes,
                                                     const RaggedDotDimensionNumbers& dimension_numbers,
                                                     const PrecisionConfig& precision_config) {
  return Create(HloOpcode::kRaggedDot, shape, {lhs, rhs, group_sizes},
                Fields(With<HloField::ragged_dot_dimension_numbers>{dimension_numbers}, Precision(precision_config)));
}

Instruction HloInstructionFactories::CreateScaledDot(const Shape& shape, HloInstruction* lhs, HloInstruction* rhs,
                                                     HloInstruction* lhs_scale, HloInstruction* rhs_scale,
                                                     const DotDimensionNumbers& dimension_numbers,
                                                     const PrecisionConfig& precision_config) {
  return Create(HloOpcode::kScaledDot, shape, {lhs, rhs, lhs_scale, rhs_scale},
                Fields(With<HloField::dot_dimension_numbers>{dimension_numbers}, Precision(precision_config)));
}

Instruction HloInstructionFactories::CreateConvolve(const Shape& shape, HloInstruction* lhs, HloInstruction* rhs,
                                                    int64_t feature_group_count, int64_t batch_group_count,
                                                    const Window& window,
                                                    const ConvolutionDimensionNumbers& dimension_numbers,
                                                    const PrecisionConfig& precision_config) {
  return Create(HloOpcode::kConvolution, shape, {lhs, rhs},
                Fields(With<HloField::window>{window}, With<HloField::convolution_dimension_numbers>{dimension_numbers},
                       WithUnless<HloField::feature_group_count>{feature_group_count, 1},
                       WithUnless<HloField::batch_group_count>{batch_group_count, 1}, Precision(precision_config)));
}

Instruction HloInstructionFactories::CreateFft(const Shape& shape, HloInstruction* operand, FftType fft_type,
                                               absl::Span<const int64_t> fft_length) {
  return Create(HloOpcode::kFft, shape, {operand},
                Fields(With<HloField::fft_type>{fft_type}, With<HloField::fft_length>{Int64List(fft_length)}));
}

Instruction HloInstructionFactories::CreateTriangularSolve(const Shape& shape, HloInstruction* a, HloInstruction* b,
                                                           const TriangularSolveOptions& options) {
  return Create(HloOpcode::kTriangularSolve, shape, {a, b}, Fields(With<HloField::triangular_solve_options>{options}));
}

Instruction HloInstructionFactories::CreateCholesky(const Shape& shape, HloInstruction* a,
                                                    const CholeskyOptions& options) {
  return Create(HloOpcode::kCholesky, shape, {a}, Fields(With<HloField::cholesky_options>{options}));
}

Instruction HloInstructionFactories::CreateBatchNormTraining(const Shape& shape, HloInstruction* operand,
                                                             HloInstruction* scale, HloInstruction* offset,
                                                             float epsilon, int64_t feature_index) {
  return Create(HloOpcode::kBatchNormTraining, shape, {operand, scale, offset},
                Fields(With<HloField::epsilon>{epsilon}, With<HloField::feature_index>{feature_index}));
}

Instruction HloInstructionFactories::CreateBatchNormInference(const Shape& shape, HloInstruction* operand,
                                                              HloInstruction* scale, HloInstruction* offset,
                                                              HloInstruction* mean, HloInstruction* variance,
                                                              float epsilon, int64_t feature_index) {
  return Create(HloOpcode::kBatchNormInference, shape, {operand, scale, offset, mean, variance},
                Fields(With<HloField::epsilon>{epsilon}, With<HloField::feature_index>{feature_index}));
}

Instruction HloInstructionFactories::CreateBatchNormGrad(const Shape& shape, HloInstruction* operand,
                                                         HloInstruction* scale, HloInstruction* mean,
                                                         HloInstruction* variance, HloInstruction* grad_output,
                                                         float epsilon, int64_t feature_index) {
  return Create(HloOpcode::kBatchNormGrad, shape, {operand, scale, mean, variance, grad_output},
                Fields(With<HloField::epsilon>{epsilon}, With<HloField::feature_index>{feature_index}));
}

Instruction HloInstructionFactories::CreateRng(const Shape& shape, RandomDistribution distribution,
                                               absl::Span<HloInstruction* const> parameters) {
  return Create(HloOpcode::kRng, shape, parameters, Fields(With<HloField::distribution>{distribution}));
}

Instruction HloInstructionFactories::CreateRngBitGenerator(const Shape& shape, HloInstruction* state,
                                                           RandomAlgorithm algorithm) {
  return Create(HloOpcode::kRngBitGenerator, shape, {state}, Fields(With<HloField::rng_algorithm>{algorithm}));
}

Instruction HloInstructionFactories::CreateRngGetAndUpdateState(const Shape& shape, int64_t delta) {
  return Create(HloOpcode::kRngGetAndUpdateState, shape, {}, Fields(With<HloField::delta>{delta}));
}

// ---- Control and calls ---------------------------------------------------------------------------------------------

Instruction HloInstructionFactories::CreateWhile(const Shape& shape, HloComputation* condition, HloComputation* body,
                                                 HloInstruction* init) {
  return Create(HloOpcode::kWhile, shape, {init}, Fields(Calls(body, condition)));
}

Instruction HloInstructionFactories::CreateConditional(const Shape& shape, HloInstruction* pred,
                                                       HloInstruction* true_operand, HloComputation* on_true,
                                                       HloInstruction* false_operand, HloComputation* on_false) {
  return Create(HloOpcode::kConditional, shape, {pred, true_operand, false_operand}, Fields(Calls(on_true, on_false)));
}

Instruction HloInstructionFactories::CreateConditional(const Shape& shape, HloInstruction* branch_index,
                                                       absl::Span<HloComputation* const> branches,
                                                       absl::Span<HloInstruction* const> operands) {
  KASHI_CHECK_EQ(branches.size(), operands.size());
  return Create(HloOpcode::kConditional, shape, Joined(branch_index, operands), Fields(Calls(branches)));
}

Instruction HloInstructionFactories::CreateCall(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                HloComputation* computation) {
  return Create(HloOpcode::kCall, shape, operands, Fields(Calls(computation)));
}

Instruction HloInstructionFactories::CreateCompositeCall(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                         HloComputation* decomposition, const std::string& name,
                                                         const std::string& attributes, int64_t version) {
  Instruction call =
      Create(HloOpcode::kCall, shape, operands, Fields(Calls(decomposition), With<HloField::is_composite>{true}));
  call->set_frontend_attribute("composite.name", name);
  call->set_frontend_attribute("composite.attributes", attributes);
  call->set_frontend_attribute("composite.version", absl::StrCat(version));
  return call;
}

Instruction HloInstructionFactories::CreateFusion(const Shape& shape, FusionKind kind,
                                                  absl::Span<HloInstruction* const> operands,
                                                  HloComputation* computation, absl::string_view prefix) {
  Instruction fusion =
      Create(HloOpcode::kFusion, shape, operands, Fields(With<HloField::fusion_kind>{kind}, Calls(computation)));
  if (!prefix.empty()) fusion->SetAndSanitizeName(absl::StrCat(prefix, "fusion"));
  return fusion;
}

Instruction HloInstructionFactories::CreateCustomCall(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                      absl::string_view target, std::string opaque,
                                                      CustomCallApiVersion api_version) {
  Instruction call = Create(HloOpcode::kCustomCall, shape, operands,
                            Fields(With<HloField::custom_call_target>{std::string(target)},
                                   WithUnless<HloField::api_version>{api_version, API_VERSION_ORIGINAL}));
  if (!opaque.empty()) call->set_raw_backend_config_string(std::move(opaque));
  return call;
}

Instruction HloInstructionFactories::CreateCustomCall(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                      HloComputation* to_apply, absl::string_view target,
                                                      std::string opaque, CustomCallApiVersion api_version) {
  return CreateCustomCall(shape, operands, absl::MakeConstSpan(&to_apply, 1), target, std::move(opaque), api_version);
}

Instruction HloInstructionFactories::CreateCustomCall(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                      absl::Span<HloComputation* const> computations,
                                                      absl::string_view target, std::string opaque,
                                                      CustomCallApiVersion api_version) {
  Instruction call = CreateCustomCall(shape, operands, target, std::move(opaque), api_version);
  Calls(computations).AddTo(call->mutable_fields());
  return call;
}

Instruction HloInstructionFactories::CreateCustomCall(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                      absl::string_view target,
                                                      absl::Span<const Shape> operand_shapes_with_layout,
                                                      std::string opaque, CustomCallApiVersion api_version) {
  Instruction call = CreateCustomCall(shape, operands, target, std::move(opaque), api_version);
  call->mutable_fields()->Set<HloField::operand_shapes_with_layout>(
      std::vector<Shape>(operand_shapes_with_layout.begin(), operand_shapes_with_layout.end()));
  return call;
}

}  // namespace kashi
