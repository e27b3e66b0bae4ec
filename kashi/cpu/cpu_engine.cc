// Registers the engine cpu. kashi/CMakeLists.txt asks for the symbol at the end, so that the linker takes this file.
#include <memory>

#include "kashi/cpu/compiled_program.h"
#include "kashi/engine/engine.h"

namespace kashi::internal {
namespace {

class CpuEngine : public Engine {
 public:
  absl::string_view name() const override { return "cpu"; }
  bool keeps_module() const override { return false; }
  absl::StatusOr<std::unique_ptr<EngineProgram>> Compile(const HloModule& module, const CompileOptions& options,
                                                         absl::Span<const CompiledObject> known) const override {
    return CompiledProgram::Compile(module, options, known);
  }
};

[[maybe_unused]] const bool registered = RegisterEngine(std::make_unique<CpuEngine>());

}  // namespace
}  // namespace kashi::internal

extern "C" void kashi_link_cpu_engine() {}
