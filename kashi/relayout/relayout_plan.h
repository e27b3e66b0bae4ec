// Moves an array from one layout to another: any permutation, any tiles on either side, packed elements, padding, parts
// of arrays, byte strides, and a conversion of the elements on the way.
//
//   KASHI_ASSIGN_OR_RETURN(RelayoutPlan plan, RelayoutPlan::Make(ParseShape("f32[1000,1001]").value(),
//                                                                ParseShape("f32[1000,1001]{1,0:T(8,128)}").value()));
//   plan.Execute(source, target);   // target: plan.target_bytes() bytes
//
// The method:
//
//   digits of both sides (nests/digits.h)                     r/8  r%8   c/128  c%128
//     -> boxes: loop nests with one stride per side (nests/boxes.h); ragged edges are boxes of their own
//     (nests/groups.h: padding that fills words is moved with them)
//     -> a kernel for each box, the first that takes it (kernels/)   rows, blocks, elements
//     -> blocks that fit the caches, whole lines by non-temporal stores, threads
//
// Two sides that no loop nest relates (a tile that does not divide the tile around it; `*`) use the index loop:
// element by element, by the formula of the layout. Every kernel is tested against it, too.
#ifndef KASHI_RELAYOUT_RELAYOUT_PLAN_H_
#define KASHI_RELAYOUT_RELAYOUT_PLAN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/numeric/int128.h"
#include "absl/status/statusor.h"
#include "kashi/array/shape.h"
#include "kashi/relayout/cache_model.h"
#include "kashi/relayout/placement.h"

namespace kashi {

struct RelayoutOptions {
  // The bits of target positions that hold no element, tail padding included: each gets these bits (of the target's
  // type; 0 is zeros), or with nullopt all are left as they are. A target that is not a whole buffer (a slice, strides)
  // has no padding. The prefix of a layout (M) is always left alone.
  std::optional<absl::uint128> padding = absl::uint128(0);

  // Threads that Execute may use; 0: all of the machine. Small arrays are moved by the caller alone.
  int threads = 0;

  // Whether whole cache lines of the target are written with non-temporal stores, which leave the caches alone.
  // nullopt: if both sides together are larger than the largest cache, as such a target would drive out everything
  // else, itself included.
  std::optional<bool> non_temporal_stores;

  // The caches that blocks are made for. nullopt: this machine's.
  std::optional<CacheModel> caches;

  // The best few plans are run, and the fastest is kept; the process remembers it for the next plan of the same problem
  // (relayout_measurements.h). For plans that run often: Make then takes memory for both sides and the time of some
  // dozens of runs, and uses the caches and all threads meanwhile. Otherwise a cost function chooses.
  bool measure = false;

  // The element types may differ: elements are converted as by XLA's convert (docs/spec/hlo-ops.md 1.5). Otherwise a
  // difference is an error.
  bool convert = false;
};

class RelayoutPlan {
 public:
  // INVALID_ARGUMENT unless both sides have the same dimensions, and the same element type or `convert`; and for caches
  // that ParseCacheModel would refuse. RESOURCE_EXHAUSTED if there is no memory to `measure`.
  // Cost, unless it is to measure: some microseconds, and no memory that grows with the arrays.
  static absl::StatusOr<RelayoutPlan> Make(const Placement& from, const Placement& to,
                                           const RelayoutOptions& options = {});
  static absl::StatusOr<RelayoutPlan> Make(const Shape& from, const Shape& to, const RelayoutOptions& options = {});

  // Copies are cheap and share everything; a plan is immutable, and any number of threads may execute one at once.

  const Placement& from() const;
  const Placement& to() const;
  const RelayoutOptions& options() const;

  // Sizes of the whole buffers; 0 for a side with byte strides.
  int64_t source_bytes() const;
  int64_t target_bytes() const;

  // Moves all elements. Addresses may be misaligned. Pre: no byte of the target is one of the source, unless
  // is_identity(). Padding of the source is never part of a result.
  void Execute(const void* source, void* target) const;

  // Executes by the index loop: slow, single-threaded, obvious.
  void ExecuteByIndex(const void* source, void* target) const;

  // Every element keeps its place and its bits: a copy. Execute may then be called with one address
  // for both, and writes padding only.
  bool is_identity() const;

  // For people: the sides, the boxes, the kernel of each, and why not the faster ones; one per line.
  std::string ToString() const;

 private:
  struct State;
  explicit RelayoutPlan(std::shared_ptr<const State> state);

  std::shared_ptr<const State> state_;
};

}  // namespace kashi

#endif  // KASHI_RELAYOUT_RELAYOUT_PLAN_H_
