// The base of tests of modules that run on no device. Without device assignments and FileCheck.
#ifndef KASHI_COMPAT_XLA_HLO_TESTLIB_HLO_HARDWARE_INDEPENDENT_TEST_BASE_H_
#define KASHI_COMPAT_XLA_HLO_TESTLIB_HLO_HARDWARE_INDEPENDENT_TEST_BASE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/base/status.h"
#include "xla/debug_options_flags.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/hlo/parser/hlo_parser.h"
#include "xla/hlo/pass/hlo_pass_interface.h"
#include "xla/hlo/testlib/test.h"
#include "xla/hlo/testlib/verified_hlo_module.h"
#include "xla/layout.h"
#include "xla/service/computation_layout.h"
#include "xla/service/hlo_module_config.h"
#include "xla/service/hlo_verifier.h"
#include "xla/shape_layout.h"
#include "xla/shape_util.h"
#include "xla/xla.pb.h"
#include "xla/xla_data.pb.h"

namespace xla {

class HloHardwareIndependentTestBase : public ::testing::Test {
 protected:
  explicit HloHardwareIndependentTestBase(bool verifier_layout_sensitive = false,
                                          bool allow_mixed_precision_in_hlo_verifier = true,
                                          HloPredicate instruction_can_change_layout_func = {},
                                          bool verify_no_collective_deadlocks = false)
      : HloHardwareIndependentTestBase(
            HloVerifierOpts()
                .WithLayoutSensitive(verifier_layout_sensitive)
                .WithAllowMixedPrecision(allow_mixed_precision_in_hlo_verifier)
                .WithInstructionCanChangeLayout(std::move(instruction_can_change_layout_func))
                .WithVerifyNoCollectiveDeadlocks(verify_no_collective_deadlocks)) {}
  explicit HloHardwareIndependentTestBase(HloVerifierOpts&& opts) : opts_(std::move(opts)) { ResetVerifier(); }

  static std::string TestName() { return ::testing::UnitTest::GetInstance()->current_test_info()->name(); }

  virtual DebugOptions GetDebugOptionsForTest() const { return GetDebugOptionsFromFlags(); }

  // ---- Modules, named after the test unless a text names them.
  HloModuleConfig GetModuleConfigForTest(int64_t replica_count = 1, int64_t num_partitions = 1) const {
    HloModuleConfig config;
    config.set_replica_count(replica_count);
    config.set_num_partitions(num_partitions);
    config.set_debug_options(GetDebugOptionsForTest());
    return config;
  }
  std::unique_ptr<HloModule> CreateNewUnverifiedModule(const std::string& name = TestName()) const {
    return std::make_unique<HloModule>(name, GetModuleConfigForTest());
  }
  std::unique_ptr<VerifiedHloModule> CreateNewVerifiedModule(const std::string& name = TestName(),
                                                             int64_t replica_count = 1) const {
    return NewModule(name, GetModuleConfigForTest(replica_count), opts_.shape_size);
  }
  // A text that is a module but does not keep the rules is an error, and fails the test besides.
  absl::StatusOr<std::unique_ptr<VerifiedHloModule>> ParseAndReturnVerifiedModule(absl::string_view text,
                                                                                  int64_t replica_count = 1,
                                                                                  int64_t num_partitions = 1) const {
    return ParseAndReturnVerifiedModule(text, GetModuleConfigForTest(replica_count, num_partitions));
  }
  absl::StatusOr<std::unique_ptr<VerifiedHloModule>> ParseAndReturnVerifiedModule(
      absl::string_view text, const HloModuleConfig& config, const HloParserOptions& options = {}) const {
    return ParseAndReturnVerifiedModule(text, config, options, opts_.shape_size);
  }
  absl::StatusOr<std::unique_ptr<VerifiedHloModule>> ParseAndReturnVerifiedModule(
      absl::string_view text, const HloModuleConfig& config, const HloParserOptions& options,
      std::function<int64_t(const Shape&)> shape_size) const {
    std::unique_ptr<VerifiedHloModule> module = NewModule(TestName(), config, std::move(shape_size));
    KASHI_RETURN_IF_ERROR(module->ParseHloStringAndVerifyModule(text, options));
    return module;
  }

  // ---- The verifier.
  HloVerifier& verifier() const { return *verifier_; }
  void set_hlo_verifier(std::unique_ptr<HloVerifier> verifier) { verifier_ = std::move(verifier); }
  bool verifier_layout_sensitive() const { return opts_.layout_sensitive; }
  void set_verifier_layout_sensitive(bool value) {
    opts_.layout_sensitive = value;
    ResetVerifier();
  }
  bool allow_mixed_precision_in_hlo_verifier() const { return opts_.allow_mixed_precision; }
  void set_instruction_can_change_layout_func(HloPredicate predicate) {
    opts_.instruction_can_change_layout = std::move(predicate);
    ResetVerifier();
  }

