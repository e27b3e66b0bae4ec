#include "kashi/evaluator/bitcast.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/index_map.h"
#include "kashi/array/shape_parser.h"
#include "kashi/array/shape_util.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

using ::testing::HasSubstr;

std::string Result(absl::string_view entry) {
  return EvaluateText(absl::StrCat("HloModule m\nENTRY main {\n", entry, "\n}")).ToStringOneline();
}

// ---- bitcast-convert: docs/spec/hlo-ops.md 1.5

TEST(BitcastConvertTest, IsLittleEndian) {
  EXPECT_EQ(Result("x = u32[1] constant({67305985})\n ROOT y = u8[1,4] bitcast-convert(x)"),
            "u8[1,4] { { 1, 2, 3, 4 } }");
  EXPECT_EQ(Result("x = u8[2,4] constant({{1,2,3,4},{0,0,128,63}})\n ROOT y = f32[2] bitcast-convert(x)"),
            "f32[2] {1.53998961e-36, 1}");
  EXPECT_EQ(Result("x = f32[2] constant({1, -0.0})\n ROOT y = s32[2] bitcast-convert(x)"),
            "s32[2] {1065353216, -2147483648}");
}

TEST(BitcastConvertTest, LowNibbleIsFirst) {
  EXPECT_EQ(Result("x = u8[2] constant({33, 243})\n ROOT y = u4[2,2] bitcast-convert(x)"),
            "u4[2,2] { { 1, 2 }, { 3, 15 } }");
  EXPECT_EQ(Result("x = s4[1,4] constant({{1, 2, 3, -1}})\n ROOT y = u16[1] bitcast-convert(x)"), "u16[1] {62241}");
  EXPECT_EQ(Result("x = s4[3] constant({1, -2, 7})\n ROOT y = u4[3] bitcast-convert(x)"), "u4[3] {1, 14, 7}");
  EXPECT_EQ(Result("x = u4[3] constant({1, 14, 7})\n ROOT y = u2[3,2] bitcast-convert(x)"),
            "u2[3,2] { { 1, 0 }, { 2, 3 }, { 3, 1 } }");
}

TEST(BitcastConvertTest, IgnoresLayouts) {
  EXPECT_EQ(Result("x = s16[2,2]{0,1} constant({{1,2},{3,4}})\n ROOT y = u8[2,2,2]{0,1,2} bitcast-convert(x)"),
            "u8[2,2,2] { { { 1, 0 }, { 2, 0 } }, { { 3, 0 }, { 4, 0 } } }");
}

// ---- bitcast

TEST(BitcastTest, ReadsMemoryUnderAnotherLayout) {
  EXPECT_EQ(Result("x = s32[2,3]{0,1} constant({{1,2,3},{4,5,6}})\n ROOT y = s32[3,2]{1,0} bitcast(x)"),
            "s32[3,2] { { 1, 4 }, { 2, 5 }, { 3, 6 } }");
  EXPECT_EQ(Result("x = s32[2,3]{1,0} constant({{1,2,3},{4,5,6}})\n ROOT y = s32[6]{0} bitcast(x)"),
            "s32[6] {1, 2, 3, 4, 5, 6}");
  EXPECT_EQ(Result("x = s32[]{:T(128)} constant(5)\n ROOT y = s32[1,1]{1,0:T(8,128)} bitcast(x)"), "s32[1,1] { {5} }");
}

TEST(BitcastTest, PaddingIsZeros) {
  // Tiles of 2x2: 1 2 . . / 3 . . .  ->  1 2 4 5 3 0 6 0
  EXPECT_EQ(Result("x = s32[2,3]{1,0:T(2,2)} constant({{1,2,3},{4,5,6}})\n ROOT y = s32[8]{0} bitcast(x)"),
            "s32[8] {1, 2, 4, 5, 3, 0, 6, 0}");
  EXPECT_EQ(Result("x = s32[3]{0} constant({1,2,3})\n ROOT y = s32[5]{0} bitcast(x)"), "s32[5] {1, 2, 3, 0, 0}");
}

TEST(BitcastTest, PacksElementsOfLessThanAByte) {
  EXPECT_EQ(Result("c = s4[4] constant({1,2,3,-1})\n x = s4[4]{0:E(4)} reshape(c)\n ROOT y = u8[2]{0} bitcast(x)"),
            "u8[2] {33, 243}");
  EXPECT_EQ(Result("x = u8[2]{0} constant({33, 243})\n ROOT y = s4[2,2]{0,1:E(4)} bitcast(x)"),
            "s4[2,2] { { 1, 3 }, { 2, -1 } }");
}

