#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/stablehlo/conversion/read_stablehlo.h"

namespace kashi::stablehlo {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<std::unique_ptr<HloModule>> Refine(absl::string_view text, std::vector<KnownArgument> arguments) {
  ConversionOptions options;
  options.argument = [arguments = std::move(arguments)](int64_t number) -> absl::StatusOr<KnownArgument> {
    return number < static_cast<int64_t>(arguments.size()) ? arguments[number] : KnownArgument();
  };
  return ReadStableHlo(text, "test", std::move(options));
}

KnownArgument Sizes(std::vector<int64_t> sizes) { return {std::move(sizes), std::nullopt}; }
KnownArgument Number(int64_t value) { return {std::nullopt, value}; }

std::string ResultOf(absl::string_view text, std::vector<KnownArgument> arguments) {
  const auto module = Refine(text, std::move(arguments));
  return module.ok() ? ShapeUtil::HumanString((*module)->result_shape()) : std::string(module.status().message());
}

// The result has `%size` elements, which the text computes of `%n`, an argument.
std::string Computed(absl::string_view type, absl::string_view arithmetic) {
  return absl::StrCat("func.func @main(%n: tensor<", type, ">) -> tensor<?xf32> {\n", arithmetic,
                      "\n%v = stablehlo.reshape %size : (tensor<", type, ">) -> tensor<1x", type,
                      ">\n%r = stablehlo.dynamic_iota %v, dim = 0 : (tensor<1x", type,
                      ">) -> tensor<?xf32>\nreturn %r : tensor<?xf32>\n}");
}

TEST(DynamicFunctions, SizesFollowFromValuesOfArguments) {
  const std::string text = Computed("i64", "%size = stablehlo.add %n, %n : tensor<i64>");
  EXPECT_EQ(ResultOf(text, {Number(5)}), "f32[10]");
  EXPECT_EQ(ResultOf(text, {Number(0)}), "f32[0]");
  EXPECT_THAT(ResultOf(text, {Number(-1)}), HasSubstr("`stablehlo.dynamic_iota`"));
  EXPECT_THAT(ResultOf(text, {}), HasSubstr("operand 0 depends on values that are only known at run time"));
  EXPECT_THAT(ResultOf(text, {Number(int64_t{1} << 62)}), HasSubstr("`stablehlo.dynamic_iota`"));
}

TEST(DynamicFunctions, AValueMustFitItsType) {
  const std::string text = Computed("i8", "%size = stablehlo.abs %n : tensor<i8>");
  EXPECT_EQ(ResultOf(text, {Number(-100)}), "f32[100]");
  EXPECT_THAT(ResultOf(text, {Number(200)}), HasSubstr("the value 200 does not fit s8[]"));
}

// Arithmetic that would end a careless process.
TEST(DynamicFunctions, ArithmeticOfSizesHasTheValuesOfTheRun) {
  EXPECT_THAT(ResultOf(Computed("i32",
                                "%z = stablehlo.constant dense<0> : tensor<i32>\n"
                                "%size = stablehlo.divide %n, %z : tensor<i32>"),
                       {Number(5)}),
              HasSubstr("`stablehlo.dynamic_iota`"));  // -1
  EXPECT_EQ(ResultOf(Computed("i32",
                              "%z = stablehlo.constant dense<0> : tensor<i32>\n"
                              "%size = stablehlo.remainder %n, %z : tensor<i32>"),
                     {Number(5)}),
            "f32[5]");
}

TEST(DynamicFunctions, EachKindOfCallHasItsComputation) {
  constexpr absl::string_view kText = R"(
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
      %a = call @twice(%x) : (tensor<?xf32>) -> tensor<?xf32>
      %b = call @twice(%x) : (tensor<?xf32>) -> tensor<?xf32>
      %c = stablehlo.concatenate %a, %b, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      %d = call @twice(%c) : (tensor<?xf32>) -> tensor<?xf32>
      return %d : tensor<?xf32>
    }
    func.func private @twice(%x: tensor<?xf32>) -> tensor<?xf32> {
      %y = stablehlo.concatenate %x, %x, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      return %y : tensor<?xf32>
    })";
  const auto module = Refine(kText, {Sizes({3})});
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(ShapeUtil::HumanString((*module)->result_shape()), "f32[24]");
  EXPECT_EQ((*module)->computation_count(), 3);
}

