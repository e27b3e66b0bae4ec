#include "kashi/query/facts.h"

#include <set>

#include "absl/strings/ascii.h"
#include "gmock/gmock.h"
#include "kashi/query/submodule_testing.h"

namespace kashi::query {
namespace {

using ::testing::HasSubstr;

constexpr char kStep[] = R"(HloModule step
fused {
  p = f32[4,8]{1,0} parameter(0)
  ROOT inner = f32[4,8]{1,0} exponential(p), metadata={op_name="jit(step)/layer_1/exp" source_file="model.py" source_line=7}
}
body {
  state = (s32[], f32[4,8]{1,0}) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  v = f32[4,8]{1,0} get-tuple-element(state), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  w = f32[4,8]{1,0} fusion(v), kind=kLoop, calls=fused
  ROOT new = (s32[], f32[4,8]{1,0}) tuple(next, w)
}
condition {
  state.1 = (s32[], f32[4,8]{1,0}) parameter(0)
  j = s32[] get-tuple-element(state.1), index=0
  n = s32[] constant(5)
  ROOT less = pred[] compare(j, n), direction=LT
}
ENTRY main {
  a = f32[4,8]{1,0:T(8,128)} parameter(0), sharding={replicated}
  zero = s32[] constant(0)
  start = (s32[], f32[4,8]{1,0}) tuple(zero, a)
  loop = (s32[], f32[4,8]{1,0}) while(start), condition=condition, body=body
  out = f32[4,8]{1,0} get-tuple-element(loop), index=1
  ROOT call = f32[4,8]{1,0} custom-call(out, a), custom_call_target="Sharding"
})";

class FactsTest : public ::testing::Test {
 protected:
  FactsTest() : module_(ReadModule(kStep)) {
    FactSet all;
    for (size_t i = 0; i < kFactCount; ++i) {
      if (Facts()[i].need != FactNeed::kTime) all.set(i);
    }
    facts_.emplace(ModuleFacts::Prepare(*module_, all, {"step.hlo"}).value());
  }
  std::string Value(absl::string_view name, absl::string_view key) const {
    return ValueText(facts_->ValueOf(FindFact(key).value(), *FindByName(*module_, name)));
  }

