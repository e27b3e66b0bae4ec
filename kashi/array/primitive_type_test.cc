#include "kashi/array/primitive_type.h"

#include <set>
#include <string>

#include "absl/strings/ascii.h"
#include "gtest/gtest.h"

namespace kashi::array {
namespace {

using primitive_type_internal::kInfos;

// Numbers and names that are in files all over the world. Some of them; the table has each once.
TEST(PrimitiveTypeTest, NumbersAreThoseOfXla) {
  static_assert(PRIMITIVE_TYPE_INVALID == 0 && PRED == 1 && S32 == 4 && U64 == 9 && F16 == 10 && F32 == 11);
  static_assert(TUPLE == 13 && OPAQUE_TYPE == 14 && C64 == 15 && BF16 == 16 && TOKEN == 17 && C128 == 18);
  static_assert(F8E5M2 == 19 && F8E4M3FN == 20 && S4 == 21 && F8E4M3B11FNUZ == 23 && F8E4M3FNUZ == 25 && S2 == 26);
  static_assert(F8E4M3 == 28 && F8E3M4 == 29 && S1 == 30 && F4E2M1FN == 32 && F8E8M0FNU == 33 && BUFFER == 34);
  static_assert(F6E3M2FN == 35 && F6E2M3FN == 36);
  static_assert(PrimitiveType_MIN == 0 && PrimitiveType_MAX == 36 && PrimitiveType_ARRAYSIZE == 37);
  static_assert(sizeof(PrimitiveType) == sizeof(int));
}

TEST(PrimitiveTypeTest, TableIsConsistent) {
  std::set<absl::string_view> names, texts;
  for (const PrimitiveTypeInfo& info : kInfos) {
    SCOPED_TRACE(std::string(info.name));
    EXPECT_TRUE(names.insert(info.name).second);
    EXPECT_TRUE(texts.insert(info.text).second);
    EXPECT_EQ(info.text, info.type == OPAQUE_TYPE ? "opaque" : absl::AsciiStrToLower(info.name));
    EXPECT_EQ(info.bytes, (info.bits + 7) / 8);
    EXPECT_EQ(info.IsArray(), info.bits > 0);
    const FloatFormat& format = info.format;
    const int format_bits = format.sign_bits + format.exponent_bits + format.mantissa_bits;
    if (info.type_class == PrimitiveClass::kFloat) {
      EXPECT_EQ(format_bits, info.bits);
    } else if (info.type_class == PrimitiveClass::kComplex) {
      EXPECT_EQ(2 * format_bits, info.bits);
    } else {
      EXPECT_EQ(format_bits, 0);
    }
    EXPECT_EQ(format.specials == FloatSpecials::kNone, format_bits == 0);
  }
}

TEST(PrimitiveTypeTest, ProtobufFunctions) {
  EXPECT_EQ(PrimitiveType_Name(F8E4M3B11FNUZ), "F8E4M3B11FNUZ");
  EXPECT_EQ(PrimitiveType_Name(14), "OPAQUE_TYPE");
  EXPECT_EQ(PrimitiveType_Name(-1), "");
  EXPECT_EQ(PrimitiveType_Name(37), "");
  EXPECT_EQ(&PrimitiveType_Name(F32), &PrimitiveType_Name(F32));

  EXPECT_TRUE(PrimitiveType_IsValid(0));
  EXPECT_TRUE(PrimitiveType_IsValid(36));
  EXPECT_FALSE(PrimitiveType_IsValid(37));
  EXPECT_FALSE(PrimitiveType_IsValid(PrimitiveType_INT_MIN_SENTINEL_DO_NOT_USE_));
  EXPECT_FALSE(PrimitiveType_IsValid(PrimitiveType_INT_MAX_SENTINEL_DO_NOT_USE_));

  PrimitiveType type = F64;
  EXPECT_TRUE(PrimitiveType_Parse("OPAQUE_TYPE", &type));
  EXPECT_EQ(type, OPAQUE_TYPE);
  EXPECT_FALSE(PrimitiveType_Parse("opaque", &type));
  EXPECT_FALSE(PrimitiveType_Parse("", &type));
  EXPECT_EQ(type, OPAQUE_TYPE);
}

// A proto may hold any number there.
TEST(PrimitiveTypeTest, InfoOfAnyNumber) {
  static_assert(GetPrimitiveTypeInfo(BF16).bits == 16);
  for (int number : {-1, 37, 1000, static_cast<int>(PrimitiveType_INT_MIN_SENTINEL_DO_NOT_USE_),
                     static_cast<int>(PrimitiveType_INT_MAX_SENTINEL_DO_NOT_USE_)}) {
    const PrimitiveTypeInfo& info = GetPrimitiveTypeInfo(static_cast<PrimitiveType>(number));
    EXPECT_EQ(info.type_class, PrimitiveClass::kInvalid) << number;
    EXPECT_EQ(info.name, "") << number;
    EXPECT_FALSE(info.IsArray()) << number;
  }
}

}  // namespace
}  // namespace kashi::array
