// Strips: rows of a streamed target that consist of several boxes and share cache lines with their neighbours. One
// strip of the target at a time is put together in scratch memory, and then written in whole lines.
//
//   target, ragged rows of tiles     | tile | tile | rest | tile | tile | rest | …
//   cache lines                      |    |    |    |    |    |    |    |    |
//   strip                            [                    ][                   ]     as many rows as a tile has
//
// The last line of a strip waits for the next one, which begins in it.
#ifndef KASHI_RELAYOUT_PLAN_STRIPS_H_
#define KASHI_RELAYOUT_PLAN_STRIPS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kashi/relayout/nests/boxes.h"
#include "kashi/relayout/plan/step.h"

namespace kashi::relayout {

constexpr int64_t kMostStrip = 32 << 10;  // bytes; stays in the nearest caches

struct Strips {
  std::vector<Box> boxes;   // the elements of all strips
  Loops outer;              // from strip to strip, outermost first
  int64_t to_offset;        // bits
  int64_t bytes;            // of a strip, which has no gaps
  std::vector<Step> parts;  // of the first strip, where the target begins at 0; steps within the caches
  int64_t from_begin;       // bytes: the source of a strip, with gaps
  int64_t from_end;

  int64_t Count() const;
  std::string ToString() const;
};

// Takes the boxes that are better moved in strips than each by itself. `within_caches`: like `context`, but it
// does not stream.
std::vector<Strips> TakeStrips(const SharedContext& context, const SharedContext& within_caches,
                               std::vector<Box>* boxes);

// Runs strips begin .. end - 1 (run/run_strips.cc).
void RunStrips(const Strips& strips, const char* from, char* to, int64_t begin, int64_t end);

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_PLAN_STRIPS_H_
