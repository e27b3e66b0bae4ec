// `kashi relayout --check`: the plan against the index loop, and data to try plans on.
#ifndef KASHI_CLI_RELAYOUT_CHECK_H_
#define KASHI_CLI_RELAYOUT_CHECK_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "cli/json.h"
#include "kashi/relayout/placement.h"
#include "kashi/relayout/relayout_plan.h"

namespace kashi::internal::cli {

// Random bits, the same for the same seed whatever the threads.
void FillRandom(char* data, int64_t bytes, uint64_t seed);

// Random elements; padding too is random. Where an element has more bits than its type, they are as they should be: those
// of a PRED 0 or 1, those of a narrow integer its sign. Pre: `data` has byte_size() of the placement's map.
void FillRandomArray(const Placement& placement, char* data, uint64_t seed);

// What the index loop says of a target that Execute has made.
struct CheckResult {
  int64_t bytes = 0;  // compared
  bool is_equal = true;
  // Of the first difference.
  int64_t byte = 0;
  int got = 0;
  int want = 0;
  std::string place;  // "element [1,2]", "padding"
};

// Compares all bytes of the target buffer. `wanted` holds what `got` held before Execute, and receives what the index loop
// makes of it.
CheckResult CheckByIndex(const RelayoutPlan& plan, const char* source, const char* got, char* wanted);

std::string ToText(const CheckResult& result);  // "check: equal (40 bytes)\n"
void AddTo(const CheckResult& result, Json* json);

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_RELAYOUT_CHECK_H_
