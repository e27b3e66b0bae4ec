// XLA's factories: each puts its arguments into the fields that ops.def and fields.def name. A field that says what its
// absence says (no grouping, no layout constraint, the usual comparison …) is not made, so that instructions from factories,
// text and protos are equal when they mean the same.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi {
namespace {

using Instruction = std::unique_ptr<HloInstruction>;
using Operands = absl::InlinedVector<HloInstruction*, 4>;

// Fields(With<HloField::k>{5}, …)
template <HloField field>
struct With {
  HloFieldType<field> value;
  void AddTo(HloFieldList* fields) { fields->Set<field>(std::move(value)); }
};
// The same, unless the value is what is meant anyway.
template <HloField field>
struct WithUnless {
  HloFieldType<field> value;
  HloFieldType<field> usual;
  void AddTo(HloFieldList* fields) {
    if (!(value == usual)) fields->Set<field>(std::move(value));
  }
};
template <HloField field>
using WithFlag = WithUnless<field>;
template <HloField field>
struct WithOptional {
  std::optional<HloFieldType<field>> value;
  void AddTo(HloFieldList* fields) {
    if (value) fields->Set<field>(*std::move(value));
  }
};
template <typename... Entries>
HloFieldList Fields(Entries... entries) {
  HloFieldList fields;
  (entries.AddTo(&fields), ...);
  return fields;
}

With<HloField::dimensions> Dimensions(absl::Span<const int64_t> dimensions) { return {Int64List(dimensions)}; }
With<HloField::dimensions> Dimension(int64_t dimension) { return {Int64List({dimension})}; }
With<HloField::called_computations> Calls(absl::Span<HloComputation* const> computations) {
  return {ComputationVector(computations.begin(), computations.end())};
}
With<HloField::called_computations> Calls(HloComputation* computation) { return {ComputationVector({computation})}; }
With<HloField::called_computations> Calls(HloComputation* first, HloComputation* second) {
  return {ComputationVector({first, second})};
}
WithOptional<HloField::precision_config> Precision(const PrecisionConfig& config) {
  const bool is_usual = config.algorithm() == PrecisionConfig::ALG_UNSET &&
                        absl::c_all_of(config.operand_precision(),
                                       [](PrecisionConfig::Precision p) { return p == PrecisionConfig::DEFAULT; });
  return {is_usual ? std::nullopt : std::optional<PrecisionConfig>(config)};
}
WithFlag<HloField::use_global_device_ids> GlobalDeviceIds(bool value) { return {value, false}; }
WithFlag<HloField::constrain_layout> ConstrainLayout(bool value) { return {value, false}; }
WithFlag<HloField::is_host_transfer> HostTransfer(bool value) { return {value, false}; }
WithFlag<HloField::indices_are_sorted> Sorted(bool value) { return {value, false}; }
WithOptional<HloField::channel_id> Channel(const std::optional<int64_t>& channel_id) { return {channel_id}; }
With<HloField::replica_groups> Groups(const CollectiveDeviceList& list) { return {list}; }

Operands Joined(absl::Span<HloInstruction* const> first, absl::Span<HloInstruction* const> second) {
  Operands joined(first.begin(), first.end());
  joined.insert(joined.end(), second.begin(), second.end());
  return joined;
}
Operands Joined(HloInstruction* first, absl::Span<HloInstruction* const> second) {
  return Joined(absl::MakeConstSpan(&first, 1), second);
}

// Dies unless the opcode takes so many operands and can do without attributes.
void CheckPlain(HloOpcode opcode, int arity) {
  const HloOpcodeInfo& info = GetHloOpcodeInfo(opcode);
  KASHI_CHECK_EQ(static_cast<int>(info.arity), arity) << info.name;
  for (const HloOpcodeAttribute& entry : info.attributes) {
    KASHI_CHECK(entry.need != HloOpcodeAttribute::kRequired)
        << info.name << " needs " << HloAttributeName(entry.attribute);
  }
}

Shape TransferShape(const Shape& data) {
  return ShapeUtil::MakeTupleShape({data, ShapeUtil::MakeShape(U32, {}), ShapeUtil::MakeTokenShape()});
}
Shape WithToken(const Shape& data) { return ShapeUtil::MakeTupleShape({data, ShapeUtil::MakeTokenShape()}); }

}  // namespace

// ---- Elementwise and plain -----------------------------------------------------------------------------------------

Instruction HloInstruction::CreateParameter(int64_t parameter_number, const Shape& shape, absl::string_view name) {
  Instruction parameter =
      Create(HloOpcode::kParameter, shape, {}, Fields(With<HloField::parameter_number>{parameter_number}));
  parameter->SetAndSanitizeName(name);
  return parameter;
}

