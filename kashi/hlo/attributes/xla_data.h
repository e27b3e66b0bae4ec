// The small records that HLO instructions carry, under the names that XLA's xla_data.proto gives them, with the same
// fields, defaults and enumerators (docs/spec/hlo.md, section 3; what the fields mean: hlo-ops.md). Plain values:
// message.h.
#ifndef KASHI_HLO_ATTRIBUTES_XLA_DATA_H_
#define KASHI_HLO_ATTRIBUTES_XLA_DATA_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "kashi/array/shape.h"
#include "kashi/hlo/attributes/message.h"

namespace kashi {

// ---- Windows and padding -------------------------------------------------------------------------------------------

class PaddingConfig {
 public:
  class PaddingConfigDimension {
    KASHI_SCALAR(int64_t, edge_padding_low, 0)
    KASHI_SCALAR(int64_t, edge_padding_high, 0)
    KASHI_SCALAR(int64_t, interior_padding, 0)
    KASHI_RECORD(PaddingConfigDimension, edge_padding_low_, edge_padding_high_, interior_padding_)
  };
  KASHI_REPEATED_MESSAGE(PaddingConfigDimension, dimensions)
  KASHI_RECORD(PaddingConfig, dimensions_)
};
using PaddingConfigDimension = PaddingConfig::PaddingConfigDimension;

class WindowDimension {
  KASHI_SCALAR(int64_t, size, 0)
  KASHI_SCALAR(int64_t, stride, 0)
  KASHI_SCALAR(int64_t, padding_low, 0)
  KASHI_SCALAR(int64_t, padding_high, 0)
  KASHI_SCALAR(int64_t, window_dilation, 0)
  KASHI_SCALAR(int64_t, base_dilation, 0)
  KASHI_SCALAR(bool, window_reversal, false)
  KASHI_RECORD(WindowDimension, size_, stride_, padding_low_, padding_high_, window_dilation_, base_dilation_,
               window_reversal_)
};
class Window {
  KASHI_REPEATED_MESSAGE(WindowDimension, dimensions)
  KASHI_RECORD(Window, dimensions_)
};

// ---- Dimension numbers ---------------------------------------------------------------------------------------------

class GatherDimensionNumbers {
  KASHI_REPEATED(int64_t, offset_dims)
  KASHI_REPEATED(int64_t, collapsed_slice_dims)
  KASHI_REPEATED(int64_t, start_index_map)
  KASHI_SCALAR(int64_t, index_vector_dim, 0)
  KASHI_REPEATED(int64_t, operand_batching_dims)
  KASHI_REPEATED(int64_t, start_indices_batching_dims)
  KASHI_RECORD(GatherDimensionNumbers, offset_dims_, collapsed_slice_dims_, start_index_map_, index_vector_dim_,
               operand_batching_dims_, start_indices_batching_dims_)
};

class ScatterDimensionNumbers {
  KASHI_REPEATED(int64_t, update_window_dims)
  KASHI_REPEATED(int64_t, inserted_window_dims)
  KASHI_REPEATED(int64_t, scatter_dims_to_operand_dims)
  KASHI_SCALAR(int64_t, index_vector_dim, 0)
  KASHI_REPEATED(int64_t, input_batching_dims)
  KASHI_REPEATED(int64_t, scatter_indices_batching_dims)
  KASHI_RECORD(ScatterDimensionNumbers, update_window_dims_, inserted_window_dims_, scatter_dims_to_operand_dims_,
               index_vector_dim_, input_batching_dims_, scatter_indices_batching_dims_)
};

class ConvolutionDimensionNumbers {
  KASHI_SCALAR(int64_t, input_batch_dimension, 0)
  KASHI_SCALAR(int64_t, input_feature_dimension, 0)
  KASHI_REPEATED(int64_t, input_spatial_dimensions)
  KASHI_SCALAR(int64_t, kernel_input_feature_dimension, 0)
  KASHI_SCALAR(int64_t, kernel_output_feature_dimension, 0)
  KASHI_REPEATED(int64_t, kernel_spatial_dimensions)
  KASHI_SCALAR(int64_t, output_batch_dimension, 0)
  KASHI_SCALAR(int64_t, output_feature_dimension, 0)
  KASHI_REPEATED(int64_t, output_spatial_dimensions)
  KASHI_RECORD(ConvolutionDimensionNumbers, input_batch_dimension_, input_feature_dimension_, input_spatial_dimensions_,
               kernel_input_feature_dimension_, kernel_output_feature_dimension_, kernel_spatial_dimensions_,
               output_batch_dimension_, output_feature_dimension_, output_spatial_dimensions_)
};

class DotDimensionNumbers {
  KASHI_REPEATED(int64_t, lhs_contracting_dimensions)
  KASHI_REPEATED(int64_t, rhs_contracting_dimensions)
  KASHI_REPEATED(int64_t, lhs_batch_dimensions)
  KASHI_REPEATED(int64_t, rhs_batch_dimensions)
  KASHI_RECORD(DotDimensionNumbers, lhs_contracting_dimensions_, rhs_contracting_dimensions_, lhs_batch_dimensions_,
               rhs_batch_dimensions_)
};

class RaggedDotDimensionNumbers {
  KASHI_MESSAGE(DotDimensionNumbers, dot_dimension_numbers)
  KASHI_REPEATED(int64_t, lhs_ragged_dimensions)
  KASHI_REPEATED(int64_t, rhs_group_dimensions)
  KASHI_RECORD(RaggedDotDimensionNumbers, dot_dimension_numbers_, lhs_ragged_dimensions_, rhs_group_dimensions_)
};

class SparsityConfig {
 public:
  class TensorSparsityConfig {
    KASHI_SCALAR(int64_t, num_non_zero, 0)
    KASHI_SCALAR(int64_t, block_size, 0)
    KASHI_SCALAR(int64_t, dimension, 0)
    KASHI_SCALAR(int64_t, stride, 0)
    KASHI_RECORD(TensorSparsityConfig, num_non_zero_, block_size_, dimension_, stride_)
  };
  KASHI_MESSAGE(TensorSparsityConfig, lhs)
  KASHI_MESSAGE(TensorSparsityConfig, rhs)
  KASHI_RECORD(SparsityConfig, lhs_, rhs_)
};

// ---- Options of single operations ----------------------------------------------------------------------------------

enum FftType : int { FFT = 0, IFFT = 1, RFFT = 2, IRFFT = 3 };
enum RandomDistribution : int { RNG_INVALID = 0, RNG_UNIFORM = 1, RNG_NORMAL = 2 };
enum RandomAlgorithm : int { RNG_DEFAULT = 0, RNG_THREE_FRY = 1, RNG_PHILOX = 2 };
enum PaddingType : int { PADDING_INVALID = 0, PADDING_VALID = 1, PADDING_SAME = 2 };
enum CustomCallSchedule : int { SCHEDULE_NONE = 0, SCHEDULE_LATEST = 1, SCHEDULE_EARLIEST = 2 };
enum CustomCallApiVersion : int {
  API_VERSION_UNSPECIFIED = 0,
  API_VERSION_ORIGINAL = 1,
  API_VERSION_STATUS_RETURNING = 2,
  API_VERSION_STATUS_RETURNING_UNIFIED = 3,
  API_VERSION_TYPED_FFI = 4,
};
enum TriState : int { TRI_STATE_UNSPECIFIED = 0, TRI_STATE_TRUE = 1, TRI_STATE_FALSE = 2 };
enum ConvolutionKind : int {
  CONVOLUTION_KIND_UNSET = 0,
  CONVOLUTION_KIND_FPROP = 1,
  CONVOLUTION_KIND_DGRAD = 2,
  CONVOLUTION_KIND_WGRAD = 3,
};

class TriangularSolveOptions {
 public:
  enum Transpose : int { TRANSPOSE_INVALID = 0, NO_TRANSPOSE = 1, TRANSPOSE = 2, ADJOINT = 3 };
  static constexpr Transpose Transpose_MIN = TRANSPOSE_INVALID;
  static constexpr Transpose Transpose_MAX = ADJOINT;
  KASHI_SCALAR(bool, left_side, false)
  KASHI_SCALAR(bool, lower, false)
  KASHI_SCALAR(bool, unit_diagonal, false)
  KASHI_SCALAR(Transpose, transpose_a, TRANSPOSE_INVALID)
  KASHI_RECORD(TriangularSolveOptions, left_side_, lower_, unit_diagonal_, transpose_a_)
};

class CholeskyOptions {
  KASHI_SCALAR(bool, lower, false)
  KASHI_RECORD(CholeskyOptions, lower_)
};

class ResultAccuracy {
 public:
  enum Mode : int { DEFAULT = 0, HIGHEST = 1 };
  class Tolerance {
    KASHI_SCALAR(double, atol, 0)
    KASHI_SCALAR(double, rtol, 0)
    KASHI_SCALAR(int64_t, ulps, 0)
    KASHI_RECORD(Tolerance, atol_, rtol_, ulps_)
  };
  // One of the two: if there is a tolerance, the mode has no effect.
  KASHI_SCALAR(Mode, mode, DEFAULT)
  KASHI_MESSAGE(Tolerance, tolerance)
  KASHI_RECORD(ResultAccuracy, mode_, tolerance_)
};

class PrecisionConfig {
 public:
  enum Precision : int { DEFAULT = 0, HIGH = 1, HIGHEST = 2 };
  enum Algorithm : int {
    ALG_UNSET = 0,
    ALG_DOT_ANY_F8_ANY_F8_F32 = 1,
    ALG_DOT_ANY_F8_ANY_F8_F32_FAST_ACCUM = 2,
    ALG_DOT_F16_F16_F16 = 3,
    ALG_DOT_F16_F16_F32 = 4,
    ALG_DOT_BF16_BF16_BF16 = 5,
    ALG_DOT_BF16_BF16_F32 = 6,
    ALG_DOT_BF16_BF16_F32_X3 = 7,
    ALG_DOT_BF16_BF16_F32_X6 = 8,
    ALG_DOT_TF32_TF32_F32 = 9,
    ALG_DOT_TF32_TF32_F32_X3 = 10,
    ALG_DOT_F32_F32_F32 = 11,
    ALG_DOT_F64_F64_F64 = 12,
    ALG_DOT_BF16_BF16_F32_X9 = 13,
  };
  KASHI_REPEATED(Precision, operand_precision)
  KASHI_SCALAR(Algorithm, algorithm, ALG_UNSET)
  KASHI_RECORD(PrecisionConfig, operand_precision_, algorithm_)
};

class ParameterReplication {
  KASHI_REPEATED(bool, replicated_at_leaf_buffers)
  KASHI_RECORD(ParameterReplication, replicated_at_leaf_buffers_)
};

class OutputOperandAliasing {
  KASHI_REPEATED(int64_t, output_shape_index)
  KASHI_SCALAR(int64_t, operand_index, 0)
  KASHI_REPEATED(int64_t, operand_shape_index)
  KASHI_RECORD(OutputOperandAliasing, output_shape_index_, operand_index_, operand_shape_index_)
};

class ReplicaGroup {
  KASHI_REPEATED(int64_t, replica_ids)
  KASHI_RECORD(ReplicaGroup, replica_ids_)
};

class SourceTarget {
  KASHI_SCALAR(int64_t, source, 0)
  KASHI_SCALAR(int64_t, target, 0)
  KASHI_RECORD(SourceTarget, source_, target_)
};

class ChannelHandle {
 public:
  enum ChannelType : int {
    CHANNEL_TYPE_INVALID = 0,
    DEVICE_TO_DEVICE = 1,
    DEVICE_TO_HOST = 2,
    HOST_TO_DEVICE = 3,
  };
  KASHI_SCALAR(int64_t, handle, 0)
  KASHI_SCALAR(ChannelType, type, CHANNEL_TYPE_INVALID)
  KASHI_RECORD(ChannelHandle, handle_, type_)
};

// ---- Fields of any instruction -------------------------------------------------------------------------------------

// A map from strings to strings, in the order of the keys, which is XLA's print order.
class StringMap : public std::map<std::string, std::string> {
 public:
  using map::map;
  bool contains(const std::string& key) const { return count(key) > 0; }
};

class FrontendAttributes {
 public:
  using Map = StringMap;
  const Map& map() const { return map_; }
  Map* mutable_map() { return &map_; }
  int map_size() const { return static_cast<int>(map_.size()); }
  void clear_map() { map_.clear(); }
  bool empty() const { return map_.empty(); }

