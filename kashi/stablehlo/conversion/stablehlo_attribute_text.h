// Types and attributes of MLIR as text, for the writer of StableHLO and for configurations of custom calls.
#ifndef KASHI_STABLEHLO_CONVERSION_STABLEHLO_ATTRIBUTE_TEXT_H_
#define KASHI_STABLEHLO_CONVERSION_STABLEHLO_ATTRIBUTE_TEXT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/shape.h"
#include "kashi/hlo/attributes/xla_data.h"
#include "kashi/literal/literal.h"

namespace kashi::stablehlo {

// "tensor<2x?xf32, #stablehlo.bounds<?, 4>>", "!stablehlo.token", "memref<…>". UNIMPLEMENTED for element types that
// StableHLO does not have, and for tuples, whose texts TypeTexts makes (stablehlo_type_texts.h).
absl::StatusOr<std::string> TypeTextOfShape(const Shape& shape);

// "\"…\"" with MLIR's escapes.
std::string QuotedText(absl::string_view text);
// The name of a field of a dictionary, in quotes if necessary.
std::string FieldNameText(absl::string_view name);
// "@name", in quotes if necessary.
std::string SymbolText(absl::string_view name);
// "{a.b = \"c\"}"
std::string DictionaryText(const StringMap& map);
// "array<i64: 1, 2>"
std::string IntegersText(absl::Span<const int64_t> values);
// "[1, 2]", in records
std::string ListText(absl::Span<const int64_t> values);
// "dense<[1, 0]> : tensor<2xindex>"
std::string IndexTensorText(absl::Span<const int64_t> values);
// "dense<[[1, 2]]> : tensor<1x2xi64>"; short rows are filled with -1.
std::string RowsText(absl::Span<const std::vector<int64_t>> rows, size_t width);
std::string PairsText(absl::Span<const std::pair<int64_t, int64_t>> pairs);

// "[[a, b], [c, d]]": element(i) of an array of these sizes for each i in row-major order. Pre: no size is 0.
std::string NestedListsText(absl::Span<const int64_t> dimensions, absl::FunctionRef<std::string(int64_t)> element);

// "dense<…>" with the type. Numbers are exact: decimal if that is exact, otherwise bit patterns. A large array is one
// string of hexadecimal digits. Pre: an array of static sizes in row-major layout.
absl::StatusOr<std::string> DenseText(const LiteralBase& literal);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_CONVERSION_STABLEHLO_ATTRIBUTE_TEXT_H_
