// Made-up rules for operations, and runs of a computation by values only: the reference for tests of buffer assignment.
// Operations make new values, equal for equal operands; tuples, copies, reshapes and barriers forward the values of
// their operands.
#ifndef KASHI_BUFFERS_BUFFER_REFERENCE_TESTING_H_
#define KASHI_BUFFERS_BUFFER_REFERENCE_TESTING_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "kashi/array/shape_util.h"
#include "kashi/buffers/buffer_assignment.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::buffers {

inline void AppendLeafShapes(const Shape& shape, std::vector<const Shape*>* leaves) {
  if (!shape.IsTuple()) return leaves->push_back(&shape);
  for (const Shape& element : shape.tuple_shapes()) AppendLeafShapes(element, leaves);
}
inline std::vector<int64_t> BytesOfLeaves(const Shape& shape) {
  std::vector<const Shape*> leaves;
  AppendLeafShapes(shape, &leaves);
  std::vector<int64_t> bytes;
  for (const Shape* leaf : leaves) bytes.push_back(ShapeUtil::ByteSizeOf(*leaf));
  return bytes;
}

// The rule of an operation is given by its opcode, the target of a custom call and the beginning of its name:
//
//   custom calls      "new", "elementwise", "operand", "unknown", "update 1", "copied update 1" (of operand 1),
//                     "state 0110" (which arrays it writes)
//   copy, reshape     new_…, elementwise_…, otherwise forwarded
//   while             state_…, new_…: one step
//   conditional       new_…: one step
class MadeUpRules : public MemoryRules {
 public:
  bool IsOneStep(const HloInstruction& instruction) const override {
    return absl::StartsWith(instruction.name(), "new_") || absl::StartsWith(instruction.name(), "state_");
  }

  MemoryUse UseOf(const HloInstruction& instruction) const override {
    const HloOpcode opcode = instruction.opcode();
    if (opcode == HloOpcode::kCustomCall) return UseOfCall(instruction.custom_call_target());
    if (absl::StartsWith(instruction.name(), "new_")) return MemoryUse::Kind::kNew;
    if (absl::StartsWith(instruction.name(), "state_")) return MemoryUse::State(WrittenLeaves(instruction));
    if (absl::StartsWith(instruction.name(), "elementwise_")) return MemoryUse::Kind::kElementwise;
    if (HandsOn(instruction)) return MemoryUse::Kind::kOperand;
    if (opcode == HloOpcode::kDynamicUpdateSlice) {
      return MemoryUse::Update(0, !absl::StartsWith(instruction.name(), "copied_"));
    }
    return instruction.IsElementwise() ? MemoryUse::Kind::kElementwise : MemoryUse::Kind::kNew;
  }

  // Whether the value is that of operand 0, even if a step makes it.
  static bool HandsOn(const HloInstruction& instruction) {
    const HloOpcode opcode = instruction.opcode();
    return opcode == HloOpcode::kCopy || opcode == HloOpcode::kReshape || opcode == HloOpcode::kOptimizationBarrier ||
           instruction.IsCustomCall("operand");
  }

  // The arrays of its operand that a step changes, for a custom call "state …" and for a loop.
  static std::vector<bool> WrittenLeaves(const HloInstruction& instruction) {
    std::vector<bool> written;
    if (instruction.opcode() == HloOpcode::kCustomCall) {
      for (char digit : instruction.custom_call_target().substr(6)) written.push_back(digit == '1');
      return written;
    }
    written.resize(BytesOfLeaves(instruction.shape()).size(), true);
    const HloInstruction& root = *instruction.while_body()->root_instruction();
    if (root.opcode() != HloOpcode::kTuple) return written;
    size_t leaf = 0;
    for (int64_t i = 0; i < root.operand_count(); ++i) {
      const HloInstruction& element = *root.operand(i);
      const bool is_kept = element.opcode() == HloOpcode::kGetTupleElement && element.tuple_index() == i &&
                           element.operand(0)->opcode() == HloOpcode::kParameter;
      for (size_t n = BytesOfLeaves(element.shape()).size(); n > 0; --n) written[leaf++] = !is_kept;
    }
    return written;
  }

 private:
  static MemoryUse UseOfCall(absl::string_view target) {
    if (target == "elementwise") return MemoryUse::Kind::kElementwise;
    if (target == "operand") return MemoryUse::Kind::kOperand;
    if (target == "unknown") return MemoryUse::Kind::kUnknown;
    if (absl::StartsWith(target, "update ")) return MemoryUse::Update(target.back() - '0', true);
    if (absl::StartsWith(target, "copied update ")) return MemoryUse::Update(target.back() - '0', false);
    if (!absl::StartsWith(target, "state ")) return MemoryUse::Kind::kNew;
    std::vector<bool> written;
    for (char digit : target.substr(6)) written.push_back(digit == '1');
    return MemoryUse::State(std::move(written));
  }
};

