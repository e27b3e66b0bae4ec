// Any bytes as HLO text of a program of 2 to 8 devices, as the head says; a head without a number is for two devices.
// The devices run at once and meet at collective operations. Each gives a value of the shape of the root, or the run
// has an error; a second run gives the same, because threads may not change the results. Devices that wait for each
// other for ever are detected by libFuzzer's -timeout.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fuzz/hlo_text_mutator.h"
#include "fuzz/small_program.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/check.h"
#include "kashi/evaluator/device_group.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::fuzz {
namespace {

constexpr int64_t kMostDevices = 8;

// A NaN is equal to itself.
bool IsSame(const Literal& a, const Literal& b) { return a == b || a.ToString() == b.ToString(); }

absl::StatusOr<std::vector<Literal>> Run(const HloModule& module, int64_t devices,
                                         const std::vector<Literal>& arguments) {
  std::vector<std::vector<Literal>> of_devices(devices);
  for (std::vector<Literal>& of_device : of_devices) {
    for (const Literal& argument : arguments) of_device.push_back(argument.Clone());
  }
  return RunOnDevices(module, std::move(of_devices), OptionsOfSmallRun());
}

void CheckRuns(const HloModule& module) {
  const absl::StatusOr<DeviceCounts> counts = DeviceCountsOf(module);
  if (!counts.ok() || counts->total() > kMostDevices) return;
  const std::optional<std::vector<Literal>> arguments = MakeAnyArguments(module);
  if (!arguments.has_value()) return;
  const int64_t devices = counts->total() == 1 ? 2 : counts->total();
  const absl::StatusOr<std::vector<Literal>> results = Run(module, devices, *arguments);
  if (!results.ok()) {
    KASHI_CHECK(!results.status().message().empty());
    return;
  }
  KASHI_CHECK_EQ(results->size(), devices);
  const Shape& root = module.entry_computation()->root_instruction()->shape();
  const absl::StatusOr<std::vector<Literal>> again = Run(module, devices, *arguments);
  if (!again.ok()) return;  // it was cancelled, perhaps
  for (int64_t i = 0; i < devices; ++i) {
    KASHI_CHECK(ShapeUtil::Compatible((*results)[i].shape(), root)) << ShapeUtil::HumanString((*results)[i].shape());
    KASHI_CHECK(IsSame((*results)[i], (*again)[i])) << (*results)[i].ToString() << "\n" << (*again)[i].ToString();
  }
}

}  // namespace
}  // namespace kashi::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto module = kashi::fuzz::ReadSmallProgram({reinterpret_cast<const char*>(data), size});
  if (module != nullptr) kashi::fuzz::CheckRuns(*module);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  return kashi::fuzz::MutateHloText(data, size, max_size, seed);
}
