// Partitioners as jaxlib registers them: structures in C.
#include "kashi/pjrt/custom_call_partitioners.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/attributes/hlo_sharding_text.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/pjrt/custom_partitioner_extension.h"
#include "kashi/pjrt/inspect_sharding.h"
#include "kashi/pjrt/plugin.h"
#include "kashi/proto/records_proto.h"

namespace kashi::pjrt {
namespace {

using String = JAX_CustomCallPartitioner_string;
using Callbacks = JAX_CustomCallPartitioner_Callbacks;

HloSharding Sharding(absl::string_view text) { return ParseSharding(text).value(); }

std::string TextOf(const String& bytes) { return std::string(bytes.data, bytes.size); }

std::string ShardingText(const String& bytes) {
  wire::OpSharding message;
  EXPECT_TRUE(message.ParseFromArray(bytes.data, static_cast<int>(bytes.size)));
  OpSharding proto;
  EXPECT_TRUE(FromWire(message, &proto).ok());
  return HloSharding::FromProto(proto).value().ToString();
}

std::string ShapeText(const String& bytes) {
  ShapeProto proto;
  EXPECT_TRUE(proto.ParseFromArray(bytes.data, static_cast<int>(bytes.size)));
  return ShapeUtil::HumanString(Shape::FromProto(proto).value());
}

// Functions in C that answer with what a test set, and count what became of them.
struct Maker {
  std::string program, error;
  std::string operand = SerializedSharding(Sharding("{devices=[4,1]<=[4]}"));
  std::string result = SerializedSharding(Sharding("{devices=[2,2]<=[4]}"));
  bool has_result = true;
  std::vector<std::string> received;
  int cleaned = 0, destroyed = 0;
  String operands[1];

  static Maker& Of(Callbacks* callbacks) { return *static_cast<Maker*>(callbacks->private_data); }
  static String View(const std::string& text) { return {text.data(), text.size()}; }
  void SetHead(JAX_CustomCallPartitioner_version_and_error* head) {
    EXPECT_EQ(head->api_version, 0);
    head->data = this;
    head->cleanup_fn = [](void* data) { ++static_cast<Maker*>(data)->cleaned; };
    if (error.empty()) return;
    head->has_error = true;
    head->code = PJRT_Error_Code_INTERNAL;
    head->error_msg = View(error);
  }

  Callbacks callbacks() {
    Callbacks functions = {};
    functions.private_data = this;
    functions.dtor = [](Callbacks* data) { ++Of(data).destroyed; };
    functions.partition = [](Callbacks* data, JAX_CustomCallPartitioner_Partition_Args* args) {
      Maker& maker = Of(data);
      maker.received = {ShapeText(args->op_args[0].shape), ShardingText(args->op_args[0].sharding),
                        ShapeText(args->op_result.shape), ShardingText(args->op_result.sharding),
                        TextOf(args->backend_config)};
      maker.SetHead(&args->header);
      args->mlir_module = View(maker.program);
      maker.operands[0] = View(maker.operand);
      args->args_sharding = maker.operands;
      args->result_sharding = View(maker.result);
    };
    functions.infer_sharding = [](Callbacks* data, JAX_CustomCallPartitioner_InferShardingFromOperands_Args* args) {
      Maker& maker = Of(data);
      EXPECT_EQ(args->num_args, 1u);
      maker.received = {ShapeText(args->op_args[0].shape), ShardingText(args->op_args[0].sharding),
                        ShapeText(args->result_shape), TextOf(args->backend_config)};
      maker.SetHead(&args->header);
      args->has_result_sharding = maker.has_result;
      args->result_sharding = View(maker.result);
    };
    functions.propagate_user_sharding = [](Callbacks* data,
                                           JAX_CustomCallPartitioner_PropagateUserSharding_Args* args) {
      Maker& maker = Of(data);
      maker.received = {ShapeText(args->result_shape), ShardingText(args->result_sharding),
                        TextOf(args->backend_config)};
      maker.SetHead(&args->header);
      args->result_sharding = View(maker.result);
    };
    return functions;
  }
};

class CustomCallPartitionersTest : public testing::Test {
 protected:
  CustomCallPartitionersTest() : callbacks_(maker_.callbacks()), others_callbacks_(other_.callbacks()) {
    module_ = ParseAndReturnUnverifiedModule(R"(HloModule m
ENTRY e {
  x = f32[8,4] parameter(0)
  ROOT y = f32[8,4] custom-call(x), custom_call_target="mine", backend_config="the config"
})")
                  .value();
    EXPECT_TRUE(partitioners_.Register("mine", &callbacks_).ok());
    partitioner_ = partitioners_.Find("mine");
    maker_.program =
        "func.func @main(%x: tensor<2x4xf32>) -> tensor<4x2xf32> {\n"
        "  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>\n"
        "  return %0 : tensor<4x2xf32>\n"
        "}\n";
  }

