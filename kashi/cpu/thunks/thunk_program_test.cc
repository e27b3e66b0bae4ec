// Loops and computations as thunks give the results of the evaluator.
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "kashi/cpu/compiled_program.h"
#include "kashi/cpu/cpu_testing.h"

namespace kashi::cpu {
namespace {

constexpr ErrorSpec kEqual(0);

int64_t ThunkPrograms(absl::string_view text) {
  const auto module = ReadVerified(text);
  EXPECT_TRUE(module.ok()) << module.status() << text;
  if (!module.ok()) return -1;
  return CompiledProgram::Compile(**module).value()->thunk_program_count();
}

// A loop of ten iterations over (s32[], f32[64] x, f32[64] y, f32[8,64] z). The body has i, x, y, z; `lines` define
// nx, ny and nz.
std::string Loop(const std::string& lines, const std::string& nx, const std::string& ny, const std::string& nz) {
  return absl::StrReplaceAll(R"(HloModule m
body {
  s = (s32[], f32[64], f32[64], f32[8,64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[64] get-tuple-element(s), index=1
  y = f32[64] get-tuple-element(s), index=2
  z = f32[8,64] get-tuple-element(s), index=3
  one = s32[] constant(1)
  zero = s32[] constant(0)
  next = s32[] add(i, one)
  $LINES
  ROOT r = (s32[], f32[64], f32[64], f32[8,64]) tuple(next, $X, $Y, $Z)
}
condition {
  s = (s32[], f32[64], f32[64], f32[8,64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  ten = s32[] constant(10)
  ROOT r = pred[] compare(i, ten), direction=LT
}
ENTRY e {
  zero = s32[] constant(0)
  x = f32[64] parameter(0)
  y = f32[64] parameter(1)
  z = f32[8,64] parameter(2)
  s = (s32[], f32[64], f32[64], f32[8,64]) tuple(zero, x, y, z)
  ROOT w = (s32[], f32[64], f32[64], f32[8,64]) while(s), condition=condition, body=body
})",
                             {{"$LINES", lines}, {"$X", nx}, {"$Y", ny}, {"$Z", nz}});
}

void ExpectLoop(const std::string& lines, const std::string& nx, const std::string& ny, const std::string& nz) {
  const std::string text = Loop(lines, nx, ny, nz);
  EXPECT_EQ(ThunkPrograms(text), 1) << text;
  ExpectAsEvaluator(text, kEqual);
}

TEST(ThunkProgramTest, StateThatChangesPlaces) {
  ExpectLoop("", "y", "x", "z");
  ExpectLoop("", "x", "x", "z");
  ExpectLoop("n = f32[64] negate(y)", "n", "x", "z");
  ExpectLoop("n = f32[64] add(x, y)", "n", "n", "z");
  ExpectLoop("n = f32[64] negate(x)\n  m = f32[64] multiply(n, y)", "m", "n", "z");
}

TEST(ThunkProgramTest, StateThatIsReadAfterItsUpdate) {
  ExpectLoop("n = f32[64] negate(x)\n  m = f32[64] add(x, n)\n  k = f32[64] maximum(m, x)", "n", "k", "z");
}

// The condition's result has as many bytes as the counter, which it must not replace.
TEST(ThunkProgramTest, ConditionThatReadsTheStateLast) {
  for (const char* type : {"u4[]", "s4[]", "u8[]", "s32[]"}) {
    const std::string text = absl::StrReplaceAll(Loop("n = f32[64] add(x, y)", "n", "x", "z"), {{"s32[]", type}});
    EXPECT_EQ(ThunkPrograms(absl::StrReplaceAll(text, {{"constant(10)", "constant(7)"}})), 1);
    ExpectAsEvaluator(absl::StrReplaceAll(text, {{"constant(10)", "constant(7)"}}), kEqual);
  }
}

TEST(ThunkProgramTest, UpdatesOfSlices) {
  const std::string update = "row = f32[1,64] reshape(x)\n  n = f32[8,64] dynamic-update-slice(z, row, i, zero)\n  ";
  ExpectLoop(update, "x", "y", "n");
  ExpectLoop(update + "m = f32[64] negate(x)", "m", "x", "n");
  // The old array is needed afterwards.
  ExpectLoop(update + "o = f32[1,64] dynamic-slice(z, i, zero), dynamic_slice_sizes={1,64}\n  m = f32[64] reshape(o)",
             "m", "y", "n");
  // Start indices outside are clamped.
  ExpectLoop(
      "row = f32[1,64] reshape(x)\n  c = s32[] constant(-2)\n  j = s32[] add(i, c)\n  "
      "n = f32[8,64] dynamic-update-slice(z, row, j, i)",
      "y", "x", "n");
}

// Rows and columns, at places that are clamped; a slice that is the next state, and one that a dot reads.
TEST(ThunkProgramTest, Slices) {
  ExpectLoop("o = f32[1,64] dynamic-slice(z, i, zero), dynamic_slice_sizes={1,64}\n  m = f32[64] reshape(o)", "m", "x",
             "z");
  ExpectLoop(
      "c = s32[] constant(-3)\n  j = s32[] add(i, c)\n  "
      "o = f32[8,3] dynamic-slice(z, zero, j), dynamic_slice_sizes={8,3}\n  "
      "p = f32[8,64] dynamic-update-slice(z, o, zero, i)",
      "y", "x", "p");
  // The sums of a dot are in another order.
  const std::string dots = Loop(
      "o = f32[1,64] dynamic-slice(z, i, zero), dynamic_slice_sizes={1,64}\n  "
      "e = f32[8,1] dot(z, o), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n  d = f32[8] reshape(e)\n  "
      "m = f32[64] dot(d, z), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n  "
      "t = f32[64] tanh(m)",
      "t", "x", "z");
  EXPECT_EQ(ThunkPrograms(dots), 1);
  ExpectAsEvaluator(dots, ErrorSpec(1e-4, 1e-4));
}

TEST(ThunkProgramTest, OperationsOfTheEvaluator) {
  ExpectLoop("n = f32[64] reverse(x), dimensions={0}\n  m = f32[64] add(n, y)", "m", "n", "z");
  ExpectLoop("t = f32[64,8] transpose(z), dimensions={1,0}\n  n = f32[8,64] reshape(t)", "y", "x", "n");
  ExpectLoop("f = f32[512] reshape(z)\n  n = f32[64] slice(f), slice={[3:67]}", "n", "x", "z");
}

TEST(ThunkProgramTest, Dots) {
  const std::string text = Loop(
      "n = f32[8] dot(z, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n  "
      "m = f32[64] dot(n, z), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n  "
      "c = f32[] constant(0.001)\n  b = f32[64] broadcast(c), dimensions={}\n  "
      "k = f32[64] multiply(m, b)",
      "k", "x", "z");
  EXPECT_EQ(ThunkPrograms(text), 1);
  ExpectAsEvaluator(text, ErrorSpec(1e-4, 1e-4));
}

TEST(ThunkProgramTest, LoopsWithin) {
  const std::string outer = Loop(R"(start = (s32[], f32[64], f32[64]) tuple(i, x, y)
  inner = (s32[], f32[64], f32[64]) while(start), condition=below, body=swap
  n = f32[64] get-tuple-element(inner), index=1
  m = f32[64] get-tuple-element(inner), index=2)",
                                 "n", "m", "z");
  const std::string text = absl::StrReplaceAll(outer, {{"HloModule m\nbody", R"(HloModule m
swap {
  s = (s32[], f32[64], f32[64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[64] get-tuple-element(s), index=1
  y = f32[64] get-tuple-element(s), index=2
  two = s32[] constant(2)
  next = s32[] add(i, two)
  n = f32[64] negate(x)
  ROOT r = (s32[], f32[64], f32[64]) tuple(next, y, n)
}
below {
  s = (s32[], f32[64], f32[64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  c = s32[] constant(7)
  ROOT r = pred[] compare(i, c), direction=LT
}
body)"}});
  EXPECT_EQ(ThunkPrograms(text), 1);
  ExpectAsEvaluator(text, kEqual);
}

TEST(ThunkProgramTest, ResultsThatAreArgumentsOrConstants) {
  const std::string text = R"(HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[2,2] reshape(x)
  c = f32[4] constant({1, 2, 3, 4})
  n = f32[4] negate(x)
  k = f32[4] copy(n)
  ROOT r = (f32[4], f32[2,2], f32[4], f32[4], f32[4], f32[4], (f32[4])) tuple(x, y, c, n, n, k, $T)
})";
  const std::string nested = absl::StrReplaceAll(text, {{"$T", "t"}, {"  ROOT", "  t = (f32[4]) tuple(n)\n  ROOT"}});
  EXPECT_EQ(ThunkPrograms(nested), 1);
  ExpectAsEvaluator(nested, kEqual);
}

TEST(ThunkProgramTest, Branches) {
  for (int index : {-1, 0, 1, 2}) {
    const std::string text = absl::StrCat(R"(HloModule m
double {
  p = f32[4] parameter(0)
  n = f32[4] add(p, p)
  ROOT r = (f32[4], f32[4]) tuple(n, p)
}
negate {
  p = f32[4] parameter(0)
  n = f32[4] negate(p)
  ROOT r = (f32[4], f32[4]) tuple(p, n)
}
ENTRY e {
  x = f32[4] parameter(0)
  i = s32[] constant()",
                                          index, R"()
  ROOT r = (f32[4], f32[4]) conditional(i, x, x), branch_computations={double, negate}
})");
    EXPECT_EQ(ThunkPrograms(text), 1);
    ExpectAsEvaluator(text, kEqual);
  }
}

// ---- Random bodies.

// A random value of each kind from those that are there.
class RandomBody {
 public:
  explicit RandomBody(uint64_t seed) : random_(seed) {
    rows_ = {"x", "y"};
    squares_ = {"z"};
    const int count = 1 + static_cast<int>(random_() % 8);
    for (int i = 0; i < count; ++i) AddLine(absl::StrCat("v", i));
  }
  std::string text() { return Loop(lines_, Pick(rows_), Pick(rows_), Pick(squares_)); }

 private:
  const std::string& Pick(const std::vector<std::string>& names) { return names[random_() % names.size()]; }

  void AddLine(const std::string& name) {
    const std::string a = Pick(rows_), b = Pick(rows_), z = Pick(squares_);
    std::vector<std::string>* kind = &rows_;
    switch (random_() % 8) {
      case 0:
        Add(name, " = f32[64] maximum(", a, ", ", b, ")");
        break;
      case 1:
        Add(name, " = f32[64] negate(", a, ")");
        break;
      case 2:
        Add(name, " = f32[64] reverse(", a, "), dimensions={0}");
        break;
      case 3:
        Add(name, "m = f32[64] minimum(", a, ", ", b, ")\n  ", name, " = f32[64] subtract(", name, "m, ", a, ")");
        break;
      case 4:
        Add(name, "r = f32[1,64] reshape(", a, ")\n  ", name, " = f32[8,64] dynamic-update-slice(", z, ", ", name,
            "r, i, zero)");
        kind = &squares_;
        break;
      case 5:
        Add(name, "s = f32[1,64] dynamic-slice(", z, ", i, zero), dynamic_slice_sizes={1,64}\n  ", name,
            " = f32[64] reshape(", name, "s)");
        break;
      case 6:
        Add(name, " = f32[8,64] negate(", z, ")");
        kind = &squares_;
        break;
      default:
        Add(name, "b = f32[8,64] broadcast(", a, "), dimensions={1}\n  ", name, " = f32[8,64] maximum(", name, "b, ", z,
            ")");
        kind = &squares_;
        break;
    }
    kind->push_back(name);
  }

  template <typename... Parts>
  void Add(const Parts&... parts) {
    absl::StrAppend(&lines_, parts..., "\n  ");
  }

  std::mt19937_64 random_;
  std::string lines_;
  std::vector<std::string> rows_, squares_;
};

TEST(ThunkProgramTest, RandomLoops) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    ExpectAsEvaluator(RandomBody(seed).text(), kEqual);
  }
}

TEST(ThunkProgramTest, EndlessLoopsEnd) {
  std::string text = Loop("", "y", "x", "z");
  text = absl::StrReplaceAll(text, {{"direction=LT", "direction=GE"}, {"constant(10)", "constant(-5)"}});
  const auto module = ReadVerified(text);
  ASSERT_TRUE(module.ok());
  const auto program = CompiledProgram::Compile(**module);
  ASSERT_TRUE(program.ok());
  EvaluationOptions options;
  options.max_loop_iterations = 1000;
  const absl::StatusOr<Literal> result = RunProgram(**program, RandomArguments(**module), options);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument) << result.status();
  options.max_loop_iterations = -1;
  options.max_work = 1 << 20;
  const absl::StatusOr<Literal> costly = RunProgram(**program, RandomArguments(**module), options);
  EXPECT_EQ(costly.status().code(), absl::StatusCode::kResourceExhausted) << costly.status();
}

// A branch makes a new result, which may take the place of the branch's argument, before it hands the argument on.
TEST(ThunkProgramTest, BranchThatHandsOnItsArgument) {
  ExpectAsEvaluator(R"(
a { p = f32[64] parameter(0) v = f32[64] iota(), iota_dimension=0 ROOT o = (f32[64], f32[64]) tuple(v, p) }
b { q = f32[64] parameter(0) ROOT o = (f32[64], f32[64]) tuple(q, q) }
ENTRY e {
  x = f32[64] parameter(0)
  zero = s32[] constant(0)
  n = f32[64] negate(x)
  w = (f32[64], f32[64]) conditional(zero, n, n), branch_computations={a, b}
  g = f32[64] get-tuple-element(w), index=1
  ROOT r = f32[64] copy(g)
})",
                    kEqual);
}

// The next value of an element does not need the old one, which becomes another element.
TEST(ThunkProgramTest, StateThatIsReplacedBeforeItMoves) {
  ExpectLoop("n = f32[64] iota(), iota_dimension=0", "n", "x", "z");
  ExpectLoop("n = f32[64] iota(), iota_dimension=0", "y", "n", "z");
}

}  // namespace
}  // namespace kashi::cpu
