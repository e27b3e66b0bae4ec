// custom-call (docs/spec/hlo-ops.md 6). The targets that we know are those that XLA's own passes, and the TPU compiler, put
// into modules in place of operations. Each takes and gives what its line in kTargets says.
#include "kashi/evaluator/custom_call.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/bitcast.h"
#include "kashi/evaluator/cholesky.h"
#include "kashi/evaluator/collective_exchange.h"
#include "kashi/evaluator/device.h"
#include "kashi/evaluator/factorizations.h"
#include "kashi/evaluator/lapack_call.h"
#include "kashi/evaluator/operation.h"
#include "kashi/evaluator/sharding_border.h"
#include "kashi/evaluator/top_k.h"
#include "kashi/evaluator/triangular_solve.h"
#include "kashi/literal/strided_walk.h"

namespace kashi {
namespace {

absl::Status Misused(const Operation& op) {
  return Unimplemented("%s: custom-call to \"%s\" of these shapes: %s", op.instruction.name(),
                       op.instruction.custom_call_target(), op.instruction.ToString());
}

bool HasArrays(const Operation& op, size_t count) {
  return op.operands.size() == count &&
         std::all_of(op.operands.begin(), op.operands.end(), [](const Value& operand) { return operand.is_array(); });
}

// Whether the call has one result, an array of that type and these dimensions.
bool HasResult(const Operation& op, PrimitiveType type, absl::Span<const int64_t> dimensions) {
  return op.instruction.shape().IsArray() && op.result()->element_type() == type &&
         op.result()->dimensions() == dimensions;
}

// ---- Notes to the compiler: the operand itself, or the tuple of all operands ------------------------------------------

absl::StatusOr<Value> PassOn(Operation& op) {
  const Shape& shape = op.instruction.shape();
  const auto is_operand = [&](const Shape& part, int64_t i) {
    return ShapeUtil::Compatible(part, op.instruction.operand(i)->shape());
  };
  if (op.operands.size() == 1 && is_operand(shape, 0)) return std::move(op.operands[0]);
  if (!shape.IsTuple() || shape.tuple_shapes_size() != op.operands.size()) return Misused(op);
  for (int64_t i = 0; i < shape.tuple_shapes_size(); ++i) {
    if (!is_operand(shape.tuple_shapes(i), i)) return Misused(op);
  }
  return Value::MakeTuple(
      std::vector<Value>(std::make_move_iterator(op.operands.begin()), std::make_move_iterator(op.operands.end())));
}

// ---- Borders of manual regions, on one of the devices (sharding_border.h) ------------------------------------------------

// What comes from members of the device's group, operand by operand.
absl::StatusOr<Value> LeaveRegion(Operation& op, absl::Span<const ShardingBorder> borders, const Device& device) {
  CollectiveGroup group = {borders[0].MembersFor(device.id())};
  for (const ShardingBorder& border : borders) {
    if (border.MembersFor(device.id()) == group.members) continue;
    return Unimplemented("%s: its operands leave a manual region over several groups of devices",
                         op.instruction.name());
  }
  group.own = absl::c_find(group.members, device.id()) - group.members.begin();
  KASHI_ASSIGN_OR_RETURN(const std::shared_ptr<const Given> given, Exchange(op, group, TakeOperands(op)));
  std::vector<Value> results;
  for (size_t k = 0; k < borders.size(); ++k) {
    const auto operand_of = [&](int64_t member) -> const Value& {
      return (*given)[absl::c_find(group.members, member) - group.members.begin()][k];
    };
    KASHI_ASSIGN_OR_RETURN(Value result, borders[k].Assemble(op.run, device.id(), operand_of));
    results.push_back(std::move(result));
  }
  return op.instruction.shape().IsTuple() ? Value::MakeTuple(std::move(results)) : std::move(results[0]);
}

absl::StatusOr<Value> EnterRegion(Operation& op, absl::Span<const ShardingBorder> borders, const Device& device) {
  std::vector<Value> results;
  for (size_t k = 0; k < borders.size(); ++k) {
    const auto operand_of = [&](int64_t) -> const Value& { return op.operands[k]; };
    KASHI_ASSIGN_OR_RETURN(Value result, borders[k].Assemble(op.run, device.id(), operand_of));
    results.push_back(std::move(result));
  }
  return op.instruction.shape().IsTuple() ? Value::MakeTuple(std::move(results)) : std::move(results[0]);
}

// On one device the region's arrays are the program's.
absl::StatusOr<Value> CrossBorder(Operation& op) {
  const Device* const device = op.run.device();
  if (device == nullptr || device->partition_count() == 1) return PassOn(op);
  KASHI_ASSIGN_OR_RETURN(const std::vector<ShardingBorder>* borders,
                         op.run.BordersOf(op.instruction, device->partition_count()));
  if (BorderKindOf(op.instruction) == BorderKind::kIntoRegion) return EnterRegion(op, *borders, *device);
  return LeaveRegion(op, *borders, *device);
}

// Memory without a meaning.
absl::StatusOr<Value> AllocateBuffer(Operation& op) {
  if (!op.instruction.shape().IsArray()) return Misused(op);
  KASHI_ASSIGN_OR_RETURN(Value zeros, op.MakeResult());
  std::memset(zeros.mutable_bytes(), 0, zeros.byte_count());
  return zeros;
}

// The bytes of all operands, as they lie in their layouts, one operand behind the other.
absl::StatusOr<Value> ConcatBitcast(Operation& op) {
  if (!HasArrays(op, op.operands.size()) || !op.instruction.shape().IsArray()) return Misused(op);
  std::vector<std::pair<Value, const Shape*>> parts;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    parts.emplace_back(std::move(op.operands[i]), &op.instruction.operand(i)->shape());
  }
  return ReinterpretPhysicalBytes(op.run, parts, op.instruction.shape());
}

// ---- 64 bits out of 32, for processors that know no 64-bit types -------------------------------------------------------
//
//   u64, s64: low + high 2^32        c64: low + high i        f64: high + low, where low is what f32 cut off
//
// The first two are the same to memory: four bytes, and four behind them.

PrimitiveType HalfType(PrimitiveType type) {
  if (type == U64 || type == S64) return U32;
  return type == C64 || type == F64 ? F32 : PRIMITIVE_TYPE_INVALID;
}

absl::StatusOr<Value> CombineHalves(Operation& op) {
  if (!HasArrays(op, 2) || !op.instruction.shape().IsArray()) return Misused(op);
  const Value &low = op.operands[0], &high = op.operands[1];
  const PrimitiveType type = op.result()->element_type(), half = HalfType(type);
  if (half == PRIMITIVE_TYPE_INVALID || low.element_type() != half || high.element_type() != half ||
      !HasResult(op, type, low.dimensions()) || !HasResult(op, type, high.dimensions())) {
    return Misused(op);
  }
  KASHI_ASSIGN_OR_RETURN(Value out, op.MakeResult());
  if (type == F64) {
    double* const to = out.mutable_data<double>().data();
    op.run.ParallelFor(out.element_count(), 1 << 15,
                       [&, a = low.data<float>(), b = high.data<float>()](int64_t begin, int64_t end, int) {
                         for (int64_t i = begin; i < end; ++i)
                           to[i] = static_cast<double>(b[i]) + static_cast<double>(a[i]);
                       });
    return out;
  }
  char* const to = out.mutable_bytes();
  op.run.ParallelFor(out.element_count(), 1 << 15,
                     [&, a = low.bytes(), b = high.bytes()](int64_t begin, int64_t end, int) {
                       for (int64_t i = begin; i < end; ++i) {
                         std::memcpy(to + 8 * i, a + 4 * i, 4);
                         std::memcpy(to + 8 * i + 4, b + 4 * i, 4);
                       }
                     });
  return out;
}

absl::StatusOr<Value> SplitHalf(Operation& op, bool is_high) {
  if (!HasArrays(op, 1)) return Misused(op);
  const Value& x = op.operands[0];
  const PrimitiveType half = HalfType(x.element_type());
  if (half == PRIMITIVE_TYPE_INVALID || !HasResult(op, half, x.dimensions())) return Misused(op);
  KASHI_ASSIGN_OR_RETURN(Value out, op.MakeResult());
  if (x.element_type() == F64) {
    float* const to = out.mutable_data<float>().data();
    op.run.ParallelFor(out.element_count(), 1 << 15, [&, from = x.data<double>()](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        const float high = static_cast<float>(from[i]);
        to[i] = is_high ? high : std::isfinite(high) ? static_cast<float>(from[i] - static_cast<double>(high)) : 0;
      }
    });
    return out;
  }
  char* const to = out.mutable_bytes();
  op.run.ParallelFor(out.element_count(), 1 << 15,
                     [&, from = x.bytes() + (is_high ? 4 : 0)](int64_t begin, int64_t end, int) {
                       for (int64_t i = begin; i < end; ++i) std::memcpy(to + 4 * i, from + 8 * i, 4);
                     });
  return out;
}