  const HloInstruction& call() const { return *module_->entry_computation()->root_instruction(); }
  std::string PartitionError() {
    return std::string(partitioner_->Partition(call(), {whole_}, whole_).status().message());
  }

  Maker maker_, other_;
  Callbacks callbacks_, others_callbacks_;
  RegisteredPartitioners partitioners_;
  std::shared_ptr<const CustomCallPartitioner> partitioner_;
  std::unique_ptr<HloModule> module_;
  const HloSharding whole_ = HloSharding::Replicate();
};

TEST_F(CustomCallPartitionersTest, ShardingsGoBothWays) {
  auto inferred = partitioner_->InferShardingFromOperands(call(), {Sharding("{devices=[4,1]<=[4]}")});
  ASSERT_TRUE(inferred.ok()) << inferred.status();
  EXPECT_EQ((*inferred)->ToString(), "{devices=[2,2]<=[4]}");
  EXPECT_EQ(maker_.received, (std::vector<std::string>{"f32[8,4]", "{devices=[4,1]<=[4]}", "f32[8,4]", "the config"}));
  maker_.has_result = false;
  inferred = partitioner_->InferShardingFromOperands(call(), {whole_});
  ASSERT_TRUE(inferred.ok()) << inferred.status();
  EXPECT_FALSE(inferred->has_value());
  const auto propagated = partitioner_->PropagateUserSharding(call(), Sharding("{devices=[1,4]<=[4]}"));
  ASSERT_TRUE(propagated.ok()) << propagated.status();
  EXPECT_EQ(propagated->ToString(), "{devices=[2,2]<=[4]}");
  EXPECT_EQ(maker_.received, (std::vector<std::string>{"f32[8,4]", "{devices=[1,4]<=[4]}", "the config"}));
  EXPECT_EQ(maker_.cleaned, 3);
}

TEST_F(CustomCallPartitionersTest, ProgramsAreStableHlo) {
  const auto made = partitioner_->Partition(call(), {Sharding("{devices=[4,1]<=[4]}")}, whole_);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(maker_.received,
            (std::vector<std::string>{"f32[8,4]", "{devices=[4,1]<=[4]}", "f32[8,4]", "{replicated}", "the config"}));
  EXPECT_EQ(made->module->entry_computation()->root_instruction()->opcode(), HloOpcode::kTranspose);
  ASSERT_EQ(made->operands.size(), 1u);
  EXPECT_EQ(made->operands[0].ToString(), "{devices=[4,1]<=[4]}");
  EXPECT_EQ(made->result.ToString(), "{devices=[2,2]<=[4]}");
  EXPECT_EQ(maker_.cleaned, 1);
  maker_.program = "no program";
  EXPECT_EQ(PartitionError(), "the partitioner of a custom call gave a program that is not StableHLO");
  maker_.program = "func.func @main() -> tensor<f32> {\n}\n";
  EXPECT_NE(PartitionError(), "");
  EXPECT_EQ(maker_.cleaned, 3);
}

TEST_F(CustomCallPartitionersTest, Errors) {
  maker_.error = "custom_partitioner: ValueError: no";
  EXPECT_EQ(partitioner_->InferShardingFromOperands(call(), {whole_}).status(),
            absl::InternalError("custom_partitioner: ValueError: no"));
  EXPECT_EQ(partitioner_->PropagateUserSharding(call(), whole_).status(),
            absl::InternalError("custom_partitioner: ValueError: no"));
  EXPECT_EQ(PartitionError(), "custom_partitioner: ValueError: no");
  EXPECT_EQ(maker_.cleaned, 3);
  maker_.error = "";
  maker_.result = "\x0A";
  EXPECT_EQ(PartitionError(), "the partitioner of a custom call gave no OpSharding");
  EXPECT_EQ(maker_.cleaned, 4);
}

TEST_F(CustomCallPartitionersTest, FunctionsLiveAsLongAsTheyAreUsed) {
  EXPECT_TRUE(partitioners_.Register("mine", &others_callbacks_).ok());
  EXPECT_NE(partitioners_.Find("mine"), partitioner_);
  EXPECT_EQ(partitioners_.Find("another"), nullptr);
  EXPECT_EQ(maker_.destroyed, 0);
  partitioner_.reset();
  EXPECT_EQ(maker_.destroyed, 1);
  Callbacks newer = other_.callbacks();
  newer.version = 1;
  EXPECT_EQ(partitioners_.Register("mine", &newer).message(),
            "the partitioner of mine is for version 1 of the interface, but Kashi has 0");
  Callbacks lacking = other_.callbacks();
  lacking.partition = nullptr;
  EXPECT_EQ(partitioners_.Register("mine", &lacking).message(), "the partitioner of mine lacks a function");
  EXPECT_EQ(partitioners_.Register("mine", nullptr).message(), "the partitioner of mine has no functions");
  EXPECT_EQ(other_.destroyed, 2);
}

// As a program in C finds the extension.
TEST(CustomPartitionerExtensionTest, IsInTheTable) {
  PJRT_Extension_Base* base = Api()->extension_start;
  while (base != nullptr && base->type != PJRT_Extension_Type_Custom_Partitioner) base = base->next;
  ASSERT_NE(base, nullptr);
  EXPECT_EQ(base->struct_size, 40u);
  const auto* extension = reinterpret_cast<PJRT_Custom_Partitioner_Extension*>(base);
  Maker maker;
  Callbacks functions = maker.callbacks();
  const std::string name = "of the extension's test";
  PJRT_Register_Custom_Partitioner_Args args = {sizeof(args), name.data(), name.size(), &functions};
  EXPECT_EQ(extension->register_custom_partitioner(&args), nullptr);
  EXPECT_NE(RegisteredPartitioners::Global().Find(name), nullptr);
  Maker wrong;
  Callbacks newer = wrong.callbacks();
  newer.version = 7;
  args.callbacks = &newer;
  PJRT_Error* error = extension->register_custom_partitioner(&args);
  ASSERT_NE(error, nullptr);
  PJRT_Error_Destroy_Args destroy = {sizeof(PJRT_Error_Destroy_Args), nullptr, error};
  Api()->PJRT_Error_Destroy(&destroy);
  EXPECT_EQ(maker.destroyed, 0);
  EXPECT_FALSE(RegisteredPartitioners::Global().IsBatchPartitionable(name));
  PJRT_Register_Batch_Partitionable_Args batch = {sizeof(batch), name.data(), name.size()};
  EXPECT_EQ(extension->register_batch_partitionable(&batch), nullptr);
  EXPECT_TRUE(RegisteredPartitioners::Global().IsBatchPartitionable(name));
  // The functions of this test end with it.
  Callbacks* lasting = new Callbacks(functions);
  static auto* const lasting_maker = new Maker;
  lasting->private_data = lasting_maker;
  args.callbacks = lasting;
  EXPECT_EQ(extension->register_custom_partitioner(&args), nullptr);
  EXPECT_EQ(maker.destroyed, 1);
}

}  // namespace
}  // namespace kashi::pjrt
