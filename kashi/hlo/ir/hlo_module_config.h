// The configuration of a module for a compiler: the layouts of the entry computation, replicas, partitions, switches.
// XLA's HloModuleConfig without the settings of single passes.
#ifndef KASHI_HLO_IR_HLO_MODULE_CONFIG_H_
#define KASHI_HLO_IR_HLO_MODULE_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "kashi/array/layout.h"
#include "kashi/array/shape.h"
#include "kashi/base/check.h"
#include "kashi/base/printer.h"
#include "kashi/hlo/attributes/debug_options.h"
#include "kashi/hlo/attributes/message.h"

namespace kashi {

// A shape with a chosen layout.
class ShapeLayout {
 public:
  explicit ShapeLayout(Shape shape) : shape_(std::move(shape)) {}
  const Shape& shape() const { return shape_; }
  const Layout& layout() const { return shape_.layout(); }
  bool LayoutIsSet() const;
  // Sets the layouts, also those of tuple elements, to the default: row-major.
  void SetToDefaultLayout();
  void Clear();
  bool MatchesLayoutInShape(const Shape& shape, bool minor_to_major_only = false,
                            bool ignore_fully_empty_tiling = false) const;
  // An error if the shapes are not compatible.
  absl::Status CopyLayoutFromShape(const Shape& other);
  absl::Status AssignLayoutToShape(Shape* to) const;
  void ResetLayout(const Layout& layout) { *shape_.mutable_layout() = layout; }

  friend bool operator==(const ShapeLayout& a, const ShapeLayout& b) { return a.shape_ == b.shape_; }
  friend bool operator!=(const ShapeLayout& a, const ShapeLayout& b) { return !(a == b); }

 private:
  Shape shape_;
};

// The layouts of parameters and result.
class ComputationLayout {
 public:
  explicit ComputationLayout(const ProgramShape& program_shape, bool ignore_layouts = true);
  explicit ComputationLayout(ShapeLayout result) : result_(std::move(result)) {}

  void add_parameter_layout(ShapeLayout layout) { parameters_.push_back(std::move(layout)); }
  const ShapeLayout& parameter_layout(int64_t i) const { return parameters_[i]; }
  ShapeLayout* mutable_parameter_layout(int64_t i) { return &parameters_[i]; }
  const std::vector<ShapeLayout>& parameter_layouts() const { return parameters_; }
  int parameter_count() const { return static_cast<int>(parameters_.size()); }
  const Shape& parameter_shape(int64_t i) const { return parameters_[i].shape(); }
  const ShapeLayout& result_layout() const { return result_; }
  ShapeLayout* mutable_result_layout() { return &result_; }
  const Shape& result_shape() const { return result_.shape(); }
  void SetToDefaultLayout();
  bool LayoutIsSet() const;
  bool AnyLayoutSet() const;
  ProgramShape ComputeProgramShape() const;

  // "(f32[2]{0}, …)->f32[]", every fifth parameter and tuple element annotated, as in the head of a module.
  std::string ToString() const;
  void Print(Printer* printer) const;

  friend bool operator==(const ComputationLayout& a, const ComputationLayout& b) {
    return a.result_ == b.result_ && a.parameters_ == b.parameters_;
  }
  friend bool operator!=(const ComputationLayout& a, const ComputationLayout& b) { return !(a == b); }

 private:
  std::vector<ShapeLayout> parameters_;
  ShapeLayout result_;
};

class HloModuleConfig {
 public:
  using BoolList = absl::InlinedVector<bool, 1>;

  HloModuleConfig() = default;
  explicit HloModuleConfig(const ProgramShape& program_shape, bool ignore_layouts = true)
      : entry_computation_layout_(ComputationLayout(program_shape, ignore_layouts)) {}
  explicit HloModuleConfig(ComputationLayout layout) : entry_computation_layout_(std::move(layout)) {}

  bool has_entry_computation_layout() const { return entry_computation_layout_.has_value(); }
  const ComputationLayout& entry_computation_layout() const {
    KASHI_CHECK(entry_computation_layout_.has_value());
    return *entry_computation_layout_;
  }
  ComputationLayout* mutable_entry_computation_layout() {
    KASHI_CHECK(entry_computation_layout_.has_value());
    return &*entry_computation_layout_;
  }
  void set_entry_computation_layout(ComputationLayout layout) { entry_computation_layout_ = std::move(layout); }
  void clear_entry_computation_layout() { entry_computation_layout_.reset(); }
  void SetDefaultComputationLayout(const ProgramShape& program_shape) {
    entry_computation_layout_ = ComputationLayout(program_shape);
  }

#define KASHI_CONFIG(type, name, default_value)               \
  const type& name() const { return name##_; }                \
  void set_##name(type value) { name##_ = std::move(value); } \
                                                              \
 private:                                                     \
  type name##_ = default_value;                               \
                                                              \
 public:
  KASHI_CONFIG(uint64_t, seed, 0)
  KASHI_CONFIG(int64_t, replica_count, 1)
  KASHI_CONFIG(int64_t, num_partitions, 1)
  KASHI_CONFIG(bool, use_spmd_partitioning, false)
  KASHI_CONFIG(bool, use_auto_spmd_partitioning, false)
  KASHI_CONFIG(int32_t, launch_id, 0)
  KASHI_CONFIG(bool, alias_passthrough_params, false)
  KASHI_CONFIG(std::string, device_type, std::string())
  KASHI_CONFIG(bool, content_aware_computation_sorting, false)
  KASHI_CONFIG(int64_t, intra_op_parallelism_threads, -1)
  KASHI_CONFIG(bool, deduplicate_hlo, false)
#undef KASHI_CONFIG
  const DebugOptions& debug_options() const { return debug_options_.value(); }
  DebugOptions& mutable_debug_options() { return *debug_options_.mutable_value(); }
  void set_debug_options(const DebugOptions& options) { mutable_debug_options() = options; }

  // One value for all, or one for each parameter (each element of the result).
  const BoolList& allow_spmd_sharding_propagation_to_parameters() const { return to_parameters_; }
  void set_allow_spmd_sharding_propagation_to_parameters(BoolList list) { to_parameters_ = std::move(list); }
  const BoolList& allow_spmd_sharding_propagation_to_output() const { return to_output_; }
  void set_allow_spmd_sharding_propagation_to_output(BoolList list) { to_output_ = std::move(list); }

 private:
  std::optional<ComputationLayout> entry_computation_layout_;
  BoolList to_parameters_ = {false};
  BoolList to_output_ = {false};
  OptionalMessage<DebugOptions> debug_options_;
};

}  // namespace kashi

#endif  // KASHI_HLO_IR_HLO_MODULE_CONFIG_H_
