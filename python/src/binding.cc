#include "binding.h"

#include <cstdlib>
#include <exception>
#include <string>
#include <typeinfo>

#include "absl/strings/str_cat.h"
#include "kashi/base/guard_pages.h"

namespace kashi::python {
namespace {

// Both live as long as the interpreter.
PyObject* error_type = nullptr;
PyObject* parse_error_type = nullptr;

[[noreturn]] void Throw(PyObject* type, absl::string_view message) {
  PyErr_SetObject(type, ToStr(message).ptr());
  throw nb::python_error();
}

PyObject* TypeOf(absl::StatusCode code) {
  struct Row {
    absl::StatusCode code;
    PyObject* type;
  };
  const Row rows[] = {
      {absl::StatusCode::kInvalidArgument, PyExc_ValueError},
      {absl::StatusCode::kOutOfRange, PyExc_IndexError},
      {absl::StatusCode::kUnimplemented, PyExc_NotImplementedError},
      {absl::StatusCode::kResourceExhausted, PyExc_MemoryError},
      {absl::StatusCode::kDeadlineExceeded, PyExc_TimeoutError},
  };
  for (const Row& row : rows) {
    if (row.code == code) return row.type;
  }
  return error_type;
}

// An element of a list or a keyword may have another type than a function of the binding expects.
void TranslateCast(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_cast&) {
    PyErr_SetString(PyExc_TypeError, "an argument, or an element of one, has a wrong type");
  }
}

PyObject* MakeType(nb::module_& m, const char* name, const char* doc, nb::handle bases) {
  const std::string full_name = std::string("kashi.") + name;
  PyObject* const type = PyErr_NewExceptionWithDoc(full_name.c_str(), doc, bases.ptr(), nullptr);
  if (type == nullptr) throw nb::python_error();
  m.attr(name) = nb::handle(type);
  return type;
}

}  // namespace

void ThrowParseError(const absl::Status& status) { Throw(parse_error_type, status.message()); }
void ThrowStatus(const absl::Status& status) { Throw(TypeOf(status.code()), status.message()); }
void ThrowValueError(const std::string& message) { Throw(PyExc_ValueError, message); }
void ThrowTypeError(const std::string& message) { Throw(PyExc_TypeError, message); }

std::string ToBytes(nb::handle text) {
  if (PyBytes_Check(text.ptr())) {
    return std::string(PyBytes_AS_STRING(text.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(text.ptr())));
  }
  if (!PyUnicode_Check(text.ptr())) ThrowTypeError("expected str or bytes");
  const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape"));
  if (!bytes.is_valid()) throw nb::python_error();
  return std::string(PyBytes_AS_STRING(bytes.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(bytes.ptr())));
}

std::string TypeNameOf(nb::handle object) { return Py_TYPE(object.ptr())->tp_name; }

std::string TextOfArgument(nb::handle argument, absl::string_view wanted) {
  if (!PyUnicode_Check(argument.ptr())) ThrowTypeError(absl::StrCat(wanted, ", not ", TypeNameOf(argument)));
  return ToBytes(argument);
}

std::string PathOfArgument(nb::handle argument, absl::string_view wanted) {
  if (!nb::hasattr(argument, "__fspath__")) return TextOfArgument(argument, wanted);
  return TextOfArgument(argument.attr("__fspath__")(), wanted);
}

nb::tuple ToTuple(absl::Span<const int64_t> values) {
  nb::list list;
  for (const int64_t value : values) list.append(value);
  return nb::tuple(list);
}

void BindErrors(nb::module_& m) {
  const nb::tuple bases = nb::make_tuple(nb::handle(PyExc_RuntimeError));
  error_type = MakeType(m, "Error",
                        "What fails in Kashi and is no other exception of Python's.\n\n"
                        ">>> issubclass(kashi.Error, RuntimeError)\nTrue",
                        bases);
  const nb::tuple parse_bases = nb::make_tuple(nb::handle(PyExc_ValueError));
  parse_error_type = MakeType(m, "ParseError",
                              "A text that cannot be read. Its message has line, column, the line and a caret.\n\n"
                              ">>> try:\n...     kashi.Shape('f32[2')\n... except kashi.ParseError as error:\n...     "
                              "print(str(error).splitlines()[1])\nf32[2",
                              parse_bases);
  nb::register_exception_translator(TranslateCast);
}

namespace {

// The engines read the variable themselves (kashi/base/guard_pages.h); another value would be ignored.
void CheckGuardPagesVariable() {
  const char* const text = std::getenv(base::kGuardPagesVariable);
  if (text == nullptr || base::GuardPagesFromText(text).has_value()) return;
  throw nb::value_error((std::string(base::kGuardPagesVariable) + " must be `behind` or `before`").c_str());
}

}  // namespace
}  // namespace kashi::python

NB_MODULE(_kashi, m) {
  using namespace kashi::python;  // NOLINT: the entry point, outside of the namespace
  m.doc() = "The compiled part of kashi. Use the package kashi.";
  CheckGuardPagesVariable();
  m.attr("VERSION") = KASHI_VERSION;
  BindErrors(m);
  BindArrays(m);
  BindShapes(m);
  BindRelayout(m);
  BindModules(m);
  BindEditing(m);
  BindAnalyses(m);
  BindCustomCalls(m);
  BindPrograms(m);
  BindRanks(m);
  BindBuilder(m);
}
