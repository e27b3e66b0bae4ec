// Compares every row function with one element at a time: slots by single bits, values by ConvertElement.
#include "kashi/relayout/simd/highway_targets.h"  // before Highway

#include "kashi/relayout/simd/row_functions.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <hwy/targets.h>
#include "gtest/gtest.h"
#include "kashi/array/element_convert.h"
#include "kashi/array/primitive_util.h"
#include "kashi/base/sanitizers_testing.h"

namespace kashi::relayout {
namespace {

using primitive_util::NativeTypeOf;
using Bits = unsigned __int128;

// Room behind and before each row, whose bytes must stay as they are.
constexpr int64_t kMargin = 40;

int BitsOf(PrimitiveType type) { return primitive_util::BitWidth(type); }
int NativeSlotOf(PrimitiveType type) { return 8 * primitive_util::ByteWidth(type); }

std::string NameOf(const ElementForm& form) {
  return primitive_util::LowercasePrimitiveTypeName(form.type) + ":E(" + std::to_string(form.slot_bits) + ")";
}

std::vector<int> SlotsOf(PrimitiveType type) {
  std::vector<int> slots;
  for (int slot : {1, 2, 4, 8, 16, 24, 32, 64, 72, 128}) {
    if (slot >= BitsOf(type)) slots.push_back(slot);
  }
  return slots;
}

Bits LowBits(int count) { return count == 128 ? ~Bits{0} : (Bits{1} << count) - 1; }

Bits GetBits(const std::vector<char>& bytes, int64_t first, int count) {
  Bits value = 0;
  for (int i = 0; i < count; ++i) {
    value |= Bits{(static_cast<uint8_t>(bytes[(first + i) / 8]) >> ((first + i) % 8)) & 1u} << i;
  }
  return value;
}

void SetBits(std::vector<char>& bytes, int64_t first, int count, Bits value) {
  for (int i = 0; i < count; ++i) {
    char& byte = bytes[(first + i) / 8];
    const int bit = 1 << ((first + i) % 8);
    byte = static_cast<char>(((value >> i) & 1) != 0 ? byte | bit : byte & ~bit);
  }
}

// The element's bits in a slot of `slot` bits.
Bits Extended(PrimitiveType type, Bits value, int slot) {
  const int bits = BitsOf(type);
  value &= LowBits(bits);
  const bool is_negative = bits >= 8 && primitive_util::IsSignedIntegralType(type) && ((value >> (bits - 1)) & 1) != 0;
  return (is_negative ? value | ~LowBits(bits) : value) & LowBits(slot);
}

Bits ConvertedBits(PrimitiveType from, PrimitiveType to, Bits value) {
  return primitive_util::ArrayTypeSwitch<Bits>(
      [&](auto from_constant) {
        return primitive_util::ArrayTypeSwitch<Bits>(
            [&](auto to_constant) {
              NativeTypeOf<decltype(from_constant)::value> source;
              std::memcpy(static_cast<void*>(&source), &value, sizeof(source));
              const auto target = array::ConvertElement<NativeTypeOf<decltype(to_constant)::value>>(source);
              Bits result = 0;
              std::memcpy(&result, static_cast<const void*>(&target), sizeof(target));
              return result;
            },
            to);
      },
      from);
}

// The expected slot of the target if the slot of the source holds `value`.
Bits Expected(const ElementForm& from, const ElementForm& to, Bits value) {
  const int to_slot = static_cast<int>(to.slot_bits);
  if (from.type == to.type) return from.slot_bits == to_slot ? value : Extended(from.type, value, to_slot);
  const Bits converted = ConvertedBits(from.type, to.type, value & LowBits(BitsOf(from.type)));
  return to_slot == NativeSlotOf(to.type) ? converted : Extended(to.type, converted, to_slot);
}

std::vector<char> RandomBytes(int64_t size, std::mt19937_64& random) {
  std::vector<char> bytes(size);
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

class RowFunctionsTest : public testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }

