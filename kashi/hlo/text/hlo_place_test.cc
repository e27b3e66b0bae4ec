#include "kashi/hlo/text/hlo_place.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::hlo {
namespace {

constexpr char kText[] = R"(HloModule m

f { x = f32[2] parameter(0)
  ROOT %y = f32[2] negate(x) }
ENTRY e {
  a = f32[2] parameter(0)  b = f32[2] call(a), to_apply=f
  ROOT c = f32[2] add(b, negate(a)), metadata={op_name="c"}
}
)";

std::unique_ptr<HloModule> ReadText(const std::string& text) {
  return ParseAndReturnUnverifiedModule(text, HloModuleConfig(), HloParserOptions().set_source_name("m.hlo")).value();
}

std::string PlaceText(const HloInstruction* x) {
  return absl::StrCat(x->name(), " ", x->text_place().line, ":", x->text_place().column);
}

TEST(HloPlaceTest, ReaderKeepsWhereInstructionsBegin) {
  const auto module = ReadText(kText);
  EXPECT_EQ(module->source_name(), "m.hlo");
  std::vector<std::string> places;
  for (const HloComputation* computation : module->computations()) {
    for (const HloInstruction* x : computation->instructions()) places.push_back(PlaceText(x));
  }
  EXPECT_THAT(places, testing::ElementsAre("x 3:5", "y 4:8", "a 6:3", "b 6:28", "negate.anon 7:26", "c 7:8"));
}

TEST(HloPlaceTest, CopiesStandWhereTheirOriginalsDo) {
  const auto module = ReadText(kText);
  const auto copy = module->Clone();
  EXPECT_EQ(copy->source_name(), "m.hlo");
  EXPECT_EQ(copy->entry_computation()->root_instruction()->text_place().line, 7u);
  EXPECT_EQ(module->entry_computation()->root_instruction()->Clone()->text_place().column, 8u);
}

TEST(HloPlaceTest, WhatWasNotReadHasNoPlace) {
  const auto parameter = HloInstruction::CreateParameter(0, ShapeUtil::MakeShape(F32, {}), "p");
  EXPECT_EQ(parameter->text_place().line, 0u);
}

// The longest line that a text can have costs no more than others.
TEST(HloPlaceTest, OneLine) {
  std::string text = "ENTRY e { x0 = f32[] parameter(0)";
  constexpr int kCount = 20000;
  for (int i = 1; i < kCount; ++i) absl::StrAppend(&text, " x", i, " = f32[] negate(x", i - 1, ")");
  const auto module = ReadText(text + " }");
  const HloTextPlace place = module->entry_computation()->root_instruction()->text_place();
  EXPECT_EQ(place.line, 1u);
  EXPECT_EQ(place.column, text.rfind(" x" + std::to_string(kCount - 1) + " =") + 2);
}

TEST(HloPlaceTest, InnermostInstructionStays) {
  const auto module = ReadText(kText);
  const HloInstruction& inner = *module->GetComputationWithName("f")->root_instruction();
  const HloInstruction& outer = *module->entry_computation()->root_instruction()->operand(0);
  absl::Status status = AtInstruction(InvalidArgument("bad"), inner);
  status = AtInstruction(status, outer);
  EXPECT_EQ(status.message(), "bad");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(PlaceOf(status).has_value());
  EXPECT_EQ(PlaceOf(status)->instruction, "y");
  EXPECT_EQ(PlaceOf(status)->computation, "f");
  EXPECT_EQ(PlaceOf(status)->text.line, 4u);
  EXPECT_FALSE(PlaceOf(AtInstruction(absl::OkStatus(), inner)).has_value());
  EXPECT_FALSE(PlaceOf(AtInstruction(absl::CancelledError("stop"), inner)).has_value());
  EXPECT_FALSE(PlaceOf(InvalidArgument("bad")).has_value());
}

TEST(HloPlaceTest, Rendering) {
  const auto module = ReadText(kText);
  const HloErrorPlace place = PlaceOf(*module->GetComputationWithName("f")->root_instruction());
  EXPECT_EQ(RenderAt({"m.hlo", kText}, place, "[rule] bad"),
            "m.hlo:4:8: error: [rule] bad\n  ROOT %y = f32[2] negate(x) }\n       ^~");
  // With another text, or without text.
  EXPECT_EQ(RenderAt({"m.pb", ""}, place, "bad"), "m.pb: error: bad\n  at instruction y\n  in computation f");
  EXPECT_EQ(RenderAt({"m.pb", "one\ntwo"}, {}, "bad"), "m.pb: error: bad");
}

}  // namespace
}  // namespace kashi::hlo
