#include "kashi/hlo/builder/xla_builder_friend.h"

#include "gtest/gtest.h"
#include "kashi/hlo/attributes/sharding_builder.h"
#include "kashi/hlo/builder/xla_builder_testing.h"

namespace kashi::hlo {
namespace {

using Friend = internal::XlaBuilderFriend;

XlaComputation Negation() {
  XlaBuilder builder("negate");
  Neg(Param(&builder, 0, "f32[4]"));
  return builder.Build().value();
}

TEST(XlaBuilderFriendTest, StartAndDone) {
  XlaBuilder builder("b");
  const XlaOp x = Param(&builder, 0, "f32[4]");
  const Shape shape = ShapeOf("f32[4]");
  const XlaOp start =
      Friend::BuildAsyncStart(&builder, {x}, "parallel", Negation(), ShapeOf("((f32[4]), f32[4], s32[])"));
  const XlaOp update = Friend::BuildAsyncUpdate(&builder, start, ShapeOf("((f32[4]), f32[4], s32[])"));
  const XlaOp async = Friend::BuildAsyncDone(&builder, update, shape);
  const XlaOp sum = Friend::BuildAllReduceDone(
      &builder, Friend::BuildAllReduceStart(&builder, x, ScalarFunction(Add, "f32[]")), shape);
  const XlaOp moved =
      Friend::BuildCollectivePermuteDone(&builder, Friend::BuildCollectivePermuteStart(&builder, x, {{0, 1}}), shape);
  const XlaOp copy = Friend::BuildCopyDone(&builder, Friend::BuildCopyStart(&builder, x), shape);
  Tuple(&builder, {async, sum, moved, copy});
  const std::string lines = BuildLines(&builder);
  EXPECT_EQ(lines.substr(0, 6), "async-") << lines;
}

TEST(XlaBuilderFriendTest, Others) {
  XlaBuilder builder("b");
  const XlaOp x = Param(&builder, 0, "f32[4]");
  const XlaOp token = CreateToken(&builder);
  const OpSharding one = sharding_builder::AssignDevice(1), two = sharding_builder::AssignDevice(2);
  Tuple(&builder,
        {Friend::BuildAddDependency(&builder, x, token, ShapeOf("f32[4]")),
         Friend::BuildBitcast(&builder, x, ShapeOf("f32[2,2]")),
         Friend::BuildDomain(&builder, x, one, two, ShapeOf("f32[4]")),
         Friend::BuildFusion(&builder, {x}, "kLoop", Negation()), Friend::BuildPartitionId(&builder, ShapeOf("u32[]")),
         Friend::BuildRngGetAndUpdateState(&builder, 5, ShapeOf("u64[1]"))});
  const std::string lines = BuildLines(&builder);
  EXPECT_EQ(lines.find("error"), std::string::npos) << lines;
  XlaBuilder wrong("b");
  Friend::BuildFusion(&wrong, {Param(&wrong, 0, "f32[4]")}, "kSquare", Negation());
  EXPECT_FALSE(wrong.first_error().ok());
}

}  // namespace
}  // namespace kashi::hlo
