// `kashi relayout --check`: compares a plan with the index loop. Random data for plans.
#ifndef KASHI_CLI_RELAYOUT_CHECK_H_
#define KASHI_CLI_RELAYOUT_CHECK_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "cli/json.h"
#include "kashi/relayout/placement.h"
#include "kashi/relayout/relayout_plan.h"

namespace kashi::cli {

// Random bits. The same seed gives the same bits for any number of threads.
void FillRandom(char* data, int64_t bytes, uint64_t seed);

// Random elements and random padding. If a slot has more bits than the type, the bits are valid: a PRED is 0 or 1, a
// narrow integer is sign-extended. Pre: `data` has byte_size() of the placement's map.
void FillRandomArray(const Placement& placement, char* data, uint64_t seed);

// The result of the comparison.
struct CheckResult {
  int64_t bytes = 0;  // compared
  bool is_equal = true;
  // The first difference.
  int64_t byte = 0;
  int got = 0;
  int want = 0;
  std::string place;  // "element [1,2]", "padding"
};

// Compares all bytes of the target buffer. `wanted` has the bytes that `got` had before Execute; the index loop writes
// its result there.
CheckResult CheckByIndex(const RelayoutPlan& plan, const char* source, const char* got, char* wanted);

std::string ToText(const CheckResult& result);  // "check: equal (40 bytes)\n"
void AddTo(const CheckResult& result, Json* json);

}  // namespace kashi::cli

#endif  // KASHI_CLI_RELAYOUT_CHECK_H_
