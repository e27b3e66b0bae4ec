// The functions behind the table of transformations (transformation.h): a pair for each row.
#ifndef KASHI_REDUCTION_TRANSFORMATIONS_H_
#define KASHI_REDUCTION_TRANSFORMATIONS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kashi/reduction/transformation.h"

namespace kashi::reduction {

using Sites = std::vector<Site>;

// ---- drop_instructions.cc: mostly the entry computation
Sites FindUnused(const HloModule& module);
absl::Status DropUnused(absl::Span<const Site> sites, ModuleEdit* edit);
Sites FindInstructions(const HloModule& module);
absl::Status DropInstructions(absl::Span<const Site> sites, ModuleEdit* edit);
Sites FindOutputs(const HloModule& module);
absl::Status DropOutputs(absl::Span<const Site> sites, ModuleEdit* edit);
Sites FindNewRoots(const HloModule& module);
absl::Status MakeRoot(absl::Span<const Site> sites, ModuleEdit* edit);
Sites FindUnusedInputs(const HloModule& module);
absl::Status DropInputs(absl::Span<const Site> sites, ModuleEdit* edit);
Sites FindNewEntries(const HloModule& module);
absl::Status MakeEntry(absl::Span<const Site> sites, ModuleEdit* edit);

// ---- inline_computations.cc
Sites FindCalls(const HloModule& module);
absl::Status InlineCalls(absl::Span<const Site> sites, ModuleEdit* edit);
Sites FindBranches(const HloModule& module);
absl::Status TakeBranch(absl::Span<const Site> sites, ModuleEdit* edit);
Sites FindLoops(const HloModule& module);
absl::Status DropLoops(absl::Span<const Site> sites, ModuleEdit* edit);
absl::Status RunLoopsOnce(absl::Span<const Site> sites, ModuleEdit* edit);
Sites FindTripCounts(const HloModule& module);
absl::Status ShrinkTripCounts(absl::Span<const Site> sites, ModuleEdit* edit);

// ---- replace_values.cc: all computations
Sites FindOperands(const HloModule& module);
Sites FindElements(const HloModule& module);
Sites FindEarlierValues(const HloModule& module);
absl::Status ReplaceByOther(absl::Span<const Site> sites, ModuleEdit* edit);
Sites FindValuesForNumbers(const HloModule& module);
absl::Status ReplaceByZeros(absl::Span<const Site> sites, ModuleEdit* edit);
absl::Status ReplaceByOnes(absl::Span<const Site> sites, ModuleEdit* edit);
Sites FindKnownValues(const HloModule& module);
absl::Status ReplaceByKnownValue(absl::Span<const Site> sites, ModuleEdit* edit);

// ---- narrow_tuples.cc
Sites FindLoopState(const HloModule& module);
absl::Status DropLoopState(absl::Span<const Site> sites, ModuleEdit* edit);
Sites FindCallOperands(const HloModule& module);
absl::Status DropCallOperands(absl::Span<const Site> sites, ModuleEdit* edit);
Sites FindUnusedResults(const HloModule& module);
absl::Status DropUnusedResults(absl::Span<const Site> sites, ModuleEdit* edit);

// ---- shrink_shapes.cc
Sites FindSizes(const HloModule& module);
absl::Status ShrinkSizes(absl::Span<const Site> sites, ModuleEdit* edit);
Sites FindTypes(const HloModule& module);
absl::Status NarrowTypes(absl::Span<const Site> sites, ModuleEdit* edit);

// ---- strip_attributes.cc
Sites FindAttributes(const HloModule& module);
absl::Status EraseAttributes(absl::Span<const Site> sites, ModuleEdit* edit);
Sites FindModuleAttributes(const HloModule& module);
absl::Status EraseModuleAttributes(absl::Span<const Site> sites, ModuleEdit* edit);
Sites FindOptionalFields(const HloModule& module);
absl::Status EraseOptionalFields(absl::Span<const Site> sites, ModuleEdit* edit);
Sites FindWindowParts(const HloModule& module);
absl::Status EraseWindowParts(absl::Span<const Site> sites, ModuleEdit* edit);

}  // namespace kashi::reduction

#endif  // KASHI_REDUCTION_TRANSFORMATIONS_H_
