#include "kashi/evaluator/top_k.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/fold.h"
#include "kashi/kernels/order_keys.h"

namespace kashi::evaluator {
namespace {

// A key and an index: the lower, the better.
struct Place {
  uint64_t key;
  uint64_t index;
  bool operator<(const Place& other) const { return key != other.key ? key < other.key : index < other.index; }
};

// The k best places of a row whose keys come in the order of their indices. Once there are candidates enough, only keys
// below that of the k-th best so far are looked at: k log(n / k) of n in random order.
class BestPlaces {
 public:
  BestPlaces(int64_t n, int64_t k) : k_(k), capacity_(Capacity(n, k)) { places_.reserve(capacity_); }
  static int64_t Capacity(int64_t n, int64_t k) { return std::min(n, std::max<int64_t>(2 * k, 256)); }

  void Clear() {
    places_.clear();
    has_limit_ = false;
  }

  // Keys from `first_index` on, each ^ flip. An equal key has a higher index than those before, and is worse.
  void Add(absl::Span<const uint64_t> keys, uint64_t flip, uint64_t first_index) {
    size_t i = 0;
    for (; i < keys.size() && !has_limit_; ++i) Push({keys[i] ^ flip, first_index + i});
    constexpr size_t kGroup = 16;  // most groups have no key below the limit
    for (; i < keys.size(); i += kGroup) {
      const absl::Span<const uint64_t> group = keys.subspan(i, kGroup);
      const uint64_t limit = limit_;
      int below = 0;
      for (uint64_t key : group) below |= static_cast<int>((key ^ flip) < limit);
      for (size_t j = 0; below != 0 && j < group.size(); ++j) {
        if ((group[j] ^ flip) < limit_) Push({group[j] ^ flip, first_index + i + j});
      }
    }
  }

  // The best first.
  absl::Span<const Place> Sorted() {
    KeepBest();
    std::sort(places_.begin(), places_.end());
    return places_;
  }

 private:
  void Push(const Place& place) {
    places_.push_back(place);
    if (static_cast<int64_t>(places_.size()) == capacity_) KeepBest();
  }

  void KeepBest() {
    if (k_ == 0 || k_ >= static_cast<int64_t>(places_.size())) return;
    std::nth_element(places_.begin(), places_.begin() + (k_ - 1), places_.end());
    places_.resize(k_);
    limit_ = places_.back().key;
    has_limit_ = true;
  }

  int64_t k_, capacity_;
  std::vector<Place> places_;
  bool has_limit_ = false;
  uint64_t limit_ = 0;
};

class RowSelector {
 public:
  RowSelector(PrimitiveType type, int64_t n, int64_t k, bool largest)
      : type_(type), n_(n), flip_(largest ? ~uint64_t{0} : 0), best_(n, k) {}

  static int64_t ScratchBytes(int64_t n, int64_t k) {
    return BestPlaces::Capacity(n, k) * static_cast<int64_t>(sizeof(Place)) + static_cast<int64_t>(sizeof(RowSelector));
  }

  void Select(const char* row, int element_bytes, int32_t* indices) {
    best_.Clear();
    for (int64_t begin = 0; begin < n_; begin += kBlock) {
      const int64_t count = std::min(kBlock, n_ - begin);
      kernels::MakeOrderKeys(type_, Comparison::Order::kTotal, row + begin * element_bytes, count, keys_);
      best_.Add(absl::MakeConstSpan(keys_, count), flip_, begin);
    }
    for (const Place& place : best_.Sorted()) *indices++ = static_cast<int32_t>(place.index);
  }

 private:
  static constexpr int64_t kBlock = 1024;  // keys that are made at a time

  PrimitiveType type_;
  int64_t n_;
  uint64_t flip_;
  BestPlaces best_;
  uint64_t keys_[kBlock];
};

}  // namespace

absl::StatusOr<TopKResult> TopK(EvaluationRun& run, const Value& x, int64_t k, bool largest) {
  if (!kernels::HasOrderKeys(x.element_type())) {
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
  KASHI_ASSIGN_OR_RETURN(
      const ScratchMemory scratch,
      ScratchMemory::Reserve(run.budget(),
                             std::min<int64_t>(rows, base::ParallelThreadCount()) * RowSelector::ScratchBytes(n, k),
                             "scratch memory of topk"));
  kernels::PerThread<RowSelector> selectors;
  KASHI_RETURN_IF_ERROR(CheckedParallelFor(
      run, /*parallel=*/true, rows, kernels::ParallelGrain(8 * n), [&](int64_t begin, int64_t end, int thread) {
        RowSelector& selector = selectors.Get(thread, x.element_type(), n, k, largest);
        for (int64_t row = begin; row < end; ++row) {
          const char* elements = x.bytes() + row * n * bytes;
          selector.Select(elements, bytes, indices + row * k);
          kernels::GatherElements(bytes, elements, indices + row * k, values + row * k * bytes, k);
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

}  // namespace kashi::evaluator
