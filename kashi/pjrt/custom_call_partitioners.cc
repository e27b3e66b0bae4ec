#include "kashi/pjrt/custom_call_partitioners.h"

#include <cstdint>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

#include "kashi/array/shape.h"
#include "kashi/base/status.h"
#include "kashi/hlo/verifier/hlo_verifier.h"
#include "kashi/pjrt/errors.h"
#include "kashi/pjrt/inspect_sharding.h"
#include "kashi/proto/records_proto.h"
#include "kashi/stablehlo/conversion/read_stablehlo.h"

namespace kashi::pjrt {
namespace {

using String = JAX_CustomCallPartitioner_string;
using Callbacks = JAX_CustomCallPartitioner_Callbacks;

absl::string_view ViewOf(const String& string) { return absl::string_view(string.data, string.size); }

absl::StatusOr<HloSharding> ReadSharding(const String& bytes) {
  wire::OpSharding message;
  const bool is_short = bytes.data != nullptr && bytes.size <= static_cast<size_t>(std::numeric_limits<int>::max());
  if (!is_short || !message.ParseFromArray(bytes.data, static_cast<int>(bytes.size))) {
    return InvalidArgument("the partitioner of a custom call gave no OpSharding");
  }
  OpSharding proto;
  KASHI_RETURN_IF_ERROR(FromWire(message, &proto));
  return HloSharding::FromProto(proto);
}

// The texts of the arguments of one call.
class Texts {
 public:
  String Add(std::string text) {
    texts_.push_back(std::move(text));
    return {texts_.back().data(), texts_.back().size()};
  }
  String AddShape(const Shape& shape) { return Add(shape.ToProto().SerializeAsString()); }
  JAX_CustomCallPartitioner_aval AddArray(const Shape& shape, const HloSharding& sharding) {
    return {AddShape(shape), true, Add(SerializedSharding(sharding))};
  }
  std::vector<JAX_CustomCallPartitioner_aval> AddOperands(const HloInstruction& call,
                                                          absl::Span<const HloSharding> shardings) {
    std::vector<JAX_CustomCallPartitioner_aval> operands;
    for (int64_t i = 0; i < call.operand_count(); ++i) {
      operands.push_back(AddArray(call.operand(i)->shape(), shardings[i]));
    }
    return operands;
  }

 private:
  std::deque<std::string> texts_;  // they stay where they are
};

// Calls the function, and then its cleanup when this is destroyed.
template <typename Args>
class FinishedCall {
 public:
  FinishedCall(Callbacks* callbacks, void (*function)(Callbacks*, Args*), Args* args) : args_(*args) {
    function(callbacks, args);
  }
  FinishedCall(const FinishedCall&) = delete;
  FinishedCall& operator=(const FinishedCall&) = delete;
  ~FinishedCall() {
    if (args_.header.cleanup_fn != nullptr) args_.header.cleanup_fn(args_.header.data);
  }
  absl::Status status() const {
    if (!args_.header.has_error) return absl::OkStatus();
    return StatusOf(args_.header.code, ViewOf(args_.header.error_msg));
  }

 private:
  Args& args_;
};

absl::StatusOr<std::unique_ptr<HloModule>> ReadProgram(absl::string_view code) {
  if (!stablehlo::IsStableHlo(code)) {
    return InvalidArgument("the partitioner of a custom call gave a program that is not StableHLO");
  }
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module, stablehlo::ReadStableHlo(code, "partitioned"));
  const std::vector<HloFinding> findings = VerifyHlo(*module, HloVerifierOpts().AllowMixedPrecision());
  if (findings.empty()) return module;
  return InvalidArgument("the partitioner of a custom call gave a wrong program: %s", findings[0].message);
}

class FunctionsInC : public CustomCallPartitioner {
 public:
  explicit FunctionsInC(Callbacks* callbacks) : callbacks_(callbacks) {}
  ~FunctionsInC() override {
    if (callbacks_->dtor != nullptr) callbacks_->dtor(callbacks_);
  }

