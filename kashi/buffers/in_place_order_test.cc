#include "kashi/buffers/in_place_order.h"

#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::buffers {
namespace {

constexpr absl::string_view kComputations = R"(HloModule m
set { old = f32[] parameter(0)
  ROOT new = f32[] parameter(1) }
less { state1 = (s32[], f32[9]) parameter(0)
  i1 = s32[] get-tuple-element(state1), index=0
  n1 = s32[] constant(5)
  ROOT c1 = pred[] compare(i1, n1), direction=LT }
step { state2 = (s32[], f32[9]) parameter(0)
  i2 = s32[] get-tuple-element(state2), index=0
  y2 = f32[9] get-tuple-element(state2), index=1
  one2 = s32[] constant(1)
  j2 = s32[] add(i2, one2)
  z2 = f32[9] negate(y2)
  ROOT t2 = (s32[], f32[9]) tuple(j2, z2) }
keep { state3 = (s32[], f32[9]) parameter(0)
  i3 = s32[] get-tuple-element(state3), index=0
  y3 = f32[9] get-tuple-element(state3), index=1
  one3 = s32[] constant(1)
  j3 = s32[] add(i3, one3)
  ROOT t3 = (s32[], f32[9]) tuple(j3, y3) }
half { state4 = f32[9] parameter(0)
  ROOT h4 = f32[9] negate(state4) }
draw { low = f32[] constant(0)
  high = f32[] constant(1)
  ROOT drawn = f32[9] rng(low, high), distribution=rng_uniform }
)";

// The names of all instructions but parameters, in the order that is made of the order of the text, and the updates.
// `body` may use x = f32[9], i = s32[1], k = s32[], u = f32[] and w = f32[1]. `replacers`: instructions that may
// replace their operand 0.
std::string Ordered(absl::string_view body, const std::vector<std::string>& replacers = {}) {
  const std::string text = absl::StrCat(kComputations, R"(ENTRY e {
  x = f32[9] parameter(0)
  i = s32[1] parameter(1)
  k = s32[] parameter(2)
  u = f32[] parameter(3)
  w = f32[1] parameter(4)
)",
                                        body, "\n}");
  auto module = ParseAndReturnUnverifiedModule(text);
  EXPECT_TRUE(module.ok()) << module.status() << text;
  if (!module.ok()) return "";
  const HloComputation& entry = *(*module)->entry_computation();
  std::vector<HloInstruction*> given(entry.instructions().begin(), entry.instructions().end());
  std::vector<OperandUse> replacements;
  for (const std::string& name : replacers) replacements.push_back({entry.GetInstructionWithName(name), 0});
  const InPlaceOrder made = OrderUsesBeforeInPlaceUpdates(given, entry.root_instruction(), replacements);
  std::vector<std::string> names;
  for (const HloInstruction* instruction : made.order) {
    if (instruction->opcode() != HloOpcode::kParameter) names.emplace_back(instruction->name());
  }
  return absl::StrCat(absl::StrJoin(names, " "), "\n", made.ToString());
}

constexpr absl::string_view kScatter =
    ", update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=0, "
    "to_apply=set\n";

TEST(InPlaceOrderTest, PutsReadsBeforeTheUpdate) {
  EXPECT_EQ(Ordered(absl::StrCat("a = f32[9] scatter(x, i, u)", kScatter, R"(
  r = f32[1] dynamic-slice(x, k), dynamic_slice_sizes={1}
  v = f32[] reshape(r)
  ROOT b = f32[9] scatter(a, i, v))",
                                 kScatter)),
            "r a v b\na: operand 0 in place\nb: operand 0 in place\n");
}

TEST(InPlaceOrderTest, KeepsAnOrderThatIsGoodAlready) {
  EXPECT_EQ(Ordered(R"(r = f32[1] dynamic-slice(x, k), dynamic_slice_sizes={1}
  n = f32[1] negate(r)
  a = f32[9] dynamic-update-slice(x, r, k)
  ROOT t = (f32[9], f32[1]) tuple(a, n))"),
            "r n a t\na: operand 0 in place\n");
}

TEST(InPlaceOrderTest, CopiesWhereAReadNeedsTheUpdate) {
  EXPECT_EQ(Ordered(R"(a = f32[9] dynamic-update-slice(x, w, k)
  r = f32[1] dynamic-slice(a, k), dynamic_slice_sizes={1}
  v = s32[1] convert(r)
  j = s32[] reshape(v)
  q = f32[1] dynamic-slice(x, j), dynamic_slice_sizes={1}
  ROOT t = (f32[9], f32[1]) tuple(a, q))"),
            "a r v j q t\na: operand 0 copied, for q\n");
}

TEST(InPlaceOrderTest, CopiesWhatTheRootHas) {
  EXPECT_EQ(Ordered(R"(a = f32[9] dynamic-update-slice(x, w, k)
  ROOT t = (f32[9], f32[9]) tuple(a, x))"),
            "a t\na: operand 0 copied, for t\n");
}

