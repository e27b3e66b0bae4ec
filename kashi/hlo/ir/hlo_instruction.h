// HloInstruction: one operation of a computation, with its operands, users and attributes.
//
// The Create… functions (hlo_instruction_factories.h) make instructions. HloComputation::AddInstruction and
// HloComputation::Builder give them to a computation, which then owns them: an HloInstruction* is valid while its
// computation holds the instruction. Instructions share equal names, shapes and metadata, so a module takes a few
// hundred bytes per instruction.
//
// There is one class for all opcodes. Fields (fields.def) hold what an operation has besides operands: dimensions,
// window, called computations … ops.def lists the fields of each opcode. The accessors are XLA's (docs/spec/xla-api.md,
// section 22). As in XLA, they die if the instruction does not have the field.
#ifndef KASHI_HLO_IR_HLO_INSTRUCTION_H_
#define KASHI_HLO_IR_HLO_INSTRUCTION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/base/check.h"
#include "kashi/base/printer.h"
#include "kashi/base/shared_value.h"
#include "kashi/hlo/ir/field_list.h"
#include "kashi/hlo/ir/hlo_instruction_factories.h"
#include "kashi/hlo/ir/hlo_opcode.h"
#include "kashi/hlo/ir/hlo_print_options.h"
#include "kashi/hlo/ir/shape_with_text.h"

namespace kashi {

class HloComputation;
class HloModule;
class HloInstruction;
class HloInstructionProto;
class OriginalValue;

std::string BackendConfigToKeep(std::string config);  // below

// The place in the text that the module was read from: line and column in bytes, both from 1. Line 0: not read from
// text.
struct HloTextPlace {
  uint32_t line = 0;
  uint32_t column = 0;
};

// Control dependencies, and other data that few instructions have.
struct HloInstructionExtras {
  std::vector<HloInstruction*> control_predecessors;
  std::vector<HloInstruction*> control_successors;
  std::shared_ptr<const HloSharding> sharding;
  FrontendAttributes frontend_attributes;
  StatisticsViz statistics_viz;
  std::shared_ptr<OriginalValue> original_value;
  std::optional<std::vector<bool>> parameter_replicated_at_leaf_buffers;
  // Attributes of a newer XLA, as the text has them: name and value.
  std::vector<std::pair<std::string, std::string>> unknown_attributes;
  // The position of each user in the list of users. Kept after the first removal if there are many users.
  absl::flat_hash_map<const HloInstruction*, size_t> user_places;
};

class HloInstruction : public HloInstructionFactories {
 public:
  using InstructionVector = absl::InlinedVector<HloInstruction*, 2>;
  using FusionKind = ::kashi::FusionKind;
  static constexpr absl::string_view kMainExecutionThread = ::kashi::kMainExecutionThread;

  ~HloInstruction();
  HloInstruction(const HloInstruction&) = delete;
  HloInstruction& operator=(const HloInstruction&) = delete;

  // ---- What it is.
  HloOpcode opcode() const { return opcode_; }
  const Shape& shape() const { return shape_->shape(); }
  Shape* mutable_shape() { return shape_.Mutable()->mutable_shape(); }
  const SharedShape& shared_shape() const { return shape_; }
  void set_shared_shape(SharedShape shape) { shape_ = std::move(shape); }
  // Unique within a module: adding the instruction may have appended a number.
  absl::string_view name() const { return name_; }
  // The bytes must live as long as the instruction, so they are in its module's arena.
  void set_borrowed_name(absl::string_view name);
  void SetAndSanitizeName(absl::string_view name);
  const HloFieldList& fields() const { return fields_; }
  HloFieldList* mutable_fields() { return &fields_; }

  // Parent's id << 32 | local id, or the id from the proto that it was read from; -1 before a computation takes it.
  int64_t unique_id() const { return unique_id_; }
  void SetUniqueId(int64_t id) { unique_id_ = id; }
  static int64_t CalculateUniqueId(int32_t computation_id, int32_t local_id) {
    return static_cast<int64_t>((static_cast<uint64_t>(computation_id) << 32) | static_cast<uint32_t>(local_id));
  }
  // Its position in the instructions of its computation. Only Cleanup changes it.
  int32_t local_id() const { return local_id_; }
  HloComputation* parent() { return parent_; }
  const HloComputation* parent() const { return parent_; }
  HloModule* GetModule() const;
  bool IsRoot() const;
  bool IsDead() const;

