// Conditions on the neighbours of an instruction, and on what calls it or is called by it.
#include "absl/algorithm/container.h"
#include "kashi/query/condition.h"

namespace kashi::query {
namespace {

// "For one" and "for all" over some instructions: start with Empty, and add one after the other.
class Quantifier {
 public:
  explicit Quantifier(bool for_all) : for_all_(for_all) {}
  bool Empty() const { return for_all_; }
  bool Add(bool so_far, bool next) const { return for_all_ ? so_far && next : so_far || next; }

 private:
  bool for_all_;
};

class HoldsForRelatedCondition : public Condition {
 public:
  HoldsForRelatedCondition(Relation relation, bool for_all, ConditionPtr condition)
      : relation_(relation), quantifier_(for_all), condition_(std::move(condition)) {}

  bool Holds(const HloInstruction& x, ConditionContext& context) const override {
    return context.AnswersOf(this, [&] { return Compute(context); })[context.NumberOf(x)];
  }
  void AddFacts(FactSet* facts) const override { condition_->AddFacts(facts); }
  void AddNames(std::vector<std::string>* names) const override { condition_->AddNames(names); }

 private:
  Answers Compute(ConditionContext& context) const {
    Answers inner(context.size());
    for (const HloComputation* computation : context.module().computations()) {
      for (const HloInstruction* x : computation->instructions()) {
        inner[context.NumberOf(*x)] = condition_->Holds(*x, context);
      }
    }
    switch (relation_) {
      case Relation::users:
      case Relation::operands:
      case Relation::any:
        return OfNeighbours(inner, context);
      case Relation::called:
        return OfCalled(inner, context);
      case Relation::callers:
        return OfCallers(inner, context);
    }
    return inner;
  }

  Answers OfNeighbours(const Answers& inner, const ConditionContext& context) const {
    Answers answers(context.size());
    for (const HloComputation* computation : context.module().computations()) {
      for (const HloInstruction* x : computation->instructions()) {
        bool holds = quantifier_.Empty();
        const auto add = [&](const HloInstruction* y) { holds = quantifier_.Add(holds, inner[context.NumberOf(*y)]); };
        if (relation_ != Relation::operands) absl::c_for_each(x->users(), add);
        if (relation_ != Relation::users) absl::c_for_each(x->operands(), add);
        answers[context.NumberOf(*x)] = holds;
      }
    }
    return answers;
  }

  // `called` of a computation: of its instructions, and of those that they call.
  Answers OfCalled(const Answers& inner, const ConditionContext& context) const {
    Answers answers(context.size());
    absl::flat_hash_map<const HloComputation*, bool> of_computation;
    for (const CallGraph::Node& node : context.facts().call_graph().nodes()) {  // callees before callers
      bool of_this = quantifier_.Empty();
      for (const HloInstruction* x : node.computation->instructions()) {
        bool holds = quantifier_.Empty();
        for (const HloComputation* callee : x->called_computations()) {
          holds = quantifier_.Add(holds, of_computation.at(callee));
        }
        answers[context.NumberOf(*x)] = holds;
        of_this = quantifier_.Add(quantifier_.Add(of_this, holds), inner[context.NumberOf(*x)]);
      }
      of_computation[node.computation] = of_this;
    }
    return answers;
  }

  Answers OfCallers(const Answers& inner, const ConditionContext& context) const {
    Answers answers(context.size());
    absl::flat_hash_map<const HloComputation*, bool> of_computation;
    const auto nodes = context.facts().call_graph().nodes();
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {  // callers before callees
      const bool of_this = of_computation.try_emplace(node->computation, quantifier_.Empty()).first->second;
      for (const HloInstruction* x : node->computation->instructions()) {
        answers[context.NumberOf(*x)] = of_this;
        const bool of_callee = quantifier_.Add(of_this, inner[context.NumberOf(*x)]);
        for (const HloComputation* callee : x->called_computations()) {
          const auto holds = of_computation.try_emplace(callee, quantifier_.Empty()).first;
          holds->second = quantifier_.Add(holds->second, of_callee);
        }
      }
    }
    return answers;
  }