Instruction HloInstruction::CreateConstant(Literal literal) {
  const Shape shape = literal.shape();
  return Create(HloOpcode::kConstant, shape, {}, Fields(With<HloField::literal>{SharedLiteral(std::move(literal))}));
}

Instruction HloInstruction::CreateIota(const Shape& shape, int64_t iota_dimension) {
  return Create(HloOpcode::kIota, shape, {}, Fields(With<HloField::iota_dimension>{iota_dimension}));
}

Instruction HloInstruction::CreateTuple(absl::Span<HloInstruction* const> elements) {
  std::vector<const Shape*> shapes;
  for (const HloInstruction* element : elements) shapes.push_back(&element->shape());
  return Create(HloOpcode::kTuple, ShapeUtil::MakeTupleShapeWithPtrs(shapes), elements);
}

Instruction HloInstruction::CreateGetTupleElement(const Shape& shape, HloInstruction* operand, int64_t index) {
  return Create(HloOpcode::kGetTupleElement, shape, {operand}, Fields(With<HloField::tuple_index>{index}));
}

Instruction HloInstruction::CreateGetTupleElement(HloInstruction* operand, int64_t index) {
  return CreateGetTupleElement(ShapeUtil::GetTupleElementShape(operand->shape(), index), operand, index);
}

Instruction HloInstruction::CreateUnary(const Shape& shape, HloOpcode opcode, HloInstruction* operand,
                                        std::optional<ResultAccuracy> result_accuracy) {
  CheckPlain(opcode, 1);
  const auto accuracy = WithUnless<HloField::result_accuracy>{result_accuracy.value_or(ResultAccuracy()), {}};
  return Create(opcode, shape, {operand}, Fields(accuracy));
}

Instruction HloInstruction::CreateBinary(const Shape& shape, HloOpcode opcode, HloInstruction* lhs,
                                         HloInstruction* rhs) {
  CheckPlain(opcode, 2);
  return Create(opcode, shape, {lhs, rhs});
}

Instruction HloInstruction::CreateTernary(const Shape& shape, HloOpcode opcode, HloInstruction* lhs,
                                          HloInstruction* rhs, HloInstruction* ehs) {
  CheckPlain(opcode, 3);
  return Create(opcode, shape, {lhs, rhs, ehs});
}

Instruction HloInstruction::CreateVariadic(const Shape& shape, HloOpcode opcode,
                                           absl::Span<HloInstruction* const> operands) {
  CheckPlain(opcode, kHloOpcodeIsVariadic);
  return Create(opcode, shape, operands);
}

Instruction HloInstruction::CreateCompare(const Shape& shape, HloInstruction* lhs, HloInstruction* rhs,
                                          ComparisonDirection direction, std::optional<Comparison::Type> type) {
  HloFieldList fields = Fields(With<HloField::comparison_direction>{direction});
  if (type && *type != Comparison::DefaultComparisonType(lhs->shape().element_type())) {
    fields.Set<HloField::comparison_type>(*type);
  }
  return Create(HloOpcode::kCompare, shape, {lhs, rhs}, std::move(fields));
}

Instruction HloInstruction::CreateConvert(const Shape& shape, HloInstruction* operand) {
  return Create(HloOpcode::kConvert, shape, {operand});
}
Instruction HloInstruction::CreateBitcast(const Shape& shape, HloInstruction* operand) {
  return Create(HloOpcode::kBitcast, shape, {operand});
}
Instruction HloInstruction::CreateBitcastConvert(const Shape& shape, HloInstruction* operand) {
  return Create(HloOpcode::kBitcastConvert, shape, {operand});
}
Instruction HloInstruction::CreateStochasticConvert(const Shape& shape, HloInstruction* operand,
                                                    HloInstruction* random) {
  return Create(HloOpcode::kStochasticConvert, shape, {operand, random});
}

Instruction HloInstruction::CreateReducePrecision(const Shape& shape, HloInstruction* operand, int exponent_bits,
                                                  int mantissa_bits) {
  return Create(HloOpcode::kReducePrecision, shape, {operand},
                Fields(With<HloField::exponent_bits>{exponent_bits}, With<HloField::mantissa_bits>{mantissa_bits}));
}

// ---- Shape and data movement ---------------------------------------------------------------------------------------

Instruction HloInstruction::CreateBroadcast(const Shape& shape, HloInstruction* operand,
                                            absl::Span<const int64_t> broadcast_dimensions) {
  return Create(HloOpcode::kBroadcast, shape, {operand}, Fields(Dimensions(broadcast_dimensions)));
}

