#include "kashi/query/expression.h"

#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "kashi/query/submodule_testing.h"

namespace kashi::query {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kAttention[] = R"(HloModule m
fused {
  p = f32[8,128] parameter(0)
  q = f32[8,128] parameter(1)
  inner = f32[8,128] multiply(p, q)
  ROOT top = f32[8,128] exponential(inner)
}
ENTRY e {
  a = f32[8,128] parameter(0), metadata={op_name="args[0]"}
  b = f32[128,16] parameter(1)
  d = f32[8,16] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/attention/dot"}
  n = f32[8,128] negate(a), metadata={op_name="jit(f)/mlp/neg"}
  f = f32[8,128] fusion(a, n), kind=kLoop, calls=fused
  ROOT t = (f32[8,16], f32[8,128]) tuple(d, f)
})";

class ExpressionTest : public ::testing::Test {
 protected:
  std::string Find(absl::string_view text) const {
    const auto expression = Expression::Parse(text);
    if (!expression.ok()) return std::string(expression.status().message());
    const auto facts = ModuleFacts::Prepare(*module_, expression->facts());
    if (!facts.ok()) return std::string(facts.status().message());
    return absl::StrJoin(expression->FindIn(*facts), " ",
                         [](std::string* out, const HloInstruction* x) { absl::StrAppend(out, x->name()); });
  }

  const std::unique_ptr<HloModule> module_ = ReadModule(kAttention);
};

TEST_F(ExpressionTest, Texts) {
  EXPECT_EQ(Find(R"(opcode == "dot")"), "d");
  EXPECT_EQ(Find(R"('dot' == opcode)"), "d");
  EXPECT_EQ(Find(R"(opcode != "parameter" and computation == "e")"), "d n f t");
  EXPECT_EQ(Find(R"(op_name ~ "attention|mlp")"), "d n");
  EXPECT_EQ(Find(R"(op_name !~ "^$")"), "a d n");
  EXPECT_EQ(Find(R"(op_name ~ "args\[0\]")"), "a");
  EXPECT_EQ(Find(R"(opcode in ("dot", "negate"))"), "d n");
  EXPECT_EQ(Find(R"(opcode not in ("dot", "negate", "parameter"))"), "inner top f t");
  EXPECT_EQ(Find(R"(name == computation)"), "");
  EXPECT_EQ(Find(R"(name != computation and is_root)"), "top t");
}

TEST_F(ExpressionTest, Numbers) {
  EXPECT_EQ(Find("bytes > 4000 and bytes <= 4KiB"), "p q inner top a n f");
  EXPECT_EQ(Find("bytes == 4.096kB"), "p q inner top a n f");
  EXPECT_EQ(Find("8e3 < bytes and bytes < 1e4"), "b");
  EXPECT_EQ(Find("flops >= 1kflop"), "inner d n f");
  EXPECT_EQ(Find("users == 0"), "top t");
  EXPECT_EQ(Find("users in (3, 2)"), "a");
  EXPECT_EQ(Find("operands > users"), "inner top d f t");
  EXPECT_EQ(Find("memory_space == 0 and bytes > -1 and rank == 0"), "t");
}

TEST_F(ExpressionTest, Shapes) {
  EXPECT_EQ(Find(R"(shape ~ "f32[*,16]")"), "b d t");
  EXPECT_EQ(Find(R"(shape == "f32[*,16]")"), "b d");
  EXPECT_EQ(Find(R"(shape !~ "f32[8,*]")"), "b");
  EXPECT_EQ(Find("shape in (\"f32[8,16]\", \"(*, *)\")"), "d t");
}

TEST_F(ExpressionTest, Logic) {
  EXPECT_EQ(Find("fused"), "p q inner top");
  EXPECT_EQ(Find("not fused and not is_root"), "a b d n f");
  EXPECT_EQ(Find("fused == false and is_root == true"), "t");
  // `and` binds tighter than `or`.
  EXPECT_EQ(Find(R"(name == "a" or name == "b" and name == "d")"), "a");
  EXPECT_EQ(Find(R"((name == "a" or name == "b") and name == "b")"), "b");
  EXPECT_EQ(Find("true and not false and is_root"), "top t");
  EXPECT_EQ(Find(R"(not name ~ "." or name == "n")"), "n");
}

TEST_F(ExpressionTest, Lists) {
  EXPECT_EQ(Find(R"("n" in operand_names)"), "f");
  EXPECT_EQ(Find(R"("n" not in operand_names and opcode == "fusion")"), "");
  EXPECT_EQ(Find(R"(calls ~ "^fus")"), "f");
  EXPECT_EQ(Find(R"("t" in user_names)"), "d f");
}

