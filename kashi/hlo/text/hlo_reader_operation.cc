#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kashi/array/shape_parser.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/inference/instruction_shape.h"
#include "kashi/hlo/inference/shape_inference.h"
#include "kashi/hlo/text/hlo_reader.h"

namespace kashi::internal {

bool HloReader::ErrorIn(const Pending& pending, std::string message) {
  return Error(pending.opcode_begin, TokenEnd(pending.opcode_begin), std::move(message));
}

bool HloReader::FatalIn(const Pending& pending, std::string message) {
  is_fatal_ = true;
  return ErrorIn(pending, std::move(message));
}

HloInstruction* HloReader::MakeInstruction(Pending* pending) {
  switch (pending->opcode) {
    case HloOpcode::kAsyncStart:
      if (!CompleteAsyncStart(pending)) return nullptr;
      break;
    case HloOpcode::kAsyncUpdate:
    case HloOpcode::kAsyncDone:
      if (!CompleteAsyncLater(pending)) return nullptr;
      break;
    default:
      if (!CompleteFields(pending)) return nullptr;
      if (!CheckOperation(*pending)) return nullptr;
      if (pending->has_shape && !RebuildShape(pending)) return nullptr;
  }
  return Add(pending);
}

HloInstruction* HloReader::Add(Pending* pending) {
  static const auto* const unknown = new SharedShape(ShapeWithText(ShapeUtil::MakeTokenShape()));
  Arena* arena = module_->arena();
  HloInstruction* instruction = scopes_.back()->computation->AddInArena(
      arena, pending->opcode, pending->has_shape ? pending->shape : *unknown, pending->operands,
      std::move(pending->fields), arena->Copy(pending->name));
  instruction->set_text_place(pending->place);
  if (pending->metadata) instruction->set_shared_metadata(std::move(pending->metadata));
  if (pending->backend_config) instruction->set_shared_backend_config(std::move(pending->backend_config));
  if (pending->extras) *instruction->mutable_extras() = std::move(*pending->extras);
  for (HloInstruction* predecessor : pending->control_predecessors) {
    if (absl::Status status = predecessor->AddControlDependencyTo(instruction); !status.ok()) {
      ErrorIn(*pending, std::string(status.message()));
      return nullptr;
    }
  }
  if (!pending->has_shape && !InferShape(*pending, instruction)) {
    // The text may go on without it.
    scopes_.back()->computation->RemoveInstruction(instruction).IgnoreError();
    return nullptr;
  }
  // One sharding for a tuple is that of each of its leaves.
  if (instruction->has_sharding() && instruction->shape().IsTuple() && !instruction->sharding().IsTuple()) {
    instruction->mutable_extras()->sharding =
        std::make_shared<const HloSharding>(instruction->sharding().NormalizeTupleSharding(instruction->shape()));
  }
  if (instruction->IsAsynchronous()) TellWrapped(instruction);
  if (instruction->opcode() == HloOpcode::kAsyncStart) async_starts_.push_back(instruction);
  return instruction;
}

// What the text says of an asynchronous operation is said of the operation that it is about, too; the last one counts.
void HloReader::TellWrapped(HloInstruction* instruction) {
  HloInstruction* wrapped = instruction->async_wrapped_instruction();
  if (instruction->has_metadata()) wrapped->set_metadata(instruction->metadata());
  if (instruction->has_backend_config()) {
    wrapped->set_raw_backend_config_string(instruction->raw_backend_config_string());
  }
  const HloInstructionExtras& extras = instruction->extras();
  if (!extras.frontend_attributes.empty()) wrapped->mutable_extras()->frontend_attributes = extras.frontend_attributes;
  if (!extras.statistics_viz.statistics().empty()) wrapped->mutable_extras()->statistics_viz = extras.statistics_viz;
}

namespace {

// The shape that XLA's reader infers. Two operations it asks about other operands than its verifier does.
absl::StatusOr<Shape> InferShapeAsReader(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kScaledDot) {
    return ShapeInference::InferDotOpShape(instruction.operand(0)->shape(), instruction.operand(2)->shape(),
                                           instruction.dot_dimension_numbers(), std::nullopt);
  }
  if (instruction.opcode() == HloOpcode::kReduceWindow) {
    return ShapeInference::InferReduceWindowShape(instruction.operand(0)->shape(), instruction.operand(1)->shape(),
                                                  instruction.window(), instruction.to_apply()->ComputeProgramShape());
  }
  return InferInstructionShape(instruction);
}

}  // namespace

