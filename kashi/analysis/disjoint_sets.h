// Disjoint sets of the numbers 0 to n-1, with union by size and path halving: nearly O(1) per call.
#ifndef KASHI_ANALYSIS_DISJOINT_SETS_H_
#define KASHI_ANALYSIS_DISJOINT_SETS_H_

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace kashi::analysis {

class DisjointSets {
 public:
  explicit DisjointSets(int32_t count) : parents_(count), sizes_(count, 1) {
    std::iota(parents_.begin(), parents_.end(), 0);
  }

  // The representative of the set. It may change if the set is joined with another one.
  int32_t Find(int32_t member) {
    while (parents_[member] != member) {
      parents_[member] = parents_[parents_[member]];
      member = parents_[member];
    }
    return member;
  }
  // The size of the set.
  int32_t SizeOf(int32_t member) { return sizes_[Find(member)]; }
  // Returns the representative of the joined set.
  int32_t Join(int32_t a, int32_t b) {
    a = Find(a);
    b = Find(b);
    if (a == b) return a;
    if (sizes_[a] < sizes_[b]) std::swap(a, b);
    parents_[b] = a;
    sizes_[a] += sizes_[b];
    return a;
  }

 private:
  std::vector<int32_t> parents_;
  std::vector<int32_t> sizes_;
};

}  // namespace kashi::analysis

#endif  // KASHI_ANALYSIS_DISJOINT_SETS_H_
