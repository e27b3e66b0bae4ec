#include "kashi/insight/roofline.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "kashi/insight/insight_testing.h"
#include "kashi/insight/matrix_work.h"

namespace kashi::insight {
namespace {

// Rates that make times easy to see.
Accelerator Device() {
  Accelerator device;
  device.kind = AcceleratorKind::kGpu;
  device.matrix_bf16 = 1000;
  device.matrix_tf32 = 500;
  device.matrix_f32 = 100;
  device.matrix_f64 = 10;
  device.matrix_s8 = 2000;
  device.vector_f32 = 50;
  device.vector_f64 = 25;
  device.memory_bandwidth = 1;
  return device;
}
// A TPU with tiles of 128.
Accelerator Tpu() {
  Accelerator device = Device();
  device.kind = AcceleratorKind::kTpu;
  device.tpu = TpuGeneration::kV5e;
  device.matrix_tile = 128;
  return device;
}

struct Result {
  std::unique_ptr<HloModule> module;
  std::unique_ptr<CountedCost> cost;
  Roofline roofline;

  const HloInstruction* operator[](absl::string_view name) const { return Find(*module, name); }
  InstructionTime TimeOf(absl::string_view name) const { return roofline.TimeOf((*this)[name]); }
};

Result Measure(std::unique_ptr<HloModule> module, const Accelerator& device) {
  auto cost = std::make_unique<CountedCost>(CountedCost::Compute(*module).value());
  Roofline roofline = Roofline::Compute(*module, *cost, device).value();
  return {std::move(module), std::move(cost), std::move(roofline)};
}
Result Measure(absl::string_view text, const Accelerator& device) { return Measure(ReadModule(text), device); }

double MatrixRate(const std::string& lhs, const std::string& rhs, const std::string& attributes,
                  const Accelerator& device) {
  const std::unique_ptr<HloModule> module =
      ReadModule(absl::StrCat("HloModule m\nENTRY e { a = ", lhs, "[8,8] parameter(0)  b = ", rhs,
                              "[8,8] parameter(1)\n  ROOT d = f32[8,8] dot(a, b), "
                              "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
                              attributes, " }"));
  return MatrixWorkOf(*module->entry_computation()->root_instruction(), device).rate;
}

TEST(MatrixWorkTest, RatesByTypeAndPrecision) {
  const Accelerator gpu = Device(), tpu = Tpu();
  EXPECT_EQ(MatrixRate("bf16", "bf16", "", gpu), 1000);
  EXPECT_EQ(MatrixRate("f16", "f16", "", gpu), 1000);
  EXPECT_EQ(MatrixRate("bf16", "f32", "", gpu), 500);  // the wider one
  EXPECT_EQ(MatrixRate("f32", "bf16", "", gpu), 500);
  EXPECT_EQ(MatrixRate("s8", "s8", "", gpu), 2000);
  EXPECT_EQ(MatrixRate("s4", "s4", "", gpu), 2000);          // no unit of its own
  EXPECT_EQ(MatrixRate("f8e5m2", "f8e5m2", "", gpu), 1000);  // no unit: that of bf16
  EXPECT_EQ(MatrixRate("f32", "f32", "", gpu), 500);
  EXPECT_EQ(MatrixRate("f32", "f32", ", operand_precision={high,high}", gpu), 500);
  EXPECT_EQ(MatrixRate("f32", "f32", ", operand_precision={highest,highest}", gpu), 100);
  EXPECT_EQ(MatrixRate("f64", "f64", "", gpu), 10);
  EXPECT_EQ(MatrixRate("c64", "c64", "", gpu), 125);
  EXPECT_EQ(MatrixRate("s32", "s32", "", gpu), 50);  // the vector unit
  EXPECT_EQ(MatrixRate("f32", "f32", ", algorithm=dot_bf16_bf16_f32_x3", gpu), 1000.0 / 3);
  EXPECT_EQ(MatrixRate("f32", "f32", ", algorithm=dot_tf32_tf32_f32", gpu), 500);
  EXPECT_EQ(MatrixRate("f32", "f32", ", algorithm=dot_f32_f32_f32", gpu), 100);
  EXPECT_EQ(MatrixRate("f32", "f32", "", tpu), 1000);
  EXPECT_EQ(MatrixRate("f32", "f32", ", operand_precision={default,high}", tpu), 1000.0 / 3);
  EXPECT_EQ(MatrixRate("f32", "f32", ", operand_precision={highest,highest}", tpu), 1000.0 / 6);
  EXPECT_EQ(MatrixRate("f32", "f32", ", algorithm=dot_f32_f32_f32", tpu), 1000.0 / 6);
}

double Padding(absl::string_view instruction, absl::string_view parameters) {
  const std::unique_ptr<HloModule> module =
      ReadModule(absl::StrCat("HloModule m\nENTRY e { ", parameters, "\n  ROOT d = ", instruction, " }"));
  return MatrixWorkOf(*module->entry_computation()->root_instruction(), Tpu()).padding_factor;
}

TEST(MatrixWorkTest, WholeTilesAreMultiplied) {
  const auto dot = [](int m, int k, int n) {
    return Padding(absl::StrCat("bf16[", m, ",", n, "] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
                   absl::StrCat("a = bf16[", m, ",", k, "] parameter(0)  b = bf16[", k, ",", n, "] parameter(1)"));
  };
  EXPECT_EQ(dot(128, 128, 128), 1);
  EXPECT_EQ(dot(8, 256, 128), 1);
  EXPECT_EQ(dot(128, 256, 8), 1);  // the other factor is in the unit
  EXPECT_EQ(dot(128, 64, 128), 2);
  EXPECT_EQ(dot(128, 129, 128), 256.0 / 129);
  EXPECT_EQ(dot(1, 128, 128), 8);
  EXPECT_EQ(dot(100, 128, 100), 104.0 * 128 / 10000);
  EXPECT_EQ(Padding("bf16[4,16,128] dot(a, b), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, "
                    "rhs_contracting_dims={1}",
                    "a = bf16[4,16,32] parameter(0)  b = bf16[4,32,128] parameter(1)"),
            4);
  // 3 x 3 windows of 64 features: 576 are contracted, and 640 multiplied.
  EXPECT_EQ(Padding("bf16[8,16,16,128] convolution(a, b), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f",
                    "a = bf16[8,16,16,64] parameter(0)  b = bf16[3,3,64,128] parameter(1)"),
            640.0 / 576);
}

TEST(RooflineTest, TheLongestOfThreeUnits) {
  const Result r = Measure(R"(HloModule m
ENTRY e { a = bf16[100,100] parameter(0)  b = bf16[100,100] parameter(1)  x = f32[4] parameter(2)  y = f64[1000] parameter(3)
  d = bf16[100,100] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[4] tanh(x)  c = f64[1000] add(y, y)
  ROOT r = (bf16[100,100], f32[4], f64[1000]) tuple(d, t, c) })",
                           Device());
  EXPECT_DOUBLE_EQ(r.TimeOf("d").matrix_seconds, 2e6 / 1000);
  EXPECT_DOUBLE_EQ(r.TimeOf("d").memory_seconds, 3 * 20000);
  EXPECT_EQ(r.TimeOf("d").bound(), Bound::kMemory);
  EXPECT_DOUBLE_EQ(r.TimeOf("t").vector_seconds, 4.0 / 50);
  EXPECT_DOUBLE_EQ(r.TimeOf("t").memory_seconds, 32);
  EXPECT_DOUBLE_EQ(r.TimeOf("c").vector_seconds, 1000.0 / 25);
  EXPECT_EQ(r.TimeOf("a").bound(), Bound::kNothing);
  EXPECT_DOUBLE_EQ(r.roofline.seconds(), 60000 + 32 + 24000 + 24);  // the tuple writes its table
  Accelerator fast = Device();
  fast.memory_bandwidth = 1e9;
  const Result f =
      Measure(std::move(Measure("HloModule m\nENTRY e { ROOT a = f32[] parameter(0) }", fast).module), fast);
  EXPECT_EQ(f.roofline.seconds(), 0);
  EXPECT_EQ(BoundName(Bound::kMatrix), "matrix unit");
}

// A fusion takes what its instructions take on the units, and its own bytes.
TEST(RooflineTest, FusionsAddUpTheirInstructions) {
  Accelerator device = Device();
  device.memory_bandwidth = 1e12;
  const Result r = Measure(R"(HloModule m
inner { p = bf16[10,10] parameter(0)  ROOT n = bf16[10,10] negate(p) }
fused { a = bf16[10,10] parameter(0)  d = bf16[10,10] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = bf16[10,10] tanh(d)  ROOT i = bf16[10,10] fusion(t), kind=kLoop, calls=inner }
ENTRY e { a = bf16[10,10] parameter(0)  ROOT f = bf16[10,10] fusion(a), kind=kLoop, calls=fused })",
                           device);
  EXPECT_DOUBLE_EQ(r.TimeOf("f").matrix_seconds, 2000.0 / 1000);
  EXPECT_DOUBLE_EQ(r.TimeOf("f").vector_seconds, 200.0 / 50);
  EXPECT_EQ(r.TimeOf("f").bound(), Bound::kVector);
  EXPECT_DOUBLE_EQ(r.roofline.seconds(), 4);
  EXPECT_DOUBLE_EQ(r.TimeOf("d").seconds(), 0);  // within the fusion
}

constexpr char kControlFlow[] = R"(HloModule m
body { s = (s32[], f32[50]) parameter(0)  i = s32[] get-tuple-element(s), index=0  x = f32[50] get-tuple-element(s), index=1
  one = s32[] constant(1)  j = s32[] add(i, one)  y = f32[50] tanh(x)  ROOT r = (s32[], f32[50]) tuple(j, y) }
condition { s = (s32[], f32[50]) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] constant(10)
  ROOT c = pred[] compare(i, n), direction=LT }
