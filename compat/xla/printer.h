// XLA's path of kashi/base/printer.h, and a printer that makes an absl::Cord.
#ifndef KASHI_COMPAT_XLA_PRINTER_H_
#define KASHI_COMPAT_XLA_PRINTER_H_

#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "kashi/base/printer.h"
#include "kashi_compat/namespace_xla.h"

namespace xla {

class CordPrinter : public ::kashi::Printer {
 public:
  void Append(const absl::AlphaNum& text) override { result_.Append(text.Piece()); }
  absl::Cord ToCord() && { return std::move(result_); }

 private:
  absl::Cord result_;
};

}  // namespace xla

#endif  // KASHI_COMPAT_XLA_PRINTER_H_
