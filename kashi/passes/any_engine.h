// The code of an engine that does not exist: one that has code for all elementwise operations, and for those that move
// elements. Passes can be tried on it where no engine is built that makes code.
#ifndef KASHI_PASSES_ANY_ENGINE_H_
#define KASHI_PASSES_ANY_ENGINE_H_

#include "kashi/passes/code_support.h"

namespace kashi::passes {

const CodeSupport& AnyEngine();

}  // namespace kashi::passes

#endif  // KASHI_PASSES_ANY_ENGINE_H_
