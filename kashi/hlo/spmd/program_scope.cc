#include "kashi/hlo/spmd/program_scope.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_opcode.h"
#include "kashi/hlo/spmd/sdy_sharding.h"
#include "kashi/hlo/spmd/shard_grid.h"

namespace kashi {

using hlo::IsShardingCall;
using hlo::ParseSdyShardings;
using hlo::SdyMeshes;
using hlo::SdyMeshesOf;
using hlo::StatedShardings;
namespace {

constexpr std::array<absl::string_view, 9> kShardingTargets = {
    "Sharding",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "xla.sdy.FuncResultSharding",
    "xla.sdy.GlobalToLocalShape",
    "xla.sdy.LocalToGlobalShape",
    "xla.sdy.PropagationBarrier",
    "xla.sdy.ReshardBarrier",
    "xla.sdy.ShardingGroup",
};

// Evidence in the instructions of a module: the first instruction of each kind, or null.
struct Evidence {
  const HloInstruction* sharding_call = nullptr;
  const HloInstruction* device_operation = nullptr;
  const HloInstruction* sharding = nullptr;
  int64_t devices = 1;  // that shardings are over
};

// Without a channel a collective is over replicas.
bool IsDeviceOperation(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kPartitionId) return true;
  return GetHloOpcodeInfo(instruction.opcode()).Has(HloOpcodeFlags::kCollective) &&
         instruction.channel_id().has_value();
}

int64_t DevicesOf(const HloSharding& sharding) {
  int64_t devices = 1;
  for (const HloSharding& element : sharding.tuple_elements()) devices = std::max(devices, DevicesOf(element));
  if (!sharding.IsTuple() && sharding.IsTiled()) devices = sharding.tile_assignment().num_elements();
  return devices;
}

int64_t DevicesOfMeshes(const HloModule& module) {
  int64_t devices = 1;
  const absl::StatusOr<SdyMeshes> meshes = SdyMeshesOf(module);
  if (!meshes.ok()) return devices;
  for (const auto& [name, mesh] : *meshes) devices = std::max(devices, SaturatingProduct(mesh.axis_sizes()));
  return devices;
}

void Look(const HloInstruction& instruction, Evidence* evidence) {
  const auto note = [&](bool is_there, const HloInstruction** first) {
    if (is_there && *first == nullptr) *first = &instruction;
  };
  note(IsShardingCall(instruction), &evidence->sharding_call);
  note(IsDeviceOperation(instruction), &evidence->device_operation);
  const auto& attributes = instruction.frontend_attributes().map();
  note(attributes.count("xla.sdy.sharding") > 0, &evidence->sharding);
  if (!instruction.has_sharding()) return;
  note(!instruction.sharding().IsManual(), &evidence->sharding);
  evidence->devices = std::max(evidence->devices, DevicesOf(instruction.sharding()));
}

Evidence LookAt(const HloModule& module) {
  Evidence evidence;
  evidence.devices = DevicesOfMeshes(module);
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) Look(*instruction, &evidence);
  }
  return evidence;
}

// main.12_spmd, or main.12_spmd.3 where the name was taken.
bool IsNamedByPartitioner(absl::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot != absl::string_view::npos && std::all_of(name.begin() + dot + 1, name.end(), absl::ascii_isdigit)) {
    if (absl::EndsWith(name.substr(0, dot), "_spmd")) return true;
  }
  return absl::EndsWith(name, "_spmd");
}

ProgramScope::Kind KindOf(const HloModule& module, const Evidence& evidence, std::string* reason) {
  const HloComputation& entry = *module.entry_computation();
  if (evidence.sharding_call != nullptr) {
    *reason = absl::StrCat("it has a custom-call to ", evidence.sharding_call->custom_call_target(), ", ",
                           evidence.sharding_call->name());
    return ProgramScope::Kind::kGlobal;
  }
  if (module.has_schedule()) {
    *reason = "it is scheduled";
    return ProgramScope::Kind::kPerDevice;
  }
  if (IsNamedByPartitioner(entry.name())) {
    *reason = absl::StrCat("ENTRY is named ", entry.name(), ", as XLA's partitioner does");
    return ProgramScope::Kind::kPerDevice;
  }
  if (evidence.device_operation != nullptr) {
    *reason = absl::StrCat("it has ", evidence.device_operation->name(), " and no manual region");
    return ProgramScope::Kind::kPerDevice;
  }
  if (evidence.sharding != nullptr) {
    *reason = absl::StrCat(evidence.sharding->name(), " has a sharding");
    return ProgramScope::Kind::kGlobal;
  }
  *reason = "it has no shardings";
  return module.config().num_partitions() > 1 ? ProgramScope::Kind::kPerDevice : ProgramScope::Kind::kOneDevice;
}

