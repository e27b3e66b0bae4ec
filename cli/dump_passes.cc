#include "cli/dump_passes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/module_check.h"
#include "cli/progress.h"
#include "cli/table_text.h"
#include "kashi/base/text.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::cli {

using base::HumanBytes;
using base::WithThousands;
using matching::EffectOf;
using matching::FactsOf;
using matching::OpcodeChange;
using matching::OpcodeChanges;
using matching::PassEffect;
namespace {

constexpr size_t kMostOpcodes = 5;  // in a row of the table

// "1.18M", by powers of 1000.
std::string Short(double number) {
  constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  size_t prefix = 0;
  for (; std::fabs(number) >= 999.5 && prefix + 1 < std::size(kPrefixes); ++prefix) number /= 1000;
  return absl::StrFormat("%.3g%s", number, kPrefixes[prefix]);
}

std::string SecondsText(double seconds) {
  if (seconds >= 1) return absl::StrFormat("%.3g s", seconds);
  return seconds >= 1e-3 ? absl::StrFormat("%.3g ms", seconds * 1e3) : absl::StrFormat("%.3g us", seconds * 1e6);
}

std::string Signed(int64_t number) { return absl::StrCat(number < 0 ? "-" : "+", WithThousands(std::abs(number))); }

// How a figure changed: "=" for no change, "-12 %", "new" if there was nothing, "?" if one is not known.
std::string ChangeText(std::optional<double> before, std::optional<double> after) {
  if (!before.has_value() || !after.has_value()) return before.has_value() == after.has_value() ? "=" : "?";
  if (*before == *after) return "=";
  if (*before == 0) return "new";
  const double percent = (*after - *before) / *before * 100;
  return std::fabs(percent) < 99.5 ? absl::StrFormat("%+.1f %%", percent) : absl::StrFormat("%+.0f %%", percent);
}

struct Figures {
  std::optional<double> peak;
  std::optional<double> flops;
  std::optional<double> bytes;
  std::optional<double> seconds;
};

Figures FiguresOf(const matching::ModuleFacts& facts) {
  Figures figures;
  if (facts.peak_bytes.has_value()) figures.peak = static_cast<double>(*facts.peak_bytes);
  if (facts.cost.has_value()) {
    figures.flops = facts.cost->flops + facts.cost->transcendentals;
    figures.bytes = facts.cost->bytes_accessed;
  }
  figures.seconds = facts.seconds;
  return figures;
}

// What a pass did to the program, or to nothing but names, metadata and the like. A pipeline that begins has done
// nothing yet: XLA writes the module once more.
bool IsShown(const StageRow& row) { return row.is_first() || !row.effect->is_nothing; }

// The pass alone, unless that would not say what ran.
std::string StageText(const DumpedStage& stage) {
  const bool is_pass = stage.stage.number >= 0 && !stage.stage.begins_pipeline() && !stage.stage.before.empty();
  return is_pass ? absl::StrFormat("%04d %s", stage.stage.number, stage.stage.after) : stage.Title();
}

std::vector<std::string> FirstCells(const StageRow& row, bool has_seconds) {
  const Figures figures = FiguresOf(row.facts);
  const auto bytes = [](std::optional<double> number) {
    return number.has_value() ? HumanBytes(static_cast<int64_t>(*number)) : std::string("?");
  };
  std::vector<std::string> cells = {StageText(*row.stage), WithThousands(row.facts.instructions), bytes(figures.peak),
                                    figures.flops.has_value() ? Short(*figures.flops) : "?", bytes(figures.bytes)};
  if (has_seconds) cells.push_back(figures.seconds.has_value() ? SecondsText(*figures.seconds) : "?");
  return cells;
}

std::vector<std::string> ChangeCells(const StageRow& before, const StageRow& row, bool has_seconds) {
  const Figures from = FiguresOf(before.facts);
  const Figures to = FiguresOf(row.facts);
  const int64_t instructions = row.facts.instructions - before.facts.instructions;
  std::vector<std::string> cells = {StageText(*row.stage), instructions == 0 ? "=" : Signed(instructions),
                                    ChangeText(from.peak, to.peak), ChangeText(from.flops, to.flops),
                                    ChangeText(from.bytes, to.bytes)};
  if (has_seconds) cells.push_back(ChangeText(from.seconds, to.seconds));
  return cells;
}

// The longest text that fits beside the other columns.
std::string CutToFit(const std::string& text, size_t width) {
  if (width == 0 || text.size() <= width) return text;  // it is ASCII
  return absl::StrCat(text.substr(0, width > 1 ? width - 1 : 0), "…");
}

size_t WidthOf(const std::string& table) {
  size_t width = 0;
  for (const char c : table.substr(0, table.find('\n'))) width += (c & 0xc0) != 0x80 ? 1 : 0;  // characters of UTF-8
  return width;
}

// A line about the stages that changed nothing.
std::string OthersText(const std::vector<const DumpedStage*>& stages) {
  if (stages.empty()) return "";
  constexpr size_t kMostNames = 6;
  std::vector<std::string> names;  // each once
  int64_t beginnings = 0;
  for (const DumpedStage* stage : stages) {
    if (stage->stage.number >= 0 && stage->stage.begins_pipeline()) {
      ++beginnings;
    } else if (std::find(names.begin(), names.end(), stage->pass()) == names.end()) {
      names.push_back(stage->pass());
    }
  }
  const size_t rest = names.size() - std::min(names.size(), kMostNames);
  names.resize(names.size() - rest);
  if (rest > 0) names.push_back(absl::StrCat(rest, " more"));
  if (beginnings > 0) {
    names.insert(names.begin(), absl::StrCat(Count(beginnings, "beginning"), " of pipelines"));
  }
  return absl::StrCat(Count(static_cast<int64_t>(stages.size()), "other stage"),
                      " changed nothing: ", absl::StrJoin(names, ", "), "\n");
}

}  // namespace

