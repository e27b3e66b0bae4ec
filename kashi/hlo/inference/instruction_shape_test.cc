#include "kashi/hlo/inference/instruction_shape.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_testing.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/ir/hlo_computation.h"

namespace kashi::hlo {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Parameters, and instructions that use them.
class InstructionShapeTest : public ::testing::Test {
 protected:
  HloInstruction* P(absl::string_view shape) {
    instructions_.push_back(
        HloInstruction::CreateParameter(static_cast<int64_t>(instructions_.size()), array::S(shape), "p"));
    return instructions_.back().get();
  }
  // The inferred shape of an instruction with the written shape `written`.
  std::string Infer(HloOpcode opcode, std::vector<HloInstruction*> operands, HloFieldList fields = {},
                    absl::string_view written = "token[]") {
    instructions_.push_back(HloInstruction::Create(opcode, array::S(written), operands, std::move(fields)));
    return array::Text(InferInstructionShape(*instructions_.back()));
  }
  // A computation with these parameters and an element-wise operation on the first two of them.
  HloComputation* Computation(HloOpcode opcode, absl::string_view result, std::vector<absl::string_view> parameters) {
    HloComputation::Builder builder("c");
    std::vector<HloInstruction*> p;
    for (size_t i = 0; i < parameters.size(); ++i) {
      p.push_back(builder.AddInstruction(HloInstruction::CreateParameter(i, array::S(parameters[i]), "p")));
    }
    builder.AddInstruction(HloInstruction::Create(opcode, array::S(result), {p[0], p[1]}));
    computations_.push_back(builder.Build());
    return computations_.back().get();
  }
  static HloFieldList Dimensions(std::initializer_list<int64_t> dimensions) {
    HloFieldList fields;
    fields.Mutable<HloField::dimensions>()->assign(dimensions);
    return fields;
  }
  static HloFieldList ToApply(HloFieldList fields, HloComputation* computation) {
    fields.Mutable<HloField::called_computations>()->push_back(computation);
    return fields;
  }

