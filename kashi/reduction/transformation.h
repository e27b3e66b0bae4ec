// Transformations: ways to make a module smaller. Each finds the places where it could be applied, in a fixed order,
// and applies itself to some of them at once. Both are pure functions of the module: the same places of the same module
// give the same candidate, on every machine.
//
// A candidate need not be valid, nor smaller, nor mean the same: who searches verifies it, measures it (module_size.h)
// and asks whether it is still of interest.
#ifndef KASHI_REDUCTION_TRANSFORMATION_H_
#define KASHI_REDUCTION_TRANSFORMATION_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/reduction/module_edit.h"

namespace kashi::reduction {

// A place of a module. What the members mean is the transformation's affair.
struct Site {
  const HloInstruction* instruction = nullptr;
  int64_t number = 0;
  int64_t value = 0;
  const HloInstruction* other = nullptr;
  const HloComputation* computation = nullptr;
};

struct Transformation {
  absl::string_view name;  // "instructions", as in the progress line and in reports
  absl::string_view summary;
  // Whether several places may be tried at once: first all of them, then halves, quarters …, at last one by one.
  bool takes_many;
  bool needs_valid_module;  // evaluates parts of it: only for modules without findings of the verifier
  std::vector<Site> (*find)(const HloModule& module);
  // `sites`: one or more of those that find returned for the original of the edit. An error says that there is no
  // such candidate.
  absl::Status (*apply)(absl::Span<const Site> sites, ModuleEdit* edit);
};

// In the order in which a search should try them.
absl::Span<const Transformation> Transformations();

}  // namespace kashi::reduction

#endif  // KASHI_REDUCTION_TRANSFORMATION_H_
