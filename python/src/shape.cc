// kashi.Shape, Layout, Tile, ProgramShape, and the functions on shapes.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "arrays.h"
#include "binding.h"
#include "kashi/array/broadcast.h"
#include "kashi/array/device_size.h"
#include "kashi/array/index_map.h"
#include "kashi/array/layout.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/padding_advice.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_parser.h"
#include "kashi/array/shape_util.h"
#include "kashi/array/tpu_tiling.h"
#include "kashi/base/text.h"
#include "kashi/draw/layout_figure.h"
#include "kashi/draw/shape_explanation.h"
#include "sequences.h"

namespace kashi::python {
namespace {

// ---- Queries of a shape. --------------------------------------------------------------------------------------------

const Shape& ArrayOrThrow(const Shape& shape) {
  if (!shape.IsArray()) ThrowTypeError(absl::StrCat(shape.ToString(), " is not an array"));
  return shape;
}
const Layout& LayoutOrThrow(const Shape& shape) {
  if (!ArrayOrThrow(shape).has_layout()) ThrowValueError(absl::StrCat(shape.ToString(), " has no layout"));
  return shape.layout();
}
IndexMap MapOrThrow(const Shape& shape) { return ValueOrThrow(IndexMap::Make(ArrayOrThrow(shape))); }

// Each size is an int; None if it is unbounded.
nb::tuple DimensionsOf(const Shape& shape) {
  nb::list sizes;
  for (int i = 0; i < ArrayOrThrow(shape).dimensions_size(); ++i) {
    if (shape.is_unbounded_dynamic_dimension(i)) {
      sizes.append(nb::none());
    } else {
      sizes.append(shape.dimensions(i));
    }
  }
  return nb::tuple(sizes);
}

nb::tuple DynamicDimensionsOf(const Shape& shape) {
  nb::list flags;
  for (const bool flag : ArrayOrThrow(shape).dynamic_dimensions()) flags.append(flag);
  return nb::tuple(flags);
}

nb::object DtypeOrNone(const Shape& shape) {
  const nb::handle dtype = DtypeOf(shape.element_type());
  return dtype.is_valid() ? nb::borrow(dtype) : nb::object(nb::none());
}

nb::object ExpansionOf(const Shape& shape) {
  const DeviceSize size = ValueOrThrow(GetDeviceSize(shape));
  if (size.unpadded_bytes == 0) return nb::none();
  return nb::float_(static_cast<double>(size.bytes) / static_cast<double>(size.unpadded_bytes));
}

// An index of the caller's, with negative entries as in Python, checked.
DimensionVector IndexOrThrow(const IndexMap& map, nb::handle index) {
  DimensionVector entries;
  for (const int64_t entry : IntegersOf(index, "index")) entries.push_back(entry);
  if (static_cast<int>(entries.size()) != map.rank()) {
    ThrowValueError(absl::StrCat("the index has ", base::Count(static_cast<int64_t>(entries.size()), "entry"),
                                 ", the shape rank ", map.rank()));
  }
  for (size_t i = 0; i < entries.size(); ++i) {
    const int64_t size = map.dimensions()[i];
    if (entries[i] < -size || entries[i] >= size) {
      ThrowStatus(absl::OutOfRangeError(absl::StrCat("index ", entries[i], " of dimension ", i, " of size ", size)));
    }
    if (entries[i] < 0) entries[i] += size;
  }
  return entries;
}

nb::object IndexAt(const Shape& shape, nb::handle position) {
  const IndexMap map = MapOrThrow(shape);
  const Py_ssize_t offset = PyNumber_AsSsize_t(position.ptr(), PyExc_IndexError);
  if (offset == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  if (offset < 0 || offset >= map.padded_element_count()) {
    ThrowStatus(absl::OutOfRangeError(
        absl::StrCat("position ", offset, " is not among the ", map.padded_element_count(), " of the buffer")));
  }
  DimensionVector index(static_cast<size_t>(map.rank()));
  if (!map.PhysicalToLogical(offset, absl::MakeSpan(index))) return nb::none();
  return ToTuple(index);
}

// ---- Making. --------------------------------------------------------------------------------------------------------

Shape ParseShapeText(const std::string& text, bool strict) {
  ShapeParserOptions options;
  options.strict = strict;
  return ParsedOrThrow(ParseShape(text, options));
}

Shape MakeTuple(nb::handle elements) {
  std::vector<Shape> shapes;
  for (const nb::handle element : elements) shapes.push_back(nb::cast<Shape>(element));
  return ValueOrThrow(ShapeUtil::MakeValidatedTupleShape(shapes));
}

Layout LayoutOf(nb::handle layout) {
  if (nb::isinstance<Layout>(layout)) return nb::cast<Layout>(layout);
  if (nb::isinstance<nb::str>(layout)) return ParsedOrThrow(ParseLayout(nb::cast<std::string>(layout)));
  ThrowTypeError("layout must be a kashi.Layout, its text, or None");
}

Shape WithLayout(Shape shape, nb::handle layout) {
  ArrayOrThrow(shape);
  if (layout.is_none()) {
    shape.clear_layout();
    return shape;
  }
  Layout made = LayoutOf(layout);
  ThrowUnlessOk(LayoutUtil::ValidateLayoutForShape(made, shape));
  *shape.mutable_layout() = std::move(made);
  return shape;
}

Shape MakeArray(nb::handle type, nb::handle dimensions, nb::handle layout) {
  const std::vector<int64_t> sizes = IntegersOf(dimensions, "dimensions");
  Shape shape = ValueOrThrow(ShapeUtil::MakeValidatedShape(ElementTypeOfArgument(type), sizes));
  return layout.is_none() ? shape : WithLayout(std::move(shape), layout);
}

// The shape with other sizes or another type in the same layout.
Shape Replace(const Shape& shape, nb::handle layout, nb::handle dimensions, nb::handle type) {
  Shape result = ArrayOrThrow(shape);
  if (shape.IsBuffer()) result = shape.buffer_shape();
  if (!type.is_none() || !dimensions.is_none()) {
    std::vector<int64_t> sizes(result.dimensions().begin(), result.dimensions().end());
    std::vector<bool> dynamic(result.dynamic_dimensions().begin(), result.dynamic_dimensions().end());
    if (!dimensions.is_none()) {
      sizes = IntegersOf(dimensions, "dimensions");
      dynamic.assign(sizes.size(), false);
    }
    const PrimitiveType element_type = type.is_none() ? result.element_type() : ElementTypeOfArgument(type);
    Shape changed = ValueOrThrow(ShapeUtil::MakeValidatedShape(element_type, sizes, dynamic));
    const bool keeps_layout = result.has_layout() && sizes.size() == result.dimensions().size();
    if (keeps_layout) *changed.mutable_layout() = result.layout();
    result = std::move(changed);
    if (keeps_layout) ThrowUnlessOk(LayoutUtil::ValidateLayoutForShape(result.layout(), result));
  }
  return nb::isinstance<nb::ellipsis>(layout) ? result : WithLayout(std::move(result), layout);
}

TpuGeneration GenerationOrThrow(const std::string& name) {
  const std::optional<TpuGeneration> generation = ParseTpuGeneration(name);
  if (!generation.has_value()) {
    ThrowValueError(absl::StrCat(
        "unknown TPU generation `", name, "`; the generations are: ",
        absl::StrJoin(TpuGenerations(), " ",
                      [](std::string* out, const TpuGenerationInfo& info) { absl::StrAppend(out, info.name); })));
  }
  return *generation;
}
std::optional<TpuGeneration> OptionalGeneration(const std::optional<std::string>& name) {
  if (!name.has_value()) return std::nullopt;
  return GenerationOrThrow(*name);
}

nb::list AdviceOn(const Shape& shape, const std::optional<std::string>& target) {
  nb::list rows;
  for (const PaddingAdvice& advice : ValueOrThrow(AdviseOnPadding(shape, OptionalGeneration(target)))) {
    nb::dict row;
    row["kind"] = advice.kind == PaddingAdvice::Kind::kTile ? "tile" : "dimension order";
    row["shape"] = advice.shape;
    row["bytes"] = advice.bytes;
    rows.append(row);
  }
  return rows;
}

Shape BroadcastShapes(const Shape& lhs, const Shape& rhs, nb::handle dimensions) {
  return ValueOrThrow(InferElementwiseBinaryShape("add", lhs, rhs, IntegersOf(dimensions, "dimensions")));
}

// ---- Drawing. -------------------------------------------------------------------------------------------------------

std::string Svg(const Shape& shape, bool dark, int max_rows, int max_columns) {
  LayoutFigureOptions options;
  options.max_rows = max_rows;
  options.max_columns = max_columns;
  SvgOptions svg;
  svg.dark = dark;
  return ToSvg(ValueOrThrow(MakeLayoutFigure(shape, options)), svg);
}

std::string Terminal(const Shape& shape, int width, bool ascii) {
  TerminalOptions options;
  options.width = width;
  options.ascii = ascii;
  return ToTerminal(ValueOrThrow(MakeLayoutFigure(shape)), options);
}

// None if there is no figure: notebooks then show the text.
nb::object ReprSvg(const Shape& shape) {
  const absl::StatusOr<LayoutFigure> figure = MakeLayoutFigure(shape);
  if (!figure.ok()) return nb::none();
  return ToStr(ToSvg(*figure));
}

// ---- Layouts. -------------------------------------------------------------------------------------------------------

Tile MakeTile(nb::handle dimensions) {
  Tile tile;
  for (const nb::handle entry : dimensions) {
    const bool combines = nb::isinstance<nb::str>(entry) && nb::cast<std::string>(entry) == "*";
    if (!combines && PyIndex_Check(entry.ptr()) == 0) ThrowTypeError("a size of a tile must be an integer or '*'");
    const int64_t size = combines ? Tile::kCombineDimension : IntegerOf(entry);
    if (!combines && size < 1) ThrowValueError(absl::StrCat("a size of a tile must be positive or '*', got ", size));
    tile.add_dimensions(size);
  }
  return tile;
}

nb::tuple TileDimensions(const Tile& tile) {
  nb::list sizes;
  for (const int64_t size : tile.dimensions()) {
    if (size == Tile::kCombineDimension) {
      sizes.append("*");
    } else {
      sizes.append(size);
    }
  }
  return nb::tuple(sizes);
}

nb::tuple TilesOf(const Layout& layout) {
  nb::list tiles;
  for (const Tile& tile : layout.tiles()) tiles.append(nb::cast(tile));
  return nb::tuple(tiles);
}

Layout MakeLayout(nb::handle minor_to_major, nb::handle tiles, int64_t element_size_in_bits, int64_t memory_space) {
  std::vector<Tile> made;
  for (const nb::handle tile : tiles) {
    made.push_back(nb::isinstance<Tile>(tile) ? nb::cast<Tile>(tile) : MakeTile(tile));
  }
  if (memory_space < -128 || memory_space > 127) ThrowValueError("memory_space must fit in 8 bits");
  Layout layout(IntegersOf(minor_to_major, "minor_to_major"), made, element_size_in_bits);
  layout.set_memory_space(memory_space);
  return layout;
}

template <typename T>
size_t HashOf(const T& value) {
  return absl::Hash<T>()(value);
}
template <typename T>
std::string TextOf(const T& value) {
  return value.ToString();
}

void BindTile(nb::module_& m) {
  nb::class_<Tile>(m, "Tile",
                   "The sizes of a tile, most major first; '*' merges a dimension with the next one.\n\n"
                   ">>> kashi.Tile((8, 128))\nTile((8, 128))")
      .def(
          "__init__", [](Tile* self, nb::handle dimensions) { new (self) Tile(MakeTile(dimensions)); },
          nb::arg("dimensions"))
      .def_prop_ro("dimensions", TileDimensions, "The sizes, most major first.")
      .def("__str__", TextOf<Tile>)
      .def("__repr__",
           [](const Tile& tile) { return nb::str(nb::str("Tile({!r})").attr("format")(TileDimensions(tile))); })
      .def(
          "__eq__", [](const Tile& a, const Tile& b) { return a == b; }, nb::is_operator(),
          nb::sig("def __eq__(self, arg: object, /) -> bool"))
      .def("__hash__", HashOf<Tile>)
      .def("__reduce__", [](nb::handle self) {
        return nb::make_tuple(self.type(), nb::make_tuple(TileDimensions(nb::cast<Tile&>(self))));
      });
}

void BindLayout(nb::module_& m) {
  nb::class_<Layout>(m, "Layout",
                     "The order of an array's dimensions in memory, minor to major, with its tiles.\n\n"
                     ">>> kashi.Layout('{1,0:T(8,128)}').tiles\n(Tile((8, 128)),)\n\n"
                     "Raises ParseError for text that is not a layout.")
      .def(
          "__init__",
          [](Layout* self, const std::string& text) { new (self) Layout(ParsedOrThrow(ParseLayout(text))); },
          nb::arg("text"))
      .def(
          "__init__",
          [](Layout* self, nb::handle minor_to_major, nb::handle tiles, int64_t element_size_in_bits,
             int64_t memory_space) {
            new (self) Layout(MakeLayout(minor_to_major, tiles, element_size_in_bits, memory_space));
          },
          nb::arg("minor_to_major"), nb::arg("tiles") = nb::tuple(), nb::arg("element_size_in_bits") = 0,
          nb::arg("memory_space") = 0)
      .def_prop_ro(
          "minor_to_major", [](const Layout& l) { return ToTuple(l.minor_to_major()); },
          "The dimensions, the fastest-varying first.")
      .def_prop_ro("tiles", TilesOf, "The tiles, each applied to the result of the one before.")
      .def_prop_ro("memory_space", &Layout::memory_space, "The number of the memory space, S(n); 0 is the default.")
      .def_prop_ro("element_size_in_bits", &Layout::element_size_in_bits, "E(n): bits of an element; 0: natural.")
      .def_prop_ro("tail_padding_alignment_in_elements", &Layout::tail_padding_alignment_in_elements, "L(n).")
      .def_prop_ro("dynamic_shape_metadata_prefix_bytes", &Layout::dynamic_shape_metadata_prefix_bytes, "M(n).")
      .def("__str__", TextOf<Layout>)
      .def("__repr__", [](const Layout& layout) { return absl::StrCat("Layout('", layout.ToString(), "')"); })
      .def(
          "__eq__", [](const Layout& a, const Layout& b) { return a == b; }, nb::is_operator(),
          nb::sig("def __eq__(self, arg: object, /) -> bool"))
      .def("__hash__", HashOf<Layout>)
      .def("__reduce__", [](nb::handle self) {
        return nb::make_tuple(self.type(), nb::make_tuple(nb::cast<Layout&>(self).ToString()));
      });
}

// ---- Shapes. --------------------------------------------------------------------------------------------------------

nb::tuple TupleShapesOf(const Shape& shape) {
  if (!shape.IsTuple()) ThrowTypeError(absl::StrCat(shape.ToString(), " is not a tuple"));
  nb::list elements;
  for (const Shape& element : shape.tuple_shapes()) elements.append(nb::cast(element));
  return nb::tuple(elements);
}

void BindShapeFacts(nb::class_<Shape>& shape) {
  const auto size_fact = [](int64_t DeviceSize::*fact) {
    return [fact](const Shape& s) { return ValueOrThrow(GetDeviceSize(s)).*fact; };
  };
  shape
      .def_prop_ro(
          "type",
          [](const Shape& s) {
            return ToStr(primitive_util::LowercasePrimitiveTypeName(s.element_type_including_buffer()));
          },
          "'f32', 'tuple', 'token', …; 'buffer' for b(…).")
      .def_prop_ro(
          "element_type",
          [](const Shape& s) { return ToStr(primitive_util::LowercasePrimitiveTypeName(s.element_type())); },
          "The same, but of a buffer its array's.")
      .def_prop_ro("dtype", DtypeOrNone, nb::sig("def dtype(self) -> numpy.dtype | None"),
                   "The numpy.dtype of the elements, or None.")
      .def_prop_ro("dimensions", DimensionsOf, nb::sig("def dimensions(self) -> tuple[int, ...]"),
                   "The sizes; None where a size is unbounded. TypeError for tuples.")
      .def_prop_ro("dynamic_dimensions", DynamicDimensionsOf, "Which sizes are bounds.")
      .def_prop_ro(
          "rank", [](const Shape& s) { return ArrayOrThrow(s).dimensions_size(); }, "How many dimensions.")
      .def_prop_ro(
          "layout", [](const Shape& s) { return s.has_layout() ? nb::cast(s.layout()) : nb::object(nb::none()); },
          nb::sig("def layout(self) -> Layout | None"), "The Layout, or None.")
      .def_prop_ro(
          "memory_space", [](const Shape& s) { return LayoutOrThrow(s).memory_space(); },
          "The memory space of the layout.")
      .def_prop_ro("is_array", &Shape::IsArray, "Arrays and buffers.")
      .def_prop_ro("is_tuple", &Shape::IsTuple, "Whether it is a tuple of shapes.")
      .def_prop_ro("is_static", &Shape::is_static, "No size is a bound or unbounded.")
      .def_prop_ro("tuple_shapes", TupleShapesOf, nb::sig("def tuple_shapes(self) -> tuple[Shape, ...]"),
                   "The elements of a tuple; TypeError for others.")
      .def_prop_ro(
          "elements", [](const Shape& s) { return MapOrThrow(s).element_count(); }, "How many elements the array has.")
      .def_prop_ro(
          "positions", [](const Shape& s) { return MapOrThrow(s).padded_element_count(); },
          "How many places for elements the buffer has, padding included.")
      .def_prop_ro(
          "physical_dimensions", [](const Shape& s) { return ToTuple(MapOrThrow(s).physical_dimensions()); },
          "The sizes after all tiles, most major first.")
      .def_prop_ro(
          "buffer_bytes", [](const Shape& s) { return MapOrThrow(s).byte_size(); },
          "The bytes of the buffer that tile() fills.")
      .def_prop_ro("bytes", size_fact(&DeviceSize::bytes),
                   "The bytes on a device, padding included; of a tuple the sum over its arrays.")
      .def_prop_ro("unpadded_bytes", size_fact(&DeviceSize::unpadded_bytes), "The bytes of the elements alone.")
      .def_prop_ro("padding_bytes", size_fact(&DeviceSize::padding_bytes), "bytes - unpadded_bytes.")
      .def_prop_ro("expansion", ExpansionOf, nb::sig("def expansion(self) -> float | None"),
                   "bytes / unpadded_bytes; None without elements.");
}

void BindShapeMethods(nb::class_<Shape>& shape) {
  shape
      .def(
          "offset",
          [](const Shape& s, nb::handle index) {
            const IndexMap map = MapOrThrow(s);
            return map.LogicalToPhysical(IndexOrThrow(map, index));
          },
          nb::arg("index"),
          "The position of an element in the buffer, counted in elements.\n\n"
          ">>> kashi.Shape('bf16[512,6144]{1,0:T(8,128)(2,1)}').offset((5, 130))\n1541\n\n"
          "Raises IndexError outside of the array.")
      .def(
          "byte_offset",
          [](const Shape& s, nb::handle index) {
            const IndexMap map = MapOrThrow(s);
            return map.ByteOffset(map.LogicalToPhysical(IndexOrThrow(map, index)));
          },
          nb::arg("index"),
          "The byte of the buffer in which the element begins.\n\n"
          ">>> kashi.Shape('f32[3,5]{1,0:T(2,2)}').byte_offset((2, 3))\n68\n\nRaises IndexError outside of the array.")
      .def("index", IndexAt, nb::arg("offset"), nb::sig("def index(self, offset: int) -> tuple[int, ...] | None"),
           "The index of the element at a position, or None where there is padding.\n\n"
           ">>> kashi.Shape('f32[3,5]{1,0:T(2,2)}').index(17)\n(2, 3)\n\n"
           "Raises IndexError outside of the buffer.")
      .def("replace", Replace, nb::kw_only(), nb::arg("layout").none() = nb::ellipsis(),
           nb::arg("dimensions").none() = nb::none(), nb::arg("element_type").none() = nb::none(),
           "The array with another layout (a Layout, its text, or None), other sizes, or another element type.\n\n"
           ">>> kashi.Shape('f32[8,128]').replace(layout='{0,1}')\nShape('f32[8,128]{0,1}')")
      .def(
          "for_target",
          [](const Shape& shape, nb::handle target) {
            return ShapeForTarget(shape, TextOfArgument(target, "`target` is the name of a TPU generation"));
          },
          nb::arg("target").none(), nb::sig("def for_target(self, target: str) -> Shape"),
          "The shape with the tiles that the TPU generation ('v2' … 'tpu7x') chooses for arrays without tiles.\n\n"
          ">>> kashi.Shape('bf16[5,7]').for_target('v4')\nShape('bf16[5,7]{1,0:T(8,128)(2,1)}')")
      .def("advice", AdviceOn, nb::arg("target").none() = nb::none(),
           "Layouts that take fewer bytes, the cheapest first: rows with `kind`, `shape` and `bytes`.\n\n"
           ">>> [str(row['shape']) for row in kashi.Shape('f32[1000,2]').for_target('v5e').advice('v5e')]\n"
           "['f32[1000,2]{0,1:T(2,128)}']");
}

void BindShapeTexts(nb::class_<Shape>& shape) {
  shape
      .def(
          "explain",
          [](const Shape& s, const std::optional<std::string>& target) {
            return ToStr(ExplainShape(s, OptionalGeneration(target)));
          },
          nb::arg("target").none() = nb::none(),
          "What `kashi shape` prints.\n\n"
          ">>> kashi.Shape('f32[3,5]{1,0:T(2,2)}').explain().splitlines()[0]\n'f32[3,5]{1,0:T(2,2)}'")
      .def("svg", Svg, nb::kw_only(), nb::arg("dark") = false, nb::arg("max_rows") = 0, nb::arg("max_columns") = 0,
           "A figure of the layout as an SVG document. Raises ValueError where there is no figure.\n\n"
           ">>> kashi.Shape('f32[3,5]{1,0:T(2,2)}').svg().count('<svg')\n1")
      .def("draw", Terminal, nb::kw_only(), nb::arg("width") = 100, nb::arg("ascii") = false,
           "The figure as text for a terminal of this width.\n\n"
           ">>> print(kashi.Shape('s8[1,2]').draw(ascii=True)) # doctest: +ELLIPSIS\ns8[1,2]...")
      .def("_repr_svg_", ReprSvg)
      .def("__str__", [](const Shape& s) { return ToStr(s.ToString(/*print_layout=*/true)); })
      .def("__repr__", [](const Shape& s) { return ToStr(absl::StrCat("Shape('", s.ToString(true), "')")); })
      .def(
          "__eq__", [](const Shape& a, const Shape& b) { return a == b; }, nb::is_operator(),
          nb::sig("def __eq__(self, arg: object, /) -> bool"))
      .def("__hash__", HashOf<Shape>)
      .def("__reduce__", [](nb::handle self) {
        return nb::make_tuple(self.type(), nb::make_tuple(ToStr(nb::cast<Shape&>(self).ToString(true))));
      });
}

void BindShape(nb::module_& m) {
  nb::class_<Shape> shape(m, "Shape",
                          "The type of a value: element type, sizes and layout, or a tuple of shapes.\n\n"
                          ">>> s = kashi.Shape('bf16[500,6144]{1,0:T(8,128)(2,1)}')\n"
                          ">>> s.dimensions, s.bytes, s.padding_bytes\n((500, 6144), 6193152, 49152)\n\n"
                          "Raises ParseError for text that is not a shape; `strict` also refuses sloppy text.");
  shape
      .def(
          "__init__",
          [](Shape* self, nb::handle text, bool strict) {
            constexpr char kWanted[] =
                "kashi.Shape() takes the text of a shape, such as 'f32[2,3]' (Shape.array('f32', (2, 3)) takes a type "
                "and sizes, Shape.of() an array)";
            new (self) Shape(ParseShapeText(TextOfArgument(text, kWanted), strict));
          },
          nb::arg("text").none(), nb::kw_only(), nb::arg("strict") = false,
          nb::sig("def __init__(self, text: str, *, strict: bool = False) -> None"))
      .def_static("array", MakeArray, nb::arg("element_type"), nb::arg("dimensions"),
                  nb::arg("layout").none() = nb::none(),
                  "An array; the type is a name of XLA's or a dtype.\n\n"
                  ">>> kashi.Shape.array('bf16', (8, 128))\nShape('bf16[8,128]{1,0}')")
      .def_static(
          "of",
          [](nb::handle array) {
            const ArrayView view = ViewOf(array);
            return ValueOrThrow(ShapeUtil::MakeValidatedShape(view.type, view.dimensions));
          },
          nb::arg("array"),
          "The shape of an array, row-major.\n\n"
          ">>> import numpy as np\n>>> kashi.Shape.of(np.zeros((2, 3), np.float32))\nShape('f32[2,3]{1,0}')\n\nRaises "
          "TypeError for a dtype that XLA does not have.")
      .def_static("tuple_of", MakeTuple, nb::arg("elements"),
                  "A tuple of shapes.\n\n>>> kashi.Shape.tuple_of([kashi.Shape('f32[2]'), kashi.Shape('s32[]')])\n"
                  "Shape('(f32[2]{0}, s32[])')");
  BindShapeFacts(shape);
  BindShapeMethods(shape);
  BindShapeTexts(shape);
}

void BindProgramShape(nb::module_& m) {
  nb::class_<ProgramShape>(m, "ProgramShape",
                           "The parameters and the result of a computation.\n\n"
                           ">>> kashi.ProgramShape('(x: f32[2]) -> f32[]').parameter_names\n('x',)\n\n"
                           "Raises ParseError for text that is not a program shape.")
      .def(
          "__init__",
          [](ProgramShape* self, nb::handle text) {
            constexpr char kWanted[] = "kashi.ProgramShape() takes a text, such as '(x: f32[2]) -> f32[]'";
            new (self) ProgramShape(ParsedOrThrow(ParseProgramShape(TextOfArgument(text, kWanted))));
          },
          nb::arg("text").none(), nb::sig("def __init__(self, text: str) -> None"))
      .def_prop_ro(
          "parameters",
          [](const ProgramShape& p) {
            nb::list shapes;
            for (const Shape& shape : p.parameters()) shapes.append(nb::cast(shape));
            return nb::tuple(shapes);
          },
          "The Shape of each parameter.")
      .def_prop_ro(
          "parameter_names",
          [](const ProgramShape& p) {
            nb::list names;
            for (const std::string& name : p.parameter_names()) names.append(ToStr(name));
            return nb::tuple(names);
          },
          "The name of each parameter; empty where it has none.")
      .def_prop_ro(
          "result", [](const ProgramShape& p) { return p.result(); }, "The Shape of the result.")
      .def("__str__", [](const ProgramShape& p) { return ToStr(p.ToString()); })
      .def("__repr__", [](const ProgramShape& p) { return ToStr(absl::StrCat("ProgramShape('", p.ToString(), "')")); })
      .def(
          "__eq__",
          [](const ProgramShape& a, const ProgramShape& b) {
            return a.parameters() == b.parameters() && a.parameter_names() == b.parameter_names() &&
                   a.result() == b.result();
          },
          nb::is_operator(), nb::sig("def __eq__(self, arg: object, /) -> bool"))
      .def("__hash__",
           [](const ProgramShape& p) { return absl::HashOf(p.parameters(), p.parameter_names(), p.result()); })
      .def("__reduce__", [](nb::handle self) {
        return nb::make_tuple(self.type(), nb::make_tuple(ToStr(nb::cast<ProgramShape&>(self).ToString())));
      });
}

}  // namespace

PrimitiveType ElementTypeOfArgument(nb::handle type) {
  if (nb::isinstance<nb::str>(type)) {
    const auto known = primitive_util::StringToPrimitiveType(nb::cast<std::string>(type));
    if (known.ok()) return *known;
  }
  return ValueOrThrow(primitive_util::StringToPrimitiveType(
      nb::cast<std::string>(nb::module_::import_("kashi._kashi").attr("primitive_type")(type))));
}

Shape ShapeForTarget(const Shape& shape, const std::string& target) {
  const TpuGeneration generation = GenerationOrThrow(target);
  Shape result = shape;
  ThrowUnlessOk(SetTpuLayouts(generation, &result));
  return result;
}

Shape ShapeOfArgument(nb::handle shape) {
  if (nb::isinstance<Shape>(shape)) return nb::cast<Shape>(shape);
  if (nb::isinstance<nb::str>(shape)) return ParseShapeText(nb::cast<std::string>(shape), /*strict=*/false);
  ThrowTypeError(absl::StrCat("a shape must be a kashi.Shape, or its text, not ", TypeNameOf(shape)));
}

void BindShapes(nb::module_& m) {
  BindTile(m);
  BindLayout(m);
  BindShape(m);
  BindProgramShape(m);
  m.def("broadcast_shapes", BroadcastShapes, nb::arg("lhs"), nb::arg("rhs"), nb::arg("dimensions") = nb::tuple(),
        "The shape of an elementwise operation on two arrays, by XLA's rules. `dimensions`: which dimension of the\n"
        "larger array each dimension of the smaller one is.\n\n"
        ">>> kashi.broadcast_shapes(kashi.Shape('f32[2,1]'), kashi.Shape('f32[1,3]'))\nShape('f32[2,3]{1,0}')\n\n"
        "Raises ValueError where XLA refuses.");
  m.attr("TPU_GENERATIONS") = [] {
    nb::list names;
    for (const TpuGenerationInfo& info : TpuGenerations()) names.append(ToStr(info.name));
    return nb::tuple(names);
  }();
}

}  // namespace kashi::python
