// The memory of this process, as that of devices which are threads of it.
#include <cstdint>
#include <cstring>
#include <utility>

#include "kashi/base/guard_pages.h"
#include "kashi/base/page_buffer.h"
#include "kashi/base/parallel.h"
#include "kashi/base/status.h"
#include "kashi/engine/dense_placement.h"
#include "kashi/engine/device_memory.h"
#include "kashi/relayout/relayout_plan.h"

namespace kashi::engine {
namespace {

// The rule of XLA's CPU client: other memory is copied. So programs that change an array which they lent, against the
// rules, see the same.
bool IsAligned(const void* data, const Shape& shape) {
  constexpr uintptr_t kAlignment = 64;
  return BufferBytes(shape) == 0 || reinterpret_cast<uintptr_t>(data) % kAlignment == 0;
}

void CopyBytes(const void* source, void* target, int64_t bytes) {
  if (bytes > 0) std::memcpy(target, source, static_cast<size_t>(bytes));
}

class Host : public DeviceMemory {
 public:
  absl::StatusOr<Value> CopyIn(const void* source, const Placement& placement, const DenseShape& shape,
                               const std::shared_ptr<MemoryBudget>& budget) const override {
    KASHI_RETURN_IF_ERROR(CheckPlacementFits(placement, *shape));
    KASHI_ASSIGN_OR_RETURN(Value array, Value::MakeAlignedArray(shape, budget));
    if (IsDensePlacement(placement, *shape)) {
      CopyBytes(source, array.mutable_data(), array.byte_count());
      return array;
    }
    KASHI_ASSIGN_OR_RETURN(const Placement dense, DensePlacement(*shape));
    KASHI_ASSIGN_OR_RETURN(const RelayoutPlan plan, RelayoutPlan::Make(placement, dense));
    plan.Execute(source, array.mutable_data());
    return array;
  }

  std::optional<Value> Borrow(const void* source, const Placement& placement, const DenseShape& shape,
                              const std::shared_ptr<const void>& owner) const override {
    const bool is_there = CheckPlacementFits(placement, *shape).ok() && IsDensePlacement(placement, *shape);
    if (!is_there || !IsAligned(source, *shape)) return std::nullopt;
    return Value::Borrow(shape, source, owner);
  }

  absl::Status CopyOut(const Value& array, void* target, const Placement& placement) const override {
    KASHI_RETURN_IF_ERROR(CheckPlacementFits(placement, array.shape()));
    if (IsDensePlacement(placement, array.shape())) {
      CopyBytes(array.untyped_data(), target, array.byte_count());
      return absl::OkStatus();
    }
    KASHI_ASSIGN_OR_RETURN(const Placement dense, DensePlacement(array.shape()));
    KASHI_ASSIGN_OR_RETURN(const RelayoutPlan plan, RelayoutPlan::Make(dense, placement));
    plan.Execute(array.untyped_data(), target);
    return absl::OkStatus();
  }

  absl::Status CopyBytesOut(const Value& array, int64_t offset, int64_t bytes, void* target) const override {
    CopyBytes(array.bytes() + offset, target, bytes);
    return absl::OkStatus();
  }

  // Large arrays that nobody else holds exchange their pages.
  absl::Status MoveWithin(Value array, Value* target) const override {
    const char* const from = array.bytes();
    char* const to = target->mutable_bytes();
    const bool may_move = array.is_unique() && array.is_of_budget() && target->is_of_budget();
    if (may_move && base::MoveBlock(array.mutable_data(), to, array.byte_count())) return absl::OkStatus();
    constexpr int64_t kGrain = int64_t{1} << 20;
    base::ParallelFor(array.byte_count(), kGrain,
                      [&](int64_t begin, int64_t end, int) { CopyBytes(from + begin, to + begin, end - begin); });
    return absl::OkStatus();
  }

  absl::StatusOr<Value> MakeOwn(Value array, const std::shared_ptr<MemoryBudget>& budget) const override {
    // Arrays between guard pages are aligned to their elements only.
    const bool is_aligned = IsAligned(array.untyped_data(), array.shape()) || base::HasGuardPages();
    if (array.is_unique() && is_aligned) return array;
    KASHI_ASSIGN_OR_RETURN(Value copy, Value::MakeAlignedArray(array.dense_shape(), budget));
    CopyBytes(array.untyped_data(), copy.mutable_data(), array.byte_count());
    return copy;
  }
};

}  // namespace

const DeviceMemory& HostMemory() {
  static const Host* const host = new Host();
  return *host;
}

}  // namespace kashi::engine