TEST_F(ExpressionTest, Relations) {
  EXPECT_EQ(Find(R"(users(opcode == "dot"))"), "a b");
  EXPECT_EQ(Find(R"(all users(opcode == "dot"))"), "top b t");
  EXPECT_EQ(Find(R"(operands(opcode == "negate"))"), "f");
  EXPECT_EQ(Find(R"(any(opcode == "negate"))"), "a f");
  EXPECT_EQ(Find(R"(called(opcode == "multiply"))"), "f");
  EXPECT_EQ(Find(R"(callers(opcode == "fusion") and opcode != "parameter")"), "inner top");
  EXPECT_EQ(Find(R"(users(users(opcode == "tuple")))"), "a b n");
  EXPECT_EQ(Find(R"(opcode == "fusion" and all called(fused))"), "f");
  EXPECT_EQ(Find(R"(all operands(opcode == "parameter") and operands > 0)"), "inner d n");
}

TEST_F(ExpressionTest, Neighbourhoods) {
  EXPECT_EQ(Find(R"(users_of("a"))"), "d n f");
  EXPECT_EQ(Find(R"(users_of("%a", 2))"), "d n f t");
  EXPECT_EQ(Find(R"(operands_of("t", 1))"), "d f");
  EXPECT_EQ(Find(R"(operands_of("t", 9))"), "a b d n f");
  EXPECT_EQ(Find(R"(around("d"))"), "a b d t");
  EXPECT_EQ(Find(R"(around("d", 0))"), "d");
  EXPECT_EQ(Find(R"(users_of("nothing"))"), "");
  EXPECT_THAT(Expression::Parse(R"(users_of("%a") or around("b", 2))")->names(), ElementsAre("a", "b"));
}

TEST_F(ExpressionTest, Ways) {
  EXPECT_EQ(Find(R"(path("a", "t"))"), "a d t");
  EXPECT_EQ(Find(R"(path("n", "%t"))"), "n f t");
  EXPECT_EQ(Find(R"(path("t", "t"))"), "t");
  EXPECT_EQ(Find(R"(path("t", "a"))"), "");
  EXPECT_EQ(Find(R"(path("p", "t"))"), "");
  EXPECT_THAT(Expression::Parse(R"(path("a", "b"))")->names(), ElementsAre("a", "b"));
}

// Each error has its line, its column and a caret.
std::string ErrorOf(absl::string_view text) {
  std::vector<Diagnostic> diagnostics;
  const auto expression = Expression::Parse(text, &diagnostics);
  if (expression.ok()) return "ok";
  EXPECT_EQ(diagnostics.size(), 1);
  EXPECT_THAT(std::string(expression.status().message()), HasSubstr(diagnostics[0].message));
  return absl::StrCat(diagnostics[0].begin, "-", diagnostics[0].end, ": ", diagnostics[0].message);
}

TEST(ExpressionErrorTest, Words) {
  EXPECT_EQ(ErrorOf(""), "0-0: the expression is empty");
  EXPECT_EQ(ErrorOf("opcod == \"dot\""), "0-5: unknown key `opcod`; did you mean `opcode`?");
  EXPECT_EQ(ErrorOf("opcode == dot"), "10-13: unknown key `dot`; a text stands in quotes: \"dot\"");
  EXPECT_EQ(ErrorOf("opcode == \"fuson\""), "10-17: no operation is `fuson`; did you mean `fusion`?");
  EXPECT_EQ(ErrorOf("type in (\"f32\", \"f33\")"), "16-21: no type is `f33`; did you mean `f32`?");
  EXPECT_EQ(ErrorOf("bytes > 4KB"), "8-11: unknown unit `KB`; did you mean `kB`?");
  EXPECT_EQ(ErrorOf("bytes > 4furlongs"), "8-17: unknown unit `furlongs`; units are like KiB, MB, Gflop, us");
  EXPECT_EQ(ErrorOf("user(fused)"), "0-4: there is no `user(…)`; did you mean `users`?");
  EXPECT_EQ(ErrorOf("called"), "0-6: `called` needs an expression in parentheses: called(…)");
  EXPECT_EQ(ErrorOf("around == 1"), "0-6: `around` needs the name of an instruction: around(\"dot.3\")");
  EXPECT_EQ(ErrorOf("path"), "0-4: `path` needs the names of two instructions: path(\"dot.3\", \"add.7\")");
  EXPECT_EQ(ErrorOf("all bytes"), "4-9: expected users(…), operands(…), any(…), called(…) or callers(…) after `all`");
}

