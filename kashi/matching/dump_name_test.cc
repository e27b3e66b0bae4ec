#include "kashi/matching/dump_name.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace kashi::matching {
namespace {

std::string Parsed(const std::string& name) {
  const std::optional<DumpName> parsed = ParseDumpName(name);
  if (!parsed.has_value()) return "no dump";
  std::string text = absl::StrCat(parsed->module, " ", parsed->number, " ", parsed->ending);
  if (!parsed->stage.has_value()) return absl::StrCat(text, " report");
  const DumpStage& stage = *parsed->stage;
  if (stage.number < 0) return absl::StrCat(text, " ", stage.name);
  return absl::StrCat(text, " ", stage.number, " [", stage.pipeline, "] [", stage.after, "] [", stage.before, "]");
}

TEST(DumpNameTest, StagesWithANumber) {
  EXPECT_EQ(Parsed("module_0018.jit_step.0006.simplification.after_algsimp.before_simplify-sorts.hlo.pb"),
            "module_0018.jit_step 18 .hlo.pb 6 [simplification] [algsimp] [simplify-sorts]");
  EXPECT_EQ(Parsed("module_0018.jit_step.0022.copy-insertion.after_adding_copies.txt"),
            "module_0018.jit_step 18 .txt 22 [copy-insertion] [adding_copies] []");
  EXPECT_EQ(Parsed("module_0018.jit_step.0022.copy-insertion.removing.copies.txt"),
            "module_0018.jit_step 18 .txt 22 [copy-insertion] [removing.copies] []");
  EXPECT_EQ(Parsed("module_0001.a.b.1234.0003.sm_9.0.after_x.1.before_y.2.txt"),
            "module_0001.a.b.1234 1 .txt 3 [sm_9.0] [x.1] [y.2]");
  EXPECT_EQ(Parsed("module_0063.jit_sort.cl_933746096.10003.p.after_pipeline-start.before_y.hlo.pb.gz"),
            "module_0063.jit_sort.cl_933746096 63 .hlo.pb.gz 10003 [p] [pipeline-start] [y]");
}

TEST(DumpNameTest, StagesWithAName) {
  EXPECT_EQ(Parsed("module_0018.jit_step.before_optimizations.txt"),
            "module_0018.jit_step 18 .txt before_optimizations");
  EXPECT_EQ(Parsed("1700000000.module_0018.jit_step.cpu_after_optimizations.hlo.pb"),
            "module_0018.jit_step 18 .hlo.pb cpu_after_optimizations");
  EXPECT_EQ(Parsed("module_0018.jit_step.sm_9.0_gpu_after_optimizations.txt"),
            "module_0018.jit_step 18 .txt sm_9.0_gpu_after_optimizations");
  EXPECT_EQ(Parsed("module_0018.Graph.1742.sm_9.0_gpu_after_optimizations.txt"),
            "module_0018.Graph.1742 18 .txt sm_9.0_gpu_after_optimizations");
  EXPECT_EQ(Parsed("module_0063.jit_sort.cl_93.after_optimizations_before_buffer_assignment.txt"),
            "module_0063.jit_sort.cl_93 63 .txt after_optimizations_before_buffer_assignment");
}

TEST(DumpNameTest, Reports) {
  EXPECT_EQ(Parsed("module_0018.jit_step.cpu_after_optimizations-buffer-assignment.txt"),
            "module_0018.jit_step 18 cpu_after_optimizations-buffer-assignment.txt report");
  EXPECT_EQ(Parsed("module_0018.jit_step.multiply_add_fusion.1_kernel_module.ir-with-opt.ll"),
            "module_0018.jit_step 18 multiply_add_fusion.1_kernel_module.ir-with-opt.ll report");
  EXPECT_EQ(Parsed("module_0018.jit_step.debug_options"), "module_0018.jit_step 18 debug_options report");
  EXPECT_EQ(Parsed("module_0018.jit_step.0006.x.after_y.before_z.dot"),
            "module_0018.jit_step 18 0006.x.after_y.before_z.dot report");
  EXPECT_EQ(Parsed("module_0018"), "module_0018 18  report");
}

TEST(DumpNameTest, OtherFiles) {
  for (const char* name :
       {"", ".", "module_.x.txt", "module_1x.jit.txt", "notes.txt", "module_99999999999999999999.x.txt"}) {
    EXPECT_EQ(Parsed(name), "no dump") << name;
  }
}

TEST(DumpNameTest, TitlesNameThePass) {
  EXPECT_EQ(ParseDumpName("module_1.f.0006.p.after_q.before_r.txt")->stage->Title(), "p/q");
  EXPECT_EQ(ParseDumpName("module_1.f.before_optimizations.txt")->stage->Title(), "before_optimizations");
  EXPECT_EQ(ParseDumpName("module_1.f.0006.p.after_pipeline-start.before_r.txt")->stage->Title(), "before p");
  EXPECT_TRUE(ParseDumpName("module_1.f.0006.p.after_pipeline-start.before_r.txt")->stage->begins_pipeline());
  EXPECT_FALSE(ParseDumpName("module_1.f.0006.p.after_q.before_r.txt")->stage->begins_pipeline());
}

}  // namespace
}  // namespace kashi::matching
