// kashi.XlaBuilder: XLA's builder (kashi/hlo/builder), a method an operation.
//
// XLA's builder keeps the first error until Build; here a method raises it at once. A computation that an operation
// calls is a Module, which is copied.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "arrays.h"
#include "kashi/array/primitive_util.h"
#include "kashi/hlo/builder/xla_builder.h"
#include "module.h"
#include "sequences.h"

namespace kashi::python {
namespace {

struct BuilderRef {
  std::shared_ptr<XlaBuilder> builder;
};
struct OpRef {
  std::shared_ptr<XlaBuilder> builder;  // which the operation must not outlive
  XlaOp op;
};

// ---- From Python and back. ------------------------------------------------------------------------------------------

OpRef Made(const std::shared_ptr<XlaBuilder>& builder, XlaOp op) {
  ThrowUnlessOk(builder->first_error());
  return {builder, op};
}

Shape ShapeOf(const OpRef& op) { return ValueOrThrow(op.builder->GetShape(op.op)); }

Literal LiteralOf(nb::handle array) {
  const ArrayView view = ViewOf(array);
  const Shape shape = ValueOrThrow(ShapeUtil::MakeValidatedShape(view.type, view.dimensions));
  return ValueOrThrow(ValueOfArgument(view.array, shape, "the constant").ToLiteral(shape));
}

// An operation of the builder, or a number as a constant of the type of `like`.
XlaOp OperandOf(const std::shared_ptr<XlaBuilder>& builder, nb::handle operand, const OpRef* like = nullptr) {
  if (nb::isinstance<OpRef>(operand)) {
    const OpRef& op = nb::cast<const OpRef&>(operand);
    if (op.builder != builder) ThrowValueError("the operation is of another builder");
    return op.op;
  }
  if (like == nullptr) ThrowTypeError("an operand must be a kashi.XlaOp");
  const nb::handle dtype = DtypeOf(ShapeOf(*like).element_type());
  if (!dtype.is_valid()) ThrowTypeError("a number is an operand of arrays only");
  return ConstantLiteral(builder.get(), LiteralOf(nb::module_::import_("numpy").attr("asarray")(operand, dtype)));
}

std::vector<XlaOp> OperandsOf(const std::shared_ptr<XlaBuilder>& builder, nb::handle operands) {
  std::vector<XlaOp> ops;
  for (const nb::handle operand : operands) ops.push_back(OperandOf(builder, operand));
  return ops;
}

XlaComputation ComputationOf(const ModuleRef& module) {
  std::shared_ptr<const HloModule> copy = module.state->module->Clone("");
  return XlaComputation(copy, copy->entry_computation()->ComputeProgramShape());
}

std::vector<std::pair<int64_t, int64_t>> PairsOf(nb::handle pairs, const char* name) {
  std::vector<std::pair<int64_t, int64_t>> made;
  for (const nb::handle pair : pairs) {
    const std::vector<int64_t> numbers = IntegersOf(pair, name);
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

// ---- Methods. Each takes the builder, and operands as handles. ------------------------------------------------------

using Class = nb::class_<BuilderRef>;
using Unary = XlaOp (*)(XlaOp);
using Binary = XlaOp (*)(XlaOp, XlaOp, absl::Span<const int64_t>);

OpRef CallBinary(Binary function, const BuilderRef& b, nb::handle lhs, nb::handle rhs, nb::handle dimensions) {
  // One of the two may be a number.
  const OpRef* const left = nb::isinstance<OpRef>(lhs) ? &nb::cast<const OpRef&>(lhs) : nullptr;
  const OpRef* const right = nb::isinstance<OpRef>(rhs) ? &nb::cast<const OpRef&>(rhs) : nullptr;
  const XlaOp x = OperandOf(b.builder, lhs, right), y = OperandOf(b.builder, rhs, left);
  return Made(b.builder, function(x, y, IntegersOf(dimensions, "broadcast_dimensions")));
}

void DefineUnary(Class& builder, const char* name, Unary function, const std::string& doc) {
  builder.def(
      name,
      [function](const BuilderRef& b, nb::handle operand) {
        return Made(b.builder, function(OperandOf(b.builder, operand)));
      },
      nb::arg("operand"), doc.c_str());
}
void DefineBinary(Class& builder, const char* name, Binary function, const std::string& doc) {
  builder.def(
      name,
      [function](const BuilderRef& b, nb::handle lhs, nb::handle rhs, nb::handle dimensions) {
        return CallBinary(function, b, lhs, rhs, dimensions);
      },
      nb::arg("lhs"), nb::arg("rhs"), nb::arg("broadcast_dimensions") = nb::tuple(), doc.c_str());
}

// The line of docs/ops.md.
std::string DocOf(HloOpcode opcode) { return std::string(GetHloOpcodeInfo(opcode).doc); }

void DefineElementwise(Class& builder) {
#define KASHI_UNARY(function, opcode) \
  DefineUnary(                        \
      builder, #function, [](XlaOp x) { return function(x); }, DocOf(HloOpcode::opcode));
#define KASHI_UNARY_ACCURACY(function, opcode) KASHI_UNARY(function, opcode)
#define KASHI_BINARY(function, opcode)                                                                     \
  DefineBinary(                                                                                            \
      builder, #function, [](XlaOp x, XlaOp y, absl::Span<const int64_t> d) { return function(x, y, d); }, \
      DocOf(HloOpcode::opcode));
#define KASHI_COMPARISON(function, direction)                                                              \
  DefineBinary(                                                                                            \
      builder, #function, [](XlaOp x, XlaOp y, absl::Span<const int64_t> d) { return function(x, y, d); }, \
      "compare, direction=" #direction);
#include "kashi/hlo/builder/xla_builder_ops.def"
  DefineUnary(builder, "Conj", Conj, "The complex conjugate.");
  builder
      .def(
          "Select",
          [](const BuilderRef& b, nb::handle pred, nb::handle on_true, nb::handle on_false) {
            return Made(b.builder, Select(OperandOf(b.builder, pred), OperandOf(b.builder, on_true),
                                          OperandOf(b.builder, on_false)));
          },
          nb::arg("pred"), nb::arg("on_true"), nb::arg("on_false"), "on_true where pred is true, on_false elsewhere.")
      .def(
          "Clamp",
          [](const BuilderRef& b, nb::handle min, nb::handle operand, nb::handle max) {
            return Made(b.builder,
                        Clamp(OperandOf(b.builder, min), OperandOf(b.builder, operand), OperandOf(b.builder, max)));
          },
          nb::arg("min"), nb::arg("operand"), nb::arg("max"), "The operand, but at least min and at most max.")
      .def(
          "ConvertElementType",
          [](const BuilderRef& b, nb::handle operand, nb::handle type) {
            return Made(b.builder, ConvertElementType(OperandOf(b.builder, operand), ElementTypeOfArgument(type)));
          },
          nb::arg("operand"), nb::arg("new_element_type"), "The values in another element type ('bf16', a dtype).")
      .def(
          "BitcastConvertType",
          [](const BuilderRef& b, nb::handle operand, nb::handle type) {
            return Made(b.builder, BitcastConvertType(OperandOf(b.builder, operand), ElementTypeOfArgument(type)));
          },
          nb::arg("operand"), nb::arg("new_element_type"), "The bits as another element type.");
}

void DefineInputs(Class& builder) {
  builder
      .def(
          "Parameter",
          [](const BuilderRef& b, int64_t number, nb::handle shape, const std::string& name) {
            return Made(b.builder, Parameter(b.builder.get(), number, ShapeOfArgument(shape), name));
          },
          nb::arg("parameter_number"), nb::arg("shape"), nb::arg("name") = "p",
          "Parameter 0, 1, … of a shape (a Shape or its text).")
      .def(
          "Constant",
          [](const BuilderRef& b, nb::handle array) {
            return Made(b.builder, ConstantLiteral(b.builder.get(), LiteralOf(array)));
          },
          nb::arg("array"), "The elements of an array.")
      .def(
          "Iota",
          [](const BuilderRef& b, nb::handle shape, int64_t dimension) {
            return Made(b.builder, Iota(b.builder.get(), ShapeOfArgument(shape), dimension));
          },
          nb::arg("shape"), nb::arg("iota_dimension") = 0, "0, 1, 2, … along a dimension.")
      .def(
          "Tuple",
          [](const BuilderRef& b, nb::handle elements) {
            return Made(b.builder, Tuple(b.builder.get(), OperandsOf(b.builder, elements)));
          },
          nb::arg("elements"), "A tuple of operations.")
      .def(
          "GetTupleElement",
          [](const BuilderRef& b, nb::handle tuple, int64_t index) {
            return Made(b.builder, GetTupleElement(OperandOf(b.builder, tuple), index));
          },
          nb::arg("tuple_data"), nb::arg("index"), "Element `index` of a tuple.");
}

OpRef PadOp(const BuilderRef& b, nb::handle operand, nb::handle value, nb::handle low, nb::handle high,
            nb::handle interior) {
  const std::vector<int64_t> lows = IntegersOf(low, "low"), highs = IntegersOf(high, "high");
  std::vector<int64_t> interiors(lows.size());
  if (!interior.is_none()) interiors = IntegersOf(interior, "interior");
  if (highs.size() != lows.size() || interiors.size() != lows.size()) {
    ThrowValueError("low, high and interior must have a number for each dimension");
  }
  PaddingConfig config;
  for (size_t i = 0; i < lows.size(); ++i) {
    PaddingConfigDimension* const dimension = config.add_dimensions();
    dimension->set_edge_padding_low(lows[i]);
    dimension->set_edge_padding_high(highs[i]);
    dimension->set_interior_padding(interiors[i]);
  }
  return Made(b.builder, Pad(OperandOf(b.builder, operand), OperandOf(b.builder, value), config));
}

// A method of one operand and a list of integers.
template <typename Function>
void DefineOnIntegers(Class& builder, const char* name, const char* list, Function function, const char* doc) {
  builder.def(
      name,
      [function, list](const BuilderRef& b, nb::handle operand, nb::handle numbers) {
        return Made(b.builder, function(OperandOf(b.builder, operand), IntegersOf(numbers, list)));
      },
      nb::arg("operand"), nb::arg(list), doc);
}

void DefineMovement(Class& builder) {
  using Numbers = std::vector<int64_t>;
  DefineOnIntegers(
      builder, "Broadcast", "broadcast_sizes", [](XlaOp x, const Numbers& n) { return Broadcast(x, n); },
      "New dimensions of these sizes in front.");
  DefineOnIntegers(
      builder, "Reshape", "dimensions", [](XlaOp x, const Numbers& n) { return Reshape(x, n); },
      "The elements in the same order in other sizes.");
  DefineOnIntegers(
      builder, "Collapse", "dimensions", [](XlaOp x, const Numbers& n) { return Collapse(x, n); },
      "Consecutive dimensions become one.");
  DefineOnIntegers(
      builder, "Transpose", "permutation", [](XlaOp x, const Numbers& n) { return Transpose(x, n); },
      "Dimension i of the result is permutation[i] of the operand.");
  DefineOnIntegers(
      builder, "Rev", "dimensions", [](XlaOp x, const Numbers& n) { return Rev(x, n); },
      "Reverses the order along these dimensions.");
}

void DefineParts(Class& builder) {
  builder
      .def(
          "BroadcastInDim",
          [](const BuilderRef& b, nb::handle operand, nb::handle sizes, nb::handle dimensions) {
            return Made(b.builder, BroadcastInDim(OperandOf(b.builder, operand), IntegersOf(sizes, "out_dim_size"),
                                                  IntegersOf(dimensions, "broadcast_dimensions")));
          },
          nb::arg("operand"), nb::arg("out_dim_size"), nb::arg("broadcast_dimensions"),
          "Dimension i of the operand is dimension broadcast_dimensions[i] of the result.")
      .def("Pad", PadOp, nb::arg("operand"), nb::arg("padding_value"), nb::arg("low"), nb::arg("high"),
           nb::arg("interior").none() = nb::none(), "Pads each dimension, at its ends and between elements.")
      .def(
          "Slice",
          [](const BuilderRef& b, nb::handle operand, nb::handle starts, nb::handle limits, nb::handle strides) {
            const std::vector<int64_t> begin = IntegersOf(starts, "start_indices");
            std::vector<int64_t> steps(begin.size(), 1);
            if (!strides.is_none()) steps = IntegersOf(strides, "strides");
            return Made(b.builder,
                        Slice(OperandOf(b.builder, operand), begin, IntegersOf(limits, "limit_indices"), steps));
          },
          nb::arg("operand"), nb::arg("start_indices"), nb::arg("limit_indices"),
          nb::arg("strides").none() = nb::none(), "From start to before limit of each dimension.")
      .def(
          "DynamicSlice",
          [](const BuilderRef& b, nb::handle operand, nb::handle starts, nb::handle sizes) {
            return Made(b.builder, DynamicSlice(OperandOf(b.builder, operand), OperandsOf(b.builder, starts),
                                                IntegersOf(sizes, "slice_sizes")));
          },
          nb::arg("operand"), nb::arg("start_indices"), nb::arg("slice_sizes"),
          "A slice that begins at scalars, one for each dimension.")
      .def(
          "DynamicUpdateSlice",
          [](const BuilderRef& b, nb::handle operand, nb::handle update, nb::handle starts) {
            return Made(b.builder, DynamicUpdateSlice(OperandOf(b.builder, operand), OperandOf(b.builder, update),
                                                      OperandsOf(b.builder, starts)));
          },
          nb::arg("operand"), nb::arg("update"), nb::arg("start_indices"), "The operand with a slice replaced.")
      .def(
          "ConcatInDim",
          [](const BuilderRef& b, nb::handle operands, int64_t dimension) {
            return Made(b.builder, ConcatInDim(b.builder.get(), OperandsOf(b.builder, operands), dimension));
          },
          nb::arg("operands"), nb::arg("dimension"), "One behind the other along a dimension.");
}

OpRef DotGeneralOp(const BuilderRef& b, nb::handle lhs, nb::handle rhs, nb::handle lhs_contracting,
                   nb::handle rhs_contracting, nb::handle lhs_batch, nb::handle rhs_batch, nb::handle type) {
  DotDimensionNumbers numbers;
  for (const int64_t d : IntegersOf(lhs_contracting, "lhs_contracting_dimensions"))
    numbers.add_lhs_contracting_dimensions(d);
  for (const int64_t d : IntegersOf(rhs_contracting, "rhs_contracting_dimensions"))
    numbers.add_rhs_contracting_dimensions(d);
  for (const int64_t d : IntegersOf(lhs_batch, "lhs_batch_dimensions")) numbers.add_lhs_batch_dimensions(d);
  for (const int64_t d : IntegersOf(rhs_batch, "rhs_batch_dimensions")) numbers.add_rhs_batch_dimensions(d);
  return Made(b.builder,
              DotGeneral(OperandOf(b.builder, lhs), OperandOf(b.builder, rhs), numbers, nullptr, OptionalType(type)));
}

void DefineContractions(Class& builder) {
  builder
      .def(
          "Dot",
          [](const BuilderRef& b, nb::handle lhs, nb::handle rhs, nb::handle type) {
            return Made(b.builder,
                        Dot(OperandOf(b.builder, lhs), OperandOf(b.builder, rhs), nullptr, OptionalType(type)));
          },
          nb::arg("lhs"), nb::arg("rhs"), nb::arg("preferred_element_type").none() = nb::none(),
          "Contracts the last dimension of lhs with the first of rhs; ranks 1 and 2.")
      .def("DotGeneral", DotGeneralOp, nb::arg("lhs"), nb::arg("rhs"), nb::arg("lhs_contracting_dimensions"),
           nb::arg("rhs_contracting_dimensions"), nb::arg("lhs_batch_dimensions") = nb::tuple(),
           nb::arg("rhs_batch_dimensions") = nb::tuple(), nb::arg("preferred_element_type").none() = nb::none(),
           "Contracts and batches any dimensions. The result has batch, then lhs, then rhs dimensions.")
      .def(
          "ConvWithGeneralPadding",
          [](const BuilderRef& b, nb::handle lhs, nb::handle rhs, nb::handle strides, nb::handle padding,
             int64_t feature_groups, int64_t batch_groups) {
            return Made(b.builder, ConvWithGeneralPadding(OperandOf(b.builder, lhs), OperandOf(b.builder, rhs),
                                                          IntegersOf(strides, "window_strides"),
                                                          PairsOf(padding, "padding"), feature_groups, batch_groups));
          },
          nb::arg("lhs"), nb::arg("rhs"), nb::arg("window_strides"), nb::arg("padding"),
          nb::arg("feature_group_count") = 1, nb::arg("batch_group_count") = 1,
          "A convolution; lhs is batch, feature, spatial …, rhs output feature, input feature, spatial ….");
}

void DefineReductions(Class& builder) {
  builder
      .def(
          "Reduce",
          [](const BuilderRef& b, nb::handle operand, nb::handle init, const ModuleRef& computation,
             nb::handle dimensions) {
            return Made(b.builder, Reduce(OperandOf(b.builder, operand), OperandOf(b.builder, init),
                                          ComputationOf(computation), IntegersOf(dimensions, "dimensions_to_reduce")));
          },
          nb::arg("operand"), nb::arg("init_value"), nb::arg("computation"), nb::arg("dimensions_to_reduce"),
          "Folds dimensions by a Module of two scalars.")
      .def(
          "ReduceWindowWithGeneralPadding",
          [](const BuilderRef& b, nb::handle operand, nb::handle init, const ModuleRef& computation, nb::handle sizes,
             nb::handle strides, nb::handle padding) {
            const std::vector<int64_t> window = IntegersOf(sizes, "window_dimensions");
            const std::vector<int64_t> ones(window.size(), 1);
            return Made(b.builder,
                        ReduceWindowWithGeneralPadding(
                            OperandOf(b.builder, operand), OperandOf(b.builder, init), ComputationOf(computation),
                            window, IntegersOf(strides, "window_strides"), ones, ones, PairsOf(padding, "padding")));
          },
          nb::arg("operand"), nb::arg("init_value"), nb::arg("computation"), nb::arg("window_dimensions"),
          nb::arg("window_strides"), nb::arg("padding"), "Folds each window.")
      .def(
          "Sort",
          [](const BuilderRef& b, nb::handle operands, const ModuleRef& comparator, int64_t dimension, bool is_stable) {
            return Made(b.builder,
                        Sort(OperandsOf(b.builder, operands), ComputationOf(comparator), dimension, is_stable));
          },
          nb::arg("operands"), nb::arg("comparator"), nb::arg("dimension") = -1, nb::arg("is_stable") = false,
          "Sorts along a dimension, by a Module that says whether the first of two comes first.")
      .def(
          "TopK",
          [](const BuilderRef& b, nb::handle operand, int64_t k, bool largest) {
            return Made(b.builder, TopK(OperandOf(b.builder, operand), k, largest));
          },
          nb::arg("operand"), nb::arg("k"), nb::arg("largest") = true,
          "The k largest or smallest of the last dimension, and their indices.");
}

void DefineCalls(Class& builder) {
  builder
      .def(
          "Call",
          [](const BuilderRef& b, const ModuleRef& computation, nb::handle operands) {
            return Made(b.builder, Call(b.builder.get(), ComputationOf(computation), OperandsOf(b.builder, operands)));
          },
          nb::arg("computation"), nb::arg("operands"), "The result of a Module.")
      .def(
          "While",
          [](const BuilderRef& b, const ModuleRef& condition, const ModuleRef& body, nb::handle init) {
            return Made(b.builder, While(ComputationOf(condition), ComputationOf(body), OperandOf(b.builder, init)));
          },
          nb::arg("condition"), nb::arg("body"), nb::arg("init"), "Runs the body while the condition is true.")
      .def(
          "Conditional",
          [](const BuilderRef& b, nb::handle predicate, nb::handle true_operand, const ModuleRef& true_computation,
             nb::handle false_operand, const ModuleRef& false_computation) {
            return Made(b.builder, Conditional(OperandOf(b.builder, predicate), OperandOf(b.builder, true_operand),
                                               ComputationOf(true_computation), OperandOf(b.builder, false_operand),
                                               ComputationOf(false_computation)));
          },
          nb::arg("predicate"), nb::arg("true_operand"), nb::arg("true_computation"), nb::arg("false_operand"),
          nb::arg("false_computation"), "One of two computations, by a scalar pred.")
      .def(
          "CustomCall",
          [](const BuilderRef& b, const std::string& target, nb::handle operands, nb::handle shape,
             const std::string& opaque, bool has_side_effect) {
            return Made(b.builder, CustomCall(b.builder.get(), target, OperandsOf(b.builder, operands),
                                              ShapeOfArgument(shape), opaque, has_side_effect));
          },
          nb::arg("call_target_name"), nb::arg("operands"), nb::arg("shape"), nb::arg("opaque") = "",
          nb::arg("has_side_effect") = false, "A custom call; see kashi.register_custom_call.");
}

void DefineCollectives(Class& builder) {
  builder
      .def(
          "AllReduce",
          [](const BuilderRef& b, nb::handle operand, const ModuleRef& computation, nb::handle groups) {
            return Made(b.builder,
                        AllReduce(OperandOf(b.builder, operand), ComputationOf(computation), GroupsOf(groups)));
          },
          nb::arg("operand"), nb::arg("computation"), nb::arg("replica_groups") = nb::tuple(),
          "The operands of all devices, folded. No groups: all replicas are one.")
      .def(
          "AllGather",
          [](const BuilderRef& b, nb::handle operand, int64_t dimension, int64_t shards, nb::handle groups) {
            return Made(b.builder, AllGather(OperandOf(b.builder, operand), dimension, shards, GroupsOf(groups)));
          },
          nb::arg("operand"), nb::arg("all_gather_dimension"), nb::arg("shard_count"),
          nb::arg("replica_groups") = nb::tuple(), "The operands of all devices, one behind the other.")
      .def(
          "CollectivePermute",
          [](const BuilderRef& b, nb::handle operand, nb::handle pairs) {
            return Made(b.builder,
                        CollectivePermute(OperandOf(b.builder, operand), PairsOf(pairs, "source_target_pairs")));
          },
          nb::arg("operand"), nb::arg("source_target_pairs"), "Each target gets the operand of its source.")
      .def(
          "ReplicaId", [](const BuilderRef& b) { return Made(b.builder, ReplicaId(b.builder.get())); },
          "The number of the replica, u32[].");
}

// ---- The classes. ---------------------------------------------------------------------------------------------------

ModuleRef Build(const BuilderRef& b, nb::handle root) {
  XlaComputation computation =
      root.is_none() ? ValueOrThrow(b.builder->Build()) : ValueOrThrow(b.builder->Build(OperandOf(b.builder, root)));
  const std::shared_ptr<const HloModule> module = ValueOrThrow(computation.GetModule());
  return {std::make_shared<ModuleState>(module->Clone(""))};
}

void DefineOperators(nb::module_& m) {
  nb::class_<OpRef> op(
      m, "XlaOp",
      "A value of an XlaBuilder. Operators and comparisons are those of its methods; the other operand\n"
      "may be a number.");
  op.def_prop_ro("shape", ShapeOf, "Its Shape.");
  op.def("__repr__", [](const OpRef& o) { return ToStr(absl::StrCat("<kashi.XlaOp ", ShapeOf(o).ToString(), ">")); });
  const auto binary = [&](const char* name, const char* reflected, Binary function) {
    op.def(name, [function](const OpRef& x, nb::handle y) {
      return CallBinary(function, {x.builder}, nb::cast(x), y, nb::tuple());
    });
    if (reflected == nullptr) return;
    op.def(reflected, [function](const OpRef& x, nb::handle y) {
      return CallBinary(function, {x.builder}, y, nb::cast(x), nb::tuple());
    });
  };
  binary("__add__", "__radd__", Add);
  binary("__sub__", "__rsub__", Sub);
  binary("__mul__", "__rmul__", Mul);
  binary("__truediv__", "__rtruediv__", Div);
  binary("__mod__", "__rmod__", Rem);
  binary("__pow__", "__rpow__", Pow);
  binary("__and__", "__rand__", And);
  binary("__or__", "__ror__", Or);
  binary("__xor__", "__rxor__", Xor);
  binary("__lt__", nullptr, Lt);
  binary("__le__", nullptr, Le);
  binary("__gt__", nullptr, Gt);
  binary("__ge__", nullptr, Ge);
  op.def("__matmul__",
         [](const OpRef& x, nb::handle y) { return Made(x.builder, Dot(x.op, OperandOf(x.builder, y))); });
  op.def("__neg__", [](const OpRef& x) { return Made(x.builder, Neg(x.op)); });
  op.def("__abs__", [](const OpRef& x) { return Made(x.builder, Abs(x.op)); });
  op.def("__invert__", [](const OpRef& x) { return Made(x.builder, Not(x.op)); });
}

}  // namespace

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
      .def_prop_ro(
          "name", [](const BuilderRef& b) { return ToStr(b.builder->name()); }, "The name of the program.")
      .def("Build", Build, nb::arg("root").none() = nb::none(),
           "The Module whose result is `root`, or the last operation. The builder is empty afterwards.");
  DefineInputs(builder);
  DefineElementwise(builder);
  DefineMovement(builder);
  DefineParts(builder);
  DefineContractions(builder);
  DefineReductions(builder);
  DefineCalls(builder);
  DefineCollectives(builder);
}

}  // namespace kashi::python
