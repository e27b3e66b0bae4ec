// MpiTypes: MPI's datatypes and reduction operations for every element type of XLA.
//
//   types.Bytes(n)          n bytes as one element; n may be more than an int can count
//   types.Reduction(r)      the datatype and the operation of a reduction: MPI's own for plain sums of types that MPI
//                           knows, otherwise ours, with the evaluator's kernel: bf16, f8, 4 bits, pred, complex …
#ifndef KASHI_MPI_MPI_TYPES_H_
#define KASHI_MPI_MPI_TYPES_H_

#include <mpi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "kashi/devices/collective_task.h"
#include "kashi/kernels/element_kernel.h"

namespace kashi::mpi {

// Whether MPI may combine parts in any order: 1 + 2 + 3 = 3 + 2 + 1. `kRounded`: the order changes the last digits, as
// in sums of floating-point numbers. `kOrdered`: only the order of the members is right.
enum class ReductionOrder { kAny, kRounded, kOrdered };
ReductionOrder ReductionOrderOf(const devices::CollectiveReduction& reduction);

class MpiTypes {
 public:
  MpiTypes() = default;
  ~MpiTypes();
  MpiTypes(const MpiTypes&) = delete;
  MpiTypes& operator=(const MpiTypes&) = delete;

  // Functions are called under the lock of the world. Types live as long as this object.
  absl::StatusOr<MPI_Datatype> Bytes(int64_t bytes);

  struct TypeAndOperation {
    MPI_Datatype type;
    MPI_Op operation;
  };
  // Pre: the order is not kOrdered.
  absl::StatusOr<TypeAndOperation> Reduction(const devices::CollectiveReduction& reduction);

 private:
  absl::StatusOr<TypeAndOperation> OwnReduction(const devices::CollectiveReduction& reduction);

  std::map<int64_t, MPI_Datatype> bytes_;
  struct Own {
    kernels::ElementKernel kernel;
    MPI_Datatype type = MPI_DATATYPE_NULL;
  };
  std::map<std::pair<HloOpcode, PrimitiveType>, std::unique_ptr<Own>> own_;
};

}  // namespace kashi::mpi

#endif  // KASHI_MPI_MPI_TYPES_H_
