#include "cli/breakdown_options.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "cli/cost_text.h"
#include "cli/table_text.h"
#include "cli/verb.h"
#include "kashi/base/status.h"
#include "kashi/insight/flame_graph.h"

namespace kashi::cli {

using insight::Breakdown;
namespace {

std::vector<std::string> MeasureNames(const BreakdownShape& shape) {
  std::vector<std::string> names;
  for (const BreakdownColumn& column : shape.columns) names.push_back(column.heading);
  return names;
}

}  // namespace

std::string BreakdownOptions::Error() const {
  if (by.has_value()) return "";
  if (tree) return "--tree needs --by";
  if (depth > 0) return "--depth needs --by";
  if (keep_transforms) return "--keep-transforms needs --by scope or --by layer";
  if (!flame.empty()) return "--flame needs --by";
  return "";
}

void AddBreakdownOptions(Verb* verb, const std::string& what, BreakdownOptions* options) {
  verb->BeginGroup("Breakdown");
  const auto set_by = [options](const std::string& name) {
    options->by = insight::ParseGrouping(name);
    return std::string();
  };
  verb->AddOption("--by", set_by,
                  absl::StrCat("Sum up ", what, " by scope (of op_names), layer, opcode, source or computation"))
      ->OneOf({insight::GroupingNames().begin(), insight::GroupingNames().end()});
  verb->AddFlag("--tree", &options->tree,
                "Show the rows of --by as a tree, in which each line has the sum of its parts");
  verb->AddOption("--depth", &options->depth,
                  "Parts of a path that make a row of --by: 1 for the outermost scopes only")
      ->Within(1, std::numeric_limits<int64_t>::max());
  verb->AddFlag("--keep-transforms", &options->keep_transforms,
                "Keep jvp(x), transpose(jvp(x)), checkpoint and the like apart from x");
  verb->AddOption("--flame", &options->flame, "Also draw the rows of --by as a flame graph (SVG) to this file")->File();
}

absl::StatusOr<BreakdownTable> BreakdownTable::Create(const HloModule& module, const insight::ExecutionCounts& counts,
                                                      const BreakdownOptions& options, BreakdownShape shape) {
  KASHI_ASSIGN_OR_RETURN(insight::Groups groups,
                         insight::Groups::Create(module, counts, *options.by, {options.keep_transforms}));
  return BreakdownTable(options, std::move(groups), std::move(shape));
}

BreakdownTable::BreakdownTable(const BreakdownOptions& options, insight::Groups groups, BreakdownShape shape)
    : options_(options), groups_(std::move(groups)), shape_(std::move(shape)), breakdown_(MeasureNames(shape_)) {}

void BreakdownTable::Add(const HloInstruction& instruction, const std::vector<double>& values) {
  for (const insight::Groups::Place& place : groups_.PlacesOf(instruction)) {
    std::vector<double> part = values;
    if (place.share != 1) {
      for (double& value : part) value *= place.share;
    }
    absl::Span<const std::string> path = place.parts;
    if (options_.depth > 0) path = path.first(std::min<size_t>(path.size(), static_cast<size_t>(options_.depth)));
    breakdown_.Add(path, part);
  }
}

void BreakdownTable::AddOther(const std::string& name, const std::vector<double>& values) {
  breakdown_.Add({name}, values);
}

absl::string_view BreakdownTable::grouping_name() const {
  return insight::GroupingNames()[static_cast<size_t>(*options_.by)];
}

// ---- Text.

std::vector<std::string> BreakdownTable::LineOf(const std::string& name, int64_t items,
                                                const std::vector<double>& values) const {
  std::vector<std::string> line = {base::Printable(name),
                                   PercentText(values[shape_.sort], breakdown_.root().sum[shape_.sort])};
  for (size_t i = 0; i < shape_.columns.size(); ++i) line.push_back(shape_.columns[i].text(values[i]));
  line.push_back(base::WithThousands(items));
  return line;
}

void BreakdownTable::AddRows(int64_t top, Lines* lines) const {
  const std::vector<int64_t> rows = breakdown_.Rows();
  const size_t shown = std::min<size_t>(static_cast<size_t>(top), rows.size());
  for (size_t i = 0; i < shown; ++i) {
    const Breakdown::Node& node = breakdown_.nodes()[rows[i]];
    lines->push_back(LineOf(breakdown_.PathOf(rows[i], groups_.separator()), node.own_items, node.own));
  }
  if (shown == rows.size()) return;
  std::vector<double> others(shape_.columns.size());
  int64_t items = 0;
  for (size_t i = shown; i < rows.size(); ++i) {
    const Breakdown::Node& node = breakdown_.nodes()[rows[i]];
    for (size_t j = 0; j < others.size(); ++j) others[j] += node.own[j];
    items += node.own_items;
  }
  lines->push_back(
      LineOf(absl::StrCat("(", Count(static_cast<int64_t>(rows.size() - shown), "other"), ")"), items, others));
}

void BreakdownTable::AddTree(int64_t top, Lines* lines) const {
  struct Next {
    int64_t node;
    int64_t others_from = -1;  // of the node's children: a line for those from here on
  };
  std::vector<Next> waiting = {{0}};
  while (!waiting.empty()) {
    const Next next = waiting.back();
    waiting.pop_back();
    const Breakdown::Node& node = breakdown_.nodes()[next.node];
    const std::string indent(2 * static_cast<size_t>(node.depth + (next.others_from >= 0)), ' ');
    if (next.others_from >= 0) {
      std::vector<double> others(shape_.columns.size());
      int64_t items = 0;
      for (size_t i = static_cast<size_t>(next.others_from); i < node.children.size(); ++i) {
        const Breakdown::Node& child = breakdown_.nodes()[node.children[i]];
        for (size_t j = 0; j < others.size(); ++j) others[j] += child.sum[j];
        items += child.items;
      }
      const int64_t count = static_cast<int64_t>(node.children.size()) - next.others_from;
      lines->push_back(LineOf(absl::StrCat(indent, "(", Count(count, "other"), ")"), items, others));
      continue;
    }
    if (next.node != 0) lines->push_back(LineOf(absl::StrCat(indent, node.name), node.items, node.sum));
    const size_t shown = std::min<size_t>(static_cast<size_t>(top), node.children.size());
    if (shown < node.children.size()) waiting.push_back({next.node, static_cast<int64_t>(shown)});
    for (size_t i = shown; i-- > 0;) waiting.push_back({node.children[i]});
  }
}

BreakdownTable::Lines BreakdownTable::HeadLines() const {
  std::vector<std::string> head = {std::string(grouping_name()), "share"};
  for (const BreakdownColumn& column : shape_.columns) head.push_back(column.heading);
  head.push_back(shape_.items);
  return {std::move(head), LineOf("in all", breakdown_.root().items, breakdown_.root().sum)};
}

std::string BreakdownTable::TableOf(Lines lines) const {
  std::vector<bool> is_left(lines[0].size(), false);
  is_left[0] = true;
  return TableText(std::move(lines), /*width=*/0, is_left);
}

std::string BreakdownTable::ToText(int64_t top) const {
  Lines lines = HeadLines();
  if (options_.tree) {
    AddTree(top, &lines);
  } else {
    AddRows(top, &lines);
  }
  return TableOf(std::move(lines));
}

// ---- Summaries.

namespace {

constexpr size_t kSummaryRows = 8;
constexpr size_t kFewParts = 12;
constexpr double kLargePart = 0.1;

}  // namespace

// False if the parts of a row would tell less than the row: they are many, and all of them are small.
bool BreakdownTable::Open(const Part& part, std::vector<Part>* opened) const {
  const Breakdown::Node& node = breakdown_.nodes()[part.node];
  const double large = kLargePart * breakdown_.root().sum[shape_.sort];
  if (part.is_alone || node.children.empty()) return false;
  const double largest = breakdown_.nodes()[node.children[0]].sum[shape_.sort];
  if (part.node != 0 && (part.value < large || (node.children.size() > kFewParts && largest < large))) return false;
  for (const int64_t child : node.children) {
    opened->push_back({child, false, breakdown_.nodes()[child].sum[shape_.sort]});
  }
  if (node.own_items > 0) opened->push_back({part.node, true, node.own[shape_.sort]});
  return true;
}

std::vector<BreakdownTable::Part> BreakdownTable::SummaryParts() const {
  std::vector<Part> open = {{0, false, breakdown_.root().sum[shape_.sort]}}, done;
  while (!open.empty() && open.size() + done.size() < kSummaryRows) {
    auto largest = absl::c_max_element(open, [](const Part& a, const Part& b) { return a.value < b.value; });
    const Part part = *largest;
    open.erase(largest);
    if (!Open(part, &open)) done.push_back(part);
  }
  done.insert(done.end(), open.begin(), open.end());
  absl::c_stable_sort(done, [](const Part& a, const Part& b) { return a.value > b.value; });
  return done;
}

std::string BreakdownTable::ToSummary() const {
  Lines lines = HeadLines();
  const std::vector<Part> parts = SummaryParts();
  std::vector<double> others(shape_.columns.size());
  int64_t items = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Breakdown::Node& node = breakdown_.nodes()[parts[i].node];
    const std::vector<double>& values = parts[i].is_alone ? node.own : node.sum;
    const int64_t count = parts[i].is_alone ? node.own_items : node.items;
    if (i < kSummaryRows || parts.size() == kSummaryRows + 1) {
      lines.push_back(LineOf(breakdown_.PathOf(parts[i].node, groups_.separator()), count, values));
      continue;
    }
    for (size_t j = 0; j < others.size(); ++j) others[j] += values[j];
    items += count;
  }
  if (items > 0) {
    const auto rest = static_cast<int64_t>(parts.size() - kSummaryRows);
    lines.push_back(LineOf(absl::StrCat("(", Count(rest, "other"), ")"), items, others));
  }
  return TableOf(std::move(lines));
}

