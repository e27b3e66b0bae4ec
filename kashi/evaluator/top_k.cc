#include "kashi/evaluator/top_k.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "kashi/base/status.h"
#include "kashi/evaluator/fold.h"
#include "kashi/evaluator/order_keys.h"

namespace kashi::internal {
namespace {

// A key and an index: the lower, the better.
struct Place {
  uint64_t key;
  uint64_t index;
  bool operator<(const Place& other) const { return key != other.key ? key < other.key : index < other.index; }
};
// The same in one number, for keys of 32 bits.
uint64_t PackedPlace(uint64_t key, uint64_t index) { return key << 32 | index; }

template <typename T>
void PutBestFirst(std::vector<T>& places, int64_t k) {
  if (k < static_cast<int64_t>(places.size())) std::nth_element(places.begin(), places.begin() + k, places.end());
  std::sort(places.begin(), places.begin() + k);
}

class RowSelector {
 public:
  RowSelector(PrimitiveType type, int64_t n, int64_t k, bool largest)
      : type_(type), k_(k), is_narrow_(OrderKeyBits(type) == 32), flip_(largest ? ~uint64_t{0} : 0), keys_(n) {
    is_narrow_ ? packed_.resize(n) : places_.resize(n);
  }

  void Select(const char* row, int32_t* indices) {
    const int64_t n = keys_.size();
    MakeOrderKeys(type_, Comparison::Order::kTotal, row, n, keys_.data());
    if (is_narrow_) {
      for (int64_t i = 0; i < n; ++i) packed_[i] = PackedPlace(keys_[i] ^ flip_, i);
      PutBestFirst(packed_, k_);
      for (int64_t i = 0; i < k_; ++i) indices[i] = static_cast<int32_t>(packed_[i]);
    } else {
      for (int64_t i = 0; i < n; ++i) places_[i] = {keys_[i] ^ flip_, static_cast<uint64_t>(i)};
      PutBestFirst(places_, k_);
      for (int64_t i = 0; i < k_; ++i) indices[i] = static_cast<int32_t>(places_[i].index);
    }
  }

 private:
  PrimitiveType type_;
  int64_t k_;
  bool is_narrow_;
  uint64_t flip_;
  std::vector<uint64_t> keys_;
  std::vector<uint64_t> packed_;  // one of the two is in use
  std::vector<Place> places_;
};

}  // namespace

absl::StatusOr<TopKResult> TopK(EvaluationRun& run, const Value& x, int64_t k, bool largest) {
  if (!HasOrderKeys(x.element_type())) {
    return Unimplemented("topk of %s", primitive_util::LowercasePrimitiveTypeName(x.element_type()));
  }
  if (x.rank() == 0) return InvalidArgument("topk of a scalar");
  const int64_t n = x.dimensions().back();
  if (k < 0 || k > n) return InvalidArgument("topk: k=%d of rows of %d elements", k, n);
  if (n > std::numeric_limits<int32_t>::max()) return Unimplemented("topk of rows of %d elements", n);
  DimensionVector sizes(x.dimensions().begin(), x.dimensions().end());
  sizes.back() = k;
  TopKResult result;
  KASHI_ASSIGN_OR_RETURN(result.values, run.MakeArray(x.element_type(), sizes));
  KASHI_ASSIGN_OR_RETURN(result.indices, run.MakeArray(S32, sizes));
  if (result.values.element_count() == 0) return result;
  const int bytes = x.element_bytes();
  char* const values = result.values.mutable_bytes();
  int32_t* const indices = result.indices.mutable_data<int32_t>().data();
  const int64_t rows = x.element_count() / n;
  constexpr int64_t kScratchBytesPerElement = 8 + 16;  // RowSelector's keys and places
  KASHI_ASSIGN_OR_RETURN(
      const ScratchMemory scratch,
      ScratchMemory::Reserve(run.budget(), std::min<int64_t>(rows, ParallelThreadCount()) * n * kScratchBytesPerElement,
                             "Scratch memory of topk"));
  PerThread<RowSelector> selectors;
  KASHI_RETURN_IF_ERROR(CheckedParallelFor(
      run, /*parallel=*/true, rows, ParallelGrain(8 * n), [&](int64_t begin, int64_t end, int thread) {
        RowSelector& selector = selectors.Get(thread, x.element_type(), n, k, largest);
        for (int64_t row = begin; row < end; ++row) {
          const char* elements = x.bytes() + row * n * bytes;
          selector.Select(elements, indices + row * k);
          GatherElements(bytes, elements, indices + row * k, values + row * k * bytes, k);
        }
        return absl::OkStatus();
      }));
  return result;
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kTopK>(Operation& op) {
  if (op.results.size() != 2) return InvalidArgument("%s does not have two results.", op.instruction.name());
  KASHI_ASSIGN_OR_RETURN(TopKResult result,
                         TopK(op.run, op.operands[0], op.result()->dimensions().back(), op.instruction.largest()));
  std::vector<Value> results;
  results.push_back(std::move(result.values));
  results.push_back(std::move(result.indices));
  return MakeResults(op, std::move(results));
}

}  // namespace kashi::internal
