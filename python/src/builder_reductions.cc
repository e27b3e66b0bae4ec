// kashi.XlaBuilder: reductions, windows, sorting, gather and scatter.
#include <cstdint>
#include <string>
#include <vector>

#include "builder.h"

namespace kashi::python {
namespace {

bool IsOp(nb::handle operand) { return nb::isinstance<OpRef>(operand); }

OpRef ReduceOp(const BuilderRef& b, nb::handle operands, nb::handle init, const ModuleRef& computation,
               nb::handle dimensions) {
  const Numbers numbers = IntegersOf(dimensions, "dimensions_to_reduce");
  if (IsOp(operands)) return b.Return(Reduce(b.Op(operands), b.Op(init), ComputationOf(computation), numbers));
  return b.Return(Reduce(b.get(), b.SomeOps(operands), b.SomeOps(init), ComputationOf(computation), numbers));
}

OpRef ReduceWindowOp(const BuilderRef& b, nb::handle operands, nb::handle init, const ModuleRef& computation,
                     nb::handle sizes, nb::handle strides, const std::string& padding) {
  const Numbers window = IntegersOf(sizes, "window_dimensions"), steps = IntegersOf(strides, "window_strides");
  const Padding kind = PaddingNamed(padding);
  if (IsOp(operands)) {
    return b.Return(ReduceWindow(b.Op(operands), b.Op(init), ComputationOf(computation), window, steps, kind));
  }
  return b.Return(ReduceWindow(b.SomeOps(operands), b.SomeOps(init), ComputationOf(computation), window, steps, kind));
}

OpRef ReduceWindowWithGeneralPaddingOp(const BuilderRef& b, nb::handle operands, nb::handle init,
                                       const ModuleRef& computation, nb::handle sizes, nb::handle strides,
                                       nb::handle padding, nb::handle base, nb::handle dilations) {
  const Numbers window = IntegersOf(sizes, "window_dimensions"), steps = IntegersOf(strides, "window_strides");
  const Numbers ones(window.size(), 1);
  const Numbers base_dilations = base.is_none() ? ones : IntegersOf(base, "base_dilations");
  const Numbers window_dilations = dilations.is_none() ? ones : IntegersOf(dilations, "window_dilations");
  const Pairs edges = PairsOf(padding, "padding");
  if (IsOp(operands)) {
    return b.Return(ReduceWindowWithGeneralPadding(b.Op(operands), b.Op(init), ComputationOf(computation), window,
                                                   steps, base_dilations, window_dilations, edges));
  }
  return b.Return(ReduceWindowWithGeneralPadding(b.SomeOps(operands), b.SomeOps(init), ComputationOf(computation),
                                                 window, steps, base_dilations, window_dilations, edges));
}

OpRef SelectAndScatterOp(const BuilderRef& b, nb::handle operand, const ModuleRef& select, nb::handle sizes,
                         nb::handle strides, const std::string& padding, nb::handle source, nb::handle init,
                         const ModuleRef& scatter) {
  return b.Return(SelectAndScatter(b.Op(operand), ComputationOf(select), IntegersOf(sizes, "window_dimensions"),
                                   IntegersOf(strides, "window_strides"), PaddingNamed(padding), b.Op(source),
                                   b.Op(init), ComputationOf(scatter)));
}

OpRef SelectAndScatterWithGeneralPaddingOp(const BuilderRef& b, nb::handle operand, const ModuleRef& select,
                                           nb::handle sizes, nb::handle strides, nb::handle padding, nb::handle source,
                                           nb::handle init, const ModuleRef& scatter) {
  return b.Return(SelectAndScatterWithGeneralPadding(b.Op(operand), ComputationOf(select),
                                                     IntegersOf(sizes, "window_dimensions"),
                                                     IntegersOf(strides, "window_strides"), PairsOf(padding, "padding"),
                                                     b.Op(source), b.Op(init), ComputationOf(scatter)));
}

OpRef MapOp(const BuilderRef& b, nb::handle operands, const ModuleRef& computation, nb::handle dimensions) {
  return b.Return(Map(b.get(), b.SomeOps(operands), ComputationOf(computation), IntegersOf(dimensions, "dimensions")));
}

void DefineWindows(Class& builder) {
  const auto operand = nb::arg("operand"), init = nb::arg("init_value"), computation = nb::arg("computation");
  const auto sizes = nb::arg("window_dimensions"), strides = nb::arg("window_strides"), padding = nb::arg("padding");
  builder
      .def("ReduceWindow", ReduceWindowOp, operand, init, computation, sizes, strides, padding,
           "Folds each window; padding: 'same' or 'valid'. Several operands and initial values may be lists.")
      .def("ReduceWindowWithGeneralPadding", ReduceWindowWithGeneralPaddingOp, operand, init, computation, sizes,
           strides, padding, nb::arg("base_dilations").none() = nb::none(),
           nb::arg("window_dilations").none() = nb::none(), "ReduceWindow, padded by (low, high) for each dimension.")
      .def("SelectAndScatter", SelectAndScatterOp, operand, nb::arg("select"), sizes, strides, padding,
           nb::arg("source"), init, nb::arg("scatter"),
           "Scatters each element of the source to the element that its window selects.")
      .def("SelectAndScatterWithGeneralPadding", SelectAndScatterWithGeneralPaddingOp, operand, nb::arg("select"),
           sizes, strides, padding, nb::arg("source"), init, nb::arg("scatter"),
           "SelectAndScatter, padded by (low, high) for each dimension.");
}

}  // namespace

void DefineReductions(Class& builder) {
  builder
      .def("Reduce", ReduceOp, nb::arg("operand"), nb::arg("init_value"), nb::arg("computation"),
           nb::arg("dimensions_to_reduce"),
           "Folds dimensions by a Module of two scalars. Several operands and initial values may be lists; the Module\n"
           "takes and gives as many.")
      .def(
          "ReduceAll",
          [](const BuilderRef& b, nb::handle operand, nb::handle init, const ModuleRef& computation) {
            return b.Return(ReduceAll(b.Op(operand), b.Op(init), ComputationOf(computation)));
          },
          nb::arg("operand"), nb::arg("init_value"), nb::arg("computation"), "Folds all dimensions.")
      .def("Map", MapOp, nb::arg("operands"), nb::arg("computation"), nb::arg("dimensions"),
           "A Module of scalars on each element. dimensions: all, in order.")
      .def(
          "Sort",
          [](const BuilderRef& b, nb::handle operands, const ModuleRef& comparator, int64_t dimension, bool is_stable) {
            return b.Return(Sort(b.SomeOps(operands), ComputationOf(comparator), dimension, is_stable));
          },
          nb::arg("operands"), nb::arg("comparator"), nb::arg("dimension") = -1, nb::arg("is_stable") = false,
          "Sorts along a dimension, by a Module that says whether the first of two comes first.")
      .def(
          "TopK",
          [](const BuilderRef& b, nb::handle operand, int64_t k, bool largest) {
            return b.Return(TopK(b.Op(operand), k, largest));
          },
          nb::arg("operand"), nb::arg("k"), nb::arg("largest") = true,
          "The k largest or smallest of the last dimension, and their indices.");
  DefineWindows(builder);
}

namespace {

void AddNumbers(nb::handle numbers, const char* name, RepeatedField<int64_t>* list) {
  for (const int64_t number : IntegersOf(numbers, name)) list->push_back(number);
}

OpRef GatherOp(const BuilderRef& b, nb::handle input, nb::handle indices, nb::handle sizes, nb::handle offset,
               nb::handle index_map, int64_t vector_dim, nb::handle collapsed, nb::handle operand_batching,
               nb::handle indices_batching, bool are_sorted) {
  GatherDimensionNumbers numbers;
  AddNumbers(offset, "offset_dims", numbers.mutable_offset_dims());
  AddNumbers(collapsed, "collapsed_slice_dims", numbers.mutable_collapsed_slice_dims());
  AddNumbers(index_map, "start_index_map", numbers.mutable_start_index_map());
  AddNumbers(operand_batching, "operand_batching_dims", numbers.mutable_operand_batching_dims());
  AddNumbers(indices_batching, "start_indices_batching_dims", numbers.mutable_start_indices_batching_dims());
  numbers.set_index_vector_dim(vector_dim);
  return b.Return(Gather(b.Op(input), b.Op(indices), numbers, IntegersOf(sizes, "slice_sizes"), are_sorted));
}

OpRef ScatterOp(const BuilderRef& b, nb::handle inputs, nb::handle indices, nb::handle updates,
                const ModuleRef& computation, nb::handle window, nb::handle to_operand, int64_t vector_dim,
                nb::handle inserted, nb::handle input_batching, nb::handle indices_batching, bool are_sorted,
                bool are_unique) {
  ScatterDimensionNumbers numbers;
  AddNumbers(window, "update_window_dims", numbers.mutable_update_window_dims());
  AddNumbers(inserted, "inserted_window_dims", numbers.mutable_inserted_window_dims());
  AddNumbers(to_operand, "scatter_dims_to_operand_dims", numbers.mutable_scatter_dims_to_operand_dims());
  AddNumbers(input_batching, "input_batching_dims", numbers.mutable_input_batching_dims());
  AddNumbers(indices_batching, "scatter_indices_batching_dims", numbers.mutable_scatter_indices_batching_dims());
  numbers.set_index_vector_dim(vector_dim);
  const XlaOp at = b.Op(indices);
  if (IsOp(inputs)) {
    return b.Return(
        Scatter(b.Op(inputs), at, b.Op(updates), ComputationOf(computation), numbers, are_sorted, are_unique));
  }
  return b.Return(
      Scatter(b.SomeOps(inputs), at, b.SomeOps(updates), ComputationOf(computation), numbers, are_sorted, are_unique));
}

}  // namespace

void DefineIndexing(Class& builder) {
  builder
      .def("Gather", GatherOp, nb::arg("input"), nb::arg("start_indices"), nb::arg("slice_sizes"),
           nb::arg("offset_dims"), nb::arg("start_index_map"), nb::arg("index_vector_dim"),
           nb::arg("collapsed_slice_dims") = nb::tuple(), nb::arg("operand_batching_dims") = nb::tuple(),
           nb::arg("start_indices_batching_dims") = nb::tuple(), nb::arg("indices_are_sorted") = false,
           "Slices of the input at indices.")
      .def("Scatter", ScatterOp, nb::arg("input"), nb::arg("scatter_indices"), nb::arg("updates"),
           nb::arg("update_computation"), nb::arg("update_window_dims"), nb::arg("scatter_dims_to_operand_dims"),
           nb::arg("index_vector_dim"), nb::arg("inserted_window_dims") = nb::tuple(),
           nb::arg("input_batching_dims") = nb::tuple(), nb::arg("scatter_indices_batching_dims") = nb::tuple(),
           nb::arg("indices_are_sorted") = false, nb::arg("unique_indices") = false,
           "The input with updates combined in at indices, by a Module of two scalars. Several inputs and updates may\n"
           "be lists.");
}

}  // namespace kashi::python
