// HloModule: a program. It has computations, one of them the entry, and data about the whole program.
//
//   auto module = ParseAndReturnUnverifiedModule(text);      // hlo_parser.h
//   for (HloComputation* computation : (*module)->MakeComputationPostOrder()) …
//   std::string text = (*module)->ToString();
#ifndef KASHI_HLO_IR_HLO_MODULE_H_
#define KASHI_HLO_IR_HLO_MODULE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/shape_index.h"
#include "kashi/base/arena.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_module_config.h"
#include "kashi/hlo/ir/name_uniquer.h"

namespace kashi {

class HloModuleProto;
class HloModule;

// The instructions of a computation in the order that they run in.
class HloInstructionSequence : public std::vector<HloInstruction*> {
 public:
  using vector::vector;
  HloInstructionSequence(std::vector<HloInstruction*> instructions) : vector(std::move(instructions)) {}  // NOLINT
  const std::vector<HloInstruction*>& instructions() const { return *this; }
};

// The order of the instructions of each computation.
class HloSchedule {
 public:
  // The schedule of this module, which must outlive it. HloModule::set_schedule sets the module of a schedule that has
  // none.
  explicit HloSchedule(const HloModule* module = nullptr) : module_(module) {}
  const HloModule* module() const { return module_; }
  void set_module(const HloModule* module) { module_ = module; }

  const std::vector<HloInstruction*>* Find(const HloComputation* computation) const;
  bool is_computation_scheduled(const HloComputation* computation) const { return Find(computation) != nullptr; }
  bool empty() const { return sequences_.empty(); }
  // Dies if the computation is not scheduled.
  const HloInstructionSequence& sequence(const HloComputation* computation) const;
  void set_sequence(const HloComputation* computation, std::vector<HloInstruction*> sequence) {
    sequences_[computation] = std::move(sequence);
  }
  HloInstructionSequence& GetOrCreateSequence(const HloComputation* computation) { return sequences_[computation]; }
  void remove_computation(const HloComputation* computation) { sequences_.erase(computation); }
  const absl::flat_hash_map<const HloComputation*, HloInstructionSequence>& sequences() const { return sequences_; }
  // Checks that every computation except fusions has a sequence of exactly its instructions, operands before users.
  // Also an error if the schedule has no module.
  absl::Status Verify() const;
  absl::Status Verify(const HloModule& module) const;

 private:
  const HloModule* module_;
  absl::flat_hash_map<const HloComputation*, HloInstructionSequence> sequences_;
};

// Which outputs may, or must, use the buffers of which parameters.
class HloInputOutputAliasConfig {
 public:
  enum AliasKind { kMayAlias = 1, kMustAlias = 2 };  // numbers as in HloInputOutputAliasProto
  struct Alias {
    int64_t parameter_number = 0;
    ShapeIndex parameter_index;
    AliasKind kind = kMayAlias;
    bool must_alias() const { return kind == kMustAlias; }
    friend bool operator==(const Alias& a, const Alias& b) {
      return a.parameter_number == b.parameter_number && a.parameter_index == b.parameter_index && a.kind == b.kind;
    }
  };

  HloInputOutputAliasConfig() = default;
  // Output indices are checked against this shape.
  explicit HloInputOutputAliasConfig(Shape output_shape) : output_shape_(std::move(output_shape)) {}

  // An error if there is no such output or it has an alias already.
  absl::Status SetUpAlias(const ShapeIndex& output_index, int64_t parameter_number, const ShapeIndex& parameter_index,
                          AliasKind kind = kMayAlias);
  const std::map<ShapeIndex, Alias>& aliases() const { return aliases_; }
  bool empty() const { return aliases_.empty(); }
  const Shape& shape() const { return output_shape_; }
  bool OutputHasAlias(const ShapeIndex& output_index) const { return aliases_.count(output_index) > 0; }
  std::optional<Alias> GetAliasedParameter(const ShapeIndex& output_index) const;
  std::optional<ShapeIndex> GetAliasedOutput(int64_t parameter_number, const ShapeIndex& parameter_index) const;
  bool ParameterHasAlias(int64_t parameter_number, const ShapeIndex& parameter_index) const {
    return GetAliasedOutput(parameter_number, parameter_index).has_value();
  }
  bool ParameterMustAlias(int64_t parameter_number, const ShapeIndex& parameter_index) const;
  // "{0}: (0, {0}, may-alias), …", as in the head of a module; "" if there is none.
  std::string ToShortString() const;
  // Indices exist, shapes agree, no parameter buffer is aliased twice.
  absl::Status Verify(const HloModule& module) const;

