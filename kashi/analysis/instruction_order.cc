#include "kashi/analysis/instruction_order.h"

#include <algorithm>
#include <cstdint>
#include <queue>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"

namespace kashi::analysis {
namespace {

// Whether a sequence is a valid order. The schedule of a file is not verified.
bool IsWhole(const HloComputation& computation, const std::vector<HloInstruction*>& sequence) {
  if (static_cast<int64_t>(sequence.size()) != computation.instruction_count()) return false;
  std::vector<bool> has_run;
  for (const HloInstruction* instruction : sequence) {
    if (instruction == nullptr || instruction->parent() != &computation) return false;
    for (const HloInstruction* operand : instruction->operands()) {
      if (operand->local_id() >= has_run.size() || !has_run[operand->local_id()]) return false;
    }
    if (instruction->local_id() >= has_run.size()) has_run.resize(instruction->local_id() + 1);
    if (has_run[instruction->local_id()]) return false;
    has_run[instruction->local_id()] = true;
  }
  return true;
}

// Most of the work is book-keeping: the buffers that an instruction makes and uses, and the number of uses that each
// has left.
class ListScheduler {
 public:
  ListScheduler(const HloComputation& computation, std::vector<HloInstruction*> post_order,
                const ValuePositions& positions, const BufferGroups& groups)
      : computation_(computation), post_order_(std::move(post_order)), positions_(positions), groups_(groups) {}

  std::vector<const HloInstruction*> Run() {
    std::vector<const HloInstruction*> plain(post_order_.begin(), post_order_.end());
    if (!CollectSteps()) return plain;
    std::vector<int32_t> plain_steps(steps_.size());
    for (size_t i = 0; i < steps_.size(); ++i) plain_steps[i] = static_cast<int32_t>(i);
    const std::vector<int32_t> listed = Schedule();
    if (listed.size() != steps_.size() || Peak(plain_steps) <= Peak(listed)) return plain;
    std::vector<const HloInstruction*> order;
    order.reserve(listed.size());
    for (int32_t step : listed) order.push_back(post_order_[step]);
    return order;
  }

 private:
  // With more uses of buffers, as in tuples with many users, post-order is used.
  static constexpr int64_t kMaxUses = int64_t{1} << 24;

  struct Step {
    absl::InlinedVector<int32_t, 2> made;  // buffers, numbered from 0 in this computation
    absl::InlinedVector<int32_t, 2> used;  // each once
    absl::InlinedVector<int32_t, 2> followers;
    int32_t waits_for = 0;  // operands and control predecessors that have not run
  };

  int32_t BufferOf(int32_t position, int64_t bytes) {
    const auto [found, is_new] = numbers_.try_emplace(groups_.GroupOf(position), static_cast<int32_t>(bytes_.size()));
    if (is_new) {
      bytes_.push_back(0);
      uses_.push_back(0);
      users_.emplace_back();
    }
    bytes_[found->second] = std::max(bytes_[found->second], bytes);
    return found->second;
  }

  void AddBuffers(const PositionRange& range, bool only_values, absl::InlinedVector<int32_t, 2>* buffers) {
    for (int32_t i = 0; i < range.size(); ++i) {
      if (only_values && groups_.KindOf(range.first + i) != PositionKind::kValue) continue;
      buffers->push_back(BufferOf(range.first + i, range.nodes->nodes()[range.node + i].bytes));
    }
  }

  // False if there is too much to look at.
  bool CollectSteps() {
    steps_.resize(post_order_.size());
    std::vector<int32_t> step_of;  // by local id
    int64_t use_count = 0;
    for (size_t i = 0; i < post_order_.size(); ++i) {
      const HloInstruction& instruction = *post_order_[i];
      if (instruction.local_id() >= step_of.size()) step_of.resize(instruction.local_id() + 1, -1);
      step_of[instruction.local_id()] = static_cast<int32_t>(i);
    }
    for (size_t i = 0; i < post_order_.size(); ++i) {
      const HloInstruction& instruction = *post_order_[i];
      Step& step = steps_[i];
      AddBuffers(positions_.RangeOf(&instruction), /*only_values=*/true, &step.made);
      for (const HloInstruction* operand : instruction.operands()) {
        const PositionRange range = positions_.RangeOf(operand);
        use_count += range.size();
        if (use_count > kMaxUses) return false;
        AddBuffers(range, /*only_values=*/false, &step.used);
        Follow(step_of[operand->local_id()], static_cast<int32_t>(i));
      }
      for (const HloInstruction* predecessor : instruction.control_predecessors()) {
        if (predecessor->parent() != &computation_) continue;
        Follow(step_of[predecessor->local_id()], static_cast<int32_t>(i));
      }
      absl::c_sort(step.used);
      step.used.erase(std::unique(step.used.begin(), step.used.end()), step.used.end());
      for (int32_t buffer : step.used) {
        ++uses_[buffer];
        users_[buffer].push_back(static_cast<int32_t>(i));
      }
    }
    return true;
  }
  void Follow(int32_t before, int32_t after) {
    steps_[before].followers.push_back(after);
    ++steps_[after].waits_for;
  }

