// Random loops that read and write elements of arrays: by slices, gathers and scatters, crosswise, through old and new
// values, in branches and inner loops. Compiled, evaluated, and evaluated with all values kept, so that nothing can be
// updated in place.
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/base/sanitizers_testing.h"
#include "kashi/cpu/cpu_testing.h"

namespace kashi::cpu {
namespace {

// The names that a computation has so far.
struct LoopScope {
  std::string text;
  std::vector<std::string> indices, arrays, values;
};

// Writes operations into a computation. An array is a list of rows, or of elements if a row is a scalar. Rows are read
// and written at indices that may be beyond the array.
class LoopOperationWriter {
 public:
  explicit LoopOperationWriter(uint32_t seed) : random_(seed) {
    static constexpr int kRows[] = {5, 100, 300, 20000};
    rows_ = kRows[Below(16) == 0 ? 3 : Below(3)];
    row_size_ = Below(3) == 0 ? (Below(2) == 0 ? 3 : 70) : 0;
    if (rows_ == 20000) row_size_ = 0;
    sorts_ = Below(2) == 0;
    row_ = row_size_ == 0 ? "s32[]" : absl::StrCat("s32[", row_size_, "]");
    array_ = row_size_ == 0 ? absl::StrCat("s32[", rows_, "]") : absl::StrCat("s32[", rows_, ",", row_size_, "]");
    state_ = absl::StrCat("(s32[], ", array_, ", ", array_, ", ", row_, ")");
  }

  const std::string& row() const { return row_; }
  const std::string& array() const { return array_; }
  const std::string& state() const { return state_; }
  bool has_rows() const { return row_size_ != 0; }
  bool sorts() const { return sorts_; }

  int Below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  // Chooses mostly one of the last names. By value: a caller may add a name before it uses this one.
  std::string Choose(const std::vector<std::string>& names) {
    const int count = static_cast<int>(names.size());
    return names[Below(2) == 0 ? count - 1 : Below(count)];
  }
  std::string Add(LoopScope* scope, const std::string& shape, const std::string& expression) {
    std::string name = NewName("t");
    absl::StrAppend(&scope->text, "  ", name, " = ", shape, " ", expression, "\n");
    return name;
  }
  void AddRead(LoopScope* scope) {
    const std::string array = Choose(scope->arrays);
    const int kind = Below(row_size_ == 0 ? 4 : 3);
    std::string value;
    if (kind == 0) {
      const std::string starts = Starts(scope);
      const std::string sizes = row_size_ == 0 ? "1" : absl::StrCat("1,", row_size_);
      const std::string part =
          Add(scope, PartShape(),
              absl::StrCat("dynamic-slice(", array, ", ", starts, "), dynamic_slice_sizes={", sizes, "}"));
      value = Add(scope, row_, absl::StrCat("reshape(", part, ")"));
    } else if (kind == 1) {
      const int at = Below(rows_);
      const std::string rest = row_size_ == 0 ? "" : absl::StrCat(", [0:", row_size_, "]");
      const std::string part =
          Add(scope, PartShape(), absl::StrCat("slice(", array, "), slice={[", at, ":", at + 1, "]", rest, "}"));
      value = Add(scope, row_, absl::StrCat("reshape(", part, ")"));
    } else if (kind == 2) {
      const std::string index = Add(scope, "s32[1]", absl::StrCat("reshape(", Index(scope), ")"));
      const std::string window = row_size_ == 0 ? "offset_dims={}" : "offset_dims={0}";
      const std::string sizes = row_size_ == 0 ? "1" : absl::StrCat("1,", row_size_);
      value = Add(scope, row_,
                  absl::StrCat("gather(", array, ", ", index, "), ", window,
                               ", collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=0, slice_sizes={",
                               sizes, "}"));
    } else {
      const std::string read = Add(scope, "s32[3]",
                                   absl::StrCat("gather(", array, ", ", ThreeIndices(scope),
                                                "), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, "
                                                "index_vector_dim=1, slice_sizes={1}"));
      const std::string zero = Add(scope, "s32[]", "constant(0)");
      value = Add(scope, "s32[]", absl::StrCat("reduce(", read, ", ", zero, "), dimensions={0}, to_apply=add"));
    }
    scope->values.push_back(value);
    if (row_size_ == 0 && Below(3) == 0) scope->indices.push_back(value);
  }