Instruction HloInstruction::CreateReshape(const Shape& shape, HloInstruction* operand, int64_t inferred_dimension) {
  const bool is_unbounded = shape.is_unbounded_dynamic() || operand->shape().is_unbounded_dynamic();
  KASHI_CHECK(is_unbounded || ShapeUtil::ElementsIn(shape) == ShapeUtil::ElementsIn(operand->shape()))
      << "reshape of " << operand->shape() << " to " << shape;
  return Create(HloOpcode::kReshape, shape, {operand},
                Fields(WithUnless<HloField::inferred_dimension>{inferred_dimension, -1}));
}

Instruction HloInstruction::CreateDynamicReshape(const Shape& shape, HloInstruction* data_operand,
                                                 absl::Span<HloInstruction* const> dim_sizes) {
  return Create(HloOpcode::kDynamicReshape, shape, Joined(data_operand, dim_sizes));
}

Instruction HloInstruction::CreateTranspose(const Shape& shape, HloInstruction* operand,
                                            absl::Span<const int64_t> dimensions) {
  return Create(HloOpcode::kTranspose, shape, {operand}, Fields(Dimensions(dimensions)));
}

Instruction HloInstruction::CreateReverse(const Shape& shape, HloInstruction* operand,
                                          absl::Span<const int64_t> dimensions) {
  return Create(HloOpcode::kReverse, shape, {operand}, Fields(Dimensions(dimensions)));
}

Instruction HloInstruction::CreatePad(const Shape& shape, HloInstruction* operand, HloInstruction* padding_value,
                                      const PaddingConfig& padding_config) {
  return Create(HloOpcode::kPad, shape, {operand, padding_value},
                Fields(With<HloField::padding_config>{padding_config}));
}

Instruction HloInstruction::CreateConcatenate(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                              int64_t dimension) {
  return Create(HloOpcode::kConcatenate, shape, operands, Fields(Dimension(dimension)));
}

Instruction HloInstruction::CreateSlice(const Shape& shape, HloInstruction* operand,
                                        absl::Span<const int64_t> start_indices,
                                        absl::Span<const int64_t> limit_indices, absl::Span<const int64_t> strides) {
  SliceRanges ranges;
  ranges.starts.assign(start_indices.begin(), start_indices.end());
  ranges.limits.assign(limit_indices.begin(), limit_indices.end());
  ranges.strides.assign(strides.begin(), strides.end());
  return Create(HloOpcode::kSlice, shape, {operand}, Fields(With<HloField::slice_ranges>{std::move(ranges)}));
}

Instruction HloInstruction::CreateDynamicSlice(const Shape& shape, HloInstruction* operand,
                                               absl::Span<HloInstruction* const> start_indices,
                                               absl::Span<const int64_t> slice_sizes) {
  return Create(HloOpcode::kDynamicSlice, shape, Joined(operand, start_indices),
                Fields(With<HloField::dynamic_slice_sizes>{Int64List(slice_sizes)}));
}

Instruction HloInstruction::CreateDynamicUpdateSlice(const Shape& shape, HloInstruction* operand,
                                                     HloInstruction* update,
                                                     absl::Span<HloInstruction* const> start_indices) {
  return Create(HloOpcode::kDynamicUpdateSlice, shape, Joined({operand, update}, start_indices));
}

Instruction HloInstruction::CreateGather(const Shape& shape, HloInstruction* operand, HloInstruction* start_indices,
                                         const GatherDimensionNumbers& dimension_numbers,
                                         absl::Span<const int64_t> slice_sizes, bool indices_are_sorted) {
  return Create(HloOpcode::kGather, shape, {operand, start_indices},
                Fields(With<HloField::gather_dimension_numbers>{dimension_numbers},
                       With<HloField::gather_slice_sizes>{Int64List(slice_sizes)}, Sorted(indices_are_sorted)));
}

Instruction HloInstruction::CreateScatter(const Shape& shape, HloInstruction* operand, HloInstruction* scatter_indices,
                                          HloInstruction* updates, HloComputation* update_computation,
                                          const ScatterDimensionNumbers& dimension_numbers, bool indices_are_sorted,
                                          bool unique_indices) {
  return CreateScatter(shape, absl::MakeConstSpan(&operand, 1), scatter_indices, absl::MakeConstSpan(&updates, 1),
                       update_computation, dimension_numbers, indices_are_sorted, unique_indices);
}

