// kashi.XlaBuilder: calls, loops, branches and custom calls.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "arrays.h"
#include "builder.h"
#include "kashi/hlo/attributes/enum_text.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::python {
namespace {

OpRef CompositeCallOp(const BuilderRef& b, const ModuleRef& computation, nb::handle operands, const std::string& name,
                      nb::handle attributes, nb::handle version) {
  std::optional<std::string> text;
  if (!attributes.is_none()) text = ToBytes(attributes);
  std::optional<int64_t> number;
  if (!version.is_none()) number = nb::cast<int64_t>(version);
  const auto view = text.has_value() ? std::make_optional(absl::string_view(*text)) : std::nullopt;
  return b.Return(CompositeCall(b.get(), ComputationOf(computation), b.Ops(operands), name, view, number));
}

OpRef IndexedConditional(const BuilderRef& b, nb::handle index, nb::handle branches, nb::handle operands) {
  std::vector<XlaComputation> computations;
  for (const nb::handle branch : branches) {
    if (!nb::isinstance<ModuleRef>(branch)) ThrowTypeError("a branch must be a kashi.Module");
    computations.push_back(ComputationOf(nb::cast<const ModuleRef&>(branch)));
  }
  std::vector<const XlaComputation*> pointers;
  for (const XlaComputation& computation : computations) pointers.push_back(&computation);
  return b.Return(Conditional(b.Op(index), pointers, b.Ops(operands)));
}

}  // namespace

void DefineCalls(Class& builder) {
  builder
      .def(
          "Call",
          [](const BuilderRef& b, const ModuleRef& computation, nb::handle operands) {
            return b.Return(Call(b.get(), ComputationOf(computation), b.Ops(operands)));
          },
          nb::arg("computation"), nb::arg("operands"), "The result of a Module.")
      .def("CompositeCall", CompositeCallOp, nb::arg("computation"), nb::arg("operands"), nb::arg("name"),
           nb::arg("attributes").none() = nb::none(), nb::arg("version").none() = nb::none(),
           "A Call that stands for an operation of this name.")
      .def(
          "While",
          [](const BuilderRef& b, const ModuleRef& condition, const ModuleRef& body, nb::handle init) {
            return b.Return(While(ComputationOf(condition), ComputationOf(body), b.Op(init)));
          },
          nb::arg("condition"), nb::arg("body"), nb::arg("init"), "Runs the body while the condition is true.")
      .def(
          "Conditional",
          [](const BuilderRef& b, nb::handle predicate, nb::handle true_operand, const ModuleRef& true_computation,
             nb::handle false_operand, const ModuleRef& false_computation) {
            return b.Return(Conditional(b.Op(predicate), b.Op(true_operand), ComputationOf(true_computation),
                                        b.Op(false_operand), ComputationOf(false_computation)));
          },
          nb::arg("predicate"), nb::arg("true_operand"), nb::arg("true_computation"), nb::arg("false_operand"),
          nb::arg("false_computation"), "One of two computations, by a scalar pred.")
      .def("Conditional", IndexedConditional, nb::arg("branch_index"), nb::arg("branch_computations"),
           nb::arg("branch_operands"), "One of several, by a scalar s32; the last, if it is out of range.");
}

