#include "kashi/analysis/source_location.h"

#include "gtest/gtest.h"
#include "kashi/analysis/analysis_testing.h"

namespace kashi::analysis {
namespace {

TEST(SourceLocationTest, FromMetadataFramesAndRoots) {
  const auto module = ReadModule(R"(HloModule m

FileNames
1 "model.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=1 end_column=2}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

fused { p = f32[] parameter(0)  ROOT n = f32[] negate(p), metadata={op_name="jit(f)/neg" source_file="g.py" source_line=3} }

ENTRY e {
  a = f32[] parameter(0)
  b = f32[] abs(a), metadata={op_name="jit(f)/abs" stack_frame_id=1}
  c = f32[] fusion(b), kind=kLoop, calls=fused
  ROOT d = f32[] abs(c), metadata={op_name="x" stack_frame_id=99}
}
)");
  const auto of = [&](absl::string_view name) {
    return GetSourceLocation(*module->entry_computation()->GetInstructionWithName(name));
  };
  EXPECT_EQ(of("a").op_name, "");
  EXPECT_EQ(of("b").op_name, "jit(f)/abs");
  EXPECT_EQ(of("b").file, "model.py");
  EXPECT_EQ(of("b").line, 7);
  EXPECT_EQ(of("c").op_name, "jit(f)/neg");
  EXPECT_EQ(of("c").file, "g.py");
  EXPECT_EQ(of("c").line, 3);
  EXPECT_EQ(of("d").file, "");
}

}  // namespace
}  // namespace kashi::analysis