  // ---- Operands and users.
  const InstructionVector& operands() const { return operands_; }
  const InstructionVector& mutable_operands() { return operands_; }
  int64_t operand_count() const { return static_cast<int64_t>(operands_.size()); }
  const HloInstruction* operand(int64_t i) const {
    KASHI_CHECK(i >= 0 && i < operand_count());
    return operands_[i];
  }
  HloInstruction* mutable_operand(int64_t i) {
    KASHI_CHECK(i >= 0 && i < operand_count());
    return operands_[i];
  }
  InstructionVector unique_operands() const;
  int64_t operand_index(const HloInstruction* operand) const;
  std::vector<int64_t> OperandIndices(const HloInstruction* operand) const;
  void AppendOperand(HloInstruction* operand);
  // Each user once, in the order of first use. Removing a user may change the order.
  const InstructionVector& users() const { return users_; }
  int64_t user_count() const { return static_cast<int64_t>(users_.size()); }
  bool IsUserOf(const HloInstruction* instruction) const;

  // An error, without a change, if the shapes are not compatible (floating point precision is ignored).
  absl::Status ReplaceOperandWith(int64_t operand_number, HloInstruction* new_operand);
  absl::Status ReplaceOperandWithDifferentShape(int64_t operand_number, HloInstruction* new_operand);
  absl::Status ReplaceUseWith(HloInstruction* user, HloInstruction* new_producer);
  absl::Status ReplaceUseWith(HloInstruction* user, int operand_number, HloInstruction* new_producer);
  // If this is the root of the computation, the new instruction becomes the root.
  absl::Status ReplaceAllUsesWith(HloInstruction* new_producer, absl::string_view trigger = "");
  absl::Status ReplaceAllUsesWithDifferentShape(HloInstruction* new_producer);

  // ---- Control dependencies: this instruction runs before another, which does not use its value.
  absl::Status AddControlDependencyTo(HloInstruction* instruction);
  absl::Status RemoveControlDependencyTo(HloInstruction* instruction);
  absl::Status DropAllControlDeps();
  const std::vector<HloInstruction*>& control_predecessors() const { return extras().control_predecessors; }
  const std::vector<HloInstruction*>& control_successors() const { return extras().control_successors; }
  bool HasControlDependencies() const { return !control_predecessors().empty() || !control_successors().empty(); }

  // XLA's way to pass an instruction to an analysis or a visitor: calls its `Visit(const HloInstruction&, …)` and
  // forwards the other arguments.
  template <typename Visitor, typename... Options>
  absl::Status Accept(Visitor* visitor, Options... options) const {
    return visitor->Visit(*this, options...);
  }
  // As Accept, for visitors that take only the instruction: calls `Dispatch(const HloInstruction&)`.
  template <typename Visitor>
  absl::Status Visit(Visitor* visitor) const {
    return visitor->Dispatch(*this);
  }

  // ---- Equality: opcode, shape, fields; operands and called computations as the functions say (default: the same
  // objects). Names, metadata and other data without effect on the meaning do not count. Sharding counts only on
  // request.
  bool Identical(const HloInstruction& other,
                 const std::function<bool(const HloInstruction*, const HloInstruction*)>& eq_operands =
                     std::equal_to<const HloInstruction*>(),
                 const std::function<bool(const HloComputation*, const HloComputation*)>& eq_computations =
                     std::equal_to<const HloComputation*>(),
                 bool layout_sensitive = true, bool sharding_sensitive = false,
                 bool ignore_channel_id_values = false) const;
  // Whether operation and fields are equal, whatever operands and shape are. Called computations must be equal (==).
  bool SameOp(const HloInstruction& other) const;

  // ---- Kinds.
  bool IsConstant() const { return opcode_ == HloOpcode::kConstant; }
  bool IsElementwise() const;
  static bool IsOpElementwise(HloOpcode opcode);
  bool HasSideEffect() const;  // its own, or one of a computation that it calls
  bool HasSideEffectNoRecurse() const;
  bool IsCustomCall(absl::string_view target) const;
  bool IsAsynchronous() const { return HloOpcodeIsAsync(opcode_); }
  bool IsFused() const;
  bool IsLoopFusion() const { return IsFusionOfKind(FusionKind::kLoop); }
  bool IsInputFusion() const { return IsFusionOfKind(FusionKind::kInput); }
  bool IsOutputFusion() const { return IsFusionOfKind(FusionKind::kOutput); }
  bool IsCustomFusion() const { return IsFusionOfKind(FusionKind::kCustom); }

