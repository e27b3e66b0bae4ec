#include "kashi/hlo/attributes/op_name.h"

#include "gtest/gtest.h"

namespace kashi::hlo {
namespace {

TEST(OpNameTest, FirstPart) {
  EXPECT_EQ(FirstPartOfOpName("jit(step)/layer/add"), "jit(step)");
  EXPECT_EQ(FirstPartOfOpName("jit(a/b)/add"), "jit(a/b)");
  EXPECT_EQ(FirstPartOfOpName("add"), "add");
  EXPECT_EQ(FirstPartOfOpName(")/add"), ")");
  EXPECT_EQ(FirstPartOfOpName(""), "");
}

TEST(OpNameTest, NamesOfACalledFunctionContinueTheCall) {
  EXPECT_EQ(FullOpName("jit(step)/layer_0/jit(layer)", "attention/add"), "jit(step)/layer_0/jit(layer)/attention/add");
  EXPECT_EQ(FullOpName("jit(step)/jit(f)", "jit(g)"), "jit(step)/jit(f)/jit(g)");
  EXPECT_EQ(FullOpName("jit(step)/layer_0/jit(layer)", "jit(step)/layer_1/add"), "jit(step)/layer_1/add");
  EXPECT_EQ(FullOpName("jit(step)/x", "jit(step)"), "jit(step)");
  EXPECT_EQ(FullOpName("jit(step)/x", "jit(step)s/y"), "jit(step)/x/jit(step)s/y");
  EXPECT_EQ(FullOpName("", "attention/add"), "attention/add");
  EXPECT_EQ(FullOpName("jit(step)/x", ""), "");
}

}  // namespace
}  // namespace kashi::hlo
