// What each pass of a dump did, for `kashi dump --passes` and `--diff`.
#ifndef KASHI_CLI_DUMP_PASSES_H_
#define KASHI_CLI_DUMP_PASSES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/dump_directory.h"
#include "cli/json.h"
#include "cli/module_file.h"
#include "cli/verb.h"
#include "kashi/insight/accelerators.h"
#include "kashi/matching/passes.h"

namespace kashi::cli {

// The module at a stage, from the first of its files. Adds errors, also findings of the verifier, to `answers`.
std::optional<ModuleFile> ReadStage(const DumpedStage& stage, Answers* answers);

// A stage, and what the pass before it did.
struct StageRow {
  const DumpedStage* stage;
  matching::ModuleFacts facts;
  // Of the change since the stage before; nullopt for the first one.
  std::optional<matching::PassEffect> effect;
  std::vector<matching::OpcodeChange> opcodes;

  bool is_first() const { return !effect.has_value(); }
};

// "-6 broadcast, +2 dot, 3 more opcodes; 14 moved, 2 changed": first what the pass did to the program. Pre: the row is
// not the first one.
std::string EffectText(const StageRow& row);

// Reads the stages one after another. Those that cannot be read are left out, and their errors are added to `answers`.
std::vector<StageRow> ReadPasses(const DumpedModule& module, const insight::Accelerator* accelerator, Answers* answers);

// The table of the stages that changed the program, and a line about the others. `width` as for TableText.
std::string PassTable(const DumpedModule& module, const std::vector<StageRow>& rows, size_t width);

Json PassJson(const DumpedModule& module, const StageRow& row, const StageRow* before);

}  // namespace kashi::cli

#endif  // KASHI_CLI_DUMP_PASSES_H_
