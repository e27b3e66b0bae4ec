// (values, indices) of the k first elements of the last dimension, in the order of a comparison.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/custom_calls/custom_call_functions.h"
#include "kashi/evaluator/run_custom_calls.h"
#include "kashi/evaluator/top_k.h"

namespace kashi::evaluator {
namespace {

bool IsComparator(absl::Span<HloComputation* const> called) {
  if (called.empty()) return true;
  const auto is_number = [](const HloInstruction* parameter) {
    return ShapeUtil::IsScalar(parameter->shape()) && !primitive_util::IsComplexType(parameter->shape().element_type());
  };
  const auto& parameters = called[0]->parameter_instructions();
  return called.size() == 1 && std::all_of(parameters.begin(), parameters.end(), is_number) &&
         ShapeUtil::Compatible(called[0]->root_instruction()->shape(), ShapeUtil::MakeShape(PRED, {}));
}

// Whether the called computation puts 1 before 0. (Its parameters: element and element, then often index and index.
// Most compare bits, so as to order NaNs too; top_k.h has that order.)
absl::StatusOr<bool> SelectsLargest(const Operation& op) {
  if (op.instruction.called_computations().empty()) return true;
  const HloComputation& comparator = *op.instruction.called_computations()[0];
  std::vector<Value> arguments;
  for (int64_t i = 0; i < comparator.num_parameters(); ++i) {
    KASHI_ASSIGN_OR_RETURN(Value number, op.run.MakeArray(S32, {}));
    number.mutable_data<int32_t>()[0] = i == 0;
    const PrimitiveType type = comparator.parameter_instruction(i)->shape().element_type();
    KASHI_ASSIGN_OR_RETURN(number, op.run.Convert(std::move(number), type));
    arguments.push_back(std::move(number));
  }
  KASHI_ASSIGN_OR_RETURN(const Value is_before, op.run.Call(comparator, std::move(arguments)));
  return is_before.data<bool>()[0];
}

// The number after "key": in a JSON object; -1 if there is none.
int64_t NumberOf(absl::string_view json, absl::string_view key) {
  const size_t at = json.find(key);
  if (at == absl::string_view::npos) return -1;
  absl::string_view rest = json.substr(at + key.size());
  rest = absl::StripLeadingAsciiWhitespace(rest);
  const size_t end = std::find_if_not(rest.begin(), rest.end(), absl::ascii_isdigit) - rest.begin();
  int64_t number;
  return absl::SimpleAtoi(rest.substr(0, end), &number) ? number : -1;
}

// to[row][i] = from[row][columns[row][i]] for the columns that exist; elements after them are `rest`.
void GatherRows(const Value& from, const Value& columns, const Value& rest, Value& to) {
  const int64_t bytes = from.element_bytes(), n = from.dimensions().back(), k = columns.dimensions().back();
  const int64_t length = to.dimensions().back();
  const int64_t rows = length == 0 ? 0 : to.element_count() / length;
  const int32_t* column = columns.data<int32_t>().data();
  for (int64_t row = 0; row < rows; ++row) {
    const char* const source = from.bytes() + row * n * bytes;
    char* const target = to.mutable_bytes() + row * length * bytes;
    for (int64_t i = 0; i < k; ++i) std::memcpy(target + i * bytes, source + *column++ * bytes, bytes);
    for (int64_t i = k; i < length; ++i) std::memcpy(target + i * bytes, rest.bytes(), bytes);
  }
}

}  // namespace

absl::StatusOr<Value> EvaluateTopKCall(Operation& op) {
  const Shape& shape = op.instruction.shape();
  if (!custom_calls::HasArrayOperands(op, 1) || !shape.IsTuple() || shape.tuple_shapes_size() != 2 || !op.result(0) ||
      !op.result(1) || !IsComparator(op.instruction.called_computations())) {
    return custom_calls::MisusedCustomCall(op);
  }
  KASHI_ASSIGN_OR_RETURN(const bool largest, SelectsLargest(op));
  const absl::Span<const int64_t> sizes = op.result(0)->dimensions();
  KASHI_ASSIGN_OR_RETURN(TopKResult best, TopK(op.run, op.operands[0], sizes.empty() ? 0 : sizes.back(), largest));
  return custom_calls::MakeTupleResultOf(op, std::move(best.values), std::move(best.indices));
}

// A TPU gives the best element of each of k bins, and may miss elements if a bin has several of the best: recall_target
// limits how many. Kashi misses none, so sorting its k elements gives an exact top-k.
absl::StatusOr<Value> EvaluateApproximateTopK(Operation& op) {
  const Shape& shape = op.instruction.shape();
  if (!custom_calls::HasArrayOperands(op, 4) || !shape.IsTuple() || shape.tuple_shapes_size() != 2 || !op.result(0) ||
      !op.result(1) || !IsComparator(op.instruction.called_computations())) {
    return custom_calls::MisusedCustomCall(op);
  }
  const Value &x = op.operands[0], &indices = op.operands[1];
  const int rank = x.rank();
  const absl::Span<const int64_t> sizes = op.result(0)->dimensions();
  const bool fits =
      rank > 0 && indices.dimensions() == x.dimensions() && op.result(1)->dimensions() == sizes &&
      static_cast<int>(sizes.size()) == rank && sizes.first(rank - 1) == x.dimensions().first(rank - 1) &&
      op.operands[2].rank() == 0 && op.operands[3].rank() == 0 && op.operands[2].element_type() == x.element_type() &&
      op.operands[3].element_type() == indices.element_type() && op.result(0)->element_type() == x.element_type() &&
      op.result(1)->element_type() == indices.element_type() &&
      NumberOf(op.instruction.raw_backend_config_string(), "\"reduction_dim\":") == rank - 1;
  if (!fits) return custom_calls::MisusedCustomCall(op);
  KASHI_ASSIGN_OR_RETURN(const bool largest, SelectsLargest(op));
  KASHI_ASSIGN_OR_RETURN(const TopKResult best,
                         TopK(op.run, x, std::min(sizes.back(), x.dimensions().back()), largest));
  KASHI_ASSIGN_OR_RETURN(Value values, op.MakeResult(0));
  KASHI_ASSIGN_OR_RETURN(Value places, op.MakeResult(1));
  GatherRows(x, best.indices, op.operands[2], values);
  GatherRows(indices, best.indices, op.operands[3], places);
  return custom_calls::MakeTupleResultOf(op, std::move(values), std::move(places));
}

}  // namespace kashi::evaluator