 private:
  Map map_;
  KASHI_RECORD(FrontendAttributes, map_)
};

class Statistic {
  KASHI_SCALAR(std::string, stat_name, std::string())
  KASHI_SCALAR(double, stat_val, 0)
  KASHI_RECORD(Statistic, stat_name_, stat_val_)
};
class StatisticsViz {
  KASHI_SCALAR(int64_t, stat_index_to_visualize, 0)
  KASHI_REPEATED_MESSAGE(Statistic, statistics)
  KASHI_RECORD(StatisticsViz, stat_index_to_visualize_, statistics_)
};

enum ProfileType : int { INVALID = 0, WINDOW = 1, FLAG = 2, INTEGER = 3 };
enum ProfileSource : int {
  PROFILE_SOURCE_UNKNOWN_SOURCE = 0,
  PROFILE_SOURCE_EMBEDDED = 1,
  PROFILE_SOURCE_REMOTE = 2,
};
enum CompilationEvent : int {
  COMPILATION_EVENT_UNKNOWN_EVENT = 0,
  COMPILATION_EVENT_FIRST_COMPILATION = 1,
  COMPILATION_EVENT_RECOMPILATION = 2,
};
enum ProfileGenerationStrategy : int {
  PROFILE_GENERATION_STRATEGY_UNKNOWN = 0,
  PROFILE_GENERATION_STRATEGY_GA = 1,
  PROFILE_GENERATION_STRATEGY_FANTA = 2,
  PROFILE_GENERATION_STRATEGY_CFO = 3,
  PROFILE_GENERATION_STRATEGY_EXHAUSTIVE = 4,
  PROFILE_GENERATION_STRATEGY_LCM_GNN = 5,
  PROFILE_GENERATION_STRATEGY_LCM_MOE = 6,
};

// Bytes, or the number of an entry of the module's table of payloads.
class Payload {
  KASHI_SCALAR(std::string, value, std::string())
  KASHI_SCALAR(int64_t, id, 0)
  // Whether the payload is an id; false: bytes.
  KASHI_SCALAR(bool, is_id, false)
  KASHI_RECORD(Payload, value_, id_, is_id_)
};

namespace message_internal {
inline bool IsNothing(const std::string& value) { return value.empty(); }
inline bool IsNothing(int64_t value) { return value == 0; }
}  // namespace message_internal

// The origin of an instruction. Nearly every instruction of a module has one, so fields that are rare in dumps are
// stored apart.
class OpMetadata {
 public:
  class ProfileInfo {
    KASHI_REPEATED(ProfileType, profile_type)
    KASHI_SCALAR(double, relative_speedup, 0)
    KASHI_SCALAR(ProfileSource, profile_source, PROFILE_SOURCE_UNKNOWN_SOURCE)
    KASHI_SCALAR(CompilationEvent, compilation_event, COMPILATION_EVENT_UNKNOWN_EVENT)
    KASHI_SCALAR(ProfileGenerationStrategy, profile_generation_strategy, PROFILE_GENERATION_STRATEGY_UNKNOWN)
    KASHI_RECORD(ProfileInfo, profile_type_, relative_speedup_, profile_source_, compilation_event_,
                 profile_generation_strategy_)
  };
  KASHI_SCALAR(std::string, op_name, std::string())
  KASHI_SCALAR(std::string, source_file, std::string())
  KASHI_SCALAR(int32_t, source_line, 0)
  KASHI_SCALAR(int32_t, source_end_line, 0)
  KASHI_SCALAR(int32_t, source_column, 0)
  KASHI_SCALAR(int32_t, source_end_column, 0)
  KASHI_SCALAR(int32_t, stack_frame_id, 0)

#define KASHI_RARE(type, name)                                                                                         \
 public:                                                                                                               \
  const type& name() const { return rare_.value().name(); }                                                            \
  void set_##name(type value) {                                                                                        \
    if (!message_internal::IsNothing(value) || rare_.has_value()) rare_.mutable_value()->set_##name(std::move(value)); \
  }                                                                                                                    \
  void clear_##name() { set_##name(type()); }
#define KASHI_RARE_MESSAGE(type, name)                           \
 public:                                                         \
  bool has_##name() const { return rare_.value().has_##name(); } \
  const type& name() const { return rare_.value().name(); }      \
  type* mutable_##name() { return rare_.mutable_value()->mutable_##name(); }
  KASHI_RARE(std::string, op_type)
  KASHI_RARE(std::string, deduplicated_name)
  KASHI_RARE(std::string, scheduling_name)
  KASHI_RARE(int64_t, size_of_generated_code_in_bytes)
  KASHI_RARE(int64_t, size_of_memory_working_set_in_bytes)
  KASHI_RARE_MESSAGE(ProfileInfo, profile_info)
  KASHI_RARE_MESSAGE(Payload, metadata_payload)
#undef KASHI_RARE
#undef KASHI_RARE_MESSAGE

