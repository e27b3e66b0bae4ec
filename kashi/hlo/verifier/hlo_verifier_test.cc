// Modules that text cannot express: the reader would refuse or correct them. And the texts of the verifier.
#include "kashi/hlo/verifier/hlo_verifier.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::hlo {
namespace {

std::unique_ptr<HloModule> ReadModule(const std::string& text) {
  auto module = ParseAndReturnUnverifiedModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

HloInstruction* Find(HloModule* module, absl::string_view name) {
  for (const HloComputation* computation : module->computations()) {
    if (HloInstruction* found = computation->GetInstructionWithName(name)) return found;
  }
  ADD_FAILURE() << name;
  return nullptr;
}

std::string Rules(const std::vector<HloFinding>& findings) {
  return absl::StrJoin(findings, ", ", [](std::string* out, const HloFinding& f) { out->append(f.rule); });
}

struct Mutation {
  const char* rules;  // of what is found afterwards
  const char* text;   // a module without findings
  void (*mutate)(HloModule* module);
};

constexpr char kAddModule[] = R"(HloModule m
inner { a = f32[2] parameter(0)  ROOT n = f32[2] negate(a) }
ENTRY e { x = f32[2] parameter(0)  y = f32[2] call(x), to_apply=inner  ROOT z = f32[2] add(x, y) })";
constexpr char kScheduled[] = R"(HloModule m, is_scheduled=true
ENTRY e { x = f32[2] parameter(0)  y = f32[2] negate(x)  ROOT z = f32[2] add(x, y) })";
constexpr char kTransfers[] = R"(HloModule m
ENTRY e { x = f32[2] parameter(0)  t = token[] after-all()
  s = (f32[2], u32[], token[]) send(x, t), channel_id=1  sd = token[] send-done(s), channel_id=1
  r = (f32[2], u32[], token[]) recv(t), channel_id=2  ROOT rd = (f32[2], token[]) recv-done(r), channel_id=2 })";
constexpr char kCopies[] = R"(HloModule m
ENTRY e { x = f32[2] parameter(0)  s = (f32[2], f32[2], u32[]) copy-start(x)  ROOT d = f32[2] copy-done(s) })";
constexpr char kAllReduce[] = R"(HloModule m, replica_count=2
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
ENTRY e { x = f32[2] parameter(0)
  ROOT z = f32[2] all-reduce(x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=sum })";

