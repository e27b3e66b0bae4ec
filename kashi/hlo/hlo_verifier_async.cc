// Operations in two halves: async-start and -done, copies, sends and receives; channels.
// (docs/spec/hlo-ops.md, 0.2 and 6)
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/hlo_verifier_internal.h"

namespace kashi::hlo_verifier {
namespace {

// ---- Pairs ----------------------------------------------------------------------------------------------------------

using Opcodes = std::vector<HloOpcode>;

bool IsOneOf(const HloInstruction& x, const Opcodes& opcodes) { return absl::c_linear_search(opcodes, x.opcode()); }

std::string NamesOf(const Opcodes& opcodes) {
  return absl::StrJoin(opcodes, " or ",
                       [](std::string* out, HloOpcode opcode) { absl::StrAppend(out, HloOpcodeString(opcode)); });
}

// Which operations must follow another as its only user (none named: no matter), and of which its operand must be.
struct Pairing {
  HloOpcode opcode;
  Opcodes only_user;
  Opcodes operand;
};

// An all-gather-start is free.
const std::vector<Pairing>& Pairings() {
  static const auto* const pairings = new std::vector<Pairing>{
      {HloOpcode::kAsyncStart, {HloOpcode::kAsyncUpdate, HloOpcode::kAsyncDone}, {}},
      {HloOpcode::kAsyncUpdate,
       {HloOpcode::kAsyncUpdate, HloOpcode::kAsyncDone},
       {HloOpcode::kAsyncStart, HloOpcode::kAsyncUpdate}},
      {HloOpcode::kAsyncDone, {}, {HloOpcode::kAsyncStart, HloOpcode::kAsyncUpdate}},
      {HloOpcode::kAllReduceStart, {HloOpcode::kAllReduceDone}, {}},
      {HloOpcode::kAllReduceDone, {}, {HloOpcode::kAllReduceStart}},
      {HloOpcode::kCopyStart, {HloOpcode::kCopyDone}, {}},
      {HloOpcode::kCopyDone, {}, {HloOpcode::kCopyStart}},
      {HloOpcode::kCollectivePermuteStart, {HloOpcode::kCollectivePermuteDone}, {}},
      {HloOpcode::kCollectivePermuteDone, {}, {HloOpcode::kCollectivePermuteStart}},
      // Through a tuple they may go around a loop.
      {HloOpcode::kSend, {HloOpcode::kSendDone, HloOpcode::kTuple}, {}},
      {HloOpcode::kSendDone, {}, {HloOpcode::kSend, HloOpcode::kGetTupleElement}},
      {HloOpcode::kRecv, {HloOpcode::kRecvDone, HloOpcode::kTuple}, {}},
      {HloOpcode::kRecvDone, {}, {HloOpcode::kRecv, HloOpcode::kGetTupleElement}},
  };
  return *pairings;
}

absl::Status CheckPairing(const HloInstruction& x, const Pairing& pairing) {
  if (!pairing.only_user.empty()) {
    if (x.user_count() != 1)
      return Internal("The %s instruction requires one consumer, found %d", HloOpcodeString(x.opcode()),
                      x.user_count());
    if (!IsOneOf(*x.users()[0], pairing.only_user)) {
      return Internal("The consumer of a %s instruction needs to be %s, found %s", HloOpcodeString(x.opcode()),
                      NamesOf(pairing.only_user), HloOpcodeString(x.users()[0]->opcode()));
    }
  }
  if (pairing.operand.empty()) return absl::OkStatus();
  KASHI_RETURN_IF_ERROR(CheckOperandCount(x, 1));
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
  KASHI_RETURN_IF_ERROR(CheckParameterCount(x, wrapped, x.operand_count()));
  for (int64_t i = 0; i < x.operand_count(); ++i) KASHI_RETURN_IF_ERROR(CheckOperandAndParameter(x, i, wrapped, i, v));
  const std::string thread = x.fields().Get<HloField::async_execution_thread>(std::string(kMainExecutionThread));
  if (thread == wrapped.execution_thread()) return absl::OkStatus();
  return Internal("%s runs on thread %s, but its computation %s on %s", x.name(), thread, wrapped.name(),
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

// What an -update or -done says of computation and thread is what the start says.
absl::Status CheckAsyncContinues(const HloInstruction& x, const Verification&) {
  KASHI_RETURN_IF_ERROR(CheckAsyncTuple(x, x.operand(0)->shape()));
  const HloInstruction* const start = StartOf(x);
  if (start == nullptr) return Internal("%s belongs to no async-start", x.name());
  const auto callees = x.called_computations();
  const bool same_callee =
      callees.empty() || start->called_computations().empty() || *callees[0] == *start->called_computations()[0];
  if (!same_callee) {
    return Internal("The %s expects its wrapped async computation to be identical to its start's: %s vs %s",
                    HloOpcodeString(x.opcode()), callees[0]->name(), start->called_computations()[0]->name());
  }
  const std::string* thread = x.fields().Find<HloField::async_execution_thread>();
  const std::string started = start->fields().Get<HloField::async_execution_thread>(std::string(kMainExecutionThread));
  if (thread == nullptr || *thread == started) return absl::OkStatus();
  return Internal("%s runs on thread %s, but its start on %s", x.name(), *thread, started);
}

// Only parameters and a root, or only sends and receives.
absl::Status CheckAsyncComputation(const HloComputation& computation) {
  if (computation.CanExpandIntoSingleInstruction()) return absl::OkStatus();
  const HloInstruction& root = *computation.root_instruction();
  const Opcodes transfers = {HloOpcode::kParameter, HloOpcode::kTuple,    HloOpcode::kSend,           HloOpcode::kRecv,
                             HloOpcode::kSendDone,  HloOpcode::kRecvDone, HloOpcode::kGetTupleElement};
  if (absl::c_all_of(computation.instructions(), [&](const HloInstruction* x) { return IsOneOf(*x, transfers); })) {
    return absl::OkStatus();
  }
  if (computation.AsyncStart()->get_frontend_attribute("_collectives_group").has_value()) return absl::OkStatus();
  for (const HloInstruction* x : computation.instructions()) {
    if (x->opcode() == HloOpcode::kParameter || x == &root) continue;
    return Internal("Asynchronous computation %s has instruction %s, but may only have parameters and a root",
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

// Of a -done that stands right behind its start.
absl::Status CheckSameChannel(const HloInstruction& x, const Verification&) {
  const HloInstruction& start = *x.operand(0);
  if (start.opcode() == HloOpcode::kGetTupleElement) return absl::OkStatus();
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

constexpr OpcodeCheck kChecks[] = {
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

// Sources and targets appear once, and nobody gets back what was sent on.
absl::Status CheckNoCycle(const std::string& text) {
  KASHI_ASSIGN_OR_RETURN(const std::vector<ReplicaGroup> pairs, ParseReplicaGroupsOnly(text));
  absl::flat_hash_map<int64_t, int64_t> target_of;
  absl::flat_hash_set<int64_t> targets;
  for (const ReplicaGroup& pair : pairs) {
    if (pair.replica_ids_size() != 2) return Internal("Expected pairs of a source and a target, but found %s", text);
    const bool is_new = target_of.emplace(pair.replica_ids(0), pair.replica_ids(1)).second;
    if (!is_new || !targets.insert(pair.replica_ids(1)).second) {
      return Internal("Source or target appears twice in source-target pairs %s", text);
    }
  }
  // Without repetition the pairs make paths and rings; what no path begins with is in a ring.
  size_t on_paths = 0;
  for (const auto& pair : target_of) {
    if (targets.contains(pair.first)) continue;
    for (auto at = target_of.find(pair.first); at != target_of.end(); at = target_of.find(at->second)) ++on_paths;
  }
  if (on_paths == target_of.size()) return absl::OkStatus();
  return Internal("Expected send and recv instructions to have non-cyclical source-target pairs, but found %s", text);
}

// In the order of the schedule: a send and a recv of the same pairs, and no other collective between.
class TransferOrder {
 public:
  absl::Status Next(const HloInstruction& x) {
    const bool is_transfer = x.opcode() == HloOpcode::kSend || x.opcode() == HloOpcode::kRecv;
    const std::optional<std::string> pairs =
        is_transfer && !x.is_host_transfer() ? x.get_frontend_attribute(kPairsAttribute) : std::nullopt;
    if (!pairs.has_value()) {
      const bool is_collective = GetHloOpcodeInfo(x.opcode()).Has(HloOpcodeFlags::kCollective);
      if (open_ == nullptr || !is_collective) return absl::OkStatus();
      return Internal("Expected send or recv, but found %s", x.name());
    }
    if (open_ == nullptr) {
      open_ = &x;
      pairs_ = *pairs;
      return CheckNoCycle(*pairs);
    }
    const HloInstruction& first = *std::exchange(open_, nullptr);
    if (first.opcode() == x.opcode()) {
      return Internal("Expected %s, but found %s", first.opcode() == HloOpcode::kSend ? "recv" : "send", x.name());
    }
    if (*pairs == pairs_) return absl::OkStatus();
    return Internal("Expected %s to match %s: source-target pairs are %s and %s", HloOpcodeString(x.opcode()),
                    HloOpcodeString(first.opcode()), *pairs, pairs_);
  }

 private:
  const HloInstruction* open_ = nullptr;
  std::string pairs_;
};

}  // namespace

absl::Span<const OpcodeCheck> AsyncChecks() { return kChecks; }

void VerifyAsyncPairs(Verification* v) {
  absl::flat_hash_map<HloOpcode, const Pairing*> pairings;
  for (const Pairing& pairing : Pairings()) pairings[pairing.opcode] = &pairing;
  for (const HloComputation* computation : v->module().computations()) {
    for (const HloInstruction* x : computation->instructions()) {
      const auto found = pairings.find(x->opcode());
      if (found != pairings.end()) v->Report(x, "async pair", CheckPairing(*x, *found->second));
    }
  }
}

void VerifyAsyncComputations(Verification* v) {
  for (const HloComputation* computation : v->module().computations()) {
    if (computation->IsAsyncComputation())
      v->Report(computation, "async computation", CheckAsyncComputation(*computation));
  }
}

// Host transfers over one channel are the same transfer.
void VerifyChannels(Verification* v) {
  std::map<std::pair<int64_t, HloOpcode>, const HloInstruction*> first_of;
  for (const HloComputation* computation : v->module().computations()) {
    for (const HloInstruction* x : computation->instructions()) {
      if (!x->fields().Has(HloField::channel_id) || !x->is_host_transfer() || v->IsMalformed(x)) continue;
      const HloInstruction* const first = first_of.emplace(std::pair(*x->channel_id(), x->opcode()), x).first->second;
      const auto any_operands = [](const HloInstruction*, const HloInstruction*) { return true; };
      if (first == x || first->Identical(*x, any_operands)) continue;
      v->Report(x, "channel",
                Internal("%s and %s share channel %d, but are not the same transfer", first->name(), x->name(),
                         *x->channel_id()));
    }
  }
}

void VerifyDeadlocks(Verification* v) {
  if (!v->module().has_schedule()) return;
  for (const HloComputation* computation : v->module().computations()) {
    const std::vector<HloInstruction*>* sequence = v->module().schedule().Find(computation);
    if (sequence == nullptr) continue;
    TransferOrder order;
    for (const HloInstruction* x : *sequence) v->Report(x, "deadlock", order.Next(*x));
  }
}

}  // namespace kashi::hlo_verifier
