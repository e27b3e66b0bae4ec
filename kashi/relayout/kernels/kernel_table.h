// The list of kernels. To add one, write its pair of files (kernel.h lists the members), include the header here, and
// put the plan into the list, before the slower ones.
#ifndef KASHI_RELAYOUT_KERNELS_KERNEL_TABLE_H_
#define KASHI_RELAYOUT_KERNELS_KERNEL_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "absl/types/span.h"
#include "kashi/relayout/kernels/blocks.h"
#include "kashi/relayout/kernels/convert.h"
#include "kashi/relayout/kernels/convert_blocks.h"
#include "kashi/relayout/kernels/elements.h"
#include "kashi/relayout/kernels/exchange.h"
#include "kashi/relayout/kernels/interleave.h"
#include "kashi/relayout/kernels/kernel.h"
#include "kashi/relayout/kernels/rows.h"
#include "kashi/relayout/kernels/tails.h"

namespace kashi::relayout {

// The order in which kernels are tried: each one refuses boxes that a later one moves better.
using KernelPlan = std::variant<RowsPlan, ExchangePlan, InterleavePlan, BlocksPlan, TailsPlan, ConvertPlan,
                                ConvertBlocksPlan, ElementsPlan>;

// A row of the table: a kernel as functions. `run` and those behind it are given a plan of that kernel.
struct KernelRow {
  const char* name;
  int boxes;  // BoxKind
  double cost;
  TryResult<KernelPlan> (*try_box)(const BoxOffer& offer);
  void (*run)(const KernelPlan& plan, const Task& task);
  int64_t (*task_bytes)(const KernelPlan& plan, const TaskGrid& grid, const PlanContext& context);
  BlockRuns (*runs)(const KernelPlan& plan, const TaskGrid& grid, const PlanContext& context);
  void (*print)(const KernelPlan& plan, const TaskGrid& grid, const PlanContext& context, std::string* text);
};

// Row i is of alternative i of KernelPlan.
absl::Span<const KernelRow> KernelTable();

inline const KernelRow& KernelOf(const KernelPlan& plan) { return KernelTable()[plan.index()]; }

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_KERNELS_KERNEL_TABLE_H_
