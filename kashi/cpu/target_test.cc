#include "kashi/cpu/target.h"

#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kashi::cpu {
namespace {

using testing::HasSubstr;

Processor WithFeatures(std::initializer_list<const char*> names) {
  Processor processor = {"some", {{"lwp", false}}};
  for (const char* name : names) processor.features[name] = true;
  return processor;
}

TEST(TargetTest, TheHostHasAllThatItHas) {
  const Target host = Target::Host().value();
  EXPECT_FALSE(host.processor().empty());
  EXPECT_THAT(host.features(), HasSubstr("+sse4.1"));
}

TEST(TargetTest, AProcessorDecidesTheVectors) {
  const auto bits = [](std::initializer_list<const char*> names) {
    return Target::Of(WithFeatures(names)).value().vector_bits();
  };
  EXPECT_EQ(Target::Of(WithFeatures({"sse3"})).status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(bits({"sse4.1"}), 128);
  EXPECT_EQ(bits({"sse4.1", "avx2"}), 128);
  EXPECT_EQ(bits({"sse4.1", "avx2", "fma"}), 256);
  EXPECT_EQ(bits({"sse4.1", "avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl"}), 256);
  EXPECT_EQ(bits({"sse4.1", "avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512bf16"}), 512);
  EXPECT_TRUE(Target::Of(WithFeatures({"sse4.1", "fma"}))->has_fma());
  EXPECT_FALSE(Target::Of(WithFeatures({"sse4.1", "avx2"}))->has_fma());
  EXPECT_EQ(Target::Of(WithFeatures({"sse4.1", "avx"}))->features(), "+avx,-lwp,+sse4.1");
}

// A processor that has the features of a level, and no more.
TEST(TargetTest, ALevelNeedsItsFeatures) {
  Processor processor = Processor::Host();
  std::map<std::string, int> bits;
  for (const std::string& level : Target::Levels()) {
    const absl::StatusOr<Target> target = Target::ForLevel(level);
    if (!target.ok()) continue;
    bits[level] = target->vector_bits();
    EXPECT_EQ(target->processor(), level);
    EXPECT_EQ(target->features(), "");
  }
  for (const auto& [feature, first_without] :
       std::map<std::string, std::string>{{"avx512vl", "x86-64-v4"}, {"f16c", "x86-64-v3"}, {"sse4.2", "x86-64-v2"}}) {
    processor.features[feature] = false;
    for (const std::string& level : Target::Levels()) {
      const absl::Status status = Target::ForLevel(level, processor).status();
      EXPECT_EQ(status.ok(), bits.count(level) > 0 && level < first_without) << status;
      if (bits.count(level) == 0 || level < first_without) continue;
      EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
      EXPECT_THAT(status.ToString(), HasSubstr(level));
    }
  }
  const absl::Status unknown = Target::ForLevel("x86-64-v5").status();
  EXPECT_EQ(unknown.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(unknown.ToString(), HasSubstr("x86-64-v2, x86-64-v3, x86-64-v4"));
}

}  // namespace
}  // namespace kashi::cpu
