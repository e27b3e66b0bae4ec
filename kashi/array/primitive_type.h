// PrimitiveType: the element types of XLA's arrays, and the few kinds that are not arrays.
//
// In `bf16[8,128]{1,0}` the primitive type is BF16: number 16 in protos, `bf16` in text, 16 bits, two bytes in memory.
// The enum and the functions that begin with PrimitiveType_ have the names, values and behaviour of protoc's code for
// XLA's xla_data.proto, but do not need protobuf. protoc's code for Kashi's own protos uses this enum.
// GetPrimitiveTypeInfo() returns all columns of primitive_types.def. primitive_util.h has the queries about types.
//
// A PrimitiveType from a proto may hold any int. All functions here accept that.

#ifndef KASHI_ARRAY_PRIMITIVE_TYPE_H_
#define KASHI_ARRAY_PRIMITIVE_TYPE_H_

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "absl/strings/string_view.h"

namespace kashi {

// Unscoped, as protobuf has it: kashi::F32. Printing one prints its number; use PrimitiveType_Name() or
// primitive_util::LowercasePrimitiveTypeName().
enum PrimitiveType : int {
#define KASHI_TYPE(type, number, ...) type = number,
#include "kashi/array/primitive_types.def"
  // Protobuf adds these two to open enums; no type has these numbers.
  PrimitiveType_INT_MIN_SENTINEL_DO_NOT_USE_ = std::numeric_limits<int32_t>::min(),
  PrimitiveType_INT_MAX_SENTINEL_DO_NOT_USE_ = std::numeric_limits<int32_t>::max()
};

// ---------------------------------------------------------------------------------------------------------------------
// The columns of the table
// ---------------------------------------------------------------------------------------------------------------------

enum class PrimitiveClass {
  kInvalid,   // PRIMITIVE_TYPE_INVALID, and every number that is no type
  kPred,      // PRED; not an integer
  kSigned,    // S1 ... S64, two's complement
  kUnsigned,  // U1 ... U64
  kFloat,     // all real number formats
  kComplex,   // C64, C128: a pair (real, imaginary)
  kNonArray,  // TUPLE, OPAQUE_TYPE, TOKEN, BUFFER
};

// The special values of a number format, beside finite numbers; primitive_types.def has the table.
enum class FloatSpecials { kNone, kIeee, kFn, kFnuz, kFinite, kE8m0 };

struct FloatFormat {
  int sign_bits;
  int exponent_bits;
  int mantissa_bits;  // the stored ones
  int bias;
  FloatSpecials specials;

  constexpr bool has_infinity() const { return specials == FloatSpecials::kIeee; }
  constexpr bool has_nan() const { return specials != FloatSpecials::kNone && specials != FloatSpecials::kFinite; }
  constexpr bool has_zero() const { return specials != FloatSpecials::kNone && specials != FloatSpecials::kE8m0; }
  constexpr bool has_negative_zero() const {
    return specials == FloatSpecials::kIeee || specials == FloatSpecials::kFn || specials == FloatSpecials::kFinite;
  }

  // The code of the largest finite number.
  constexpr uint64_t max_code() const {
    const uint64_t codes = uint64_t{1} << (exponent_bits + mantissa_bits);  // of one sign
    switch (specials) {
      case FloatSpecials::kIeee:
        return codes - (uint64_t{1} << mantissa_bits) - 1;
      case FloatSpecials::kFn:
      case FloatSpecials::kE8m0:
        return codes - 2;
      case FloatSpecials::kFnuz:
      case FloatSpecials::kFinite:
      case FloatSpecials::kNone:
        return codes - 1;
    }
    return codes - 1;
  }
  // As in std::numeric_limits: 2^(min_exponent - 1) is the smallest normal number, 2^max_exponent the first power of
  // two that is too large.
  constexpr int min_exponent() const { return specials == FloatSpecials::kE8m0 ? 1 - bias : 2 - bias; }
  constexpr int max_exponent() const { return static_cast<int>(max_code() >> mantissa_bits) - bias + 1; }
};

struct PrimitiveTypeInfo {
  PrimitiveType type;
  absl::string_view name;  // "F8E4M3FN"
  absl::string_view text;  // "f8e4m3fn"
  int bits;                // 0 if there are no elements
  int bytes;
  PrimitiveClass type_class;
  FloatFormat format;  // of a Float, or of the two parts of a Complex

  constexpr bool IsArray() const {
    return type_class != PrimitiveClass::kInvalid && type_class != PrimitiveClass::kNonArray;
  }
};

namespace primitive_type_internal {

inline constexpr PrimitiveTypeInfo kInfos[] = {
// clang-format off
#define KASHI_TYPE(type, number, text, bits, bytes, type_class, native, made, sign, exponent, mantissa, bias, special) \
  {type, #type, text, bits, bytes, PrimitiveClass::k##type_class,                                                     \
   {sign, exponent, mantissa, bias, FloatSpecials::k##special}},
// clang-format on
#include "kashi/array/primitive_types.def"
};
inline constexpr int kNumInfos = sizeof(kInfos) / sizeof(kInfos[0]);

// Answers for numbers that are no type.
inline constexpr PrimitiveTypeInfo kNoType = {
    PRIMITIVE_TYPE_INVALID, "", "", 0, 0, PrimitiveClass::kInvalid, {0, 0, 0, 0, FloatSpecials::kNone}};

constexpr bool TableIsDense() {
  for (int i = 0; i < kNumInfos; ++i) {
    if (kInfos[i].type != i) return false;
  }
  return true;
}
static_assert(TableIsDense(), "primitive_types.def must be sorted by number and have no gap: the number is the index.");

const std::string& Name(int value);

}  // namespace primitive_type_internal

// Never fails: for a number that is no type, the class is kInvalid and both names are empty.
constexpr const PrimitiveTypeInfo& GetPrimitiveTypeInfo(PrimitiveType type) {
  return type >= 0 && type < primitive_type_internal::kNumInfos ? primitive_type_internal::kInfos[type]
                                                                : primitive_type_internal::kNoType;
}

// ---------------------------------------------------------------------------------------------------------------------
// The constants and functions that protoc generates for an enum
// ---------------------------------------------------------------------------------------------------------------------

constexpr PrimitiveType PrimitiveType_MIN = PRIMITIVE_TYPE_INVALID;
constexpr int PrimitiveType_ARRAYSIZE = primitive_type_internal::kNumInfos;
constexpr PrimitiveType PrimitiveType_MAX = primitive_type_internal::kInfos[PrimitiveType_ARRAYSIZE - 1].type;

bool PrimitiveType_IsValid(int value);

// The enum name, "OPAQUE_TYPE"; the empty string for a number that is no type.
template <typename T>
inline const std::string& PrimitiveType_Name(T value) {
  static_assert(std::is_same<T, PrimitiveType>::value || std::is_integral<T>::value,
                "PrimitiveType_Name takes a PrimitiveType or an integer.");
  return primitive_type_internal::Name(static_cast<int>(value));
}

// The inverse of PrimitiveType_Name. False, and `*value` is left alone, if no type has that enum name.
bool PrimitiveType_Parse(absl::string_view name, PrimitiveType* value);

}  // namespace kashi

#endif  // KASHI_ARRAY_PRIMITIVE_TYPE_H_
