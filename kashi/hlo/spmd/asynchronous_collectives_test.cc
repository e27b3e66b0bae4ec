#include "kashi/hlo/spmd/asynchronous_collectives.h"

#include <string>

#include "gtest/gtest.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::hlo {
namespace {

TEST(AsynchronousCollectivesTest, FindsBothHalves) {
  const auto module = ParseAndReturnUnverifiedModule(R"(HloModule m
exchange { x = f32[4] parameter(0)
  ROOT g = f32[4] all-to-all(x), dimensions={0} }
work { y = f32[4] parameter(0)
  ROOT n = f32[4] negate(y) }
ENTRY e { p = f32[4] parameter(0)
  s = (f32[4], f32[8]) all-gather-start(p), dimensions={0}
  d = f32[8] all-gather-done(s)
  t = ((f32[4]), f32[4], u32[]) async-start(p), calls=exchange
  u = ((f32[4]), f32[4], u32[]) async-update(t)
  v = f32[4] async-done(u)
  w = ((f32[4]), f32[4], u32[]) async-start(p), calls=work
  z = f32[4] async-done(w)
  a = f32[4] all-to-all(p), dimensions={0}
  ROOT r = (f32[8], f32[4], f32[4], f32[4]) tuple(d, v, z, a) })");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto find = [&](const char* name) { return (*module)->entry_computation()->GetInstructionWithName(name); };
  const auto begun = [&](const char* name) {
    const HloInstruction* const collective = CollectiveBegunBy(*find(name));
    return collective == nullptr ? "none" : std::string(collective->name());
  };
  const auto start = [&](const char* name) {
    const HloInstruction* const of = StartOfCollective(*find(name));
    return of == nullptr ? "none" : std::string(of->name());
  };
  EXPECT_EQ(begun("s"), "s");
  EXPECT_EQ(begun("t"), "g");
  EXPECT_EQ(begun("a"), "a");
  for (const char* name : {"p", "d", "u", "v", "w", "z", "r"}) EXPECT_EQ(begun(name), "none") << name;
  EXPECT_EQ(start("d"), "s");
  EXPECT_EQ(start("v"), "t");
  for (const char* name : {"p", "s", "t", "u", "w", "z", "a", "r"}) EXPECT_EQ(start(name), "none") << name;
}

}  // namespace
}  // namespace kashi::hlo