const Mutation kMutations[] = {
    // ---- The graph.
    {"module name", kAddModule, [](HloModule* m) { m->set_name(""); }},
    {"unique names", kAddModule, [](HloModule* m) { Find(m, "n")->SetAndSanitizeName("x"); }},
    {"unique ids", kAddModule, [](HloModule* m) { Find(m, "n")->SetUniqueId(Find(m, "x")->unique_id()); }},
    {"cycle", kAddModule, [](HloModule* m) { EXPECT_TRUE(Find(m, "z")->AddControlDependencyTo(Find(m, "y")).ok()); }},
    {"recursion", kAddModule,
     [](HloModule* m) {
       HloComputation* inner = m->GetComputationWithName("inner");
       inner->set_root_instruction(
           inner->AddInstruction(HloInstruction::CreateCall(Find(m, "a")->shape(), {Find(m, "a")}, inner)));
     }},
    {"parent, parent", kAddModule,
     [](HloModule* m) { EXPECT_TRUE(Find(m, "n")->ReplaceOperandWith(0, Find(m, "x")).ok()); }},
    {"called computations", kAddModule,
     [](HloModule* m) {
       static HloComputation* const stranger = [] {
         HloComputation::Builder builder("stranger");
         builder.AddInstruction(HloInstruction::CreateParameter(0, ShapeUtil::MakeShape(F32, {2}), "p"));
         return builder.Build().release();
       }();
       Find(m, "y")->set_to_apply(stranger);
     }},
    {"parameter numbers", kAddModule,
     [](HloModule* m) { Find(m, "x")->mutable_fields()->Set<HloField::parameter_number>(1); }},
    // ---- Single instructions.
    {"shape", kAddModule, [](HloModule* m) { *Find(m, "z")->mutable_shape() = Shape(); }},
    {"shape", kAddModule, [](HloModule* m) { Find(m, "z")->mutable_shape()->mutable_layout()->add_minor_to_major(1); }},
    {"operand count", kAddModule, [](HloModule* m) { Find(m, "z")->AppendOperand(Find(m, "x")); }},
    {"attributes", kAddModule,
     [](HloModule* m) { Find(m, "y")->mutable_fields()->Erase(HloField::called_computations); }},
    {"constant", "HloModule m\nENTRY e { ROOT c = f32[2] constant({1, 2}) }",
     [](HloModule* m) { Find(m, "c")->mutable_fields()->Set<HloField::literal>(SharedLiteral()); }},
    {"reshape, entry layout", "HloModule m\nENTRY e { x = f32[6] parameter(0)  ROOT z = f32[2,3] reshape(x) }",
     [](HloModule* m) {
       *Find(m, "z")->mutable_shape() = ShapeUtil::MakeShape(F32, {2, 4});
     }},
    {"result shape, entry layout", "HloModule m\nENTRY e { ROOT z = u32[] partition-id() }",
     [](HloModule* m) { *Find(m, "z")->mutable_shape() = ShapeUtil::MakeShape(S32, {}); }},
    // ---- Pairs.
    {"channel", kTransfers, [](HloModule* m) { Find(m, "sd")->set_channel_id(7); }},
    {"channel", kTransfers,
     [](HloModule* m) { Find(m, "sd")->mutable_fields()->Set<HloField::is_host_transfer>(true); }},
    {"send", kTransfers,
     [](HloModule* m) { *Find(m, "s")->mutable_shape()->mutable_tuple_shapes(0) = ShapeUtil::MakeShape(F32, {3}); }},
    {"recv", kTransfers,
     [](HloModule* m) { *Find(m, "r")->mutable_shape()->mutable_tuple_shapes(1) = ShapeUtil::MakeShape(S32, {}); }},
    {"recv-done, entry layout", kTransfers,
     [](HloModule* m) { *Find(m, "rd")->mutable_shape()->mutable_tuple_shapes(0) = ShapeUtil::MakeShape(F32, {3}); }},
    {"result shape, copy-done", kCopies,
     [](HloModule* m) { *Find(m, "s")->mutable_shape()->mutable_tuple_shapes(1) = ShapeUtil::MakeShape(F32, {3}); }},
    // ---- Groups.
    {"replica groups", kAllReduce, [](HloModule* m) { Find(m, "z")->set_channel_id(std::nullopt); }},
    {"replica groups", kAllReduce,
     [](HloModule* m) { Find(m, "z")->mutable_fields()->Set<HloField::replica_groups>(CollectiveDeviceList()); }},
    {"replica groups", kAllReduce,
     [](HloModule* m) {
       const IotaReplicaGroupList huge(int64_t{1} << 40, int64_t{1} << 20);
       Find(m, "z")->mutable_fields()->Set<HloField::replica_groups>(CollectiveDeviceList(huge));
     }},
    // ---- The module.
    {"schedule", kScheduled,
     [](HloModule* m) {
       HloSchedule schedule;
       schedule.set_sequence(m->entry_computation(), {Find(m, "x"), Find(m, "z"), Find(m, "y")});
       m->set_unverified_schedule(std::move(schedule));
     }},
    {"schedule", kScheduled, [](HloModule* m) { m->set_unverified_schedule(HloSchedule()); }},
    {"entry layout", kAddModule,
     [](HloModule* m) {
       m->mutable_entry_computation_layout()->add_parameter_layout(ShapeLayout(Find(m, "x")->shape()));
     }},
};

TEST(HloVerifierTest, FindsEveryMutation) {
  for (const Mutation& mutation : kMutations) {
    const std::unique_ptr<HloModule> module = ReadModule(mutation.text);
    ASSERT_EQ(Rules(VerifyHlo(*module)), "") << mutation.text;
    mutation.mutate(module.get());
    const std::vector<HloFinding> findings = VerifyHlo(*module);
    EXPECT_EQ(Rules(findings), mutation.rules) << mutation.text;
    for (const HloFinding& finding : findings) EXPECT_NE(finding.message, "") << finding.rule;
  }
}

TEST(HloVerifierTest, ModuleWithoutEntry) { EXPECT_EQ(Rules(VerifyHlo(HloModule("m", HloModuleConfig()))), "entry"); }

constexpr char kTwoMistakes[] = R"(HloModule m
ENTRY e { x = f32[2] parameter(0)  y = s32[2] negate(x)  ROOT z = s32[2] add(x, y) })";