 public:
  const RepeatedField<ProfileType>& profile_type() const { return rare_.value().profile_type(); }
  void add_profile_type(ProfileType value) { rare_.mutable_value()->add_profile_type(value); }

 private:
  class Rare {
    KASHI_SCALAR(std::string, op_type, std::string())
    KASHI_SCALAR(std::string, deduplicated_name, std::string())
    KASHI_SCALAR(std::string, scheduling_name, std::string())
    KASHI_SCALAR(int64_t, size_of_generated_code_in_bytes, 0)
    KASHI_SCALAR(int64_t, size_of_memory_working_set_in_bytes, 0)
    KASHI_REPEATED(ProfileType, profile_type)
    KASHI_MESSAGE(ProfileInfo, profile_info)
    KASHI_MESSAGE(Payload, metadata_payload)
    KASHI_RECORD(Rare, op_type_, deduplicated_name_, scheduling_name_, size_of_generated_code_in_bytes_,
                 size_of_memory_working_set_in_bytes_, profile_type_, profile_info_, metadata_payload_)
  };
  OptionalMessage<Rare> rare_;
  KASHI_RECORD(OpMetadata, op_name_, source_file_, source_line_, source_end_line_, source_column_, source_end_column_,
               stack_frame_id_, rare_)
};

// ---- Sharding, as in the protos; code works on HloSharding (hlo_sharding.h) ----------------------------------------

