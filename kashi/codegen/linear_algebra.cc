#include "kashi/codegen/linear_algebra.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <llvm/IR/Module.h>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_util.h"
#include "kashi/custom_calls/lapack_call.h"
#include "kashi/kernels/small_eigen.h"

namespace kashi::codegen {
namespace {

using kernels::LinearAlgebraCall;
using kernels::LinearAlgebraKind;
using Attributes = absl::flat_hash_map<std::string, int64_t>;

// "lapack_spotrf_ffi" -> "potrf", F32. Empty for others. Complex matrices have only "syevd", which is "heevd" there.
absl::string_view RoutineOf(absl::string_view target, PrimitiveType* type) {
  if (!absl::ConsumePrefix(&target, "lapack_") || !absl::ConsumeSuffix(&target, "_ffi") || target.empty()) return "";
  constexpr absl::string_view kLetters = "sdcz";
  constexpr PrimitiveType kTypes[] = {F32, F64, C64, C128};
  const size_t number = kLetters.find(target[0]);
  if (number == absl::string_view::npos) return "";
  *type = kTypes[number];
  target.remove_prefix(1);
  if (primitive_util::IsComplexType(*type)) return target == "heevd" ? "syevd" : "";
  return target;
}

// Whether the dimensions are those of the batch and then these.
bool HasDimensions(const Shape& shape, PrimitiveType type, absl::Span<const int64_t> batch,
                   absl::Span<const int64_t> rest) {
  if (!shape.IsArray() || shape.element_type() != type || !shape.is_static()) return false;
  const absl::Span<const int64_t> dimensions = shape.dimensions();
  return dimensions.size() == batch.size() + rest.size() && dimensions.first(batch.size()) == batch &&
         dimensions.subspan(batch.size()) == rest;
}

// Whether each matrix is stored by columns, as LAPACK reads its bytes; the batch is row-major.
bool IsStoredByColumns(const Shape& shape) {
  const int64_t rank = shape.dimensions_size();
  std::vector<int64_t> order = {rank - 2, rank - 1};
  for (int64_t d = rank - 3; d >= 0; --d) order.push_back(d);
  const auto is_trivial = [&](int64_t d) { return shape.dimensions(static_cast<int>(d)) == 1; };
  std::vector<int64_t> stored = shape.has_layout() ? std::vector<int64_t>(shape.layout().minor_to_major().begin(),
                                                                          shape.layout().minor_to_major().end())
                                                   : std::vector<int64_t>();
  for (std::vector<int64_t>* dimensions : {&order, &stored}) {
    dimensions->erase(std::remove_if(dimensions->begin(), dimensions->end(), is_trivial), dimensions->end());
  }
  return order == stored;
}

// The matrices among operands and results.
bool AreStoredByColumns(const HloInstruction& call) {
  for (int64_t i = 0; i < call.operand_count(); ++i) {
    const Shape& shape = call.layout_constrained() ? call.operand_shapes_with_layout()[i] : call.operand(i)->shape();
    const bool is_matrix = shape.dimensions_size() == call.operand(0)->shape().dimensions_size();
    if (is_matrix && !IsStoredByColumns(shape)) return false;
  }
  return IsStoredByColumns(call.shape().IsTuple() ? call.shape().tuple_shapes(0) : call.shape());
}

// Whether an attribute is one of two letters; *bit is set in the flags for the first.
bool ReadFlag(const Attributes& attributes, absl::string_view name, char set, absl::string_view unset, int64_t bit,
              int64_t* flags) {
  const auto found = attributes.find(name);
  if (found == attributes.end()) return false;
  if (found->second == set) *flags |= bit;
  return found->second == set || unset.find(static_cast<char>(found->second)) != absl::string_view::npos;
}

bool IsCholesky(const Shape& result, absl::Span<const int64_t> batch, const Attributes& attributes,
                LinearAlgebraCall* call) {
  const bool fits = result.IsTuple() && result.tuple_shapes_size() == 2 && call->m == call->n &&
                    HasDimensions(result.tuple_shapes(0), call->type, batch, {call->n, call->n}) &&
                    HasDimensions(result.tuple_shapes(1), S32, batch, {});
  return fits && ReadFlag(attributes, "uplo", 'L', "U", LinearAlgebraCall::kLower, &call->flags);
}

bool IsLu(const Shape& result, absl::Span<const int64_t> batch, const LinearAlgebraCall& call) {
  return result.IsTuple() && result.tuple_shapes_size() == 3 &&
         HasDimensions(result.tuple_shapes(0), call.type, batch, {call.m, call.n}) &&
         HasDimensions(result.tuple_shapes(1), S32, batch, {std::min(call.m, call.n)}) &&
         HasDimensions(result.tuple_shapes(2), S32, batch, {});
}

bool IsTriangularSolve(const HloInstruction& instruction, absl::Span<const int64_t> batch, const Attributes& attributes,
                       LinearAlgebraCall* call) {
  const Shape& b = instruction.operand(1)->shape();
  if (b.dimensions_size() != static_cast<int64_t>(batch.size()) + 2 || call->m != call->n) return false;
  const int64_t size = call->n;
  call->m = b.dimensions(static_cast<int>(batch.size()));
  call->n = b.dimensions(static_cast<int>(batch.size()) + 1);
  const bool fits = HasDimensions(b, call->type, batch, {call->m, call->n}) &&
                    HasDimensions(instruction.shape(), call->type, batch, {call->m, call->n}) &&
                    ReadFlag(attributes, "side", 'L', "R", LinearAlgebraCall::kLeft, &call->flags) &&
                    ReadFlag(attributes, "uplo", 'L', "U", LinearAlgebraCall::kLower, &call->flags) &&
                    ReadFlag(attributes, "trans_x", 'T', "N", LinearAlgebraCall::kTransposed, &call->flags) &&
                    ReadFlag(attributes, "diag", 'U', "N", LinearAlgebraCall::kUnit, &call->flags);
  return fits && size == ((call->flags & LinearAlgebraCall::kLeft) != 0 ? call->m : call->n);
}

bool IsQr(const Shape& result, absl::Span<const int64_t> batch, const LinearAlgebraCall& call) {
  return result.IsTuple() && result.tuple_shapes_size() == 2 &&
         HasDimensions(result.tuple_shapes(0), call.type, batch, {call.m, call.n}) &&
         HasDimensions(result.tuple_shapes(1), call.type, batch, {std::min(call.m, call.n)});
}

// The number of Householder vectors, from operand 1.
bool ReadVectors(const HloInstruction& instruction, absl::Span<const int64_t> batch, LinearAlgebraCall* call) {
  const Shape& tau = instruction.operand(1)->shape();
  if (!tau.IsArray() || tau.dimensions_size() != static_cast<int64_t>(batch.size()) + 1) return false;
  call->p = tau.dimensions(static_cast<int>(batch.size()));
  return HasDimensions(tau, call->type, batch, {call->p}) && call->p <= std::min(call->m, call->n);
}

bool IsMakeQ(const HloInstruction& instruction, absl::Span<const int64_t> batch, LinearAlgebraCall* call) {
  return ReadVectors(instruction, batch, call) && call->n <= call->m &&
         HasDimensions(instruction.shape(), call->type, batch, {call->m, call->n});
}

bool IsMultiplyQ(const HloInstruction& instruction, absl::Span<const int64_t> batch, const Attributes& attributes,
                 LinearAlgebraCall* call) {
  const Shape& b = instruction.operand(2)->shape();
  const auto left = attributes.find("left"), transpose = attributes.find("transpose");
  if (left == attributes.end() || transpose == attributes.end() || !ReadVectors(instruction, batch, call)) return false;
  if (b.dimensions_size() != static_cast<int64_t>(batch.size()) + 2) return false;
  const bool is_left = left->second != 0;
  call->flags |= is_left ? LinearAlgebraCall::kLeft : 0;
  call->flags |= transpose->second != 0 ? LinearAlgebraCall::kTransposed : 0;
  call->others = b.dimensions(static_cast<int>(batch.size()) + (is_left ? 1 : 0));
  const std::vector<int64_t> sizes =
      is_left ? std::vector<int64_t>{call->m, call->others} : std::vector<int64_t>{call->others, call->m};
  return call->others > 0 && call->others <= LinearAlgebraCall::kMostRows &&
         HasDimensions(b, call->type, batch, sizes) && HasDimensions(instruction.shape(), call->type, batch, sizes);
}

bool IsEigen(const Shape& result, absl::Span<const int64_t> batch, const Attributes& attributes,
             LinearAlgebraCall* call) {
  const PrimitiveType real =
      primitive_util::IsComplexType(call->type) ? primitive_util::ComplexComponentType(call->type) : call->type;
  const auto mode = attributes.find("mode");
  const bool fits = result.IsTuple() && result.tuple_shapes_size() == 3 && call->m == call->n &&
                    call->n <= kernels::kMostEigenRows &&
                    HasDimensions(result.tuple_shapes(0), call->type, batch, {call->n, call->n}) &&
                    HasDimensions(result.tuple_shapes(1), real, batch, {call->n}) &&
                    HasDimensions(result.tuple_shapes(2), S32, batch, {});
  return fits && mode != attributes.end() && mode->second == 'V' &&
         ReadFlag(attributes, "uplo", 'L', "U", LinearAlgebraCall::kLower, &call->flags);
}

// Whether the call is one of these routines; sets its kind and what depends on it.
bool ReadRoutine(absl::string_view routine, const HloInstruction& instruction, absl::Span<const int64_t> batch,
                 const Attributes& attributes, LinearAlgebraCall* call) {
  const int64_t operands = instruction.operand_count();
  if (routine == "potrf" && operands == 1) {
    call->kind = LinearAlgebraKind::kCholesky;
    return IsCholesky(instruction.shape(), batch, attributes, call);
  }
  if (routine == "getrf" && operands == 1) {
    call->kind = LinearAlgebraKind::kLu;
    return IsLu(instruction.shape(), batch, *call);
  }
  if (routine == "trsm" && operands == 2) {
    call->kind = LinearAlgebraKind::kTriangularSolve;
    return IsTriangularSolve(instruction, batch, attributes, call);
  }
  if (routine == "geqrf" && operands == 1) {
    call->kind = LinearAlgebraKind::kQr;
    return IsQr(instruction.shape(), batch, *call);
  }
  if (routine == "orgqr" && operands == 2) {
    call->kind = LinearAlgebraKind::kMakeQ;
    return IsMakeQ(instruction, batch, call);
  }
  if (routine == "syevd" && operands == 1) {
    call->kind = LinearAlgebraKind::kEigen;
    return IsEigen(instruction.shape(), batch, attributes, call);
  }
  call->kind = LinearAlgebraKind::kMultiplyQ;
  return routine == "ormqr" && operands == 3 && IsMultiplyQ(instruction, batch, attributes, call);
}

}  // namespace

std::optional<LinearAlgebraCall> LinearAlgebraCallOf(const HloInstruction& instruction) {
  LinearAlgebraCall call;
  if (instruction.opcode() != HloOpcode::kCustomCall || instruction.operands().empty()) return std::nullopt;
  const absl::string_view routine = RoutineOf(instruction.custom_call_target(), &call.type);
  const Shape& a = instruction.operand(0)->shape();
  if (routine.empty() || !a.IsArray() || a.dimensions_size() < 2 || a.element_type() != call.type) return std::nullopt;
  const absl::StatusOr<Attributes> attributes =
      custom_calls::ParseFfiAttributes(instruction.raw_backend_config_string());
  if (!attributes.ok()) return std::nullopt;
  const absl::Span<const int64_t> batch = absl::MakeConstSpan(a.dimensions()).first(a.dimensions_size() - 2);
  call.m = a.dimensions(a.dimensions_size() - 2);
  call.n = a.dimensions(a.dimensions_size() - 1);
  if (!HasDimensions(a, call.type, batch, {call.m, call.n})) return std::nullopt;
  call.batch = 1;
  for (int64_t size : batch) call.batch *= size;
  const bool fits = ReadRoutine(routine, instruction, batch, *attributes, &call);
  const bool is_small = std::min(call.m, call.n) > 0 && std::max(call.m, call.n) <= LinearAlgebraCall::kMostRows;
  return fits && is_small && call.batch > 0 && AreStoredByColumns(instruction) ? std::make_optional(call)
                                                                               : std::nullopt;
}

void EmitLinearAlgebra(const LinearAlgebraCall& call, llvm::Value* operands, llvm::Value* results, Ir& ir,
                       CodeModule& module) {
  llvm::Type *pointer = ir.getPtrTy(), *integer = ir.getInt64Ty();
  llvm::FunctionType* const type = llvm::FunctionType::get(
      ir.getVoidTy(), {pointer, pointer, integer, integer, integer, integer, integer, integer, integer},
      /*isVarArg=*/false);
  const llvm::FunctionCallee callee =
      module.module().getOrInsertFunction(kernels::NameOfLinearAlgebra(call.kind, call.type), type);
  const auto number = [&](int64_t n) { return ir.getInt64(static_cast<uint64_t>(n)); };
  ir.CreateCall(callee, {operands, results, number(0), number(call.batch), number(call.m), number(call.n),
                         number(call.p), number(call.others), number(call.flags)});
}

}  // namespace kashi::codegen
