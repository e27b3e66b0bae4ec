#include "cli/pass_support.h"

#ifdef KASHI_HAS_CPU
#include "kashi/codegen/kernel_support.h"
#else
#include "kashi/passes/any_engine.h"
#endif

namespace kashi::cli {

const passes::CodeSupport& PassSupport() {
#ifdef KASHI_HAS_CPU
  return codegen::KernelSupport();
#else
  return passes::AnyEngine();
#endif
}

}  // namespace kashi::cli