// ---- Shardings of the result ----------------------------------------------------------------------------------------

using LeafShardings = std::vector<std::optional<HloSharding>>;

LeafShardings LeavesOf(const HloSharding& sharding, const Shape& shape) {
  LeafShardings leaves;
  const absl::StatusOr<ShapeTree<HloSharding>> tree = sharding.AsShapeTree(shape);
  if (!tree.ok()) return LeafShardings(ShapeUtil::GetLeafCount(shape));
  for (const IndexedShape& leaf : ShapeUtil::GetLeafShapes(shape)) leaves.emplace_back(tree->element(leaf.index));
  return leaves;
}

// The shardings in Shardy's attribute, of a custom call's results or of an instruction's result: one for each leaf.
std::optional<std::vector<NamedSharding>> SdyLeaves(const HloInstruction& instruction) {
  const auto& attributes = instruction.frontend_attributes().map();
  for (const char* name : {"xla.sdy.sharding", "xla.sdy.out_shardings"}) {
    const auto found = attributes.find(name);
    if (found == attributes.end()) continue;
    const absl::StatusOr<SdyMeshes> meshes = SdyMeshesOf(*instruction.GetModule());
    if (!meshes.ok()) return std::nullopt;
    absl::StatusOr<std::vector<NamedSharding>> named = ParseSdyShardings(found->second, *meshes);
    if (!named.ok() || static_cast<int64_t>(named->size()) != ShapeUtil::GetLeafCount(instruction.shape()))
      return std::nullopt;
    return *std::move(named);
  }
  return std::nullopt;
}

// The numbers in "unspecified_dims=[0,2]".
std::vector<bool> UnspecifiedDimensions(absl::string_view backend_config, int64_t rank) {
  constexpr absl::string_view kName = "unspecified_dims=[";
  const size_t begin = backend_config.find(kName);
  if (begin == absl::string_view::npos) return {};
  absl::string_view list = backend_config.substr(begin + kName.size());
  list = list.substr(0, list.find(']'));
  std::vector<bool> open(rank, false);
  for (const absl::string_view text : absl::StrSplit(list, ',', absl::SkipWhitespace())) {
    int64_t dimension = 0;
    if (absl::SimpleAtoi(text, &dimension) && dimension >= 0 && dimension < rank) open[dimension] = true;
  }
  return open;
}

LeafShardings ShardingsOf(const HloInstruction& instruction);

// The shardings of an element of a tuple, if the element is easy to see. The module may not be verified: an element
// that the tuple does not have has none.
LeafShardings ShardingsOfElement(const HloInstruction& get_tuple_element) {
  const HloInstruction& tuple = *get_tuple_element.operand(0);
  const int64_t index = get_tuple_element.tuple_index();
  const int64_t count = ShapeUtil::GetLeafCount(get_tuple_element.shape());
  const bool has_element = tuple.shape().IsTuple() && index >= 0 && index < tuple.shape().tuple_shapes_size();
  if (!has_element || tuple.opcode() == HloOpcode::kGetTupleElement || tuple.opcode() == HloOpcode::kTuple)
    return LeafShardings(count);
  int64_t begin = 0;
  for (int64_t i = 0; i < index; ++i) begin += ShapeUtil::GetLeafCount(tuple.shape().tuple_shapes(static_cast<int>(i)));
  const LeafShardings all = ShardingsOf(tuple);
  if (begin + count > static_cast<int64_t>(all.size())) return LeafShardings(count);
  return LeafShardings(all.begin() + begin, all.begin() + begin + count);
}

