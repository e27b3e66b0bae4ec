// Conversions of all pairs of types: each element becomes the result of ConvertElement.
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"
#include "kashi/array/element_convert.h"
#include "kashi/array/primitive_util.h"
#include "kashi/relayout/relayout_plan.h"
#include "kashi/relayout/relayout_trial_testing.h"

namespace kashi::relayout {
namespace {

using primitive_util::NativeTypeOf;
using relayout_testing::Index;
using relayout_testing::Runner;
using relayout_testing::Trial;

template <typename T>
absl::uint128 BitsOf(T value) {
  absl::uint128 bits = 0;
  std::memcpy(static_cast<void*>(&bits), &value, sizeof(value));
  return bits;
}
template <typename T>
T FromBits(absl::uint128 bits) {
  if constexpr (std::is_same_v<T, bool>) {
    return bits != 0;
  } else {
    T value;
    std::memcpy(static_cast<void*>(&value), &bits, sizeof(value));
    return value;
  }
}

absl::uint128 ConvertBits(PrimitiveType from, PrimitiveType to, absl::uint128 bits) {
  return primitive_util::ArrayTypeSwitch(
      [&](auto from_type) {
        using From = NativeTypeOf<from_type>;
        return primitive_util::ArrayTypeSwitch(
            [&](auto to_type) { return BitsOf(array::ConvertElement<NativeTypeOf<to_type>>(FromBits<From>(bits))); },
            to);
      },
      from);
}

const std::vector<PrimitiveType>& ArrayTypes() {
  static const auto& types = *new std::vector<PrimitiveType>([] {
    std::vector<PrimitiveType> all;
    for (int number = 0; number <= F6E2M3FN; ++number) {
      if (primitive_util::IsArrayType(static_cast<PrimitiveType>(number)))
        all.push_back(static_cast<PrimitiveType>(number));
    }
    return all;
  }());
  return types;
}

// Interesting bits of any type: all there are, as far as they are few; noise, numbers near 0, and all that f64 rounds.
std::vector<absl::uint128> ValuesOf(PrimitiveType type) {
  std::vector<absl::uint128> values;
  const int bits = primitive_util::BitWidth(type);
  if (bits <= 8) {
    for (int code = 0; code < 1 << bits; ++code) values.push_back(code);
    return values;
  }
  std::mt19937_64 random(type);
  for (int i = 0; i < 150; ++i) values.push_back(absl::MakeUint128(random(), random()));
  for (PrimitiveType like : {S16, U32, F32, F64, S64}) {
    for (int i = -40; i < 40; ++i) {
      const double number = i < -20 ? i * 1e9 : i > 20 ? i / 3.0 : i;
      values.push_back(ConvertBits(like, type, ConvertBits(F64, like, BitsOf(number))));
    }
  }
  for (double number : {65504.0, 65519.99, 65520.0, 1e-40, 1e300, -1e300, 448.0, 464.0, 0.5, 1.0 + 0x1p-8 + 0x1p-40,
                        1.0 + 0x1p-24 + 0x1p-53, 3.4028235677973366e38, std::numeric_limits<double>::infinity(),
                        -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(), -0.0}) {
    values.push_back(ConvertBits(F64, type, BitsOf(number)));
  }
  return values;
}

// A row of them, and a transposed block of them with an edge.
TEST(RelayoutConvertTest, ConvertsEachElementAsConvertElementDoes) {
  RelayoutOptions options;
  options.convert = true;
  for (PrimitiveType from : ArrayTypes()) {
    const std::vector<absl::uint128> values = ValuesOf(from);
    const int64_t count = values.size(), from_bytes = primitive_util::ByteWidth(from);
    constexpr int64_t kRows = 3;
    std::vector<uint8_t> source(kRows * count * from_bytes);
    for (int64_t i = 0; i < kRows * count; ++i) std::memcpy(&source[i * from_bytes], &values[i % count], from_bytes);
    for (PrimitiveType to : ArrayTypes()) {
      const int64_t to_bytes = primitive_util::ByteWidth(to);
      const Shape from_shape = relayout_testing::MakeShape(from, {kRows, count}, {1, 0}, {});
      for (bool transposed : {false, true}) {
        const Shape to_shape =
            relayout_testing::MakeShape(to, {kRows, count}, transposed ? Index{0, 1} : Index{1, 0}, {});
        const absl::StatusOr<RelayoutPlan> plan = RelayoutPlan::Make(from_shape, to_shape, options);
        ASSERT_TRUE(plan.ok()) << plan.status();
        std::vector<uint8_t> target(plan->target_bytes()), by_index = target;
        plan->Execute(source.data(), target.data());
        plan->ExecuteByIndex(source.data(), by_index.data());
        for (int64_t i = 0; i < kRows * count; ++i) {
          const int64_t at = (transposed ? i % count * kRows + i / count : i) * to_bytes;
          absl::uint128 want = from == to ? values[i % count] : ConvertBits(from, to, values[i % count]);
          if (std::memcmp(&want, &target[at], to_bytes) == 0 && std::memcmp(&want, &by_index[at], to_bytes) == 0)
            continue;
          absl::uint128 got = 0, index = 0;
          std::memcpy(&got, &target[at], to_bytes);
          std::memcpy(&index, &by_index[at], to_bytes);
          ADD_FAILURE() << PrimitiveType_Name(from) << " to " << PrimitiveType_Name(to) << std::hex << ": 0x"
                        << relayout_testing::LowBits(values[i % count], 8 * from_bytes) << " becomes 0x" << got
                        << ", by index 0x" << index << ", should be 0x"
                        << relayout_testing::LowBits(want, 8 * to_bytes);
          break;
        }
      }
    }
  }
}

// Types and slots change on the way, at once with places.
TEST(RelayoutConvertTest, ConversionsOfRandomPlacementsEqualBruteForce) {
  std::mt19937_64 random(11);
  const auto pick = [&](int64_t low, int64_t high) -> int64_t {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  };
  Runner runner(1 << 18);
  relayout_testing::TrialLimits limits;
  limits.max_rank = 3;
  limits.max_elements = 200;
  int failures = 0;
  for (int i = 0; i < 6000 && failures < 5; ++i) {
    const Trial trial = DrawTrial(pick, limits);
    const PrimitiveType from = trial.from.shape.element_type(), to = trial.to.shape.element_type();
    if (from == to || from == PRED || !runner.Fits(trial)) continue;  // noise is no PRED
    const std::string wrong =
        runner.RunBruteForce(trial, [&](absl::uint128 value) { return ConvertBits(from, to, value); });
    EXPECT_EQ(wrong, "") << ToString(trial);
    failures += !wrong.empty();
  }
}

}  // namespace
}  // namespace kashi::relayout
