#include "kashi/reduction/search.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::reduction {
namespace {

std::shared_ptr<const HloModule> Chain(int count) {
  std::string text = "HloModule m\n\nENTRY e {\n  x0 = f32[] parameter(0)\n";
  for (int i = 1; i <= count; ++i) {
    absl::StrAppend(&text, i == count ? "  ROOT" : " ", " x", i, " = f32[] negate(x", i - 1, ")\n");
  }
  auto module = ParseAndReturnUnverifiedModule(absl::StrCat(text, "}\n"));
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

// Of the transformation with this name, until the end of a search in which nothing is accepted.
std::vector<Search::Proposal> AllProposals(const std::shared_ptr<const HloModule>& module, absl::string_view name) {
  Search search(module, /*evaluates=*/true);
  std::vector<Search::Proposal> proposals;
  while (auto proposal = search.Next()) {
    if (proposal->transformation->name == name) proposals.push_back(*std::move(proposal));
  }
  return proposals;
}

TEST(SearchTest, FirstAllThenHalvesThenSingles) {
  const auto module = Chain(8);
  std::vector<size_t> sizes;
  for (const Search::Proposal& proposal : AllProposals(module, "instructions")) sizes.push_back(proposal.sites.size());
  EXPECT_EQ(sizes, (std::vector<size_t>{8, 4, 4, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1}));
}

// Each size of chunks covers all places, without overlap.
TEST(SearchTest, ChunksCoverAllPlaces) {
  const auto module = Chain(37);
  std::map<int64_t, std::vector<const HloInstruction*>> covered;
  for (const Search::Proposal& proposal : AllProposals(module, "instructions")) {
    for (const Site& site : proposal.sites) covered[proposal.position.chunk].push_back(site.instruction);
  }
  for (const auto& [chunk, instructions] : covered) {
    EXPECT_EQ(instructions.size() % 37, 0) << chunk;
    for (size_t i = 0; i < instructions.size(); ++i) EXPECT_EQ(instructions[i], instructions[i % 37]) << chunk;
  }
  EXPECT_EQ(covered.count(1), 1);
}

// The first round of a large module takes at least a sixteenth at a time; the last round takes single places.
TEST(SearchTest, RoundsGoDeeper) {
  const auto module = Chain(1000);
  std::map<int, int64_t> least;  // by depth
  for (const Search::Proposal& proposal : AllProposals(module, "instructions")) {
    auto& chunk = least.emplace(proposal.position.depth, INT64_MAX).first->second;
    chunk = std::min(chunk, proposal.position.chunk);
  }
  EXPECT_EQ(least.at(4), 62);
  EXPECT_EQ(least.at(8), 3);
  EXPECT_EQ(least.rbegin()->second, 1);
}

TEST(SearchTest, EndsWithoutProposalsForNothing) {
  auto module = ParseAndReturnUnverifiedModule("HloModule m\nENTRY e { ROOT t = () tuple() }");
  ASSERT_TRUE(module.ok());
  Search search(*std::move(module), true);
  EXPECT_FALSE(search.Next().has_value());
  EXPECT_FALSE(search.Next().has_value());
}

TEST(SearchTest, GoesOnWhereSomethingWasAccepted) {
  const auto module = Chain(16);
  Search search(module, true);
  auto proposal = search.Next();
  while (proposal.has_value() && (proposal->transformation->name != "instructions" || proposal->position.chunk != 4 ||
                                  proposal->position.begin != 4)) {
    proposal = search.Next();
  }
  ASSERT_TRUE(proposal.has_value());
  for (int i = 0; i < 5; ++i) search.Next();  // asked for in vain
  const auto smaller = Chain(12);
  search.Accept(*proposal, smaller);
  const auto next = search.Next();
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->transformation->name, "instructions");
  EXPECT_EQ(next->position.chunk, 4);
  EXPECT_EQ(next->position.begin, 4);
  EXPECT_EQ(next->sites[0].instruction->GetModule(), smaller.get());
  // Something was accepted: after this round, there is another one from the start.
  bool begins_anew = false;
  while (auto later = search.Next()) {
    begins_anew |= later->transformation->name == "instructions" && later->position.chunk == 12;
  }
  EXPECT_TRUE(begins_anew);
}

TEST(SearchTest, NothingIsEvaluatedInModulesThatAreNotValid) {
  auto module = ParseAndReturnUnverifiedModule(
      "HloModule m\nENTRY e { a = f32[] constant(1) b = f32[] add(a, a) ROOT c = f32[] sine(b) }");
  ASSERT_TRUE(module.ok());
  const std::shared_ptr<const HloModule> shared = *std::move(module);
  for (const bool evaluates : {false, true}) {
    Search search(shared, evaluates);
    bool has_known_values = false;
    while (auto proposal = search.Next()) has_known_values |= proposal->transformation->needs_valid_module;
    EXPECT_EQ(has_known_values, evaluates);
  }
}

}  // namespace
}  // namespace kashi::reduction
