#include "kashi/evaluator/lane_function.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/excess_precision.h"
#include "kashi/evaluator/instruction_kernel.h"
#include "kashi/evaluator/operation_table.h"

namespace kashi::evaluator {
namespace {

// Computations whose calls nest deeper than this run lane by lane.
constexpr int kMaxInlineDepth = 64;
// So do computations that have more instructions than this when their calls are inlined.
constexpr int kMaxInstructions = 10000;

// Whether a lane can hold it: a scalar, or an array of one element.
bool IsOneElement(const Shape& shape) {
  return shape.IsArray() && shape.is_static() && ShapeUtil::ElementsIn(shape) == 1;
}

int BytesOf(PrimitiveType type) { return static_cast<int>(ShapeUtil::ByteSizeOfPrimitiveType(type)); }

// Whether the result of an operation on arrays of one element is the element of operand 0.
bool KeepsItsElement(const HloInstruction& instruction) {
  const OperationTraits& traits = TraitsOf(instruction.opcode());
  const bool moves_one_operand = traits.moved_operands == 1 && instruction.operand_count() == 1;
  return moves_one_operand || traits.source == ValueSource::kOperand || instruction.opcode() == HloOpcode::kBitcast;
}

// Whether numbers of both types have the same bytes.
bool KeepsItsBytes(const HloInstruction& convert) {
  const PrimitiveType from = convert.operand(0)->shape().element_type(), to = convert.shape().element_type();
  return primitive_util::BitWidth(from) == primitive_util::BitWidth(to) && primitive_util::BitWidth(from) % 8 == 0 &&
         from != PRED && to != PRED;
}

}  // namespace

// Makes steps over registers of a computation. Compile returns false if an instruction cannot be such a step.
class LaneCompiler {
 public:
  // `unrounded`: the results that are not rounded for converts; null: all are.
  LaneCompiler(LaneFunction* function, const UnroundedResults* unrounded)
      : function_(*function), unrounded_(unrounded) {}

  bool Compile(const HloComputation& computation) {
    std::vector<Node> arguments;
    for (size_t i = 0; i < function_.parameter_types_.size(); ++i) {
      const int reg = NewRegister(function_.parameter_types_[i]);
      function_.registers_[reg].parameter = static_cast<int>(i);
      arguments.push_back({reg, function_.parameter_types_[i], {}});
    }
    Node root;
    if (!Inline(computation, arguments, 0, &root)) return false;
    if (root.reg >= 0) {
      function_.results_ = {root.reg};
    } else {
      for (const Node& element : root.elements) {
        if (element.reg < 0) return false;
        function_.results_.push_back(element.reg);
      }
    }
    return HasTypesOfResults();
  }

  void FindPatterns() {
    if (function_.results_.size() != 1) return;
    const int result = function_.results_[0];
    if (function_.registers_[result].parameter >= 0) function_.parameter_ = function_.registers_[result].parameter;
    if (function_.steps_.size() != 1 || function_.steps_[0].output != result ||
        function_.steps_[0].inputs.size() != 2) {
      return;
    }
    const LaneFunction::Step& step = function_.steps_[0];
    const int a = function_.registers_[step.inputs[0]].parameter, b = function_.registers_[step.inputs[1]].parameter;
    if (a < 0 || b < 0) return;
    if (last_->opcode() == HloOpcode::kCompare) {
      if (a / 2 == b / 2 && a != b) {
        function_.comparison_ = {a / 2, last_->comparison_direction(), last_->comparison_order(), a > b};
      }
      return;
    }
    const bool is_commutative = GetHloOpcodeInfo(last_->opcode()).Has(HloOpcodeFlags::kCommutative);
    const bool is_in_order = a == 0 && b == 1;
    const bool has_one_type =
        step.kernel.input_types[0] == step.kernel.output_type && step.kernel.input_types[1] == step.kernel.output_type;
    if (has_one_type && function_.parameter_types_.size() == 2 &&
        (is_in_order || (is_commutative && a == 1 && b == 0))) {
      function_.binary_ = last_->opcode();
    }
  }

 private:
  // A register, or a tuple (reg < 0).
  struct Node {
    int reg = -1;
    PrimitiveType type = PRIMITIVE_TYPE_INVALID;
    std::vector<Node> elements;
    int unrounded = -1;  // the register of the f32 before it was rounded to bf16, for converts
  };
  using Nodes = absl::flat_hash_map<const HloInstruction*, Node>;

