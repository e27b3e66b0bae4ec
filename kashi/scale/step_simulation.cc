#include "kashi/scale/step_simulation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kashi/analysis/call_graph.h"
#include "kashi/analysis/cost_analysis.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"
#include "kashi/hlo/spmd/program_scope.h"
#include "kashi/scale/collective_plans.h"
#include "kashi/scale/trip_count.h"

namespace kashi {
namespace {

using base::Count;
using scale::CollectiveOpcode;
using scale::CollectivePlan;
using scale::CollectivePlans;

// Calls within calls. Real programs have some ten.
constexpr int64_t kMostNesting = 200;
// Iterations of a loop that are simulated one by one, if no two of them are alike.
constexpr int64_t kMostIterations = 1000;

// Sums of all that has run so far.
struct Totals {
  double compute_seconds = 0;
  double collective_seconds = 0;
  double unknown_calls = 0;
  std::vector<CollectivePrediction> collectives;

  // Adds the increase since `before` this many times more.
  void Repeat(const Totals& before, double times) {
    const auto grow = [&](double* value, double old) { *value += (*value - old) * times; };
    grow(&compute_seconds, before.compute_seconds);
    grow(&collective_seconds, before.collective_seconds);
    grow(&unknown_calls, before.unknown_calls);
    for (size_t i = 0; i < collectives.size(); ++i) {
      const bool is_new = i >= before.collectives.size();
      grow(&collectives[i].calls, is_new ? 0 : before.collectives[i].calls);
      grow(&collectives[i].exposed_seconds, is_new ? 0 : before.collectives[i].exposed_seconds);
    }
  }
};

// The clocks of all devices. Steps that all devices do alike are one number until devices meet.
class Clocks {
 public:
  Clocks(int64_t devices, const SimulationOptions& options) : at_(devices), network_free_(devices) {
    if (options.slow_devices.empty()) return;
    factors_.assign(devices, 1);
    for (const auto& [device, factor] : options.slow_devices) factors_[device] = factor;
  }

  void Compute(double seconds) { pending_ += seconds; }
  // All devices' times.
  std::vector<double>& Settled() {
    if (pending_ != 0) {
      for (size_t i = 0; i < at_.size(); ++i) at_[i] += factors_.empty() ? pending_ : pending_ * factors_[i];
      pending_ = 0;
    }
    return at_;
  }

  // When the collective ends on each device. It occupies the network, but no clock moves.
  std::vector<double> Begin(const CollectivePlan& plan) {
    const std::vector<double>& at = Settled();
    std::vector<double> ends = at;
    const auto ready = [&](int64_t device) { return std::max(at[device], network_free_[device]); };
    if (plan.pairs != nullptr) {
      for (const auto& [source, target] : *plan.pairs) {
        const double end = std::max(ready(source), ready(target)) + plan.seconds;
        ends[source] = std::max(ends[source], end);
        ends[target] = std::max(ends[target], end);
      }
      for (const auto& [source, target] : *plan.pairs) {
        network_free_[source] = ends[source];
        network_free_[target] = ends[target];
      }
      return ends;
    }
    for (const std::vector<int64_t>& group : *plan.groups) {
      double start = 0;
      for (const int64_t device : group) start = std::max(start, ready(device));
      for (const int64_t device : group) ends[device] = network_free_[device] = start + plan.seconds;
    }
    return ends;
  }
  // Waits for `ends`. Returns the mean time that devices wait.
  double Wait(const std::vector<double>& ends) {
    std::vector<double>& at = Settled();
    double waited = 0;
    for (size_t i = 0; i < at.size(); ++i) {
      if (ends[i] <= at[i]) continue;
      waited += ends[i] - at[i];
      at[i] = ends[i];
    }
    return waited / static_cast<double>(at.size());
  }
  void Shift(absl::Span<const double> by, double times) {
    for (size_t i = 0; i < at_.size(); ++i) {
      at_[i] += by[i] * times;
      network_free_[i] += by[i] * times;
    }
  }

