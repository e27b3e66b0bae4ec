#include "module.h"

#include <cctype>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "arrays.h"
#include "kashi/analysis/source_location.h"
#include "kashi/base/diagnostic.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/hlo/text/input_kind.h"
#include "kashi/proto/hlo_json.h"
#include "kashi/proto/hlo_proto_io.h"
#include "kashi/stablehlo/conversion/read_stablehlo.h"
#include "kashi/values/value.h"

namespace kashi::python {

std::shared_ptr<Cell> ModuleState::CellOf(const void* address) {
  const auto found = cells.find(address);
  if (found != cells.end()) return found->second->shared_from_this();
  auto cell = std::make_shared<Cell>(shared_from_this(), address);
  cells[address] = cell.get();
  return cell;
}

void ModuleState::DropRemoved() {
  absl::flat_hash_map<const void*, Cell*> kept;
  for (const HloComputation* computation : module->computations()) {
    if (const auto cell = cells.find(computation); cell != cells.end()) kept.insert(*cell);
    for (const HloInstruction* instruction : computation->instructions()) {
      if (const auto cell = cells.find(instruction); cell != cells.end()) kept.insert(*cell);
    }
  }
  for (const auto& [address, cell] : cells) {
    if (!kept.contains(address)) cell->address = nullptr;
  }
  cells = std::move(kept);
}

void ThrowRemoved() {
  PyErr_SetString(PyExc_ReferenceError, "it was removed from its module");
  throw nb::python_error();
}

nb::object LiteralArrays(const Literal& literal) {
  const auto budget = std::make_shared<MemoryBudget>(0);
  return ArraysOf(ValueOrThrow(Value::FromLiteral(literal, budget)));
}

namespace {

// ---- Reading. -------------------------------------------------------------------------------------------------------

// Bytes below a space, but white space, are in no text.
bool LooksBinary(absl::string_view bytes) {
  constexpr size_t kEnough = 4096;
  return absl::c_any_of(bytes.substr(0, kEnough),
                        [](char c) { return static_cast<unsigned char>(c) < ' ' && !absl::ascii_isspace(c); });
}

absl::StatusOr<std::unique_ptr<HloModule>> Read(absl::string_view bytes, const std::string& name) {
  if (stablehlo::IsStableHlo(bytes)) return stablehlo::ReadStableHlo(bytes, name);
  if (LooksLikeHloJson(bytes)) return HloModuleFromJson(bytes);
  bool is_text_proto = false;
  GuessHloProtoKind(bytes, &is_text_proto);
  if (is_text_proto || LooksBinary(bytes)) return ReadHloProto(bytes, nullptr);
  absl::StatusOr<std::unique_ptr<HloModule>> module =
      ParseAndReturnUnverifiedModule(bytes, HloModuleConfig(), HloParserOptions().set_source_name(name));
  if (module.ok()) (*module)->set_source_name(name);
  return module;
}

// The error; if the input is not a program at all, one that names the input's kind.
absl::Status OtherKind(absl::string_view bytes, const std::string& name, const absl::Status& error) {
  if (hlo::IsEmptyInput(bytes)) return InvalidArgument("%s is empty", name);
  const std::string other = hlo::DescribeOtherKind(bytes);
  return other.empty() ? error : InvalidArgument("%s: %s", name, other);
}

ModuleRef ParseBytes(nb::handle source, const std::string& name) {
  std::string copy;
  absl::string_view bytes;
  // bytes and most str are read where they are: nothing can change them meanwhile.
  Py_ssize_t size = 0;
  const nb::object held = nb::borrow(source);
  if (PyBytes_Check(source.ptr())) {
    bytes = absl::string_view(PyBytes_AS_STRING(source.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(source.ptr())));
  } else if (const char* const text = PyUnicode_AsUTF8AndSize(source.ptr(), &size)) {
    bytes = absl::string_view(text, static_cast<size_t>(size));
  } else {
    PyErr_Clear();
    copy = ToBytes(source);
    bytes = copy;
  }
  absl::StatusOr<std::unique_ptr<HloModule>> module;
  {
    const nb::gil_scoped_release release;
    module = Read(bytes, name);
    if (!module.ok()) module = OtherKind(bytes, name, module.status());
  }
  std::unique_ptr<HloModule> read = ParsedOrThrow(std::move(module));
  if (!read->has_entry_computation()) ThrowValueError("the module has no entry computation");
  return {std::make_shared<ModuleState>(std::move(read))};
}

// ---- Modules. -------------------------------------------------------------------------------------------------------

nb::bytes ToProto(const ModuleRef& module, const std::string& kind, bool text_format) {
  struct Row {
    absl::string_view name;
    HloProtoKind kind;
  };
  constexpr Row kKinds[] = {
      {"module", HloProtoKind::kModule}, {"hlo", HloProtoKind::kHlo}, {"snapshot", HloProtoKind::kSnapshot}};
  const auto* const row = absl::c_find_if(kKinds, [&](const Row& r) { return r.name == kind; });
  if (row == std::end(kKinds)) ThrowValueError("kind must be 'module', 'hlo' or 'snapshot'");
  std::string bytes;
  ThrowUnlessOk(WriteHloProto(*module.state->module, row->kind, text_format, &bytes));
  return nb::bytes(bytes.data(), bytes.size());
}

nb::tuple InstructionsOf(const ModuleRef& module) {
  nb::list all;
  for (const HloComputation* computation : module->MakeComputationPostOrder()) {
    for (const HloInstruction* instruction : module->InstructionOrder(*computation)) {
      all.append(nb::cast(RefTo(*module.state, instruction)));
    }
  }
  return nb::tuple(all);
}

ComputationRef ComputationNamed(const ModuleRef& module, const std::string& name) {
  const HloComputation* const found = module->GetComputationWithName(name);
  if (found == nullptr) {
    PyErr_SetObject(PyExc_KeyError, ToStr(name).ptr());
    throw nb::python_error();
  }
  return RefTo(*module.state, found);
}

InstructionRef InstructionNamed(const ComputationRef& computation, const std::string& name) {
  const HloInstruction* const found = computation->GetInstructionWithName(name);
  if (found == nullptr) {
    PyErr_SetObject(PyExc_KeyError, ToStr(name).ptr());
    throw nb::python_error();
  }
  return RefTo(computation.state(), found);
}

nb::str Repr(const ModuleRef& module) {
  return ToStr(absl::StrCat("<kashi.Module ", module->name(), ": ",
                            base::Count(module->computation_count(), "computation"), ", ",
                            base::Count(module->instruction_count(), "instruction"), ">"));
}

nb::object Html(const ModuleRef& module) {
  return nb::module_::import_("kashi.html").attr("module_page")(nb::cast(module));
}

void BindModule(nb::module_& m) {
  nb::class_<ModuleRef>(m, "Module",
                        "A program: computations, one of them the entry. Made by kashi.parse().\n\n"
                        ">>> m = kashi.parse('HloModule m\\nENTRY e {\\n  ROOT x = f32[2] parameter(0)\\n}\\n')\n"
                        ">>> m.name, m.entry.name, m.entry.root.opcode\n('m', 'e', 'parameter')")
      .def_prop_ro(
          "name", [](const ModuleRef& m) { return ToStr(m->name()); }, "The name after HloModule.")
      .def_prop_ro(
          "entry", [](const ModuleRef& m) { return RefTo(*m.state, m->entry_computation()); }, "The entry computation.")
      .def_prop_ro(
          "computations", [](const ModuleRef& m) { return RefsTo(*m.state, m->MakeComputationPostOrder()); },
          nb::sig("def computations(self) -> tuple[Computation, ...]"),
          "Those that the entry reaches, callees before callers.")
      .def_prop_ro("instructions", InstructionsOf, nb::sig("def instructions(self) -> tuple[Instruction, ...]"),
                   "Of all computations, operands before users.")
      .def_prop_ro(
          "program_shape", [](const ModuleRef& m) { return m->entry_computation()->ComputeProgramShape(); },
          "Parameters and result of the entry.")
      .def_prop_ro(
          "is_scheduled", [](const ModuleRef& m) { return m->has_schedule(); }, "Whether it has an order of execution.")
      .def("computation", ComputationNamed, nb::arg("name"),
           "The computation of this name. Raises KeyError.\n\n" KASHI_SAMPLE_MODULE
           ">>> m.computation('e').root.name\n'y'")
      .def("to_proto", ToProto, nb::arg("kind") = "module", nb::kw_only(), nb::arg("text_format") = false,
           "The bytes of an HloModuleProto ('module'), HloProto ('hlo') or HloSnapshot "
           "('snapshot').\n\n" KASHI_SAMPLE_MODULE
           ">>> kashi.parse(m.to_proto()).equal(m)\nTrue\n\nRaises ValueError for another kind.")
      .def(
          "to_json", [](const ModuleRef& m) { return ToStr(ValueOrThrow(HloModuleToJson(*m.state->module))); },
          "protobuf's JSON form of the HloModuleProto.\n\n" KASHI_SAMPLE_MODULE
          ">>> kashi.parse(m.to_json()).equal(m)\nTrue")
      .def(
          "clone",
          [](const ModuleRef& m) { return ModuleRef{std::make_shared<ModuleState>(m.state->module->Clone(""))}; },
          "A deep copy.\n\n" KASHI_SAMPLE_MODULE
          ">>> copy = m.clone()\n>>> copy.entry.set_root(copy.entry.parameters[0])\n"
          ">>> m.entry.root.name\n'y'")
      .def(
          "fingerprint", [](const ModuleRef& m) { return ToStr(m->GetFingerprint128()); },
          "A hash of the program without names and metadata: 32 hexadecimal digits, the same on every "
          "machine.\n\n" KASHI_SAMPLE_MODULE
          ">>> len(m.fingerprint()), m.fingerprint() == m.clone().fingerprint()\n(32, True)")
      .def(
          "equal",
          [](const ModuleRef& m, const ModuleRef& other, bool layouts) {
            return m->Equal(*other.state->module, layouts);
          },
          nb::arg("other"), nb::kw_only(), nb::arg("layout_sensitive") = true,
          "Whether the graphs are the same.\n\n" KASHI_SAMPLE_MODULE ">>> m.equal(m.clone())\nTrue")
      .def("__str__", [](const ModuleRef& m) { return ToStr(m->ToString()); })
      .def("__repr__", Repr)
      .def("_repr_html_", Html)
      .def("__reduce__", [](const ModuleRef& m) {
        return nb::make_tuple(nb::module_::import_("kashi").attr("parse"), nb::make_tuple(ToProto(m, "module", false)));
      });
}

void BindComputation(nb::module_& m) {
  nb::class_<ComputationRef>(
      m, "Computation",
      "A function of a program: a graph of instructions.\n\n" KASHI_SAMPLE_MODULE
      ">>> e = m.entry\n>>> e.name, e.root.name, [p.name for p in e.parameters], [i.opcode for i in e.instructions]\n"
      "('e', 'y', ['x'], ['parameter', 'negate'])\n"
      ">>> str(e.program_shape), e.is_entry, e.is_fusion, e.callers\n"
      "('(x: f32[2,3]) -> f32[2,3]', True, False, ())")
      .def_prop_ro(
          "name", [](const ComputationRef& c) { return ToStr(c->name()); }, "Its name, without %.")
      .def_prop_ro(
          "module", [](const ComputationRef& c) { return ModuleRef{c.cell->state}; }, "The Module that it is in.")
      .def_prop_ro(
          "root", [](const ComputationRef& c) { return RefTo(c.state(), c->root_instruction()); },
          "The instruction that is the result.")
      .def_prop_ro(
          "parameters", [](const ComputationRef& c) { return RefsTo(c.state(), c->parameter_instructions()); },
          nb::sig("def parameters(self) -> tuple[Instruction, ...]"), "By their numbers.")
      .def_prop_ro(
          "instructions",
          [](const ComputationRef& c) { return RefsTo(c.state(), c.state().module->InstructionOrder(*c.get())); },
          nb::sig("def instructions(self) -> tuple[Instruction, ...]"), "Operands before users.")
      .def_prop_ro(
          "program_shape", [](const ComputationRef& c) { return c->ComputeProgramShape(); },
          "The ProgramShape: parameters and result.")
      .def_prop_ro(
          "is_entry", [](const ComputationRef& c) { return c->IsEntryComputation(); },
          "Whether the program begins with it.")
      .def_prop_ro(
          "is_fusion", [](const ComputationRef& c) { return c->IsFusionComputation(); }, "Whether a fusion calls it.")
      .def_prop_ro(
          "callers", [](const ComputationRef& c) { return RefsTo(c.state(), c->caller_instructions()); },
          "The instructions that call it.")
      .def("instruction", InstructionNamed, nb::arg("name"),
           "The instruction of this name. Raises KeyError.\n\n" KASHI_SAMPLE_MODULE
           ">>> m.entry.instruction('x').shape\nShape('f32[2,3]{1,0}')")
      .def("__str__", [](const ComputationRef& c) { return ToStr(c->ToString()); })
      .def("__repr__",
           [](const ComputationRef& c) { return ToStr(absl::StrCat("<kashi.Computation ", c->name(), ">")); })
      .def(
          "__eq__", [](const ComputationRef& a, const ComputationRef& b) { return a == b; }, nb::is_operator(),
          nb::sig("def __eq__(self, arg: object, /) -> bool"))
      .def("__hash__", [](const ComputationRef& c) { return reinterpret_cast<intptr_t>(c.cell.get()); });
}

// ---- Instructions. --------------------------------------------------------------------------------------------------

nb::dict MetadataOf(const InstructionRef& instruction) {
  const OpMetadata& metadata = instruction->metadata();
  nb::dict facts;
  if (!metadata.op_name().empty()) facts["op_name"] = ToStr(metadata.op_name());
  if (!metadata.op_type().empty()) facts["op_type"] = ToStr(metadata.op_type());
  if (!metadata.source_file().empty()) facts["source_file"] = ToStr(metadata.source_file());
  if (metadata.source_line() != 0) facts["source_line"] = metadata.source_line();
  if (metadata.stack_frame_id() != 0) facts["stack_frame_id"] = metadata.stack_frame_id();
  if (!metadata.scheduling_name().empty()) facts["scheduling_name"] = ToStr(metadata.scheduling_name());
  return facts;
}

// (file, line) of the user's program, or None.
nb::object SourceOf(const InstructionRef& instruction) {
  const SourceLocation location = GetSourceLocation(*instruction.get());
  if (location.file.empty()) return nb::none();
  return nb::make_tuple(ToStr(location.file), location.line);
}

nb::object ConstantOf(const InstructionRef& instruction) {
  if (!instruction->IsConstant()) ThrowTypeError(absl::StrCat(instruction->name(), " is not a constant"));
  const SharedLiteral& literal = instruction->shared_literal();
  if (!literal) ThrowValueError("the constant has no elements");
  return LiteralArrays(*literal);
}

nb::dict FrontendAttributesOf(const InstructionRef& instruction) {
  nb::dict attributes;
  for (const auto& [key, value] : instruction->frontend_attributes().map()) attributes[ToStr(key)] = ToStr(value);
  return attributes;
}

void BindInstructionFacts(nb::class_<InstructionRef>& instruction) {
  instruction
      .def_prop_ro(
          "name", [](const InstructionRef& i) { return ToStr(i->name()); }, "Its name, without %.")
      .def_prop_ro(
          "opcode", [](const InstructionRef& i) { return ToStr(HloOpcodeString(i->opcode())); },
          "The name of the operation: 'add', 'dot', …")
      .def_prop_ro(
          "shape", [](const InstructionRef& i) { return i->shape(); }, "The Shape of its value.")
      .def_prop_ro(
          "operands", [](const InstructionRef& i) { return RefsTo(i.state(), i->operands()); },
          nb::sig("def operands(self) -> tuple[Instruction, ...]"), "In order.")
      .def_prop_ro(
          "users", [](const InstructionRef& i) { return RefsTo(i.state(), i->users()); },
          nb::sig("def users(self) -> tuple[Instruction, ...]"), "Each user once.")
      .def_prop_ro(
          "control_predecessors", [](const InstructionRef& i) { return RefsTo(i.state(), i->control_predecessors()); },
          "Those that run before it, although it does not use their values.")
      .def_prop_ro(
          "control_successors", [](const InstructionRef& i) { return RefsTo(i.state(), i->control_successors()); },
          "Those that run after it, although they do not use its value.")
      .def_prop_ro(
          "called_computations", [](const InstructionRef& i) { return RefsTo(i.state(), i->called_computations()); },
          "The Computations that it calls, such as those of to_apply and body.")
      .def_prop_ro(
          "computation", [](const InstructionRef& i) { return RefTo(i.state(), i->parent()); },
          "The Computation that it is in.")
      .def_prop_ro(
          "module", [](const InstructionRef& i) { return ModuleRef{i.cell->state}; }, "The Module that it is in.")
      .def_prop_ro(
          "is_root", [](const InstructionRef& i) { return i->IsRoot(); },
          "Whether its value is the result of its computation.")
      .def_prop_ro("attributes", AttributesOf,
                   "The attributes of the operation (docs/ops.md) as int, bool, float, tuples, Computation, or "
                   "text.\n\n" KASHI_SAMPLE_MODULE
                   ">>> m.entry.add('transpose', [m.entry.root], dimensions=(1, 0)).attributes\n{'dimensions': (1, 0)}")
      .def_prop_ro("metadata", MetadataOf, "op_name, source_file, source_line, …: those that it has.")
      .def_prop_ro("source", SourceOf, nb::sig("def source(self) -> tuple[str, int] | None"),
                   "(file, line) of the user's program, or None.")
      .def_prop_ro(
          "line", [](const InstructionRef& i) { return i->text_place().line; },
          "The line of the text that the module was read from; 0 if there is none.")
      .def_prop_ro("value", ConstantOf, nb::sig("def value(self) -> typing.Any"),
                   "The elements of a constant. TypeError for others.\n\n" KASHI_SAMPLE_MODULE
                   ">>> m.entry.add('constant', value=[1, 2]).value\narray([1, 2])")
      .def_prop_ro(
          "sharding",
          [](const InstructionRef& i) {
            return i->has_sharding() ? nb::object(ToStr(i->sharding().ToString())) : nb::object(nb::none());
          },
          nb::sig("def sharding(self) -> str | None"), "The text of the sharding, or None.")
      .def_prop_ro("frontend_attributes", FrontendAttributesOf, "The notes of the program that made it: a dict of str.")
      .def_prop_ro(
          "backend_config", [](const InstructionRef& i) { return ToStr(i->raw_backend_config_string()); },
          "Its backend_config as it is in the program, a str.");
}

void BindInstruction(nb::module_& m) {
  nb::class_<InstructionRef> instruction(
      m, "Instruction",
      "One operation of a computation. A handle: it keeps its module alive, and raises ReferenceError after the\n"
      "instruction was removed.\n\n" KASHI_SAMPLE_MODULE
      ">>> y = m.entry.root\n>>> y.opcode, y.shape, [x.name for x in y.operands], y.users, y.is_root, y.line\n"
      "('negate', Shape('f32[2,3]{1,0}'), ['x'], (), True, 4)\n"
      ">>> y.attributes, y.metadata, y.source, y.sharding\n({}, {}, None, None)");
  BindInstructionFacts(instruction);
  instruction.def("__str__", [](const InstructionRef& i) { return ToStr(i->ToString()); })
      .def("__repr__",
           [](const InstructionRef& i) {
             if (i.cell->address == nullptr) return ToStr("<kashi.Instruction, removed>");
             return ToStr(absl::StrCat("<kashi.Instruction ", i->name(), " = ", i->shape().ToString(true), " ",
                                       HloOpcodeString(i->opcode()), ">"));
           })
      .def(
          "__eq__", [](const InstructionRef& a, const InstructionRef& b) { return a == b; }, nb::is_operator(),
          nb::sig("def __eq__(self, arg: object, /) -> bool"))
      .def("__hash__", [](const InstructionRef& i) { return reinterpret_cast<intptr_t>(i.cell.get()); });
}

nb::list OpTable() {
  nb::list rows;
  for (uint32_t i = 0; i < HloOpcodeCount(); ++i) {
    const HloOpcodeInfo& info = GetHloOpcodeInfo(static_cast<HloOpcode>(i));
    nb::list attributes;
    for (const HloOpcodeAttribute& entry : info.attributes) attributes.append(ToStr(HloAttributeName(entry.attribute)));
    nb::dict row;
    row["opcode"] = ToStr(info.name);
    row["operands"] = info.arity < 0 ? nb::object(nb::none()) : nb::object(nb::int_(info.arity));
    row["attributes"] = nb::tuple(attributes);
    row["infers_shape"] = info.Has(HloOpcodeFlags::kInferable);
    row["doc"] = ToStr(info.doc);
    rows.append(row);
  }
  return rows;
}

}  // namespace

const ModuleRef& ModuleOfArgument(nb::handle module, absl::string_view function) {
  if (nb::isinstance<ModuleRef>(module)) return nb::cast<const ModuleRef&>(module);
  ThrowTypeError(
      absl::StrCat("kashi.", function, "() takes a kashi.Module, which kashi.parse() makes, not ", TypeNameOf(module)));
}

void BindModules(nb::module_& m) {
  BindModule(m);
  BindComputation(m);
  BindInstruction(m);
  m.def("parse_bytes", ParseBytes, nb::arg("source"), nb::arg("name") = "hlo",
        "The module of HLO text, of a proto or of JSON; `name` is for messages. Use kashi.parse().");
  m.def("ops", OpTable,
        "The operations of HLO: rows with `opcode`, `operands` (None: any number), `attributes`, `infers_shape` and\n"
        "`doc`.\n\n"
        ">>> [row['operands'] for row in kashi.ops() if row['opcode'] == 'clamp']\n[3]");
}

}  // namespace kashi::python
