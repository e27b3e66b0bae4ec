#include <string>

#include "gtest/gtest.h"
#include "kashi/stablehlo/text/text_reader.h"

namespace kashi::stablehlo {
namespace {

TEST(TextKindTest, KnowsMlirText) {
  EXPECT_TRUE(BeginsLikeMlirText("module @jit_f {\n}"));
  EXPECT_TRUE(BeginsLikeMlirText("// RUN: x\n\n  func.func @f() {"));
  EXPECT_TRUE(BeginsLikeMlirText("\"builtin.module\"() ({"));
  EXPECT_TRUE(BeginsLikeMlirText("#loc1 = loc(unknown)\nmodule {"));
  EXPECT_TRUE(BeginsLikeMlirText("!t = tensor<f32>\nmodule {"));
  EXPECT_TRUE(BeginsLikeMlirText("#loc = loc(unknown)\n" + std::string(10000, '\n') + "module {"));
}

TEST(TextKindTest, KnowsOtherTexts) {
  EXPECT_FALSE(BeginsLikeMlirText(""));
  EXPECT_FALSE(BeginsLikeMlirText("// only a comment"));
  EXPECT_FALSE(BeginsLikeMlirText("HloModule module, is_scheduled=true"));
  EXPECT_FALSE(BeginsLikeMlirText("modules {"));
  EXPECT_FALSE(BeginsLikeMlirText("# a comment of another language"));
  EXPECT_FALSE(BeginsLikeMlirText("# module = 3"));
  EXPECT_FALSE(BeginsLikeMlirText("#!/bin/module\n"));
  EXPECT_FALSE(BeginsLikeMlirText("#"));
}

}  // namespace
}  // namespace kashi::stablehlo