absl::StatusOr<Value> SplitLow(Operation& op) { return SplitHalf(op, /*is_high=*/false); }
absl::StatusOr<Value> SplitHigh(Operation& op) { return SplitHalf(op, /*is_high=*/true); }

// ---- Linear algebra -----------------------------------------------------------------------------------------------------

// a[..., n, n] -> the same
bool IsOfSquareMatrices(const Operation& op) {
  if (!HasArrays(op, 1)) return false;
  const absl::Span<const int64_t> sizes = op.operands[0].dimensions();
  return sizes.size() >= 2 && sizes.back() == sizes[sizes.size() - 2] &&
         HasResult(op, op.operands[0].element_type(), sizes);
}

absl::StatusOr<Value> LowerCholesky(Operation& op) {
  if (!IsOfSquareMatrices(op)) return Misused(op);
  return CholeskyFactors(op.run, std::move(op.operands[0]), /*lower=*/true);
}

absl::StatusOr<Value> InvertBlocks(Operation& op) {
  if (!IsOfSquareMatrices(op)) return Misused(op);
  return InvertLowerTriangles(op.run, std::move(op.operands[0]));
}

// A tuple of these, if they are what the call's shape says.
absl::StatusOr<Value> MakeTupleResult(const Operation& op, std::vector<Value> values) {
  const Shape& shape = op.instruction.shape();
  if (!shape.IsTuple() || shape.tuple_shapes_size() != static_cast<int>(values.size())) return Misused(op);
  for (size_t i = 0; i < values.size(); ++i) {
    if (!op.result(i) || *op.result(i) != values[i].shape()) return Misused(op);
  }
  return Value::MakeTuple(std::move(values));
}

