#include "kashi/hlo/attributes/enum_text.h"

#include <cmath>
#include <cstddef>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/lexer.h"
#include "kashi/base/status.h"

namespace kashi {

using array::Lexer;
using array::Token;
namespace {

template <typename Enum>
struct Word {
  Enum value;
  absl::string_view text;
};

constexpr Word<PrecisionConfig::Precision> kPrecisions[] = {
    {PrecisionConfig::DEFAULT, "default"},
    {PrecisionConfig::HIGH, "high"},
    {PrecisionConfig::HIGHEST, "highest"},
};

constexpr Word<PrecisionConfig::Algorithm> kAlgorithms[] = {
    {PrecisionConfig::ALG_UNSET, "unset"},
    {PrecisionConfig::ALG_DOT_ANY_F8_ANY_F8_F32, "dot_any_f8_any_f8_f32"},
    {PrecisionConfig::ALG_DOT_ANY_F8_ANY_F8_F32_FAST_ACCUM, "dot_any_f8_any_f8_f32_fast_accum"},
    {PrecisionConfig::ALG_DOT_F16_F16_F16, "dot_f16_f16_f16"},
    {PrecisionConfig::ALG_DOT_F16_F16_F32, "dot_f16_f16_f32"},
    {PrecisionConfig::ALG_DOT_BF16_BF16_BF16, "dot_bf16_bf16_bf16"},
    {PrecisionConfig::ALG_DOT_BF16_BF16_F32, "dot_bf16_bf16_f32"},
    {PrecisionConfig::ALG_DOT_BF16_BF16_F32_X3, "dot_bf16_bf16_f32_x3"},
    {PrecisionConfig::ALG_DOT_BF16_BF16_F32_X6, "dot_bf16_bf16_f32_x6"},
    {PrecisionConfig::ALG_DOT_BF16_BF16_F32_X9, "dot_bf16_bf16_f32_x9"},
    {PrecisionConfig::ALG_DOT_TF32_TF32_F32, "dot_tf32_tf32_f32"},
    {PrecisionConfig::ALG_DOT_TF32_TF32_F32_X3, "dot_tf32_tf32_f32_x3"},
    {PrecisionConfig::ALG_DOT_F32_F32_F32, "dot_f32_f32_f32"},
    {PrecisionConfig::ALG_DOT_F64_F64_F64, "dot_f64_f64_f64"},
};

constexpr Word<RandomAlgorithm> kRandomAlgorithms[] = {
    {RNG_DEFAULT, "rng_default"},
    {RNG_THREE_FRY, "rng_three_fry"},
    {RNG_PHILOX, "rng_philox"},
};

constexpr Word<RandomDistribution> kRandomDistributions[] = {
    {RNG_INVALID, "rng_invalid"},
    {RNG_UNIFORM, "rng_uniform"},
    {RNG_NORMAL, "rng_normal"},
};

constexpr Word<ResultAccuracy::Mode> kAccuracyModes[] = {
    {ResultAccuracy::DEFAULT, "default"},
    {ResultAccuracy::HIGHEST, "highest"},
};

constexpr Word<FftType> kFftTypes[] = {{FFT, "FFT"}, {IFFT, "IFFT"}, {RFFT, "RFFT"}, {IRFFT, "IRFFT"}};

constexpr Word<CustomCallSchedule> kCustomCallSchedules[] = {
    {SCHEDULE_NONE, "SCHEDULE_NONE"},
    {SCHEDULE_LATEST, "SCHEDULE_LATEST"},
    {SCHEDULE_EARLIEST, "SCHEDULE_EARLIEST"},
};

constexpr Word<CustomCallApiVersion> kCustomCallApiVersions[] = {
    {API_VERSION_UNSPECIFIED, "API_VERSION_UNSPECIFIED"},
    {API_VERSION_ORIGINAL, "API_VERSION_ORIGINAL"},
    {API_VERSION_STATUS_RETURNING, "API_VERSION_STATUS_RETURNING"},
    {API_VERSION_STATUS_RETURNING_UNIFIED, "API_VERSION_STATUS_RETURNING_UNIFIED"},
    {API_VERSION_TYPED_FFI, "API_VERSION_TYPED_FFI"},
};

constexpr Word<PaddingType> kPaddingTypes[] = {
    {PADDING_INVALID, "PADDING_INVALID"},
    {PADDING_VALID, "PADDING_VALID"},
    {PADDING_SAME, "PADDING_SAME"},
};

constexpr Word<TriangularSolveOptions::Transpose> kTransposes[] = {
    {TriangularSolveOptions::TRANSPOSE_INVALID, "TRANSPOSE_INVALID"},
    {TriangularSolveOptions::NO_TRANSPOSE, "NO_TRANSPOSE"},
    {TriangularSolveOptions::TRANSPOSE, "TRANSPOSE"},
    {TriangularSolveOptions::ADJOINT, "ADJOINT"},
};

constexpr Word<ConvolutionKind> kConvolutionKinds[] = {
    {CONVOLUTION_KIND_UNSET, "unset"},
    {CONVOLUTION_KIND_FPROP, "fprop"},
    {CONVOLUTION_KIND_DGRAD, "dgrad"},
    {CONVOLUTION_KIND_WGRAD, "wgrad"},
};

constexpr Word<TriState> kTriStates[] = {{TRI_STATE_TRUE, "true"}, {TRI_STATE_FALSE, "false"}};

template <typename Enum, size_t n>
absl::string_view TextOf(const Word<Enum> (&words)[n], Enum value) {
  for (const Word<Enum>& word : words) {
    if (word.value == value) return word.text;
  }
  return "";
}

template <typename Enum, size_t n>
absl::StatusOr<Enum> Find(const Word<Enum> (&words)[n], absl::string_view text, const char* what) {
  for (const Word<Enum>& word : words) {
    if (word.text == text) return word.value;
  }
  return InvalidArgumentStrCat("Unknown ", what);
}

template <typename Enum, size_t n>
absl::StatusOr<Enum> FindIgnoringCase(const Word<Enum> (&words)[n], absl::string_view text, const char* what) {
  for (const Word<Enum>& word : words) {
    if (absl::EqualsIgnoreCase(word.text, text)) return word.value;
  }
  return InvalidArgumentStrCat("Unknown ", what);
}

}  // namespace

std::string PrecisionToString(const PrecisionConfig::Precision& precision) {
  return std::string(TextOf(kPrecisions, precision));
}
absl::StatusOr<PrecisionConfig::Precision> StringToPrecision(absl::string_view name) {
  return FindIgnoringCase(kPrecisions, name, "precision");
}

std::string AlgorithmToString(const PrecisionConfig::Algorithm& algorithm) {
  return std::string(TextOf(kAlgorithms, algorithm));
}
absl::StatusOr<PrecisionConfig::Algorithm> StringToAlgorithm(absl::string_view name) {
  return FindIgnoringCase(kAlgorithms, name, "algorithm");
}

std::string RandomAlgorithmToString(const RandomAlgorithm& algorithm) {
  return std::string(TextOf(kRandomAlgorithms, algorithm));
}
absl::StatusOr<RandomAlgorithm> StringToRandomAlgorithm(absl::string_view name) {
  return FindIgnoringCase(kRandomAlgorithms, name, "algorithm");
}

std::string RandomDistributionToString(const RandomDistribution& distribution) {
  return std::string(TextOf(kRandomDistributions, distribution));
}
absl::StatusOr<RandomDistribution> StringToRandomDistribution(absl::string_view name) {
  return FindIgnoringCase(kRandomDistributions, name, "distribution");
}

std::string ResultAccuracyToString(ResultAccuracy::Mode mode) { return std::string(TextOf(kAccuracyModes, mode)); }
absl::StatusOr<ResultAccuracy::Mode> StringToResultAccuracy(absl::string_view name) {
  return FindIgnoringCase(kAccuracyModes, name, "accuracy mode");
}

absl::string_view FftTypeToString(FftType type) { return TextOf(kFftTypes, type); }
absl::StatusOr<FftType> StringToFftType(absl::string_view name) { return Find(kFftTypes, name, "fft type"); }

absl::string_view CustomCallScheduleToString(CustomCallSchedule schedule) {
  return TextOf(kCustomCallSchedules, schedule);
}
absl::StatusOr<CustomCallSchedule> StringToCustomCallSchedule(absl::string_view name) {
  return Find(kCustomCallSchedules, name, "schedule");
}

absl::string_view CustomCallApiVersionToString(CustomCallApiVersion version) {
  return TextOf(kCustomCallApiVersions, version);
}
absl::StatusOr<CustomCallApiVersion> StringToCustomCallApiVersion(absl::string_view name) {
  return Find(kCustomCallApiVersions, name, "API version");
}

absl::string_view PaddingTypeToString(PaddingType type) { return TextOf(kPaddingTypes, type); }
absl::StatusOr<PaddingType> StringToPaddingType(absl::string_view name) {
  return Find(kPaddingTypes, name, "padding type");
}

absl::string_view TransposeToString(TriangularSolveOptions::Transpose transpose) {
  return TextOf(kTransposes, transpose);
}
absl::StatusOr<TriangularSolveOptions::Transpose> StringToTranspose(absl::string_view name) {
  return Find(kTransposes, name, "transpose");
}

absl::string_view ConvolutionKindToString(ConvolutionKind kind) { return TextOf(kConvolutionKinds, kind); }
absl::StatusOr<ConvolutionKind> StringToConvolutionKind(absl::string_view name) {
  return Find(kConvolutionKinds, name, "convolution kind");
}

absl::string_view TriStateToString(TriState state) { return TextOf(kTriStates, state); }
absl::StatusOr<TriState> StringToTriState(absl::string_view name) { return Find(kTriStates, name, "truth value"); }

// ---- Accuracy of a result ------------------------------------------------------------------------------------------

std::string ResultAccuracyToleranceToString(const ResultAccuracy::Tolerance& tolerance) {
  return absl::StrCat("atol=", tolerance.atol(), ",rtol=", tolerance.rtol(), ",ulps=", tolerance.ulps());
}

std::string ResultAccuracyAttributeToString(const ResultAccuracy& accuracy) {
  if (!accuracy.has_tolerance()) return absl::StrCat("{mode=", ResultAccuracyToString(accuracy.mode()), "}");
  return absl::StrCat("{tolerance={", ResultAccuracyToleranceToString(accuracy.tolerance()), "}}");
}

bool IsValidResultAccuracy(const ResultAccuracy& accuracy) {
  const ResultAccuracy::Tolerance& tolerance = accuracy.tolerance();
  return tolerance.atol() >= 0 && tolerance.rtol() >= 0 && tolerance.ulps() >= 0;
}

namespace {

// accuracy  = "{" ( "mode=" IDENT | "tolerance=" tolerance ) "}"
// tolerance = "{" [ part { "," part } ] "}"
// part      = ( "atol=" | "rtol=" | "ulps=" ) [ NUMBER ]      the last of a name counts
class ResultAccuracyParser {
 public:
  ResultAccuracyParser(absl::string_view text, std::string* error) : lexer_(text), error_(error) {}

