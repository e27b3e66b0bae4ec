#include "kashi/reduction/module_size.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kashi/reduction/attributes.h"
#include "kashi/reduction/reduction_testing.h"

namespace kashi::reduction {
namespace {

TEST(ModuleSizeTest, CountsWhatItSays) {
  const auto module = ParseModule(R"(HloModule m, is_scheduled=true
body {
  s = (s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT t = (s32[]) tuple(j)
}
condition {
  s = (s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  p = f64[4]{0} parameter(0), metadata={op_name="p"}
  zero = s32[] constant(0)
  large = f32[17]{0} constant({1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17})
  b = s32[100]{0} broadcast(zero), dimensions={}
  init = (s32[]) tuple(zero)
  loop = (s32[]) while(init), condition=condition, body=body
  ROOT r = f64[4]{0} negate(p)
})");
  const ModuleSize size = SizeOf(*module);
  EXPECT_EQ(size.operations, 5);  // add, compare, the large constant, while, negate
  EXPECT_EQ(size.instructions, 16);
  EXPECT_EQ(size.parameters, 3);
  EXPECT_EQ(size.iterations, 5);
  EXPECT_EQ(size.elements, 5 + 4 + 4 + 1 + 17 + 100 + 1 + 1 + 4);
  EXPECT_EQ(size.bits, 5 * 32 + 3 * 32 + 1 + 4 * 64 + 32 + 17 * 32 + 100 * 32 + 32 + 32 + 4 * 64);
  EXPECT_EQ(size.attributes, 1 + 1 + 1 + 2 + 2);  // schedule, metadata, the ones; the constants with other numbers
  EXPECT_EQ(SizeOf(*module, /*counts_iterations=*/false).iterations, 0);
  EXPECT_EQ(size.ToString(), "16 instructions (5 that compute), 137 elements, 7 attributes");
}

TEST(ModuleSizeTest, TheFirstNumberThatDiffersDecides) {
  const ModuleSize base{5, 5, 5, 5, 5, 5, 5};
  for (int64_t ModuleSize::*member :
       {&ModuleSize::operations, &ModuleSize::instructions, &ModuleSize::parameters, &ModuleSize::iterations,
        &ModuleSize::elements, &ModuleSize::bits, &ModuleSize::attributes}) {
    ModuleSize smaller = base;
    smaller.*member = 4;
    EXPECT_TRUE(smaller < base);
    EXPECT_FALSE(base < smaller);
    EXPECT_FALSE(smaller == base);
  }
  EXPECT_TRUE((ModuleSize{4, 9, 9, 9, 9, 9, 9}) < base);
  EXPECT_TRUE((ModuleSize{5, 5, 5, 5, 4, 9, 9}) < base);
  EXPECT_FALSE(base < base);
}

TEST(ModuleSizeTest, HugeSizesDoNotOverflow) {
  std::string text = "HloModule m\nENTRY e {\n";
  for (int i = 0; i < 40; ++i) absl::StrAppend(&text, "  p", i, " = f64[288230376151711744] parameter(", i, ")\n");
  const auto module = ParseModule(absl::StrCat(text, "  ROOT r = f64[288230376151711744] negate(p0)\n}"));
  EXPECT_EQ(SizeOf(*module).elements, INT64_MAX);
  EXPECT_EQ(SizeOf(*module).bits, INT64_MAX);
}

TEST(AttributesTest, WhatIsErasedIsNotCounted) {
  const auto module = ParseModule(R"(HloModule m
ENTRY e {
  p = f32[4,8]{0,1:T(8,128)S(1)} parameter(0), sharding={replicated}, parameter_replication={true}
  q = f32[4,8] negate(p), metadata={op_name="q"}, frontend_attributes={x="1",y="2"}, statistics={visualizing_index=0,stat=5}
  ROOT r = f32[4,8] add(q, q), control-predecessors={q}, backend_config="c", origin={{"r"}}, something_new=3
})");
  for (HloInstruction* instruction : module->entry_computation()->instructions()) {
    EXPECT_GT(CountAttributes(*instruction), 0) << instruction->name();
    for (const AttributeKind& kind : AttributeKinds()) {
      const int64_t before = CountAttributes(*instruction), own = kind.count(*instruction);
      kind.erase(instruction);
      EXPECT_EQ(kind.count(*instruction), 0) << kind.name;
      EXPECT_EQ(CountAttributes(*instruction), before - own) << kind.name;
    }
    EXPECT_EQ(CountAttributes(*instruction), 0) << instruction->ToString();
  }
}

}  // namespace
}  // namespace kashi::reduction
