// custom-call (docs/spec/hlo-ops.md 6). The targets that we know are those that XLA's own passes, and the TPU
// compiler, put into modules in place of operations. The line of each in kTargets lists its operands and results.
#include "kashi/evaluator/known_custom_calls.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/custom_calls/custom_call_functions.h"
#include "kashi/custom_calls/custom_call_registry.h"
#include "kashi/custom_calls/lapack_call.h"
#include "kashi/devices/device.h"
#include "kashi/devices/sharding_border.h"
#include "kashi/evaluator/bitcast.h"
#include "kashi/evaluator/border_sum.h"
#include "kashi/evaluator/cholesky.h"
#include "kashi/evaluator/collective_exchange.h"
#include "kashi/evaluator/factorizations.h"
#include "kashi/evaluator/operation.h"
#include "kashi/evaluator/parallel_for.h"
#include "kashi/evaluator/run_custom_calls.h"
#include "kashi/evaluator/triangular_solve.h"
#include "kashi/gpu_calls/gpu_call.h"
#include "kashi/literal/strided_walk.h"

namespace kashi::evaluator {

namespace {

// ---- Notes to the compiler: the operand itself, or the tuple of all operands ---------------------------------------

absl::StatusOr<Value> PassOn(Operation& op) {
  const Shape& shape = op.instruction.shape();
  const auto is_operand = [&](const Shape& part, int64_t i) {
    return ShapeUtil::Compatible(part, op.instruction.operand(i)->shape());
  };
  if (op.operands.size() == 1 && is_operand(shape, 0)) return std::move(op.operands[0]);
  if (!shape.IsTuple() || shape.tuple_shapes_size() != op.operands.size()) return custom_calls::MisusedCustomCall(op);
  for (int64_t i = 0; i < shape.tuple_shapes_size(); ++i) {
    if (!is_operand(shape.tuple_shapes(i), i)) return custom_calls::MisusedCustomCall(op);
  }
  return Value::MakeTuple(
      std::vector<Value>(std::make_move_iterator(op.operands.begin()), std::make_move_iterator(op.operands.end())));
}

// ---- Borders of manual regions, on one of the devices (kashi/devices/sharding_border.h) -----------------------------

// Collects the operands from the members of the device's group, one operand after the other.
absl::StatusOr<Value> LeaveRegion(Operation& op, absl::Span<const devices::ShardingBorder> borders,
                                  const devices::Device& device) {
  CollectiveGroup group = {borders[0].MembersFor(device.id())};
  for (const devices::ShardingBorder& border : borders) {
    if (border.MembersFor(device.id()) == group.members) continue;
    return Unimplemented("%s: its operands leave a manual region over several groups of devices",
                         op.instruction.name());
  }
  group.own = absl::c_find(group.members, device.id()) - group.members.begin();
  KASHI_ASSIGN_OR_RETURN(const std::shared_ptr<const devices::Given> given, Exchange(op, group, TakeOperands(op)));
  std::vector<Value> results;
  for (size_t k = 0; k < borders.size(); ++k) {
    const auto operand_of = [&](int64_t member) -> const Value& {
      return (*given)[absl::c_find(group.members, member) - group.members.begin()][k];
    };
    KASHI_ASSIGN_OR_RETURN(Value result, AssembleOutOfRegion(op.run, borders[k], device.id(), operand_of));
    results.push_back(std::move(result));
  }
  return op.instruction.shape().IsTuple() ? Value::MakeTuple(std::move(results)) : std::move(results[0]);
}

// The first device of a sum has the array, and the others have zeros.
absl::StatusOr<Value> EnterRegion(Operation& op, absl::Span<const devices::ShardingBorder> borders,
                                  const devices::Device& device) {
  std::vector<Value> results;
  for (size_t k = 0; k < borders.size(); ++k) {
    const auto operand_of = [&](int64_t) -> const Value& { return op.operands[k]; };
    KASHI_ASSIGN_OR_RETURN(Value result, borders[k].Assemble(op.run.budget(), device.id(), /*term=*/0, operand_of));
    results.push_back(std::move(result));
  }
  return op.instruction.shape().IsTuple() ? Value::MakeTuple(std::move(results)) : std::move(results[0]);
}

// On one device the region's arrays are the program's.
absl::StatusOr<Value> CrossBorder(Operation& op) {
  const devices::Device* const device = op.run.device();
  if (device == nullptr || device->partition_count() == 1) return PassOn(op);
  KASHI_ASSIGN_OR_RETURN(const std::vector<devices::ShardingBorder>* borders,
                         op.run.BordersOf(op.instruction, device->partition_count()));
  if (devices::BorderKindOf(op.instruction) == devices::BorderKind::kIntoRegion)
    return EnterRegion(op, *borders, *device);
  return LeaveRegion(op, *borders, *device);
}

// Memory without a meaning.
absl::StatusOr<Value> AllocateBuffer(Operation& op) {
  if (!op.instruction.shape().IsArray()) return custom_calls::MisusedCustomCall(op);
  KASHI_ASSIGN_OR_RETURN(Value zeros, op.MakeResult());
  std::memset(zeros.mutable_bytes(), 0, zeros.byte_count());
  return zeros;
}

// The signal that a call on the TPU's sparse core may begin. Here it may begin at once.
absl::StatusOr<Value> CallIsPrepared(Operation& op) {
  if (op.operands.size() != 1 || !op.instruction.shape().IsToken()) return custom_calls::MisusedCustomCall(op);
  return Value::MakeToken();
}

// Calls that pass an array to or from memory that is written in place: the result is the operand.
absl::StatusOr<Value> PassBufferOn(Operation& op) {
  if (!custom_calls::HasArrayOperands(op, 1) ||
      !custom_calls::HasArrayResult(op, op.operands[0].element_type(), op.operands[0].dimensions())) {
    return custom_calls::MisusedCustomCall(op);
  }
  return std::move(op.operands[0]);
}

// Calls that only affect the compiler: the result is ().
absl::StatusOr<Value> Nothing(Operation& op) {
  if (!ShapeUtil::IsEmptyTuple(op.instruction.shape())) return custom_calls::MisusedCustomCall(op);
  return Value::MakeTuple({});
}

// ---- Arrays of dynamic sizes, as XLA hands them to code that knows only static ones --------------------------------

// The elements that both have, the others of `to` zeros. Pre: equal types and ranks.
absl::StatusOr<Value> Resize(EvaluationRun& run, const Value& from, absl::Span<const int64_t> sizes) {
  KASHI_ASSIGN_OR_RETURN(Value to, run.MakeArray(from.element_type(), sizes));
  std::memset(to.mutable_bytes(), 0, to.byte_count());
  std::vector<int64_t> bounds, from_strides(sizes.size(), 1), to_strides(sizes.size(), 1);
  for (size_t i = 0; i < sizes.size(); ++i) bounds.push_back(std::min(from.dimensions()[i], sizes[i]));
  for (size_t i = sizes.size(); i-- > 1;) {
    from_strides[i - 1] = from_strides[i] * from.dimensions()[i];
    to_strides[i - 1] = to_strides[i] * sizes[i];
  }
  literal::CopyStrided(bounds, from.element_bytes(), {from.bytes(), from_strides}, {to.mutable_bytes(), to_strides});
  return to;
}

// The array at its bound, and its sizes.
absl::StatusOr<Value> PadToStatic(Operation& op) {
  const Shape& shape = op.instruction.shape();
  if (!custom_calls::HasArrayOperands(op, 1) || !shape.IsTuple() ||
      shape.tuple_shapes_size() != op.operands[0].rank() + 1 || !shape.tuple_shapes(0).IsArray()) {
    return custom_calls::MisusedCustomCall(op);
  }
  const Value& x = op.operands[0];
  const absl::Span<const int64_t> bounds = op.instruction.operand(0)->shape().dimensions();
  if (shape.tuple_shapes(0).dimensions() != bounds) return custom_calls::MisusedCustomCall(op);
  std::vector<Value> results(1);
  KASHI_ASSIGN_OR_RETURN(results[0], Resize(op.run, x, bounds));
  for (int i = 0; i < x.rank(); ++i) {
    KASHI_ASSIGN_OR_RETURN(Value size, op.run.MakeArray(S32, {}));
    size.mutable_data<int32_t>()[0] = static_cast<int32_t>(x.dimension(i));
    results.push_back(std::move(size));
  }
  return custom_calls::MakeTupleResult(op, std::move(results));
}

// The reverse. Sizes beyond the bound are the bound, negative ones 0, as those of set-dimension-size.
absl::StatusOr<Value> SliceToDynamic(Operation& op) {
  const Shape& shape = op.instruction.shape();
  if (op.operands.empty() || !custom_calls::HasArrayOperands(op, op.operands.size()) || !shape.IsArray() ||
      op.operands[0].rank() + 1 != static_cast<int>(op.operands.size()) ||
      shape.dimensions() != op.operands[0].dimensions() || shape.element_type() != op.operands[0].element_type()) {
    return custom_calls::MisusedCustomCall(op);
  }
  std::vector<int64_t> sizes(shape.dimensions().begin(), shape.dimensions().end());
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Value& size = op.operands[i + 1];
    if (size.rank() != 0 || size.element_type() != S32) return custom_calls::MisusedCustomCall(op);
    if (shape.is_dynamic_dimension(i)) sizes[i] = std::clamp<int64_t>(size.data<int32_t>()[0], 0, sizes[i]);
  }
  return Resize(op.run, op.operands[0], sizes);
}

// The bytes of all operands in the order of their layouts, one operand after the other.
absl::StatusOr<Value> ConcatBitcast(Operation& op) {
  if (!custom_calls::HasArrayOperands(op, op.operands.size()) || !op.instruction.shape().IsArray())
    return custom_calls::MisusedCustomCall(op);
  std::vector<std::pair<Value, const Shape*>> parts;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    parts.emplace_back(std::move(op.operands[i]), &op.instruction.operand(i)->shape());
  }
  return ReinterpretPhysicalBytes(op.run, parts, op.instruction.shape());
}

