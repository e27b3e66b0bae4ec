// The options of `kashi cost --mesh`: a network of devices, and their speeds.
#ifndef KASHI_CLI_MESH_OPTIONS_H_
#define KASHI_CLI_MESH_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/options.h"
#include "kashi/array/tpu_tiling.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/scale/device_rates.h"
#include "kashi/scale/network.h"

namespace kashi::cli {

struct MeshOptions {
  std::vector<int64_t> sizes;             // of the grid; empty: without --mesh
  std::string topology;                   // empty: switch with --network, otherwise torus
  std::vector<std::string> links;         // texts of --link
  std::string network_file;               // of --network
  int64_t host_devices = 0;               // of --host-devices; 0: as the target's hosts have
  std::string rates;                      // text of --rates
  std::vector<std::string> slow_devices;  // texts of --slow-device

  bool is_given() const { return !sizes.empty(); }
  // Whether there is an option about the mesh.
  bool has_details() const {
    return !topology.empty() || !links.empty() || !network_file.empty() || host_devices > 0 || !rates.empty() ||
           !slow_devices.empty();
  }
};

// Adds --mesh, --topology, --link, --network, --host-devices, --rates and --slow-device, in a group of their own.
void AddMeshOptions(Verb* verb, MeshOptions* options);

struct Machine {
  Network network;
  DeviceRates rates;
  std::string name;  // "v5e"; "given rates" for --rates
  std::vector<std::pair<int64_t, double>> slow_devices;
  std::optional<TpuGeneration> tpu;  // whose layouts arrays have
  int64_t host_devices = 0;
};
// Missing values are those of `target`, a name of --target; without one, of the TPU for which the module was compiled.
// INVALID_ARGUMENT if that is not known either, and without links for a target that is no TPU.
absl::StatusOr<Machine> MachineOf(const MeshOptions& options, const std::string& target, const HloModule& module);

}  // namespace kashi::cli

#endif  // KASHI_CLI_MESH_OPTIONS_H_
