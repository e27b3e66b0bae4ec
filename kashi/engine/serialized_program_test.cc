#include "kashi/engine/serialized_program.h"

#include <string>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/engine/program.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/literal/literal_util.h"

namespace kashi::engine {
namespace {

using testing::HasSubstr;

constexpr char kProgram[] = R"(HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e { x = bf16[3] parameter(0) c = bf16[3] constant({1, nan, -inf}) y = bf16[3] add(x, c)
  ROOT z = bf16[3] multiply(y, y) })";

std::string Serialized(const std::string& text = kProgram) {
  CompileOptions options;
  options.engine = "evaluator";
  options.keep_code = true;
  options.numbers.excess_precision = false;
  return Program::Compile(*ParseAndReturnUnverifiedModule(text).value(), options).value()->Serialize().value();
}

TEST(SerializedProgramTest, RoundTrip) {
  const SerializedProgram program = {"cpu",
                                     "x86-64-v3",
                                     {false, true},
                                     "HloModule m",
                                     {{{1, ~uint64_t{0}}, std::string("code\0code", 9)}, {{3, 4}, ""}}};
  const SerializedProgram read = ReadProgram(WriteProgram(program)).value();
  EXPECT_EQ(read.engine, "cpu");
  EXPECT_EQ(read.target, "x86-64-v3");
  EXPECT_FALSE(read.numbers.flush_denormals);
  EXPECT_TRUE(read.numbers.excess_precision);
  EXPECT_EQ(read.module, program.module);
  ASSERT_EQ(read.objects.size(), 2);
  EXPECT_EQ(read.objects[0].key, program.objects[0].key);
  EXPECT_EQ(read.objects[0].code, program.objects[0].code);
  EXPECT_EQ(WriteProgram(read), WriteProgram(program));
}

TEST(SerializedProgramTest, RunsAsBefore) {
  const std::string bytes = Serialized();
  CompileOptions options;
  options.keep_code = true;
  const auto program = Program::Deserialize(bytes, options).value();
  EXPECT_EQ(program->engine(), "evaluator");
  EXPECT_TRUE(program->module().input_output_alias_config().ParameterHasAlias(0, {}));
  const Literal x = LiteralUtil::CreateR1<bfloat16>({bfloat16(1.0f), bfloat16(2.0f), bfloat16(3.0f)});
  CompileOptions rounding;
  rounding.engine = "evaluator";
  rounding.numbers.excess_precision = false;
  const auto before = Program::Compile(*ParseAndReturnUnverifiedModule(kProgram).value(), rounding).value();
  EXPECT_EQ(program->Execute({&x}).value(), before->Execute({&x}).value());
  EXPECT_EQ(program->Serialize().value(), bytes);
  EXPECT_EQ(before->Serialize().status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(SerializedProgramTest, RefusesBytesThatWereCutOrChanged) {
  const std::string bytes = Serialized();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(Program::Deserialize(absl::string_view(bytes).substr(0, size)).status().code(),
              absl::StatusCode::kInvalidArgument)
        << size;
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    EXPECT_EQ(Program::Deserialize(changed).status().code(), absl::StatusCode::kInvalidArgument) << i;
  }
  EXPECT_FALSE(Program::Deserialize(bytes + "x").ok());
}

// Bytes with a right checksum and wrong contents: a header of lengths that nothing fills, another version, HLO that is
// none or that the verifier refuses.
TEST(SerializedProgramTest, RefusesWrongContents) {
  const std::string bytes = Serialized();
  const auto with_checksum = [](std::string body) {
    const base::Fingerprint key = base::FingerprintOf(body);
    for (const uint64_t word : {key.low, key.high}) {
      for (int i = 0; i < 8; ++i) body.push_back(static_cast<char>(word >> (8 * i)));
    }
    return body;
  };
  const std::string body = bytes.substr(0, bytes.size() - 16);
  EXPECT_TRUE(Program::Deserialize(with_checksum(body)).ok());
  for (size_t at = body.find('\n', 14) + 1; at < body.size(); ++at) {
    std::string changed = body;
    changed[at] = '\xff';
    Program::Deserialize(with_checksum(changed)).status().IgnoreError();  // an error or a program, but it returns
    EXPECT_FALSE(ReadProgram(with_checksum(body.substr(0, at))).ok()) << at;
  }
  const size_t version = std::string("kashi program\n").size();
  std::string other = body;
  other[version] = '9';
  const absl::Status status = Program::Deserialize(with_checksum(other)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.ToString(), HasSubstr("was written by Kashi 9"));
  EXPECT_FALSE(Program::Deserialize(WriteProgram({"evaluator", "", {}, "HloModule", {}})).ok());
  EXPECT_FALSE(Program::Deserialize(WriteProgram({"gpu", "", {}, kProgram, {}})).ok());
  const std::string wrong = absl::StrReplaceAll(kProgram, {{"bf16[3] multiply", "bf16[4] multiply"}});
  EXPECT_FALSE(Program::Deserialize(WriteProgram({"evaluator", "", {}, wrong, {}})).ok());
}

}  // namespace
}  // namespace kashi::engine