template <typename... Values>
absl::StatusOr<Value> MakeTupleOf(const Operation& op, Values&&... values) {
  std::vector<Value> all;
  (all.push_back(std::forward<Values>(values)), ...);
  return MakeTupleResult(op, std::move(all));
}

absl::StatusOr<Value> EvaluateQr(Operation& op) {
  if (!HasArrays(op, 1) || op.operands[0].rank() < 2) return Misused(op);
  KASHI_ASSIGN_OR_RETURN(QrResult qr, QrFactors(op.run, std::move(op.operands[0])));
  return MakeTupleOf(op, std::move(qr.factors), std::move(qr.taus));
}

absl::StatusOr<Value> EvaluateProductOfReflectors(Operation& op) {
  if (!HasArrays(op, 2) || op.operands[0].rank() < 2) return Misused(op);
  const Value &factors = op.operands[0], &taus = op.operands[1];
  const absl::Span<const int64_t> sizes = factors.dimensions();
  const size_t batch = sizes.size() - 2;
  if (taus.rank() + 1 != factors.rank() || taus.dimensions().first(batch) != sizes.first(batch) ||
      taus.element_type() != factors.element_type() || taus.dimensions().back() > sizes[batch + 1] ||
      sizes[batch + 1] > sizes[batch] || !HasResult(op, factors.element_type(), sizes)) {
    return Misused(op);
  }
  return ProductOfReflectors(op.run, std::move(op.operands[0]), taus);
}

absl::StatusOr<Value> EvaluateCompactReflectors(Operation& op) {
  if (!IsOfSquareMatrices(op)) return Misused(op);
  return CompactReflectors(op.run, std::move(op.operands[0]));
}

