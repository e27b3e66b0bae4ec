// Predicts the time of one run of a partitioned program on many devices.
//
//   KASHI_ASSIGN_OR_RETURN(const Network network, Network::Create(Network::Kind::kTorus, {64, 64}, {link}));
//   KASHI_ASSIGN_OR_RETURN(const StepPrediction step, SimulateStep(*module, network, rates));
//   step.seconds …
//
// Every device has a clock, and runs the instructions in the order of the schedule. An instruction takes the longer of
// flops / flops_per_second and bytes / memory_bytes_per_second, by the cost analysis. A collective begins when all
// members of its group are there, and takes the time of the alpha-beta model (collective_time.h). After a start
// (all-reduce-start) it goes on while the device computes, one after the other on the network of a device; the end
// (all-reduce-done) waits for it:
//
//   device 0   compute   start ─── compute ───────── done   compute
//   network              ├── all-reduce of device 0, 1 ──┤
//   device 1   compute ───────── start ── compute ── done   compute
//
// Loops have as many iterations as `known_trip_count` or the loop's own counter say; after two that are alike on all
// devices the others are multiplied. A loop of unknown length counts once. A conditional runs its most expensive
// branch.
#ifndef KASHI_SCALE_STEP_SIMULATION_H_
#define KASHI_SCALE_STEP_SIMULATION_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/scale/device_rates.h"
#include "kashi/scale/network.h"

namespace kashi {

struct SimulationOptions {
  // Devices that compute slower: {17, 1.5}: device 17 takes 1.5 times as long for all that it computes.
  std::vector<std::pair<int64_t, double>> slow_devices;
  // Devices of one host, which have successive numbers.
  int64_t host_devices = 8;
  // RESOURCE_EXHAUSTED beyond this many instructions. Iterations that are multiplied do not count.
  int64_t most_instructions = 100'000'000;
};

// All collectives of one kind, in groups of one geometry, with as many bytes.
struct CollectivePrediction {
  std::string opcode;     // "all-reduce", also of an all-reduce-start
  std::string algorithm;  // "ring"
  int64_t groups = 0;
  int64_t members = 0;  // of a group; of a permutation: pairs
  double bytes = 0;     // on one device, one call: the operands, but for an all-gather the results
  double calls = 0;
  double within_bytes = 0;     // of one call, that all devices together send within hosts (host_traffic.h)
  double between_bytes = 0;    // of one call, from host to host
  double seconds = 0;          // of one call
  double exposed_seconds = 0;  // of all calls: the mean time that devices wait for it, and for each other
};

struct StepPrediction {
  double seconds = 0;          // until the last device ends
  double fastest_seconds = 0;  // until the first device ends
  int64_t slowest_device = 0;
  double compute_seconds = 0;                     // of a device that is not slow
  double collective_seconds = 0;                  // of all collectives of a device, hidden or not
  double exposed_seconds = 0;                     // mean time that a device waits for collectives
  std::vector<CollectivePrediction> collectives;  // those that devices wait for longest come first
  int64_t unknown_loops = 0;                      // counted as one iteration
  double unknown_calls = 0;                       // custom calls of unknown cost, counted as nothing
};

// INVALID_ARGUMENT if the program is for another number of devices than the network has, for a program that is not
// partitioned yet, for groups that name unknown devices, and for modules with broken links or recursion.
// O(instructions + collectives * devices).
absl::StatusOr<StepPrediction> SimulateStep(const HloModule& module, const Network& network, const DeviceRates& rates,
                                            const SimulationOptions& options = {});

}  // namespace kashi

#endif  // KASHI_SCALE_STEP_SIMULATION_H_
