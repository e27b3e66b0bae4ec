// dot, ragged-dot and scaled-dot against the sums that define them (docs/spec/hlo-ops.md 4).
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "kashi/array/index_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

using Dimensions = std::vector<int64_t>;

Literal RandomF32(const Dimensions& dimensions, std::mt19937_64& random) {
  Literal literal(ShapeUtil::MakeShape(F32, dimensions));
  for (float& element : literal.data<float>()) element = static_cast<float>(static_cast<int64_t>(random() % 15) - 7);
  return literal;
}

std::string ShapeText(const std::string& type, const Dimensions& dimensions) {
  return absl::StrCat(type, "[", absl::StrJoin(dimensions, ","), "]");
}

// ---- dot -----------------------------------------------------------------------------------------------------------

TEST(DotTest, Matrices) {
  const Literal lhs = LiteralUtil::CreateR2<float>({{1, 2, 3}, {4, 5, 6}});
  const Literal rhs = LiteralUtil::CreateR2<float>({{1, 10}, {100, 1000}, {0, -1}});
  std::vector<Literal> arguments;
  arguments.push_back(lhs.Clone());
  arguments.push_back(rhs.Clone());
  const Literal product = EvaluateText(R"(HloModule m
    ENTRY e {
      a = f32[2,3] parameter(0)
      b = f32[3,2] parameter(1)
      ROOT d = f32[2,2] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    })",
                                       arguments);
  EXPECT_EQ(product, (LiteralUtil::CreateR2<float>({{201, 2007}, {504, 5034}})));
}

// Products by the instructions for 8 bits: all sizes beside tiles, panels and words, both orders of both operands.
TEST(DotTest, Int8) {
  std::mt19937_64 random(5);
  const std::vector<Dimensions> sizes = {{16, 64, 32}, {17, 131, 33}, {40, 1030, 47}, {100, 66, 130}, {400, 35, 16}};
  for (const Dimensions& size : sizes) {
    const int64_t m = size[0], k = size[1], n = size[2];
    for (int orders = 0; orders < 4; ++orders) {
      const bool lhs_first = (orders & 1) != 0, rhs_first = (orders & 2) != 0;  // the contracting dimension
      std::vector<Literal> arguments;
      arguments.emplace_back(ShapeUtil::MakeShape(S8, lhs_first ? Dimensions{2, k, m} : Dimensions{2, m, k}));
      arguments.emplace_back(ShapeUtil::MakeShape(S8, rhs_first ? Dimensions{2, k, n} : Dimensions{2, n, k}));
      for (Literal& argument : arguments) {
        for (int8_t& element : argument.data<int8_t>()) element = static_cast<int8_t>(random());
      }
      const Literal product =
          EvaluateText(absl::StrCat("HloModule m\nENTRY e {\n  a = ", ShapeUtil::HumanString(arguments[0].shape()),
                                    " parameter(0)\n  b = ", ShapeUtil::HumanString(arguments[1].shape()),
                                    " parameter(1)\n  ROOT d = s32[2,", m, ",", n,
                                    "] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={",
                                    lhs_first ? 1 : 2, "}, rhs_contracting_dims={", rhs_first ? 1 : 2, "}\n}"),
                       arguments);
      const auto lhs = arguments[0].data<int8_t>(), rhs = arguments[1].data<int8_t>();
      const auto out = product.data<int32_t>();
      for (int64_t b = 0; b < 2; ++b) {
        for (int64_t i = 0; i < m; ++i) {
          for (int64_t j = 0; j < n; ++j) {
            int32_t sum = 0;
            for (int64_t p = 0; p < k; ++p) {
              sum += lhs[b * m * k + (lhs_first ? p * m + i : i * k + p)] *
                     rhs[b * k * n + (rhs_first ? p * n + j : j * k + p)];
            }
            ASSERT_EQ(out[(b * m + i) * n + j], sum)
                << m << "," << k << "," << n << " " << orders << " " << i << " " << j;
          }
        }
      }
    }
  }
}