 private:
  std::vector<double> at_, network_free_;
  std::vector<double> factors_;  // empty: all are 1
  double pending_ = 0;
};

// The rows of a table of collectives. They are few: kinds, sizes and geometries.
class CollectiveRows {
 public:
  // Adds the row if it is new.
  size_t RowOf(const CollectivePlan& plan, std::vector<CollectivePrediction>* table) {
    const auto [found, is_new] =
        rows_.try_emplace(std::make_tuple(plan.opcode, plan.group_count, plan.members, plan.bytes, plan.seconds,
                                          plan.traffic.between_bytes),
                          rows_.size());
    if (is_new) {
      CollectivePrediction& row = table->emplace_back();
      row.opcode = std::string(HloOpcodeString(plan.opcode));
      row.algorithm = std::string(plan.algorithm);
      row.groups = plan.group_count;
      row.members = plan.members;
      row.bytes = plan.bytes;
      row.seconds = plan.seconds;
      row.within_bytes = plan.traffic.within_bytes;
      row.between_bytes = plan.traffic.between_bytes;
    }
    return found->second;
  }

 private:
  std::map<std::tuple<HloOpcode, int64_t, int64_t, double, double, double>, size_t> rows_;
};

absl::Status WithContext(const absl::Status& status, absl::string_view name) {
  const bool is_limit = status.code() == absl::StatusCode::kResourceExhausted;  // no fault of this instruction
  if (status.ok() || is_limit || absl::StrContains(status.message(), "instruction ")) return status;
  return absl::Status(status.code(), absl::StrCat("instruction ", name, ": ", status.message()));
}

bool AreAlike(absl::Span<const double> a, absl::Span<const double> b) {
  return absl::c_equal(a, b, [](double x, double y) { return std::abs(x - y) <= 1e-9 * std::max(x, y); });
}

class Simulation {
 public:
  Simulation(const HloModule& module, const Network& network, const DeviceRates& rates, DeviceCounts counts,
             const SimulationOptions& options, CostAnalysis costs)
      : module_(module),
        rates_(rates),
        options_(options),
        costs_(std::move(costs)),
        plans_(network, counts, options.host_devices),
        clocks_(counts.total(), options) {}

  absl::StatusOr<StepPrediction> Run() {
    KASHI_RETURN_IF_ERROR(RunComputation(*module_.entry_computation(), 0));
    const std::vector<double>& at = clocks_.Settled();
    StepPrediction prediction;
    const auto slowest = absl::c_max_element(at);
    prediction.seconds = *slowest;
    prediction.slowest_device = slowest - at.begin();
    prediction.fastest_seconds = *absl::c_min_element(at);
    prediction.compute_seconds = totals_.compute_seconds;
    prediction.collective_seconds = totals_.collective_seconds;
    prediction.unknown_calls = totals_.unknown_calls;
    prediction.unknown_loops = unknown_loops_;
    prediction.collectives = std::move(totals_.collectives);
    for (const CollectivePrediction& each : prediction.collectives) prediction.exposed_seconds += each.exposed_seconds;
    absl::c_stable_sort(prediction.collectives, [](const auto& a, const auto& b) {
      return std::make_pair(a.exposed_seconds, a.seconds * a.calls) >
             std::make_pair(b.exposed_seconds, b.seconds * b.calls);
    });
    return prediction;
  }

 private:
  struct Begun {
    std::vector<double> ends;
    size_t row = 0;
  };

  absl::Status RunComputation(const HloComputation& computation, int64_t nesting) {
    if (nesting > kMostNesting) return ResourceExhausted("calls are nested more than %d deep", kMostNesting);
    auto [found, is_new] = orders_.try_emplace(&computation);
    if (is_new) found->second = std::make_unique<std::vector<HloInstruction*>>(module_.InstructionOrder(computation));
    for (const HloInstruction* instruction : *found->second) {
      if (++instructions_ > options_.most_instructions) {
        return ResourceExhausted("more than %s would run", Count(options_.most_instructions, "instruction"));
      }
      KASHI_RETURN_IF_ERROR(WithContext(RunInstruction(*instruction, nesting), instruction->name()));
    }
    return absl::OkStatus();
  }