Instruction HloInstruction::CreateScatter(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                          HloInstruction* scatter_indices, absl::Span<HloInstruction* const> updates,
                                          HloComputation* update_computation,
                                          const ScatterDimensionNumbers& dimension_numbers, bool indices_are_sorted,
                                          bool unique_indices) {
  return Create(HloOpcode::kScatter, shape, Joined(operands, Joined(scatter_indices, updates)),
                Fields(With<HloField::scatter_dimension_numbers>{dimension_numbers}, Sorted(indices_are_sorted),
                       WithFlag<HloField::unique_indices>{unique_indices, false}, Calls(update_computation)));
}

Instruction HloInstruction::CreateGetDimensionSize(const Shape& shape, HloInstruction* operand, int64_t dimension) {
  return Create(HloOpcode::kGetDimensionSize, shape, {operand}, Fields(Dimension(dimension)));
}

Instruction HloInstruction::CreateSetDimensionSize(const Shape& shape, HloInstruction* operand, HloInstruction* val,
                                                   int64_t dimension) {
  return Create(HloOpcode::kSetDimensionSize, shape, {operand, val}, Fields(Dimension(dimension)));
}

// ---- Reductions, windows, sorting ----------------------------------------------------------------------------------

Instruction HloInstruction::CreateReduce(const Shape& shape, HloInstruction* operand, HloInstruction* init_value,
                                         absl::Span<const int64_t> dimensions, HloComputation* reduce_computation) {
  return CreateReduce(shape, absl::MakeConstSpan(&operand, 1), absl::MakeConstSpan(&init_value, 1), dimensions,
                      reduce_computation);
}

Instruction HloInstruction::CreateReduce(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                         absl::Span<HloInstruction* const> init_values,
                                         absl::Span<const int64_t> dimensions, HloComputation* reduce_computation) {
  return Create(HloOpcode::kReduce, shape, Joined(operands, init_values),
                Fields(Dimensions(dimensions), Calls(reduce_computation)));
}

Instruction HloInstruction::CreateReduceWindow(const Shape& shape, HloInstruction* operand, HloInstruction* init_value,
                                               const Window& window, HloComputation* reduce_computation) {
  return CreateReduceWindow(shape, absl::MakeConstSpan(&operand, 1), absl::MakeConstSpan(&init_value, 1), window,
                            reduce_computation);
}

Instruction HloInstruction::CreateReduceWindow(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                               absl::Span<HloInstruction* const> init_values, const Window& window,
                                               HloComputation* reduce_computation) {
  return Create(HloOpcode::kReduceWindow, shape, Joined(operands, init_values),
                Fields(With<HloField::window>{window}, Calls(reduce_computation)));
}

Instruction HloInstruction::CreateMap(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                      HloComputation* map_computation) {
  Int64List all;
  for (int64_t i = 0; i < shape.rank(); ++i) all.Add(i);
  return Create(HloOpcode::kMap, shape, operands, Fields(Dimensions(all), Calls(map_computation)));
}

Instruction HloInstruction::CreateSort(const Shape& shape, int64_t dimension,
                                       absl::Span<HloInstruction* const> operands, HloComputation* compare,
                                       bool is_stable) {
  return Create(HloOpcode::kSort, shape, operands,
                Fields(Dimension(dimension), WithFlag<HloField::is_stable>{is_stable, false}, Calls(compare)));
}

Instruction HloInstruction::CreateTopK(const Shape& shape, HloInstruction* input, int64_t k, bool largest) {
  return Create(HloOpcode::kTopK, shape, {input}, Fields(With<HloField::k>{k}, With<HloField::largest>{largest}));
}

Instruction HloInstruction::CreateSelectAndScatter(const Shape& shape, HloInstruction* operand, HloComputation* select,
                                                   const Window& window, HloInstruction* source,
                                                   HloInstruction* init_value, HloComputation* scatter) {
  return Create(HloOpcode::kSelectAndScatter, shape, {operand, source, init_value},
                Fields(With<HloField::window>{window}, Calls(select, scatter)));
}

// ---- Contractions, linear algebra, Fourier transform, normalisation, random numbers -------------------------------

Instruction HloInstruction::CreateDot(const Shape& shape, HloInstruction* lhs, HloInstruction* rhs,
                                      const DotDimensionNumbers& dimension_numbers,
                                      const PrecisionConfig& precision_config) {
  return Create(HloOpcode::kDot, shape, {lhs, rhs},
                Fields(With<HloField::dot_dimension_numbers>{dimension_numbers}, Precision(precision_config)));
}

Instruction HloInstruction::CreateRaggedDot(const Shape& shape, HloInstruction* lhs, HloInstruction* rhs,
                                            HloInstruction* group_sizes,
                                            const RaggedDotDimensionNumbers& dimension_numbers,
                                            const PrecisionConfig& precision_config) {
  return Create(HloOpcode::kRaggedDot, shape, {lhs, rhs, group_sizes},
                Fields(With<HloField::ragged_dot_dimension_numbers>{dimension_numbers}, Precision(precision_config)));
}