// Compares a dot of short elements, which are packed as they are, with the dot of the converted elements.
void CheckAgainstConverted(PrimitiveType lhs, PrimitiveType rhs, const std::string& result, const Dimensions& size,
                           int orders, std::mt19937_64& random) {
  const int64_t m = size[0], k = size[1], n = size[2];
  const bool lhs_first = (orders & 1) != 0, rhs_first = (orders & 2) != 0;  // the contracting dimension
  std::vector<Literal> arguments;
  arguments.emplace_back(ShapeUtil::MakeShape(lhs, lhs_first ? Dimensions{k, m} : Dimensions{m, k}));
  arguments.emplace_back(ShapeUtil::MakeShape(rhs, rhs_first ? Dimensions{k, n} : Dimensions{n, k}));
  for (Literal& argument : arguments) {
    char* const data = static_cast<char*>(argument.untyped_data());
    if (argument.shape().element_type() == BF16) {  // from -8 to 8
      for (bfloat16& element : argument.data<bfloat16>()) {
        element = bfloat16(static_cast<float>(static_cast<int64_t>(random() % 4097) - 2048) / 256);
      }
    } else {
      for (int64_t i = 0; i < argument.size_bytes(); ++i) data[i] = static_cast<char>(random());
    }
  }
  const std::string a = ShapeUtil::HumanString(arguments[0].shape()), b = ShapeUtil::HumanString(arguments[1].shape());
  const std::string wide_a = result + a.substr(a.find('[')), wide_b = result + b.substr(b.find('['));
  const std::string dot = absl::StrCat("  ROOT d = ", result, "[", m, ",", n, "] dot(x, y), lhs_contracting_dims={",
                                       lhs_first ? 0 : 1, "}, rhs_contracting_dims={", rhs_first ? 0 : 1, "}\n}");
  const Literal product = EvaluateText(
      absl::StrCat("HloModule m\nENTRY e {\n  x = ", a, " parameter(0)\n  y = ", b, " parameter(1)\n", dot), arguments);
  const Literal expected =
      EvaluateText(absl::StrCat("HloModule m\nENTRY e {\n  a = ", a, " parameter(0)\n  b = ", b,
                                " parameter(1)\n  x = ", wide_a, " convert(a)\n  y = ", wide_b, " convert(b)\n", dot),
                   arguments);
  ASSERT_TRUE(product == expected) << a << " " << b << " " << orders;
}

TEST(DotTest, ShortElementsAsIfConverted) {
  std::mt19937_64 random(6);
  const std::vector<Dimensions> sizes = {{16, 64, 32}, {17, 131, 33}, {40, 1030, 47}, {100, 66, 130}, {400, 35, 16}};
  const std::vector<Dimensions> large = {{128, 130, 128}, {135, 131, 161}, {258, 1100, 129}};
  for (int orders = 0; orders < 4; ++orders) {
    for (const Dimensions& size : sizes) {
      for (PrimitiveType lhs : {S8, U8, S16}) {
        for (PrimitiveType rhs : {S8, U8, S16}) CheckAgainstConverted(lhs, rhs, "s32", size, orders, random);
      }
      CheckAgainstConverted(U8, U8, "u32", size, orders, random);
    }
    for (const Dimensions& size : large) CheckAgainstConverted(BF16, BF16, "f32", size, orders, random);
  }
}

TEST(DotTest, OfTheSameArray) {
  const Literal result = EvaluateText(R"(HloModule m
    ENTRY e {
      a = s32[3] constant({1, 2, 3})
      ROOT d = s32[] dot(a, a), lhs_contracting_dims={0}, rhs_contracting_dims={0}
    })");
  EXPECT_EQ(result, LiteralUtil::CreateR0<int32_t>(14));
}

// lhs and rhs in text, two elements each, and the dot of the two vectors.
struct TypeCase {
  const char* lhs_type;
  const char* lhs;
  const char* rhs_type;
  const char* rhs;
  const char* result_type;
  const char* result;
};

