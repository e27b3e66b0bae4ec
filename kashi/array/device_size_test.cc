#include "kashi/array/device_size.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_parser.h"
#include "kashi/array/shape_util.h"
#include "kashi/array/tpu_shapes_testing.h"

namespace kashi::array {
namespace {

using ::testing::HasSubstr;

DeviceSize SizeOf(const std::string& text, const DeviceSizeOptions& options = {}) {
  const absl::StatusOr<Shape> shape = ParseShape(text);
  EXPECT_TRUE(shape.ok()) << shape.status();
  const absl::StatusOr<DeviceSize> size = GetDeviceSize(*shape, options);
  EXPECT_TRUE(size.ok()) << size.status();
  if (!size.ok()) return {};
  EXPECT_EQ(size->bytes, size->unpadded_bytes + size->padding_bytes) << text;
  EXPECT_EQ(size->padding_bytes, size->tile_padding_bytes + size->tail_padding_bytes + size->prefix_bytes) << text;
  return *size;
}

std::string ErrorOf(const std::string& text) {
  const absl::StatusOr<Shape> shape = ParseShape(text);
  EXPECT_TRUE(shape.ok()) << shape.status();
  return std::string(GetDeviceSize(*shape).status().message());
}

TEST(DeviceSizeTest, EqualsEveryMeasuredSize) {
  int measured = 0;
  for (const TpuShapeRow& row : ReadTpuShapes()) {
    if (!row.bytes) continue;
    ++measured;
    EXPECT_EQ(SizeOf(row.text).bytes, *row.bytes) << row.text << " on " << row.generation;
  }
  EXPECT_EQ(measured, 6058);
}

TEST(DeviceSizeTest, SaysWhereTheBytesGo) {
  EXPECT_EQ(SizeOf("f32[3,5]{1,0:T(2,2)}").unpadded_bytes, 60);
  EXPECT_EQ(SizeOf("f32[3,5]{1,0:T(2,2)}").tile_padding_bytes, 36);
  const DeviceSize tail = SizeOf("s32[5]{0:T(4)L(16)}");
  EXPECT_EQ(tail.unpadded_bytes, 20);
  EXPECT_EQ(tail.tile_padding_bytes, 12);
  EXPECT_EQ(tail.tail_padding_bytes, 32);
  EXPECT_EQ(tail.bytes, 64);
  const DeviceSize packed = SizeOf("s4[9]{0:E(4)M(64)}");
  EXPECT_EQ(packed.unpadded_bytes, 5);
  EXPECT_EQ(packed.prefix_bytes, 64);
  EXPECT_EQ(packed.bytes, 69);
  EXPECT_EQ(SizeOf("s4[9]{0}").bytes, 9);
  EXPECT_EQ(SizeOf("f32[2]{0:L(128)}").bytes, 512);  // XLA's ArraySize ignores L without tiles
  EXPECT_EQ(SizeOf("f32[2]{0:M(-8)}").bytes, 8);
  EXPECT_EQ(SizeOf("bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}").bytes, 335544320);
  EXPECT_EQ(SizeOf("f32[<=7]{0}").bytes, 28);
  EXPECT_EQ(SizeOf("f32[2,0]{1,0:T(8,128)}").bytes, 0);
}

TEST(DeviceSizeTest, CountsTilesThatPadLater) {
  EXPECT_EQ(SizeOf("f32[4,6]{1,0:T(3)(2)}").bytes, 128);
  EXPECT_EQ(SizeOf("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}").bytes, 49728);
}

TEST(DeviceSizeTest, PadsUntiledValuesAsTheTpuCompilerDoes) {
  const DeviceSizeOptions plain{/*pad_untiled=*/false};
  EXPECT_EQ(SizeOf("bf16[]").bytes, 2048);
  EXPECT_EQ(SizeOf("bf16[]", plain).bytes, 2);
  EXPECT_EQ(SizeOf("pred[]").bytes, 1024);
  EXPECT_EQ(SizeOf("f32[]").bytes, 4);
  EXPECT_EQ(SizeOf("f32[]{:S(6)}").bytes, 4096);
  EXPECT_EQ(SizeOf("f32[32,8]{0,1:S(1)}").bytes, 4096);
  EXPECT_EQ(SizeOf("f32[32,8]{0,1:S(1)}", plain).bytes, 1024);
  EXPECT_EQ(SizeOf("f32[32,8]{0,1:S(5)}").bytes, 1024);
  EXPECT_EQ(SizeOf("f32[32,8]{0,1}").bytes, 1024);
  EXPECT_EQ(SizeOf("s32[0]{0:S(1)}").bytes, 0);
  EXPECT_EQ(SizeOf("u32[]{:T(128)S(2)}").bytes, 4);
}

TEST(DeviceSizeTest, TakesOneCoresShareOfASplitArray) {
  EXPECT_EQ(SizeOf("f32[2,4,8]{2,1,0:T(4,128)S(1)SC(0:1)}").bytes, 2048);
  EXPECT_EQ(SizeOf("f32[100,7]{0,1:SC(1:30,50)}").bytes, 4 * 50 * 7);  // position 1 is logical dimension 0
  EXPECT_EQ(SizeOf("f32[100]{0:SC(0:)}").bytes, 400);
}

TEST(DeviceSizeTest, SumsLeaves) {
  EXPECT_EQ(SizeOf("()").bytes, 0);
  EXPECT_EQ(SizeOf("token[]").bytes, 0);
  EXPECT_EQ(SizeOf("opaque[]").bytes, 0);
  EXPECT_EQ(SizeOf("b(f32[3,5]{1,0:T(2,2)})").bytes, 96);
  const DeviceSize sum = SizeOf("(f32[3,5]{1,0:T(2,2)}, (s32[5]{0:T(4)L(16)}, token[]), s4[9]{0:E(4)M(64)})");
  EXPECT_EQ(sum.bytes, 96 + 64 + 69);
  EXPECT_EQ(sum.unpadded_bytes, 60 + 20 + 5);
  EXPECT_EQ(sum.tile_padding_bytes, 36 + 12);
}

TEST(DeviceSizeTest, RefusesWhatHasNoSize) {
  EXPECT_THAT(ErrorOf("f32[2,?]"), HasSubstr("dimension 1 of f32[2,?] is unbounded"));
  EXPECT_THAT(ErrorOf("(f32[2], f32[?])"), HasSubstr("unbounded"));
  EXPECT_THAT(ErrorOf("f32[2]{1}"), HasSubstr("out-of-bounds value"));
  EXPECT_THAT(ErrorOf("f32[4611686018427387904,8]"), HasSubstr("does not fit"));
  EXPECT_THAT(ErrorOf("f32[3,3]{1,0:T(4611686018427387904,4611686018427387904)}"), HasSubstr("does not fit"));
  EXPECT_THAT(ErrorOf("f32[3]{0:L(9223372036854775807)}"), HasSubstr("does not fit"));
  EXPECT_THAT(ErrorOf("f32[3]{0:M(9223372036854775807)}"), HasSubstr("does not fit"));
  EXPECT_THAT(ErrorOf("(u8[1152921504606846975], u8[1152921504606846975], u8[1152921504606846975], "
                      "u8[1152921504606846975], u8[1152921504606846975], u8[1152921504606846975], "
                      "u8[1152921504606846975], u8[1152921504606846975], u8[1152921504606846975])"),
              HasSubstr("does not fit"));
  Shape no_layout = ShapeUtil::MakeShape(F32, {2});
  no_layout.clear_layout();
  EXPECT_THAT(GetDeviceSize(no_layout).status().message(), HasSubstr("does not have a layout"));
  EXPECT_FALSE(GetDeviceSize(Shape()).ok());
}

TEST(DeviceSizeTest, DeepTuplesAreNotRecursion) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "(";
  text += "f32[8]";
  for (int i = 0; i < 5000; ++i) text += ")";
  EXPECT_EQ(SizeOf(text).bytes, 32);
}

}  // namespace
}  // namespace kashi::array
