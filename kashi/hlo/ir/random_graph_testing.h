// Random programs for property tests: modules of elementwise arithmetic, calls, control dependencies and dead code.
// Equal seeds give equal modules.
#ifndef KASHI_HLO_IR_RANDOM_GRAPH_TESTING_H_
#define KASHI_HLO_IR_RANDOM_GRAPH_TESTING_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::hlo {

inline Shape TestVector() { return ShapeUtil::MakeShape(F32, {4}); }

// f(x, y) of one operation.
inline std::unique_ptr<HloComputation> MakeBinaryComputation(absl::string_view name, HloOpcode opcode,
                                                             const Shape& shape = TestVector()) {
  HloComputation::Builder builder(name);
  HloInstruction* x = builder.AddInstruction(HloInstruction::CreateParameter(0, shape, "x"));
  HloInstruction* y = builder.AddInstruction(HloInstruction::CreateParameter(1, shape, "y"));
  builder.AddInstruction(HloInstruction::CreateBinary(shape, opcode, x, y));
  return builder.Build();
}

// A chain of unary operations on one parameter.
inline std::unique_ptr<HloComputation> MakeChain(absl::string_view name, int64_t length) {
  HloComputation::Builder builder(name);
  HloInstruction* x = builder.AddInstruction(HloInstruction::CreateParameter(0, TestVector(), "x"));
  for (int64_t i = 0; i < length; ++i) {
    x = builder.AddInstruction(HloInstruction::CreateUnary(TestVector(), HloOpcode::kNegate, x));
  }
  return builder.Build();
}

class RandomGraph {
 public:
  explicit RandomGraph(uint32_t seed) : random_(seed) {}

  std::unique_ptr<HloModule> MakeModule(int computation_count, int instruction_count) {
    auto module = std::make_unique<HloModule>("random", HloModuleConfig());
    std::vector<HloComputation*> callees;
    for (int i = 0; i + 1 < computation_count; ++i) {
      callees.push_back(
          module->AddEmbeddedComputation(MakeComputation(absl::StrCat("f", i), instruction_count, callees)));
    }
    module->AddEntryComputation(MakeComputation("main", instruction_count, callees));
    return module;
  }

  // Of two vectors; calls some of the callees.
  std::unique_ptr<HloComputation> MakeComputation(absl::string_view name, int instruction_count,
                                                  absl::Span<HloComputation* const> callees) {
    HloComputation::Builder builder(name);
    std::vector<HloInstruction*> values;
    for (int i = 0; i < 2; ++i) {
      values.push_back(builder.AddInstruction(HloInstruction::CreateParameter(i, TestVector(), absl::StrCat("p", i))));
    }
    for (int i = 0; i < instruction_count; ++i)
      values.push_back(builder.AddInstruction(MakeInstruction(values, callees)));
    // Some of the last values are dead.
    auto computation = builder.Build(values[values.size() - 1 - Below(3)]);
    for (int i = 0; i < instruction_count / 8; ++i) {
      const size_t from = Below(values.size() - 1);
      const size_t to = from + 1 + Below(values.size() - from - 1);
      KASHI_CHECK_OK(values[from]->AddControlDependencyTo(values[to]));
    }
    return computation;
  }

  size_t Below(size_t limit) { return random_() % limit; }

 private:
  std::unique_ptr<HloInstruction> MakeInstruction(const std::vector<HloInstruction*>& values,
                                                  absl::Span<HloComputation* const> callees) {
    const auto value = [&] { return values[Below(values.size())]; };
    switch (Below(callees.empty() ? 4 : 5)) {
      case 0:
        return HloInstruction::CreateUnary(TestVector(), HloOpcode::kNegate, value());
      case 1:
        return HloInstruction::CreateBinary(TestVector(), HloOpcode::kAdd, value(), value());
      case 2:
        return HloInstruction::CreateBinary(TestVector(), HloOpcode::kMultiply, value(), value());
      case 3:
        return HloInstruction::CreateIota(TestVector(), 0);
      default:
        return HloInstruction::CreateCall(TestVector(), {value(), value()}, callees[Below(callees.size())]);
    }
  }

  std::mt19937 random_;
};

// Checks what must hold in every module: operands and users link each other, once, within one computation; local ids
// and parameter numbers are positions. Returns the first error, or "".
inline std::string BrokenLink(const HloModule& module) {
  for (const HloComputation* computation : module.computations()) {
    if (computation->parent() != &module) return "parent";
    for (const HloInstruction* instruction : computation->instructions()) {
      const std::string name(instruction->name());
      if (instruction->parent() != computation) return name + ": parent";
      std::vector<const HloInstruction*> users(instruction->users().begin(), instruction->users().end());
      std::sort(users.begin(), users.end());
      if (std::unique(users.begin(), users.end()) != users.end()) return name + ": a user twice";
      for (const HloInstruction* user : users) {
        if (user->parent() != computation || !user->IsUserOf(instruction)) return name + ": a user that is none";
      }
      for (const HloInstruction* operand : instruction->operands()) {
        if (operand == nullptr || operand->parent() != computation) return name + ": operand";
        const auto& its_users = operand->users();
        if (std::count(its_users.begin(), its_users.end(), instruction) != 1) return name + ": unknown to its operand";
      }
      for (const HloInstruction* successor : instruction->control_successors()) {
        const auto& back = successor->control_predecessors();
        if (std::count(back.begin(), back.end(), instruction) != 1) return name + ": control dependency";
      }
    }
    for (int64_t i = 0; i < computation->num_parameters(); ++i) {
      if (computation->parameter_instruction(i)->parameter_number() != i) return "parameter number";
    }
  }
  const absl::Status unique = module.CheckUniqueNamesAndIdsForComputationsAndInstructions();
  return unique.ok() ? "" : std::string(unique.message());
}

}  // namespace kashi::hlo

#endif  // KASHI_HLO_IR_RANDOM_GRAPH_TESTING_H_
