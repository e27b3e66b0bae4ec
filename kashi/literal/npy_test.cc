#include "kashi/literal/npy.h"

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_testing.h"
#include "kashi/literal/literal_parser.h"

namespace kashi::literal {
namespace {

using ::testing::HasSubstr;

Literal L(absl::string_view shape, absl::string_view text) { return ParseLiteral(text, array::S(shape)).value(); }

std::string Written(const LiteralSlice& literal) {
  std::string bytes;
  EXPECT_TRUE(WriteNpy(literal, &bytes).ok());
  return bytes;
}

// A file of version 1.0 with this header.
std::string File(const std::string& header, const std::string& elements) {
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + elements;
}

std::string TextOf(const absl::StatusOr<Literal>& literal) {
  return literal.ok() ? literal->ToStringWithLayoutOneline() : std::string(literal.status().message());
}

// Reads like a file that is not in memory.
absl::StatusOr<Literal> ReadFromSource(absl::string_view bytes, const std::optional<Shape>& expected = std::nullopt) {
  absl::string_view rest = bytes;
  const auto read = [&rest](char* to, int64_t size) {
    if (size > static_cast<int64_t>(rest.size())) return absl::DataLossError("the file ends");
    rest.copy(to, static_cast<size_t>(size));
    rest.remove_prefix(static_cast<size_t>(size));
    return absl::OkStatus();
  };
  return ReadNpy(static_cast<int64_t>(bytes.size()), read, expected);
}

// "s32[2] {1, 2}", or the message of the error. Checks that the result is the same for a file outside of memory.
std::string Read(const std::string& bytes, const std::optional<Shape>& expected = std::nullopt) {
  const std::string text = TextOf(ReadNpy(bytes, expected));
  EXPECT_EQ(TextOf(ReadFromSource(bytes, expected)), text);
  return text;
}

TEST(NpyTest, WritesTheBytesThatNumPyWrites) {
  const std::string spaces(58, ' ');
  EXPECT_EQ(Written(L("s16[2,1]", "{{1},{-2}}")), std::string("\x93NUMPY\x01\x00v\x00", 10) +
                                                      "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 1), }" +
                                                      spaces + std::string("\n\x01\x00\xfe\xff", 5));
  EXPECT_THAT(Written(L("pred[3]", "{1,0,1}")),
              HasSubstr("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }   "));
  EXPECT_THAT(Written(L("f64[]", "1")), HasSubstr("{'descr': '<f8', 'fortran_order': False, 'shape': (), }   "));
  EXPECT_THAT(Written(L("bf16[1]", "{1}")), HasSubstr("'<V2'"));
  EXPECT_THAT(Written(L("s4[1]", "{1}")), HasSubstr("'<V1'"));
  EXPECT_THAT(Written(L("c64[1]", "{(1,2)}")), HasSubstr("'<c8'"));
  EXPECT_EQ(Written(L("s16[2,1]", "{{1},{-2}}")).size(), 128 + 4);
}

TEST(NpyTest, RoundTripOfEveryType) {
  primitive_util::ArrayTypeForEach([](auto type) {
    Literal literal(ShapeUtil::MakeShape(type, {2, 3}));
    char* data = static_cast<char*>(literal.untyped_data());
    for (int64_t i = 0; i < literal.size_bytes(); ++i) data[i] = static_cast<char>(i % 2);
    const std::string bytes = Written(literal);
    const absl::StatusOr<Literal> read = ReadNpy(bytes, literal.shape());
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->ToString(), literal.ToString());
    EXPECT_EQ(Written(*read), bytes);
    EXPECT_EQ(TextOf(ReadFromSource(bytes, literal.shape())), TextOf(read));
  });
}

TEST(NpyTest, LayoutIsTheFilesOrTheExpectedOne) {
  const Literal columns = L("s32[2,3]{0,1}", "{{1,2,3},{4,5,6}}");
  EXPECT_THAT(Written(columns), HasSubstr("'fortran_order': True"));
  EXPECT_EQ(Read(Written(columns)), "s32[2,3]{0,1} { { 1, 2, 3 }, { 4, 5, 6 } }");
  EXPECT_EQ(Read(Written(columns), array::S("s32[2,3]{1,0}")), "s32[2,3]{1,0} { { 1, 2, 3 }, { 4, 5, 6 } }");
  // Neither row nor column major: written row-major.
  const Literal mixed = L("s32[2,1,2]{1,2,0:T(4)}", "{{{1,2}},{{3,4}}}");
  EXPECT_EQ(Read(Written(mixed)), "s32[2,1,2]{2,1,0} { { { 1, 2 } }, { { 3, 4 } } }");
  EXPECT_EQ(Read(Written(mixed), mixed.shape()), "s32[2,1,2]{1,2,0:T(4)} { { { 1, 2 } }, { { 3, 4 } } }");
}

TEST(NpyTest, DynamicArraysGiveTheirValidElements) {
  Literal literal(array::S("s32[<=3]"));
  literal.PopulateR1<int32_t>({1, 2, 3});
  literal.SetDynamicSize(0, 2);
  EXPECT_EQ(Read(Written(literal)), "s32[2]{0} {1, 2}");
}

TEST(NpyTest, SizesAlone) {
  EXPECT_EQ(*ReadNpySizes(Written(L("s16[2,1]", "{{1},{-2}}"))), (DimensionVector{2, 1}));
  EXPECT_FALSE(ReadNpySizes("no file").ok());
}

TEST(NpyTest, HeadersOfOthers) {
  EXPECT_EQ(Read(File("{'shape': (2,), 'fortran_order': False, 'descr': '>i2'}\n", std::string("\x00\x01\xff\xfe", 4))),
            "s16[2]{0} {1, -2}");
  EXPECT_EQ(Read(File("{\"descr\":\"|u1\",'fortran_order':True,'shape':(1L,2L)}", "ab")),
            "u8[1,2]{0,1} { { 97, 98 } }");
  const std::string part = std::string("\x3f\x80\x00\x00", 4);
  EXPECT_EQ(Read(File("{'descr':'>c8','fortran_order':False,'shape':()}", part + part)), "c64[] (1, 1)");
  const std::string header = "{'descr':'i1','fortran_order':False,'shape':(1,)}";
  EXPECT_EQ(Read(std::string("\x93NUMPY\x02\x00", 8) + static_cast<char>(header.size()) + std::string(3, '\0') +
                 header + "\x07"),
            "s8[1]{0} {7}");
}

TEST(NpyTest, TypesThatNumPyLacks) {
  const auto file = [](const std::string& dtype, const std::string& elements) {
    return File("{'descr':'" + dtype + "','fortran_order':False,'shape':(2,)}", elements);
  };
  for (const char* dtype : {"<V2", "|V2", "<u2", "bfloat16"}) {
    EXPECT_EQ(Read(file(dtype, "\x80\x3f\x80\xbf"), array::S("bf16[2]")), "bf16[2]{0} {1, -1}") << dtype;
  }
  EXPECT_EQ(Read(file("bfloat16", "\x80\x3f\x80\xbf")), "bf16[2]{0} {1, -1}");
  EXPECT_EQ(Read(file("float8_e4m3fn", "\x38\xb8")), "f8e4m3fn[2]{0} {1, -1}");
  EXPECT_EQ(Read(file("int4", "\xff\x01")), "s4[2]{0} {-1, 1}");
  EXPECT_EQ(Read(file("|u1", "\x02\x01"), array::S("pred[2]")), "pred[2]{0} {1, 1}");
  EXPECT_THAT(Read(file("<V2", "\x80\x3f\x80\xbf")), HasSubstr("give the type"));
  EXPECT_THAT(Read(file("<f2", "\x80\x3f\x80\xbf"), array::S("bf16[2]")), HasSubstr("holds f16[2], not bf16[2]"));
}

TEST(NpyTest, WhatIsExpectedMustBeThere) {
  const std::string bytes = Written(L("f32[2,1]", "{{1},{2}}"));
  EXPECT_THAT(Read(bytes, array::S("f32[2]")), HasSubstr("holds f32[2,1], not f32[2]"));
  EXPECT_THAT(Read(bytes, array::S("s32[2,1]")), HasSubstr("not s32[2,1]"));
  EXPECT_THAT(Read(bytes, array::S("(f32[2,1])")), HasSubstr("static array"));
  EXPECT_THAT(Read(bytes, array::S("f32[<=2,1]")), HasSubstr("static array"));
}

TEST(NpyTest, HostileFiles) {
  EXPECT_THAT(Read(""), HasSubstr("not an .npy file"));
  EXPECT_THAT(Read("\x93NUMPY"), HasSubstr("version 0"));
  EXPECT_THAT(Read(std::string("\x93NUMPY\x01\x00", 8)), HasSubstr("ends within its header"));
  EXPECT_THAT(Read(std::string("\x93NUMPY\x01\x00\xff\xff{", 11)),
              HasSubstr("should have 65,535 bytes, but the file ends after 1"));
  const std::string good = Written(L("f32[3]", "{1,2,3}"));
  EXPECT_THAT(Read(good.substr(0, good.size() - 1)), HasSubstr("has 11 bytes"));
  EXPECT_THAT(Read(good + "x"), HasSubstr("has 13 bytes"));
  for (const char* header :
       {"", "{", "{}", "{'descr':'<f4'}", "{'descr':'<f4','fortran_order':0,'shape':()}",
        "{'descr':'<f4','fortran_order':False,'shape':(-1,)}",
        "{'descr':'<f4','fortran_order':False,'shape':(1000000000000,1000000000000)}",
        "{'descr':'<f4','fortran_order':False,'shape':(1000000000000,)}",
        "{'descr':[('a','<f4')],'fortran_order':False,'shape':()}", "{'descr':'O','fortran_order':False,'shape':()}",
        "{'descr':'<f16','fortran_order':False,'shape':()}",
        "{'descr':'<f4','descr':'<f4','fortran_order':False,'shape':()}",
        "{'descr':'<f4','fortran_order':False,'shape':(0,)} x", "{'descr':'<f4','fortran_order':False,'shape':(0,)"}) {
    EXPECT_FALSE(ReadNpy(File(header, "")).ok()) << header;
  }
  // No elements, so no bytes: NumPy writes and reads such files.
  EXPECT_TRUE(ReadNpy(File("{'descr':'<f4','fortran_order':False,'shape':(1000000000000,0)}", "")).ok());
  std::string sizes = "(";
  for (int i = 0; i < 65; ++i) sizes += "0,";
  EXPECT_THAT(Read(File("{'descr':'<f4','fortran_order':False,'shape':" + sizes + ")}", "")),
              HasSubstr("64 dimensions"));
}

TEST(NpyTest, LargeFilesComeInTwoPieces) {
  Literal literal(ShapeUtil::MakeShape(U16, {70000}));
  for (int i = 0; i < 70000; ++i) literal.data<uint16_t>()[i] = static_cast<uint16_t>(i * 7);
  const std::string bytes = Written(literal);
  const absl::StatusOr<Literal> read = ReadFromSource(bytes);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, literal);
  const absl::StatusOr<Literal> whole = ReadNpy(bytes);
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(*whole, literal);
  EXPECT_FALSE(ReadFromSource(bytes + "x").ok());
}

