// XLA's path of kashi/base/printer.h.
#ifndef KASHI_COMPAT_XLA_PRINTER_H_
#define KASHI_COMPAT_XLA_PRINTER_H_

#include "kashi/base/printer.h"
#include "kashi_compat/namespace_xla.h"

#endif  // KASHI_COMPAT_XLA_PRINTER_H_
