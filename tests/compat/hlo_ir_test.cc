#include <memory>
#include <string>
#include <utility>

#include "xla/hlo/ir/collective_device_list.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/hlo/ir/hlo_schedule.h"
#include "xla/hlo/testlib/test.h"
#include "xla/literal_util.h"
#include "xla/service/hlo_module_config.h"
#include "xla/shape_util.h"
#include "xla/xla_data.pb.h"

namespace xla {
namespace {

TEST(HloIr, ModulesAreBuiltAsInXla) {
  const Shape r0f32 = ShapeUtil::MakeShape(F32, {});
  auto module = std::make_unique<HloModule>("test", HloModuleConfig());
  auto builder = HloComputation::Builder("entry");
  HloInstruction* x = builder.AddInstruction(HloInstruction::CreateParameter(0, r0f32, "x"));
  HloInstruction* c = builder.AddInstruction(HloInstruction::CreateConstant(LiteralUtil::CreateR0<float>(42.0f)));
  HloInstruction* add = builder.AddInstruction(HloInstruction::CreateBinary(r0f32, HloOpcode::kAdd, x, c));
  HloComputation* entry = module->AddEntryComputation(builder.Build());
  EXPECT_EQ(entry->root_instruction(), add);
  EXPECT_EQ(add->operand(1)->literal().Get<float>({}), 42.0f);
  EXPECT_EQ(DynCast<HloGatherInstruction>(add), nullptr);
  EXPECT_EQ(Cast<HloConstantInstruction>(c)->opcode(), HloOpcode::kConstant);
  for (HloInstruction* instruction : entry->MakeInstructionPostOrder()) EXPECT_EQ(instruction->parent(), entry);
  TF_EXPECT_OK(entry->ReplaceInstruction(add, x));
  EXPECT_EQ(entry->instruction_count(), 1);
}

TEST(HloIr, GatherDimensionNumbers) {
  const GatherDimensionNumbers numbers = HloGatherInstruction::MakeGatherDimNumbers(
      /*offset_dims=*/{4, 5}, /*collapsed_slice_dims=*/{}, /*start_index_map=*/{0, 1}, /*index_vector_dim=*/2);
  EXPECT_EQ(numbers.offset_dims_size(), 2);
}

TEST(HloIr, WhatInstructionsCarry) {
  const Shape shape = ShapeUtil::MakeShape(F32, {2});
  HloComputation::Builder builder("b");
  HloInstruction* const p = builder.AddInstruction(HloInstruction::CreateParameter(0, shape, "p"));
  EXPECT_TRUE(p->add_frontend_attribute("key", "value"));
  EXPECT_FALSE(p->add_frontend_attribute("key", "other"));
  FrontendAttributes more;
  (*more.mutable_map())["key"] = "third";
  (*more.mutable_map())["lock"] = "x";
  p->add_frontend_attributes(more);
  EXPECT_EQ(p->get_frontend_attribute("key"), "value");
  EXPECT_EQ(p->erase_frontend_attribute("lock"), 1);
  EXPECT_EQ(p->erase_frontend_attribute("lock"), 0);
  EXPECT_TRUE(p->has_frontend_attributes());
  p->set_metadata_op_name("model/p");
  EXPECT_EQ(p->metadata().op_name(), "model/p");
  p->set_raw_backend_config_string("{}x");
  p->clear_backend_config();
  EXPECT_FALSE(p->has_backend_config());
  HloModule module("m", HloModuleConfig());
  module.AddEntryComputation(builder.Build());
  module.add_frontend_attribute("a", "1");
  module.add_frontend_attribute("a", "2");
  EXPECT_EQ(module.frontend_attributes().map().at("a"), "2");
}

TEST(HloIr, SameOpLooksAtNeitherOperandsNorShapes) {
  const Shape two = ShapeUtil::MakeShape(F32, {2});
  const Shape three = ShapeUtil::MakeShape(F32, {3});
  const auto p = HloInstruction::CreateParameter(0, two, "p");
  const auto q = HloInstruction::CreateParameter(1, three, "q");
  const auto reverse = HloInstruction::CreateReverse(two, p.get(), {0});
  EXPECT_TRUE(reverse->SameOp(*HloInstruction::CreateReverse(three, q.get(), {0})));
  EXPECT_FALSE(reverse->SameOp(*HloInstruction::CreateReverse(two, p.get(), {})));
  EXPECT_FALSE(reverse->SameOp(*p));
  EXPECT_FALSE(p->SameOp(*q));
}

TEST(HloIr, FusionKindIsOfTheInstruction) {
  const Shape shape = ShapeUtil::MakeShape(F32, {2});
  HloComputation::Builder builder("b");
  HloInstruction* const p = builder.AddInstruction(HloInstruction::CreateParameter(0, shape, "p"));
  HloModule module("m", HloModuleConfig());
  HloComputation* const body = module.AddEmbeddedComputation(builder.Build());
  const auto fusion = HloInstruction::CreateFusion(shape, HloInstruction::FusionKind::kInput, {p}, body);
  EXPECT_EQ(fusion->fusion_kind(), HloInstruction::FusionKind::kInput);
}

}  // namespace
}  // namespace xla
