// EXPECT_THAT(instruction, GmockMatch(m::Add(m::Parameter(0), m::Op()))): patterns as matchers of gmock, for
// HloInstruction, Shape and Layout, by reference and by pointer.
#ifndef KASHI_COMPAT_XLA_HLO_TESTLIB_PATTERN_MATCHER_GMOCK_H_
#define KASHI_COMPAT_XLA_HLO_TESTLIB_PATTERN_MATCHER_GMOCK_H_

#include <ostream>
#include <utility>

#include "xla/hlo/testlib/test.h"
#include "xla/service/pattern_matcher.h"

namespace kashi {

template <typename Pattern>
class GmockPattern {
 public:
  explicit GmockPattern(Pattern pattern) : pattern_(std::move(pattern)) {}

  template <typename Item>
  bool MatchAndExplain(const Item& item, ::testing::MatchResultListener* listener) const {
    return MatchAndExplain(&item, listener);
  }
  template <typename Item>
  bool MatchAndExplain(Item* item, ::testing::MatchResultListener* listener) const {
    MatchOption option;
    option.explain_os = listener->stream();
    return Match(item, pattern_, option);
  }
  void DescribeTo(std::ostream* out) const { pattern_.DescribeTo(out); }
  void DescribeNegationTo(std::ostream* out) const {
    *out << "is NOT: ";
    pattern_.DescribeTo(out);
  }

 private:
  Pattern pattern_;
};

template <typename Pattern>
::testing::PolymorphicMatcher<GmockPattern<Pattern>> GmockMatch(Pattern pattern) {
  return ::testing::MakePolymorphicMatcher(GmockPattern<Pattern>(std::move(pattern)));
}

}  // namespace kashi

#endif  // KASHI_COMPAT_XLA_HLO_TESTLIB_PATTERN_MATCHER_GMOCK_H_