  // In text, inlined instructions may have another floating-point type than the root.
  bool HasTypesOfResults() const {
    return std::equal(function_.results_.begin(), function_.results_.end(), function_.result_types_.begin(),
                      function_.result_types_.end(),
                      [&](int reg, PrimitiveType type) { return function_.registers_[reg].type == type; });
  }

  int NewRegister(PrimitiveType type) {
    function_.registers_.push_back({type, BytesOf(type), -1, {}});
    return static_cast<int>(function_.registers_.size()) - 1;
  }

  bool Inline(const HloComputation& computation, const std::vector<Node>& arguments, int depth, Node* root) {
    if (depth > kMaxInlineDepth || arguments.size() != static_cast<size_t>(computation.num_parameters())) return false;
    Nodes nodes;
    for (const HloInstruction* instruction : computation.MakeInstructionPostOrder()) {
      if (++instructions_ > kMaxInstructions) return false;
      if (!Add(*instruction, arguments, depth, &nodes)) return false;
    }
    *root = nodes.at(computation.root_instruction());
    return true;
  }

  bool Add(const HloInstruction& instruction, const std::vector<Node>& arguments, int depth, Nodes* nodes) {
    const HloOpcode opcode = instruction.opcode();
    Node node;
    bool is_known = true;
    if (opcode == HloOpcode::kParameter) {
      node = arguments[instruction.parameter_number()];
    } else if (opcode == HloOpcode::kTuple) {
      for (const HloInstruction* operand : instruction.operands()) node.elements.push_back(Rounded(nodes->at(operand)));
    } else if (opcode == HloOpcode::kGetTupleElement) {
      node = Node(nodes->at(instruction.operand(0)).elements[instruction.tuple_index()]);
    } else if (opcode == HloOpcode::kCall || opcode == HloOpcode::kFusion) {
      const bool hands_on = unrounded_ != nullptr && unrounded_->IsTakenBy(instruction);
      std::vector<Node> operands;
      for (const HloInstruction* operand : instruction.operands()) {
        operands.push_back(hands_on ? nodes->at(operand) : Rounded(nodes->at(operand)));
      }
      is_known = Inline(*instruction.called_computations()[0], operands, depth + 1, &node);
      if (!hands_on) node.unrounded = -1;
    } else {
      is_known = AddScalar(instruction, *nodes, &node);
    }
    if (is_known) (*nodes)[&instruction] = std::move(node);
    return is_known;
  }

  static Node Rounded(Node node) {
    node.unrounded = -1;
    return node;
  }

  bool AddScalar(const HloInstruction& instruction, const Nodes& nodes, Node* node) {
    if (!IsOneElement(instruction.shape())) return false;
    node->type = instruction.shape().element_type();
    const HloOpcode opcode = instruction.opcode();
    if (opcode == HloOpcode::kConstant) {
      node->reg = NewRegister(node->type);
      const char* element = static_cast<const char*>(instruction.literal().untyped_data());
      function_.registers_[node->reg].constant.assign(element, element + BytesOf(node->type));
      return true;
    }
    for (const HloInstruction* operand : instruction.operands()) {
      if (!IsOneElement(operand->shape()) && opcode != HloOpcode::kAddDependency) return false;
    }
    if (KeepsItsElement(instruction)) {
      node->reg = nodes.at(instruction.operand(0)).reg;
      return nodes.at(instruction.operand(0)).type == node->type;
    }
    if (opcode == HloOpcode::kBitcastConvert && KeepsItsBytes(instruction)) {
      node->reg = nodes.at(instruction.operand(0)).reg;
      return true;
    }
    if (unrounded_ != nullptr && unrounded_->IsTakenBy(instruction)) {
      node->reg = nodes.at(instruction.operand(0)).unrounded;
      if (node->reg >= 0) return true;
    }
    if (!HasElementKernel(opcode)) return false;
    if (unrounded_ == nullptr || !unrounded_->Contains(instruction)) return AddStep(instruction, nodes, node);
    const WideInstruction wide = MakeWide(instruction);
    Node f32{-1, F32, {}, -1};
    absl::StatusOr<kernels::ElementKernel> narrow = kernels::FindConvertKernel(F32, BF16);
    if (!narrow.ok() || !AddKernel(*wide.instruction, instruction.operands(), nodes, &f32)) return false;
    node->unrounded = f32.reg;
    node->reg = NewRegister(BF16);
    function_.steps_.push_back({*std::move(narrow), {f32.reg}, node->reg});
    return true;
  }

