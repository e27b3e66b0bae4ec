#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/random_graph_testing.h"
#include "kashi/literal/literal.h"

namespace kashi::hlo {
namespace {

using Instruction = std::unique_ptr<HloInstruction>;

std::vector<HloField> FieldsOf(const HloInstruction& instruction) {
  std::vector<HloField> fields;
#define KASHI_FIELD(name, ...) \
  if (instruction.fields().Has(HloField::name)) fields.push_back(HloField::name);
#include "kashi/hlo/ir/fields.def"
  return fields;
}

class HloInstructionCreateTest : public testing::Test {
 protected:
  const Shape vector_ = TestVector();
  const Instruction x_ = HloInstruction::CreateParameter(0, vector_, "x");
  const Instruction y_ = HloInstruction::CreateParameter(1, vector_, "y");
  const Instruction token_ = HloInstruction::CreateToken();
  const std::unique_ptr<HloComputation> f_ = MakeBinaryComputation("f", HloOpcode::kAdd);
  const std::unique_ptr<HloComputation> g_ = MakeBinaryComputation("g", HloOpcode::kMultiply);
};

TEST_F(HloInstructionCreateTest, InferredShapes) {
  const auto shape_of = [](Instruction instruction) { return ShapeUtil::HumanString(instruction->shape()); };
  const auto tuple = HloInstruction::CreateTuple({x_.get(), token_.get()});
  EXPECT_EQ(ShapeUtil::HumanString(tuple->shape()), "(f32[4], token[])");
  EXPECT_EQ(shape_of(HloInstruction::CreateGetTupleElement(tuple.get(), 1)), "token[]");
  EXPECT_EQ(shape_of(HloInstruction::CreateSend(x_.get(), token_.get(), 1, false)), "(f32[4], u32[], token[])");
  const auto recv = HloInstruction::CreateRecv(vector_, token_.get(), 1, true);
  EXPECT_EQ(ShapeUtil::HumanString(recv->shape()), "(f32[4], u32[], token[])");
  EXPECT_EQ(shape_of(HloInstruction::CreateRecvDone(recv.get(), 1, true)), "(f32[4], token[])");
  EXPECT_EQ(shape_of(HloInstruction::CreateInfeed(vector_, token_.get(), "")), "(f32[4], token[])");
  EXPECT_EQ(shape_of(HloInstruction::CreateOutfeed(vector_, x_.get(), token_.get(), "c")), "token[]");
  EXPECT_EQ(shape_of(HloInstruction::CreateAfterAll({token_.get()})), "token[]");
  EXPECT_EQ(shape_of(HloInstruction::CreateAddDependency(x_.get(), token_.get())), "f32[4]");
  EXPECT_EQ(shape_of(HloInstruction::CreatePartitionId()), "u32[]");
  EXPECT_EQ(shape_of(HloInstruction::CreateReplicaId()), "u32[]");
  EXPECT_EQ(shape_of(HloInstruction::CreateConstant(Literal(vector_))), "f32[4]");
}

// A field is not stored if it has the value that its absence means.
TEST_F(HloInstructionCreateTest, UsualValuesAreNotStored) {
  const auto compare = [&](std::optional<Comparison::Type> type) {
    return HloInstruction::CreateCompare(vector_, x_.get(), y_.get(), ComparisonDirection::kLt, type);
  };
  EXPECT_TRUE(compare(std::nullopt)->Identical(*compare(Comparison::Type::kFloat)));
  EXPECT_EQ(compare(Comparison::Type::kFloat)->comparison_type(), Comparison::Type::kFloat);
  EXPECT_EQ(compare(Comparison::Type::kFloat)->comparison_order(), Comparison::Order::kPartial);
  EXPECT_EQ(compare(Comparison::Type::kFloatTotalOrder)->comparison_order(), Comparison::Order::kTotal);
  EXPECT_FALSE(compare(std::nullopt)->Identical(*compare(Comparison::Type::kFloatTotalOrder)));

  const auto dot = [&](PrecisionConfig::Precision precision) {
    PrecisionConfig config;
    config.add_operand_precision(precision);
    config.add_operand_precision(precision);
    return HloInstruction::CreateDot(vector_, x_.get(), y_.get(), DotDimensionNumbers(), config);
  };
  EXPECT_EQ(FieldsOf(*dot(PrecisionConfig::DEFAULT)), (std::vector<HloField>{HloField::dot_dimension_numbers}));
  EXPECT_EQ(dot(PrecisionConfig::HIGH)->precision_config().operand_precision(1), PrecisionConfig::HIGH);

  const auto convolve = HloInstruction::CreateConvolve(vector_, x_.get(), y_.get(), 1, 1, Window(),
                                                       ConvolutionDimensionNumbers(), PrecisionConfig());
  EXPECT_EQ(convolve->feature_group_count(), 1);
  EXPECT_FALSE(convolve->fields().Has(HloField::feature_group_count));
  const auto custom = HloInstruction::CreateCustomCall(vector_, {x_.get()}, "f", "opaque");
  EXPECT_EQ(FieldsOf(*custom), (std::vector<HloField>{HloField::custom_call_target}));
  EXPECT_EQ(custom->opaque(), "opaque");
  EXPECT_EQ(custom->api_version(), API_VERSION_ORIGINAL);
  EXPECT_EQ(FieldsOf(*HloInstruction::CreateUnary(vector_, HloOpcode::kTanh, x_.get(), ResultAccuracy())),
            std::vector<HloField>());
  EXPECT_EQ(FieldsOf(*HloInstruction::CreateAsyncStart(vector_, {x_.get()}, f_.get())),
            (std::vector<HloField>{HloField::called_computations}));
}

TEST_F(HloInstructionCreateTest, SomeFieldsAreAlwaysThere) {
  const auto all_reduce = HloInstruction::CreateAllReduce(vector_, {x_.get()}, f_.get(), CollectiveDeviceList(), false,
                                                          std::nullopt, false);
  EXPECT_EQ(FieldsOf(*all_reduce), (std::vector<HloField>{HloField::called_computations, HloField::replica_groups}));
  EXPECT_EQ(all_reduce->to_apply(), f_.get());
  EXPECT_TRUE(HloInstruction::CreateTopK(vector_, x_.get(), 2, true)->fields().Has(HloField::largest));
  EXPECT_EQ(HloInstruction::CreateTopK(vector_, x_.get(), 2, false)->largest(), false);
  EXPECT_TRUE(
      HloInstruction::CreateOutfeed(vector_, x_.get(), token_.get(), "")->fields().Has(HloField::outfeed_shape));
}

TEST_F(HloInstructionCreateTest, OperandsAndCalleesHaveTheirOrder) {
  const auto loop = HloInstruction::CreateWhile(vector_, /*condition=*/f_.get(), /*body=*/g_.get(), x_.get());
  EXPECT_EQ(loop->while_body(), g_.get());
  EXPECT_EQ(loop->while_condition(), f_.get());
  EXPECT_EQ(loop->called_computations()[0], g_.get());
  const auto choice = HloInstruction::CreateConditional(vector_, x_.get(), y_.get(), f_.get(), token_.get(), g_.get());
  EXPECT_EQ(choice->operand(2), token_.get());
  EXPECT_EQ(choice->true_computation(), f_.get());
  EXPECT_EQ(choice->branch_computation(1), g_.get());
  EXPECT_EQ(choice->branch_count(), 2);
  const auto scatter = HloInstruction::CreateScatter(vector_, x_.get(), token_.get(), y_.get(), f_.get(),
                                                     ScatterDimensionNumbers(), true, false);
  EXPECT_EQ(scatter->operand(1), token_.get());
  EXPECT_EQ(scatter->operand(2), y_.get());
  EXPECT_TRUE(scatter->indices_are_sorted());
  EXPECT_FALSE(scatter->unique_indices());
  const auto reduce = HloInstruction::CreateReduce(vector_, {x_.get(), y_.get()}, {y_.get(), x_.get()}, {0}, f_.get());
  EXPECT_EQ(reduce->operand_count(), 4);
  EXPECT_EQ(reduce->operand(2), y_.get());
  const auto select =
      HloInstruction::CreateSelectAndScatter(vector_, x_.get(), f_.get(), Window(), y_.get(), y_.get(), g_.get());
  EXPECT_EQ(select->select(), f_.get());
  EXPECT_EQ(select->scatter(), g_.get());
  EXPECT_DEATH(select->while_body(), "for while");
}

TEST_F(HloInstructionCreateTest, Dimensions) {
  EXPECT_EQ(HloInstruction::CreateIota(vector_, 0)->dimensions(), (std::vector<int64_t>{0}));
  EXPECT_EQ(HloInstruction::CreateConcatenate(vector_, {x_.get()}, 3)->concatenate_dimension(), 3);
  EXPECT_EQ(HloInstruction::CreateMap(ShapeUtil::MakeShape(F32, {2, 3}), {x_.get()}, f_.get())->dimensions(),
            (std::vector<int64_t>{0, 1}));
  EXPECT_TRUE(HloInstruction::Create(HloOpcode::kBroadcast, vector_, {x_.get()})->dimensions().empty());
  const auto slice = HloInstruction::CreateSlice(vector_, x_.get(), {1}, {3}, {2});
  EXPECT_EQ(slice->slice_starts(0) + slice->slice_limits(0) + slice->slice_strides(0), 6);
}

TEST_F(HloInstructionCreateTest, Composites) {
  const auto call = HloInstruction::CreateCompositeCall(vector_, {x_.get(), y_.get()}, f_.get(), "my.op", "{n = 1}", 2);
  EXPECT_TRUE(call->is_composite());
  EXPECT_EQ(call->get_frontend_attribute("composite.name"), "my.op");
  EXPECT_EQ(call->get_frontend_attribute("composite.attributes"), "{n = 1}");
  EXPECT_EQ(call->get_frontend_attribute("composite.version"), "2");
}

TEST_F(HloInstructionCreateTest, Names) {
  EXPECT_EQ(HloInstruction::CreateIota(vector_, 0)->name(), "iota");
  EXPECT_EQ(HloInstruction::CreateParameter(0, vector_, "a b")->name(), "a_b");
  EXPECT_EQ(HloInstruction::CreateFusion(vector_, FusionKind::kInput, {}, f_.get(), "loop_")->name(), "loop_fusion");
}

TEST_F(HloInstructionCreateTest, TheWrongFamilyDies) {
  EXPECT_DEATH(HloInstruction::CreateUnary(vector_, HloOpcode::kAdd, x_.get()), "add");
  EXPECT_DEATH(HloInstruction::CreateUnary(vector_, HloOpcode::kTranspose, x_.get()), "transpose needs dimensions");
  EXPECT_DEATH(HloInstruction::CreateBinary(vector_, HloOpcode::kCompare, x_.get(), y_.get()), "needs direction");
  EXPECT_DEATH(HloInstruction::CreateAfterAll({}), "use CreateToken");
  EXPECT_DEATH(HloInstruction::CreateReshape(ShapeUtil::MakeShape(F32, {5}), x_.get()), "reshape of");
}

}  // namespace
}  // namespace kashi::hlo