  std::optional<ResultAccuracy> Parse() {
    ResultAccuracy accuracy;
    if (!Expect(Token::Kind::kLeftBrace, "expected '{' to start result precision list")) return std::nullopt;
    const absl::string_view name = AttributeName();
    if (name == "mode"        ? !ParseMode(&accuracy)
        : name == "tolerance" ? !ParseTolerance(accuracy.mutable_tolerance())
                              : !FailAtName(name)) {
      return std::nullopt;
    }
    if (!Expect(Token::Kind::kRightBrace, "expected '}' to end result_accuracy") ||
        !Expect(Token::Kind::kEnd, "unexpected text after result_accuracy")) {
      return std::nullopt;
    }
    return accuracy;
  }

 private:
  bool Fail(std::string message) {
    *error_ = std::move(message);
    return false;
  }
  bool FailAtName(absl::string_view name) {
    return Fail(name.empty() ? "expects string for result_accuracy spec"
                             : absl::StrCat("invalid attribute name: ", name));
  }
  bool Expect(Token::Kind kind, const char* message) { return lexer_.Match(kind) || Fail(message); }

  // Takes the attribute name, without its `=`; "" if there is none.
  absl::string_view AttributeName() {
    if (lexer_.kind() != Token::Kind::kAttributeName) return "";
    absl::string_view name = lexer_.token_text();
    name.remove_suffix(1);
    lexer_.Next();
    return name;
  }

