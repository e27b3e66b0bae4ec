#include "kashi/engine/build_facts.h"

namespace kashi::engine {

absl::string_view Version() { return KASHI_VERSION; }
absl::string_view CompiledEngineFact() { return KASHI_COMPILED_ENGINE; }

}  // namespace kashi::engine
