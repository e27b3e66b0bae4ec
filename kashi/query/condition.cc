// Conditions on the instruction itself; condition_related.cc has those on others.
#include "kashi/query/condition.h"

#include <algorithm>

#include "absl/algorithm/container.h"

namespace kashi::query {

InstructionNumbers::InstructionNumbers(const HloModule& module) {
  for (const HloComputation* computation : module.computations()) {
    first_[computation] = size_;
    size_t count = 0;
    for (const HloInstruction* x : computation->instructions()) {
      count = std::max(count, static_cast<size_t>(x->local_id()) + 1);
    }
    size_ += count;
  }
}

const Answers& ConditionContext::AnswersOf(const Condition* condition, absl::FunctionRef<Answers()> compute) {
  if (const auto found = answers_.find(condition); found != answers_.end()) return *found->second;
  auto answers = std::make_unique<Answers>(compute());  // which may ask other conditions
  return *(answers_[condition] = std::move(answers));
}

namespace {

// ---- Logic ----------------------------------------------------------------------------------------------------------

class Always : public Condition {
 public:
  bool Holds(const HloInstruction&, ConditionContext&) const override { return true; }
  void AddFacts(FactSet*) const override {}
};

class Several : public Condition {
 public:
  Several(std::vector<ConditionPtr> conditions, bool all) : conditions_(std::move(conditions)), all_(all) {}
  bool Holds(const HloInstruction& x, ConditionContext& context) const override {
    const auto holds = [&](const ConditionPtr& condition) { return condition->Holds(x, context); };
    return all_ ? absl::c_all_of(conditions_, holds) : absl::c_any_of(conditions_, holds);
  }
  void AddFacts(FactSet* facts) const override {
    for (const ConditionPtr& condition : conditions_) condition->AddFacts(facts);
  }
  void AddNames(std::vector<std::string>* names) const override {
    for (const ConditionPtr& condition : conditions_) condition->AddNames(names);
  }

 private:
  std::vector<ConditionPtr> conditions_;
  bool all_;
};

class Not : public Condition {
 public:
  explicit Not(ConditionPtr condition) : condition_(std::move(condition)) {}
  bool Holds(const HloInstruction& x, ConditionContext& context) const override {
    return !condition_->Holds(x, context);
  }
  void AddFacts(FactSet* facts) const override { condition_->AddFacts(facts); }
  void AddNames(std::vector<std::string>* names) const override { condition_->AddNames(names); }

 private:
  ConditionPtr condition_;
};

// ---- Facts ----------------------------------------------------------------------------------------------------------

// A condition that one function decides.
template <typename Function>
class OnFacts : public Condition {
 public:
  OnFacts(FactSet facts, Function function) : facts_(facts), function_(std::move(function)) {}
  bool Holds(const HloInstruction& x, ConditionContext& context) const override {
    return function_(context.facts(), x);
  }
  void AddFacts(FactSet* facts) const override { *facts |= facts_; }

 private:
  FactSet facts_;
  Function function_;
};

template <typename Function>
ConditionPtr MakeOnFacts(FactSet facts, Function function) {
  return std::make_shared<OnFacts<Function>>(facts, std::move(function));
}

// For a fact of Text, whether its text fits; for one of Names, whether one of them does.
template <typename Fits>
ConditionPtr MakeOnText(Fact fact, Fits fits) {
  if (InfoOf(fact).type == FactType::kNames) {
    return MakeOnFacts(SetOf(fact), [fact, fits](const ModuleFacts& facts, const HloInstruction& x) {
      return absl::c_any_of(facts.NamesOf(fact, x), fits);
    });
  }
  return MakeOnFacts(SetOf(fact), [fact, fits](const ModuleFacts& facts, const HloInstruction& x) {
    return fits(facts.TextOf(fact, x));
  });
}

}  // namespace

ConditionPtr HoldsAlways() { return std::make_shared<Always>(); }
ConditionPtr HoldAll(std::vector<ConditionPtr> conditions) {
  return std::make_shared<Several>(std::move(conditions), /*all=*/true);
}
ConditionPtr HoldsOne(std::vector<ConditionPtr> conditions) {
  return std::make_shared<Several>(std::move(conditions), /*all=*/false);
}
ConditionPtr HoldsNot(ConditionPtr condition) { return std::make_shared<Not>(std::move(condition)); }

ConditionPtr HasFlag(Fact fact) {
  return MakeOnFacts(SetOf(fact),
                     [fact](const ModuleFacts& facts, const HloInstruction& x) { return facts.FlagOf(fact, x); });
}

bool Fits(Order order, int comparison) {
  switch (order) {
    case Order::kEqual:
      return comparison == 0;
    case Order::kNotEqual:
      return comparison != 0;
    case Order::kLess:
      return comparison < 0;
    case Order::kAtMost:
      return comparison <= 0;
    case Order::kGreater:
      return comparison > 0;
    case Order::kAtLeast:
      return comparison >= 0;
  }
  return false;
}

ConditionPtr NumberIs(Fact fact, Order order, Number number) {
  return MakeOnFacts(SetOf(fact), [=](const ModuleFacts& facts, const HloInstruction& x) {
    return Fits(order, facts.NumberOf(fact, x).Compare(number));
  });
}
ConditionPtr NumbersAre(Fact fact, Order order, Fact other) {
  return MakeOnFacts(SetOf(fact) | SetOf(other), [=](const ModuleFacts& facts, const HloInstruction& x) {
    return Fits(order, facts.NumberOf(fact, x).Compare(facts.NumberOf(other, x)));
  });
}
ConditionPtr NumberIsOneOf(Fact fact, std::vector<Number> numbers) {
  absl::c_sort(numbers);
  return MakeOnFacts(SetOf(fact), [fact, numbers](const ModuleFacts& facts, const HloInstruction& x) {
    return absl::c_binary_search(numbers, facts.NumberOf(fact, x));
  });
}

ConditionPtr TextIsOneOf(Fact fact, std::vector<std::string> texts) {
  const absl::flat_hash_set<std::string> set(texts.begin(), texts.end());
  return MakeOnText(fact, [set](const std::string& text) { return set.contains(text); });
}
ConditionPtr TextFits(Fact fact, RegularExpression pattern) {
  return MakeOnText(fact, [pattern](const std::string& text) { return pattern.Finds(text); });
}
ConditionPtr TextsAreEqual(Fact fact, Fact other) {
  return MakeOnFacts(SetOf(fact) | SetOf(other), [=](const ModuleFacts& facts, const HloInstruction& x) {
    return facts.TextOf(fact, x) == facts.TextOf(other, x);
  });
}
ConditionPtr ShapeFits(std::vector<ShapePattern> patterns, bool parts) {
  return MakeOnFacts(SetOf(Fact::shape), [patterns, parts](const ModuleFacts&, const HloInstruction& x) {
    return absl::c_any_of(patterns, [&](const ShapePattern& pattern) {
      return parts ? pattern.MatchesPart(x.shape()) : pattern.Matches(x.shape());
    });
  });
}

}  // namespace kashi::query
