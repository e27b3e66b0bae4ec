// Well-formed HLO text made from the op table: every opcode, every attribute that it may have, values by the codec of
// the attribute. What reads must print a text that reads back and prints the same.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "fuzzer/FuzzedDataProvider.h"
#include "kashi/base/check.h"
#include "kashi/hlo/ir/hlo_opcode.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::fuzz {
namespace {

enum class Codec {
#define KASHI_CODEC(name) k##name,
#include "kashi/hlo/ir/codecs.def"
};
constexpr Codec kCodecs[] = {
#define KASHI_ATTRIBUTE(identifier, name, codec, field, argument) Codec::k##codec,
#include "kashi/hlo/ir/attributes.def"
};

// Values of the codecs whose values are not made up of numbers and shapes.
struct Sample {
  Codec codec;
  const char* text;
  const char* other_text = nullptr;
};
constexpr Sample kSamples[] = {
    {Codec::kBool, "true", "false"},
    {Codec::kTrue, "true", "false"},
    {Codec::kTriStateBool, "true", "false"},
    {Codec::kCholeskyLower, "true", "false"},
    {Codec::kFloat, "0.125"},
    {Codec::kString, "\"side\"", "\"a\\\"b\\n\""},
    {Codec::kComputation, "sum", "id"},
    {Codec::kComputationList, "{sum, id}", "{id}"},
    {Codec::kDirection, "LT"},
    {Codec::kComparisonKind, "TOTALORDER", "FLOAT"},
    {Codec::kDistribution, "rng_uniform"},
    {Codec::kRngAlgorithm, "rng_philox"},
    {Codec::kDotAlgorithm, "dot_bf16_bf16_f32_x3"},
    {Codec::kOperandPrecision, "{highest,default}", "{default,default}"},
    {Codec::kApiVersion, "API_VERSION_TYPED_FFI"},
    {Codec::kSchedule, "SCHEDULE_LATEST"},
    {Codec::kConvKind, "fprop"},
    {Codec::kFftKind, "RFFT"},
    {Codec::kFusionKind, "kLoop"},
    {Codec::kPaddingKind, "PADDING_SAME"},
    {Codec::kAccuracy, "{mode=highest}", "{tolerance={atol=0.5,rtol=0.25,ulps=3}}"},
    {Codec::kGroupMode, "flattened_id", "cross_replica"},
    {Codec::kWindow, "{size=2x1 stride=1x2 pad=0_1x1_0}"},
    {Codec::kDimLabels, "b01f_01io->b01f", "b0f_io0->bf0"},
    {Codec::kPadding, "0_1x1_-1", "0_1_2"},
    {Codec::kSliceRanges, "{[0:1], [0:2:2]}", "{[0:1]}"},
    {Codec::kAliasing, "{{0}: (1, {}), {1}: (0, {0,1})}"},
    {Codec::kLiteral, "f32[] 1.5", "s32[2]{0} {1, 2}"},
    {Codec::kReplicaGroups, "{{0,1},{2,3}}", "[2,2]<=[2,2]T(1,0)"},
    {Codec::kDomain, "{kind=\"sharding\", entry={replicated}, exit={maximal device=1}}"},
};

class ModuleText {
 public:
  explicit ModuleText(FuzzedDataProvider* data) : data_(*data) {}

  std::string Make() {
    std::string text = "HloModule fuzzed";
    if (data_.ConsumeBool()) absl::StrAppend(&text, ", is_scheduled=true");
    if (data_.ConsumeBool()) absl::StrAppend(&text, ", replica_count=", Small());
    absl::StrAppend(&text, "\n\n",
                    "sum {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT s = f32[] add(x, y)\n}\n\n"
                    "id {\n  p = f32[2] parameter(0)\n  ROOT c = f32[2] copy(p)\n}\n\nENTRY main {\n");
    for (int i = 0; i < 3; ++i) absl::StrAppend(&text, "  p", i, " = ", ArrayShape(), " parameter(", i, ")\n");
    int count = 3;
    const int instructions = data_.ConsumeIntegralInRange(1, 12);
    for (int i = 0; i < instructions; ++i) absl::StrAppend(&text, "  ", Instruction(count++), "\n");
    return absl::StrCat(text, "}\n");
  }

 private:
  int Small() { return data_.ConsumeIntegralInRange(0, 4); }
  std::string Name(int count) { return absl::StrCat("p", data_.ConsumeIntegralInRange(0, count - 1)); }

  std::string ArrayShape() {
    const char* const types[] = {"f32", "bf16", "s32", "u32", "pred", "c64", "s4", "f8e4m3fn", "u64"};
    std::vector<int> sizes(data_.ConsumeIntegralInRange(0, 3));
    std::vector<size_t> layout;
    for (size_t i = 0; i < sizes.size(); ++i) {
      sizes[i] = Small();
      layout.insert(layout.begin() + data_.ConsumeIntegralInRange<size_t>(0, i), i);
    }
    std::string text = absl::StrCat(data_.PickValueInArray(types), "[", absl::StrJoin(sizes, ","), "]");
    if (!sizes.empty() && data_.ConsumeBool()) {
      absl::StrAppend(&text, "{", absl::StrJoin(layout, ","), data_.ConsumeBool() ? ":T(2,2)S(1)" : "", "}");
    }
    return text;
  }
  std::string AnyShape() {
    switch (data_.ConsumeIntegralInRange(0, 7)) {
      case 0:
        return absl::StrCat("(", ArrayShape(), ", ", ArrayShape(), ")");
      case 1:
        return absl::StrCat("((", ArrayShape(), "), ", ArrayShape(), ", u32[])");
      case 2:
        return "token[]";
      default:
        return ArrayShape();
    }
  }

