// The destination of printed text: XLA's Printer. Types print themselves by `Print(Printer*)`, so a large
// module can go to a string, a file or a hash without a copy of its text.
#ifndef KASHI_BASE_PRINTER_H_
#define KASHI_BASE_PRINTER_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

namespace kashi {

class Printer {
 public:
  virtual ~Printer() = default;
  virtual void Append(const absl::AlphaNum& text) = 0;
  // "1,2,3"; with `leading_comma` ",1,2,3" (nothing at all for an empty list).
  virtual void AppendInt64List(absl::Span<const int64_t> list, bool leading_comma) {
    for (int64_t value : list) {
      if (leading_comma) Append(",");
      leading_comma = true;
      Append(value);
    }
  }
};

class StringPrinter : public Printer {
 public:
  void Append(const absl::AlphaNum& text) override { absl::StrAppend(&result_, text); }
  std::string ToString() && { return std::move(result_); }

 private:
  std::string result_;
};

template <typename Range>
void AppendJoin(Printer* printer, const Range& range, absl::string_view separator) {
  bool first = true;
  for (const auto& item : range) {
    if (!first) printer->Append(separator);
    first = false;
    printer->Append(item);
  }
}
template <typename Range, typename PrintItem>
void AppendJoin(Printer* printer, const Range& range, absl::string_view separator, PrintItem&& print_item) {
  bool first = true;
  for (const auto& item : range) {
    if (!first) printer->Append(separator);
    first = false;
    print_item(printer, item);
  }
}
template <typename... Args>
void AppendCat(Printer* printer, const Args&... args) {
  (printer->Append(args), ...);
}

}  // namespace kashi

#endif  // KASHI_BASE_PRINTER_H_
