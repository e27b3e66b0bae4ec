#include "kashi/scale/trip_count.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::scale {
namespace {

std::unique_ptr<HloModule> Read(const std::string& text) {
  absl::StatusOr<std::unique_ptr<HloModule>> module = ParseAndReturnUnverifiedModule(text);
  EXPECT_TRUE(module.ok()) << module.status() << text;
  return *std::move(module);
}

const HloInstruction& LoopOf(const HloModule& module) {
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->name() == "loop") return *instruction;
    }
  }
  ADD_FAILURE() << "no loop";
  return *module.entry_computation()->root_instruction();
}

std::optional<int64_t> Derived(const std::string& text) { return TripCounts().Derive(LoopOf(*Read(text))); }

TEST(TripCountTest, ReadsBackendConfigs) {
  EXPECT_EQ(KnownTripCount(R"({"known_trip_count":{"n":"10"},"known_init_step":{"init":"0"}})"), 10);
  EXPECT_EQ(KnownTripCount(R"({"a":1, "known_trip_count": { "n": 7 }})"), 7);
  EXPECT_EQ(KnownTripCount(R"({"known_trip_count":{"m":"10"}})"), std::nullopt);
  EXPECT_EQ(KnownTripCount(R"({"known_trip_count":{"n":"99999999999999999999"}})"), std::nullopt);
  EXPECT_EQ(KnownTripCount(R"({"known_trip_count":)"), std::nullopt);
  EXPECT_EQ(KnownTripCount(""), std::nullopt);
}

// ---- Loops that count, against a loop in C++.

struct Counter {
  std::string type;  // "s8"
  std::string init;  // a number
  std::string bound;
  std::string step;
  std::string operation;  // "add", "subtract", "multiply"
  std::string direction;  // "LT"
  bool bound_comes_first = false;
};

std::string Text(const Counter& counter) {
  return absl::StrReplaceAll(
      R"(HloModule m
body { s = (TYPE[], f32[9]) parameter(0)  i = TYPE[] get-tuple-element(s), index=0  x = f32[9] get-tuple-element(s), index=1
  step = TYPE[] constant(STEP)  next = TYPE[] OPERATION(i, step)  y = f32[9] negate(x)
  ROOT r = (TYPE[], f32[9]) tuple(next, y) }
condition { s = (TYPE[], f32[9]) parameter(0)  i = TYPE[] get-tuple-element(s), index=0  bound = TYPE[] constant(BOUND)
  ROOT c = pred[] compare(ORDER), direction=DIRECTION }
ENTRY e { x = f32[9] parameter(0)  init = TYPE[] constant(INIT)  s = (TYPE[], f32[9]) tuple(init, x)
  ROOT loop = (TYPE[], f32[9]) while(s), condition=condition, body=body })",
      {{"TYPE", counter.type},
       {"STEP", counter.step},
       {"OPERATION", counter.operation},
       {"BOUND", counter.bound},
       {"ORDER", counter.bound_comes_first ? "bound, i" : "i, bound"},
       {"DIRECTION", counter.direction},
       {"INIT", counter.init}});
}

template <typename T>
bool Compare(const std::string& direction, T a, T b) {
  if (direction == "LT") return a < b;
  if (direction == "LE") return a <= b;
  if (direction == "GT") return a > b;
  if (direction == "GE") return a >= b;
  return direction == "EQ" ? a == b : a != b;
}

// Runs the loop in arithmetic that wraps. nullopt: it goes on after `most` iterations.
template <typename T>
std::optional<int64_t> Run(const Counter& counter, T init, T bound, T step, int64_t most) {
  using Unsigned = std::make_unsigned_t<T>;
  T i = init;
  for (int64_t count = 0; count <= most; ++count) {
    const bool goes_on =
        counter.bound_comes_first ? Compare(counter.direction, bound, i) : Compare(counter.direction, i, bound);
    if (!goes_on) return count;
    const auto a = static_cast<Unsigned>(i), b = static_cast<Unsigned>(step);
    const uint64_t result = counter.operation == "add"        ? uint64_t{a} + b
                            : counter.operation == "subtract" ? uint64_t{a} - b
                                                              : uint64_t{a} * b;
    i = static_cast<T>(static_cast<Unsigned>(result));
  }
  return std::nullopt;
}

