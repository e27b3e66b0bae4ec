// What is computed for a whole module before the facts of its instructions (facts.cc), for the functions that give the
// values (fact_values.cc).
#ifndef KASHI_QUERY_PREPARED_FACTS_H_
#define KASHI_QUERY_PREPARED_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "kashi/array/device_size.h"
#include "kashi/insight/counted_cost.h"
#include "kashi/insight/execution_counts.h"
#include "kashi/insight/roofline.h"
#include "kashi/insight/scopes.h"
#include "kashi/query/facts.h"

namespace kashi::query {

struct ModuleFacts::Prepared {
  Prepared(const HloModule& module, CallGraph call_graph, ModuleFactsOptions options);

  const insight::ExecutionCounts& execution_counts() const { return cost.has_value() ? cost->counts() : *counts; }
  // Of the layouts as they are. Zeros where the size is not known or beyond 2^63. Not thread-safe.
  const DeviceSize& SizeOf(const HloInstruction& instruction) const;
  // The cost of all runs: for a fused instruction without bytes, which only the fusion reads and writes; nothing for
  // one in a computation on elements, such as that of a reduce, which counts for it.
  Cost CostOf(const HloInstruction& instruction) const;

  const HloModule& module;
  CallGraph call_graph;
  ModuleFactsOptions options;
  absl::flat_hash_map<const HloInstruction*, int64_t> depths;
  std::optional<insight::ExecutionCounts> counts;  // if no cost is needed
  std::optional<insight::CountedCost> cost;
  std::optional<insight::Scopes> scopes;
  std::optional<insight::Roofline> roofline;

 private:
  // Instructions share equal shapes, so each is measured once.
  mutable absl::flat_hash_map<const Shape*, DeviceSize> sizes_;
};

// A function of the table of facts.
using FactFunction = FactValue (*)(const ModuleFacts::Prepared& prepared, const HloInstruction& instruction);
FactFunction FunctionOf(Fact fact);

}  // namespace kashi::query

#endif  // KASHI_QUERY_PREPARED_FACTS_H_