  void AddWrite(LoopScope* scope) {
    const std::string array = Choose(scope->arrays), value = Choose(scope->values);
    const char* combiner = Below(3) == 0 ? "add" : "set";
    const int kind = Below(row_size_ == 0 ? 3 : 2);
    if (kind == 0) {
      const std::string part = Add(scope, PartShape(), absl::StrCat("reshape(", value, ")"));
      const std::string starts = Starts(scope);
      scope->arrays.push_back(
          Add(scope, array_, absl::StrCat("dynamic-update-slice(", array, ", ", part, ", ", starts, ")")));
    } else if (kind == 1) {
      const std::string index = Add(scope, "s32[1]", absl::StrCat("reshape(", Index(scope), ")"));
      const std::string window = row_size_ == 0 ? "update_window_dims={}" : "update_window_dims={0}";
      scope->arrays.push_back(Add(
          scope, array_,
          absl::StrCat("scatter(", array, ", ", index, ", ", value, "), ", window,
                       ", inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=",
                       combiner)));
    } else {
      const std::string indices = ThreeIndices(scope);
      const std::string updates = Add(scope, "s32[3]", absl::StrCat("broadcast(", value, "), dimensions={}"));
      scope->arrays.push_back(
          Add(scope, array_,
              absl::StrCat("scatter(", array, ", ", indices, ", ", updates,
                           "), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
                           "index_vector_dim=1, to_apply=",
                           combiner)));
    }
  }

  void AddArithmetic(LoopScope* scope) {
    static constexpr const char* kOperations[] = {"add", "subtract", "maximum", "xor"};
    scope->values.push_back(
        Add(scope, row_,
            absl::StrCat(kOperations[Below(4)], "(", Choose(scope->values), ", ", Choose(scope->values), ")")));
  }

  std::string Condition(LoopScope* scope) {
    return Add(scope, "pred[]",
               absl::StrCat("compare(", Choose(scope->indices), ", ", NewIndex(scope), "), direction=LT"));
  }

  // Chooses one of two whole arrays. Often one is an update of the other.
  void AddChoiceOfArrays(LoopScope* scope) {
    const std::string before = Choose(scope->arrays);
    if (Below(2) == 0) AddWrite(scope);
    const std::string after = Choose(scope->arrays);
    const std::string wide = Add(scope, absl::StrCat("pred", array_.substr(3)),
                                 absl::StrCat("broadcast(", Condition(scope), "), dimensions={}"));
    scope->arrays.push_back(Add(scope, array_,
                                Below(2) == 0 ? absl::StrCat("select(", wide, ", ", before, ", ", after, ")")
                                              : absl::StrCat("select(", wide, ", ", after, ", ", before, ")")));
  }

  void AddAlias(LoopScope* scope) {
    static constexpr const char* kOperations[] = {"copy", "opt-barrier", "reshape"};
    scope->arrays.push_back(Add(scope, array_, absl::StrCat(kOperations[Below(3)], "(", Choose(scope->arrays), ")")));
  }

  // Both arrays and the value, from a tuple of the state's shape.
  void AddElementsOf(LoopScope* scope, const std::string& tuple) {
    for (int i = 1; i <= 3; ++i) {
      const std::string element =
          Add(scope, i == 3 ? row_ : array_, absl::StrCat("get-tuple-element(", tuple, "), index=", i));
      (i == 3 ? scope->values : scope->arrays).push_back(element);
    }
  }
  std::string TupleOf(LoopScope* scope, const std::string& index) {
    return Add(scope, state_,
               absl::StrCat("tuple(", index, ", ", Choose(scope->arrays), ", ", Choose(scope->arrays), ", ",
                            Choose(scope->values), ")"));
  }

  // The index plus one, by an operation that native loops do not have: the loop runs as thunks, or in the
  // evaluator.
  std::string NextBySort(LoopScope* scope, const std::string& next) {
    const std::string part = Add(scope, "s32[1]", absl::StrCat("reshape(", next, ")"));
    const std::string more = Add(scope, "s32[1]", absl::StrCat("add(", part, ", ", part, ")"));
    const std::string both = Add(scope, "s32[2]", absl::StrCat("concatenate(", more, ", ", part, "), dimensions={0}"));
    const std::string sorted = Add(scope, "s32[2]", absl::StrCat("sort(", both, "), dimensions={0}, to_apply=less"));
    const std::string least = Add(scope, "s32[1]", absl::StrCat("slice(", sorted, "), slice={[0:1]}"));
    return Add(scope, "s32[]", absl::StrCat("reshape(", least, ")"));
  }

  std::string NewName(const char* kind) { return absl::StrCat(kind, ++names_); }

 private:
  std::string NewIndex(LoopScope* scope) {
    const std::string c = Add(scope, "s32[]", absl::StrCat("constant(", Below(2 * rows_) - rows_ / 4, ")"));
    static constexpr const char* kOperations[] = {"add", "subtract", "multiply"};
    const std::string x =
        Add(scope, "s32[]", absl::StrCat(kOperations[Below(3)], "(", Choose(scope->indices), ", ", c, ")"));
    const std::string m = Add(scope, "s32[]", absl::StrCat("constant(", rows_ + 2, ")"));
    scope->indices.push_back(Add(scope, "s32[]", absl::StrCat("remainder(", x, ", ", m, ")")));
    return scope->indices.back();
  }
  std::string Index(LoopScope* scope) { return Below(2) == 0 ? NewIndex(scope) : Choose(scope->indices); }

