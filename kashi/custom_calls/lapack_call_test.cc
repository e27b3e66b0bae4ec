// Tests that need no program; the others are in kashi/evaluator/lapack_call_test.cc.
#include "kashi/custom_calls/lapack_call.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kashi::custom_calls {
namespace {

using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(LapackCallTest, Attributes) {
  EXPECT_THAT(ParseFfiAttributes("{uplo = 76 : ui8, left = true, low=-3 : i32}").value(),
              UnorderedElementsAre(Pair("uplo", 76), Pair("left", 1), Pair("low", -3)));
  EXPECT_THAT(
      ParseFfiAttributes(R"({a = "x, b = 1", c = dense<[1, 2]> : tensor<2xi64>, d = {e = 5 : i8}, f = 6})").value(),
      UnorderedElementsAre(Pair("f", 6)));
  EXPECT_TRUE(ParseFfiAttributes("").value().empty());
  EXPECT_TRUE(ParseFfiAttributes("{}").value().empty());
  EXPECT_FALSE(ParseFfiAttributes("{").ok());
  EXPECT_FALSE(ParseFfiAttributes("\"uplo\"").ok());
  EXPECT_FALSE(ParseFfiAttributes(R"({a = "\)").ok());  // and reads no further than its end
}

}  // namespace
}  // namespace kashi::custom_calls
