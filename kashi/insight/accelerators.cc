#include "kashi/insight/accelerators.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kashi::insight {
namespace {

// A row of the table, of one chip.
struct Row {
  absl::string_view name;
  AcceleratorKind kind;
  int devices;
  double f64, f32, tf32, bf16, f8, s8, s4, v32, v64, bandwidth, memory, on_chip;  // in the units of the table
  int tile;
  absl::string_view source;
};

constexpr Row kRows[] = {
#define KASHI_ACCELERATOR(name, kind, ...) {name, AcceleratorKind::k##kind, __VA_ARGS__},
#include "kashi/insight/accelerators.def"
#undef KASHI_ACCELERATOR
};

Accelerator DeviceOf(const Row& row) {
  const double tera = 1e12 / row.devices, giga = 1e9 / row.devices, mebi = 0x1p20 / row.devices;
  Accelerator device;
  device.name = std::string(row.name);
  device.kind = row.kind;
  device.tpu = ParseTpuGeneration(row.name);
  device.matrix_f64 = row.f64 * tera;
  device.matrix_f32 = row.f32 * tera;
  device.matrix_tf32 = row.tf32 * tera;
  device.matrix_bf16 = row.bf16 * tera;
  device.matrix_f8 = row.f8 * tera;
  device.matrix_s8 = row.s8 * tera;
  device.matrix_s4 = row.s4 * tera;
  device.vector_f32 = row.v32 * tera;
  device.vector_f64 = row.v64 * tera;
  device.memory_bandwidth = row.bandwidth * giga;
  device.memory_bytes = row.memory * giga;
  device.on_chip_bytes = row.on_chip * mebi;
  device.matrix_tile = row.tile;
  device.source = std::string(row.source);
  return device;
}

}  // namespace

double Accelerator::VectorRate(PrimitiveType type) const {
  const bool is_wide = type == F64 || type == C128;
  return is_wide && vector_f64 > 0 ? vector_f64 : vector_f32;
}

absl::Span<const Accelerator> Accelerators() {
  static const auto* const kAccelerators = [] {
    auto* all = new std::vector<Accelerator>();
    for (const Row& row : kRows) all->push_back(DeviceOf(row));
    return all;
  }();
  return *kAccelerators;
}

const Accelerator* FindAccelerator(absl::string_view name) {
  const absl::Span<const Accelerator> all = Accelerators();
  const auto* found =
      absl::c_find_if(all, [&](const Accelerator& each) { return absl::EqualsIgnoreCase(each.name, name); });
  return found == all.end() ? nullptr : &*found;
}

std::string AcceleratorNames() {
  return absl::StrJoin(Accelerators(), ", ",
                       [](std::string* out, const Accelerator& each) { absl::StrAppend(out, each.name); });
}

Accelerator MakeCpu(double f32_flops_per_second, double memory_bytes_per_second) {
  Accelerator cpu;
  cpu.name = "cpu";
  cpu.matrix_f32 = cpu.vector_f32 = f32_flops_per_second;
  cpu.matrix_f64 = cpu.vector_f64 = f32_flops_per_second / 2;
  cpu.memory_bandwidth = memory_bytes_per_second;
  cpu.source = "measured";
  return cpu;
}

}  // namespace kashi::insight
