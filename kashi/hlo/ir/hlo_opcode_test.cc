#include "kashi/hlo/ir/hlo_opcode.h"

#include <cstdint>
#include <string>

#include "gtest/gtest.h"

namespace kashi::hlo {
namespace {

using Flags = HloOpcodeFlags;

HloOpcode OpcodeAt(uint32_t i) { return static_cast<HloOpcode>(i); }

TEST(HloOpcodeTraitsTest, RowsAreFlagsAndRules) {
  constexpr HloOpcodeTraits traits = Flags::kElementwise | Flags::kInferable | Flags::Cost::kMap | Flags::Flow::kCallee;
  static_assert(traits.Has(Flags::kElementwise) && traits.Has(Flags::kInferable) && !traits.Has(Flags::kCollective));
  static_assert(traits.cost == Flags::Cost::kMap && traits.flow == Flags::Flow::kCallee);
  static_assert(traits.requirement == Flags::Requirement::kDefault && traits.neutral == Flags::Neutral::kDefault);
  constexpr HloOpcodeTraits without_flags = Flags::Cost::kSlice | Flags::Constraint::kFirst;
  static_assert(without_flags.flags == 0 && without_flags.constraint == Flags::Constraint::kFirst);
  // Other enums are not part of a row.
  static_assert(!HloOpcodeTraits::kIsRule<HloOpcode>);
}

TEST(HloOpcodeTraitsTest, KnownRows) {
  EXPECT_EQ(GetHloOpcodeInfo(HloOpcode::kAbs).cost, Flags::Cost::kDefault);
  EXPECT_TRUE(GetHloOpcodeInfo(HloOpcode::kTanh).Has(Flags::kTranscendental));
  EXPECT_EQ(GetHloOpcodeInfo(HloOpcode::kSort).requirement, Flags::Requirement::kDistinct);
  EXPECT_EQ(GetHloOpcodeInfo(HloOpcode::kSort).sharing, Flags::Sharing::kSort);
  EXPECT_EQ(GetHloOpcodeInfo(HloOpcode::kDynamicUpdateSlice).in_place, Flags::InPlace::kFirst);
  EXPECT_EQ(GetHloOpcodeInfo(HloOpcode::kRecvDone).text_check, Flags::TextCheck::kRecvDone);
}

// The columns of a row must not contradict each other.
TEST(HloOpcodeTraitsTest, ColumnsAgree) {
  for (uint32_t i = 0; i < HloOpcodeCount(); ++i) {
    const HloOpcodeInfo& info = GetHloOpcodeInfo(OpcodeAt(i));
    SCOPED_TRACE(std::string(info.name));
    // The cost analysis asks for the flag where it has no other rule.
    if (info.Has(Flags::kTranscendental)) {
      EXPECT_TRUE(info.Has(Flags::kElementwise));
      EXPECT_EQ(info.cost, Flags::Cost::kDefault);
    }
    if (info.Has(Flags::kForwardsOperand)) {
      EXPECT_EQ(info.flow, Flags::Flow::kOperand);
      EXPECT_TRUE(info.Has(Flags::kTakesTuples));
    }
    // Reductions may change the order of these.
    if (info.neutral != Flags::Neutral::kDefault) {
      EXPECT_TRUE(info.Has(Flags::kCommutative));
    }
    // An operation with called computations has a cost rule of its own, or that of the computations.
    if (info.Has(Flags::kControlFlow)) {
      EXPECT_NE(info.cost, Flags::Cost::kDefault);
      EXPECT_NE(info.flow, Flags::Flow::kDefault);
    }
    if (info.flow == Flags::Flow::kTuple || info.flow == Flags::Flow::kElement) {
      EXPECT_TRUE(info.Has(Flags::kTakesTuples));
    }
  }
}

TEST(HloOpcodeTraitsTest, NamesAreFound) {
  for (uint32_t i = 0; i < HloOpcodeCount(); ++i) {
    EXPECT_EQ(FindHloOpcode(HloOpcodeString(OpcodeAt(i))), OpcodeAt(i));
  }
  EXPECT_FALSE(FindHloOpcode("no-such-opcode").has_value());
}

}  // namespace
}  // namespace kashi::hlo
