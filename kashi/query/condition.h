// Conditions on instructions: what the parser of expressions (expression.cc) makes.
//
// A condition is asked for one instruction. Conditions about other instructions compute their answers for all
// instructions of the module at the first question, so that nested ones take linear time, too.
#ifndef KASHI_QUERY_CONDITION_H_
#define KASHI_QUERY_CONDITION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/query/facts.h"
#include "kashi/query/number.h"
#include "kashi/query/regular_expression.h"
#include "kashi/query/shape_pattern.h"

namespace kashi::query {

// Numbers all instructions of a module from 0 on.
class InstructionNumbers {
 public:
  explicit InstructionNumbers(const HloModule& module);

  size_t size() const { return size_; }  // numbers are less
  size_t NumberOf(const HloInstruction& instruction) const {
    return first_.at(instruction.parent()) + static_cast<size_t>(instruction.local_id());
  }

 private:
  absl::flat_hash_map<const HloComputation*, size_t> first_;
  size_t size_ = 0;
};

class Condition;
using ConditionPtr = std::shared_ptr<const Condition>;
// By number of the instruction.
using Answers = std::vector<bool>;

// The answers about one module.
class ConditionContext {
 public:
  explicit ConditionContext(const ModuleFacts& facts) : facts_(facts), numbers_(facts.module()) {}

  const ModuleFacts& facts() const { return facts_; }
  const HloModule& module() const { return facts_.module(); }
  size_t size() const { return numbers_.size(); }
  size_t NumberOf(const HloInstruction& instruction) const { return numbers_.NumberOf(instruction); }
  // What `compute` returned for this condition at the first call.
  const Answers& AnswersOf(const Condition* condition, absl::FunctionRef<Answers()> compute);

 private:
  const ModuleFacts& facts_;
  InstructionNumbers numbers_;
  absl::flat_hash_map<const Condition*, std::unique_ptr<Answers>> answers_;
};

class Condition {
 public:
  virtual ~Condition() = default;
  virtual bool Holds(const HloInstruction& instruction, ConditionContext& context) const = 0;
  // Adds the facts that it asks for.
  virtual void AddFacts(FactSet* facts) const = 0;
  // Adds the names of instructions in it that a module must have, or no instruction fits.
  virtual void AddNames(std::vector<std::string>*) const {}
};

ConditionPtr HoldsAlways();
ConditionPtr HoldAll(std::vector<ConditionPtr> conditions);  // the first ones are asked first
ConditionPtr HoldsOne(std::vector<ConditionPtr> conditions);
ConditionPtr HoldsNot(ConditionPtr condition);
ConditionPtr HasFlag(Fact fact);

// How two values must compare.
enum class Order { kEqual, kNotEqual, kLess, kAtMost, kGreater, kAtLeast };
bool Fits(Order order, int comparison);  // negative, 0, positive
ConditionPtr NumberIs(Fact fact, Order order, Number number);
ConditionPtr NumbersAre(Fact fact, Order order, Fact other);
ConditionPtr NumberIsOneOf(Fact fact, std::vector<Number> numbers);

// Texts. A fact of Names fits if one of its names does.
ConditionPtr TextIsOneOf(Fact fact, std::vector<std::string> texts);
ConditionPtr TextFits(Fact fact, RegularExpression pattern);
ConditionPtr TextsAreEqual(Fact fact, Fact other);
// With `parts`, a part of a tuple may fit.
ConditionPtr ShapeFits(std::vector<ShapePattern> patterns, bool parts);

enum class Relation {
#define KASHI_RELATION(word, ...) word,
#define KASHI_NEIGHBOURHOOD(...)
#define KASHI_WAY(...)
#include "kashi/query/relations.def"
};
ConditionPtr HoldsForRelated(Relation relation, bool for_all, ConditionPtr condition);

enum class Neighbourhood {
#define KASHI_RELATION(...)
#define KASHI_NEIGHBOURHOOD(word, ...) word,
#define KASHI_WAY(...)
#include "kashi/query/relations.def"
};
ConditionPtr IsInNeighbourhood(Neighbourhood neighbourhood, std::string name, int64_t steps);
// Whether it is on a shortest way from one instruction to another, from operands to users. None is, if the one does not
// depend on the other.
ConditionPtr IsOnWay(std::string from, std::string to);

}  // namespace kashi::query

#endif  // KASHI_QUERY_CONDITION_H_
