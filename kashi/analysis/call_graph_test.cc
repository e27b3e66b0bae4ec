#include "kashi/analysis/call_graph.h"

#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/analysis/analysis_testing.h"
#include "kashi/hlo/text/hlo_place.h"

namespace kashi::analysis {
namespace {

using ::testing::HasSubstr;

constexpr absl::string_view kWhileLoop = R"(
HloModule m

add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
body { p = (s32[], f32[4]) parameter(0)  ROOT q = (s32[], f32[4]) copy(p) }
condition { p = (s32[], f32[4]) parameter(0)  ROOT t = pred[] constant(false) }
shared { x = f32[4] parameter(0)  ROOT y = f32[4] negate(x) }

ENTRY e {
  i = s32[] parameter(0)
  x = f32[4] parameter(1)
  u = f32[4] call(x), to_apply=shared
  v = f32[4] call(u), to_apply=shared
  init = (s32[], f32[4]) tuple(i, v)
  w = (s32[], f32[4]) while(init), condition=condition, body=body
  y = f32[4] get-tuple-element(w), index=1
  zero = f32[] constant(0)
  ROOT r = f32[] reduce(y, zero), dimensions={0}, to_apply=add
}
)";

TEST(CallGraphTest, SaysHowComputationsAreCalled) {
  const auto module = ReadModule(kWhileLoop);
  const absl::StatusOr<CallGraph> graph = CallGraph::Build(*module);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const auto node = [&](absl::string_view name) { return graph->NodeOf(module->GetComputationWithName(name)); };
  EXPECT_TRUE(node("e").has_buffers);
  EXPECT_FALSE(graph->IsInline(module->entry_computation()));
  EXPECT_TRUE(node("body").has_buffers);
  EXPECT_TRUE(graph->IsInline(module->GetComputationWithName("body")));
  EXPECT_TRUE(graph->IsInline(module->GetComputationWithName("condition")));
  EXPECT_EQ(node("shared").control_flow_callers.size(), 2);
  EXPECT_FALSE(graph->IsInline(module->GetComputationWithName("shared")));
  EXPECT_FALSE(node("add").has_buffers);
  for (const CallGraph::Node& each : graph->nodes()) {  // callees first
    for (const HloInstruction* instruction : each.computation->instructions()) {
      for (const HloComputation* callee : instruction->called_computations()) {
        EXPECT_LT(graph->IndexOf(callee), graph->IndexOf(each.computation));
      }
    }
  }
}

TEST(CallGraphTest, RecursionIsAnError) {
  const auto module = ReadModule(R"(
HloModule m
f { x = f32[] parameter(0)  ROOT y = f32[] negate(x) }
g { x = f32[] parameter(0)  ROOT y = f32[] call(x), to_apply=f }
ENTRY e { x = f32[] parameter(0)  ROOT y = f32[] call(x), to_apply=g }
)");
  HloComputation* f = module->GetComputationWithName("f");
  HloComputation* g = module->GetComputationWithName("g");
  g->root_instruction()->set_to_apply(g);
  absl::StatusOr<CallGraph> graph = CallGraph::Build(*module);
  ASSERT_FALSE(graph.ok());
  EXPECT_THAT(std::string(graph.status().message()), HasSubstr("recursion"));
  const std::optional<HloErrorPlace> place = PlaceOf(graph.status());
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->computation, "g");
  EXPECT_EQ(place->text.line, 4);
  g->root_instruction()->set_to_apply(f);
  EXPECT_TRUE(CallGraph::Build(*module).ok());
}

}  // namespace
}  // namespace kashi::analysis