std::optional<ModuleFile> ReadStage(const DumpedStage& stage, Answers* answers) {
  std::optional<ModuleFile> file = ReadModuleFile(stage.path(), {}, answers);
  if (file.has_value() && !CheckModule(*file, answers)) return std::nullopt;
  return file;
}

std::vector<StageRow> ReadPasses(const DumpedModule& module, const insight::Accelerator* accelerator,
                                 Answers* answers) {
  std::vector<StageRow> rows;
  std::optional<ModuleFile> before;
  ItemProgress progress("stage", module.stages.size());
  for (const DumpedStage& stage : module.stages) {
    progress.Next(stage.Title());
    if (answers->is_broken()) break;
    std::optional<ModuleFile> file = ReadStage(stage, answers);
    if (!file.has_value()) continue;
    StageRow row;
    row.stage = &stage;
    if (before.has_value()) {
      const bool are_equal = *before->bytes == *file->bytes && before->is_text == file->is_text;
      row.effect = are_equal ? PassEffect() : EffectOf(*before->module, *file->module);
      row.effect->is_nothing |= are_equal;
    }
    const bool has_facts = row.effect.has_value() && row.effect->is_nothing;
    row.facts = has_facts ? rows.back().facts : FactsOf(*file->module, accelerator);
    if (!rows.empty()) row.opcodes = OpcodeChanges(rows.back().facts, row.facts);
    rows.push_back(std::move(row));
    before = std::move(file);
  }
  return rows;
}

std::string EffectText(const StageRow& row) {
  const PassEffect& effect = *row.effect;
  std::vector<std::string> opcodes;
  for (const OpcodeChange& change : row.opcodes) {
    if (opcodes.size() == kMostOpcodes) {
      opcodes.push_back(Count(static_cast<int64_t>(row.opcodes.size() - kMostOpcodes), "more opcode"));
      break;
    }
    opcodes.push_back(absl::StrCat(Signed(change.difference()), " ", HloOpcodeString(change.opcode)));
  }
  std::vector<std::string> numbers;
  const auto add = [&](int64_t number, const char* what) {
    if (number > 0) numbers.push_back(absl::StrCat(WithThousands(number), " ", what));
  };
  add(effect.moved, "moved");
  add(effect.changed, "changed");
  if (opcodes.empty()) {
    add(effect.gone, "gone");
    add(effect.added, "new");
  }
  if (opcodes.empty() && numbers.empty()) add(effect.renamed, "renamed");
  if (effect.sets_schedule) numbers.emplace_back("schedule");
  if (opcodes.empty() && numbers.empty()) numbers.emplace_back("metadata or configuration");
  return absl::StrCat(absl::StrJoin(opcodes, ", "), opcodes.empty() || numbers.empty() ? "" : "; ",
                      absl::StrJoin(numbers, ", "));
}

