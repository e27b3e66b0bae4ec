// What the passes of `kashi opt` ask an engine: which operations it has code for.
#ifndef KASHI_CLI_PASS_SUPPORT_H_
#define KASHI_CLI_PASS_SUPPORT_H_

#include "kashi/passes/code_support.h"

namespace kashi::cli {

// The compiled engine's. Where that is not built: kashi/passes/any_engine.h.
const passes::CodeSupport& PassSupport();

}  // namespace kashi::cli

#endif  // KASHI_CLI_PASS_SUPPORT_H_
