// Measures the errors of compiled functions of f32.
#ifndef KASHI_CPU_VECTOR_MATH_TESTING_H_
#define KASHI_CPU_VECTOR_MATH_TESTING_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "kashi/engine/program.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::cpu {

struct FunctionOfF32 {
  const char* opcode;
  double (*exact)(double);  // within a unit of the last place of f64, which is nothing beside one of f32
  double most_ulp;          // the largest error that is allowed
};

// For all arguments; ./dev bench cpu --benchmark_filter=AllArguments measures the largest errors.
inline const std::vector<FunctionOfF32>& FunctionsOfF32() {
  static const auto& functions = *new std::vector<FunctionOfF32>{
      {"exponential", [](double x) { return std::exp(x); }, 1.5},
      {"exp2", [](double x) { return std::exp2(x); }, 1.5},
      {"exponential-minus-one", [](double x) { return std::expm1(x); }, 1.5},
      {"log", [](double x) { return std::log(x); }, 1.5},
      {"log2", [](double x) { return std::log2(x); }, 1.5},
      {"log-plus-one", [](double x) { return std::log1p(x); }, 1.5},
      {"tanh", [](double x) { return std::tanh(x); }, 2},
      {"logistic", [](double x) { return 1 / (1 + std::exp(-x)); }, 3},
      {"sine", [](double x) { return std::sin(x); }, 1.5},
      {"cosine", [](double x) { return std::cos(x); }, 1.5},
      {"tan", [](double x) { return std::tan(x); }, 1.5},
      {"atan", [](double x) { return std::atan(x); }, 1.5},
      {"cbrt", [](double x) { return std::cbrt(x); }, 1.5},
      {"erf", [](double x) { return std::erf(x); }, 1.5},
      {"sqrt", [](double x) { return std::sqrt(x); }, 0.5},
      {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 2},
  };
  return functions;
}

// The error in units of the last place of the nearest f32. Both too large for f32, or both NaN: 0. Only one of them, or
// zeros of different signs: 1e9.
inline double UlpError(float actual, double exact) {
  constexpr double kWrong = 1e9;
  const float nearest = static_cast<float>(exact);
  if (std::isnan(exact)) return std::isnan(actual) ? 0 : kWrong;
  if (std::isinf(nearest)) return actual == nearest ? 0 : kWrong;
  if (std::isnan(actual) || std::isinf(actual)) return kWrong;
  if (actual == 0 && nearest == 0) return std::signbit(actual) == std::signbit(nearest) ? 0 : kWrong;
  const float above = std::nextafter(std::fabs(nearest), std::numeric_limits<float>::infinity());
  return std::fabs(actual - exact) / (double{above} - std::fabs(nearest));
}

inline float FloatOfBits(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

// The number if denormal numbers count as 0.
inline double Flushed(double x) { return std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x; }

struct WorstError {
  double ulp = 0;
  float at = 0;

  void Add(absl::Span<const float> arguments, absl::Span<const float> results, const FunctionOfF32& function,
           bool flush_denormals) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      const double x = flush_denormals ? Flushed(arguments[i]) : arguments[i];
      const double exact = flush_denormals ? Flushed(function.exact(x)) : function.exact(x);
      // A result that is the argument, without computation, may be denormal. The next operation treats it as 0.
      const float result = flush_denormals ? static_cast<float>(Flushed(results[i])) : results[i];
      if (x != arguments[i] && result == 0 && exact == 0) continue;  // the 0 in the place of -1e-40 may have any sign
      const double error = UlpError(result, exact);
      if (error > ulp) *this = {error, arguments[i]};
    }
  }
};

// f32[count] -> f32[count]. target: CompileOptions::target.
inline std::unique_ptr<Program> CompileFunction(const FunctionOfF32& function, size_t count, bool flush_denormals,
                                                const std::string& target = "") {
  CompileOptions options;
  options.target = target;
  options.numbers.flush_denormals = flush_denormals;
  const std::string array = absl::StrCat("f32[", count, "]");
  const auto module =
      ParseAndReturnUnverifiedModule(absl::StrCat("HloModule m\nENTRY e { x = ", array,
                                                  " parameter(0) ROOT r = ", array, " ", function.opcode, "(x) }"))
          .value();
  return Program::Compile(*module, options).value();
}

}  // namespace kashi::cpu

#endif  // KASHI_CPU_VECTOR_MATH_TESTING_H_
