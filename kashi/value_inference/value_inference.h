// ValueInference: the knowledge about each element of an operation's value while its program is being built: the value,
// its bounds, or that it is dynamic, that is, only known at run time. (XLA's interface.)
//
//   XlaBuilder b("sizes");
//   XlaOp x = Parameter(&b, 0, ParseShape("f32[<=10,3]").value(), "x");
//   XlaOp n = GetDimensionSize(x, 0);
//   XlaOp sizes = ConcatInDim(&b, {Reshape(n, {1}), ConstantR1<int32_t>(&b, {7})}, 0);
//   OptionalLiteral value = ValueInference(&b).AnalyzeConstant(sizes, ValueInferenceMode::kValue).value();
//   value.Get<int32_t>({0});   // nullopt
//   value.Get<int32_t>({1});   // 7
//   OptionalLiteral bound = ValueInference(&b).AnalyzeConstant(sizes, ValueInferenceMode::kUpperBound).value();
//   bound.Get<int32_t>({0});   // 10
//
// Parameters, random numbers, data from other devices or from outside, results of custom calls, and values that depend
// on these are dynamic. A size of a dynamic dimension is dynamic, between 0 and the dimension's bound. A custom call
// "SetBound" has a literal with upper bounds, or a tuple of upper bounds and of PRED, which is false where the bound is
// the value.
//   * Known element by element: elementwise operations; operations that only move elements, by indices that are known;
//     select by a known predicate; reductions and windows.
//   * Calls are followed. The value of a conditional is known where all branches that may run agree; of a loop's state,
//     the elements that its body does not change.
//   * Integers and PRED have bounds (kashi/evaluator/integer_forms.h), which are never too narrow. If nothing is known,
//     there are none.
//   * Other operations have a value if all their operands have one. A value that takes too much time or memory is
//     dynamic.
#ifndef KASHI_VALUE_INFERENCE_VALUE_INFERENCE_H_
#define KASHI_VALUE_INFERENCE_VALUE_INFERENCE_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/shape_index.h"
#include "kashi/base/check.h"
#include "kashi/hlo/builder/xla_builder.h"
#include "kashi/hlo/builder/xla_op.h"
#include "kashi/literal/literal.h"

namespace kashi {

// A literal whose elements may be unknown.
class OptionalLiteral {
 public:
  // `mask` has a PRED for each element of `value`: true where it is not known.
  OptionalLiteral(Literal value, Literal mask) : value_(std::move(value)), mask_(std::move(mask)) {}

  template <typename NativeT>
  std::optional<NativeT> Get(absl::Span<const int64_t> element_index, ShapeIndex shape_index = {}) const {
    if (mask_.Get<bool>(element_index, shape_index)) return std::nullopt;
    return value_.Get<NativeT>(element_index, shape_index);
  }
  bool AllValid() const;
  // The literal if all elements are known, otherwise nullopt. Valid as long as this.
  std::optional<LiteralSlice> GetValue() const {
    return AllValid() ? std::optional<LiteralSlice>(value_) : std::nullopt;
  }

 private:
  Literal value_;
  Literal mask_;
};

enum ValueInferenceMode {
  kValue = 0,
  kUpperBound,  // the greatest that the value may be
  kLowerBound,  // the least
};

class ValueInference {
 public:
  explicit ValueInference(XlaBuilder* builder) : builder_(builder) { KASHI_CHECK(builder != nullptr); }

  // A PRED for each element, true if it is dynamic. It has the shape of `op` with static dimensions. A token is one
  // dynamic element. INVALID_ARGUMENT if `op` does not belong to the builder.
  absl::StatusOr<Literal> AnalyzeIsDynamic(XlaOp op);
  // O(operations that `op` needs, times their elements).
  absl::StatusOr<OptionalLiteral> AnalyzeConstant(XlaOp op, ValueInferenceMode mode);

  XlaBuilder* builder() { return builder_; }

 private:
  XlaBuilder* const builder_;
};

}  // namespace kashi

#endif  // KASHI_VALUE_INFERENCE_VALUE_INFERENCE_H_
