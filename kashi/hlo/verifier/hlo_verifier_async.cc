// Operations in two halves: async-start and -done, copies, sends and receives; channels.
// (docs/spec/hlo-ops.md, 0.2 and 6)
#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/verifier/async_pairs.h"
#include "kashi/hlo/verifier/hlo_verifier_internal.h"

namespace kashi::hlo::hlo_verifier {
namespace {

// ---- Pairs ----------------------------------------------------------------------------------------------------------

using Opcodes = std::vector<HloOpcode>;

bool IsOneOf(const HloInstruction& x, const Opcodes& opcodes) { return absl::c_linear_search(opcodes, x.opcode()); }

std::string NamesOf(const Opcodes& opcodes) {
  return absl::StrJoin(opcodes, " or ",
                       [](std::string* out, HloOpcode opcode) { absl::StrAppend(out, HloOpcodeString(opcode)); });
}

// Whether an asynchronous computation returns the send or recv that it starts: the -done may be outside of it.
bool IsHandedOut(const HloInstruction& x) {
  return (x.opcode() == HloOpcode::kSend || x.opcode() == HloOpcode::kRecv) && x.IsRoot() &&
         x.parent()->IsAsyncComputation();
}

absl::Status CheckPairing(const HloInstruction& x, const AsyncPairing& pairing) {
  if (!pairing.only_user.empty() && !IsHandedOut(x)) {
    if (x.user_count() != 1)
      return Internal("The %s instruction requires one consumer, found %d", HloOpcodeString(x.opcode()),
                      x.user_count());
    if (!IsOneOf(*x.users()[0], pairing.only_user)) {
      return Internal("The consumer of a %s instruction needs to be %s, found %s", HloOpcodeString(x.opcode()),
                      NamesOf(pairing.only_user), HloOpcodeString(x.users()[0]->opcode()));
    }
  }
  if (pairing.operand.empty()) return absl::OkStatus();
  KASHI_RETURN_IF_ERROR(CheckArity(x));
  if (IsOneOf(*x.operand(0), pairing.operand)) return absl::OkStatus();
  return Internal("The operand of a %s instruction needs to be %s, found %s", HloOpcodeString(x.opcode()),
                  NamesOf(pairing.operand), HloOpcodeString(x.operand(0)->opcode()));
}

// ---- async-start, -update, -done ------------------------------------------------------------------------------------

absl::Status CheckAsyncTuple(const HloInstruction& x, const Shape& shape) {
  if (shape.IsTuple() && shape.tuple_shapes_size() >= 2) return absl::OkStatus();
  return Internal("The %s expects the async shape to be a tuple of at least two elements, found %s.",
                  HloOpcodeString(x.opcode()), ShapeUtil::HumanString(shape));
}

absl::Status CheckAsyncStart(const HloInstruction& x, const Verification& v) {
  KASHI_RETURN_IF_ERROR(CheckAsyncTuple(x, x.shape()));
  const HloComputation& wrapped = *x.called_computations()[0];
  int64_t arguments = x.operand_count();
  for (const HloInstruction* update = x.async_update(); update != nullptr; update = update->async_update()) {
    for (int64_t i = 1; i < update->operand_count(); ++i) {
      KASHI_RETURN_IF_ERROR(CheckOperandAndParameter(*update, i, wrapped, arguments++, v));
    }
  }
  KASHI_RETURN_IF_ERROR(CheckParameterCount(x, wrapped, arguments));
  for (int64_t i = 0; i < x.operand_count(); ++i) KASHI_RETURN_IF_ERROR(CheckOperandAndParameter(x, i, wrapped, i, v));
  const std::string thread = x.fields().Get<HloField::async_execution_thread>(std::string(kMainExecutionThread));
  if (thread == wrapped.execution_thread()) return absl::OkStatus();
  return Internal("%s expects same async thread name as wrapped computation's thread name (%s vs %s)", x.name(), thread,
                  wrapped.execution_thread());
}

// Follows -update and -done to the start; null if there is none.
const HloInstruction* StartOf(const HloInstruction& x) {
  const HloInstruction* start = &x;
  while (start->opcode() != HloOpcode::kAsyncStart) {
    const bool has_operand =
        GetHloOpcodeInfo(start->opcode()).Has(HloOpcodeFlags::kAsync) && start->operand_count() > 0;
    if (!has_operand) return nullptr;
    start = start->operand(0);
  }
  return start;
}

// The computation and the thread of an -update or -done are those of the start.
absl::Status CheckAsyncContinues(const HloInstruction& x, const Verification&) {
  KASHI_RETURN_IF_ERROR(CheckAsyncTuple(x, x.operand(0)->shape()));
  const HloInstruction* const start = StartOf(x);
  if (start == nullptr) return Internal("The %s %s has no async-start", HloOpcodeString(x.opcode()), x.name());
  const auto callees = x.called_computations();
  const bool same_callee =
      callees.empty() || start->called_computations().empty() || *callees[0] == *start->called_computations()[0];
  if (!same_callee) {
    return Internal(
        "The %s expects its wrapped async computation to be identical to its operand's wrapped async computation "
        "(%s vs %s)",
        HloOpcodeString(x.opcode()), callees[0]->name(), start->called_computations()[0]->name());
  }
  const std::string* thread = x.fields().Find<HloField::async_execution_thread>();
  const std::string started = start->fields().Get<HloField::async_execution_thread>(std::string(kMainExecutionThread));
  if (thread == nullptr || *thread == started) return absl::OkStatus();
  return Internal("The %s expects its thread name to be identical to its operand's thread name (%s vs %s)",
                  HloOpcodeString(x.opcode()), *thread, started);
}

// Only parameters and a root, or a group of sends and receives, whose results the root lists: a transfer first.
absl::Status CheckAsyncComputation(const HloComputation& computation) {
  if (computation.CanExpandIntoSingleInstruction()) return absl::OkStatus();
  const HloInstruction& root = *computation.root_instruction();
  const Opcodes transfers = {HloOpcode::kSend, HloOpcode::kRecv, HloOpcode::kSendDone, HloOpcode::kRecvDone};
  if (root.opcode() == HloOpcode::kTuple && root.operand_count() > 0 && IsOneOf(*root.operand(0), transfers)) {
    return absl::OkStatus();
  }
  if (computation.AsyncStart()->get_frontend_attribute("_collectives_group").has_value()) return absl::OkStatus();
  for (const HloInstruction* x : computation.instructions()) {
    if (x->opcode() == HloOpcode::kParameter || x == &root) continue;
    return Internal(
        "Asynchronous computation %s expected to contain only the root and parameter instructions, but has %s",
        computation.name(), x->name());
  }
  return absl::OkStatus();
}

// ---- Copies ---------------------------------------------------------------------------------------------------------

absl::Status CheckCopyDone(const HloInstruction& x, const Verification&) {
  const Shape& pair = x.operand(0)->shape();
  if (!pair.IsTuple() || pair.tuple_shapes_size() < 2) {
    return Internal("CopyDone expects a tuple of destination, source and context, found %s",
                    ShapeUtil::HumanString(pair));
  }
  if (Shape::Equal().IgnoreMemorySpaceInLayout().IgnoreSplitConfigInLayout()(pair.tuple_shapes(0),
                                                                             pair.tuple_shapes(1)))
    return absl::OkStatus();
  return Internal("Source and destination buffers in CopyDone arguments need to be the same shape found %s and %s",
                  ShapeUtil::HumanStringWithLayout(pair.tuple_shapes(0)),
                  ShapeUtil::HumanStringWithLayout(pair.tuple_shapes(1)));
}

// ---- Sends and receives ---------------------------------------------------------------------------------------------

Shape TransferShape(const Shape& data) {
  return ShapeUtil::MakeTupleShape({data, ShapeUtil::MakeScalarShape(U32), ShapeUtil::MakeTokenShape()});
}

absl::Status CheckSend(const HloInstruction& x, const Verification& v) {
  KASHI_RETURN_IF_ERROR(CheckIsToken(x, 1));
  return CheckResultIs(x, TransferShape(x.operand(0)->shape()), v);
}

absl::Status CheckHasElements(const Shape& shape, int count) {
  if (shape.IsTuple() && shape.tuple_shapes_size() >= count) return absl::OkStatus();
  return Internal("Expected a tuple of at least %d elements, found %s", count, ShapeUtil::HumanString(shape));
}

absl::Status CheckRecv(const HloInstruction& x, const Verification& v) {
  KASHI_RETURN_IF_ERROR(CheckIsToken(x, 0));
  KASHI_RETURN_IF_ERROR(CheckHasElements(x.shape(), 1));
  return CheckResultIs(x, TransferShape(x.shape().tuple_shapes(0)), v);
}

absl::Status CheckRecvDone(const HloInstruction& x, const Verification& v) {
  const Shape& started = x.operand(0)->shape();
  KASHI_RETURN_IF_ERROR(CheckHasElements(started, 1));
  return CheckResultIs(x, ShapeUtil::MakeTupleShape({started.tuple_shapes(0), ShapeUtil::MakeTokenShape()}), v);
}

// For a -done whose operand is its start: not across the boundary of a loop or an asynchronous computation.
absl::Status CheckSameChannel(const HloInstruction& x, const Verification&) {
  const HloInstruction& start = *x.operand(0);
  if (start.opcode() != HloOpcode::kSend && start.opcode() != HloOpcode::kRecv) return absl::OkStatus();
  const auto text = [](std::optional<int64_t> id) {
    return id.has_value() ? std::to_string(*id) : std::string("none");
  };
  const std::optional<int64_t> started = start.fields().Has(HloField::channel_id) ? start.channel_id() : std::nullopt;
  const std::optional<int64_t> done = x.fields().Has(HloField::channel_id) ? x.channel_id() : std::nullopt;
  if (started != done) {
    return Internal("Expected to have the same channel id, actual channel ids are: %s (%s), %s (%s)", text(started),
                    start.name(), text(done), x.name());
  }
  if (start.is_host_transfer() == x.is_host_transfer()) return absl::OkStatus();
  return Internal("Expected instructions to have the same is-host-transfer property: %s, %s", start.name(), x.name());
}

constexpr OpcodeCheck kAsyncChecks[] = {
    {HloOpcode::kAsyncStart, "async", CheckAsyncStart},
    {HloOpcode::kAsyncUpdate, "async", CheckAsyncContinues},
    {HloOpcode::kAsyncDone, "async", CheckAsyncContinues},
    {HloOpcode::kCopyDone, "copy-done", CheckCopyDone},
    {HloOpcode::kSend, "send", CheckSend},
    {HloOpcode::kRecv, "recv", CheckRecv},
    {HloOpcode::kRecvDone, "recv-done", CheckRecvDone},
    {HloOpcode::kSendDone, "channel", CheckSameChannel},
    {HloOpcode::kRecvDone, "channel", CheckSameChannel},
};

// ---- Deadlocks ------------------------------------------------------------------------------------------------------

constexpr absl::string_view kPairsAttribute = "_xla_send_recv_source_target_pairs";

using SourceTargets = std::vector<std::pair<int64_t, int64_t>>;

// Sources and targets appear once, and the pairs have no cycle.
absl::StatusOr<SourceTargets> ReadPairs(const std::string& text) {
  SourceTargets pairs;
  if (absl::StripAsciiWhitespace(text) == "{}") return pairs;
  KASHI_ASSIGN_OR_RETURN(const std::vector<ReplicaGroup> groups, ParseReplicaGroupsOnly(text));
  absl::flat_hash_map<int64_t, int64_t> target_of;
  absl::flat_hash_set<int64_t> targets;
  for (const ReplicaGroup& pair : groups) {
    if (pair.replica_ids_size() != 2) return Internal("Expected pairs of a source and a target, but found %s", text);
    pairs.emplace_back(pair.replica_ids(0), pair.replica_ids(1));
    const bool is_new = target_of.insert(pairs.back()).second;
    if (!targets.insert(pair.replica_ids(1)).second || !is_new) {
      return Internal("Expected send and recv instructions to have unique source and target pairs, but found %s", text);
    }
  }
  // Without repetition the pairs form paths and rings; a pair that is on no path is in a ring.
  size_t on_paths = 0;
  for (const auto& pair : target_of) {
    if (targets.contains(pair.first)) continue;
    for (auto at = target_of.find(pair.first); at != target_of.end(); at = target_of.find(at->second)) ++on_paths;
  }
  if (on_paths == target_of.size()) return pairs;
  return Internal("Expected send and recv instructions to have non-cyclical source-target pairs, but found %s", text);
}

// The actions of each device in the order of the schedule: a send waits for the recv of the device to which it sends,
// and vice versa; any other collective waits for all. A device that waits for ever is in a deadlock.
//
//   device 0:  send to 1                    (both go on)
//   device 1:             recv from 0
//
// Cost: linear in instructions times their pairs.
class TransferOrder {
 public:
  // The next instruction of the schedule; an error if its pairs are wrong in themselves.
  absl::Status Add(const HloInstruction& x) {
    const bool is_transfer = x.opcode() == HloOpcode::kSend || x.opcode() == HloOpcode::kRecv;
    if (!is_transfer) {
      if (GetHloOpcodeInfo(x.opcode()).Has(HloOpcodeFlags::kCollective)) steps_.push_back({&x, {}});
      return absl::OkStatus();
    }
    const std::optional<std::string> text =
        x.is_host_transfer() ? std::nullopt : x.get_frontend_attribute(kPairsAttribute);
    if (!text.has_value()) return absl::OkStatus();
    KASHI_ASSIGN_OR_RETURN(SourceTargets pairs, ReadPairs(*text));
    steps_.push_back({&x, std::move(pairs)});
    return absl::OkStatus();
  }

