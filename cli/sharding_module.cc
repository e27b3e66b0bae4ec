#include "cli/sharding_module.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/scope_note.h"
#include "cli/sharding_figure.h"
#include "cli/table_text.h"
#include "cli/verb.h"
#include "kashi/array/device_size.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/insight/execution_counts.h"
#include "kashi/scale/collective_plans.h"
#include "kashi/scale/network.h"

namespace kashi::cli {

using base::HumanBytes;
using base::WithThousands;
namespace {

// ---- Arrays ---------------------------------------------------------------------------------------------------------

// Fills in what each device holds, or why that is not known.
void Measure(const HloSharding& sharding, int64_t num_devices, ShardedArray* array) {
  array->sharding = sharding.ToString();
  const auto measure = [&]() -> absl::Status {
    KASHI_ASSIGN_OR_RETURN(const hlo::DeviceParts parts,
                           hlo::PartsOf(sharding, array->shape.dimensions(), num_devices));
    KASHI_ASSIGN_OR_RETURN(array->shard, ShardShapeOf(array->shape, parts));
    KASHI_ASSIGN_OR_RETURN(array->bytes, ShardBytes(array->shard));
    array->copies = static_cast<int64_t>(parts.parts[0].devices.size());
    return absl::OkStatus();
  };
  const absl::Status status = measure();
  if (!status.ok()) array->problem = std::string(status.message());
}

// Adds the leaves of a value; `sharding` is that of all, or of each leaf.
void AddLeaves(const std::string& name, const Shape& shape, const std::optional<HloSharding>& sharding,
               const ProgramScope& scope, int64_t num_devices, std::vector<ShardedArray>* arrays) {
  std::vector<ShapeUtil::IndexedShape> leaves = ShapeUtil::GetLeafShapes(shape);
  for (const ShapeUtil::IndexedShape& leaf : leaves) {
    if (!leaf.shape.IsArray()) continue;
    ShardedArray& array = arrays->emplace_back();
    array.name = absl::StrCat(name, leaf.index.empty() ? "" : leaf.index.ToString());
    array.shape = leaf.shape;
    std::optional<HloSharding> own = sharding;
    if (own.has_value() && own->IsTuple()) {
      const auto tree = own->AsShapeTree(shape);
      own = tree.ok() ? std::optional<HloSharding>(tree->element(leaf.index)) : std::nullopt;
    }
    if (scope.is_global() && own.has_value()) {
      Measure(*own, num_devices, &array);
      continue;
    }
    if (own.has_value()) array.sharding = own->ToString();
    array.shard = leaf.shape;
    const absl::StatusOr<int64_t> bytes = ShardBytes(leaf.shape);
    if (bytes.ok()) {
      array.bytes = *bytes;
    } else {
      array.problem = std::string(bytes.status().message());
    }
  }
}

void AddArrays(const HloModule& module, int64_t num_devices, ShardingReport* report) {
  const HloComputation& entry = *module.entry_computation();
  const std::vector<HloSharding> parameters = ParameterShardings(module);
  for (int64_t i = 0; i < entry.num_parameters(); ++i) {
    const HloInstruction& parameter = *entry.parameter_instruction(i);
    AddLeaves(absl::StrCat("argument ", i, ", ", parameter.name()), parameter.shape(), parameters[i], report->scope,
              num_devices, &report->arguments);
  }
  const std::vector<std::optional<HloSharding>> results = ResultShardings(module);
  const std::vector<ShapeUtil::IndexedShape> leaves = ShapeUtil::GetLeafShapes(entry.root_instruction()->shape());
  for (size_t i = 0; i < leaves.size(); ++i) {
    AddLeaves(absl::StrCat("result ", i), leaves[i].shape, i < results.size() ? results[i] : std::nullopt,
              report->scope, num_devices, &report->results);
  }
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (!instruction->has_sharding() || instruction->opcode() == HloOpcode::kParameter || instruction->IsRoot())
        continue;
      AddLeaves(std::string(instruction->name()), instruction->shape(), instruction->sharding(), report->scope,
                num_devices, &report->others);
    }
  }
  absl::c_stable_sort(report->others, [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
}

// ---- Collectives ----------------------------------------------------------------------------------------------------

// Bytes that each member sends: the least that algorithms for long messages need (kashi/scale/collective_time.h).
double SentBytes(HloOpcode opcode, double bytes, int64_t members) {
  if (members <= 1) return 0;
  const double part = static_cast<double>(members - 1) / static_cast<double>(members);
  if (opcode == HloOpcode::kAllReduce) return 2 * bytes * part;
  return opcode == HloOpcode::kCollectivePermute || opcode == HloOpcode::kCollectiveBroadcast ? bytes : bytes * part;
}

CollectiveTraffic TrafficOf(const scale::CollectivePlan& plan, const HloInstruction& instruction, double calls) {
  CollectiveTraffic row;
  row.opcode = std::string(HloOpcodeString(plan.opcode));
  row.calls = calls;
  row.bytes = plan.bytes;
  row.example = std::string(instruction.name());
  if (plan.pairs != nullptr) {
    row.groups = static_cast<int64_t>(plan.pairs->size());
    row.members = 2;
    row.sent = plan.pairs->empty() ? 0 : plan.bytes;
    if (!plan.pairs->empty()) {
      row.first_group = absl::StrCat(plan.pairs->front().first, " to ", plan.pairs->front().second);
    }
    return row;
  }
  row.groups = plan.group_count;
  row.members = plan.members;
  row.sent = SentBytes(plan.opcode, plan.bytes, plan.members);
  if (plan.groups != nullptr && !plan.groups->empty()) row.first_group = NumbersText(plan.groups->front());
  return row;
}

absl::Status AddCollectives(const HloModule& module, ShardingReport* report) {
  const DeviceCounts counts{std::max<int64_t>(1, module.config().replica_count()),
                            std::max(report->scope.partitions, module.config().num_partitions())};
  if (counts.total() > Network::kMostDevices) return absl::OkStatus();
  // Only groups and bytes are asked for: any network will do.
  KASHI_ASSIGN_OR_RETURN(const Network network,
                         Network::Create(Network::Kind::kSwitch, {counts.total()}, {{1e-6, 1e9}}));
  scale::CollectivePlans plans(network, counts);
  KASHI_ASSIGN_OR_RETURN(const insight::ExecutionCounts runs, insight::ExecutionCounts::Compute(module));
  std::map<std::tuple<std::string, double, int64_t, int64_t, std::string>, CollectiveTraffic> rows;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      const double calls = runs.CountOf(instruction);
      if (calls == 0 || !scale::CollectiveOpcode(*instruction).has_value()) continue;
      KASHI_ASSIGN_OR_RETURN(const scale::CollectivePlan* const plan, plans.PlanOf(*instruction));
      CollectiveTraffic row = TrafficOf(*plan, *instruction, calls);
      const auto key = std::make_tuple(row.opcode, row.bytes, row.groups, row.members, row.first_group);
      const auto [found, is_new] = rows.emplace(key, std::move(row));
      if (!is_new) found->second.calls += calls;
    }
  }
  for (auto& [key, row] : rows) report->collectives.push_back(std::move(row));
  absl::c_stable_sort(report->collectives,
                      [](const auto& a, const auto& b) { return a.sent * a.calls > b.sent * b.calls; });
  return absl::OkStatus();
}