  bool AddStep(const HloInstruction& instruction, const Nodes& nodes, Node* node) {
    last_ = &instruction;
    return AddKernel(instruction, instruction.operands(), nodes, node);
  }

  // The kernel of `instruction`, applied to these operands, which may have other floating-point types.
  bool AddKernel(const HloInstruction& instruction, absl::Span<HloInstruction* const> operands, const Nodes& nodes,
                 Node* node) {
    absl::StatusOr<kernels::ElementKernel> kernel = FindElementKernel(instruction);
    if (!kernel.ok()) return false;
    absl::InlinedVector<int, 3> inputs;
    for (size_t i = 0; i < operands.size(); ++i) {
      const Node& operand = nodes.at(operands[i]);
      int reg = operand.reg;
      if (operand.type != kernel->input_types[i]) {
        absl::StatusOr<kernels::ElementKernel> convert =
            kernels::FindConvertKernel(operand.type, kernel->input_types[i]);
        if (!convert.ok()) return false;
        const int converted = NewRegister(kernel->input_types[i]);
        function_.steps_.push_back({*std::move(convert), {reg}, converted});
        reg = converted;
      }
      inputs.push_back(reg);
    }
    node->reg = NewRegister(node->type);
    function_.steps_.push_back({*std::move(kernel), std::move(inputs), node->reg});
    return true;
  }

