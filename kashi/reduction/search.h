// The order in which a reduction tries its candidates: transformation by transformation, first many places at once,
// then fewer (delta debugging: Zeller, Hildebrandt, "Simplifying and isolating failure-inducing input", 2002).
//
//   Search search(module);
//   while (auto proposal = search.Next()) {
//     if (… it is accepted …) search.Accept(*proposal, smaller_module);
//   }
//
// A round goes through all transformations. It does not go into every detail at once: a large module would get
// thousands of tiny changes before the next transformation takes half of it away. A round at depth d only changes 1/2^d
// of the places at a time, or more. When a round brings nothing, the next one is deeper; the last one tries each place
// by itself.
#ifndef KASHI_REDUCTION_SEARCH_H_
#define KASHI_REDUCTION_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/reduction/transformation.h"

namespace kashi::reduction {

// Deterministic: it depends on the modules only, and on what is accepted.
class Search {
 public:
  // `evaluates`: whether transformations are tried that need a valid module.
  Search(std::shared_ptr<const HloModule> module, bool evaluates);

  struct Position {
    int depth = 4;
    size_t transformation = 0;
    int64_t chunk = 0;  // the number of places at a time; 0: the transformation is not begun yet
    int64_t begin = 0;
    bool has_helped = false;  // something was accepted in this round
    bool is_cut = false;      // a deeper round would try more
  };
  struct Proposal {
    const Transformation* transformation;
    std::vector<Site> sites;
    Position position;
  };

  // The next proposal if none since the last Accept is accepted; nullopt: there is none any more. Sites are those of
  // the module, which must live as long as the proposal is used.
  std::optional<Proposal> Next();
  // The proposal has been accepted: later ones are for `module`, and go on from there.
  void Accept(const Proposal& proposal, std::shared_ptr<const HloModule> module);

 private:
  const std::vector<Site>& SitesOf(size_t transformation);
  void Begin(size_t transformation);
  // The next smaller chunks of this transformation, or the next transformation.
  void GoOn(int64_t site_count);
  bool BeginNextRound();

  std::shared_ptr<const HloModule> module_;
  const bool evaluates_;
  Position position_;
  std::vector<std::optional<std::vector<Site>>> sites_;  // of the module, by transformation
};

}  // namespace kashi::reduction

#endif  // KASHI_REDUCTION_SEARCH_H_
