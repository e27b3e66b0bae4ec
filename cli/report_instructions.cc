#include "cli/report_instructions.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "cli/operation_kind.h"
#include "cli/sharding_figure.h"
#include "kashi/analysis/source_location.h"
#include "kashi/array/device_size.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/text.h"
#include "kashi/hlo/ir/hlo_opcode.h"
#include "kashi/hlo/spmd/device_parts.h"
#include "kashi/hlo/spmd/program_scope.h"

namespace kashi::cli {
namespace {

constexpr size_t kLongestText = 4096;        // of attributes and configurations
constexpr size_t kMostShardingFigures = 64;  // each has some thousand bytes
constexpr size_t kShardingWidth = 64, kShardingLines = 24;

// The beginning of a long text, and how much is missing.
std::string Shortened(absl::string_view text) {
  if (text.size() <= kLongestText) return std::string(text);
  size_t end = kLongestText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not within a letter of UTF-8
  return absl::StrCat(text.substr(0, end), "… (", base::WithThousands(static_cast<int64_t>(text.size() - end)),
                      " more bytes)");
}

// What stands before and after the operands: the opcode as it is printed, and the attributes. For what has no operands,
// or operands that are printed otherwise, the rest begins with their parenthesis.
struct InstructionText {
  std::string opcode;
  std::string rest;
};

InstructionText InstructionTextOf(const HloInstruction& instruction) {
  constexpr HloPrintOptions kOptions = HloPrintOptions()
                                           .set_print_metadata(false)
                                           .set_print_backend_config(false)
                                           .set_print_percent(false)
                                           .set_print_result_shape(false)
                                           .set_print_operand_index_annotation_interval(0);
  const std::string text = instruction.ToString(kOptions);
  absl::string_view rest = text;
  const size_t equals = rest.find(" = ", rest.find(instruction.name()) + instruction.name().size());
  if (equals != absl::string_view::npos) rest.remove_prefix(equals + 3);
  const size_t parenthesis = rest.find('(');
  InstructionText result{std::string(rest.substr(0, parenthesis)), ""};
  if (parenthesis == absl::string_view::npos) return result;
  rest.remove_prefix(parenthesis);
  const std::string operands =
      absl::StrCat("(",
                   absl::StrJoin(instruction.operands(), ", ",
                                 [](std::string* out, const HloInstruction* operand) {
                                   absl::StrAppend(out, operand == nullptr ? "" : operand->name());
                                 }),
                   ")");
  if (!instruction.operands().empty() && absl::StartsWith(rest, operands)) rest.remove_prefix(operands.size());
  result.rest = Shortened(rest);
  return result;
}

int64_t BytesOf(const Shape& shape) {
  const absl::StatusOr<DeviceSize> size = GetDeviceSize(shape);
  return size.ok() ? size->bytes : 0;
}

// {"12":[3,4],…} of the instructions that have some.
class ListsByInstruction {
 public:
  void Add(int64_t instruction, const std::vector<int64_t>& numbers) {
    if (numbers.empty()) return;
    absl::StrAppend(&json_, json_.empty() ? "" : ",", "\"", instruction, "\":[", absl::StrJoin(numbers, ","), "]");
  }
  void Add(int64_t instruction, int64_t number) {
    absl::StrAppend(&json_, json_.empty() ? "" : ",", "\"", instruction, "\":", number);
  }
  void Write(absl::string_view key, std::string* json) const {
    absl::StrAppend(json, "\"", key, "\":{", json_, "},\n");
  }

