#include "kashi/pjrt/ffi_host.h"

#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/known_custom_calls.h"
#include "kashi/pjrt/ffi_handlers.h"

namespace kashi::pjrt {
namespace {

// From this size on, tuned libraries are faster than Kashi's LAPACK.
constexpr int64_t kLargeMatrix = 64;

// Arrays of a call as the structures of the interface.
class Buffers {
 public:
  void Add(const Shape& shape, void* data) {
    auto& dims = dims_.emplace_back();
    if (shape.IsArray()) dims.assign(shape.dimensions().begin(), shape.dimensions().end());
    buffers_.push_back({sizeof(XLA_FFI_Buffer), nullptr, static_cast<int>(shape.element_type()), data,
                        static_cast<int64_t>(dims.size()), dims.data()});
    types_.push_back(XLA_FFI_ArgType_BUFFER);
    pointers_.push_back(&buffers_.back());
  }
  XLA_FFI_Args args() {
    return {sizeof(XLA_FFI_Args), nullptr, static_cast<int64_t>(types_.size()), types_.data(), pointers_.data()};
  }

 private:
  std::deque<std::vector<int64_t>> dims_;
  std::deque<XLA_FFI_Buffer> buffers_;
  std::vector<int> types_;
  std::vector<void*> pointers_;
};

absl::Status Run(XLA_FFI_Handler* handler, int stage, XLA_FFI_ExecutionContext* context, const XLA_FFI_Attrs& attrs,
                 Buffers* arguments, Buffers* results) {
  if (handler == nullptr) return absl::OkStatus();
  XLA_FFI_CallFrame frame = {};
  frame.struct_size = offsetof(XLA_FFI_CallFrame, future);
  frame.api = FfiApi();
  frame.ctx = context;
  frame.stage = stage;
  Buffers none;
  frame.args = (arguments == nullptr ? none : *arguments).args();
  frame.rets = (results == nullptr ? none : *results).args();
  frame.attrs = attrs;
  absl::Status status = TakeStatus(handler(&frame));
  const std::unique_ptr<XLA_FFI_Future> future(frame.future);
  if (future != nullptr) status.Update(future->Await());  // also after an error: it may still use the arguments
  return status;
}

// The operands, in the layouts that the call asks for.
absl::Status AddOperands(const HloInstruction& call, absl::Span<const Literal* const> operands,
                         std::vector<Literal>* moved, Buffers* arguments) {
  moved->reserve(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    const Literal* literal = operands[i];
    if (literal->shape().IsTuple()) return Unimplemented("%s: a handler gets arrays, not a tuple", call.name());
    if (call.layout_constrained() && literal->shape().IsArray()) {
      const Shape& wanted = call.operand_shapes_with_layout()[i];
      if (!ShapeUtil::Equal(literal->shape(), wanted)) {
        moved->push_back(literal->Relayout(wanted));
        literal = &moved->back();
      }
    }
    const bool is_array = literal->shape().IsArray();
    arguments->Add(literal->shape(), is_array ? const_cast<void*>(literal->untyped_data()) : nullptr);
  }
  return absl::OkStatus();
}

// Results that take the place of an operand begin with its elements.
absl::Status CopyAliased(const HloInstruction& call, absl::Span<const Literal* const> operands, Literal* result) {
  for (const auto& [index, operand] : call.output_operand_aliasing()) {
    const auto number = static_cast<size_t>(operand.first);
    if (number >= operands.size() || !operand.second.empty()) {
      return InvalidArgument("%s: output_to_operand_aliasing names no array operand", call.name());
    }
    KASHI_RETURN_IF_ERROR(result->CopyFrom(*operands[number], index, {}));
  }
  return absl::OkStatus();
}

void AddResults(const HloInstruction& call, Literal* result, Buffers* results) {
  ShapeUtil::ForEachLeafShape(call.shape(), [&](const Shape& leaf, const ShapeIndex& index) {
    results->Add(leaf, leaf.IsArray() ? result->untyped_data(index) : nullptr);
  });
}

absl::StatusOr<Literal> CallForeign(const FfiCalls& calls, const FfiRun& run, const HloInstruction& call,
                                    absl::Span<const Literal* const> operands) {
  FfiCalls::OfInstruction* const of_call = calls.Of(call);
  if (of_call == nullptr) return absl::InternalError(absl::StrCat(call.name(), " was not instantiated"));
  Buffers arguments, results;
  std::vector<Literal> moved;
  KASHI_RETURN_IF_ERROR(AddOperands(call, operands, &moved, &arguments));
  KASHI_ASSIGN_OR_RETURN(Literal result, Literal::Make(call.shape()));
  KASHI_RETURN_IF_ERROR(CopyAliased(call, operands, &result));
  AddResults(call, &result, &results);
  const XLA_FFI_Attrs& attrs = of_call->attributes->attrs();
  const XLA_FFI_Handler_Bundle& handlers = of_call->handlers;
  FfiState state;
  XLA_FFI_ExecutionContext context(run, state, of_call->state);
  KASHI_RETURN_IF_ERROR(Run(handlers.prepare, XLA_FFI_ExecutionStage_PREPARE, &context, attrs, nullptr, nullptr));
  KASHI_RETURN_IF_ERROR(
      Run(handlers.initialize, XLA_FFI_ExecutionStage_INITIALIZE, &context, attrs, &arguments, &results));
  KASHI_RETURN_IF_ERROR(Run(handlers.execute, XLA_FFI_ExecutionStage_EXECUTE, &context, attrs, &arguments, &results));
  return result;
}

}  // namespace

absl::Status NoHandlerFor(const HloInstruction& call) {
  return absl::NotFoundError(absl::StrCat("No FFI handler registered for ", call.custom_call_target(),
                                          " on a platform Host (canonical host)"));
}

bool IsHandled(const HloInstruction& call) {
  const std::string& target = call.custom_call_target();
  if (!IsKnownCustomCall(target)) return true;
  if (!absl::StartsWith(target, "lapack_") || call.operand_count() == 0 || !FfiHandlers::Global().Find(target))
    return false;
  const Shape& matrix = call.operand(0)->shape();
  return matrix.IsArray() &&
         absl::c_count_if(matrix.dimensions(), [](int64_t size) { return size >= kLargeMatrix; }) >= 2;
}

namespace {

absl::Status InstantiateCall(const HloInstruction& call, FfiCalls::OfInstruction* made) {
  const std::optional<XLA_FFI_Handler_Bundle> handlers = FfiHandlers::Global().Find(call.custom_call_target());
  if (!handlers.has_value()) return NoHandlerFor(call);
  made->handlers = *handlers;
  KASHI_ASSIGN_OR_RETURN(made->attributes, FfiAttributes::Parse(call.raw_backend_config_string()));
  FfiState state;
  const FfiRun run;
  XLA_FFI_ExecutionContext context(run, state, made->state);
  return Run(handlers->instantiate, XLA_FFI_ExecutionStage_INSTANTIATE, &context, made->attributes->attrs(), nullptr,
             nullptr);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const FfiCalls>> FfiCalls::Instantiate(const HloModule& module) {
  const std::shared_ptr<FfiCalls> calls(new FfiCalls);
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() != HloOpcode::kCustomCall || !IsHandled(*instruction)) continue;
      auto made = std::make_unique<OfInstruction>();
      KASHI_RETURN_IF_ERROR(InstantiateCall(*instruction, made.get()));
      calls->calls_python_ |= absl::EndsWith(instruction->custom_call_target(), "_python_cpu_callback");
      calls->calls_[instruction] = std::move(made);
    }
  }
  return calls;
}

FfiCalls::OfInstruction* FfiCalls::Of(const HloInstruction& call) const {
  const auto found = calls_.find(&call);
  return found == calls_.end() ? nullptr : found->second.get();
}

CustomCallHandler HandlerOf(std::shared_ptr<const FfiCalls> calls, FfiRun run) {
  return [calls = std::move(calls), run = std::move(run)](
             const HloInstruction& call, absl::Span<const Literal* const> operands) -> absl::StatusOr<Literal> {
    return CallForeign(*calls, run, call, operands);
  };
}

}  // namespace kashi::pjrt