// ---- 64 bits out of 32, for processors that know no 64-bit types ---------------------------------------------------
//
//   u64, s64: low + high 2^32        c64: low + high i        f64: high + low, where low is what f32 cut off
//
// The first two have the same memory: four bytes, and then four bytes.

PrimitiveType HalfType(PrimitiveType type) {
  if (type == U64 || type == S64) return U32;
  return type == C64 || type == F64 ? F32 : PRIMITIVE_TYPE_INVALID;
}

absl::StatusOr<Value> CombineHalves(Operation& op) {
  if (!custom_calls::HasArrayOperands(op, 2) || !op.instruction.shape().IsArray())
    return custom_calls::MisusedCustomCall(op);
  const Value &low = op.operands[0], &high = op.operands[1];
  const PrimitiveType type = op.result()->element_type(), half = HalfType(type);
  if (half == PRIMITIVE_TYPE_INVALID || low.element_type() != half || high.element_type() != half ||
      !custom_calls::HasArrayResult(op, type, low.dimensions()) ||
      !custom_calls::HasArrayResult(op, type, high.dimensions())) {
    return custom_calls::MisusedCustomCall(op);
  }
  KASHI_ASSIGN_OR_RETURN(Value out, op.MakeResult());
  if (type == F64) {
    double* const to = out.mutable_data<double>().data();
    KASHI_RETURN_IF_ERROR(
        ParallelFor(op.run, out.element_count(), 1 << 15,
                    [&, a = low.data<float>(), b = high.data<float>()](int64_t begin, int64_t end, int) {
                      for (int64_t i = begin; i < end; ++i)
                        to[i] = static_cast<double>(b[i]) + static_cast<double>(a[i]);
                    }));
    return out;
  }
  char* const to = out.mutable_bytes();
  KASHI_RETURN_IF_ERROR(ParallelFor(op.run, out.element_count(), 1 << 15,
                                    [&, a = low.bytes(), b = high.bytes()](int64_t begin, int64_t end, int) {
                                      for (int64_t i = begin; i < end; ++i) {
                                        std::memcpy(to + 8 * i, a + 4 * i, 4);
                                        std::memcpy(to + 8 * i + 4, b + 4 * i, 4);
                                      }
                                    }));
  return out;
}

