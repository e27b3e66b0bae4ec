// HloEvaluator: runs HLO, exactly and without compiling. XLA's interface (docs/spec/xla-api.md 29.1).
//
//   HloEvaluator evaluator;
//   Literal result = evaluator.Evaluate(*module, {&x, &y}).value();
//
// The module should have passed the verifier: evaluating a module that it rejects may die. An evaluator may be used
// many times, by one thread at a time. Differences from XLA's evaluator, with reasons: docs/fidelity.md.
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

// The reason why an evaluation gave no value. It is a payload of the error.
enum class EvalErrorDetail : uint32_t {
  kDynamicValueDependence = 0,  // for example on a parameter
};
inline constexpr absl::string_view kEvalErrorDetailUrl = "EvalErrorDetailUrl";
// nullopt: the error has no such payload.
std::optional<EvalErrorDetail> ParseEvalErrorDetail(const absl::Status& error);

}  // namespace internal

class HloEvaluator {
 public:
  using Substitutions = absl::flat_hash_map<const HloInstruction*, const LiteralBase*>;

  // XLA's evaluator: each operation is rounded to its type. -1: no limit.
  explicit HloEvaluator(int64_t max_loop_iterations = -1);
  // By default it rounds bf16 as XLA's compiled code does (EvaluationOptions::excess_precision).
  explicit HloEvaluator(EvaluationOptions options);
  virtual ~HloEvaluator() = default;

  // Evaluates the root of a computation, or of a module's entry. The literal has the shape of the root.
  // INVALID_ARGUMENT if the number of arguments is wrong, or if the shape of one is not the parameter's. Of layouts,
  // only minor_to_major is compared, and only if the parameter has a layout. Other errors come from operations.
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

  // Evaluates one instruction. Its operands must be constants or have a substitution. With
  // recursively_evaluate_nonconstant_operands they may also be computed from such values. Then unneeded parts of tuples
  // and of loop states may be unknown, and a parameter is known if its computation has only one caller.
  // FAILED_PRECONDITION, with an EvalErrorDetail, if the value depends on unknown values. Every instruction is rounded,
  // as XLA's constant folding does: EvaluationOptions::excess_precision is for whole computations.
  absl::StatusOr<Literal> Evaluate(const HloInstruction* instruction, PrecomputedAnalyses analyses = {},
                                   bool recursively_evaluate_nonconstant_operands = false,
                                   const Substitutions& substitutions = {});
  // Evaluate without an error: false if there is no value. Sets `result` otherwise.
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

  // The span is mutable, as in XLA. Functions of absl::Span<const Literal* const> fit too.
  using CustomCallFunction =
      std::function<absl::StatusOr<Literal>(const HloInstruction* custom_call, absl::Span<const Literal*> operands)>;
  void set_custom_call_handler(CustomCallFunction handler);
  const CustomCallFunction& custom_call_handler() const { return custom_call_function_; }
  // Called after the evaluation of a dot or a convolution, for each product that it adds up. The arguments are the
  // linear indices (IndexUtil) of the elements of result, lhs and rhs. Products with padding are skipped.
  using TraceMacFunction = std::function<void(int64_t result, int64_t lhs, int64_t rhs)>;
  void set_trace_mac_handler(TraceMacFunction handler) { trace_mac_handler_ = std::move(handler); }
  // XLA's evaluator gets dynamic sizes from it. It is not used here, because values have their real sizes.
  void set_dynamic_dimension_inference(DynamicDimensionInference*) {}
  // Called before each evaluation of a computation: the entry, and all computations that are called as a whole.
  virtual void OnEvaluateComputation(const HloComputation&) {}
  // XLA's evaluator of called computations. Not used here: this evaluator evaluates them itself.
  virtual std::unique_ptr<HloEvaluator> CreateEmbedded(int64_t max_loop_iterations) {
    return std::make_unique<HloEvaluator>(max_loop_iterations);
  }

  // lhs * rhs for two matrices. The type must be a native element type.
  template <typename T>
  static std::unique_ptr<Array2D<T>> MatmulArray2D(const Array2D<T>& lhs, const Array2D<T>& rhs);

  // XLA's choice between a fast and a plain implementation. Here there is only one.
  void set_use_fast_path(bool) {}
  void set_reduce_use_fast_path(bool) {}
  void ResetVisitStates() {}

  // Whether the operation can be evaluated at all. It may still reject element types.
  static bool IsOpcodeImplemented(HloOpcode opcode);

  EvaluationOptions& options() { return options_; }

 private:
  EvaluationOptions OptionsOfRun();
  static std::vector<const Literal*> PointersTo(absl::Span<const Literal> literals);
  // Evaluates an operation on these operands, as an instruction outside of computations. Its shape is inferred.
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