// ---- JSON and drawings.

Json BreakdownTable::NodeJson(const std::string& name, int64_t items, const std::vector<double>& values) const {
  Json json;
  json[grouping_name()] = name;
  json[shape_.items] = items;
  for (size_t i = 0; i < shape_.columns.size(); ++i) json[shape_.columns[i].key] = values[i];
  return json;
}

Json BreakdownTable::ToJson() const {
  if (!options_.tree) {
    Json rows = Json::array();
    for (const int64_t row : breakdown_.Rows()) {
      const Breakdown::Node& node = breakdown_.nodes()[row];
      rows.push_back(NodeJson(breakdown_.PathOf(row, groups_.separator()), node.own_items, node.own));
    }
    return rows;
  }
  // Children have higher numbers than their parents, so they are done first.
  std::vector<Json> parts(breakdown_.nodes().size());
  for (size_t i = parts.size(); i-- > 0;) {
    const Breakdown::Node& node = breakdown_.nodes()[i];
    Json children = Json::array();
    for (const int64_t child : node.children) children.push_back(std::move(parts[child]));
    if (i == 0) return children;
    parts[i] = NodeJson(node.name, node.items, node.sum);
    if (!node.children.empty()) parts[i]["parts"] = std::move(children);
  }
  return Json::array();
}

absl::Status BreakdownTable::WriteFlame(const std::string& module_name) const {
  if (options_.flame.empty()) return absl::OkStatus();
  const BreakdownColumn& column = shape_.columns[shape_.sort];
  insight::FlameGraphOptions options;
  options.title = absl::StrCat("module ", module_name);
  options.subtitle = absl::StrCat(column.heading, " by ", grouping_name(), ": ",
                                  column.text_with_unit(breakdown_.root().sum[shape_.sort]), " in all");
  options.measure = shape_.sort;
  options.separator = groups_.separator();
  options.value_text = column.text_with_unit;
  return WriteOutput(options_.flame, insight::FlameGraphSvg(breakdown_, options));
}

}  // namespace kashi::cli