Instruction HloInstruction::CreateScaledDot(const Shape& shape, HloInstruction* lhs, HloInstruction* rhs,
                                            HloInstruction* lhs_scale, HloInstruction* rhs_scale,
                                            const DotDimensionNumbers& dimension_numbers,
                                            const PrecisionConfig& precision_config) {
  return Create(HloOpcode::kScaledDot, shape, {lhs, rhs, lhs_scale, rhs_scale},
                Fields(With<HloField::dot_dimension_numbers>{dimension_numbers}, Precision(precision_config)));
}

Instruction HloInstruction::CreateConvolve(const Shape& shape, HloInstruction* lhs, HloInstruction* rhs,
                                           int64_t feature_group_count, int64_t batch_group_count, const Window& window,
                                           const ConvolutionDimensionNumbers& dimension_numbers,
                                           const PrecisionConfig& precision_config) {
  return Create(HloOpcode::kConvolution, shape, {lhs, rhs},
                Fields(With<HloField::window>{window}, With<HloField::convolution_dimension_numbers>{dimension_numbers},
                       WithUnless<HloField::feature_group_count>{feature_group_count, 1},
                       WithUnless<HloField::batch_group_count>{batch_group_count, 1}, Precision(precision_config)));
}

Instruction HloInstruction::CreateFft(const Shape& shape, HloInstruction* operand, FftType fft_type,
                                      absl::Span<const int64_t> fft_length) {
  return Create(HloOpcode::kFft, shape, {operand},
                Fields(With<HloField::fft_type>{fft_type}, With<HloField::fft_length>{Int64List(fft_length)}));
}

Instruction HloInstruction::CreateTriangularSolve(const Shape& shape, HloInstruction* a, HloInstruction* b,
                                                  const TriangularSolveOptions& options) {
  return Create(HloOpcode::kTriangularSolve, shape, {a, b}, Fields(With<HloField::triangular_solve_options>{options}));
}

Instruction HloInstruction::CreateCholesky(const Shape& shape, HloInstruction* a, const CholeskyOptions& options) {
  return Create(HloOpcode::kCholesky, shape, {a}, Fields(With<HloField::cholesky_options>{options}));
}

Instruction HloInstruction::CreateBatchNormTraining(const Shape& shape, HloInstruction* operand, HloInstruction* scale,
                                                    HloInstruction* offset, float epsilon, int64_t feature_index) {
  return Create(HloOpcode::kBatchNormTraining, shape, {operand, scale, offset},
                Fields(With<HloField::epsilon>{epsilon}, With<HloField::feature_index>{feature_index}));
}

Instruction HloInstruction::CreateBatchNormInference(const Shape& shape, HloInstruction* operand, HloInstruction* scale,
                                                     HloInstruction* offset, HloInstruction* mean,
                                                     HloInstruction* variance, float epsilon, int64_t feature_index) {
  return Create(HloOpcode::kBatchNormInference, shape, {operand, scale, offset, mean, variance},
                Fields(With<HloField::epsilon>{epsilon}, With<HloField::feature_index>{feature_index}));
}

Instruction HloInstruction::CreateBatchNormGrad(const Shape& shape, HloInstruction* operand, HloInstruction* scale,
                                                HloInstruction* mean, HloInstruction* variance,
                                                HloInstruction* grad_output, float epsilon, int64_t feature_index) {
  return Create(HloOpcode::kBatchNormGrad, shape, {operand, scale, mean, variance, grad_output},
                Fields(With<HloField::epsilon>{epsilon}, With<HloField::feature_index>{feature_index}));
}

Instruction HloInstruction::CreateRng(const Shape& shape, RandomDistribution distribution,
                                      absl::Span<HloInstruction* const> parameters) {
  return Create(HloOpcode::kRng, shape, parameters, Fields(With<HloField::distribution>{distribution}));
}

Instruction HloInstruction::CreateRngBitGenerator(const Shape& shape, HloInstruction* state,
                                                  RandomAlgorithm algorithm) {
  return Create(HloOpcode::kRngBitGenerator, shape, {state}, Fields(With<HloField::rng_algorithm>{algorithm}));
}

Instruction HloInstruction::CreateRngGetAndUpdateState(const Shape& shape, int64_t delta) {
  return Create(HloOpcode::kRngGetAndUpdateState, shape, {}, Fields(With<HloField::delta>{delta}));
}

