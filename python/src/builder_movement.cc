// kashi.XlaBuilder: operations that only move elements, and dynamic sizes.
#include <cstdint>
#include <vector>

#include "arrays.h"
#include "builder.h"

namespace kashi::python {
namespace {

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
  return b.Return(Pad(b.Op(operand), b.Op(value), config));
}

// A method of one operand and a list of integers.
template <typename Function>
void DefineOnIntegers(Class& builder, const char* name, const char* list, Function function, const char* doc) {
  builder.def(
      name,
      [function, list](const BuilderRef& b, nb::handle operand, nb::handle numbers) {
        return b.Return(function(b.Op(operand), IntegersOf(numbers, list)));
      },
      nb::arg("operand"), nb::arg(list), doc);
}

}  // namespace

void DefineMovement(Class& builder) {
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
            return b.Return(BroadcastInDim(b.Op(operand), IntegersOf(sizes, "out_dim_size"),
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
            return b.Return(Slice(b.Op(operand), begin, IntegersOf(limits, "limit_indices"), steps));
          },
          nb::arg("operand"), nb::arg("start_indices"), nb::arg("limit_indices"),
          nb::arg("strides").none() = nb::none(), "From start to before limit of each dimension.")
      .def(
          "DynamicSlice",
          [](const BuilderRef& b, nb::handle operand, nb::handle starts, nb::handle sizes) {
            return b.Return(DynamicSlice(b.Op(operand), b.Ops(starts), IntegersOf(sizes, "slice_sizes")));
          },
          nb::arg("operand"), nb::arg("start_indices"), nb::arg("slice_sizes"),
          "A slice that begins at scalars, one for each dimension.")
      .def(
          "DynamicUpdateSlice",
          [](const BuilderRef& b, nb::handle operand, nb::handle update, nb::handle starts) {
            return b.Return(DynamicUpdateSlice(b.Op(operand), b.Op(update), b.Ops(starts)));
          },
          nb::arg("operand"), nb::arg("update"), nb::arg("start_indices"), "The operand with a slice replaced.")
      .def(
          "ConcatInDim",
          [](const BuilderRef& b, nb::handle operands, int64_t dimension) {
            return b.Return(ConcatInDim(b.get(), b.Ops(operands), dimension));
          },
          nb::arg("operands"), nb::arg("dimension"), "One behind the other along a dimension.");
}

void DefinePartsInDim(Class& builder) {
  builder
      .def(
          "PadInDim",
          [](const BuilderRef& b, nb::handle operand, nb::handle value, int64_t dimension, int64_t low, int64_t high) {
            return b.Return(PadInDim(b.Op(operand), b.Op(value), dimension, low, high));
          },
          nb::arg("operand"), nb::arg("padding_value"), nb::arg("dimno"), nb::arg("pad_lo"), nb::arg("pad_hi"),
          "Pads the ends of one dimension.")
      .def(
          "SliceInDim",
          [](const BuilderRef& b, nb::handle operand, int64_t start, int64_t limit, int64_t stride, int64_t dimension) {
            return b.Return(SliceInDim(b.Op(operand), start, limit, stride, dimension));
          },
          nb::arg("operand"), nb::arg("start_index"), nb::arg("limit_index"), nb::arg("stride"), nb::arg("dimno"),
          "From start to before limit of one dimension.")
      .def(
          "ReshapeWithInferredDimension",
          [](const BuilderRef& b, nb::handle operand, nb::handle dimensions, int64_t inferred) {
            return b.Return(
                ReshapeWithInferredDimension(b.Op(operand), IntegersOf(dimensions, "dimensions"), inferred));
          },
          nb::arg("operand"), nb::arg("dimensions"), nb::arg("inferred_dimension"),
          "Reshape, one of whose dimensions is dynamic: the number of it.");
}

namespace {

std::vector<bool> FlagsOf(nb::handle flags, const char* name) {
  std::vector<bool> made;
  for (const int64_t flag : IntegersOf(flags, name)) made.push_back(flag != 0);
  return made;
}

}  // namespace

void DefineDynamicSizes(Class& builder) {
  builder
      .def(
          "GetDimensionSize",
          [](const BuilderRef& b, nb::handle operand, int64_t dimension) {
            return b.Return(GetDimensionSize(b.Op(operand), dimension));
          },
          nb::arg("operand"), nb::arg("dimension"), "The size of a dimension, s32[]; a constant if it is static.")
      .def(
          "SetDimensionSize",
          [](const BuilderRef& b, nb::handle operand, nb::handle size, int64_t dimension) {
            return b.Return(SetDimensionSize(b.Op(operand), b.Op(size), dimension));
          },
          nb::arg("operand"), nb::arg("val"), nb::arg("dimension"),
          "The first elements of a dimension, as many as an s32[] says; its size becomes the bound.")
      .def(
          "RemoveDynamicDimension",
          [](const BuilderRef& b, nb::handle operand, int64_t dimension) {
            return b.Return(RemoveDynamicDimension(b.Op(operand), dimension));
          },
          nb::arg("operand"), nb::arg("dimension"), "The operand, whose dimension has the size of its bound.")
      .def(
          "DynamicReshape",
          [](const BuilderRef& b, nb::handle operand, nb::handle sizes, nb::handle bounds, nb::handle dynamic) {
            return b.Return(DynamicReshape(b.Op(operand), b.Ops(sizes), IntegersOf(bounds, "new_size_bounds"),
                                           FlagsOf(dynamic, "dims_are_dynamic")));
          },
          nb::arg("operand"), nb::arg("dim_sizes"), nb::arg("new_size_bounds"), nb::arg("dims_are_dynamic"),
          "The elements in the same order in sizes that scalars s32[] say, one for each dimension.")
      .def(
          "MhloDynamicReshape",
          [](const BuilderRef& b, nb::handle operand, nb::handle sizes, nb::handle shape) {
            return b.Return(MhloDynamicReshape(b.Op(operand), b.Op(sizes), ShapeOfArgument(shape)));
          },
          nb::arg("operand"), nb::arg("output_shape"), nb::arg("shape"),
          "The custom call of StableHLO's dynamic_reshape.")
      .def(
          "MhloDynamicBroadcastInDim",
          [](const BuilderRef& b, nb::handle operand, nb::handle sizes, nb::handle dimensions, nb::handle shape) {
            return b.Return(MhloDynamicBroadcastInDim(
                b.Op(operand), b.Op(sizes), IntegersOf(dimensions, "broadcast_dimensions"), ShapeOfArgument(shape)));
          },
          nb::arg("operand"), nb::arg("output_dimensions"), nb::arg("broadcast_dimensions"), nb::arg("output_shape"),
          "The custom call of StableHLO's dynamic_broadcast_in_dim.");
}

}  // namespace kashi::python