  std::vector<std::unique_ptr<HloComputation>> computations_;
  std::vector<std::unique_ptr<HloInstruction>> instructions_;
  ~InstructionShapeTest() override {
    while (!instructions_.empty()) instructions_.pop_back();  // users first
  }
};

TEST_F(InstructionShapeTest, FromOperandsAlone) {
  EXPECT_EQ(Infer(HloOpcode::kNegate, {P("f32[2]{0:T(2)}")}), "f32[2]{0:T(2)}");
  EXPECT_EQ(Infer(HloOpcode::kAdd, {P("f32[2]"), P("f32[?]")}), "f32[2]{0}");
  EXPECT_EQ(Infer(HloOpcode::kSelect, {P("pred[]"), P("f32[2]"), P("f32[2]")}), "f32[2]{0}");
  EXPECT_EQ(Infer(HloOpcode::kTuple, {P("f32[2]"), P("token[]")}), "(f32[2]{0}, token[])");
  EXPECT_EQ(Infer(HloOpcode::kTuple, {}), "()");
  EXPECT_EQ(Infer(HloOpcode::kAfterAll, {}), "token[]");
  EXPECT_EQ(Infer(HloOpcode::kPartitionId, {}), "u32[]");
  EXPECT_EQ(Infer(HloOpcode::kCopyStart, {P("f32[2]")}), "(f32[2]{0}, f32[2]{0}, u32[])");
  EXPECT_EQ(Infer(HloOpcode::kCopyDone, {P("(f32[2], s32[2], u32[])")}), "f32[2]{0}");
  EXPECT_EQ(Infer(HloOpcode::kAsyncDone, {P("((f32[2]), s32[2])")}), "s32[2]{0}");
}

TEST_F(InstructionShapeTest, FromDimensions) {
  EXPECT_EQ(Infer(HloOpcode::kTranspose, {P("f32[2,3]")}, Dimensions({1, 0})), "f32[3,2]{0,1}");
  EXPECT_EQ(Infer(HloOpcode::kConcatenate, {P("f32[2]"), P("f32[3]")}, Dimensions({0})), "f32[5]{0}");
  EXPECT_EQ(Infer(HloOpcode::kGetDimensionSize, {P("f32[2]")}, Dimensions({0})), "s32[]");
  EXPECT_EQ(Infer(HloOpcode::kBroadcast, {P("f32[3]")}, Dimensions({2})), "f32[2,3]{1,0}");
  EXPECT_EQ(Infer(HloOpcode::kConcatenate, {P("f32[2]")}, Dimensions({0, 0})),
            "concatenate takes one dimension, but has 2.");
}

TEST_F(InstructionShapeTest, FromCalledComputations) {
  HloComputation* add = Computation(HloOpcode::kAdd, "f32[]", {"f32[]", "f32[]"});
  EXPECT_EQ(Infer(HloOpcode::kReduce, {P("f32[2,3]"), P("f32[]")}, ToApply(Dimensions({0}), add)), "f32[3]{0}");
  EXPECT_EQ(Infer(HloOpcode::kMap, {P("f32[2,3]"), P("f32[2,3]")}, ToApply({}, add)), "f32[2,3]{1,0}");
  EXPECT_EQ(Infer(HloOpcode::kCall, {P("f32[]"), P("f32[]")}, ToApply({}, add)), "f32[]");
  EXPECT_EQ(Infer(HloOpcode::kReduce, {P("f32[2,3]"), P("f32[]")}, Dimensions({0})),
            "reduce needs the attribute to_apply.");
}

TEST_F(InstructionShapeTest, FromWhatIsWritten) {
  EXPECT_EQ(Infer(HloOpcode::kConvert, {P("f32[2,3]{0,1}")}, {}, "s8[9]"), "s8[2,3]{0,1}");
  EXPECT_EQ(Infer(HloOpcode::kBitcastConvert, {P("f32[2]")}, {}, "u8[9]"), "u8[2,4]{1,0}");
  EXPECT_EQ(Infer(HloOpcode::kReshape, {P("f32[<=2,3]")}, {}, "s32[6]"), "f32[<=6]{0}");
  EXPECT_EQ(Infer(HloOpcode::kDynamicReshape, {P("f32[2,3]"), P("s32[]")}, {}, "f32[<=6]"), "f32[<=6]{0}");
  EXPECT_THAT(Infer(HloOpcode::kReshape, {P("f32[2,3]")}), HasSubstr("needs a shape of its own that is an array"));
  EXPECT_THAT(Infer(HloOpcode::kConvert, {P("f32[2,3]")}), HasSubstr("Convert does not allow non-arrays"));
  EXPECT_EQ(Infer(HloOpcode::kAllGather, {P("f32[2,3]")}, Dimensions({1}), "f32[2,12]"), "f32[2,12]{1,0}");
  EXPECT_EQ(Infer(HloOpcode::kReduceScatter, {P("f32[2,12]")},
                  ToApply(Dimensions({1}), Computation(HloOpcode::kAdd, "f32[]", {"f32[]", "f32[]"})), "f32[2,3]"),
            "f32[2,3]{1,0}");
}

TEST_F(InstructionShapeTest, AllToAllIsSplitIntoAsManyPiecesAsAGroupHasMembers) {
  const auto infer = [&](int64_t members) {
    HloFieldList fields = Dimensions({0});
    fields.Set<HloField::replica_groups>(CollectiveDeviceList(IotaReplicaGroupList(2, members)));
    return Infer(HloOpcode::kAllToAll, {P("f32[6]")}, std::move(fields));
  };
  EXPECT_EQ(infer(3), "f32[6]{0}");
  EXPECT_THAT(infer(4), HasSubstr("must be dividable by split_count 4"));
  EXPECT_THAT(infer(int64_t{1} << 40), HasSubstr("must be dividable"));
}

TEST_F(InstructionShapeTest, TooLargeAmongThemIsAnError) {
  const std::string wide = absl::StrCat("(", absl::StrJoin(std::vector<std::string>(20000, "s4[]"), ","), ")");
  HloInstruction* p = P(wide);
  const auto tuple_of = [&](size_t count) {
    return Infer(HloOpcode::kTuple, std::vector<HloInstruction*>(count, p)).substr(0, 60);
  };
  EXPECT_THAT(tuple_of(2), StartsWith("((s4[], s4[], "));
  EXPECT_THAT(tuple_of(kMaxInferredSubshapes / 20000 + 1),
              StartsWith("The shapes of operands and called computations"));
  HloFieldList fields;
  fields.Set<HloField::tuple_index>(0);
  EXPECT_EQ(Infer(HloOpcode::kGetTupleElement, {p}, std::move(fields)), "s4[]");
}

TEST_F(InstructionShapeTest, BrokenInstructionsAreErrors) {
  EXPECT_EQ(Infer(HloOpcode::kAdd, {P("f32[]")}), "Expected 2 operands for add instruction, but it has 1.");
  EXPECT_EQ(Infer(HloOpcode::kPad, {P("f32[2]"), P("f32[]")}), "pad needs the attribute padding.");
  EXPECT_EQ(Infer(HloOpcode::kParameter, {}), "The shape of parameter does not follow from its operands.");
  // Every opcode, without operands and with two.
  for (int i = 0; i < static_cast<int>(HloOpcodeCount()); ++i) {
    const HloOpcode opcode = static_cast<HloOpcode>(i);
    Infer(opcode, {});
    Infer(opcode, {P("token[]")});
    Infer(opcode, {P("(f32[2])"), P("()")});
    Infer(opcode, {P("f32[2]"), P("f32[]")}, Dimensions({7}));
    Infer(opcode, {P("token[]"), P("()"), P("opaque[]")}, Dimensions({-1}), "(f32[2])");
  }
}

}  // namespace
}  // namespace kashi::hlo
