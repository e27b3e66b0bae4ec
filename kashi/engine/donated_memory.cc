#include "kashi/engine/donated_memory.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "kashi/base/status.h"
#include "kashi/buffers/buffer_assignment.h"
#include "kashi/engine/program.h"
#include "kashi/engine/program_door.h"

namespace kashi::engine {

// Where a lent array comes back to. The last reference to it may end on any thread.
class DonatedMemory::Home {
 public:
  void Return(Value array) ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    array_ = std::move(array);
  }
  bool HasArray() const ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    return !array_.is_nothing();
  }
  Value Take() ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    return std::move(array_);
  }

 private:
  mutable absl::Mutex mutex_;
  Value array_ ABSL_GUARDED_BY(mutex_);
};

void DonatedMemory::Lend(const buffers::LeafAlias& alias, std::vector<Value>* arguments) {
  Value& argument = (*arguments)[alias.argument];
  if (!argument.is_array() || !argument.is_unique()) return;
  const DenseShape shape = argument.dense_shape();
  void* const address = argument.mutable_data();
  places_.push_back({alias.result, address, std::make_shared<Home>()});
  std::shared_ptr<void> memory(address, [home = places_.back().home, array = std::move(argument)](void*) mutable {
    home->Return(std::move(array));
  });
  argument = Value::Owning(shape, std::move(memory));
}

class DonatedMemory::Placer {
 public:
  Placer(const DeviceMemory& memory, const std::shared_ptr<MemoryBudget>& budget, std::vector<Value>* results)
      : memory_(memory), budget_(budget), results_(*results) {}

  absl::Status Run(absl::Span<const Place> places) {
    std::vector<const Place*> open;
    for (const Place& place : places) {
      KASHI_ASSIGN_OR_RETURN(const bool is_placed, TakeBack(place));
      if (!is_placed) open.push_back(&place);
    }
    while (!open.empty()) {
      auto next = absl::c_find_if(open, [](const Place* place) { return place->home->HasArray(); });
      if (next == open.end()) {  // in a circle: results lie in the memory of each other
        next = open.begin();
        KASHI_RETURN_IF_ERROR(MakeWay(**next));
      }
      if ((*next)->home->HasArray()) KASHI_RETURN_IF_ERROR(MoveTo(**next));
      open.erase(next);
    }
    return absl::OkStatus();
  }

 private:
  bool LiesIn(const Value& result, const Place& place) const {
    return result.is_array() && result.untyped_data() == place.address;
  }

  // Whether the result lies where it should. Then it gets the array itself again.
  absl::StatusOr<bool> TakeBack(const Place& place) {
    Value& result = results_[place.result];
    if (!LiesIn(result, place)) return false;
    if (!result.is_unique()) {  // several results
      KASHI_RETURN_IF_ERROR(MakeWay(place));
      return false;
    }
    const DenseShape shape = result.dense_shape();
    result = Value();
    KASHI_CHECK(place.home->HasArray());
    result = Value::WithShape(place.home->Take(), shape);
    return true;
  }

  // Makes arrays of their own of all results that lie there.
  absl::Status MakeWay(const Place& place) {
    for (Value& result : results_) {
      if (!LiesIn(result, place)) continue;
      const Value shared = result;  // so that it is copied
      KASHI_ASSIGN_OR_RETURN(result, memory_.MakeOwn(shared, budget_));
    }
    return absl::OkStatus();
  }

  absl::Status MoveTo(const Place& place) {
    Value& result = results_[place.result];
    Value array = Value::WithShape(place.home->Take(), result.dense_shape());
    KASHI_RETURN_IF_ERROR(memory_.MoveWithin(std::move(result), &array));
    result = std::move(array);
    return absl::OkStatus();
  }

  const DeviceMemory& memory_;
  const std::shared_ptr<MemoryBudget>& budget_;
  std::vector<Value>& results_;
};

absl::Status DonatedMemory::PlaceResults(const DeviceMemory& memory, const std::shared_ptr<MemoryBudget>& budget,
                                         std::vector<Value>* results) {
  return Placer(memory, budget, results).Run(places_);
}

std::vector<buffers::LeafAlias> AliasesToPlace(const Program& program) {
  std::vector<buffers::LeafAlias> left = buffers::AliasesOf(program.module());
  const buffers::BufferAssignment* const assignment = ProgramDoor::BuffersOf(program);
  if (assignment == nullptr) return left;
  const auto is_in_place = [assignment](const buffers::LeafAlias& alias) {
    const auto is_it = [&alias](const auto& other) {
      return other.argument == alias.argument && other.result == alias.result;
    };
    return absl::c_any_of(assignment->aliases, is_it) || absl::c_any_of(assignment->updates, is_it);
  };
  left.erase(std::remove_if(left.begin(), left.end(), is_in_place), left.end());
  return left;
}

}  // namespace kashi::engine