// ---- Control and calls ---------------------------------------------------------------------------------------------

Instruction HloInstruction::CreateWhile(const Shape& shape, HloComputation* condition, HloComputation* body,
                                        HloInstruction* init) {
  return Create(HloOpcode::kWhile, shape, {init}, Fields(Calls(body, condition)));
}

Instruction HloInstruction::CreateConditional(const Shape& shape, HloInstruction* pred, HloInstruction* true_operand,
                                              HloComputation* on_true, HloInstruction* false_operand,
                                              HloComputation* on_false) {
  return Create(HloOpcode::kConditional, shape, {pred, true_operand, false_operand}, Fields(Calls(on_true, on_false)));
}

Instruction HloInstruction::CreateConditional(const Shape& shape, HloInstruction* branch_index,
                                              absl::Span<HloComputation* const> branches,
                                              absl::Span<HloInstruction* const> operands) {
  KASHI_CHECK_EQ(branches.size(), operands.size());
  return Create(HloOpcode::kConditional, shape, Joined(branch_index, operands), Fields(Calls(branches)));
}

Instruction HloInstruction::CreateCall(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                       HloComputation* computation) {
  return Create(HloOpcode::kCall, shape, operands, Fields(Calls(computation)));
}

Instruction HloInstruction::CreateCompositeCall(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                HloComputation* decomposition, const std::string& name,
                                                const std::string& attributes, int64_t version) {
  Instruction call =
      Create(HloOpcode::kCall, shape, operands, Fields(Calls(decomposition), With<HloField::is_composite>{true}));
  call->set_frontend_attribute("composite.name", name);
  call->set_frontend_attribute("composite.attributes", attributes);
  call->set_frontend_attribute("composite.version", absl::StrCat(version));
  return call;
}

Instruction HloInstruction::CreateFusion(const Shape& shape, FusionKind kind,
                                         absl::Span<HloInstruction* const> operands, HloComputation* computation,
                                         absl::string_view prefix) {
  Instruction fusion =
      Create(HloOpcode::kFusion, shape, operands, Fields(With<HloField::fusion_kind>{kind}, Calls(computation)));
  if (!prefix.empty()) fusion->SetAndSanitizeName(absl::StrCat(prefix, "fusion"));
  return fusion;
}

Instruction HloInstruction::CreateCustomCall(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                             absl::string_view target, std::string opaque,
                                             CustomCallApiVersion api_version) {
  Instruction call = Create(HloOpcode::kCustomCall, shape, operands,
                            Fields(With<HloField::custom_call_target>{std::string(target)},
                                   WithUnless<HloField::api_version>{api_version, API_VERSION_ORIGINAL}));
  if (!opaque.empty()) call->set_raw_backend_config_string(std::move(opaque));
  return call;
}

Instruction HloInstruction::CreateCustomCall(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                             HloComputation* to_apply, absl::string_view target, std::string opaque,
                                             CustomCallApiVersion api_version) {
  return CreateCustomCall(shape, operands, absl::MakeConstSpan(&to_apply, 1), target, std::move(opaque), api_version);
}

Instruction HloInstruction::CreateCustomCall(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                             absl::Span<HloComputation* const> computations, absl::string_view target,
                                             std::string opaque, CustomCallApiVersion api_version) {
  Instruction call = CreateCustomCall(shape, operands, target, std::move(opaque), api_version);
  Calls(computations).AddTo(call->mutable_fields());
  return call;
}

Instruction HloInstruction::CreateCustomCall(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                             absl::string_view target,
                                             absl::Span<const Shape> operand_shapes_with_layout, std::string opaque,
                                             CustomCallApiVersion api_version) {
  Instruction call = CreateCustomCall(shape, operands, target, std::move(opaque), api_version);
  call->mutable_fields()->Set<HloField::operand_shapes_with_layout>(
      std::vector<Shape>(operand_shapes_with_layout.begin(), operand_shapes_with_layout.end()));
  return call;
}

// ---- Collectives ---------------------------------------------------------------------------------------------------

Instruction HloInstruction::CreateAllGather(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                            int64_t all_gather_dimension, const CollectiveDeviceList& device_list,
                                            bool constrain_layout, const std::optional<int64_t>& channel_id,
                                            bool use_global_device_ids) {
  return Create(HloOpcode::kAllGather, shape, operands,
                Fields(Dimension(all_gather_dimension), Groups(device_list), ConstrainLayout(constrain_layout),
                       Channel(channel_id), GlobalDeviceIds(use_global_device_ids)));
}

