// The class XlaBuilder, without the operations, which are in xla_builder.h.
#ifndef KASHI_HLO_BUILDER_XLA_BUILDER_CORE_H_
#define KASHI_HLO_BUILDER_XLA_BUILDER_CORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_index.h"
#include "kashi/hlo/attributes/xla_data.h"
#include "kashi/hlo/builder/xla_op.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/ir/original_value.h"
#include "kashi/hlo/ir/xla_computation.h"

namespace kashi {
namespace hlo {
class XlaLowering;
}  // namespace hlo
namespace internal {
struct XlaBuilderFriend;
}  // namespace internal

// The computation that an operation calls: one from outside, which the builder copies, or one that the builder
// has. Only for function arguments, because it may point to the original computation.
class XlaComputationRef {
 public:
  XlaComputationRef(const XlaComputation& computation) : computation_(&computation) {}  // NOLINT: implicit
  XlaComputationRef(XlaComputationId id) : id_(id) {}                                   // NOLINT: implicit

 private:
  friend class XlaBuilder;
  const XlaComputation* computation_ = nullptr;
  XlaComputationId id_;
};

class XlaBuilder {
 public:
  explicit XlaBuilder(const std::string& name) : name_(name) {}
  virtual ~XlaBuilder();
  XlaBuilder(const XlaBuilder&) = delete;
  XlaBuilder& operator=(const XlaBuilder&) = delete;

  const std::string& name() const { return name_; }

  // ---- Errors.
  absl::Status first_error() const { return first_error_; }
  absl::Status GetCurrentStatus() const { return first_error_; }
  // Keeps the error if it is the first. Returns an invalid XlaOp of this builder. Dies for an OK status.
  XlaOp ReportError(const absl::Status& error);
  XlaOp ReportErrorOrReturn(const absl::StatusOr<XlaOp>& op);
  XlaOp ReportErrorOrReturn(absl::FunctionRef<absl::StatusOr<XlaOp>()> op_creator);
  // Whether the first error ends the process, so that a debugger shows its origin.
  void set_die_immediately_on_error(bool enabled) { die_immediately_on_error_ = enabled; }

  // ---- Results. All functions except BuildConstantSubGraph move the instructions out of the builder.
  // The program whose result is `root`, or the last operation. Errors: the first error, a root of another builder, or
  // parameters that are not numbered 0 to n-1. With `remove_dynamic_dimensions` all sizes become their bounds.
  absl::StatusOr<XlaComputation> Build(bool remove_dynamic_dimensions = false);
  absl::StatusOr<XlaComputation> Build(XlaOp root, bool remove_dynamic_dimensions = false);
  // The embedded computation as a separate program. The builder keeps it.
  absl::StatusOr<XlaComputation> Build(XlaComputationId entry);
  // For sub-builders: reports an error to the parent; the result is then null.
  XlaComputation BuildAndNoteError();
  // For sub-builders: embeds the computation in the parent.
  absl::StatusOr<XlaComputationId> BuildSubComputation(std::optional<XlaOp> root = std::nullopt,
                                                       bool remove_dynamic_dimensions = false);
  // The program of `root` with only the instructions that it needs. An error unless IsConstant(root). Sizes of dynamic
  // dimensions become their bounds, or -1.
  absl::StatusOr<XlaComputation> BuildConstantSubGraph(XlaOp root, bool dynamic_dimension_is_minus_one = false);

  // A builder for a computation that operations of this builder call. It may call computations that are embedded in
  // this builder; then BuildSubComputation must build it. This builder must outlive it.
  std::unique_ptr<XlaBuilder> CreateSubBuilder(const std::string& computation_name);
  // Embeds a copy. If the computation is null, reports an error and returns an invalid id.
  XlaComputationId AddSubComputation(const XlaComputation& computation);

  // ---- Queries.
  absl::StatusOr<Shape> GetShape(XlaOp op) const;
  absl::StatusOr<const Shape*> GetShapePtr(XlaOp op) const;  // valid while the builder lives and is not built
  absl::StatusOr<std::vector<Shape>> GetOperandShapes(absl::Span<const XlaOp> operands) const;
  absl::StatusOr<ProgramShape> GetProgramShape() const;  // of the last operation
  absl::StatusOr<ProgramShape> GetProgramShape(XlaOp root) const;
  absl::StatusOr<std::optional<OpSharding>> GetOpSharding(XlaOp op) const;
  // Whether the value depends on no parameter, random number, state or called program. O(instructions that it needs).
  absl::StatusOr<bool> IsConstant(XlaOp operand) const;
  // The operation and, indented below it, its operands, to a depth of some levels.
  std::string OpToString(XlaOp op) const;

  // ---- Attributes of all following operations.
  void SetOpMetadata(OpMetadata metadata) { metadata_ = std::move(metadata); }
  OpMetadata SwapOpMetadata(OpMetadata metadata) {
    std::swap(metadata_, metadata);
    return metadata;
  }
  void SetOneShotOpMetadata(OpMetadata metadata) { one_shot_metadata_ = std::move(metadata); }  // the next one only
  void ClearOpMetadata() { metadata_ = OpMetadata(); }
  void SetSharding(const OpSharding& sharding) { sharding_ = sharding; }
  virtual void ClearSharding() { sharding_.reset(); }
  const std::optional<OpSharding>& sharding() const { return sharding_; }
  void SetFrontendAttributes(const FrontendAttributes& attributes) { frontend_attributes_ = attributes; }
  FrontendAttributes SwapFrontendAttributes(const FrontendAttributes& attributes) {
    return std::exchange(frontend_attributes_, attributes);
  }
  void ClearFrontendAttributes() { frontend_attributes_ = FrontendAttributes(); }
  const FrontendAttributes& frontend_attributes() const { return frontend_attributes_; }
  void SetOriginalValue(const std::optional<OriginalValue>& value) { original_value_ = value; }
  void SetOriginalValue(const std::shared_ptr<OriginalValue>& value) {
    original_value_ = value == nullptr ? std::nullopt : std::make_optional(*value);
  }
  void ClearOriginalValue() { original_value_.reset(); }
  const std::optional<OriginalValue>& original_value() const { return original_value_; }
  // Attributes of one existing operation.
  absl::Status SetInstructionFrontendAttribute(XlaOp op, std::string attribute, std::string value);
  absl::Status SetInstructionSharding(XlaOp op, const std::optional<OpSharding>& sharding);

