// kashi.XlaBuilder: inputs, elementwise operations, and the operators of kashi.XlaOp.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "arrays.h"
#include "builder.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/attributes/comparison_util.h"

namespace kashi::python {
namespace {

using Unary = XlaOp (*)(XlaOp);
using UnaryWithAccuracy = XlaOp (*)(XlaOp, const std::optional<ResultAccuracy>&);
using Binary = XlaOp (*)(XlaOp, XlaOp, absl::Span<const int64_t>);

// An example of the help text, with the shape that the builder infers, for the first element type that it takes.
std::string ExampleOf(const char* name, int operand_count, const std::function<XlaOp(absl::Span<const XlaOp>)>& make) {
  for (const PrimitiveType type : {F32, S32, C64, PRED}) {
    XlaBuilder builder("b");
    const Shape shape = ShapeUtil::MakeShape(type, {2});
    std::vector<XlaOp> operands;
    for (int i = 0; i < operand_count; ++i) operands.push_back(Parameter(&builder, i, shape, absl::StrCat("x", i)));
    const absl::StatusOr<Shape> result = builder.GetShape(make(operands));
    if (!result.ok()) continue;
    const std::string x = absl::StrCat("x", operand_count == 2 ? ", x" : "");
    return absl::StrCat("\n\n>>> b = kashi.XlaBuilder('b')\n>>> x = b.Parameter(0, '", ShapeUtil::HumanString(shape),
                        "')\n>>> b.", name, "(", x, ")\n<kashi.XlaOp ", ShapeUtil::HumanString(*result), ">");
  }
  return "";
}

OpRef CallBinary(Binary function, const BuilderRef& b, nb::handle lhs, nb::handle rhs, nb::handle dimensions) {
  // One of the two may be a number.
  const OpRef* const left = nb::isinstance<OpRef>(lhs) ? &nb::cast<const OpRef&>(lhs) : nullptr;
  const OpRef* const right = nb::isinstance<OpRef>(rhs) ? &nb::cast<const OpRef&>(rhs) : nullptr;
  const XlaOp x = b.Op(lhs, right), y = b.Op(rhs, left);
  return b.Return(function(x, y, IntegersOf(dimensions, "broadcast_dimensions")));
}

void DefineUnary(Class& builder, const char* name, Unary function, std::string doc) {
  doc += ExampleOf(name, 1, [=](absl::Span<const XlaOp> x) { return function(x[0]); });
  builder.def(
      name, [function](const BuilderRef& b, nb::handle operand) { return b.Return(function(b.Op(operand))); },
      nb::arg("operand"), doc.c_str());
}
void DefineUnaryWithAccuracy(Class& builder, const char* name, UnaryWithAccuracy function, std::string doc) {
  doc += ExampleOf(name, 1, [=](absl::Span<const XlaOp> x) { return function(x[0], std::nullopt); });
  builder.def(
      name,
      [function](const BuilderRef& b, nb::handle operand, nb::handle accuracy) {
        return b.Return(function(b.Op(operand), AccuracyOf(accuracy)));
      },
      nb::arg("operand"), nb::arg("result_accuracy").none() = nb::none(), doc.c_str());
}
void DefineBinary(Class& builder, const char* name, Binary function, std::string doc) {
  doc += ExampleOf(name, 2, [=](absl::Span<const XlaOp> x) { return function(x[0], x[1], {}); });
  builder.def(
      name,
      [function](const BuilderRef& b, nb::handle lhs, nb::handle rhs, nb::handle dimensions) {
        return CallBinary(function, b, lhs, rhs, dimensions);
      },
      nb::arg("lhs"), nb::arg("rhs"), nb::arg("broadcast_dimensions") = nb::tuple(), doc.c_str());
}

// The line of docs/ops.md.
std::string DocOf(HloOpcode opcode) { return std::string(GetHloOpcodeInfo(opcode).doc); }

ComparisonDirection DirectionNamed(const std::string& name) {
  return ValueOrThrow(StringToComparisonDirection(absl::AsciiStrToUpper(name)));
}

OpRef CompareOp(const BuilderRef& b, nb::handle lhs, nb::handle rhs, const std::string& direction,
                nb::handle dimensions, bool total_order) {
  const ComparisonDirection way = DirectionNamed(direction);
  const Numbers numbers = IntegersOf(dimensions, "broadcast_dimensions");
  const XlaOp x = b.Op(lhs), y = b.Op(rhs);
  return b.Return(total_order ? Compare(x, y, numbers, way, Comparison::Type::kFloatTotalOrder)
                              : Compare(x, y, numbers, way));
}

OpRef Return(const OpRef& like, XlaOp op) { return BuilderRef{like.builder}.Return(op); }

}  // namespace

void DefineElementwise(Class& builder) {
#define KASHI_UNARY(function, opcode) \
  DefineUnary(                        \
      builder, #function, [](XlaOp x) { return function(x); }, DocOf(HloOpcode::opcode));
#define KASHI_UNARY_ACCURACY(function, opcode)                                                      \
  DefineUnaryWithAccuracy(                                                                          \
      builder, #function,                                                                           \
      [](XlaOp x, const std::optional<ResultAccuracy>& accuracy) { return function(x, accuracy); }, \
      DocOf(HloOpcode::opcode));
#define KASHI_BINARY(function, opcode)                                                                     \
  DefineBinary(                                                                                            \
      builder, #function, [](XlaOp x, XlaOp y, absl::Span<const int64_t> d) { return function(x, y, d); }, \
      DocOf(HloOpcode::opcode));
#define KASHI_COMPARISON(function, direction)                                                              \
  DefineBinary(                                                                                            \
      builder, #function, [](XlaOp x, XlaOp y, absl::Span<const int64_t> d) { return function(x, y, d); }, \
      "compare, direction=" #direction);                                                                   \
  DefineBinary(                                                                                            \
      builder, #function "TotalOrder",                                                                     \
      [](XlaOp x, XlaOp y, absl::Span<const int64_t> d) { return function##TotalOrder(x, y, d); },         \
      "compare, direction=" #direction ", in the order -NaN < -inf < … < -0 < 0 < … < inf < NaN");
#include "kashi/hlo/builder/xla_builder_ops.def"
}

void DefineOtherElementwise(Class& builder) {
  DefineUnary(builder, "Conj", Conj, "The complex conjugate.");
  builder
      .def(
          "Select",
          [](const BuilderRef& b, nb::handle pred, nb::handle on_true, nb::handle on_false) {
            return b.Return(Select(b.Op(pred), b.Op(on_true), b.Op(on_false)));
          },
          nb::arg("pred"), nb::arg("on_true"), nb::arg("on_false"), "on_true where pred is true, on_false elsewhere.")
      .def(
          "Clamp",
          [](const BuilderRef& b, nb::handle min, nb::handle operand, nb::handle max) {
            return b.Return(Clamp(b.Op(min), b.Op(operand), b.Op(max)));
          },
          nb::arg("min"), nb::arg("operand"), nb::arg("max"), "The operand, but at least min and at most max.")
      .def(
          "ConvertElementType",
          [](const BuilderRef& b, nb::handle operand, nb::handle type) {
            return b.Return(ConvertElementType(b.Op(operand), ElementTypeOfArgument(type)));
          },
          nb::arg("operand"), nb::arg("new_element_type"), "The values in another element type ('bf16', a dtype).")
      .def(
          "BitcastConvertType",
          [](const BuilderRef& b, nb::handle operand, nb::handle type) {
            return b.Return(BitcastConvertType(b.Op(operand), ElementTypeOfArgument(type)));
          },
          nb::arg("operand"), nb::arg("new_element_type"), "The bits as another element type.")
      .def(
          "StochasticConvertType",
          [](const BuilderRef& b, nb::handle operand, nb::handle random, nb::handle type) {
            return b.Return(StochasticConvertType(b.Op(operand), b.Op(random), ElementTypeOfArgument(type)));
          },
          nb::arg("operand"), nb::arg("random"), nb::arg("new_element_type"),
          "The values as integers, rounded up or down by random bits of unsigned integers.")
      .def(
          "ReducePrecision",
          [](const BuilderRef& b, nb::handle operand, int exponent_bits, int mantissa_bits) {
            return b.Return(ReducePrecision(b.Op(operand), exponent_bits, mantissa_bits));
          },
          nb::arg("operand"), nb::arg("exponent_bits"), nb::arg("mantissa_bits"),
          "The values as a narrower format has them, in the same type.")
      .def("Compare", CompareOp, nb::arg("lhs"), nb::arg("rhs"), nb::arg("direction"),
           nb::arg("broadcast_dimensions") = nb::tuple(), nb::arg("total_order") = false,
           "Eq, Ge, Gt, Le, Lt or Ne, by the name of the direction.");
}

void DefineInputs(Class& builder) {
  builder
      .def(
          "Parameter",
          [](const BuilderRef& b, int64_t number, nb::handle shape, const std::string& name) {
            return b.Return(Parameter(b.get(), number, ShapeOfArgument(shape), name));
          },
          nb::arg("parameter_number"), nb::arg("shape"), nb::arg("name") = "p",
          "Parameter 0, 1, … of a shape (a Shape or its text).")
      .def(
          "Constant",
          [](const BuilderRef& b, nb::handle array) { return b.Return(ConstantLiteral(b.get(), LiteralOf(array))); },
          nb::arg("array"), "The elements of an array.")
      .def(
          "Iota",
          [](const BuilderRef& b, nb::handle shape, int64_t dimension) {
            return b.Return(Iota(b.get(), ShapeOfArgument(shape), dimension));
          },
          nb::arg("shape"), nb::arg("iota_dimension") = 0, "0, 1, 2, … along a dimension.")
      .def(
          "Tuple", [](const BuilderRef& b, nb::handle elements) { return b.Return(Tuple(b.get(), b.Ops(elements))); },
          nb::arg("elements"), "A tuple of operations.")
      .def(
          "GetTupleElement",
          [](const BuilderRef& b, nb::handle tuple, int64_t index) {
            return b.Return(GetTupleElement(b.Op(tuple), index));
          },
          nb::arg("tuple_data"), nb::arg("index"), "Element `index` of a tuple.");
}

void DefineOperators(nb::module_& m) {
  nb::class_<OpRef> op(
      m, "XlaOp",
      "A value of an XlaBuilder. Operators and comparisons are those of its methods; the other operand\n"
      "may be a number.\n\n"
      ">>> b = kashi.XlaBuilder('b')\n>>> x = b.Parameter(0, 'f32[2]')\n>>> 2 * x + 1, x > 0\n"
      "(<kashi.XlaOp f32[2]>, <kashi.XlaOp pred[2]>)");
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
  op.def("__matmul__", [](const OpRef& x, nb::handle y) { return Return(x, Dot(x.op, BuilderRef{x.builder}.Op(y))); });
  // `if x > 0:` would be taken always.
  op.def("__bool__", [](const OpRef&) -> bool {
    ThrowTypeError("an operation has no value until the program runs: use Select or Conditional for a choice");
  });
  op.def("__neg__", [](const OpRef& x) { return Return(x, Neg(x.op)); });
  op.def("__abs__", [](const OpRef& x) { return Return(x, Abs(x.op)); });
  op.def("__invert__", [](const OpRef& x) { return Return(x, Not(x.op)); });
}

}  // namespace kashi::python
