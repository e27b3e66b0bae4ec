#include "kashi/insight/critical_path.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "kashi/insight/insight_testing.h"

namespace kashi::insight {
namespace {

// Only bytes take time: one second each.
Accelerator ByteDevice() {
  Accelerator device;
  device.kind = AcceleratorKind::kGpu;
  device.matrix_f32 = device.vector_f32 = 1e30;
  device.memory_bandwidth = 1;
  return device;
}

struct Found {
  std::unique_ptr<HloModule> module;
  CriticalPath path;

  std::vector<std::string> NamesIn(absl::string_view computation) const {
    std::vector<std::string> names;
    for (const HloInstruction* instruction : path.PathOf(module->GetComputationWithName(computation))) {
      names.emplace_back(instruction->name());
    }
    return names;
  }
};

Found FindPath(absl::string_view text) {
  std::unique_ptr<HloModule> module = ReadModule(text);
  const CountedCost cost = CountedCost::Compute(*module).value();
  const Roofline roofline = Roofline::Compute(*module, cost, ByteDevice()).value();
  CriticalPath path = CriticalPath::Compute(*module, cost, roofline).value();
  return {std::move(module), std::move(path)};
}

using Names = std::vector<std::string>;

TEST(CriticalPathTest, TheLongestChainOfOperands) {
  const Found found = FindPath(R"(HloModule m
ENTRY e {
  a = u8[10] parameter(0)
  b = u8[10] parameter(1)
  n = u8[10] negate(a)
  m = u8[10] not(n)
  k = u8[10] not(b)
  ROOT r = u8[10] add(k, m)
})");
  EXPECT_EQ(found.NamesIn("e"), (Names{"a", "n", "m", "r"}));
  EXPECT_EQ(found.path.seconds(), 20 + 20 + 30);
}

TEST(CriticalPathTest, ControlDependenciesAreWaitedFor) {
  const Found found = FindPath(R"(HloModule m
ENTRY e {
  a = u8[10] parameter(0)
  n = u8[10] negate(a)
  k = u8[10] not(a), control-predecessors={n}
  ROOT r = (u8[10], u8[10]) tuple(n, k)
})");
  EXPECT_EQ(found.NamesIn("e"), (Names{"a", "n", "k", "r"}));
}

TEST(CriticalPathTest, AnInstructionThatNothingUsesMayBeLast) {
  const Found found = FindPath(R"(HloModule m
ENTRY e {
  a = u8[10] parameter(0)
  n = u8[10] negate(a)
  k = u8[10] negate(n)
  ROOT r = u8[10] not(a)
})");
  EXPECT_EQ(found.NamesIn("e"), (Names{"a", "n", "k"}));
}

// A loop takes all its iterations, a conditional the longest branch, a fusion its own time.
TEST(CriticalPathTest, ControlFlowTakesWhatItCalls) {
  const Found found = FindPath(R"(HloModule m
body {
  p = (s32[], u8[10]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = u8[10] get-tuple-element(p), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = u8[10] negate(x)
  z = u8[10] negate(y)
  ROOT r = (s32[], u8[10]) tuple(next, z)
}
condition {
  p = (s32[], u8[10]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(5)
  ROOT r = pred[] compare(i, n), direction=LT
}
short {
  ROOT p = u8[10] parameter(0)
}
long {
  p = u8[10] parameter(0)
  ROOT n = u8[10] negate(p)
}
ENTRY e {
  a = u8[10] parameter(0)
  zero = s32[] constant(0)
  which = s32[] parameter(1)
  t = (s32[], u8[10]) tuple(zero, a)
  w = (s32[], u8[10]) while(t), condition=condition, body=body
  after = u8[10] get-tuple-element(w), index=1
  ROOT c = u8[10] conditional(which, after, after), branch_computations={short, long}
})");
  EXPECT_EQ(found.NamesIn("body"), (Names{"p", "x", "y", "z", "r"}));
  EXPECT_EQ(found.NamesIn("e"), (Names{"zero", "t", "w", "after", "c"}));
  // The body: two negations of 20 bytes and a table of 16; the condition: 9 bytes, six times; the longer branch: 20.
  EXPECT_EQ(found.path.SecondsOf(found.module->GetComputationWithName("body")), 56);
  EXPECT_EQ(found.path.SecondsOf(found.module->GetComputationWithName("condition")), 9);
  EXPECT_EQ(found.path.seconds(), 16 + 5 * (56 + 9) + 9 + 20);
}

// No path is longer than all instructions one after the other.
TEST(CriticalPathTest, AtMostTheTimeOfAll) {
  for (const std::filesystem::path& file : CorpusFiles()) {
    const std::unique_ptr<HloModule> module = ReadModuleFile(file);
    const CountedCost cost = CountedCost::Compute(*module).value();
    const Roofline roofline = Roofline::Compute(*module, cost, *FindAccelerator("h100")).value();
    const CriticalPath path = CriticalPath::Compute(*module, cost, roofline).value();
    EXPECT_LE(path.seconds(), roofline.seconds() * (1 + 1e-9)) << file;
    EXPECT_FALSE(path.PathOf(module->entry_computation()).empty()) << file;
  }
}

TEST(CriticalPathTest, ComputationsOnElementsHaveNoPath) {
  const Found found = FindPath(R"(HloModule m
f {
  p = u8[10] parameter(0)
  ROOT n = u8[10] negate(p)
}
ENTRY e {
  a = u8[10] parameter(0)
  ROOT c = u8[10] fusion(a), kind=kLoop, calls=f
})");
  EXPECT_EQ(found.NamesIn("f"), Names{});
  EXPECT_EQ(found.path.seconds(), 20);
}

}  // namespace
}  // namespace kashi::insight