absl::StatusOr<Value> SplitHalf(Operation& op, bool is_high) {
  if (!custom_calls::HasArrayOperands(op, 1)) return custom_calls::MisusedCustomCall(op);
  const Value& x = op.operands[0];
  const PrimitiveType half = HalfType(x.element_type());
  if (half == PRIMITIVE_TYPE_INVALID || !custom_calls::HasArrayResult(op, half, x.dimensions()))
    return custom_calls::MisusedCustomCall(op);
  KASHI_ASSIGN_OR_RETURN(Value out, op.MakeResult());
  if (x.element_type() == F64) {
    float* const to = out.mutable_data<float>().data();
    KASHI_RETURN_IF_ERROR(ParallelFor(
        op.run, out.element_count(), 1 << 15, [&, from = x.data<double>()](int64_t begin, int64_t end, int) {
          for (int64_t i = begin; i < end; ++i) {
            const float high = static_cast<float>(from[i]);
            to[i] = is_high ? high : std::isfinite(high) ? static_cast<float>(from[i] - static_cast<double>(high)) : 0;
          }
        }));
    return out;
  }
  char* const to = out.mutable_bytes();
  KASHI_RETURN_IF_ERROR(ParallelFor(op.run, out.element_count(), 1 << 15,
                                    [&, from = x.bytes() + (is_high ? 4 : 0)](int64_t begin, int64_t end, int) {
                                      for (int64_t i = begin; i < end; ++i) std::memcpy(to + 4 * i, from + 8 * i, 4);
                                    }));
  return out;
}