std::string PassTable(const DumpedModule& module, const std::vector<StageRow>& rows, size_t width) {
  std::string title = absl::StrCat(module.name, ": ", Count(static_cast<int64_t>(module.stages.size()), "stage"), "\n");
  if (rows.empty()) return title;
  const bool has_seconds = rows.front().facts.seconds.has_value();
  std::vector<std::vector<std::string>> table = {{"after", "instructions", "peak", "flops", "bytes"}};
  if (has_seconds) table[0].emplace_back("time");
  std::vector<std::string> effects = {"changes"};
  std::vector<const DumpedStage*> others;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!IsShown(rows[i])) {
      others.push_back(rows[i].stage);
      continue;
    }
    table.push_back(i == 0 ? FirstCells(rows[i], has_seconds) : ChangeCells(rows[i - 1], rows[i], has_seconds));
    effects.push_back(i == 0 ? "" : EffectText(rows[i]));
  }
  if (rows.size() > 1) {
    table.push_back(FirstCells(rows.back(), has_seconds));
    table.back()[0] = "in the end";
    effects.emplace_back();
  }
  constexpr size_t kLeastForEffects = 24;
  for (auto& row : table) row.emplace_back();
  const size_t others_width = WidthOf(TableText(table, width > kLeastForEffects ? width - kLeastForEffects : width));
  const size_t room = width == 0 ? 0 : std::max(width > others_width ? width - others_width : 0, kLeastForEffects);
  for (size_t i = 0; i < table.size(); ++i) table[i].back() = CutToFit(effects[i], room);
  return absl::StrCat(title, TableText(std::move(table), width), OthersText(others));
}

Json PassJson(const DumpedModule& module, const StageRow& row, const StageRow* before) {
  const matching::DumpStage& stage = row.stage->stage;
  Json json = {{"module", module.name}, {"file", row.stage->path()}};
  if (stage.number < 0) {
    json["name"] = stage.name;
  } else {
    json.update({{"number", stage.number}, {"pipeline", stage.pipeline}, {"after", stage.after}});
  }
  const Figures figures = FiguresOf(row.facts);
  const auto or_null = [](std::optional<double> number) { return number.has_value() ? Json(*number) : Json(); };
  json["instructions"] = row.facts.instructions;
  json["peak_bytes"] = row.facts.peak_bytes.has_value() ? Json(*row.facts.peak_bytes) : Json();
  json["flops"] = row.facts.cost.has_value() ? Json(row.facts.cost->flops) : Json();
  json["transcendentals"] = row.facts.cost.has_value() ? Json(row.facts.cost->transcendentals) : Json();
  json["bytes_accessed"] = or_null(figures.bytes);
  if (figures.seconds.has_value()) json["seconds"] = *figures.seconds;
  if (before == nullptr) return json;
  const PassEffect& effect = *row.effect;
  json["changes"] = !effect.is_nothing;
  Json& opcodes = json["opcodes"] = Json::array();
  for (const OpcodeChange& change : row.opcodes) {
    opcodes.push_back({{"opcode", HloOpcodeString(change.opcode)}, {"before", change.before}, {"after", change.after}});
  }
  json.update({{"moved", effect.moved},
               {"changed", effect.changed},
               {"gone", effect.gone},
               {"new", effect.added},
               {"renamed", effect.renamed},
               {"sets_schedule", effect.sets_schedule}});
  return json;
}

}  // namespace kashi::cli