  // ---- Called computations, in the order of docs/spec/hlo.md 3: while [body, condition], select-and-scatter [select,
  // scatter], conditional its branches.
  absl::Span<HloComputation* const> called_computations() const;
  HloComputation* to_apply() const;
  bool has_to_apply() const { return called_computations().size() == 1; }
  void set_to_apply(HloComputation* computation);
  void set_called_computation(int64_t i, HloComputation* computation);
  HloComputation* while_body() const { return CalledComputation(HloOpcode::kWhile, 0); }
  HloComputation* while_condition() const { return CalledComputation(HloOpcode::kWhile, 1); }
  HloInstruction* while_init() const { return operands_[0]; }
  HloComputation* select() const { return CalledComputation(HloOpcode::kSelectAndScatter, 0); }
  HloComputation* scatter() const { return CalledComputation(HloOpcode::kSelectAndScatter, 1); }
  HloComputation* true_computation() const { return CalledComputation(HloOpcode::kConditional, 0); }
  HloComputation* false_computation() const { return CalledComputation(HloOpcode::kConditional, 1); }
  HloComputation* branch_computation(int i) const { return CalledComputation(HloOpcode::kConditional, i); }
  absl::Span<HloComputation* const> branch_computations() const { return called_computations(); }
  int branch_count() const { return static_cast<int>(called_computations().size()); }
  HloComputation* fused_instructions_computation() const { return CalledComputation(HloOpcode::kFusion, 0); }
  HloInstruction* fused_expression_root() const;
  // The computation that an async-start, -update or -done runs; null if there is none (a broken module).
  HloComputation* async_wrapped_computation() const;
  HloInstruction* async_wrapped_instruction() const;
  HloOpcode async_wrapped_opcode() const { return async_wrapped_instruction()->opcode(); }
  absl::string_view async_execution_thread() const;
  // Pre: an async-start. Does not change the thread of its computation: see HloComputation::SpreadExecutionThread.
  void SetAsyncExecutionThread(absl::string_view thread);
  const HloInstruction* async_chain_start() const;
  // The async-update that continues this async-start or -update; null if there is none.
  const HloInstruction* async_update() const;