  // The first instruction that waits for ever, and what the other device does meanwhile; nothing if there is none.
  std::optional<std::pair<const HloInstruction*, absl::Status>> FindDeadlock() {
    FillQueues();
    std::vector<int64_t> unseen;
    for (const auto& [device, queue] : queues_) unseen.push_back(device);
    while (!unseen.empty()) {
      const int64_t device = unseen.back();
      unseen.pop_back();
      for (const int64_t moved : Advance(device)) unseen.push_back(moved);
    }
    return FirstStuck();
  }

 private:
  struct Step {
    const HloInstruction* instruction;
    SourceTargets pairs;  // none: a collective of all
  };
  struct Action {
    size_t step;
    bool is_send;
    int64_t peer;  // -1: all
  };

  void FillQueues() {
    for (const Step& step : steps_) {
      for (const auto& [source, target] : step.pairs) queues_[source], queues_[target];
    }
    for (size_t i = 0; i < steps_.size(); ++i) {
      const bool is_send = steps_[i].instruction->opcode() == HloOpcode::kSend;
      const bool is_recv = steps_[i].instruction->opcode() == HloOpcode::kRecv;
      if (!is_send && !is_recv) {
        for (auto& [device, queue] : queues_) queue.push_back({i, false, -1});
      }
      for (const auto& [source, target] : steps_[i].pairs) {
        queues_[is_send ? source : target].push_back({i, is_send, is_send ? target : source});
      }
    }
  }

