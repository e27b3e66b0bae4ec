// Profiles of runs as Python sees them.
#ifndef KASHI_PYTHON_SRC_PROFILES_H_
#define KASHI_PYTHON_SRC_PROFILES_H_

#include <cstdint>
#include <vector>

#include "binding.h"
#include "kashi/evaluator/step_profile.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::python {

// A dict: runs, run_ms, between_steps_ms, and steps, one dict for each step, the longest first. The times are sums over
// all runs, and belong to instructions of the module.
nb::dict ProfileFacts(const HloModule& module, std::vector<evaluator::StepTime> times, int64_t runs);

}  // namespace kashi::python

#endif  // KASHI_PYTHON_SRC_PROFILES_H_
