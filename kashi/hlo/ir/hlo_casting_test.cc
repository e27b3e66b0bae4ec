#include "kashi/hlo/ir/hlo_casting.h"

#include "gtest/gtest.h"
#include "kashi/hlo/ir/random_graph_testing.h"

namespace kashi::hlo {
namespace {

TEST(HloCastingTest, KindsAreChecked) {
  const auto iota = HloInstruction::CreateIota(TestVector(), 0);
  EXPECT_EQ(Cast<HloIotaInstruction>(iota.get())->iota_dimension(), 0);
  EXPECT_EQ(DynCast<HloIotaInstruction>(iota.get()), iota.get());
  EXPECT_EQ(DynCast<HloGatherInstruction>(iota.get()), nullptr);
  EXPECT_TRUE(HloIotaInstruction::ClassOf(iota.get()));
  EXPECT_DEATH(Cast<HloGatherInstruction>(iota.get()), "is of another kind");
  EXPECT_DEATH(Cast<HloIotaInstruction>(static_cast<HloInstruction*>(nullptr)), "nullptr");
  const auto predicate = HloPredicateIsOp<HloOpcode::kIota, HloOpcode::kAdd>;
  EXPECT_TRUE(predicate(iota.get()));
  EXPECT_FALSE(HloPredicateIsNotOp<HloOpcode::kIota>(iota.get()));
}

TEST(HloCastingTest, DimensionNumbers) {
  const GatherDimensionNumbers gather = HloGatherInstruction::MakeGatherDimNumbers({1}, {0}, {0, 2}, 1, {3}, {4});
  EXPECT_EQ(gather.offset_dims(0), 1);
  EXPECT_EQ(gather.collapsed_slice_dims(0), 0);
  EXPECT_EQ(gather.start_index_map(1), 2);
  EXPECT_EQ(gather.index_vector_dim(), 1);
  EXPECT_EQ(gather.operand_batching_dims(0), 3);
  EXPECT_EQ(gather.start_indices_batching_dims(0), 4);
  const ScatterDimensionNumbers scatter = HloScatterInstruction::MakeScatterDimNumbers({1}, {0}, {0, 2}, 1, {3}, {4});
  EXPECT_EQ(scatter.update_window_dims(0), 1);
  EXPECT_EQ(scatter.inserted_window_dims(0), 0);
  EXPECT_EQ(scatter.scatter_dims_to_operand_dims(1), 2);
  EXPECT_EQ(scatter.index_vector_dim(), 1);
  EXPECT_EQ(scatter.input_batching_dims(0), 3);
  EXPECT_EQ(scatter.scatter_indices_batching_dims(0), 4);
}

}  // namespace
}  // namespace kashi::hlo
