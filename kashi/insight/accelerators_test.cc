#include "kashi/insight/accelerators.h"

#include <set>
#include <string>

#include "gtest/gtest.h"
#include "kashi/array/tpu_tiling.h"

namespace kashi::insight {
namespace {

TEST(AcceleratorsTest, FindsRowsByName) {
  const Accelerator* h100 = FindAccelerator("H100");
  ASSERT_NE(h100, nullptr);
  EXPECT_EQ(h100->kind, AcceleratorKind::kGpu);
  EXPECT_DOUBLE_EQ(h100->matrix_bf16, 989.5e12);
  EXPECT_DOUBLE_EQ(h100->memory_bandwidth, 3.35e12);
  EXPECT_DOUBLE_EQ(h100->memory_bytes, 80e9);
  EXPECT_DOUBLE_EQ(h100->on_chip_bytes, 50 * 1024 * 1024);
  EXPECT_FALSE(h100->tpu.has_value());
  EXPECT_EQ(FindAccelerator("cpu"), nullptr);
  EXPECT_EQ(FindAccelerator(""), nullptr);
}

// The table is that of a chip; a core of a v3 and half of a TPU7x are devices.
TEST(AcceleratorsTest, RatesAreThoseOfADevice) {
  EXPECT_DOUBLE_EQ(FindAccelerator("v3")->matrix_bf16, 123e12 / 2);
  EXPECT_DOUBLE_EQ(FindAccelerator("v4")->matrix_bf16, 275e12);
  EXPECT_DOUBLE_EQ(FindAccelerator("tpu7x")->memory_bandwidth, 7380e9 / 2);
}

TEST(AcceleratorsTest, EachGenerationOfTpuIsThere) {
  for (const TpuGenerationInfo& info : TpuGenerations()) {
    const Accelerator* device = FindAccelerator(info.name);
    ASSERT_NE(device, nullptr) << info.name;
    EXPECT_EQ(device->tpu, info.generation);
    EXPECT_EQ(device->kind, AcceleratorKind::kTpu);
    EXPECT_GT(device->matrix_tile, 0);
  }
}

TEST(AcceleratorsTest, RowsMakeSense) {
  std::set<std::string> names;
  for (const Accelerator& device : Accelerators()) {
    EXPECT_TRUE(names.insert(device.name).second) << device.name;
    EXPECT_FALSE(device.source.empty());
    EXPECT_GT(device.matrix_bf16, device.vector_f32) << device.name;
    EXPECT_GE(device.matrix_bf16, device.matrix_tf32) << device.name;
    EXPECT_GE(device.vector_f32, device.vector_f64) << device.name;
    EXPECT_GT(device.memory_bandwidth, 1e11) << device.name;
    EXPECT_GT(device.memory_bytes, 8e9) << device.name;
    EXPECT_LT(device.memory_bytes, 1e12) << device.name;
    EXPECT_GT(device.on_chip_bytes, 1e6) << device.name;
    EXPECT_EQ(device.tpu.has_value(), device.kind == AcceleratorKind::kTpu) << device.name;
  }
  EXPECT_GE(names.size(), 20);
}

TEST(AcceleratorsTest, Cpu) {
  const Accelerator cpu = MakeCpu(100e9, 10e9);
  EXPECT_EQ(cpu.kind, AcceleratorKind::kCpu);
  EXPECT_DOUBLE_EQ(cpu.VectorRate(F32), 100e9);
  EXPECT_DOUBLE_EQ(cpu.VectorRate(S8), 100e9);
  EXPECT_DOUBLE_EQ(cpu.VectorRate(F64), 50e9);
  EXPECT_DOUBLE_EQ(FindAccelerator("v5e")->VectorRate(F64), FindAccelerator("v5e")->vector_f32);
}

}  // namespace
}  // namespace kashi::insight
