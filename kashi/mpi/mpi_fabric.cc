#include "kashi/mpi/mpi_fabric.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/devices/device.h"
#include "kashi/devices/meeting_call.h"
#include "kashi/devices/receptions.h"
#include "kashi/evaluator/while_loop_pattern.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/mpi/rank_call.h"
#include "kashi/mpi/rank_operation.h"
#include "kashi/mpi/rank_transfers.h"
#include "kashi/mpi/rank_watch.h"

namespace kashi::mpi {
namespace {

// A rank that refuses sends a text that begins with this, in the place of a program.
constexpr char kRefuses[] = "refuses\n";

// State that the devices of a rank share during a run.
struct RankRun {
  const GroupTaskContext& context;
  devices::MeetingPlace* place;
  const RankGroups* groups;
  int64_t devices;
  bool checks_ways;  // devices may take different ways through the program
  RankProgress* progress;
};

// A device of a rank.
class RankDevice : public devices::Device {
 public:
  RankDevice(int64_t id, DeviceCounts counts, const RankRun& run, WaitState* state)
      : devices::Device(id, counts.replicas, counts.partitions), run_(run), state_(*state), transfers_(run.context) {}

  // Members that are all here meet as threads do.
  bool TakesTasks(const HloInstruction& instruction, absl::Span<const int64_t> members) override {
    const absl::StatusOr<const RankGroup*> group = GroupOf(instruction, members);
    return group.ok() && (*group)->communicator != MPI_COMM_NULL;
  }
  absl::StatusOr<std::unique_ptr<devices::PendingCollective>> Begin(devices::CollectiveCall call) override {
    KASHI_ASSIGN_OR_RETURN(const RankGroup* group, GroupOf(call.instruction, call.members));
    if (group->communicator == MPI_COMM_NULL) return devices::BeginMeeting(run_.place, id(), std::move(call));
    return BeginRankCall({run_.context, run_.place, run_.progress, &state_, id(), run_.checks_ways}, *group,
                         std::move(call));
  }

  Transfers transfers() const override { return Transfers::kChannels; }
  absl::Status Send(const HloInstruction& send, const hlo::TransferRoute& route, Value value) override {
    const RankRoute* const to = run_.groups->FindRoute(route);
    if (to != nullptr) return transfers_.Send(send, *to, value);
    run_.place->Send(route, std::move(value));
    return absl::OkStatus();
  }
  absl::StatusOr<uint32_t> BeginReceive(const HloInstruction&, const hlo::TransferRoute& route) override {
    const RankRoute* const from = run_.groups->FindRoute(route);
    if (from != nullptr) return receptions_.Begin({from, transfers_.BeginReceive(*from), nullptr});
    return receptions_.Begin({nullptr, 0, run_.place->BeginReceive(id(), route)});
  }
  absl::StatusOr<Value> EndReceive(const HloInstruction& done, uint32_t number) override {
    KASHI_ASSIGN_OR_RETURN(const Reception reception, receptions_.End(done, number));
    if (reception.from == nullptr) return run_.place->EndReceive(id(), done, reception.here.get());
    const WaitState::Scope waits(&state_, done, done, *reception.from);
    return transfers_.EndReceive(done, *reception.from, reception.place);
  }
  // At the end of the program: what this device has sent must be received.
  absl::Status FinishSends() {
    return transfers_.FinishSends([this](const HloInstruction& send, const RankRoute& route, const auto& f) {
      const WaitState::Scope waits(&state_, send, send, route);
      return f();
    });
  }

 private:
  // A reception from another rank, or from a device of this rank.
  struct Reception {
    const RankRoute* from;
    int64_t place;
    std::shared_ptr<devices::MeetingPlace::Meeting> here;
  };

  absl::StatusOr<const RankGroup*> GroupOf(const HloInstruction& instruction, absl::Span<const int64_t> members) {
    const RankGroup*& group = groups_[&instruction];
    if (group == nullptr) group = run_.groups->Find(run_.devices, members);
    if (group == nullptr) return Internal("%s: its group was not prepared", instruction.name());
    return group;
  }

