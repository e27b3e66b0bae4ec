#include "kashi/relayout/simd/ef57.h"
#include "kashi/relayout/simd/highway_targets.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kashi/relayout/simd/ef57.cc"
#include "hwy/foreach_target.h"
// clang-format off
#include "hwy/highway.h"  // after foreach_target.h
#include "kashi/relayout/simd/highway_export-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kashi::relayout {
namespace HWY_NAMESPACE {

// The difference is exact before it is rounded: hi is within half a unit of x (Sterbenz).
void ConvertOne(const char* from, char* to) {
  double x;
  std::memcpy(&x, from, sizeof(x));
  float pair[2] = {static_cast<float>(x), 0};
  if (std::isfinite(pair[0])) pair[1] = static_cast<float>(x - static_cast<double>(pair[0]));
  std::memcpy(to, pair, sizeof(pair));
}

// Highway's portable target stores pairs at aligned addresses only.
#if HWY_HAVE_FLOAT64 && HWY_TARGET != HWY_SCALAR

// All lanes are read before any is written: a vector may be converted where it lies.
void ConvertVector(const char* from, char* to) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<double> wide;
  const hn::Rebind<float, decltype(wide)> narrow;
  const auto x = hn::LoadU(wide, reinterpret_cast<const double*>(from));
  const auto hi = hn::DemoteTo(narrow, x);
  const auto rounded = hn::PromoteTo(wide, hi);
  // Not finite minus itself is NaN, which is not equal to itself.
  const auto is_finite = hn::Eq(hn::Sub(rounded, rounded), hn::Zero(wide));
  const auto lo = hn::DemoteTo(narrow, hn::IfThenElseZero(is_finite, hn::Sub(x, rounded)));
  hn::StoreInterleaved2(hi, lo, narrow, reinterpret_cast<float*>(to));
}

void Convert(const char* from, char* to, int64_t count) {
  const int64_t lanes = hwy::HWY_NAMESPACE::Lanes(hwy::HWY_NAMESPACE::ScalableTag<double>());
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) ConvertVector(from + 8 * i, to + 8 * i);
  for (; i < count; ++i) ConvertOne(from + 8 * i, to + 8 * i);
}

#else

void Convert(const char* from, char* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) ConvertOne(from + 8 * i, to + 8 * i);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace kashi::relayout
HWY_AFTER_NAMESPACE();

namespace kashi::relayout {

KASHI_EXPORT(void, ConvertF64ToEf57, (const void* doubles, void* pairs, int64_t count), Convert,
             (static_cast<const char*>(doubles), static_cast<char*>(pairs), count))

}  // namespace kashi::relayout
