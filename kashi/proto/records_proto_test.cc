#include "kashi/proto/records_proto.h"

#include <string>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace kashi::proto {
namespace {

using ::testing::HasSubstr;

// Text -> message -> record -> message -> text.
template <typename Record, typename Message>
void ExpectRoundTrip(const std::string& text) {
  SCOPED_TRACE(text);
  Message message;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message));
  Record record;
  const absl::Status status = FromWire(message, &record);
  ASSERT_TRUE(status.ok()) << status;
  Message written;
  ToWire(record, &written);
  EXPECT_EQ(written.DebugString(), message.DebugString());
}
#define EXPECT_ROUND_TRIP(type, text) ExpectRoundTrip<type, wire::type>(text)

TEST(RecordsProtoTest, EveryFieldMakesTheRoundTrip) {
  EXPECT_ROUND_TRIP(PaddingConfig,
                    "dimensions { edge_padding_low: 1 edge_padding_high: -2 interior_padding: 3 } dimensions {}");
  EXPECT_ROUND_TRIP(Window,
                    "dimensions { size: 1 stride: 2 padding_low: 3 padding_high: 4 window_dilation: 5 base_dilation: 6 "
                    "window_reversal: true }");
  EXPECT_ROUND_TRIP(GatherDimensionNumbers,
                    "offset_dims: [1, 2] collapsed_slice_dims: 3 start_index_map: 4 index_vector_dim: 5 "
                    "operand_batching_dims: 6 start_indices_batching_dims: 7");
  EXPECT_ROUND_TRIP(ScatterDimensionNumbers,
                    "update_window_dims: [1, 2] inserted_window_dims: 3 scatter_dims_to_operand_dims: 4 "
                    "index_vector_dim: 5 input_batching_dims: 6 scatter_indices_batching_dims: 7");
  EXPECT_ROUND_TRIP(ConvolutionDimensionNumbers,
                    "input_batch_dimension: 1 input_feature_dimension: 2 input_spatial_dimensions: [3, 4] "
                    "kernel_input_feature_dimension: 5 kernel_output_feature_dimension: 6 kernel_spatial_dimensions: 7 "
                    "output_batch_dimension: 8 output_feature_dimension: 9 output_spatial_dimensions: 10");
  EXPECT_ROUND_TRIP(DotDimensionNumbers,
                    "lhs_contracting_dimensions: 1 rhs_contracting_dimensions: 2 lhs_batch_dimensions: 3 "
                    "rhs_batch_dimensions: 4");
  EXPECT_ROUND_TRIP(
      RaggedDotDimensionNumbers,
      "dot_dimension_numbers { lhs_batch_dimensions: 1 } lhs_ragged_dimensions: 2 rhs_group_dimensions: 3");
  EXPECT_ROUND_TRIP(SparsityConfig, "lhs { num_non_zero: 1 block_size: 2 dimension: 3 stride: 4 } rhs {}");
  EXPECT_ROUND_TRIP(TriangularSolveOptions, "left_side: true lower: true unit_diagonal: true transpose_a: ADJOINT");
  EXPECT_ROUND_TRIP(CholeskyOptions, "lower: true");
  EXPECT_ROUND_TRIP(ResultAccuracy, "mode: HIGHEST");
  EXPECT_ROUND_TRIP(ResultAccuracy, "tolerance { atol: 1.5 rtol: 2 ulps: 3 }");
  EXPECT_ROUND_TRIP(PrecisionConfig, "operand_precision: [HIGH, DEFAULT, HIGHEST] algorithm: ALG_DOT_BF16_BF16_F32_X9");
  EXPECT_ROUND_TRIP(ParameterReplication, "replicated_at_leaf_buffers: [true, false]");
  EXPECT_ROUND_TRIP(OutputOperandAliasing, "output_shape_index: [1, 0] operand_index: 2 operand_shape_index: 3");
  EXPECT_ROUND_TRIP(ReplicaGroup, "replica_ids: [3, 1]");
  EXPECT_ROUND_TRIP(SourceTarget, "source: 3 target: 1");
  EXPECT_ROUND_TRIP(FrontendAttributes, "map { key: 'a' value: 'b' }");
  EXPECT_ROUND_TRIP(StatisticsViz, "stat_index_to_visualize: 1 statistics { stat_name: 'a' stat_val: 0.5 }");
  EXPECT_ROUND_TRIP(Payload, "value: 'abc'");
  EXPECT_ROUND_TRIP(Payload, "id: 0");
  EXPECT_ROUND_TRIP(OpMetadata,
                    "op_type: 'a' op_name: 'b' source_file: 'c' source_line: 1 source_end_line: 2 source_column: 3 "
                    "source_end_column: 4 profile_type: [WINDOW, FLAG] size_of_generated_code_in_bytes: 5 "
                    "size_of_memory_working_set_in_bytes: 6 profile_info { profile_type: INTEGER relative_speedup: 7 "
                    "profile_source: PROFILE_SOURCE_REMOTE compilation_event: COMPILATION_EVENT_RECOMPILATION "
                    "profile_generation_strategy: PROFILE_GENERATION_STRATEGY_LCM_MOE } deduplicated_name: 'd' "
                    "stack_frame_id: 8 scheduling_name: 'e' metadata_payload { id: 9 }");
  EXPECT_ROUND_TRIP(
      MeshProto, "axes { name: 'x' size: 2 } device_ids: [1, 0] iota_transform { reshape_dims: 2 transpose_perm: 0 }");
  EXPECT_ROUND_TRIP(AxisRefProto, "mesh_axis_index: 1 sub_axis_info { pre_size: 2 size: 3 }");
  EXPECT_ROUND_TRIP(NamedShardingProto,
                    "mesh { axes { name: 'x' size: 2 } } dim_shardings { axes { mesh_axis_index: 1 } is_closed: true } "
                    "replicated_axes {} unreduced_axes {} manual_axes {} metadata { op_name: 'a' }");
  EXPECT_ROUND_TRIP(OpSharding,
                    "type: TUPLE tuple_shardings { type: OTHER tile_assignment_dimensions: [2, 1] "
                    "tile_assignment_devices: [1, 0] replicate_on_last_tile_dim: true metadata { op_name: 'a' } "
                    "last_tile_dims: [MANUAL, REPLICATED] iota_reshape_dims: 2 iota_transpose_perm: 0 is_shard_group: "
                    "true shard_group_id: 3 shard_group_type: LIKE named_sharding { mesh {} } }");
}