TEST(ExpressionErrorTest, Types) {
  EXPECT_EQ(ErrorOf("bytes == \"a\""), "9-12: `bytes` is a number of bytes: compare it with one");
  EXPECT_EQ(ErrorOf("bytes ~ \"a\""), "0-5: `bytes` is a number of bytes, and ~ is for texts");
  EXPECT_EQ(ErrorOf("bytes > 1Gflop"), "8-14: `bytes` is a number of bytes, and `1Gflop` is a number of flops");
  EXPECT_EQ(ErrorOf("users > 1KiB"), "8-12: `users` is a number, and `1KiB` is a number of bytes");
  EXPECT_EQ(ErrorOf("name < \"a\""), "5-6: `name` is a text: it has no order");
  EXPECT_EQ(ErrorOf("name == 3"), "8-9: `name` is a text: compare it with text in quotes");
  EXPECT_EQ(ErrorOf("fused == 3"), "9-10: `fused` is true or false");
  EXPECT_EQ(ErrorOf("fused ~ \"a\""), "0-5: `fused` is true or false, and ~ is for texts");
  EXPECT_EQ(ErrorOf("name == bytes"),
            "8-13: `name` is a text and `bytes` is a number of bytes: they cannot be compared");
  EXPECT_EQ(ErrorOf("bytes > flops"),
            "8-13: `bytes` is a number of bytes and `flops` is a number of flops: they cannot be compared");
  EXPECT_EQ(ErrorOf("calls == \"f\""),
            "9-12: `calls` is a list of names: write \"NAME\" in calls, or calls ~ \"PATTERN\"");
  EXPECT_EQ(ErrorOf("\"f\" in name"),
            "7-11: expected a key that is a list of names: calls, user_names or operand_names");
  EXPECT_EQ(ErrorOf("calls in (\"f\")"),
            "0-5: `calls` is a list of names, and the left side of `in` is a text, a shape or a number");
  EXPECT_EQ(ErrorOf("1 == 1"), "0-1: one side must be a key");
  EXPECT_EQ(ErrorOf("\"a\" ~ \"a\""), "0-3: the left side of ~ must be a key");
}

TEST(ExpressionErrorTest, Syntax) {
  EXPECT_EQ(ErrorOf("bytes"), "5-5: expected an operator: ==, !=, <, <=, >, >=, ~, !~ or in, found the end");
  EXPECT_EQ(ErrorOf("bytes >"), "7-7: expected a key or a value, found the end");
  EXPECT_EQ(ErrorOf("(fused"), "6-6: expected `)`, found the end");
  EXPECT_EQ(ErrorOf("fused)"), "5-6: expected `and`, `or` or the end");
  EXPECT_EQ(ErrorOf("fused and"), "9-9: expected a key or a value, found the end");
  EXPECT_EQ(ErrorOf("fused && is_root"), "6-8: write `and` for `&&`");
  EXPECT_EQ(ErrorOf("!fused"), "0-1: write `not` for `!`");
  EXPECT_EQ(ErrorOf("opcode = \"dot\""), "7-8: write `==` for `=`");
  EXPECT_EQ(ErrorOf("name == \"a"), "8-10: the string has no end: \"");
  EXPECT_EQ(ErrorOf("opcode in \"dot\""), "10-15: expected `(`, found `\"dot\"`");
  EXPECT_EQ(ErrorOf("opcode in (\"dot\""), "16-16: expected `)`, found the end");
  EXPECT_EQ(ErrorOf("users_of(a)"), "9-10: expected the name of an instruction in quotes, found `a`");
  EXPECT_EQ(ErrorOf("users_of(\"a\", -1)"), "14-16: expected the number of steps");
  EXPECT_EQ(ErrorOf("path(\"a\")"), "8-9: expected `,`, found `)`");
  EXPECT_EQ(ErrorOf("name ~ 3"), "7-8: expected a pattern in quotes");
  EXPECT_EQ(ErrorOf("name == \"ä\" ä"), "13-15: unexpected `ä`");
  EXPECT_THAT(ErrorOf("name ~ \"(\""), HasSubstr("7-10: wrong regular expression: missing )"));
  EXPECT_EQ(ErrorOf("shape ~ \"f32[8,x]\""), "15-15: expected a size: 128, *, 2..8, 1000.., ..., <=10 or ?");
}