TEST(BitcastTest, OfWhatIsNoArrayIsItself) {
  EXPECT_EQ(Result("x = s32[] constant(1)\n t = (s32[]) tuple(x)\n u = (s32[]) bitcast(t)\n"
                   "ROOT y = s32[] get-tuple-element(u), index=0"),
            "s32[] 1");
}

TEST(BitcastTest, RefusesWhatIsNotAllInUse) {
  const absl::StatusOr<Literal> result = TryEvaluateText(R"(HloModule m
    ENTRY main {
      x = s32[4] constant({1, 2, 3, 4})
      n = s32[] constant(2)
      y = s32[<=4] set-dimension-size(x, n), dimensions={0}
      ROOT z = s32[2,2] bitcast(y)
    })");
  EXPECT_EQ(result.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(result.status().ToString(), HasSubstr("z: a bitcast of s32[<=4] with a size below its bound"));
}

// ---- ReinterpretPhysicalBytes against IndexMap, bit by bit

Value RandomValue(EvaluationRun& run, const Shape& shape, std::mt19937_64& random) {
  Value value = run.MakeArray(MakeDenseShape(shape)).value();
  const int bits = shape.element_type() == PRED ? 1 : primitive_util::BitWidth(shape.element_type());
  const unsigned char mask = bits >= 8 ? 255 : (1 << bits) - 1;
  for (int64_t i = 0; i < value.byte_count(); ++i) value.mutable_bytes()[i] = static_cast<char>(random() & mask);
  return value;
}

int64_t MemoryBytes(const Shape& shape) { return IndexMap::Make(shape).value().byte_size(); }

// Calls visit(element, position) for the elements in row-major order.
void ForEachPlace(const Shape& shape, absl::FunctionRef<void(int64_t element, int64_t bit)> visit) {
  const IndexMap map = IndexMap::Make(shape).value();
  int64_t element = 0;
  map.ForEachLogical([&](absl::Span<const int64_t>, int64_t position) {
    visit(element++, map.ByteOffset(position) * 8 + map.BitInByte(position));
  });
}

int64_t ElementBits(const Shape& shape) { return IndexMap::Make(shape).value().element_size_in_bits(); }

std::vector<bool> Bits(const Value& value, const Shape& shape) {
  std::vector<bool> bits(MemoryBytes(shape) * 8);
  const int64_t element_bits = ElementBits(shape);
  ForEachPlace(shape, [&](int64_t element, int64_t at) {
    const char* bytes = value.bytes() + element * value.element_bytes();
    for (int64_t i = 0; i < element_bits; ++i) bits[at + i] = bytes[i / 8] >> (i % 8) & 1;
  });
  return bits;
}

// The bytes of every element.
std::vector<unsigned char> Elements(const std::vector<bool>& bits, const Shape& shape) {
  const int bytes = primitive_util::ByteWidth(shape.element_type());
  std::vector<unsigned char> elements(ShapeUtil::ElementsIn(shape) * bytes);
  const int64_t element_bits = ElementBits(shape);
  ForEachPlace(shape, [&](int64_t element, int64_t at) {
    for (int64_t i = 0; i < element_bits && at + i < static_cast<int64_t>(bits.size()); ++i) {
      elements[element * bytes + i / 8] |= bits[at + i] << (i % 8);
    }
    if (shape.element_type() == PRED) elements[element] = elements[element] != 0;
  });
  return elements;
}

class RandomLayouts {
 public:
  explicit RandomLayouts(uint64_t seed) : random_(seed) {}

  Shape operator()() {
    const PrimitiveType type = Pick<PrimitiveType>({PRED, S4, U2, S8, U8, BF16, F32, S32, F64, C128});
    std::vector<int64_t> dims(Number(0, 4));
    for (int64_t& dim : dims) dim = Number(0, 20) == 0 ? 0 : Number(0, 2) == 0 ? 1 : Number(1, 9);
    Shape shape = ShapeUtil::MakeShapeWithDescendingLayout(type, dims);
    Layout& layout = *shape.mutable_layout();
    if (Number(0, 1) == 0)
      std::shuffle(layout.mutable_minor_to_major()->begin(), layout.mutable_minor_to_major()->end(), random_);
    if (!dims.empty() && Number(0, 2) > 0) AddTiles(static_cast<int>(dims.size()), layout);
    if (primitive_util::IsSubByteNonPredType(type) && Number(0, 1) == 0) {
      layout.set_element_size_in_bits(primitive_util::BitWidth(type));
    }
    if (Number(0, 5) == 0) layout.set_tail_padding_alignment_in_elements(Number(1, 5));
    if (Number(0, 9) == 0) layout.set_dynamic_shape_metadata_prefix_bytes(8);
    return shape;
  }
  std::mt19937_64& random() { return random_; }
  int64_t Number(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }

 private:
  template <typename T>
  T Pick(const std::vector<T>& of) {
    return of[Number(0, of.size() - 1)];
  }
  void AddTiles(int rank, Layout& layout) {
    Tile tile;
    for (int i = static_cast<int>(Number(1, rank)); i > 0; --i) {
      tile.add_dimensions(i > 1 && Number(0, 8) == 0 ? Tile::kCombineDimension : Number(1, 4));
    }
    *layout.add_tiles() = tile;
    if (Number(0, 2) == 0) *layout.add_tiles() = Tile(Pick<std::vector<int64_t>>({{2, 1}, {2}, {1}}));
  }
  std::mt19937_64 random_;
};

bool HasBytes(const Value& value, const std::vector<unsigned char>& bytes) {
  const auto* begin = reinterpret_cast<const unsigned char*>(value.bytes());
  return static_cast<size_t>(value.byte_count()) == bytes.size() && std::equal(bytes.begin(), bytes.end(), begin);
}

TEST(ReinterpretPhysicalBytesTest, IsWhatIndexMapSays) {
  EvaluationRun run;
  int64_t tested = 0;
  for (uint64_t seed = 0; seed < 6000; ++seed) {
    RandomLayouts layouts(seed);
    const Shape from = layouts();
    Shape to = layouts();
    if (layouts.Number(0, 3) == 0) to = from;
    if (!IndexMap::Make(from).ok() || !IndexMap::Make(to).ok()) continue;
    const Value value = RandomValue(run, from, layouts.random());
    const absl::StatusOr<Value> result = ReinterpretPhysicalBytes(run, {{value, &from}}, to);
    const std::string what =
        absl::StrCat(seed, ": ", ShapeUtil::HumanStringWithLayout(from), " as ", ShapeUtil::HumanStringWithLayout(to));
    ASSERT_TRUE(result.ok()) << what << result.status();
    std::vector<bool> bits = Bits(value, from);
    const std::vector<unsigned char> expected = Elements(bits, to);
    ASSERT_EQ(result->byte_count(), expected.size()) << what;
    ASSERT_TRUE(HasBytes(*result, expected)) << what;
    ++tested;
  }
  EXPECT_GT(tested, 5000);
}

TEST(ReinterpretPhysicalBytesTest, PutsPartsOneBehindTheOther) {
  EvaluationRun run;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    RandomLayouts layouts(seed);
    const Shape a = layouts(), b = layouts(), to = layouts();
    if (!IndexMap::Make(a).ok() || !IndexMap::Make(b).ok() || !IndexMap::Make(to).ok()) continue;
    const Value first = RandomValue(run, a, layouts.random()), second = RandomValue(run, b, layouts.random());
    std::vector<bool> bits = Bits(first, a);
    const std::vector<bool> more = Bits(second, b);
    bits.insert(bits.end(), more.begin(), more.end());
    const Value result = ReinterpretPhysicalBytes(run, {{first, &a}, {second, &b}}, to).value();
    const std::vector<unsigned char> expected = Elements(bits, to);
    ASSERT_TRUE(HasBytes(result, expected)) << seed;
  }
}