TEST(DotTest, Types) {
  const TypeCase cases[] = {
      {"s8", "{100, 2}", "s8", "{100, 3}", "s32", "10006"},
      {"s8", "{100, 100}", "s8", "{100, 100}", "s8", "32"},  // 20000 = 78 * 256 + 32
      {"s4", "{7, 7}", "s4", "{7, 1}", "s4", "-8"},          // 56 = 3 * 16 + 8
      {"u8", "{255, 1}", "u8", "{255, 0}", "u8", "1"},
      {"s8", "{-1, 0}", "u8", "{3, 0}", "u32", "4294967293"},
      {"s64", "{4611686018427387904, 0}", "s64", "{3, 1}", "s64", "-4611686018427387904"},
      {"s32", "{2147483647, 1}", "s32", "{2, 5}", "s64", "4294967299"},
      {"pred", "{1, 0}", "pred", "{1, 1}", "pred", "true"},
      {"pred", "{1, 0}", "pred", "{0, 1}", "pred", "false"},
      {"pred", "{1, 1}", "pred", "{1, 1}", "s32", "2"},
      // Operands become values of the result's type before they are multiplied, and then are exact in f32.
      {"f16", "{256, 1}", "f16", "{256, 1}", "f32", "65537"},
      {"f16", "{256, 1}", "f16", "{256, 1}", "f16", "inf"},
      {"bf16", "{256, 1}", "bf16", "{1, 1}", "bf16", "256"},  // 257 is a tie, to even
      {"bf16", "{256, 1}", "bf16", "{1, 1.5}", "bf16", "258"},
      {"f32", "{257, 0}", "f32", "{3, 0}", "bf16", "768"},  // 256 * 3
      {"f32", "{1.5, 1}", "bf16", "{2, 0.5}", "f32", "3.5"},
      {"f32", "{1.5, 1}", "s32", "{2, 1}", "f32", "4"},
      {"f8e4m3fn", "{16, 1}", "f8e4m3fn", "{16, 1}", "f8e4m3fn", "256"},
      {"f64", "{1e300, 1}", "f64", "{1e-300, 1}", "f64", "2"},
      {"c64", "{(1, 2), (0, 1)}", "c64", "{(3, 4), (0, 1)}", "c64", "(-6, 10)"},
      {"c128", "{(1, 2), (0, 1)}", "c128", "{(3, 4), (0, 1)}", "c128", "(-6, 10)"},
  };
  for (const TypeCase& c : cases) {
    const std::string text = absl::StrCat(
        "HloModule m\nENTRY e {\n  a = ", c.lhs_type, "[2] constant(", c.lhs, ")\n  b = ", c.rhs_type, "[2] constant(",
        c.rhs, ")\n  ROOT d = ", c.result_type, "[] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n}");
    EXPECT_EQ(EvaluateText(text).ToStringWithoutShape(), c.result) << text;
  }
}

TEST(DotTest, EmptyContractionIsZero) {
  const Literal result = EvaluateText(R"(HloModule m
    ENTRY e {
      a = f32[2,0] constant({{},{}})
      b = f32[0,2] constant({})
      ROOT d = f32[2,2] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    })");
  EXPECT_EQ(result, (LiteralUtil::CreateR2<float>({{0, 0}, {0, 0}})));
}

// The dimensions of the operands that correspond to each other, and the sizes of all.
struct RandomDot {
  Dimensions lhs, rhs, result;
  Dimensions lhs_batch, rhs_batch, lhs_contracting, rhs_contracting;

  explicit RandomDot(std::mt19937_64& random) {
    // Kinds: 0 batch, 1 contracting, 2 free. Shuffled on either side.
    const auto make_side = [&](int free, int batch, int contracting) {
      std::vector<int> kinds(batch, 0);
      kinds.insert(kinds.end(), contracting, 1);
      kinds.insert(kinds.end(), free, 2);
      std::shuffle(kinds.begin(), kinds.end(), random);
      return kinds;
    };
    const int batch = static_cast<int>(random() % 3), contracting = static_cast<int>(random() % 3);
    const std::vector<int> l = make_side(static_cast<int>(random() % 3), batch, contracting);
    const std::vector<int> r = make_side(static_cast<int>(random() % 3), batch, contracting);
    const auto list = [&](const std::vector<int>& kinds, int kind) {
      Dimensions dimensions;
      for (size_t i = 0; i < kinds.size(); ++i) {
        if (kinds[i] == kind) dimensions.push_back(static_cast<int64_t>(i));
      }
      std::shuffle(dimensions.begin(), dimensions.end(), random);
      return dimensions;
    };
    lhs_batch = list(l, 0), rhs_batch = list(r, 0), lhs_contracting = list(l, 1), rhs_contracting = list(r, 1);
    for (size_t i = 0; i < l.size(); ++i) lhs.push_back(random() % 5 + (random() % 20 != 0));
    for (size_t i = 0; i < r.size(); ++i) rhs.push_back(random() % 5 + 1);
    for (size_t i = 0; i < lhs_batch.size(); ++i) rhs[rhs_batch[i]] = lhs[lhs_batch[i]];
    for (size_t i = 0; i < lhs_contracting.size(); ++i) rhs[rhs_contracting[i]] = lhs[lhs_contracting[i]];
    for (int64_t d : lhs_batch) result.push_back(lhs[d]);
    for (size_t i = 0; i < l.size(); ++i) {
      if (l[i] == 2) lhs_free.push_back(static_cast<int64_t>(i)), result.push_back(lhs[i]);
    }
    for (size_t i = 0; i < r.size(); ++i) {
      if (r[i] == 2) rhs_free.push_back(static_cast<int64_t>(i)), result.push_back(rhs[i]);
    }
  }

