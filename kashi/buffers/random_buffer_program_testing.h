// Random programs in HLO text for tests of buffer assignment, with loops, conditionals and tuples. Equal seeds give
// equal programs. The names and targets of operations are those that MadeUpRules reads (buffer_assignment_testing.h).
#ifndef KASHI_BUFFERS_RANDOM_BUFFER_PROGRAM_TESTING_H_
#define KASHI_BUFFERS_RANDOM_BUFFER_PROGRAM_TESTING_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kashi::buffers {

// HLO text that grows: types and values of random kinds.
class ProgramText {
 protected:
  explicit ProgramText(uint32_t seed) : random_(seed) {}
  struct Type {
    std::string text;
    bool is_tuple = false;
    std::vector<Type> elements = {};
  };
  struct Value {
    std::string name;
    Type type;
  };
  struct Scope {
    std::vector<std::pair<std::string, std::string>> lines;  // name, and what follows it
    std::vector<Value> values;
  };

  int64_t Below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint32_t>(n)); }
  bool Chance(int percent) { return Below(100) < percent; }

  static Type TupleOf(std::vector<Type> elements) {
    Type type{"", true, std::move(elements)};
    type.text = absl::StrCat(
        "(", absl::StrJoin(type.elements, ", ", [](std::string* out, const Type& t) { out->append(t.text); }), ")");
    return type;
  }
  Type RandomArray() {
    static constexpr const char* kTypes[] = {"f32[16]",  "f32[16]", "f32[16]", "f32[40]", "f32[1024]", "f32[1024]",
                                             "f32[4,4]", "s32[16]", "s8[16]",  "s32[]",   "f32[0]"};
    return {kTypes[Below(std::size(kTypes))]};
  }
  Type RandomType(int depth) {
    if (depth == 0 || !Chance(25)) return RandomArray();
    std::vector<Type> elements;
    for (int64_t i = Chance(95) ? 1 + Below(3) : 0; i > 0; --i) elements.push_back(RandomType(depth - 1));
    return TupleOf(std::move(elements));
  }
  Type RandomTupleOf(const Scope& scope) {
    std::vector<Type> elements;
    for (int64_t i = 1 + Below(4); i > 0; --i) elements.push_back(Chance(75) ? AnyOf(scope).type : RandomType(1));
    return TupleOf(std::move(elements));
  }

  Value Add(Scope* scope, Type type, std::string operation, std::string prefix = "") {
    std::string name = absl::StrCat(prefix, "v", next_++);
    scope->lines.emplace_back(name, absl::StrCat(type.text, " ", operation));
    scope->values.push_back({std::move(name), std::move(type)});
    return scope->values.back();
  }
  Value Call(Scope* scope, Type type, const std::vector<Value>& operands, const std::string& target) {
    return Add(scope, std::move(type),
               absl::StrCat("custom-call(", Names(operands), "), custom_call_target=\"", target, "\""));
  }
  static std::string Names(const std::vector<Value>& values) {
    return absl::StrJoin(values, ", ", [](std::string* out, const Value& v) { out->append(v.name); });
  }

  // Late values more often.
  const Value& AnyOf(const Scope& scope) {
    const int64_t n = static_cast<int64_t>(scope.values.size());
    return scope.values[Chance(50) ? Below(n) : n - 1 - Below(std::min<int64_t>(n, 4))];
  }
  Value AnyArray(Scope* scope) {
    for (int i = 0; i < 8; ++i) {
      const Value& value = AnyOf(*scope);
      if (!value.type.is_tuple) return value;
    }
    return Of(scope, RandomArray());
  }
  // A value of the type: with a chance of `old` percent one that is there, if there is one.
  Value Of(Scope* scope, const Type& type, int old = 90) {
    std::vector<const Value*> fitting;
    for (const Value& value : scope->values) {
      if (value.type.text == type.text) fitting.push_back(&value);
    }
    if (!fitting.empty() && Chance(old)) return *fitting[Below(static_cast<int64_t>(fitting.size()))];
    if (type.is_tuple) {
      std::vector<Value> elements;
      for (const Type& element : type.elements) elements.push_back(Of(scope, element, old));
      return Add(scope, type, absl::StrCat("tuple(", Names(elements), ")"));
    }
    if (Chance(40)) return Constant(scope, type);
    return Call(scope, type, Chance(60) ? std::vector<Value>{AnyOf(*scope)} : std::vector<Value>{}, "new");
  }
  Value Constant(Scope* scope, const Type& type) {
    const bool is_scalar = type.text.find("[]") != std::string::npos;
    return Add(scope, type, is_scalar ? (type.text == "pred[]" ? "constant(true)" : "constant(1)") : "constant({...})");
  }

  // The text of a computation, which ends a scope.
  std::string Finish(Scope* scope, const std::string& name, const Value& root) {
    std::string text = absl::StrCat(name, " {\n");
    for (const auto& [line, operation] : scope->lines) {
      absl::StrAppend(&text, "  ", line == root.name ? "ROOT " : "", line, " = ", operation, "\n");
    }
    return absl::StrCat(text, "}\n");
  }

  // Adds each element of a tuple with that chance, in random order.
  void Elements(Scope* scope, const Value& tuple, int chance) {
    std::vector<size_t> order(tuple.type.elements.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (size_t i = 0; i < order.size(); ++i) std::swap(order[i], order[Below(static_cast<int64_t>(order.size()))]);
    for (size_t i : order) {
      if (Chance(chance)) Element(scope, tuple, i);
    }
  }
  Value Element(Scope* scope, const Value& tuple, size_t i) {
    return Add(scope, tuple.type.elements[i], absl::StrCat("get-tuple-element(", tuple.name, "), index=", i));
  }

  Scope Computation(const Type& parameter) {
    Scope scope;
    const Value value = Add(&scope, parameter, "parameter(0)");
    if (parameter.is_tuple) Elements(&scope, value, 85);
    return scope;
  }
  std::string Add(Scope* scope, const Value& root) {
    const std::string name = absl::StrCat("call", next_++);
    computations_ += Finish(scope, name, root);
    return name;
  }

  // ---- Aliases of arguments and results.

  struct Leaf {
    std::string type;
    size_t parameter;
    std::vector<size_t> index;
  };
  static void AddLeaves(const Type& type, size_t parameter, const std::vector<size_t>& index,
                        std::vector<Leaf>* leaves) {
    if (!type.is_tuple) return leaves->push_back({type.text, parameter, index});
    for (size_t i = 0; i < type.elements.size(); ++i) {
      std::vector<size_t> longer = index;
      longer.push_back(i);
      AddLeaves(type.elements[i], parameter, longer, leaves);
    }
  }
  // In most programs, nearly all results with an argument of their type have an alias; some have one of another type.
  std::string Aliases(std::vector<Leaf> arguments, const std::vector<Leaf>& results) {
    std::vector<std::string> aliases;
    if (Chance(25)) return "";
    for (const Leaf& result : results) {
      std::vector<size_t> fitting;
      for (size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i].type == result.type || Chance(15)) fitting.push_back(i);
      }
      if (fitting.empty() || Chance(10)) continue;
      const size_t chosen = fitting[Below(static_cast<int64_t>(fitting.size()))];
      const Leaf& argument = arguments[chosen];
      aliases.push_back(absl::StrCat("{", absl::StrJoin(result.index, ","), "}: (", argument.parameter, ", {",
                                     absl::StrJoin(argument.index, ","), "}, may-alias)"));
      arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
    return aliases.empty() ? "" : absl::StrCat(", input_output_alias={ ", absl::StrJoin(aliases, ", "), " }");
  }

  std::string computations_;

 private:
  std::mt19937 random_;
  int next_ = 0;
};

