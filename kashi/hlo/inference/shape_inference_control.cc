// Calls: call, while, conditional (docs/spec/hlo-ops.md, 6).
#include <string>

#include "absl/strings/str_join.h"
#include "kashi/hlo/inference/shape_inference.h"
#include "kashi/hlo/inference/shape_inference_internal.h"

namespace kashi {
namespace {

std::string List(absl::Span<const Shape* const> shapes) {
  return absl::StrJoin(shapes, ", ",
                       [](std::string* out, const Shape* shape) { out->append(ShapeUtil::HumanString(*shape)); });
}

// The end of the errors of a while, which have a final period.
std::string WhileText(const ProgramShape& condition, const ProgramShape& body, const Shape& init) {
  return absl::StrCat("Condition: ", ShapeUtil::HumanString(condition), "; body: ", ShapeUtil::HumanString(body),
                      "; init: ", ShapeUtil::HumanString(init), ".");
}

absl::Status CheckBranch(absl::Span<const ProgramShape> computations, int64_t i, const Shape& operand) {
  const ProgramShape& computation = computations[i];
  if (computation.parameters_size() != 1) {
    return InvalidArgument("branch computation %d must take 1 argument; got %d.", i, computation.parameters_size());
  }
  if (!ShapeUtil::Compatible(computation.parameters(0), operand)) {
    return InvalidArgument(
        "branch operand %d must match the shape of the only parameter of branch computation %d: got operand: %s; "
        "computation: %s.",
        i, i, ShapeUtil::HumanString(operand), ShapeUtil::HumanString(computation));
  }
  if (!ShapeUtil::Compatible(computations[0].result(), computation.result())) {
    return InvalidArgument(
        "the result of branch 0 computation and branch %d computation must have the same shape: got branch 0 "
        "computation result: %s; branch %d computation result: %s.",
        i, ShapeUtil::HumanString(computations[0].result()), i, ShapeUtil::HumanString(computation.result()));
  }
  return absl::OkStatus();
}

// Makes each dimension of *shape dynamic that is dynamic in `other`, which is compatible with it.
void AddDynamicDimensions(const Shape& other, Shape* shape) {
  ShapeUtil::ForEachMutableSubshape(shape, [&other](Shape* subshape, const ShapeIndex& index) {
    if (!subshape->IsArray()) return;
    const Shape& other_subshape = ShapeUtil::GetSubshape(other, index);
    for (int i = 0; i < subshape->dimensions_size(); ++i) {
      if (other_subshape.is_dynamic_dimension(i)) subshape->set_dynamic_dimension(i, true);
    }
  });
}

}  // namespace

absl::StatusOr<Shape> ShapeInference::InferCallShape(absl::Span<const Shape* const> arg_shapes,
                                                     const ProgramShape& to_apply) {
  if (static_cast<int>(arg_shapes.size()) != to_apply.parameters_size()) {
    return InvalidArgument(
        "Call applied function arity must match number of arguments; got: arity: %d, arguments: %u; computation "
        "signature: %s; argument shapes: [%s].",
        to_apply.parameters_size(), arg_shapes.size(), ShapeUtil::HumanString(to_apply), List(arg_shapes));
  }
  for (int i = 0; i < to_apply.parameters_size(); ++i) {
    if (!ShapeUtil::Compatible(*arg_shapes[i], to_apply.parameters(i))) {
      return InvalidArgument("Call parameter must match argument; got parameter %d shape: %s, argument shape: %s.", i,
                             ShapeUtil::HumanString(to_apply.parameters(i)), ShapeUtil::HumanString(*arg_shapes[i]));
    }
  }
  return to_apply.result();
}

absl::StatusOr<Shape> ShapeInference::InferWhileShape(const ProgramShape& condition, const ProgramShape& body,
                                                      const Shape& init) {
  if (condition.parameters_size() != 1) {
    return InvalidArgument("Condition must take 1 arguments; got %d.", condition.parameters_size());
  }
  if (body.parameters_size() != 1) {
    return InvalidArgument("Body must take 1 arguments; got %d.", body.parameters_size());
  }
  if (!ShapeUtil::Compatible(condition.result(), ShapeUtil::MakeScalarShape(PRED))) {
    return InvalidArgument("Condition must return a boolean; got %s.", WhileText(condition, body, init));
  }
  for (const Shape* other : {&condition.parameters(0), &body.parameters(0), &init}) {
    if (!ShapeUtil::Compatible(body.result(), *other)) {
      return InvalidArgument(
          "The parameter of condition and body, the result of the body, and init must all have the same shape; got %s.",
          WhileText(condition, body, init));
    }
  }
  return init;
}

absl::StatusOr<Shape> ShapeInference::InferConditionalShape(const Shape& branch_index,
                                                            absl::Span<const ProgramShape> branch_computations,
                                                            absl::Span<const Shape> branch_operands) {
  const bool is_predicate = ShapeUtil::Compatible(branch_index, ShapeUtil::MakeScalarShape(PRED));
  if (!is_predicate && !ShapeUtil::Compatible(branch_index, ShapeUtil::MakeScalarShape(S32))) {
    return InvalidArgument("branch_index must be bool or int32_t; got %s.", ShapeUtil::HumanString(branch_index));
  }
  if (is_predicate) {
    KASHI_RET_CHECK(branch_computations.size() == 2, "a predicate chooses among 2 branches, not %d",
                    branch_computations.size());
  } else {
    KASHI_RET_CHECK(!branch_computations.empty(), "no branch to choose");
  }
  KASHI_RET_CHECK(branch_computations.size() == branch_operands.size(), "%d branches with %d operands",
                  branch_computations.size(), branch_operands.size());
  Shape result = branch_computations[0].result();
  for (size_t i = 0; i < branch_computations.size(); ++i) {
    KASHI_RETURN_IF_ERROR(CheckBranch(branch_computations, static_cast<int64_t>(i), branch_operands[i]));
    AddDynamicDimensions(branch_computations[i].result(), &result);
  }
  return result;
}

}  // namespace kashi
