#include "kashi/engine/loaded_program.h"

#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/cleanup/cleanup.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/catch_exceptions.h"
#include "kashi/base/sole_owner.h"
#include "kashi/base/status.h"
#include "kashi/engine/buffer_state.h"
#include "kashi/engine/client.h"
#include "kashi/engine/device_memory.h"
#include "kashi/engine/device_queue.h"
#include "kashi/engine/donated_memory.h"
#include "kashi/engine/engine_choice.h"
#include "kashi/engine/launch_trace.h"
#include "kashi/engine/leaves.h"
#include "kashi/engine/nested_launch.h"
#include "kashi/engine/program_door.h"
#include "kashi/engine/run_pool.h"
#include "kashi/evaluator/device_group.h"
#include "kashi/evaluator/literal_run.h"
#include "kashi/evaluator/step_profile.h"

namespace kashi {

using engine::BufferElements;
using engine::BufferState;
using engine::ProgramDoor;
using engine::ProgramLaunch;
using engine::RunPool;
using evaluator::RunHooks;
namespace engine {

// One execution: the data that it reads and writes on each device. It keeps all that it needs, so that the caller's
// handles may be destroyed.
struct ProgramLaunch {
  struct Result {
    std::shared_ptr<BufferElements> elements;
    EventSource ready;
  };
  struct OfDevice {
    std::vector<std::shared_ptr<BufferElements>> arguments;
    std::vector<Result> results;
    EventSource done;
  };

  // The options of a run that is not one of `runs`.
  struct Setup {
    EvaluationOptions options;
    evaluator::RunHooks hooks;
    values::RunLimits limits;
  };

  bool HasAllArguments() const;
  Setup MakeSetup() const;
  // Runs it on all devices, and completes their results.
  void Run();
  // In the queue of each device: the last one runs it, while the others wait.
  void Arrive();
  // It will not arrive at all devices: the others wait no longer, and its events fail.
  void Abandon();
  absl::StatusOr<std::vector<std::vector<Value>>> Results();
  absl::StatusOr<std::vector<std::vector<Value>>> SafeResults();
  // SafeResults, which LaunchTrace sees.
  absl::StatusOr<std::vector<std::vector<Value>>> TracedResults();
  absl::StatusOr<std::vector<Value>> ResultsOf(std::vector<std::vector<Value>> arguments);
  absl::StatusOr<Value> RunOnOneDevice(std::vector<Value> arguments);
  absl::StatusOr<std::vector<Value>> RunOnAllDevices(std::vector<std::vector<Value>> arguments);

  std::shared_ptr<const Program> program;
  std::shared_ptr<RunPool> runs;
  std::shared_ptr<MemoryBudget> memory;
  DeviceCounts counts;
  ExecuteOptions options;
  std::vector<OfDevice> devices;
  std::shared_ptr<const std::vector<buffers::LeafAlias>> aliases;  // whose results may have to be moved
  std::shared_ptr<std::atomic<int64_t>> last_ns;
  std::vector<int64_t> watched_devices;  // ids, for LaunchTrace; none: nobody watches
  std::unique_ptr<evaluator::StepProfile> profile;
  int64_t begun_ns = 0;    // by the clock of LaunchTrace
  bool has_begun = false;  // its arguments had no errors
  absl::Status status;     // after the run: of the program itself

