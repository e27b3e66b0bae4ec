// Edits of modules: add, replace, remove. A module stays a graph without cycles within one module.
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "arrays.h"
#include "builder.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/ir/hlo_opcode.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "module.h"

namespace kashi::python {
namespace {

// Called before every edit: a schedule does not know the new instructions.
void BeginEdit(ModuleState& state) {
  if (state.module->has_schedule()) state.module->clear_schedule();
}

void RequireSameModule(const ModuleState& state, const HloComputation* computation) {
  if (computation->parent() != state.module.get()) ThrowValueError("the computation is of another module");
}

// ---- A new instruction is read from text, so that it is checked as the reader checks, by the table of operations. ---

// The text of the computations and of all that they call, callees first.
std::string TextOf(const std::vector<HloComputation*>& computations) {
  std::vector<const HloComputation*> all;
  for (const HloComputation* computation : computations) {
    for (const HloComputation* callee : computation->MakeEmbeddedComputationsList()) {
      if (!absl::c_linear_search(all, callee)) all.push_back(callee);
    }
    if (!absl::c_linear_search(all, computation)) all.push_back(computation);
  }
  std::string text;
  for (const HloComputation* computation : all) absl::StrAppend(&text, computation->ToString(), "\n\n");
  return text;
}

struct NewInstruction {
  HloOpcode opcode;
  std::vector<HloInstruction*> operands;
  std::vector<HloComputation*> called;
  std::string text;
};

NewInstruction DescribeInstruction(const ComputationRef& computation, const std::string& opcode, nb::handle operands,
                                   nb::handle shape, const nb::kwargs& attributes) {
  NewInstruction made;
  made.opcode = ValueOrThrow(StringToHloOpcode(opcode));
  if (made.opcode == HloOpcode::kParameter) ThrowValueError("a parameter cannot be added");
  std::vector<std::string> lines, names, parts;
  for (const nb::handle operand : operands) {
    if (!nb::isinstance<InstructionRef>(operand)) ThrowTypeError("an operand must be a kashi.Instruction");
    HloInstruction* const instruction = nb::cast<InstructionRef>(operand).get();
    if (instruction->parent() != computation.get()) ThrowValueError("an operand is of another computation");
    names.push_back(absl::StrCat("p", names.size()));
    lines.push_back(absl::StrCat("  ", names.back(), " = ", instruction->shape().ToString(true), " parameter(",
                                 made.operands.size(), ")\n"));
    made.operands.push_back(instruction);
  }
  for (const auto& [name, value] : attributes) {
    parts.push_back(absl::StrCat(", ", AttributeText(made.opcode, nb::cast<std::string>(name), value, &made.called)));
  }
  for (const HloComputation* called : made.called) RequireSameModule(computation.state(), called);
  const std::string shape_text = shape.is_none() ? "" : absl::StrCat(ShapeOfArgument(shape).ToString(true), " ");
  made.text = absl::StrCat("HloModule new_instruction\n\n", TextOf(made.called), "ENTRY kashi.new_instruction {\n",
                           absl::StrJoin(lines, ""), "  ROOT r = ", shape_text, opcode, "(", absl::StrJoin(names, ", "),
                           ")", absl::StrJoin(parts, ""), "\n}\n");
  return made;
}

// No attribute of a constant has its elements. They are those of `value`, as in Instruction.value.
InstructionRef AddConstant(const ComputationRef& computation, nb::handle operands, nb::handle shape,
                           const std::string& name, const nb::kwargs& attributes) {
  if (nb::len(operands) != 0) ThrowValueError("a constant has no operands");
  if (attributes.size() != 1 || !attributes.contains("value")) {
    ThrowTypeError("a constant is added with `value`, its elements, and no attribute");
  }
  const nb::object value = attributes["value"];
  Literal literal;
  if (shape.is_none()) {
    literal = LiteralOf(value);
  } else {
    const Shape wanted = ShapeOfArgument(shape);
    literal = ValueOrThrow(ValueOfArgument(value, wanted, "value").ToLiteral(wanted));
  }
  BeginEdit(computation.state());
  return RefTo(computation.state(), computation->AddInstruction(HloInstruction::CreateConstant(std::move(literal)),
                                                                name.empty() ? "constant" : name));
}

InstructionRef AddInstruction(const ComputationRef& computation, const std::string& opcode, nb::handle operands,
                              nb::handle shape, const std::string& name, const nb::kwargs& attributes) {
  if (opcode == "constant") return AddConstant(computation, operands, shape, name, attributes);
  const NewInstruction made = DescribeInstruction(computation, opcode, operands, shape, attributes);
  const std::unique_ptr<HloModule> read = ParsedOrThrow(ParseAndReturnUnverifiedModule(
      made.text, HloModuleConfig(), HloParserOptions().set_source_name("new instruction")));
  const HloInstruction* const root = read->entry_computation()->root_instruction();
  bool is_as_asked = root->opcode() == made.opcode && root->operands().size() == made.operands.size() &&
                     root->called_computations().size() == made.called.size();
  for (size_t i = 0; is_as_asked && i < made.operands.size(); ++i) {
    is_as_asked = root->operand(i)->opcode() == HloOpcode::kParameter &&
                  root->operand(i)->parameter_number() == static_cast<int64_t>(i);
  }
  if (!is_as_asked) ThrowValueError(absl::StrCat("this is more than an instruction:\n", made.text));
  std::unique_ptr<HloInstruction> clone = root->CloneWithNewOperands(root->shape(), made.operands, "");
  for (size_t i = 0; i < made.called.size(); ++i) {
    const auto is_it = [&](const HloComputation* c) { return c->name() == root->called_computations()[i]->name(); };
    clone->set_called_computation(static_cast<int64_t>(i), *absl::c_find_if(made.called, is_it));
  }
  BeginEdit(computation.state());
  return RefTo(computation.state(), computation->AddInstruction(std::move(clone), name.empty() ? opcode : name));
}

// ---- Links. ---------------------------------------------------------------------------------------------------------

// Whether `from` needs one of `targets`, directly or not.
bool Needs(const HloInstruction* from, const absl::flat_hash_set<const HloInstruction*>& targets) {
  absl::flat_hash_set<const HloInstruction*> seen = {from};
  std::vector<const HloInstruction*> open = {from};
  const auto visit = [&](const HloInstruction* next) {
    if (next != nullptr && seen.insert(next).second) open.push_back(next);
  };
  while (!open.empty()) {
    const HloInstruction* const instruction = open.back();
    open.pop_back();
    if (instruction != from && targets.contains(instruction)) return true;
    for (const HloInstruction* operand : instruction->operands()) visit(operand);
    for (const HloInstruction* predecessor : instruction->control_predecessors()) visit(predecessor);
  }
  return false;
}

void UpdateEntryLayout(HloModule& module, const HloComputation* computation) {
  if (module.entry_computation() == computation) {
    *module.mutable_entry_computation_layout() = module.compute_computation_layout();
  }
}

void ReplaceUses(const InstructionRef& old, const InstructionRef& replacement) {
  HloInstruction* const from = old.get();
  HloInstruction* const to = replacement.get();
  if (from == to) ThrowValueError("an instruction cannot replace itself");
  if (from->parent() != to->parent()) ThrowValueError("the instructions are of different computations");
  if (!ShapeUtil::Compatible(from->shape(), to->shape())) {
    ThrowValueError(absl::StrCat(to->shape().ToString(), " cannot replace ", from->shape().ToString()));
  }
  absl::flat_hash_set<const HloInstruction*> users(from->users().begin(), from->users().end());
  users.erase(to);
  if (Needs(to, users)) ThrowValueError(absl::StrCat(to->name(), " needs a user of ", from->name(), ": a cycle"));
  BeginEdit(old.state());
  ThrowUnlessOk(from->ReplaceAllUsesWith(to));
  UpdateEntryLayout(*old.state().module, to->parent());
}

void Remove(const InstructionRef& instruction) {
  HloInstruction* const removed = instruction.get();
  if (!removed->parent()->IsSafelyRemovable(removed) || removed->opcode() == HloOpcode::kParameter) {
    ThrowValueError(absl::StrCat(removed->name(), " is a parameter or has control dependencies"));
  }
  if (removed->user_count() > 0 || removed->IsRoot()) {
    ThrowValueError(absl::StrCat(removed->name(), " is used, or the root"));
  }
  BeginEdit(instruction.state());
  ThrowUnlessOk(removed->parent()->RemoveInstruction(removed));
  instruction.state().DropRemoved();
}

void Replace(const InstructionRef& old, const InstructionRef& replacement) {
  ReplaceUses(old, replacement);
  if (old->user_count() == 0 && old->opcode() != HloOpcode::kParameter && !old->HasControlDependencies()) Remove(old);
}

void SetOperand(const InstructionRef& instruction, int64_t number, const InstructionRef& operand) {
  if (number < 0 || number >= instruction->operand_count()) {
    ThrowStatus(absl::OutOfRangeError(absl::StrCat(instruction->name(), " has no operand ", number)));
  }
  HloInstruction* const value = operand.get();
  if (value->parent() != instruction->parent()) ThrowValueError("the operand is of another computation");
  if (value == instruction.get() || Needs(value, {instruction.get()})) ThrowValueError("this would be a cycle");
  BeginEdit(instruction.state());
  ThrowUnlessOk(instruction->ReplaceOperandWith(number, value));
}

void SetRoot(const ComputationRef& computation, const InstructionRef& root) {
  if (root->parent() != computation.get()) ThrowValueError("the root is of another computation");
  BeginEdit(computation.state());
  computation->set_root_instruction(root.get(), /*accept_different_shape=*/true);
  UpdateEntryLayout(*computation.state().module, computation.get());
}

bool RemoveDeadCode(const ModuleRef& module) {
  BeginEdit(*module.state);
  const bool removed = module->RemoveDeadCode();
  module.state->DropRemoved();
  return removed;
}

void SetOpName(const InstructionRef& instruction, const std::string& op_name) {
  instruction->set_metadata_op_name(op_name);
}

}  // namespace

void BindEditing(nb::module_& m) {
  const nb::object computation = m.attr("Computation"), instruction = m.attr("Instruction"), module = m.attr("Module");
  const auto add = [](nb::handle type, const char* name, nb::object function) { nb::setattr(type, name, function); };
  add(computation, "add",
      nb::cpp_function(AddInstruction, nb::is_method(), nb::name("add"), nb::scope(computation), nb::arg("opcode"),
                       nb::arg("operands") = nb::tuple(), nb::arg("shape").none() = nb::none(), nb::arg("name") = "",
                       nb::arg("attributes"),
                       "Adds an operation and returns it. Attributes are keywords with values as in\n"
                       "Instruction.attributes; a shape (a Shape or its text) that follows from the operands may be\n"
                       "left out. A constant takes `value`, an array.\n\n"
                       ">>> m = kashi.parse('HloModule m\\nENTRY e {\\n  ROOT x = f32[2,3] parameter(0)\\n}\\n')\n"
                       ">>> m.entry.add('transpose', [m.entry.root], dimensions=(1, 0)).shape.dimensions\n"
                       "(3, 2)\n\n"
                       "Raises ParseError where the text of such an instruction could not be read."));
  add(computation, "set_root",
      nb::cpp_function(SetRoot, nb::is_method(), nb::name("set_root"), nb::scope(computation), nb::arg("root"),
                       "Makes another instruction of the computation its result.\n\n" KASHI_SAMPLE_MODULE
                       ">>> m.entry.set_root(m.entry.instruction('x'))\n>>> m.program_shape.result, "
                       "m.remove_dead_code()\n(Shape('f32[2,3]{1,0}'), True)\n\n"
                       "Raises ValueError for an instruction of another computation."));
  add(instruction, "replace_uses",
      nb::cpp_function(ReplaceUses, nb::is_method(), nb::name("replace_uses"), nb::scope(instruction),
                       nb::arg("replacement"),
                       "Lets all users, and the root, use another instruction instead.\n\n" KASHI_SAMPLE_MODULE
                       ">>> m.entry.root.replace_uses(m.entry.instruction('x'))\n>>> m.entry.root.name, "
                       "len(m.instructions)\n('x', 2)\n\n"
                       "Raises ValueError for another shape, another computation, or a cycle."));
  add(instruction, "replace",
      nb::cpp_function(Replace, nb::is_method(), nb::name("replace"), nb::scope(instruction), nb::arg("replacement"),
                       "replace_uses(), then removes this instruction if nothing needs it.\n\n" KASHI_SAMPLE_MODULE
                       ">>> m.entry.root.replace(m.entry.add('abs', [m.entry.instruction('x')]))\n>>> "
                       "m.entry.root.opcode, len(m.instructions)\n('abs', 2)\n\n"
                       "Raises as replace_uses()."));
  add(instruction, "remove",
      nb::cpp_function(
          Remove, nb::is_method(), nb::name("remove"), nb::scope(instruction),
          "Removes it. Raises ValueError if it has users, is the root or a parameter.\n\n" KASHI_SAMPLE_MODULE
          ">>> extra = m.entry.add('abs', [m.entry.root])\n>>> extra.remove()\n>>> extra\n<kashi.Instruction, "
          "removed>"));
  add(instruction, "set_operand",
      nb::cpp_function(SetOperand, nb::is_method(), nb::name("set_operand"), nb::scope(instruction), nb::arg("number"),
                       nb::arg("operand"),
                       "Replaces one operand by an instruction of a compatible shape.\n\n" KASHI_SAMPLE_MODULE
                       ">>> m.entry.root.set_operand(0, m.entry.add('abs', [m.entry.instruction('x')]))\n>>> "
                       "m.entry.root.operands[0].opcode\n'abs'\n\n"
                       "Raises IndexError for a number without operand, ValueError for another shape, another "
                       "computation, or a cycle."));
  add(instruction, "set_op_name",
      nb::cpp_function(
          SetOpName, nb::is_method(), nb::name("set_op_name"), nb::scope(instruction), nb::arg("op_name"),
          "Sets the op_name of its metadata.\n\n" KASHI_SAMPLE_MODULE
          ">>> m.entry.root.set_op_name('layer/neg')\n>>> m.entry.root.metadata\n{'op_name': 'layer/neg'}"));
  add(module, "remove_dead_code",
      nb::cpp_function(
          RemoveDeadCode, nb::is_method(), nb::name("remove_dead_code"), nb::scope(module),
          "Removes what the results do not need. Returns whether it removed anything.\n\n" KASHI_SAMPLE_MODULE
          ">>> extra = m.entry.add('abs', [m.entry.root])\n>>> m.remove_dead_code(), m.remove_dead_code()\n(True, "
          "False)"));
}

}  // namespace kashi::python
