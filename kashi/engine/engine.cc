#include "kashi/engine/engine.h"

#include <map>
#include <set>

#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "kashi/base/check.h"
#include "kashi/base/status.h"
#include "kashi/engine/build_facts.h"

namespace kashi::engine {
namespace {

// Engines register while static objects are made, on one thread or on that of a library which is loaded later.
struct Registry {
  Registry() {
    std::unique_ptr<Engine> evaluator = MakeEvaluatorEngine();
    const std::string name(evaluator->name());
    engines.emplace(name, std::move(evaluator));
  }
  absl::Mutex mutex;
  std::map<std::string, std::unique_ptr<Engine>, std::less<>> engines;
};
Registry& TheRegistry() {
  static Registry* const registry = new Registry();
  return *registry;
}

}  // namespace

absl::Status EngineProgram::RunOnMemory(absl::Span<const void* const>, absl::Span<void* const>,
                                        evaluator::EvaluationRun&) const {
  return absl::UnimplementedError("this program has no way to run on the caller's memory");
}

const CompileStages& EngineProgram::stages() const {
  static const CompileStages* const none = new CompileStages();
  return *none;
}

bool RegisterEngine(std::unique_ptr<Engine> engine) {
  Registry& registry = TheRegistry();
  const absl::MutexLock lock(&registry.mutex);
  const std::string name(engine->name());
  KASHI_CHECK(registry.engines.emplace(name, std::move(engine)).second) << "two engines have the name " << name;
  return true;
}

const Engine* FindEngine(absl::string_view name) {
  Registry& registry = TheRegistry();
  const absl::MutexLock lock(&registry.mutex);
  const auto found = registry.engines.find(name);
  return found == registry.engines.end() ? nullptr : found->second.get();
}

// The engine of Kashi's that a build may be without.
constexpr absl::string_view kOptionalEngine = "cpu";

absl::StatusOr<const Engine*> EngineOfName(absl::string_view name) {
  if (const Engine* engine = FindEngine(name)) return engine;
  if (name == kOptionalEngine) {
    return Unimplemented("the compiled engine is not here; use the engine evaluator (compiled engine: %s)",
                         AboutCompiledEngine());
  }
  return InvalidArgument("no engine has the name `%s`; the engines are: %s", name, absl::StrJoin(EngineNames(), ", "));
}

std::vector<std::string> EngineNames() {
  Registry& registry = TheRegistry();
  const absl::MutexLock lock(&registry.mutex);
  std::set<std::string> names = {std::string(kOptionalEngine)};
  for (const auto& [name, engine] : registry.engines) names.insert(name);
  return {names.begin(), names.end()};
}

absl::string_view AboutCompiledEngine() { return CompiledEngineFact(); }

}  // namespace kashi::engine