namespace {

// ---- Custom calls. --------------------------------------------------------------------------------------------------

// The options that all custom calls may have.
struct CallOptions {
  CallOptions(nb::handle pairs, const std::string& schedule_name, const std::string& version)
      : schedule(ValueOrThrow(StringToCustomCallSchedule(absl::AsciiStrToUpper(schedule_name)))),
        api_version(ValueOrThrow(StringToCustomCallApiVersion(absl::AsciiStrToUpper(version)))) {
    for (const nb::handle pair : pairs) {
      const nb::tuple parts = nb::tuple(pair);
      if (nb::len(parts) != 3) {
        ThrowValueError("output_operand_aliasing has triples: the index of an output, an operand, the index in it");
      }
      aliasing.push_back({ShapeIndexOf(parts[0], "an output index"),
                          {nb::cast<int64_t>(parts[1]), ShapeIndexOf(parts[2], "an operand index")}});
    }
  }
  std::vector<std::pair<ShapeIndex, std::pair<int64_t, ShapeIndex>>> aliasing;
  CustomCallSchedule schedule;
  CustomCallApiVersion api_version;
};

std::vector<Shape> ShapesOf(nb::handle shapes) {
  std::vector<Shape> made;
  for (const nb::handle shape : shapes) made.push_back(ShapeOfArgument(shape));
  return made;
}

OpRef CustomCallOp(const BuilderRef& b, const std::string& target, nb::handle operands, nb::handle shape,
                   const std::string& opaque, bool has_side_effect, nb::handle aliasing, const std::string& schedule,
                   const std::string& version) {
  const CallOptions options(aliasing, schedule, version);
  return b.Return(CustomCall(b.get(), target, b.Ops(operands), ShapeOfArgument(shape), opaque, has_side_effect,
                             options.aliasing, nullptr, options.schedule, options.api_version));
}

OpRef CustomCallWithComputationOp(const BuilderRef& b, const std::string& target, nb::handle operands,
                                  const ModuleRef& computation, nb::handle shape, const std::string& opaque,
                                  bool has_side_effect, nb::handle aliasing, const std::string& schedule,
                                  const std::string& version) {
  const CallOptions options(aliasing, schedule, version);
  return b.Return(CustomCallWithComputation(b.get(), target, b.Ops(operands), ComputationOf(computation),
                                            ShapeOfArgument(shape), opaque, has_side_effect, options.aliasing, nullptr,
                                            options.schedule, options.api_version));
}

OpRef CustomCallWithLayoutOp(const BuilderRef& b, const std::string& target, nb::handle operands, nb::handle shape,
                             nb::handle operand_shapes, const std::string& opaque, bool has_side_effect,
                             nb::handle aliasing, const std::string& schedule, const std::string& version) {
  const CallOptions options(aliasing, schedule, version);
  return b.Return(CustomCallWithLayout(b.get(), target, b.Ops(operands), ShapeOfArgument(shape),
                                       ShapesOf(operand_shapes), opaque, has_side_effect, options.aliasing, nullptr,
                                       options.schedule, options.api_version));
}

OpRef CustomCallWithComputationAndLayoutsOp(const BuilderRef& b, const std::string& target, nb::handle operands,
                                            const ModuleRef& computation, nb::handle shape, nb::handle operand_shapes,
                                            const std::string& opaque, bool has_side_effect, nb::handle aliasing,
                                            const std::string& schedule, const std::string& version) {
  const CallOptions options(aliasing, schedule, version);
  return b.Return(CustomCallWithComputationAndLayouts(
      b.get(), target, b.Ops(operands), ComputationOf(computation), ShapeOfArgument(shape), ShapesOf(operand_shapes),
      opaque, has_side_effect, options.aliasing, nullptr, options.schedule, options.api_version));
}

OpRef CustomCallWithConvDnumsOp(const BuilderRef& b, const std::string& target, nb::handle operands, nb::handle shape,
                                nb::handle operand_shapes, const std::string& window, const std::string& numbers,
                                const std::string& opaque, bool has_side_effect, nb::handle aliasing,
                                const std::string& schedule, const std::string& version) {
  const CallOptions options(aliasing, schedule, version);
  return b.Return(CustomCallWithConvDnums(
      b.get(), target, b.Ops(operands), ShapeOfArgument(shape), ShapesOf(operand_shapes), opaque, has_side_effect,
      options.aliasing, nullptr, ParsedOrThrow(ParseWindow(window)),
      ParsedOrThrow(ParseConvolutionDimensionNumbers(numbers)), options.schedule, options.api_version));
}

}  // namespace

void DefineCustomCalls(Class& builder) {
  const auto target = nb::arg("call_target_name"), operands = nb::arg("operands"), shape = nb::arg("shape");
  const auto operand_shapes = nb::arg("operand_shapes_with_layout"), laid_out = nb::arg("shape_with_layout");
  const auto opaque = nb::arg("opaque") = "";
  const auto side_effect = nb::arg("has_side_effect") = false;
  const auto aliasing = nb::arg("output_operand_aliasing") = nb::tuple();
  const auto schedule = nb::arg("schedule") = "SCHEDULE_NONE";
  const auto version = nb::arg("api_version") = "API_VERSION_ORIGINAL";
  builder
      .def(
          "CustomCall", CustomCallOp, target, operands, shape, opaque, side_effect, aliasing, schedule, version,
          "A custom call; see kashi.register_custom_call. output_operand_aliasing: triples of the index of an output,\n"
          "the number of the operand whose memory it takes, and the index in that.")
      .def("CustomCallWithComputation", CustomCallWithComputationOp, target, operands, nb::arg("computation"), shape,
           opaque, side_effect, aliasing, schedule, version, "A custom call that calls a Module.")
      .def("CustomCallWithLayout", CustomCallWithLayoutOp, target, operands, laid_out, operand_shapes, opaque,
           side_effect, aliasing, schedule, version, "A custom call that needs these layouts.")
      .def("CustomCallWithComputationAndLayouts", CustomCallWithComputationAndLayoutsOp, target, operands,
           nb::arg("computation"), laid_out, operand_shapes, opaque, side_effect, aliasing, schedule, version,
           "A custom call that calls a Module and needs these layouts.")
      .def("CustomCallWithConvDnums", CustomCallWithConvDnumsOp, target, operands, shape, operand_shapes,
           nb::arg("window"), nb::arg("dimension_numbers"), opaque, side_effect, aliasing, schedule, version,
           "A custom call of a convolution: HLO's texts of a window, 'size=3x3', and of 'b01f_01io->b01f'.");
}

}  // namespace kashi::python