  bool ParseMode(ResultAccuracy* accuracy) {
    if (lexer_.kind() != Token::Kind::kIdent) return Fail("expects ResultAccuracy type");
    absl::StatusOr<ResultAccuracy::Mode> mode = StringToResultAccuracy(lexer_.token_text());
    if (!mode.ok()) {
      return Fail(absl::StrCat("expects ResultAccuracy type but sees: ", lexer_.token_text(),
                               ", error: ", mode.status().message()));
    }
    accuracy->set_mode(*mode);
    lexer_.Next();
    return true;
  }

  bool ParseTolerance(ResultAccuracy::Tolerance* tolerance) {
    if (!Expect(Token::Kind::kLeftBrace, "expected '{' to start result precision list")) return false;
    if (lexer_.Match(Token::Kind::kRightBrace)) return true;
    do {
      const absl::string_view name = AttributeName();
      if (name != "atol" && name != "rtol" && name != "ulps") return FailAtName(name);
      // A missing number changes nothing.
      if (lexer_.kind() == Token::Kind::kComma || lexer_.kind() == Token::Kind::kRightBrace) continue;
      std::optional<double> value = ParseNumber();
      if (!value) return Fail("expects decimal or integer");
      if (name == "atol") tolerance->set_atol(*value);
      if (name == "rtol") tolerance->set_rtol(*value);
      if (name == "ulps") tolerance->set_ulps(ToInteger(*value));
    } while (lexer_.Match(Token::Kind::kComma));
    return Expect(Token::Kind::kRightBrace, "expects '}' at the end of result precision");
  }

