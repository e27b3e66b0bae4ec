// HloEvaluator: runs HLO, exactly and without compiling. XLA's interface (docs/spec/xla-api.md 29.1).
//
//   HloEvaluator evaluator;
//   Literal result = evaluator.Evaluate(*module, {&x, &y}).value();
//
// The module should have passed the verifier: what it refuses may die here. An evaluator may evaluate many times, one
// at a time. What differs from XLA's own evaluator, and why: docs/fidelity.md.
#ifndef KASHI_EVALUATOR_HLO_EVALUATOR_H_
#define KASHI_EVALUATOR_HLO_EVALUATOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/base/check.h"
#include "kashi/evaluator/evaluation_options.h"
#include "kashi/evaluator/while_loop_pattern.h"
#include "kashi/hlo/attributes/xla_data.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/literal/array2d.h"
#include "kashi/literal/literal.h"
#include "kashi/literal/literal_util.h"

namespace kashi {

class DynamicDimensionInference;

namespace internal {

// Why an evaluation came to no value; it goes with the error as a payload.
enum class EvalErrorDetail : uint32_t {
  kDynamicValueDependence = 0,  // on a parameter, say
};
inline constexpr absl::string_view kEvalErrorDetailUrl = "EvalErrorDetailUrl";
// nullopt: the error carries none.
std::optional<EvalErrorDetail> ParseEvalErrorDetail(const absl::Status& error);

}  // namespace internal

class HloEvaluator {
 public:
  using Substitutions = absl::flat_hash_map<const HloInstruction*, const LiteralBase*>;

  // -1: loops may run for ever.
  explicit HloEvaluator(int64_t max_loop_iterations = -1);
  explicit HloEvaluator(EvaluationOptions options);
  virtual ~HloEvaluator() = default;

  // The root of a computation, or of a module's entry, under its shape. INVALID_ARGUMENT if the number of arguments
  // or the shape of one is not the parameter's (of the layout only minor_to_major counts, and not even that if the
  // parameter has no layout); else whatever an operation says.
  absl::StatusOr<Literal> Evaluate(const HloComputation& computation, absl::Span<const Literal* const> arguments);
  absl::StatusOr<Literal> Evaluate(const HloModule& module, absl::Span<const Literal* const> arguments) {
    return Evaluate(*module.entry_computation(), arguments);
  }
  template <typename Dummy = void>
  absl::StatusOr<Literal> Evaluate(const HloComputation& computation, absl::Span<const Literal> arguments) {
    return Evaluate(computation, PointersTo(arguments));
  }
  template <typename Dummy = void>
  absl::StatusOr<Literal> Evaluate(const HloModule& module, absl::Span<const Literal> arguments) {
    return Evaluate(*module.entry_computation(), PointersTo(arguments));
  }

  // One instruction, whose operands must be constants or have a substitution; or, if asked, be computed from such,
  // where parts that it does not need (of a tuple, or of a loop's state) need not be known, and parameters are if
  // there is but one call to give them. FAILED_PRECONDITION, with an EvalErrorDetail, if it depends on others.
  absl::StatusOr<Literal> Evaluate(const HloInstruction* instruction, PrecomputedAnalyses analyses = {},
                                   bool recursively_evaluate_nonconstant_operands = false,
                                   const Substitutions& substitutions = {});
  // The same without an error to look at. `result` receives the value if there is one.
  bool TryEvaluate(const HloInstruction* instruction, Literal* result,
                   bool recursively_evaluate_nonconstant_operands = false);

  absl::StatusOr<Literal> EvaluateElementwiseUnaryOp(HloOpcode opcode, const Literal& operand);
  absl::StatusOr<Literal> EvaluateElementwiseBinaryOp(HloOpcode opcode, const Literal& lhs, const Literal& rhs);
  absl::StatusOr<Literal> EvaluateElementwiseTernaryOp(HloOpcode opcode, const Literal& lhs, const Literal& rhs,
                                                       const Literal& ehs);
  absl::StatusOr<Literal> EvaluateElementwiseCompareOp(ComparisonDirection direction, const Literal& lhs,
                                                       const Literal& rhs);
  absl::StatusOr<Literal> EvaluateDotOp(const DotDimensionNumbers& dimension_numbers,
                                        const PrecisionConfig& precision_config, const Literal& lhs,
                                        const Literal& rhs);
  absl::StatusOr<Literal> EvaluateScaledDotOp(const DotDimensionNumbers& dimension_numbers,
                                              const PrecisionConfig& precision_config, const Literal& lhs,
                                              const Literal& rhs, const Literal& lhs_scale, const Literal& rhs_scale);

