// Sequences of Python's as lists of integers.
#ifndef KASHI_PYTHON_SRC_SEQUENCES_H_
#define KASHI_PYTHON_SRC_SEQUENCES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "binding.h"

namespace kashi::python {

// The integer of anything with __index__. TypeError for others, OverflowError beyond 64 bits.
inline int64_t IntegerOf(nb::handle object) {
  const nb::object integer = nb::steal(PyNumber_Index(object.ptr()));
  if (!integer.is_valid()) throw nb::python_error();
  const long long value = PyLong_AsLongLong(integer.ptr());
  if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return value;
}

// The integers of an iterable, each anything with __index__. TypeError for others, OverflowError beyond 64 bits; `name`
// is the argument's.
inline std::vector<int64_t> IntegersOf(nb::handle iterable, const char* name) {
  std::vector<int64_t> values;
  const nb::object iterator = nb::steal(PyObject_GetIter(iterable.ptr()));
  if (!iterator.is_valid()) {
    PyErr_Clear();
    ThrowTypeError(absl::StrCat(name, " must be a sequence of integers"));
  }
  while (PyObject* const item = PyIter_Next(iterator.ptr())) {
    const nb::object owner = nb::steal(item);
    values.push_back(IntegerOf(owner));
  }
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return values;
}

}  // namespace kashi::python

#endif  // KASHI_PYTHON_SRC_SEQUENCES_H_
