// Options of the printer of HLO text. The defaults are those of HloModule::ToString(). The presets are XLA's
// (docs/spec/xla-api.md, section 23).
#ifndef KASHI_HLO_IR_HLO_PRINT_OPTIONS_H_
#define KASHI_HLO_IR_HLO_PRINT_OPTIONS_H_

#include <cstdint>

namespace kashi {

class HloPrintOptions {
 public:
  enum class PrintSubcomputationMode {
    kOff,                  // nothing about called computations
    kNameOnly,             // to_apply=%name
    kFullBodies,           // the computation itself, in braces
    kNonSequentialBodies,  // the same, but only the name for call, while and conditional
  };
  enum class PrintComputationMode { kComputationOnly, kComputationWithEntryKeyword };

#define KASHI_PRINT_OPTION(type, name, default_value) \
  constexpr HloPrintOptions& set_##name(type value) { \
    name##_ = value;                                  \
    return *this;                                     \
  }                                                   \
  constexpr type name() const { return name##_; }     \
                                                      \
 private:                                             \
  type name##_ = default_value;                       \
                                                      \
 public:

  KASHI_PRINT_OPTION(bool, print_large_constants, false)
  // Print only constants that decide a shape or an index; the others are {...}.
  KASHI_PRINT_OPTION(bool, print_only_essential_constants, false)
  KASHI_PRINT_OPTION(PrintSubcomputationMode, print_subcomputation_mode, PrintSubcomputationMode::kNameOnly)
  KASHI_PRINT_OPTION(PrintComputationMode, print_computation_mode, PrintComputationMode::kComputationOnly)
  KASHI_PRINT_OPTION(bool, print_original_value, true)
  KASHI_PRINT_OPTION(bool, print_metadata, true)
  KASHI_PRINT_OPTION(bool, print_metadata_only_op_name, false)
  KASHI_PRINT_OPTION(bool, print_backend_config, true)
  KASHI_PRINT_OPTION(bool, sort_backend_config, false)
  KASHI_PRINT_OPTION(bool, print_infeed_outfeed_config, true)
  KASHI_PRINT_OPTION(bool, compact_operands, false)  // only the first and the last two of more than four operands
  KASHI_PRINT_OPTION(bool, include_layout_in_shapes, true)
  KASHI_PRINT_OPTION(bool, print_result_shape, true)
  KASHI_PRINT_OPTION(bool, print_operand_shape, false)
  KASHI_PRINT_OPTION(bool, print_operand_names, true)
  // Print /*index=N*/ after this number of operands or tuple elements; 0: never.
  KASHI_PRINT_OPTION(int64_t, print_operand_index_annotation_interval, 5)
  KASHI_PRINT_OPTION(bool, print_ids, true)  // false: names without their number, the module without its name
  KASHI_PRINT_OPTION(bool, print_extra_attributes, true)
  KASHI_PRINT_OPTION(bool, print_program_shape, true)
  KASHI_PRINT_OPTION(bool, print_percent, true)
  KASHI_PRINT_OPTION(bool, print_control_dependencies, true)
  KASHI_PRINT_OPTION(bool, canonicalize_instruction_names, false)
  KASHI_PRINT_OPTION(bool, canonicalize_computations, false)  // the module's computations sorted by their content
  KASHI_PRINT_OPTION(int, indent_amount, 0)
  KASHI_PRINT_OPTION(bool, is_in_nested_computation, false)
  KASHI_PRINT_OPTION(bool, syntax_sugar_async_ops, true)
  KASHI_PRINT_OPTION(bool, print_name_after_closing_brace, false)
  KASHI_PRINT_OPTION(bool, print_full_replica_group_list, false)
  KASHI_PRINT_OPTION(bool, print_parameter_number, true)
  KASHI_PRINT_OPTION(bool, print_channel_id, true)
#undef KASHI_PRINT_OPTION

  constexpr HloPrintOptions() = default;

  static const HloPrintOptions& Default() {
    static constexpr HloPrintOptions options;
    return options;
  }
  // Short text that the parser can read without loss of meaning.
  static constexpr HloPrintOptions ShortParsable() {
    return HloPrintOptions()
        .set_print_large_constants(true)
        .set_print_subcomputation_mode(PrintSubcomputationMode::kNameOnly)
        .set_print_metadata(false)
        .set_print_backend_config(false)
        .set_print_operand_shape(false)
        .set_print_operand_index_annotation_interval(0)
        .set_print_program_shape(false)
        .set_print_percent(false)
        .set_print_control_dependencies(false);
  }
  // Text without names: equal for instructions that compute the same.
  static constexpr HloPrintOptions Canonical() {
    return HloPrintOptions()
        .set_print_subcomputation_mode(PrintSubcomputationMode::kFullBodies)
        .set_print_metadata(false)
        .set_print_backend_config(false)
        .set_compact_operands(false)
        .set_print_operand_names(false)
        .set_print_operand_shape(true)
        .set_print_operand_index_annotation_interval(0)
        .set_print_program_shape(false)
        .set_print_percent(false)
        .set_print_control_dependencies(false)
        .set_canonicalize_instruction_names(true);
  }
  // Canonical text, without data that may differ between equal computations.
  static constexpr HloPrintOptions Fingerprint() {
    return Canonical()
        .set_print_infeed_outfeed_config(false)
        .set_print_only_essential_constants(true)
        .set_print_ids(false)
        .set_canonicalize_computations(true)
        .set_print_full_replica_group_list(true);
  }
  static constexpr HloPrintOptions ModuleFingerprint() { return Fingerprint().set_print_operand_shape(false); }
};

}  // namespace kashi

#endif  // KASHI_HLO_IR_HLO_PRINT_OPTIONS_H_