  // Runs one row and compares all of the target with the expected one. False at the first difference.
  bool CheckRow(const ElementForm& from, const ElementForm& to, const std::vector<char>& source, int64_t from_bit,
                int64_t to_bit, int64_t count, const RowFunction& function) {
    std::vector<char> target = RandomBytes(kMargin + (to_bit + count * to.slot_bits + 7) / 8 + kMargin, random_);
    std::vector<char> expected = target;
    for (int64_t i = 0; i < count; ++i) {
      const Bits value = GetBits(source, from_bit + i * from.slot_bits, static_cast<int>(from.slot_bits));
      SetBits(expected, kMargin * 8 + to_bit + i * to.slot_bits, static_cast<int>(to.slot_bits),
              Expected(from, to, value));
    }
    // Exactly the row's bytes, so that a sanitizer sees each one too many that is read.
    const std::vector<char> exact(source.begin(), source.begin() + (from_bit + count * from.slot_bits + 7) / 8);
    function(exact.data(), from_bit, target.data() + kMargin, to_bit, count);
    EXPECT_EQ(target, expected) << NameOf(from) << " from bit " << from_bit << " to " << NameOf(to) << " at bit "
                                << to_bit << ", " << count << " elements";
    return target == expected;
  }

  // Checks all elements of `values`, whose slots are native ones.
  bool CheckValues(PrimitiveType from_type, PrimitiveType to_type, const std::vector<char>& values) {
    const ElementForm from{from_type, NativeSlotOf(from_type)}, to{to_type, NativeSlotOf(to_type)};
    const int64_t count = static_cast<int64_t>(values.size()) * 8 / from.slot_bits;
    const int64_t from_bytes = from.slot_bits / 8, to_bytes = to.slot_bits / 8;
    std::vector<char> target(count * to_bytes);
    RowFunctionFor(from, to)(values.data(), 0, target.data(), 0, count);
    for (int64_t i = 0; i < count; ++i) {
      Bits value = 0, got = 0;
      std::memcpy(&value, &values[i * from_bytes], from_bytes);
      std::memcpy(&got, &target[i * to_bytes], to_bytes);
      if (from_type == PRED) value &= 1;
      const Bits expected = ConvertedBits(from_type, to_type, value);
      EXPECT_TRUE(got == expected) << NameOf(from) << " to " << NameOf(to) << ": of " << std::hex
                                   << static_cast<uint64_t>(value) << " made " << static_cast<uint64_t>(got) << ", not "
                                   << static_cast<uint64_t>(expected);
      if (got != expected) return false;
    }
    return true;
  }

  std::mt19937_64 random_{20260131};
};

INSTANTIATE_TEST_SUITE_P(Targets, RowFunctionsTest, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& info) { return std::string(hwy::TargetName(info.param)); });

TEST_P(RowFunctionsTest, SlotsAtAllPhasesAndCounts) {
  for (PrimitiveType type : {PRED, S1, U1, S2, U2, S4, U4, F4E2M1FN}) {
    for (int from_slot : {1, 2, 4, 8}) {
      for (int to_slot : {1, 2, 4, 8}) {
        if (from_slot < BitsOf(type) || to_slot < BitsOf(type)) continue;
        const ElementForm from{type, from_slot}, to{type, to_slot};
        const RowFunction function = RowFunctionFor(from, to);
        const std::vector<char> source = RandomBytes(1000, random_);
        for (int from_bit = 0; from_bit <= 16; from_bit += from_slot) {
          for (int to_bit = 0; to_bit <= 8; to_bit += to_slot) {
            for (int count = 0; count <= 70; ++count) {
              if (!CheckRow(from, to, source, from_bit, to_bit, count, function)) return;
            }
            for (int i = 0; i < 3; ++i) {
              if (!CheckRow(from, to, source, from_bit, to_bit, 71 + random_() % 900, function)) return;
            }
          }
        }
      }
    }
  }
}

TEST_P(RowFunctionsTest, MovesBetweenAllSlots) {
  primitive_util::ArrayTypeForEach([&](PrimitiveType type) {
    for (int from_slot : SlotsOf(type)) {
      for (int to_slot : SlotsOf(type)) {
        const ElementForm from{type, from_slot}, to{type, to_slot};
        const RowFunction function = RowFunctionFor(from, to);
        for (int64_t count : {0, 1, 3, 17, 600}) {
          const std::vector<char> source = RandomBytes(64 + count * from_slot / 8, random_);
          if (!CheckRow(from, to, source, 3 * from_slot, 5 * to_slot, count, function)) return;
        }
      }
    }
  });
}

template <typename T>
void Append(T value, std::vector<char>* values) {
  const char* bytes = reinterpret_cast<const char*>(&value);
  values->insert(values->end(), bytes, bytes + sizeof(T));
}

template <typename T>
void AppendSmall(int bits, std::vector<char>* values) {
  for (int code = 0; code < 1 << bits; ++code) Append(static_cast<T>(code), values);
}

