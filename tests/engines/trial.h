// One program on both engines: arguments, two runs, comparison.
#ifndef KASHI_TESTS_ENGINES_TRIAL_H_
#define KASHI_TESTS_ENGINES_TRIAL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/literal/literal.h"

namespace kashi::tests {

enum class ArgumentKind {
  kSmall,    // real numbers in [-2, 2), integers in [-3, 9]
  kExtreme,  // 0, -0, infinities, NaN, numbers of many magnitudes; integers of the whole range
};
std::vector<Literal> MakeArguments(const HloModule& module, ArgumentKind kind, uint32_t seed);

struct Verdict {
  enum Kind {
    kSame,
    kNotCompared,  // the evaluator does not run it, or it looks at the bits of a NaN, which each engine may choose
    kDiffers,      // other numbers, or an error where the evaluator gives a result
  } kind = kSame;
  std::string detail = "";
};
// Runs the module by both engines; the compiled engine by copies and on the caller's memory, which guard pages follow.
// target: CompileOptions::target.
Verdict RunTrial(const HloModule& module, const std::vector<Literal>& arguments, const std::string& target);
Verdict RunTrial(const std::string& text, ArgumentKind kind, uint32_t seed, const std::string& target);

}  // namespace kashi::tests

#endif  // KASHI_TESTS_ENGINES_TRIAL_H_