// Random programs: arrays of a few sizes and types, tuples of tuples, loops and conditionals in each other.
class RandomProgram : private ProgramText {
 public:
  RandomProgram(uint32_t seed, int size) : ProgramText(seed), size_(size) {}

  std::string Text() {
    Scope entry;
    std::vector<Leaf> arguments, results;
    for (int64_t i = Below(4); i >= 0; --i) {
      const Type type = RandomType(2);
      AddLeaves(type, entry.lines.size(), {}, &arguments);
      Add(&entry, type, absl::StrCat("parameter(", entry.lines.size(), ")"));
    }
    AddOperations(&entry, size_, 0);
    const Type type = Chance(50) ? RandomTupleOf(entry) : Chance(60) ? RandomType(2) : AnyOf(entry).type;
    AddLeaves(type, 0, {}, &results);
    const std::string aliases = Aliases(std::move(arguments), results);
    const std::string text = Finish(&entry, "entry", Of(&entry, type, 70));
    return absl::StrCat("HloModule m", aliases, "\n", computations_, "ENTRY ", text);
  }

 private:
  void AddOperations(Scope* scope, int count, int depth) {
    for (int i = 0; i < count; ++i) {
      const int64_t kind = Below(100);
      if (kind < 32) {
        AddArrayOperation(scope);
      } else if (kind < 50) {
        AddCall(scope);
      } else if (kind < 60) {
        AddUpdate(scope);
      } else if (kind < 80) {
        AddTupleOperation(scope);
      } else if (depth < 3 && kind < 91) {
        AddLoop(scope, depth + 1);
      } else if (depth < 3) {
        AddConditional(scope, depth + 1);
      }
    }
  }

