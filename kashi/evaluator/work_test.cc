#include "kashi/evaluator/work.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::evaluator {
namespace {

constexpr char kComputations[] = R"(
  HloModule m
  f { a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT r = f32[] add(a, b) }
  g { x = f32[10] parameter(0)
      ROOT r = f32[10] negate(x) }
  h { x = f32[10] parameter(0)
      y = f32[10] negate(x)
      ROOT r = f32[10] negate(y) }
  body { s = (s32[], f32[10]) parameter(0)
         i = s32[] get-tuple-element(s), index=0
         x = f32[10] get-tuple-element(s), index=1
         one = s32[] constant(1)
         j = s32[] add(i, one)
         y = f32[10] negate(x)
         ROOT r = (s32[], f32[10]) tuple(j, y) }
  more { s = (s32[], f32[10]) parameter(0)
         i = s32[] get-tuple-element(s), index=0
         n = s32[] constant(100)
         ROOT r = pred[] compare(i, n), direction=LT }
)";

struct Work {
  int64_t of_root;
  int64_t least;
  int64_t nanoseconds;
};

Work WorkOfProgram(const std::string& entry) {
  auto module = ParseAndReturnUnverifiedModule(absl::StrCat(kComputations, "ENTRY e {", entry, "}"));
  EXPECT_TRUE(module.ok()) << module.status();
  const HloComputation& computation = *(*module)->entry_computation();
  return {WorkOf(*computation.root_instruction()), LeastWorkOf(computation), EstimatedNanosecondsOf(computation)};
}

TEST(WorkTest, OfElements) {
  EXPECT_EQ(WorkOfProgram("ROOT p = f32[10] parameter(0)").of_root, 1);
  EXPECT_EQ(WorkOfProgram("p = f32[10] parameter(0)\n ROOT r = f32[10] negate(p)").of_root, 11);
}

TEST(WorkTest, OfProducts) {
  EXPECT_EQ(WorkOfProgram("p = f32[10,30] parameter(0)\n q = f32[30,20] parameter(1)\n ROOT r = f32[10,20] dot(p, q), "
                          "lhs_contracting_dims={1}, rhs_contracting_dims={0}")
                .of_root,
            1 + 2 * 10 * 20 * 30);
  EXPECT_EQ(WorkOfProgram("p = f32[1,8,8,3] parameter(0)\n q = f32[3,3,3,5] parameter(1)\n ROOT r = f32[1,6,6,5] "
                          "convolution(p, q), window={size=3x3}, dim_labels=b01f_01io->b01f")
                .of_root,
            1 + 2 * 6 * 6 * 5 * 3 * 3 * 3);
}

// f has three instructions.
TEST(WorkTest, OfCallsOnScalars) {
  EXPECT_EQ(
      WorkOfProgram("p = f32[10] parameter(0)\n z = f32[] constant(0)\n ROOT r = f32[] reduce(p, z), dimensions={0}, "
                    "to_apply=f")
          .of_root,
      1 + 10 * 3);
}

// However large the window, an output meets no more than there are elements.
TEST(WorkTest, OfWindows) {
  EXPECT_EQ(WorkOfProgram("p = f32[3] parameter(0)\n z = f32[] constant(0)\n ROOT r = f32[1] reduce-window(p, z), "
                          "window={size=1000000003 pad=500000000_500000000}, to_apply=f")
                .of_root,
            1 + 3 * 3);
}

TEST(WorkTest, LeastWorkGoesIntoCalls) {
  EXPECT_EQ(WorkOfProgram("p = f32[10] parameter(0)\n ROOT r = f32[10] call(p), to_apply=g").least, 1 + 1 + 1 + 11);
}

TEST(WorkTest, LeastWorkTakesTheCheapestBranch) {
  EXPECT_EQ(WorkOfProgram("i = s32[] parameter(0)\n p = f32[10] parameter(1)\n ROOT r = f32[10] conditional(i, p, p), "
                          "branch_computations={g, h}")
                .least,
            1 + 1 + 1 + 1 + 11);
}

TEST(WorkTest, LeastWorkCountsIterations) {
  const std::string loop =
      "s = (s32[], f32[10]) tuple(i, p)\n ROOT r = (s32[], f32[10]) while(s), condition=more, body=body";
  const Work known = WorkOfProgram("i = s32[] constant(0)\n p = f32[10] parameter(0)\n " + loop);
  const Work unknown = WorkOfProgram("i = s32[] parameter(1)\n p = f32[10] parameter(0)\n " + loop);
  EXPECT_GT(known.least, 100 * 11);
  EXPECT_LT(known.least, 100 * 40);
  EXPECT_LT(unknown.least, 20);
  EXPECT_NEAR(unknown.nanoseconds, 10 * known.nanoseconds, known.nanoseconds / 2);
}

TEST(WorkTest, TimeIsThatOfStepsAndElements) {
  EXPECT_EQ(WorkOfProgram("p = f32[1000] parameter(0)\n ROOT r = f32[1000] negate(p)").nanoseconds, 101 + 1101);
  EXPECT_EQ(WorkOfProgram("p = f32[16,16] parameter(0)\n ROOT r = f32[16,16] dot(p, p), lhs_contracting_dims={1}, "
                          "rhs_contracting_dims={0}")
                .nanoseconds,
            101 + 100 + 2 * 16 * 16);
}

TEST(WorkTest, DynamicDimensionsMayBeEmpty) {
  const Work work = WorkOfProgram("p = f32[<=1000] parameter(0)\n ROOT r = f32[<=1000] negate(p)");
  EXPECT_EQ(work.of_root, 1001);
  EXPECT_EQ(work.least, 2);
}

}  // namespace
}  // namespace kashi::evaluator
