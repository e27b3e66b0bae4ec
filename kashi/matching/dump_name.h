// What the name of a file in an --xla_dump_to directory says.
//
//   module_0018.jit_step.before_optimizations.txt
//   module_0018.jit_step.0006.simplification.after_algsimp.before_simplify-sorts.hlo.pb      --xla_dump_hlo_pass_re
//   module_0018.jit_step.0022.copy-insertion.after_adding_copies_to_resolve_interference.txt
//   module_0018.jit_step.sm_9.0_gpu_after_optimizations.txt
//   module_0018.jit_step.cpu_after_optimizations-buffer-assignment.txt
//   module_0018.jit_step.multiply_add_fusion_kernel_module.ir-with-opt.ll
//   1700000000.module_0018.jit_step.debug_options                                    --xla_dump_include_timestamp
//
// Names of modules, passes and pipelines may have points.
#ifndef KASHI_MATCHING_DUMP_NAME_H_
#define KASHI_MATCHING_DUMP_NAME_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace kashi::matching {

// A stage of a compilation, at which XLA wrote the module.
struct DumpStage {
  // Of a file that --xla_dump_hlo_pass_re asked for, counted by XLA from 0; -1: of others, which have a name.
  int64_t number = -1;
  std::string name;      // "before_optimizations", "cpu_after_optimizations"; "" if it has a number
  std::string pipeline;  // "simplification"; of a stage within a pass: the pass
  std::string after;     // the pass that ran last, "algsimp"; "pipeline-start" before the first one of a pipeline
  std::string before;    // the pass that runs next; "" within a pass

  // Whether nothing has run since the last stage, if XLA writes all stages.
  bool begins_pipeline() const { return after == "pipeline-start"; }
  // "simplification/algsimp", "copy-insertion/adding_copies", "before simplification", or the name.
  std::string Title() const;
};

struct DumpName {
  std::string module;   // "module_0018.jit_step"
  int64_t number = -1;  // 18
  // Of a module's file; nullopt: it is one of XLA's reports about the module.
  std::optional<DumpStage> stage;
  std::string ending;  // ".txt", ".hlo.pb"; of a report all that follows the name of the module, without the point
};

// nullopt if it does not begin with `module_` and a number.
std::optional<DumpName> ParseDumpName(absl::string_view file_name);

}  // namespace kashi::matching

#endif  // KASHI_MATCHING_DUMP_NAME_H_