  // A part of an array with one row.
  std::string PartShape() const { return row_size_ == 0 ? "s32[1]" : absl::StrCat("s32[1,", row_size_, "]"); }
  std::string Starts(LoopScope* scope) {
    const std::string start = Index(scope);
    return row_size_ == 0 ? start : absl::StrCat(start, ", ", scope->indices[0]);
  }

  std::string ThreeIndices(LoopScope* scope) {
    std::vector<std::string> parts;
    for (int i = 0; i < 3; ++i) parts.push_back(Add(scope, "s32[1]", absl::StrCat("reshape(", Index(scope), ")")));
    const std::string joined =
        Add(scope, "s32[3]", absl::StrCat("concatenate(", absl::StrJoin(parts, ", "), "), dimensions={0}"));
    return Add(scope, "s32[3,1]", absl::StrCat("reshape(", joined, ")"));
  }

  std::mt19937 random_;
  int rows_, row_size_;  // row_size_ 0: rows are scalars
  bool sorts_;           // the outer loop cannot be native
  std::string row_, array_, state_;
  int names_ = 0;
};

// Writes a program of s32 arrays from a seed.
class LoopWriter {
 public:
  explicit LoopWriter(uint32_t seed) : ops_(seed) {}

  std::string Write() {
    std::string entry =
        absl::StrCat("ENTRY e {\n  x = ", ops_.array(), " parameter(0)\n  y = ", ops_.array(), " parameter(1)\n",
                     "  v = ", ops_.row(), " parameter(2)\n  zero = s32[] constant(0)\n");
    const char* second = ops_.Below(4) == 0 ? "x" : "y";
    absl::StrAppend(&entry, "  s = ", ops_.state(), " tuple(zero, x, ", second, ", v)\n  w = ", ops_.state(),
                    " while(s), ", WriteLoop(/*count=*/6 + ops_.Below(10), /*depth=*/0), "\n");
    const std::string root = ops_.Below(3) == 0
                                 ? absl::StrCat("(", ops_.state(), ", ", ops_.array(), ") tuple(w, ", second, ")")
                                 : absl::StrCat("(", ops_.state(), ") tuple(w)");
    absl::StrAppend(&entry, "  ROOT r = ", root, "\n}\n");
    return absl::StrCat("HloModule m\nset { a = s32[] parameter(0)\n  ROOT b = s32[] parameter(1) }\n",
                        "add { a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT c = s32[] add(a, b) }\n",
                        "less { a = s32[] parameter(0)\n  b = s32[] parameter(1)\n",
                        "  ROOT c = pred[] compare(a, b), direction=LT }\n", computations_, entry);
  }

 private:
  void AddConditional(LoopScope* scope, int depth) {
    const std::string condition = ops_.Condition(scope);
    const std::string first = ops_.TupleOf(scope, ops_.Choose(scope->indices));
    const std::string second = ops_.Below(2) == 0 ? first : ops_.TupleOf(scope, ops_.Choose(scope->indices));
    const std::string on_true = WriteComputation(depth + 1, ops_.Below(3)),
                      on_false = WriteComputation(depth + 1, ops_.Below(3));
    ops_.AddElementsOf(scope,
                       ops_.Add(scope, ops_.state(),
                                absl::StrCat("conditional(", condition, ", ", first, ", ", second,
                                             "), true_computation=", on_true, ", false_computation=", on_false)));
  }

  void AddInnerLoop(LoopScope* scope, int depth) {
    const std::string zero = ops_.Add(scope, "s32[]", "constant(0)");
    const std::string begin = ops_.TupleOf(scope, zero);
    ops_.AddElementsOf(scope, ops_.Add(scope, ops_.state(),
                                       absl::StrCat("while(", begin, "), ", WriteLoop(1 + ops_.Below(4), depth + 1))));
  }

  void AddOperation(LoopScope* scope, int depth) {
    switch (ops_.Below(depth < 2 ? 12 : 10)) {
      case 0:
      case 1:
      case 2:
        return ops_.AddRead(scope);
      case 3:
      case 4:
      case 5:
        return ops_.AddWrite(scope);
      case 6:
      case 7:
        return ops_.AddArithmetic(scope);
      case 8:
        return ops_.AddChoiceOfArrays(scope);
      case 9:
        return ops_.AddAlias(scope);
      case 10:
        return AddConditional(scope, depth);
      default:
        return AddInnerLoop(scope, depth);
    }
  }

