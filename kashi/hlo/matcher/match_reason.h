// Internal to kashi/hlo/matcher: the messages of conditions that do not match.
#ifndef KASHI_HLO_MATCHER_MATCH_REASON_H_
#define KASHI_HLO_MATCHER_MATCH_REASON_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/matcher/pattern_matcher.h"

namespace kashi::hlo {

// A stream that drops the reasons.
class Reason {
 public:
  explicit Reason(const MatchOption& option) : out_(option.explain_os) {}
  template <typename T>
  Reason& operator<<(const T& value) {
    if (out_ != nullptr) *out_ << value;
    return *this;
  }
  operator bool() const { return false; }  // NOLINT: a reason is why something does not match

 private:
  std::ostream* out_;
};

inline std::string LineBreak(int indent) { return absl::StrCat("\n", std::string(indent, ' ')); }

inline MatchOption WithoutCapture(MatchOption option) {
  option.capture = false;
  return option;
}
inline MatchOption Silent(MatchOption option) {
  option.explain_os = nullptr;
  return option;
}

inline std::string TextOf(const Shape& shape) { return ShapeUtil::HumanStringWithLayout(shape); }
inline std::string TextOf(absl::Span<const int64_t> numbers) {
  return absl::StrCat("[", absl::StrJoin(numbers, ","), "]");
}
inline std::string TextOf(PrimitiveType type) { return primitive_util::LowercasePrimitiveTypeName(type); }

}  // namespace kashi::hlo

#endif  // KASHI_HLO_MATCHER_MATCH_REASON_H_
