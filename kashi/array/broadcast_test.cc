#include "kashi/array/broadcast.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/recorded_cases_testing.h"
#include "kashi/array/shape_testing.h"

namespace kashi::array {
namespace {

std::string Add(absl::string_view lhs, absl::string_view rhs, absl::Span<const int64_t> dimensions = {}) {
  return Text(InferElementwiseBinaryShape("add", S(lhs), S(rhs), dimensions));
}

TEST(BroadcastTest, AgreesWithXla) {
  for (const auto& row : ReadTestData("broadcast_cases.tsv")) {
    std::vector<Shape> operands;
    for (size_t i = 3; i < row.size(); ++i) operands.push_back(S(row[i]));
    const absl::StatusOr<Shape> inferred =
        row[0] == "add"      ? InferElementwiseBinaryShape("add", operands[0], operands[1], {})
        : row[0] == "select" ? InferSelectShape(operands[0], operands[1], operands[2])
                             : InferClampShape(operands[0], operands[1], operands[2]);
    const std::string question =
        absl::StrCat(row[0], "(", row[3], ", ", row[4], row.size() > 5 ? ", " + row[5] : "", ")");
    EXPECT_EQ(inferred.ok(), row[1] == "ok") << question << ": " << Text(inferred);
    EXPECT_EQ(Text(inferred), row[2]) << question;
  }
}

// The documents' examples (array-model.md, 7.6).
TEST(BroadcastTest, DegenerateDimensions) {
  EXPECT_EQ(Add("f32[2,1]", "f32[2,3]"), "f32[2,3]{1,0}");
  EXPECT_EQ(Add("f32[1,2,5]", "f32[7,2,5]"), "f32[7,2,5]{2,1,0}");
  EXPECT_EQ(Add("f32[7,2,5]", "f32[7,1,5]"), "f32[7,2,5]{2,1,0}");
  EXPECT_EQ(Add("f32[7,2,5]", "f32[7,2,6]"), "Binary op with incompatible shapes: f32[7,2,5] and f32[7,2,6].");
  EXPECT_EQ(Add("f32[2,1]", "f32[1,3]"), "f32[2,3]{1,0}");
}

TEST(BroadcastTest, ExplicitDimensions) {
  EXPECT_EQ(Add("f32[4]", "f32[1,2]", {0}), "f32[4,2]{1,0}");
  EXPECT_EQ(Add("f32[1,2]", "f32[4,3,1]", {1, 2}), "f32[4,3,2]{2,1,0}");
  EXPECT_EQ(Add("f32[3]", "f32[2,3]", {1}), "f32[2,3]{1,0}");
  EXPECT_EQ(Add("f32[2,3]", "f32[3]", {1}), "f32[2,3]{1,0}");
  EXPECT_EQ(Add("f32[]", "f32[2,3]{0,1}"), "f32[2,3]{1,0}");
  EXPECT_EQ(Add("f32[2,3]{0,1:T(2,2)}", "f32[2,<=3]", {0, 1}), "f32[2,<=3]{0,1:T(2,2)}");
}

TEST(BroadcastTest, SelectTakesTheElementSizeOfOnTrue) {
  EXPECT_EQ(Text(InferSelectShape(S("pred[]"), S("s8[2]{0:E(4)}"), S("s8[2]"))), "s8[2]{0:E(4)}");
  EXPECT_EQ(Text(InferSelectShape(S("pred[2]{0:E(4)}"), S("s4[2]"), S("s4[2]{0:E(4)}"))), "s4[2]{0}");
}

// Errors in upstream's order: each row has all the faults of the rows below it, too.
TEST(BroadcastTest, ErrorsOfExplicitDimensions) {
  EXPECT_EQ(Add("f32[3]", "f32[2,3]"), "Shapes must be equal rank, but are f32[3] and f32[2,3]");
  EXPECT_EQ(
      Add("f32[3]", "f32[2,3]", {1, 0}),
      "Size of broadcast_dimensions has to match lower-rank operand's rank;  lower-rank operand's rank is 1, size of "
      "broadcast_dimensions is 2.");
  EXPECT_EQ(Add("f32[3]", "f32[2,3]", {-1}), "Broadcast dimension number (-1) cannot be negative.");
  EXPECT_EQ(Add("f32[3]", "f32[2,3]", {2}),
            "Broadcast dimension number (2) too large; higher-rank operand has rank 2.");
  EXPECT_EQ(Add("f32[3]", "f32[2,3]", {0}), "Broadcast dimension 0 mismatch: 3 != 2; f32[3] and f32[2,3].");
  EXPECT_EQ(Add("f32[2]", "f32[?,3]", {0}),
            "Broadcast dimension 0 mismatch: 2 != -9223372036854775808; f32[2] and f32[?,3].");
  EXPECT_EQ(Add("f32[<=3]", "f32[1,3]", {1}), "f32[1,<=3]{1,0}");
  EXPECT_EQ(Add("f32[<=1]", "f32[2,3]", {1}), "Broadcast dimension 0 dynamism mismatch: f32[<=1] and f32[2,3].");
  EXPECT_EQ(Add("f32[2,3]", "f32[3,2,9]", {1, 0}), "Broadcast dimensions order is wrong: 0 comes after 1.");
  EXPECT_EQ(
      Add("f32[2,3]", "f32[2,3]", {1, 0}),
      "Broadcast dimensions field must either be not set or be the identity on binary operations with operands of "
      "the same rank.");
}

TEST(BroadcastTest, TypesThatNeitherIsMorePreciseAreAnError) {
  EXPECT_EQ(Add("f8e4m3[2]", "f8e4m3fnuz[2]"),
            "Neither of the element types of f8e4m3[2] and f8e4m3fnuz[2] is the more precise one.");
}

TEST(BroadcastTest, HugeResultsAreErrors) {
  EXPECT_FALSE(InferElementwiseBinaryShape("add", S("f32[4611686018427387904,1]"), S("f32[1,4]"), {}).ok());
}

}  // namespace
}  // namespace kashi::array
