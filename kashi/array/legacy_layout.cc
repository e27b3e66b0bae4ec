// The doors validate and then ask Geometry, which holds the one fact: bounds and strides by logical dimension.
#include "kashi/array/legacy_layout.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/primitive_type.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"

namespace kashi {
namespace {

constexpr std::pair<PaddingValue, absl::string_view> kPaddingValues[] = {
    {PaddingValue::kInvalid, "INVALID_PAD"}, {PaddingValue::kZero, "ZERO_PAD"},       {PaddingValue::kOne, "ONE_PAD"},
    {PaddingValue::kLowest, "LOWEST_PAD"},   {PaddingValue::kHighest, "HIGHEST_PAD"}, {PaddingValue::kUnknown, "UNKNOWN_PAD"},
};

}  // namespace
}  // namespace kashi