  // ---- Fields. All die if the instruction has none.
  int64_t parameter_number() const { return Field<HloField::parameter_number>(); }
  const Literal& literal() const { return *Field<HloField::literal>(); }
  const SharedLiteral& shared_literal() const { return Field<HloField::literal>(); }
  int64_t tuple_index() const { return Field<HloField::tuple_index>(); }
  // For every operation that has one or more dimensions (an iota has one).
  absl::Span<const int64_t> dimensions() const;
  int64_t dimensions(int64_t i) const { return dimensions()[i]; }
  int64_t concatenate_dimension() const { return dimensions()[0]; }
  int64_t dimension() const { return dimensions()[0]; }
  int64_t iota_dimension() const { return Field<HloField::iota_dimension>(); }
  const std::vector<int64_t>& slice_starts() const { return Field<HloField::slice_ranges>().starts; }
  int64_t slice_starts(int64_t i) const { return slice_starts()[i]; }
  const std::vector<int64_t>& slice_limits() const { return Field<HloField::slice_ranges>().limits; }
  int64_t slice_limits(int64_t i) const { return slice_limits()[i]; }
  const std::vector<int64_t>& slice_strides() const { return Field<HloField::slice_ranges>().strides; }
  int64_t slice_strides(int64_t i) const { return slice_strides()[i]; }
  absl::Span<const int64_t> dynamic_slice_sizes() const { return Field<HloField::dynamic_slice_sizes>(); }
  FftType fft_type() const { return Field<HloField::fft_type>(); }
  absl::Span<const int64_t> fft_length() const { return Field<HloField::fft_length>(); }
  std::optional<int64_t> channel_id() const;
  void set_channel_id(const std::optional<int64_t>& channel_id);
  const CollectiveDeviceList& device_list() const;
  const std::vector<ReplicaGroup>& replica_groups() const;
  bool use_global_device_ids() const { return fields_.Get<HloField::use_global_device_ids>(false); }
  bool constrain_layout() const { return fields_.Get<HloField::constrain_layout>(false); }
  const SourceTargetPairs& source_target_pairs() const { return Field<HloField::source_target_pairs>(); }
  bool is_host_transfer() const { return fields_.Get<HloField::is_host_transfer>(false); }
  const Window& window() const;  // empty if there is none
  void set_window(const Window& window) { fields_.Set<HloField::window>(window); }
  const ConvolutionDimensionNumbers& convolution_dimension_numbers() const {
    return Field<HloField::convolution_dimension_numbers>();
  }
  int64_t feature_group_count() const { return fields_.Get<HloField::feature_group_count>(1); }
  int64_t batch_group_count() const { return fields_.Get<HloField::batch_group_count>(1); }
  const PrecisionConfig& precision_config() const;
  const std::string& custom_call_target() const { return Field<HloField::custom_call_target>(); }
  bool custom_call_has_side_effect() const { return fields_.Get<HloField::custom_call_has_side_effect>(false); }
  const std::string& opaque() const { return raw_backend_config_string(); }
  bool layout_constrained() const { return fields_.Has(HloField::operand_shapes_with_layout); }
  const std::vector<Shape>& operand_shapes_with_layout() const { return Field<HloField::operand_shapes_with_layout>(); }
  CustomCallSchedule custom_call_schedule() const { return fields_.Get<HloField::custom_call_schedule>(SCHEDULE_NONE); }
  CustomCallApiVersion api_version() const { return fields_.Get<HloField::api_version>(API_VERSION_ORIGINAL); }
  PaddingType padding_type() const { return fields_.Get<HloField::padding_type>(PADDING_INVALID); }
  const PaddingConfig& padding_config() const { return Field<HloField::padding_config>(); }
  const GatherDimensionNumbers& gather_dimension_numbers() const { return Field<HloField::gather_dimension_numbers>(); }
  absl::Span<const int64_t> gather_slice_sizes() const { return Field<HloField::gather_slice_sizes>(); }
  bool indices_are_sorted() const { return fields_.Get<HloField::indices_are_sorted>(false); }
  bool unique_indices() const { return fields_.Get<HloField::unique_indices>(false); }
  const ScatterDimensionNumbers& scatter_dimension_numbers() const {
    return Field<HloField::scatter_dimension_numbers>();
  }
  const DotDimensionNumbers& dot_dimension_numbers() const { return Field<HloField::dot_dimension_numbers>(); }
  const RaggedDotDimensionNumbers& ragged_dot_dimension_numbers() const {
    return Field<HloField::ragged_dot_dimension_numbers>();
  }
  ComparisonDirection comparison_direction() const { return Field<HloField::comparison_direction>(); }
  // The default of the operands' type unless the text says otherwise.
  Comparison::Type comparison_type() const;
  Comparison::Order comparison_order() const;
  // XLA's names of these accessors on Cast<HloCompareInstruction>(x).
  ComparisonDirection direction() const { return comparison_direction(); }
  Comparison::Type type() const { return comparison_type(); }
  Comparison::Order order() const { return comparison_order(); }
  float epsilon() const { return Field<HloField::epsilon>(); }
  int64_t feature_index() const { return Field<HloField::feature_index>(); }
  int32_t exponent_bits() const { return Field<HloField::exponent_bits>(); }
  int32_t mantissa_bits() const { return Field<HloField::mantissa_bits>(); }
  const std::string& infeed_config() const { return StringField<HloField::infeed_config>(); }
  const std::string& outfeed_config() const { return StringField<HloField::outfeed_config>(); }
  const Shape& outfeed_shape() const { return Field<HloField::outfeed_shape>(); }
  RandomDistribution random_distribution() const { return Field<HloField::distribution>(); }
  RandomAlgorithm rng_algorithm() const { return Field<HloField::rng_algorithm>(); }
  int64_t delta() const { return Field<HloField::delta>(); }
  FusionKind fusion_kind() const { return Field<HloField::fusion_kind>(); }
  const TriangularSolveOptions& triangular_solve_options() const { return Field<HloField::triangular_solve_options>(); }
  const CholeskyOptions& cholesky_options() const { return Field<HloField::cholesky_options>(); }
  std::optional<int> cross_program_prefetch_index() const;
  const OutputOperandAliasingPairs& output_operand_aliasing() const;  // empty if there is none
  bool is_stable() const { return fields_.Get<HloField::is_stable>(false); }
  bool is_composite() const { return fields_.Get<HloField::is_composite>(false); }
  bool has_dynamic_root() const { return fields_.Get<HloField::has_dynamic_root>(false); }
  absl::Span<const int64_t> shuffle_shifts() const;  // empty if there are none
  int64_t k() const { return Field<HloField::k>(); }
  bool largest() const { return fields_.Get<HloField::largest>(true); }
  int64_t inferred_dimension() const { return fields_.Get<HloField::inferred_dimension>(-1); }
  const ResultAccuracy& result_accuracy() const;  // the default if there is none
  bool has_result_accuracy() const { return fields_.Has(HloField::result_accuracy); }
  void set_result_accuracy(const ResultAccuracy& accuracy) { fields_.Set<HloField::result_accuracy>(accuracy); }

