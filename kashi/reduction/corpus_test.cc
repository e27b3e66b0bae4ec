// Laws of candidates and of reductions, on the modules of the corpus (before.hlo, cpu.hlo, …).
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kashi/base/sanitizers_testing.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/reduction/candidate.h"
#include "kashi/reduction/reducer.h"
#include "kashi/reduction/transformation.h"

namespace kashi::reduction {
namespace {

// KASHI_CORPUS: another folder of modules.
std::vector<std::string> CorpusFiles() {
  const char* const folder = std::getenv("KASHI_CORPUS");
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder != nullptr ? folder : KASHI_TEST_DATA "/corpus")) {
    if (entry.path().extension() == ".hlo") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  EXPECT_GT(files.size(), 10);
  return files;
}

std::unique_ptr<HloModule> ReadModule(const std::string& path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  auto module = ParseAndReturnUnverifiedModule(text);
  EXPECT_TRUE(module.ok()) << path << ": " << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

HloVerifierOpts OptionsFor(const HloModule& module) {
  HloVerifierOpts opts;
  opts.allow_bitcast_to_have_different_size = true;
  opts.allow_mixed_precision = module.has_schedule();
  return opts;
}

// It keeps the rules, and its text is read as the same module.
void ExpectIsModule(const Candidate& candidate, const Rules& rules, const std::string& what) {
  EXPECT_EQ(rules.Check(*candidate.module), absl::OkStatus()) << what;
  const auto read = ParseAndReturnUnverifiedModule(candidate.text);
  ASSERT_TRUE(read.ok()) << what << ": " << read.status() << "\n" << candidate.text;
  EXPECT_TRUE((*read)->ToString(HloPrintOptions().set_print_large_constants(true)) == candidate.text) << what << "\n"
                                                                                                      << candidate.text;
  EXPECT_EQ(rules.Check(**read), absl::OkStatus()) << what;
  EXPECT_EQ(candidate.module->CheckUniqueNamesAndIdsForComputationsAndInstructions(), absl::OkStatus()) << what;
}

std::vector<Site> RandomPart(const std::vector<Site>& sites, bool takes_many, std::mt19937& random) {
  if (!takes_many) return {sites[random() % sites.size()]};
  const size_t begin = random() % sites.size();
  const size_t end = begin + 1 + random() % std::min<size_t>(sites.size() - begin, 8);
  return {sites.begin() + begin, sites.begin() + end};
}

TEST(CorpusTest, CandidatesAreModules) {
  std::mt19937 random(1);
  std::vector<int64_t> made(Transformations().size());
  size_t number = 0;
  for (const std::string& path : CorpusFiles()) {
    if (number++ % base::kShare != 0) continue;
    const auto module = ReadModule(path);
    ASSERT_NE(module, nullptr);
    const auto rules = Rules::Of(*module, OptionsFor(*module));
    ASSERT_TRUE(rules.ok()) << path << ": " << rules.status();
    const Candidate whole = MakeCandidate(*module, *rules);
    for (size_t row = 0; row < Transformations().size(); ++row) {
      const Transformation& transformation = Transformations()[row];
      if (transformation.needs_valid_module && !rules->are_all_kept()) continue;
      const std::vector<Site> sites = transformation.find(*whole.module);
      for (int i = 0; i < 4 && !sites.empty(); ++i) {
        const auto part =
            i == 0 && transformation.takes_many ? sites : RandomPart(sites, transformation.takes_many, random);
        const auto candidate = MakeCandidate(whole, transformation, part, *rules);
        if (std::getenv("KASHI_SHOW") != nullptr && !candidate.ok()) {
          std::cout << transformation.name << " " << i << " " << path << ": " << candidate.status() << "\n";
        }
        if (!candidate.ok()) continue;
        ++made[row];
        ExpectIsModule(*candidate, *rules, absl::StrCat(path, ": ", transformation.name, " ", part.size()));
      }
    }
  }
  for (size_t row = 0; row < made.size(); ++row) {
    if (std::getenv("KASHI_SHOW") != nullptr) std::cout << Transformations()[row].name << ": " << made[row] << "\n";
    // Compilers leave no unused results of fusions: transformations_test.cc has some.
    const bool has_places = Transformations()[row].name != "unused results" && base::kShare == 1;
    EXPECT_TRUE(made[row] > 0 || !has_places) << Transformations()[row].name << " made no candidate";
  }
}

Reduction ReduceWith(const HloModule& module, Check check, int jobs = 1) {
  ReducerOptions options;
  options.rules = OptionsFor(module);
  options.jobs = jobs;
  auto reduction = Reducer(std::move(check), options).Run(module);
  EXPECT_TRUE(reduction.ok()) << reduction.status();
  return reduction.ok() ? *std::move(reduction) : Reduction();
}

TEST(CorpusTest, WhatIsAlwaysInterestingBecomesNothing) {
  const Check always = [](const Candidate&, const std::atomic<bool>&) { return true; };
  size_t number = 0;
  for (const std::string& path : CorpusFiles()) {
    if (number++ % base::kShare != 0) continue;
    const auto module = ReadModule(path);
    const Reduction reduction = ReduceWith(*module, always);
    ASSERT_NE(reduction.best, nullptr) << path;
    EXPECT_LE(reduction.best->size.instructions, 2) << path << "\n" << reduction.best->text;
    EXPECT_LE(reduction.best->size.elements, 2) << path << "\n" << reduction.best->text;
    EXPECT_EQ(reduction.best->size.attributes, 0) << path << "\n" << reduction.best->text;
  }
}

TEST(CorpusTest, WhatIsNeverInterestingStays) {
  const Check never = [](const Candidate&, const std::atomic<bool>&) { return false; };
  for (const std::string& path : CorpusFiles()) {
    const auto module = ReadModule(path);
    const Reduction reduction = ReduceWith(*module, never);
    ASSERT_NE(reduction.best, nullptr) << path;
    EXPECT_FALSE(reduction.is_interesting);
    EXPECT_EQ(reduction.progress.checks, 1);
    EXPECT_EQ(reduction.best->text, module->ToString(HloPrintOptions().set_print_large_constants(true)));
  }
}

// The opcode of some instruction of the module is to stay.
TEST(CorpusTest, OneOperationIsFoundInAnyModule) {
  std::mt19937 random(2);
  size_t number = 0;
  int64_t largest = 0;
  for (const std::string& path : CorpusFiles()) {
    if (number++ % base::kShare != 0) continue;
    const auto module = ReadModule(path);
    const HloComputation& computation = *module->computations()[random() % module->computations().size()];
    const std::vector<HloInstruction*> instructions = computation.instructions();
    const HloOpcode opcode = instructions[random() % instructions.size()]->opcode();
    const std::string needle = absl::StrCat(" ", HloOpcodeString(opcode), "(");
    const Check has_opcode = [&](const Candidate& candidate, const std::atomic<bool>&) {
      return absl::StrContains(candidate.text, needle);
    };
    const Reduction reduction = ReduceWith(*module, has_opcode);
    if (!reduction.is_interesting) continue;  // printed in the short form of asynchronous operations
    const Reduction again = ReduceWith(*reduction.best->module, has_opcode);
    EXPECT_EQ(again.best->text, reduction.best->text) << path;
    EXPECT_EQ(again.progress.steps, 0) << path;
    const Reduction parallel = ReduceWith(*module, has_opcode, /*jobs=*/3);
    EXPECT_EQ(parallel.best->text, reduction.best->text) << path;
    EXPECT_EQ(parallel.progress.checks, reduction.progress.checks) << path;
    EXPECT_LE(reduction.best->size.instructions, 14) << path << " " << needle << "\n" << reduction.best->text;
    largest = std::max(largest, reduction.best->size.instructions);
    if (std::getenv("KASHI_SHOW") != nullptr) {
      std::cout << path << needle << reduction.before.ToString() << " -> " << reduction.best->size.ToString() << ", "
                << reduction.progress.checks << " checks of " << reduction.progress.candidates << "\n"
                << reduction.best->text;
    }
  }
}

}  // namespace
}  // namespace kashi::reduction