  // The last line is the root. Returns the name.
  std::string EndComputation(std::string text) {
    text.insert(text.rfind("\n  ", text.size() - 2) + 3, "ROOT ");
    const std::string name = ops_.NewName("computation");
    absl::StrAppend(&computations_, name, " {\n", text, "}\n");
    return name;
  }

  // state -> state; the index is kept, or one more. Returns the name.
  std::string WriteComputation(int depth, int operations, bool is_body = false) {
    LoopScope scope;
    const std::string state = ops_.Add(&scope, ops_.state(), "parameter(0)");
    const std::string i = ops_.Add(&scope, "s32[]", absl::StrCat("get-tuple-element(", state, "), index=0"));
    scope.indices.push_back(i);
    ops_.AddElementsOf(&scope, state);
    // The order of the elements in the state changes how often which is chosen.
    if (ops_.Below(2) == 0) std::swap(scope.arrays[0], scope.arrays[1]);
    for (int k = 0; k < operations; ++k) AddOperation(&scope, depth);
    std::string next = i;
    if (is_body) {
      next = ops_.Add(&scope, "s32[]", absl::StrCat("add(", i, ", ", ops_.Add(&scope, "s32[]", "constant(1)"), ")"));
      if (depth == 0 && ops_.sorts()) next = ops_.NextBySort(&scope, next);
    }
    std::string root = ops_.TupleOf(&scope, next);
    if (ops_.Below(4) == 0) root = ops_.Add(&scope, ops_.state(), absl::StrCat("opt-barrier(", root, ")"));
    const std::string name = EndComputation(scope.text);
    return name;
  }

  // "condition=…, body=…" of a loop that runs while the index is below `count`. Sometimes it also reads the arrays.
  std::string WriteLoop(int count, int depth) {
    const std::string body = WriteComputation(depth, 2 + ops_.Below(7), /*is_body=*/true);
    LoopScope scope;
    const std::string state = ops_.Add(&scope, ops_.state(), "parameter(0)");
    scope.indices.push_back(ops_.Add(&scope, "s32[]", absl::StrCat("get-tuple-element(", state, "), index=0")));
    ops_.AddElementsOf(&scope, state);
    const std::string most = ops_.Add(&scope, "s32[]", absl::StrCat("constant(", count, ")"));
    std::string goes_on =
        ops_.Add(&scope, "pred[]", absl::StrCat("compare(", scope.indices[0], ", ", most, "), direction=LT"));
    if (ops_.Below(4) == 0 && !ops_.has_rows()) {
      ops_.AddRead(&scope);
      const std::string large = ops_.Add(&scope, "s32[]", "constant(1000000)");
      const std::string is_small =
          ops_.Add(&scope, "pred[]", absl::StrCat("compare(", scope.values.back(), ", ", large, "), direction=LT"));
      goes_on = ops_.Add(&scope, "pred[]", absl::StrCat("and(", goes_on, ", ", is_small, ")"));
    }
    const std::string name = EndComputation(scope.text);
    return absl::StrCat("condition=", name, ", body=", body);
  }

  LoopOperationWriter ops_;
  std::string computations_;
};

// The result of an evaluation that keeps every value, so that no operation may write to its operands.
absl::StatusOr<Literal> EvaluateWithCopies(const HloModule& module, const std::vector<Literal>& arguments) {
  std::vector<Value> kept;
  EvaluationOptions options;
  options.observer = [&kept](const HloInstruction&, const Value& value) {
    kept.push_back(value);
    return absl::OkStatus();
  };
  return HloEvaluator(options).Evaluate(module, arguments);
}

void ExpectSameOnAllWays(uint32_t seed) {
  const std::string text = LoopWriter(seed).Write();
  SCOPED_TRACE(absl::StrCat("seed ", seed, "\n", text));
  const auto module = ReadVerified(text);
  ASSERT_TRUE(module.ok()) << module.status();
  const std::vector<Literal> arguments = RandomArguments(**module);
  const absl::StatusOr<Literal> expected = EvaluateWithCopies(**module, arguments);
  ASSERT_TRUE(expected.ok()) << expected.status();
  const absl::StatusOr<Literal> evaluated = HloEvaluator(EvaluationOptions()).Evaluate(**module, arguments);
  ASSERT_TRUE(evaluated.ok()) << evaluated.status();
  EXPECT_TRUE(*expected == *evaluated) << "the evaluator";
  const absl::StatusOr<Literal> compiled = RunCompiled(**module, arguments);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  EXPECT_TRUE(*expected == *compiled) << "the compiled engine";
}

TEST(RandomLoopsTest, GiveTheSameWithoutUpdatesInPlace) {
  for (uint32_t seed = 0; seed < 200; seed += base::kShare) {
    ExpectSameOnAllWays(seed);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace kashi::cpu