absl::StatusOr<Value> EvaluateLu(Operation& op) {
  if (!HasArrays(op, 1) || op.operands[0].rank() < 2) return Misused(op);
  KASHI_ASSIGN_OR_RETURN(LuResult lu, LuFactors(op.run, std::move(op.operands[0])));
  return MakeTupleOf(op, std::move(lu.factors), std::move(lu.pivots), std::move(lu.permutation));
}

// The backend_config is "lower,sort,sweeps,tolerance": 1,1,100,1e-6. Ours are exact, whatever the last two are.
absl::StatusOr<Value> EvaluateEigh(Operation& op) {
  if (!HasArrays(op, 1) || op.operands[0].rank() < 2) return Misused(op);
  const absl::Span<const int64_t> sizes = op.operands[0].dimensions();
  if (sizes.back() != sizes[sizes.size() - 2]) return Misused(op);
  const std::vector<absl::string_view> config = absl::StrSplit(op.instruction.raw_backend_config_string(), ',');
  const auto is_set = [&](size_t i) { return i >= config.size() || absl::StripAsciiWhitespace(config[i]) != "0"; };
  KASHI_ASSIGN_OR_RETURN(EigenResult eigen,
                         HermitianEigen(op.run, std::move(op.operands[0]), /*lower=*/is_set(0), /*sort=*/is_set(1)));
  return MakeTupleOf(op, std::move(eigen.vectors), std::move(eigen.values));
}

// A matrix in quadrants (a00, a01, a10, a11) -> (w0, w1, v00, v01, v10, v11), not sorted. The rows of v are the eigenvectors.
absl::StatusOr<Value> EvaluateEighOfQuadrants(Operation& op) {
  const auto is_quadrant = [&](const Value& a) {
    return a.is_array() && a.rank() >= 2 && a.shape() == op.operands[0].shape() &&
           a.dimensions().back() == a.dimension(a.rank() - 2);
  };
  if (op.operands.size() != 4 || !std::all_of(op.operands.begin(), op.operands.end(), is_quadrant)) return Misused(op);
  const DenseShape quadrant = op.operands[0].dense_shape();
  const int64_t n = quadrant->dimensions().back(), bytes = op.operands[0].element_bytes();
  std::vector<int64_t> sizes(quadrant->dimensions().begin(), quadrant->dimensions().end());
  *(sizes.end() - 2) = sizes.back() = 2 * n;
  KASHI_ASSIGN_OR_RETURN(Value whole, op.run.MakeArray(quadrant->element_type(), sizes));
  const int64_t count = n == 0 ? 0 : op.operands[0].element_count() / n / n;
  const int64_t part_strides[] = {n * n, n, 1}, whole_strides[] = {4 * n * n, 2 * n, 1};
  const auto begin = [&](int64_t i) { return (i / 2 * 2 * n + i % 2) * n * bytes; };  // of quadrant i, in bytes
  for (int64_t i = 0; i < 4; ++i) {
    CopyStrided({count, n, n}, bytes, {op.operands[i].bytes(), part_strides},
                {whole.mutable_bytes() + begin(i), whole_strides});
  }
  KASHI_ASSIGN_OR_RETURN(const EigenResult eigen,
                         HermitianEigen(op.run, std::move(whole), /*lower=*/true, /*sort=*/false));
  std::vector<Value> results;
  sizes.pop_back();
  sizes.back() = n;
  for (int64_t half = 0; half < 2; ++half) {
    KASHI_ASSIGN_OR_RETURN(Value values, op.run.MakeArray(eigen.values.element_type(), sizes));
    const int64_t value_bytes = values.element_bytes();
    CopyStrided({count, n}, value_bytes, {eigen.values.bytes() + half * n * value_bytes, {2 * n, 1}},
                {values.mutable_bytes(), {n, 1}});
    results.push_back(std::move(values));
  }
  for (int64_t i = 0; i < 4; ++i) {
    KASHI_ASSIGN_OR_RETURN(Value part, op.run.MakeArray(quadrant));
    CopyStrided({count, n, n}, bytes, {eigen.vectors.bytes() + begin(i % 2 * 2 + i / 2), {4 * n * n, 1, 2 * n}},
                {part.mutable_bytes(), part_strides});
    results.push_back(std::move(part));
  }
  return MakeTupleResult(op, std::move(results));
}

