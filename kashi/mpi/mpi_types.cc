#include "kashi/mpi/mpi_types.h"

#include <limits>

#include "absl/algorithm/container.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/mpi/mpi_world.h"

namespace kashi::mpi {
namespace {

// The kernel of a datatype of ours is an attribute of the datatype: MPI tells the function nothing else.
int KernelKey() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &made, nullptr);
    return made;
  }();
  return key;
}

void RunKernel(void* in, void* in_and_out, int* count, MPI_Datatype* type) {
  void* attribute = nullptr;
  int is_set = 0;
  MPI_Type_get_attr(*type, KernelKey(), static_cast<void*>(&attribute), &is_set);
  if (is_set == 0) MPI_Abort(MPI_COMM_WORLD, 1);  // MPI has made another type of ours: no result would be right
  const void* inputs[] = {in, in_and_out};
  (*static_cast<const kernels::ElementKernel*>(attribute))(inputs, in_and_out, *count);
}

MPI_Op KernelOperation() {
  static const MPI_Op operation = [] {
    MPI_Op made = MPI_OP_NULL;
    MPI_Op_create(&RunKernel, /*commute=*/1, &made);
    return made;
  }();
  return operation;
}

// MPI's type with MPI's sum, which wraps and rounds as the kernel does; MPI_DATATYPE_NULL if there is none.
MPI_Datatype SumType(PrimitiveType type) {
  switch (type) {
    case S8:
      return MPI_INT8_T;
    case S16:
      return MPI_INT16_T;
    case S32:
      return MPI_INT32_T;
    case S64:
      return MPI_INT64_T;
    case U8:
      return MPI_UINT8_T;
    case U16:
      return MPI_UINT16_T;
    case U32:
      return MPI_UINT32_T;
    case U64:
      return MPI_UINT64_T;
    case F32:
      return MPI_FLOAT;
    case F64:
      return MPI_DOUBLE;
    default:
      return MPI_DATATYPE_NULL;
  }
}

}  // namespace

ReductionOrder ReductionOrderOf(const devices::CollectiveReduction& reduction) {
  if (!reduction.opcode.has_value()) return ReductionOrder::kOrdered;
  static constexpr HloOpcode kSums[] = {HloOpcode::kAdd, HloOpcode::kMultiply};
  // For floating-point numbers, the order decides between NaNs, and between 0 and -0.
  static constexpr HloOpcode kChoices[] = {HloOpcode::kMaximum, HloOpcode::kMinimum, HloOpcode::kAnd, HloOpcode::kOr,
                                           HloOpcode::kXor};
  const bool is_exact = primitive_util::IsIntegralType(reduction.type) || reduction.type == PRED;
  if (absl::c_linear_search(kSums, *reduction.opcode)) {
    return is_exact ? ReductionOrder::kAny : ReductionOrder::kRounded;
  }
  return is_exact && absl::c_linear_search(kChoices, *reduction.opcode) ? ReductionOrder::kAny
                                                                        : ReductionOrder::kOrdered;
}

MpiTypes::~MpiTypes() {
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (finalised != 0) return;
  for (auto& [bytes, type] : bytes_) MPI_Type_free(&type);
  for (auto& [key, own] : own_) MPI_Type_free(&own->type);
}

absl::StatusOr<MPI_Datatype> MpiTypes::Bytes(int64_t bytes) {
  if (bytes == 1) return MPI_BYTE;
  const auto found = bytes_.find(bytes);
  if (found != bytes_.end()) return found->second;
  constexpr int64_t kChunk = int64_t{1} << 30;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (bytes <= kChunk) {
    KASHI_RETURN_IF_MPI_ERROR(MPI_Type_contiguous, static_cast<int>(bytes), MPI_BYTE, &type);
  } else {
    KASHI_ASSIGN_OR_RETURN(const MPI_Datatype chunk, Bytes(kChunk));
    const int64_t chunks = bytes / kChunk;
    const int counts[] = {static_cast<int>(chunks), static_cast<int>(bytes % kChunk)};
    const MPI_Aint begins[] = {0, static_cast<MPI_Aint>(chunks * kChunk)};
    const MPI_Datatype types[] = {chunk, MPI_BYTE};
    KASHI_RETURN_IF_MPI_ERROR(MPI_Type_create_struct, 2, counts, begins, types, &type);
  }
  KASHI_RETURN_IF_MPI_ERROR(MPI_Type_commit, &type);
  bytes_[bytes] = type;
  return type;
}

absl::StatusOr<MpiTypes::TypeAndOperation> MpiTypes::Reduction(const devices::CollectiveReduction& reduction) {
  if (reduction.opcode == HloOpcode::kAdd) {
    const MPI_Datatype type = SumType(reduction.type);
    if (type != MPI_DATATYPE_NULL) return TypeAndOperation{type, MPI_SUM};
  }
  return OwnReduction(reduction);
}

absl::StatusOr<MpiTypes::TypeAndOperation> MpiTypes::OwnReduction(const devices::CollectiveReduction& reduction) {
  std::unique_ptr<Own>& own = own_[{*reduction.opcode, reduction.type}];
  if (own == nullptr) {
    auto made = std::make_unique<Own>();
    made->kernel = *reduction.kernel;
    const int bytes = static_cast<int>(ShapeUtil::ByteSizeOfPrimitiveType(reduction.type));
    KASHI_RETURN_IF_MPI_ERROR(MPI_Type_contiguous, bytes, MPI_BYTE, &made->type);
    KASHI_RETURN_IF_MPI_ERROR(MPI_Type_commit, &made->type);
    KASHI_RETURN_IF_MPI_ERROR(MPI_Type_set_attr, made->type, KernelKey(), static_cast<void*>(&made->kernel));
    own = std::move(made);
  }
  return TypeAndOperation{own->type, KernelOperation()};
}

}  // namespace kashi::mpi