// The decisions in a run that real values would make.
struct RunMode {
  int64_t trips = 1;        // of each loop; -1: 0 to 3, each loop as it falls
  int64_t branch = 0;       // of each conditional, modulo their number; -1: as it falls
  uint64_t given_away = 0;  // the arguments that nobody else holds: bit i is that of argument i, and of i + 64 …

  bool GivesAway(int64_t argument) const { return (given_away >> (argument % 64) & 1) != 0; }
};

using LeafValues = std::vector<uint64_t>;

inline uint64_t MixValues(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 30)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// One execution of a computation by values.
class ReferenceRun {
 public:
  ReferenceRun(std::vector<LeafValues> arguments, uint64_t id, const RunMode& mode)
      : arguments_(std::move(arguments)), id_(id), mode_(mode) {}

  void SetValue(const HloInstruction& instruction, LeafValues values) { values_[&instruction] = std::move(values); }

  const LeafValues& ValueOf(const HloInstruction& instruction) {
    auto found = values_.find(&instruction);
    if (found != values_.end()) return found->second;
    LeafValues values = Evaluate(instruction);
    return values_[&instruction] = std::move(values);
  }

  int64_t Trips(const HloInstruction& loop) const {
    return mode_.trips >= 0 ? mode_.trips : static_cast<int64_t>(Mix(loop, 1) % 4);
  }
  int64_t Branch(const HloInstruction& conditional) const {
    const uint64_t branch = mode_.branch >= 0 ? static_cast<uint64_t>(mode_.branch) : Mix(conditional, 2);
    return static_cast<int64_t>(branch % conditional.called_computations().size());
  }
  // The run of a computation that the instruction calls the n-th time.
  ReferenceRun Call(const HloInstruction& caller, LeafValues argument, int64_t n) const {
    return ReferenceRun({std::move(argument)}, MixValues(Mix(caller, 3), static_cast<uint64_t>(n)), mode_);
  }

 private:
  uint64_t Mix(const HloInstruction& instruction, uint64_t what) const {
    return MixValues(MixValues(id_, static_cast<uint64_t>(instruction.unique_id())), what);
  }

  LeafValues Evaluate(const HloInstruction& instruction) {
    const HloOpcode opcode = instruction.opcode();
    if (opcode == HloOpcode::kParameter) return arguments_[instruction.parameter_number()];
    if (opcode == HloOpcode::kWhile) return EvaluateLoop(instruction);
    if (opcode == HloOpcode::kConditional) {
      const int64_t branch = Branch(instruction);
      const HloInstruction& argument = *instruction.operand(branch + 1);
      ReferenceRun run = Call(instruction, ValueOf(argument), 0);
      return run.ValueOf(*instruction.called_computations()[branch]->root_instruction());
    }
    LeafValues values;
    for (const HloInstruction* operand : instruction.operands()) {
      const LeafValues& more = ValueOf(*operand);
      values.insert(values.end(), more.begin(), more.end());
    }
    if (opcode == HloOpcode::kTuple || MadeUpRules::HandsOn(instruction)) return values;
    if (opcode == HloOpcode::kGetTupleElement) {
      const std::vector<Shape>& elements = instruction.operand(0)->shape().tuple_shapes();
      size_t begin = 0;
      for (int64_t i = 0; i < instruction.tuple_index(); ++i) begin += BytesOfLeaves(elements[i]).size();
      const size_t end = begin + BytesOfLeaves(instruction.shape()).size();
      return LeafValues(values.begin() + begin, values.begin() + end);
    }
    return EvaluateOperation(instruction, values);
  }

  static LeafValues EvaluateOperation(const HloInstruction& instruction, const LeafValues& operands) {
    uint64_t value = static_cast<uint64_t>(instruction.unique_id());
    for (uint64_t operand : operands) value = MixValues(value, operand);
    LeafValues results;
    for (size_t i = 0; i < BytesOfLeaves(instruction.shape()).size(); ++i) results.push_back(MixValues(value, i));
    if (instruction.opcode() == HloOpcode::kCustomCall &&
        absl::StartsWith(instruction.custom_call_target(), "state ")) {
      const std::vector<bool> written = MadeUpRules::WrittenLeaves(instruction);
      for (size_t i = 0; i < results.size(); ++i) results[i] = written[i] ? results[i] : operands[i];
    }
    return results;
  }

  LeafValues EvaluateLoop(const HloInstruction& loop) {
    LeafValues state = ValueOf(*loop.while_init());
    for (int64_t n = Trips(loop); n > 0; --n) {
      ReferenceRun body = Call(loop, std::move(state), 2 * (Trips(loop) - n));
      state = body.ValueOf(*loop.while_body()->root_instruction());
    }
    return state;
  }

  std::vector<LeafValues> arguments_;
  uint64_t id_;
  RunMode mode_;
  std::unordered_map<const HloInstruction*, LeafValues> values_;  // stay where they are while more are added
};

}  // namespace kashi::buffers

#endif  // KASHI_BUFFERS_BUFFER_REFERENCE_TESTING_H_
