#include "kashi/custom_calls/lapack_call.h"
#include "kashi/hlo/ir/hlo_instruction.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/kernels/physical_order.h"

namespace kashi::custom_calls {
namespace {

constexpr int64_t kMostElements = std::numeric_limits<int32_t>::max();

// ---- {name = 76 : ui8, name = true, name = "…", name = dense<[1, 2]> : tensor<2xi64>} ------------------------------

// Up to the next comma outside of quotes and brackets.
absl::string_view TakeEntry(absl::string_view* text) {
  int depth = 0;
  bool is_quoted = false;
  size_t end = 0;
  for (; end < text->size(); ++end) {
    const char c = (*text)[end];
    if (is_quoted && c == '\\') {
      ++end;
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (!is_quoted && absl::StrContains("[{(<", absl::string_view(&c, 1))) {
      ++depth;
    } else if (!is_quoted && absl::StrContains("]})>", absl::string_view(&c, 1))) {
      --depth;
    } else if (!is_quoted && c == ',' && depth <= 0) {
      break;
    }
  }
  end = std::min(end, text->size());
  const absl::string_view entry = text->substr(0, end);
  text->remove_prefix(std::min(text->size(), end + 1));
  return absl::StripAsciiWhitespace(entry);
}

bool ReadInteger(absl::string_view value, int64_t* number) {
  *number = value == "true";
  if (value == "true" || value == "false") return true;
  const absl::string_view digits = absl::StripAsciiWhitespace(value.substr(0, value.find(':')));
  return absl::SimpleAtoi(digits, number);
}

PrimitiveType TypeOf(char letter, PrimitiveType type) {
  const bool is_complex = primitive_util::IsComplexType(type);
  switch (letter) {
    case 'R':
      return is_complex ? primitive_util::ComplexComponentType(type) : type;
    case 'C':
      return is_complex ? type : primitive_util::ComplexType(type);
    case 'i':
      return S32;
    default:
      return type;
  }
}

// Its layout is the constraint of the call, or the operand's.
const Shape& OperandShape(const HloInstruction& call, int64_t i) {
  if (call.layout_constrained()) return call.operand_shapes_with_layout()[i];
  return call.operand(i)->shape();
}

const Shape& ResultShape(const HloInstruction& call, int64_t i) {
  return call.shape().IsTuple() ? call.shape().tuple_shapes(i) : call.shape();
}

int64_t ResultCount(const HloInstruction& call) {
  return call.shape().IsTuple() ? call.shape().tuple_shapes_size() : 1;
}

}  // namespace

absl::StatusOr<absl::flat_hash_map<std::string, int64_t>> ParseFfiAttributes(absl::string_view dictionary) {
  absl::string_view text = absl::StripAsciiWhitespace(dictionary);
  absl::flat_hash_map<std::string, int64_t> attributes;
  if (text.empty()) return attributes;
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') {
    return InvalidArgument("Not a dictionary of attributes: %s", dictionary);
  }
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const absl::string_view entry = TakeEntry(&text);
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(entry, absl::MaxSplits('=', 1));
    const absl::string_view name = absl::StripAsciiWhitespace(parts.first);
    int64_t number;
    if (ReadInteger(absl::StripAsciiWhitespace(parts.second), &number)) attributes[name] = number;
  }
  return attributes;
}

absl::StatusOr<LapackCall> LapackCall::Make(values::BasicOperation& op, absl::string_view signature, PrimitiveType type,
                                            const LapackConvention& convention) {
  LapackCall call(op, convention);
  call.signature_ = std::string(signature);
  call.sizes_.fill(-1);
  const bool is_old = !convention.parameters.empty();
  KASHI_ASSIGN_OR_RETURN(call.attributes_, ParseFfiAttributes(is_old ? convention.attributes
                                                                     : op.instruction.raw_backend_config_string()));
  KASHI_RETURN_IF_ERROR(call.ReadParameters());
  KASHI_RETURN_IF_ERROR(call.Bind(signature, type));
  KASHI_RETURN_IF_ERROR(call.CheckParameters());
  return call;
}

