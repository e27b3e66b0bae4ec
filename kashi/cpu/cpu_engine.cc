// Registers the engine cpu. kashi/CMakeLists.txt asks for the symbol at the end, so that the linker takes this file.
#include <memory>

#include "kashi/codegen/kernel_support.h"
#include "kashi/cpu/compiled_program.h"
#include "kashi/engine/engine.h"

namespace kashi::cpu {
namespace {

class CpuEngine : public engine::Engine {
 public:
  absl::string_view name() const override { return "cpu"; }
  bool keeps_module() const override { return false; }
  const passes::CodeSupport* code_support() const override { return &codegen::KernelSupport(); }
  absl::StatusOr<std::unique_ptr<engine::EngineProgram>> Compile(
      const HloModule& module, const CompileOptions& options,
      absl::Span<const engine::CompiledObject> known) const override {
    return CompiledProgram::Compile(module, options, known);
  }
};

[[maybe_unused]] const bool registered = engine::RegisterEngine(std::make_unique<CpuEngine>());

}  // namespace
}  // namespace kashi::cpu

extern "C" void kashi_link_cpu_engine() {}
