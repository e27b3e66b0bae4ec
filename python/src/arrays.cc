#include <Python.h>
#define KASHI_IMPORT_NUMPY
#include "numpy_api.h"
//
#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "arrays.h"
#include "kashi/array/primitive_util.h"
#include "kashi/base/page_buffer.h"
#include "kashi/base/text.h"
#include "kashi/relayout/relayout_plan.h"

namespace kashi::python {
namespace {

// ---- Element types. -----------------------------------------------------------------------------------------------

struct DtypeRow {
  PrimitiveType type;
  const char* name;  // in the module below
  bool is_ml_dtypes;
};
constexpr DtypeRow kDtypes[] = {
    {PRED, "bool", false},
    {S8, "int8", false},
    {S16, "int16", false},
    {S32, "int32", false},
    {S64, "int64", false},
    {U8, "uint8", false},
    {U16, "uint16", false},
    {U32, "uint32", false},
    {U64, "uint64", false},
    {F16, "float16", false},
    {F32, "float32", false},
    {F64, "float64", false},
    {C64, "complex64", false},
    {C128, "complex128", false},
    {BF16, "bfloat16", true},
    {F8E5M2, "float8_e5m2", true},
    {F8E4M3FN, "float8_e4m3fn", true},
    {F8E4M3B11FNUZ, "float8_e4m3b11fnuz", true},
    {F8E5M2FNUZ, "float8_e5m2fnuz", true},
    {F8E4M3FNUZ, "float8_e4m3fnuz", true},
    {F8E4M3, "float8_e4m3", true},
    {F8E3M4, "float8_e3m4", true},
    {F8E8M0FNU, "float8_e8m0fnu", true},
    {F4E2M1FN, "float4_e2m1fn", true},
    {F6E2M3FN, "float6_e2m3fn", true},
    {F6E3M2FN, "float6_e3m2fn", true},
    {S4, "int4", true},
    {U4, "uint4", true},
    {S2, "int2", true},
    {U2, "uint2", true},
    {S1, "int1", true},
    {U1, "uint1", true},
};
constexpr int kTypeCount = F6E2M3FN + 1;

// The dtype of each primitive type, or null. Lives as long as the interpreter.
PyArray_Descr* dtypes[kTypeCount] = {};
// The primitive type of each of NumPy's and ml_dtypes' type numbers.
std::vector<PrimitiveType> types_by_number;

PrimitiveType TypeOfNumber(int number) {
  return number >= 0 && static_cast<size_t>(number) < types_by_number.size() ? types_by_number[number]
                                                                             : PRIMITIVE_TYPE_INVALID;
}

void AddDtype(PrimitiveType type, nb::handle scalar_type) {
  PyArray_Descr* descr = nullptr;
  if (PyArray_DescrConverter(scalar_type.ptr(), &descr) == 0) throw nb::python_error();
  // A type whose elements have another number of bytes than here would be read wrongly.
  if (PyDataType_ELSIZE(descr) != primitive_util::ByteWidth(type)) return Py_DECREF(descr);
  dtypes[type] = descr;
  const size_t number = static_cast<size_t>(descr->type_num);
  if (types_by_number.size() <= number) types_by_number.resize(number + 1, PRIMITIVE_TYPE_INVALID);
  types_by_number[number] = type;
}

void FillDtypes() {
  const nb::module_ ml_dtypes = nb::module_::import_("ml_dtypes");
  const nb::module_ numpy = nb::module_::import_("numpy");
  for (const DtypeRow& row : kDtypes) {
    // An older ml_dtypes has fewer types; `bool` is of NumPy 2.
    const char* const name = row.type == PRED ? "bool_" : row.name;
    const nb::handle module = row.is_ml_dtypes ? nb::handle(ml_dtypes) : nb::handle(numpy);
    if (nb::hasattr(module, name)) AddDtype(row.type, module.attr(name));
  }
  // Two of NumPy's types may be the same integer (long and long long).
  for (const int number : {NPY_LONG, NPY_LONGLONG, NPY_INT}) {
    const size_t place = static_cast<size_t>(number);
    if (types_by_number.size() > place && types_by_number[place] != PRIMITIVE_TYPE_INVALID) continue;
    if (types_by_number.size() <= place) types_by_number.resize(place + 1, PRIMITIVE_TYPE_INVALID);
    types_by_number[place] = number == NPY_INT ? S32 : S64;
  }
  for (const int number : {NPY_ULONG, NPY_ULONGLONG, NPY_UINT}) {
    const size_t place = static_cast<size_t>(number);
    if (types_by_number.size() <= place) types_by_number.resize(place + 1, PRIMITIVE_TYPE_INVALID);
    if (types_by_number[place] == PRIMITIVE_TYPE_INVALID) types_by_number[place] = number == NPY_UINT ? U32 : U64;
  }
}

std::string DtypeText(PyArrayObject* array) {
  return nb::cast<std::string>(nb::str(nb::handle(reinterpret_cast<PyObject*>(PyArray_DESCR(array)))));
}

// ---- Views. -------------------------------------------------------------------------------------------------------

PyArrayObject* AsArray(const nb::object& object) { return reinterpret_cast<PyArrayObject*>(object.ptr()); }

// An ndarray of the object's elements; its own memory if possible.
nb::object ToNdarray(nb::handle object) {
  if (PyArray_Check(object.ptr())) return nb::borrow(object);
  if (PyMemoryView_Check(object.ptr())) {
    Py_buffer buffer;  // NumPy makes an array of objects of a view that was released; Python says that it was
    if (PyObject_GetBuffer(object.ptr(), &buffer, PyBUF_FULL_RO) != 0) throw nb::python_error();
    PyBuffer_Release(&buffer);
  }
  const bool has_array = nb::hasattr(object, "__array_interface__") || nb::hasattr(object, "__array__") ||
                         PyObject_CheckBuffer(object.ptr()) != 0;
  if (!has_array && nb::hasattr(object, "__dlpack__")) {
    return nb::module_::import_("numpy").attr("from_dlpack")(object);
  }
  // NumPy takes bytes for a string, and would copy it.
  nb::object source = nb::borrow(object);
  if (PyBytes_Check(object.ptr())) source = nb::steal(PyMemoryView_FromObject(object.ptr()));
  if (!source.is_valid()) throw nb::python_error();
  nb::object array = nb::steal(PyArray_FromAny(source.ptr(), nullptr, 0, 0, 0, nullptr));
  if (!array.is_valid()) throw nb::python_error();
  return array;
}

ArrayView DescribeArray(nb::object array) {
  ArrayView view;
  PyArrayObject* const numpy = AsArray(array);
  view.data = PyArray_BYTES(numpy);
  const int rank = PyArray_NDIM(numpy);
  view.dimensions.assign(PyArray_DIMS(numpy), PyArray_DIMS(numpy) + rank);
  view.byte_strides.assign(PyArray_STRIDES(numpy), PyArray_STRIDES(numpy) + rank);
  view.bytes = static_cast<int64_t>(PyArray_NBYTES(numpy));
  view.is_contiguous = PyArray_IS_C_CONTIGUOUS(numpy);
  view.is_aligned = PyArray_ISALIGNED(numpy);
  view.array = std::move(array);
  return view;
}

// The first and the last byte that elements take; nothing for an empty array.
struct Extent {
  uintptr_t begin = 0, end = 0;
};
Extent ExtentOf(const ArrayView& view) {
  if (view.bytes == 0) return {};
  uintptr_t begin = reinterpret_cast<uintptr_t>(view.data), end = begin;
  for (size_t i = 0; i < view.dimensions.size(); ++i) {
    const int64_t reach = (view.dimensions[i] - 1) * view.byte_strides[i];
    (reach < 0 ? begin : end) += static_cast<uintptr_t>(reach);
  }
  return {begin, end + static_cast<uintptr_t>(PyArray_ITEMSIZE(AsArray(view.array)))};
}

// Whether two indices may share memory: each stride must reach over all that smaller strides reach.
bool OverlapsItself(const ArrayView& view) {
  std::vector<std::pair<int64_t, int64_t>> dimensions;  // stride, size
  for (size_t i = 0; i < view.dimensions.size(); ++i) {
    if (view.dimensions[i] > 1) dimensions.emplace_back(std::abs(view.byte_strides[i]), view.dimensions[i]);
  }
  std::sort(dimensions.begin(), dimensions.end());
  int64_t reach = PyArray_ITEMSIZE(AsArray(view.array));
  for (const auto& [stride, size] : dimensions) {
    if (stride < reach) return true;
    reach += stride * (size - 1);
  }
  return false;
}

// A list, say, would be copied, and the copy filled.
void RequireMemory(nb::handle object, const char* name) {
  if (PyArray_Check(object.ptr()) || PyObject_CheckBuffer(object.ptr()) != 0) return;
  ThrowTypeError(absl::StrCat(name, " must be a numpy.ndarray or another writeable buffer"));
}

void RequireWritable(const ArrayView& view, const char* name) {
  if (!PyArray_ISWRITEABLE(AsArray(view.array))) ThrowValueError(absl::StrCat(name, " is read-only"));
}

// ---- Results. -----------------------------------------------------------------------------------------------------

constexpr char kValueCapsule[] = "kashi.Value";
constexpr char kPagesCapsule[] = "kashi.PageBuffer";

void FreeValueOf(PyObject* capsule) { delete static_cast<Value*>(PyCapsule_GetPointer(capsule, kValueCapsule)); }
void FreePagesOf(PyObject* capsule) {
  delete static_cast<base::PageBuffer*>(PyCapsule_GetPointer(capsule, kPagesCapsule));
}

PyArray_Descr* NewReferenceToDtype(PrimitiveType type) {
  const nb::handle dtype = DtypeOf(type);
  if (!dtype.is_valid()) {
    ThrowTypeError(absl::StrCat("ml_dtypes has no type for ", primitive_util::LowercasePrimitiveTypeName(type)));
  }
  return reinterpret_cast<PyArray_Descr*>(dtype.inc_ref().ptr());
}

// An array on memory that `base` keeps alive, which becomes the array's.
nb::object ArrayOnMemory(PrimitiveType type, absl::Span<const int64_t> dimensions, void* data, nb::object base) {
  const std::vector<npy_intp> sizes(dimensions.begin(), dimensions.end());
  nb::object array =
      nb::steal(PyArray_NewFromDescr(&PyArray_Type, NewReferenceToDtype(type), static_cast<int>(sizes.size()),
                                     sizes.data(), nullptr, data, data == nullptr ? 0 : NPY_ARRAY_CARRAY, nullptr));
  if (!array.is_valid()) throw nb::python_error();
  if (base.is_valid() && PyArray_SetBaseObject(AsArray(array), base.release().ptr()) != 0) throw nb::python_error();
  return array;
}

// ---- Arguments. ---------------------------------------------------------------------------------------------------

// Frees a reference to an object of Python's, on any thread.
struct Dropper {
  void operator()(PyObject* object) const {
    if (Py_IsInitialized() == 0) return;  // too late: the interpreter has freed it
    const nb::gil_scoped_acquire gil;
    Py_DECREF(object);
  }
};

std::string DimensionsText(PrimitiveType type, absl::Span<const int64_t> dimensions) {
  return absl::StrCat(primitive_util::LowercasePrimitiveTypeName(type), "[", absl::StrJoin(dimensions, ","), "]");
}

std::string DtypeText(PrimitiveType type) {
  const nb::handle dtype = DtypeOf(type);
  return dtype.is_valid() ? nb::cast<std::string>(nb::str(dtype)) : "none";
}

void CheckFits(const ArrayView& view, const Shape& shape, const std::string& place) {
  const std::string misfit = Misfit(view, shape, place);
  if (!misfit.empty()) ThrowTypeError(misfit);
}

// The elements in row-major order, in memory of their own.
nb::object DenseCopy(const ArrayView& view) {
  nb::object copy = nb::steal(PyArray_NewCopy(AsArray(view.array), NPY_CORDER));
  if (!copy.is_valid()) throw nb::python_error();
  return copy;
}

// Whether nothing but its address is needed to read it as an array of this static shape.
bool IsDenseArrayOf(PyObject* object, const Shape& shape) {
  if (!PyArray_Check(object)) return false;
  PyArrayObject* const array = reinterpret_cast<PyArrayObject*>(object);
  const absl::Span<const int64_t> dimensions = shape.dimensions();
  return TypeOfNumber(PyArray_TYPE(array)) == shape.element_type() && PyArray_ISCARRAY_RO(array) &&
         static_cast<size_t>(PyArray_NDIM(array)) == dimensions.size() &&
         std::equal(dimensions.begin(), dimensions.end(), PyArray_DIMS(array));
}

}  // namespace

std::string Misfit(const ArrayView& view, const Shape& shape, const std::string& place) {
  bool fits = view.type == shape.element_type() && view.dimensions.size() == shape.dimensions().size();
  for (int i = 0; fits && i < shape.dimensions_size(); ++i) {
    fits = shape.is_unbounded_dynamic_dimension(i) ||
           (shape.is_dynamic_dimension(i) ? view.dimensions[i] <= shape.dimensions(i)
                                          : view.dimensions[i] == shape.dimensions(i));
  }
  if (fits) return "";
  const std::string got = DimensionsText(view.type, view.dimensions);
  if (view.type == shape.element_type()) return absl::StrCat(place, " must be ", shape.ToString(), ", got ", got);
  // A caller that passes a number or a list may not know that it has NumPy's widest type.
  return absl::StrCat(place, " must be ", shape.ToString(), " (dtype ", DtypeText(shape.element_type()), "), got ", got,
                      " (dtype ", DtypeText(view.type), ")");
}

ArrayView ViewOf(nb::handle object) {
  nb::object array = ToNdarray(object);
  const PrimitiveType type = TypeOfNumber(PyArray_TYPE(AsArray(array)));
  if (type == PRIMITIVE_TYPE_INVALID) {
    if (PyArray_TYPE(AsArray(array)) == NPY_OBJECT && PyArray_NDIM(AsArray(array)) == 0) {
      ThrowTypeError(absl::StrCat("a ", Py_TYPE(object.ptr())->tp_name, " is not an array"));
    }
    ThrowTypeError(absl::StrCat("XLA has no element type for an array of ", DtypeText(AsArray(array))));
  }
  if (!PyArray_ISNOTSWAPPED(AsArray(array))) {
    PyArray_Descr* const native = PyArray_DescrNewByteorder(PyArray_DESCR(AsArray(array)), NPY_NATIVE);
    if (native == nullptr) throw nb::python_error();
    array = nb::steal(PyArray_FromArray(AsArray(array), native, NPY_ARRAY_DEFAULT));
    if (!array.is_valid()) throw nb::python_error();
  }
  ArrayView view = DescribeArray(std::move(array));
  view.type = type;
  return view;
}

ArrayView WritableViewOf(nb::handle object, const char* name) {
  RequireMemory(object, name);
  const nb::object array = ToNdarray(object);
  if (!PyArray_ISNOTSWAPPED(AsArray(array))) ThrowValueError(absl::StrCat(name, " is not in native byte order"));
  ArrayView view = ViewOf(array);
  RequireWritable(view, name);
  if (OverlapsItself(view)) ThrowValueError(absl::StrCat(name, " has several elements at one address"));
  return view;
}

ArrayView BytesOf(nb::handle object, bool writable, const char* name) {
  if (writable) RequireMemory(object, name);
  // NumPy would make an array of characters, or of numbers as wide as it chooses.
  if (PyUnicode_Check(object.ptr())) ThrowTypeError(absl::StrCat(name, " is a str: its bytes are not the buffer's"));
  ArrayView view = DescribeArray(ToNdarray(object));
  if (PyDataType_REFCHK(PyArray_DESCR(AsArray(view.array)))) ThrowTypeError(absl::StrCat(name, " holds objects"));
  if (!view.is_contiguous) ThrowValueError(absl::StrCat(name, " is not contiguous"));
  if (writable) RequireWritable(view, name);
  return view;
}

void ThrowIfOverlapping(const ArrayView& a, const ArrayView& b) {
  const Extent one = ExtentOf(a), other = ExtentOf(b);
  if (one.begin < other.end && other.begin < one.end) ThrowValueError("`out` shares memory with the source");
}

nb::object NewArray(PrimitiveType type, absl::Span<const int64_t> dimensions, void** data) {
  int64_t bytes = primitive_util::ByteWidth(type);
  for (const int64_t dimension : dimensions) {
    if (dimension < 0 || __builtin_mul_overflow(bytes, dimension, &bytes)) {
      ThrowStatus(absl::ResourceExhaustedError("an array of this size has no place in memory"));
    }
  }
  nb::object base;
  void* memory = nullptr;
  if (bytes >= base::kLargeBlockBytes) {
    auto pages = std::make_unique<base::PageBuffer>(ValueOrThrow(base::PageBuffer::Make(bytes)));
    memory = pages->data();
    base = nb::steal(PyCapsule_New(pages.get(), kPagesCapsule, FreePagesOf));
    if (!base.is_valid()) throw nb::python_error();
    pages.release();  // the capsule's
  }
  nb::object array = ArrayOnMemory(type, dimensions, memory, std::move(base));
  *data = PyArray_DATA(AsArray(array));
  return array;
}

PrimitiveType TypeOfDtype(nb::handle dtype) {
  if (!PyArray_DescrCheck(dtype.ptr())) return PRIMITIVE_TYPE_INVALID;
  return TypeOfNumber(reinterpret_cast<PyArray_Descr*>(dtype.ptr())->type_num);
}
nb::handle DtypeOf(PrimitiveType type) {
  if (type < 0 || type >= kTypeCount) return {};
  return nb::handle(reinterpret_cast<PyObject*>(dtypes[type]));
}

Value ValueOfArgument(nb::handle argument, const Shape& shape, const std::string& place) {
  if (shape.IsToken()) {
    if (!argument.is_none()) ThrowTypeError(absl::StrCat(place, " is a token: pass None"));
    return Value::MakeToken();
  }
  if (shape.IsTuple()) {
    if (!nb::isinstance<nb::tuple>(argument) && !nb::isinstance<nb::list>(argument)) {
      ThrowTypeError(absl::StrCat(place, " must be a tuple for ", shape.ToString()));
    }
    if (static_cast<int>(nb::len(argument)) != shape.tuple_shapes_size()) {
      ThrowTypeError(absl::StrCat(place, " must have ", base::Count(shape.tuple_shapes_size(), "element"), ", got ",
                                  nb::len(argument)));
    }
    std::vector<Value> elements;
    for (int i = 0; i < shape.tuple_shapes_size(); ++i) {
      elements.push_back(ValueOfArgument(argument[i], shape.tuple_shapes(i), absl::StrCat(place, "[", i, "]")));
    }
    return Value::MakeTuple(std::move(elements));
  }
  if (!shape.IsArrayExcludingBuffer()) {
    ThrowStatus(absl::UnimplementedError(absl::StrCat(place, ": no array can be passed for ", shape.ToString())));
  }
  ArrayView view = ViewOf(argument);
  CheckFits(view, shape, place);
  nb::object owner = view.is_contiguous && view.is_aligned ? view.array : DenseCopy(view);
  DenseShape dense = ValueOrThrow(MakeCheckedDenseShape(view.type, view.dimensions));
  const void* const data = PyArray_DATA(AsArray(owner));
  return Value::Borrow(std::move(dense), data, std::shared_ptr<const void>(owner.release().ptr(), [](const void* o) {
                         Dropper()(static_cast<PyObject*>(const_cast<void*>(o)));
                       }));
}

DenseArgument DenseArgumentOf(nb::handle argument, const Shape& shape, size_t number) {
  DenseArgument dense;
  if (IsDenseArrayOf(argument.ptr(), shape)) {
    dense.owner = nb::borrow(argument);
  } else {
    ArrayView view = ViewOf(argument);
    CheckFits(view, shape, absl::StrCat("argument ", number));
    dense.owner = view.is_contiguous && view.is_aligned ? std::move(view.array) : DenseCopy(view);
  }
  dense.data = PyArray_DATA(AsArray(dense.owner));
  return dense;
}

nb::object CopiedArraysOf(const Value& value) {
  if (value.is_tuple()) {
    nb::list elements;
    for (const Value& element : value.elements()) elements.append(CopiedArraysOf(element));
    return nb::tuple(elements);
  }
  if (!value.is_array()) return nb::none();
  void* data = nullptr;
  nb::object array = NewArray(value.element_type(), value.dimensions(), &data);
  if (value.byte_count() > 0) std::memcpy(data, value.untyped_data(), static_cast<size_t>(value.byte_count()));
  return array;
}

nb::object ArraysOf(Value value) {
  if (value.is_tuple()) {
    nb::list elements;
    const int64_t count = static_cast<int64_t>(value.elements().size());
    std::vector<Value> parts(value.elements().begin(), value.elements().end());
    value = Value();  // so that the parts are the only holders
    for (int64_t i = 0; i < count; ++i) elements.append(ArraysOf(std::move(parts[i])));
    return nb::tuple(elements);
  }
  constexpr int64_t kCheapToCopy = 4096;
  if (!value.is_array() || !value.is_unique() || value.byte_count() <= kCheapToCopy) return CopiedArraysOf(value);
  auto held = std::make_unique<Value>(std::move(value));
  nb::object base = nb::steal(PyCapsule_New(held.get(), kValueCapsule, FreeValueOf));
  if (!base.is_valid()) throw nb::python_error();
  Value& kept = *held.release();  // the capsule's
  return ArrayOnMemory(kept.element_type(), kept.dimensions(), kept.mutable_data(), std::move(base));
}

void BindArrays(nb::module_& m) {
  if (PyArray_ImportNumPyAPI() < 0) throw nb::python_error();
  FillDtypes();
  m.def(
      "primitive_type",
      [](nb::handle dtype) {
        PyArray_Descr* descr = nullptr;
        if (PyArray_DescrConverter(dtype.ptr(), &descr) == 0) throw nb::python_error();
        const nb::object owner = nb::steal(reinterpret_cast<PyObject*>(descr));
        const PrimitiveType type = TypeOfDtype(owner);
        if (type == PRIMITIVE_TYPE_INVALID) {
          ThrowTypeError(absl::StrCat("XLA has no element type for ", nb::cast<std::string>(nb::str(owner))));
        }
        return ToStr(primitive_util::LowercasePrimitiveTypeName(type));
      },
      nb::arg("dtype").none(),
      "The name of XLA's element type for a dtype.\n\n"
      ">>> kashi.primitive_type('float32')\n'f32'\n\nRaises TypeError where XLA has none.");
  m.def(
      "dtype",
      [](const std::string& name) {
        const PrimitiveType type = ValueOrThrow(primitive_util::StringToPrimitiveType(name));
        return nb::steal(reinterpret_cast<PyObject*>(NewReferenceToDtype(type)));
      },
      nb::arg("primitive_type"), nb::sig("def dtype(primitive_type: str) -> numpy.dtype"),
      "The numpy.dtype for the name of one of XLA's element types; ml_dtypes' where NumPy has none.\n\n"
      ">>> kashi.dtype('bf16')\ndtype(bfloat16)\n\nRaises ValueError for unknown names, TypeError for tuples and "
      "tokens.");
}

}  // namespace kashi::python
