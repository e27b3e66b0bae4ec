#include "kashi/hlo/ir/hlo_module_config.h"

#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"

namespace kashi::hlo {
namespace {

const Shape kRowMajor = ShapeUtil::MakeShapeWithDenseLayout(F32, {2, 3}, {1, 0});
const Shape kColumnMajor = ShapeUtil::MakeShapeWithDenseLayout(F32, {2, 3}, {0, 1});

TEST(ShapeLayoutTest, CopiesOnlyBetweenCompatibleShapes) {
  ShapeLayout layout(kRowMajor);
  EXPECT_TRUE(layout.LayoutIsSet());
  EXPECT_TRUE(layout.MatchesLayoutInShape(kRowMajor));
  EXPECT_FALSE(layout.MatchesLayoutInShape(kColumnMajor));
  ASSERT_TRUE(layout.CopyLayoutFromShape(kColumnMajor).ok());
  EXPECT_TRUE(layout.MatchesLayoutInShape(kColumnMajor));
  EXPECT_FALSE(layout.CopyLayoutFromShape(ShapeUtil::MakeShape(F32, {3, 2})).ok());
  Shape shape = kRowMajor;
  ASSERT_TRUE(layout.AssignLayoutToShape(&shape).ok());
  EXPECT_EQ(shape, kColumnMajor);
  Shape other = ShapeUtil::MakeShape(F32, {3, 2});
  EXPECT_FALSE(layout.AssignLayoutToShape(&other).ok());
  layout.SetToDefaultLayout();
  EXPECT_EQ(layout, ShapeLayout(kRowMajor));
  layout.Clear();
  EXPECT_FALSE(layout.LayoutIsSet());
}

TEST(ShapeLayoutTest, MatchesMayIgnoreTiles) {
  const Shape tiled = ShapeUtil::MakeShapeWithDenseLayout(F32, {2, 3}, {1, 0}, {Tile({2, 128})});
  const ShapeLayout layout(kRowMajor);
  EXPECT_FALSE(layout.MatchesLayoutInShape(tiled));
  EXPECT_TRUE(layout.MatchesLayoutInShape(tiled, /*minor_to_major_only=*/true));
  EXPECT_TRUE(layout.MatchesLayoutInShape(tiled, false, /*ignore_fully_empty_tiling=*/true));
  const Shape otherwise = ShapeUtil::MakeShapeWithDenseLayout(F32, {2, 3}, {1, 0}, {Tile({8, 128})});
  EXPECT_FALSE(ShapeLayout(otherwise).MatchesLayoutInShape(tiled, false, /*ignore_fully_empty_tiling=*/true));
}

TEST(ComputationLayoutTest, FromAProgramShape) {
  ProgramShape program;
  program.AddParameter(kColumnMajor, "x");
  *program.mutable_result() = kColumnMajor;
  EXPECT_EQ(ComputationLayout(program).ToString(), "(f32[2,3]{1,0})->f32[2,3]{1,0}");
  const ComputationLayout kept(program, /*ignore_layouts=*/false);
  EXPECT_EQ(kept.ToString(), "(f32[2,3]{0,1})->f32[2,3]{0,1}");
  EXPECT_NE(kept, ComputationLayout(program));
  EXPECT_TRUE(kept.LayoutIsSet());
  EXPECT_EQ(kept.ComputeProgramShape().parameters(0), kColumnMajor);
  ComputationLayout partly = kept;
  partly.mutable_result_layout()->Clear();
  EXPECT_FALSE(partly.LayoutIsSet());
  EXPECT_TRUE(partly.AnyLayoutSet());
}

TEST(ComputationLayoutTest, EveryFifthParameterIsNumbered) {
  ComputationLayout layout{ShapeLayout(ShapeUtil::MakeShape(PRED, {}))};
  for (int i = 0; i < 6; ++i) layout.add_parameter_layout(ShapeLayout(ShapeUtil::MakeShape(S32, {})));
  EXPECT_EQ(layout.ToString(), "(s32[], s32[], s32[], s32[], s32[], /*index=5*/s32[])->pred[]");
}

TEST(HloModuleConfigTest, Defaults) {
  HloModuleConfig config;
  EXPECT_FALSE(config.has_entry_computation_layout());
  EXPECT_DEATH(config.entry_computation_layout(), "has_value");
  EXPECT_EQ(config.replica_count(), 1);
  EXPECT_EQ(config.num_partitions(), 1);
  EXPECT_EQ(config.allow_spmd_sharding_propagation_to_output().size(), 1u);
  config.SetDefaultComputationLayout(ProgramShape());
  EXPECT_TRUE(config.has_entry_computation_layout());
  config.clear_entry_computation_layout();
  EXPECT_FALSE(config.has_entry_computation_layout());
}

}  // namespace
}  // namespace kashi::hlo
