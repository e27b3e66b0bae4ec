#include "kashi/analysis/xla_buffer_assignment.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kashi::analysis {
namespace {

using ::testing::HasSubstr;

constexpr absl::string_view kText = R"(BufferAssignment:
allocation 0: size 32768, maybe-live-out:
 value: <35 tanh @0> (size=8192,offset=0): f32[16,128]{1,0}
 value: <42 while.5{1} (phi) @0> (size=32768,offset=0): f32[64,128]{1,0}
allocation 1: size 4, color 5, parameter 0, shape |f32[]| at ShapeIndex {}:
 value: <33 p @5> (size=4,offset=0): f32[]
allocation 2: size 24, output shape is |(f32[], f32[64,128], f32[128,32])|, maybe-live-out:
 value: <44 tuple.1{} @0> (size=24,offset=0): (f32[], f32[64,128]{1,0}, f32[128,32]{1,0})
allocation 3: size 8, constant:
allocation 4: size 4, thread-local:
allocation 5: size 10240, preallocated-temp:
 value: <39 fusion @0> (size=2048,offset=8192): f32[16,32]{1,0}

Total bytes used: 1
)";

TEST(XlaBufferAssignment, ReadsAllocationsAndValues) {
  const absl::StatusOr<XlaBufferAssignment> assignment = ParseXlaBufferAssignment(kText, "a.txt");
  ASSERT_TRUE(assignment.ok()) << assignment.status();
  const auto& allocations = assignment->allocations;
  ASSERT_EQ(allocations.size(), 6u);
  EXPECT_TRUE(allocations[0].lives_out);
  ASSERT_EQ(allocations[0].values.size(), 2u);
  EXPECT_EQ(allocations[0].values[1].name, "while.5{1}");
  EXPECT_EQ(allocations[0].values[1].bytes, 32768);
  EXPECT_TRUE(allocations[1].is_argument);
  EXPECT_EQ(allocations[1].memory_space, 5);
  EXPECT_EQ(allocations[1].values[0].memory_space, 5);
  EXPECT_TRUE(allocations[2].lives_out);
  EXPECT_EQ(allocations[2].values[0].name, "tuple.1{}");
  EXPECT_TRUE(allocations[3].is_constant);
  EXPECT_TRUE(allocations[4].is_thread_local);
  EXPECT_TRUE(allocations[5].is_temporary);
  EXPECT_EQ(allocations[5].bytes, 10240);
  EXPECT_EQ(allocations[5].values[0].offset, 8192);
}

TEST(XlaBufferAssignment, LinesMayEndAsWindowsEndsThem) {
  const absl::StatusOr<XlaBufferAssignment> assignment =
      ParseXlaBufferAssignment("BufferAssignment:\r\nallocation 0: size 4, constant:\r\n", "a.txt");
  ASSERT_TRUE(assignment.ok()) << assignment.status();
  EXPECT_TRUE(assignment->allocations[0].is_constant);
}

struct Broken {
  absl::string_view lines;
  absl::string_view error;
};

TEST(XlaBufferAssignment, BrokenTextIsAnErrorWithItsPlace) {
  const Broken cases[] = {
      {"allocation x: size 4:\n", "a.txt:2:12: error: expected a number"},
      {"allocation 0: size -4:\n", "a.txt:2:20: error: expected a number"},
      {"allocation 0: size 99999999999999999999:\n", "a.txt:2:20: error: expected a number below 2^63"},
      {"allocation 0: size 4, huge:\n", "a.txt:2:23: error: expected a fact about an allocation"},
      {"allocation 0: size 4", "a.txt:2:21: error: expected `:`"},
      {"allocation 0: size 4, parameter 0, shape |f32[]\n", "expected `|`"},
      {" value: <1 a @0> (size=4,offset=0): f32[]\n", "expected an allocation before its values"},
      {"allocation 0: size 4:\n value: <1 a @0> (size=8,offset=0): f32[2]\n", "exceeds its allocation of 4 bytes"},
      {"allocation 0: size 4:\n value: <1 a @0> (size=4,offset=9223372036854775807): f32[]\n",
       "exceeds its allocation"},
      {"allocation 0: size 4:\n value: <1 a> (size=4,offset=0): f32[]\n", "expected ` @` after this"},
  };
  for (const Broken& broken : cases) {
    const auto assignment = ParseXlaBufferAssignment(absl::StrCat("BufferAssignment:\n", broken.lines), "a.txt");
    EXPECT_EQ(assignment.status().code(), absl::StatusCode::kInvalidArgument) << broken.lines;
    EXPECT_THAT(std::string(assignment.status().message()), HasSubstr(std::string(broken.error))) << broken.lines;
  }
  EXPECT_FALSE(ParseXlaBufferAssignment("", "a.txt").ok());
  EXPECT_FALSE(ParseXlaBufferAssignment("HloModule m", "a.txt").ok());
}