TEST(InPlaceOrderTest, UpdatesOnceOfSeveral) {
  // Each update reads the old value for the other. The first that asks comes last.
  EXPECT_EQ(Ordered(R"(a = f32[9] dynamic-update-slice(x, w, k)
  b = f32[9] dynamic-update-slice(x, w, k)
  ROOT t = (f32[9], f32[9]) tuple(a, b))"),
            "b a t\na: operand 0 in place\nb: operand 0 copied, for a\n");
  EXPECT_EQ(Ordered(R"(ROOT a = f32[9] dynamic-update-slice(x, x, k))"), "a\na: operand 0 copied, for a\n");
}

TEST(InPlaceOrderTest, SeesThroughWhatHandsAValueOn) {
  EXPECT_EQ(Ordered(R"(p = (f32[9], f32[1]) tuple(x, w)
  y = f32[9] get-tuple-element(p), index=0
  a = f32[9] dynamic-update-slice(y, w, k)
  z = f32[3,3] reshape(x)
  c = f32[3,3] copy(z)
  r = f32[1,1] dynamic-slice(c, k, k), dynamic_slice_sizes={1,1}
  ROOT t = (f32[9], f32[1,1]) tuple(a, r))"),
            "p y z c r a t\na: operand 0 in place\n");
}

TEST(InPlaceOrderTest, LoopsUpdateWhatTheyChange) {
  EXPECT_EQ(Ordered(R"(p = (s32[], f32[9]) tuple(k, x)
  l = (s32[], f32[9]) while(p), condition=less, body=step
  r = f32[1] dynamic-slice(x, k), dynamic_slice_sizes={1}
  ROOT t = ((s32[], f32[9]), f32[1]) tuple(l, r))"),
            "p r l t\nl: operand 0 leaf 1 in place\n");
  // This one only reads.
  EXPECT_EQ(Ordered(R"(p = (s32[], f32[9]) tuple(k, x)
  l = (s32[], f32[9]) while(p), condition=less, body=keep
  r = f32[1] dynamic-slice(x, k), dynamic_slice_sizes={1}
  ROOT t = ((s32[], f32[9]), f32[1]) tuple(l, r))"),
            "p l r t\n");
  // So its result is the array that is updated.
  EXPECT_EQ(Ordered(R"(p = (s32[], f32[9]) tuple(k, x)
  l = (s32[], f32[9]) while(p), condition=less, body=keep
  a = f32[9] dynamic-update-slice(x, w, k)
  y = f32[9] get-tuple-element(l), index=1
  r = f32[1] dynamic-slice(y, k), dynamic_slice_sizes={1}
  ROOT t = (f32[9], f32[1]) tuple(a, r))"),
            "p l y r a t\na: operand 0 in place\n");
}

TEST(InPlaceOrderTest, BranchesMayUpdateTheirArguments) {
  EXPECT_EQ(Ordered(R"(p = pred[] constant(true)
  c = f32[9] conditional(p, x, x), true_computation=half, false_computation=half
  r = f32[1] dynamic-slice(x, k), dynamic_slice_sizes={1}
  ROOT t = (f32[9], f32[1]) tuple(c, r))"),
            "p r c t\nc: operand 1 in place\nc: operand 2 in place\n");
}

TEST(InPlaceOrderTest, PutsReadsBeforeAReplacement) {
  constexpr absl::string_view kBody = R"(n = f32[9] negate(x)
  f = f32[9] floor(n)
  r = f32[9] sine(x)
  ROOT t = (f32[9], f32[9]) tuple(f, r))";
  EXPECT_EQ(Ordered(kBody), "n f r t\n");
  EXPECT_EQ(Ordered(kBody, {"n"}), "r n f t\n");
  // After an update in place, not before it; and nothing moves for what the result has.
  EXPECT_EQ(Ordered(absl::StrCat("n = f32[9] negate(x)\n s = f32[9] scatter(x, i, u)", kScatter,
                                 "ROOT t = (f32[9], f32[9]) tuple(n, s)"),
                    {"n"}),
            "n s t\ns: operand 0 in place\n");
  EXPECT_EQ(
      Ordered("n = f32[9] negate(x)\n r = f32[9] sine(x)\n ROOT t = (f32[9], f32[9], f32[9]) tuple(x, n, r)", {"n"}),
      "n r t\n");
}

TEST(InPlaceOrderTest, DoesNotMoveSideEffects) {
  EXPECT_EQ(Ordered(R"(a = f32[9] dynamic-update-slice(x, w, k)
  n = f32[9] call(), to_apply=draw, control-predecessors={a}
  r = f32[1] dynamic-slice(x, k), dynamic_slice_sizes={1}
  ROOT t = (f32[9], f32[9], f32[1]) tuple(a, n, r))"),
            "a n r t\na: operand 0 copied, for r\n");
}

// Random computations: the order stays valid, and an update that is reported in place has all other uses before it.
class OrderTester {
 public:
  explicit OrderTester(uint32_t seed) : random_(seed) {}

