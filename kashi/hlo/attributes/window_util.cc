#include "kashi/hlo/attributes/window_util.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "kashi/base/check.h"
#include "kashi/base/printer.h"
#include "kashi/base/wrapping.h"
#include "kashi/hlo/attributes/xla_data.h"

namespace kashi::window_util {
namespace {

template <typename Predicate>
bool AnyDimension(const Window& window, Predicate predicate) {
  return std::any_of(window.dimensions().begin(), window.dimensions().end(), predicate);
}

// " heading=1x2", with the output of `print` for each dimension.
template <typename PrintDimension>
void PrintPart(Printer* printer, const Window& window, const char* heading, PrintDimension print) {
  printer->Append(heading);
  AppendJoin(printer, window.dimensions(), "x", print);
}

}  // namespace

Window MakeWindow(absl::Span<const int64_t> sizes) { return MakeWindow(sizes, std::vector<int64_t>(sizes.size(), 1)); }

Window MakeWindow(absl::Span<const int64_t> sizes, absl::Span<const int64_t> strides) {
  KASHI_CHECK_EQ(sizes.size(), strides.size());
  Window window;
  window.mutable_dimensions()->reserve(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    WindowDimension* dimension = window.add_dimensions();
    dimension->set_size(sizes[i]);
    dimension->set_stride(strides[i]);
    dimension->set_base_dilation(1);
    dimension->set_window_dilation(1);
  }
  return window;
}

PaddingConfig MakeSymmetricPadding(absl::Span<const int64_t> sizes) {
  PaddingConfig config;
  for (int64_t size : sizes) {
    PaddingConfigDimension* dimension = config.add_dimensions();
    dimension->set_edge_padding_low(size);
    dimension->set_edge_padding_high(size);
  }
  return config;
}

void Print(Printer* printer, const Window& window) {
  using D = WindowDimension;
  if (window.dimensions().empty()) return;
  PrintPart(printer, window, "size=", [](Printer* p, const D& d) { p->Append(d.size()); });
  if (HasStride(window)) PrintPart(printer, window, " stride=", [](Printer* p, const D& d) { p->Append(d.stride()); });
  if (HasPadding(window)) {
    PrintPart(printer, window,
              " pad=", [](Printer* p, const D& d) { AppendCat(p, d.padding_low(), "_", d.padding_high()); });
  }
  if (HasBaseDilation(window)) {
    PrintPart(printer, window, " lhs_dilate=", [](Printer* p, const D& d) { p->Append(d.base_dilation()); });
  }
  if (HasWindowDilation(window)) {
    PrintPart(printer, window, " rhs_dilate=", [](Printer* p, const D& d) { p->Append(d.window_dilation()); });
  }
  if (HasWindowReversal(window)) {
    PrintPart(printer, window,
              " rhs_reversal=", [](Printer* p, const D& d) { p->Append(d.window_reversal() ? 1 : 0); });
  }
}

std::string ToString(const Window& window) {
  StringPrinter printer;
  Print(&printer, window);
  return std::move(printer).ToString();
}

std::string ToString(const WindowDimension& dimension) {
  std::string text = absl::StrCat("(size=", dimension.size());
  if (dimension.stride() != 1) absl::StrAppend(&text, ",stride=", dimension.stride());
  if (dimension.padding_low() != 0) absl::StrAppend(&text, ",padding_low=", dimension.padding_low());
  if (dimension.padding_high() != 0) absl::StrAppend(&text, ",padding_high=", dimension.padding_high());
  if (dimension.base_dilation() != 1) absl::StrAppend(&text, ",base_dilation=", dimension.base_dilation());
  if (dimension.window_dilation() != 1) absl::StrAppend(&text, ",window_dilation=", dimension.window_dilation());
  if (dimension.window_reversal()) absl::StrAppend(&text, ",window_reversal");
  absl::StrAppend(&text, ")");
  return text;
}

bool HasStride(const Window& window) {
  return AnyDimension(window, [](const WindowDimension& d) { return d.stride() != 1; });
}
bool HasPadding(const Window& window) {
  return AnyDimension(window, [](const WindowDimension& d) { return d.padding_low() != 0 || d.padding_high() != 0; });
}
bool HasNegativePadding(const Window& window) {
  return AnyDimension(window, [](const WindowDimension& d) { return d.padding_low() < 0 || d.padding_high() < 0; });
}
bool HasBaseDilation(const Window& window) {
  return AnyDimension(window, [](const WindowDimension& d) { return d.base_dilation() != 1; });
}
bool HasWindowDilation(const Window& window) {
  return AnyDimension(window, [](const WindowDimension& d) { return d.window_dilation() != 1; });
}
bool HasDilation(const Window& window) { return HasBaseDilation(window) || HasWindowDilation(window); }
bool HasWindowReversal(const Window& window) {
  return AnyDimension(window, [](const WindowDimension& d) { return d.window_reversal(); });
}
bool HasOverlappingWindow(const Window& window) {
  return AnyDimension(window, [](const WindowDimension& d) { return d.size() > d.stride(); });
}

bool HasSymmetricPadding(const Window& window) {
  return !AnyDimension(window, [](const WindowDimension& d) { return d.padding_low() != d.padding_high(); });
}
bool HasSymmetricPadding(const PaddingConfig& padding_config) {
  return std::all_of(padding_config.dimensions().begin(), padding_config.dimensions().end(),
                     [](const PaddingConfigDimension& d) { return d.edge_padding_low() == d.edge_padding_high(); });
}
bool AllOrNoneReversed(const Window& window) {
  return !AnyDimension(
      window, [&](const WindowDimension& d) { return d.window_reversal() != window.dimensions(0).window_reversal(); });
}

bool IsTrivialWindowDimension(const WindowDimension& dimension) {
  return dimension.size() == 1 && dimension.stride() == 1 && dimension.padding_low() == 0 &&
         dimension.padding_high() == 0 && dimension.window_dilation() == 1 && dimension.base_dilation() == 1;
}

int64_t DilatedBound(int64_t bound, int64_t dilation) {
  KASHI_CHECK_GE(bound, 0);
  KASHI_CHECK_GE(dilation, 1);
  return bound == 0 ? 0 : base::WrappingAdd(base::WrappingMultiply(bound - 1, dilation), 1);
}

int64_t StridedBound(int64_t bound, int64_t window_size, int64_t stride) {
  KASHI_CHECK_GE(bound, 0);
  KASHI_CHECK_GE(window_size, 0);
  KASHI_CHECK_GE(stride, 1);
  if (bound == 0 || window_size > bound) return 0;
  return base::WrappingAdd((bound - window_size) / stride, 1);
}

}  // namespace kashi::window_util
