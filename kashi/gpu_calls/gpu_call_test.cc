#include "kashi/gpu_calls/gpu_call.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/gpu_calls/call_config.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::gpu_calls {
namespace {

using ::testing::HasSubstr;

// A module with one call, `call`, of operands with these shapes.
std::unique_ptr<HloModule> ReadCall(absl::string_view target, absl::string_view config,
                                    const std::vector<std::string>& operands, absl::string_view result,
                                    absl::string_view attributes = "") {
  std::string parameters, names;
  for (size_t i = 0; i < operands.size(); ++i) {
    absl::StrAppend(&parameters, "  x", i, " = ", operands[i], " parameter(", i, ")\n");
    absl::StrAppend(&names, i == 0 ? "" : ", ", "x", i);
  }
  const std::string text = absl::Substitute(
      "HloModule m\nENTRY e {\n$0  ROOT call = $1 custom-call($2), custom_call_target=\"$3\"$4, backend_config=$5\n}\n",
      parameters, result, names, target, attributes, config);
  absl::StatusOr<std::unique_ptr<HloModule>> module = ParseAndReturnUnverifiedModule(text);
  EXPECT_TRUE(module.ok()) << module.status() << text;
  return *std::move(module);
}

const HloInstruction& CallIn(const HloModule& module) { return *module.entry_computation()->root_instruction(); }

// The names of the operations of a call, in order, without parameters; or the error.
std::string OperationsOf(const HloModule& module, LoweredPart part = LoweredPart::kAll) {
  const auto lowered = LowerGpuCall(CallIn(module), part);
  if (!lowered.ok()) return std::string(lowered.status().message());
  std::string names;
  for (const HloInstruction* instruction : (*lowered)->entry_computation()->instructions()) {
    if (instruction->opcode() == HloOpcode::kParameter) continue;
    absl::StrAppend(&names, names.empty() ? "" : " ", HloOpcodeString(instruction->opcode()));
  }
  return names;
}

constexpr char kDimensions[] =
    R"("dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"],"lhs_batch_dimensions":[],"rhs_batch_dimensions":[]})";

std::string GemmConfig(absl::string_view more = "\"alpha_real\":1,\"beta\":0") {
  return absl::StrCat("{\"operation_queue_id\":\"0\",\"gemm_backend_config\":{", kDimensions, more.empty() ? "" : ",",
                      more, "}}");
}

std::string Gemm(absl::string_view config, const std::vector<std::string>& operands = {"f32[2,3]", "f32[3,4]"},
                 absl::string_view result = "(f32[2,4], s8[32])", LoweredPart part = LoweredPart::kAll) {
  return OperationsOf(*ReadCall("__cublas$lt$matmul", config, operands, result), part);
}

TEST(GpuCallTest, TargetsAreFound) {
  EXPECT_EQ(FindGpuCall("__cublas$gemm")->config_key, "gemm_backend_config");
  EXPECT_EQ(FindGpuCall("__cudnn$norm")->counts, GpuCall::Counts::kElements);
  EXPECT_EQ(FindGpuCall("__cublas$lt$groupedMatmul"), nullptr);
  EXPECT_EQ(FindGpuCall("custom"), nullptr);
}

TEST(GpuCallTest, ScratchMemoryIsTheLastArrayOfBytes) {
  const auto scratch = [](absl::string_view result) {
    const auto module = ReadCall("__cublas$gemm", "{}", {}, result);
    const Shape* const found = ScratchOf(CallIn(*module));
    return found == nullptr ? "none" : found->ToString();
  };
  EXPECT_EQ(scratch("(f32[2], s8[32])"), "s8[32]");
  EXPECT_EQ(scratch("(f32[2], f32[], u8[0])"), "u8[0]");
  EXPECT_EQ(scratch("(f32[2], f32[32])"), "none");
  EXPECT_EQ(scratch("(s8[2,2], s8[2,2])"), "none");
  EXPECT_EQ(scratch("(s8[2])"), "none");
  EXPECT_EQ(scratch("s8[2]"), "none");
}

TEST(GpuCallTest, ProductsAreDots) {
  EXPECT_EQ(Gemm(GemmConfig()), "dot tuple");
  EXPECT_EQ(OperationsOf(*ReadCall("__cublas$gemm", GemmConfig(), {"f32[2,3]", "f32[3,4]"}, "f32[2,4]")), "dot");
  EXPECT_EQ(Gemm(GemmConfig("\"alpha_real\":2,\"beta\":1"), {"f32[2,3]", "f32[3,4]", "f32[2,4]"}),
            "dot constant broadcast multiply add tuple");
  EXPECT_EQ(Gemm(GemmConfig("\"alpha_real\":1,\"epilogue\":\"BIAS_RELU\""), {"f32[2,3]", "f32[3,4]", "f32[4]"}),
            "dot broadcast add constant broadcast maximum tuple");
}

// Before 2023 the config was the whole object, and of a string.
TEST(GpuCallTest, OldConfigs) {
  const std::string old =
      absl::StrCat(R"({"alpha_real":1,"alpha_imag":0,"beta":0,)", kDimensions,
                   R"(,"batch_size":"1","lhs_stride":"6","rhs_stride":"12","selected_algorithm":"-1"})");
  EXPECT_EQ(Gemm(old), "dot tuple");
  const std::string quoted = absl::StrCat("\"", absl::StrReplaceAll(old, {{"\"", "\\\""}}), "\"");
  EXPECT_EQ(Gemm(quoted), "dot tuple");
  const auto old_convolution = ReadCall("__cudnn$convBiasActivationForward",
                                        R"({"conv_result_scale":1,"activation_mode":"2","side_input_scale":0})",
                                        {"f32[1,4,4,2]", "f32[3,3,2,8]", "f32[8]"}, "(f32[1,4,4,8], u8[0])",
                                        ", window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f");
  EXPECT_EQ(OperationsOf(*old_convolution), "convolution broadcast add constant broadcast maximum tuple");
}

// The message of a call, with this config and these operands.
void ExpectGemmError(absl::string_view config, absl::string_view message,
                     const std::vector<std::string>& operands = {"f32[2,3]", "f32[3,4]"},
                     absl::string_view result = "(f32[2,4], s8[32])") {
  const std::string found = Gemm(config, operands, result);
  EXPECT_THAT(found, HasSubstr(message)) << config;
  EXPECT_EQ(found.substr(0, 6), "call: ") << config;
}

TEST(GpuCallTest, WrongConfigsAreErrors) {
  ExpectGemmError("\"\"", "dot_dimension_numbers is missing");
  ExpectGemmError("{}", "dot_dimension_numbers is missing");
  ExpectGemmError("\"[1]\"", "backend_config is no object");
  ExpectGemmError("\"{\"", "JSON: expected a key");
  ExpectGemmError("{\"gemm_backend_config\":3}", "gemm_backend_config is no object");
  ExpectGemmError(GemmConfig(""), "alpha_real is missing");
  ExpectGemmError(GemmConfig("\"alpha_real\":\"NaN\""), "alpha_real is NaN, which is not finite");
  ExpectGemmError(GemmConfig("\"alpha_real\":1e999"), "alpha_real is 1e999, which is not finite");
  ExpectGemmError(GemmConfig("\"alpha_real\":1e200"), "the number 1e+200 is beyond the range of the call");
  ExpectGemmError(GemmConfig("\"alpha_real\":[1]"), "alpha_real is no number");
  ExpectGemmError(GemmConfig("\"alpha_real\":\"one\""), "alpha_real is no number");
  ExpectGemmError(GemmConfig("\"alpha_real\":1,\"alpha_imag\":2"), "alpha_imag is not 0");
  ExpectGemmError(GemmConfig("\"alpha_real\":1,\"epilogue\":\"SOFTMAX\""), "epilogue \"SOFTMAX\" is not known");
  ExpectGemmError(GemmConfig("\"alpha_real\":1,\"epilogue\":{}"), "epilogue is no name");
  ExpectGemmError(GemmConfig("\"alpha_real\":1,\"damax_output\":1"), "damax_output is neither true nor false");
  ExpectGemmError(R"({"alpha_real":1,"dot_dimension_numbers":{"lhs_contracting_dimensions":["x"]}})",
                  "dot_dimension_numbers.lhs_contracting_dimensions is no list of integers");
  ExpectGemmError(R"({"alpha_real":1,"dot_dimension_numbers":{"lhs_contracting_dimensions":["99999999999999999999"]}})",
                  "is no list of integers");
}

TEST(GpuCallTest, WrongOperandsAndResultsAreErrors) {
  ExpectGemmError(GemmConfig(), "has 2 operands, not 3", {"f32[2,3]", "f32[3,4]", "f32[2,4]"});
  ExpectGemmError(GemmConfig(), "has 2 to 4 operands, not 1", {"f32[2,3]"});
  ExpectGemmError(GemmConfig(), "", {"f32[2,3]", "f32[5,4]"});
  ExpectGemmError(GemmConfig(), "", {"f32[2]", "f32[]"});
  ExpectGemmError(GemmConfig(), "the call gives f32[2,5], where its operands make f32[2,4]", {"f32[2,3]", "f32[3,4]"},
                  "(f32[2,5], s8[32])");
  ExpectGemmError(GemmConfig(), "has 1 results beside scratch memory, not 2", {"f32[2,3]", "f32[3,4]"},
                  "(f32[2,4], f32[2,4], s8[32])");
  ExpectGemmError(GemmConfig(), "with an operand (f32[2])", {"(f32[2])", "f32[3,4]"});
  ExpectGemmError(GemmConfig(), "with an operand f32[<=2,3]", {"f32[<=2,3]", "f32[3,4]"});
  ExpectGemmError(GemmConfig(), "with a result token[]", {"f32[2,3]", "f32[3,4]"}, "(token[], s8[32])");
  ExpectGemmError(GemmConfig("\"alpha_real\":0.5"), "is no 32-bit integer", {"s8[2,3]", "s8[3,4]"},
                  "(s32[2,4], s8[32])");
  ExpectGemmError(
      R"({"alpha_real":1,"dot_dimension_numbers":{"lhs_contracting_dimensions":["-7"],"rhs_contracting_dimensions":["9223372036854775807"]}})",
      "");
}

// Costs need the products only.
TEST(GpuCallTest, ProductsOfUnknownEpilogues) {
  const std::string config = GemmConfig("\"alpha_real\":1,\"epilogue\":\"SOFTMAX\"");
  EXPECT_EQ(Gemm(config, {"f32[2,3]", "f32[3,4]"}, "(f32[2,4], s8[32])", LoweredPart::kProducts), "dot tuple");
}

std::string Convolution(absl::string_view target, absl::string_view config, const std::vector<std::string>& operands,
                        absl::string_view result,
                        absl::string_view attributes = "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f") {
  return OperationsOf(*ReadCall(target, config, operands, result, absl::StrCat(", ", attributes)));
}

TEST(GpuCallTest, WrongConvolutionsAreErrors) {
  const std::vector<std::string> xw = {"f32[1,4,4,2]", "f32[3,3,2,8]"},
                                 xwb = {"f32[1,4,4,2]", "f32[3,3,2,8]", "f32[8]"};
  const std::string y = "(f32[1,4,4,8], u8[0])";
  EXPECT_EQ(Convolution("__cudnn$convForward", "{}", xw, y), "convolution tuple");
  EXPECT_THAT(Convolution("__cudnn$convForward", "{}", xwb, y), HasSubstr("has 2 operands, not 3"));
  EXPECT_THAT(Convolution("__cudnn$convForward", "{}", xw, "(f32[1,4,4,9], u8[0])"), HasSubstr("operands make"));
  EXPECT_THAT(Convolution("__cudnn$convForward", R"({"reordered_int8_nchw_vect":true})", xw, y),
              HasSubstr("order of cuDNN"));
  EXPECT_THAT(Convolution("__cudnn$convBiasActivationForward", R"({"activation_mode":"kReluX"})", xwb, y),
              HasSubstr("activation_mode \"kReluX\" is not known"));
  EXPECT_THAT(Convolution("__cudnn$convBiasActivationForward", R"({"side_input_scale":1})", xwb, y),
              HasSubstr("has 4 operands, not 3"));
  for (const char* target : {"__cudnn$convForward", "__cudnn$convBackwardInput", "__cudnn$convBackwardFilter"}) {
    EXPECT_THAT(Convolution(target, "{}", xw, y, "window={size=3}, dim_labels=b0f_0io->b0f"),
                HasSubstr("of different ranks"));
    EXPECT_THAT(
        Convolution(target, "{}", xw, y, "window={size=3x3}, dim_labels=b01f_01io->b01f, feature_group_count=3"),
        HasSubstr("call: "));
    EXPECT_THAT(
        Convolution(target, "{}", xw, y,
                    "window={size=9223372036854775807x3 stride=9223372036854775807x1}, dim_labels=b01f_01io->b01f"),
        HasSubstr("that no convolution has"));
    EXPECT_THAT(Convolution(target, "{}", {"f32[1,4,4611686018427387904,0]", "f32[3,3,2,8]"}, y),
                HasSubstr("too large a dimension"));
    EXPECT_THAT(Convolution(target, "{}", {"f32[]", "f32[3,3,2,8]"}, y), HasSubstr("of different ranks"));
  }
}

TEST(GpuCallTest, WrongGraphsAreErrors) {
  const auto lower = [](absl::string_view graph, const std::vector<std::string>& more = {}) {
    std::vector<std::string> operands = {"f32[1,4,4,2]", "f32[3,3,2,8]"};
    operands.insert(operands.end(), more.begin(), more.end());
    return Convolution("__cudnn$convForwardGraph", absl::StrCat("{\"serialized_graph\":\"", graph, "\"}"), operands,
                       "(f32[1,4,4,8], u8[0])");
  };
  EXPECT_EQ(lower("1:[f32]conv();"), "convolution tuple");
  EXPECT_EQ(lower("1:[f32]conv();2:[f32]scale(1);", {"f32[]"}), "convolution reshape broadcast multiply tuple");
  EXPECT_THAT(lower(""), HasSubstr("serialized_graph is missing"));
  EXPECT_THAT(lower("1:[f32]relu();"), HasSubstr("does not begin with a convolution"));
  EXPECT_THAT(lower("1:[f32]conv"), HasSubstr("which is no operation"));
  EXPECT_THAT(lower("1:[zzz]conv();"), HasSubstr("which is no operation"));
  EXPECT_THAT(lower("1:[f32]conv();1:[f32]relu(1);"), HasSubstr("has two operations 1"));
  EXPECT_THAT(lower("1:[f32]conv();2:[f32]relu(3);"), HasSubstr("has no operation 3"));
  EXPECT_THAT(lower("1:[f32]conv();2:[f32]relu();"), HasSubstr("has relu without an operand"));
  EXPECT_THAT(lower("1:[f32]conv();2:[f32]sinh(1);"), HasSubstr("the operation \"sinh\", which is not known"));
  EXPECT_THAT(lower("1:[f32]conv();2:[f32]scale(1);"), HasSubstr("needs more operands"));
  EXPECT_THAT(lower("1:[f32]conv();", {"f32[]"}), HasSubstr("does not use all operands"));
  EXPECT_THAT(lower("1:[f32]conv();2:[f32]amax(1);"), HasSubstr("results beside scratch memory"));
}

TEST(GpuCallTest, WrongNormsAndAttentionAreErrors) {
  const auto norm = [](absl::string_view config, absl::string_view x = "f32[2,8,1,1]") {
    return OperationsOf(
        *ReadCall("__cudnn$norm", config, {std::string(x), "f32[1,8,1,1]", "f32[1,8,1,1]"}, "(f32[2,8,1,1], u8[0])"));
  };
  EXPECT_THAT(norm(R"({"epsilon":1e-5})"), HasSubstr("rsqrt"));
  EXPECT_THAT(norm("{}"), HasSubstr("epsilon is missing"));
  EXPECT_THAT(norm(R"({"epsilon":1e-5,"kind":"BATCH"})"), HasSubstr("kind \"BATCH\" is not known"));
  EXPECT_THAT(norm(R"({"epsilon":1e-5})", "f32[2]"), HasSubstr("fewer than two dimensions"));
  const auto attention = [](absl::string_view more, absl::string_view q = "bf16[2,8,4,16]") {
    constexpr char kProducts[] =
        R"("bmm1_dot_dimension_numbers":{"lhs_contracting_dimensions":["3"],"rhs_contracting_dimensions":["3"],"lhs_batch_dimensions":["0","2"],"rhs_batch_dimensions":["0","2"]},)"
        R"("bmm2_dot_dimension_numbers":{"lhs_contracting_dimensions":["3"],"rhs_contracting_dimensions":["1"],"lhs_batch_dimensions":["0","1"],"rhs_batch_dimensions":["0","2"]})";
    return OperationsOf(*ReadCall("__cudnn$fmhaSoftmax", absl::StrCat("{", kProducts, more, "}"),
                                  {std::string(q), "bf16[2,8,4,16]", "bf16[2,8,4,16]"}, "(bf16[2,4,8,16], u8[0])"));
  };
  EXPECT_THAT(attention(R"(,"fmha_scale":0.25)"), HasSubstr("exponential"));
  EXPECT_THAT(attention(""), HasSubstr("fmha_scale is missing"));
  EXPECT_THAT(attention(R"(,"fmha_scale":1,"dropout_rate":0.5)"), HasSubstr("dropout_rate is not 0"));
  EXPECT_THAT(attention(R"(,"fmha_scale":1,"mask_type":"ALIBI")"), HasSubstr("mask_type \"ALIBI\" is not known"));
  EXPECT_THAT(attention(R"(,"fmha_scale":1,"mask_type":"PADDING")"), HasSubstr("has 5 operands, not 3"));
  EXPECT_THAT(attention(R"(,"fmha_scale":1)", "bf16[2,8,3,16]"), HasSubstr("no multiple"));
  EXPECT_THAT(attention(R"(,"fmha_scale":1)", "bf16[2,8]"), HasSubstr("operand 0 does not have four dimensions"));
  EXPECT_THAT(attention(R"(,"fmha_scale":1)", "bf16[3,8,4,16]"), HasSubstr("call: "));
}

// As JAX writes it: q, k, v and six scales. Only costs are known.
TEST(GpuCallTest, AttentionInEightBits) {
  std::vector<std::string> operands(3, "f8e4m3fn[2,8,4,16]");
  operands.resize(9, "f32[1,1,1,1]");
  const auto module = ReadCall(
      "__cudnn$fmhaSoftmaxF8",
      R"({"cudnn_fmha_backend_config":{"fmha_scale":1,"bmm1_dot_dimension_numbers":{"lhs_contracting_dimensions":["3"],"rhs_contracting_dimensions":["3"],"lhs_batch_dimensions":["0","2"],"rhs_batch_dimensions":["0","2"]},"bmm2_dot_dimension_numbers":{"lhs_contracting_dimensions":["3"],"rhs_contracting_dimensions":["1"],"lhs_batch_dimensions":["0","1"],"rhs_batch_dimensions":["0","2"]}}})",
      operands, "(f8e4m3fn[2,4,8,16], f32[1,1,1,1], f32[1,1,1,1], f32[2,4,8], u8[0])");
  EXPECT_EQ(OperationsOf(*module), "call: attention in 8 bits, beside its products");
  EXPECT_EQ(OperationsOf(*module, LoweredPart::kProducts), "convert convert convert dot dot tuple");
}

TEST(GpuCallTest, QueuesOfInstructions) {
  const auto queue = [](absl::string_view config) {
    return OperationQueueOf(CallIn(*ReadCall("custom", config, {}, "f32[2]")));
  };
  EXPECT_EQ(queue(R"({"operation_queue_id":"0","wait_on_operation_queues":["2"]})"), 0);
  EXPECT_EQ(queue(R"({"operation_queue_id":"2"})"), 2);
  EXPECT_EQ(queue(R"({"operation_queue_id": 13, "x":1})"), 13);
  EXPECT_EQ(queue("{}"), 0);
  EXPECT_EQ(queue(R"({"operation_queue_id":"99999999999999999999"})"), 0);
  EXPECT_EQ(queue(R"({"operation_queue_id":"queue"})"), 0);
}

TEST(GpuCallTest, PrecisionOfTheConfig) {
  const auto module = ReadCall(
      "__cublas$gemm",
      R"({"precision_config":{"operand_precision":["HIGHEST","DEFAULT"],"algorithm":"ALG_DOT_BF16_BF16_F32_X3"}})",
      {"f32[2,3]", "f32[3,4]"}, "f32[2,4]");
  const PrecisionConfig config = PrecisionOf(CallIn(*module));
  EXPECT_EQ(config.operand_precision(0), PrecisionConfig::HIGHEST);
  EXPECT_EQ(config.algorithm(), PrecisionConfig::ALG_DOT_BF16_BF16_F32_X3);
  EXPECT_TRUE(PrecisionOf(CallIn(*ReadCall("__cublas$gemm", "\"{\"", {}, "f32[2]"))) == PrecisionConfig());
}

}  // namespace
}  // namespace kashi::gpu_calls