  // The function for an instruction that is neither a collective nor plain computation.
  using Step = absl::Status (Simulation::*)(const HloInstruction&, int64_t);
  static Step StepOf(HloOpcode opcode) {
    static constexpr std::pair<HloOpcode, Step> kSteps[] = {
        {HloOpcode::kWhile, &Simulation::RunLoop},
        {HloOpcode::kConditional, &Simulation::RunBranch},
        {HloOpcode::kCall, &Simulation::RunCall},
        {HloOpcode::kAsyncStart, &Simulation::RunCall},
        {HloOpcode::kAsyncUpdate, &Simulation::RunNothing},
        {HloOpcode::kAsyncDone, &Simulation::WaitFor},
        {HloOpcode::kAllGatherDone, &Simulation::WaitFor},
        {HloOpcode::kAllReduceDone, &Simulation::WaitFor},
        {HloOpcode::kCollectivePermuteDone, &Simulation::WaitFor},
        {HloOpcode::kSend, &Simulation::RunSend},
        {HloOpcode::kSendDone, &Simulation::RunNothing},
        {HloOpcode::kRecv, &Simulation::RunNothing},
        {HloOpcode::kRecvDone, &Simulation::WaitForChannel},
    };
    for (const auto& [known, step] : kSteps) {
      if (known == opcode) return step;
    }
    return &Simulation::Compute;
  }

  absl::Status RunInstruction(const HloInstruction& instruction, int64_t nesting) {
    if (CollectiveOpcode(instruction).has_value()) return RunCollective(instruction);
    return (this->*StepOf(instruction.opcode()))(instruction, nesting + 1);
  }

  absl::Status RunNothing(const HloInstruction&, int64_t) { return absl::OkStatus(); }
  absl::Status RunCall(const HloInstruction& call, int64_t nesting) {
    return RunComputation(*ControlFlowCallees(call)[0], nesting);
  }
  absl::Status RunBranch(const HloInstruction& conditional, int64_t nesting) {
    return RunComputation(MostExpensiveBranch(conditional), nesting);
  }

  absl::Status Compute(const HloInstruction& instruction, int64_t) {
    const Cost& cost = costs_.CostOf(&instruction);
    totals_.unknown_calls += cost.unknown;
    const double flops = cost.flops + cost.transcendentals;
    if (flops + cost.bytes_accessed == 0) return absl::OkStatus();
    const double seconds = rates_.instruction_seconds + std::max(flops / rates_.flops_per_second,
                                                                 cost.bytes_accessed / rates_.memory_bytes_per_second);
    totals_.compute_seconds += seconds;
    clocks_.Compute(seconds);
    return absl::OkStatus();
  }

  const HloComputation& MostExpensiveBranch(const HloInstruction& conditional) const {
    const auto seconds = [&](const HloComputation* branch) {
      const Cost& cost = costs_.CostOf(branch);
      return std::max((cost.flops + cost.transcendentals) / rates_.flops_per_second,
                      cost.bytes_accessed / rates_.memory_bytes_per_second);
    };
    const absl::Span<HloComputation* const> branches = conditional.branch_computations();
    return **absl::c_max_element(
        branches, [&](const HloComputation* a, const HloComputation* b) { return seconds(a) < seconds(b); });
  }

  Begun Begin(const CollectivePlan& plan) {
    const size_t row = rows_.RowOf(plan, &totals_.collectives);
    totals_.collectives[row].calls += 1;
    totals_.collective_seconds += plan.seconds;
    return {clocks_.Begin(plan), row};
  }
  void End(const Begun& begun) { totals_.collectives[begun.row].exposed_seconds += clocks_.Wait(begun.ends); }

  absl::Status RunCollective(const HloInstruction& instruction) {
    KASHI_ASSIGN_OR_RETURN(const CollectivePlan* plan, plans_.PlanOf(instruction));
    Begun begun = Begin(*plan);
    if (instruction.opcode() == plan->opcode) {
      End(begun);
    } else {
      begun_[&instruction] = std::move(begun);
    }
    return absl::OkStatus();
  }

  absl::Status WaitFor(const HloInstruction& done, int64_t) {
    const HloInstruction* start = done.operand_count() > 0 ? done.operand(0) : nullptr;
    while (start != nullptr && start->opcode() == HloOpcode::kAsyncUpdate) start = start->operand(0);
    const auto found = begun_.find(start);
    if (found == begun_.end()) return absl::OkStatus();
    End(found->second);
    begun_.erase(found);
    return absl::OkStatus();
  }