  // The bytes that a step frees, minus those that it makes, with the first numbers of uses.
  std::vector<int64_t> FirstGains() const {
    std::vector<int64_t> gains(steps_.size());
    for (size_t i = 0; i < steps_.size(); ++i) {
      for (int32_t buffer : steps_[i].used) gains[i] += uses_[buffer] == 1 ? bytes_[buffer] : 0;
      for (int32_t buffer : steps_[i].made) gains[i] -= bytes_[buffer];
    }
    return gains;
  }

  // The order of the steps, by number; incomplete if they wait for one another.
  std::vector<int32_t> Schedule() const {
    struct Candidate {
      int64_t gain;
      int32_t step;
      bool operator<(const Candidate& other) const {
        return gain != other.gain ? gain < other.gain : step > other.step;
      }
    };
    std::vector<int64_t> gains = FirstGains();
    std::vector<int32_t> uses_left = uses_;
    std::vector<int32_t> waits_for(steps_.size());
    std::vector<bool> has_run(steps_.size());
    std::priority_queue<Candidate> ready;
    const auto enter_if_ready = [&](int32_t step) {
      if (waits_for[step] == 0 && !has_run[step]) ready.push({gains[step], step});
    };
    for (int32_t i = 0; i < steps_.size(); ++i) {
      waits_for[i] = steps_[i].waits_for;
      enter_if_ready(i);
    }
    std::vector<int32_t> order;
    order.reserve(steps_.size());
    while (!ready.empty()) {
      const int32_t step = ready.top().step;
      ready.pop();
      if (has_run[step]) continue;  // entered again with a better gain
      has_run[step] = true;
      order.push_back(step);
      for (int32_t follower : steps_[step].followers) {
        --waits_for[follower];
        enter_if_ready(follower);
      }
      for (int32_t buffer : steps_[step].used) {
        if (--uses_left[buffer] != 1) continue;
        for (int32_t user : users_[buffer]) {  // the remaining user would free it now
          if (has_run[user]) continue;
          gains[user] += bytes_[buffer];
          enter_if_ready(user);
        }
      }
    }
    return order;
  }

  int64_t Peak(const std::vector<int32_t>& order) const {
    std::vector<int32_t> uses_left = uses_;
    std::vector<bool> is_alive(bytes_.size());
    int64_t now = 0, peak = 0;
    for (int32_t step : order) {
      for (int32_t buffer : steps_[step].made) {
        if (!is_alive[buffer]) now += bytes_[buffer];
        is_alive[buffer] = true;
      }
      peak = std::max(peak, now);
      for (int32_t buffer : steps_[step].used) {
        if (--uses_left[buffer] > 0 || !is_alive[buffer]) continue;
        now -= bytes_[buffer];
        is_alive[buffer] = false;
      }
    }
    return peak;
  }

  const HloComputation& computation_;
  const std::vector<HloInstruction*> post_order_;
  const ValuePositions& positions_;
  const BufferGroups& groups_;
  std::vector<Step> steps_;                        // by place in post_order_
  absl::flat_hash_map<int32_t, int32_t> numbers_;  // of groups
  std::vector<int64_t> bytes_;                     // by buffer
  std::vector<int32_t> uses_;
  std::vector<absl::InlinedVector<int32_t, 2>> users_;
};

}  // namespace

std::vector<const HloInstruction*> InstructionOrder(const HloModule& module, const HloComputation& computation,
                                                    const ValuePositions& positions, const BufferGroups& groups) {
  if (module.has_schedule()) {
    const std::vector<HloInstruction*>* sequence = module.schedule().Find(&computation);
    if (sequence != nullptr && IsWhole(computation, *sequence)) return {sequence->begin(), sequence->end()};
  }
  return ListScheduler(computation, computation.MakeInstructionPostOrder(), positions, groups).Run();
}

}  // namespace kashi::analysis
