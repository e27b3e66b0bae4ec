// kashi.XlaBuilder: XLA's builder (kashi/hlo/builder), a method an operation (builder.h).
#include "builder.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "arrays.h"
#include "kashi/array/primitive_util.h"
#include "kashi/hlo/attributes/enum_text.h"
#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/hlo/attributes/hlo_sharding_text.h"

namespace kashi::python {

// ---- From Python and back. ------------------------------------------------------------------------------------------

OpRef BuilderRef::Return(XlaOp op) const {
  ThrowUnlessOk(builder->first_error());
  return {builder, op};
}

Shape ShapeOf(const OpRef& op) { return ValueOrThrow(op.builder->GetShape(op.op)); }

Literal LiteralOf(nb::handle array) {
  const ArrayView view = ViewOf(array);
  const Shape shape = ValueOrThrow(ShapeUtil::MakeValidatedShape(view.type, view.dimensions));
  return ValueOrThrow(ValueOfArgument(view.array, shape, "the constant").ToLiteral(shape));
}

XlaOp BuilderRef::Op(nb::handle operand, const OpRef* like) const {
  if (nb::isinstance<OpRef>(operand)) {
    const OpRef& op = nb::cast<const OpRef&>(operand);
    if (op.builder != builder) ThrowValueError("the operation is of another builder");
    return op.op;
  }
  if (like == nullptr) ThrowTypeError("an operand must be a kashi.XlaOp");
  const nb::handle dtype = DtypeOf(ShapeOf(*like).element_type());
  if (!dtype.is_valid()) ThrowTypeError("a number is an operand of arrays only");
  return ConstantLiteral(get(), LiteralOf(nb::module_::import_("numpy").attr("asarray")(operand, dtype)));
}

std::vector<XlaOp> BuilderRef::Ops(nb::handle operands) const {
  std::vector<XlaOp> ops;
  for (const nb::handle operand : operands) ops.push_back(Op(operand));
  return ops;
}

std::vector<XlaOp> BuilderRef::SomeOps(nb::handle operands) const {
  std::vector<XlaOp> ops = Ops(operands);
  if (ops.empty()) ThrowValueError("there must be at least one operand");
  return ops;
}

XlaComputation ComputationOf(const ModuleRef& module) {
  std::shared_ptr<const HloModule> copy = module.state->module->Clone("");
  return XlaComputation(copy, copy->entry_computation()->ComputeProgramShape());
}

Pairs PairsOf(nb::handle pairs, const char* name) {
  Pairs made;
  for (const nb::handle pair : pairs) {
    const Numbers numbers = IntegersOf(pair, name);
    if (numbers.size() != 2) ThrowValueError(absl::StrCat(name, " must be pairs"));
    made.emplace_back(numbers[0], numbers[1]);
  }
  return made;
}

std::vector<ReplicaGroup> GroupsOf(nb::handle groups) {
  std::vector<ReplicaGroup> made;
  for (const nb::handle group : groups) {
    ReplicaGroup& added = made.emplace_back();
    for (const int64_t id : IntegersOf(group, "replica_groups")) added.add_replica_ids(id);
  }
  return made;
}

std::optional<PrimitiveType> OptionalType(nb::handle type) {
  if (type.is_none()) return std::nullopt;
  return ElementTypeOfArgument(type);
}

std::optional<PrecisionConfig> PrecisionOf(nb::handle precision) {
  if (precision.is_none()) return std::nullopt;
  PrecisionConfig config;
  if (nb::isinstance<nb::str>(precision)) {
    config.set_algorithm(ValueOrThrow(StringToAlgorithm(ToBytes(precision))));
    return config;
  }
  for (const nb::handle name : precision) {
    config.add_operand_precision(ValueOrThrow(StringToPrecision(absl::AsciiStrToLower(ToBytes(name)))));
  }
  return config;
}

std::optional<ResultAccuracy> AccuracyOf(nb::handle accuracy) {
  if (accuracy.is_none()) return std::nullopt;
  ResultAccuracy made;
  if (nb::isinstance<nb::str>(accuracy)) {
    made.set_mode(ValueOrThrow(StringToResultAccuracy(absl::AsciiStrToLower(ToBytes(accuracy)))));
    return made;
  }
  if (!nb::isinstance<nb::dict>(accuracy)) ThrowTypeError("result_accuracy must be a name or a dict");
  ResultAccuracy::Tolerance& tolerance = *made.mutable_tolerance();
  for (const auto& [key, value] : nb::cast<nb::dict>(accuracy)) {
    const std::string name = ToBytes(key);
    if (name == "atol") {
      tolerance.set_atol(nb::cast<double>(value));
    } else if (name == "rtol") {
      tolerance.set_rtol(nb::cast<double>(value));
    } else if (name == "ulps") {
      tolerance.set_ulps(nb::cast<int64_t>(value));
    } else {
      ThrowValueError(absl::StrCat("result_accuracy has atol, rtol and ulps, but no ", name));
    }
  }
  return made;
}

Padding PaddingNamed(const std::string& name) {
  const std::string lower = absl::AsciiStrToLower(name);
  if (lower == "same") return Padding::kSame;
  if (lower == "valid") return Padding::kValid;
  ThrowValueError(absl::StrCat("padding must be 'same' or 'valid', not '", name, "'"));
}

ChannelHandle ChannelOf(int64_t id, ChannelHandle::ChannelType type) {
  ChannelHandle channel;
  channel.set_handle(id);
  channel.set_type(type);
  return channel;
}

std::optional<ChannelHandle> ChannelOf(nb::handle id) {
  if (id.is_none()) return std::nullopt;
  return ChannelOf(nb::cast<int64_t>(id), ChannelHandle::DEVICE_TO_DEVICE);
}

std::optional<bool> OptionalBool(nb::handle value) {
  if (value.is_none()) return std::nullopt;
  return nb::cast<bool>(value);
}

OpSharding ShardingOf(const std::string& text) { return ParsedOrThrow(ParseSharding(text)).ToProto(); }

ShapeIndex ShapeIndexOf(nb::handle numbers, const char* name) {
  const Numbers list = IntegersOf(numbers, name);
  return ShapeIndex(list.begin(), list.end());
}

// ---- The class. -----------------------------------------------------------------------------------------------------

namespace {

ModuleRef ModuleOf(const XlaComputation& computation) {
  const std::shared_ptr<const HloModule> module = ValueOrThrow(computation.GetModule());
  return {std::make_shared<ModuleState>(module->Clone(""))};
}

ModuleRef Build(const BuilderRef& b, nb::handle root) {
  return ModuleOf(root.is_none() ? ValueOrThrow(b.builder->Build()) : ValueOrThrow(b.builder->Build(b.Op(root))));
}

FrontendAttributes AttributesOfDict(const nb::dict& attributes) {
  FrontendAttributes made;
  for (const auto& [key, value] : attributes) (*made.mutable_map())[ToBytes(key)] = ToBytes(value);
  return made;
}

HloInputOutputAliasConfig::AliasKind AliasKindNamed(const std::string& name) {
  if (name == "may") return HloInputOutputAliasConfig::kMayAlias;
  if (name == "must") return HloInputOutputAliasConfig::kMustAlias;
  ThrowValueError(absl::StrCat("kind must be 'may' or 'must', not '", name, "'"));
}

}  // namespace

void DefineAttributes(Class& builder) {
  builder
      .def(
          "SetOpMetadata",
          [](const BuilderRef& b, const std::string& op_type, const std::string& op_name, const std::string& file,
             int32_t line) {
            OpMetadata metadata;
            metadata.set_op_type(op_type);
            metadata.set_op_name(op_name);
            metadata.set_source_file(file);
            metadata.set_source_line(line);
            b.builder->SetOpMetadata(std::move(metadata));
          },
          nb::arg("op_type") = "", nb::arg("op_name") = "", nb::arg("source_file") = "", nb::arg("source_line") = 0,
          "The metadata of all following operations.")
      .def(
          "ClearOpMetadata", [](const BuilderRef& b) { b.builder->ClearOpMetadata(); },
          "Following operations have no metadata.")
      .def(
          "SetSharding",
          [](const BuilderRef& b, const std::string& sharding) { b.builder->SetSharding(ShardingOf(sharding)); },
          nb::arg("sharding"), "The sharding of all following operations, as HLO's text: '{devices=[2,1]0,1}'.")
      .def(
          "ClearSharding", [](const BuilderRef& b) { b.builder->ClearSharding(); },
          "Following operations have no sharding.")
      .def(
          "SetFrontendAttributes",
          [](const BuilderRef& b, const nb::dict& attributes) {
            b.builder->SetFrontendAttributes(AttributesOfDict(attributes));
          },
          nb::arg("attributes"), "The frontend attributes of all following operations, a dict of texts.")
      .def(
          "ClearFrontendAttributes", [](const BuilderRef& b) { b.builder->ClearFrontendAttributes(); },
          "Following operations have no frontend attributes.")
      .def(
          "SetUpAlias",
          [](const BuilderRef& b, nb::handle output, int64_t parameter, nb::handle index, const std::string& kind) {
            b.builder->SetUpAlias(ShapeIndexOf(output, "output_index"), parameter, ShapeIndexOf(index, "param_index"),
                                  AliasKindNamed(kind));
          },
          nb::arg("output_index"), nb::arg("param_number"), nb::arg("param_index") = nb::tuple(),
          nb::arg("kind") = "may", "An array of the result that may, or must, be in the memory of an argument's array.")
      .def(
          "AddBufferDonor",
          [](const BuilderRef& b, int64_t parameter, nb::handle index) {
            b.builder->AddBufferDonor(parameter, ShapeIndexOf(index, "param_index"));
          },
          nb::arg("param_number"), nb::arg("param_index") = nb::tuple(),
          "An array of an argument whose memory the program may use for its results.");
}

void BindBuilder(nb::module_& m) {
  DefineOperators(m);
  Class builder(m, "XlaBuilder",
                "Makes programs, an operation a call. Names and meaning are XLA's; shapes are inferred.\n\n"
                ">>> import numpy as np\n"
                ">>> b = kashi.XlaBuilder('affine')\n"
                ">>> x = b.Parameter(0, 'f32[2,3]', 'x')\n"
                ">>> y = b.Add(2 * x, b.Constant(np.float32([1, 2, 3])), broadcast_dimensions=(1,))\n"
                ">>> kashi.evaluate(b.Build(), np.ones((2, 3), np.float32))\n"
                "array([[3., 4., 5.],\n       [3., 4., 5.]], dtype=float32)\n\n"
                "Computations that operations call are Modules. A method raises ValueError where XLA refuses; after\n"
                "that the builder is of no more use.");
  builder
      .def(
          "__init__",
          [](BuilderRef* self, const std::string& name) { new (self) BuilderRef{std::make_shared<XlaBuilder>(name)}; },
          nb::arg("name"))
      .def("Build", Build, nb::arg("root").none() = nb::none(),
           "The Module whose result is `root`, or the last operation. The builder is empty afterwards.")
      .def(
          "BuildConstantSubGraph",
          [](const BuilderRef& b, nb::handle root) {
            return ModuleOf(ValueOrThrow(b.builder->BuildConstantSubGraph(b.Op(root))));
          },
          nb::arg("root"), "The Module of an operation that IsConstant, with only what it needs. The builder stays.")
      .def(
          "IsConstant",
          [](const BuilderRef& b, nb::handle op) { return ValueOrThrow(b.builder->IsConstant(b.Op(op))); },
          nb::arg("operand"), "Whether the value depends on no parameter, random number, state or called program.")
      .def(
          "OpToString", [](const BuilderRef& b, nb::handle op) { return ToStr(b.builder->OpToString(b.Op(op))); },
          nb::arg("op"), "The operation and, indented, what it is made of.");
  builder.def_prop_ro(
      "name", [](const BuilderRef& b) { return ToStr(b.builder->name()); }, "The name of the program.");
  for (const auto define :
       {DefineInputs, DefineElementwise, DefineOtherElementwise, DefineMovement, DefineParts, DefinePartsInDim,
        DefineDynamicSizes, DefineContractions, DefineConvolutions, DefineLinearAlgebra, DefineReductions,
        DefineIndexing, DefineCalls, DefineCustomCalls, DefineCollectives, DefineTransfers, DefineAttributes}) {
    define(builder);
  }
}

}  // namespace kashi::python
