// The rules of TextCheck (op_rules.def): texts that XLA's reader refuses, and texts that would end its process
// (docs/spec/hlo.md 7.1).
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/text/hlo_reader.h"

namespace kashi::hlo {

bool HloReader::CheckOperation(const Pending& pending) {
  static constexpr bool (HloReader::*kChecks[])(const Pending&) = {
      &HloReader::CheckDefault,
#define KASHI_TEXT_CHECK(name) &HloReader::Check##name,
#include "kashi/hlo/ir/op_rules.def"
  };
  return (this->*kChecks[static_cast<size_t>(GetHloOpcodeInfo(pending.opcode).text_check)])(pending);
}

bool HloReader::CheckDefault(const Pending&) { return true; }

// ---- Shapes ---------------------------------------------------------------------------------------------------------

bool HloReader::CheckReshape(const Pending& pending) {
  const Shape& operand = pending.operands[0]->shape();
  const Shape& shape = pending.shape->shape();
  if (!operand.IsArray() || !shape.IsArray()) return FatalIn(pending, "reshape needs arrays");
  if (operand.is_unbounded_dynamic()) return true;
  if (ShapeUtil::ElementsIn(shape) == ShapeUtil::ElementsIn(operand)) return true;
  return FatalIn(pending, absl::StrCat("reshape changes the number of elements: ", ShapeUtil::HumanString(shape),
                                       " of ", ShapeUtil::HumanString(operand)));
}

bool HloReader::CheckDynamicReshape(const Pending& pending) {
  const auto& operands = pending.operands;
  const Shape& shape = pending.shape->shape();
  if (operands.empty()) return ErrorIn(pending, "DynamicReshape requires at least one operand");
  if (!shape.IsArray() || !operands[0]->shape().IsArray() ||
      ShapeUtil::ElementsIn(shape) != ShapeUtil::ElementsIn(operands[0]->shape()) ||
      operands.size() != static_cast<size_t>(shape.dimensions_size()) + 1) {
    return FatalIn(pending,
                   "dynamic-reshape needs the same number of elements as its operand, and a size for each dimension");
  }
  return true;
}

// For replica-id and partition-id.
bool HloReader::CheckNumber(const Pending& pending) {
  const Shape* shape = WrittenShape(pending);
  if (shape && !(shape->IsArray() && shape->element_type() == U32 && shape->dimensions_size() == 0)) {
    return FatalIn(pending, absl::StrCat(HloOpcodeString(pending.opcode), " must have a shape of u32[], but ",
                                         ShapeUtil::HumanString(*shape), " is specified"));
  }
  return true;
}

bool HloReader::CheckCompare(const Pending& pending) {
  const Shape& operand = pending.operands[0]->shape();
  if (operand.IsArray()) return true;
  return FatalIn(pending, absl::StrCat("cannot compare ", ShapeUtil::HumanString(operand)));
}

bool HloReader::CheckCopy(const Pending& pending) {
  const Shape* shape = WrittenShape(pending);
  if (!(shape ? *shape : pending.operands[0]->shape()).IsOpaque()) return true;
  return FatalIn(pending, "cannot copy an opaque value");
}

bool HloReader::CheckGetTupleElement(const Pending& pending) {
  if (pending.has_shape) return true;
  const Shape& tuple = pending.operands[0]->shape();
  if (!tuple.IsTuple()) {
    return FatalIn(pending, absl::StrCat("expects a tuple operand, but got ", ShapeUtil::HumanString(tuple)));
  }
  const int64_t index = *pending.fields.Find<HloField::tuple_index>();
  if (index >= ShapeUtil::TupleElementCount(tuple) || index < 0) {
    return FatalIn(pending,
                   absl::StrCat("tuple index ", index, " is out of bounds of ", ShapeUtil::HumanString(tuple)));
  }
  return true;
}

bool HloReader::CheckHasTupleShape(const Pending& pending) {
  const Shape* shape = WrittenShape(pending);
  if (shape == nullptr || shape->IsTuple()) return true;
  return FatalIn(pending, absl::StrCat(HloOpcodeString(pending.opcode), " must have a tuple shape, but has ",
                                       ShapeUtil::HumanString(*shape)));
}

bool HloReader::CheckTuple(const Pending& pending) {
  if (pending.is_wrapped) return true;  // the sugar of an asynchronous tuple is not looked at
  if (!CheckHasTupleShape(pending)) return false;
  const Shape* shape = WrittenShape(pending);
  if (shape == nullptr || shape->tuple_shapes_size() == static_cast<int>(pending.operands.size())) return true;
  return ErrorIn(pending, absl::StrCat("expects ", shape->tuple_shapes_size(), " operands, but has ",
                                       pending.operands.size(), " operands"));
}

// ---- Transfers from and to a host -----------------------------------------------------------------------------------

bool HloReader::CheckRecv(const Pending& pending) {
  if (!CheckHasTupleShape(pending)) return false;
  if (!pending.shape->shape().tuple_shapes().empty()) return true;
  return FatalIn(pending, "recv must have a non-empty tuple shape");
}

bool HloReader::CheckInfeed(const Pending& pending) {
  const Shape& shape = pending.shape->shape();
  if (shape.IsTuple() && !shape.tuple_shapes().empty()) return true;
  return FatalIn(pending, "infeed must have a non-empty tuple shape");
}

bool HloReader::CheckRecvDone(const Pending& pending) {
  const Shape& operand = pending.operands[0]->shape();
  if (operand.IsTuple() && !operand.tuple_shapes().empty()) return CheckSendDone(pending);
  return FatalIn(pending, "the operand of recv-done must be a recv");
}

bool HloReader::CheckSendDone(const Pending& pending) {
  const HloInstruction* start = pending.operands[0];
  const bool is_start = start->opcode() == HloOpcode::kSend || start->opcode() == HloOpcode::kRecv;
  const int64_t* channel = pending.fields.Find<HloField::channel_id>();
  if (is_start && start->channel_id() != (channel ? std::optional<int64_t>(*channel) : std::nullopt)) {
    return ErrorIn(pending, absl::StrCat("must have the channel_id of ", start->name()));
  }
  return true;
}

// ---- Attributes and counts of operands ------------------------------------------------------------------------------

bool HloReader::CheckOneDimension(const Pending& pending) {
  const Int64List* dimensions = pending.fields.Find<HloField::dimensions>();
  if (dimensions != nullptr && dimensions->size() == 1) return true;
  return ErrorIn(pending, "expects exactly one dimension in `dimensions`");
}
bool HloReader::CheckReduceScatter(const Pending& pending) {
  return CheckOneDimension(pending) && CheckChannel(pending);
}
bool HloReader::CheckAllToAll(const Pending& pending) {
  return !pending.fields.Has(HloField::dimensions) || CheckOneDimension(pending);
}

bool HloReader::CheckPairs(const Pending& pending) {
  const size_t count = pending.operands.size();
  if ((count != 0 || pending.has_shape) && count % 2 == 0) return true;
  return ErrorIn(pending, absl::StrCat("expects an even number of operands, but has ", count));
}
bool HloReader::CheckScatter(const Pending& pending) {
  if (pending.operands.size() % 2 != 0) return true;
  return ErrorIn(pending, absl::StrCat("expects an odd number of operands, but has ", pending.operands.size()));
}

bool HloReader::CheckMap(const Pending& pending) {
  const Shape* shape = WrittenShape(pending);
  if (shape && !shape->IsArray()) return FatalIn(pending, "map must have the shape of an array");
  if (shape == nullptr && !pending.fields.Has(HloField::dimensions)) {
    return ErrorIn(pending, "cannot infer the shape of a map without dimensions");
  }
  return true;
}

bool HloReader::CheckCollectivePermute(const Pending& pending) {
  if (!pending.fields.Has(HloField::dynamic_slice_sizes_list) || pending.operands.size() == 4) return true;
  return ErrorIn(pending, "must have exactly four operands for dynamic-slice and in-place update");
}

bool HloReader::CheckTopK(const Pending& pending) {
  return *pending.fields.Find<HloField::k>() >= 0 || ErrorIn(pending, "k must not be negative");
}

bool HloReader::CheckDynamicSlice(const Pending& pending) { return CheckSlicing(pending, 1); }
bool HloReader::CheckDynamicUpdateSlice(const Pending& pending) { return CheckSlicing(pending, 2); }

bool HloReader::CheckChannel(const Pending& pending) {
  if (pending.fields.Has(HloField::use_global_device_ids) && !pending.fields.Has(HloField::channel_id)) {
    return ErrorIn(pending, "Cannot have use_global_device_ids=true without channel_id");
  }
  return true;
}

// The indices after `fixed_operands` operands: one vector, or a scalar for each dimension of operand 0.
bool HloReader::CheckSlicing(const Pending& pending, size_t fixed_operands) {
  const auto& operands = pending.operands;
  if (operands.size() < fixed_operands) {
    return ErrorIn(pending, absl::StrCat("expects at least ", fixed_operands, " operands, but has ", operands.size()));
  }
  if (operands.size() == fixed_operands + 1) {
    const Shape& index = operands.back()->shape();
    if (!index.IsArray()) return FatalIn(pending, "the indices of a slice must be arrays");
    if (index.dimensions_size() == 1) return true;
  }
  if (!operands[0]->shape().IsArray()) return FatalIn(pending, "slices need an array operand");
  const size_t count = operands.size() - fixed_operands;
  if (count != static_cast<size_t>(operands[0]->shape().dimensions_size())) {
    return ErrorIn(pending, absl::StrCat("expects an index for each of ", operands[0]->shape().dimensions_size(),
                                         " dimensions, but has ", count));
  }
  return true;
}

bool HloReader::CheckCustomCall(const Pending& pending) {
  const std::vector<Shape>* layouts = pending.fields.Find<HloField::operand_shapes_with_layout>();
  if (layouts == nullptr) return true;
  if (layouts->size() != pending.operands.size()) {
    return ErrorIn(pending, absl::StrCat("Expected ", pending.operands.size(), " operand layout constraints, ",
                                         layouts->size(), " given"));
  }
  for (size_t i = 0; i < layouts->size(); ++i) {
    const Shape& shape = pending.operands[i]->shape();
    if (ShapeUtil::Compatible((*layouts)[i], shape)) continue;
    return ErrorIn(pending,
                   absl::StrCat("Operand layout constraint shape ", ShapeUtil::HumanStringWithLayout((*layouts)[i]),
                                " for operand ", i, " is not compatible with operand shape ",
                                ShapeUtil::HumanStringWithLayout(shape)));
  }
  return true;
}

bool HloReader::CheckConditional(const Pending& pending) {
  const ComputationVector* branches = pending.fields.Find<HloField::called_computations>();
  const size_t count = branches ? branches->size() : 0;
  if (pending.operands.empty() || !ShapeUtil::IsScalar(pending.operands[0]->shape())) {
    return ErrorIn(pending, "The first operand must be a scalar");
  }
  const PrimitiveType type = pending.operands[0]->shape().element_type();
  if (type != PRED && type != S32) return ErrorIn(pending, "The first operand must be a scalar of PRED or S32");
  if (count == 0) return ErrorIn(pending, "expects branches");
  if (pending.operands.size() != count + 1) {
    return ErrorIn(pending,
                   absl::StrCat("expects an operand for each of ", count, " branches and one before them, but has ",
                                pending.operands.size(), " operands"));
  }
  return true;
}

bool HloReader::CheckScan(const Pending& pending) {
  const int64_t carries = pending.fields.Get<HloField::num_carries>(0);
  const int64_t count = static_cast<int64_t>(pending.operands.size());
  if (carries < 0 || count < carries || (count == 0 && !pending.has_shape)) {
    return ErrorIn(pending, absl::StrCat("expects at least ", carries,
                                         " operands to match the number of carries, but has ", count, " operands"));
  }
  const Int64List& dimensions = *pending.fields.Find<HloField::dimensions>();
  if (dimensions.size() != 1) return ErrorIn(pending, "expects exactly one dimension in `dimensions`");
  const HloComputation* body = pending.fields.Find<HloField::called_computations>()->front();
  if (body->num_parameters() != count) {
    return ErrorIn(pending, absl::StrCat("expects ", count,
                                         " operands to match the number of parameters of to_apply, "
                                         "but to_apply has ",
                                         body->num_parameters(), " parameters"));
  }
  return true;
}

}  // namespace kashi::hlo
