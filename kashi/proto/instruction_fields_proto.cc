#include "kashi/proto/instruction_fields_proto.h"

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/comparison_util.h"
#include "kashi/hlo/attributes/fusion_kind.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/proto/instruction_field_functions.h"
#include "kashi/proto/records_proto.h"

namespace kashi::proto::proto_internal {

// ---- Numbers, truth values, strings ---------------------------------------------------------------------------------

// `kept`: whether the instruction has the field when the proto has `value`.
#define KASHI_SCALAR_FIELD(field, kept)                                                          \
  KASHI_READ(field) {                                                                            \
    [[maybe_unused]] const auto& value = in.proto.field();                                       \
    if (kept) fields->Set<HloField::field>(in.proto.field());                                    \
    return absl::OkStatus();                                                                     \
  }                                                                                              \
  KASHI_WRITE(field) {                                                                           \
    if (const auto* value = FindField<HloField::field>(instruction)) proto->set_##field(*value); \
  }
KASHI_SCALAR_FIELD(parameter_number, true)
KASHI_SCALAR_FIELD(tuple_index, true)
KASHI_SCALAR_FIELD(epsilon, true)
KASHI_SCALAR_FIELD(feature_index, true)
KASHI_SCALAR_FIELD(exponent_bits, true)
KASHI_SCALAR_FIELD(mantissa_bits, true)
KASHI_SCALAR_FIELD(k, true)
KASHI_SCALAR_FIELD(delta, true)
KASHI_SCALAR_FIELD(num_carries, true)
KASHI_SCALAR_FIELD(custom_call_target, true)
KASHI_SCALAR_FIELD(constrain_layout, value)
KASHI_SCALAR_FIELD(custom_call_has_side_effect, value)
KASHI_SCALAR_FIELD(indices_are_sorted, value)
KASHI_SCALAR_FIELD(is_composite, value)
KASHI_SCALAR_FIELD(is_host_transfer, value)
KASHI_SCALAR_FIELD(is_reverse, value)
KASHI_SCALAR_FIELD(is_stable, value)
KASHI_SCALAR_FIELD(unique_indices, value)
KASHI_SCALAR_FIELD(use_global_device_ids, value)
KASHI_SCALAR_FIELD(infeed_config, !value.empty())
KASHI_SCALAR_FIELD(outfeed_config, !value.empty())
KASHI_SCALAR_FIELD(async_execution_thread, !value.empty() && value != kMainExecutionThread)
#undef KASHI_SCALAR_FIELD

// An absent field means 1, but 1 is written; old protos have 0.
#define KASHI_COUNT_FIELD(field)                                                         \
  KASHI_READ(field) {                                                                    \
    if (in.proto.field() > 1) fields->Set<HloField::field>(in.proto.field());            \
    if (in.proto.field() < 0) return InvalidArgument(#field " is %d", in.proto.field()); \
    return absl::OkStatus();                                                             \
  }                                                                                      \
  KASHI_WRITE(field) { proto->set_##field(instruction.fields().Get<HloField::field>(1)); }
KASHI_COUNT_FIELD(feature_group_count)
KASHI_COUNT_FIELD(batch_group_count)
#undef KASHI_COUNT_FIELD

KASHI_READ(largest) {
  fields->Set<HloField::largest>(in.proto.largest());
  return absl::OkStatus();
}
KASHI_WRITE(largest) { proto->set_largest(instruction.largest()); }

// A collective-reduce always says it, in text too.
KASHI_READ(has_dynamic_root) {
  if (in.proto.has_dynamic_root() || in.opcode == HloOpcode::kCollectiveReduce) {
    fields->Set<HloField::has_dynamic_root>(in.proto.has_dynamic_root());
  }
  return absl::OkStatus();
}
KASHI_WRITE(has_dynamic_root) {
  if (instruction.has_dynamic_root()) proto->set_has_dynamic_root(true);
}

KASHI_READ(shuffle_shifts) {
  if (!in.proto.shuffle_mode().has_rotate()) return InvalidArgument("A shuffle must specify a mode.");
  const auto& shifts = in.proto.shuffle_mode().rotate().shifts();
  fields->Set<HloField::shuffle_shifts>(Int64List(shifts.begin(), shifts.end()));
  return absl::OkStatus();
}
KASHI_WRITE(shuffle_shifts) {
  const absl::Span<const int64_t> shifts = instruction.shuffle_shifts();
  proto->mutable_shuffle_mode()->mutable_rotate()->mutable_shifts()->Add(shifts.begin(), shifts.end());
}

KASHI_READ(channel_id) {
  const int64_t channel = in.proto.channel_id() > 0 ? in.proto.channel_id() : in.proto.all_reduce_id();
  if (channel > 0) fields->Set<HloField::channel_id>(channel);
  return absl::OkStatus();
}
KASHI_WRITE(channel_id) {
  if (const int64_t* channel = FindField<HloField::channel_id>(instruction)) proto->set_channel_id(*channel);
}

KASHI_READ(cross_program_prefetch_index) {
  if (in.proto.has_cross_program_prefetch_index()) {
    fields->Set<HloField::cross_program_prefetch_index>(in.proto.cross_program_prefetch_index());
  } else if (in.proto.is_cross_program_prefetch()) {
    fields->Set<HloField::cross_program_prefetch_index>(0);
  }
  return absl::OkStatus();
}
KASHI_WRITE(cross_program_prefetch_index) {
  const int32_t* index = FindField<HloField::cross_program_prefetch_index>(instruction);
  if (index != nullptr) proto->set_cross_program_prefetch_index(*index);
}

// ---- Enums ----------------------------------------------------------------------------------------------------------

#define KASHI_ENUM_FIELD(field, proto_field, type, kept)                             \
  KASHI_READ(field) {                                                                \
    const wire::type value = in.proto.proto_field();                                 \
    if (!wire::type##_IsValid(value)) return BadEnumNumber(#type, value);            \
    if (kept) fields->Set<HloField::field>(static_cast<type>(value));                \
    return absl::OkStatus();                                                         \
  }                                                                                  \
  KASHI_WRITE(field) {                                                               \
    const type* value = FindField<HloField::field>(instruction);                     \
    if (value != nullptr) proto->set_##proto_field(static_cast<wire::type>(*value)); \
  }
KASHI_ENUM_FIELD(distribution, distribution, RandomDistribution, true)
KASHI_ENUM_FIELD(rng_algorithm, rng_algorithm, RandomAlgorithm, true)
KASHI_ENUM_FIELD(fft_type, fft_type, FftType, true)
KASHI_ENUM_FIELD(padding_type, padding_type, PaddingType, value != wire::PADDING_INVALID)
KASHI_ENUM_FIELD(custom_call_schedule, custom_call_schedule, CustomCallSchedule, value != wire::SCHEDULE_NONE)
KASHI_ENUM_FIELD(is_associative, is_associative, TriState, value != wire::TRI_STATE_UNSPECIFIED)
KASHI_ENUM_FIELD(convolution_kind, conv_kind, ConvolutionKind, value != wire::CONVOLUTION_KIND_UNSET)
#undef KASHI_ENUM_FIELD

KASHI_READ(api_version) {
  const wire::CustomCallApiVersion version = in.proto.custom_call_api_version();
  if (!wire::CustomCallApiVersion_IsValid(version)) return BadEnumNumber("CustomCallApiVersion", version);
  if (version != wire::API_VERSION_ORIGINAL) {
    fields->Set<HloField::api_version>(static_cast<CustomCallApiVersion>(version));
  }
  return absl::OkStatus();
}
KASHI_WRITE(api_version) {
  proto->set_custom_call_api_version(static_cast<wire::CustomCallApiVersion>(instruction.api_version()));
}

KASHI_READ(fusion_kind) {
  KASHI_ASSIGN_OR_RETURN(const FusionKind kind, StringToFusionKind(in.proto.fusion_kind()));
  fields->Set<HloField::fusion_kind>(kind);
  return absl::OkStatus();
}
KASHI_WRITE(fusion_kind) {
  const FusionKind* kind = FindField<HloField::fusion_kind>(instruction);
  if (kind != nullptr) proto->set_fusion_kind(std::string(ToString(*kind)));
}

KASHI_READ(comparison_direction) {
  KASHI_ASSIGN_OR_RETURN(const ComparisonDirection direction,
                         StringToComparisonDirection(in.proto.comparison_direction()));
  fields->Set<HloField::comparison_direction>(direction);
  return absl::OkStatus();
}
KASHI_WRITE(comparison_direction) {
  const ComparisonDirection* direction = FindField<HloField::comparison_direction>(instruction);
  if (direction != nullptr) proto->set_comparison_direction(std::string(ComparisonDirectionToString(*direction)));
}

// The default of the operands' type is not stored in the instruction, but it is written.
KASHI_READ(comparison_type) {
  const Shape& operand = in.operands[0]->shape();
  if (!operand.IsArray()) return InvalidArgument("cannot compare %s", ShapeUtil::HumanString(operand));
  Comparison::Type type{};
  if (!in.proto.comparison_type().empty()) {
    KASHI_ASSIGN_OR_RETURN(type, StringToComparisonType(in.proto.comparison_type()));
  } else if (!in.proto.comparison_order().empty()) {
    KASHI_ASSIGN_OR_RETURN(const Comparison::Order order, ShortStringToComparisonOrder(in.proto.comparison_order()));
    type = Comparison::TypeWithOrder(operand.element_type(), order);
  } else {
    return absl::OkStatus();
  }
  if (type != Comparison::DefaultComparisonType(operand.element_type())) {
    fields->Set<HloField::comparison_type>(type);
  }
  return absl::OkStatus();
}
KASHI_WRITE(comparison_type) {
  proto->set_comparison_type(std::string(ComparisonTypeToString(instruction.comparison_type())));
}

// ---- Records --------------------------------------------------------------------------------------------------------

// `kept` looks at the record as read.
#define KASHI_RECORD_FIELD(field, kept)                             \
  KASHI_READ(field) {                                               \
    HloFieldType<HloField::field> value;                            \
    KASHI_RETURN_IF_ERROR(FromWire(in.proto.field(), &value));      \
    if (kept) fields->Set<HloField::field>(std::move(value));       \
    return absl::OkStatus();                                        \
  }                                                                 \
  KASHI_WRITE(field) {                                              \
    const auto* value = FindField<HloField::field>(instruction);    \
    if (value != nullptr) ToWire(*value, proto->mutable_##field()); \
  }
KASHI_RECORD_FIELD(cholesky_options, true)
KASHI_RECORD_FIELD(triangular_solve_options, true)
KASHI_RECORD_FIELD(dot_dimension_numbers, true)
KASHI_RECORD_FIELD(ragged_dot_dimension_numbers, true)
KASHI_RECORD_FIELD(gather_dimension_numbers, true)
KASHI_RECORD_FIELD(scatter_dimension_numbers, true)
KASHI_RECORD_FIELD(padding_config, true)
KASHI_RECORD_FIELD(result_accuracy, value != ResultAccuracy())
#undef KASHI_RECORD_FIELD

KASHI_READ(convolution_dimension_numbers) {
  if (!in.proto.has_convolution_dimension_numbers()) {
    if (in.opcode == HloOpcode::kCustomCall) return absl::OkStatus();
    return InvalidArgument("no convolution_dimension_numbers");
  }
  return FromWire(in.proto.convolution_dimension_numbers(), fields->Mutable<HloField::convolution_dimension_numbers>());
}
KASHI_WRITE(convolution_dimension_numbers) {
  const auto* numbers = FindField<HloField::convolution_dimension_numbers>(instruction);
  if (numbers != nullptr) ToWire(*numbers, proto->mutable_convolution_dimension_numbers());
}

// An empty window is written by all that could have one, but for custom calls.
KASHI_READ(window) {
  if (in.proto.window().dimensions().empty()) return absl::OkStatus();
  return FromWire(in.proto.window(), fields->Mutable<HloField::window>());
}
KASHI_WRITE(window) {
  const Window* window = FindField<HloField::window>(instruction);
  if (window != nullptr || instruction.opcode() != HloOpcode::kCustomCall) proto->mutable_window();
  if (window != nullptr) ToWire(*window, proto->mutable_window());
}

KASHI_READ(sparsity_config) {
  if (!in.proto.sparsity_config().has_lhs() && !in.proto.sparsity_config().has_rhs()) return absl::OkStatus();
  return FromWire(in.proto.sparsity_config(), fields->Mutable<HloField::sparsity_config>());
}
KASHI_WRITE(sparsity_config) {
  const SparsityConfig* config = FindField<HloField::sparsity_config>(instruction);
  ToWire(config ? *config : SparsityConfig(), proto->mutable_sparsity_config());
}

namespace {

bool SaysSomething(const PrecisionConfig& config) {
  return config.algorithm() != PrecisionConfig::ALG_UNSET ||
         std::any_of(config.operand_precision().begin(), config.operand_precision().end(),
                     [](PrecisionConfig::Precision precision) { return precision != PrecisionConfig::DEFAULT; });
}

}  // namespace

// The default is not stored, but it is written: for each operand of a custom call, for the two factors of all others.
KASHI_READ(precision_config) {
  PrecisionConfig config;
  KASHI_RETURN_IF_ERROR(FromWire(in.proto.precision_config(), &config));
  if (SaysSomething(config)) fields->Set<HloField::precision_config>(std::move(config));
  return absl::OkStatus();
}
KASHI_WRITE(precision_config) {
  PrecisionConfig config = instruction.fields().Get<HloField::precision_config>(PrecisionConfig());
  if (config.operand_precision().empty()) {
    const int64_t factors = instruction.opcode() == HloOpcode::kCustomCall ? instruction.operand_count() : 2;
    config.mutable_operand_precision()->assign(factors, PrecisionConfig::DEFAULT);
  }
  ToWire(config, proto->mutable_precision_config());
}

// ---- Lists ----------------------------------------------------------------------------------------------------------

#define KASHI_LIST_FIELD(field)                                                                   \
  KASHI_READ(field) {                                                                             \
    fields->Mutable<HloField::field>()->Assign(in.proto.field().begin(), in.proto.field().end()); \
    return absl::OkStatus();                                                                      \
  }                                                                                               \
  KASHI_WRITE(field) {                                                                            \
    const auto* value = FindField<HloField::field>(instruction);                                  \
    if (value != nullptr) proto->mutable_##field()->Add(value->begin(), value->end());            \
  }
KASHI_LIST_FIELD(dynamic_slice_sizes)
KASHI_LIST_FIELD(fft_length)
KASHI_LIST_FIELD(gather_slice_sizes)
#undef KASHI_LIST_FIELD

// Three fields share the proto's `dimensions`; no opcode has two of them.
KASHI_READ(dimensions) {
  // An all-to-all without a dimension has an operand for each member.
  if (in.opcode == HloOpcode::kAllToAll && in.proto.dimensions().empty()) return absl::OkStatus();
  fields->Mutable<HloField::dimensions>()->Assign(in.proto.dimensions().begin(), in.proto.dimensions().end());
  return absl::OkStatus();
}
KASHI_WRITE(dimensions) {
  const Int64List* dimensions = FindField<HloField::dimensions>(instruction);
  if (dimensions != nullptr) proto->mutable_dimensions()->Add(dimensions->begin(), dimensions->end());
}

KASHI_READ(iota_dimension) {
  if (in.proto.dimensions_size() != 1) {
    return InvalidArgument("iota has one dimension, not %d", in.proto.dimensions_size());
  }
  fields->Set<HloField::iota_dimension>(in.proto.dimensions(0));
  return absl::OkStatus();
}
KASHI_WRITE(iota_dimension) {
  if (const int64_t* dimension = FindField<HloField::iota_dimension>(instruction)) proto->add_dimensions(*dimension);
}

KASHI_READ(inferred_dimension) {
  if (in.proto.dimensions_size() > 1) {
    return InvalidArgument("reshape has one inferred dimension, not %d", in.proto.dimensions_size());
  }
  if (in.proto.dimensions_size() == 1) fields->Set<HloField::inferred_dimension>(in.proto.dimensions(0));
  return absl::OkStatus();
}
KASHI_WRITE(inferred_dimension) {
  if (const int64_t* dimension = FindField<HloField::inferred_dimension>(instruction))
    proto->add_dimensions(*dimension);
}

KASHI_READ(slice_ranges) {
  SliceRanges* ranges = fields->Mutable<HloField::slice_ranges>();
  for (const auto& dimension : in.proto.slice_dimensions()) {
    ranges->starts.push_back(dimension.start());
    ranges->limits.push_back(dimension.limit());
    ranges->strides.push_back(dimension.stride());
  }
  return absl::OkStatus();
}
KASHI_WRITE(slice_ranges) {
  const SliceRanges* ranges = FindField<HloField::slice_ranges>(instruction);
  if (ranges == nullptr) return;
  for (size_t i = 0; i < ranges->starts.size(); ++i) {
    HloInstructionProto::SliceDimensions* dimension = proto->add_slice_dimensions();
    dimension->set_start(ranges->starts[i]);
    dimension->set_limit(ranges->limits[i]);
    dimension->set_stride(ranges->strides[i]);
  }
}

KASHI_READ(source_target_pairs) {
  SourceTargetPairs* pairs = fields->Mutable<HloField::source_target_pairs>();
  for (const wire::SourceTarget& pair : in.proto.source_target_pairs()) {
    pairs->emplace_back(pair.source(), pair.target());
  }
  return absl::OkStatus();
}
KASHI_WRITE(source_target_pairs) {
  const SourceTargetPairs* pairs = FindField<HloField::source_target_pairs>(instruction);
  if (pairs == nullptr) return;
  for (const auto& [source, target] : *pairs) {
    wire::SourceTarget* pair = proto->add_source_target_pairs();
    pair->set_source(source);
    pair->set_target(target);
  }
}

// The lists of a collective-permute in place stand in dynamic_slice_sizes, one behind the other. Each is as long as the
// rank of the array that it is for: the input, or the elements of a tuple of inputs.
KASHI_READ(dynamic_slice_sizes_list) {
  const auto& sizes = in.proto.dynamic_slice_sizes();
  if (sizes.empty()) return absl::OkStatus();
  const Shape* input = in.operands.empty() ? nullptr : &in.operands[0]->shape();
  auto next = sizes.begin();
  auto* lists = fields->Mutable<HloField::dynamic_slice_sizes_list>();
  for (int i = 0; next != sizes.end(); ++i) {
    const Shape* array = input;
    if (input != nullptr && input->IsTuple()) {
      array = i < input->tuple_shapes_size() ? &input->tuple_shapes(i) : nullptr;
    }
    const int rank = array != nullptr && array->IsArray() ? array->dimensions_size() : 0;
    if (rank == 0 || rank > sizes.end() - next) {
      return InvalidArgument("%d slice sizes do not fit the operand", sizes.size());
    }
    lists->emplace_back();
    lists->back().Add(next, next + rank);
    next += rank;
  }
  return absl::OkStatus();
}
KASHI_WRITE(dynamic_slice_sizes_list) {
  const std::vector<Int64List>* lists = FindField<HloField::dynamic_slice_sizes_list>(instruction);
  if (lists == nullptr) return;
  for (const Int64List& list : *lists) proto->mutable_dynamic_slice_sizes()->Add(list.begin(), list.end());
}

KASHI_READ(output_operand_aliasing) {
  if (in.proto.output_operand_aliasing().empty()) return absl::OkStatus();
  auto* pairs = fields->Mutable<HloField::output_operand_aliasing>();
  for (const wire::OutputOperandAliasing& pair : in.proto.output_operand_aliasing()) {
    const auto& output = pair.output_shape_index();
    const auto& operand = pair.operand_shape_index();
    pairs->emplace_back(ShapeIndex(output.begin(), output.end()),
                        std::make_pair(pair.operand_index(), ShapeIndex(operand.begin(), operand.end())));
  }
  return absl::OkStatus();
}
KASHI_WRITE(output_operand_aliasing) {
  for (const auto& [output, operand] : instruction.output_operand_aliasing()) {
    wire::OutputOperandAliasing* pair = proto->add_output_operand_aliasing();
    pair->mutable_output_shape_index()->Add(output.begin(), output.end());
    pair->set_operand_index(operand.first);
    pair->mutable_operand_shape_index()->Add(operand.second.begin(), operand.second.end());
  }
}

// ---- Which fields ---------------------------------------------------------------------------------------------------

namespace {

struct FieldFunctions {
  absl::Status (*read)(const InstructionReading&, HloFieldList*);
  void (*write)(const HloInstruction&, HloInstructionProto*);
};
const FieldFunctions& FunctionsOf(HloField field) {
  static constexpr FieldFunctions kFunctions[] = {
#define KASHI_FIELD(name, ...) {ReadField<HloField::name>, WriteField<HloField::name>},
#include "kashi/hlo/ir/fields.def"
  };
  return kFunctions[static_cast<size_t>(field)];
}

HloField FieldOf(HloAttribute attribute) {
  static constexpr HloField kFields[] = {
#define KASHI_ATTRIBUTE(identifier, name, codec, field, ...) HloField::field,
#include "kashi/hlo/ir/attributes.def"
  };
  return kFields[static_cast<size_t>(attribute)];
}

constexpr size_t kFieldCount = 0
#define KASHI_FIELD(...) +1
#include "kashi/hlo/ir/fields.def"
    ;

// Visits the fields that the opcode may have, each once, until `visit` returns false: those of its attributes. The
// exceptions of single opcodes are listed here and nowhere else.
template <typename Visit>
void ForEachField(HloOpcode opcode, Visit visit) {
  // Their attributes are about the computation that their async-start names.
  if (opcode == HloOpcode::kAsyncUpdate || opcode == HloOpcode::kAsyncDone) return;
  if (opcode == HloOpcode::kParameter && !visit(HloField::parameter_number)) return;
  if (opcode == HloOpcode::kConstant && !visit(HloField::literal)) return;
  if (opcode == HloOpcode::kConvolution && !visit(HloField::sparsity_config)) return;
  std::bitset<kFieldCount> seen;
  for (const HloOpcodeAttribute& entry : GetHloOpcodeInfo(opcode).attributes) {
    const HloField field = FieldOf(entry.attribute);
    if (seen[static_cast<size_t>(field)]) continue;
    seen.set(static_cast<size_t>(field));
    if (!visit(field)) return;
  }
}

}  // namespace

absl::Status ReadFields(const InstructionReading& reading, HloFieldList* fields) {
  absl::Status status;
  ForEachField(reading.opcode, [&](HloField field) {
    status = FunctionsOf(field).read(reading, fields);
    return status.ok();
  });
  return status;
}

void WriteFields(const HloInstruction& instruction, HloInstructionProto* proto) {
  ForEachField(instruction.opcode(), [&](HloField field) {
    FunctionsOf(field).write(instruction, proto);
    return true;
  });
}

}  // namespace kashi::proto::proto_internal