// A source may end before the size that it was given with.
TEST(NpyTest, FilesThatEndEarlyAreErrors) {
  const std::string bytes = Written(L("f32[3]", "{1,2,3}"));
  const auto fail = [](char*, int64_t) { return absl::DataLossError("the file ends"); };
  EXPECT_TRUE(absl::IsDataLoss(ReadNpy(static_cast<int64_t>(bytes.size()), fail).status()));
  EXPECT_TRUE(absl::IsDataLoss(ReadNpy(int64_t{1} << 50, fail).status()));
  EXPECT_FALSE(ReadNpy(0, fail).ok());
}

TEST(NpyTest, ElementsAreFoundInTheFile) {
  const std::string bytes = Written(L("u16[2,3]{0,1}", "{{1,2,3},{4,5,6}}"));
  const absl::StatusOr<NpyElements> found = FindNpyElements(bytes);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->shape.ToString(/*print_layout=*/true), "u16[2,3]{0,1}");
  EXPECT_EQ(found->bytes.data() + 12, bytes.data() + bytes.size());
  EXPECT_EQ(std::string(found->bytes.substr(0, 4)), std::string("\1\0\4\0", 4));
  EXPECT_FALSE(found->is_big_endian);
  EXPECT_EQ(FindNpyElements(bytes, array::S("bf16[2,3]"))->shape.ToString(/*print_layout=*/true), "bf16[2,3]{0,1}");
  EXPECT_FALSE(FindNpyElements(bytes, array::S("bf16[3,2]")).ok());
  EXPECT_FALSE(FindNpyElements(bytes.substr(0, bytes.size() - 1)).ok());
  EXPECT_TRUE(FindNpyElements(File("{'descr':'>f4','fortran_order':False,'shape':(1,)}", "abcd"))->is_big_endian);
  EXPECT_FALSE(FindNpyElements(File("{'descr':'>i1','fortran_order':False,'shape':(1,)}", "a"))->is_big_endian);
}

