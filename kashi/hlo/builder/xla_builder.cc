// The contents of a builder: errors, instructions, embedded computations, annotations. Results: xla_builder_build.cc.
#include "kashi/hlo/builder/xla_builder.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/hlo_sharding.h"

namespace kashi {

// From the last to the first, so that each instruction has no users when it is destroyed.
XlaBuilder::~XlaBuilder() {
  while (!instructions_.empty()) instructions_.pop_back();
}

// ---- Errors --------------------------------------------------------------------------------------------------------

XlaOp XlaBuilder::ReportError(const absl::Status& error) {
  KASHI_CHECK(!error.ok());
  if (die_immediately_on_error_) KASHI_LOG_FATAL() << "error building computation " << name_ << ": " << error;
  if (first_error_.ok()) first_error_ = error;
  return XlaOp(-1, this);
}

XlaOp XlaBuilder::ReportErrorOrReturn(const absl::StatusOr<XlaOp>& op) {
  if (!first_error_.ok()) return XlaOp(-1, this);
  return op.ok() ? *op : ReportError(op.status());
}

XlaOp XlaBuilder::ReportErrorOrReturn(absl::FunctionRef<absl::StatusOr<XlaOp>()> op_creator) {
  return ReportErrorOrReturn(op_creator());
}

// ---- Instructions --------------------------------------------------------------------------------------------------

absl::StatusOr<HloInstruction*> XlaBuilder::Find(XlaOp op) const {
  if (op.IsUninitialized()) return InvalidArgument("invalid XlaOp with handle %d", op.handle_);
  if (op.builder_ != this) {
    return InvalidArgument("Do not add XlaOp from builder %s to builder %s", op.builder_->name(), name_);
  }
  if (op.handle_ < 0 || op.handle_ >= static_cast<int64_t>(instructions_.size())) {
    return InvalidArgument("invalid XlaOp with handle %d", op.handle_);
  }
  return instructions_[op.handle_].get();
}

XlaOp XlaBuilder::OpOf(const HloInstruction* instruction) { return XlaOp(instruction->unique_id(), this); }

absl::StatusOr<HloInstruction*> XlaBuilder::Add(std::unique_ptr<HloInstruction> instruction) {
  KASHI_RETURN_IF_ERROR(first_error_);
  KASHI_RETURN_IF_ERROR(Annotate(instruction.get()));
  absl::string_view name = instruction->name();
  if (name.empty() || name == HloOpcodeString(instruction->opcode())) {
    const absl::string_view path = instruction->metadata().op_name();
    name = path.substr(path.rfind('/') + 1);
    if (name.empty()) name = HloOpcodeString(instruction->opcode());
  }
  instruction->SetAndSanitizeName(absl::StrCat(name, ".", NextId()));
  instruction->SetUniqueId(static_cast<int64_t>(instructions_.size()));
  instructions_.push_back(std::move(instruction));
  return instructions_.back().get();
}

namespace {

// A single sharding for a tuple applies to each element. An error if it does not fit the shape: the rank, the leaves.
absl::Status SetShardingOf(HloInstruction* instruction, const OpSharding& proto) {
  const Shape& shape = instruction->shape();
  KASHI_ASSIGN_OR_RETURN(HloSharding sharding, HloSharding::FromProto(proto));
  if (shape.IsTuple() && !sharding.IsTuple()) sharding = HloSharding::SingleTuple(shape, sharding);
  KASHI_RETURN_IF_ERROR(sharding.Validate(shape));
  instruction->set_sharding(std::move(sharding));
  return absl::OkStatus();
}

}  // namespace

absl::Status XlaBuilder::Annotate(HloInstruction* instruction) {
  if (one_shot_metadata_) {
    instruction->set_metadata(*std::exchange(one_shot_metadata_, std::nullopt));
  } else if (metadata_ != OpMetadata()) {
    instruction->set_metadata(metadata_);
  }
  if (sharding_) {
    KASHI_RETURN_IF_ERROR(SetShardingOf(instruction, *sharding_));
  }
  if (original_value_) instruction->set_original_value(std::make_shared<OriginalValue>(*original_value_));
  for (const auto& [key, value] : frontend_attributes_.map()) {
    if (!instruction->get_frontend_attribute(key)) instruction->set_frontend_attribute(key, value);
  }
  return absl::OkStatus();
}

absl::Status XlaBuilder::RegisterParameter(int64_t number, const std::string& name) {
  if (parameter_names_.emplace(number, name).second) return absl::OkStatus();
  return InvalidArgument("parameter %d already registered", number);
}

// ---- Embedded computations -----------------------------------------------------------------------------------------

std::unique_ptr<XlaBuilder> XlaBuilder::CreateSubBuilder(const std::string& computation_name) {
  auto sub_builder = std::make_unique<XlaBuilder>(computation_name);
  sub_builder->parent_builder_ = this;
  sub_builder->die_immediately_on_error_ = die_immediately_on_error_;
  return sub_builder;
}

XlaComputationId XlaBuilder::AddSubComputation(const XlaComputation& computation) {
  const absl::StatusOr<HloComputation*> embedded = EmbedCopy(computation);
  if (embedded.ok()) return XlaComputationId(static_cast<int64_t>(embedded_.size()) - 1, this);
  ReportError(embedded.status());
  return XlaComputationId();
}

absl::StatusOr<HloComputation*> XlaBuilder::Embed(const XlaComputationRef& computation) {
  if (computation.computation_ != nullptr) return EmbedCopy(*computation.computation_);
  const XlaComputationId id = computation.id_;
  int distance = 0;
  for (XlaBuilder* builder = this; builder != nullptr; builder = builder->parent_builder_, ++distance) {
    if (builder != id.builder_) continue;
    if (id.handle_ < 0 || id.handle_ >= static_cast<int64_t>(builder->embedded_.size())) break;
    called_ancestor_ = std::max(called_ancestor_, distance);
    return builder->embedded_[id.handle_].get();
  }
  return InvalidArgument("computation %d is embedded neither in builder %s nor in a parent of it", id.handle_, name_);
}

// ---- Questions -----------------------------------------------------------------------------------------------------

absl::StatusOr<const Shape*> XlaBuilder::GetShapePtr(XlaOp op) const {
  KASHI_RETURN_IF_ERROR(first_error_);
  KASHI_ASSIGN_OR_RETURN(const HloInstruction* instruction, Find(op));
  return &instruction->shape();
}

absl::StatusOr<Shape> XlaBuilder::GetShape(XlaOp op) const {
  KASHI_ASSIGN_OR_RETURN(const Shape* shape, GetShapePtr(op));
  return *shape;
}

absl::StatusOr<std::vector<Shape>> XlaBuilder::GetOperandShapes(absl::Span<const XlaOp> operands) const {
  std::vector<Shape> shapes;
  for (const XlaOp operand : operands) {
    KASHI_ASSIGN_OR_RETURN(shapes.emplace_back(), GetShape(operand));
  }
  return shapes;
}

absl::StatusOr<const HloInstruction*> XlaBuilder::Last() const {
  KASHI_RETURN_IF_ERROR(first_error_);
  if (instructions_.empty()) return InvalidArgument("computation %s has no operation", name_);
  return instructions_.back().get();
}

absl::StatusOr<ProgramShape> XlaBuilder::GetProgramShape() const {
  KASHI_ASSIGN_OR_RETURN(const HloInstruction* root, Last());
  return ProgramShapeOf(root);
}

absl::StatusOr<ProgramShape> XlaBuilder::GetProgramShape(XlaOp root) const {
  KASHI_RETURN_IF_ERROR(first_error_);
  KASHI_ASSIGN_OR_RETURN(const HloInstruction* instruction, Find(root));
  return ProgramShapeOf(instruction);
}

absl::StatusOr<ProgramShape> XlaBuilder::ProgramShapeOf(const HloInstruction* root) const {
  std::map<int64_t, const Shape*> shapes;
  for (const auto& instruction : instructions_) {
    if (instruction->opcode() == HloOpcode::kParameter) {
      shapes[instruction->parameter_number()] = &instruction->shape();
    }
  }
  ProgramShape program_shape;
  for (const auto& [number, shape] : shapes) {
    if (number != program_shape.parameters_size()) return Internal("invalid parameter number: %d", number);
    program_shape.AddParameter(*shape, parameter_names_.at(number));
  }
  *program_shape.mutable_result() = root->shape();
  return program_shape;
}

absl::StatusOr<std::optional<OpSharding>> XlaBuilder::GetOpSharding(XlaOp op) const {
  KASHI_ASSIGN_OR_RETURN(const HloInstruction* instruction, Find(op));
  if (!instruction->has_sharding()) return std::optional<OpSharding>();
  return std::optional<OpSharding>(instruction->sharding().ToProto());
}

std::string XlaBuilder::OpToString(XlaOp op) const {
  const absl::StatusOr<HloInstruction*> root = Find(op);
  if (!root.ok()) return std::string(root.status().message());
  constexpr int kMaxLines = 100;
  constexpr int kMaxDepth = 5;
  std::string text;
  std::vector<std::pair<const HloInstruction*, int>> unseen = {{*root, 0}};
  for (int lines = 0; !unseen.empty() && lines < kMaxLines; ++lines) {
    const auto [instruction, depth] = unseen.back();
    unseen.pop_back();
    absl::StrAppend(&text, std::string(2 * depth, ' '), instruction->ToString(), "\n");
    if (depth == kMaxDepth) continue;
    const auto& operands = instruction->operands();
    for (auto operand = operands.rbegin(); operand != operands.rend(); ++operand) {
      unseen.emplace_back(*operand, depth + 1);
    }
  }
  return text;
}

// ---- Annotations afterwards ----------------------------------------------------------------------------------------

absl::Status XlaBuilder::SetInstructionFrontendAttribute(XlaOp op, std::string attribute, std::string value) {
  KASHI_ASSIGN_OR_RETURN(HloInstruction * instruction, Find(op));
  FrontendAttributes attributes = instruction->frontend_attributes();
  (*attributes.mutable_map())[std::move(attribute)] = std::move(value);
  instruction->set_frontend_attributes(std::move(attributes));
  return absl::OkStatus();
}

absl::Status XlaBuilder::SetInstructionSharding(XlaOp op, const std::optional<OpSharding>& sharding) {
  KASHI_ASSIGN_OR_RETURN(HloInstruction * instruction, Find(op));
  if (!sharding) {
    instruction->clear_sharding();
    return absl::OkStatus();
  }
  return SetShardingOf(instruction, *sharding);
}

}  // namespace kashi
