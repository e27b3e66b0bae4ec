#include "kashi/insight/counted_cost.h"

#include <cmath>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kashi/insight/insight_testing.h"

namespace kashi::insight {
namespace {

CountedCost Count(const HloModule& module, bool as_xla = false) {
  absl::StatusOr<CountedCost> cost = CountedCost::Compute(module, {as_xla});
  EXPECT_TRUE(cost.ok()) << cost.status();
  return *std::move(cost);
}

std::unique_ptr<HloModule> ReadModel(absl::string_view name) {
  return ReadModuleFile(absl::StrCat("tests/data/insight/models/", name, ".hlo"));
}

void ExpectEqual(const Cost& a, const Cost& b, const std::string& where) {
  EXPECT_EQ(a.flops, b.flops) << where;
  EXPECT_EQ(a.transcendentals, b.transcendentals) << where;
  EXPECT_EQ(a.bytes_accessed, b.bytes_accessed) << where;
  EXPECT_EQ(a.unknown, b.unknown) << where;
}

constexpr char kLoop[] = R"(HloModule m
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
body { s = (s32[], f32[8,4]) parameter(0)  i = s32[] get-tuple-element(s), index=0
  x = f32[8,4] get-tuple-element(s), index=1  one = s32[] constant(1)  j = s32[] add(i, one)
  y = f32[8,4] tanh(x)  ROOT r = (s32[], f32[8,4]) tuple(j, y) }
condition { s = (s32[], f32[8,4]) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] constant(10)
  ROOT c = pred[] compare(i, n), direction=LT }
ENTRY e { x = f32[8,4] parameter(0)  zero = s32[] constant(0)  s = (s32[], f32[8,4]) tuple(zero, x)
  loop = (s32[], f32[8,4]) while(s), condition=condition, body=body
  y = f32[8,4] get-tuple-element(loop), index=1  ROOT neg = f32[8,4] negate(y) })";

// XLA's fusion passes leave such computations behind, and the text has them after ENTRY.
TEST(CountedCostTest, ComputationsThatNothingCallsDoNotCount) {
  constexpr char kEntry[] = "ENTRY e { x = f32[8] parameter(0)  ROOT y = f32[8] negate(x) }";
  constexpr char kOrphan[] = "orphan { x = f32[64] parameter(0)  ROOT y = f32[64] negate(x) }";
  for (const std::string& text : {absl::StrCat(kEntry, kOrphan), absl::StrCat(kOrphan, kEntry)}) {
    const auto module = ReadModule(text);
    EXPECT_EQ(Count(*module).total().flops, 8) << text;
    EXPECT_EQ(Count(*module, /*as_xla=*/true).total().flops, 8) << text;
    EXPECT_EQ(Count(*module).CostOf(module->entry_computation()->root_instruction()).flops, 8) << text;
  }
}

TEST(CountedCostTest, MultipliesTheBodyAndTheCondition) {
  const std::unique_ptr<HloModule> module = ReadModule(kLoop);
  const CountedCost cost = Count(*module);
  EXPECT_EQ(cost.total().transcendentals, 10 * 32);
  EXPECT_EQ(cost.total().flops, 10 + 11 + 32);  // j, the condition, neg
  EXPECT_EQ(cost.CostOf(Find(*module, "y")).transcendentals, 320);
  EXPECT_EQ(cost.OwnCostOf(Find(*module, "y")).transcendentals, 32);
  EXPECT_EQ(cost.CostOf(Find(*module, "loop")).transcendentals, 0);
  EXPECT_EQ(cost.xla_total().transcendentals, 32);
  EXPECT_EQ(cost.xla_total().flops, 1 + 1 + 32);
  const CountedCost flat = Count(*module, /*as_xla=*/true);
  ExpectEqual(flat.total(), cost.xla_total(), "flat");
  EXPECT_EQ(flat.CostOf(Find(*module, "y")).transcendentals, 32);
  EXPECT_TRUE(flat.is_flat());
}