// Functions that call the one before them twice: with %x, or with %d, which has 2^i more elements.
std::string Chain(int length, absl::string_view first_call, absl::string_view second_call) {
  std::string text = "func.func private @f0(%x: tensor<?xf32>) -> tensor<?xf32> {\nreturn %x : tensor<?xf32>\n}\n";
  for (int i = 1; i <= length; ++i) {
    absl::StrAppend(&text, "func.func private @f", i, "(%x: tensor<?xf32>) -> tensor<?xf32> {\n");
    const std::string more = absl::StrCat("tensor<", int64_t{1} << (i % 60), "xf32>");
    absl::StrAppend(&text, "%c = stablehlo.constant dense<0.0> : ", more, "\n");
    absl::StrAppend(&text, "%d = stablehlo.concatenate %x, %c, dim = 0 : (tensor<?xf32>, ", more,
                    ") -> tensor<?xf32>\n");
    absl::StrAppend(&text, "%a = call @f", i - 1, "(", first_call, ") : (tensor<?xf32>) -> tensor<?xf32>\n");
    absl::StrAppend(&text, "%b = call @f", i - 1, "(", second_call, ") : (tensor<?xf32>) -> tensor<?xf32>\n");
    absl::StrAppend(&text, "return %b : tensor<?xf32>\n}\n");
  }
  return absl::StrCat(text, "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n%y = call @f", length,
                      "(%x) : (tensor<?xf32>) -> tensor<?xf32>\nreturn %y : tensor<?xf32>\n}\n");
}

TEST(DynamicFunctions, DeepCallsAreAnError) {
  EXPECT_EQ(ResultOf(Chain(100, "%x", "%x"), {Sizes({3})}), "f32[3]");
  EXPECT_THAT(ResultOf(Chain(5000, "%x", "%x"), {Sizes({3})}), HasSubstr("nested more than 200 deep"));
}

TEST(DynamicFunctions, ManyKindsOfCallsAreAnError) {
  EXPECT_EQ(ResultOf(Chain(5, "%x", "%d"), {Sizes({1})}), "f32[63]");
  EXPECT_THAT(ResultOf(Chain(40, "%x", "%d"), {Sizes({1})}), HasSubstr("called with too many different sizes"));
}

// The loop carries %v, which its body returns unchanged.
constexpr absl::string_view kLoop = R"(
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
      %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
      %v = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %r:3 = stablehlo.while(%i = %zero, %w = %v, %s = %x) : tensor<i32>, tensor<1xi32>, tensor<?xf32>
        cond {
          %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        } do {
          %one = stablehlo.constant dense<1> : tensor<i32>
          %j = stablehlo.add %i, %one : tensor<i32>
          %k = stablehlo.dynamic_iota %w, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
          %t = stablehlo.add %s, %k : tensor<?xf32>
          stablehlo.return %j, NEXT, %t : tensor<i32>, tensor<1xi32>, tensor<?xf32>
        }
      return %r#2 : tensor<?xf32>
    })";

TEST(DynamicFunctions, WhatALoopDoesNotChangeIsKnownInIt) {
  EXPECT_EQ(ResultOf(absl::StrReplaceAll(kLoop, {{"NEXT", "%w"}}), {Sizes({5})}), "f32[5]");
  // An error even for equal values, if they are computed: this cannot be proved.
  EXPECT_THAT(ResultOf(absl::StrReplaceAll(kLoop, {{"NEXT", "%v"}}), {Sizes({5})}),
              HasSubstr("`stablehlo.dynamic_iota`: HLO needs the sizes of its result as numbers"));
}

TEST(DynamicFunctions, SizesOfArgumentsMustFit) {
  constexpr absl::string_view kText =
      "func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {\nreturn %x : tensor<?x3xf32>\n}";
  EXPECT_EQ(ResultOf(kText, {Sizes({4, 3})}), "f32[4,3]");
  EXPECT_THAT(ResultOf(kText, {Sizes({4, 4})}), HasSubstr("sizes [4,4] do not fit its type tensor<?x3xf32>"));
  EXPECT_THAT(ResultOf(kText, {Sizes({4})}), HasSubstr("sizes [4] do not fit its type tensor<?x3xf32>"));
  EXPECT_THAT(ResultOf(kText, {Sizes({int64_t{1} << 62, 3})}), HasSubstr("argument 0"));
  EXPECT_THAT(ResultOf(kText, {}), HasSubstr("Say the sizes of this argument, such as `--argument 0=[8,3]`"));
}

}  // namespace
}  // namespace kashi::stablehlo