short { a = f32[50] parameter(0)  ROOT z = f32[50] negate(a) }
long { a = f32[50] parameter(0)  zero = s32[] constant(0)  s = (s32[], f32[50]) tuple(zero, a)
  w = (s32[], f32[50]) while(s), condition=condition, body=body  ROOT y = f32[50] get-tuple-element(w), index=1 }
ENTRY e { p = pred[] parameter(0)  x = f32[50] parameter(1)
  ROOT r = f32[50] conditional(p, x, x), true_computation=short, false_computation=long })";

TEST(RooflineTest, LoopsAndTheLongestBranch) {
  Accelerator device = Device();
  device.memory_bandwidth = 1e12;
  const Result r = Measure(kControlFlow, device);
  EXPECT_NEAR(r.roofline.seconds(), 10 * (1 + 0.02) + 11 * 0.02, 1e-6);
  EXPECT_EQ(r.roofline.RunsOf(Find(*r.module, "z")), 0);
  EXPECT_EQ(r.roofline.RunsOf(Find(*r.module, "j")), 10);
  EXPECT_DOUBLE_EQ(r.roofline.SecondsOf(Find(*r.module, "j")), 0.2);
}

TEST(RooflineTest, TilesOfATpu) {
  // 8 x 128 floats are a tile. Arrays in S(1) do not use the main memory.
  const Result r = Measure(R"(HloModule m, is_scheduled=true
ENTRY e { a = f32[64,16]{1,0:T(8,128)} parameter(0)  b = f32[64,16]{1,0:T(8,128)S(1)} copy(a)
  c = f32[64,16]{1,0:T(8,128)S(1)} tanh(b)  ROOT d = f32[64,16]{0,1:T(8,128)} negate(c) })",
                           Tpu());
  EXPECT_DOUBLE_EQ(r.TimeOf("b").memory_seconds, 64 * 128 * 4);  // reads a
  EXPECT_DOUBLE_EQ(r.TimeOf("b").unpadded_seconds, 64 * 16 * 4);
  EXPECT_DOUBLE_EQ(r.TimeOf("c").memory_seconds, 0);
  EXPECT_DOUBLE_EQ(r.TimeOf("c").vector_seconds, 64 * 128 / 50.0);
  EXPECT_DOUBLE_EQ(r.TimeOf("d").memory_seconds, 16 * 128 * 4);
  EXPECT_DOUBLE_EQ(r.roofline.WastedSecondsOf(Find(*r.module, "b")), 64 * 112 * 4);
  EXPECT_FALSE(r.roofline.has_chosen_layouts());
  double wasted = 0;
  for (const HloInstruction* each : r.cost->instructions()) wasted += r.roofline.WastedSecondsOf(each);
  EXPECT_DOUBLE_EQ(r.roofline.wasted_seconds(), wasted);
  // Without tiles the layouts of the generation are taken.
  const Result chosen =
      Measure("HloModule m\nENTRY e { a = f32[64,16]{1,0} parameter(0)  ROOT n = f32[64,16]{1,0} negate(a) }", Tpu());
  EXPECT_TRUE(chosen.roofline.has_chosen_layouts());
  EXPECT_DOUBLE_EQ(chosen.TimeOf("n").memory_seconds, 2 * 64 * 128 * 4);
}

// On every accelerator, the seconds of all instructions add up; no time is less than without padding.
TEST(RooflineLawTest, SecondsAddUp) {
  for (const std::filesystem::path& path : CorpusFiles()) {
    std::unique_ptr<HloModule> module = ReadModuleFile(path);
    ASSERT_NE(module, nullptr) << path;
    for (const char* name : {"v5e", "h100"}) {
      const Result r = Measure(module->Clone(""), *FindAccelerator(name));
      double seconds = 0;
      for (const HloInstruction* instruction : r.cost->instructions()) {
        seconds += r.roofline.SecondsOf(instruction);
        EXPECT_GE(r.roofline.WastedSecondsOf(instruction), 0) << path << instruction->name();
        const InstructionTime time = r.roofline.TimeOf(instruction);
        EXPECT_EQ(time.bound() == Bound::kNothing, time.seconds() == 0);
      }
      EXPECT_DOUBLE_EQ(seconds, r.roofline.seconds()) << path;
      EXPECT_LE(std::max(r.roofline.compute_seconds(), r.roofline.memory_seconds()),
                r.roofline.seconds() * (1 + 1e-12));
    }
  }
}

}  // namespace
}  // namespace kashi::insight