class MeshProto {
 public:
  class MeshAxis {
    KASHI_SCALAR(std::string, name, std::string())
    KASHI_SCALAR(int64_t, size, 0)
    KASHI_RECORD(MeshAxis, name_, size_)
  };
  class IotaTransform {
    KASHI_REPEATED(int64_t, reshape_dims)
    KASHI_REPEATED(int64_t, transpose_perm)
    KASHI_RECORD(IotaTransform, reshape_dims_, transpose_perm_)
  };
  KASHI_REPEATED_MESSAGE(MeshAxis, axes)
  KASHI_REPEATED(int64_t, device_ids)
  KASHI_MESSAGE(IotaTransform, iota_transform)
  KASHI_RECORD(MeshProto, axes_, device_ids_, iota_transform_)
};

class AxisRefProto {
 public:
  class SubAxis {
    KASHI_SCALAR(int64_t, pre_size, 0)
    KASHI_SCALAR(int64_t, size, 0)
    KASHI_RECORD(SubAxis, pre_size_, size_)
  };
  KASHI_SCALAR(int64_t, mesh_axis_index, 0)
  KASHI_MESSAGE(SubAxis, sub_axis_info)
  KASHI_RECORD(AxisRefProto, mesh_axis_index_, sub_axis_info_)
};