  // A list that may be changed, as in XLA: functions of absl::Span<const Literal* const> are taken as well.
  using CustomCallFunction =
      std::function<absl::StatusOr<Literal>(const HloInstruction* custom_call, absl::Span<const Literal*> operands)>;
  void set_custom_call_handler(CustomCallFunction handler);
  const CustomCallFunction& custom_call_handler() const { return custom_call_function_; }
  // Called for each product that a dot or a convolution adds up, behind its evaluation: where result, lhs and rhs
  // stand in their arrays, as IndexUtil counts. Products with padding are not told of.
  using TraceMacFunction = std::function<void(int64_t result, int64_t lhs, int64_t rhs)>;
  void set_trace_mac_handler(TraceMacFunction handler) { trace_mac_handler_ = std::move(handler); }
  // XLA's evaluator asks it for sizes; here arrays have the sizes that they really have, and nothing is asked.
  void set_dynamic_dimension_inference(DynamicDimensionInference*) {}
  // Called before a computation is evaluated: the one asked for, and all that it calls in full.
  virtual void OnEvaluateComputation(const HloComputation&) {}
  // Of XLA's: the evaluator of called computations. Ours evaluates them itself.
  virtual std::unique_ptr<HloEvaluator> CreateEmbedded(int64_t max_loop_iterations) {
    return std::make_unique<HloEvaluator>(max_loop_iterations);
  }

  // lhs times rhs: dot of two matrices. The type must be one of an element.
  template <typename T>
  static std::unique_ptr<Array2D<T>> MatmulArray2D(const Array2D<T>& lhs, const Array2D<T>& rhs);

  // XLA's choice between a fast and a plain way; here there is one way.
  void set_use_fast_path(bool) {}
  void set_reduce_use_fast_path(bool) {}
  void ResetVisitStates() {}

  // Whether there is any evaluation of the operation; it may still refuse element types.
  static bool IsOpcodeImplemented(HloOpcode opcode);

  EvaluationOptions& options() { return options_; }

 private:
  EvaluationOptions OptionsOfRun();
  static std::vector<const Literal*> PointersTo(absl::Span<const Literal> literals);
  // An instruction that belongs to no computation, with these operands; its shape is inferred.
  absl::StatusOr<Literal> EvaluateAlone(
      const std::function<std::unique_ptr<HloInstruction>(absl::Span<HloInstruction* const> operands)>& create,
      absl::Span<const Literal* const> operands);

  EvaluationOptions options_;
  CustomCallFunction custom_call_function_;
  TraceMacFunction trace_mac_handler_;
};

template <typename T>
std::unique_ptr<Array2D<T>> HloEvaluator::MatmulArray2D(const Array2D<T>& lhs, const Array2D<T>& rhs) {
  KASHI_CHECK(lhs.width() == rhs.height()) << lhs.width() << " columns times " << rhs.height() << " rows";
  DotDimensionNumbers dimension_numbers;
  dimension_numbers.add_lhs_contracting_dimensions(1);
  dimension_numbers.add_rhs_contracting_dimensions(0);
  const Literal product =
      HloEvaluator()
          .EvaluateDotOp(dimension_numbers, PrecisionConfig(), LiteralUtil::CreateR2FromArray2D(lhs),
                         LiteralUtil::CreateR2FromArray2D(rhs))
          .value();
  auto result = std::make_unique<Array2D<T>>(lhs.height(), rhs.width());
  product.EachCell<T>([&](absl::Span<const int64_t> index, T value) { (*result)(index[0], index[1]) = value; });
  return result;
}

}  // namespace kashi

#endif  // KASHI_EVALUATOR_HLO_EVALUATOR_H_
