#include "kashi/value_inference/value_inference.h"

#include <algorithm>
#include <utility>

#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/value_inference/value_inference_pass.h"

namespace kashi {

using value_inference::Inference;
using value_inference::Known;
namespace {

bool IsAllFalse(const LiteralBase& preds, const Shape& shape, ShapeIndex* index) {
  if (!shape.IsTuple()) {
    const auto data = preds.data<bool>(*index);
    return std::none_of(data.begin(), data.end(), [](bool pred) { return pred; });
  }
  bool all = true;
  for (int i = 0; all && i < ShapeUtil::TupleElementCount(shape); ++i) {
    index->push_back(i);
    all = IsAllFalse(preds, shape.tuple_shapes(i), index);
    index->pop_back();
  }
  return all;
}

}  // namespace

bool OptionalLiteral::AllValid() const {
  ShapeIndex root;
  return IsAllFalse(mask_, mask_.shape(), &root);
}

absl::StatusOr<Literal> ValueInference::AnalyzeIsDynamic(XlaOp op) {
  KASHI_ASSIGN_OR_RETURN(const HloInstruction* instruction, builder_->Find(op));
  Inference inference;
  const Known known = inference.Infer(*instruction, {});
  return inference.DynamicLiteral(known, instruction->shape(), /*bounds_count=*/false);
}

absl::StatusOr<OptionalLiteral> ValueInference::AnalyzeConstant(XlaOp op, ValueInferenceMode mode) {
  KASHI_ASSIGN_OR_RETURN(const HloInstruction* instruction, builder_->Find(op));
  Inference inference;
  const Known known = inference.Infer(*instruction, {});
  KASHI_ASSIGN_OR_RETURN(Literal mask, inference.DynamicLiteral(known, instruction->shape(), mode != kValue));
  KASHI_ASSIGN_OR_RETURN(Literal value, inference.ValueLiteral(known, instruction->shape(), mode));
  return OptionalLiteral(std::move(value), std::move(mask));
}

}  // namespace kashi
