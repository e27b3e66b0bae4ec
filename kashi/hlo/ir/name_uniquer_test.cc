#include "kashi/hlo/ir/name_uniquer.h"

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::hlo {
namespace {

TEST(NameUniquerTest, TheFirstKeepsItsName) {
  NameUniquer names(".");
  EXPECT_EQ(names.GetUniqueName("add"), "add");
  EXPECT_EQ(names.GetUniqueName("add"), "add.1");
  EXPECT_EQ(names.GetUniqueName("add"), "add.2");
  EXPECT_EQ(names.GetUniqueName("add.1"), "add.3");
  EXPECT_EQ(names.GetUniqueName("add.7"), "add.7");
  EXPECT_EQ(names.GetUniqueName("sub.4"), "sub.4");
  EXPECT_EQ(names.GetUniqueName("sub"), "sub");
}

TEST(NameUniquerTest, ANumberIsANumberHoweverItIsWritten) {
  NameUniquer names(".");
  EXPECT_EQ(names.GetUniqueName("add.07"), "add.7");
  EXPECT_EQ(names.GetUniqueName("mul.0"), "mul.0");
  EXPECT_EQ(names.GetUniqueName("mul"), "mul.1");
  EXPECT_EQ(names.GetUniqueName("a.b"), "a.b");
  EXPECT_EQ(names.GetUniqueName("a."), "a.");
  EXPECT_EQ(names.GetUniqueName("a.99999999999999999999"), "a.99999999999999999999");
  EXPECT_EQ(names.GetUniqueName("a.99999999999999999999"), "a.99999999999999999999.1");
  EXPECT_EQ(names.GetUniqueName(""), "name");
}

TEST(NameUniquerTest, OtherSeparators) {
  NameUniquer names;
  EXPECT_EQ(names.GetUniqueName("x"), "x");
  EXPECT_EQ(names.GetUniqueName("x"), "x__1");
  EXPECT_EQ(names.GetUniqueName("x__1"), "x__2");
}

TEST(NameUniquerTest, ARegisteredNameIsTaken) {
  NameUniquer names(".");
  names.Register("add.1");
  names.Register("add.1");
  EXPECT_EQ(names.GetUniqueName("add.1"), "add.0");
  EXPECT_EQ(names.GetUniqueName("add.1"), "add.2");
}

TEST(NameUniquerTest, ManyOfOneNameTakeLinearTime) {
  NameUniquer names(".");
  absl::flat_hash_set<std::string> given;
  for (int i = 0; i < 200000; ++i) {
    const std::string name = i % 2 ? "add" : absl::StrCat("add.", i);
    EXPECT_TRUE(given.insert(names.GetUniqueName(name)).second);
  }
}

TEST(SanitizeNameTest, WhatTextCanHave) {
  EXPECT_EQ(SanitizeName("a.b-c_1"), "a.b-c_1");
  EXPECT_EQ(SanitizeName("a b/c"), "a_b_c");
  EXPECT_EQ(SanitizeName("1a"), "_a");
  EXPECT_EQ(SanitizeName("-a"), "_a");
  EXPECT_EQ(SanitizeName("f32"), "f32_");
  EXPECT_EQ(SanitizeName("tuple"), "tuple");
  EXPECT_EQ(SanitizeName("buffer"), "buffer");
  EXPECT_EQ(SanitizeName("__x"), "a_x");
  EXPECT_EQ(SanitizeName("__xla_x"), "__xla_x");
  EXPECT_EQ(SanitizeName(""), "");
}

}  // namespace
}  // namespace kashi::hlo