TEST(RecordsProtoTest, NumbersThatAreNoEnumeratorsAreRefused) {
  wire::OpSharding message;
  message.add_last_tile_dims(static_cast<wire::OpSharding::Type>(7));
  OpSharding record;
  const absl::Status status = FromWire(message, &record);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("7 is not a value of OpSharding::Type"));
}

TEST(RecordsProtoTest, RecordsAreBytesAndTextAsMessagesAre) {
  OpSharding sharding;
  sharding.set_type(OpSharding::OTHER);
  sharding.add_tile_assignment_dimensions(2);
  wire::OpSharding message;
  ToWire(sharding, &message);
  EXPECT_EQ(sharding.SerializeAsString(), message.SerializeAsString());
  EXPECT_EQ(sharding.DebugString(), message.DebugString());
  EXPECT_EQ(sharding.ShortDebugString(), "type: OTHER tile_assignment_dimensions: 2");
  OpSharding read;
  read.set_shard_group_id(7);
  ASSERT_TRUE(read.ParseFromString(sharding.SerializeAsString()));
  EXPECT_EQ(read, sharding);
  EXPECT_FALSE(read.ParseFromString("\x0f"));
  EXPECT_FALSE(read.ParseFromString("\x08\x63")) << "no type has the number 99";
}

}  // namespace
}  // namespace kashi::proto
