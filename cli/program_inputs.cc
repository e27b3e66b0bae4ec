#include "cli/program_inputs.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/elided_constants.h"
#include "cli/global_program.h"
#include "cli/limits.h"
#include "cli/partition_module.h"
#include "cli/scope_note.h"
#include "cli/verb.h"
#include "kashi/analysis/fake_arguments.h"
#include "kashi/array/layout_util.h"
#include "kashi/base/machine.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/device_group.h"
#include "kashi/hlo/spmd/program_shards.h"
#include "kashi/partition/partition_program.h"

namespace kashi::cli {

using base::DefaultMemoryLimit;
namespace {

class InputChooser {
 public:
  InputChooser(const RunOptions& options, const Interrupt& interrupt, const devices::DeviceFabric* fabric,
               ModuleFile* file, Json* json)
      : options_(options),
        meter_(WorkLimitsOf(options.limits, &interrupt.flag())),
        fabric_(fabric),
        file_(*file),
        json_(json) {}

  absl::Status FillElided();
  absl::Status Choose();
  ProgramInputs Take() { return std::move(inputs_); }

 private:
  absl::Status MakeUpInputs(int64_t devices);
  absl::Status ChooseGlobalInputs();
  absl::Status ChooseInputsOfOneDevice();
  absl::Status ChooseInputsOfParts();
  absl::Status Partition();
  // Whether this process runs a device: each of several ranks runs some of them.
  bool IsHere(int64_t device, int64_t devices) const {
    return fabric_ == nullptr || fabric_->Runs(device, {1, devices});
  }
  DeviceFilter DevicesHere() const {
    return [this](int64_t device, int64_t devices) { return IsHere(device, devices); };
  }

