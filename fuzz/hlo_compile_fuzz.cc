// Any bytes as HLO text: a program that the evaluator runs on made-up arguments, the compiled engine also runs, or
// refuses. Without real numbers, which the two may round differently, both give the same result.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "fuzz/hlo_text_mutator.h"
#include "fuzz/small_program.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/check.h"
#include "kashi/base/guard_pages.h"
#include "kashi/cpu/compiled_program.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/hlo_evaluator.h"
#include "kashi/evaluator/literal_run.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::fuzz {
namespace {

bool HasRealNumbers(const HloModule& module) {
  bool has = false;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      ShapeUtil::ForEachSubshape(instruction->shape(), [&](const Shape& part, const ShapeIndex&) {
        if (!part.IsArray()) return;
        has = has || primitive_util::IsFloatingPointType(part.element_type()) ||
              primitive_util::IsComplexType(part.element_type());
      });
    }
  }
  return has;
}

bool IsLimit(const absl::Status& status) {
  return absl::IsResourceExhausted(status) || absl::IsCancelled(status) || absl::IsDeadlineExceeded(status);
}

// Between guard pages, an access beyond an array ends the process.
void CompareRun(const HloModule& module, const cpu::CompiledProgram& program, const std::vector<Literal>& arguments,
                const Literal& expected) {
  evaluator::RunHooks hooks;
  hooks.compiled = &program;
  evaluator::EvaluationRun run(OptionsOfSmallRun(), hooks);
  std::vector<const Literal*> pointers;
  for (const Literal& argument : arguments) pointers.push_back(&argument);
  const absl::StatusOr<Literal> actual = evaluator::RunOnLiterals(*program.module().entry_computation(), pointers, run);
  if (IsLimit(actual.status())) return;
  KASHI_CHECK_OK(actual);
  KASHI_CHECK(ShapeUtil::Compatible(expected.shape(), actual->shape()));
  if (!HasRealNumbers(module)) KASHI_CHECK(expected == *actual) << expected.ToString() << "\n" << actual->ToString();
}

void Compare(const HloModule& module) {
  const std::optional<std::vector<Literal>> arguments = MakeAnyArguments(module);
  if (!arguments.has_value()) return;
  const absl::StatusOr<Literal> expected =
      HloEvaluator(OptionsOfSmallRun()).Evaluate(module, absl::MakeConstSpan(*arguments));
  if (!expected.ok()) return;
  const absl::StatusOr<std::unique_ptr<cpu::CompiledProgram>> program = cpu::CompiledProgram::Compile(module);
  KASHI_CHECK_OK(program);
  for (const base::GuardPages pages : {base::GuardPages::kBehind, base::GuardPages::kBefore}) {
    const base::WithGuardPages guarded(pages);
    CompareRun(module, **program, *arguments, *expected);
  }
}

}  // namespace
}  // namespace kashi::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto module = kashi::fuzz::ReadSmallProgram({reinterpret_cast<const char*>(data), size});
  if (module != nullptr) kashi::fuzz::Compare(*module);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  return kashi::fuzz::MutateHloText(data, size, max_size, seed);
}