// ---- Scalars before the arrays --------------------------------------------------------------------------------------

absl::Status LapackCall::ReadParameters() {
  if (convention_.parameters.empty()) return absl::OkStatus();
  for (const absl::string_view word : absl::StrSplit(convention_.parameters, ' ')) {
    if (parameter_count_ >= static_cast<int64_t>(op_.operands.size())) return Refuse("wrong number of operands");
    const Value& value = op_.operands[parameter_count_++];
    const bool is_number =
        value.is_array() && value.rank() == 0 && (value.element_type() == S32 || value.element_type() == U8);
    if (!is_number) return Refuse(absl::StrCat("operand ", parameter_count_ - 1, " is neither s32[] nor u8[]"));
    KASHI_RETURN_IF_ERROR(ReadParameter(
        word, value.element_type() == S32 ? value.data<int32_t>()[0] : int64_t{value.data<uint8_t>()[0]}));
  }
  return absl::OkStatus();
}

absl::Status LapackCall::ReadParameter(absl::string_view word, int64_t number) {
  if (word == "-") return absl::OkStatus();
  if (absl::ConsumePrefix(&word, "=")) {
    expected_sizes_.emplace_back(word[0], number);
    return absl::OkStatus();
  }
  const size_t colon = word.find(':');
  const absl::string_view name = word.substr(0, colon);
  if (colon == absl::string_view::npos || colon + 1 == word.size()) {
    attributes_[name] = number;
    return absl::OkStatus();
  }
  const absl::string_view letters = word.substr(colon + 1);
  if (number < 0 || number >= static_cast<int64_t>(letters.size())) {
    return Refuse(absl::StrCat("operand ", parameter_count_ - 1, " is ", number));
  }
  if (letters[number] != '.') attributes_[name] = letters[number];
  return absl::OkStatus();
}

absl::Status LapackCall::CheckParameters() const {
  for (const auto& [letter, number] : expected_sizes_) {
    const int64_t size = letter == 'b' ? batch_ : this->size(letter);
    if (number != size) return Refuse(absl::StrFormat("an operand gives %d, but the shapes give %d", number, size));
  }
  return absl::OkStatus();
}

int64_t LapackCall::OperandPlace(size_t i) const {
  return convention_.operands.empty() ? parameter_count_ + static_cast<int64_t>(i) : convention_.operands[i] - '0';
}

int64_t LapackCall::ResultPlace(size_t i) const {
  return convention_.results.empty() ? static_cast<int64_t>(i) : convention_.results[i] - '0';
}

absl::Status LapackCall::Refuse(absl::string_view why) const {
  return Unimplemented("%s: custom-call to \"%s\" (%s): %s", op_.instruction.name(),
                       op_.instruction.custom_call_target(), signature_, why);
}

absl::Status LapackCall::Bind(absl::string_view signature, PrimitiveType type) {
  const std::pair<absl::string_view, absl::string_view> sides = absl::StrSplit(signature, " -> ");
  std::vector<absl::string_view> operands = absl::StrSplit(sides.first, ' ');
  const size_t operand_count = op_.operands.size() - parameter_count_;
  if (absl::ConsumeSuffix(&operands.back(), "?") && operand_count + 1 == operands.size()) operands.pop_back();
  const std::vector<absl::string_view> results = absl::StrSplit(sides.second, ' ');
  const HloInstruction& instruction = op_.instruction;
  const int64_t result_count = convention_.result_count > 0 ? convention_.result_count : int64_t(results.size());
  if (operand_count != operands.size() || ResultCount(instruction) != result_count) {
    return Refuse("wrong number of operands or results");
  }
  std::vector<int64_t> strides(operands.size() + results.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    KASHI_RETURN_IF_ERROR(BindArray(operands[i], OperandShape(instruction, OperandPlace(i)), type, &strides[i]));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    KASHI_RETURN_IF_ERROR(
        BindArray(results[i], ResultShape(instruction, ResultPlace(i)), type, &strides[operands.size() + i]));
  }
  for (size_t i = 0; i < operands.size(); ++i) KASHI_RETURN_IF_ERROR(MakeOperand(OperandPlace(i), strides[i]));
  for (size_t i = 0; i < results.size(); ++i) {
    KASHI_RETURN_IF_ERROR(MakeResult(ResultPlace(i), strides[operands.size() + i]));
  }
  return absl::OkStatus();
}