 private:
  std::string json_;
};

// The drawing of a sharding; "" if there is none.
std::string FigureOf(const HloInstruction& instruction, int64_t num_devices) {
  if (!instruction.shape().IsArray() || instruction.sharding().IsTuple()) return "";
  const absl::StatusOr<hlo::DeviceParts> parts =
      hlo::PartsOf(instruction.sharding(), instruction.shape().dimensions(), num_devices);
  if (!parts.ok()) return "";
  return ShardingFigure(*parts, instruction.shape().dimensions(), kShardingWidth, kShardingLines);
}

}  // namespace

ReportInstructions::ReportInstructions(const HloModule& module) : module_(module) {
  AddComputation(module.entry_computation());
  for (size_t i = 0; i < computations_.size(); ++i) {
    for (const HloInstruction* instruction : module.InstructionOrder(*computations_[i])) {
      numbers_.emplace(instruction, static_cast<int64_t>(instructions_.size()));
      instructions_.push_back(instruction);
      for (const HloComputation* called : instruction->called_computations()) AddComputation(called);
    }
    begins_.push_back(static_cast<int64_t>(instructions_.size()));
    if (i + 1 < computations_.size()) continue;
    const auto missing =
        std::find_if(module.computations().begin(), module.computations().end(),
                     [this](const HloComputation* each) { return computation_numbers_.count(each) == 0; });
    if (missing != module.computations().end()) AddComputation(*missing);
  }
  begins_.insert(begins_.begin(), 0);
  begins_.pop_back();
}

void ReportInstructions::AddComputation(const HloComputation* computation) {
  if (computation == nullptr) return;
  const auto number = static_cast<int64_t>(computations_.size());
  if (computation_numbers_.emplace(computation, number).second) computations_.push_back(computation);
}

void ReportInstructions::WriteComputations(const insight::ExecutionCounts& counts, const insight::CriticalPath& path,
                                           PageTexts* texts, std::string* json) const {
  AddNumbers(
      "computation_names", computations_, [&](const HloComputation* each) { return texts->Number(each->name()); },
      json);
  AddNumbers(
      "computation_begins", begins_, [](int64_t begin) { return begin; }, json);
  AddNumbers(
      "computation_counts", computations_, [&](const HloComputation* each) { return PageNumber(counts.CountOf(each)); },
      json);
  AddNumbers(
      "computation_seconds", computations_,
      [&](const HloComputation* each) { return PageNumber(path.SecondsOf(each)); }, json);
  AddNumbers(
      "roots", computations_, [this](const HloComputation* each) { return NumberOf(each->root_instruction()); }, json);
}

void ReportInstructions::WriteTexts(PageTexts* texts, std::string* json) const {
  std::vector<std::pair<int64_t, int64_t>> opcodes_and_rests;
  absl::flat_hash_map<std::string, int64_t> opcodes;
  std::string opcode_names, opcode_kinds;
  for (const HloInstruction* instruction : instructions_) {
    const InstructionText text = InstructionTextOf(*instruction);
    const auto [found, is_new] = opcodes.try_emplace(text.opcode, static_cast<int64_t>(opcodes.size()));
    if (is_new) {
      const absl::string_view comma = opcode_names.empty() ? "" : ",";
      absl::StrAppend(&opcode_names, comma);
      AppendPageString(text.opcode, &opcode_names);
      absl::StrAppend(&opcode_kinds, comma, "\"", OperationKindOf(instruction->opcode()), "\"");
    }
    opcodes_and_rests.emplace_back(found->second, texts->Number(text.rest));
  }
  absl::StrAppend(json, "\"opcode_names\":[", opcode_names, "],\n\"opcode_kinds\":[", opcode_kinds, "],\n");
  AddNumbers(
      "names", instructions_, [&](const HloInstruction* each) { return texts->Number(each->name()); }, json);
  AddNumbers(
      "opcodes", opcodes_and_rests, [](const auto& each) { return each.first; }, json);
  AddNumbers(
      "rests", opcodes_and_rests, [](const auto& each) { return each.second; }, json);
  AddNumbers(
      "shapes", instructions_,
      [&](const HloInstruction* each) { return texts->Number(each->shape().ToString(/*print_layout=*/true)); }, json);
  AddNumbers(
      "bytes", instructions_, [](const HloInstruction* each) { return BytesOf(each->shape()); }, json);
  AddNumbers(
      "op_names", instructions_,
      [&](const HloInstruction* each) { return texts->Number(GetSourceLocation(*each).op_name); }, json);
  AddNumbers(
      "sources", instructions_,
      [&](const HloInstruction* each) {
        const SourceLocation source = GetSourceLocation(*each);
        return texts->Number(source.file.empty() ? "" : absl::StrCat(source.file, ":", source.line));
      },
      json);
}

void ReportInstructions::WriteLinks(std::string* json) const {
  std::vector<int64_t> distances;
  ListsByInstruction controls, calls;
  for (size_t i = 0; i < instructions_.size(); ++i) {
    const auto number = static_cast<int64_t>(i);
    for (const HloInstruction* operand : instructions_[i]->operands()) distances.push_back(number - NumberOf(operand));
    std::vector<int64_t> before, called;
    for (const HloInstruction* each : instructions_[i]->control_predecessors()) before.push_back(NumberOf(each));
    for (const HloComputation* each : instructions_[i]->called_computations()) {
      called.push_back(computation_numbers_.at(each));
    }
    controls.Add(number, before);
    calls.Add(number, called);
  }
  AddNumbers(
      "operand_counts", instructions_, [](const HloInstruction* each) { return each->operand_count(); }, json);
  AddNumbers(
      "operands", distances, [](int64_t distance) { return distance; }, json);
  controls.Write("controls", json);
  calls.Write("calls", json);
}

void ReportInstructions::WriteConfigs(PageTexts* texts, std::string* json) const {
  ListsByInstruction configs;
  for (size_t i = 0; i < instructions_.size(); ++i) {
    if (!instructions_[i]->has_backend_config()) continue;
    configs.Add(static_cast<int64_t>(i), texts->Number(Shortened(instructions_[i]->raw_backend_config_string())));
  }
  configs.Write("configs", json);
}

void ReportInstructions::WriteShardings(PageTexts* texts, std::string* json) const {
  const int64_t partitions = ProgramScopeOf(module_).partitions;
  const int64_t num_devices = partitions > 1 ? partitions : 0;  // 0: the shardings say it
  ListsByInstruction shardings, figures;
  absl::flat_hash_map<std::pair<std::string, std::string>, std::string> drawn;  // by sharding and shape
  for (size_t i = 0; i < instructions_.size(); ++i) {
    const HloInstruction& instruction = *instructions_[i];
    if (!instruction.has_sharding()) continue;
    const std::string text = instruction.sharding().ToString();
    shardings.Add(static_cast<int64_t>(i), texts->Number(Shortened(text)));
    const auto key = std::make_pair(text, ShapeUtil::HumanString(instruction.shape()));
    auto found = drawn.find(key);
    if (found == drawn.end() && drawn.size() < kMostShardingFigures) {
      found = drawn.emplace(key, FigureOf(instruction, num_devices)).first;
    }
    if (found != drawn.end() && !found->second.empty()) {
      figures.Add(static_cast<int64_t>(i), texts->Number(found->second));
    }
  }
  shardings.Write("shardings", json);
  figures.Write("sharding_figures", json);
}

void ReportInstructions::Write(const insight::ExecutionCounts& counts, const insight::CriticalPath& path,
                               PageTexts* texts, std::string* json) const {
  WriteComputations(counts, path, texts, json);
  WriteTexts(texts, json);
  WriteLinks(json);
  WriteConfigs(texts, json);
  WriteShardings(texts, json);
}

}  // namespace kashi::cli