class NamedShardingProto {
 public:
  class DimensionSharding {
    KASHI_REPEATED_MESSAGE(AxisRefProto, axes)
    KASHI_SCALAR(bool, is_closed, false)
    KASHI_RECORD(DimensionSharding, axes_, is_closed_)
  };
  KASHI_MESSAGE(MeshProto, mesh)
  KASHI_REPEATED_MESSAGE(DimensionSharding, dim_shardings)
  KASHI_REPEATED_MESSAGE(AxisRefProto, replicated_axes)
  KASHI_REPEATED_MESSAGE(AxisRefProto, unreduced_axes)
  KASHI_REPEATED_MESSAGE(AxisRefProto, manual_axes)
  KASHI_REPEATED_MESSAGE(OpMetadata, metadata)
  KASHI_RECORD(NamedShardingProto, mesh_, dim_shardings_, replicated_axes_, unreduced_axes_, manual_axes_, metadata_)
};

class OpSharding {
 public:
  enum Type : int { REPLICATED = 0, MAXIMAL = 1, TUPLE = 2, OTHER = 3, MANUAL = 4, UNKNOWN = 5, UNREDUCED = 6 };
  enum ShardGroupType : int { AS = 0, LIKE = 1 };
  KASHI_SCALAR(Type, type, REPLICATED)
  KASHI_REPEATED(int64_t, tile_assignment_dimensions)
  KASHI_REPEATED(int64_t, tile_assignment_devices)
  KASHI_SCALAR(bool, replicate_on_last_tile_dim, false)
  KASHI_REPEATED_MESSAGE(OpMetadata, metadata)
  KASHI_REPEATED(Type, last_tile_dims)
  KASHI_REPEATED(int64_t, iota_reshape_dims)
  KASHI_REPEATED(int32_t, iota_transpose_perm)
  KASHI_SCALAR(bool, is_shard_group, false)
  KASHI_SCALAR(int64_t, shard_group_id, 0)
  KASHI_SCALAR(ShardGroupType, shard_group_type, AS)
  KASHI_MESSAGE(NamedShardingProto, named_sharding)

  KASHI_REPEATED_MESSAGE(OpSharding, tuple_shardings)  // one for each leaf of a tuple
  KASHI_RECORD(OpSharding, type_, tile_assignment_dimensions_, tile_assignment_devices_, replicate_on_last_tile_dim_,
               metadata_, last_tile_dims_, iota_reshape_dims_, iota_transpose_perm_, is_shard_group_, shard_group_id_,
               shard_group_type_, named_sharding_, tuple_shardings_)
};

}  // namespace kashi

#endif  // KASHI_HLO_ATTRIBUTES_XLA_DATA_H_