absl::StatusOr<Value> SplitLow(Operation& op) { return SplitHalf(op, /*is_high=*/false); }
absl::StatusOr<Value> SplitHigh(Operation& op) { return SplitHalf(op, /*is_high=*/true); }

// ---- Linear algebra ------------------------------------------------------------------------------------------------

// a[..., n, n] -> the same
bool IsOfSquareMatrices(const Operation& op) {
  if (!custom_calls::HasArrayOperands(op, 1)) return false;
  const absl::Span<const int64_t> sizes = op.operands[0].dimensions();
  return sizes.size() >= 2 && sizes.back() == sizes[sizes.size() - 2] &&
         custom_calls::HasArrayResult(op, op.operands[0].element_type(), sizes);
}

absl::StatusOr<Value> LowerCholesky(Operation& op) {
  if (!IsOfSquareMatrices(op)) return custom_calls::MisusedCustomCall(op);
  return CholeskyFactors(op.run, std::move(op.operands[0]), /*lower=*/true);
}

absl::StatusOr<Value> InvertBlocks(Operation& op) {
  if (!IsOfSquareMatrices(op)) return custom_calls::MisusedCustomCall(op);
  return InvertLowerTriangles(op.run, std::move(op.operands[0]));
}

absl::StatusOr<Value> EvaluateQr(Operation& op) {
  if (!custom_calls::HasArrayOperands(op, 1) || op.operands[0].rank() < 2) return custom_calls::MisusedCustomCall(op);
  KASHI_ASSIGN_OR_RETURN(QrResult qr, QrFactors(op.run, std::move(op.operands[0])));
  return custom_calls::MakeTupleResultOf(op, std::move(qr.factors), std::move(qr.taus));
}