template <typename T>
void AppendIntegers(std::mt19937_64& random, std::vector<char>* values) {
  for (int shift = 0; shift < std::numeric_limits<T>::digits + std::is_signed_v<T>; ++shift) {
    const auto power = static_cast<T>(T{1} << shift);
    for (int offset = -3; offset <= 3; ++offset) {
      Append(static_cast<T>(static_cast<uint64_t>(power) + offset), values);
      Append(static_cast<T>(-static_cast<uint64_t>(power) + offset), values);
      Append(static_cast<T>((static_cast<uint64_t>(power) + (power >> 24) + offset)), values);  // a tie of f32
    }
  }
  for (int i = 0; i < 20000; ++i) Append(static_cast<T>(random() >> (random() % 64)), values);
}

// The positive number and its neighbours, of both signs.
template <typename T>
void AppendAround(T value, std::vector<char>* values) {
  for (T x : {value, std::nextafter(value, T{0}), std::nextafter(value, std::numeric_limits<T>::infinity())}) {
    Append(x, values);
    Append(-x, values);
  }
}

template <typename T, typename Word>
void AppendReals(std::mt19937_64& random, std::vector<char>* values) {
  for (int i = 0; i < 100000; ++i) Append(static_cast<Word>(random()), values);
  // Magnitudes that narrow types know, their low bits all zeros or nearly so: ties, and numbers next to them.
  for (int i = 0; i < 200000; ++i) {
    const T x =
        std::ldexp(static_cast<T>(static_cast<int64_t>(random() % 8192) - 4096), static_cast<int>(random() % 60) - 50);
    Append(i % 3 == 0 ? x : std::nextafter(x, i % 3 == 1 ? T{1e30} : T{-1e30}), values);
  }
  for (int exponent = -160; exponent <= 140; ++exponent) {
    for (int eighths = 8; eighths < 16; ++eighths) {
      AppendAround(static_cast<T>(std::ldexp(eighths / 8.0, exponent)), values);
      AppendAround(static_cast<T>(std::ldexp((2 * eighths + 1) / 16.0, exponent)), values);
    }
  }
  for (double limit : {127.5,           128.0,           255.5,        256.0,        32767.5,
                       32768.0,         65535.5,         65536.0,      65504.0,      65519.0,
                       65520.0,         2147483647.0,    2147483648.0, 4294967295.0, 4294967296.0,
                       0x1p63,          0x1p64,          464.0,        448.0,        61440.0,
                       248.0,           15.75,           15.5,         6.0,          7.0,
                       1.0039062500001, 0x1p-127,        0x1p-126,     0x1p-149,     0x1p-150,
                       0x1.fffffep+127, 0x1.ffffffp+127, 0x1.fep127,   0x1.ffp127}) {
    AppendAround(static_cast<T>(limit), values);
  }
  for (int code = 0; code < 1 << 16; ++code) {  // NaNs, infinities, subnormals: all upper and many lower halves
    Append(static_cast<Word>(Word{static_cast<uint16_t>(code)} << (sizeof(Word) * 8 - 16)), values);
    Append(static_cast<Word>(code), values);
  }
  AppendAround(T{0}, values);
  AppendAround(std::numeric_limits<T>::infinity(), values);
  AppendAround(std::numeric_limits<T>::max(), values);
}

// Pairs of the parts' values, in another order the second time.
template <typename T, typename Word>
void AppendComplex(std::mt19937_64& random, std::vector<char>* values) {
  AppendReals<T, Word>(random, values);
  if (values->size() % (2 * sizeof(T)) != 0) Append(T{1}, values);
  for (T x : {T{0}, -T{0}}) {
    for (T y : {T{0}, -T{0}, T{1}, std::numeric_limits<T>::quiet_NaN()}) {
      Append(x, values);
      Append(y, values);
    }
  }
}

// Every value of the types of at most 16 bits; of the others random bits, random numbers of all magnitudes, and special
// ones: limits of other types, ties between their numbers, one more, one less.
std::vector<char> ValuesOf(PrimitiveType type, std::mt19937_64& random) {
  std::vector<char> values;
  switch (type) {
    case PRED:
      AppendSmall<uint8_t>(1, &values);
      break;
    case S32:
    case U32:
      type == S32 ? AppendIntegers<int32_t>(random, &values) : AppendIntegers<uint32_t>(random, &values);
      break;
    case S64:
    case U64:
      type == S64 ? AppendIntegers<int64_t>(random, &values) : AppendIntegers<uint64_t>(random, &values);
      break;
    case F32:
      AppendReals<float, uint32_t>(random, &values);
      break;
    case F64:
      AppendReals<double, uint64_t>(random, &values);
      break;
    case C64:
      AppendComplex<float, uint32_t>(random, &values);
      break;
    case C128:
      AppendComplex<double, uint64_t>(random, &values);
      break;
    default:
      NativeSlotOf(type) == 8 ? AppendSmall<uint8_t>(8, &values) : AppendSmall<uint16_t>(16, &values);
  }
  return values;
}