  // ---- Passes. The test fails if the pass does not say truly whether it changed the module.
  static absl::StatusOr<bool> RunHloPass(HloPassInterface* pass, HloModule* module) {
    const std::string before = module->ToString();
    KASHI_ASSIGN_OR_RETURN(const bool changed, pass->Run(module));
    EXPECT_EQ(changed, module->ToString() != before) << pass->name();
    return changed;
  }
  static absl::StatusOr<bool> RunHloPass(HloPassInterface& pass, HloModule* module) {
    return RunHloPass(&pass, module);
  }
  static absl::StatusOr<bool> RunHloPass(HloPassInterface&& pass, HloModule* module) {
    return RunHloPass(&pass, module);
  }

  // ---- Looking things up; null if there is none.
  static HloComputation* FindComputation(HloModule* module, absl::string_view name) {
    return module->GetComputationWithName(name);
  }
  static HloInstruction* FindInstruction(const HloModule* module, absl::string_view name) {
    return FindFirst(*module, [&](const HloInstruction* instruction) { return instruction->name() == name; });
  }
  static HloInstruction* FindInstruction(const HloModule* module, HloOpcode opcode) {
    return FindFirst(*module, [&](const HloInstruction* instruction) { return instruction->opcode() == opcode; });
  }
  static std::vector<HloInstruction*> FindInstructions(const HloModule* module, HloOpcode opcode) {
    std::vector<HloInstruction*> found;
    for (const HloComputation* computation : module->computations()) {
      for (HloInstruction* instruction : computation->instructions()) {
        if (instruction->opcode() == opcode) found.push_back(instruction);
      }
    }
    return found;
  }
  // Every operand has the precision DEFAULT.
  static PrecisionConfig DefaultPrecisionConfig(int operands) {
    PrecisionConfig config;
    for (int i = 0; i < operands; ++i) config.add_operand_precision(PrecisionConfig::DEFAULT);
    return config;
  }

  // ---- Layouts of the entry computation.
  static void ForceParameterLayout(HloModule* module, int64_t parameter, const Layout& layout) {
    ASSERT_LT(parameter, module->entry_computation()->num_parameters());
    module->mutable_entry_computation_layout()->mutable_parameter_layout(parameter)->ResetLayout(layout);
  }
  static void ForceResultLayout(HloModule* module, const Layout& layout) {
    module->mutable_entry_computation_layout()->mutable_result_layout()->ResetLayout(layout);
  }
  static void ForceResultLayout(HloModule* module, const Layout& layout, ShapeIndexView index) {
    ShapeLayout* const result = module->mutable_entry_computation_layout()->mutable_result_layout();
    Shape shape = result->shape();
    *ShapeUtil::GetMutableSubshape(&shape, index)->mutable_layout() = layout;
    *result = ShapeLayout(std::move(shape));
  }
  static void ForceClearResultLayout(HloModule* module) {
    module->mutable_entry_computation_layout()->mutable_result_layout()->Clear();
  }
  static void UpdateEntryComputationLayoutToMatchProgramLayout(HloModule* module) {
    *module->mutable_entry_computation_layout() = module->compute_computation_layout();
  }

 private:
  void ResetVerifier() { verifier_ = std::make_unique<HloVerifier>(HloVerifierOpts(opts_)); }
  std::unique_ptr<VerifiedHloModule> NewModule(const std::string& name, const HloModuleConfig& config,
                                               std::function<int64_t(const Shape&)> shape_size) const {
    return std::make_unique<VerifiedHloModule>(name, config, opts_.layout_sensitive, opts_.allow_mixed_precision,
                                               std::move(shape_size), opts_.instruction_can_change_layout);
  }
  template <typename Predicate>
  static HloInstruction* FindFirst(const HloModule& module, Predicate predicate) {
    for (const HloComputation* computation : module.computations()) {
      for (HloInstruction* instruction : computation->instructions()) {
        if (predicate(instruction)) return instruction;
      }
    }
    return nullptr;
  }

  HloVerifierOpts opts_;
  std::unique_ptr<HloVerifier> verifier_;
};

}  // namespace xla

#endif  // KASHI_COMPAT_XLA_HLO_TESTLIB_HLO_HARDWARE_INDEPENDENT_TEST_BASE_H_
