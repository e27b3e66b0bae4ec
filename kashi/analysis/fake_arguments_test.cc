#include "kashi/analysis/fake_arguments.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/analysis/analysis_testing.h"
#include "kashi/hlo/ir/elided_constant.h"
#include "kashi/hlo/ir/hlo_computation.h"

namespace kashi::analysis {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;

std::vector<FakeArgument> Make(absl::string_view text, const FakeArgumentOptions& options = {}) {
  const std::unique_ptr<HloModule> module = ReadModule(text);
  absl::StatusOr<std::vector<FakeArgument>> arguments = MakeFakeArguments(*module, options);
  EXPECT_TRUE(arguments.ok()) << arguments.status();
  return arguments.ok() ? *std::move(arguments) : std::vector<FakeArgument>();
}
absl::Status ErrorOf(absl::string_view text, const FakeArgumentOptions& options) {
  return MakeFakeArguments(*ReadModule(text), options).status();
}

constexpr char kSquareRoot[] =
    "HloModule m\nENTRY e { x = f32[500] parameter(0)  n = s32[] parameter(1)\n"
    "s = f32[500] rsqrt(x)  ROOT r = (f32[500], s32[]) tuple(s, n) }";

TEST(FakeArgumentsTest, AsTheProgramNeedsThem) {
  const std::vector<FakeArgument> arguments = Make(kSquareRoot);
  ASSERT_EQ(arguments.size(), 2);
  EXPECT_THAT(arguments[0].literal.data<float>(), Each(AllOf(Ge(0.1f), Le(1.1f))));
  ASSERT_EQ(arguments[0].arrays.size(), 1);
  EXPECT_EQ(arguments[0].arrays[0].ToString(), "[0.1, 1.1) for s");
  EXPECT_EQ(arguments[1].arrays[0].ToString(), "integers [0, 127]");
}

// A dot with this number of terms needs factors below 0.06, and zeros would not test it.
TEST(FakeArgumentsTest, QuantizedFactorsAreNotAllZero) {
  for (const auto& [type, range] :
       {std::pair("s4", "integers [-1, 1] for d"), std::pair("u8", "integers [0, 1] for d")}) {
    const std::vector<FakeArgument> arguments =
        Make(absl::StrCat("HloModule m\nENTRY e { a = ", type,
                          "[8,1024] parameter(0)  b = bf16[1024,8] parameter(1)  c = bf16[8,1024] convert(a)\n"
                          "ROOT d = bf16[8,8] dot(c, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} }"));
    ASSERT_EQ(arguments.size(), 2);
    EXPECT_EQ(arguments[0].arrays[0].ToString(), range);
    EXPECT_FALSE(arguments[0].literal.IsAll(0));
  }
}

TEST(FakeArgumentsTest, IndicesAreInRangeAndDifferentWhereTheyMustBe) {
  const std::vector<FakeArgument> arguments = Make(R"(HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
ENTRY e {
  x = f32[50,4] parameter(0)
  ids = s32[50,1] parameter(1)
  updates = f32[50,4] parameter(2)
  ROOT r = f32[50,4] scatter(x, ids, updates), update_window_dims={1}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, unique_indices=true, indices_are_sorted=true, to_apply=add
})");
  const auto ids = arguments[1].literal.data<int32_t>();
  EXPECT_EQ(std::set<int32_t>(ids.begin(), ids.end()).size(), 50);
  EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
  EXPECT_THAT(ids, Each(AllOf(Ge(0), Le(49))));
}

TEST(FakeArgumentsTest, MatricesHaveCholeskyFactors) {
  const std::vector<FakeArgument> arguments =
      Make("HloModule m\nENTRY e { a = f32[2,3,3] parameter(0)  ROOT r = f32[2,3,3] cholesky(a), lower=true }");
  const Literal& a = arguments[0].literal;
  for (int64_t batch = 0; batch < 2; ++batch) {
    for (int64_t i = 0; i < 3; ++i) {
      EXPECT_GE(a.Get<float>({batch, i, i}), 3);
      for (int64_t j = 0; j < 3; ++j) EXPECT_EQ(a.Get<float>({batch, i, j}), a.Get<float>({batch, j, i}));
    }
  }
}

// ---- The order of instructions --------------------------------------------------------------------------------------

// Instructions of ENTRY, one a line, in any order that puts operands first: `reorder` chooses the next one among those
// that may come.
std::string InAnotherOrder(std::vector<std::string> lines, std::mt19937* random) {
  const auto name_of = [](const std::string& line) { return line.substr(0, line.find(' ')); };
  std::string text;
  while (!lines.empty()) {
    std::vector<size_t> ready;
    for (size_t i = 0; i < lines.size(); ++i) {
      const std::string operands = lines[i].substr(lines[i].find('('));
      const bool waits = std::any_of(lines.begin(), lines.end(), [&](const std::string& other) {
        return absl::StrContains(operands, absl::StrCat("(", name_of(other), ")")) ||
               absl::StrContains(operands, absl::StrCat("(", name_of(other), ",")) ||
               absl::StrContains(operands, absl::StrCat(" ", name_of(other), ",")) ||
               absl::StrContains(operands, absl::StrCat(" ", name_of(other), ")"));
      });
      if (!waits) ready.push_back(i);
    }
    const size_t next = ready[(*random)() % ready.size()];
    absl::StrAppend(&text, lines.size() == 1 ? "  ROOT " : "  ", lines[next], "\n");
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(next));
  }
  return text;
}