absl::StatusOr<Value> EvaluateProductOfReflectors(Operation& op) {
  if (!custom_calls::HasArrayOperands(op, 2) || op.operands[0].rank() < 2) return custom_calls::MisusedCustomCall(op);
  const Value &factors = op.operands[0], &taus = op.operands[1];
  const absl::Span<const int64_t> sizes = factors.dimensions();
  const size_t batch = sizes.size() - 2;
  if (taus.rank() + 1 != factors.rank() || taus.dimensions().first(batch) != sizes.first(batch) ||
      taus.element_type() != factors.element_type() || taus.dimensions().back() > sizes[batch + 1] ||
      sizes[batch + 1] > sizes[batch] || !custom_calls::HasArrayResult(op, factors.element_type(), sizes)) {
    return custom_calls::MisusedCustomCall(op);
  }
  return ProductOfReflectors(op.run, std::move(op.operands[0]), taus);
}

absl::StatusOr<Value> EvaluateCompactReflectors(Operation& op) {
  if (!IsOfSquareMatrices(op)) return custom_calls::MisusedCustomCall(op);
  return CompactReflectors(op.run, std::move(op.operands[0]));
}

absl::StatusOr<Value> EvaluateLu(Operation& op) {
  if (!custom_calls::HasArrayOperands(op, 1) || op.operands[0].rank() < 2) return custom_calls::MisusedCustomCall(op);
  KASHI_ASSIGN_OR_RETURN(LuResult lu, LuFactors(op.run, std::move(op.operands[0])));
  return custom_calls::MakeTupleResultOf(op, std::move(lu.factors), std::move(lu.pivots), std::move(lu.permutation));
}

// The backend_config is "lower,sort,sweeps,tolerance": 1,1,100,1e-6. Kashi's results are exact, so the last two do not
// matter.
absl::StatusOr<Value> EvaluateEigh(Operation& op) {
  if (!custom_calls::HasArrayOperands(op, 1) || op.operands[0].rank() < 2) return custom_calls::MisusedCustomCall(op);
  const absl::Span<const int64_t> sizes = op.operands[0].dimensions();
  if (sizes.back() != sizes[sizes.size() - 2]) return custom_calls::MisusedCustomCall(op);
  const std::vector<absl::string_view> config = absl::StrSplit(op.instruction.raw_backend_config_string(), ',');
  const auto is_set = [&](size_t i) { return i >= config.size() || absl::StripAsciiWhitespace(config[i]) != "0"; };
  KASHI_ASSIGN_OR_RETURN(EigenResult eigen,
                         HermitianEigen(op.run, std::move(op.operands[0]), /*lower=*/is_set(0), /*sort=*/is_set(1)));
  return custom_calls::MakeTupleResultOf(op, std::move(eigen.vectors), std::move(eigen.values));
}