// Goes no deeper than a tuple of elements.
LeafShardings ShardingsOf(const HloInstruction& instruction) {
  LeafShardings stated = StatedShardings(instruction);
  const bool is_silent = std::none_of(stated.begin(), stated.end(), [](const auto& leaf) { return leaf.has_value(); });
  if (is_silent && instruction.opcode() == HloOpcode::kGetTupleElement) return ShardingsOfElement(instruction);
  return stated;
}

}  // namespace

bool hlo::IsShardingCall(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kCustomCall &&
         std::find(kShardingTargets.begin(), kShardingTargets.end(), instruction.custom_call_target()) !=
             kShardingTargets.end();
}

bool hlo::IsShardingGroup(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kCustomCall &&
         instruction.custom_call_target() == "xla.sdy.ShardingGroup" &&
         ShapeUtil::GetLeafCount(instruction.shape()) == 0;
}

std::vector<std::optional<HloSharding>> hlo::StatedShardings(const HloInstruction& instruction) {
  if (instruction.has_sharding() && !instruction.sharding().IsManual()) {
    return LeavesOf(instruction.sharding(), instruction.shape());
  }
  const std::optional<std::vector<NamedSharding>> named = SdyLeaves(instruction);
  if (!named.has_value()) return LeafShardings(ShapeUtil::GetLeafCount(instruction.shape()));
  LeafShardings leaves;
  for (const NamedSharding& sharding : *named) {
    absl::StatusOr<HloSharding> leaf = HloSharding::V3ToV2Sharding(sharding);
    leaves.push_back(leaf.ok() ? std::make_optional(*std::move(leaf)) : std::nullopt);
  }
  return leaves;
}

std::vector<std::vector<bool>> hlo::OpenDimensions(const HloInstruction& instruction) {
  std::vector<std::vector<bool>> open(ShapeUtil::GetLeafCount(instruction.shape()));
  if (const std::optional<std::vector<NamedSharding>> named = SdyLeaves(instruction)) {
    for (size_t i = 0; i < open.size(); ++i) {
      std::vector<bool> of_leaf;
      for (const auto& dimension : (*named)[i].dim_shardings()) of_leaf.push_back(!dimension.is_closed);
      if (std::count(of_leaf.begin(), of_leaf.end(), true) > 0) open[i] = std::move(of_leaf);
    }
  } else if (IsShardingCall(instruction) && instruction.shape().IsArray()) {
    open[0] = UnspecifiedDimensions(instruction.raw_backend_config_string(), instruction.shape().rank());
  }
  return open;
}

ProgramScope ProgramScopeOf(const HloModule& module) {
  ProgramScope scope;
  if (module.entry_computation() == nullptr) return scope;
  const Evidence evidence = LookAt(module);
  const int64_t in_head = module.config().num_partitions();
  const int64_t devices = in_head > 1 ? in_head : evidence.devices;
  if (devices <= 1 || devices > ShardGrid::kMaxDevices) return scope;
  scope.kind = KindOf(module, evidence, &scope.reason);
  if (in_head == 1 && !scope.is_global()) return ProgramScope();
  scope.partitions = devices;
  return scope;
}

std::vector<HloSharding> ParameterShardings(const HloModule& module) {
  std::vector<HloSharding> shardings;
  for (const HloInstruction* parameter : module.entry_computation()->parameter_instructions()) {
    const bool says = parameter->has_sharding() && !parameter->sharding().IsUnknown();
    shardings.push_back(says ? parameter->sharding()
                             : HloSharding::Single(parameter->shape(), HloSharding::Replicate()));
  }
  return shardings;
}

std::vector<std::optional<HloSharding>> ResultShardings(const HloModule& module) {
  const HloInstruction& root = *module.entry_computation()->root_instruction();
  if (root.has_sharding() || root.opcode() != HloOpcode::kTuple) return ShardingsOf(root);
  LeafShardings leaves;
  for (const HloInstruction* operand : root.operands()) {
    for (std::optional<HloSharding>& leaf : ShardingsOf(*operand)) leaves.push_back(std::move(leaf));
  }
  return leaves;
}

}  // namespace kashi
