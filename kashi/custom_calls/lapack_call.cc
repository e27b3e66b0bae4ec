#include "kashi/custom_calls/lapack_call.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
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

// Whether the last two dimensions are the most minor ones, in their order, and the others are row-major.
bool IsByColumns(const Shape& shape) {
  const int64_t rank = shape.dimensions_size();
  if (rank < 2 || !shape.has_layout() || !shape.layout().tiles().empty()) return false;
  const absl::Span<const int64_t> order = shape.layout().minor_to_major();
  bool is_so = order[0] == rank - 2 && order[1] == rank - 1;
  for (int64_t i = 2; i < rank; ++i) is_so = is_so && order[i] == rank - 1 - i;
  return is_so;
}

// The transposes of `count` matrices.
template <typename Word>
void Transpose(const char* from, int64_t count, int64_t rows, int64_t columns, char* to) {
  const Word* x = reinterpret_cast<const Word*>(from);
  Word* y = reinterpret_cast<Word*>(to);
  for (int64_t matrix = 0; matrix < count; ++matrix, x += rows * columns, y += rows * columns) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) y[j * rows + i] = x[i * columns + j];
    }
  }
}

// Arrays of more elements go through a plan, whose loops are faster.
constexpr int64_t kMostTransposed = 4096;

// Transposes the matrices of a small array; false: it is not small.
bool TryTranspose(const Value& from, int64_t rows, int64_t columns, Value* to) {
  const int64_t matrices = rows * columns == 0 ? 0 : from.element_count() / (rows * columns);
  if (from.element_count() > kMostTransposed) return false;
  switch (from.element_bytes()) {
    case 4:
      Transpose<uint32_t>(from.bytes(), matrices, rows, columns, to->mutable_bytes());
      return true;
    case 8:
      Transpose<uint64_t>(from.bytes(), matrices, rows, columns, to->mutable_bytes());
      return true;
    case 16:
      Transpose<std::complex<double>>(from.bytes(), matrices, rows, columns, to->mutable_bytes());
      return true;
    default:
      return false;
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

// ---- The instruction -----------------------------------------------------------------------------------------------

LapackBinding::LapackBinding(absl::string_view signature, const LapackConvention& convention)
    : convention_(convention), signature_(signature) {
  sizes_.fill(-1);
  if (convention.parameters.empty()) return;
  parameter_count_ = 1 + absl::c_count(convention.parameters, ' ');
}

absl::StatusOr<LapackBinding> LapackBinding::Make(const HloInstruction& instruction, absl::string_view signature,
                                                  PrimitiveType type, const LapackConvention& convention) {
  LapackBinding binding(signature, convention);
  const bool is_old = !convention.parameters.empty();
  KASHI_ASSIGN_OR_RETURN(binding.attributes_,
                         ParseFfiAttributes(is_old ? convention.attributes : instruction.raw_backend_config_string()));
  KASHI_RETURN_IF_ERROR(binding.Bind(instruction, type));
  return binding;
}

int64_t LapackBinding::OperandPlace(size_t i) const {
  return convention_.operands.empty() ? parameter_count_ + static_cast<int64_t>(i) : convention_.operands[i] - '0';
}

int64_t LapackBinding::ResultPlace(size_t i) const {
  return convention_.results.empty() ? static_cast<int64_t>(i) : convention_.results[i] - '0';
}

absl::Status LapackBinding::Refuse(const HloInstruction& instruction, absl::string_view why) const {
  return Unimplemented("%s: custom-call to \"%s\" (%s): %s", instruction.name(), instruction.custom_call_target(),
                       signature_, why);
}

absl::Status LapackBinding::Bind(const HloInstruction& instruction, PrimitiveType type) {
  const std::pair<absl::string_view, absl::string_view> sides = absl::StrSplit(signature_, " -> ");
  std::vector<absl::string_view> operands = absl::StrSplit(sides.first, ' ');
  const int64_t operand_count = instruction.operand_count() - parameter_count_;
  const bool may_miss = absl::ConsumeSuffix(&operands.back(), "?");
  if (may_miss && operand_count + 1 == static_cast<int64_t>(operands.size())) operands.pop_back();
  const std::vector<absl::string_view> results = absl::StrSplit(sides.second, ' ');
  const int64_t result_count = convention_.result_count > 0 ? convention_.result_count : int64_t(results.size());
  if (operand_count != static_cast<int64_t>(operands.size()) || ResultCount(instruction) != result_count) {
    return Refuse(instruction, "wrong number of operands or results");
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    const int64_t place = OperandPlace(i);
    KASHI_RETURN_IF_ERROR(
        BindArray(instruction, operands[i], OperandShape(instruction, place), type, place, &operands_));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const int64_t place = ResultPlace(i);
    KASHI_RETURN_IF_ERROR(BindArray(instruction, results[i], ResultShape(instruction, place), type, place, &results_));
  }
  return absl::OkStatus();
}

// `array` is "T[m,n]", or "T()", which has no batch dimensions. The first one says what those are.
absl::Status LapackBinding::BindArray(const HloInstruction& instruction, absl::string_view array, const Shape& shape,
                                      PrimitiveType type, int64_t place, std::vector<Array>* arrays) {
  const absl::string_view letters = array.substr(2, array.size() - 3);
  const int64_t rank = letters.empty() ? 0 : static_cast<int64_t>(letters.size() + 1) / 2;
  if (!shape.IsArray() || !shape.is_static() || shape.element_type() != TypeOf(array[0], type)) {
    return Refuse(instruction, absl::StrCat("unexpected type of ", ShapeUtil::HumanString(shape)));
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
    return Refuse(instruction, absl::StrCat("unexpected dimensions of ", ShapeUtil::HumanString(shape)));
  }
  const absl::Status status = BindSizes(letters, dimensions.subspan(batch_rank));
  if (!status.ok()) return Refuse(instruction, absl::StrCat(status.message(), " in ", ShapeUtil::HumanString(shape)));
  int64_t stride = 1;
  for (const int64_t size : dimensions.subspan(batch_rank)) {
    if (size > 0 && stride > kMostElements / size) {
      return ResourceExhausted("%s: LAPACK counts in 32 bits, which is not enough for the matrices of %s",
                               instruction.name(), ShapeUtil::HumanString(shape));
    }
    stride *= size;
  }
  KASHI_ASSIGN_OR_RETURN(kernels::PhysicalOrder order, kernels::PhysicalOrder::Make(shape));
  if (order.map().padded_element_count() != ShapeUtil::ElementsIn(shape)) {
    return Refuse(instruction, "a layout with padding");
  }
  const bool is_row_major = order.IsRowMajor();
  arrays->push_back({std::move(order), is_row_major, IsByColumns(shape), stride, place});
  return absl::OkStatus();
}

absl::Status LapackBinding::BindSizes(absl::string_view letters, absl::Span<const int64_t> dimensions) {
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

// ---- The call ------------------------------------------------------------------------------------------------------

absl::StatusOr<LapackCall> LapackCall::Make(values::BasicOperation& op, const LapackBinding& binding) {
  LapackCall call(op, binding);
  KASHI_RETURN_IF_ERROR(call.ReadParameters());
  for (const LapackBinding::Array& array : binding.operands()) KASHI_RETURN_IF_ERROR(call.MakeOperand(array));
  for (const LapackBinding::Array& array : binding.results()) KASHI_RETURN_IF_ERROR(call.MakeResult(array));
  return call;
}

// The scalars before the arrays.
absl::Status LapackCall::ReadParameters() {
  if (binding_.parameter_count() == 0) return absl::OkStatus();
  int64_t place = 0;
  for (const absl::string_view word : absl::StrSplit(binding_.convention().parameters, ' ')) {
    const Value& value = op_.operands[place];
    const bool is_number =
        value.is_array() && value.rank() == 0 && (value.element_type() == S32 || value.element_type() == U8);
    if (!is_number) return Refuse(absl::StrCat("operand ", place, " is neither s32[] nor u8[]"));
    const int64_t number = value.element_type() == S32 ? value.data<int32_t>()[0] : int64_t{value.data<uint8_t>()[0]};
    KASHI_RETURN_IF_ERROR(ReadParameter(place++, word, number));
  }
  return absl::OkStatus();
}

absl::Status LapackCall::ReadParameter(int64_t place, absl::string_view word, int64_t number) {
  if (word == "-") return absl::OkStatus();
  if (absl::ConsumePrefix(&word, "=")) {
    const int64_t size = word[0] == 'b' ? batch() : this->size(word[0]);
    if (number == size) return absl::OkStatus();
    return Refuse(absl::StrFormat("an operand gives %d, but the shapes give %d", number, size));
  }
  const size_t colon = word.find(':');
  const absl::string_view name = word.substr(0, colon);
  if (colon == absl::string_view::npos || colon + 1 == word.size()) {
    parameters_[name] = number;
    return absl::OkStatus();
  }
  const absl::string_view letters = word.substr(colon + 1);
  if (number < 0 || number >= static_cast<int64_t>(letters.size())) {
    return Refuse(absl::StrCat("operand ", place, " is ", number));
  }
  if (letters[number] != '.') parameters_[name] = letters[number];
  return absl::OkStatus();
}

absl::Status LapackCall::MakeOperand(const LapackBinding::Array& array) {
  Value& value = op_.operands[array.place];
  if (!value.is_array() || value.dimensions() != array.order.shape().dimensions()) {
    return Refuse("operands of unexpected sizes");
  }
  if (array.is_row_major) {
    operands_.push_back(value);
    return absl::OkStatus();
  }
  KASHI_ASSIGN_OR_RETURN(Value physical, Value::MakeArray(value.dense_shape(), op_.limits.memory));
  KASHI_RETURN_IF_ERROR(Spread(array, value, &physical));
  operands_.push_back(std::move(physical));
  return absl::OkStatus();
}

absl::Status LapackCall::MakeResult(const LapackBinding::Array& array) {
  // Of other orders, the caller's memory is for the elements in row-major order.
  KASHI_ASSIGN_OR_RETURN(Value value, array.is_row_major
                                          ? op_.MakeResult(array.place)
                                          : Value::MakeArray(op_.result(array.place), op_.limits.memory));
  if (value.dimensions() != array.order.shape().dimensions()) return Refuse("results of unexpected sizes");
  std::memset(value.mutable_bytes(), 0, value.byte_count());
  results_.push_back(std::move(value));
  return absl::OkStatus();
}

absl::Status LapackCall::Spread(const LapackBinding::Array& array, const Value& logical, Value* physical) const {
  const absl::Span<const int64_t> sizes = array.order.shape().dimensions();
  if (array.is_by_columns && TryTranspose(logical, sizes[sizes.size() - 2], sizes.back(), physical)) {
    return absl::OkStatus();
  }
  return array.order.Spread(logical.bytes(), logical.element_bytes(), physical->mutable_bytes(),
                            [this] { return CheckStopped(); });
}

absl::Status LapackCall::Collect(const LapackBinding::Array& array, const Value& physical, Value* logical) const {
  const absl::Span<const int64_t> sizes = array.order.shape().dimensions();
  if (array.is_by_columns && TryTranspose(physical, sizes.back(), sizes[sizes.size() - 2], logical)) {
    return absl::OkStatus();
  }
  return array.order.Collect(physical.bytes(), physical.element_bytes(), logical->mutable_bytes(),
                             [this] { return CheckStopped(); });
}

absl::StatusOr<char> LapackCall::Letter(absl::string_view name, absl::string_view letters) const {
  KASHI_ASSIGN_OR_RETURN(const int64_t code, Integer(name));
  const char letter = static_cast<char>(code);
  if (code > 0 && code < 128 && absl::StrContains(letters, absl::string_view(&letter, 1))) return letter;
  return Refuse(absl::StrCat("attribute ", name, " = ", code, " is not one of the characters ", letters));
}

absl::StatusOr<int64_t> LapackCall::Integer(absl::string_view name) const {
  if (const auto found = parameters_.find(name); found != parameters_.end()) return found->second;
  const auto found = binding_.attributes().find(name);
  if (found != binding_.attributes().end()) return found->second;
  return Refuse(absl::StrCat("attribute ", name, " is missing in backend_config"));
}

void LapackCall::FillWithNaN(int64_t matrix) {
  for (size_t i = 0; i < results_.size(); ++i) {
    const PrimitiveType type = results_[i].element_type();
    const int64_t stride = binding_.results()[i].stride, begin = matrix * stride;
    const auto fill = [&](auto nan) {
      std::fill_n(results_[i].mutable_data<decltype(nan)>().data() + begin, stride, nan);
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
  for (size_t i = 0; i < results_.size(); ++i) {
    const LapackBinding::Array& array = binding_.results()[i];
    Value value = std::move(results_[i]);
    if (!array.is_row_major) {
      KASHI_ASSIGN_OR_RETURN(Value logical, op_.MakeResult(array.place));
      KASHI_RETURN_IF_ERROR(Collect(array, value, &logical));
      value = std::move(logical);
    }
    values[array.place] = std::move(value);
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i].is_nothing()) continue;
    KASHI_ASSIGN_OR_RETURN(values[i], MakeWorkspaceResult(static_cast<int64_t>(i)));
  }
  if (op_.instruction.shape().IsTuple()) return Value::MakeTuple(std::move(values));
  return std::move(values[0]);
}

}  // namespace kashi::custom_calls
