#include "kashi/literal/random_array.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/array/types.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"

namespace kashi::literal {
namespace {

using DistributionKind = RandomDistributionSpec::Kind;

// SplitMix64 (Steele, Lea and Flood, 2014): a counter, well mixed. std:: distributions differ between libraries.
class Bits {
 public:
  explicit Bits(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // [0, 1)
  double NextUnit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }
  // [0, last]
  uint64_t NextUpTo(uint64_t last) {
    const auto product = static_cast<unsigned __int128>(Next()) * (static_cast<unsigned __int128>(last) + 1);
    return static_cast<uint64_t>(product >> 64);
  }
  // Box and Muller's.
  double NextNormal() {
    const double radius = std::sqrt(-2 * std::log(1 - NextUnit()));
    return radius * std::cos(6.283185307179586 * NextUnit());
  }

 private:
  uint64_t state_;
};

template <typename T>
inline constexpr bool kIsInteger = is_specialized_integral_v<T> && !std::is_same_v<T, bool>;
// A type that holds all values of an integer type T.
template <typename T>
using WideOf = std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t, int64_t>;

template <typename Wide>
struct Range {
  Wide first;
  Wide last;
  uint64_t size_less_one() const { return static_cast<uint64_t>(last) - static_cast<uint64_t>(first); }
};

// `number`, which may be far outside, as an integer between T's least and largest.
template <typename T>
WideOf<T> ClampTo(double number) {
  using Wide = WideOf<T>;
  const Wide least = static_cast<Wide>(std::numeric_limits<T>::lowest());
  const Wide largest = static_cast<Wide>(std::numeric_limits<T>::max());
  if (std::isnan(number) || number <= static_cast<double>(least)) return least;
  return number >= static_cast<double>(largest) ? largest : static_cast<Wide>(number);
}

template <typename T>
Range<WideOf<T>> RangeOf(const RandomDistributionSpec& spec) {
  if (spec.kind == DistributionKind::kBits) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return {ClampTo<T>(-kInfinity), ClampTo<T>(kInfinity)};
  }
  const auto first = ClampTo<T>(std::ceil(spec.first));
  return {first, std::max(first, ClampTo<T>(std::floor(spec.last)))};
}

template <typename T>
T RealFrom(double number) {
  const double largest = static_cast<double>(std::numeric_limits<T>::max());
  const double least = static_cast<double>(std::numeric_limits<T>::lowest());
  return static_cast<T>(std::clamp(number, least, largest));
}

double DrawReal(const RandomDistributionSpec& spec, Bits* bits) {
  switch (spec.kind) {
    case DistributionKind::kNormal:
      return spec.first + spec.last * bits->NextNormal();
    case DistributionKind::kWhole:
      return spec.first + static_cast<double>(bits->NextUpTo(static_cast<uint64_t>(spec.last - spec.first)));
    default:
      return spec.first + (spec.last - spec.first) * bits->NextUnit();
  }
}

template <typename T>
T Draw(const RandomDistributionSpec& spec, Bits* bits) {
  if constexpr (std::is_same_v<T, bool>) {
    return (bits->Next() >> 63) != 0;
  } else if constexpr (is_complex_v<T>) {
    const auto real = Draw<typename T::value_type>(spec, bits);
    return T(real, Draw<typename T::value_type>(spec, bits));
  } else if constexpr (kIsInteger<T>) {
    if (spec.kind == DistributionKind::kNormal) return static_cast<T>(ClampTo<T>(std::round(DrawReal(spec, bits))));
    const auto range = RangeOf<T>(spec);
    using Wide = WideOf<T>;
    return static_cast<T>(
        static_cast<Wide>(static_cast<uint64_t>(range.first) + bits->NextUpTo(range.size_less_one())));
  } else {
    return RealFrom<T>(DrawReal(spec, bits));
  }
}

template <typename T>
T Constant(double value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else if constexpr (is_complex_v<T>) {
    return T(Constant<typename T::value_type>(value), 0);
  } else if constexpr (kIsInteger<T>) {
    return static_cast<T>(ClampTo<T>(value));
  } else if constexpr (std::numeric_limits<T>::has_infinity) {
    return static_cast<T>(value);
  } else {
    return RealFrom<T>(value);
  }
}

// Elements between two looks at the meter.
constexpr size_t kStep = size_t{1} << 20;

absl::Status CheckAt(size_t i, const WorkMeter* meter) {
  return i % kStep == 0 && meter != nullptr ? meter->Check() : absl::OkStatus();
}

// Different integers of the spec's interval, in no order. Pre: there are as many.
template <typename T>
absl::Status FillDifferent(const RandomDistributionSpec& spec, const WorkMeter* meter, Bits* bits,
                           absl::Span<T> elements) {
  // Floyd's way to draw: for each of the last numbers of the interval, one that is not larger; if that is taken,
  // itself.
  const auto range = RangeOf<T>(spec);
  const uint64_t count = elements.size();
  absl::flat_hash_set<uint64_t> seen;
  for (uint64_t i = 0; i < count; ++i) {
    KASHI_RETURN_IF_ERROR(CheckAt(i, meter));
    const uint64_t largest = range.size_less_one() - (count - 1 - i);
    uint64_t drawn = bits->NextUpTo(largest);
    if (!seen.insert(drawn).second) seen.insert(drawn = largest);
    elements[i] = static_cast<T>(static_cast<WideOf<T>>(static_cast<uint64_t>(range.first) + drawn));
  }
  for (uint64_t i = count; i > 1; --i) {
    KASHI_RETURN_IF_ERROR(CheckAt(i, meter));
    std::swap(elements[i - 1], elements[bits->NextUpTo(i - 1)]);
  }
  return absl::OkStatus();
}

// Sorts pieces, and merges two at a time: a look at the meter in between.
template <typename T>
absl::Status SortElements(const WorkMeter* meter, absl::Span<T> elements) {
  const size_t n = elements.size();
  const auto at = [&](size_t i) { return elements.begin() + std::min(i, n); };
  for (size_t i = 0; i < n; i += kStep) {
    KASHI_RETURN_IF_ERROR(CheckAt(i, meter));
    std::sort(at(i), at(i + kStep));
  }
  for (size_t width = kStep; width < n; width *= 2) {
    for (size_t i = 0; i < n; i += 2 * width) {
      KASHI_RETURN_IF_ERROR(CheckAt(i, meter));
      std::inplace_merge(at(i), at(i + width), at(i + 2 * width));
    }
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status FillConstant(T value, const WorkMeter* meter, absl::Span<T> elements) {
  for (size_t i = 0; i < elements.size(); i += kStep) {
    KASHI_RETURN_IF_ERROR(CheckAt(i, meter));
    const absl::Span<T> piece = elements.subspan(i, kStep);
    std::fill(piece.begin(), piece.end(), value);
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status FillElements(const RandomDistributionSpec& spec, uint64_t seed, absl::Span<T> elements,
                          const WorkMeter* meter) {
  Bits bits(seed);
  if (spec.kind == DistributionKind::kConstant) return FillConstant(Constant<T>(spec.first), meter, elements);
  if constexpr (kIsInteger<T>) {
    const bool has_as_many = !elements.empty() && elements.size() - 1 <= RangeOf<T>(spec).size_less_one();
    if (spec.no_duplicates && has_as_many && spec.kind != DistributionKind::kNormal) {
      KASHI_RETURN_IF_ERROR(FillDifferent(spec, meter, &bits, elements));
      return spec.is_sorted ? SortElements(meter, elements) : absl::OkStatus();
    }
  }
  for (size_t i = 0; i < elements.size(); ++i) {
    KASHI_RETURN_IF_ERROR(CheckAt(i, meter));
    elements[i] = Draw<T>(spec, &bits);
  }
  if constexpr (!is_complex_v<T>) {
    if (spec.is_sorted) return SortElements(meter, elements);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status FillRandom(const RandomDistributionSpec& spec, uint64_t seed, Literal* literal, const ShapeIndex& index,
                        const WorkMeter* meter) {
  return primitive_util::ArrayTypeSwitch(
      [&](auto type) {
        return FillElements(spec, seed, literal->data<primitive_util::NativeTypeOf<type>>(index), meter);
      },
      ShapeUtil::GetSubshape(literal->shape(), index).element_type());
}

}  // namespace kashi::literal
