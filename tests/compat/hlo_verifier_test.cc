#include "xla/service/hlo_verifier.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest-spi.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/hlo/parser/hlo_parser.h"
#include "xla/hlo/testlib/hlo_hardware_independent_test_base.h"
#include "xla/hlo/testlib/test.h"
#include "xla/hlo/testlib/verified_hlo_module.h"
#include "xla/layout_util.h"
#include "xla/literal_util.h"
#include "xla/service/hlo_module_config.h"
#include "xla/service/layout_assignment.h"
#include "xla/shape_util.h"
#include "xla/tsl/lib/core/status_test_util.h"
#include "xla/tsl/platform/statusor.h"
#include "xla/xla_data.pb.h"

namespace xla {
namespace {

using ::testing::HasSubstr;

class HloVerifierTest : public HloHardwareIndependentTestBase {
 public:
  HloVerifierTest()
      : HloHardwareIndependentTestBase(/*verifier_layout_sensitive=*/false,
                                       /*allow_mixed_precision_in_hlo_verifier=*/false) {}
};

class HloVerifierTestAllowMixedPrecision : public HloHardwareIndependentTestBase {
 public:
  HloVerifierTestAllowMixedPrecision()
      : HloHardwareIndependentTestBase(/*verifier_layout_sensitive=*/false,
                                       /*allow_mixed_precision_in_hlo_verifier=*/true) {}
};

class HloVerifierTestLayoutSensitive : public HloHardwareIndependentTestBase {
 public:
  HloVerifierTestLayoutSensitive()
      : HloHardwareIndependentTestBase(HloVerifierOpts{}.MakeLayoutSensitive().AllowMixedPrecision()) {}
};

class HloVerifierTestLayoutAssigned : public HloHardwareIndependentTestBase {
 public:
  HloVerifierTestLayoutAssigned()
      : HloHardwareIndependentTestBase(/*verifier_layout_sensitive=*/true,
                                       /*allow_mixed_precision_in_hlo_verifier=*/false,
                                       LayoutAssignment::InstructionCanChangeLayout) {}
};

TEST_F(HloVerifierTestLayoutAssigned, OnlySomeOperationsChangeLayouts) {
  const auto verify = [&](absl::string_view operation) {
    auto module = ParseAndReturnUnverifiedModule(absl::StrCat(
        "HloModule m\nENTRY e {\n p = f32[2,3]{1,0} parameter(0)\n ROOT r = f32[2,3]{0,1} ", operation, "\n}"));
    EXPECT_TRUE(module.ok()) << module.status();
    return verifier().Run(module->get()).status();
  };
  TF_EXPECT_OK(verify("copy(p)"));
  TF_EXPECT_OK(verify("broadcast(p), dimensions={0,1}"));
  EXPECT_THAT(verify("negate(p)").message(), HasSubstr("Instruction shouldn't change layouts"));
  EXPECT_THAT(verify("slice(p), slice={[0:2],[0:3]}").message(), HasSubstr("Instruction shouldn't change layouts"));
}

constexpr absl::string_view kNegate = R"(
HloModule Negate

ENTRY entry {
  p0 = f32[4]{0} parameter(0)
  ROOT negate = f32[4]{0} negate(p0)
}
)";

TEST_F(HloVerifierTest, AModuleByHand) {
  HloComputation::Builder builder(TestName());
  const Shape shape = ShapeUtil::MakeShape(F32, {});
  HloInstruction* const p = builder.AddInstruction(HloInstruction::CreateParameter(0, shape, "p"));
  builder.AddInstruction(HloInstruction::CreateUnary(shape, HloOpcode::kNegate, p));
  auto module = CreateNewUnverifiedModule();
  EXPECT_EQ(module->name(), "AModuleByHand");
  HloComputation* const entry = module->AddEntryComputation(builder.Build());
  TF_ASSERT_OK(verifier().Run(module.get()).status());
  *entry->root_instruction()->mutable_shape() = ShapeUtil::MakeShape(F32, {2});
  const absl::Status status = verifier().Run(module.get()).status();
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.message(), HasSubstr("during context [Unknown]: "));
}

TEST_F(HloVerifierTest, ParseAndReturnVerifiedModule) {
  TF_ASSERT_OK_AND_ASSIGN(auto module,
                          ParseAndReturnVerifiedModule(kNegate, /*replica_count=*/2, /*num_partitions=*/3));
  EXPECT_EQ(module->name(), "Negate");
  EXPECT_EQ(module->config().replica_count(), 2);
  EXPECT_EQ(module->config().num_partitions(), 3);
  EXPECT_EQ(module->entry_computation()->parent(), module.get());
  EXPECT_EQ(FindInstruction(module.get(), "negate"), module->entry_computation()->root_instruction());
  EXPECT_EQ(FindInstruction(module.get(), HloOpcode::kParameter)->name(), "p0");
  EXPECT_EQ(FindInstruction(module.get(), "none"), nullptr);
  EXPECT_EQ(FindInstructions(module.get(), HloOpcode::kNegate).size(), 1);
  EXPECT_EQ(FindComputation(module.get(), "entry"), module->entry_computation());
  TF_EXPECT_OK(module->Verify());
  // It goes on as a module, and is verified when that goes.
  const std::unique_ptr<HloModule> base = std::move(module);
  EXPECT_EQ(base->computation_count(), 1);
}