// Of a conditional each number is that of the branch in which it is largest, also through calls and loops.
TEST(CountedCostTest, TheDearestBranchByEachNumber) {
  const std::unique_ptr<HloModule> module = ReadModule(R"(HloModule m
flops { a = f32[4] parameter(0)  b = f32[4] add(a, a)  c = f32[4] multiply(b, b)  ROOT d = f32[4] add(c, c) }
bytes { a = f32[4] parameter(0)  k = f32[4000] broadcast(a), dimensions={}  m = f32[4000] copy(k)  ROOT s = f32[4] slice(m), slice={[0:4]} }
waves { a = f32[4] parameter(0)  ROOT t = f32[4] tanh(a) }
ENTRY e { i = s32[] parameter(0)  x = f32[4] parameter(1)
  ROOT r = f32[4] conditional(i, x, x, x), branch_computations={flops, bytes, waves} })");
  const CountedCost cost = Count(*module);
  ExpectEqual(cost.total(), cost.xla_total(), "no loops");
  EXPECT_EQ(cost.CostOf(Find(*module, "c")).flops, 4);
  EXPECT_EQ(cost.CostOf(Find(*module, "c")).bytes_accessed, 0);
  EXPECT_EQ(cost.CostOf(Find(*module, "m")).bytes_accessed, 32000);
  EXPECT_EQ(cost.CostOf(Find(*module, "t")).transcendentals, 4);
  EXPECT_EQ(cost.CostOf(Find(*module, "t")).bytes_accessed, 0);
}

// What XLA counts otherwise than is needed.
TEST(CountedCostTest, CumulativeWindowsAddEachElementOnce) {
  const auto flops = [](absl::string_view shape, absl::string_view result, absl::string_view window) {
    const std::unique_ptr<HloModule> module =
        ReadModule(absl::StrCat("HloModule m\nsum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] "
                                "add(a, b) }\nENTRY e { x = f32",
                                shape, " parameter(0)  zero = f32[] constant(0)\n  ROOT w = f32", result,
                                " reduce-window(x, zero), window={", window, "}, to_apply=sum }"));
    const CountedCost cost = Count(*module);
    return std::make_pair(cost.xla_total().flops, cost.total().flops);
  };
  using Pair = std::pair<double, double>;
  EXPECT_EQ(flops("[8,100]", "[8,100]", "size=1x100 pad=0_0x99_0"), Pair(8 * 100 * 99, 8 * 99));
  EXPECT_EQ(flops("[8,100]", "[8,100]", "size=1x100 pad=0_0x0_99"), Pair(8 * 100 * 99, 8 * 99));
  EXPECT_EQ(flops("[8,100]", "[8,100]", "size=1x300 pad=0_0x299_0"), Pair(8 * 100 * 299, 8 * 99));
  EXPECT_EQ(flops("[8,100]", "[8,100]", "size=1x199 pad=0_0x99_99"), Pair(8 + 99, 8 * 99));
  EXPECT_EQ(flops("[8,100]", "[8,1]", "size=1x100"), Pair(8 * 99, 8 * 99));
  EXPECT_EQ(flops("[8,100]", "[8,100]", "size=8x100 pad=7_0x99_0"), Pair(800 * 799, 7 * 100 + 8 * 99));
  // A cumulative sum along one dimension, windows of 3 along the other: they add up 2 for each result.
  EXPECT_EQ(flops("[8,100]", "[8,100]", "size=3x100 pad=1_1x99_0"), Pair(800 * 299, 8 * 99 + 800 * 2));
  // Not cumulative: a window less, dilation, strides.
  EXPECT_EQ(flops("[8,100]", "[8,100]", "size=3x3 pad=1_1x1_1"), Pair(800 * 8, 800 * 8));
  EXPECT_EQ(flops("[1,100]", "[1,100]", "size=1x99 pad=0_0x98_0"), Pair(100 * 98, 100 * 98));
  EXPECT_EQ(flops("[8,100]", "[8,50]", "size=1x100 stride=1x2 pad=0_0x99_0"), Pair(8 * 50 * 99, 8 * 50 * 99));
  EXPECT_EQ(flops("[8,100]", "[8,100]", "size=1x100 pad=0_0x198_0 rhs_dilate=1x2"), Pair(8 * 100 * 99, 8 * 100 * 99));
}

