// What `kashi query` prints about the instructions that it finds: lines, columns, counts, sums.
#ifndef KASHI_CLI_QUERY_OUTPUT_H_
#define KASHI_CLI_QUERY_OUTPUT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "cli/module_file.h"
#include "cli/verb.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/query/facts.h"

namespace kashi::cli {

struct QueryOutputOptions {
  std::vector<query::Fact> columns;  // empty: lines of text; all keys in JSON
  std::optional<query::Fact> by;     // sums by this fact
  std::string sort;                  // a key, or a column of the sums; empty: the order of the text
  bool reverse = false;
  int64_t top = -1;   // rows after sorting; -1: all
  int64_t most = -1;  // matches, in order; -1: all
  bool count = false;
  bool files = false;
  bool quiet = false;
  bool tsv = false;
  bool json = false;
  bool colour = false;
  bool has_device = false;  // seconds are known
};

class QueryOutput {
 public:
  virtual ~QueryOutput() = default;
  // The facts that modules must be prepared for.
  virtual query::FactSet facts() const = 0;
  virtual void Add(const ModuleFile& file, const query::ModuleFacts& facts,
                   absl::Span<const HloInstruction* const> found) = 0;
  // After the last module.
  virtual void Finish() {}
};

// Writes to `answers`, which must outlive it.
std::unique_ptr<QueryOutput> MakeQueryOutput(const QueryOutputOptions& options, Answers* answers);

// The columns that --sort may name besides keys, where there is --by.
std::vector<std::string> SumColumns(bool has_device);

}  // namespace kashi::cli

#endif  // KASHI_CLI_QUERY_OUTPUT_H_
