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

}  // namespace
}  // namespace xla