TEST(CountedCostTest, RaggedDotsCountAllRows) {
  const std::unique_ptr<HloModule> module = ReadModule(R"(HloModule m
ENTRY e { x = f32[20,3] parameter(0)  w = f32[4,3,5] parameter(1)  sizes = s32[4] parameter(2)
  ROOT d = f32[20,5] ragged-dot(x, w, sizes), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0} })");
  const CountedCost cost = Count(*module);
  EXPECT_EQ(cost.xla_total().flops, 2 * 3 * 5);
  EXPECT_EQ(cost.total().flops, 2 * 20 * 3 * 5);
}

// ---- Laws.

// The rows add up to the total, which is that of the cost analysis with the trip counts; the flat total is XLA's.
TEST(CountedCostLawTest, RowsAddUp) {
  std::vector<std::filesystem::path> files = CorpusFiles();
  for (const auto& entry : std::filesystem::directory_iterator("tests/data/insight/models"))
    files.push_back(entry.path());
  for (const std::filesystem::path& path : files) {
    const std::unique_ptr<HloModule> module = ReadModuleFile(path);
    ASSERT_NE(module, nullptr) << path;
    for (const bool as_xla : {false, true}) {
      const CountedCost cost = Count(*module, as_xla);
      Cost sum;
      for (const HloInstruction* instruction : cost.instructions()) sum += cost.CostOf(instruction);
      ExpectEqual(sum, cost.total(), path.string());
      ExpectEqual(cost.own().total(), cost.total(), path.string());
      if (as_xla) ExpectEqual(cost.total(), cost.xla_total(), path.string());
    }
  }
}

void ExpectWithin(double a, double b, double part, const std::string& what) {
  EXPECT_LE(std::abs(a - b), part * std::max(a, b)) << what << ": " << a << " and " << b;
}

// A model whose layers are a scan costs what the model with its layers one by one costs; so does one that calls a
// function for each layer.
TEST(CountedCostLawTest, ScannedAndUnrolledModels) {
  const auto total = [](absl::string_view name) { return Count(*ReadModel(name)).total(); };
  const Cost unrolled = total("unrolled"), scanned = total("scanned");
  ExpectWithin(unrolled.flops, scanned.flops, 0.01, "flops");
  ExpectWithin(unrolled.transcendentals, scanned.transcendentals, 0.01, "transcendentals");
  ExpectWithin(unrolled.bytes_accessed, scanned.bytes_accessed, 0.01, "bytes");
  const Cost unrolled_cpu = total("unrolled.cpu"), scanned_cpu = total("scanned.cpu");
  ExpectWithin(unrolled_cpu.flops, scanned_cpu.flops, 0.01, "flops, compiled");
  ExpectWithin(unrolled_cpu.transcendentals, scanned_cpu.transcendentals, 0.01, "transcendentals, compiled");
  const Cost unrolled_grad = total("unrolled_grad"), scanned_grad = total("scanned_grad");
  ExpectWithin(unrolled_grad.flops, scanned_grad.flops, 0.01, "flops, differentiated");
  ExpectWithin(unrolled_grad.transcendentals, scanned_grad.transcendentals, 0.01, "transcendentals, differentiated");
  const Cost called = total("called");
  EXPECT_EQ(unrolled.flops, called.flops);
  EXPECT_EQ(unrolled.transcendentals, called.transcendentals);
  ExpectWithin(unrolled.bytes_accessed, called.bytes_accessed, 0.01, "bytes, called");
  // XLA's own number for the scan is that of one layer.
  const Cost xla = Count(*ReadModel("scanned")).xla_total();
  EXPECT_LT(xla.flops, 0.2 * unrolled.flops);
}

}  // namespace
}  // namespace kashi::insight