bool HloReader::InferShape(const Pending& pending, HloInstruction* instruction) {
  absl::StatusOr<Shape> shape = InferShapeAsReader(*instruction);
  if (!shape.ok()) {
    return ErrorIn(pending, absl::StrCat("failed to infer shape for opcode: ", HloOpcodeString(pending.opcode),
                                         ", error: ", shape.status().message()));
  }
  if (!TakeUnwritten(pending, *shape)) return false;
  instruction->set_shared_shape(SharedShape(ShapeWithText(*std::move(shape))));
  return true;
}

// Takes a shape that the text asks for without writing it off what is left for such shapes. Only tuples can grow from line
// to line.
bool HloReader::TakeUnwritten(const Pending& pending, const Shape& shape) {
  if (!shape.IsTuple()) return true;
  size_t depth = 0;
  ShapeUtil::ForEachSubshape(shape, [&](const Shape& subshape, const ShapeIndex& index) {
    --unwritten_subshapes_;
    if (subshape.IsTuple()) depth = std::max(depth, index.size() + 1);
  });
  if (unwritten_subshapes_ < 0) {
    return ErrorIn(pending, "the shapes that the text leaves to be inferred have too many parts; write smaller ones");
  }
  if (depth > kMaxTupleDepth) return ErrorIn(pending, absl::StrCat("tuples nest more than ", kMaxTupleDepth, " deep"));
  return true;
}

// What an operation has although the text need not say it.
bool HloReader::CompleteFields(Pending* pending) {
  HloFieldList& fields = pending->fields;
  for (const HloOpcodeAttribute& entry : GetHloOpcodeInfo(pending->opcode).attributes) {
    switch (entry.attribute) {
      case HloAttribute::dimensions:
        // An all-to-all of a list of operands has no dimension.
        if (pending->opcode != HloOpcode::kAllToAll && pending->opcode != HloOpcode::kMap) {
          fields.Mutable<HloField::dimensions>();
        }
        break;
      case HloAttribute::replica_groups:
        fields.Mutable<HloField::replica_groups>();
        break;
      case HloAttribute::lhs_contracting_dims:
        fields.Mutable<HloField::dot_dimension_numbers>();
        break;
      case HloAttribute::ragged_lhs_contracting_dims:
        fields.Mutable<HloField::ragged_dot_dimension_numbers>()->mutable_dot_dimension_numbers();
        break;
      case HloAttribute::is_associative:
        if (!fields.Has(HloField::is_associative)) fields.Set<HloField::is_associative>(TRI_STATE_FALSE);
        break;
      case HloAttribute::outfeed_shape:
        if (!fields.Has(HloField::outfeed_shape)) {
          if (!TakeUnwritten(*pending, pending->operands[0]->shape())) return false;
          fields.Set<HloField::outfeed_shape>(pending->operands[0]->shape());
        }
        break;
      case HloAttribute::largest:
        if (!fields.Has(HloField::largest)) fields.Set<HloField::largest>(true);
        break;
      case HloAttribute::left_side:
        fields.Mutable<HloField::triangular_solve_options>();
        break;
      case HloAttribute::lower:
        fields.Mutable<HloField::cholesky_options>();
        break;
      default:
        break;
    }
  }
  // Of several dimensions these look at the first only; a custom call with layouts of operands calls no computations.
  switch (pending->opcode) {
    case HloOpcode::kCustomCall:
      if (fields.Has(HloField::operand_shapes_with_layout)) fields.Erase(HloField::called_computations);
      break;
    case HloOpcode::kAllGather:
    case HloOpcode::kAllGatherStart:
    case HloOpcode::kReduceScatter:
    case HloOpcode::kGetDimensionSize:
    case HloOpcode::kSetDimensionSize: {
      Int64List* dimensions = fields.Mutable<HloField::dimensions>();
      if (dimensions->size() > 1) dimensions->resize(1);
      break;
    }
    default:
      break;
  }
  // A map is over all dimensions, whatever the text says.
  if (pending->opcode == HloOpcode::kMap && pending->has_shape && pending->shape->shape().IsArray()) {
    Int64List* dimensions = fields.Mutable<HloField::dimensions>();
    dimensions->resize(pending->shape->shape().dimensions_size());
    for (int i = 0; i < dimensions->size(); ++i) (*dimensions)[i] = i;
  }
  return true;
}