TEST_P(RowFunctionsTest, ConvertsAsConvertElement) {
  primitive_util::ArrayTypeForEach([&](PrimitiveType from) {
    const std::vector<char> values = ValuesOf(from, random_);
    primitive_util::ArrayTypeForEach([&](PrimitiveType to) {
      if (from != to) CheckValues(from, to, values);
    });
  });
}

// The ends of rows, where there is no whole vector, and addresses that are not aligned.
TEST_P(RowFunctionsTest, ConvertsRowsOfAllLengths) {
  int pairs = 0;
  primitive_util::ArrayTypeForEach([&](PrimitiveType from_type) {
    std::vector<char> source = ValuesOf(from_type, random_);
    for (int i = 0; source.size() < 8192; ++i) source.push_back(source[i]);
    primitive_util::ArrayTypeForEach([&](PrimitiveType to_type) {
      if (from_type == to_type) return;
      const ElementForm from{from_type, NativeSlotOf(from_type)}, to{to_type, NativeSlotOf(to_type)};
      const RowFunction function = RowFunctionFor(from, to);
      for (int count = pairs++ % base::kShare; count <= 35; count += base::kShare) {
        const std::vector<char> part(source.begin() + count * 16, source.end());
        if (!CheckRow(from, to, part, 0, 8 * (count % 3), count, function)) return;
      }
    });
  });
}

TEST_P(RowFunctionsTest, ConvertsBetweenAllSlots) {
  primitive_util::ArrayTypeForEach([&](PrimitiveType from_type) {
    primitive_util::ArrayTypeForEach([&](PrimitiveType to_type) {
      if (from_type == to_type) return;
      for (int from_slot : SlotsOf(from_type)) {
        for (int to_slot : SlotsOf(to_type)) {
          const ElementForm from{from_type, from_slot}, to{to_type, to_slot};
          // A PRED's bits that are neither 0 nor 1 mean nothing.
          std::vector<char> source = RandomBytes(64 + 19 * from_slot / 8, random_);
          for (int i = 0; from_type == PRED && i < 22; ++i) SetBits(source, i * from_slot, from_slot, i % 3 == 0);
          if (!CheckRow(from, to, source, 3 * from_slot, 5 * to_slot, 19, RowFunctionFor(from, to))) return;
        }
      }
    });
  });
}

TEST(CheckFormsTest, SaysWhatIsWrong) {
  const ElementForm good{F32, 32};
  EXPECT_TRUE(CheckForms(good, {S4, 4}).ok());
  EXPECT_TRUE(CheckForms({PRED, 1}, {C128, 128}).ok());
  EXPECT_TRUE(CheckForms({F6E2M3FN, 8}, {F16, 24}).ok());
  const auto message = [&](PrimitiveType type, int64_t slot) {
    return std::string(CheckForms(good, {type, slot}).message());
  };
  EXPECT_EQ(message(TUPLE, 8), "the target has no elements: its type is TUPLE");
  EXPECT_EQ(message(TOKEN, 8), "the target has no elements: its type is TOKEN");
  EXPECT_EQ(message(OPAQUE_TYPE, 8), "the target has no elements: its type is OPAQUE_TYPE");
  EXPECT_FALSE(CheckForms({static_cast<PrimitiveType>(1000), 8}, good).ok());
  for (int64_t slot : {int64_t{-8}, int64_t{0}, int64_t{3}, int64_t{12}, int64_t{136}, int64_t{1} << 40}) {
    EXPECT_EQ(message(S1, slot),
              "the target has " + std::to_string(slot) + " bits an element: not 1, 2, 4 or a multiple of 8 up to 128");
  }
  EXPECT_EQ(message(S4, 2), "the target has 2 bits an element, but a s4 takes 4");
  EXPECT_EQ(message(F6E2M3FN, 4), "the target has 4 bits an element, but a f6e2m3fn takes 6");
  EXPECT_EQ(CheckForms({F32, 16}, good).message(), "the source has 16 bits an element, but a f32 takes 32");
  EXPECT_EQ(CheckForms({F32, 16}, good).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace kashi::relayout
