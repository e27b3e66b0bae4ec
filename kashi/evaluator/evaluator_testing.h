// Helpers of this room's tests.
#ifndef KASHI_EVALUATOR_EVALUATOR_TESTING_H_
#define KASHI_EVALUATOR_EVALUATOR_TESTING_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/hlo_evaluator.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/hlo/verifier/hlo_verifier.h"
#include "kashi/literal/literal.h"

namespace kashi::evaluator {

// Reads a module (or a single computation or instruction), verifies it, and evaluates its entry.
inline absl::StatusOr<Literal> TryEvaluateText(absl::string_view text,
                                               const std::vector<const Literal*>& arguments = {},
                                               const EvaluationOptions& options = {}) {
  KASHI_ASSIGN_OR_RETURN(const std::unique_ptr<HloModule> module, ParseAndReturnUnverifiedModule(text));
  HloVerifier verifier(/*layout_sensitive=*/false, /*allow_mixed_precision=*/true);
  KASHI_RETURN_IF_ERROR(verifier.Run(module.get()).status());
  return HloEvaluator(options).Evaluate(*module, arguments);
}

// TryEvaluateText; a failure fails the test and gives an empty tuple.
inline Literal EvaluateText(absl::string_view text, const std::vector<const Literal*>& arguments = {}) {
  absl::StatusOr<Literal> result = TryEvaluateText(text, arguments);
  if (!result.ok()) {
    ADD_FAILURE() << result.status() << "\n" << text;
    return Literal();
  }
  return *std::move(result);
}
inline Literal EvaluateText(absl::string_view text, const std::vector<Literal>& arguments) {
  std::vector<const Literal*> pointers;
  for (const Literal& argument : arguments) pointers.push_back(&argument);
  return EvaluateText(text, pointers);
}

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_EVALUATOR_TESTING_H_
