// The option --target of `kashi cost`: an accelerator by name, or this processor.
#ifndef KASHI_CLI_TARGET_OPTION_H_
#define KASHI_CLI_TARGET_OPTION_H_

#include <string>

#include "absl/strings/string_view.h"
#include "cli/options.h"
#include "kashi/insight/accelerators.h"

namespace kashi::cli {

// `name` stays empty without the option. Other names than those of the table and "cpu" are wrong usage.
void AddAcceleratorOption(Verb* verb, const std::string& description, std::string* name);

// The accelerator of a name that the option accepts. The peaks of "cpu" are measured: that takes some 0.1 s, once.
const insight::Accelerator& AcceleratorOf(absl::string_view name);

}  // namespace kashi::cli

#endif  // KASHI_CLI_TARGET_OPTION_H_
