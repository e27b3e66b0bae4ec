// Random arguments for a program, and random values for elided constants. The values suit the program
// (value_constraints.h). The same seed gives the same values.
//
//   rule            real and complex numbers     integers                          pred
//   auto            [-1, 1), or by constraint     [0, 127], or by constraint        false or true
//   normal[:m,s]    mean 0, deviation 1          as auto                           as auto
//   uniform:a,b     [a, b)                       as auto                           as auto
//   positive        [0.1, 1.1)                   [1, 127], or indices as auto      as auto
//   ones            1                            1                                 true
//   integers:a,b    whole numbers in [a, b]      [a, b]                            as auto
#ifndef KASHI_ANALYSIS_FAKE_ARGUMENTS_H_
#define KASHI_ANALYSIS_FAKE_ARGUMENTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/analysis/value_constraints.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_index.h"
#include "kashi/base/work_meter.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/literal/literal.h"

namespace kashi {

struct FakeRule {
  enum class Kind { kAuto, kNormal, kUniform, kPositive, kOnes, kIntegers };
  Kind kind = Kind::kAuto;
  double a = 0;  // kNormal: the mean
  double b = 1;  // kNormal: the standard deviation
};
// Parses a rule of the table above. INVALID_ARGUMENT lists the rules.
absl::StatusOr<FakeRule> ParseFakeRule(absl::string_view text);

// A random array, and how it was made.
struct FakeArray {
  ShapeIndex index;  // in the parameter
  Shape shape;
  std::string rule;  // uniform, normal, whole, bits, constant
  double first = 0;  // the interval; mean and deviation; the constant
  double last = 0;
  std::string user;  // the instruction that has this constraint; "" if there is none
  // "[0.1, 1.1) for rsqrt.3"
  std::string ToString() const;
};

struct FakeArgument {
  Literal literal;
  std::vector<FakeArray> arrays;  // in flattened order
};

struct FakeArgumentOptions {
  uint64_t seed = 42;
  FakeRule rule;                      // for all parameters
  std::map<int64_t, FakeRule> rules;  // for single parameters, by number; they have priority
  int64_t memory_limit_bytes = 0;     // 0: the machine's memory
  const WorkMeter* meter = nullptr;   // an error of the meter stops the work; must outlive the call
};

// One argument per parameter of the entry computation, with default layouts. An argument does not depend on the rules
// of other parameters. INVALID_ARGUMENT for a rule whose parameter does not exist or has no array of the rule's types;
// RESOURCE_EXHAUSTED if the arguments exceed the limit; UNIMPLEMENTED for parameters that are neither arrays nor
// tokens; CANCELLED.
absl::StatusOr<std::vector<FakeArgument>> MakeFakeArguments(const HloModule& module,
                                                            const FakeArgumentOptions& options = {});

// Values for an elided constant, in its layout.
absl::StatusOr<Literal> MakeElidedValue(const HloInstruction& constant, const analysis::ValueConstraints& constraints,
                                        uint64_t seed);
// Gives all elided constants such values. The n-th constant gets the same values in every module with the same number
// of constants of the same shapes.
absl::Status FillElidedConstants(HloModule* module, uint64_t seed);

}  // namespace kashi

#endif  // KASHI_ANALYSIS_FAKE_ARGUMENTS_H_
