// Any bytes as HLO text: the evaluator runs, on made-up arguments, or refuses a module that reader and verifier accept.
// The result has the shape of the root. A run that takes too long is cancelled, and must then end soon: libFuzzer's
// -timeout.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fuzz/hlo_text_mutator.h"
#include "fuzz/small_program.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/check.h"
#include "kashi/evaluator/hlo_evaluator.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::fuzz {
namespace {

void Evaluate(const HloModule& module) {
  const std::optional<std::vector<Literal>> arguments = MakeAnyArguments(module);
  if (!arguments.has_value()) return;
  const absl::StatusOr<Literal> result =
      HloEvaluator(OptionsOfSmallRun()).Evaluate(module, absl::MakeConstSpan(*arguments));
  if (!result.ok()) {
    KASHI_CHECK(!result.status().message().empty());
    return;
  }
  const Shape& root = module.entry_computation()->root_instruction()->shape();
  KASHI_CHECK(ShapeUtil::Compatible(result->shape(), root)) << ShapeUtil::HumanString(result->shape());
}

}  // namespace
}  // namespace kashi::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto module = kashi::fuzz::ReadSmallProgram({reinterpret_cast<const char*>(data), size});
  if (module != nullptr) kashi::fuzz::Evaluate(*module);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  return kashi::fuzz::MutateHloText(data, size, max_size, seed);
}