 private:
  Shape output_shape_;
  std::map<ShapeIndex, Alias> aliases_;
};

// Parameters whose buffers the program may reuse.
class HloBufferDonorConfig {
 public:
  struct BufferDonor {
    int64_t param_number = 0;
    ShapeIndex param_index;
    friend bool operator==(const BufferDonor& a, const BufferDonor& b) {
      return a.param_number == b.param_number && a.param_index == b.param_index;
    }
    friend bool operator<(const BufferDonor& a, const BufferDonor& b) {
      return std::tie(a.param_number, a.param_index) < std::tie(b.param_number, b.param_index);
    }
  };
  void AddBufferDonor(int64_t parameter_number, const ShapeIndex& parameter_index);
  bool ParameterIsBufferDonor(int64_t parameter_number, const ShapeIndex& parameter_index) const;
  const std::vector<BufferDonor>& buffer_donor() const { return donors_; }  // in order, each once
  bool empty() const { return donors_.empty(); }
  std::string ToShortString() const;  // "(0, {}), …"
  absl::Status Verify(const HloModule& module) const;

 private:
  std::vector<BufferDonor> donors_;
};

// The tables of source positions. Ids start at 1; 0 means none.
struct StackFrameIndex {
  struct FileLocation {
    int32_t file_name_id = 0;
    int32_t function_name_id = 0;
    int32_t line = 0;
    int32_t end_line = 0;
    int32_t column = 0;
    int32_t end_column = 0;
  };
  struct StackFrame {
    int32_t file_location_id = 0;
    int32_t parent_frame_id = 0;
  };
  std::vector<std::string> file_names;
  std::vector<std::string> function_names;
  std::vector<FileLocation> file_locations;
  std::vector<StackFrame> stack_frames;

  bool empty() const {
    return file_names.empty() && function_names.empty() && file_locations.empty() && stack_frames.empty();
  }
};

// An instruction of the program before compilation, and an element of its result.
struct OriginalArray {
  std::string instruction_name;
  ShapeIndex shape_index;
  friend bool operator==(const OriginalArray& a, const OriginalArray& b) {
    return a.instruction_name == b.instruction_name && a.shape_index == b.shape_index;
  }
};

// How to recover a value of the original program from a value that still exists: an entry of the module's
// origin_recovery_table. Without a recovery module the two values are equal.
struct OriginalValueRecoveryEntry {
  OriginalArray old_array;
  OriginalArray new_array;
  std::unique_ptr<HloModule> recovery_module;
};

class HloModule {
 public:
  HloModule(absl::string_view name, HloModuleConfig config);
  virtual ~HloModule();  // tests derive classes from HloModule
  HloModule(const HloModule&) = delete;
  HloModule& operator=(const HloModule&) = delete;

  const std::string& name() const { return name_; }
  void set_name(absl::string_view name) { name_ = std::string(name); }
  int unique_id() const { return unique_id_; }
  void set_unique_id(int id) { unique_id_ = id; }
  // Swaps everything except the unique ids. Pointers to computations and instructions stay valid. O(computations).
  void Swap(HloModule* other);