  std::string List(absl::string_view open, absl::string_view close, absl::string_view separator = ",") {
    std::vector<int> values(data_.ConsumeIntegralInRange(0, 3));
    for (int& value : values) value = Small();
    return absl::StrCat(open, absl::StrJoin(values, separator), close);
  }

  std::string Value(HloAttribute attribute) {
    const absl::string_view word = HloAttributeName(attribute);
    const Codec codec = kCodecs[static_cast<size_t>(attribute)];
    for (const Sample& sample : kSamples) {
      if (sample.codec != codec) continue;
      return sample.other_text == nullptr || data_.ConsumeBool() ? sample.text : sample.other_text;
    }
    switch (codec) {
      case Codec::kTriangularSolve:
        return word == "transpose_a" ? "ADJOINT" : "true";
      case Codec::kGatherDims:
      case Codec::kScatterDims:
        return word == "index_vector_dim" ? absl::StrCat(Small()) : List("{", "}");
      case Codec::kIntList:
      case Codec::kDotDims:
      case Codec::kRaggedDims:
        return List("{", "}");
      case Codec::kIntListList:
        return absl::StrCat("{", List("{", "}"), ",", List("{", "}"), "}");
      case Codec::kPairList:
        return absl::StrCat("{{", Small(), ",", Small(), "}}");
      case Codec::kShapeList:
        return absl::StrCat("{", ArrayShape(), ", ", ArrayShape(), "}");
      case Codec::kSingleShape:
        return ArrayShape();
      default:  // numbers
        return absl::StrCat(Small());
    }
  }

  std::string Instruction(int number) {
    HloOpcode opcode = static_cast<HloOpcode>(data_.ConsumeIntegralInRange<int>(0, HloOpcodeCount() - 1));
    // Sugar for an asynchronous operation with a wrong number of operands does not read back; in XLA neither.
    if (HloOpcodeIsAsync(opcode)) opcode = HloOpcode::kNegate;
    const HloOpcodeInfo& info = GetHloOpcodeInfo(opcode);
    std::string text = absl::StrCat("p", number, " = ", AnyShape(), " ", info.name, "(");
    if (opcode == HloOpcode::kParameter) {
      absl::StrAppend(&text, number);
    } else if (opcode == HloOpcode::kConstant) {
      text = absl::StrCat("p", number, " = s32[2] constant({", Small(), ", ", Small(), "}");
    } else {
      const int operands = info.arity >= 0 ? info.arity : data_.ConsumeIntegralInRange(0, 7);
      for (int i = 0; i < operands; ++i) absl::StrAppend(&text, i > 0 ? ", " : "", Name(number));
    }
    absl::StrAppend(&text, ")");
    for (const HloOpcodeAttribute& entry : info.attributes) {
      if (entry.need != HloOpcodeAttribute::kRequired && !data_.ConsumeBool()) continue;
      absl::StrAppend(&text, ", ", HloAttributeName(entry.attribute), "=", Value(entry.attribute));
    }
    if (data_.ConsumeBool()) absl::StrAppend(&text, ", metadata={op_name=\"a/b\" source_line=", Small(), "}");
    if (data_.ConsumeBool()) absl::StrAppend(&text, ", backend_config={\"k\":[1,{}]}");
    if (data_.ConsumeBool()) absl::StrAppend(&text, ", frontend_attributes={b=\"x\",a={\"j\":1}}");
    if (data_.ConsumeBool()) absl::StrAppend(&text, ", control-predecessors={", Name(number), "}");
    return text;
  }

  FuzzedDataProvider& data_;
};

void CheckLaws(const std::string& text) {
  const absl::StatusOr<std::unique_ptr<HloModule>> module = ParseAndReturnUnverifiedModule(text);
  if (!module.ok()) return;  // operands and shapes are drawn blindly
  const std::string printed = (*module)->ToString();
  const absl::StatusOr<std::unique_ptr<HloModule>> again = ParseAndReturnUnverifiedModule(printed);
  KASHI_CHECK_OK(again) << text << printed;
  KASHI_CHECK_EQ((*again)->ToString(), printed) << text;
  KASHI_CHECK_EQ((*module)->Clone("")->ToString(), printed) << text;
  KASHI_CHECK((*module)->Equal(**again)) << text;
}

}  // namespace
}  // namespace kashi::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  FuzzedDataProvider data(bytes, size);
  kashi::fuzz::CheckLaws(kashi::fuzz::ModuleText(&data).Make());
  return 0;
}
