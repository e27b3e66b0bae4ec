#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/ir/random_graph_testing.h"

namespace kashi::hlo {
namespace {

class HloScheduleTest : public testing::Test {
 protected:
  HloScheduleTest() : module_("m", HloModuleConfig()) {
    main_ = module_.AddEntryComputation(MakeChain("main", 3));
    order_ = main_->MakeInstructionPostOrder();
  }
  std::string ErrorOf(std::vector<HloInstruction*> sequence) {
    HloSchedule schedule;
    schedule.set_sequence(main_, std::move(sequence));
    return std::string(schedule.Verify(module_).message());
  }

  HloModule module_;
  HloComputation* main_;
  std::vector<HloInstruction*> order_;
};

TEST_F(HloScheduleTest, OperandsComeFirstAndEverythingOnce) {
  EXPECT_EQ(ErrorOf(order_), "");
  std::vector<HloInstruction*> swapped = order_;
  std::swap(swapped[1], swapped[2]);
  EXPECT_EQ(ErrorOf(swapped), "instruction negate.1 is scheduled before its operand negate");
  EXPECT_EQ(ErrorOf({order_[0], order_[1], order_[1], order_[2]}), "instruction negate is scheduled twice");
  EXPECT_EQ(ErrorOf({order_[0]}), "the schedule of computation main has 1 instructions instead of 4");
  EXPECT_EQ(ErrorOf({order_[0], order_[1], nullptr, order_[2]}),
            "the schedule of computation main has an instruction of another");
  EXPECT_EQ(HloSchedule().Verify(module_).message(), "computation main is not scheduled");
}

TEST_F(HloScheduleTest, ControlPredecessorsComeFirst) {
  HloInstruction* late = main_->AddInstruction(HloInstruction::CreateIota(TestVector(), 0), "late");
  std::vector<HloInstruction*> sequence = order_;
  sequence.push_back(late);
  EXPECT_EQ(ErrorOf(sequence), "");
  ASSERT_TRUE(late->AddControlDependencyTo(order_[1]).ok());
  EXPECT_EQ(ErrorOf(sequence), "instruction negate is scheduled before its control predecessor late");
}

TEST_F(HloScheduleTest, FusionsHaveNone) {
  HloComputation* fused = module_.AddEmbeddedComputation(MakeChain("fused", 1));
  HloInstruction* x = main_->parameter_instruction(0);
  main_->AddInstruction(HloInstruction::CreateFusion(TestVector(), FusionKind::kLoop, {x}, fused));
  HloSchedule schedule;
  schedule.set_sequence(main_, main_->MakeInstructionPostOrder());
  EXPECT_TRUE(schedule.Verify(module_).ok());
  schedule.set_sequence(fused, fused->MakeInstructionPostOrder());
  EXPECT_EQ(schedule.Verify(module_).message(), "the schedule has 2 sequences for 1 computations");
}

TEST_F(HloScheduleTest, TheModuleFollowsItsSchedule) {
  EXPECT_EQ(module_.InstructionOrder(*main_), order_);
  HloInstruction* late = main_->AddInstruction(HloInstruction::CreateIota(TestVector(), 0));
  std::vector<HloInstruction*> sequence = order_;
  sequence.insert(sequence.begin(), late);
  HloSchedule schedule;
  schedule.set_sequence(main_, sequence);
  ASSERT_TRUE(module_.set_schedule(schedule).ok());
  EXPECT_EQ(module_.InstructionOrder(*main_), sequence);
  EXPECT_FALSE(module_.set_schedule(HloSchedule()).ok());
  // A removed instruction is also removed from the schedule.
  ASSERT_TRUE(main_->RemoveInstruction(late).ok());
  EXPECT_EQ(module_.schedule().sequence(main_), order_);
  module_.clear_schedule();
  EXPECT_FALSE(module_.has_schedule());
}

TEST_F(HloScheduleTest, KnowsItsModule) {
  HloSchedule schedule;
  EXPECT_TRUE(schedule.empty());
  schedule.GetOrCreateSequence(main_) = order_;
  EXPECT_FALSE(schedule.Verify().ok());
  ASSERT_TRUE(module_.set_schedule(schedule).ok());
  EXPECT_TRUE(module_.schedule().Verify().ok());
  EXPECT_EQ(module_.schedule().sequence(main_).instructions(), order_);
  EXPECT_EQ(module_.Clone()->schedule().module()->name(), "m-clone");
  HloModule other("other", HloModuleConfig());
  module_.Swap(&other);
  EXPECT_EQ(other.schedule().module(), &other);
  EXPECT_TRUE(other.schedule().Verify().ok());
}

}  // namespace
}  // namespace kashi::hlo
