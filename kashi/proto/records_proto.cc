#include "kashi/proto/records_proto.h"

#include <string>
#include <type_traits>

#include "absl/strings/string_view.h"
#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"
#include "kashi/base/status.h"

namespace kashi {

absl::Status BadEnumNumber(const char* name, int number) {
  return InvalidArgument("%d is not a value of %s", number, name);
}

namespace {

template <typename Record>
constexpr bool kIsMessage = std::is_base_of_v<google::protobuf::Message, Record>;

// Each type is described once, for both directions: the accessors have the same names on both sides.
//
//   NUMBER a number, truth value or string    NUMBERS a list of them    ENUM, ENUMS
//   RECORD a record that may be absent        RECORDS a list of them
#define KASHI_DESCRIBE(type, ...)                                                                                   \
  absl::Status Copy(const type& from, wire::type* to);                                                              \
  absl::Status Copy(const wire::type& from, type* to);                                                              \
  template <typename From, typename To>                                                                             \
  absl::Status CopyFields([[maybe_unused]] const From& from, To* to, [[maybe_unused]] type* which) {                \
    __VA_ARGS__                                                                                                     \
    return absl::OkStatus();                                                                                        \
  }                                                                                                                 \
  absl::Status Copy(const type& from, wire::type* to) { return CopyFields(from, to, static_cast<type*>(nullptr)); } \
  absl::Status Copy(const wire::type& from, type* to) { return CopyFields(from, to, static_cast<type*>(nullptr)); }
#define NUMBER(name) to->set_##name(from.name());
#define NUMBERS(name) to->mutable_##name()->Add(from.name().begin(), from.name().end());
#define RECORD(name) \
  if (from.has_##name()) KASHI_RETURN_IF_ERROR(Copy(from.name(), to->mutable_##name()));
#define RECORDS(name) \
  for (const auto& element : from.name()) KASHI_RETURN_IF_ERROR(Copy(element, to->add_##name()));
#define CHECK_ENUM(type, value)                                           \
  if constexpr (kIsMessage<From>) {                                       \
    if (!wire::type##_IsValid(value)) return BadEnumNumber(#type, value); \
  }
#define ENUM(type, name)        \
  CHECK_ENUM(type, from.name()) \
  to->set_##name(static_cast<std::conditional_t<kIsMessage<From>, type, wire::type>>(from.name()));
#define ENUMS(type, name)                                                                       \
  for (const auto value : from.name()) {                                                        \
    CHECK_ENUM(type, value)                                                                     \
    to->add_##name(static_cast<std::conditional_t<kIsMessage<From>, type, wire::type>>(value)); \
  }

// ---- Windows, padding, dimension numbers ----------------------------------------------------------------------------

KASHI_DESCRIBE(PaddingConfig::PaddingConfigDimension,
               NUMBER(edge_padding_low) NUMBER(edge_padding_high) NUMBER(interior_padding))
KASHI_DESCRIBE(PaddingConfig, RECORDS(dimensions))
KASHI_DESCRIBE(WindowDimension, NUMBER(size) NUMBER(stride) NUMBER(padding_low) NUMBER(padding_high)
                                    NUMBER(window_dilation) NUMBER(base_dilation) NUMBER(window_reversal))
KASHI_DESCRIBE(Window, RECORDS(dimensions))
KASHI_DESCRIBE(GatherDimensionNumbers,
               NUMBERS(offset_dims) NUMBERS(collapsed_slice_dims) NUMBERS(start_index_map) NUMBER(index_vector_dim)
                   NUMBERS(operand_batching_dims) NUMBERS(start_indices_batching_dims))
KASHI_DESCRIBE(ScatterDimensionNumbers,
               NUMBERS(update_window_dims) NUMBERS(inserted_window_dims) NUMBERS(scatter_dims_to_operand_dims)
                   NUMBER(index_vector_dim) NUMBERS(input_batching_dims) NUMBERS(scatter_indices_batching_dims))
KASHI_DESCRIBE(ConvolutionDimensionNumbers,
               NUMBER(input_batch_dimension) NUMBER(input_feature_dimension) NUMBERS(input_spatial_dimensions)
                   NUMBER(kernel_input_feature_dimension) NUMBER(kernel_output_feature_dimension)
                       NUMBERS(kernel_spatial_dimensions) NUMBER(output_batch_dimension)
                           NUMBER(output_feature_dimension) NUMBERS(output_spatial_dimensions))
KASHI_DESCRIBE(DotDimensionNumbers, NUMBERS(lhs_contracting_dimensions) NUMBERS(rhs_contracting_dimensions)
                                        NUMBERS(lhs_batch_dimensions) NUMBERS(rhs_batch_dimensions))
KASHI_DESCRIBE(RaggedDotDimensionNumbers,
               RECORD(dot_dimension_numbers) NUMBERS(lhs_ragged_dimensions) NUMBERS(rhs_group_dimensions))
KASHI_DESCRIBE(SparsityConfig::TensorSparsityConfig,
               NUMBER(num_non_zero) NUMBER(block_size) NUMBER(dimension) NUMBER(stride))
KASHI_DESCRIBE(SparsityConfig, RECORD(lhs) RECORD(rhs))

// ---- Options of single operations -----------------------------------------------------------------------------------

KASHI_DESCRIBE(TriangularSolveOptions, NUMBER(left_side) NUMBER(lower) NUMBER(unit_diagonal)
                                           ENUM(TriangularSolveOptions::Transpose, transpose_a))
KASHI_DESCRIBE(CholeskyOptions, NUMBER(lower))
KASHI_DESCRIBE(ResultAccuracy::Tolerance, NUMBER(atol) NUMBER(rtol) NUMBER(ulps))
// A choice in the message: with a tolerance there is no mode.
KASHI_DESCRIBE(ResultAccuracy, if (from.has_tolerance()) return Copy(from.tolerance(), to->mutable_tolerance());
               ENUM(ResultAccuracy::Mode, mode))
KASHI_DESCRIBE(PrecisionConfig,
               ENUMS(PrecisionConfig::Precision, operand_precision) ENUM(PrecisionConfig::Algorithm, algorithm))
KASHI_DESCRIBE(ParameterReplication, NUMBERS(replicated_at_leaf_buffers))
KASHI_DESCRIBE(OutputOperandAliasing, NUMBERS(output_shape_index) NUMBER(operand_index) NUMBERS(operand_shape_index))
KASHI_DESCRIBE(ReplicaGroup, NUMBERS(replica_ids))
KASHI_DESCRIBE(SourceTarget, NUMBER(source) NUMBER(target))

// ---- Records that any instruction may carry -------------------------------------------------------------------------

KASHI_DESCRIBE(FrontendAttributes, for (const auto& entry
                                        : from.map()) (*to->mutable_map())[entry.first] = entry.second;)
KASHI_DESCRIBE(Statistic, NUMBER(stat_name) NUMBER(stat_val))
KASHI_DESCRIBE(StatisticsViz, NUMBER(stat_index_to_visualize) RECORDS(statistics))

absl::Status Copy(const Payload& from, wire::Payload* to) {
  if (from.is_id()) {
    to->set_id(from.id());
  } else {
    to->set_value(from.value());
  }
  return absl::OkStatus();
}
absl::Status Copy(const wire::Payload& from, Payload* to) {
  to->set_is_id(from.payload_source_case() == wire::Payload::kId);
  if (to->is_id()) {
    to->set_id(from.id());
  } else {
    to->set_value(from.value());
  }
  return absl::OkStatus();
}

KASHI_DESCRIBE(OpMetadata::ProfileInfo,
               ENUMS(ProfileType, profile_type) NUMBER(relative_speedup) ENUM(ProfileSource, profile_source)
                   ENUM(CompilationEvent, compilation_event)
                       ENUM(ProfileGenerationStrategy, profile_generation_strategy))
KASHI_DESCRIBE(OpMetadata,
               NUMBER(op_type) NUMBER(op_name) NUMBER(source_file) NUMBER(source_line) NUMBER(source_end_line)
                   NUMBER(source_column) NUMBER(source_end_column) ENUMS(ProfileType, profile_type)
                       NUMBER(size_of_generated_code_in_bytes) NUMBER(size_of_memory_working_set_in_bytes)
                           RECORD(profile_info) NUMBER(deduplicated_name) NUMBER(stack_frame_id) NUMBER(scheduling_name)
                               RECORD(metadata_payload))

// ---- Sharding -------------------------------------------------------------------------------------------------------

KASHI_DESCRIBE(MeshProto::MeshAxis, NUMBER(name) NUMBER(size))
KASHI_DESCRIBE(MeshProto::IotaTransform, NUMBERS(reshape_dims) NUMBERS(transpose_perm))
KASHI_DESCRIBE(MeshProto, RECORDS(axes) NUMBERS(device_ids) RECORD(iota_transform))
KASHI_DESCRIBE(AxisRefProto::SubAxis, NUMBER(pre_size) NUMBER(size))
KASHI_DESCRIBE(AxisRefProto, NUMBER(mesh_axis_index) RECORD(sub_axis_info))
KASHI_DESCRIBE(NamedShardingProto::DimensionSharding, RECORDS(axes) NUMBER(is_closed))
KASHI_DESCRIBE(NamedShardingProto, RECORD(mesh) RECORDS(dim_shardings) RECORDS(replicated_axes) RECORDS(unreduced_axes)
                                       RECORDS(manual_axes) RECORDS(metadata))
// Without `tile_shape`, which is no longer read.
KASHI_DESCRIBE(OpSharding,
               ENUM(OpSharding::Type, type) NUMBERS(tile_assignment_dimensions) NUMBERS(tile_assignment_devices)
                   RECORDS(tuple_shardings) NUMBER(replicate_on_last_tile_dim) RECORDS(metadata)
                       ENUMS(OpSharding::Type, last_tile_dims) NUMBERS(iota_reshape_dims) NUMBERS(iota_transpose_perm)
                           NUMBER(is_shard_group) NUMBER(shard_group_id)
                               ENUM(OpSharding::ShardGroupType, shard_group_type) RECORD(named_sharding))

}  // namespace

// Messages take any number for an enum: nothing can fail on the way there.
#define KASHI_DEFINE(type)                                                                      \
  void ToWire(const type& record, wire::type* message) { Copy(record, message).IgnoreError(); } \
  absl::Status FromWire(const wire::type& message, type* record) { return Copy(message, record); }
KASHI_RECORD_TYPES(KASHI_DEFINE)

// ---- Functions that records have in common with messages ------------------------------------------------------------

namespace message_internal {
namespace {

template <typename Message, typename Record>
bool ReadMessage(const Message& message, Record* record) {
  record->Clear();
  return FromWire(message, record).ok();
}

}  // namespace

template <typename Record>
std::string BytesOfRecord(const Record& record) {
  return ToMessage(record).SerializeAsString();
}

template <typename Record>
bool ReadRecord(absl::string_view bytes, Record* record) {
  auto message = ToMessage(Record());
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) && ReadMessage(message, record);
}

template <typename Record>
std::string TextOfRecord(const Record& record, bool one_line) {
  const auto message = ToMessage(record);
  return one_line ? message.ShortDebugString() : message.DebugString();
}

template <typename Record>
bool ReadRecordText(absl::string_view text, Record* record) {
  auto message = ToMessage(Record());
  return google::protobuf::TextFormat::ParseFromString(std::string(text), &message) && ReadMessage(message, record);
}

#define KASHI_AS_MESSAGE(type)                          \
  template std::string BytesOfRecord(const type&);      \
  template bool ReadRecord(absl::string_view, type*);   \
  template std::string TextOfRecord(const type&, bool); \
  template bool ReadRecordText(absl::string_view, type*);
KASHI_RECORD_TYPES(KASHI_AS_MESSAGE)

}  // namespace message_internal
}  // namespace kashi
