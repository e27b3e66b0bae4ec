#include "kashi/hlo/original_value.h"

#include <cstddef>

namespace kashi {
namespace {

void PrintNode(Printer* printer, const OriginalValue::Node& node) {
  if (!node.is_tuple) {
    printer->Append("{");
    if (node.array.has_value()) PrintOriginalArray(printer, *node.array);
    printer->Append("}");
    return;
  }
  printer->Append("(");
  for (size_t i = 0; i < node.elements.size(); ++i) {
    if (i > 0) printer->Append(", ");
    PrintNode(printer, node.elements[i]);
  }
  printer->Append(")");
}

}  // namespace

void PrintOriginalArray(Printer* printer, const OriginalArray& array) {
  AppendCat(printer, "\"", array.instruction_name, "\"");
  if (!array.shape_index.empty()) AppendCat(printer, " ", array.shape_index.ToString());
}

void OriginalValue::Print(Printer* printer) const {
  if (is_synthetic_call_) {
    printer->Append("[synthetic_call]");
  } else {
    PrintNode(printer, tree_);
  }
}

std::string OriginalValue::ToString() const {
  StringPrinter printer;
  Print(&printer);
  return std::move(printer).ToString();
}

}  // namespace kashi