template <typename T>
class TypedLoopTest : public testing::Test {};
using Types = testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(TypedLoopTest, Types);

// Small types are a law of all numbers: they wrap. In wide ones init, bound and step are near each other or near the
// ends of the type, and loops that are too long for this test are left out.
TYPED_TEST(TypedLoopTest, CountsAsItRuns) {
  using T = TypeParam;
  constexpr int kBits = sizeof(T) * 8;
  const std::string type = absl::StrCat(std::is_signed_v<T> ? "s" : "u", kBits);
  const char* const directions[] = {"LT", "LE", "GT", "GE", "EQ", "NE"};
  const char* const operations[] = {"add", "subtract", "multiply"};
  std::mt19937_64 random(kBits);
  const auto near = [&](T base) { return static_cast<T>(static_cast<uint64_t>(base) + random() % 64 - 32); };
  const T bases[] = {0, std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), static_cast<T>(random())};
  int known = 0;
  const int loops = kBits == 8 ? 100 : 25;
  for (int i = 0; i < loops; ++i) {
    const T base = bases[random() % 4];
    const T init = kBits == 8 ? static_cast<T>(random()) : near(base),
            bound = kBits == 8 ? static_cast<T>(random()) : near(base);
    const T step =
        random() % 8 == 0 ? static_cast<T>(random()) : static_cast<T>(static_cast<int64_t>(random() % 9) - 4);
    const Counter counter = {type,
                             absl::StrCat(+init),
                             absl::StrCat(+bound),
                             absl::StrCat(+step),
                             operations[random() % 3],
                             directions[random() % 6],
                             random() % 2 == 0};
    const std::optional<int64_t> expected = Run<T>(counter, init, bound, step, kMostEvaluatedIterations);
    const std::optional<int64_t> derived = Derived(Text(counter));
    if (expected.has_value()) {
      EXPECT_EQ(derived, expected) << Text(counter);
      ++known;
    } else if (derived.has_value()) {
      // Longer than the test runs: only the pattern knows, which does not wrap.
      EXPECT_GT(*derived, kMostEvaluatedIterations) << Text(counter);
    }
  }
  EXPECT_GT(known, loops / 5);
}

TEST(TripCountTest, LongLoopsAreNotRun) {
  EXPECT_EQ(Derived(Text({"s32", "0", "1000000000", "1", "add", "LT"})), 1000000000);
  EXPECT_EQ(Derived(Text({"s64", "5", "9000000000000000005", "3", "add", "LT"})), 3000000000000000000);
  EXPECT_EQ(Derived(Text({"s32", "1000000000", "0", "7", "subtract", "GE"})), 142857143);
  EXPECT_EQ(Derived(Text({"u32", "0", "4294967295", "1", "add", "NE"})), 4294967295);
  EXPECT_EQ(Derived(Text({"u64", "18446744073709551600", "18446744073709551610", "1", "add", "LT"})), 10);
  EXPECT_EQ(Derived(Text({"s32", "0", "1", "0", "add", "LT"})), std::nullopt);
}

// ---- Other code.

constexpr char kLoop[] = R"(HloModule m
$0
ENTRY e {
$1
})";

TEST(TripCountTest, NumbersOfAnyType) {
  const std::string text = Text({"f32", "1", "1000", "2", "multiply", "LT"});
  EXPECT_EQ(Derived(text), 10);
  EXPECT_EQ(Derived(Text({"f32", "0", "1", "0.1", "add", "LT"})), 10);
  EXPECT_EQ(Derived(Text({"f32", "nan", "1", "0.1", "add", "LT"})), 0);
  EXPECT_EQ(Derived(Text({"bf16", "0", "300", "1", "add", "LT"})), std::nullopt);  // 256 + 1 is 256
}

