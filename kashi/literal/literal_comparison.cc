// Entry points: Equal, Near, Compare, EqualShapes.
//
// One walk over a leaf gives every element's error (ErrorOf, by the type) to its callers: the statistics, the
// message, the callback.
#include "kashi/literal/literal_comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"
#include "kashi/literal/number_text.h"
#include "kashi/literal/strided_walk.h"

namespace kashi {

using base::Count;
using base::WithThousands;
using literal::AppendNumber;
using literal::ElementStrides;
using literal::WalkRowMajor;
namespace literal_comparison {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kErrorBounds[] = {1e-4, 1e-3, 1e-2, 0.1, 1};
constexpr int kBuckets = std::size(kErrorBounds) + 1;
constexpr int kShownMismatches = 5;
constexpr int64_t kDetailedFrom = 64;
constexpr int64_t kTruncatedFrom = 1000;

struct ElementError {
  double abs = 0;
  double rel = 0;
  uint64_t ulp = 0;
  bool is_mismatch = false;
  bool is_nan_mismatch = false;
};

// ---------------------------------------------------------------------------------------------------------------------
// Two elements
// ---------------------------------------------------------------------------------------------------------------------

// The bits of the value: those above a narrow integer are not.
template <typename T>
bool BitsEqual(T a, T b) {
  if constexpr (is_intN_v<T>) return a == b;
  using Bytes = std::array<char, sizeof(T)>;
  return __builtin_bit_cast(Bytes, a) == __builtin_bit_cast(Bytes, b);
}

// Numbers of a real floating-point type in their order, by steps of one; 0 and -0 are one number.
template <typename T>
int64_t OrderOf(T value) {
  if constexpr (std::is_same_v<T, double>) {
    const int64_t magnitude = __builtin_bit_cast(int64_t, std::abs(value));
    return std::signbit(value) ? -magnitude : magnitude;
  } else if constexpr (std::is_same_v<T, float>) {
    const int32_t magnitude = __builtin_bit_cast(int32_t, std::abs(value));
    return std::signbit(value) ? -magnitude : magnitude;
  } else {
    const int64_t magnitude = abs(value).rep();
    return signbit(value) ? -magnitude : magnitude;
  }
}

uint64_t Distance(int64_t a, int64_t b) {
  return a > b ? static_cast<uint64_t>(a) - static_cast<uint64_t>(b)
               : static_cast<uint64_t>(b) - static_cast<uint64_t>(a);
}

// The number of steps of `type` between two finite numbers; nullopt for a type that is not floating-point.
std::optional<uint64_t> LowPrecisionDistance(PrimitiveType type, double a, double b) {
  if (!primitive_util::IsFloatingPointType(type)) return std::nullopt;
  return primitive_util::FloatingPointTypeSwitch(
      [&](auto constant) {
        using T = primitive_util::NativeTypeOf<constant>;
        return Distance(OrderOf(static_cast<T>(a)), OrderOf(static_cast<T>(b)));
      },
      type);
}

bool IsOutOfBounds(const ElementError& error, const ErrorSpec& spec) {
  return error.abs > spec.abs && error.rel > spec.rel;
}

template <typename T>
ElementError ErrorOfNans(T expected, T actual, const ErrorSpec& spec) {
  ElementError error;
  const bool both = std::isnan(static_cast<double>(expected)) && std::isnan(static_cast<double>(actual));
  if (both && (spec.all_nans_are_equivalent || BitsEqual(expected, actual))) return error;
  error.abs = error.rel = kInfinity;
  error.is_nan_mismatch = !both;
  error.is_mismatch = !(spec.relaxed_nans && std::isnan(static_cast<double>(expected)));
  return error;
}

template <typename T>
ElementError ErrorOfReals(T expected, T actual, const ErrorSpec& spec) {
  const double want = static_cast<double>(expected);
  double got = static_cast<double>(actual);
  if (std::isnan(want) || std::isnan(got)) return ErrorOfNans(expected, actual, spec);
  ElementError error;
  if (want == got) return error;
  error.ulp = Distance(OrderOf(expected), OrderOf(actual));
  if (spec.fewer_infs_ok && std::isinf(got) && !std::isinf(want)) {
    got = std::copysign(static_cast<double>(std::numeric_limits<T>::max()), got);
  }
  const bool is_infinite = std::isinf(want) || std::isinf(got);
  error.abs = is_infinite ? kInfinity : std::abs(got - want);
  error.rel = is_infinite || want == 0 ? kInfinity : error.abs / std::abs(want);
  if (error.abs == 0) error.rel = 0;
  error.is_mismatch = IsOutOfBounds(error, spec);
  const ErrorSpec::LowPrecisionFPErrorSpec& low = spec.low_precision_fp_error_spec;
  if (is_infinite || low.within_n_values < 0) return error;
  if (const std::optional<uint64_t> distance = LowPrecisionDistance(low.type, want, got)) {
    error.is_mismatch = *distance > static_cast<uint64_t>(low.within_n_values);
  }
  return error;
}

// The distance in the complex plane, as one number; it is infinite or NaN where a part is.
template <typename T>
ElementError ErrorOfComplex(std::complex<T> expected, std::complex<T> actual, const ErrorSpec& spec) {
  const ElementError real = ErrorOfReals(expected.real(), actual.real(), spec);
  const ElementError imaginary = ErrorOfReals(expected.imag(), actual.imag(), spec);
  ElementError error;
  error.abs = std::hypot(real.abs, imaginary.abs);
  const double size = std::hypot(static_cast<double>(expected.real()), static_cast<double>(expected.imag()));
  error.rel = error.abs == 0 ? 0 : !(size > 0) || std::isinf(error.abs) ? kInfinity : error.abs / size;
  error.ulp = std::max(real.ulp, imaginary.ulp);
  error.is_nan_mismatch = real.is_nan_mismatch || imaginary.is_nan_mismatch;
  // A part that is not finite is judged by itself.
  error.is_mismatch = std::isinf(error.abs) ? real.is_mismatch || imaginary.is_mismatch : IsOutOfBounds(error, spec);
  return error;
}

template <typename T>
ElementError ErrorOfIntegers(T expected, T actual) {
  ElementError error;
  if (expected == actual) return error;
  error.is_mismatch = true;
  error.ulp = Distance(static_cast<int64_t>(expected), static_cast<int64_t>(actual));
  if constexpr (std::is_same_v<T, uint64_t>) error.ulp = expected > actual ? expected - actual : actual - expected;
  error.abs = static_cast<double>(error.ulp);
  const double size = std::abs(static_cast<double>(expected));
  error.rel = size == 0 ? kInfinity : error.abs / size;
  return error;
}

template <typename T>
ElementError ErrorOf(T expected, T actual, const ErrorSpec& spec) {
  if constexpr (is_complex_v<T>) {
    return ErrorOfComplex(expected, actual, spec);
  } else if constexpr (is_specialized_integral_v<T>) {
    return ErrorOfIntegers(expected, actual);
  } else {
    return ErrorOfReals(expected, actual, spec);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Two leaves
// ---------------------------------------------------------------------------------------------------------------------

DimensionVector CurrentSizes(const LiteralSlice& literal, const ShapeIndex& leaf) {
  const Shape& shape = ShapeUtil::GetSubshape(literal.shape(), leaf);
  DimensionVector sizes(shape.dimensions().begin(), shape.dimensions().end());
  for (int d = 0; d < shape.dimensions_size(); ++d) {
    if (shape.is_dynamic_dimension(d)) sizes[d] = literal.GetDynamicSize(d, leaf);
  }
  return sizes;
}

// visit(index, expected element, actual element) in row-major order, over the current sizes, which are the same.
template <typename T, typename Visit>
void VisitElements(const LiteralSlice& expected, const LiteralSlice& actual, const ShapeIndex& leaf, Visit&& visit) {
  const DimensionVector sizes = CurrentSizes(expected, leaf);
  const DimensionVector expected_strides = ElementStrides(ShapeUtil::GetSubshape(expected.shape(), leaf));
  const DimensionVector actual_strides = ElementStrides(ShapeUtil::GetSubshape(actual.shape(), leaf));
  const T* const expected_data = expected.data<T>(leaf).data();
  const T* const actual_data = actual.data<T>(leaf).data();
  const bool same_strides = expected_strides == actual_strides;
  WalkRowMajor(sizes, expected_strides, [&](absl::Span<const int64_t> index, int64_t position) {
    int64_t actual_position = position;
    if (!same_strides) {
      actual_position = 0;
      for (size_t d = 0; d < index.size(); ++d) actual_position += index[d] * actual_strides[d];
    }
    visit(index, expected_data[position], actual_data[actual_position]);
    return true;
  });
}

// Whether the elements are the same bytes in the same places: the fast answer of most comparisons.
bool SameBytes(const LiteralSlice& expected, const LiteralSlice& actual, const ShapeIndex& leaf) {
  const Shape& expected_shape = ShapeUtil::GetSubshape(expected.shape(), leaf);
  const Shape& actual_shape = ShapeUtil::GetSubshape(actual.shape(), leaf);
  if (expected_shape.is_dynamic() || !Shape::Equal().MinorToMajorOnlyInLayout()(expected_shape, actual_shape))
    return false;
  const int64_t bytes = expected.size_bytes(leaf);
  return bytes == 0 || std::memcmp(expected.untyped_data(leaf), actual.untyped_data(leaf), bytes) == 0;
}

// The wrong elements of a leaf, and the examples of them that are worth showing.
class MismatchReport {
 public:
  MismatchReport() {
    buckets_.abs_error_buckets.assign(kBuckets, 0);
    buckets_.rel_error_buckets.assign(kBuckets, 0);
  }

  template <typename T>
  void Add(absl::Span<const int64_t> index, T expected, T actual, const ElementError& error) {
    ++elements_;
    if (!error.is_mismatch) return;
    ++count_;
    nans_ += error.is_nan_mismatch ? 1 : 0;
    ++buckets_.abs_error_buckets[BucketOf(error.abs)];
    ++buckets_.rel_error_buckets[BucketOf(error.rel)];
    const bool is_worst = worst_.empty() || error.rel > worst_error_.rel;
    if (shown_.size() >= kShownMismatches && !is_worst) return;
    std::string line = absl::StrCat("  [", absl::StrJoin(index, ","), "] expected ", NumberText(expected), ", actual ",
                                    NumberText(actual));
    if (error.abs != 0) absl::StrAppend(&line, ", abs error ", error.abs, ", rel error ", error.rel);
    if (is_worst) {
      worst_ = line;
      worst_error_ = error;
    }
    if (shown_.size() < kShownMismatches) shown_.push_back(std::move(line));
  }

  int64_t count() const { return count_; }
  const ErrorBuckets& buckets() const { return buckets_; }

  std::string ToString(const Shape& shape, const ShapeIndex& leaf, bool detailed) const {
    std::string text =
        absl::StrFormat("%s of %s elements (%.4f%%) are wrong in %s%s", WithThousands(count_), WithThousands(elements_),
                        100.0 * count_ / std::max<int64_t>(elements_, 1), ShapeUtil::HumanString(shape),
                        leaf.empty() ? "" : absl::StrCat(" at ", leaf.ToString()));
    if (nans_ > 0) absl::StrAppend(&text, ", ", WithThousands(nans_), " of them NaN on one side");
    absl::StrAppend(&text, "; the first ones:\n", absl::StrJoin(shown_, "\n"));
    if (detailed) absl::StrAppend(&text, "\nlargest relative errors:\n", worst_, "\n", BucketText());
    return text;
  }

 private:
  template <typename T>
  static std::string NumberText(T value) {
    std::string text;
    AppendNumber(value, &text);
    return text;
  }
  static int BucketOf(double error) {
    return static_cast<int>(std::lower_bound(std::begin(kErrorBounds), std::end(kErrorBounds), error) -
                            std::begin(kErrorBounds));
  }
  std::string BucketText() const {
    std::string text = "errors          abs         rel";
    for (int i = 0; i < kBuckets; ++i) {
      const std::string bound = i + 1 < kBuckets ? absl::StrCat("<= ", kErrorBounds[i]) : "larger";
      absl::StrAppendFormat(&text, "\n  %-9s %9d %11d", bound, buckets_.abs_error_buckets[i],
                            buckets_.rel_error_buckets[i]);
    }
    return text;
  }

  int64_t elements_ = 0;
  int64_t count_ = 0;
  int64_t nans_ = 0;
  std::vector<std::string> shown_;
  std::string worst_;
  ElementError worst_error_;
  ErrorBuckets buckets_;
};

void CallBack(const MiscompareCallback& callback, const LiteralSlice& expected, const LiteralSlice& actual,
              const ShapeIndex& leaf, const ErrorBuckets& buckets, absl::Span<const bool> mismatches) {
  Literal flags(ShapeUtil::MakeShape(PRED, CurrentSizes(expected, leaf)));
  std::copy(mismatches.begin(), mismatches.end(), flags.data<bool>().begin());
  callback(LiteralSlice(expected, leaf), LiteralSlice(actual, leaf), flags, leaf, buckets);
}

// Compares one leaf's elements by judge(expected, actual), and returns a text about the differences; empty if none.
template <typename T, typename Judge>
std::string ReportLeaf(const LiteralSlice& expected, const LiteralSlice& actual, const ShapeIndex& leaf,
                       std::optional<bool> detailed, const MiscompareCallback& callback, Judge&& judge) {
  MismatchReport report;
  std::vector<char> flags;
  VisitElements<T>(expected, actual, leaf, [&](absl::Span<const int64_t> index, T want, T got) {
    const ElementError error = judge(want, got);
    report.Add(index, want, got, error);
    if (callback) flags.push_back(error.is_mismatch ? 1 : 0);
  });
  if (report.count() == 0) return "";
  if (callback) {
    static_assert(sizeof(bool) == sizeof(char), "");
    CallBack(callback, expected, actual, leaf, report.buckets(),
             absl::Span<const bool>(reinterpret_cast<const bool*>(flags.data()), flags.size()));
  }
  const Shape& shape = ShapeUtil::GetSubshape(expected.shape(), leaf);
  return report.ToString(shape, leaf, detailed.value_or(ShapeUtil::ElementsIn(shape) >= kDetailedFrom));
}

// ---------------------------------------------------------------------------------------------------------------------
// Two trees
// ---------------------------------------------------------------------------------------------------------------------

absl::Status CheckComparable(const LiteralSlice& expected, const LiteralSlice& actual) {
  KASHI_RETURN_IF_ERROR(EqualShapes(expected.shape(), actual.shape()));
  if (!expected.IsKnown() || !actual.IsKnown()) return InvalidArgument("an unknown value cannot be compared");
  return ShapeUtil::ForEachLeafShapeWithStatus(expected.shape(), [&](const Shape& shape, const ShapeIndex& leaf) {
    if (!shape.IsArray() || CurrentSizes(expected, leaf) == CurrentSizes(actual, leaf)) return absl::OkStatus();
    return InvalidArgument("current sizes differ at %s: expected (%s), actual (%s)", leaf.ToString(),
                           absl::StrJoin(CurrentSizes(expected, leaf), ","),
                           absl::StrJoin(CurrentSizes(actual, leaf), ","));
  });
}

// Calls report(type, leaf) for each array leaf that is not the same bytes; it gives text if there is a difference.
template <typename Report>
absl::Status CompareLeaves(const LiteralSlice& expected, const LiteralSlice& actual, Report&& report) {
  KASHI_RETURN_IF_ERROR(CheckComparable(expected, actual));
  std::string text;
  ShapeUtil::ForEachLeafShape(expected.shape(), [&](const Shape& shape, const ShapeIndex& leaf) {
    if (!shape.IsArray() || SameBytes(expected, actual, leaf)) return;
    const std::string found =
        primitive_util::ArrayTypeSwitch([&](auto type) { return report(type, leaf); }, shape.element_type());
    if (!found.empty()) absl::StrAppend(&text, text.empty() ? "" : "\n", found);
  });
  if (text.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(text, "\nexpected: ", ToStringTruncated(expected), "\nactual:   ", ToStringTruncated(actual)));
}

// Adds up CompareStatistics, leaf by leaf.
class StatisticsCollector {
 public:
  StatisticsCollector(const LiteralSlice& expected, const LiteralSlice& actual, const ErrorSpec& error)
      : expected_(expected), actual_(actual), error_(error) {}

  template <typename T>
  void AddLeaf(const ShapeIndex& leaf) {
    if (SameBytes(expected_, actual_, leaf)) return AddSameBytes<T>(leaf);
    VisitElements<T>(expected_, actual_, leaf, [&](absl::Span<const int64_t> index, T want, T got) {
      ++statistics_.elements;
      const ElementError found = ErrorOf(want, got, error_);
      AddError(leaf, index, found);
      if (!found.is_mismatch) AddMatch(want, got);
    });
  }

  CompareStatistics Finish() {
    statistics_.is_constant = is_constant_ && statistics_.elements > 1 && statistics_.mismatches == 0;
    return statistics_;
  }

 private:
  // Counts equal bytes: nothing differs, so the rest needs no index.
  template <typename T>
  void AddSameBytes(const ShapeIndex& leaf) {
    const absl::Span<const T> elements = expected_.data<T>(leaf);
    statistics_.elements += static_cast<int64_t>(elements.size());
    for (const T& element : elements) AddMatch(element, element);
  }

  void AddError(const ShapeIndex& leaf, absl::Span<const int64_t> index, const ElementError& found) {
    statistics_.max_abs_error = std::max(statistics_.max_abs_error, found.abs);
    statistics_.max_rel_error = std::max(statistics_.max_rel_error, found.rel);
    statistics_.max_ulp = std::max(statistics_.max_ulp, found.ulp);
    if (!found.is_mismatch) return;
    if (statistics_.mismatches++ == 0) {
      statistics_.first_mismatch_leaf = leaf;
      statistics_.first_mismatch_index.assign(index.begin(), index.end());
    }
    statistics_.nan_mismatches += found.is_nan_mismatch ? 1 : 0;
  }

  template <typename T>
  void AddMatch(T want, T got) {
    if constexpr (!is_specialized_integral_v<T>) {
      statistics_.nan_matches += IsNan(want) && IsNan(got) ? 1 : 0;
      statistics_.infinite_matches += IsInfinite(want) && want == got ? 1 : 0;
    }
    if (is_constant_) NoteConstant(AsComplex(want), AsComplex(got));
  }

  // Over leaves of all types, so as numbers.
  void NoteConstant(std::complex<double> want, std::complex<double> got) {
    if (!first_.has_value()) first_ = want;
    is_constant_ = want == *first_ && got == *first_;  // never where it is NaN
  }

  template <typename T>
  static std::complex<double> AsComplex(T x) {
    if constexpr (is_complex_v<T>) {
      return {x.real(), x.imag()};
    } else {
      return {static_cast<double>(x), 0};
    }
  }
  template <typename T>
  static bool IsNan(T x) {
    const std::complex<double> number = AsComplex(x);
    return std::isnan(number.real()) || std::isnan(number.imag());
  }
  template <typename T>
  static bool IsInfinite(T x) {
    const std::complex<double> number = AsComplex(x);
    return !IsNan(x) && (std::isinf(number.real()) || std::isinf(number.imag()));
  }

  const LiteralSlice& expected_;
  const LiteralSlice& actual_;
  const ErrorSpec& error_;
  CompareStatistics statistics_;
  std::optional<std::complex<double>> first_;
  bool is_constant_ = true;
};

}  // namespace

absl::Status EqualShapes(const Shape& expected, const Shape& actual) {
  const auto differ = [&](const ShapeIndex& at) {
    return InvalidArgument("shapes differ%s: expected %s, actual %s",
                           at.empty() ? "" : absl::StrCat(" at ", at.ToString()), ShapeUtil::HumanString(expected),
                           ShapeUtil::HumanString(actual));
  };
  return ShapeUtil::ForEachSubshapeWithStatus(expected, [&](const Shape& shape, const ShapeIndex& index) {
    // The trees were the same up to here: a parent comes before its elements.
    const Shape& other = ShapeUtil::GetSubshape(actual, index);
    const bool same = shape.element_type() == other.element_type() &&
                      (!shape.IsTuple() || shape.tuple_shapes_size() == other.tuple_shapes_size()) &&
                      (!shape.IsArray() || shape.dimensions() == other.dimensions());
    return same ? absl::OkStatus() : differ(index);
  });
}

absl::Status EqualDynamicShapesAndDimensions(const LiteralSlice& expected, const LiteralSlice& actual) {
  KASHI_RETURN_IF_ERROR(EqualShapes(expected.shape(), actual.shape()));
  return ShapeUtil::ForEachLeafShapeWithStatus(expected.shape(), [&](const Shape& shape, const ShapeIndex& leaf) {
    if (!shape.IsArray()) return absl::OkStatus();
    const Shape& other = ShapeUtil::GetSubshape(actual.shape(), leaf);
    if (shape.dynamic_dimensions() != other.dynamic_dimensions()) {
      return InvalidArgument("different dimensions are dynamic: expected %s, actual %s", ShapeUtil::HumanString(shape),
                             ShapeUtil::HumanString(other));
    }
    if (CurrentSizes(expected, leaf) == CurrentSizes(actual, leaf)) return absl::OkStatus();
    return InvalidArgument("current sizes differ: expected (%s), actual (%s)",
                           absl::StrJoin(CurrentSizes(expected, leaf), ","),
                           absl::StrJoin(CurrentSizes(actual, leaf), ","));
  });
}

absl::Status Equal(const LiteralSlice& expected, const LiteralSlice& actual,
                   const MiscompareCallback& miscompare_callback) {
  return CompareLeaves(expected, actual, [&](auto type, const ShapeIndex& leaf) {
    using T = primitive_util::NativeTypeOf<type>;
    return ReportLeaf<T>(expected, actual, leaf, /*detailed=*/false, miscompare_callback, [](T want, T got) {
      ElementError error;
      error.is_mismatch = !BitsEqual(want, got);
      return error;
    });
  });
}

absl::Status Near(const LiteralSlice& expected, const LiteralSlice& actual, const ErrorSpec& error,
                  std::optional<bool> detailed_message, const MiscompareCallback& miscompare_callback) {
  absl::Status status = CompareLeaves(expected, actual, [&](auto type, const ShapeIndex& leaf) {
    using T = primitive_util::NativeTypeOf<type>;
    return ReportLeaf<T>(expected, actual, leaf, detailed_message, miscompare_callback,
                         [&](T want, T got) { return ErrorOf(want, got, error); });
  });
  if (status.ok()) return status;
  return InvalidArgument("%s\nbounds: abs %g, rel %g", status.message(), error.abs, error.rel);
}

absl::StatusOr<CompareStatistics> Compare(const LiteralSlice& expected, const LiteralSlice& actual,
                                          const ErrorSpec& error) {
  KASHI_RETURN_IF_ERROR(CheckComparable(expected, actual));
  StatisticsCollector collector(expected, actual, error);
  ShapeUtil::ForEachLeafShape(expected.shape(), [&](const Shape& shape, const ShapeIndex& leaf) {
    if (!shape.IsArray()) return;
    primitive_util::ArrayTypeSwitch([&](auto type) { collector.AddLeaf<primitive_util::NativeTypeOf<type>>(leaf); },
                                    shape.element_type());
  });
  return collector.Finish();
}

namespace {

// A text about common values of both sides that make their agreement worth less; "" if there are none.
std::string MatchesText(const CompareStatistics& statistics) {
  std::string text;
  if (statistics.nan_matches > 0) {
    absl::StrAppend(&text, "; NaN on both sides ", WithThousands(statistics.nan_matches), ", compared ",
                    WithThousands(statistics.compared()));
  }
  if (statistics.infinite_matches > 0) {
    absl::StrAppend(&text, "; infinite on both sides ", WithThousands(statistics.infinite_matches));
  }
  if (statistics.is_constant) absl::StrAppend(&text, "; all elements are equal");
  return text;
}

}  // namespace

std::string ToString(const CompareStatistics& statistics) {
  if (statistics.elements == 0) return "no elements: nothing was compared";
  const std::string elements = WithThousands(statistics.elements);
  if (statistics.is_all_nan() && statistics.mismatches == 0) {
    return absl::StrCat(elements, " of ", Count(statistics.elements, "element"),
                        statistics.elements == 1 ? " is" : " are", " NaN on both sides: nothing was compared");
  }
  std::string text =
      absl::StrCat(WithThousands(statistics.mismatches), " of ", Count(statistics.elements, "element"),
                   statistics.elements == 1 ? " differs" : " differ", "; max abs ", statistics.max_abs_error,
                   ", max rel ", statistics.max_rel_error, ", max ulp ", statistics.max_ulp);
  if (statistics.nan_mismatches > 0)
    absl::StrAppend(&text, ", NaN on one side ", WithThousands(statistics.nan_mismatches));
  if (statistics.mismatches > 0) {
    absl::StrAppend(&text, "; first at ",
                    statistics.first_mismatch_leaf.empty() ? "" : statistics.first_mismatch_leaf.ToString(), "[",
                    absl::StrJoin(statistics.first_mismatch_index, ","), "]");
  }
  return text + MatchesText(statistics);
}

std::string ToStringTruncated(const LiteralSlice& literal) {
  const int64_t elements = ShapeUtil::ElementsInRecursive(literal.shape());
  if (elements < kTruncatedFrom) return literal.ToString();
  return absl::StrCat(ShapeUtil::HumanString(literal.shape()), " of ", Count(elements, "element"));
}

}  // namespace literal_comparison
}  // namespace kashi
