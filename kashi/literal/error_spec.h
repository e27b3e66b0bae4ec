// The largest difference of two numbers that count as equal: XLA's ErrorSpec.
#ifndef KASHI_LITERAL_ERROR_SPEC_H_
#define KASHI_LITERAL_ERROR_SPEC_H_

#include "kashi/array/primitive_type.h"

namespace kashi {

// A number is wrong if it is off by more than `abs` and also by more than `rel` times the expected one.
struct ErrorSpec {
  // Counts the numbers of a narrow floating-point type between the two, both rounded to that type. Replaces the bounds
  // for finite numbers if `type` is one.
  struct LowPrecisionFPErrorSpec {
    PrimitiveType type = PRIMITIVE_TYPE_INVALID;
    int within_n_values = -1;
  };

  constexpr explicit ErrorSpec(double aabs, double arel = 0, bool relaxed_nans = false)
      : abs(aabs), rel(arel), relaxed_nans(relaxed_nans) {}

  double abs;
  double rel;
  // If a NaN is expected, any number is right.
  bool relaxed_nans;
  // All NaNs are equal; if false, their bits must be equal.
  bool all_nans_are_equivalent = true;
  // An infinity where a finite number is expected counts as the largest finite one of its sign.
  bool fewer_infs_ok = false;
  LowPrecisionFPErrorSpec low_precision_fp_error_spec;
};

}  // namespace kashi

#endif  // KASHI_LITERAL_ERROR_SPEC_H_