  // ---- Computations.
  // Takes the computation, and gives it and its instructions names and ids that are unique in the module. Dies for a
  // second entry.
  HloComputation* AddEntryComputation(std::unique_ptr<HloComputation> computation);
  HloComputation* AddEmbeddedComputation(std::unique_ptr<HloComputation> computation);
  // Takes the computation with its ids and names. For the readers of text and protos, which have made them unique.
  HloComputation* AddComputationAsIs(std::unique_ptr<HloComputation> computation, bool is_entry);
  bool has_entry_computation() const { return entry_ != nullptr; }
  HloComputation* entry_computation() const {
    KASHI_CHECK(entry_ != nullptr) << "the module has no entry computation";
    return entry_;
  }
  // Makes another computation of the module the entry. Drops the layouts, aliases and donors of the old one.
  void ReplaceEntryComputation(HloComputation* computation);
  // An error if an instruction calls it or if it is the entry.
  absl::Status RemoveEmbeddedComputation(HloComputation* computation);
  // Removes the computations that the entry does not reach.
  absl::Status RemoveUnusedComputations();
  const std::vector<HloComputation*>& computations() const { return computation_pointers_; }
  int64_t computation_count() const { return static_cast<int64_t>(computations_.size()); }
  int64_t instruction_count() const;
  HloComputation* GetComputationWithName(absl::string_view name) const;  // null if there is none
  const Shape& result_shape() const { return entry_computation()->root_instruction()->shape(); }

  // Callees before callers. With the argument: in XLA's print order (docs/spec/hlo.md 1.4), where some callers come
  // first (HloComputation::MakeEmbeddedComputationsList).
  std::vector<HloComputation*> MakeComputationPostOrder(bool print_order = false) const;
  std::vector<HloComputation*> MakeNonfusionComputations() const;

  // ---- Data about the whole program.
  const HloModuleConfig& config() const { return config_; }
  HloModuleConfig& mutable_config() { return config_; }
  void set_config(HloModuleConfig config) { config_ = std::move(config); }
  const ComputationLayout& entry_computation_layout() const { return config_.entry_computation_layout(); }
  ComputationLayout* mutable_entry_computation_layout() { return config_.mutable_entry_computation_layout(); }
  // The shape of the entry computation as it is now, with layouts.
  ComputationLayout compute_computation_layout() const;

  bool has_schedule() const { return schedule_.has_value(); }
  const HloSchedule& schedule() const { return *schedule_; }
  HloSchedule& schedule() { return *schedule_; }
  absl::Status set_schedule(HloSchedule schedule);  // an error if it is not one of this module
  void set_unverified_schedule(HloSchedule schedule) {
    schedule_ = std::move(schedule);
    schedule_->set_module(this);
  }
  void clear_schedule() { schedule_.reset(); }
  // The order of the schedule if there is one, otherwise the post-order.
  std::vector<HloInstruction*> InstructionOrder(const HloComputation& computation) const;

  const HloInputOutputAliasConfig& input_output_alias_config() const { return alias_config_; }
  HloInputOutputAliasConfig& input_output_alias_config() { return alias_config_; }
  void set_input_output_alias_config(HloInputOutputAliasConfig config) { alias_config_ = std::move(config); }
  const HloBufferDonorConfig& buffer_donor_config() const { return donor_config_; }
  HloBufferDonorConfig& buffer_donor_config() { return donor_config_; }
  void set_buffer_donor_config(HloBufferDonorConfig config) { donor_config_ = std::move(config); }
  const FrontendAttributes& frontend_attributes() const { return frontend_attributes_; }
  void set_frontend_attributes(FrontendAttributes attributes) { frontend_attributes_ = std::move(attributes); }
  void add_frontend_attribute(const std::string& key, const std::string& value) {
    (*frontend_attributes_.mutable_map())[key] = value;
  }
  const StackFrameIndex& stack_frame_index() const { return stack_frame_index_; }
  StackFrameIndex* mutable_stack_frame_index() { return &stack_frame_index_; }
  const std::vector<OriginalValueRecoveryEntry>& original_value_recovery_table() const { return recovery_table_; }
  std::vector<OriginalValueRecoveryEntry>* mutable_original_value_recovery_table() { return &recovery_table_; }
  bool is_dynamic() const { return is_dynamic_; }
  void set_is_dynamic(bool is_dynamic) { is_dynamic_ = is_dynamic; }
  // The fields of HloModuleProto that a module does not have (profiles, device assignment, …), as a serialised
  // HloModuleProto. Kept so that converting back to a proto loses nothing. Owned by kashi/proto.
  const std::string& other_proto_fields() const { return other_proto_fields_; }
  void set_other_proto_fields(std::string fields) { other_proto_fields_ = std::move(fields); }