  // ---- Buffers. Build checks them.
  using AliasKind = HloInputOutputAliasConfig::AliasKind;
  void SetUpAlias(const ShapeIndex& output_index, int64_t param_number, const ShapeIndex& param_index,
                  AliasKind kind = HloInputOutputAliasConfig::kMayAlias) {
    aliases_.push_back({output_index, {param_number, param_index, kind}});
  }
  void AddBufferDonor(int64_t param_number, const ShapeIndex& param_index) {
    donors_.insert({param_number, param_index});
  }

  // ---- Convolutions: batch 0, feature 1, then the spatial dimensions; in the kernel output 0, input 1.
  static ConvolutionDimensionNumbers CreateDefaultConvDimensionNumbers(int num_spatial_dims = 2);
  // INVALID_ARGUMENT unless each part names every dimension exactly once.
  static absl::Status Validate(const ConvolutionDimensionNumbers& dimension_numbers);
  static constexpr int64_t kConvBatchDimension = 0;
  static constexpr int64_t kConvFeatureDimension = 1;
  static constexpr int64_t kConvFirstSpatialDimension = 2;
  static constexpr int64_t kConvSecondSpatialDimension = 3;
  static constexpr int64_t kConvKernelOutputDimension = 0;
  static constexpr int64_t kConvKernelInputDimension = 1;
  static constexpr int64_t kConvKernelFirstSpatialDimension = 2;
  static constexpr int64_t kConvKernelSecondSpatialDimension = 3;

 private:
  friend class ValueInference;  // kashi/evaluator
  friend class hlo::XlaLowering;
  friend struct internal::XlaBuilderFriend;

  // ---- Instructions. The handle of an operation is its position.
  absl::StatusOr<HloInstruction*> Find(XlaOp op) const;
  // Takes the instruction. If it has no name, it gets that of the opcode, or of the metadata.
  absl::StatusOr<HloInstruction*> Add(std::unique_ptr<HloInstruction> instruction);
  absl::Status Annotate(HloInstruction* instruction);
  XlaOp OpOf(const HloInstruction* instruction);
  absl::Status RegisterParameter(int64_t number, const std::string& name);
  absl::StatusOr<ProgramShape> ProgramShapeOf(const HloInstruction* root) const;
  absl::StatusOr<const HloInstruction*> Last() const;
  // The handles of the operation and of the operations that it needs; an error if one of them is not constant. With
  // `sizes_are_constant`, sizes of dynamic dimensions are constant too.
  absl::StatusOr<std::set<int64_t>> ConstantSubGraph(const HloInstruction* root, bool sizes_are_constant) const;

  // ---- Embedded computations.
  absl::StatusOr<HloComputation*> Embed(const XlaComputationRef& computation);
  absl::StatusOr<HloComputation*> EmbedCopy(const XlaComputation& computation);
  // Gives the computation and its instructions new numbers of this builder.
  void Renumber(HloComputation* computation);
  int64_t NextId() { return ++last_id_; }

  // ---- Building.
  absl::StatusOr<std::unique_ptr<HloComputation>> TakeComputation(const HloInstruction* root,
                                                                  bool remove_dynamic_dimensions);
  absl::Status ApplyAliases(const ProgramShape& program_shape, HloModule* module) const;
  void RemoveDynamicDimensions();

  struct Alias {
    ShapeIndex output_index;
    HloInputOutputAliasConfig::Alias parameter;
  };

  std::string name_;
  XlaBuilder* parent_builder_ = nullptr;
  absl::Status first_error_;
  bool die_immediately_on_error_ = false;

  std::vector<std::unique_ptr<HloInstruction>> instructions_;  // by handle, which is their unique id for now
  std::vector<std::unique_ptr<HloComputation>> embedded_;      // by handle; callees first
  std::map<int64_t, std::string> parameter_names_;             // by parameter number, as given
  int64_t last_id_ = 0;                                        // of instructions and computations
  // The distance to the outermost builder whose computations this one calls: 0 is this one, 1 the parent, and so on.
  int called_ancestor_ = 0;
  HloInstruction* last_outfeed_token_ = nullptr;
  HloInstruction* last_infeed_ = nullptr;  // of those without a token of the caller's
  // The results of XlaBuilderFriend::GetInstruction, by handle (kashi/proto).
  std::map<int64_t, std::shared_ptr<HloInstructionProto>> handed_out_;

  OpMetadata metadata_;
  std::optional<OpMetadata> one_shot_metadata_;
  std::optional<OpSharding> sharding_;
  FrontendAttributes frontend_attributes_;
  std::optional<OriginalValue> original_value_;
  std::vector<Alias> aliases_;
  std::set<std::pair<int64_t, ShapeIndex>> donors_;
};

}  // namespace kashi

#endif  // KASHI_HLO_BUILDER_XLA_BUILDER_CORE_H_
