// `kashi cost --mesh`: the time of a step on many devices, and the memory of each device.
#ifndef KASHI_CLI_COST_MESH_H_
#define KASHI_CLI_COST_MESH_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "cli/json.h"
#include "cli/mesh_options.h"
#include "cli/module_file.h"
#include "kashi/analysis/memory_analysis.h"
#include "kashi/scale/step_simulation.h"

namespace kashi::cli {

struct MeshReport {
  Machine machine;
  StepPrediction step;
  MemoryAnalysis memory;
};

// `target`: of --target; "": the device of the module's layouts. The module must outlive the report.
absl::StatusOr<MeshReport> MakeMeshReport(const HloModule& module, const MeshOptions& options,
                                          const std::string& target);

std::string MeshText(const HloModule& module, const MeshReport& report, int64_t top);
Json MeshJson(const ModuleFile& file, const MeshReport& report);

}  // namespace kashi::cli

#endif  // KASHI_CLI_COST_MESH_H_