  absl::Mutex mutex;
  size_t arrived ABSL_GUARDED_BY(mutex) = 0;  // devices whose queues have come to it
  bool has_ended ABSL_GUARDED_BY(mutex) = false;
};

bool ProgramLaunch::HasAllArguments() const {
  return absl::c_all_of(devices, [](const OfDevice& device) {
    return absl::c_all_of(device.arguments, [](const auto& elements) { return elements->ready.is_ready(); });
  });
}

namespace {

// The value of an argument, or the error of the program that should have made it.
// The program may write to elements to which only this launch refers.
// kept: receives the address of an array that others refer to as well.
absl::StatusOr<Value> Take(std::shared_ptr<BufferElements> elements, absl::flat_hash_set<const void*>* kept) {
  KASHI_RETURN_IF_ERROR(elements->ready.Await());
  const bool is_ours = base::IsSoleOwner(elements);
  if (elements->value.is_array() && (!is_ours || elements->is_lent)) kept->insert(elements->value.untyped_data());
  return is_ours ? std::move(elements->value) : elements->value;
}

absl::StatusOr<std::vector<Value>> TakeAll(std::vector<std::shared_ptr<BufferElements>> arguments,
                                           absl::flat_hash_set<const void*>* kept) {
  std::vector<Value> values;
  absl::Status error;
  for (std::shared_ptr<BufferElements>& argument : arguments) {
    absl::StatusOr<Value> value = Take(std::move(argument), kept);
    error.Update(value.status());
    if (value.ok()) values.push_back(*std::move(value));
  }
  if (!error.ok()) return error;
  return values;
}

}  // namespace

ProgramLaunch::Setup ProgramLaunch::MakeSetup() const {
  Setup setup;
  setup.options.cancelled = options.cancelled;
  setup.options.custom_call_handler = options.custom_call_handler;
  setup.options.is_handled = options.is_handled;
  ProgramDoor::Complete(*program, &setup.options, &setup.hooks);
  setup.hooks.profile = profile.get();
  setup.limits = evaluator::LimitsOf(setup.options);
  setup.limits.memory = memory;
  return setup;
}

absl::StatusOr<Value> ProgramLaunch::RunOnOneDevice(std::vector<Value> arguments) {
  const auto call = [&](evaluator::EvaluationRun& run) {
    return ProgramDoor::CallInMemory(*program, run, std::move(arguments));
  };
  if (!options.custom_call_handler && profile == nullptr) return runs->With(options.cancelled, call);
  const Setup setup = MakeSetup();
  evaluator::EvaluationRun run(setup.options, setup.hooks, setup.limits);
  return call(run);
}

absl::StatusOr<std::vector<Value>> ProgramLaunch::RunOnAllDevices(std::vector<std::vector<Value>> arguments) {
  const Setup setup = MakeSetup();
  return ProgramDoor::ExecuteValuesOnDevices(*program, std::move(arguments), setup.options, setup.hooks, setup.limits,
                                             counts);
}

absl::StatusOr<std::vector<Value>> ProgramLaunch::ResultsOf(std::vector<std::vector<Value>> arguments) {
  if (devices.size() > 1) return RunOnAllDevices(std::move(arguments));
  std::vector<Value> results(1);
  KASHI_ASSIGN_OR_RETURN(results[0], RunOnOneDevice(std::move(arguments[0])));
  return results;
}

namespace {

// Results are arrays of their own, as XLA's are: programs compare addresses, and write to what they alone hold. Small
// arrays of a run are not aligned as those of devices.
bool IsToCopy(const Value& leaf, const absl::flat_hash_set<const void*>& kept) {
  constexpr int64_t kSmallBytes = 64;
  return leaf.byte_count() <= kSmallBytes || (!leaf.is_unique() && kept.contains(leaf.untyped_data()));
}

}  // namespace

// The leaves of the result of each device.
absl::StatusOr<std::vector<std::vector<Value>>> ProgramLaunch::Results() {
  const HloComputation& entry = *program->module().entry_computation();
  std::vector<std::vector<Value>> arguments;
  absl::flat_hash_set<const void*> kept;  // memory that stays the caller's, or that of other buffers
  absl::Status error;
  std::vector<DonatedMemory> donated(devices.size());
  for (size_t d = 0; d < devices.size(); ++d) {
    absl::StatusOr<std::vector<Value>> leaves = TakeAll(std::move(devices[d].arguments), &kept);
    error.Update(leaves.status());
    if (!leaves.ok()) continue;
    for (const buffers::LeafAlias& alias : *aliases) donated[d].Lend(alias, &*leaves);
    arguments.push_back(ArgumentsOfLeaves(entry, *std::move(leaves)));
  }
  if (!error.ok()) return error;
  if (options.cancelled != nullptr && options.cancelled->load()) {
    return absl::CancelledError("the program was cancelled before it began");
  }
  has_begun = true;
  if (profile != nullptr) begun_ns = LaunchTrace::NowNs();
  KASHI_ASSIGN_OR_RETURN(std::vector<Value> values, ResultsOf(std::move(arguments)));
  const DeviceMemory& of_devices = ProgramDoor::MemoryOf(*program);
  std::vector<std::vector<Value>> results;
  for (size_t d = 0; d < devices.size(); ++d) {
    results.push_back(LeavesOf(std::move(values[d])));
    KASHI_RETURN_IF_ERROR(donated[d].PlaceResults(of_devices, memory, &results.back()));
    for (Value& leaf : results.back()) {
      if (!leaf.is_array() || !IsToCopy(leaf, kept)) continue;
      KASHI_ASSIGN_OR_RETURN(leaf, of_devices.MakeOwn(std::move(leaf), memory));
    }
  }
  return results;
}

// An exception of a handler, or of memory that there is not, is the error of the program: it must reach all that wait.
absl::StatusOr<std::vector<std::vector<Value>>> ProgramLaunch::SafeResults() {
  const NestedCaller of_handlers;
  return base::CatchExceptions([&] { return Results(); });
}

absl::StatusOr<std::vector<std::vector<Value>>> ProgramLaunch::TracedResults() {
  LaunchTrace& trace = LaunchTrace::Global();
  profile = std::make_unique<evaluator::StepProfile>(trace.Room());
  absl::StatusOr<std::vector<std::vector<Value>>> results = SafeResults();
  if (has_begun) trace.Add({program, watched_devices, begun_ns, LaunchTrace::NowNs(), {}}, *profile);
  return results;
}

void ProgramLaunch::Run() {
  const engine::RunningLaunch running;
  const int64_t begin_ns = LaunchTrace::NowNs();
  absl::StatusOr<std::vector<std::vector<Value>>> results = watched_devices.empty() ? SafeResults() : TracedResults();
  last_ns->store(LaunchTrace::NowNs() - begin_ns, std::memory_order_relaxed);
  options.custom_call_handler = nullptr;  // the caller may free what it refers to
  if (has_begun) status = results.status();
  for (size_t i = 0; i < devices.size(); ++i) {
    OfDevice& device = devices[i];
    for (size_t k = 0; k < device.results.size(); ++k) {
      Result& result = device.results[k];
      if (results.ok()) result.elements->value = std::move((*results)[i][k]);
      result.elements = nullptr;  // so that a program which takes it by donation holds the only reference
      result.ready.Complete(results.status());
    }
    device.done.Complete(results.status());
  }
}

void ProgramLaunch::Arrive() {
  {
    const absl::MutexLock lock(&mutex);
    if (++arrived < devices.size()) return mutex.Await(absl::Condition(&has_ended));
  }
  Run();
  const absl::MutexLock lock(&mutex);
  has_ended = true;
}

void ProgramLaunch::Abandon() {
  const absl::MutexLock lock(&mutex);
  has_ended = true;
}

}  // namespace engine
namespace {

// A run for which the caller may wait: some times the time to wake a thread.
constexpr int64_t kShortNs = 100'000;

DeviceResults MakeResults(const std::vector<Shape>& shapes, MemorySpace& memory_space,
                          ProgramLaunch::OfDevice* device) {
  DeviceResults results;
  for (const Shape& shape : shapes) {
    ProgramLaunch::Result result;
    result.elements = std::make_shared<BufferElements>(result.ready.event());
    results.buffers.push_back(
        std::make_unique<Buffer>(memory_space, std::make_shared<BufferState>(shape, result.elements)));
    device->results.push_back(std::move(result));
  }
  results.done = device->done.event();
  return results;
}

}  // namespace

LoadedProgram::LoadedProgram(Client& client, std::shared_ptr<const Program> program, std::vector<LocalDevice*> devices)
    : client_(client),
      program_(std::move(program)),
      devices_(std::move(devices)),
      argument_shapes_(engine::ArgumentLeaves(*program_->module().entry_computation())),
      result_shapes_(engine::ResultLeaves(*program_->module().entry_computation())),
      is_donated_(engine::DonatedLeaves(program_->module())),
      aliases_(std::make_shared<const Aliases>(buffers::AliasesOf(program_->module()))),
      aliases_to_place_(std::make_shared<const Aliases>(engine::AliasesToPlace(*program_))) {
  for (std::vector<Shape>* shapes : {&argument_shapes_, &result_shapes_}) {
    for (Shape& shape : *shapes) LayoutUtil::SetToDefaultLayout(&shape);
  }
  is_short_ = devices_.size() == 1 && engine::IsQuick(program_->module(), kShortNs);
  is_cheap_ = devices_.size() == 1 && engine::IsCheap(program_->module(), kShortNs);
  EvaluationOptions options;
  RunHooks hooks;
  ProgramDoor::Complete(*program_, &options, &hooks);
  runs_ = std::make_shared<RunPool>(program_->module(), options, hooks, client_.memory());
}
LoadedProgram::~LoadedProgram() = default;

absl::StatusOr<std::vector<bool>> LoadedProgram::DonatedNow(const ExecuteOptions& options) const {
  std::vector<bool> donated = is_donated_;
  for (const int64_t argument : options.non_donatable) {
    if (argument < 0 || argument >= static_cast<int64_t>(donated.size())) {
      return InvalidArgument("non_donatable names argument %d; the program takes %d", argument, donated.size());
    }
    donated[argument] = false;
  }
  return donated;
}

absl::Status LoadedProgram::CheckArguments(absl::Span<const std::vector<Buffer*>> arguments_of_devices,
                                           const std::vector<bool>& is_donated) const {
  if (arguments_of_devices.size() != devices_.size()) {
    return InvalidArgument("the program runs on %d devices, but there are arguments for %d", devices_.size(),
                           arguments_of_devices.size());
  }
  const bool donates = absl::c_linear_search(is_donated, true);
  std::set<const BufferState*> seen, donated;  // if one is
  for (size_t d = 0; d < devices_.size(); ++d) {
    const std::vector<Buffer*>& arguments = arguments_of_devices[d];
    if (arguments.size() != argument_shapes_.size()) {
      return InvalidArgument("the program takes %d arguments, but device %d got %d", argument_shapes_.size(),
                             devices_[d]->id(), arguments.size());
    }
    for (size_t i = 0; i < arguments.size(); ++i) {
      const Buffer& buffer = *arguments[i];
      if (!ShapeUtil::Compatible(buffer.shape(), argument_shapes_[i])) {
        return InvalidArgument("argument %d is %s, but the program takes %s", i, ShapeUtil::HumanString(buffer.shape()),
                               ShapeUtil::HumanString(argument_shapes_[i]));
      }
      if (&buffer.device().client() != &client_) return InvalidArgument("argument %d is of another client", i);
      if (&buffer.device() != devices_[d]) {
        return InvalidArgument("argument %d is on %s, but the program runs on %s", i, buffer.device().ToString(),
                               devices_[d]->ToString());
      }
      if (buffer.is_deleted()) return InvalidArgument("argument %d: Buffer has been deleted or donated.", i);
      if (!donates) continue;
      const BufferState* const state = buffer.state_.get();
      const bool was_seen = !seen.insert(state).second;
      if (is_donated[i]) donated.insert(state);
      if (was_seen && donated.count(state) > 0) {
        const auto first =
            absl::c_find_if(arguments, [state](const Buffer* argument) { return argument->state_.get() == state; });
        const int64_t partitions = std::max<int64_t>(1, program_->module().config().num_partitions());
        return InvalidArgument(
            "Attempt to use a buffer that was previously donated in the same call to Execute() (flattened argument %d, "
            "replica %d, partition %d, first use: %d). Toy example for this bug: `f(donate(a), a)`.",
            i, static_cast<int64_t>(d) / partitions, static_cast<int64_t>(d) % partitions, first - arguments.begin());
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DeviceResults>> LoadedProgram::Execute(
    absl::Span<const std::vector<Buffer*>> arguments_of_devices, const ExecuteOptions& options) const {
  KASHI_ASSIGN_OR_RETURN(const std::vector<bool> is_donated, DonatedNow(options));
  const auto launch = std::make_shared<ProgramLaunch>();
  launch->program = program_;
  launch->runs = runs_;
  launch->memory = client_.memory();
  // Calls of handlers run without the engine's plan of memory.
  launch->aliases = options.custom_call_handler ? aliases_ : aliases_to_place_;
  launch->last_ns = last_ns_;
  launch->options = options;
  KASHI_ASSIGN_OR_RETURN(launch->counts, DeviceCountsOf(program_->module()));
  launch->devices.resize(devices_.size());
  if (engine::LaunchTrace::Global().is_watched()) {
    for (const LocalDevice* device : devices_) launch->watched_devices.push_back(device->id());
  }
  KASHI_RETURN_IF_ERROR(TakeArguments(arguments_of_devices, is_donated, launch.get()));
  std::vector<DeviceResults> results(devices_.size());
  for (size_t d = 0; d < devices_.size(); ++d) {
    results[d] = MakeResults(result_shapes_, devices_[d]->default_memory_space(), &launch->devices[d]);
  }
  KASHI_RETURN_IF_ERROR(Start(launch));
  return results;
}

// First all elements, then the donated buffers: if there is an error, no buffer is deleted.
absl::Status LoadedProgram::TakeArguments(absl::Span<const std::vector<Buffer*>> arguments_of_devices,
                                          const std::vector<bool>& is_donated, ProgramLaunch* launch) const {
  const absl::MutexLock lock(&client_.launch_mutex_);
  KASHI_RETURN_IF_ERROR(CheckArguments(arguments_of_devices, is_donated));
  for (size_t d = 0; d < devices_.size(); ++d) {
    for (const Buffer* buffer : arguments_of_devices[d]) {
      KASHI_ASSIGN_OR_RETURN(std::shared_ptr<BufferElements> elements, buffer->state_->Elements());
      launch->devices[d].arguments.push_back(std::move(elements));
    }
  }
  for (const std::vector<Buffer*>& arguments : arguments_of_devices) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (is_donated[i]) arguments[i]->state_->Take();
    }
  }
  return absl::OkStatus();
}

absl::Status LoadedProgram::Start(std::shared_ptr<ProgramLaunch> launch) const {
  if (devices_.size() > 1) {
    auto abandon = absl::MakeCleanup([&] { launch->Abandon(); });
    for (const LocalDevice* device : devices_) device->queue().Push([launch] { launch->Arrive(); });
    std::move(abandon).Cancel();
    return absl::OkStatus();
  }
  engine::DeviceQueue& queue = devices_[0]->queue();
  const bool has_handlers = launch->options.custom_call_handler != nullptr;
  const bool is_short = is_short_ || (!has_handlers && last_ns_->load(std::memory_order_relaxed) < kShortNs);
  const bool may_run_within =
      launch->options.runs_within || (has_handlers ? is_cheap_ && launch->options.may_run_handlers_within : is_short);
  const bool may_wait_for_it = may_run_within && launch->HasAllArguments();
  if (may_wait_for_it && queue.TryRun([&] { launch->Run(); })) return launch->status;
  queue.Push([launch] { launch->Run(); });
  return absl::OkStatus();
}

}  // namespace kashi