  // Runs the operation of the device and of the devices that it waits for; returns the devices that can continue.
  std::vector<int64_t> Advance(int64_t device) {
    std::deque<Action>& queue = queues_[device];
    if (queue.empty()) return {};
    const Action action = queue.front();
    if (action.peer < 0) return AdvanceAll(action.step, device);
    std::deque<Action>& other = queues_[action.peer];
    const bool meets = action.peer != device && !other.empty() && other.front().peer == device &&
                       other.front().is_send != action.is_send;
    if (!meets) return {};
    queue.pop_front();
    other.pop_front();
    return {device, action.peer};
  }
  std::vector<int64_t> AdvanceAll(size_t step, int64_t device) {
    absl::flat_hash_set<int64_t>& arrived = arrived_[step];
    arrived.insert(device);
    if (arrived.size() < queues_.size()) return {};
    std::vector<int64_t> devices;
    for (auto& [device, queue] : queues_) {
      queue.pop_front();
      devices.push_back(device);
    }
    return devices;
  }

  std::optional<std::pair<const HloInstruction*, absl::Status>> FirstStuck() {
    std::optional<Action> first;
    for (const auto& [device, queue] : queues_) {
      if (queue.empty() || queue.front().peer < 0) continue;
      if (!first.has_value() || queue.front().step < first->step) first = queue.front();
    }
    if (!first.has_value()) return std::nullopt;
    const HloInstruction& stuck = *steps_[first->step].instruction;
    const char* const mate = first->is_send ? "recv" : "send";
    const std::deque<Action>& other = queues_[first->peer];
    const std::string found = other.empty() ? "nothing" : std::string(steps_[other.front().step].instruction->name());
    return std::pair(&stuck,
                     Internal("Expected %s, but found %s on device %d. Expected %s to match %s: could not match "
                              "the source-target pairs of %s, which will cause a deadlock",
                              mate, found, first->peer, mate, HloOpcodeString(stuck.opcode()), stuck.name()));
  }