  const RankRun& run_;
  WaitState& state_;
  absl::flat_hash_map<const HloInstruction*, const RankGroup*> groups_;
  RankTransfers transfers_;
  devices::Receptions<Reception> receptions_;
};

// Whether devices may reach different collective operations: there are some in a conditional, or in a loop whose number
// of iterations is known only at run time.
bool DevicesMayPart(const HloModule& module) {
  absl::flat_hash_set<const HloComputation*> with_collectives;
  for (const HloComputation* computation : module.MakeComputationPostOrder()) {
    bool has = false;
    for (const HloInstruction* instruction : computation->instructions()) {
      has = has || GetHloOpcodeInfo(instruction->opcode()).Has(HloOpcodeFlags::kCollective);
      for (const HloComputation* called : instruction->called_computations()) {
        if (!with_collectives.contains(called)) continue;
        has = true;
        if (instruction->opcode() == HloOpcode::kConditional) return true;
        if (instruction->opcode() != HloOpcode::kWhile) continue;
        const std::optional<ParsedWhileLoop> loop = PatternMatchParseWhileLoop(instruction);
        if (!loop.has_value() || loop->is_dynamic()) return true;
      }
    }
    if (has) with_collectives.insert(computation);
  }
  return false;
}

}  // namespace

absl::StatusOr<std::unique_ptr<MpiFabric>> MpiFabric::Make(MPI_Comm communicator, const MpiOptions& options) {
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<MpiWorld> world, MpiWorld::Make(communicator, options.most_count));
  return std::unique_ptr<MpiFabric>(new MpiFabric(std::move(world), options));
}

MpiFabric::~MpiFabric() {
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (finalised == 0 && broken_.ok()) world_->Leave();
}

absl::Status MpiFabric::CheckSameProgram(const HloModule& module, DeviceCounts counts) {
  const HloPrintOptions all;
  const std::string own = absl::StrCat("version " KASHI_VERSION, "\n", counts.ToString(), "\n",
                                       options_.deterministic ? "deterministic" : "", "\n", options_.most_count,
                                       "\nmodule ", module.name(), " ", module.GetFingerprint128(all));
  KASHI_ASSIGN_OR_RETURN(const std::vector<std::string> texts, world_->GatherTexts(own));
  KASHI_RETURN_IF_ERROR(FirstRefusal(texts));
  for (int r = 0; r < world_->size(); ++r) {
    if (texts[r] == texts[0]) continue;
    const auto shown = [](const std::string& text) {
      return absl::StrJoin(std::vector<std::string>(absl::StrSplit(text, '\n', absl::SkipEmpty())), ", ");
    };
    return FailedPrecondition("rank %d runs another program than rank 0: %s; rank 0: %s", r, shown(texts[r]),
                              shown(texts[0]));
  }
  return absl::OkStatus();
}

// The other ranks receive the error where they compare programs. A rank that refuses the program itself ignores it.
absl::Status MpiFabric::Refuse(const absl::Status& error) {
  if (!broken_.ok()) return error;
  MessageWriter writer;
  AddStatus(error, &writer);
  KASHI_RETURN_IF_ERROR(world_->GatherTexts(absl::StrCat(kRefuses, writer.Finish())).status());
  return error;
}

absl::Status MpiFabric::FirstRefusal(const std::vector<std::string>& texts) const {
  for (int r = 0; r < world_->size(); ++r) {
    absl::string_view text = texts[r];
    if (!absl::ConsumePrefix(&text, kRefuses)) continue;
    const std::string message(text);
    MessageReader reader(message);
    const absl::Status error = ReadStatus(&reader);
    return WithMessage(error, absl::StrCat("rank ", r, ": ", error.message()));
  }
  return absl::OkStatus();
}

absl::Status MpiFabric::OnDevices(const HloModule& module, DeviceCounts counts, const values::RunLimits& limits,
                                  devices::DeviceFunction f) {
  KASHI_RETURN_IF_ERROR(broken_);
  KASHI_RETURN_IF_ERROR(CheckSameProgram(module, counts));
  KASHI_RETURN_IF_ERROR(groups_.Prepare(module, counts));
  const devices::DeviceRange here = DevicesHere(counts.total());
  devices::MeetingPlace place(here, limits.work.get());
  const GroupTaskContext tasks = {world_.get(), &types_, limits.memory, &place.has_failed(), options_.deterministic};
  RankProgress progress;
  const RankRun run = {tasks, &place, &groups_, counts.total(), DevicesMayPart(module), &progress};
  std::vector<WaitState> states(here.count);
  const auto device_now = [&](int64_t device) {
    RankWatch::Device now{place.StateOf(device)};
    states[device - here.first].AddTo(&now);
    return now;
  };
  RankWatch watch(world_.get(), &mail_, &place, {++runs_, here, device_now, [this] { return groups_.Calls(); }});
  std::vector<std::thread> threads = devices::StartDevices(here, &place, [&](int64_t id) {
    RankDevice device(id, counts, run, &states[id - here.first]);
    KASHI_RETURN_IF_ERROR(f(device));
    return device.FinishSends();
  });
  bool all_left = false;
  for (int64_t looks = 0; !watch.Look(all_left); ++looks) {
    if (all_left) {
      world_->Pause(looks);
    } else {
      all_left = place.WaitAWhile();
      looks = 0;
    }
  }
  for (std::thread& thread : threads) thread.join();
  if (!watch.status().ok()) {
    broken_ = FailedPrecondition("an earlier run on these ranks has failed: %s", watch.status().message());
  }
  return watch.status();
}

}  // namespace kashi::mpi