// ---- Text -----------------------------------------------------------------------------------------------------------

std::string HumanShape(const Shape& shape) { return ShapeUtil::HumanString(shape); }

// Of a partitioned module only each device's part of an array is known.
void AddRows(const std::vector<ShardedArray>& arrays, size_t most, bool is_global,
             std::vector<std::vector<std::string>>* rows) {
  for (size_t i = 0; i < std::min(most, arrays.size()); ++i) {
    const ShardedArray& array = arrays[i];
    const bool is_known = array.problem.empty();
    std::vector<std::string>& row = rows->emplace_back();
    row = {array.name, HumanShape(array.shape)};
    if (is_global) row.push_back(is_known ? HumanShape(array.shard) : "?");
    row.push_back(is_known ? HumanBytes(array.bytes) : "?");
    if (is_global) row.push_back(is_known ? absl::StrCat(array.copies) : "?");
    row.push_back(array.sharding.empty() ? "-" : array.sharding);
  }
}

std::string MoreText(size_t count, int64_t top, absl::string_view noun) {
  if (count <= static_cast<size_t>(top)) return "";
  return absl::StrCat("  and ", Count(static_cast<int64_t>(count) - top, noun), " (--top)\n");
}

std::string CollectivesText(const ShardingReport& report, int64_t top, size_t width) {
  if (report.collectives.empty()) {
    return report.scope.is_global() ? "\nCollectives appear when the program is partitioned: --partition.\n"
                                    : "\nThe program has no collectives.\n";
  }
  std::vector<std::vector<std::string>> rows = {
      {"collective", "calls", "bytes", "a device sends", "in all", "groups", "first group"}};
  double sent = 0;
  for (size_t i = 0; i < report.collectives.size(); ++i) {
    const CollectiveTraffic& row = report.collectives[i];
    sent += row.sent * row.calls;
    if (i >= static_cast<size_t>(top)) continue;
    const auto bytes = [](double value) { return HumanBytes(static_cast<int64_t>(std::min(value, 9e18))); };
    rows.push_back(
        {row.opcode, absl::StrFormat("%.15g", row.calls), bytes(row.bytes), bytes(row.sent),
         bytes(row.sent * row.calls),
         row.opcode == "collective-permute" ? Count(row.groups, "pair") : absl::StrCat(row.groups, " of ", row.members),
         absl::StrCat(row.first_group, "  (", row.example, ")")});
  }
  return absl::StrCat("\n", TableText(std::move(rows), width), MoreText(report.collectives.size(), top, "more kind"),
                      "In one run each device sends ", HumanBytes(static_cast<int64_t>(std::min(sent, 9e18))),
                      " in collectives, by the algorithms that are best for long messages.\n");
}