  LaneFunction& function_;
  const UnroundedResults* const unrounded_;
  const HloInstruction* last_ = nullptr;  // that made the last step
  int instructions_ = 0;
};

namespace {

absl::StatusOr<std::vector<PrimitiveType>> ScalarTypes(const Shape& shape, absl::string_view computation) {
  std::vector<PrimitiveType> types;
  if (shape.IsTuple()) {
    for (const Shape& element : shape.tuple_shapes()) types.push_back(element.element_type());
  } else {
    types.push_back(shape.element_type());
  }
  bool is_scalar = ShapeUtil::IsScalar(shape);
  if (shape.IsTuple()) {
    is_scalar = std::all_of(shape.tuple_shapes().begin(), shape.tuple_shapes().end(),
                            [](const Shape& element) { return ShapeUtil::IsScalar(element); });
  }
  if (!is_scalar) {
    return InvalidArgument("Computation %s must work on scalars, but has %s", computation,
                           ShapeUtil::HumanString(shape));
  }
  return types;
}

}  // namespace

absl::StatusOr<std::unique_ptr<LaneFunction>> LaneFunction::Make(const HloComputation& computation,
                                                                 EvaluationRun& run) {
  auto function = std::unique_ptr<LaneFunction>(new LaneFunction);
  function->computation_ = &computation;
  function->run_ = &run;
  for (int64_t i = 0; i < computation.num_parameters(); ++i) {
    KASHI_ASSIGN_OR_RETURN(const std::vector<PrimitiveType> type,
                           ScalarTypes(computation.parameter_instruction(i)->shape(), computation.name()));
    if (type.size() != 1)
      return InvalidArgument("Computation %s has a parameter that is not a scalar", computation.name());
    function->parameter_types_.push_back(type[0]);
  }
  KASHI_ASSIGN_OR_RETURN(function->result_types_,
                         ScalarTypes(computation.root_instruction()->shape(), computation.name()));
  LaneCompiler compiler(function.get(), run.UnroundedResultsOf(computation));
  function->runs_lane_by_lane_ = !compiler.Compile(computation);
  if (!function->runs_lane_by_lane_) compiler.FindPatterns();
  return function;
}

LaneFunction::Scratch::Scratch(const LaneFunction& function, int64_t lanes) : lanes_(lanes) {
  KASHI_CHECK(lanes > 0);
  constexpr int64_t kAlignment = 16;
  std::vector<int64_t> offsets;
  int64_t bytes = 0;
  for (const Register& reg : function.registers_) {
    offsets.push_back(bytes);
    if (reg.parameter < 0) bytes += (lanes * reg.element_bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  memory_.resize(static_cast<size_t>(bytes + kAlignment));
  char* begin = memory_.data() + (-reinterpret_cast<uintptr_t>(memory_.data()) & (kAlignment - 1));
  for (size_t i = 0; i < offsets.size(); ++i) {
    const Register& reg = function.registers_[i];
    registers_.push_back(reg.parameter >= 0 ? nullptr : begin + offsets[i]);
    for (int64_t lane = 0; !reg.constant.empty() && lane < lanes; ++lane) {
      std::memcpy(begin + offsets[i] + lane * reg.element_bytes, reg.constant.data(), reg.constant.size());
    }
  }
}

absl::Status LaneFunction::Run(Scratch& scratch, absl::Span<const void* const> inputs, absl::Span<void* const> outputs,
                               int64_t n) const {
  if (runs_lane_by_lane_) return RunLaneByLane(inputs, outputs, n);
  for (int64_t offset = 0; offset < n; offset += scratch.lanes()) {
    RunPortion(scratch, inputs.data(), outputs.data(), offset, std::min(scratch.lanes(), n - offset));
  }
  return absl::OkStatus();
}

void LaneFunction::RunPortion(Scratch& scratch, const void* const* inputs, void* const* outputs, int64_t offset,
                              int64_t n) const {
  const auto input_of = [&](int reg) -> const void* {
    const Register& info = registers_[reg];
    if (info.parameter < 0) return scratch.registers_[reg];
    return static_cast<const char*>(inputs[info.parameter]) + offset * info.element_bytes;
  };
  const auto result_at = [&](size_t j) {
    return static_cast<char*>(outputs[j]) + offset * registers_[results_[j]].element_bytes;
  };
  // The last step may write where the result belongs: all that reads inputs has been, or is itself.
  const bool writes_result = results_.size() == 1 && !steps_.empty() && steps_.back().output == results_[0];
  for (const Step& step : steps_) {
    const void* step_inputs[3];
    for (size_t i = 0; i < step.inputs.size(); ++i) step_inputs[i] = input_of(step.inputs[i]);
    void* output = writes_result && &step == &steps_.back() ? result_at(0) : scratch.registers_[step.output];
    step.kernel(step_inputs, output, n);
  }
  if (writes_result) return;
  if (results_.size() == 1) {
    std::memmove(result_at(0), input_of(results_[0]), static_cast<size_t>(n * registers_[results_[0]].element_bytes));
    return;
  }
  // A result that is a parameter may be in the memory of another result, so all are copied before one is written.
  absl::InlinedVector<char, 1024> aside;
  for (int reg : results_) {
    const char* from = static_cast<const char*>(input_of(reg));
    if (registers_[reg].parameter >= 0) aside.insert(aside.end(), from, from + n * registers_[reg].element_bytes);
  }
  const char* kept = aside.data();
  for (size_t j = 0; j < results_.size(); ++j) {
    const Register& reg = registers_[results_[j]];
    const size_t bytes = static_cast<size_t>(n * reg.element_bytes);
    std::memcpy(result_at(j), reg.parameter >= 0 ? kept : scratch.registers_[results_[j]], bytes);
    if (reg.parameter >= 0) kept += bytes;
  }
}

absl::Status LaneFunction::RunLaneByLane(absl::Span<const void* const> inputs, absl::Span<void* const> outputs,
                                         int64_t n) const {
  std::vector<DenseShape> shapes;
  for (PrimitiveType type : parameter_types_) shapes.push_back(MakeDenseShape(type, {}));
  for (int64_t lane = 0; lane < n; ++lane) {
    std::vector<Value> arguments;
    for (size_t i = 0; i < shapes.size(); ++i) {
      KASHI_ASSIGN_OR_RETURN(Value argument, run_->MakeArray(shapes[i]));
      const int bytes = argument.element_bytes();
      std::memcpy(argument.mutable_data(), static_cast<const char*>(inputs[i]) + lane * bytes, bytes);
      arguments.push_back(std::move(argument));
    }
    KASHI_ASSIGN_OR_RETURN(const Value result, run_->Call(*computation_, std::move(arguments)));
    for (size_t j = 0; j < result_types_.size(); ++j) {
      const Value& element = result.is_tuple() ? result.element(static_cast<int64_t>(j)) : result;
      const int bytes = element.element_bytes();
      std::memcpy(static_cast<char*>(outputs[j]) + lane * bytes, element.untyped_data(), bytes);
    }
  }
  return absl::OkStatus();
}

}  // namespace kashi::evaluator