TEST(ReinterpretPhysicalBytesTest, SharesMemoryWhereNothingMoves) {
  EvaluationRun run;
  std::mt19937_64 random(1);
  const auto shares = [&](absl::string_view from, absl::string_view to) {
    const Shape a = ParseShape(from).value(), b = ParseShape(to).value();
    const Value value = RandomValue(run, a, random);
    return ReinterpretPhysicalBytes(run, {{value, &a}}, b).value().bytes() == value.bytes();
  };
  EXPECT_TRUE(shares("f32[2,3]", "s32[6]"));
  EXPECT_TRUE(shares("f32[2,3]{1,0}", "f32[3,1,2]{2,0,1}"));
  EXPECT_FALSE(shares("f32[2,3]{1,0}", "f32[3,1,2]{0,2,1}"));
  EXPECT_TRUE(shares("f32[2,3,4]{0,2,1}", "f32[2,12]{0,1}"));
  EXPECT_TRUE(shares("f32[1,2,3]{0,1,2}", "f32[2,3]{0,1}"));
  EXPECT_TRUE(shares("bf16[1,16,256]{2,1,0:T(8,128)(2,1)}", "bf16[16,256]{1,0:T(8,128)(2,1)}"));
  EXPECT_TRUE(shares("f32[1,100]{1,0:T(1,128)}", "f32[100]{0:T(128)}"));
  EXPECT_TRUE(shares("f32[16,128]{1,0:T(8,128)}", "f32[2048]{0}"));
  EXPECT_FALSE(shares("f32[16,256]{1,0:T(8,128)}", "f32[4096]{0}"));
  EXPECT_FALSE(shares("f32[8]{0}", "u8[32]{0}"));
}

}  // namespace
}  // namespace kashi::evaluator
