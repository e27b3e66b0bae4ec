#include "cli/diff_partitioned.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/global_program.h"
#include "cli/verb.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/literal/literal_comparison.h"

namespace kashi::cli {
namespace {

bool ArePair(const ProgramScope& whole, const ProgramScope& partitioned) {
  return whole.is_global() && partitioned.kind == ProgramScope::Kind::kPerDevice &&
         whole.partitions == partitioned.partitions;
}

std::string OutputLine(size_t i, const PartitionedOutput& output) {
  return absl::StrCat("out", i, "  ", ShapeUtil::HumanString(output.shape), "  ", DescribeSharding(output), "  ",
                      VerdictText(output.comparison), ToText(output.comparison), "\n");
}

Json OutputEntry(const PartitionedOutput& output) {
  Json entry = ToJson(output.comparison);
  entry["sharding"] = output.sharding.ToString();
  entry["is_inferred"] = output.is_inferred;
  entry["copies"] = output.copies;
  return entry;
}

}  // namespace

std::optional<PartitionedPair> FindPartitionedPair(const ScopedModule& a, const ScopedModule& b) {
  if (ArePair(a.scope, b.scope)) return PartitionedPair{&a.module, &b.module, a.scope, true};
  if (ArePair(b.scope, a.scope)) return PartitionedPair{&b.module, &a.module, b.scope, false};
  return std::nullopt;
}

absl::StatusOr<PartitionedDiff> DiffPartitioned(const PartitionedPair& pair, const Arguments& arguments,
                                                Tolerance tolerance, const EvaluationOptions& options,
                                                const HloModule** running) {
  KASHI_ASSIGN_OR_RETURN(
      const std::vector<PartitionedOutput> outputs,
      CompareWithPartitioned(*pair.whole, pair.scope, *pair.partitioned, arguments, tolerance, options, running));
  PartitionedDiff diff;
  diff.differs = false;
  diff.text = absl::StrCat(pair.whole_is_a ? "A" : "B", " is one global program over ",
                           Count(pair.scope.partitions, "device"), ", ", pair.whole_is_a ? "B" : "A",
                           " is partitioned: structures are not compared, outputs are joined\n");
  Json list = Json::array();
  for (size_t i = 0; i < outputs.size(); ++i) {
    diff.differs = diff.differs || !outputs[i].comparison.agrees;
    absl::StrAppend(&diff.text, OutputLine(i, outputs[i]));
    list.push_back(OutputEntry(outputs[i]));
  }
  diff.json = {{"global", pair.whole_is_a ? "a" : "b"}, {"partitions", pair.scope.partitions}, {"outputs", list}};
  return diff;
}

}  // namespace kashi::cli