  Relation relation_;
  Quantifier quantifier_;
  ConditionPtr condition_;
};

class IsInNeighbourhoodCondition : public Condition {
 public:
  IsInNeighbourhoodCondition(Neighbourhood neighbourhood, std::string name, int64_t steps)
      : neighbourhood_(neighbourhood), name_(std::move(name)), steps_(steps) {}

  bool Holds(const HloInstruction& x, ConditionContext& context) const override {
    return context.AnswersOf(this, [&] { return Compute(context); })[context.NumberOf(x)];
  }
  void AddFacts(FactSet*) const override {}
  void AddNames(std::vector<std::string>* names) const override { names->push_back(name_); }

 private:
  Answers Compute(const ConditionContext& context) const {
    std::vector<const HloInstruction*> last;
    for (const HloComputation* computation : context.module().computations()) {
      if (const HloInstruction* x = computation->GetInstructionWithName(name_)) last.push_back(x);
    }
    Answers is_near(context.size());
    if (neighbourhood_ == Neighbourhood::around) {
      for (const HloInstruction* x : last) is_near[context.NumberOf(*x)] = true;
    }
    for (int64_t step = 0; step < steps_ && !last.empty(); ++step) {
      std::vector<const HloInstruction*> next;
      const auto add = [&](const HloInstruction* x) {
        if (is_near[context.NumberOf(*x)]) return;
        is_near[context.NumberOf(*x)] = true;
        next.push_back(x);
      };
      for (const HloInstruction* x : last) {
        if (neighbourhood_ != Neighbourhood::operands_of) absl::c_for_each(x->users(), add);
        if (neighbourhood_ != Neighbourhood::users_of) absl::c_for_each(x->operands(), add);
      }
      last = std::move(next);
    }
    return is_near;
  }

  Neighbourhood neighbourhood_;
  std::string name_;
  int64_t steps_;
};

class IsOnWayCondition : public Condition {
 public:
  IsOnWayCondition(std::string from, std::string to) : from_(std::move(from)), to_(std::move(to)) {}

  bool Holds(const HloInstruction& x, ConditionContext& context) const override {
    return context.AnswersOf(this, [&] { return Compute(context); })[context.NumberOf(x)];
  }
  void AddFacts(FactSet*) const override {}
  void AddNames(std::vector<std::string>* names) const override {
    names->push_back(from_);
    names->push_back(to_);
  }

 private:
  Answers Compute(const ConditionContext& context) const {
    Answers is_on_way(context.size());
    for (const HloComputation* computation : context.module().computations()) {
      const HloInstruction* const from = computation->GetInstructionWithName(from_);
      const HloInstruction* const to = computation->GetInstructionWithName(to_);
      if (from == nullptr || to == nullptr) continue;
      for (const HloInstruction* x : ShortestWay(from, to)) is_on_way[context.NumberOf(*x)] = true;
    }
    return is_on_way;
  }

  // Breadth first, so that each instruction is first reached by a shortest way. Empty if there is none.
  static std::vector<const HloInstruction*> ShortestWay(const HloInstruction* from, const HloInstruction* to) {
    absl::flat_hash_map<const HloInstruction*, const HloInstruction*> before = {{from, nullptr}};
    std::vector<const HloInstruction*> reached = {from};
    for (size_t next = 0; next < reached.size() && !before.contains(to); ++next) {
      for (const HloInstruction* user : reached[next]->users()) {
        if (before.emplace(user, reached[next]).second) reached.push_back(user);
      }
    }
    std::vector<const HloInstruction*> way;
    if (!before.contains(to)) return way;
    for (const HloInstruction* x = to; x != nullptr; x = before.at(x)) way.push_back(x);
    return way;
  }

  std::string from_, to_;
};

}  // namespace

ConditionPtr HoldsForRelated(Relation relation, bool for_all, ConditionPtr condition) {
  return std::make_shared<HoldsForRelatedCondition>(relation, for_all, std::move(condition));
}

ConditionPtr IsOnWay(std::string from, std::string to) {
  return std::make_shared<IsOnWayCondition>(std::move(from), std::move(to));
}

ConditionPtr IsInNeighbourhood(Neighbourhood neighbourhood, std::string name, int64_t steps) {
  return std::make_shared<IsInNeighbourhoodCondition>(neighbourhood, std::move(name), steps);
}

}  // namespace kashi::query
