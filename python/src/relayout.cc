// kashi.tile, untile and relayout: arrays from one layout into another, without the GIL.
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "arrays.h"
#include "binding.h"
#include "kashi/base/text.h"
#include "kashi/relayout/placement.h"
#include "kashi/relayout/relayout_plan.h"

namespace kashi::python {
namespace {

RelayoutPlan PlanOrThrow(const Placement& from, const Placement& to, int threads) {
  if (threads < 0) ThrowValueError("threads must not be negative");
  RelayoutOptions options;
  options.threads = threads;
  return ValueOrThrow(RelayoutPlan::Make(from, to, options));
}

Placement BufferPlacement(const Shape& shape) { return ValueOrThrow(Placement::OfLayout(shape)); }

Placement ArrayPlacement(const ArrayView& view) {
  return ValueOrThrow(Placement::OfStrides(view.type, view.dimensions, view.byte_strides));
}

void CheckBytes(const ArrayView& view, int64_t bytes, const Shape& shape, const char* name) {
  if (view.bytes == bytes) return;
  ThrowValueError(absl::StrCat(name, " has ", base::Count(view.bytes, "byte"), "; ",
                               shape.ToString(/*print_layout=*/true), " has ", bytes));
}

void Execute(const RelayoutPlan& plan, const void* source, void* target) {
  const nb::gil_scoped_release release;
  plan.Execute(source, target);
}

// The buffer to fill: `out`, or a new u8[bytes].
struct Target {
  nb::object array;
  void* data = nullptr;
};
Target BufferTarget(nb::handle out, const ArrayView& source, int64_t bytes, const Shape& shape) {
  Target target;
  if (out.is_none()) {
    target.array = NewArray(U8, {bytes}, &target.data);
    return target;
  }
  const ArrayView view = BytesOf(out, /*writable=*/true, "out");
  CheckBytes(view, bytes, shape, "out");
  ThrowIfOverlapping(view, source);
  return {nb::borrow(out), view.data};
}

nb::object TileArray(nb::handle array, const Shape& shape, nb::handle out, int threads) {
  const ArrayView source = ViewOf(array);
  const Placement to = BufferPlacement(shape);
  const std::string misfit = Misfit(source, shape, "array");
  if (!misfit.empty()) ThrowValueError(misfit);
  const RelayoutPlan plan = PlanOrThrow(ArrayPlacement(source), to, threads);
  const Target target = BufferTarget(out, source, plan.target_bytes(), shape);
  Execute(plan, source.data, target.data);
  return target.array;
}

nb::object Untile(nb::handle buffer, const Shape& shape, nb::handle out, int threads) {
  const ArrayView source = BytesOf(buffer, /*writable=*/false, "buffer");
  const Placement from = BufferPlacement(shape);
  CheckBytes(source, from.map().byte_size(), shape, "buffer");
  if (out.is_none()) {
    Target target;
    target.array = NewArray(from.element_type(), from.dimensions(), &target.data);
    Execute(PlanOrThrow(from, ArrayPlacement(ViewOf(target.array)), threads), source.data, target.data);
    return target.array;
  }
  const ArrayView view = WritableViewOf(out, "out");
  ThrowIfOverlapping(view, source);
  Execute(PlanOrThrow(from, ArrayPlacement(view), threads), source.data, view.data);
  return nb::borrow(out);
}

nb::object Relayout(nb::handle buffer, const Shape& from, const Shape& to, nb::handle out, int threads) {
  const ArrayView source = BytesOf(buffer, /*writable=*/false, "buffer");
  const RelayoutPlan plan = PlanOrThrow(BufferPlacement(from), BufferPlacement(to), threads);
  CheckBytes(source, plan.source_bytes(), from, "buffer");
  const Target target = BufferTarget(out, source, plan.target_bytes(), to);
  Execute(plan, source.data, target.data);
  return target.array;
}

std::string PlanText(const Shape& from, const Shape& to) {
  return PlanOrThrow(BufferPlacement(from), BufferPlacement(to), 0).ToString();
}

}  // namespace

void BindRelayout(nb::module_& m) {
  m.def(
      "tile", TileArray, nb::arg("array"), nb::arg("shape"), nb::arg("out").none() = nb::none(), nb::kw_only(),
      nb::arg("threads") = 0,
      nb::sig("def tile(array: object, shape: Shape, out: object | None = None, *, threads: int = 0) -> numpy.ndarray"),
      "The buffer that a device has for the array: shape.buffer_bytes bytes, padding is zero.\n\n"
      "`array`: anything that NumPy reads, with any strides; its element type and sizes are the shape's. `out`: a\n"
      "contiguous, writeable buffer of so many bytes, which is filled and returned. `threads`: 0 for all.\n\n"
      ">>> import numpy as np\n"
      ">>> x = np.arange(15, dtype=np.float32).reshape(3, 5)\n"
      ">>> kashi.tile(x, kashi.Shape('f32[3,5]{1,0:T(2,2)}')).view(np.float32)[:6]\n"
      "array([0., 1., 5., 6., 2., 3.], dtype=float32)\n\n"
      "Raises ValueError or TypeError if they do not fit, or if `out` shares memory with the array.");
  m.def("untile", Untile, nb::arg("buffer"), nb::arg("shape"), nb::arg("out").none() = nb::none(), nb::kw_only(),
        nb::arg("threads") = 0,
        nb::sig("def untile(buffer: object, shape: Shape, out: object | None = None, *, threads: int = 0)"
                " -> numpy.ndarray"),
        "The array that a device's buffer holds; the inverse of tile().\n\n"
        "`buffer`: contiguous, of shape.buffer_bytes bytes. `out`: an array of the shape's type and sizes, with any\n"
        "strides.\n\n"
        ">>> import numpy as np\n"
        ">>> s = kashi.Shape('s8[2,3]{1,0:T(2,2)}')\n"
        ">>> kashi.untile(np.array([1, 2, 4, 5, 3, 0, 6, 0], np.int8), s)\n"
        "array([[1, 2, 3],\n       [4, 5, 6]], dtype=int8)\n\n"
        "Raises ValueError or TypeError if they do not fit.");
  m.def("relayout", Relayout, nb::arg("buffer"), nb::arg("source"), nb::arg("target"),
        nb::arg("out").none() = nb::none(), nb::kw_only(), nb::arg("threads") = 0,
        nb::sig("def relayout(buffer: object, source: Shape, target: Shape, out: object | None = None, *,"
                " threads: int = 0) -> numpy.ndarray"),
        "A buffer in layout `source` as a buffer in layout `target`, two shapes of the same array.\n\n"
        ">>> import numpy as np\n"
        ">>> kashi.relayout(np.arange(6, dtype=np.uint8), kashi.Shape('u8[2,3]'), kashi.Shape('u8[2,3]{0,1}'))\n"
        "array([0, 3, 1, 4, 2, 5], dtype=uint8)");
  m.def("relayout_plan", PlanText, nb::arg("source"), nb::arg("target"),
        "How relayout() would move the elements, in words.\n\n"
        ">>> plan = kashi.relayout_plan(kashi.Shape('f32[64,64]'), kashi.Shape('f32[64,64]{0,1}'))\n"
        ">>> len(plan) > 0\nTrue");
}

}  // namespace kashi::python