// A matrix in quadrants (a00, a01, a10, a11) -> (w0, w1, v00, v01, v10, v11), not sorted. The rows of v are the
// eigenvectors.
absl::StatusOr<Value> EvaluateEighOfQuadrants(Operation& op) {
  const auto is_quadrant = [&](const Value& a) {
    return a.is_array() && a.rank() >= 2 && a.shape() == op.operands[0].shape() &&
           a.dimensions().back() == a.dimension(a.rank() - 2);
  };
  if (op.operands.size() != 4 || !std::all_of(op.operands.begin(), op.operands.end(), is_quadrant))
    return custom_calls::MisusedCustomCall(op);
  const DenseShape quadrant = op.operands[0].dense_shape();
  const int64_t n = quadrant->dimensions().back(), bytes = op.operands[0].element_bytes();
  std::vector<int64_t> sizes(quadrant->dimensions().begin(), quadrant->dimensions().end());
  *(sizes.end() - 2) = sizes.back() = 2 * n;
  KASHI_ASSIGN_OR_RETURN(Value whole, op.run.MakeArray(quadrant->element_type(), sizes));
  const int64_t count = n == 0 ? 0 : op.operands[0].element_count() / n / n;
  const int64_t part_strides[] = {n * n, n, 1}, whole_strides[] = {4 * n * n, 2 * n, 1};
  const auto begin = [&](int64_t i) { return (i / 2 * 2 * n + i % 2) * n * bytes; };  // of quadrant i, in bytes
  for (int64_t i = 0; i < 4; ++i) {
    literal::CopyStrided({count, n, n}, bytes, {op.operands[i].bytes(), part_strides},
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
    literal::CopyStrided({count, n}, value_bytes, {eigen.values.bytes() + half * n * value_bytes, {2 * n, 1}},
                         {values.mutable_bytes(), {n, 1}});
    results.push_back(std::move(values));
  }
  for (int64_t i = 0; i < 4; ++i) {
    KASHI_ASSIGN_OR_RETURN(Value part, op.run.MakeArray(quadrant));
    literal::CopyStrided({count, n, n}, bytes,
                         {eigen.vectors.bytes() + begin(i % 2 * 2 + i / 2), {4 * n * n, 1, 2 * n}},
                         {part.mutable_bytes(), part_strides});
    results.push_back(std::move(part));
  }
  return custom_calls::MakeTupleResult(op, std::move(results));
}

// --------------------------------------------------------------------------------------------------------------------

// A function that calls no computation, in the table.
template <absl::StatusOr<Value> (*evaluate)(values::BasicOperation&)>
absl::StatusOr<Value> Basic(Operation& op) {
  return evaluate(op);
}

struct Target {
  absl::string_view name;
  absl::StatusOr<Value> (*evaluate)(Operation& op);
};

constexpr Target kTargets[] = {
    // Sharding, memory and layout: no change of values. If shapes differ, they are an error, because they would need
    // the values of other devices.
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
    {"Pin", PassBufferOn},
    {"Unpin", PassBufferOn},
    {"dce_sink", Nothing},
    {"control_dep", Nothing},
    {"xla.sdy.ShardingGroup", Nothing},
    {"GatherScatterIndicesBitpacked", PassOn},  // its result is used like the indices
    // ()
    {"AllocateBuffer", AllocateBuffer},
    {"CreateBuffer", AllocateBuffer},
    // () -> handle; handle -> token
    {"PrepareAsyncCallStart", AllocateBuffer},
    {"PrepareAsyncCallDone", CallIsPrepared},
    // (x[<=a, <=b, ...]) -> (x[a, b, ...], s32[], s32[], ...)
    {"PadToStatic", PadToStatic},
    // (x[a, b, ...], s32[], s32[], ...) -> [<=a, <=b, ...]
    {"SliceToDynamic", SliceToDynamic},
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
    // operands and results: kashi/custom_calls/custom_call_functions.h
    {"tridiagonal_solve_perturbed_ffi", Basic<custom_calls::SolveTridiagonalPerturbed>},
    {"cpu_csr_sparse_dense_ffi", Basic<custom_calls::MultiplyCsr>},
    {"cu_threefry2x32", Basic<custom_calls::EvaluateThreefry>},
    {"cu_threefry2x32_ffi", Basic<custom_calls::EvaluateThreefry>},
    {"hip_threefry2x32", Basic<custom_calls::EvaluateThreefry>},
    {"hip_threefry2x32_ffi", Basic<custom_calls::EvaluateThreefry>},
    {"cu_lu_pivots_to_permutation", Basic<custom_calls::EvaluateLuPermutation>},
    {"hip_lu_pivots_to_permutation", Basic<custom_calls::EvaluateLuPermutation>},
    {"PartialReduce", EvaluateApproximateTopK},
    {"ApproxTopK", EvaluateApproximateTopK},
    {"TopK", EvaluateTopKCall},
    {"check.eq", Basic<custom_calls::EvaluateCheckEq>},
    {"check.expect_almost_eq", Basic<custom_calls::EvaluateExpectAlmostEq>},
    {"check.expect_close", Basic<custom_calls::EvaluateExpectClose>},
    {"check.expect_eq", Basic<custom_calls::EvaluateExpectEq>},
    {"interpreter.run_parallel", EvaluateRunParallel},
};

const Target* FindTarget(absl::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kTargets), std::end(kTargets), [&](const Target& target) { return target.name == name; });
  return found == std::end(kTargets) ? nullptr : found;
}

// Calls that have a meaning only in the process or on the processor for which they are made, or for which we have no
// rule, and their descriptions.
struct ForeignTarget {
  absl::string_view prefix;
  absl::string_view what;
};