  const RunOptions& options_;
  const WorkMeter meter_;
  const devices::DeviceFabric* const fabric_;
  ModuleFile& file_;
  Json* const json_;
  ProgramInputs inputs_;
};

// A program with elided constants can run with random values, but a comparison of its outputs needs --allow-elided.
absl::Status InputChooser::FillElided() {
  const std::vector<std::string> names = ElidedNames(*file_.module);
  if (names.empty()) return absl::OkStatus();
  (*json_)["elided_constants"] = names;
  const bool compares = !options_.expect.empty() || !options_.expect_devices.empty();
  if (compares && !options_.allow_elided) {
    return InvalidArgument("%s: %s; --allow-elided replaces them by random values", file_.name, ElidedText(names));
  }
  WarnOfElided(file_.name, names, "; random values replace them");
  return FillElidedConstants(file_.module.get(), options_.seed);
}

absl::Status InputChooser::MakeUpInputs(int64_t devices) {
  const uint64_t limit = options_.limits.memory_limit > 0 ? options_.limits.memory_limit : DefaultMemoryLimit();
  const uint64_t limit_of_each = std::max<uint64_t>(1, limit / static_cast<uint64_t>(devices));
  for (int64_t device = 0; device < devices; ++device) {
    if (!IsHere(device, devices)) {
      inputs_.arguments.emplace_back();
      continue;
    }
    KASHI_ASSIGN_OR_RETURN(
        ChosenArguments chosen,
        MakeRandomArguments(*file_.module, {options_.random, options_.seed + device, limit_of_each, &meter_}));
    if (device == 0) {
      PrintRandomNote(options_.seed, chosen);
      (*json_)["inputs"] = chosen.made_up;
    }
    inputs_.arguments.push_back(std::move(chosen.arguments));
  }
  return absl::OkStatus();
}

absl::Status InputChooser::ChooseGlobalInputs() {
  if (file_.module->config().replica_count() > 1) {
    return Unimplemented("cannot run a program that is not partitioned yet and has %d replicas",
                         file_.module->config().replica_count());
  }
  PrintNote(absl::StrCat("kashi: ", file_.name, ": ", ScopeText(inputs_.scope), "\n"));
  if (options_.partitions) return ChooseInputsOfParts();
  if (options_.devices_dir.empty()) return ChooseInputsOfOneDevice();
  KASHI_ASSIGN_OR_RETURN(Arguments arguments, ReadShardedArguments(*file_.module, inputs_.scope, options_.devices_dir));
  inputs_.arguments.push_back(std::move(arguments));
  return absl::OkStatus();
}

// The arguments of each device that runs here, and then the program of each device.
absl::Status InputChooser::ChooseInputsOfParts() {
  if (!options_.devices_dir.empty()) {
    KASHI_RETURN_IF_ERROR(Partition());
    KASHI_ASSIGN_OR_RETURN(inputs_.arguments,
                           ReadDeviceArguments(*file_.module, options_.devices_dir, {}, DevicesHere()));
    return absl::OkStatus();
  }
  if (!options_.inputs.empty()) {
    KASHI_ASSIGN_OR_RETURN(inputs_.arguments,
                           ReadArgumentParts(*file_.module, inputs_.scope.partitions, options_.inputs, DevicesHere()));
    return Partition();
  }
  KASHI_RETURN_IF_ERROR(ChooseInputsOfOneDevice());
  KASHI_ASSIGN_OR_RETURN(inputs_.arguments, SplitArguments(inputs_.arguments[0], ParameterShardings(*file_.module),
                                                           inputs_.scope.partitions));
  for (int64_t device = 0; device < inputs_.scope.partitions; ++device) {
    if (!IsHere(device, inputs_.scope.partitions)) inputs_.arguments[device].clear();
  }
  return Partition();
}

absl::Status InputChooser::Partition() {
  PartitionOptions options;
  options.num_partitions = inputs_.scope.partitions;
  inputs_.whole_result = file_.module->result_shape();
  LayoutUtil::SetToDefaultLayout(&*inputs_.whole_result);
  KASHI_ASSIGN_OR_RETURN(file_.module, PartitionProgram(*file_.module, options));
  inputs_.scope.kind = ProgramScope::Kind::kPerDevice;
  return absl::OkStatus();
}

absl::Status InputChooser::ChooseInputsOfOneDevice() {
  KASHI_ASSIGN_OR_RETURN(
      ChosenArguments chosen,
      ChooseArguments(file_, options_.inputs, {options_.random, options_.seed, options_.limits.memory_limit, &meter_}));
  inputs_.arguments.push_back(std::move(chosen.arguments));
  if (!chosen.made_up.is_null()) (*json_)["inputs"] = chosen.made_up;
  if (!options_.inputs.empty() || !options_.random.empty() || !options_.expect.empty() || !options_.until.empty()) {
    return absl::OkStatus();
  }
  KASHI_ASSIGN_OR_RETURN(inputs_.snapshot_result, SnapshotResult(file_));
  return absl::OkStatus();
}

absl::Status InputChooser::Choose() {
  KASHI_ASSIGN_OR_RETURN(inputs_.scope, ChooseScope(*file_.module, options_.as));
  if (inputs_.scope.is_global()) return ChooseGlobalInputs();
  if (options_.partitions) {
    return NeedsGlobalProgram(inputs_.scope);
  }
  if (options_.split_outputs) {
    return InvalidArgument("--split-outputs needs a program that is not partitioned yet; this one is for one device");
  }
  if (!options_.devices_dir.empty()) {
    KASHI_ASSIGN_OR_RETURN(inputs_.arguments,
                           ReadDeviceArguments(*file_.module, options_.devices_dir, {}, DevicesHere()));
    return absl::OkStatus();
  }
  KASHI_ASSIGN_OR_RETURN(const DeviceCounts counts, DeviceCountsOf(*file_.module));
  if (counts.total() == 1) return ChooseInputsOfOneDevice();
  if (!options_.inputs.empty()) {
    return InvalidArgument("this program is for %s: give its inputs with --devices-dir", counts.ToString());
  }
  return MakeUpInputs(counts.total());
}

}  // namespace

absl::StatusOr<ProgramInputs> ChooseProgramInputs(const RunOptions& options, const Interrupt& interrupt,
                                                  const devices::DeviceFabric* fabric, ModuleFile* file, Json* json) {
  InputChooser chooser(options, interrupt, fabric, file, json);
  KASHI_RETURN_IF_ERROR(chooser.FillElided());
  KASHI_RETURN_IF_ERROR(chooser.Choose());
  return chooser.Take();
}

}  // namespace kashi::cli
