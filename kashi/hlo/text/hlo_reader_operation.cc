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

namespace kashi::hlo {

bool HloReader::ErrorIn(const Pending& pending, std::string message) {
  return Error(pending.opcode_begin, TokenEnd(pending.opcode_begin), std::move(message));
}

bool HloReader::FatalIn(const Pending& pending, std::string message) {
  is_fatal_ = true;
  return ErrorIn(pending, std::move(message));
}

HloInstruction* HloReader::MakeInstruction(Pending* pending) {
  if (pending->opcode == HloOpcode::kAsyncStart) {
    if (!CompleteAsyncStart(pending)) return nullptr;
  } else if (HloOpcodeIsAsync(pending->opcode)) {
    if (!CompleteAsyncLater(pending)) return nullptr;
  } else if (!CompleteFields(pending) || !CheckOperation(*pending) || (pending->has_shape && !RebuildShape(pending))) {
    return nullptr;
  }
  return Add(pending);
}

HloInstruction* HloReader::Add(Pending* pending) {
  static const auto* const unknown = new SharedShape(ShapeWithText(ShapeUtil::MakeTokenShape()));
  base::Arena* arena = module_->arena();
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
    // The text may continue without it.
    scopes_.back()->computation->RemoveInstruction(instruction).IgnoreError();
    return nullptr;
  }
  // A single sharding for a tuple applies to each of its leaves.
  if (instruction->has_sharding() && instruction->shape().IsTuple() && !instruction->sharding().IsTuple()) {
    instruction->mutable_extras()->sharding =
        std::make_shared<const HloSharding>(instruction->sharding().NormalizeTupleSharding(instruction->shape()));
  }
  if (instruction->IsAsynchronous()) TellWrapped(instruction);
  if (instruction->opcode() == HloOpcode::kAsyncStart) async_starts_.push_back(instruction);
  return instruction;
}

// Attributes of an asynchronous operation apply to its wrapped operation too; the last one counts.
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

// The shape that XLA's reader infers. For two operations it uses other operands than its verifier.
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

// Subtracts a shape that the text implies without writing it from the budget of such shapes. Only tuples can grow from
// line to line.
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

// Adds fields that an operation has even if the text omits them.
bool HloReader::CompleteFields(Pending* pending) {
  HloFieldList& fields = pending->fields;
  const HloOpcodeInfo& info = GetHloOpcodeInfo(pending->opcode);
  for (const HloOpcodeAttribute& entry : info.attributes) {
    if (!CompleteField(entry.attribute, pending)) return false;
  }
  if (info.Has(HloOpcodeFlags::kFirstDimensionOnly)) {
    Int64List* dimensions = fields.Mutable<HloField::dimensions>();
    if (dimensions->size() > 1) dimensions->resize(1);
  }
  // A custom call with layouts of operands calls no computations.
  if (pending->opcode == HloOpcode::kCustomCall && fields.Has(HloField::operand_shapes_with_layout)) {
    fields.Erase(HloField::called_computations);
  }
  // A map always works on all dimensions, for any text.
  if (pending->opcode == HloOpcode::kMap && pending->has_shape && pending->shape->shape().IsArray()) {
    Int64List* dimensions = fields.Mutable<HloField::dimensions>();
    dimensions->resize(pending->shape->shape().dimensions_size());
    for (int i = 0; i < dimensions->size(); ++i) (*dimensions)[i] = i;
  }
  return true;
}

