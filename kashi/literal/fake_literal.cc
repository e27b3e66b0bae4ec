#include "kashi/literal/fake_literal.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_index.h"
#include "kashi/array/shape_util.h"
#include "kashi/array/types.h"
#include "kashi/base/status.h"
#include "kashi/literal/literal.h"

namespace kashi {
namespace {

struct FakeOptions {
  std::minstd_rand0* engine;
  std::optional<std::pair<int64_t, int64_t>> limit;
  bool is_sorted;
  bool no_duplicates;
  bool use_large_range;
  std::optional<int64_t> max_bits_of_precision;
};

// Cuts low bits off the magnitude until at most `bits` are significant: 13 with two bits is 12.
double CutToBits(double value, int64_t bits) {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  const double scale = std::ldexp(1.0, static_cast<int>(std::clamp<int64_t>(bits, 1, 53)));
  return std::ldexp(std::trunc(fraction * scale) / scale, exponent);
}
uint64_t CutToBits(uint64_t magnitude, int64_t bits) {
  const int width = magnitude == 0 ? 0 : 64 - __builtin_clzll(magnitude);
  const int64_t cut = width - std::max<int64_t>(bits, 1);
  return cut <= 0 ? magnitude : magnitude >> cut << cut;
}

double RandomReal(const FakeOptions& options, int min_exponent, int max_exponent) {
  const auto uniform = [&](double first, double last) {
    return std::uniform_real_distribution<double>(first, last)(*options.engine);
  };
  double value = 0;
  if (options.use_large_range) {
    const int exponent = std::uniform_int_distribution<int>(min_exponent, max_exponent)(*options.engine);
    value = std::ldexp(uniform(0.5, 1), exponent);
    if (uniform(0, 1) < 0.5) value = -value;
  } else {
    value = uniform(-0.1, 0.2);
  }
  return options.max_bits_of_precision.has_value() ? CutToBits(value, *options.max_bits_of_precision) : value;
}

template <typename T>
T RandomReal(const FakeOptions& options) {
  using Limits = std::numeric_limits<T>;
  const double value = RandomReal(options, Limits::min_exponent, Limits::max_exponent - 1);
  return static_cast<T>(Limits::is_signed ? value : std::abs(value));
}

template <typename T>
void FillReals(const FakeOptions& options, absl::Span<T> elements) {
  // With few numbers to choose from, the search for new ones might not end.
  const bool is_unique = options.no_duplicates && sizeof(T) >= 4 && !options.max_bits_of_precision.has_value() &&
                         elements.size() < (1 << 24);
  absl::flat_hash_set<T> seen;
  for (T& element : elements) {
    do {
      element = RandomReal<T>(options);
    } while (is_unique && !seen.insert(element).second);
  }
}

template <typename T>
void FillComplex(const FakeOptions& options, absl::Span<T> elements) {
  using Part = typename T::value_type;
  for (T& element : elements) {
    const Part real = RandomReal<Part>(options);
    element = T(real, RandomReal<Part>(options));
  }
}

template <typename Wide>
struct Range {
  Wide first;
  Wide last;
};

// A type that holds all values of an integer type T.
template <typename T>
using WideOf = std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t, int64_t>;

// The integers of T, within the limit if it leaves any.
template <typename T>
Range<WideOf<T>> RangeOf(const FakeOptions& options) {
  using Wide = WideOf<T>;
  Range<Wide> range = {static_cast<Wide>(std::numeric_limits<T>::lowest()),
                       static_cast<Wide>(std::numeric_limits<T>::max())};
  if (!options.limit.has_value()) return range;
  const auto clamp = [&](int64_t value) {
    if (std::is_unsigned_v<Wide> && value < 0) return range.first;
    return std::clamp(static_cast<Wide>(value), range.first, range.last);
  };
  const Range<Wide> limited = {clamp(options.limit->first), clamp(options.limit->second)};
  return limited.first <= limited.last ? limited : range;
}

template <typename Wide>
Wide RandomInteger(const FakeOptions& options, Range<Wide> range) {
  std::uniform_int_distribution<Wide> distribution(range.first, range.last);
  const Wide value = distribution(*options.engine);
  if (!options.max_bits_of_precision.has_value()) return value;
  const bool is_negative = std::is_signed_v<Wide> && value < 0;
  const uint64_t magnitude = is_negative ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  const uint64_t cut = CutToBits(magnitude, *options.max_bits_of_precision);
  return std::clamp(static_cast<Wide>(is_negative ? -cut : cut), range.first, range.last);
}

// `count` different numbers of the range, in no order. Only called if there are as many.
template <typename Wide>
std::vector<Wide> DifferentIntegers(const FakeOptions& options, Range<Wide> range, int64_t count) {
  // Floyd's way to draw: for each of the last `count` numbers, one that is not larger, or if that is taken, itself.
  std::vector<Wide> drawn;
  drawn.reserve(count);
  absl::flat_hash_set<Wide> seen;
  for (int64_t i = count - 1; i >= 0; --i) {
    const Wide largest = static_cast<Wide>(static_cast<uint64_t>(range.last) - static_cast<uint64_t>(i));
    const Wide value = std::uniform_int_distribution<Wide>(range.first, largest)(*options.engine);
    drawn.push_back(seen.insert(value).second ? value : largest);
    seen.insert(drawn.back());
  }
  std::shuffle(drawn.begin(), drawn.end(), *options.engine);
  return drawn;
}

template <typename T>
void FillIntegers(const FakeOptions& options, absl::Span<T> elements) {
  using Wide = WideOf<T>;
  const Range<Wide> range = RangeOf<T>(options);
  const uint64_t size_less_one = static_cast<uint64_t>(range.last) - static_cast<uint64_t>(range.first);
  if (options.no_duplicates && !elements.empty() && elements.size() - 1 <= size_less_one) {
    const std::vector<Wide> values = DifferentIntegers(options, range, static_cast<int64_t>(elements.size()));
    std::transform(values.begin(), values.end(), elements.begin(), [](Wide value) { return static_cast<T>(value); });
  } else {
    for (T& element : elements) element = static_cast<T>(RandomInteger(options, range));
  }
  if (options.is_sorted) std::sort(elements.begin(), elements.end());
}

template <typename T>
inline constexpr bool kIsInteger = is_specialized_integral_v<T> && !std::is_same_v<T, bool>;

// The value of all elements if nothing is random.
template <typename T>
T PlainValue(const FakeOptions& options) {
  if constexpr (kIsInteger<T>) {
    if (options.limit.has_value()) return static_cast<T>(RangeOf<T>(options).first);
  }
  return static_cast<T>(1.0f);
}

template <typename T>
void FillElements(const FakeOptions& options, absl::Span<T> elements) {
  if (options.engine == nullptr) {
    std::fill(elements.begin(), elements.end(), PlainValue<T>(options));
  } else if constexpr (std::is_same_v<T, bool>) {
    std::uniform_int_distribution<int> coin(0, 1);
    for (T& element : elements) element = coin(*options.engine) == 1;
  } else if constexpr (is_complex_v<T>) {
    FillComplex(options, elements);
  } else if constexpr (kIsInteger<T>) {
    FillIntegers(options, elements);
  } else {
    FillReals(options, elements);
  }
}

absl::StatusOr<Literal> MakeFake(const Shape& shape, const FakeOptions& options) {
  KASHI_RETURN_IF_ERROR(ShapeUtil::ForEachLeafShapeWithStatus(shape, [&](const Shape& leaf, const ShapeIndex&) {
    if (leaf.IsArray() || leaf.IsToken()) return absl::OkStatus();
    return Unimplemented("Unsupported type for fake literal generation: %s", ShapeUtil::HumanString(shape));
  }));
  KASHI_ASSIGN_OR_RETURN(Literal literal, Literal::Make(shape));
  ShapeUtil::ForEachLeafShape(shape, [&](const Shape& leaf, const ShapeIndex& index) {
    if (!leaf.IsArray()) return;
    primitive_util::ArrayTypeSwitch<void>(
        [&](auto type) { FillElements(options, literal.data<primitive_util::NativeTypeOf<type>>(index)); },
        leaf.element_type());
  });
  return literal;
}

}  // namespace

absl::StatusOr<Literal> MakeFakeLiteral(const Shape& shape, bool pseudo_random, bool use_large_range) {
  std::minstd_rand0 engine;
  return MakeFake(shape,
                  {pseudo_random ? &engine : nullptr, std::nullopt, false, false, use_large_range, std::nullopt});
}

absl::StatusOr<Literal> MakeFakeLiteral(const Shape& shape, std::minstd_rand0* engine,
                                        std::optional<std::pair<int64_t, int64_t>> limit, bool is_sorted,
                                        bool no_duplicates, bool use_large_range,
                                        std::optional<int64_t> max_bits_of_precision) {
  return MakeFake(shape, {engine, limit, is_sorted, no_duplicates, use_large_range, max_bits_of_precision});
}

}  // namespace kashi