// `array` is "T[m,n]", or "T()", which has no batch dimensions. The first one says what those are.
absl::Status LapackCall::BindArray(absl::string_view array, const Shape& shape, PrimitiveType type, int64_t* stride) {
  const absl::string_view letters = array.substr(2, array.size() - 3);
  const int64_t rank = letters.empty() ? 0 : static_cast<int64_t>(letters.size() + 1) / 2;
  if (!shape.IsArray() || !shape.is_static() || shape.element_type() != TypeOf(array[0], type)) {
    return Refuse(absl::StrCat("unexpected type of ", ShapeUtil::HumanString(shape)));
  }
  const absl::Span<const int64_t> dimensions = shape.dimensions();
  const int64_t batch_rank = static_cast<int64_t>(dimensions.size()) - rank;
  if (!has_batch_ && batch_rank >= 0) {
    has_batch_ = true;
    batch_dimensions_.assign(dimensions.begin(), dimensions.begin() + batch_rank);
    for (const int64_t size : batch_dimensions_) batch_ *= size;
  }
  const absl::Span<const int64_t> batch =
      array[1] == '(' ? absl::Span<const int64_t>() : absl::MakeConstSpan(batch_dimensions_);
  if (batch_rank != static_cast<int64_t>(batch.size()) || dimensions.first(batch_rank) != batch) {
    return Refuse(absl::StrCat("unexpected dimensions of ", ShapeUtil::HumanString(shape)));
  }
  const absl::Status status = BindSizes(letters, dimensions.subspan(batch_rank));
  if (!status.ok()) return Refuse(absl::StrCat(status.message(), " in ", ShapeUtil::HumanString(shape)));
  *stride = 1;
  for (const int64_t size : dimensions.subspan(batch_rank)) {
    if (size > 0 && *stride > kMostElements / size) {
      return ResourceExhausted("%s: LAPACK counts in 32 bits, which is not enough for the matrices of %s",
                               op_.instruction.name(), ShapeUtil::HumanString(shape));
    }
    *stride *= size;
  }
  return absl::OkStatus();
}

absl::Status LapackCall::BindSizes(absl::string_view letters, absl::Span<const int64_t> dimensions) {
  for (size_t i = 0; i < dimensions.size(); ++i) {
    const char letter = letters[2 * i];
    int& size = sizes_[letter - 'a'];
    if (dimensions[i] > kMostElements) {
      return ResourceExhausted("LAPACK counts in 32 bits, which is not enough for the sizes");
    }
    if (size < 0 && letter == 'k') size = std::min(this->size('m'), this->size('n'));
    if (size < 0 && letter == 't') size = std::max(this->size('n') - 1, 0);
    if (size < 0) size = static_cast<int>(dimensions[i]);
    if (size != dimensions[i]) return InvalidArgument("a size of %d for %c = %d", dimensions[i], letter, size);
  }
  return absl::OkStatus();
}

absl::Status LapackCall::MakeOperand(int64_t place, int64_t stride) {
  Value& value = op_.operands[place];
  const Shape& shape = OperandShape(op_.instruction, place);
  if (!value.is_array() || value.dimensions() != shape.dimensions()) return Refuse("operands of unexpected sizes");
  KASHI_ASSIGN_OR_RETURN(const kernels::PhysicalOrder order, kernels::PhysicalOrder::Make(shape));
  if (order.map().padded_element_count() != value.element_count()) return Refuse("a layout with padding");
  if (order.IsRowMajor()) {
    operands_.push_back({value, stride, place});
    return absl::OkStatus();
  }
  KASHI_ASSIGN_OR_RETURN(Value physical, Value::MakeArray(value.dense_shape(), op_.limits.memory));
  KASHI_RETURN_IF_ERROR(
      order.Spread(value.bytes(), value.element_bytes(), physical.mutable_bytes(), [this] { return CheckStopped(); }));
  operands_.push_back({std::move(physical), stride, place});
  return absl::OkStatus();
}

