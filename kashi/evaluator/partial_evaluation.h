// Evaluates single instructions from constants, without a run of their computation. A value may depend on parameters
// only if calls within the module make them known. Unknown parts do not matter for values that do not need them.
#ifndef KASHI_EVALUATOR_PARTIAL_EVALUATION_H_
#define KASHI_EVALUATOR_PARTIAL_EVALUATION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/array/shape_index.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/while_loop_pattern.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/literal/literal.h"
#include "kashi/values/value.h"

namespace kashi::evaluator {

class PartialEvaluation {
 public:
  using Substitutions = absl::flat_hash_map<const HloInstruction*, const LiteralBase*>;

  // The literals of `substitutions` replace the values of instructions. They and `run` must outlive this. If not
  // `goes_deep`, operands must be constants or have a substitution, otherwise FAILED_PRECONDITION.
  PartialEvaluation(EvaluationRun* run, Substitutions substitutions, bool goes_deep)
      : run_(*run), substitutions_(std::move(substitutions)), goes_deep_(goes_deep) {}

  // Unknown values are nothing (Value::is_nothing), also within tuples. Keeps evaluated values. Recurses only for
  // calls.
  absl::StatusOr<Value> Evaluate(const PartOfInstruction& root);

  static bool IsKnown(const Value& value);
  // nullopt: not known, or not one integer or PRED.
  static std::optional<int64_t> NumberIn(const Value& value);
  // init, bound and step, for CountIterations.
  static std::vector<PartOfInstruction> NumbersOf(const WhileLoopPattern& pattern) {
    return {pattern.init, pattern.direction.has_value() ? pattern.bound : pattern.init, pattern.step};
  }

 private:
  using Key = std::pair<const HloInstruction*, std::vector<int64_t>>;
  static Key KeyOf(const PartOfInstruction& part) {
    return {part.instruction, std::vector<int64_t>(part.index.begin(), part.index.end())};
  }

  // Null if the part is not evaluated yet; then `part` goes to the end of `waiting_`.
  const Value* Request(const PartOfInstruction& part);
  // These give nullopt if they had to request another part first.
  absl::StatusOr<std::optional<Value>> Try(const PartOfInstruction& part);
  std::optional<Value> TrySame(const PartOfInstruction& other);
  std::optional<Value> TryParameter(const PartOfInstruction& part);
  absl::StatusOr<std::optional<Value>> TryTuple(const HloInstruction& tuple);
  absl::StatusOr<std::optional<Value>> TryWhile(const PartOfInstruction& part);
  absl::StatusOr<std::optional<Value>> TryInduction(const HloInstruction& loop, const WhileLoopPattern& pattern);
  absl::StatusOr<std::optional<Value>> TryOperation(const PartOfInstruction& part);
  const std::vector<HloInstruction*>& CallersOf(const HloComputation* computation);

  EvaluationRun& run_;
  Substitutions substitutions_;
  bool goes_deep_;
  const HloInstruction* root_ = nullptr;
  std::map<Key, Value> values_;
  std::vector<PartOfInstruction> waiting_;
  absl::flat_hash_map<const HloComputation*, std::vector<HloInstruction*>> callers_;
};

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_PARTIAL_EVALUATION_H_
