// Broadcasting through the builder: the documents' examples (docs/spec/array-model.md 7.6, XLA's "Broadcasting"), what
// the instructions for them, and refusals, for every binary operation.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "kashi/hlo/builder/xla_builder_testing.h"

namespace kashi::hlo {
namespace {

using Dims = std::vector<int64_t>;

struct BinaryFunction {
  const char* name;
  XlaOp (*function)(XlaOp, XlaOp, absl::Span<const int64_t>);
  const char* type;    // of operands
  const char* result;  // type of the result
};
// Atan2 and Complex need floating-point types, shifts and logic need integers.
std::vector<BinaryFunction> AllBinary() {
  std::vector<BinaryFunction> all;
#define KASHI_BINARY(function, opcode) all.push_back({#function, function, "s32", "s32"});
#define KASHI_COMPARISON(function, direction)          \
  all.push_back({#function, function, "s32", "pred"}); \
  all.push_back({#function "TotalOrder", function##TotalOrder, "s32", "pred"});
#include "kashi/hlo/builder/xla_builder_ops.def"
  for (BinaryFunction& entry : all) {
    if (entry.function == Atan2) entry.type = entry.result = "f32";
    if (entry.function == Complex) {
      entry.type = "f32";
      entry.result = "c64";
    }
  }
  return all;
}

// The result's shape, or the error.
std::string ResultOf(const BinaryFunction& op, const std::string& lhs, const std::string& rhs, const Dims& dims) {
  XlaBuilder builder("b");
  const XlaOp x = Param(&builder, 0, op.type + lhs), y = Param(&builder, 1, op.type + rhs);
  const absl::StatusOr<Shape> shape = builder.GetShape(op.function(x, y, dims));
  if (!shape.ok()) return absl::StrCat("error: ", shape.status().message());
  const absl::StatusOr<XlaComputation> computation = builder.Build();
  EXPECT_TRUE(computation.ok()) << computation.status();
  const HloInstruction* const root = computation->module().entry_computation()->root_instruction();
  for (const HloInstruction* operand : root->operands()) {
    EXPECT_TRUE(ShapeUtil::SameDimensions(operand->shape(), root->shape())) << op.name << ": " << root->ToString();
  }
  return ShapeUtil::HumanString(*shape);
}

struct Case {
  const char* lhs;
  const char* rhs;
  Dims dims;
  const char* result;  // null: an error
};

const Case kCases[] = {
    // A vector with a matrix.
    {"[2,3]", "[3]", {1}, "[2,3]"},
    {"[2,3]", "[2]", {0}, "[2,3]"},
    {"[2,3]", "[3]", {0}, nullptr},
    {"[2,3]", "[2]", {1}, nullptr},
    {"[2,3]", "[3]", {}, nullptr},
    {"[3]", "[2,3]", {1}, "[2,3]"},
    {"[2]", "[2,3]", {0}, "[2,3]"},
    // Of higher rank.
    {"[2,3,4]", "[4]", {2}, "[2,3,4]"},
    {"[2,3,4]", "[3]", {1}, "[2,3,4]"},
    {"[2,3,4]", "[2]", {0}, "[2,3,4]"},
    {"[2,3,4]", "[2,3]", {0, 1}, "[2,3,4]"},
    {"[2,3,4]", "[2,4]", {0, 2}, "[2,3,4]"},
    {"[2,3,4]", "[3,4]", {1, 2}, "[2,3,4]"},
    {"[2,3]", "[2,3,4]", {0, 1}, "[2,3,4]"},
    {"[2,3,4]", "[4,2]", {2, 0}, nullptr},
    {"[2,3,4]", "[4]", {3}, nullptr},
    {"[2,3,4]", "[4]", {-1}, nullptr},
    {"[2,3,4]", "[2,3]", {0}, nullptr},
    {"[2,3,4]", "[2,2]", {0, 0}, nullptr},
    {"[2,3,4]", "[4]", {1}, nullptr},
    // Equal ranks: dimensions of size 1.
    {"[1,2,5]", "[7,2,5]", {}, "[7,2,5]"},
    {"[7,2,5]", "[7,1,5]", {}, "[7,2,5]"},
    {"[7,2,5]", "[7,2,6]", {}, nullptr},
    {"[2,1]", "[2,3]", {}, "[2,3]"},
    {"[2,1]", "[1,3]", {}, "[2,3]"},
    {"[1,3]", "[2,1]", {}, "[2,3]"},
    {"[2]", "[3]", {}, nullptr},
    {"[0]", "[1]", {}, "[0]"},
    // Both.
    {"[4]", "[1,2]", {0}, "[4,2]"},
    {"[1,2]", "[4,3,1]", {1, 2}, "[4,3,2]"},
    {"[1,2]", "[4]", {0}, "[4,2]"},
    // Scalars.
    {"[]", "[2,3]", {}, "[2,3]"},
    {"[2,3]", "[]", {}, "[2,3]"},
    {"[]", "[]", {}, "[]"},
};

TEST(XlaBuilderBroadcastTest, EveryBinaryOperation) {
  for (const BinaryFunction& op : AllBinary()) {
    for (const Case& c : kCases) {
      SCOPED_TRACE(absl::StrCat(op.name, " ", c.lhs, " ", c.rhs));
      const std::string result = ResultOf(op, c.lhs, c.rhs, c.dims);
      if (c.result != nullptr) {
        EXPECT_EQ(result, absl::StrCat(op.result, c.result));
      } else {
        EXPECT_TRUE(absl::StartsWith(result, "error: ")) << result;
      }
    }
  }
}

std::string AddLines(absl::string_view lhs, absl::string_view rhs, const Dims& dims) {
  XlaBuilder builder("b");
  const XlaOp x = Param(&builder, 0, lhs), y = Param(&builder, 1, rhs);
  Add(x, y, dims);
  return BuildLines(&builder);
}

TEST(XlaBuilderBroadcastTest, WhatIsEmitted) {
  EXPECT_EQ(AddLines("f32[2,3]", "f32[2,3]", {}), "add f32[2,3], f32[2,3]->f32[2,3]");
  // One broadcast raises the rank.
  EXPECT_EQ(AddLines("f32[2,3]", "f32[3]", {1}),
            "broadcast f32[3]->f32[2,3] dimensions={1}\n"
            "add f32[2,3], f32[2,3]->f32[2,3]");
  EXPECT_EQ(AddLines("f32[2,3]", "f32[2]", {0}),
            "broadcast f32[2]->f32[2,3] dimensions={0}\n"
            "add f32[2,3], f32[2,3]->f32[2,3]");
  // Element types stay; the result has the type of higher precision.
  EXPECT_EQ(AddLines("f32[2,3]", "bf16[3]", {1}),
            "broadcast bf16[3]->bf16[2,3] dimensions={1}\n"
            "add f32[2,3], bf16[2,3]->f32[2,3]");
  EXPECT_EQ(AddLines("f32[]", "f32[2,3]", {}),
            "broadcast f32[]->f32[2,3] dimensions={}\n"
            "add f32[2,3], f32[2,3]->f32[2,3]");
  // Dimensions of size 1 are taken away and broadcast.
  EXPECT_EQ(AddLines("f32[3,1]", "f32[1,5]", {}),
            "reshape f32[3,1]->f32[3]\n"
            "broadcast f32[3]->f32[3,5] dimensions={0}\n"
            "reshape f32[1,5]->f32[5]\n"
            "broadcast f32[5]->f32[3,5] dimensions={1}\n"
            "add f32[3,5], f32[3,5]->f32[3,5]");
  EXPECT_EQ(AddLines("f32[4]", "f32[1,2]", {0}),
            "broadcast f32[4]->f32[4,2] dimensions={0}\n"
            "reshape f32[1,2]->f32[2]\n"
            "broadcast f32[2]->f32[4,2] dimensions={1}\n"
            "add f32[4,2], f32[4,2]->f32[4,2]");
  EXPECT_EQ(AddLines("f32[1,2]", "f32[4,3,1]", {1, 2}),
            "broadcast f32[1,2]->f32[4,1,2] dimensions={1,2}\n"
            "reshape f32[4,1,2]->f32[4,2]\n"
            "broadcast f32[4,2]->f32[4,3,2] dimensions={0,2}\n"
            "reshape f32[4,3,1]->f32[4,3]\n"
            "broadcast f32[4,3]->f32[4,3,2] dimensions={0,1}\n"
            "add f32[4,3,2], f32[4,3,2]->f32[4,3,2]");
}

TEST(XlaBuilderBroadcastTest, BoundedSizes) {
  EXPECT_EQ(AddLines("f32[<=3]", "f32[]", {}),
            "broadcast f32[]->f32[3] dimensions={}\n"
            "add f32[<=3], f32[3]->f32[<=3]");
  EXPECT_EQ(AddLines("f32[2,<=3]", "f32[<=3]", {1}),
            "broadcast f32[<=3]->f32[2,<=3] dimensions={1}\n"
            "add f32[2,<=3], f32[2,<=3]->f32[2,<=3]");
}

TEST(XlaBuilderBroadcastTest, UnboundedSizes) {
  EXPECT_EQ(AddLines("f32[?,10]", "f32[?,10]", {}), "add f32[?,10], f32[?,10]->f32[?,10]");
  EXPECT_EQ(AddLines("f32[?,10]", "f32[]", {}),
            "get-dimension-size f32[?,10]->s32[] dimensions={0}\n"
            "reshape s32[]->s32[1]\n"
            "constant ->s32[1]\n"
            "concatenate s32[1], s32[1]->s32[2] dimensions={0}\n"
            "custom-call f32[], s32[2]->f32[?,10] custom_call_target=\"mhlo.dynamic_broadcast_in_dim\", "
            "backend_config={broadcast_dimensions=[]}\n"
            "add f32[?,10], f32[?,10]->f32[?,10]");
  // Sizes that may be equal at run time are left alone, as in XLA.
  EXPECT_EQ(AddLines("f32[?,10]", "f32[1,10]", {}), "add f32[?,10], f32[1,10]->f32[?,10]");
}

// A vector with a matrix of unbounded size: the sizes of the vector have a 1 in front.
TEST(XlaBuilderBroadcastTest, UnboundedSizesOfDifferentRanks) {
  const std::string lines = AddLines("f32[?,?,10]", "f32[?,10]", {1, 2});
  EXPECT_TRUE(absl::StrContains(lines, "maximum s32[3], s32[3]->s32[3]")) << lines;
  EXPECT_TRUE(absl::StrContains(lines, "custom-call f32[?,10], s32[3]->f32[?,?,10]")) << lines;
  EXPECT_TRUE(absl::StrContains(lines, "broadcast_dimensions=[1,2]")) << lines;
}

TEST(XlaBuilderBroadcastTest, BroadcastAndBroadcastInDim) {
  const auto lines = [](absl::string_view shape, absl::FunctionRef<XlaOp(XlaOp)> op) {
    XlaBuilder builder("b");
    op(Param(&builder, 0, shape));
    return BuildLines(&builder);
  };
  EXPECT_EQ(lines("f32[3]", [](XlaOp x) { return Broadcast(x, {2}); }), "broadcast f32[3]->f32[2,3] dimensions={1}");
  EXPECT_EQ(lines("f32[]", [](XlaOp x) { return Broadcast(x, {2, 3}); }), "broadcast f32[]->f32[2,3] dimensions={}");
  EXPECT_EQ(lines("f32[3]",
                  [](XlaOp x) {
                    return BroadcastInDim(x, {2, 3}, {1});
                  }),
            "broadcast f32[3]->f32[2,3] dimensions={1}");
  EXPECT_EQ(lines("f32[1,3]",
                  [](XlaOp x) {
                    return BroadcastInDim(x, {2, 3}, {0, 1});
                  }),
            "broadcast f32[1,3]->f32[1,3] dimensions={0,1}\n"
            "reshape f32[1,3]->f32[3]\n"
            "broadcast f32[3]->f32[2,3] dimensions={1}");
  EXPECT_EQ(lines("f32[<=3]",
                  [](XlaOp x) {
                    return BroadcastInDim(x, {2, 3}, {1});
                  }),
            "broadcast f32[<=3]->f32[2,<=3] dimensions={1}");
  EXPECT_EQ(lines("f32[3]",
                  [](XlaOp x) {
                    return BroadcastInDim(x, {2, 3}, {2});
                  }),
            "error: Broadcast dimension 2 is out of bound");
  EXPECT_EQ(lines("f32[3]",
                  [](XlaOp x) {
                    return BroadcastInDim(x, {2, 3}, {});
                  }),
            "error: Size of broadcast_dimensions has to match operand's rank; operand rank: 1, size of "
            "broadcast_dimensions 0.");
  EXPECT_TRUE(absl::StartsWith(lines("f32[2]", [](XlaOp x) { return BroadcastInDim(x, {2, 3}, {1}); }), "error: "));
}

TEST(XlaBuilderBroadcastTest, SelectAndClampBroadcastScalars) {
  const auto lines = [](XlaOp (*op)(XlaOp, XlaOp, XlaOp), std::vector<absl::string_view> shapes) {
    XlaBuilder builder("b");
    std::vector<XlaOp> x;
    for (size_t i = 0; i < shapes.size(); ++i) x.push_back(Param(&builder, static_cast<int64_t>(i), shapes[i]));
    op(x[0], x[1], x[2]);
    return BuildLines(&builder);
  };
  EXPECT_EQ(lines(Select, {"pred[]", "f32[2]", "f32[2]"}),
            "broadcast pred[]->pred[2] dimensions={}\n"
            "select pred[2], f32[2], f32[2]->f32[2]");
  EXPECT_EQ(lines(Select, {"pred[]", "f32[]", "f32[]"}), "select pred[], f32[], f32[]->f32[]");
  EXPECT_EQ(lines(Select, {"pred[2]", "f32[]", "f32[2]"}),
            "broadcast f32[]->f32[2] dimensions={}\n"
            "select pred[2], f32[2], f32[2]->f32[2]");
  EXPECT_EQ(lines(Clamp, {"f32[]", "f32[2]", "f32[]"}),
            "broadcast f32[]->f32[2] dimensions={}\n"
            "broadcast f32[]->f32[2] dimensions={}\n"
            "clamp f32[2], f32[2], f32[2]->f32[2]");
  // Scalars between array bounds work here, though not in HLO.
  EXPECT_EQ(lines(Clamp, {"f32[2]", "f32[]", "f32[2]"}),
            "broadcast f32[]->f32[2] dimensions={}\n"
            "clamp f32[2], f32[2], f32[2]->f32[2]");
  EXPECT_EQ(lines(Clamp, {"f32[2]", "f32[3]", "f32[2]"}),
            "error: RET_CHECK failure: Unimplemented implicit broadcast.");
  EXPECT_EQ(lines(Select, {"pred[]", "(f32[2], s32[])", "(f32[2], s32[])"}).substr(0, 79),
            "conditional pred[], (f32[2], s32[]), (f32[2], s32[])->(f32[2], s32[]) true_comp");
}

}  // namespace
}  // namespace kashi::hlo