TEST(TripCountTest, APredicateOfTheState) {
  const std::string computations = R"(
body { s = (pred[], f32[]) parameter(0)  f = pred[] constant(false)  x = f32[] get-tuple-element(s), index=1
  ROOT r = (pred[], f32[]) tuple(f, x) }
condition { s = (pred[], f32[]) parameter(0)  ROOT c = pred[] get-tuple-element(s), index=0 })";
  const std::string entry = R"(  x = f32[] parameter(0)  p = pred[] constant($0)  s = (pred[], f32[]) tuple(p, x)
  ROOT loop = (pred[], f32[]) while(s), condition=condition, body=body)";
  EXPECT_EQ(Derived(absl::Substitute(kLoop, computations, absl::Substitute(entry, "true"))), 1);
  EXPECT_EQ(Derived(absl::Substitute(kLoop, computations, absl::Substitute(entry, "false"))), 0);
}

// The bound is a part of the state that the body hands on, the counter is in a nested tuple and goes through copies and
// fusions, and the first value comes from a call.
TEST(TripCountTest, ThroughTuplesCopiesFusionsAndCalls) {
  const std::string text = R"(HloModule m
start { n = s32[] parameter(0)  two = s32[] constant(2)  ROOT r = s32[] multiply(n, two) }
less { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT r = pred[] compare(a, b), direction=LT }
step { a = s32[] parameter(0)  three = s32[] constant(3)  ROOT r = s32[] add(a, three) }
body { s = ((s32[], f32[4]), s32[]) parameter(0)  in = (s32[], f32[4]) get-tuple-element(s), index=0
  i = s32[] get-tuple-element(in), index=0  x = f32[4] get-tuple-element(in), index=1
  n = s32[] get-tuple-element(s), index=1  m = s32[] copy(n)
  next = s32[] fusion(i), kind=kLoop, calls=step  j = s32[] copy(next)
  out = (s32[], f32[4]) tuple(j, x)  ROOT r = ((s32[], f32[4]), s32[]) tuple(out, m) }
condition { s = ((s32[], f32[4]), s32[]) parameter(0)  in = (s32[], f32[4]) get-tuple-element(s), index=0
  i = s32[] get-tuple-element(in), index=0  n = s32[] get-tuple-element(s), index=1
  ROOT c = pred[] fusion(i, n), kind=kLoop, calls=less }
ENTRY e { x = f32[4] parameter(0)  five = s32[] constant(5)  ten = s32[] call(five), to_apply=start
  in = (s32[], f32[4]) tuple(ten, x)  n = s32[] constant(40)  s = ((s32[], f32[4]), s32[]) tuple(in, n)
  ROOT loop = ((s32[], f32[4]), s32[]) while(s), condition=condition, body=body })";
  EXPECT_EQ(Derived(text), 10);
}

// Two numbers decide, and one of them depends on the other.
TEST(TripCountTest, SeveralPartsOfTheState) {
  const std::string text = R"(HloModule m
body { s = (s32[], s32[], f32[4]) parameter(0)  a = s32[] get-tuple-element(s), index=0  b = s32[] get-tuple-element(s), index=1
  x = f32[4] get-tuple-element(s), index=2  c = s32[] add(a, b)  ROOT r = (s32[], s32[], f32[4]) tuple(b, c, x) }
condition { s = (s32[], s32[], f32[4]) parameter(0)  b = s32[] get-tuple-element(s), index=1  n = s32[] constant(100)
  ROOT c = pred[] compare(b, n), direction=LT }
ENTRY e { x = f32[4] parameter(0)  one = s32[] constant(1)  s = (s32[], s32[], f32[4]) tuple(one, one, x)
  ROOT loop = (s32[], s32[], f32[4]) while(s), condition=condition, body=body })";
  EXPECT_EQ(Derived(text), 10);  // 1 2 3 5 8 13 21 34 55 89 144
  // The number that decides comes from an argument.
  EXPECT_EQ(Derived(absl::StrReplaceAll(text, {{"one = s32[] constant(1)", "one = s32[] parameter(1)"}})),
            std::nullopt);
}