  void Run() {
    std::string body;
    std::vector<std::string> arrays = {"x"}, indices = {"k"};
    for (int i = 0; i < 25; ++i) {
      const std::string name = absl::StrCat("v", i);
      const std::string &array = Choose(arrays), &index = Choose(indices);
      switch (random_() % 4) {
        case 0:
          absl::StrAppend(&body, name, " = f32[9] dynamic-update-slice(", array, ", w, ", index, ")\n");
          arrays.push_back(name);
          break;
        case 1:
          absl::StrAppend(&body, name, " = f32[9] ", random_() % 2 == 0 ? "copy(" : "negate(", array, ")\n");
          arrays.push_back(name);
          break;
        default:
          absl::StrAppend(&body, name, ".r = f32[1] dynamic-slice(", array, ", ", index,
                          "), dynamic_slice_sizes={1}\n");
          absl::StrAppend(&body, name, ".s = f32[] reshape(", name, ".r)\n", name, " = s32[] convert(", name, ".s)\n");
          indices.push_back(name);
      }
    }
    absl::StrAppend(&body, "ROOT t = (f32[9], s32[], s32[]) tuple(", Choose(arrays), ", ", Choose(indices), ", ",
                    indices.back(), ")\n");
    Check(body);
  }

 private:
  std::string Choose(const std::vector<std::string>& names) { return names[random_() % names.size()]; }

  static void Check(const std::string& body) {
    SCOPED_TRACE(body);
    const auto module = ParseAndReturnUnverifiedModule(absl::StrCat(
        "ENTRY e {\nx = f32[9] parameter(0)\nk = s32[] parameter(1)\nw = f32[1] parameter(2)\n", body, "}"));
    ASSERT_TRUE(module.ok()) << module.status();
    const HloComputation& entry = *(*module)->entry_computation();
    const std::vector<HloInstruction*> given(entry.instructions().begin(), entry.instructions().end());
    const InPlaceOrder made = OrderUsesBeforeInPlaceUpdates(given, entry.root_instruction());
    ASSERT_EQ(made.order.size(), given.size());
    absl::flat_hash_map<const HloInstruction*, size_t> place;
    for (const HloInstruction* instruction : made.order) {
      for (const HloInstruction* operand : instruction->operands()) EXPECT_TRUE(place.contains(operand));
      EXPECT_TRUE(place.emplace(instruction, place.size()).second);
    }
    for (const InPlaceUpdate& update : made.updates) {
      if (update.later_use != nullptr) continue;
      ExpectUsedBefore(*update.instruction->operand(0), *update.instruction, entry, place);
    }
  }
  // The users of a value and of its copies.
  static void ExpectUsedBefore(const HloInstruction& value, const HloInstruction& update, const HloComputation& entry,
                               const absl::flat_hash_map<const HloInstruction*, size_t>& place) {
    const HloInstruction* source = &value;
    while (source->opcode() == HloOpcode::kCopy) source = source->operand(0);
    std::vector<const HloInstruction*> holders = {source};
    for (size_t i = 0; i < holders.size(); ++i) {
      for (const HloInstruction* user : holders[i]->users()) {
        EXPECT_NE(user, entry.root_instruction());
        if (user->opcode() == HloOpcode::kCopy) {
          holders.push_back(user);
        } else if (user != &update) {
          EXPECT_LT(place.at(user), place.at(&update)) << user->name() << " and " << update.name();
        }
      }
    }
  }

  std::mt19937 random_;
};

TEST(InPlaceOrderTest, IsValidForRandomComputations) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    OrderTester(seed).Run();
    if (testing::Test::HasFailure()) return;
  }
}

// A read for each of many updates, and one value that all of them update: neither takes long.
TEST(InPlaceOrderTest, TakesLittleTimeForLongComputations) {
  std::string chain, fan;
  std::vector<std::string> results;
  for (int i = 0; i < 3000; ++i) {
    const std::string before = i == 0 ? "x" : absl::StrCat("a", i - 1);
    absl::StrAppend(&chain, "a", i, " = f32[9] dynamic-update-slice(", before, ", w, k)\n");
    absl::StrAppend(&chain, "r", i, " = f32[1] dynamic-slice(", before, ", k), dynamic_slice_sizes={1}\n");
    absl::StrAppend(&fan, "a", i, " = f32[9] dynamic-update-slice(x, w, k)\n");
    results.push_back(absl::StrCat("a", i));
  }
  absl::StrAppend(&chain, "ROOT z = f32[9] negate(a2999)");
  EXPECT_EQ(Ordered(chain).find("copied"), std::string::npos);
  absl::StrAppend(&fan, "ROOT z = (", absl::StrJoin(std::vector<std::string>(3000, "f32[9]"), ", "), ") tuple(",
                  absl::StrJoin(results, ", "), ")");
  EXPECT_NE(Ordered(fan).find("a0: operand 0 in place"), std::string::npos);
}

}  // namespace
}  // namespace kashi::buffers
