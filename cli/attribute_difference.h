// What changed in the attributes of an instruction, without what did not.
#ifndef KASHI_CLI_ATTRIBUTE_DIFFERENCE_H_
#define KASHI_CLI_ATTRIBUTE_DIFFERENCE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kashi::internal::cli {

// `a` and `b` as HLO text has attributes, `name=value, name=value`. The result names those that differ; of long lists
// `{"key":value,…}` only the keys that do:
//
//   dimensions={0} -> {1}; backend_config.window.count 3 -> 4
//
// Values of more than 80 characters that have no keys show the place where they part, between dots.
std::string AttributeDifference(absl::string_view a, absl::string_view b);

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_ATTRIBUTE_DIFFERENCE_H_
