#include "kashi/reduction/transformations.h"

#include "kashi/reduction/transformation.h"

namespace kashi::reduction {
namespace {

// First what makes all later candidates cheaper, and removes most at once. What only makes the result nicer comes last.
// A search begins again at the top until nothing helps any more.
constexpr Transformation kTransformations[] = {
    {"attributes", "instructions without metadata, backend configs, shardings, layouts …", true, false, &FindAttributes,
     &EraseAttributes},
    {"dead code", "instructions left out that nothing depends on", true, false, &FindUnused, &DropUnused},
    {"outputs", "fewer results of the entry", true, false, &FindOutputs, &DropOutputs},
    {"instructions", "parts of the entry cut out: what they gave to others becomes inputs, what they took outputs",
     true, false, &FindInstructions, &DropInstructions},
    {"sizes", "a size of dimensions replaced by a smaller one wherever it occurs", false, false, &FindSizes,
     &ShrinkSizes},
    {"root", "an operand of the root as the root", false, false, &FindNewRoots, &MakeRoot},
    {"computations", "a called computation as the entry", false, false, &FindNewEntries, &MakeEntry},
    {"calls", "calls and fusions replaced by their bodies", true, false, &FindCalls, &InlineCalls},
    {"branches", "conditionals replaced by one of their branches", false, false, &FindBranches, &TakeBranch},
    {"loops", "loops replaced by their initial value", true, false, &FindLoops, &DropLoops},
    {"iterations", "loops replaced by one iteration", true, false, &FindLoops, &RunLoopsOnce},
    {"elements", "elements of tuples replaced by what the tuple was made of", true, false, &FindElements,
     &ReplaceByOther},
    {"operands", "values replaced by an operand", true, false, &FindOperands, &ReplaceByOther},
    {"loop state", "elements of the state of loops left out", true, false, &FindLoopState, &DropLoopState},
    {"call operands", "operands of calls, fusions and branches left out", true, false, &FindCallOperands,
     &DropCallOperands},
    {"unused results", "results of calls, fusions and branches left out that are not used", true, false,
     &FindUnusedResults, &DropUnusedResults},
    {"known values", "small values that depend on no input replaced by constants", true, true, &FindKnownValues,
     &ReplaceByKnownValue},
    {"zeros", "values replaced by zeros", true, false, &FindValuesForNumbers, &ReplaceByZeros},
    {"ones", "values replaced by ones", true, false, &FindValuesForNumbers, &ReplaceByOnes},
    {"earlier values", "values replaced by an earlier one of the same shape", true, false, &FindEarlierValues,
     &ReplaceByOther},
    {"inputs", "inputs left out that are not used", true, false, &FindUnusedInputs, &DropInputs},
    {"trip counts", "loops with fewer iterations", false, true, &FindTripCounts, &ShrinkTripCounts},
    {"types", "an element type replaced by a narrower one wherever it occurs", false, false, &FindTypes, &NarrowTypes},
    {"module attributes", "a module without schedule, aliases, partitions …", true, false, &FindModuleAttributes,
     &EraseModuleAttributes},
    {"optional attributes", "instructions without precisions, channels, flags …", true, false, &FindOptionalFields,
     &EraseOptionalFields},
    {"windows", "windows without strides, padding, dilation, reversal", true, false, &FindWindowParts,
     &EraseWindowParts},
};

}  // namespace

absl::Span<const Transformation> Transformations() { return kTransformations; }

}  // namespace kashi::reduction
