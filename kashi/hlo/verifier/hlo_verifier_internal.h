// For the files of the verifier: a Verification collects findings; checks of single instructions are functions in
// tables. A check returns the first error. It is called only for well-formed instructions: the shapes of the
// instruction, of its operands, and of the parameters and roots of called computations are valid, required attributes
// exist, and the number of operands is right. Numbers in attributes may have any value.
#ifndef KASHI_HLO_VERIFIER_HLO_VERIFIER_INTERNAL_H_
#define KASHI_HLO_VERIFIER_HLO_VERIFIER_INTERNAL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/shape.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/verifier/hlo_verifier.h"

namespace kashi::hlo::hlo_verifier {

class Verification {
 public:
  Verification(const HloModule& module, const HloVerifierOpts& opts) : module_(module), opts_(opts) {}

  const HloModule& module() const { return module_; }
  const HloVerifierOpts& opts() const { return opts_; }
  std::vector<HloFinding>& findings() { return findings_; }

  // Nothing if the status is OK.
  void Report(const HloInstruction* instruction, absl::string_view rule, const absl::Status& status);
  void Report(const HloComputation* computation, absl::string_view rule, const absl::Status& status);
  void ReportModule(absl::string_view rule, const absl::Status& status);

  // Malformed instructions are not checked, nor are instructions that use their shapes.
  void NoteMalformed(const HloInstruction* instruction) { malformed_.insert(instruction); }
  bool MayExamine(const HloInstruction& instruction) const;
  bool MayExamine(const HloComputation& computation) const;
  bool IsMalformed(const HloInstruction* instruction) const { return malformed_.contains(instruction); }

  // Whether two shapes agree: exactly (by `equal`) if layout-sensitive, otherwise compatibly.
  bool ShapesSame(const Shape& a, const Shape& b, Shape::Equal equal = {}) const;
  // If mixed precision is allowed, floating point precision is ignored.
  bool ShapesSameUpToPrecision(const Shape& a, const Shape& b) const;
  // With the layout if layout-sensitive.
  std::string ShapeText(const Shape& shape) const;

 private:
  const HloModule& module_;
  const HloVerifierOpts& opts_;
  std::vector<HloFinding> findings_;
  absl::flat_hash_set<const HloInstruction*> malformed_;
};

// ---- A check of the instructions of one opcode. `rule` names it in findings.
struct OpcodeCheck {
  HloOpcode opcode;
  const char* rule;
  absl::Status (*check)(const HloInstruction& x, const Verification& v);
};
absl::Span<const OpcodeCheck> DataChecks();        // hlo_verifier_data.cc
absl::Span<const OpcodeCheck> ControlChecks();     // hlo_verifier_control.cc
absl::Span<const OpcodeCheck> AsyncChecks();       // hlo_verifier_async.cc
absl::Span<const OpcodeCheck> CollectiveChecks();  // hlo_verifier_collective.cc
absl::Span<const OpcodeCheck> CustomCallChecks();  // hlo_verifier_aliasing.cc

// ---- Checks of every instruction (hlo_verifier_shape.cc).
void FindMalformed(Verification* v);
void VerifyShapeOf(const HloInstruction& x, Verification* v);
void VerifyEveryInstruction(const HloInstruction& x, Verification* v);

// ---- Checks of the whole module.
// False if the graph is so broken that other checks must not walk it (hlo_verifier_structure.cc).
bool VerifyStructure(Verification* v);
void VerifyNames(Verification* v);
void VerifyAsyncPairs(Verification* v);         // hlo_verifier_async.cc
void VerifyAsyncComputations(Verification* v);  // hlo_verifier_async.cc
void VerifyChannels(Verification* v);           // hlo_verifier_async.cc
void VerifyDeadlocks(Verification* v);          // hlo_verifier_async.cc
void VerifyBuffers(Verification* v);            // hlo_verifier_aliasing.cc
void VerifyModuleWide(Verification* v);         // hlo_verifier_module.cc: entry layout, schedule, aliases, donors, …

// ---- Steps that several checks have in common.
// Checks the number of parameters of a called computation.
absl::Status CheckParameterCount(const HloInstruction& x, const HloComputation& computation, int64_t expected);
// Whether operand `operand` may be passed as parameter `parameter`. An error if one of them does not exist.
absl::Status CheckOperandAndParameter(const HloInstruction& x, int64_t operand, const HloComputation& computation,
                                      int64_t parameter, const Verification& v);
absl::Status CheckIsToken(const HloInstruction& x, int64_t operand);
absl::Status CheckOperandCount(const HloInstruction& x, int64_t expected);
// HasItsOperandCount.
absl::Status CheckArity(const HloInstruction& x);
// The result must have this shape: exactly in minor_to_major when layout-sensitive.
absl::Status CheckResultIs(const HloInstruction& x, const Shape& expected, const Verification& v);
// Checks that operands and the parameters of to_apply, from parameter 0 on, have equal element types.
absl::Status CheckElementTypesOfParameters(const HloInstruction& x, int64_t count);
// Checks output_to_operand_aliasing. `scalars_may_move`: to another memory space.
absl::Status CheckOutputOperandAliasing(const HloInstruction& x, Shape::Equal equal, const Verification& v,
                                        bool scalars_may_move);
absl::Status CheckConsistentShardings(const HloInstruction& x, absl::Span<const HloInstruction* const> instructions);

}  // namespace kashi::hlo::hlo_verifier

#endif  // KASHI_HLO_VERIFIER_HLO_VERIFIER_INTERNAL_H_
