#include "kashi/analysis/memory_target.h"

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/primitive_util.h"

namespace kashi {
namespace {

enum : int64_t { kVmemOfV4 = 3 };

struct Evidence {
  bool has_tiles = false;
  bool has_double_scalars = false;  // a tile of 256 words: two rows of a vector register at least
  bool has_vmem_of_v4 = false;
  bool has_gpu_code = false;
};

// An attribute of every module that XLA's scheduler for GPUs has seen.
constexpr absl::string_view kScheduledForGpu = "fingerprint_before_lhs";

// Every backend config of XLA's compiler for GPUs names a queue; its calls are of libraries for GPUs, or of Triton.
bool IsForGpu(const HloInstruction& instruction) {
  if (absl::StrContains(instruction.raw_backend_config_string(), "\"operation_queue_id\"")) return true;
  const std::string* target = instruction.fields().Find<HloField::custom_call_target>();
  if (target == nullptr) return false;
  for (const absl::string_view prefix :
       {"__cu", "__gpu$", "__triton", "cu_", "cublas_", "cudnn_", "cusolver_", "cusparse_"}) {
    if (absl::StartsWith(*target, prefix)) return true;
  }
  return false;
}

void Look(const Shape& array, Evidence* evidence) {
  if (!array.IsArray() || !array.has_layout()) return;
  const Layout& layout = array.layout();
  if (layout.memory_space() == kVmemOfV4) evidence->has_vmem_of_v4 = true;
  if (layout.tiles_size() == 0) return;
  evidence->has_tiles = true;
  if (array.dimensions_size() == 0 && primitive_util::BitWidth(array.element_type()) == 32 &&
      layout.tiles(0) == Tile({256})) {
    evidence->has_double_scalars = true;
  }
}

void LookAtAll(const Shape& shape, Evidence* evidence) {
  std::vector<const Shape*> rest = {&shape};
  while (!rest.empty()) {
    const Shape& next = *rest.back();
    rest.pop_back();
    if (next.IsTuple()) {
      for (const Shape& element : next.tuple_shapes()) rest.push_back(&element);
    } else {
      Look(next, evidence);
    }
  }
}

Evidence EvidenceIn(const HloModule& module) {
  Evidence evidence;
  evidence.has_gpu_code = module.frontend_attributes().map().contains(std::string(kScheduledForGpu));
  absl::flat_hash_set<const Shape*> seen;  // instructions share shapes
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (seen.insert(&instruction->shape()).second) LookAtAll(instruction->shape(), &evidence);
      evidence.has_gpu_code = evidence.has_gpu_code || IsForGpu(*instruction);
    }
  }
  return evidence;
}

}  // namespace

bool HasTiles(const HloModule& module) { return EvidenceIn(module).has_tiles; }

std::optional<MemoryTarget> ParseMemoryTarget(absl::string_view name) {
  if (name == "host" || name == "cpu") return MemoryTarget();
  if (name == "gpu") return MemoryTarget{std::nullopt, /*is_guess=*/false, /*is_gpu=*/true};
  const std::optional<TpuGeneration> generation = ParseTpuGeneration(name);
  if (!generation) return std::nullopt;
  return MemoryTarget{generation};
}

std::string MemoryTargetNames() {
  std::string names;
  for (const TpuGenerationInfo& info : TpuGenerations()) absl::StrAppend(&names, info.name, " ");
  return absl::StrCat(names, "host gpu");
}

MemoryTarget GuessMemoryTarget(const HloModule& module) {
  const Evidence evidence = EvidenceIn(module);
  if (!evidence.has_tiles) return {std::nullopt, /*is_guess=*/true, evidence.has_gpu_code};
  const TpuGeneration generation = evidence.has_double_scalars ? TpuGeneration::kV3
                                   : evidence.has_vmem_of_v4   ? TpuGeneration::kV4
                                                               : TpuGeneration::kV5e;
  return {generation, /*is_guess=*/true};
}

}  // namespace kashi