  std::vector<Step> steps_;
  std::map<int64_t, std::deque<Action>> queues_;                       // by device
  absl::flat_hash_map<size_t, absl::flat_hash_set<int64_t>> arrived_;  // devices at a collective of all, by step
};

}  // namespace

absl::Span<const OpcodeCheck> AsyncChecks() { return kAsyncChecks; }

void VerifyAsyncPairs(Verification* v) {
  for (const HloComputation* computation : v->module().computations()) {
    for (const HloInstruction* x : computation->instructions()) {
      const AsyncPairing* const pairing = FindAsyncPairing(x->opcode());
      if (pairing != nullptr) v->Report(x, "async pair", CheckPairing(*x, *pairing));
    }
  }
}

void VerifyAsyncComputations(Verification* v) {
  for (const HloComputation* computation : v->module().computations()) {
    if (computation->IsAsyncComputation())
      v->Report(computation, "async computation", CheckAsyncComputation(*computation));
  }
}

namespace {

bool AreSameTransfer(const HloInstruction& a, const HloInstruction& b) {
  const auto any_operands = [](const HloInstruction*, const HloInstruction*) { return true; };
  return a.Identical(b, any_operands) && a.frontend_attributes().map() == b.frontend_attributes().map();
}

}  // namespace

// Host transfers over one channel must be the same transfer: a send or a recv, and its -done.
void VerifyChannels(Verification* v) {
  std::map<std::pair<int64_t, bool>, const HloInstruction*> first_of;
  for (const HloComputation* computation : v->module().computations()) {
    for (const HloInstruction* x : computation->instructions()) {
      if (!x->fields().Has(HloField::channel_id) || !x->is_host_transfer() || v->IsMalformed(x)) continue;
      const bool is_start = x->opcode() == HloOpcode::kSend || x->opcode() == HloOpcode::kRecv;
      const HloInstruction* const first = first_of.emplace(std::pair(*x->channel_id(), is_start), x).first->second;
      if (first == x || AreSameTransfer(*first, *x)) continue;
      v->Report(
          x, "channel",
          Internal("Host-transfer send/recv instructions that use the same channel must be identical up to having "
                   "different operands. Found different instructions with the same channel ID %d: %s and %s",
                   *x->channel_id(), first->name(), x->name()));
    }
  }
}

void VerifyDeadlocks(Verification* v) {
  if (!v->module().has_schedule()) return;
  for (const HloComputation* computation : v->module().computations()) {
    const std::vector<HloInstruction*>* sequence = v->module().schedule().Find(computation);
    if (sequence == nullptr) continue;
    TransferOrder order;
    const size_t before = v->findings().size();
    for (const HloInstruction* x : *sequence) v->Report(x, "deadlock", order.Add(*x));
    if (v->findings().size() != before) continue;
    if (const auto deadlock = order.FindDeadlock()) v->Report(deadlock->first, "deadlock", deadlock->second);
  }
}

}  // namespace kashi::hlo::hlo_verifier