// The field of an attribute that the text may have left out.
bool HloReader::CompleteField(HloAttribute attribute, Pending* pending) {
  HloFieldList& fields = pending->fields;
  switch (attribute) {
    case HloAttribute::dimensions:
      // An all-to-all of a list of operands has no dimension.
      if (pending->opcode != HloOpcode::kAllToAll && pending->opcode != HloOpcode::kMap) {
        fields.Mutable<HloField::dimensions>();
      }
      return true;
    case HloAttribute::replica_groups:
      fields.Mutable<HloField::replica_groups>();
      return true;
    case HloAttribute::lhs_contracting_dims:
      fields.Mutable<HloField::dot_dimension_numbers>();
      return true;
    case HloAttribute::ragged_lhs_contracting_dims:
      fields.Mutable<HloField::ragged_dot_dimension_numbers>()->mutable_dot_dimension_numbers();
      return true;
    case HloAttribute::is_associative:
      if (!fields.Has(HloField::is_associative)) fields.Set<HloField::is_associative>(TRI_STATE_FALSE);
      return true;
    case HloAttribute::outfeed_shape:
      if (fields.Has(HloField::outfeed_shape)) return true;
      if (!TakeUnwritten(*pending, pending->operands[0]->shape())) return false;
      fields.Set<HloField::outfeed_shape>(pending->operands[0]->shape());
      return true;
    case HloAttribute::largest:
      if (!fields.Has(HloField::largest)) fields.Set<HloField::largest>(true);
      return true;
    case HloAttribute::reduce_has_dynamic_root:
      if (!fields.Has(HloField::has_dynamic_root)) fields.Set<HloField::has_dynamic_root>(false);
      return true;
    case HloAttribute::left_side:
      fields.Mutable<HloField::triangular_solve_options>();
      return true;
    case HloAttribute::lower:
      fields.Mutable<HloField::cholesky_options>();
      return true;
    default:
      return true;
  }
}

namespace {

// The shape of an operation between a program and its host, from the shape of the data that it moves.
Shape TransferShape(HloOpcode opcode, const Shape& data) {
  const Shape token = ShapeUtil::MakeTokenShape();
  const bool is_start = opcode == HloOpcode::kSend || opcode == HloOpcode::kRecv;
  if (is_start) return ShapeUtil::MakeTupleShape({data, ShapeUtil::MakeShape(U32, {}), token});
  return ShapeUtil::MakeTupleShape({data, token});
}

}  // namespace

// Results that XLA infers from the operands, for any text.
bool HloReader::RebuildShape(Pending* pending) {
  const HloOpcodeInfo& info = GetHloOpcodeInfo(pending->opcode);
  const auto& operands = pending->operands;
  Shape result;
  if (info.shape_rule == HloShapeRule::kToken) {
    result = ShapeUtil::MakeTokenShape();
  } else if (info.shape_rule == HloShapeRule::kAddDependency) {
    const Shape& operand = operands[0]->shape();
    if (pending->shape->shape() != operand && !TakeUnwritten(*pending, operand)) return false;
    pending->shape = operands[0]->shared_shape();
    return true;
  } else if (info.Has(HloOpcodeFlags::kSideEffect)) {
    const bool is_told_by_text = pending->opcode == HloOpcode::kRecv || pending->opcode == HloOpcode::kInfeed;
    const Shape& whole = is_told_by_text ? pending->shape->shape() : operands[0]->shape();
    result = TransferShape(pending->opcode, pending->opcode == HloOpcode::kSend ? whole : whole.tuple_shapes(0));
  } else {
    return true;
  }
  if (pending->shape->shape() == result) return true;
  if (!TakeUnwritten(*pending, result)) return false;
  pending->shape = SharedShape(ShapeWithText(std::move(result)));
  return true;
}

// ---- Asynchronous operations (docs/spec/hlo.md 1.6) -----------------------------------------------------------------

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
  // All computations that it calls run there, too: see SettleThreads.
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

// The computation of the short form `add-start(x, y)`: a parameter for each operand, and the operation.
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
  // The fields in the line belong to the wrapped operation, except those of async-start itself.
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
  // XLA does not count the operands here: it takes the first of too many, and dies of too few.
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
  // The shape of an async-update with arguments (CheckArity) includes these.
  const bool brings_arguments = pending->operands.size() > 1;
  if (pending->opcode == HloOpcode::kAsyncUpdate && !brings_arguments && pending->shape->shape() != operand->shape()) {
    return ErrorIn(*pending, "AsyncUpdate expects the op shape to be the same as the operand shape.");
  }
  const HloComputation* wrapped = operand->async_wrapped_computation();
  if (wrapped == nullptr) return ErrorIn(*pending, "the operand has no asynchronous computation");
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

}  // namespace kashi::hlo
