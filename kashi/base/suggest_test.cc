#include "kashi/base/suggest.h"

#include "gmock/gmock.h"

namespace kashi::base {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SuggestTest, SimilarWordsComeFirst) {
  const std::vector<std::string> words = {"all-gather", "gather", "scatter", "dot"};
  EXPECT_THAT(SimilarWords("gath", words, 5), ElementsAre("gather", "all-gather"));
  EXPECT_THAT(SimilarWords("dto", words, 5), IsEmpty());
  EXPECT_THAT(SimilarWords("dots", words, 5), ElementsAre("dot"));
  EXPECT_THAT(SimilarWords("gather", words, 1), ElementsAre("gather"));
}

TEST(SuggestTest, DidYouMeanIsAQuestionOrNothing) {
  EXPECT_EQ(DidYouMean("scater", {"gather", "scatter"}), "; did you mean `scatter`?");
  EXPECT_EQ(DidYouMean("xyz", {"gather", "scatter"}), "");
}

}  // namespace
}  // namespace kashi::base
