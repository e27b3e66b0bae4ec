// `kashi sharding`: which device has which part of an array, and what the devices of a program exchange.
#include <unistd.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "cli/module_check.h"
#include "cli/module_file.h"
#include "cli/partition_module.h"
#include "cli/progress.h"
#include "cli/sharding_figure.h"
#include "cli/sharding_module.h"
#include "cli/verb.h"
#include "kashi/array/shape_parser.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/spmd/device_parts.h"
#include "kashi/hlo/spmd/sharding_forms.h"

namespace kashi::cli {

using base::HumanBytes;
namespace {

constexpr size_t kMostDrawnLines = 60;  // of a drawing

struct ShardingOptions {
  std::vector<std::string> inputs;
  std::string mesh;
  int64_t devices = 0;
  std::string draw;
  int64_t top = 10;
  std::string output;
  bool partitions = false;
  bool json = false;

  size_t width() const { return IsFile(output) ? 0 : TerminalWidth(STDOUT_FILENO); }
};

// An array, its sharding and the devices' parts of it.
struct Drawing {
  std::string title;
  Shape shape;
  HloSharding sharding = HloSharding::Replicate();
  hlo::DeviceParts parts;
  Shape shard;
  int64_t bytes = 0;
};

absl::StatusOr<Drawing> MakeDrawing(const Shape& shape, const HloSharding& sharding, int64_t num_devices) {
  if (!shape.IsArray()) return InvalidArgument("%s is no array", ShapeUtil::HumanString(shape));
  Drawing drawing;
  drawing.shape = shape;
  drawing.sharding = sharding;
  KASHI_ASSIGN_OR_RETURN(drawing.parts, hlo::PartsOf(sharding, shape.dimensions(), num_devices));
  KASHI_ASSIGN_OR_RETURN(drawing.shard, ShardShapeOf(shape, drawing.parts));
  KASHI_ASSIGN_OR_RETURN(drawing.bytes, ShardBytes(drawing.shard));
  return drawing;
}

std::string CopiesText(const hlo::DeviceParts& parts) {
  std::string text;
  if (parts.replicated > 1) absl::StrAppend(&text, parts.replicated, " devices hold a copy of each part.\n");
  if (parts.unreduced > 1) {
    absl::StrAppend(&text, parts.unreduced, " devices hold a term of each part; the array is the sum of the terms.\n");
  }
  if (parts.manual > 1) {
    absl::StrAppend(&text, parts.manual, " devices have an array of their own in the place of each part (manual).\n");
  }
  return text;
}

std::string DrawingText(const Drawing& drawing, size_t width) {
  int64_t padded = 0, empty = 0;
  for (const hlo::DevicePart& part : drawing.parts.parts) {
    const bool is_full = part.sizes == drawing.parts.shard_dimensions;
    const bool has_none = absl::c_any_of(part.sizes, [](int64_t size) { return size <= 0; });
    padded += is_full || has_none ? 0 : 1;
    empty += has_none && !is_full ? 1 : 0;
  }
  std::string text =
      absl::StrCat(drawing.title, ShapeUtil::HumanString(drawing.shape), " with ", drawing.sharding.ToString(), "\n",
                   Count(static_cast<int64_t>(drawing.parts.parts.size()), "part"), "; each of ",
                   Count(drawing.parts.num_devices, "device"), " has ", ShapeUtil::HumanString(drawing.shard), ", ",
                   HumanBytes(drawing.bytes), "\n", CopiesText(drawing.parts));
  if (padded + empty > 0) {
    absl::StrAppend(&text, "The sizes do not divide: ", padded > 0 ? Count(padded, "part") + " with padding" : "",
                    padded > 0 && empty > 0 ? ", " : "", empty > 0 ? Count(empty, "part") + " of padding alone" : "",
                    ".\n");
  }
  return absl::StrCat(text, "\n", ShardingFigure(drawing.parts, drawing.shape.dimensions(), width, kMostDrawnLines));
}

Json DrawingJson(const Drawing& drawing) {
  Json parts = Json::array();
  for (const hlo::DevicePart& part : drawing.parts.parts) {
    parts.push_back({{"offsets", absl::MakeConstSpan(part.offsets)},
                     {"sizes", absl::MakeConstSpan(part.sizes)},
                     {"devices", part.devices}});
  }
  return {{"shape", drawing.shape.ToString(/*print_layout=*/true)},
          {"sharding", drawing.sharding.ToString()},
          {"shard", drawing.shard.ToString(/*print_layout=*/true)},
          {"bytes", drawing.bytes},
          {"devices", drawing.parts.num_devices},
          {"replicated", drawing.parts.replicated},
          {"unreduced", drawing.parts.unreduced},
          {"manual", drawing.parts.manual},
          {"parts", std::move(parts)}};
}

void AddDrawing(const Drawing& drawing, const ShardingOptions& options, Answers* answers) {
  if (options.json) return answers->AddLine(DrawingJson(drawing));
  answers->Add(DrawingText(drawing, options.width()));
}

// ---- An array and a sharding on the command line --------------------------------------------------------------------

absl::StatusOr<Drawing> DrawingOfTexts(const Shape& shape, const ShardingOptions& options) {
  if (!shape.IsArray()) return InvalidArgument("%s is no array", ShapeUtil::HumanString(shape));
  std::optional<Mesh> mesh;
  if (!options.mesh.empty()) {
    KASHI_ASSIGN_OR_RETURN(mesh, hlo::ParseMeshAxes(options.mesh));
  }
  KASHI_ASSIGN_OR_RETURN(const HloSharding sharding, hlo::ParseShardingForm(options.inputs[1], mesh, shape.rank()));
  int64_t devices = options.devices;
  if (devices == 0 && mesh.has_value()) devices = mesh->device_assignment().num_elements();
  return MakeDrawing(shape, sharding, devices);
}

int DrawTexts(const Shape& shape, const ShardingOptions& options) {
  Answers answers(options.output, options.json);
  const absl::StatusOr<Drawing> drawing = DrawingOfTexts(shape, options);
  if (drawing.ok()) {
    AddDrawing(*drawing, options, &answers);
  } else {
    answers.AddFileError(options.inputs[1], drawing.status());
  }
  return answers.Finish();
}

// ---- A module -------------------------------------------------------------------------------------------------------

// The instruction of the module with this name, in ENTRY or else in any computation.
const HloInstruction* InstructionNamed(const HloModule& module, const std::string& name) {
  const HloInstruction* found = module.entry_computation()->GetInstructionWithName(name);
  for (const HloComputation* computation : module.computations()) {
    if (found == nullptr) found = computation->GetInstructionWithName(name);
  }
  return found;
}

absl::StatusOr<Drawing> DrawingOf(const HloModule& module, const ShardingOptions& options) {
  const HloInstruction* const instruction = InstructionNamed(module, options.draw);
  if (instruction == nullptr) return InvalidArgument("there is no instruction %s", options.draw);
  const ProgramScope scope = ProgramScopeOf(module);
  std::optional<HloSharding> sharding;
  if (instruction->opcode() == HloOpcode::kParameter && instruction->parent() == module.entry_computation()) {
    sharding = ParameterShardings(module)[instruction->parameter_number()];
  } else if (instruction->has_sharding()) {
    sharding = instruction->sharding();
  }
  if (!sharding.has_value()) return InvalidArgument("%s has no sharding", options.draw);
  if (!scope.is_global() && scope.partitions > 1) {
    return InvalidArgument("the module is partitioned: %s is the array of one device, not the whole one", options.draw);
  }
  const int64_t devices = options.devices > 0 ? options.devices : scope.partitions;
  KASHI_ASSIGN_OR_RETURN(Drawing drawing, MakeDrawing(instruction->shape(), *sharding, devices));
  drawing.title = absl::StrCat(options.draw, ": ");
  return drawing;
}

void ReportModule(const ModuleFile& file, const ShardingOptions& options, Answers* answers) {
  if (!options.draw.empty()) {
    const absl::StatusOr<Drawing> drawing = DrawingOf(*file.module, options);
    if (!drawing.ok()) return AddModuleError(file, drawing.status(), answers);
    return AddDrawing(*drawing, options, answers);
  }
  const absl::StatusOr<ShardingReport> report = MakeShardingReport(*file.module, options.devices);
  if (!report.ok()) return AddModuleError(file, report.status(), answers);
  if (options.json) return answers->AddLine(ShardingReportJson(file.name, *report));
  answers->Add(ShardingReportText(*file.module, *report, options.top, options.width()));
}

int RunSharding(const ShardingOptions& options) {
  const absl::StatusOr<Shape> shape = ParseShape(options.inputs[0]);
  if (shape.ok()) {
    if (options.inputs.size() == 2) return DrawTexts(*shape, options);
    return FailUsage("after a shape, one sharding: kashi sharding 'f32[8,16]' 'devices=[2,4]<=[8]'");
  }
  Answers answers(options.output, options.json);
  const std::vector<std::string> paths = ExpandModulePaths(options.inputs, &answers);
  ItemProgress progress("module", paths.size());
  bool is_first = true;
  for (const std::string& path : paths) {
    if (answers.is_broken()) break;
    progress.Next(path);
    std::optional<ModuleFile> file = ReadModuleFile(path, {}, &answers);
    if (!file.has_value()) continue;
    WarnIfInvalid(*file);
    if (options.partitions && !PartitionModuleFile(&*file, &answers)) continue;
    if (!options.json && paths.size() > 1) answers.Add(absl::StrCat(is_first ? "" : "\n", "== ", path, "\n"));
    is_first = false;
    ReportModule(*file, options, &answers);
  }
  return answers.Finish();
}

}  // namespace

void AddShardingVerb(Command* command) {
  auto options = std::make_shared<ShardingOptions>();
  VerbHelp help;
  help.group = kProgramVerbs;
  help.summary = "Show which device has which part of an array, and what devices exchange";
  help.examples =
      "  kashi sharding 'f32[8,16]' 'devices=[2,4]<=[8]'                draw a sharding in HLO's text\n"
      "  kashi sharding 'f32[8,16]' \"P('x', None)\" --mesh x=2,y=4       JAX's PartitionSpec on a mesh\n"
      "  kashi sharding 'f32[8,16]' '<@mesh, [{\"x\"}, {\"y\"}]>' --mesh x=2,y=4\n"
      "                                                                 Shardy's sharding\n"
      "  kashi sharding module.hlo                                      all arguments, results and collectives\n"
      "  kashi sharding module.hlo --partition                          and the collectives that partitioning makes\n"
      "  kashi sharding module.hlo --draw x                             draw the sharding of an instruction";
  help.sections = {{"",
                    "A drawing has one cell for each part, with the numbers of the devices that hold it; rows and "
                    "columns are the first "
                    "two dimensions that are cut, with the indices of their elements. Bytes are those of one device, "
                    "padding included.",
                    {}},
                   {"Shardings",
                    "",
                    {{"devices=[2,4]<=[8]", "HLO; braces around it may be missing"},
                     {"mesh['x'=2,'y'=4], [{'x'}, {}]", "HLO with named axes"},
                     {"#sdy.sharding<@mesh, [{\"x\"}, {}]>", "Shardy; from `<` on will do. Needs --mesh"},
                     {"P('x', ('y', 'z'), None)", "JAX. Needs --mesh"}}}};
  help.failure = "A shape, a sharding or a module cannot be read, or the output cannot be written";
  Verb* verb = command->AddVerb("sharding", help, [options] { return RunSharding(*options); });
  verb->AddOption("INPUT", &options->inputs,
                  "A shape and a sharding; or modules, dump directories, `-` for standard input")
      ->Required();
  verb->AddOption("--mesh", &options->mesh,
                  "The axes that a sharding names: x=2,y=4, or Shardy's or HLO's text of a mesh")
      ->Value("AXES");
  verb->AddOption("--devices", &options->devices, "Number of devices, where neither sharding nor module says it")
      ->Within(1, int64_t{1} << 20);
  verb->BeginGroup("Modules");
  verb->AddOption("--draw", &options->draw, "Draw the sharding of this instruction")->Value("NAME");
  AddPartitionFlag(verb, &options->partitions, "Partition a global program first, to show its collectives");
  verb->AddOption("--top", &options->top, "Number of instructions and of kinds of collectives to show (default: 10)")
      ->Within(0, std::numeric_limits<int64_t>::max());
  AddModuleFilterOption(verb);
  AddInputLimitOption(verb);
  verb->BeginGroup("Output");
  AddOutputOption(verb, &options->output, "Output file (default: standard output)");
  AddJsonFlag(verb, &options->json);
}

}  // namespace kashi::cli
