#include "kashi/analysis/in_place.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "kashi/analysis/tpu_backend_config.h"

namespace kashi::analysis {
namespace {

// A part of an instruction's result.
struct Source {
  const HloInstruction* instruction;
  ShapeIndex index;
};

// Tuples, their elements and bitcasts hand a buffer on. Chains longer than any that a compiler leaves are not followed
// to their end, so that many results at the end of one long chain stay cheap.
constexpr int kMaxSteps = 32;

// The source of the buffer; nullopt if the instructions do not fit together, or if the source is too far away.
std::optional<Source> Origin(Source source) {
  for (int step = 0; step < kMaxSteps; ++step) {
    const HloInstruction& instruction = *source.instruction;
    switch (instruction.opcode()) {
      case HloOpcode::kTuple: {
        if (source.index.empty()) return source;
        const int64_t number = source.index.front();
        if (number < 0 || number >= instruction.operand_count()) return std::nullopt;
        source.index.pop_front();
        source.instruction = instruction.operand(number);
        break;
      }
      case HloOpcode::kGetTupleElement:
        if (instruction.operand_count() != 1) return std::nullopt;
        source.index.push_front(instruction.tuple_index());
        source.instruction = instruction.operand(0);
        break;
      case HloOpcode::kBitcast:
        if (instruction.operand_count() != 1) return std::nullopt;
        source.instruction = instruction.operand(0);
        break;
      default:
        return source;
    }
  }
  return std::nullopt;
}

// Each result is operand `first + i`'s, result and operand being arrays or the elements of tuples.
void AddOneForEach(const HloInstruction& instruction, int64_t first, int64_t count, std::vector<InPlacePair>* pairs) {
  if (first + count > instruction.operand_count()) return;
  if (count == 1 && !instruction.shape().IsTuple()) {
    pairs->push_back({first, {}, {}});
    return;
  }
  for (int64_t i = 0; i < count; ++i) pairs->push_back({first + i, {}, {i}});
}

void AddStated(const HloInstruction& instruction, std::vector<InPlacePair>* pairs) {
  for (const auto& [output, operand] : instruction.output_operand_aliasing()) {
    pairs->push_back({operand.first, operand.second, output});
  }
}

// False for other shapes than arrays: the module may not be verified.
bool HasSizesOfOperand(const HloInstruction& instruction) {
  if (instruction.operand_count() < 1) return false;
  const Shape &result = instruction.shape(), &operand = instruction.operand(0)->shape();
  return result.IsArray() && operand.IsArray() && result.dimensions() == operand.dimensions();
}

void AddByOpcode(const HloInstruction& instruction, std::vector<InPlacePair>* pairs) {
  using InPlace = HloOpcodeFlags::InPlace;
  switch (GetHloOpcodeInfo(instruction.opcode()).in_place) {
    case InPlace::kDefault:
      return;
    case InPlace::kFirst:
      return AddOneForEach(instruction, 0, 1, pairs);
    case InPlace::kScatter:
      return AddOneForEach(instruction, 0, instruction.operand_count() / 2, pairs);
    case InPlace::kResize:
      if (HasSizesOfOperand(instruction)) AddOneForEach(instruction, 0, 1, pairs);
      return;
    case InPlace::kSecond:
      return AddOneForEach(instruction, 1, 1, pairs);
    case InPlace::kAll:
      return AddOneForEach(instruction, 0, instruction.operand_count(), pairs);
    case InPlace::kPermute:
      // Operands: source, destination, offsets in both.
      if (instruction.operand_count() == 4) AddOneForEach(instruction, 1, 1, pairs);
      return;
    case InPlace::kPermuteStart:
      if (instruction.operand_count() == 4) pairs->push_back({1, {}, {1}});
  }
}

// False for fusions of modules that were not verified: facts about the elements of another tuple do not apply there.
bool HaveSameArity(const Shape& result, const HloComputation& fused) {
  const Shape& root = fused.root_instruction()->shape();
  return result.IsTuple() == root.IsTuple() &&
         (!result.IsTuple() || result.tuple_shapes_size() == root.tuple_shapes_size());
}

// Without this a hostile file could have n results with n operands each.
std::vector<InPlacePair> OneForEachOutput(std::vector<InPlacePair> pairs) {
  absl::c_stable_sort(pairs,
                      [](const InPlacePair& a, const InPlacePair& b) { return a.output_index < b.output_index; });
  pairs.erase(std::unique(pairs.begin(), pairs.end(),
                          [](const InPlacePair& a, const InPlacePair& b) { return a.output_index == b.output_index; }),
              pairs.end());
  return pairs;
}

// Null if the output has none. Pre: `pairs` comes from OneForEachOutput.
const InPlacePair* PairOfOutput(const std::vector<InPlacePair>& pairs, const ShapeIndex& output) {
  const auto found = std::lower_bound(pairs.begin(), pairs.end(), output,
                                      [](const InPlacePair& a, const ShapeIndex& b) { return a.output_index < b; });
  return found != pairs.end() && found->output_index == output ? &*found : nullptr;
}

}  // namespace

InPlacePairs::InPlacePairs(const CallGraph& graph) {
  for (const CallGraph::Node& node : graph.nodes()) {  // callees first: fusions may contain fusions
    if (node.computation->IsFusionComputation()) AddFusedPairs(*node.computation);
  }
}

void InPlacePairs::AddFusedPairs(const HloComputation& fused) {
  const HloInstruction* root = fused.root_instruction();
  std::vector<InPlacePair> pairs;
  // The pairs of the instructions from which results come: many results may come from one instruction.
  absl::flat_hash_map<const HloInstruction*, std::vector<InPlacePair>> known;
  const int64_t count = root->shape().IsTuple() ? root->shape().tuple_shapes_size() : 1;
  for (int64_t i = 0; i < count; ++i) {
    const ShapeIndex output = root->shape().IsTuple() ? ShapeIndex{i} : ShapeIndex{};
    const std::optional<Source> source = Origin({root, output});
    if (!source || source->instruction->opcode() == HloOpcode::kParameter) continue;
    auto [found, is_new] = known.try_emplace(source->instruction);
    if (is_new) found->second = Of(*source->instruction);
    const InPlacePair* pair = PairOfOutput(found->second, source->index);
    if (pair == nullptr || pair->operand_number >= source->instruction->operand_count()) continue;
    const std::optional<Source> changed =
        Origin({source->instruction->operand(pair->operand_number), pair->operand_index});
    if (!changed || changed->instruction->opcode() != HloOpcode::kParameter) continue;
    pairs.push_back({changed->instruction->parameter_number(), changed->index, output});
  }
  if (!pairs.empty()) fused_pairs_.emplace(&fused, std::move(pairs));
}

std::vector<InPlacePair> InPlacePairs::Of(const HloInstruction& instruction) const {
  std::vector<InPlacePair> pairs;
  AddByOpcode(instruction, &pairs);
  AddStated(instruction, &pairs);
  if (instruction.opcode() == HloOpcode::kFusion && instruction.has_to_apply()) {
    const auto found = fused_pairs_.find(instruction.to_apply());
    if (found != fused_pairs_.end() && HaveSameArity(instruction.shape(), *instruction.to_apply())) {
      pairs.insert(pairs.end(), found->second.begin(), found->second.end());
    }
  }
  return OneForEachOutput(std::move(pairs));
}

std::vector<InPlacePair> DecidedPairs(const HloInstruction& instruction) {
  std::vector<InPlacePair> pairs;
  if (!instruction.has_backend_config()) return pairs;
  const int64_t operand_count = instruction.operand_count();
  for (const std::vector<int64_t>& numbers : AliasingOperands(instruction.raw_backend_config_string())) {
    const auto result = absl::c_find_if(numbers, [&](int64_t number) { return number >= operand_count; });
    if (result == numbers.end()) continue;
    const ShapeIndex output = instruction.shape().IsTuple() ? ShapeIndex{*result - operand_count} : ShapeIndex{};
    for (int64_t number : numbers) {
      if (number < 0 || number >= operand_count || instruction.operand(number)->shape().IsTuple()) continue;
      pairs.push_back({number, {}, output});
    }
  }
  return pairs;
}

}  // namespace kashi::analysis