absl::Status LapackCall::MakeResult(int64_t place, int64_t stride) {
  KASHI_ASSIGN_OR_RETURN(Value value, op_.MakeResult(place));
  if (value.dimensions() != ResultShape(op_.instruction, place).dimensions())
    return Refuse("results of unexpected sizes");
  std::memset(value.mutable_bytes(), 0, value.byte_count());
  results_.push_back({std::move(value), stride, place});
  return absl::OkStatus();
}

absl::StatusOr<char> LapackCall::Letter(absl::string_view name, absl::string_view letters) const {
  KASHI_ASSIGN_OR_RETURN(const int64_t code, Integer(name));
  const char letter = static_cast<char>(code);
  if (code > 0 && code < 128 && absl::StrContains(letters, absl::string_view(&letter, 1))) return letter;
  return Refuse(absl::StrCat("attribute ", name, " = ", code, " is not one of the characters ", letters));
}

absl::StatusOr<int64_t> LapackCall::Integer(absl::string_view name) const {
  const auto found = attributes_.find(name);
  if (found == attributes_.end()) return Refuse(absl::StrCat("attribute ", name, " is missing in backend_config"));
  return found->second;
}

void LapackCall::FillWithNaN(int64_t matrix) {
  for (Buffer& result : results_) {
    const PrimitiveType type = result.value.element_type();
    const int64_t begin = matrix * result.stride;
    const auto fill = [&](auto nan) {
      std::fill_n(result.value.mutable_data<decltype(nan)>().data() + begin, result.stride, nan);
    };
    constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
    if (type == F32) fill(kNaN);
    if (type == F64) fill(static_cast<double>(kNaN));
    if (type == C64) fill(std::complex<float>(kNaN, kNaN));
    if (type == C128) fill(std::complex<double>(kNaN, kNaN));
  }
}

absl::StatusOr<Value> LapackCall::Workspace(PrimitiveType type, int64_t elements) const {
  if (elements > kMostElements) {
    return ResourceExhausted("%s: LAPACK counts in 32 bits, which is not enough for its workspace of %d elements",
                             op_.instruction.name(), elements);
  }
  KASHI_ASSIGN_OR_RETURN(DenseShape shape, MakeCheckedDenseShape(type, {std::max<int64_t>(1, elements)}));
  return Value::MakeArray(std::move(shape), op_.limits.memory);
}

// The program does not read it.
absl::StatusOr<Value> LapackCall::MakeWorkspaceResult(int64_t place) const {
  if (!ResultShape(op_.instruction, place).IsArray()) return Refuse("a workspace that is not an array");
  KASHI_ASSIGN_OR_RETURN(Value value, op_.MakeResult(place));
  std::memset(value.mutable_bytes(), 0, value.byte_count());
  return value;
}

absl::StatusOr<Value> LapackCall::TakeResults() {
  std::vector<Value> values(ResultCount(op_.instruction));
  for (Buffer& result : results_) {
    const int64_t i = result.place;
    Value value = std::move(result.value);
    KASHI_ASSIGN_OR_RETURN(const kernels::PhysicalOrder order,
                           kernels::PhysicalOrder::Make(ResultShape(op_.instruction, i)));
    if (order.map().padded_element_count() != value.element_count()) return Refuse("a layout with padding");
    if (!order.IsRowMajor()) {
      KASHI_ASSIGN_OR_RETURN(Value logical, op_.MakeResult(i));
      KASHI_RETURN_IF_ERROR(order.Collect(value.bytes(), value.element_bytes(), logical.mutable_bytes(),
                                          [this] { return CheckStopped(); }));
      value = std::move(logical);
    }
    values[i] = std::move(value);
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i].is_nothing()) continue;
    KASHI_ASSIGN_OR_RETURN(values[i], MakeWorkspaceResult(static_cast<int64_t>(i)));
  }
  if (op_.instruction.shape().IsTuple()) return Value::MakeTuple(std::move(values));
  return std::move(values[0]);
}

}  // namespace kashi::custom_calls
