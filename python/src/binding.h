// Parts that the files of the binding share: nanobind, the exceptions that errors become, and the GIL.
//
//   m.def("f", [](const std::string& text) { return ValueOrThrow(ParseShape(text)); });
//
// The binding passes no argument to a function that may end the process: the preconditions of such functions are
// checked here first, and a violation is a ValueError, TypeError or IndexError.
#ifndef KASHI_PYTHON_SRC_BINDING_H_
#define KASHI_PYTHON_SRC_BINDING_H_

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kashi::python {

namespace nb = nanobind;

// Raises kashi.ParseError: a ValueError with place, source line and caret in its message.
[[noreturn]] void ThrowParseError(const absl::Status& status);
// Raises the exception of the status' code: ValueError, NotImplementedError, MemoryError, …; kashi.Error for the rest.
[[noreturn]] void ThrowStatus(const absl::Status& status);
[[noreturn]] void ThrowValueError(const std::string& message);
[[noreturn]] void ThrowTypeError(const std::string& message);

inline void ThrowUnlessOk(const absl::Status& status) {
  if (!status.ok()) ThrowStatus(status);
}
template <typename T>
T ValueOrThrow(absl::StatusOr<T> value) {
  if (!value.ok()) ThrowStatus(value.status());
  return std::move(value).value();
}
template <typename T>
T ParsedOrThrow(absl::StatusOr<T> value) {
  if (!value.ok()) ThrowParseError(value.status());
  return std::move(value).value();
}

inline nb::str ToStr(absl::string_view text) {
  // Names and attributes may hold bytes that are no UTF-8: they are kept as lone surrogates, as in file names.
  PyObject* const str = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
  if (str == nullptr) throw nb::python_error();
  return nb::steal<nb::str>(str);
}
// A text of Python as bytes, the inverse of ToStr.
std::string ToBytes(nb::handle text);
// The text of an argument that must be a str. TypeError: "`wanted`, not tuple".
std::string TextOfArgument(nb::handle argument, absl::string_view wanted);
// A str or an os.PathLike of one; another is a TypeError.
std::string PathOfArgument(nb::handle argument, absl::string_view wanted);
// The name of the object's type, for messages.
std::string TypeNameOf(nb::handle object);

nb::tuple ToTuple(absl::Span<const int64_t> values);

// Each file adds its part of the module.
void BindErrors(nb::module_& m);
void BindArrays(nb::module_& m);
void BindShapes(nb::module_& m);
void BindRelayout(nb::module_& m);
void BindModules(nb::module_& m);
void BindEditing(nb::module_& m);
void BindAnalyses(nb::module_& m);
void BindCustomCalls(nb::module_& m);
void BindPrograms(nb::module_& m);
void BindRanks(nb::module_& m);
void BindBuilder(nb::module_& m);

}  // namespace kashi::python

#endif  // KASHI_PYTHON_SRC_BINDING_H_
