// What CMake tells the library about its build. One small file is compiled again when that changes.
#ifndef KASHI_ENGINE_BUILD_FACTS_H_
#define KASHI_ENGINE_BUILD_FACTS_H_

#include "absl/strings/string_view.h"

namespace kashi::engine {

// The version of Kashi, such as "0.2.0".
absl::string_view Version();
// AboutCompiledEngine (engine.h).
absl::string_view CompiledEngineFact();

}  // namespace kashi::engine

#endif  // KASHI_ENGINE_BUILD_FACTS_H_