  // ---- Fields of any instruction.
  const OpMetadata& metadata() const { return metadata_ ? *metadata_ : OpMetadata::default_instance(); }
  bool has_metadata() const { return static_cast<bool>(metadata_); }
  void set_metadata(OpMetadata metadata) { metadata_ = base::SharedValue<OpMetadata>(std::move(metadata)); }
  void set_metadata_op_name(const std::string& name) {
    OpMetadata changed = metadata();
    changed.set_op_name(name);
    set_metadata(std::move(changed));
  }
  void set_shared_metadata(base::SharedValue<OpMetadata> metadata) { metadata_ = std::move(metadata); }
  const std::string& raw_backend_config_string() const;
  bool has_backend_config() const { return static_cast<bool>(backend_config_) && !backend_config_->empty(); }
  void set_raw_backend_config_string(std::string config) {
    backend_config_ = base::SharedValue<std::string>(BackendConfigToKeep(std::move(config)));
  }
  void clear_backend_config() { backend_config_ = base::SharedValue<std::string>(); }
  // Pre: config is what BackendConfigToKeep returned.
  void set_shared_backend_config(base::SharedValue<std::string> config) { backend_config_ = std::move(config); }
  bool has_sharding() const { return extras().sharding != nullptr; }
  const HloSharding& sharding() const;
  std::shared_ptr<const HloSharding> sharding_ptr() const { return extras().sharding; }
  void set_sharding(HloSharding sharding);
  void set_sharding(std::shared_ptr<const HloSharding> sharding) { mutable_extras()->sharding = std::move(sharding); }
  void clear_sharding();
  const FrontendAttributes& frontend_attributes() const { return extras().frontend_attributes; }
  void set_frontend_attributes(FrontendAttributes attributes) {
    mutable_extras()->frontend_attributes = std::move(attributes);
  }
  bool has_frontend_attributes() const { return !frontend_attributes().map().empty(); }
  void set_frontend_attribute(absl::string_view key, absl::string_view value);
  // These keep the value of an existing key. The first returns whether the key was new.
  bool add_frontend_attribute(absl::string_view key, absl::string_view value);
  void add_frontend_attributes(const FrontendAttributes& attributes);
  size_t erase_frontend_attribute(absl::string_view key);  // returns how many it erased
  std::optional<std::string> get_frontend_attribute(absl::string_view key) const;
  const StatisticsViz& statistics_viz() const { return extras().statistics_viz; }
  void set_statistics_viz(StatisticsViz statistics) { mutable_extras()->statistics_viz = std::move(statistics); }
  std::shared_ptr<OriginalValue> original_value() const { return extras().original_value; }
  void set_original_value(std::shared_ptr<OriginalValue> value) { mutable_extras()->original_value = std::move(value); }
  const std::optional<std::vector<bool>>& parameter_replicated_at_leaf_buffers() const {
    return extras().parameter_replicated_at_leaf_buffers;
  }
  void set_parameter_replicated_at_leaf_buffers(std::vector<bool> replicated) {
    mutable_extras()->parameter_replicated_at_leaf_buffers = std::move(replicated);
  }
  const HloInstructionExtras& extras() const { return extras_ ? *extras_ : NoExtras(); }
  HloInstructionExtras* mutable_extras() {
    if (!extras_) extras_ = std::make_unique<HloInstructionExtras>();
    return extras_.get();
  }

  // ---- Text.
  std::string ToString() const;
  std::string ToString(const HloPrintOptions& options) const;
  std::string ToShortString() const;
  void Print(Printer* printer, const HloPrintOptions& options) const;