  absl::Status RunSend(const HloInstruction& send, int64_t) {
    KASHI_ASSIGN_OR_RETURN(const CollectivePlan* plan, plans_.PlanOfSend(send));
    if (plan != nullptr) sent_[send.channel_id().value_or(0)] = Begin(*plan);
    return absl::OkStatus();
  }
  absl::Status WaitForChannel(const HloInstruction& done, int64_t) {
    const HloInstruction* recv = done.operand_count() > 0 ? done.operand(0) : &done;
    const auto found = sent_.find(recv->channel_id().value_or(0));
    if (found == sent_.end()) return absl::OkStatus();
    End(found->second);
    sent_.erase(found);
    return absl::OkStatus();
  }

  absl::Status RunIteration(const HloInstruction& loop, int64_t nesting) {
    KASHI_RETURN_IF_ERROR(RunComputation(*loop.while_condition(), nesting));
    return RunComputation(*loop.while_body(), nesting);
  }

  absl::Status RunLoop(const HloInstruction& loop, int64_t nesting) {
    auto [found, is_new] = trip_counts_.try_emplace(&loop);
    if (is_new) found->second = loop_lengths_.Of(loop);
    if (!found->second.has_value() && is_new) ++unknown_loops_;
    const int64_t count = found->second.value_or(1);
    std::vector<double> last;
    for (int64_t i = 0; i < count; ++i) {
      const std::vector<double> before = clocks_.Settled();
      const Totals totals_before = totals_;
      KASHI_RETURN_IF_ERROR(RunIteration(loop, nesting));
      std::vector<double> took = clocks_.Settled();
      for (size_t d = 0; d < took.size(); ++d) took[d] -= before[d];
      if (AreAlike(took, last) || i + 1 == kMostIterations) {
        const auto rest = static_cast<double>(count - i - 1);
        totals_.Repeat(totals_before, rest);
        clocks_.Shift(took, rest);
        break;
      }
      last = std::move(took);
    }
    // The condition runs once more than the body.
    return RunComputation(*loop.while_condition(), nesting);
  }

  const HloModule& module_;
  const DeviceRates rates_;
  const SimulationOptions& options_;
  const CostAnalysis costs_;
  CollectivePlans plans_;
  Clocks clocks_;
  Totals totals_;
  absl::flat_hash_map<const HloComputation*, std::unique_ptr<std::vector<HloInstruction*>>> orders_;
  absl::flat_hash_map<const HloInstruction*, Begun> begun_;
  absl::flat_hash_map<int64_t, Begun> sent_;  // by channel
  absl::flat_hash_map<const HloInstruction*, std::optional<int64_t>> trip_counts_;
  CollectiveRows rows_;
  scale::TripCounts loop_lengths_;
  int64_t instructions_ = 0;
  int64_t unknown_loops_ = 0;
};

absl::Status CheckArguments(const HloModule& module, const Network& network, const SimulationOptions& options,
                            DeviceCounts counts) {
  if (ProgramScopeOf(module).is_global()) {
    return InvalidArgument("the program is not partitioned yet, so it has no collectives to predict");
  }
  if (counts.replicas < 1 || counts.partitions < 1 || counts.replicas > Network::kMostDevices / counts.partitions ||
      counts.total() != network.devices()) {
    return InvalidArgument("the program is for %s of %s, but a %s has %d devices", Count(counts.replicas, "replica"),
                           Count(counts.partitions, "partition"), network.ToString(), network.devices());
  }
  for (const auto& [device, factor] : options.slow_devices) {
    if (device < 0 || device >= network.devices()) {
      return InvalidArgument("there is no device %d: they are 0 to %d", device, network.devices() - 1);
    }
    if (!(factor > 0) || !std::isfinite(factor)) return InvalidArgument("a device's factor must be more than 0");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<StepPrediction> SimulateStep(const HloModule& module, const Network& network, const DeviceRates& rates,
                                            const SimulationOptions& options) {
  const DeviceCounts counts = {module.config().replica_count(), module.config().num_partitions()};
  KASHI_RETURN_IF_ERROR(CheckArguments(module, network, options, counts));
  KASHI_RETURN_IF_ERROR(CallGraph::Build(module).status());
  KASHI_ASSIGN_OR_RETURN(CostAnalysis costs, CostAnalysis::Run(module));
  return Simulation(module, network, rates, counts, options, std::move(costs)).Run();
}

}  // namespace kashi
