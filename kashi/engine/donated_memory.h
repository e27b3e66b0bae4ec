// DonatedMemory: the results of one run on one device go to the memory of donated arguments, as the module says it
// (input_output_alias). Callers see the address.
//
//   DonatedMemory donated;
//   donated.Lend(alias, &arguments);                         for each alias
//   … the program takes the arguments, and gives results …
//   donated.PlaceResults(memory, budget, &results);
//
// An engine writes most results there itself (kashi/buffers: updates and aliases). A program that reads the argument
// again after the first element of the result is written, such as a transpose, has its result elsewhere: that is copied
// to the argument's memory in the end. XLA makes the same copy.
#ifndef KASHI_ENGINE_DONATED_MEMORY_H_
#define KASHI_ENGINE_DONATED_MEMORY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "kashi/buffers/leaves.h"
#include "kashi/engine/device_memory.h"
#include "kashi/values/memory_budget.h"
#include "kashi/values/value.h"

namespace kashi {
class Program;
}  // namespace kashi

namespace kashi::engine {

class DonatedMemory {
 public:
  // Replaces the argument, a leaf, by one whose memory comes back when the program no longer refers to it. Does nothing
  // if somebody else holds the array. Allocates two small blocks.
  void Lend(const buffers::LeafAlias& alias, std::vector<Value>* arguments);

  // Moves each result, a leaf, whose argument was lent to the memory of that, unless somebody outside of the program
  // refers to it. Results that lie there, and may not, make way. No copies where all is in place.
  absl::Status PlaceResults(const DeviceMemory& memory, const std::shared_ptr<MemoryBudget>& budget,
                            std::vector<Value>* results);

 private:
  class Home;
  struct Place {
    int64_t result;
    const void* address;
    std::shared_ptr<Home> home;
  };
  class Placer;

  std::vector<Place> places_;
};

// The aliases of the program whose results its engine does not always leave in place.
std::vector<buffers::LeafAlias> AliasesToPlace(const Program& program);

}  // namespace kashi::engine

#endif  // KASHI_ENGINE_DONATED_MEMORY_H_