// Each parameter has several users, which want different things.
constexpr absl::string_view kComputations = R"(HloModule m
max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] maximum(a, b) }
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
shrink { a = f32[8] parameter(0)  o = f32[] constant(1)  l = f32[8] broadcast(o), dimensions={}
         ROOT r = f32[8] subtract(a, l) }
body { s = (s32[], f32[8]) parameter(0)  i = s32[] get-tuple-element(s), index=0
       v = f32[8] get-tuple-element(s), index=1  o = s32[] constant(1)  n = s32[] add(i, o)
       w = f32[8] call(v), to_apply=shrink  ROOT r = (s32[], f32[8]) tuple(n, w) }
condition { s = (s32[], f32[8]) parameter(0)  i = s32[] get-tuple-element(s), index=0  m = s32[] constant(5)
            ROOT r = pred[] compare(i, m), direction=LT }
)";
const std::vector<std::string>& ContestedParameters() {
  static const auto* const lines = new std::vector<std::string>{
      "x = f32[8] parameter(0)",
      "y = f32[8] parameter(1)",
      "k = s32[] parameter(2)",
      "z = f32[] parameter(3)",
      "table = f32[10] parameter(4)",
      "a = f32[8] sqrt(x)",
      "b = f32[8] negate(x)",
      "c = f32[8] log(b)",
      "d = f32[8] divide(y, b)",
      "e = f32[8] atanh(x)",
      "f = f32[8] acosh(x)",
      "g = f32[1] dynamic-slice(table, k), dynamic_slice_sizes={1}",
      "h = f32[2] dynamic-slice(table, k), dynamic_slice_sizes={2}",
      "minus = s32[] negate(k)",
      "n = f32[3] dynamic-slice(table, minus), dynamic_slice_sizes={3}",
      "u = f32[] reduce(x, z), dimensions={0}, to_apply=max",
      "v = f32[] reduce(y, z), dimensions={0}, to_apply=add",
      "p = f32[8] call(x), to_apply=shrink",
      "q = f32[8] call(p), to_apply=shrink",
      "s = f32[8] rsqrt(q)",
      "t = (s32[], f32[8]) tuple(k, y)",
      "w = (s32[], f32[8]) while(t), condition=condition, body=body",
      "j = f32[8] get-tuple-element(w), index=1",
      "l = f32[8] rsqrt(j)",
      "all = (f32[8], f32[8], f32[8], f32[8], f32[8], f32[1], f32[2], f32[3], f32[], f32[], f32[8], f32[8]) "
      "tuple(a, c, d, e, f, g, h, n, u, v, s, l)"};
  return *lines;
}

TEST(FakeArgumentsTest, DoNotDependOnTheOrderOfInstructions) {
  std::mt19937 random(1);
  std::vector<FakeArgument> first;
  for (int i = 0; i < 30; ++i) {
    const std::string entry = InAnotherOrder(ContestedParameters(), &random);
    std::vector<FakeArgument> arguments = Make(absl::StrCat(kComputations, "ENTRY e {\n", entry, "}\n"));
    ASSERT_EQ(arguments.size(), 5);
    if (first.empty()) first = std::move(arguments);
    for (size_t p = 0; p < arguments.size(); ++p) {
      EXPECT_EQ(arguments[p].literal, first[p].literal) << entry;
      EXPECT_EQ(arguments[p].arrays[0].ToString(), first[p].arrays[0].ToString()) << entry;
    }
  }
}

TEST(FakeArgumentsTest, ContradictionsGiveNoEmptyInterval) {
  const std::vector<FakeArgument> arguments = Make(R"(HloModule m
ENTRY e {
  x = f32[8] parameter(0)
  minus = f32[8] negate(x)
  d = f32[8] divide(x, minus)
  s = f32[8] sqrt(x)
  ROOT r = f32[8] add(d, s)
})");
  ASSERT_EQ(arguments.size(), 1);
  EXPECT_EQ(arguments[0].arrays[0].ToString(), "[0.1, 1.1) for s");
}

TEST(FakeArgumentsTest, RulesForAllAndForOne) {
  FakeArgumentOptions options;
  options.rule = ParseFakeRule("uniform:5,6").value();
  options.rules[1] = ParseFakeRule("integers:-3,-3").value();
  const std::vector<FakeArgument> arguments = Make(kSquareRoot, options);
  EXPECT_THAT(arguments[0].literal.data<float>(), Each(AllOf(Ge(5.0f), Le(6.0f))));
  EXPECT_EQ(arguments[0].arrays[0].ToString(), "[5, 6)");
  EXPECT_EQ(arguments[1].literal.Get<int32_t>({}), -3);
}

