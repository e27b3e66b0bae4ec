#include "kashi/base/machine.h"

#include "gtest/gtest.h"

namespace kashi {
namespace {

TEST(MachineTest, HasMemory) { EXPECT_GT(MachineMemoryBytes(), int64_t{1} << 26); }

}  // namespace
}  // namespace kashi
