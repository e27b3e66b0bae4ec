#include "kashi/reduction/search.h"

#include <algorithm>
#include <utility>

namespace kashi::reduction {
namespace {

constexpr int kDeeper = 4;
constexpr int kDeepest = 62;

// The fewest places at a time, for a round of that depth.
int64_t LeastChunk(int64_t site_count, int depth) {
  return std::max<int64_t>(1, site_count >> std::min(depth, kDeepest));
}
// For transformations that take one place at a time: how many of them a round tries.
int64_t MostSingles(int depth) { return int64_t{2} << std::min(depth, kDeepest - 1); }

}  // namespace

Search::Search(std::shared_ptr<const HloModule> module, bool evaluates)
    : module_(std::move(module)), evaluates_(evaluates), sites_(Transformations().size()) {}

const std::vector<Site>& Search::SitesOf(size_t transformation) {
  std::optional<std::vector<Site>>& sites = sites_[transformation];
  if (sites.has_value()) return *sites;
  const Transformation& row = Transformations()[transformation];
  sites = evaluates_ || !row.needs_valid_module ? row.find(*module_) : std::vector<Site>();
  return *sites;
}

void Search::Begin(size_t transformation) {
  position_.transformation = transformation;
  position_.chunk = 0;
  position_.begin = 0;
}

bool Search::BeginNextRound() {
  if (!position_.has_helped) {
    if (!position_.is_cut) return false;
    position_.depth += kDeeper;
  }
  position_.has_helped = false;
  position_.is_cut = false;
  Begin(0);
  return true;
}

void Search::GoOn(int64_t site_count) {
  const bool takes_many = Transformations()[position_.transformation].takes_many;
  const int64_t half = position_.chunk / 2;
  if (takes_many && half >= LeastChunk(site_count, position_.depth)) {
    position_.chunk = half;
    position_.begin = 0;
    return;
  }
  position_.is_cut |= takes_many ? position_.chunk > 1 : position_.begin < site_count;
  Begin(position_.transformation + 1);
}

std::optional<Search::Proposal> Search::Next() {
  while (true) {
    if (position_.transformation == Transformations().size()) {
      if (!BeginNextRound()) return std::nullopt;
      continue;
    }
    const Transformation& row = Transformations()[position_.transformation];
    const std::vector<Site>& sites = SitesOf(position_.transformation);
    const int64_t count = static_cast<int64_t>(sites.size());
    if (count == 0) {
      Begin(position_.transformation + 1);
      continue;
    }
    if (position_.chunk == 0) position_.chunk = row.takes_many ? count : 1;
    position_.chunk = std::min(position_.chunk, count);
    const int64_t end = row.takes_many ? count : std::min(count, MostSingles(position_.depth));
    if (position_.begin >= end) {
      GoOn(count);
      continue;
    }
    const int64_t last = std::min(count, position_.begin + position_.chunk);
    Proposal proposal{&row, {sites.begin() + position_.begin, sites.begin() + last}, position_};
    position_.begin = last;
    return proposal;
  }
}

void Search::Accept(const Proposal& proposal, std::shared_ptr<const HloModule> module) {
  position_ = proposal.position;
  position_.has_helped = true;
  if (!proposal.transformation->takes_many) position_.begin = 0;
  module_ = std::move(module);
  sites_.assign(Transformations().size(), std::nullopt);
}

}  // namespace kashi::reduction
