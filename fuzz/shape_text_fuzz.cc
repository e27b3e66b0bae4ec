// Any bytes as shape text: reading never ends the process, and what reads obeys the laws of text, sizes and index map.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "kashi/array/device_size.h"
#include "kashi/array/index_map.h"
#include "kashi/array/padding_advice.h"
#include "kashi/array/shape_parser.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/check.h"
#include "kashi/draw/layout_figure.h"
#include "kashi/draw/shape_explanation.h"

namespace kashi::fuzz {
namespace {

// Printed text reads back equal. `#(invalid)` is XLA's text for invalid index types.
void CheckRoundTrip(const Shape& shape) {
  const std::string text = shape.ToString(/*print_layout=*/true);
  if (absl::StrContains(text, "(invalid)")) return;
  const absl::StatusOr<Shape> again = ParseShape(text);
  KASHI_CHECK_OK(again) << text;
  KASHI_CHECK(*again == shape) << text;
  KASHI_CHECK_EQ(again->ToString(/*print_layout=*/true), text);
}

// Positions and indices are inverse to one another, on the first positions of the buffer.
void CheckIndexMap(const Shape& shape) {
  constexpr int64_t kMaxPositions = 256;
  const absl::StatusOr<IndexMap> map = IndexMap::Make(shape);
  if (!map.ok()) return;
  std::vector<int64_t> index(map->rank());
  for (int64_t p = 0; p < std::min(map->padded_element_count(), kMaxPositions); ++p) {
    if (!map->PhysicalToLogical(p, absl::MakeSpan(index))) continue;
    for (int d = 0; d < map->rank(); ++d) KASHI_CHECK(index[d] >= 0 && index[d] < map->dimensions()[d]);
    KASHI_CHECK_EQ(map->LogicalToPhysical(index), p) << shape.ToString(true);
  }
}

void CheckSizes(const Shape& shape) {
  const absl::StatusOr<DeviceSize> size = GetDeviceSize(shape);
  if (!size.ok()) return;
  KASHI_CHECK_GE(size->padding_bytes, 0);
  KASHI_CHECK_EQ(size->bytes, size->unpadded_bytes + size->padding_bytes);
}

void CheckShape(const Shape& shape) {
  CheckRoundTrip(shape);
  CheckSizes(shape);
  ExplainShape(shape);
  if (!shape.IsArray()) return;
  CheckIndexMap(shape);
  const absl::StatusOr<LayoutFigure> figure = MakeLayoutFigure(shape);
  if (figure.ok()) KASHI_CHECK(!ToTerminal(*figure).empty() && !ToSvg(*figure).empty());
}

}  // namespace
}  // namespace kashi::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  kashi::ShapeParserOptions strict;
  strict.strict = true;
  std::vector<kashi::Diagnostic> diagnostics;
  const absl::StatusOr<kashi::Shape> shape = kashi::ParseShape(text, kashi::ShapeParserOptions(), &diagnostics);
  // Strict reading takes what lax reading takes without a warning, and nothing else.
  KASHI_CHECK_EQ(kashi::ParseShape(text, strict).ok(), shape.ok() && diagnostics.empty());
  if (shape.ok()) kashi::fuzz::CheckShape(*shape);
  kashi::ParseLayout(text).IgnoreError();
  kashi::ParseProgramShape(text).IgnoreError();
  return 0;
}
