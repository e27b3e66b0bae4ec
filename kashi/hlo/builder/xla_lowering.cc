#include "kashi/hlo/builder/xla_lowering.h"

#include "kashi/hlo/inference/instruction_shape.h"

namespace kashi::hlo {

const Shape& Inferred() {
  static const Shape* const nil = new Shape(ShapeUtil::MakeNil());
  return *nil;
}

absl::StatusOr<std::vector<Node>> XlaLowering::Find(absl::Span<const XlaOp> ops) const {
  std::vector<Node> values;
  values.reserve(ops.size());
  for (const XlaOp op : ops) {
    KASHI_ASSIGN_OR_RETURN(values.emplace_back(), Find(op));
  }
  return values;
}

NodeOr XlaLowering::Add(absl::StatusOr<Shape> shape, HloOpcode opcode, Nodes operands, HloFieldList fields) {
  KASHI_RETURN_IF_ERROR(shape.status());
  return Add(HloInstruction::Create(opcode, *shape, operands, std::move(fields)));
}

absl::Status XlaLowering::InferShapeOf(HloInstruction* instruction) const {
  KASHI_ASSIGN_OR_RETURN(Shape shape, InferInstructionShape(*instruction));
  instruction->set_shared_shape(SharedShape(ShapeWithText(std::move(shape))));
  return absl::OkStatus();
}

NodeOr XlaLowering::AddInferred(NewInstruction instruction) {
  KASHI_RETURN_IF_ERROR(InferShapeOf(instruction.get()));
  return Add(std::move(instruction));
}

NodeOr XlaLowering::AddElement(Node tuple, int64_t index) {
  return AddInferred(HloInstruction::CreateGetTupleElement(Inferred(), tuple, index));
}

XlaOp Lower(XlaBuilder* builder, absl::Span<const XlaOp> operands,
            absl::FunctionRef<NodeOr(XlaLowering& to, Nodes operands)> lower) {
  if (!builder->first_error().ok()) return builder->ReportError(builder->first_error());
  XlaLowering to(builder);
  return builder->ReportErrorOrReturn([&]() -> absl::StatusOr<XlaOp> {
    KASHI_ASSIGN_OR_RETURN(const std::vector<Node> values, to.Find(operands));
    KASHI_ASSIGN_OR_RETURN(const Node result, lower(to, values));
    return to.OpOf(result);
  });
}

XlaOp Lower(std::initializer_list<XlaOp> operands, absl::FunctionRef<NodeOr(XlaLowering& to, Nodes operands)> lower) {
  return Lower(operands.begin()->builder(), operands, lower);
}

XlaOp LowerInferred(std::initializer_list<XlaOp> operands, absl::FunctionRef<NewInstruction(Nodes operands)> make) {
  return Lower(operands, [&](XlaLowering& to, Nodes values) { return to.AddInferred(make(values)); });
}

std::vector<XlaOp> Joined(absl::Span<const XlaOp> first, absl::Span<const XlaOp> second) {
  std::vector<XlaOp> joined(first.begin(), first.end());
  joined.insert(joined.end(), second.begin(), second.end());
  return joined;
}

}  // namespace kashi::hlo