  // ---- Names and memory.
  NameUniquer& instruction_name_uniquer() {
    RegisterNames();
    return instruction_names_;
  }
  NameUniquer& computation_name_uniquer() {
    RegisterNames();
    return computation_names_;
  }
  // Renames instructions and computations whose name is already in use. For text that has a name twice.
  void MakeNamesUnique();
  void SetAndUniquifyInstrName(HloInstruction* instruction, absl::string_view name);
  void SetAndUniquifyComputationName(HloComputation* computation, absl::string_view name);
  // Whether all names and ids are unique.
  absl::Status CheckUniqueNamesAndIdsForComputationsAndInstructions() const;
  base::Arena* arena() { return &arena_; }

  // ---- Tools.
  // Whether all computations have equal graphs, the entry first. Computations without callers do not count.
  bool Equal(const HloModule& other, bool layout_sensitive = true) const;
  size_t Hash() const;
  // A hash of the text with these options (base/fingerprint.h). It is the same on every machine, and in every version
  // that prints the same text. With ModuleFingerprint options, names and metadata do not count. The second function
  // returns 32 hexadecimal digits.
  uint64_t ToFingerprint(const HloPrintOptions& options) const;
  std::string GetFingerprint128(const HloPrintOptions& options = HloPrintOptions::ModuleFingerprint()) const;
  // A deep copy with equal ids, schedule and orders. The name gets `-suffix`, and the names of computations and
  // instructions `.suffix`, unless the suffix is empty.
  std::unique_ptr<HloModule> Clone(absl::string_view suffix = "clone") const;
  // Removes instructions without effect on the result in all computations, then computations without callers. Returns
  // whether it removed anything.
  bool RemoveDeadCode();

  // ---- Text. The default is what XLA's HloModule::ToString() prints, byte for byte.
  std::string ToString() const { return ToString(HloPrintOptions::Default()); }
  std::string ToString(const HloPrintOptions& options) const;
  void Print(Printer* printer, const HloPrintOptions& options) const;
  void Print(Printer* printer) const { Print(printer, HloPrintOptions::Default()); }

  // The name of the text that the module was read from, for messages; empty if there is none.
  const std::string& source_name() const { return source_name_; }
  void set_source_name(std::string name) { source_name_ = std::move(name); }

  // ---- Protos (kashi/proto).
  HloModuleProto ToProto() const;
  static absl::StatusOr<std::unique_ptr<HloModule>> CreateFromProto(const HloModuleProto& proto,
                                                                    const HloModuleConfig& config,
                                                                    bool prohibit_empty_literal = true);
  static absl::StatusOr<HloModuleConfig> CreateModuleConfigFromProto(const HloModuleProto& proto,
                                                                     const DebugOptions& debug_options = {});

 private:
  friend class HloComputation;

  HloComputation* AddComputation(std::unique_ptr<HloComputation> computation, bool is_entry);
  // Names of computations that were taken with their names are registered in the uniquers at the first query.
  void RegisterNames();
  // Sets the module of the computations.
  void AdoptComputations();
  // Gives it and its instructions unique names and ids.
  void MakeUnique(HloComputation* computation);
  // Removes instructions from the schedule before they are deleted.
  void RemoveFromSchedule(const HloComputation* computation, absl::FunctionRef<bool(const HloInstruction*)> is_removed);
  void FreeComputations(absl::FunctionRef<bool(const HloComputation*)> is_removed);

  std::string name_;
  int unique_id_;
  HloModuleConfig config_;
  base::Arena arena_;  // outlives the instructions
  std::vector<std::unique_ptr<HloComputation>> computations_;
  std::vector<HloComputation*> computation_pointers_;
  HloComputation* entry_ = nullptr;
  int64_t next_computation_id_ = 0;
  std::optional<HloSchedule> schedule_;
  HloInputOutputAliasConfig alias_config_;
  HloBufferDonorConfig donor_config_;
  FrontendAttributes frontend_attributes_;
  StackFrameIndex stack_frame_index_;
  std::vector<OriginalValueRecoveryEntry> recovery_table_;
  bool is_dynamic_ = false;
  std::string source_name_;
  std::string other_proto_fields_;
  NameUniquer instruction_names_{"."};
  NameUniquer computation_names_{"."};
  bool names_are_registered_ = true;
};

}  // namespace kashi

#endif  // KASHI_HLO_IR_HLO_MODULE_H_
