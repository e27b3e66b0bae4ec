// Compares a value with the expected one, and reports the differences.
//
// Equal requires the same values: floating-point numbers bit by bit, so a NaN equals itself and -0 is not 0. Near
// requires real and complex floating-point numbers within bounds, and equal values of all other types. Both require the
// same element types and sizes, for dynamic dimensions the current sizes, and ignore layouts.
#ifndef KASHI_LITERAL_LITERAL_COMPARISON_H_
#define KASHI_LITERAL_LITERAL_COMPARISON_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_index.h"
#include "kashi/literal/error_spec.h"
#include "kashi/literal/literal.h"

namespace kashi {
namespace literal_comparison {

// The numbers of wrong elements of a leaf that are off by at most 1e-4, 1e-3, 1e-2, 0.1, 1, and by more. Not of Equal.
struct ErrorBuckets {
  std::vector<int64_t> abs_error_buckets;
  std::vector<int64_t> rel_error_buckets;
};

// Called for each leaf that has wrong elements; `mismatches` is a pred array of the leaf's sizes, 1 where they are.
using MiscompareCallback =
    std::function<void(const LiteralSlice& expected, const LiteralSlice& actual, const LiteralSlice& mismatches,
                       const ShapeIndex& shape_index, const ErrorBuckets& error_buckets)>;

// All return INVALID_ARGUMENT with a message of several lines if there is a difference.

absl::Status EqualShapes(const Shape& expected, const Shape& actual);
// OK if the same dimensions are dynamic in both, with the same current sizes.
absl::Status EqualDynamicShapesAndDimensions(const LiteralSlice& expected, const LiteralSlice& actual);
absl::Status Equal(const LiteralSlice& expected, const LiteralSlice& actual,
                   const MiscompareCallback& miscompare_callback = nullptr);
// `detailed_message`: also show errors by size and the worst elements; by default for leaves of 64 elements and more.
absl::Status Near(const LiteralSlice& expected, const LiteralSlice& actual, const ErrorSpec& error,
                  std::optional<bool> detailed_message = std::nullopt,
                  const MiscompareCallback& miscompare_callback = nullptr);

// Counts of the elements that Near compares, over all leaves.
struct CompareStatistics {
  int64_t elements = 0;
  int64_t mismatches = 0;      // elements that Near would not take
  int64_t nan_mismatches = 0;  // of them, those where only one side is NaN
  // Elements that match but prove little: NaN on both sides, and the same infinity on both sides. A complex number
  // counts where either part does, as NaN first.
  int64_t nan_matches = 0;
  int64_t infinite_matches = 0;
  // All elements of both sides are one and the same number, and there are at least two.
  bool is_constant = false;
  // The largest errors of all elements; infinite where one side is (or is NaN) and the other is not. The relative error
  // is that to the expected value; infinite where that is 0 and the actual one is not.
  double max_abs_error = 0;
  double max_rel_error = 0;
  // The largest number of steps between numbers of the type that lie side by side, 0 and -0 being one number; for
  // integers their difference. Not counted where one side is NaN.
  uint64_t max_ulp = 0;
  // The place of the first mismatch; set if there is one.
  ShapeIndex first_mismatch_leaf;
  DimensionVector first_mismatch_index;

  // Elements that had a number on one side at least.
  int64_t compared() const { return elements - nan_matches; }
  // True if there are elements, and all are NaN on both sides: no mismatch, and no agreement either.
  bool is_all_nan() const { return elements > 0 && nan_matches == elements; }
};
// INVALID_ARGUMENT if the shapes or current sizes differ. With ErrorSpec(0), a mismatch is a pair that is not ==,
// except that NaNs are the same.
absl::StatusOr<CompareStatistics> Compare(const LiteralSlice& expected, const LiteralSlice& actual,
                                          const ErrorSpec& error);
// "3 of 1,024 elements differ; max abs 0.5, max rel 0.1, max ulp 1024; first at {0}[1,2]". Also gives NaNs and
// infinities that both sides have, and "320 of 320 elements are NaN on both sides: nothing was compared".
std::string ToString(const CompareStatistics& statistics);

// The literal as text; for 1000 elements and more only their number.
std::string ToStringTruncated(const LiteralSlice& literal);

}  // namespace literal_comparison
}  // namespace kashi

#endif  // KASHI_LITERAL_LITERAL_COMPARISON_H_
