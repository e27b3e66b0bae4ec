// The factories of HloInstruction, with XLA's names and arguments: one for each opcode.
#ifndef KASHI_HLO_IR_HLO_INSTRUCTION_FACTORIES_H_
#define KASHI_HLO_IR_HLO_INSTRUCTION_FACTORIES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/hlo/ir/field_list.h"
#include "kashi/hlo/ir/hlo_opcode.h"
#include "kashi/hlo/ir/shape_with_text.h"

namespace kashi {

class HloComputation;
class HloInstruction;

inline constexpr absl::string_view kMainExecutionThread = "main";
inline constexpr absl::string_view kHostThread = "host";

// A base of HloInstruction: callers write HloInstruction::CreateParameter(…).
class HloInstructionFactories {
 public:
  // The general factory, which all other factories (hlo_instruction_create*.cc) call. It does not check the shape and
  // the fields. The operands get a new user.
  static std::unique_ptr<HloInstruction> Create(HloOpcode opcode, SharedShape shape,
                                                absl::Span<HloInstruction* const> operands, HloFieldList fields = {});
  static std::unique_ptr<HloInstruction> Create(HloOpcode opcode, const Shape& shape,
                                                absl::Span<HloInstruction* const> operands, HloFieldList fields = {});

  // ---- XLA's factories (docs/spec/xla-api.md 22.1). They check little; the verifier checks the rest.
  static std::unique_ptr<HloInstruction> CreateParameter(int64_t parameter_number, const Shape& shape,
                                                         absl::string_view name);
  static std::unique_ptr<HloInstruction> CreateConstant(Literal literal);
  static std::unique_ptr<HloInstruction> CreateIota(const Shape& shape, int64_t iota_dimension);
  static std::unique_ptr<HloInstruction> CreateTuple(absl::Span<HloInstruction* const> elements);
  static std::unique_ptr<HloInstruction> CreateGetTupleElement(const Shape& shape, HloInstruction* operand,
                                                               int64_t index);
  static std::unique_ptr<HloInstruction> CreateGetTupleElement(HloInstruction* operand, int64_t index);
  static std::unique_ptr<HloInstruction> CreateUnary(const Shape& shape, HloOpcode opcode, HloInstruction* operand,
                                                     std::optional<ResultAccuracy> result_accuracy = std::nullopt);
  static std::unique_ptr<HloInstruction> CreateBinary(const Shape& shape, HloOpcode opcode, HloInstruction* lhs,
                                                      HloInstruction* rhs);
  static std::unique_ptr<HloInstruction> CreateTernary(const Shape& shape, HloOpcode opcode, HloInstruction* lhs,
                                                       HloInstruction* rhs, HloInstruction* ehs);
  static std::unique_ptr<HloInstruction> CreateVariadic(const Shape& shape, HloOpcode opcode,
                                                        absl::Span<HloInstruction* const> operands);
  static std::unique_ptr<HloInstruction> CreateCompare(const Shape& shape, HloInstruction* lhs, HloInstruction* rhs,
                                                       ComparisonDirection direction,
                                                       std::optional<Comparison::Type> type = std::nullopt);
  static std::unique_ptr<HloInstruction> CreateConvert(const Shape& shape, HloInstruction* operand);
  static std::unique_ptr<HloInstruction> CreateBitcast(const Shape& shape, HloInstruction* operand);
  static std::unique_ptr<HloInstruction> CreateBitcastConvert(const Shape& shape, HloInstruction* operand);
  static std::unique_ptr<HloInstruction> CreateStochasticConvert(const Shape& shape, HloInstruction* operand,
                                                                 HloInstruction* random);
  static std::unique_ptr<HloInstruction> CreateReducePrecision(const Shape& shape, HloInstruction* operand,
                                                               int exponent_bits, int mantissa_bits);
  static std::unique_ptr<HloInstruction> CreateBroadcast(const Shape& shape, HloInstruction* operand,
                                                         absl::Span<const int64_t> broadcast_dimensions);
  static std::unique_ptr<HloInstruction> CreateReshape(const Shape& shape, HloInstruction* operand,
                                                       int64_t inferred_dimension = -1);
  static std::unique_ptr<HloInstruction> CreateDynamicReshape(const Shape& shape, HloInstruction* data_operand,
                                                              absl::Span<HloInstruction* const> dim_sizes);
  static std::unique_ptr<HloInstruction> CreateTranspose(const Shape& shape, HloInstruction* operand,
                                                         absl::Span<const int64_t> dimensions);
  static std::unique_ptr<HloInstruction> CreateReverse(const Shape& shape, HloInstruction* operand,
                                                       absl::Span<const int64_t> dimensions);
  static std::unique_ptr<HloInstruction> CreatePad(const Shape& shape, HloInstruction* operand,
                                                   HloInstruction* padding_value, const PaddingConfig& padding_config);
  static std::unique_ptr<HloInstruction> CreateConcatenate(const Shape& shape,
                                                           absl::Span<HloInstruction* const> operands,
                                                           int64_t dimension);
  static std::unique_ptr<HloInstruction> CreateSlice(const Shape& shape, HloInstruction* operand,
                                                     absl::Span<const int64_t> start_indices,
                                                     absl::Span<const int64_t> limit_indices,
                                                     absl::Span<const int64_t> strides);
  static std::unique_ptr<HloInstruction> CreateDynamicSlice(const Shape& shape, HloInstruction* operand,
                                                            absl::Span<HloInstruction* const> start_indices,
                                                            absl::Span<const int64_t> slice_sizes);
  static std::unique_ptr<HloInstruction> CreateDynamicUpdateSlice(const Shape& shape, HloInstruction* operand,
                                                                  HloInstruction* update,
                                                                  absl::Span<HloInstruction* const> start_indices);
  static std::unique_ptr<HloInstruction> CreateReduce(const Shape& shape, HloInstruction* operand,
                                                      HloInstruction* init_value, absl::Span<const int64_t> dimensions,
                                                      HloComputation* reduce_computation);
  static std::unique_ptr<HloInstruction> CreateReduce(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                      absl::Span<HloInstruction* const> init_values,
                                                      absl::Span<const int64_t> dimensions,
                                                      HloComputation* reduce_computation);
  static std::unique_ptr<HloInstruction> CreateReduceWindow(const Shape& shape, HloInstruction* operand,
                                                            HloInstruction* init_value, const Window& window,
                                                            HloComputation* reduce_computation);
  static std::unique_ptr<HloInstruction> CreateReduceWindow(const Shape& shape,
                                                            absl::Span<HloInstruction* const> operands,
                                                            absl::Span<HloInstruction* const> init_values,
                                                            const Window& window, HloComputation* reduce_computation);
  static std::unique_ptr<HloInstruction> CreateMap(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                   HloComputation* map_computation);
  static std::unique_ptr<HloInstruction> CreateSort(const Shape& shape, int64_t dimension,
                                                    absl::Span<HloInstruction* const> operands, HloComputation* compare,
                                                    bool is_stable);
  static std::unique_ptr<HloInstruction> CreateTopK(const Shape& shape, HloInstruction* input, int64_t k, bool largest);
  static std::unique_ptr<HloInstruction> CreateSelectAndScatter(const Shape& shape, HloInstruction* operand,
                                                                HloComputation* select, const Window& window,
                                                                HloInstruction* source, HloInstruction* init_value,
                                                                HloComputation* scatter);
  static std::unique_ptr<HloInstruction> CreateDot(const Shape& shape, HloInstruction* lhs, HloInstruction* rhs,
                                                   const DotDimensionNumbers& dimension_numbers,
                                                   const PrecisionConfig& precision_config);
  static std::unique_ptr<HloInstruction> CreateRaggedDot(const Shape& shape, HloInstruction* lhs, HloInstruction* rhs,
                                                         HloInstruction* group_sizes,
                                                         const RaggedDotDimensionNumbers& dimension_numbers,
                                                         const PrecisionConfig& precision_config);
  static std::unique_ptr<HloInstruction> CreateScaledDot(const Shape& shape, HloInstruction* lhs, HloInstruction* rhs,
                                                         HloInstruction* lhs_scale, HloInstruction* rhs_scale,
                                                         const DotDimensionNumbers& dimension_numbers,
                                                         const PrecisionConfig& precision_config);
  static std::unique_ptr<HloInstruction> CreateConvolve(const Shape& shape, HloInstruction* lhs, HloInstruction* rhs,
                                                        int64_t feature_group_count, int64_t batch_group_count,
                                                        const Window& window,
                                                        const ConvolutionDimensionNumbers& dimension_numbers,
                                                        const PrecisionConfig& precision_config);
  static std::unique_ptr<HloInstruction> CreateFft(const Shape& shape, HloInstruction* operand, FftType fft_type,
                                                   absl::Span<const int64_t> fft_length);
  static std::unique_ptr<HloInstruction> CreateTriangularSolve(const Shape& shape, HloInstruction* a, HloInstruction* b,
                                                               const TriangularSolveOptions& options);
  static std::unique_ptr<HloInstruction> CreateCholesky(const Shape& shape, HloInstruction* a,
                                                        const CholeskyOptions& options);
  static std::unique_ptr<HloInstruction> CreateGather(const Shape& shape, HloInstruction* operand,
                                                      HloInstruction* start_indices,
                                                      const GatherDimensionNumbers& dimension_numbers,
                                                      absl::Span<const int64_t> slice_sizes, bool indices_are_sorted);
  static std::unique_ptr<HloInstruction> CreateScatter(const Shape& shape, HloInstruction* operand,
                                                       HloInstruction* scatter_indices, HloInstruction* updates,
                                                       HloComputation* update_computation,
                                                       const ScatterDimensionNumbers& dimension_numbers,
                                                       bool indices_are_sorted, bool unique_indices);
  static std::unique_ptr<HloInstruction> CreateScatter(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                       HloInstruction* scatter_indices,
                                                       absl::Span<HloInstruction* const> updates,
                                                       HloComputation* update_computation,
                                                       const ScatterDimensionNumbers& dimension_numbers,
                                                       bool indices_are_sorted, bool unique_indices);
  static std::unique_ptr<HloInstruction> CreateWhile(const Shape& shape, HloComputation* condition,
                                                     HloComputation* body, HloInstruction* init);
  static std::unique_ptr<HloInstruction> CreateConditional(const Shape& shape, HloInstruction* pred,
                                                           HloInstruction* true_operand, HloComputation* on_true,
                                                           HloInstruction* false_operand, HloComputation* on_false);
  static std::unique_ptr<HloInstruction> CreateConditional(const Shape& shape, HloInstruction* branch_index,
                                                           absl::Span<HloComputation* const> branches,
                                                           absl::Span<HloInstruction* const> operands);
  static std::unique_ptr<HloInstruction> CreateCall(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                    HloComputation* computation);
  static std::unique_ptr<HloInstruction> CreateCompositeCall(const Shape& shape,
                                                             absl::Span<HloInstruction* const> operands,
                                                             HloComputation* decomposition, const std::string& name,
                                                             const std::string& attributes, int64_t version);
  static std::unique_ptr<HloInstruction> CreateFusion(const Shape& shape, FusionKind kind,
                                                      absl::Span<HloInstruction* const> operands,
                                                      HloComputation* computation, absl::string_view prefix = "");
  static std::unique_ptr<HloInstruction> CreateCustomCall(const Shape& shape,
                                                          absl::Span<HloInstruction* const> operands,
                                                          absl::string_view target, std::string opaque = "",
                                                          CustomCallApiVersion api_version = API_VERSION_ORIGINAL);
  static std::unique_ptr<HloInstruction> CreateCustomCall(const Shape& shape,
                                                          absl::Span<HloInstruction* const> operands,
                                                          HloComputation* to_apply, absl::string_view target,
                                                          std::string opaque = "",
                                                          CustomCallApiVersion api_version = API_VERSION_ORIGINAL);
  static std::unique_ptr<HloInstruction> CreateCustomCall(const Shape& shape,
                                                          absl::Span<HloInstruction* const> operands,
                                                          absl::Span<HloComputation* const> computations,
                                                          absl::string_view target, std::string opaque = "",
                                                          CustomCallApiVersion api_version = API_VERSION_ORIGINAL);
  static std::unique_ptr<HloInstruction> CreateCustomCall(const Shape& shape,
                                                          absl::Span<HloInstruction* const> operands,
                                                          absl::string_view target,
                                                          absl::Span<const Shape> operand_shapes_with_layout,
                                                          std::string opaque = "",
                                                          CustomCallApiVersion api_version = API_VERSION_ORIGINAL);
  static std::unique_ptr<HloInstruction> CreateBatchNormTraining(const Shape& shape, HloInstruction* operand,
                                                                 HloInstruction* scale, HloInstruction* offset,
                                                                 float epsilon, int64_t feature_index);
  static std::unique_ptr<HloInstruction> CreateBatchNormInference(const Shape& shape, HloInstruction* operand,
                                                                  HloInstruction* scale, HloInstruction* offset,
                                                                  HloInstruction* mean, HloInstruction* variance,
                                                                  float epsilon, int64_t feature_index);
  static std::unique_ptr<HloInstruction> CreateBatchNormGrad(const Shape& shape, HloInstruction* operand,
                                                             HloInstruction* scale, HloInstruction* mean,
                                                             HloInstruction* variance, HloInstruction* grad_output,
                                                             float epsilon, int64_t feature_index);
  static std::unique_ptr<HloInstruction> CreateRng(const Shape& shape, RandomDistribution distribution,
                                                   absl::Span<HloInstruction* const> parameters);
  static std::unique_ptr<HloInstruction> CreateRngBitGenerator(const Shape& shape, HloInstruction* state,
                                                               RandomAlgorithm algorithm);
  static std::unique_ptr<HloInstruction> CreateRngGetAndUpdateState(const Shape& shape, int64_t delta);
  static std::unique_ptr<HloInstruction> CreateAllGather(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                         int64_t all_gather_dimension,
                                                         const CollectiveDeviceList& device_list, bool constrain_layout,
                                                         const std::optional<int64_t>& channel_id,
                                                         bool use_global_device_ids);
  static std::unique_ptr<HloInstruction> CreateAllGatherStart(
      const Shape& shape, absl::Span<HloInstruction* const> operands, int64_t all_gather_dimension,
      const CollectiveDeviceList& device_list, bool constrain_layout, const std::optional<int64_t>& channel_id,
      bool use_global_device_ids);
  static std::unique_ptr<HloInstruction> CreateAllReduceStart(
      const Shape& shape, absl::Span<HloInstruction* const> operands, HloComputation* reduce_computation,
      const CollectiveDeviceList& device_list, bool constrain_layout, const std::optional<int64_t>& channel_id,
      bool use_global_device_ids);
  static std::unique_ptr<HloInstruction> CreateAllReduce(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                         HloComputation* reduce_computation,
                                                         const CollectiveDeviceList& device_list, bool constrain_layout,
                                                         const std::optional<int64_t>& channel_id,
                                                         bool use_global_device_ids);
  static std::unique_ptr<HloInstruction> CreateReduceScatter(
      const Shape& shape, absl::Span<HloInstruction* const> operands, HloComputation* reduce_computation,
      const CollectiveDeviceList& device_list, bool constrain_layout, const std::optional<int64_t>& channel_id,
      bool use_global_device_ids, int64_t scatter_dimension);
  static std::unique_ptr<HloInstruction> CreateAllToAll(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                        const CollectiveDeviceList& device_list, bool constrain_layout,
                                                        const std::optional<int64_t>& channel_id,
                                                        const std::optional<int64_t>& split_dimension = std::nullopt);
  static std::unique_ptr<HloInstruction> CreateCollectiveBroadcast(
      const Shape& shape, absl::Span<HloInstruction* const> operands, const CollectiveDeviceList& device_list,
      bool constrain_layout, const std::optional<int64_t>& channel_id, bool has_dynamic_root = false);
  static std::unique_ptr<HloInstruction> CreateCollectiveReduce(
      const Shape& shape, absl::Span<HloInstruction* const> operands, HloComputation* reduce_computation,
      const CollectiveDeviceList& device_list, bool constrain_layout, const std::optional<int64_t>& channel_id,
      bool use_global_device_ids, bool has_dynamic_root = false);
  static std::unique_ptr<HloInstruction> CreateRaggedAllToAll(const Shape& shape,
                                                              absl::Span<HloInstruction* const> operands,
                                                              const CollectiveDeviceList& device_list,
                                                              const std::optional<int64_t>& channel_id);
  static std::unique_ptr<HloInstruction> CreateCollectivePermute(const Shape& shape, HloInstruction* operand,
                                                                 const SourceTargetPairs& source_target_pairs,
                                                                 const std::optional<int64_t>& channel_id);
  static std::unique_ptr<HloInstruction> CreateCollectivePermute(const Shape& shape,
                                                                 absl::Span<HloInstruction* const> operands,
                                                                 const SourceTargetPairs& source_target_pairs,
                                                                 const std::optional<int64_t>& channel_id);
  static std::unique_ptr<HloInstruction> CreateCollectivePermuteStart(const Shape& shape,
                                                                      absl::Span<HloInstruction* const> operands,
                                                                      const SourceTargetPairs& source_target_pairs,
                                                                      const std::optional<int64_t>& channel_id);
  static std::unique_ptr<HloInstruction> CreateReplicaId(const Shape& shape);
  static std::unique_ptr<HloInstruction> CreateReplicaId();  // u32[]
  static std::unique_ptr<HloInstruction> CreatePartitionId(const Shape& shape);
  static std::unique_ptr<HloInstruction> CreatePartitionId();  // u32[]
  static std::unique_ptr<HloInstruction> CreateAsyncStart(const Shape& shape,
                                                          absl::Span<HloInstruction* const> operands,
                                                          HloComputation* async_computation,
                                                          absl::string_view execution_thread = kMainExecutionThread);
  static std::unique_ptr<HloInstruction> CreateAsyncUpdate(const Shape& shape, HloInstruction* operand);
  static std::unique_ptr<HloInstruction> CreateAsyncDone(const Shape& shape, HloInstruction* operand);
  static std::unique_ptr<HloInstruction> CreateCopyStart(
      const Shape& shape, HloInstruction* operand, std::optional<int> cross_program_prefetch_index = std::nullopt);
  static std::unique_ptr<HloInstruction> CreateInfeed(const Shape& infeed_shape, HloInstruction* token,
                                                      const std::string& config);
  static std::unique_ptr<HloInstruction> CreateOutfeed(const Shape& outfeed_shape, HloInstruction* operand,
                                                       HloInstruction* token, absl::string_view outfeed_config);
  static std::unique_ptr<HloInstruction> CreateSend(HloInstruction* operand, HloInstruction* token,
                                                    std::optional<int64_t> channel_id, bool is_host_transfer);
  static std::unique_ptr<HloInstruction> CreateSendDone(HloInstruction* operand, std::optional<int64_t> channel_id,
                                                        bool is_host_transfer);
  static std::unique_ptr<HloInstruction> CreateRecv(const Shape& shape, HloInstruction* token,
                                                    std::optional<int64_t> channel_id, bool is_host_transfer);
  static std::unique_ptr<HloInstruction> CreateRecvDone(HloInstruction* operand, std::optional<int64_t> channel_id,
                                                        bool is_host_transfer);
  static std::unique_ptr<HloInstruction> CreateAfterAll(absl::Span<HloInstruction* const> operands);
  static std::unique_ptr<HloInstruction> CreateToken();
  static std::unique_ptr<HloInstruction> CreateAddDependency(HloInstruction* data_operand,
                                                             HloInstruction* token_operand);
  static std::unique_ptr<HloInstruction> CreateDomain(const Shape& shape, HloInstruction* operand, HloSharding entry,
                                                      HloSharding exit);
  static std::unique_ptr<HloInstruction> CreateGetDimensionSize(const Shape& shape, HloInstruction* operand,
                                                                int64_t dimension);
  static std::unique_ptr<HloInstruction> CreateSetDimensionSize(const Shape& shape, HloInstruction* operand,
                                                                HloInstruction* val, int64_t dimension);
};

}  // namespace kashi

#endif  // KASHI_HLO_IR_HLO_INSTRUCTION_FACTORIES_H_