// ---- (values, indices) of the k first elements of the last dimension, in the order that a comparison asks for ------------

bool IsComparator(absl::Span<HloComputation* const> called) {
  if (called.empty()) return true;
  const auto is_number = [](const HloInstruction* parameter) {
    return ShapeUtil::IsScalar(parameter->shape()) && !primitive_util::IsComplexType(parameter->shape().element_type());
  };
  const auto& parameters = called[0]->parameter_instructions();
  return called.size() == 1 && std::all_of(parameters.begin(), parameters.end(), is_number) &&
         ShapeUtil::Compatible(called[0]->root_instruction()->shape(), ShapeUtil::MakeShape(PRED, {}));
}

// Whether the called computation puts 1 before 0. (Its parameters: element and element, then often index and index. Most
// compare bits, so as to order NaNs too; top_k.h has that order.)
absl::StatusOr<bool> WantsLargest(const Operation& op) {
  if (op.instruction.called_computations().empty()) return true;
  const HloComputation& comparator = *op.instruction.called_computations()[0];
  std::vector<Value> arguments;
  for (int64_t i = 0; i < comparator.num_parameters(); ++i) {
    KASHI_ASSIGN_OR_RETURN(Value number, op.run.MakeArray(S32, {}));
    number.mutable_data<int32_t>()[0] = i == 0;
    const PrimitiveType type = comparator.parameter_instruction(i)->shape().element_type();
    KASHI_ASSIGN_OR_RETURN(number, op.run.Convert(std::move(number), type));
    arguments.push_back(std::move(number));
  }
  KASHI_ASSIGN_OR_RETURN(const Value is_before, op.run.Call(comparator, std::move(arguments)));
  return is_before.data<bool>()[0];
}

absl::StatusOr<Value> EvaluateTopK(Operation& op) {
  const Shape& shape = op.instruction.shape();
  if (!HasArrays(op, 1) || !shape.IsTuple() || shape.tuple_shapes_size() != 2 || !op.result(0) || !op.result(1) ||
      !IsComparator(op.instruction.called_computations())) {
    return Misused(op);
  }
  KASHI_ASSIGN_OR_RETURN(const bool largest, WantsLargest(op));
  const absl::Span<const int64_t> sizes = op.result(0)->dimensions();
  KASHI_ASSIGN_OR_RETURN(TopKResult best, TopK(op.run, op.operands[0], sizes.empty() ? 0 : sizes.back(), largest));
  return MakeTupleOf(op, std::move(best.values), std::move(best.indices));
}

// ------------------------------------------------------------------------------------------------------------------------

struct Target {
  absl::string_view name;
  absl::StatusOr<Value> (*evaluate)(Operation& op);
};

constexpr Target kTargets[] = {
    // Sharding, memory and layout: no change of values. They are refused where shapes differ, for then the values of other
    // devices are asked for.
    {"Sharding", PassOn},
    {"SPMDFullToShardShape", CrossBorder},
    {"SPMDShardToFullShape", CrossBorder},
    {"ShardBarrierFrom", PassOn},
    {"ShardBarrierTo", PassOn},
    {"xla.sdy.FuncResultSharding", PassOn},
    {"xla.sdy.GlobalToLocalShape", CrossBorder},
    {"xla.sdy.LocalToGlobalShape", CrossBorder},
    {"xla.sdy.PropagationBarrier", PassOn},
    {"annotate_device_placement", PassOn},
    {"MoveToHost", PassOn},
    {"MoveToDevice", PassOn},
    {"LayoutConstraint", PassOn},
    {"AssumeGatherIndicesInBound", PassOn},
    {"GatherScatterIndicesBitpacked", PassOn},  // its result stands where the indices stood, and is read as they were
    // ()
    {"AllocateBuffer", AllocateBuffer},
    // (parts...)
    {"ConcatBitcast", ConcatBitcast},
    // (low, high); (x); (x)
    {"X64Combine", CombineHalves},
    {"X64SplitLow", SplitLow},
    {"X64SplitHigh", SplitHigh},
    // (a[..., n, n]) -> the same
    {"Cholesky", LowerCholesky},
    {"InvertDiagBlocksLowerTriangular", InvertBlocks},
    // (a[..., m, n]) -> (factors[..., m, n], taus[..., min(m, n)])
    {"Qr", EvaluateQr},
    {"QrDecompositionBlock", EvaluateQr},
    // (factors[..., m, n], taus[..., k]) -> q[..., m, n]
    {"ProductOfElementaryHouseholderReflectors", EvaluateProductOfReflectors},
    // (u[..., n, n]) -> the same
    {"CompactWyHelper", EvaluateCompactReflectors},
    // (a[..., m, n]) -> (factors[..., m, n], pivots s32[..., min(m, n)], permutation s32[..., m])
    {"LuDecomposition", EvaluateLu},
    // (a[..., n, n]) -> (vectors[..., n, n], values[..., n])
    {"Eigh", EvaluateEigh},
    // (a00, a01, a10, a11) -> (w0, w1, v00, v01, v10, v11)
    {"EighTpu", EvaluateEighOfQuadrants},
    // (x[..., n]) -> ([..., k], s32[..., k])
    {"TopK", EvaluateTopK},
};