TEST(ExpressionErrorTest, ACaretShowsThePlace) {
  EXPECT_EQ(Expression::Parse("fused and\n  opcod == \"dot\"").status().message(),
            "query:2:3: error: unknown key `opcod`; did you mean `opcode`?\n"
            "  opcod == \"dot\"\n"
            "  ^~~~~");
}

TEST(ExpressionErrorTest, DepthIsLimited) {
  const auto nested = [](int depth, absl::string_view open, absl::string_view close) {
    std::string text;
    for (int i = 0; i < depth; ++i) absl::StrAppend(&text, open);
    absl::StrAppend(&text, "fused");
    for (int i = 0; i < depth; ++i) absl::StrAppend(&text, close);
    return text;
  };
  EXPECT_EQ(ErrorOf(nested(64, "(", ")")), "ok");
  for (const char* open : {"(", "not ", "users(", "all called("}) {
    EXPECT_THAT(ErrorOf(nested(100'000, open, open[0] == 'n' ? "" : ")")), HasSubstr("nested too deep")) << open;
  }
}

TEST(QuotedTest, AnyTextKeepsItsMeaningAsAPattern) {
  EXPECT_EQ(Quoted("dot.3"), "\"dot.3\"");
  EXPECT_EQ(Quoted("a\"b"), "\"a\\\"b\"");
  EXPECT_EQ(Quoted(R"(a\\)"), R"("a\\")");
  const std::unique_ptr<HloModule> module =
      ReadModule("HloModule m\nENTRY e {\n  ROOT a = f32[] parameter(0), metadata={op_name=\"x\\\"y\\\\z\"}\n}\n");
  for (const char* pattern : {R"(x"y)", R"(x\"y)", R"(y\\z)", R"(^x.y.z$)"}) {
    const auto expression = Expression::Parse(absl::StrCat("op_name ~ ", Quoted(pattern)));
    ASSERT_TRUE(expression.ok()) << pattern << ": " << expression.status();
    const auto facts = ModuleFacts::Prepare(*module, expression->facts());
    EXPECT_EQ(expression->FindIn(*facts).size(), 1) << pattern;
  }
}

// ---- A law: relations mean what their definition says ---------------------------------------------------------------

TEST(ExpressionLawTest, RelationsAgreeWithTheirDefinition) {
  for (const std::string& path : CorpusPaths(/*most_bytes=*/20'000)) {
    const std::unique_ptr<HloModule> module = ReadModule(ReadTestFile(path));
    const auto find = [&](absl::string_view text) {
      const auto expression = Expression::Parse(text).value();
      const auto facts = ModuleFacts::Prepare(*module, expression.facts()).value();
      const auto found = expression.FindIn(facts);
      return absl::flat_hash_set<const HloInstruction*>(found.begin(), found.end());
    };
    const auto inner = find("operands == 2");
    const auto users = find("users(operands == 2)"), all_users = find("all users(operands == 2)");
    const auto operands = find("operands(operands == 2)"), any = find("any(operands == 2)");
    const auto called = find("called(operands == 2)"), callers = find("callers(operands == 2)");
    const auto is_inner = [&](const HloInstruction* x) { return inner.contains(x); };
    for (const HloComputation* computation : module->computations()) {
      for (const HloInstruction* x : computation->instructions()) {
        ASSERT_EQ(users.contains(x), absl::c_any_of(x->users(), is_inner)) << path << x->name();
        ASSERT_EQ(all_users.contains(x), absl::c_all_of(x->users(), is_inner)) << path << x->name();
        ASSERT_EQ(operands.contains(x), absl::c_any_of(x->operands(), is_inner)) << path << x->name();
        ASSERT_EQ(any.contains(x), users.contains(x) || operands.contains(x)) << path << x->name();
        const auto is_called = [&](const HloComputation* callee) {
          return absl::c_any_of(callee->instructions(),
                                [&](const HloInstruction* y) { return is_inner(y) || called.contains(y); });
        };
        ASSERT_EQ(called.contains(x), absl::c_any_of(x->called_computations(), is_called)) << path << x->name();
        const auto calls = [&](const HloInstruction* y) { return is_inner(y) || callers.contains(y); };
        ASSERT_EQ(callers.contains(x), absl::c_any_of(computation->caller_instructions(), calls)) << path << x->name();
      }
    }
  }
}

}  // namespace
}  // namespace kashi::query
