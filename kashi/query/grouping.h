// What instructions cost, summed up by the value of a fact: the table of `kashi query --by opcode`.
#ifndef KASHI_QUERY_GROUPING_H_
#define KASHI_QUERY_GROUPING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "kashi/analysis/cost_analysis.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/query/facts.h"

namespace kashi::query {

struct Group {
  FactValue value;           // of the fact
  int64_t instructions = 0;  // how many there are
  double bytes = 0;          // of their results, each once
  Cost cost;                 // of all their runs
  double seconds = 0;        // of all their runs; 0 without a device
};

class Grouping {
 public:
  // `has_device`: the facts will have an accelerator, and seconds are summed up.
  Grouping(Fact by, bool has_device) : by_(by), has_device_(has_device) {}

  // The facts that modules must be prepared for.
  FactSet facts() const;
  // Adds instructions of one module. The sums of a module's instructions, all of them, are the totals of its cost
  // (insight::CountedCost): of a conditional the dearest branch counts. An instruction in a fusion counts for itself
  // unless the fusion is among `instructions`, too. The cost of a function that is called from several scopes is shared
  // by these. O(instructions of the module).
  void Add(const ModuleFacts& facts, absl::Span<const HloInstruction* const> instructions);

  // In the order in which they were found.
  const std::vector<Group>& groups() const { return groups_; }

 private:
  struct Place {
    FactValue value;
    double share = 1;
  };

  std::vector<Place> PlacesOf(const ModuleFacts& facts, const HloInstruction& x) const;
  Group& GroupOf(const FactValue& value);

  Fact by_;
  bool has_device_;
  std::vector<Group> groups_;
  absl::flat_hash_map<std::string, size_t> places_;  // by the text of the value
};

}  // namespace kashi::query

#endif  // KASHI_QUERY_GROUPING_H_
