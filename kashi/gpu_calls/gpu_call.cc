#include "kashi/gpu_calls/gpu_call.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/gpu_calls/call_config.h"
#include "kashi/gpu_calls/call_lowering.h"
#include "kashi/gpu_calls/lower_call.h"

namespace kashi::gpu_calls {
namespace {

struct GpuCallRow : GpuCall {
  Results (*lower)(CallLowering* lowering);
};

constexpr GpuCallRow kGpuCalls[] = {
#define KASHI_GPU_CALL(target, meaning, config, counts) {{target, config, GpuCall::Counts::counts}, &Lower##meaning},
#include "kashi/gpu_calls/gpu_calls.def"
};

const GpuCallRow* FindRow(absl::string_view target) {
  if (!absl::StartsWith(target, "__cu")) return nullptr;
  static const auto* const kByTarget = [] {
    auto* rows = new absl::flat_hash_map<absl::string_view, const GpuCallRow*>();
    for (const GpuCallRow& row : kGpuCalls) rows->emplace(row.target, &row);
    return rows;
  }();
  const auto found = kByTarget->find(target);
  return found == kByTarget->end() ? nullptr : found->second;
}

bool IsStaticArray(const Shape& shape) { return shape.IsArray() && shape.is_static(); }

// The operations of XlaBuilder take arrays only, and sizes that are known.
absl::Status CheckArrays(const HloInstruction& call) {
  for (const HloInstruction* operand : call.operands()) {
    if (!IsStaticArray(operand->shape())) {
      return Unimplemented("%s: %s with an operand %s", call.name(), call.custom_call_target(),
                           ShapeUtil::HumanString(operand->shape()));
    }
  }
  const bool is_tuple = call.shape().IsTuple();
  for (int i = 0; i < (is_tuple ? call.shape().tuple_shapes_size() : 1); ++i) {
    const Shape& result = is_tuple ? call.shape().tuple_shapes(i) : call.shape();
    if (!IsStaticArray(result)) {
      return Unimplemented("%s: %s with a result %s", call.name(), call.custom_call_target(),
                           ShapeUtil::HumanString(result));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckResults(const CallLowering& lowering, const std::vector<XlaOp>& results) {
  KASHI_RETURN_IF_ERROR(
      lowering.ExpectResults(static_cast<int64_t>(results.size()), static_cast<int64_t>(results.size())));
  for (size_t i = 0; i < results.size(); ++i) {
    const Shape made = lowering.ShapeOf(results[i]);
    const Shape& expected = lowering.result(static_cast<int64_t>(i));
    if (ShapeUtil::Compatible(made, expected)) continue;
    return lowering.Wrong(absl::StrCat("the call gives ", ShapeUtil::HumanString(expected),
                                       ", where its operands make ", ShapeUtil::HumanString(made)));
  }
  return absl::OkStatus();
}

}  // namespace

const GpuCall* FindGpuCall(absl::string_view target) { return FindRow(target); }

const GpuCall* FindGpuCall(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kCustomCall ? FindRow(instruction.custom_call_target()) : nullptr;
}

const Shape* ScratchOf(const HloInstruction& call) {
  const Shape& shape = call.shape();
  if (!shape.IsTuple() || shape.tuple_shapes_size() < 2) return nullptr;
  const Shape& last = shape.tuple_shapes(shape.tuple_shapes_size() - 1);
  const bool is_scratch =
      last.IsArray() && last.dimensions_size() == 1 && (last.element_type() == S8 || last.element_type() == U8);
  return is_scratch ? &last : nullptr;
}

absl::StatusOr<std::shared_ptr<const HloModule>> LowerGpuCall(const HloInstruction& call, LoweredPart part) {
  const GpuCallRow& row = *FindRow(call.custom_call_target());
  KASHI_RETURN_IF_ERROR(CheckArrays(call));
  KASHI_ASSIGN_OR_RETURN(const CallConfig config, CallConfig::Read(call, row.config_key));
  CallLowering lowering(call, config, part);
  absl::StatusOr<std::vector<XlaOp>> lowered = row.lower(&lowering);
  XlaBuilder* const builder = lowering.builder();
  if (const absl::Status error = builder->first_error(); !error.ok()) {  // it comes before that of `lowered`
    return absl::Status(error.code(), absl::StrCat(call.name(), ": ", error.message()));
  }
  KASHI_ASSIGN_OR_RETURN(const std::vector<XlaOp> results, std::move(lowered));
  const bool is_whole = part == LoweredPart::kAll;
  if (is_whole) KASHI_RETURN_IF_ERROR(CheckResults(lowering, results));
  const XlaOp root = is_whole && !call.shape().IsTuple() ? results[0] : Tuple(builder, results);
  KASHI_ASSIGN_OR_RETURN(const XlaComputation computation, builder->Build(root));
  return computation.GetModule();
}

// A search, as a parser would take longer than the rest of a report: most instructions of a module have a config.
int64_t OperationQueueOf(const HloInstruction& instruction) {
  constexpr absl::string_view kKey = "\"operation_queue_id\":";
  absl::string_view config = instruction.raw_backend_config_string();
  const size_t at = config.find(kKey);
  if (at == absl::string_view::npos) return 0;
  config.remove_prefix(at + kKey.size());
  const size_t begin = config.find_first_not_of(" \"");
  if (begin == absl::string_view::npos) return 0;
  config.remove_prefix(begin);
  int64_t queue;
  return absl::SimpleAtoi(config.substr(0, config.find_first_not_of("0123456789")), &queue) ? queue : 0;
}

PrecisionConfig PrecisionOf(const HloInstruction& call) {
  const absl::StatusOr<CallConfig> config = CallConfig::Read(call, FindRow(call.custom_call_target())->config_key);
  return config.ok() ? config->Precision() : PrecisionConfig();
}

}  // namespace kashi::gpu_calls
