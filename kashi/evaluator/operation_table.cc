#include "kashi/evaluator/operation_table.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "kashi/evaluator/dynamic_sizes.h"
#include "kashi/kernels/element_kernel.h"

namespace kashi::evaluator {
namespace {

struct TableRow {
  HloOpcode opcode;
  OperationTraits traits;
};

constexpr OperationTraits Computed() { return OperationTraits(); }
// Operand 0 is the result.
constexpr OperationTraits SameAsOperand() { return Computed().Source(ValueSource::kOperand).TakesAnyValue(); }
// The value exists already, or other computations make it, so the operation itself costs nothing.
constexpr OperationTraits Given(ValueSource source) { return Computed().Source(source).TakesAnyValue().Work(&NoWork); }
// The begin and done of an asynchronous operation, and others that only pass tuples and tokens on.
constexpr OperationTraits OfAnyValues() { return Computed().TakesAnyValue(); }

const TableRow kRows[] = {
    {HloOpcode::kAbs, Computed().Integers(&IntegerRules::Abs)},
    {HloOpcode::kAdd, Computed().Integers(&IntegerRules::Add)},
    {HloOpcode::kAddDependency, SameAsOperand()},
    {HloOpcode::kAfterAll, OfAnyValues()},
    {HloOpcode::kAllGatherDone, OfAnyValues().IsMadeElsewhere()},
    {HloOpcode::kAllReduceDone, OfAnyValues().IsMadeElsewhere()},
    {HloOpcode::kAnd, Computed().Integers(&IntegerRules::And)},
    {HloOpcode::kAsyncDone, OfAnyValues().Work(&NoWork).IsMadeElsewhere()},
    {HloOpcode::kAsyncStart, OfAnyValues().Work(&NoWork).IsMadeElsewhere()},
    {HloOpcode::kAsyncUpdate, OfAnyValues().Work(&NoWork).IsMadeElsewhere()},
    {HloOpcode::kBitcast, OfAnyValues()},
    {HloOpcode::kBroadcast, Computed().Moves(1).Sizes(&SizesOfBroadcast)},
    {HloOpcode::kCall, Given(ValueSource::kCall)},
    {HloOpcode::kCholesky, Computed().Work(&WorkOfTriangle)},
    {HloOpcode::kClamp, Computed().Integers(&IntegerRules::Clamp)},
    {HloOpcode::kCollectivePermute, OfAnyValues()},
    {HloOpcode::kCollectivePermuteDone, OfAnyValues().IsMadeElsewhere()},
    {HloOpcode::kCollectivePermuteStart, OfAnyValues()},
    {HloOpcode::kConcatenate, Computed().Moves(OperationTraits::kAllOperands)},
    {HloOpcode::kConditional, Given(ValueSource::kBranch)},
    {HloOpcode::kConstant, Given(ValueSource::kConstant)},
    {HloOpcode::kConvert, Computed().Integers(&IntegerRules::Convert)},
    {HloOpcode::kConvolution, Computed().Work(&WorkOfConvolution)},
    {HloOpcode::kCopy, SameAsOperand().Integers(&IntegerRules::Copy)},
    {HloOpcode::kCopyDone, OfAnyValues()},
    {HloOpcode::kCopyStart, OfAnyValues()},
    {HloOpcode::kCustomCall, OfAnyValues().IsMadeElsewhere().DependsOnRun().Work(&WorkOfAllArrays)},
    {HloOpcode::kDivide, Computed().Integers(&IntegerRules::Divide)},
    {HloOpcode::kDomain, SameAsOperand()},
    {HloOpcode::kDot, Computed().Work(&WorkOfDot)},
    {HloOpcode::kDynamicReshape, Computed().Moves(1).HasComputedSizes().Sizes(&SizesOfDynamicReshape)},
    {HloOpcode::kDynamicSlice, Computed().Moves(1).Sizes(&SizesOfDynamicSlice)},
    {HloOpcode::kDynamicUpdateSlice, Computed().Moves(2).Work(&WorkOfUpdate)},
    {HloOpcode::kFft, Computed().Work(&WorkOfFft)},
    {HloOpcode::kFusion, Given(ValueSource::kCall)},
    {HloOpcode::kGather, Computed().Moves(1)},
    {HloOpcode::kGetDimensionSize, Computed().DependsOnRun()},
    {HloOpcode::kGetTupleElement, Given(ValueSource::kTupleElement)},
    {HloOpcode::kInfeed, OfAnyValues()},
    {HloOpcode::kMap, Computed().Work(&WorkOfMap)},
    {HloOpcode::kMaximum, Computed().Integers(&IntegerRules::Maximum)},
    {HloOpcode::kMinimum, Computed().Integers(&IntegerRules::Minimum)},
    {HloOpcode::kMultiply, Computed().Integers(&IntegerRules::Multiply)},
    {HloOpcode::kNegate, Computed().Integers(&IntegerRules::Negate)},
    {HloOpcode::kNot, Computed().Integers(&IntegerRules::Not)},
    {HloOpcode::kOptimizationBarrier, SameAsOperand().Work(&NoWork)},
    {HloOpcode::kOr, Computed().Integers(&IntegerRules::Or)},
    {HloOpcode::kOutfeed, OfAnyValues()},
    {HloOpcode::kPad, Computed().Moves(2)},
    {HloOpcode::kParameter, Given(ValueSource::kParameter)},
    {HloOpcode::kPartitionId, Computed().DependsOnRun()},
    {HloOpcode::kRaggedDot, Computed().Work(&WorkOfRaggedDot)},
    {HloOpcode::kRecv, OfAnyValues()},
    {HloOpcode::kRecvDone, OfAnyValues()},
    {HloOpcode::kReduce, Computed().Work(&WorkOfReduce)},
    {HloOpcode::kReduceWindow, Computed().Work(&WorkOfReduceWindow)},
    {HloOpcode::kRemainder, Computed().Integers(&IntegerRules::Remainder)},
    {HloOpcode::kReplicaId, Computed().DependsOnRun()},
    {HloOpcode::kReshape, Computed().Moves(1).Sizes(&SizesOfReshape)},
    {HloOpcode::kReverse, Computed().Moves(1)},
    {HloOpcode::kScaledDot, Computed().Work(&WorkOfDot)},
    {HloOpcode::kScan, Computed().Work(&WorkOfAllArrays)},
    {HloOpcode::kScatter, Computed().Work(&WorkOfScatter)},
    {HloOpcode::kSelectAndScatter, Computed().Work(&WorkOfSelectAndScatter)},
    {HloOpcode::kSend, OfAnyValues()},
    {HloOpcode::kSendDone, OfAnyValues()},
    {HloOpcode::kSetDimensionSize, Computed().Moves(1).HasComputedSizes().Sizes(&SizesOfSetDimensionSize)},
    {HloOpcode::kSign, Computed().Integers(&IntegerRules::Sign)},
    {HloOpcode::kSlice, Computed().Moves(1).Sizes(&SizesOfSlice)},
    {HloOpcode::kSort, Computed().Work(&WorkOfSort)},
    {HloOpcode::kSubtract, Computed().Integers(&IntegerRules::Subtract)},
    {HloOpcode::kTopK, Computed().Work(&WorkOfAllArrays)},
    {HloOpcode::kTranspose, Computed().Moves(1)},
    {HloOpcode::kTriangularSolve, Computed().Work(&WorkOfTriangle)},
    {HloOpcode::kTuple, Given(ValueSource::kTuple)},
    {HloOpcode::kWhile, Given(ValueSource::kLoop)},
    {HloOpcode::kXor, Computed()},
};

// Operations that talk to a host or to another program, which the evaluator does not have.
constexpr bool NeedsAHost(uint32_t flags) { return (flags & HloOpcodeFlags::kSideEffect) != 0; }

// XLA has the shape of a shuffle and no place that computes one (jaxlib 0.12), so the direction is not known.
constexpr bool IsUnknown(HloOpcode opcode) { return opcode == HloOpcode::kShuffle; }

constexpr bool IsOfElements(HloOpcode opcode, uint32_t flags) {
  return (flags & HloOpcodeFlags::kElementwise) != 0 && opcode != HloOpcode::kCopy && opcode != HloOpcode::kMap &&
         opcode != HloOpcode::kBitcastConvert;
}

template <HloOpcode opcode, uint32_t flags>
constexpr EvaluationFunction FunctionOf() {
  if constexpr (NeedsAHost(flags) || IsUnknown(opcode)) {
    return nullptr;
  } else if constexpr (IsOfElements(opcode, flags)) {
    return &EvaluateElementwise;
  } else {
    return &Evaluate<opcode>;
  }
}

// ops.def names the flags without their class.
struct Table : HloOpcodeFlags {
  static constexpr std::array<EvaluationFunction, HloOpcodeCount()> Functions() {
    return {
#define KASHI_OP(op, name, arity, rule, traits, ...) FunctionOf<HloOpcode::k##op, HloOpcodeTraits(traits).flags>(),
#include "kashi/hlo/ir/ops.def"
    };
  }
  static constexpr std::array<bool, HloOpcodeCount()> OfElements() {
    return {
#define KASHI_OP(op, name, arity, rule, traits, ...) IsOfElements(HloOpcode::k##op, HloOpcodeTraits(traits).flags),
#include "kashi/hlo/ir/ops.def"
    };
  }
  static std::array<OperationTraits, HloOpcodeCount()> Traits() {
    std::array<OperationTraits, HloOpcodeCount()> traits = {};
    for (const TableRow& row : kRows) traits[static_cast<size_t>(row.opcode)] = row.traits;
    return traits;
  }
};

}  // namespace

EvaluationFunction FindEvaluation(HloOpcode opcode) {
  static constexpr auto kFunctions = Table::Functions();
  return kFunctions[static_cast<size_t>(opcode)];
}

bool HasElementKernel(HloOpcode opcode) {
  static constexpr auto kOfElements = Table::OfElements();
  return kOfElements[static_cast<size_t>(opcode)];
}

const OperationTraits& TraitsOf(HloOpcode opcode) {
  static const auto kTraits = Table::Traits();
  return kTraits[static_cast<size_t>(opcode)];
}

}  // namespace kashi::evaluator