// An inner loop counts up to the outer counter: its length is not one number.
TEST(TripCountTest, ALoopThatDependsOnTheOuterOne) {
  const std::string text = R"(HloModule m
body { s = (s32[], s32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] get-tuple-element(s), index=1
  one = s32[] constant(1)  j = s32[] add(i, one)  ROOT r = (s32[], s32[]) tuple(j, n) }
condition { s = (s32[], s32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] get-tuple-element(s), index=1
  ROOT c = pred[] compare(i, n), direction=LT }
outer_body { s = (s32[]) parameter(0)  n = s32[] get-tuple-element(s), index=0  zero = s32[] constant(0)
  inner = (s32[], s32[]) tuple(zero, n)  loop = (s32[], s32[]) while(inner), condition=condition, body=body
  one = s32[] constant(1)  m = s32[] add(n, one)  ROOT r = (s32[]) tuple(m) }
outer_condition { s = (s32[]) parameter(0)  n = s32[] get-tuple-element(s), index=0  ten = s32[] constant(10)
  ROOT c = pred[] compare(n, ten), direction=LT }
ENTRY e { zero = s32[] constant(0)  s = (s32[]) tuple(zero)
  ROOT outer = (s32[]) while(s), condition=outer_condition, body=outer_body })";
  EXPECT_EQ(Derived(text), std::nullopt);
}

// Each of these would take long: the work of a module's loops is limited.
TEST(TripCountTest, HostileModulesEndSoon) {
  std::string computations = R"(
sum { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT c = s32[] add(a, b) }
)";
  std::string entry;
  for (int i = 0; i < 300; ++i) {
    absl::StrAppend(&computations, absl::Substitute(R"(
body$0 { s = (s32[], s32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0  k = s32[] get-tuple-element(s), index=1
  big = s32[500000000] iota(), iota_dimension=0  zero = s32[] constant(0)
  n = s32[] reduce(big, zero), dimensions={0}, to_apply=sum  j = s32[] multiply(i, n)  ROOT r = (s32[], s32[]) tuple(j, k) }
condition$0 { s = (s32[], s32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] constant(77)
  ROOT c = pred[] compare(i, n), direction=NE }
)",
                                                    i));
    absl::StrAppend(&entry, absl::Substitute("  one$0 = s32[] constant(1)  in$0 = (s32[], s32[]) tuple(one$0, one$0)\n"
                                             "  $1 = (s32[], s32[]) while(in$0), condition=condition$0, body=body$0\n",
                                             i, i == 0 ? "loop" : absl::StrCat("loop", i)));
  }
  const std::unique_ptr<HloModule> module = Read(absl::Substitute(kLoop, computations, entry));
  TripCounts counts;
  const auto begin = std::chrono::steady_clock::now();
  for (const HloInstruction* instruction : module->entry_computation()->instructions()) {
    if (instruction->opcode() != HloOpcode::kWhile) continue;
    EXPECT_EQ(counts.Of(*instruction), std::nullopt);
  }
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 20);
}

TEST(TripCountTest, TheBackendConfigDecides) {
  std::string text = Text({"s32", "0", "10", "1", "add", "LT"});
  const std::unique_ptr<HloModule> module =
      Read(absl::StrReplaceAll(text, {{"body=body", R"(body=body, backend_config={"known_trip_count":{"n":"7"}})"}}));
  EXPECT_EQ(TripCountOf(LoopOf(*module)), 7);
  EXPECT_EQ(TripCounts().Derive(LoopOf(*module)), 10);
  EXPECT_EQ(TripCounts().Derive(*LoopOf(*module).operand(0)), std::nullopt);  // no loop
}

}  // namespace
}  // namespace kashi::scale
