// The pretty forms of operations, by name: `stablehlo.slice %a [0:2] : (T) -> T`.
#ifndef KASHI_STABLEHLO_TEXT_PRETTY_FORMS_H_
#define KASHI_STABLEHLO_TEXT_PRETTY_FORMS_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/stablehlo/text/mlir_reader.h"

namespace kashi::stablehlo {

// The form of the value after `key =`.
enum class ItemForm : uint8_t {
  kAttribute,   // as any attribute
  kInteger,     // 3: i64
  kDouble,      // 1.0e-3, an f64
  kIntegers,    // [1, 0]
  kString,      // "ij,jk->ik"; a `:` after it begins the types of the operation
  kWord,        // NORMAL: an enumeration
  kPair,        // [0] x [1]: two attributes, lhs_… and rhs_…
  kPrecisions,  // [DEFAULT, HIGH]
  kAlgorithm,   // <lhs_precision_type = …>
  kFormat,      // e5m10
};

struct ItemRow {
  absl::string_view key;
  absl::string_view attribute;
  ItemForm form = ItemForm::kAttribute;
};

using FormFunction = bool (*)(MlirReader* reader, OperationDraft* draft);

struct PrettyForm {
  absl::string_view name;
  absl::Span<const ItemRow> items;  // `key = value` among the operands
  FormFunction begin = nullptr;     // reads the text before the operands; nullptr: there is none
  FormFunction whole = nullptr;     // reads the whole form alone
};

// Reads the text after the operation's name, up to its location. An operation that the table does not have is read as
// operands, attributes and types.
bool ReadPrettyForm(MlirReader* reader, OperationDraft* draft);

// `%a, key = value, %b`, with or without enclosing parentheses.
bool ReadItems(absl::Span<const ItemRow> rows, MlirReader* reader, OperationDraft* draft);
bool ReadItem(absl::Span<const ItemRow> rows, MlirReader* reader, OperationDraft* draft);
// `: T`, `: (T, T) -> T`, `: T, T -> T`, `: T to T`, or nothing.
bool ReadTypes(MlirReader* reader, OperationDraft* draft);

// Forms that read the whole text after the name (pretty_regions.cc, mlir_functions.cc).
bool ReadModule(MlirReader* reader, OperationDraft* draft);
bool ReadFunction(MlirReader* reader, OperationDraft* draft);
bool ReadReduce(MlirReader* reader, OperationDraft* draft);
bool ReadWhile(MlirReader* reader, OperationDraft* draft);
bool ReadScan(MlirReader* reader, OperationDraft* draft);
bool ReadManualComputation(MlirReader* reader, OperationDraft* draft);
bool ReadConvolution(MlirReader* reader, OperationDraft* draft);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_TEXT_PRETTY_FORMS_H_