const Target* FindTarget(absl::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kTargets), std::end(kTargets), [&](const Target& target) { return target.name == name; });
  return found == std::end(kTargets) ? nullptr : found;
}

// ---- Handlers ------------------------------------------------------------------------------------------------------------

absl::StatusOr<Value> CallHandler(const CustomCallHandler& handler, const Operation& op) {
  std::vector<Literal> literals;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    KASHI_ASSIGN_OR_RETURN(Literal literal, op.operands[i].ToLiteral(op.instruction.operand(i)->shape()));
    literals.push_back(std::move(literal));
  }
  std::vector<const Literal*> pointers;
  for (const Literal& literal : literals) pointers.push_back(&literal);
  KASHI_ASSIGN_OR_RETURN(Literal result, handler(op.instruction, pointers));
  if (!ShapeUtil::Compatible(result.shape(), op.instruction.shape())) {
    return InvalidArgument("%s: the handler of custom-call target \"%s\" gave %s where the instruction has %s",
                           op.instruction.name(), op.instruction.custom_call_target(),
                           ShapeUtil::HumanString(result.shape()), ShapeUtil::HumanString(op.instruction.shape()));
  }
  const auto owner = std::make_shared<const Literal>(std::move(result));
  return Value::FromLiteral(*owner, op.run.budget(), owner);
}

bool IsAnswer(const absl::StatusOr<Value>& result) { return !absl::IsUnimplemented(result.status()); }

}  // namespace

CustomCallRegistry& CustomCallRegistry::Global() {
  static auto* const registry = new CustomCallRegistry();
  return *registry;
}

void CustomCallRegistry::Register(absl::string_view target, CustomCallHandler handler) {
  absl::MutexLock lock(&mutex_);
  handlers_[target] = std::move(handler);
}

void CustomCallRegistry::Unregister(absl::string_view target) {
  absl::MutexLock lock(&mutex_);
  handlers_.erase(target);
}

CustomCallHandler CustomCallRegistry::Find(absl::string_view target) const {
  absl::MutexLock lock(&mutex_);
  const auto found = handlers_.find(target);
  return found == handlers_.end() ? CustomCallHandler() : found->second;
}

bool IsKnownCustomCall(absl::string_view target) {
  return FindTarget(target) != nullptr || (HasLapack() && IsLapackCall(target));
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kCustomCall>(Operation& op) {
  const std::string& name = op.instruction.custom_call_target();
  for (const CustomCallHandler& handler :
       {op.run.options().custom_call_handler, CustomCallRegistry::Global().Find(name)}) {
    if (!handler) continue;
    absl::StatusOr<Value> result = CallHandler(handler, op);
    if (IsAnswer(result)) return result;
  }
  if (const Target* const target = FindTarget(name)) return target->evaluate(op);
  if (IsLapackCall(name)) return EvaluateLapackCall(op);
  return Unimplemented(
      "%s: custom-call target \"%s\" is not known; a handler can compute it (EvaluationOptions::custom_call_handler, "
      "CustomCallRegistry, kashi run --custom-call)",
      op.instruction.name(), name);
}

}  // namespace kashi