// What XLA's reader refuses, and what would end its process (docs/spec/hlo.md 7.1).
bool HloReader::CheckOperation(const Pending& pending) {
  const auto& operands = pending.operands;
  const auto dimension_count = [&] {
    const Int64List* dimensions = pending.fields.Find<HloField::dimensions>();
    return dimensions ? dimensions->size() : 0;
  };
  const Shape* shape = pending.has_shape ? &pending.shape->shape() : nullptr;
  switch (pending.opcode) {
    case HloOpcode::kReshape:
      if (!operands[0]->shape().IsArray() || !shape->IsArray()) return FatalIn(pending, "reshape needs arrays");
      if (operands[0]->shape().is_unbounded_dynamic()) return true;
      if (ShapeUtil::ElementsIn(*shape) != ShapeUtil::ElementsIn(operands[0]->shape())) {
        return FatalIn(pending, absl::StrCat("reshape changes the number of elements: ", ShapeUtil::HumanString(*shape),
                                             " of ", ShapeUtil::HumanString(operands[0]->shape())));
      }
      return true;
    case HloOpcode::kDynamicReshape:
      if (operands.empty()) return ErrorIn(pending, "DynamicReshape requires at least one operand");
      if (!shape->IsArray() || !operands[0]->shape().IsArray() ||
          ShapeUtil::ElementsIn(*shape) != ShapeUtil::ElementsIn(operands[0]->shape()) ||
          operands.size() != static_cast<size_t>(shape->dimensions_size()) + 1) {
        return FatalIn(pending, "dynamic-reshape needs as many elements as its operand, and a size for each dimension");
      }
      return true;
    case HloOpcode::kReplicaId:
    case HloOpcode::kPartitionId:
      if (shape && !(shape->IsArray() && shape->element_type() == U32 && shape->dimensions_size() == 0)) {
        return FatalIn(pending, absl::StrCat(HloOpcodeString(pending.opcode), " must have a shape of u32[], but ",
                                             ShapeUtil::HumanString(*shape), " is specified"));
      }
      return true;
    case HloOpcode::kCompare:
      if (!operands[0]->shape().IsArray()) {
        return FatalIn(pending, absl::StrCat("cannot compare ", ShapeUtil::HumanString(operands[0]->shape())));
      }
      return true;
    case HloOpcode::kCopy:
      if ((shape ? *shape : operands[0]->shape()).IsOpaque()) return FatalIn(pending, "cannot copy an opaque value");
      return true;
    case HloOpcode::kGetTupleElement: {
      if (shape != nullptr) return true;
      const Shape& tuple = operands[0]->shape();
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
    case HloOpcode::kTuple:
    case HloOpcode::kRecv:
      // The sugar of an asynchronous tuple is not looked at.
      if (pending.is_wrapped && pending.opcode == HloOpcode::kTuple) return true;
      if (shape && !shape->IsTuple()) {
        return FatalIn(pending, absl::StrCat(HloOpcodeString(pending.opcode), " must have a tuple shape, but has ",
                                             ShapeUtil::HumanString(*shape)));
      }
      if (pending.opcode == HloOpcode::kRecv && shape->tuple_shapes().empty()) {
        return FatalIn(pending, "recv must have a non-empty tuple shape");
      }
      if (pending.opcode == HloOpcode::kTuple && shape &&
          shape->tuple_shapes_size() != static_cast<int>(operands.size())) {
        return ErrorIn(pending, absl::StrCat("expects ", shape->tuple_shapes_size(), " operands, but has ",
                                             operands.size(), " operands"));
      }
      return true;
    case HloOpcode::kInfeed:
      if (!shape->IsTuple() || shape->tuple_shapes().empty()) {
        return FatalIn(pending, "infeed must have a non-empty tuple shape");
      }
      return true;
    case HloOpcode::kRecvDone:
      if (!operands[0]->shape().IsTuple() || operands[0]->shape().tuple_shapes().empty()) {
        return FatalIn(pending, "the operand of recv-done must be a recv");
      }
      [[fallthrough]];
    case HloOpcode::kSendDone: {
      const HloInstruction* start = operands[0];
      const bool is_start = start->opcode() == HloOpcode::kSend || start->opcode() == HloOpcode::kRecv;
      const int64_t* channel = pending.fields.Find<HloField::channel_id>();
      if (is_start && start->channel_id() != (channel ? std::optional<int64_t>(*channel) : std::nullopt)) {
        return ErrorIn(pending, absl::StrCat("must have the channel_id of ", start->name()));
      }
      return true;
    }
    case HloOpcode::kDynamicSlice:
      return CheckSlicing(pending, 1);
    case HloOpcode::kDynamicUpdateSlice:
      return CheckSlicing(pending, 2);
    case HloOpcode::kGetDimensionSize:
    case HloOpcode::kSetDimensionSize:
    case HloOpcode::kConcatenate:
    case HloOpcode::kSort:
    case HloOpcode::kReduceScatter:
    case HloOpcode::kAllGather:
    case HloOpcode::kAllGatherStart:
      if (dimension_count() != 1) return ErrorIn(pending, "expects exactly one dimension in `dimensions`");
      return pending.opcode != HloOpcode::kReduceScatter || CheckChannel(pending);
    case HloOpcode::kAllToAll:
      if (pending.fields.Has(HloField::dimensions) && dimension_count() != 1) {
        return ErrorIn(pending, "expects exactly one dimension in `dimensions`");
      }
      return true;
    case HloOpcode::kAllReduce:
    case HloOpcode::kAllReduceStart:
      return CheckChannel(pending);
    case HloOpcode::kReduce:
    case HloOpcode::kReduceWindow:
      if ((operands.empty() && shape == nullptr) || operands.size() % 2 != 0) {
        return ErrorIn(pending, absl::StrCat("expects an even number of operands, but has ", operands.size()));
      }
      return true;
    case HloOpcode::kScatter:
      if (operands.size() % 2 == 0) {
        return ErrorIn(pending, absl::StrCat("expects an odd number of operands, but has ", operands.size()));
      }
      return true;
    case HloOpcode::kMap:
      if (shape && !shape->IsArray()) return FatalIn(pending, "map must have the shape of an array");
      if (shape == nullptr && !pending.fields.Has(HloField::dimensions)) {
        return ErrorIn(pending, "cannot infer the shape of a map without dimensions");
      }
      return true;
    case HloOpcode::kConditional:
      return CheckConditional(pending);
    case HloOpcode::kCustomCall:
      return CheckCustomCall(pending);
    case HloOpcode::kCollectivePermute:
    case HloOpcode::kCollectivePermuteStart:
      if (pending.fields.Has(HloField::dynamic_slice_sizes_list) && operands.size() != 4) {
        return ErrorIn(pending, "must have exactly four operands for dynamic-slice and in-place update");
      }
      return true;
    case HloOpcode::kScan:
      return CheckScan(pending);
    case HloOpcode::kTopK:
      if (*pending.fields.Find<HloField::k>() < 0) return ErrorIn(pending, "k must not be negative");
      return true;
    default:
      return true;
  }
}

bool HloReader::CheckChannel(const Pending& pending) {
  if (pending.fields.Has(HloField::use_global_device_ids) && !pending.fields.Has(HloField::channel_id)) {
    return ErrorIn(pending, "Cannot have use_global_device_ids=true without channel_id");
  }
  return true;
}

// Behind `fixed_operands` operands the indices: one vector, or a scalar for each dimension of operand 0.
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
    return ErrorIn(pending, absl::StrCat("expects an operand for each of ", count,
                                         " branches and one in front, but has ", pending.operands.size(), " operands"));
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

// Results that XLA makes of the operands whatever the text says.
bool HloReader::RebuildShape(Pending* pending) {
  const auto& operands = pending->operands;
  const Shape token = ShapeUtil::MakeTokenShape();
  Shape result;
  switch (pending->opcode) {
    case HloOpcode::kAfterAll:
    case HloOpcode::kOutfeed:
    case HloOpcode::kSendDone:
      result = token;
      break;
    case HloOpcode::kAddDependency: {
      const Shape& operand = operands[0]->shape();
      if (pending->shape->shape() != operand && !TakeUnwritten(*pending, operand)) return false;
      pending->shape = operands[0]->shared_shape();
      return true;
    }
    case HloOpcode::kSend:
      result = ShapeUtil::MakeTupleShape({operands[0]->shape(), ShapeUtil::MakeShape(U32, {}), token});
      break;
    case HloOpcode::kRecv:
      result =
          ShapeUtil::MakeTupleShape({pending->shape->shape().tuple_shapes(0), ShapeUtil::MakeShape(U32, {}), token});
      break;
    case HloOpcode::kRecvDone:
      result = ShapeUtil::MakeTupleShape({operands[0]->shape().tuple_shapes(0), token});
      break;
    case HloOpcode::kInfeed:
      result = ShapeUtil::MakeTupleShape({pending->shape->shape().tuple_shapes(0), token});
      break;
    default:
      return true;
  }
  if (pending->shape->shape() == result) return true;
  if (!TakeUnwritten(*pending, result)) return false;
  pending->shape = SharedShape(ShapeWithText(std::move(result)));
  return true;
}

// ---- Asynchronous operations (docs/spec/hlo.md 1.6) ------------------------------------------------------------------

bool HloReader::CompleteAsyncStart(Pending* pending) {
  const Shape& shape = pending->shape->shape();
  if (!shape.IsTuple() || shape.tuple_shapes_size() < 2 || !shape.tuple_shapes(0).IsTuple()) {
    return ErrorIn(*pending, "async-start must have the shape ((operands), result, contexts…)");
  }
  HloComputation* wrapped = nullptr;
  if (pending->wrapped_opcode.has_value()) {
    wrapped = WrapAsync(pending);
    if (wrapped == nullptr) return false;
    pending->fields.Set<HloField::called_computations>(ComputationVector{wrapped});
  } else {
    wrapped = pending->fields.Find<HloField::called_computations>()->front();
  }
  if (wrapped->IsAsyncComputation()) {
    return ErrorIn(*pending, absl::StrCat("Computation ", wrapped->name(), " is called by more than one async op"));
  }
  // All that it calls runs there, too: SettleThreads.
  wrapped->SetExecutionThread(pending->fields.Get<HloField::async_execution_thread>(std::string(kMainExecutionThread)));
  return true;
}

namespace {
bool TakesAttribute(HloOpcode opcode, HloAttribute attribute) {
  for (const HloOpcodeAttribute& entry : GetHloOpcodeInfo(opcode).attributes) {
    if (entry.attribute == attribute) return true;
  }
  return false;
}
}  // namespace

// The computation that `add-start(x, y)` stands for: a parameter for each operand, and the operation.
HloComputation* HloReader::WrapAsync(Pending* pending) {
  scopes_.push_back(std::make_unique<Scope>());
  scopes_.back()->computation = std::make_unique<HloComputation>("");
  HloComputation* computation = scopes_.back()->computation.get();
  Pending wrapped;
  wrapped.opcode = *pending->wrapped_opcode;
  wrapped.opcode_begin = pending->opcode_begin;
  wrapped.place = pending->place;
  wrapped.name = HloOpcodeString(wrapped.opcode);
  wrapped.metadata = pending->metadata;
  wrapped.backend_config = pending->backend_config;
  wrapped.has_shape = true;
  wrapped.shape = SharedShape(ShapeWithText(pending->shape->shape().tuple_shapes(1)));
  wrapped.is_wrapped = true;
  for (const HloInstruction* operand : pending->operands) {
    if (!TakeUnwritten(*pending, operand->shape())) return nullptr;
    HloFieldList fields;
    fields.Set<HloField::parameter_number>(static_cast<int64_t>(wrapped.operands.size()));
    wrapped.operands.push_back(computation->AddInArena(module_->arena(), HloOpcode::kParameter, operand->shared_shape(),
                                                       {}, std::move(fields), "async_param"));
    wrapped.operands.back()->set_text_place(pending->place);
  }
  // What the line says is the operation's, but for what async-start has itself.
  wrapped.fields = std::move(pending->fields);
  pending->fields = HloFieldList();
  const std::string thread = wrapped.fields.Get<HloField::async_execution_thread>(std::string(kMainExecutionThread));
  if (wrapped.fields.Has(HloField::async_execution_thread)) {
    wrapped.fields.Erase(HloField::async_execution_thread);
    pending->fields.Set<HloField::async_execution_thread>(thread);
  }
  if (!TakesAttribute(wrapped.opcode, HloAttribute::output_to_operand_aliasing) &&
      wrapped.fields.Has(HloField::output_operand_aliasing)) {
    pending->fields.Set<HloField::output_operand_aliasing>(*wrapped.fields.Find<HloField::output_operand_aliasing>());
    wrapped.fields.Erase(HloField::output_operand_aliasing);
  }
  // XLA does not count the operands here: of too many it takes the first, of too few it dies.
  if (!CheckArity(&wrapped)) return nullptr;
  HloInstruction* root = MakeInstruction(&wrapped);
  if (root == nullptr) return nullptr;
  computation->set_root_instruction(root, /*accept_different_shape=*/true);
  computation->SetExecutionThread(thread);
  computation->set_name("async_wrapped");
  std::unique_ptr<HloComputation> finished = std::move(scopes_.back()->computation);
  scopes_.pop_back();
  if (absl::Status status = finished->FinishParameters(); !status.ok()) {
    ErrorIn(*pending, std::string(status.message()));
    return nullptr;
  }
  finished_.push_back({std::move(finished), /*is_entry=*/false});
  return computation;
}

bool HloReader::CompleteAsyncLater(Pending* pending) {
  const HloInstruction* operand = pending->operands[0];
  if (operand->opcode() != HloOpcode::kAsyncStart && operand->opcode() != HloOpcode::kAsyncUpdate) {
    return ErrorIn(*pending, absl::StrCat(HloOpcodeString(pending->opcode),
                                          " expects a single async-start or async-update operand"));
  }
  // One that brings arguments (CheckArity) has them in its shape, too.
  const bool brings_arguments = pending->operands.size() > 1;
  if (pending->opcode == HloOpcode::kAsyncUpdate && !brings_arguments && pending->shape->shape() != operand->shape()) {
    return ErrorIn(*pending, "AsyncUpdate expects the op shape to be the same as the operand shape.");
  }
  const HloComputation* wrapped = operand->async_wrapped_computation();
  if (wrapped == nullptr) return ErrorIn(*pending, "the operand is about no computation");
  if (pending->wrapped_opcode.has_value() && *pending->wrapped_opcode != wrapped->root_instruction()->opcode()) {
    return ErrorIn(*pending, absl::StrCat("Expect async wrapped opcode to be ",
                                          HloOpcodeString(wrapped->root_instruction()->opcode()), ", but got ",
                                          HloOpcodeString(*pending->wrapped_opcode)));
  }
  const ComputationVector* calls = pending->fields.Find<HloField::called_computations>();
  if (calls && calls->front() != wrapped) {
    return ErrorIn(*pending, absl::StrCat("Expect async_wrapped_computation to be ", wrapped->name()));
  }
  const std::string* thread = pending->fields.Find<HloField::async_execution_thread>();
  if (thread && *thread != operand->async_execution_thread()) {
    return ErrorIn(*pending, absl::StrCat("Expect async_execution_thread to be ", operand->async_execution_thread(),
                                          ", but got ", *thread));
  }
  pending->fields.Erase(HloField::called_computations);
  pending->fields.Erase(HloField::async_execution_thread);
  return true;
}

}  // namespace kashi::internal