  // A copy with new operands, in the same or another module. It calls the same computations. The name gets `.suffix`; a
  // name with that ending gets `.suffix2`, and so on.
  std::unique_ptr<HloInstruction> CloneWithNewOperands(const Shape& shape,
                                                       absl::Span<HloInstruction* const> new_operands,
                                                       absl::string_view suffix = "clone") const;
  std::unique_ptr<HloInstruction> Clone(absl::string_view suffix = "clone") const;

  HloInstructionProto ToProto() const;  // kashi/proto

  // Its place in the text that it was read from (HloModule::source_name). A copy has the place of its original.
  HloTextPlace text_place() const { return text_place_; }
  void set_text_place(HloTextPlace place) { text_place_ = place; }

 private:
  friend class HloComputation;
  friend class HloInstructionFactories;
  friend class HloModule;
  friend struct HloInstructionDeleter;

  HloInstruction(HloOpcode opcode, SharedShape shape, absl::Span<HloInstruction* const> operands, HloFieldList fields);

  static const HloInstructionExtras& NoExtras();

  template <HloField field>
  const HloFieldType<field>& Field() const {
    const HloFieldType<field>* value = fields_.Find<field>();
    if (value == nullptr) DieForLackOf(field);
    return *value;
  }
  template <HloField field>
  const std::string& StringField() const {
    const std::string* value = fields_.Find<field>();
    return value ? *value : EmptyString();
  }
  [[noreturn]] void DieForLackOf(HloField field) const;
  static const std::string& EmptyString();
  HloComputation* CalledComputation(HloOpcode opcode, int64_t i) const;
  bool IsFusionOfKind(FusionKind kind) const;
  // The part of Identical that does not compare operands.
  bool SameIgnoringOperands(const HloInstruction& other,
                            const std::function<bool(const HloComputation*, const HloComputation*)>& eq_computations,
                            bool layout_sensitive, bool sharding_sensitive, bool ignore_channel_id_values) const;
  // Metadata, backend configuration and extras, but no control dependencies.
  void CopyPropertiesTo(HloInstruction* copy) const;
  SharedShape ShapeForCopy() const;

  // O(1). The user must be new, or the last one that was added (an operand used twice).
  void AddUser(HloInstruction* user);
  // Does nothing if it is not a user. Amortised O(1).
  void RemoveUser(HloInstruction* user);
  size_t FindUser(const HloInstruction* user);  // user_count() if it is none
  void SetOperand(int64_t operand_number, HloInstruction* new_operand);
  // Removes all operands, users and control dependencies. Its users get null as their operand.
  void Detach();
  // Drops operands, users and control dependencies without updating them, because all of them are about to be deleted.
  void DropAllLinks();
  void FreeName();

  HloOpcode opcode_;
  bool in_arena_ = false;   // its memory is the module's: destroyed, not deleted
  bool owns_name_ = false;  // the bytes of the name are its own
  int32_t local_id_ = -1;
  int64_t unique_id_ = -1;
  HloTextPlace text_place_;
  HloComputation* parent_ = nullptr;
  absl::string_view name_;
  SharedShape shape_;
  InstructionVector operands_;
  InstructionVector users_;
  HloFieldList fields_;
  base::SharedValue<OpMetadata> metadata_;
  base::SharedValue<std::string> backend_config_;
  std::unique_ptr<HloInstructionExtras> extras_;
};

// The backend config that an instruction keeps: without `"wait_on_operation_queues": [],`, which XLA drops too.
std::string BackendConfigToKeep(std::string config);

// Deletes an instruction wherever its memory came from.
struct HloInstructionDeleter {
  void operator()(HloInstruction* instruction) const;
};

struct HloPtrComparator {
  bool operator()(const HloInstruction* a, const HloInstruction* b) const;
};

// A name that is valid in text (docs/spec/hlo.md 1.2): invalid characters become `_`, `__x` becomes `a_x` (but not
// `__xla_x`), and the name of a type gets a `_` at its end.
std::string SanitizeName(absl::string_view name);

// The name of a copy: `name.suffix`; the copy of `name.suffix` is `name.suffix2`, then `name.suffix3`. The name itself
// if the suffix is empty.
std::string NameWithSuffix(absl::string_view name, absl::string_view suffix);

}  // namespace kashi

#endif  // KASHI_HLO_IR_HLO_INSTRUCTION_H_