TEST_F(HloVerifierTest, TheTestFailsWithABrokenModule) {
  EXPECT_FALSE(ParseAndReturnVerifiedModule("HloModule m\nENTRY e {").ok());
  EXPECT_NONFATAL_FAILURE(
      {
        auto module = CreateNewVerifiedModule();
        HloComputation::Builder builder("e");
        HloInstruction* p =
            builder.AddInstruction(HloInstruction::CreateParameter(0, ShapeUtil::MakeShape(F32, {4}), "p"));
        builder.AddInstruction(HloInstruction::CreateUnary(ShapeUtil::MakeShape(F32, {5}), HloOpcode::kNegate, p));
        module->AddEntryComputation(builder.Build());
      },
      "in destructor");
}

constexpr absl::string_view kMixed = R"(
HloModule Mixed

ENTRY entry {
  a = f32[4]{0} parameter(0)
  b = bf16[4]{0} parameter(1)
  ROOT sum = f32[4]{0} add(a, b)
}
)";

TEST_F(HloVerifierTest, PrecisionsMustNotMix) {
  TF_ASSERT_OK_AND_ASSIGN(auto module, ParseAndReturnUnverifiedModule(kMixed));
  EXPECT_FALSE(verifier().Run(module.get()).ok());
  EXPECT_FALSE(verifier().Run(module.get(), /*execution_threads=*/{"main"}).ok());
}

TEST_F(HloVerifierTestAllowMixedPrecision, PrecisionsMayMix) {
  TF_ASSERT_OK(ParseAndReturnVerifiedModule(kMixed).status());
  EXPECT_TRUE(allow_mixed_precision_in_hlo_verifier());
}

TEST_F(HloVerifierTestLayoutSensitive, LayoutsMustAgree) {
  EXPECT_TRUE(verifier_layout_sensitive());
  constexpr absl::string_view text = R"(
HloModule Layouts

ENTRY entry {
  p = f32[2,3]{1,0} parameter(0)
  ROOT slice = f32[1,3]{0,1} slice(p), slice={[0:1], [0:3]}
}
)";
  TF_ASSERT_OK_AND_ASSIGN(auto module, ParseAndReturnUnverifiedModule(text, HloModuleConfig()));
  set_instruction_can_change_layout_func([](const HloInstruction*) { return false; });
  EXPECT_FALSE(verifier().Run(module.get()).ok());
  set_verifier_layout_sensitive(false);
  TF_EXPECT_OK(verifier().Run(module.get()).status());
}

TEST_F(HloVerifierTest, LayoutsOfTheEntryMayBeForced) {
  TF_ASSERT_OK_AND_ASSIGN(auto module, ParseAndReturnVerifiedModule(R"(
HloModule m

ENTRY entry {
  p = f32[2,3]{1,0} parameter(0)
  ROOT t = (f32[2,3]{1,0}) tuple(p)
}
)"));
  ForceParameterLayout(module.get(), 0, LayoutUtil::MakeLayout({0, 1}));
  EXPECT_EQ(module->entry_computation_layout().parameter_layout(0).layout(), LayoutUtil::MakeLayout({0, 1}));
  ForceResultLayout(module.get(), LayoutUtil::MakeLayout({0, 1}), {0});
  EXPECT_EQ(module->entry_computation_layout().result_shape().tuple_shapes(0).layout(), LayoutUtil::MakeLayout({0, 1}));
  UpdateEntryComputationLayoutToMatchProgramLayout(module.get());
  EXPECT_EQ(module->entry_computation_layout().ToString(), "(f32[2,3]{1,0})->(f32[2,3]{1,0})");
}

// Says that it changes modules, and renames the root if it is to.
class RenamePass : public HloModulePass {
 public:
  explicit RenamePass(bool renames) : renames_(renames) {}
  absl::string_view name() const override { return "rename"; }
  using HloPassInterface::Run;
  absl::StatusOr<bool> Run(HloModule* module, const absl::flat_hash_set<absl::string_view>&) override {
    if (renames_) module->SetAndUniquifyInstrName(module->entry_computation()->root_instruction(), "renamed");
    return true;
  }

 private:
  bool renames_;
};

TEST_F(HloVerifierTest, PassesMustSayTrulyWhetherTheyChange) {
  TF_ASSERT_OK_AND_ASSIGN(static std::unique_ptr<HloModule> module, ParseAndReturnVerifiedModule(kNegate));
  EXPECT_THAT(RunHloPass(RenamePass(true), module.get()), absl_testing::IsOkAndHolds(true));
  EXPECT_NONFATAL_FAILURE(RunHloPass(RenamePass(false), module.get()).IgnoreError(), "rename");
  module.reset();
}

TEST_F(HloVerifierTest, DefaultPrecisionConfig) {
  const PrecisionConfig config = DefaultPrecisionConfig(2);
  ASSERT_EQ(config.operand_precision_size(), 2);
  EXPECT_EQ(config.operand_precision(1), PrecisionConfig::DEFAULT);
}

}  // namespace
}  // namespace xla