TEST(FakeArgumentsTest, ARuleForOneParameterChangesNoOther) {
  FakeArgumentOptions options;
  options.rules[0] = ParseFakeRule("ones").value();
  EXPECT_EQ(Make(kSquareRoot)[1].literal, Make(kSquareRoot, options)[1].literal);
  options.seed = 43;
  EXPECT_FALSE(Make(kSquareRoot)[0].literal == Make(kSquareRoot, options)[0].literal);
}

TEST(FakeArgumentsTest, RulesAreChecked) {
  FakeArgumentOptions options;
  options.rules[2] = FakeRule();
  EXPECT_THAT(ErrorOf(kSquareRoot, options).message(), HasSubstr("there is no parameter 2: e has 2"));
  options.rules = {{1, ParseFakeRule("normal").value()}};
  EXPECT_THAT(ErrorOf(kSquareRoot, options).message(),
              HasSubstr("parameter 1 (n) is s32[]: the rule does not apply to this type"));
  options.rules.clear();
  options.memory_limit_bytes = 100;
  EXPECT_EQ(ErrorOf(kSquareRoot, options).code(), absl::StatusCode::kResourceExhausted);
}

TEST(FakeArgumentsTest, RulesFromText) {
  EXPECT_EQ(ParseFakeRule("normal:1,0.5")->a, 1);
  EXPECT_EQ(ParseFakeRule("integers:-1,9")->b, 9);
  EXPECT_TRUE(ParseFakeRule("auto").ok());
  EXPECT_TRUE(ParseFakeRule("positive").ok());
  for (const absl::string_view wrong :
       {"", "gauss", "uniform", "uniform:1", "uniform:1,2,3", "uniform:a,b", "uniform:2,1", "uniform:nan,1",
        "integers:0.5,1", "integers:0,1e300", "normal:0,-1", "ones:1", "positive:", "uniform:0,inf"}) {
    EXPECT_EQ(ParseFakeRule(wrong).status().code(), absl::StatusCode::kInvalidArgument) << wrong;
  }
  EXPECT_THAT(ParseFakeRule("gauss").status().message(), HasSubstr("the rules are auto, normal"));
}

TEST(FakeArgumentsTest, TuplesTokensAndDynamicSizes) {
  const std::vector<FakeArgument> arguments = Make(
      "HloModule m\nENTRY e { p = (f32[2], token[], (s8[], pred[3])) parameter(0)  q = f32[<=9] parameter(1)\n"
      "ROOT r = f32[<=9] negate(q) }");
  ASSERT_EQ(arguments[0].arrays.size(), 3);
  EXPECT_EQ(arguments[0].arrays[2].ToString(), "false or true");
  EXPECT_EQ(arguments[1].literal.shape().ToString(), "f32[<=9]");
}

TEST(FakeArgumentsTest, CanBeCancelled) {
  const std::atomic<bool> cancelled = true;
  FakeArgumentOptions options;
  WorkLimits limits;
  limits.cancelled = &cancelled;
  const WorkMeter meter(limits);
  options.meter = &meter;
  EXPECT_EQ(ErrorOf(kSquareRoot, options).code(), absl::StatusCode::kCancelled);
}

constexpr char kElided[] = R"(HloModule m
ENTRY e {
  table = f32[50] parameter(0)
  ids = s32[20,1] constant({...})
  bias = f32[20] constant({...})
  rows = f32[20] gather(table, ids), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1,
    slice_sizes={1}
  ROOT r = f32[20] add(rows, bias)
})";

TEST(FakeArgumentsTest, ElidedConstantsAreFilledAsTheProgramNeedsThem) {
  const std::unique_ptr<HloModule> module = ReadModule(kElided);
  ASSERT_TRUE(FillElidedConstants(module.get(), 1).ok());
  EXPECT_TRUE(hlo::ElidedConstants(*module).empty());
  const HloInstruction* gather = module->entry_computation()->root_instruction()->operand(0);
  const auto ids = gather->operand(1)->literal().data<int32_t>();
  EXPECT_THAT(ids, Each(AllOf(Ge(0), Le(49))));
  EXPECT_GT(std::set<int32_t>(ids.begin(), ids.end()).size(), 5);
  // A second call gives the same numbers.
  const std::unique_ptr<HloModule> other = ReadModule(kElided);
  ASSERT_TRUE(FillElidedConstants(other.get(), 1).ok());
  EXPECT_EQ(other->ToString(HloPrintOptions().set_print_large_constants(true)),
            module->ToString(HloPrintOptions().set_print_large_constants(true)));
}

}  // namespace
}  // namespace kashi::analysis