Instruction HloInstruction::CreateAllGatherStart(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                 int64_t all_gather_dimension, const CollectiveDeviceList& device_list,
                                                 bool constrain_layout, const std::optional<int64_t>& channel_id,
                                                 bool use_global_device_ids) {
  return Create(HloOpcode::kAllGatherStart, shape, operands,
                Fields(Dimension(all_gather_dimension), Groups(device_list), ConstrainLayout(constrain_layout),
                       Channel(channel_id), GlobalDeviceIds(use_global_device_ids)));
}

Instruction HloInstruction::CreateAllReduce(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                            HloComputation* reduce_computation, const CollectiveDeviceList& device_list,
                                            bool constrain_layout, const std::optional<int64_t>& channel_id,
                                            bool use_global_device_ids) {
  return Create(HloOpcode::kAllReduce, shape, operands,
                Fields(Groups(device_list), ConstrainLayout(constrain_layout), Channel(channel_id),
                       GlobalDeviceIds(use_global_device_ids), Calls(reduce_computation)));
}

Instruction HloInstruction::CreateAllReduceStart(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                 HloComputation* reduce_computation,
                                                 const CollectiveDeviceList& device_list, bool constrain_layout,
                                                 const std::optional<int64_t>& channel_id, bool use_global_device_ids) {
  return Create(HloOpcode::kAllReduceStart, shape, operands,
                Fields(Groups(device_list), ConstrainLayout(constrain_layout), Channel(channel_id),
                       GlobalDeviceIds(use_global_device_ids), Calls(reduce_computation)));
}

Instruction HloInstruction::CreateReduceScatter(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                HloComputation* reduce_computation,
                                                const CollectiveDeviceList& device_list, bool constrain_layout,
                                                const std::optional<int64_t>& channel_id, bool use_global_device_ids,
                                                int64_t scatter_dimension) {
  return Create(
      HloOpcode::kReduceScatter, shape, operands,
      Fields(Groups(device_list), ConstrainLayout(constrain_layout), Channel(channel_id),
             GlobalDeviceIds(use_global_device_ids), Dimension(scatter_dimension), Calls(reduce_computation)));
}

Instruction HloInstruction::CreateAllToAll(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                           const CollectiveDeviceList& device_list, bool constrain_layout,
                                           const std::optional<int64_t>& channel_id,
                                           const std::optional<int64_t>& split_dimension) {
  HloFieldList fields = Fields(Groups(device_list), ConstrainLayout(constrain_layout), Channel(channel_id));
  if (split_dimension) Dimension(*split_dimension).AddTo(&fields);
  return Create(HloOpcode::kAllToAll, shape, operands, std::move(fields));
}

Instruction HloInstruction::CreateRaggedAllToAll(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                 const CollectiveDeviceList& device_list,
                                                 const std::optional<int64_t>& channel_id) {
  return Create(HloOpcode::kRaggedAllToAll, shape, operands, Fields(Groups(device_list), Channel(channel_id)));
}

Instruction HloInstruction::CreateCollectiveBroadcast(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                      const CollectiveDeviceList& device_list, bool constrain_layout,
                                                      const std::optional<int64_t>& channel_id) {
  return Create(HloOpcode::kCollectiveBroadcast, shape, operands,
                Fields(Groups(device_list), ConstrainLayout(constrain_layout), Channel(channel_id)));
}

Instruction HloInstruction::CreateCollectivePermute(const Shape& shape, HloInstruction* operand,
                                                    const SourceTargetPairs& source_target_pairs,
                                                    const std::optional<int64_t>& channel_id) {
  return CreateCollectivePermute(shape, absl::MakeConstSpan(&operand, 1), source_target_pairs, channel_id);
}

Instruction HloInstruction::CreateCollectivePermute(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                    const SourceTargetPairs& source_target_pairs,
                                                    const std::optional<int64_t>& channel_id) {
  return Create(HloOpcode::kCollectivePermute, shape, operands,
                Fields(With<HloField::source_target_pairs>{source_target_pairs}, Channel(channel_id)));
}

Instruction HloInstruction::CreateCollectivePermuteStart(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                         const SourceTargetPairs& source_target_pairs,
                                                         const std::optional<int64_t>& channel_id) {
  return Create(HloOpcode::kCollectivePermuteStart, shape, operands,
                Fields(With<HloField::source_target_pairs>{source_target_pairs}, Channel(channel_id)));
}

Instruction HloInstruction::CreateReplicaId(const Shape& shape) { return Create(HloOpcode::kReplicaId, shape, {}); }
Instruction HloInstruction::CreateReplicaId() { return CreateReplicaId(ShapeUtil::MakeShape(U32, {})); }
Instruction HloInstruction::CreatePartitionId(const Shape& shape) { return Create(HloOpcode::kPartitionId, shape, {}); }
Instruction HloInstruction::CreatePartitionId() { return CreatePartitionId(ShapeUtil::MakeShape(U32, {})); }

