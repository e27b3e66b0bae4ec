#include "kashi/pjrt/program_check.h"

#include <cstdlib>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kashi/array/primitive_util.h"
#include "kashi/base/status.h"
#include "kashi/engine/program_door.h"
#include "kashi/evaluator/step_checker.h"
#include "kashi/literal/literal.h"

namespace kashi::pjrt {
namespace {

// Absolute and relative: orders of sums differ.
double ToleranceOf(PrimitiveType type) {
  const int bits =
      primitive_util::BitWidth(primitive_util::IsComplexType(type) ? primitive_util::ComplexComponentType(type) : type);
  return bits <= 16 ? 0.05 : bits == 32 ? 1e-4 : 1e-9;
}

std::string Describe(const evaluator::StepDifference& difference) {
  return absl::StrCat("KASHI_CHECK: ", difference.instruction->ToString(), ": element ", difference.index, " is ",
                      difference.actual, ", but the evaluator computes ", difference.expected);
}

}  // namespace

bool ChecksPrograms() {
  static const bool checks = [] {
    const char* const value = std::getenv("KASHI_CHECK");
    return value != nullptr && *value != '\0' && absl::string_view(value) != "0";
  }();
  return checks;
}

absl::Status CheckProgram(const Program& program, absl::Span<Buffer* const> arguments) {
  std::vector<Literal> literals;
  for (const Buffer* argument : arguments) {
    KASHI_ASSIGN_OR_RETURN(Literal literal, argument->ToLiteral());
    literals.push_back(std::move(literal));
  }
  std::vector<const Literal*> pointers;
  for (const Literal& literal : literals) pointers.push_back(&literal);
  evaluator::StepChecker checker(&ToleranceOf);
  evaluator::RunHooks hooks;
  hooks.checker = &checker;
  const std::unique_ptr<evaluator::EvaluationRun> run =
      engine::ProgramDoor::NewRun(program, EvaluationOptions(), hooks);
  const absl::StatusOr<Literal> result = engine::ProgramDoor::CallOnLiterals(program, *run, pointers);
  if (checker.first().has_value()) return absl::InternalError(Describe(*checker.first()));
  return result.status();
}

}  // namespace kashi::pjrt