  std::string Text() const {
    const auto braces = [](const Dimensions& list) { return absl::StrCat("{", absl::StrJoin(list, ","), "}"); };
    return absl::StrCat(
        "HloModule m\nENTRY e {\n  a = ", ShapeText("f32", lhs), " parameter(0)\n  b = ", ShapeText("f32", rhs),
        " parameter(1)\n  ROOT d = ", ShapeText("f32", result), " dot(a, b), lhs_batch_dims=", braces(lhs_batch),
        ", lhs_contracting_dims=", braces(lhs_contracting), ", rhs_batch_dims=", braces(rhs_batch),
        ", rhs_contracting_dims=", braces(rhs_contracting), "\n}");
  }

  // Every pair of elements whose shared indices are equal is added at the place of its free indices.
  Literal Expected(const Literal& a, const Literal& b) const {
    Literal sums(ShapeUtil::MakeShape(F32, result));
    sums.PopulateWithValue<float>(0);
    ForEachIndex(lhs, [&](const Dimensions& i) {
      ForEachIndex(rhs, [&](const Dimensions& j) {
        for (size_t d = 0; d < lhs_batch.size(); ++d) {
          if (i[lhs_batch[d]] != j[rhs_batch[d]]) return;
        }
        for (size_t d = 0; d < lhs_contracting.size(); ++d) {
          if (i[lhs_contracting[d]] != j[rhs_contracting[d]]) return;
        }
        Dimensions out;
        for (int64_t d : lhs_batch) out.push_back(i[d]);
        for (int64_t d : lhs_free) out.push_back(i[d]);
        for (int64_t d : rhs_free) out.push_back(j[d]);
        sums.Set<float>(out, sums.Get<float>(out) + a.Get<float>(i) * b.Get<float>(j));
      });
    });
    return sums;
  }

  template <typename F>
  static void ForEachIndex(const Dimensions& sizes, F&& f) {
    for (int64_t size : sizes) {
      if (size == 0) return;
    }
    Dimensions index(sizes.size(), 0);
    while (true) {
      f(index);
      size_t d = sizes.size();
      while (d > 0 && ++index[d - 1] == sizes[d - 1]) index[--d] = 0;
      if (d == 0) return;
    }
  }

  Dimensions lhs_free, rhs_free;
};

TEST(DotTest, AgreesWithPairsOfElements) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 400; ++i) {
    const RandomDot dot(random);
    std::vector<Literal> arguments;
    arguments.push_back(RandomF32(dot.lhs, random));
    arguments.push_back(RandomF32(dot.rhs, random));
    ASSERT_EQ(EvaluateText(dot.Text(), arguments), dot.Expected(arguments[0], arguments[1])) << dot.Text();
  }
}

// ---- ragged-dot ----------------------------------------------------------------------------------------------------

// Rows 0..1 by matrix 0, row 2 by matrix 2 (group 1 is empty), row 3 by none.
TEST(RaggedDotTest, RaggedRows) {
  const Literal result = EvaluateText(R"(HloModule m
    ENTRY e {
      a = f32[4,2] constant({{1, 2}, {3, 4}, {5, 6}, {7, 8}})
      b = f32[3,2,1] constant({{{1}, {10}}, {{9}, {9}}, {{100}, {1000}}})
      g = s32[3] constant({2, 0, 1})
      ROOT d = f32[4,1] ragged-dot(a, b, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0},
          rhs_group_dims={0}
    })");
  EXPECT_EQ(result, (LiteralUtil::CreateR2<float>({{21}, {43}, {6500}, {0}})));
}

// The second batch has groups of its own; the last group extends beyond the rows.
TEST(RaggedDotTest, RaggedRowsWithGroupsForEachBatch) {
  const Literal result = EvaluateText(R"(HloModule m
    ENTRY e {
      a = f32[2,3,1] constant({{{1}, {2}, {3}}, {{4}, {5}, {6}}})
      b = f32[2,2,1,1] constant({{{{1}}, {{10}}}, {{{100}}, {{1000}}}})
      g = s64[2,2] constant({{1, 1}, {2, 5}})
      ROOT d = f32[2,3,1] ragged-dot(a, b, g), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={1},
          rhs_contracting_dims={2}, lhs_ragged_dims={1}, rhs_group_dims={0}
    })");
  EXPECT_EQ(result, (LiteralUtil::CreateR3<float>({{{1}, {200}, {0}}, {{40}, {50}, {6000}}})));
}

