// Makes the rows of the table out of the list in kernel_table.h: no edit is needed here.
#include "kashi/relayout/kernels/kernel_table.h"

#include <array>
#include <utility>

namespace kashi::relayout {
namespace {

template <class Plan>
KernelRow RowOf() {
  const auto try_box = [](const BoxOffer& offer) -> TryResult<KernelPlan> {
    TryResult<Plan> result = Plan::Try(offer);
    if (const Refusal* refusal = std::get_if<Refusal>(&result)) return *refusal;
    Planned<Plan>& planned = std::get<Planned<Plan>>(result);
    return Planned<KernelPlan>{std::move(planned.grid), std::move(planned.plan)};
  };
  return {Plan::kName,
          Plan::kBoxes,
          Plan::kCost,
          try_box,
          [](const KernelPlan& plan, const Task& task) { std::get_if<Plan>(&plan)->Run(task); },
          [](const KernelPlan& plan, const TaskGrid& grid, const PlanContext& context) {
            return std::get_if<Plan>(&plan)->TaskBytes(grid, context);
          },
          [](const KernelPlan& plan, const TaskGrid& grid, const PlanContext& context) {
            return std::get_if<Plan>(&plan)->Runs(grid, context);
          },
          [](const KernelPlan& plan, const TaskGrid& grid, const PlanContext& context, std::string* text) {
            std::get_if<Plan>(&plan)->Print(grid, context, text);
          }};
}

template <size_t... i>
std::array<KernelRow, sizeof...(i)> RowsOf(std::index_sequence<i...>) {
  return {RowOf<std::variant_alternative_t<i, KernelPlan>>()...};
}

}  // namespace

absl::Span<const KernelRow> KernelTable() {
  static const auto table = RowsOf(std::make_index_sequence<std::variant_size_v<KernelPlan>>());
  return table;
}

}  // namespace kashi::relayout
