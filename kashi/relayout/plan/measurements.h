// The fastest choice for each problem, as measured in this process.
#ifndef KASHI_RELAYOUT_PLAN_MEASUREMENTS_H_
#define KASHI_RELAYOUT_PLAN_MEASUREMENTS_H_

#include <optional>
#include <string>

#include "kashi/relayout/nests/choice.h"
#include "kashi/relayout/plan/problem.h"

namespace kashi::relayout {

// Everything on which the best choice depends except the machine: one line of text.
std::string MeasurementKey(const RelayoutTask& task);

std::optional<PlanChoice> FindMeasurement(const std::string& key);
void RememberMeasurement(const std::string& key, const PlanChoice& choice);

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_PLAN_MEASUREMENTS_H_