  absl::StatusOr<std::optional<HloSharding>> InferShardingFromOperands(
      const HloInstruction& call, absl::Span<const HloSharding> operands) const override {
    Texts texts;
    std::vector<JAX_CustomCallPartitioner_aval> arrays = texts.AddOperands(call, operands);
    JAX_CustomCallPartitioner_InferShardingFromOperands_Args args = {};
    args.num_args = arrays.size();
    args.op_args = arrays.data();
    args.result_shape = texts.AddShape(call.shape());
    args.backend_config = texts.Add(call.raw_backend_config_string());
    const FinishedCall done(callbacks_, callbacks_->infer_sharding, &args);
    KASHI_RETURN_IF_ERROR(done.status());
    if (!args.has_result_sharding) return std::nullopt;
    return ReadSharding(args.result_sharding);
  }

  absl::StatusOr<HloSharding> PropagateUserSharding(const HloInstruction& call,
                                                    const HloSharding& sharding) const override {
    Texts texts;
    JAX_CustomCallPartitioner_PropagateUserSharding_Args args = {};
    args.result_shape = texts.AddShape(call.shape());
    args.backend_config = texts.Add(call.raw_backend_config_string());
    args.result_sharding = texts.Add(SerializedSharding(sharding));
    const FinishedCall done(callbacks_, callbacks_->propagate_user_sharding, &args);
    KASHI_RETURN_IF_ERROR(done.status());
    return ReadSharding(args.result_sharding);
  }

  absl::StatusOr<Partitioned> Partition(const HloInstruction& call, absl::Span<const HloSharding> operands,
                                        const HloSharding& result) const override {
    Texts texts;
    std::vector<JAX_CustomCallPartitioner_aval> arrays = texts.AddOperands(call, operands);
    JAX_CustomCallPartitioner_Partition_Args args = {};
    args.num_args = arrays.size();
    args.op_args = arrays.data();
    args.op_result = texts.AddArray(call.shape(), result);
    args.backend_config = texts.Add(call.raw_backend_config_string());
    const FinishedCall done(callbacks_, callbacks_->partition, &args);
    KASHI_RETURN_IF_ERROR(done.status());
    KASHI_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module, ReadProgram(ViewOf(args.mlir_module)));
    std::vector<HloSharding> wanted;
    for (size_t i = 0; i < args.num_args; ++i) {
      KASHI_ASSIGN_OR_RETURN(HloSharding sharding, ReadSharding(args.args_sharding[i]));
      wanted.push_back(std::move(sharding));
    }
    KASHI_ASSIGN_OR_RETURN(HloSharding given, ReadSharding(args.result_sharding));
    return Partitioned{std::move(module), std::move(wanted), std::move(given)};
  }

 private:
  Callbacks* const callbacks_;
};

}  // namespace

RegisteredPartitioners& RegisteredPartitioners::Global() {
  static auto& partitioners = *new RegisteredPartitioners;
  return partitioners;
}

absl::Status RegisteredPartitioners::Register(absl::string_view target, Callbacks* callbacks) {
  if (callbacks == nullptr) return InvalidArgument("the partitioner of %s has no functions", target);
  std::shared_ptr<const CustomCallPartitioner> partitioner = std::make_shared<FunctionsInC>(callbacks);
  if (callbacks->version != 0) {
    return InvalidArgument("the partitioner of %s is for version %d of the interface, but Kashi has 0", target,
                           callbacks->version);
  }
  if (callbacks->partition == nullptr || callbacks->infer_sharding == nullptr ||
      callbacks->propagate_user_sharding == nullptr) {
    return InvalidArgument("the partitioner of %s lacks a function", target);
  }
  {
    const absl::MutexLock lock(&mutex_);
    partitioners_[target].swap(partitioner);
  }
  return absl::OkStatus();  // the earlier one is destroyed here
}

void RegisteredPartitioners::RegisterBatchPartitionable(absl::string_view target) {
  const absl::MutexLock lock(&mutex_);
  batch_partitionable_.emplace(target);
}

std::shared_ptr<const CustomCallPartitioner> RegisteredPartitioners::Find(absl::string_view target) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = partitioners_.find(target);
  return found == partitioners_.end() ? nullptr : found->second;
}

bool RegisteredPartitioners::IsBatchPartitionable(absl::string_view target) const {
  const absl::MutexLock lock(&mutex_);
  return batch_partitionable_.contains(target);
}

}  // namespace kashi::pjrt