TEST(NpyTest, HeadersOfArraysThatLieAsNumPysDo) {
  std::string header;
  ASSERT_TRUE(WriteNpyHeader(array::S("u16[2,3]{0,1}"), &header).ok());
  EXPECT_EQ(header.size() % 64, 0);
  EXPECT_EQ(header, Written(L("u16[2,3]{0,1}", "{{1,2,3},{4,5,6}}")).substr(0, header.size()));
  EXPECT_FALSE(WriteNpyHeader(array::S("u16[2,3,4]{1,0,2}"), &header).ok());
  EXPECT_FALSE(WriteNpyHeader(array::S("u16[2,<=3]"), &header).ok());
  EXPECT_FALSE(WriteNpyHeader(array::S("(u16[2])"), &header).ok());
}

TEST(NpyTest, OnlyArraysAreWritten) {
  std::string bytes;
  EXPECT_FALSE(WriteNpy(L("(s32[])", "(1)"), &bytes).ok());
  EXPECT_FALSE(WriteNpy(Literal::CreateFromShapeWithUnknownLeafArrays(array::S("s32[1]")), &bytes).ok());
}

// No size is too large if another size is 0.
TEST(NpyTest, EmptyArraysOfLargeSizes) {
  const Literal literal = Literal::CreateFromShape(array::S("f32[10,9,8,7,30,29,28,27,26,0]"));
  std::string bytes;
  ASSERT_TRUE(WriteNpy(literal, &bytes).ok());
  const absl::StatusOr<Literal> read = ReadNpy(bytes);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->shape().dimensions(), literal.shape().dimensions());
  EXPECT_EQ(*read, literal);
  EXPECT_EQ(read->ToStringWithoutShape(), "{...}");
}