TEST(XlaBufferAssignment, TheSumOfAllSizesIsLimited) {
  std::string text = "BufferAssignment:\n";
  for (int i = 0; i < 4; ++i) absl::StrAppend(&text, "allocation ", i, ": size 4611686018427387904:\n");
  const absl::Status status = ParseXlaBufferAssignment(text, "a.txt").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("a.txt:2:20: error: the sum of the sizes exceeds 2^60 bytes"));
}

// Every prefix of the text, and every text with one byte changed, gives an answer or an error.
TEST(XlaBufferAssignment, NoTextIsFatal) {
  for (size_t length = 0; length < kText.size(); ++length) {
    (void)ParseXlaBufferAssignment(kText.substr(0, length), "a.txt").ok();
    for (char c : {'\0', '9', '|', '\n', '{'}) {
      std::string changed(kText);
      changed[length] = c;
      (void)ParseXlaBufferAssignment(changed, "a.txt").ok();
      (void)ParseXlaMemoryUsageReport(changed, "a.txt").ok();
    }
  }
}

TEST(XlaMemoryUsageReport, ReadsTotalsOfSpaces) {
  const auto usage = ParseXlaMemoryUsageReport(
      "Memory Space: default (color=0)\nTotal bytes: 112680 (110.0KiB)\n  cumulative_size;  size\n  ---\n\n"
      "Memory Space: vmem (1) (color=1)\nTotal bytes: 8 (8B)\n",
      "u.txt");
  ASSERT_TRUE(usage.ok()) << usage.status();
  ASSERT_EQ(usage->size(), 2u);
  EXPECT_EQ((*usage)[0].memory_space, 0);
  EXPECT_EQ((*usage)[0].bytes, 112680);
  EXPECT_EQ((*usage)[1].memory_space, 1);
  EXPECT_EQ((*usage)[1].bytes, 8);
}

TEST(XlaMemoryUsageReport, BrokenTextIsAnError) {
  EXPECT_FALSE(ParseXlaMemoryUsageReport("", "u.txt").ok());
  EXPECT_FALSE(ParseXlaMemoryUsageReport("Total bytes: 8 (8B)\n", "u.txt").ok());
  EXPECT_FALSE(ParseXlaMemoryUsageReport("Memory Space: default (color=0)\n", "u.txt").ok());
  EXPECT_FALSE(ParseXlaMemoryUsageReport("Memory Space: default (color=-1)\nTotal bytes: 8\n", "u.txt").ok());
  EXPECT_FALSE(ParseXlaMemoryUsageReport("Memory Space: default (color=0)\nTotal bytes: many\n", "u.txt").ok());
  const std::string space = "Memory Space: default (color=0)\nTotal bytes: 1152921504606846976\n";
  EXPECT_THAT(ParseXlaMemoryUsageReport(absl::StrCat(space, space), "u.txt").status().message(),
              HasSubstr("u.txt:4:14: error: the sum of the sizes exceeds 2^60 bytes"));
}

}  // namespace
}  // namespace kashi::analysis
