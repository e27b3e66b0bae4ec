#include "kashi/gpu_calls/convolution_graph.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "kashi/array/primitive_util.h"
#include "kashi/base/status.h"

namespace kashi::gpu_calls {
namespace {

struct GraphOperation {
  absl::string_view number;
  PrimitiveType type;
  absl::string_view name;
  std::vector<absl::string_view> operands;
};

absl::StatusOr<GraphOperation> ParseOperation(const CallLowering& lowering, absl::string_view text) {
  const auto wrong = [&] {
    return lowering.config().Wrong("serialized_graph", absl::StrCat("has \"", text, "\", which is no operation"));
  };
  // Up to `end`, which is taken too.
  absl::string_view rest = text;
  const auto take_until = [&rest](char end, absl::string_view* part) {
    const size_t at = rest.find(end);
    if (at == absl::string_view::npos) return false;
    *part = rest.substr(0, at);
    rest.remove_prefix(at + 1);
    return true;
  };
  GraphOperation operation;
  absl::string_view type, operands;
  if (!take_until(':', &operation.number) || !absl::ConsumePrefix(&rest, "[") || !take_until(']', &type) ||
      !take_until('(', &operation.name) || !take_until(')', &operands) || !rest.empty()) {
    return wrong();
  }
  const absl::StatusOr<PrimitiveType> parsed = primitive_util::StringToPrimitiveType(type);
  if (!parsed.ok() || !primitive_util::IsFloatingPointType(*parsed)) return wrong();
  operation.type = *parsed;
  operation.operands = absl::StrSplit(operands, ',', absl::SkipEmpty());
  return operation;
}

// Makes one operation after the other.
class GraphLowering {
 public:
  explicit GraphLowering(CallLowering* lowering) : lowering_(*lowering) {}

  absl::Status AddConvolution(const GraphOperation& operation, XlaOp y) {
    if (operation.name != "conv") return Wrong("does not begin with a convolution");
    return Keep(operation, y);
  }

  absl::Status Add(const GraphOperation& operation) {
    std::vector<XlaOp> operands;
    for (const absl::string_view number : operation.operands) {
      const auto found = values_.find(number);
      if (found == values_.end()) return Wrong(absl::StrCat("has no operation ", number));
      operands.push_back(found->second);
    }
    if (operands.empty()) return Wrong(absl::StrCat("has ", operation.name, " without an operand"));
    if (operation.name == "relu") return Keep(operation, Max(operands[0], ZeroLike(operands[0])));
    if (operation.name == "amax") return KeepLargest(operands[0]);
    XlaOp (*const function)(XlaOp, XlaOp, absl::Span<const int64_t>) = operation.name == "scale"      ? &Mul
                                                                       : operation.name == "invscale" ? &Div
                                                                       : operation.name == "add"      ? &kashi::Add
                                                                                                      : nullptr;
    if (function == nullptr) {
      return lowering_.config().Unknown("serialized_graph",
                                        absl::StrCat("has the operation \"", operation.name, "\", which is not known"));
    }
    const PrimitiveType type = lowering_.ShapeOf(operands[0]).element_type();
    if (operands.size() == 1) {
      if (next_operand_ >= lowering_.operand_count()) return Wrong("needs more operands than the call has");
      operands.push_back(Side(next_operand_++, type));
    }
    return Keep(operation, function(operands[0], operands[1], {}));
  }

  Results Finish() && {
    if (next_operand_ != lowering_.operand_count()) return Wrong("does not use all operands of the call");
    std::vector<XlaOp> results = {last_};
    results.insert(results.end(), largest_.begin(), largest_.end());
    const auto count = static_cast<int64_t>(results.size());
    KASHI_RETURN_IF_ERROR(lowering_.ExpectResults(count, count));
    for (int64_t i = 0; i < count; ++i) results[i] = lowering_.ToResult(results[i], i);
    return results;
  }

 private:
  absl::Status Wrong(absl::string_view what) const { return lowering_.config().Wrong("serialized_graph", what); }
  XlaOp ZeroLike(XlaOp x) { return lowering_.Constant(lowering_.ShapeOf(x).element_type(), 0); }

  // An operand of the call, a scalar if it has one element.
  XlaOp Side(int64_t operand, PrimitiveType type) {
    const Shape& shape = lowering_.operand_shape(operand);
    const XlaOp side = lowering_.OperandAs(operand, type);
    bool has_one_element = true;
    for (const int64_t size : shape.dimensions()) has_one_element = has_one_element && size == 1;
    return has_one_element ? Reshape(side, {}) : side;
  }

  // Results of 8 bits stay wide here: cuDNN rounds them once, and amax takes them as they were.
  absl::Status Keep(const GraphOperation& operation, XlaOp value) {
    const bool is_narrow = primitive_util::IsF8Type(operation.type);
    last_ = is_narrow ? value : lowering_.ToType(value, operation.type);
    if (!values_.emplace(operation.number, last_).second)
      return Wrong(absl::StrCat("has two operations ", operation.number));
    return absl::OkStatus();
  }
  absl::Status KeepLargest(XlaOp value) {
    largest_.push_back(lowering_.LargestAbsolute(value, lowering_.ShapeOf(value).element_type()));
    return absl::OkStatus();
  }

  CallLowering& lowering_;
  absl::flat_hash_map<absl::string_view, XlaOp> values_;  // by number
  int64_t next_operand_ = 2;
  XlaOp last_;
  std::vector<XlaOp> largest_;
};

}  // namespace

Results LowerGraphAfter(CallLowering* lowering, XlaOp y) {
  constexpr size_t kMostOperations = 256;
  KASHI_ASSIGN_OR_RETURN(const std::string text, lowering->config().Text("serialized_graph", ""));
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ';', absl::SkipEmpty());
  if (parts.empty()) return lowering->config().Wrong("serialized_graph", "is missing");
  if (parts.size() > kMostOperations) return lowering->config().Wrong("serialized_graph", "has too many operations");
  GraphLowering graph(lowering);
  for (size_t i = 0; i < parts.size(); ++i) {
    KASHI_ASSIGN_OR_RETURN(const GraphOperation operation, ParseOperation(*lowering, parts[i]));
    KASHI_RETURN_IF_ERROR(i == 0 ? graph.AddConvolution(operation, y) : graph.Add(operation));
  }
  return std::move(graph).Finish();
}

}  // namespace kashi::gpu_calls