// Every box of small arrays, in both orders; no byte of another element is read.
TEST(NpyTest, ReadsEveryBoxOfAnArray) {
  for (const char* shape : {"s16[3,2,4]{2,1,0}", "s16[3,2,4]{0,1,2}", "s16[5]", "s16[]", "s16[0,3]{1,0}"}) {
    Literal whole(array::S(shape));
    int16_t next = 1;
    for (int16_t& element : whole.data<int16_t>()) element = next++;
    const std::string bytes = Written(whole);
    const int64_t header = static_cast<int64_t>(bytes.size()) - whole.size_bytes();
    const auto dims = whole.shape().dimensions();
    const size_t rank = dims.size();
    std::vector<int64_t> starts(rank, 0), sizes(rank, 0);
    const auto check = [&] {
      int64_t read_bytes = 0;
      const auto read_at = [&](int64_t offset, char* to, int64_t size) {
        if (offset >= header) read_bytes += size;
        bytes.copy(to, static_cast<size_t>(size), static_cast<size_t>(offset));
        return absl::OkStatus();
      };
      const auto part = ReadNpyPart(static_cast<int64_t>(bytes.size()), read_at, whole.shape(), starts, sizes);
      ASSERT_TRUE(part.ok()) << part.status();
      std::vector<int64_t> limits = starts;
      for (size_t i = 0; i < rank; ++i) limits[i] += sizes[i];
      EXPECT_EQ(*part, rank == 0 ? whole.Clone() : whole.Slice(starts, limits)) << shape;
      EXPECT_EQ(read_bytes, part->size_bytes());
    };
    const std::function<void(size_t)> each = [&](size_t i) {
      if (i == rank) return check();
      for (starts[i] = 0; starts[i] <= dims[i]; ++starts[i]) {
        for (sizes[i] = 0; sizes[i] <= dims[i] - starts[i]; ++sizes[i]) each(i + 1);
      }
    };
    each(0);
  }
}

TEST(NpyTest, RefusesABoxThatIsNotWithinTheArray) {
  const std::string bytes = Written(L("s16[2,2]", "{{1,2},{3,4}}"));
  const auto read_at = [&](int64_t offset, char* to, int64_t size) {
    bytes.copy(to, static_cast<size_t>(size), static_cast<size_t>(offset));
    return absl::OkStatus();
  };
  const auto read = [&](std::vector<int64_t> starts, std::vector<int64_t> sizes) {
    return TextOf(ReadNpyPart(static_cast<int64_t>(bytes.size()), read_at, array::S("s16[2,2]"), starts, sizes));
  };
  EXPECT_EQ(read({1, 0}, {2, 1}), "[2,1] elements from [1,0] on are not within s16[2,2]");
  EXPECT_EQ(read({-1, 0}, {1, 1}), "[1,1] elements from [-1,0] on are not within s16[2,2]");
  EXPECT_EQ(read({0}, {1}), "[1] elements from [0] on are not within s16[2,2]");
  EXPECT_EQ(read({1, 1}, {1, 1}), "s16[1,1]{1,0} { {4} }");
}

}  // namespace
}  // namespace kashi::literal