constexpr ForeignTarget kForeignTargets[] = {
    {"xla_ffi_python_", "calls a Python function of the process that made the module"},
    {"xla_ffi_partitioned_python_", "calls a Python function of the process that made the module"},
    {"xla_buffer_python_", "calls a Python function of the process that made the module"},
    {"xla_python_", "calls a Python function of the process that made the module"},
    {"tpu_custom_call", "is a kernel written for TPUs (Mosaic)"},
    {"mosaic_gpu", "is a kernel written for GPUs (Mosaic)"},
    {"triton_kernel_call", "is a kernel written for GPUs (Triton)"},
    {"__gpu$xla.gpu.triton", "is a kernel written for GPUs (Triton)"},
    {"__cublas$", "is an operation of cuBLAS for which there is no rule"},
    {"__cudnn$", "is an operation of cuDNN for which there is no rule"},
    {"__onednn$", "is an operation of oneDNN, fused with others by XLA"},
    {"cusolver_", "is an operation of cuSOLVER"},
    {"cusparse_", "is an operation of cuSPARSE"},
    {"hipsolver_", "is an operation of hipSOLVER"},
};

absl::Status UnknownTarget(const Operation& op) {
  const std::string& name = op.instruction.custom_call_target();
  const auto* const foreign =
      absl::c_find_if(kForeignTargets, [&](const auto& target) { return absl::StartsWith(name, target.prefix); });
  return Unimplemented(
      "%s: custom-call target \"%s\" %s; a handler can compute it (EvaluationOptions::custom_call_handler, "
      "CustomCallRegistry, kashi run --custom-call)",
      op.instruction.name(), name, foreign == std::end(kForeignTargets) ? "is not known" : foreign->what);
}

// ---- Handlers ------------------------------------------------------------------------------------------------------

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
    return InvalidArgument("%s: the handler of custom-call target \"%s\" gave %s, but the instruction has %s",
                           op.instruction.name(), op.instruction.custom_call_target(),
                           ShapeUtil::HumanString(result.shape()), ShapeUtil::HumanString(op.instruction.shape()));
  }
  const auto owner = std::make_shared<const Literal>(std::move(result));
  return Value::FromLiteral(*owner, op.run.budget(), owner);
}

bool IsAnswer(const absl::StatusOr<Value>& result) { return !absl::IsUnimplemented(result.status()); }

}  // namespace

static bool IsKnown(absl::string_view target) {
  return FindTarget(target) != nullptr || gpu_calls::FindGpuCall(target) != nullptr ||
         (custom_calls::HasLapack() && custom_calls::IsLapackCall(target));
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kCustomCall>(Operation& op) {
  const std::string& name = op.instruction.custom_call_target();
  const EvaluationOptions& options = op.run.options();
  const bool asks = !options.is_handled || options.is_handled(op.instruction);
  // A handler that is chosen for this call has the last word.
  if (options.is_handled && asks && options.custom_call_handler) return CallHandler(options.custom_call_handler, op);
  for (const CustomCallHandler& handler :
       {asks ? options.custom_call_handler : nullptr, CustomCallRegistry::Global().Find(name)}) {
    if (!handler) continue;
    absl::StatusOr<Value> result = CallHandler(handler, op);
    if (IsAnswer(result)) return result;
  }
  if (const Target* const target = FindTarget(name)) return target->evaluate(op);
  if (gpu_calls::FindGpuCall(name) != nullptr) return EvaluateGpuCall(op);
  if (custom_calls::IsLapackCall(name)) return custom_calls::EvaluateLapackCall(op, op.lapack);
  // Such as a print of JAX in a dump: no result needs it.
  if (ShapeUtil::IsEmptyTuple(op.instruction.shape())) return Value::MakeTuple({});
  return UnknownTarget(op);
}

}  // namespace kashi::evaluator

namespace kashi {

bool IsKnownCustomCall(absl::string_view target) { return evaluator::IsKnown(target); }

}  // namespace kashi