TEST(HloVerifierTest, CollectsAllFindings) {
  const auto module = ReadModule(kTwoMistakes);
  const std::vector<HloFinding> findings = VerifyHlo(*module);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].instruction, Find(module.get(), "y"));
  EXPECT_EQ(findings[0].computation, module->entry_computation());
  EXPECT_EQ(findings[0].message, "Expected instruction to have shape equal to f32[2], actual shape is s32[2]");
  EXPECT_EQ(findings[1].instruction, Find(module.get(), "z"));
  EXPECT_EQ(findings[1].message, "Binary op add with different element types: f32[2] and s32[2].");
}

TEST(HloVerifierTest, RunReturnsTheFirst) {
  const auto module = ReadModule(kTwoMistakes);
  HloVerifier verifier(/*layout_sensitive=*/false, /*allow_mixed_precision=*/false);
  EXPECT_EQ(verifier.name(), "hlo-verifier");
  const absl::Status status = verifier.Run(module.get()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_TRUE(absl::StartsWith(status.message(), "during context [Unknown]: Expected instruction to have shape"))
      << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "%y = s32[2]{0} negate(")) << status;
}

TEST(HloVerifierTest, RunChangesNothing) {
  const auto module = ReadModule(kAddModule);
  HloVerifier verifier(std::make_unique<DefaultVerifierMetadata>(HloVerifierOpts{}.MakeLayoutSensitive()), "here");
  const absl::StatusOr<bool> changed = verifier.Run(module.get());
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_FALSE(*changed);
}

TEST(HloVerifierTest, OptionsSetAndAsk) {
  const HloVerifierOpts opts =
      HloVerifierOpts{}.MakeLayoutSensitive().AllowMixedPrecision().WithCheckReplicaGroups(false);
  EXPECT_TRUE(opts.IsLayoutSensitive());
  EXPECT_TRUE(opts.AllowMixedPrecision());
  EXPECT_FALSE(opts.ShouldCheckReplicaGroups());
  EXPECT_TRUE(opts.InstructionCanChangeLayout(nullptr));  // no instruction was named that may not
  EXPECT_EQ(opts.ShapeSize(ShapeUtil::MakeTupleShape({ShapeUtil::MakeNil(), ShapeUtil::MakeNil()})), 16);
}

// One option accepts the errors that another run reports.
TEST(HloVerifierTest, OptionsForgive) {
  const auto mixed = ReadModule(
      "HloModule m\nENTRY e { x = f32[2] parameter(0)  y = bf16[2] parameter(1)  ROOT z = f32[2] add(x, y) }");
  EXPECT_EQ(Rules(VerifyHlo(*mixed)), "mixed precision");
  EXPECT_EQ(Rules(VerifyHlo(*mixed, HloVerifierOpts{}.AllowMixedPrecision())), "");
  const auto unbounded = ReadModule("HloModule m\nENTRY e { ROOT x = f32[?] parameter(0) }");
  EXPECT_EQ(Rules(VerifyHlo(*unbounded, HloVerifierOpts{}.WithAllowUnboundedDynamism(true))), "");
  const auto sharded = ReadModule(
      "HloModule m, num_partitions=3\nENTRY e { ROOT x = f32[4] parameter(0), sharding={devices=[2]<=[2]} }");
  EXPECT_EQ(Rules(VerifyHlo(*sharded)), "sharding");
  EXPECT_EQ(Rules(VerifyHlo(*sharded, HloVerifierOpts{}.WithVerifyShardingDeviceNumbers(false))), "");
  const auto bitcast = ReadModule("HloModule m\nENTRY e { x = f32[4] parameter(0)  ROOT z = f32[2] bitcast(x) }");
  EXPECT_EQ(Rules(VerifyHlo(*bitcast, HloVerifierOpts{}.MakeLayoutSensitive())), "bitcast");
  EXPECT_EQ(
      Rules(VerifyHlo(*bitcast, HloVerifierOpts{}.MakeLayoutSensitive().WithAllowBitcastToHaveDifferentSize(true))),
      "");
}

TEST(HloVerifierTest, LayoutMayChange) {
  const auto module = ReadModule(R"(HloModule m
ENTRY e { x = f32[2] parameter(0)  n = f32[2] negate(x)  c = f32[2] copy(x)
  l = f32[2] custom-call(x), custom_call_target="LayoutConstraint"
  ROOT t = (f32[2], f32[2], f32[2]) tuple(n, c, l) })");
  EXPECT_FALSE(InstructionMayChangeLayout(Find(module.get(), "n")));
  EXPECT_TRUE(InstructionMayChangeLayout(Find(module.get(), "c")));
  EXPECT_FALSE(InstructionMayChangeLayout(Find(module.get(), "l")));
}

}  // namespace
}  // namespace kashi::hlo