TEST(RaggedDotTest, RaggedSums) {
  const Literal result = EvaluateText(R"(HloModule m
    ENTRY e {
      a = f32[1,4] constant({{1, 2, 3, 4}})
      b = f32[4,2] constant({{1, 1}, {10, 1}, {100, 1}, {1000, 1}})
      g = s32[3] constant({1, 2, 9})
      ROOT d = f32[3,1,2] ragged-dot(a, b, g), lhs_contracting_dims={1}, rhs_contracting_dims={0}, lhs_ragged_dims={1}
    })");
  EXPECT_EQ(result, (LiteralUtil::CreateR3<float>({{{1, 1}}, {{320, 5}}, {{4000, 4}}})));
}

// Two contracting dimensions, the second of them ragged.
TEST(RaggedDotTest, RaggedSumsBehindOtherDimensions) {
  const Literal result = EvaluateText(R"(HloModule m
    ENTRY e {
      a = f32[2,3] constant({{1, 2, 3}, {4, 5, 6}})
      b = f32[2,3] constant({{1, 1, 1}, {10, 10, 10}})
      g = s32[2] constant({1, 1})
      ROOT d = f32[2] ragged-dot(a, b, g), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}, lhs_ragged_dims={1}
    })");
  EXPECT_EQ(result, LiteralUtil::CreateR1<float>({41, 52}));
}

TEST(RaggedDotTest, RaggedBatch) {
  const Literal result = EvaluateText(R"(HloModule m
    ENTRY e {
      a = f32[4,2] constant({{1, 2}, {3, 4}, {5, 6}, {7, 8}})
      b = f32[4,2] constant({{1, 1}, {1, 1}, {10, 10}, {1, 1}})
      g = s32[2] constant({1, 2})
      ROOT d = f32[4] ragged-dot(a, b, g), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={0},
          rhs_contracting_dims={1}, lhs_ragged_dims={0}
    })");
  EXPECT_EQ(result, LiteralUtil::CreateR1<float>({3, 7, 110, 0}));
}

TEST(RaggedDotTest, SizesOfGroupsMayBeAnything) {
  const Literal result = EvaluateText(R"(HloModule m
    ENTRY e {
      a = f32[3,1] constant({{1}, {2}, {3}})
      b = f32[4,1,1] constant({{{1}}, {{10}}, {{100}}, {{1000}}})
      g = s64[4] constant({-5, 6, 9223372036854775807, 9223372036854775807})
      ROOT d = f32[3,1] ragged-dot(a, b, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0},
          rhs_group_dims={0}
    })");
  EXPECT_EQ(result, (LiteralUtil::CreateR2<float>({{10}, {200}, {300}})));
}

// ---- scaled-dot ----------------------------------------------------------------------------------------------------

TEST(ScaledDotTest, OneScaleForEachBlock) {
  const Literal result = EvaluateText(R"(HloModule m
    ENTRY e {
      a = f32[2,4] constant({{1, 2, 3, 4}, {5, 6, 7, 8}})
      b = f32[4,1] constant({{1}, {10}, {100}, {1000}})
      s = f32[2,2] constant({{1, 2}, {0.5, 1}})
      t = f32[2,1] constant({{2}, {4}})
      ROOT d = f32[2,1] scaled-dot(a, b, s, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    })");
  EXPECT_EQ(result, (LiteralUtil::CreateR2<float>({{34442, 34865}}).Reshape({2, 1}).value()));
}

TEST(ScaledDotTest, NarrowTypesAndALoneScale) {
  const Literal result = EvaluateText(R"(HloModule m
    ENTRY e {
      a = f8e4m3fn[1,4] constant({{1, 2, 3, 4}})
      b = bf16[4,1] constant({{1}, {1}, {1}, {1}})
      s = f8e8m0fnu[1,2] constant({{2, 0.5}})
      t = bf16[1,1] constant({{1}})
      ROOT d = f32[1,1] scaled-dot(a, b, s, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    })");
  EXPECT_EQ(result, (LiteralUtil::CreateR2<float>({{9.5}})));
}

}  // namespace
}  // namespace kashi::evaluator