  void AddArrayOperation(Scope* scope) {
    const Value x = AnyArray(scope);
    const Type sixteen{"f32[16]"}, square{"f32[4,4]"};
    switch (Below(10)) {
      case 0:
        Add(scope, x.type, absl::StrCat("negate(", x.name, ")"));
        return;
      case 1:
      case 2:
        Add(scope, x.type, absl::StrCat("add(", x.name, ", ", Of(scope, x.type).name, ")"));
        return;
      case 3:
        Add(scope, x.type,
            absl::StrCat("clamp(", x.name, ", ", Of(scope, x.type).name, ", ", Of(scope, x.type).name, ")"));
        return;
      case 4: {
        const Value p =
            Add(scope, {"pred[16]"},
                absl::StrCat("compare(", Of(scope, sixteen).name, ", ", Of(scope, sixteen).name, "), direction=LT"));
        Add(scope, sixteen,
            absl::StrCat("select(", p.name, ", ", Of(scope, sixteen).name, ", ", Of(scope, sixteen).name, ")"));
        return;
      }
      case 5:
        Add(scope, {Chance(50) ? "s8[16]" : "s32[16]"}, absl::StrCat("convert(", Of(scope, sixteen).name, ")"));
        return;
      case 6: {
        const char* prefixes[] = {"", "", "new_", "elementwise_"};
        const bool is_square = Chance(50);
        Add(scope, is_square ? sixteen : square,
            absl::StrCat("reshape(", Of(scope, is_square ? square : sixteen).name, ")"), prefixes[Below(4)]);
        return;
      }
      case 7: {
        const char* prefixes[] = {"", "", "new_", "elementwise_"};
        const Value& any = Chance(80) ? x : AnyOf(*scope);
        Add(scope, any.type, absl::StrCat("copy(", any.name, ")"), any.type.is_tuple ? "" : prefixes[Below(4)]);
        return;
      }
      case 8:
        Add(scope, square, absl::StrCat("transpose(", Of(scope, square).name, "), dimensions={1,0}"));
        return;
      default:
        Constant(scope, x.type);
    }
  }

  void AddCall(Scope* scope) {
    std::vector<Value> operands;
    for (int64_t i = Below(3); i >= 0; --i) operands.push_back(AnyOf(*scope));
    const int64_t kind = Below(12);
    if (kind == 0) {
      Call(scope, {"pred[]"}, operands, "check.expect_made_up");
      scope->values.pop_back();  // nothing uses it
    } else if (kind == 1) {
      Call(scope, operands[0].type, {operands[0]}, "operand");
    } else if (kind < 4) {
      Call(scope, Chance(50) ? RandomTupleOf(*scope) : RandomArray(), operands, "new");
    } else if (kind < 8) {
      for (Value& operand : operands) operand = AnyArray(scope);
      if (Chance(50)) {
        Call(scope, operands[0].type, operands, "elementwise");
      } else {
        AddSeveralResults(scope, operands);
      }
    } else {
      Value state = AnyOf(*scope);
      if (!state.type.is_tuple) state = Of(scope, RandomTupleOf(*scope));
      AddState(scope, state);
    }
  }
  // An elementwise operation with several results, often of the types of its operands.
  void AddSeveralResults(Scope* scope, const std::vector<Value>& operands) {
    std::vector<Type> types;
    for (int64_t i = Below(4); i >= 0; --i) {
      types.push_back(Chance(75) ? operands[Below(static_cast<int64_t>(operands.size()))].type : RandomArray());
    }
    const Value results = Call(scope, TupleOf(std::move(types)), operands, "elementwise");
    Elements(scope, results, 90);
  }
  Value AddState(Scope* scope, const Value& state) {
    std::string target = "state ";
    for (int64_t i = LeafCountOf(state.type); i > 0; --i) target += Chance(60) ? "1" : "0";
    return Call(scope, state.type, {state}, target);
  }
  static int64_t LeafCountOf(const Type& type) {
    if (!type.is_tuple) return 1;
    int64_t count = 0;
    for (const Type& element : type.elements) count += LeafCountOf(element);
    return count;
  }

