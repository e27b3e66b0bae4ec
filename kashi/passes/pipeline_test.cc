// Each pass on a program of its own, in a golden file: tests/data/passes/NAME.txt has a comment, the module, and behind
// a line of dashes what the pass makes of it. KASHI_UPDATE_GOLDEN=1 writes that part anew.
#include "kashi/passes/pipeline.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/hlo/verifier/hlo_verifier.h"
#include "kashi/passes/any_engine.h"
#include "kashi/passes/fuse.h"

namespace kashi::passes {
namespace {

const std::string kDashes = "\n----------------------------------------\n";

absl::Status Verify(HloModule* module) {
  return HloVerifier(/*layout_sensitive=*/false, /*allow_mixed_precision=*/true).Run(module).status();
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The module without its comment, and with its part of the file: comment and module.
struct Golden {
  std::string path, given, expected;
  std::unique_ptr<HloModule> module;

  explicit Golden(absl::string_view name) : path(absl::StrCat(KASHI_TEST_DATA, "/passes/", name, ".txt")) {
    const std::string text = ReadFile(path);
    const size_t dashes = text.find(kDashes);
    given = text.substr(0, dashes);
    if (dashes != std::string::npos) expected = text.substr(dashes + kDashes.size());
    const size_t begin = given.find("HloModule");
    EXPECT_NE(begin, std::string::npos) << path;
    auto parsed = ParseAndReturnUnverifiedModule(begin == std::string::npos ? "" : given.substr(begin));
    EXPECT_TRUE(parsed.ok()) << path << ": " << parsed.status();
    if (!parsed.ok()) return;
    module = *std::move(parsed);
    EXPECT_EQ(Verify(module.get()), absl::OkStatus()) << path;
  }

  void Compare() {
    EXPECT_EQ(Verify(module.get()), absl::OkStatus()) << path;
    const std::string actual = module->ToString();
    if (std::getenv("KASHI_UPDATE_GOLDEN") != nullptr) {
      std::ofstream(path) << given << kDashes << actual;
    } else {
      EXPECT_EQ(actual, expected) << path;
    }
  }
};

class PassesTest : public testing::TestWithParam<PassRow> {};

TEST_P(PassesTest, MakesWhatItsFileSays) {
  Golden golden(GetParam().name);
  ASSERT_NE(golden.module, nullptr);
  const std::string before = golden.module->ToString();
  ASSERT_EQ(GetParam().run(golden.module.get(), {AnyEngine()}), absl::OkStatus());
  EXPECT_NE(golden.module->ToString(), before) << "nothing changed";
  golden.Compare();
}

TEST_P(PassesTest, ChangesNothingTheSecondTime) {
  for (const PassRow& row : Passes()) {
    SCOPED_TRACE(row.name);
    const Golden golden(row.name);
    ASSERT_NE(golden.module, nullptr);
    ASSERT_EQ(GetParam().run(golden.module.get(), {AnyEngine()}), absl::OkStatus());
    golden.module->RemoveDeadCode();
    const std::string once = golden.module->ToString();
    ASSERT_EQ(GetParam().run(golden.module.get(), {AnyEngine()}), absl::OkStatus());
    golden.module->RemoveDeadCode();
    EXPECT_EQ(golden.module->ToString(), once);
  }
}

TEST_P(PassesTest, StopsWithTheError) {
  const Golden golden(GetParam().name);
  ASSERT_NE(golden.module, nullptr);
  const auto stop = [] { return absl::CancelledError("stop"); };
  EXPECT_EQ(GetParam().run(golden.module.get(), {AnyEngine(), true, false, stop}), absl::CancelledError("stop"));
}

INSTANTIATE_TEST_SUITE_P(Each, PassesTest, testing::ValuesIn(Passes().begin(), Passes().end()), [](const auto& info) {
  std::string name(info.param.name);
  absl::c_replace(name, '-', '_');
  return name;
});

TEST(PipelineTest, RunsAllInOrderAndLeavesValidModules) {
  for (const PassRow& row : Passes()) {
    const Golden golden(row.name);
    ASSERT_NE(golden.module, nullptr);
    std::vector<absl::string_view> seen, all;
    const absl::Status status = RunPasses(golden.module.get(), {AnyEngine(), true, /*verifies=*/true},
                                          [&](const PassRow& pass, const HloModule&) {
                                            seen.push_back(pass.name);
                                            return absl::OkStatus();
                                          });
    EXPECT_EQ(status, absl::OkStatus()) << row.name;
    for (const PassRow& pass : Passes()) all.push_back(pass.name);
    EXPECT_EQ(seen, all);
  }
}

TEST(PipelineTest, TheErrorAfterAPassEndsIt) {
  const Golden golden("fold-constants");
  int passes = 0;
  const absl::Status status = RunPasses(golden.module.get(), {AnyEngine()}, [&](const PassRow&, const HloModule&) {
    return ++passes == 2 ? absl::InternalError("no") : absl::OkStatus();
  });
  EXPECT_EQ(status, absl::InternalError("no"));
  EXPECT_EQ(passes, 2);
}

TEST(PipelineTest, OtherPassesRunByHand) {
  Golden golden("fuse");
  ASSERT_NE(golden.module, nullptr);
  std::vector<absl::string_view> names;
  for (const PassRow& pass : OtherPasses()) {
    names.push_back(pass.name);
    ASSERT_EQ(RunPass(pass, golden.module.get(), {AnyEngine(), true, /*verifies=*/true}), absl::OkStatus());
  }
  EXPECT_THAT(names, testing::ElementsAre("fuse", "dce"));
  golden.Compare();
}

TEST(PipelineTest, DeadCodeIsRemoved) {
  Golden golden("fuse");
  ASSERT_NE(golden.module, nullptr);
  const std::string before = golden.module->ToString();
  golden.module->entry_computation()->AddInstruction(HloInstruction::CreateToken());
  const PassRow& dce = OtherPasses()[1];
  const auto stop = [] { return absl::CancelledError("stop"); };
  EXPECT_EQ(RunPass(dce, golden.module.get(), {AnyEngine(), true, false, stop}), absl::CancelledError("stop"));
  EXPECT_NE(golden.module->ToString(), before);
  EXPECT_EQ(RunPass(dce, golden.module.get(), {AnyEngine()}), absl::OkStatus());
  EXPECT_EQ(golden.module->ToString(), before);
}

TEST(PipelineTest, RowsSayWhatTheyDo) {
  for (const auto rows : {Passes(), OtherPasses()}) {
    for (const PassRow& row : rows) EXPECT_NE(row.result, "") << row.name;
  }
}

TEST(FuseTest, MakesWhatItsFileSays) {
  Golden golden("fuse");
  ASSERT_NE(golden.module, nullptr);
  const auto fusions = FuseInstructions(golden.module.get(), {AnyEngine()});
  ASSERT_TRUE(fusions.ok()) << fusions.status();
  EXPECT_EQ(fusions->size(), 2);
  golden.Compare();
}

TEST(FuseTest, MergesFusionsAsItsFileSays) {
  Golden golden("merge-fusions");
  ASSERT_NE(golden.module, nullptr);
  const auto fusions = FuseInstructions(golden.module.get(), {AnyEngine()});
  ASSERT_TRUE(fusions.ok()) << fusions.status();
  for (const HloInstruction* fusion : *fusions) EXPECT_EQ(fusion->opcode(), HloOpcode::kFusion);
  golden.Compare();
}

}  // namespace
}  // namespace kashi::passes