  std::unique_ptr<HloModule> module_;
  std::optional<ModuleFacts> facts_;
};

TEST_F(FactsTest, WhereItIs) {
  EXPECT_EQ(Value("w", "file"), "step.hlo");
  EXPECT_EQ(Value("w", "file_line"), "12");
  EXPECT_EQ(Value("w", "module"), "step");
  EXPECT_EQ(Value("w", "computation"), "body");
  EXPECT_EQ(Value("w", "name"), "w");
  EXPECT_EQ(Value("w", "opcode"), "fusion");
  EXPECT_EQ(Value("w", "is_root"), "false");
  EXPECT_EQ(Value("new", "is_root"), "true");
  EXPECT_EQ(Value("w", "fused"), "false");
  EXPECT_EQ(Value("inner", "fused"), "true");
  EXPECT_EQ(Value("call", "custom_call_target"), "Sharding");
  EXPECT_EQ(Value("w", "custom_call_target"), "");
}

TEST_F(FactsTest, TheResult) {
  EXPECT_EQ(Value("a", "shape"), "f32[4,8]{1,0:T(8,128)}");
  EXPECT_EQ(Value("a", "type"), "f32");
  EXPECT_EQ(Value("start", "type"), "tuple");
  EXPECT_EQ(Value("a", "rank"), "2");
  EXPECT_EQ(Value("start", "rank"), "0");
  EXPECT_EQ(Value("a", "elements"), "32");
  EXPECT_EQ(Value("start", "elements"), "33");
  EXPECT_EQ(Value("a", "bytes"), "4096");
  EXPECT_EQ(Value("a", "unpadded_bytes"), "128");
  EXPECT_EQ(Value("start", "bytes"), "132");
  EXPECT_EQ(Value("a", "layout"), "{1,0:T(8,128)}");
  EXPECT_EQ(Value("start", "layout"), "");
  EXPECT_EQ(Value("a", "memory_space"), "0");
  EXPECT_EQ(Value("a", "sharding"), "{replicated}");
  EXPECT_EQ(Value("out", "sharding"), "");
}

TEST_F(FactsTest, TheUsersProgram) {
  EXPECT_EQ(Value("inner", "op_name"), "jit(step)/layer_1/exp");
  EXPECT_EQ(Value("inner", "scope"), "layer_1");
  EXPECT_EQ(Value("inner", "layer"), "layer_1");
  EXPECT_EQ(Value("inner", "source"), "model.py:7");
  EXPECT_EQ(Value("inner", "source_file"), "model.py");
  EXPECT_EQ(Value("inner", "line"), "7");
  // A fusion without metadata has its root's.
  EXPECT_EQ(Value("w", "source"), "model.py:7");
  EXPECT_EQ(Value("a", "source"), "");
}

TEST_F(FactsTest, TheGraph) {
  EXPECT_EQ(Value("a", "users"), "2");
  EXPECT_EQ(Value("a", "user_names"), "start,call");
  EXPECT_EQ(Value("call", "operands"), "2");
  EXPECT_EQ(Value("call", "operand_names"), "out,a");
  EXPECT_EQ(Value("loop", "calls"), "body,condition");
  EXPECT_EQ(Value("a", "depth"), "0");
  EXPECT_EQ(Value("call", "depth"), "4");
}

TEST_F(FactsTest, CostsAreThoseOfAllRuns) {
  EXPECT_EQ(Value("next", "count"), "5");
  EXPECT_EQ(Value("less", "count"), "6");
  EXPECT_EQ(Value("inner", "count"), "5");
  EXPECT_EQ(Value("out", "count"), "1");
  EXPECT_EQ(Value("loop", "trip_count"), "5");
  EXPECT_EQ(Value("out", "trip_count"), "0");
  EXPECT_EQ(Value("next", "flops"), "5");
  EXPECT_EQ(Value("w", "transcendentals"), "160");
  EXPECT_EQ(Value("w", "bytes_accessed"), "1280");
  EXPECT_EQ(Value("next", "intensity"), "0.08333333333333333");
  EXPECT_EQ(Value("inner", "transcendentals"), "160");
  EXPECT_EQ(Value("inner", "bytes_accessed"), "0");
  EXPECT_EQ(Value("loop", "flops"), "0");
}

TEST(FactsTableTest, KeysAreUniqueWordsWithADoc) {
  std::set<absl::string_view> keys;
  for (const FactInfo& info : Facts()) {
    EXPECT_TRUE(keys.insert(info.key).second) << info.key;
    EXPECT_FALSE(info.doc.empty()) << info.key;
    EXPECT_EQ(FindFact(info.key), static_cast<Fact>(keys.size() - 1));
  }
  EXPECT_EQ(FindFact("nothing"), std::nullopt);
  EXPECT_EQ(UnknownFact("opcod").message(), "unknown key `opcod`; did you mean `opcode`?");
}

TEST(ModuleFactsTest, TimeNeedsADevice) {
  const std::unique_ptr<HloModule> module = ReadModule(kStep);
  EXPECT_THAT(ModuleFacts::Prepare(*module, SetOf(Fact::seconds)).status().message(), HasSubstr("device"));
  ModuleFactsOptions options;
  options.accelerator = insight::FindAccelerator("v5e");
  ASSERT_NE(options.accelerator, nullptr);
  const auto facts = ModuleFacts::Prepare(*module, SetOf(Fact::seconds) | SetOf(Fact::bound), options);
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_GT(facts->NumberOf(Fact::seconds, *FindByName(*module, "w")).AsDouble(), 0);
  EXPECT_EQ(facts->NumberOf(Fact::seconds, *FindByName(*module, "inner")), Number(int64_t{0}));
}

TEST(ModuleFactsTest, SizesBeyondTheRangeAreZeroOrAbout) {
  const std::unique_ptr<HloModule> module = ReadModule(R"(HloModule m
ENTRY e {
  a = f32[?]{0} parameter(0)
  ROOT b = (pred[8000000000000000000]{0}, pred[8000000000000000000]{0}, f32[3]{0}) custom-call(a), custom_call_target="x"
})");
  const auto facts = ModuleFacts::Prepare(*module, SetOf(Fact::elements));
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_EQ(facts->NumberOf(Fact::elements, *FindByName(*module, "a")), Number(int64_t{0}));
  EXPECT_EQ(facts->NumberOf(Fact::elements, *FindByName(*module, "b")).AsDouble(), 1.6e19);
  EXPECT_EQ(facts->NumberOf(Fact::bytes, *FindByName(*module, "a")), Number(int64_t{0}));
  EXPECT_EQ(facts->NumberOf(Fact::bytes, *FindByName(*module, "b")), Number(int64_t{0}));
}

}  // namespace
}  // namespace kashi::query
