#include "cli/pass_support.h"

#include "kashi/engine/engine.h"
#include "kashi/passes/any_engine.h"

namespace kashi::cli {

const passes::CodeSupport& PassSupport() {
  const engine::Engine* const compiled = engine::FindEngine("cpu");
  return compiled == nullptr ? passes::AnyEngine() : *compiled->code_support();
}

}  // namespace kashi::cli