  void AddUpdate(Scope* scope) {
    const Value small = Of(scope, {"f32[16]"}), x = Of(scope, {Chance(50)   ? "f32[1024]"
                                                               : Chance(50) ? "f32[40]"
                                                                            : "f32[16]"});
    if (Chance(60)) {
      const Value index = Of(scope, {"s32[]"});
      Add(scope, x.type, absl::StrCat("dynamic-update-slice(", Names({x, small, index}), ")"),
          Chance(15) ? "copied_" : "");
      return;
    }
    std::vector<Value> operands = {AnyOf(*scope), AnyOf(*scope), AnyOf(*scope)};
    const int64_t updated = Below(3);
    operands[updated] = Chance(50) ? x : AnyArray(scope);
    Call(scope, operands[updated].type, operands, absl::StrCat(Chance(15) ? "copied " : "", "update ", updated));
  }

  void AddTupleOperation(Scope* scope) {
    const Value any = AnyOf(*scope);
    if (!any.type.is_tuple || any.type.elements.empty() || Chance(30)) {
      Of(scope, RandomTupleOf(*scope), 80);
    } else if (Chance(10)) {
      Add(scope, any.type, absl::StrCat("opt-barrier(", any.name, ")"));
    } else {
      Elements(scope, any, Chance(50) ? 100 : 30);
    }
  }
  void AddLoop(Scope* scope, int depth) {
    Type type = Chance(80) ? RandomTupleOf(*scope) : AnyOf(*scope).type;
    const Value init = Of(scope, type, 80);
    Scope condition = Computation(type);
    if (Chance(20)) AddOperations(&condition, 2, depth);
    const std::string condition_name = Add(&condition, Of(&condition, {"pred[]"}, 50));
    Scope body = Computation(type);
    const Value state = body.values[0];
    AddOperations(&body, 1 + static_cast<int>(Below(size_)), depth);
    const std::string body_name = Add(&body, NextState(&body, state));
    Add(scope, type, absl::StrCat("while(", init.name, "), condition=", condition_name, ", body=", body_name),
        !type.is_tuple || Chance(85) ? ""
        : Chance(80)                 ? "state_"
                                     : "new_");
    const Value loop = scope->values.back();
    if (type.is_tuple) Elements(scope, loop, 70);
  }
  Value NextState(Scope* body, const Value& state) {
    if (!state.type.is_tuple || Chance(10)) return Of(body, state.type, 80);
    std::vector<Value> elements;
    for (size_t i = 0; i < state.type.elements.size(); ++i) {
      elements.push_back(Chance(35) ? Element(body, state, i) : Of(body, state.type.elements[i], 75));
    }
    const Value next = Add(body, state.type, absl::StrCat("tuple(", Names(elements), ")"));
    if (Chance(5)) return Add(body, state.type, absl::StrCat("opt-barrier(", next.name, ")"));
    return Chance(10) ? AddState(body, next) : next;
  }

  void AddConditional(Scope* scope, int depth) {
    const int64_t count = Chance(60) ? 2 : 1 + Below(3);
    const bool is_predicate = count == 2 && Chance(50);
    std::vector<Value> operands = {Of(scope, {is_predicate ? "pred[]" : "s32[]"})};
    const Value first = AnyOf(*scope);
    const Type result = Chance(60) ? first.type : RandomTupleOf(*scope);
    std::vector<std::string> branches;
    for (int64_t i = 0; i < count; ++i) {
      operands.push_back(Chance(70) ? first : AnyOf(*scope));
      Scope branch = Computation(operands.back().type);
      AddOperations(&branch, static_cast<int>(Below(size_)), depth);
      branches.push_back(Add(&branch, Of(&branch, result, 75)));
    }
    Add(scope, result,
        absl::StrCat("conditional(", Names(operands), "), ",
                     is_predicate ? absl::StrCat("true_computation=", branches[0], ", false_computation=", branches[1])
                                  : absl::StrCat("branch_computations={", absl::StrJoin(branches, ", "), "}")),
        Chance(92) ? "" : "new_");
  }

  int size_;
};

}  // namespace kashi::buffers

#endif  // KASHI_BUFFERS_RANDOM_BUFFER_PROGRAM_TESTING_H_
