// The differences between the attributes of two instructions.
#ifndef KASHI_CLI_ATTRIBUTE_DIFFERENCE_H_
#define KASHI_CLI_ATTRIBUTE_DIFFERENCE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kashi::cli {

// `a` and `b` are attributes as in HLO text, `name=value, name=value`. The result has the attributes that differ. In a
// list `{"key":value,…}` it has only the keys that differ:
//
//   dimensions={0} -> {1}; backend_config.window.count 3 -> 4
//
// A value of more than 80 characters without keys is cut to the first place that differs, between dots.
std::string AttributeDifference(absl::string_view a, absl::string_view b);

}  // namespace kashi::cli

#endif  // KASHI_CLI_ATTRIBUTE_DIFFERENCE_H_
