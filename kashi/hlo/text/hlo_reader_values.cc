// The values of attributes: numbers, lists, windows, literals, groups of devices. hlo_reader_attributes.cc says which
// attribute has which value.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kashi/array/lexer.h"
#include "kashi/hlo/attributes/collective_device_list.h"
#include "kashi/hlo/attributes/dimension_numbers_text.h"
#include "kashi/hlo/attributes/enum_text.h"
#include "kashi/hlo/attributes/string_escapes.h"
#include "kashi/hlo/text/hlo_reader.h"
#include "kashi/literal/literal_parser.h"
#include "kashi/literal/literal_util.h"

namespace kashi::hlo {
namespace {

constexpr int kMaxLiteralDepth = 200;  // of tuples in `literal`

}  // namespace

// ---- One value ------------------------------------------------------------------------------------------------------

bool HloReader::ReadIntValue(int64_t* value) {
  const std::optional<int64_t> read = scan_.ReadInt();
  if (!read.has_value()) return ErrorHere("integer");
  *value = *read;
  return true;
}

bool HloReader::ReadBoolValue(bool* value) {
  const std::optional<bool> read = scan_.ReadBool();
  if (!read.has_value()) return ErrorHere("true or false");
  *value = *read;
  return true;
}

bool HloReader::ReadStringValue(std::string* value) {
  scan_.SkipSpace();
  const size_t begin = scan_.offset();
  const absl::string_view quoted = scan_.ReadQuoted();
  if (quoted.empty()) return ErrorHere("string");
  if (CUnescapeTo(quoted.substr(1, quoted.size() - 2), value)) return true;
  return Error(begin, scan_.offset(), "a string with an escape sequence that C does not have");
}

bool HloReader::ReadIntBraces(Int64List* list) {
  if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of a list of integers");
  if (scan_.Match('}')) return true;
  do {
    int64_t value = 0;
    if (!ReadIntValue(&value)) return false;
    list->push_back(value);
  } while (scan_.Match(','));
  return scan_.Match('}') || ErrorHere("'}' at the end of a list of integers");
}

bool HloReader::ReadShapeIndex(ShapeIndex* index) {
  Int64List list;
  if (!ReadIntBraces(&list)) return false;
  *index = ShapeIndex(list.begin(), list.end());
  return true;
}

bool HloReader::ReadShapeBraces(std::vector<Shape>* shapes) {
  if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of a list of shapes");
  if (scan_.Match('}')) return true;
  do {
    SharedShape shape;
    if (!ReadShape(&shape)) return false;
    shapes->push_back(shape->shape());
  } while (scan_.Match(','));
  return scan_.Match('}') || ErrorHere("'}' at the end of a list of shapes");
}

// ---- Lists ----------------------------------------------------------------------------------------------------------

bool HloReader::ReadIntLists(std::vector<Int64List>* lists) {
  if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of a list of lists");
  if (scan_.Match('}')) return true;
  do {
    lists->emplace_back();
    if (!ReadIntBraces(&lists->back())) return false;
  } while (scan_.Match(','));
  return scan_.Match('}') || ErrorHere("'}' at the end of a list of lists");
}

bool HloReader::ReadPairs(SourceTargetPairs* pairs) {
  scan_.SkipSpace();
  const size_t begin = scan_.offset();
  if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of a list of pairs");
  if (scan_.Match('}')) return true;
  do {
    Int64List pair;
    if (!ReadIntBraces(&pair)) return false;
    if (pair.size() != 2) return Error(begin, scan_.offset(), "expects 'source_target_pairs=' to be a list of pairs");
    pairs->emplace_back(pair[0], pair[1]);
  } while (scan_.Match(','));
  return scan_.Match('}') || ErrorHere("'}' at the end of a list of pairs");
}

bool HloReader::ReadComputationNames(ComputationVector* computations) {
  if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of a list of computations");
  if (scan_.Match('}')) return true;
  do {
    HloComputation* computation = ReadComputationName();
    if (computation == nullptr) return false;
    computations->push_back(computation);
  } while (scan_.Match(','));
  return scan_.Match('}') || ErrorHere("'}' at the end of a list of computations");
}

// {[start:limit:stride], …}
bool HloReader::ReadSliceRanges(kashi::SliceRanges* ranges) {
  if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of slice ranges");
  if (scan_.Match('}')) return true;
  do {
    int64_t range[3] = {0, 0, 1};
    if (!scan_.Match('[')) return ErrorHere("'[' at the beginning of a range");
    if (!ReadIntValue(&range[0])) return false;
    if (!scan_.Match(':')) return ErrorHere("':' in a range");
    if (!ReadIntValue(&range[1])) return false;
    if (scan_.Match(':') && !ReadIntValue(&range[2])) return false;
    if (!scan_.Match(']')) return ErrorHere("']' at the end of a range");
    ranges->starts.push_back(range[0]);
    ranges->limits.push_back(range[1]);
    ranges->strides.push_back(range[2]);
  } while (scan_.Match(','));
  return scan_.Match('}') || ErrorHere("'}' at the end of slice ranges");
}

// {{output index}: (operand, {index}), …}
bool HloReader::ReadAliasingPairs(OutputOperandAliasingPairs* pairs) {
  if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of output_to_operand_aliasing");
  if (scan_.Match('}')) return true;
  do {
    ShapeIndex output;
    ShapeIndex operand_index;
    int64_t operand = 0;
    if (!ReadShapeIndex(&output)) return false;
    if (!scan_.Match(':')) return ErrorHere("':' after the output index");
    if (!scan_.Match('(')) return ErrorHere("'(' before the operand");
    if (!ReadIntValue(&operand)) return false;
    if (!scan_.Match(',')) return ErrorHere("',' after the operand");
    if (!ReadShapeIndex(&operand_index)) return false;
    if (!scan_.Match(')')) return ErrorHere("')' after the operand index");
    pairs->emplace_back(std::move(output), std::make_pair(operand, std::move(operand_index)));
  } while (scan_.Match(','));
  return scan_.Match('}') || ErrorHere("'}' at the end of output_to_operand_aliasing");
}

// ---- Dimensions -----------------------------------------------------------------------------------------------------

bool HloReader::ReadWindowText(kashi::Window* window) {
  if (scan_.Peek() != '{') return ErrorHere("'{' at the beginning of window");
  const size_t begin = scan_.offset();
  const absl::string_view text = scan_.ReadBraced();
  if (text.empty()) return ErrorHere("a window that ends");
  std::string error;
  std::optional<kashi::Window> read = ParseWindow(text.substr(1, text.size() - 2), &error);
  if (!read.has_value()) return Error(begin, scan_.offset(), std::move(error));
  *window = *std::move(read);
  return true;
}

bool HloReader::ReadDimLabelsText(ConvolutionDimensionNumbers* numbers) {
  scan_.SkipSpace();
  const size_t begin = scan_.offset();
  while (TextScanner::IsIdentByte(scan_.PeekHere()) || scan_.PeekHere() == '?' || scan_.PeekHere() == '>') {
    scan_.Seek(scan_.offset() + 1);
  }
  std::string error;
  std::optional<ConvolutionDimensionNumbers> read = ParseDimLabels(scan_.Slice(begin), &error);
  if (!read.has_value()) return Error(begin, scan_.offset(), std::move(error));
  *numbers = *std::move(read);
  return true;
}

bool HloReader::ReadPaddingText(PaddingConfig* padding) {
  scan_.SkipSpace();
  const size_t begin = scan_.offset();
  while (TextScanner::IsIdentByte(scan_.PeekHere())) scan_.Seek(scan_.offset() + 1);
  const absl::string_view text = scan_.Slice(begin);
  // For a scalar, nothing follows `padding=`.
  std::string error;
  std::optional<PaddingConfig> read = ParsePadding(text, &error);
  if (!read.has_value()) return Error(begin, scan_.offset(), std::move(error));
  *padding = *std::move(read);
  return true;
}

// ---- Accuracy and literals ------------------------------------------------------------------------------------------

bool HloReader::ReadAccuracyText(ResultAccuracy* accuracy) {
  scan_.SkipSpace();
  const size_t begin = scan_.offset();
  const absl::string_view text = scan_.ReadBraced();
  std::string error;
  std::optional<ResultAccuracy> read = ParseResultAccuracy(text, &error);
  if (!read.has_value()) return Error(begin, scan_.offset(), std::move(error));
  if (!IsValidResultAccuracy(*read)) return Error(begin, scan_.offset(), "a tolerance must not be negative or NaN");
  *accuracy = *std::move(read);
  return true;
}

// A shape and its literal, as in a constant; or several in parentheses, a tuple.
std::optional<kashi::Literal> HloReader::ReadLiteralWithShape(int depth) {
  if (depth > kMaxLiteralDepth) {
    ErrorHere("fewer tuples within tuples");
    return std::nullopt;
  }
  if (scan_.Match('(')) {
    std::vector<kashi::Literal> elements;
    while (!scan_.Match(')')) {
      if (!elements.empty() && !scan_.Match(',')) {
        ErrorHere("',' or ')' in a tuple of literals");
        return std::nullopt;
      }
      std::optional<kashi::Literal> element = ReadLiteralWithShape(depth + 1);
      if (!element.has_value()) return std::nullopt;
      elements.push_back(*std::move(element));
    }
    return LiteralUtil::MakeTupleOwned(std::move(elements));
  }
  SharedShape shape;
  if (!ReadShape(&shape)) return std::nullopt;
  array::Lexer lexer(scan_.text(), scan_.offset());
  LiteralParserOptions options;
  options.unlisted_bytes = &unlisted_bytes_;
  std::optional<kashi::Literal> literal = ParseLiteralPrefix(&lexer, shape->shape(), options, &diagnostics_);
  if (!literal.has_value()) {
    ++errors_;
    return std::nullopt;
  }
  scan_.Seek(lexer.previous_end());
  return literal;
}

// ---- Devices --------------------------------------------------------------------------------------------------------

bool HloReader::ReadDeviceList(CollectiveDeviceList* devices) {
  array::Lexer lexer(scan_.text(), scan_.offset());
  std::optional<CollectiveDeviceList> read = ParseCollectiveDeviceListPrefix(&lexer, &diagnostics_);
  if (!read.has_value()) {
    ++errors_;
    return false;
  }
  scan_.Seek(lexer.previous_end());
  *devices = *std::move(read);
  return true;
}

bool HloReader::ReadGroupModeName() {
  const size_t begin = (scan_.SkipSpace(), scan_.offset());
  const absl::string_view word = scan_.ReadIdentHere();
  for (const absl::string_view mode :
       {"cross_replica", "cross_partition", "cross_replica_and_partition", "flattened_id"}) {
    if (word == mode) return true;
  }
  return Error(begin, TokenEnd(begin),
               absl::StrCat("Invalid collective op group mode: ", scan_.text().substr(begin, TokenEnd(begin) - begin),
                            "; modes: cross_replica, cross_partition, cross_replica_and_partition, flattened_id"));
}

// {kind="sharding", entry={…}, exit={…}}
bool HloReader::ReadDomainShardings(std::optional<DomainShardings>* shardings) {
  std::string kind;
  std::shared_ptr<const HloSharding> entry;
  std::shared_ptr<const HloSharding> exit;
  if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of domain");
  do {
    const size_t begin = scan_.offset();
    const absl::string_view name = scan_.ReadIdent();
    if (name.empty() || scan_.PeekHere() != '=') return ErrorHere("kind=, entry= or exit=");
    scan_.Match('=');
    if (name == "kind" ? !ReadStringValue(&kind) : !ReadSharding(name == "entry" ? &entry : &exit)) {
      return false;
    }
    if (name != "kind" && name != "entry" && name != "exit") {
      return Error(begin, begin + name.size(), "expects kind=, entry= or exit=");
    }
  } while (scan_.Match(','));
  if (!scan_.Match('}')) return ErrorHere("'}' at the end of domain");
  if (kind != "sharding" || !entry || !exit) return ErrorHere("a domain of kind \"sharding\", with entry and exit");
  *shardings = DomainShardings{*entry, *exit};
  return true;
}

}  // namespace kashi::hlo
