#include "cli/ranks.h"

namespace kashi::cli {
namespace {

Ranks* the_ranks = nullptr;

}  // namespace

Ranks* TheRanks() { return the_ranks; }
void SetTheRanks(Ranks* ranks) { the_ranks = ranks; }
bool IsSilentRank() { return the_ranks != nullptr && the_ranks->rank() != 0; }

}  // namespace kashi::cli
