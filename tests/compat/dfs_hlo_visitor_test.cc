#include "xla/hlo/ir/dfs_hlo_visitor.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "xla/hlo/ir/dfs_hlo_visitor_with_default.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/parser/hlo_parser.h"
#include "xla/hlo/testlib/test.h"
#include "xla/tsl/lib/core/status_test_util.h"
#include "xla/tsl/platform/statusor.h"

namespace xla {
namespace {

using ::testing::HasSubstr;

constexpr char kText[] = R"(
HloModule m
ENTRY e {
  p = f32[2] parameter(0)
  unused = f32[2] cosine(p)
  n = f32[2] negate(p)
  r = f32[2] round-nearest-afz(n)
  a = f32[2] add(r, p)
  first = f32[2] abs(p)
  ROOT t = (f32[2], f32[2]) tuple(a, n), control-predecessors={first}
}
)";

// What is visited, as words.
class Recorder : public ConstDfsHloVisitorWithDefault {
 public:
  absl::Status DefaultAction(const HloInstruction* hlo) override { return Say("default", hlo); }
  absl::Status HandleAdd(const HloInstruction* hlo) override { return Say("add", hlo); }
  absl::Status HandleRound(const HloInstruction* hlo) override { return Say("round", hlo); }
  absl::Status HandleElementwiseUnary(const HloInstruction* hlo) override { return Say("unary", hlo); }
  absl::Status FinishVisit(const HloInstruction* root) override { return Say("finish", root); }

  std::string Words() const { return absl::StrJoin(words_, ", "); }

 private:
  absl::Status Say(const char* what, const HloInstruction* hlo) {
    words_.push_back(absl::StrCat(what, " ", std::string(hlo->name())));
    return absl::OkStatus();
  }
  std::vector<std::string> words_;
};

TEST(DfsHloVisitorTest, EachInstructionOnceAfterWhatItNeeds) {
  TF_ASSERT_OK_AND_ASSIGN(const auto module, ParseAndReturnUnverifiedModule(kText));
  Recorder whole;
  TF_ASSERT_OK(module->entry_computation()->Accept(&whole));
  EXPECT_EQ(whole.Words(), "default p, unary unused, unary n, round r, add a, unary first, default t, finish t");
  Recorder part;
  const HloInstruction* const a = module->entry_computation()->root_instruction()->operand(0);
  TF_ASSERT_OK(a->Accept(&part, /*call_finish_visit=*/false));
  EXPECT_EQ(part.Words(), "default p, unary n, round r, add a");
  EXPECT_TRUE(part.DidVisit(*a));
  TF_ASSERT_OK(a->Accept(&part));
  EXPECT_THAT(part.Words(), HasSubstr("add a, finish a"));
  TF_ASSERT_OK(a->Visit(&part));
  EXPECT_THAT(part.Words(), HasSubstr("finish a, add a"));
}

TEST(DfsHloVisitorTest, InstructionsMayChangeAndErrorsEndTheVisit) {
  TF_ASSERT_OK_AND_ASSIGN(const auto module, ParseAndReturnUnverifiedModule(kText));
  FunctionVisitor rename([](HloInstruction* hlo) {
    hlo->set_metadata_op_name("seen");
    return absl::OkStatus();
  });
  TF_ASSERT_OK(module->entry_computation()->Accept(&rename));
  EXPECT_EQ(module->entry_computation()->parameter_instruction(0)->metadata().op_name(), "seen");
  int seen = 0;
  ConstFunctionVisitor refuse([&](const HloInstruction* hlo) {
    ++seen;
    return hlo->opcode() == HloOpcode::kNegate ? absl::InternalError("no negation") : absl::OkStatus();
  });
  EXPECT_EQ(module->entry_computation()->Accept(&refuse).message(), "no negation");
  EXPECT_EQ(seen, 3);
}

class WithoutHandlers : public DfsHloVisitor {};

TEST(DfsHloVisitorTest, OperationsWithoutAHandlerAreUnimplemented) {
  TF_ASSERT_OK_AND_ASSIGN(const auto module, ParseAndReturnUnverifiedModule(kText));
  WithoutHandlers visitor;
  const absl::Status status = module->entry_computation()->Accept(&visitor);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()), HasSubstr("parameter"));
}

TEST(DfsHloVisitorTest, CyclesAreErrors) {
  TF_ASSERT_OK_AND_ASSIGN(const auto module, ParseAndReturnUnverifiedModule(kText));
  HloComputation* const entry = module->entry_computation();
  HloInstruction* const a = entry->root_instruction()->mutable_operand(0);
  TF_ASSERT_OK(a->AddControlDependencyTo(a->mutable_operand(0)));
  Recorder recorder;
  EXPECT_THAT(std::string(entry->Accept(&recorder).message()), HasSubstr("cycle"));
}

}  // namespace
}  // namespace xla
