// NumPy's C interface. arrays.cc imports it (KASHI_IMPORT_NUMPY); all other files share its table.
#ifndef KASHI_PYTHON_SRC_NUMPY_API_H_
#define KASHI_PYTHON_SRC_NUMPY_API_H_

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL kashi_numpy_api
#ifndef KASHI_IMPORT_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#endif  // KASHI_PYTHON_SRC_NUMPY_API_H_
