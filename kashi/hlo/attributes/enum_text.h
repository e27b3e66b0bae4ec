// The words of the enums in HLO text (docs/spec/hlo.md, 1.5 and 3), both ways.
//
// Precision, Algorithm, RandomAlgorithm, RandomDistribution and ResultAccuracy::Mode print in lower case and are read
// in any case; all others have one spelling. Reading an unknown word is INVALID_ARGUMENT "Unknown <what>"; printing a
// number that is no enumerator, which protos may hold, gives "".
//
// FusionKind's words: fusion_kind.h. HloOpcode's: hlo_opcode.h.
#ifndef KASHI_HLO_ATTRIBUTES_ENUM_TEXT_H_
#define KASHI_HLO_ATTRIBUTES_ENUM_TEXT_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/hlo/attributes/xla_data.h"

namespace kashi {

// The only mode of a shuffle.
inline constexpr absl::string_view kRotateMode = "rotate";

// ---- Any case ------------------------------------------------------------------------------------------------------

// "default", "high", "highest"
std::string PrecisionToString(const PrecisionConfig::Precision& precision);
absl::StatusOr<PrecisionConfig::Precision> StringToPrecision(absl::string_view name);

// "unset", "dot_bf16_bf16_f32_x3", …
std::string AlgorithmToString(const PrecisionConfig::Algorithm& algorithm);
absl::StatusOr<PrecisionConfig::Algorithm> StringToAlgorithm(absl::string_view name);

// "rng_default", "rng_three_fry", "rng_philox"
std::string RandomAlgorithmToString(const RandomAlgorithm& algorithm);
absl::StatusOr<RandomAlgorithm> StringToRandomAlgorithm(absl::string_view name);

// "rng_invalid", "rng_uniform", "rng_normal"
std::string RandomDistributionToString(const RandomDistribution& distribution);
absl::StatusOr<RandomDistribution> StringToRandomDistribution(absl::string_view name);

// "default", "highest"
std::string ResultAccuracyToString(ResultAccuracy::Mode mode);
absl::StatusOr<ResultAccuracy::Mode> StringToResultAccuracy(absl::string_view name);

// ---- One spelling --------------------------------------------------------------------------------------------------

// "FFT", "IFFT", "RFFT", "IRFFT"
absl::string_view FftTypeToString(FftType type);
absl::StatusOr<FftType> StringToFftType(absl::string_view name);

// "SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"
absl::string_view CustomCallScheduleToString(CustomCallSchedule schedule);
absl::StatusOr<CustomCallSchedule> StringToCustomCallSchedule(absl::string_view name);

// "API_VERSION_ORIGINAL", …
absl::string_view CustomCallApiVersionToString(CustomCallApiVersion version);
absl::StatusOr<CustomCallApiVersion> StringToCustomCallApiVersion(absl::string_view name);

// "PADDING_INVALID", "PADDING_VALID", "PADDING_SAME"
absl::string_view PaddingTypeToString(PaddingType type);
absl::StatusOr<PaddingType> StringToPaddingType(absl::string_view name);

// "TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"
absl::string_view TransposeToString(TriangularSolveOptions::Transpose transpose);
absl::StatusOr<TriangularSolveOptions::Transpose> StringToTranspose(absl::string_view name);

// "unset", "fprop", "dgrad", "wgrad"
absl::string_view ConvolutionKindToString(ConvolutionKind kind);
absl::StatusOr<ConvolutionKind> StringToConvolutionKind(absl::string_view name);

// "true", "false". An unspecified state has no text: it is not printed, and no word is read as it.
absl::string_view TriStateToString(TriState state);
absl::StatusOr<TriState> StringToTriState(absl::string_view name);

// ---- Accuracy of a result ------------------------------------------------------------------------------------------

// "atol=1e-05,rtol=0,ulps=3". Prints six digits, so that some tolerances do not read back the same (as in XLA).
std::string ResultAccuracyToleranceToString(const ResultAccuracy::Tolerance& tolerance);

// The value of `result_accuracy=`: "{mode=highest}" or "{tolerance={atol=1e-05,rtol=0,ulps=3}}".
std::string ResultAccuracyAttributeToString(const ResultAccuracy& accuracy);

// Reads such a value with its braces; a tolerance may name any of the three, in any order. nullopt: *error has the
// reason. Checks the text only: see IsValidResultAccuracy.
std::optional<ResultAccuracy> ParseResultAccuracy(absl::string_view text, std::string* error);

// Whether no part of the tolerance is negative or NaN. An instruction whose accuracy is not valid aborts XLA.
bool IsValidResultAccuracy(const ResultAccuracy& accuracy);

}  // namespace kashi

#endif  // KASHI_HLO_ATTRIBUTES_ENUM_TEXT_H_