// ---- Asynchronous operations and transfers -------------------------------------------------------------------------

Instruction HloInstruction::CreateAsyncStart(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                             HloComputation* async_computation, absl::string_view execution_thread) {
  absl::flat_hash_set<const HloComputation*> done;
  async_computation->SpreadExecutionThread(execution_thread, &done);
  return Create(HloOpcode::kAsyncStart, shape, operands,
                Fields(WithUnless<HloField::async_execution_thread>{std::string(execution_thread),
                                                                    std::string(kMainExecutionThread)},
                       Calls(async_computation)));
}

Instruction HloInstruction::CreateAsyncUpdate(const Shape& shape, HloInstruction* operand) {
  return Create(HloOpcode::kAsyncUpdate, shape, {operand});
}
Instruction HloInstruction::CreateAsyncDone(const Shape& shape, HloInstruction* operand) {
  return Create(HloOpcode::kAsyncDone, shape, {operand});
}

Instruction HloInstruction::CreateCopyStart(const Shape& shape, HloInstruction* operand,
                                            std::optional<int> cross_program_prefetch_index) {
  return Create(HloOpcode::kCopyStart, shape, {operand},
                Fields(WithOptional<HloField::cross_program_prefetch_index>{cross_program_prefetch_index}));
}

Instruction HloInstruction::CreateInfeed(const Shape& infeed_shape, HloInstruction* token, const std::string& config) {
  return Create(HloOpcode::kInfeed, WithToken(infeed_shape), {token},
                Fields(WithUnless<HloField::infeed_config>{config, ""}));
}

Instruction HloInstruction::CreateOutfeed(const Shape& outfeed_shape, HloInstruction* operand, HloInstruction* token,
                                          absl::string_view outfeed_config) {
  return Create(HloOpcode::kOutfeed, ShapeUtil::MakeTokenShape(), {operand, token},
                Fields(With<HloField::outfeed_shape>{outfeed_shape},
                       WithUnless<HloField::outfeed_config>{std::string(outfeed_config), ""}));
}

Instruction HloInstruction::CreateSend(HloInstruction* operand, HloInstruction* token,
                                       std::optional<int64_t> channel_id, bool is_host_transfer) {
  return Create(HloOpcode::kSend, TransferShape(operand->shape()), {operand, token},
                Fields(Channel(channel_id), HostTransfer(is_host_transfer)));
}

Instruction HloInstruction::CreateSendDone(HloInstruction* operand, std::optional<int64_t> channel_id,
                                           bool is_host_transfer) {
  return Create(HloOpcode::kSendDone, ShapeUtil::MakeTokenShape(), {operand},
                Fields(Channel(channel_id), HostTransfer(is_host_transfer)));
}

Instruction HloInstruction::CreateRecv(const Shape& shape, HloInstruction* token, std::optional<int64_t> channel_id,
                                       bool is_host_transfer) {
  return Create(HloOpcode::kRecv, TransferShape(shape), {token},
                Fields(Channel(channel_id), HostTransfer(is_host_transfer)));
}

Instruction HloInstruction::CreateRecvDone(HloInstruction* operand, std::optional<int64_t> channel_id,
                                           bool is_host_transfer) {
  return Create(HloOpcode::kRecvDone, WithToken(ShapeUtil::GetTupleElementShape(operand->shape(), 0)), {operand},
                Fields(Channel(channel_id), HostTransfer(is_host_transfer)));
}

Instruction HloInstruction::CreateAfterAll(absl::Span<HloInstruction* const> operands) {
  KASHI_CHECK(!operands.empty()) << "after-all of nothing: use CreateToken";
  return Create(HloOpcode::kAfterAll, ShapeUtil::MakeTokenShape(), operands);
}
Instruction HloInstruction::CreateToken() { return Create(HloOpcode::kAfterAll, ShapeUtil::MakeTokenShape(), {}); }

Instruction HloInstruction::CreateAddDependency(HloInstruction* data_operand, HloInstruction* token_operand) {
  return Create(HloOpcode::kAddDependency, data_operand->shape(), {data_operand, token_operand});
}

Instruction HloInstruction::CreateDomain(const Shape& shape, HloInstruction* operand, HloSharding entry,
                                         HloSharding exit) {
  return Create(HloOpcode::kDomain, shape, {operand},
                Fields(With<HloField::domain>{DomainShardings{std::move(entry), std::move(exit)}}));
}

}  // namespace kashi
