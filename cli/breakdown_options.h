// The options --by, --tree, --depth, --keep-transforms and --flame, which `cost`, `memory` and `run --profile` share,
// and what they print.
#ifndef KASHI_CLI_BREAKDOWN_OPTIONS_H_
#define KASHI_CLI_BREAKDOWN_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cli/json.h"
#include "cli/options.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/insight/breakdown.h"
#include "kashi/insight/execution_counts.h"

namespace kashi::cli {

struct BreakdownOptions {
  std::optional<insight::Grouping> by;
  bool tree = false;
  int64_t depth = 0;  // of paths; 0: any
  bool keep_transforms = false;
  std::string flame;  // the file of --flame

  // An error message if there are details, but no --by; else "".
  std::string Error() const;
};

// `what`: "flops, transcendentals and bytes".
void AddBreakdownOptions(Verb* verb, const std::string& what, BreakdownOptions* options);

// A measure: its key in JSON and the heading of its column, the text of a value, and one with a unit for flame graphs.
struct BreakdownColumn {
  std::string key;
  std::string heading;
  std::function<std::string(double)> text;
  std::function<std::string(double)> text_with_unit;
};

struct BreakdownShape {
  std::vector<BreakdownColumn> columns;
  size_t sort = 0;    // the column by which rows are ordered, and whose share is shown
  std::string items;  // the heading of the number of things: "instructions"
};

// The answer to --by about one module.
class BreakdownTable {
 public:
  // The module must outlive it. Pre: options.by has a value. INVALID_ARGUMENT for modules with broken links.
  static absl::StatusOr<BreakdownTable> Create(const HloModule& module, const insight::ExecutionCounts& counts,
                                               const BreakdownOptions& options, BreakdownShape shape);

  // Adds the values of an instruction; or of something that is none, under this name.
  void Add(const HloInstruction& instruction, const std::vector<double>& values);
  void AddOther(const std::string& name, const std::vector<double>& values);
  // Orders the rows. To be called before the functions below.
  void Sort() { breakdown_.Sort(shape_.sort); }

  // The total, at most `top` rows and a line for the others. With --tree a line has the sum of all that is below it,
  // and `top` holds for the parts of each.
  std::string ToText(int64_t top) const;
  // The total and some rows, the outermost parts of paths. The largest of them are opened into their own parts, as long
  // as that tells more.
  std::string ToSummary() const;
  // All rows; their values add up to the total. With --tree objects with "parts".
  Json ToJson() const;
  // Writes the flame graph if there is --flame.
  absl::Status WriteFlame(const std::string& module_name) const;

  absl::string_view grouping_name() const;  // "scope"

 private:
  using Lines = std::vector<std::vector<std::string>>;
  // A row of a summary: a node with all that is below it, or without its parts.
  struct Part {
    int64_t node;
    bool is_alone = false;
    double value = 0;
  };

  BreakdownTable(const BreakdownOptions& options, insight::Groups groups, BreakdownShape shape);
  std::vector<Part> SummaryParts() const;
  bool Open(const Part& part, std::vector<Part>* opened) const;
  Lines HeadLines() const;
  std::string TableOf(Lines lines) const;
  void AddRows(int64_t top, Lines* lines) const;
  void AddTree(int64_t top, Lines* lines) const;
  std::vector<std::string> LineOf(const std::string& name, int64_t items, const std::vector<double>& values) const;
  Json NodeJson(const std::string& name, int64_t items, const std::vector<double>& values) const;

  BreakdownOptions options_;
  insight::Groups groups_;
  BreakdownShape shape_;
  insight::Breakdown breakdown_;
};

}  // namespace kashi::cli

#endif  // KASHI_CLI_BREAKDOWN_OPTIONS_H_
