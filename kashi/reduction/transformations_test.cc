// Each transformation on a program of its own, in a golden file: tests/data/reduction/NAME.txt has a comment, the
// module, and behind a line of dashes what the transformation makes of it: of all places at once, and of each by
// itself. KASHI_UPDATE_GOLDEN=1 writes that part anew.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/reduction/candidate.h"
#include "kashi/reduction/transformation.h"

namespace kashi::reduction {

void PrintTo(const Transformation& transformation, std::ostream* out) { *out << transformation.name; }

namespace {

const std::string kDashes = "\n----------------------------------------\n";

std::string FileOf(const Transformation& transformation) {
  std::string name(transformation.name);
  absl::c_replace(name, ' ', '-');
  return absl::StrCat(KASHI_TEST_DATA, "/reduction/", name, ".txt");
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class TransformationsTest : public testing::TestWithParam<Transformation> {
 protected:
  void SetUp() override {
    const std::string text = ReadFile(FileOf(GetParam()));
    const size_t dashes = text.find(kDashes);
    given_ = text.substr(0, dashes);
    if (dashes != std::string::npos) expected_ = text.substr(dashes + kDashes.size());
    const size_t begin = given_.find("HloModule");
    ASSERT_NE(begin, std::string::npos) << FileOf(GetParam());
    auto module = ParseAndReturnUnverifiedModule(given_.substr(begin));
    ASSERT_TRUE(module.ok()) << FileOf(GetParam()) << ": " << module.status();
    auto rules = Rules::Of(**module, {});
    ASSERT_TRUE(rules.ok()) << rules.status();
    ASSERT_TRUE(rules->are_all_kept()) << FileOf(GetParam());
    rules_.emplace(*std::move(rules));
    whole_ = MakeCandidate(**module, *rules_);
    sites_ = GetParam().find(*whole_.module);
    ASSERT_FALSE(sites_.empty()) << "no place in " << FileOf(GetParam());
  }

  std::string TextFor(const std::string& title, absl::Span<const Site> sites) {
    const auto candidate = MakeCandidate(whole_, GetParam(), sites, *rules_);
    if (!candidate.ok()) return absl::StrCat("# ", title, ": ", candidate.status().message(), "\n\n");
    const std::string smaller = candidate->size < whole_.size ? "" : ", not smaller";
    return absl::StrCat("# ", title, ": ", candidate->size.ToString(), smaller, "\n", candidate->text, "\n");
  }

  std::string given_, expected_;
  std::optional<Rules> rules_;
  Candidate whole_;
  std::vector<Site> sites_;
};

TEST_P(TransformationsTest, MakesWhatItsFileSays) {
  std::string actual;
  if (GetParam().takes_many) actual = TextFor("all", sites_);
  for (size_t i = 0; i < sites_.size(); ++i) absl::StrAppend(&actual, TextFor(absl::StrCat(i), {sites_[i]}));
  if (std::getenv("KASHI_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(FileOf(GetParam())) << given_ << kDashes << actual;
  } else {
    EXPECT_EQ(actual, expected_) << FileOf(GetParam());
  }
}

// Some place makes the module smaller: a row that never does is of no use.
TEST_P(TransformationsTest, MakesItSmaller) {
  bool is_smaller = false;
  for (const Site& site : sites_) {
    const auto candidate = MakeCandidate(whole_, GetParam(), {site}, *rules_);
    is_smaller |= candidate.ok() && candidate->size < whole_.size;
  }
  EXPECT_TRUE(is_smaller);
}

TEST_P(TransformationsTest, GivesTheSameForTheSame) {
  const std::vector<Site> again = GetParam().find(*whole_.module);
  ASSERT_EQ(again.size(), sites_.size());
  for (size_t i = 0; i < again.size(); ++i) {
    EXPECT_EQ(TextFor("", {again[i]}), TextFor("", {sites_[i]}));
  }
}

INSTANTIATE_TEST_SUITE_P(Each, TransformationsTest,
                         testing::ValuesIn(Transformations().begin(), Transformations().end()), [](const auto& info) {
                           std::string name(info.param.name);
                           absl::c_replace(name, ' ', '_');
                           return name;
                         });

}  // namespace
}  // namespace kashi::reduction