  std::optional<double> ParseNumber() {
    double value = 0;
    if (lexer_.kind() == Token::Kind::kInt) {
      value = static_cast<double>(lexer_.token().int_value);
    } else if (lexer_.kind() == Token::Kind::kDecimal) {
      // A literal too large for a double is not a number here, as in XLA.
      if (!absl::SimpleAtod(lexer_.token_text(), &value) || std::isinf(value)) return std::nullopt;
    } else if (absl::string_view word = lexer_.token_text(); word == "inf" || word == "-inf") {
      value = word == "inf" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
    } else if (absl::StartsWith(word, "nan") || absl::StartsWith(word, "-nan")) {
      value = std::numeric_limits<double>::quiet_NaN();
    } else {
      return std::nullopt;
    }
    lexer_.Next();
    return value;
  }

  // Drops fractions. A value outside of int64_t becomes the most negative one, which is invalid: XLA aborts on it.
  static int64_t ToInteger(double value) {
    return value > -0x1p63 && value < 0x1p63 ? static_cast<int64_t>(value) : std::numeric_limits<int64_t>::min();
  }

  Lexer lexer_;
  std::string* error_;
};

}  // namespace

std::optional<ResultAccuracy> ParseResultAccuracy(absl::string_view text, std::string* error) {
  return ResultAccuracyParser(text, error).Parse();
}

}  // namespace kashi