Json ArrayJson(const ShardedArray& array, const char* kind) {
  Json json;
  json["kind"] = kind;
  json["name"] = array.name;
  json["shape"] = array.shape.ToString(/*print_layout=*/true);
  json["sharding"] = array.sharding.empty() ? Json() : Json(array.sharding);
  const bool is_known = array.problem.empty();
  json["shard"] = is_known ? Json(array.shard.ToString(/*print_layout=*/true)) : Json();
  json["bytes"] = is_known ? Json(array.bytes) : Json();
  json["copies"] = is_known ? Json(array.copies) : Json();
  if (!is_known) json["problem"] = array.problem;
  return json;
}

}  // namespace

absl::StatusOr<Shape> ShardShapeOf(const Shape& whole, const hlo::DeviceParts& parts) {
  Shape shard = whole;
  for (int64_t i = 0; i < shard.rank(); ++i) {
    shard.set_dimensions(static_cast<int>(i), parts.shard_dimensions[i]);
  }
  return shard;
}

absl::StatusOr<int64_t> ShardBytes(const Shape& shard) {
  // The rule for arrays without tiles is that of TPU programs.
  Shape with_layout = shard;
  if (!with_layout.has_layout()) LayoutUtil::SetToDefaultLayout(&with_layout);
  const bool is_tiled = !with_layout.layout().tiles().empty();
  KASHI_ASSIGN_OR_RETURN(const DeviceSize size, GetDeviceSize(with_layout, {/*pad_untiled=*/is_tiled}));
  return size.bytes;
}

absl::StatusOr<ShardingReport> MakeShardingReport(const HloModule& module, int64_t num_devices) {
  ShardingReport report;
  report.scope = ProgramScopeOf(module);
  if (num_devices == 0) num_devices = report.scope.partitions;
  AddArrays(module, num_devices, &report);
  KASHI_RETURN_IF_ERROR(AddCollectives(module, &report));
  return report;
}

std::string ShardingReportText(const HloModule& module, const ShardingReport& report, int64_t top, size_t width) {
  std::string text = absl::StrCat("module ", module.name(), ": ");
  switch (report.scope.kind) {
    case ProgramScope::Kind::kOneDevice:
      absl::StrAppend(&text, "one device\n");
      break;
    case ProgramScope::Kind::kPerDevice:
      absl::StrAppend(&text, "the program of each of ", Count(report.scope.partitions, "device"), "\n");
      break;
    case ProgramScope::Kind::kGlobal:
      absl::StrAppend(&text, ScopeText(report.scope), "\n");
      break;
  }
  const bool is_global = report.scope.is_global();
  std::vector<std::vector<std::string>> rows = {{"array", "each device", "bytes", "sharding"}};
  if (is_global) rows = {{"array", "whole", "each device", "bytes", "copies", "sharding"}};
  AddRows(report.arguments, report.arguments.size(), is_global, &rows);
  AddRows(report.results, report.results.size(), is_global, &rows);
  AddRows(report.others, static_cast<size_t>(top), is_global, &rows);
  absl::StrAppend(&text, TableText(std::move(rows), width), MoreText(report.others.size(), top, "more instruction"));
  int64_t bytes = 0;
  for (const ShardedArray& array : report.arguments) bytes += array.bytes;
  absl::StrAppend(&text, "The arguments take ", HumanBytes(bytes), " on each device.\n");
  for (const auto* arrays : {&report.arguments, &report.results, &report.others}) {
    for (const ShardedArray& array : *arrays) {
      if (!array.problem.empty()) absl::StrAppend(&text, array.name, ": ", array.problem, "\n");
    }
  }
  return absl::StrCat(text, CollectivesText(report, top, width));
}

Json ShardingReportJson(const std::string& file, const ShardingReport& report) {
  Json json;
  json["file"] = file;
  json["program"] = ScopeJson(report.scope);
  Json arrays = Json::array();
  for (const ShardedArray& array : report.arguments) arrays.push_back(ArrayJson(array, "argument"));
  for (const ShardedArray& array : report.results) arrays.push_back(ArrayJson(array, "result"));
  for (const ShardedArray& array : report.others) arrays.push_back(ArrayJson(array, "instruction"));
  json["arrays"] = std::move(arrays);
  Json collectives = Json::array();
  for (const CollectiveTraffic& row : report.collectives) {
    collectives.push_back({{"opcode", row.opcode},
                           {"count", row.calls},
                           {"bytes", row.bytes},
                           {"sent_bytes", row.sent},
                           {"groups", row.groups},
                           {"members", row.members},
                           {"first_group", row.first_group},
                           {"name", row.example}});
  }
  json["collectives"] = std::move(collectives);
  return json;
}

}  // namespace kashi::cli
