#include "kashi/matching/value_graph.h"

#include <utility>

#include "kashi/base/fingerprint.h"
#include "kashi/matching/operation_text.h"

namespace kashi::matching {

uint64_t Combined(uint64_t hash, uint64_t other) {
  // The finalizer of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
  uint64_t x = hash * 0x9e3779b97f4a7c15 + other + 0x7f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Adds the instructions of the regions, one region after another. Calls may be nested deeply, so the calls that are
// being entered are on a stack of its own.
class ValueGraphBuilder {
 public:
  explicit ValueGraphBuilder(ValueGraph* graph) : graph_(*graph) {}

  void Build(bool with_layouts) {
    CountCallers();
    for (const HloComputation* computation : graph_.module_.MakeComputationPostOrder()) {
      if (transparent_.count(computation) == 0) AddRegion(computation);
    }
    graph_.operations_.reserve(graph_.instructions_.size());
    for (const HloInstruction* x : graph_.instructions_) {
      graph_.operations_.push_back(base::FingerprintOf(OperationKey(*x, with_layouts)).low);
    }
  }

 private:
  struct Frame {
    const HloComputation* computation;
    const HloInstruction* caller;  // null: the region itself
    std::vector<HloInstruction*> order;
    size_t next = 0;
  };

  void CountCallers();
  void AddRegion(const HloComputation* computation);
  NodeId AddNode(const HloInstruction* instruction);
  NodeId ValueOf(const HloInstruction& instruction, NodeId node, const Frame& frame) const;
  void Push(const HloComputation* computation, const HloInstruction* caller) {
    frames_.push_back({computation, caller, computation->MakeInstructionPostOrder()});
  }

  ValueGraph& graph_;
  absl::flat_hash_map<const HloComputation*, const HloInstruction*> transparent_;  // with their only callers
  std::vector<Frame> frames_;
};

void ValueGraphBuilder::CountCallers() {
  absl::flat_hash_map<const HloComputation*, int64_t> calls;
  for (const HloComputation* computation : graph_.module_.computations()) {
    for (const HloInstruction* x : computation->instructions()) {
      for (const HloComputation* callee : x->called_computations()) ++calls[callee];
    }
  }
  for (const HloComputation* computation : graph_.module_.computations()) {
    for (const HloInstruction* x : computation->instructions()) {
      if (x->opcode() != HloOpcode::kFusion && x->opcode() != HloOpcode::kCall) continue;
      const HloComputation* callee = x->called_computations()[0];
      if (calls[callee] == 1 && callee->num_parameters() == x->operand_count()) transparent_[callee] = x;
    }
  }
}

NodeId ValueGraphBuilder::AddNode(const HloInstruction* instruction) {
  const auto node = static_cast<NodeId>(graph_.instructions_.size());
  graph_.instructions_.push_back(instruction);
  graph_.nodes_[instruction] = node;
  graph_.values_.push_back(node);
  graph_.is_transparent_call_.push_back(false);
  return node;
}

NodeId ValueGraphBuilder::ValueOf(const HloInstruction& instruction, NodeId node, const Frame& frame) const {
  if (instruction.opcode() == HloOpcode::kParameter && frame.caller != nullptr) {
    return graph_.value(graph_.NodeOf(frame.caller->operand(instruction.parameter_number())));
  }
  if (instruction.opcode() == HloOpcode::kGetTupleElement) {
    const HloInstruction& tuple = graph_.instruction(graph_.value(graph_.NodeOf(instruction.operand(0))));
    const int64_t index = instruction.tuple_index();
    if (tuple.opcode() == HloOpcode::kTuple && index < tuple.operand_count()) {
      return graph_.value(graph_.NodeOf(tuple.operand(index)));
    }
  }
  return node;
}

void ValueGraphBuilder::AddRegion(const HloComputation* computation) {
  const NodeId begin = graph_.size();
  Push(computation, nullptr);
  while (true) {
    Frame& frame = frames_.back();
    if (frame.next == frame.order.size()) {
      const Frame done = std::move(frame);
      frames_.pop_back();
      const NodeId root = graph_.value(graph_.NodeOf(done.computation->root_instruction()));
      if (done.caller == nullptr) {
        graph_.region_numbers_[computation] = static_cast<int32_t>(graph_.regions_.size());
        graph_.regions_.push_back({computation, begin, graph_.size(), root});
        return;
      }
      const NodeId call = AddNode(done.caller);
      graph_.values_[call] = root;
      graph_.is_transparent_call_[call] = true;
      continue;
    }
    const HloInstruction* x = frame.order[frame.next++];
    const auto callees = x->called_computations();
    if (callees.size() == 1 && transparent_.count(callees[0]) > 0) {
      Push(callees[0], x);  // `frame` is not valid any more
    } else {
      const NodeId node = AddNode(x);
      graph_.values_[node] = ValueOf(*x, node, frame);
    }
  }
}

ValueGraph::ValueGraph(const HloModule& module, bool with_layouts) : module_(module) {
  ValueGraphBuilder(this).Build(with_layouts);
  LinkOperands();
  LinkUsers();
  HashAbove();
  below_.assign(instructions_.size(), 0);
  for (const Region& region : regions_) HashBelow(region);
}

int32_t ValueGraph::RegionOf(const HloComputation* computation) const {
  const auto found = region_numbers_.find(computation);
  return found == region_numbers_.end() ? -1 : found->second;
}

void ValueGraph::LinkOperands() {
  operand_starts_.assign(1, 0);
  for (NodeId node = 0; node < size(); ++node) {
    if (IsValue(node)) {
      for (const HloInstruction* operand : instructions_[node]->operands()) {
        operands_.push_back(value(NodeOf(operand)));
      }
    }
    operand_starts_.push_back(static_cast<int32_t>(operands_.size()));
  }
}

void ValueGraph::LinkUsers() {
  user_starts_.assign(instructions_.size() + 1, 0);
  for (const NodeId operand : operands_) ++user_starts_[operand + 1];
  for (size_t i = 1; i < user_starts_.size(); ++i) user_starts_[i] += user_starts_[i - 1];
  users_.resize(operands_.size());
  std::vector<int32_t> next(user_starts_.begin(), user_starts_.end() - 1);
  for (NodeId node = 0; node < size(); ++node) {
    const absl::Span<const NodeId> its_operands = operands(node);
    for (size_t i = 0; i < its_operands.size(); ++i) {
      users_[next[its_operands[i]]++] = {node, static_cast<int32_t>(i)};
    }
  }
}

void ValueGraph::HashAbove() {
  above_.assign(instructions_.size(), 0);
  for (Region& region : regions_) {
    for (NodeId node = region.begin; node < region.end; ++node) {
      if (!IsValue(node)) continue;
      uint64_t hash = operations_[node];
      for (const HloComputation* callee : instructions_[node]->called_computations()) {
        const int32_t number = RegionOf(callee);
        hash = Combined(hash, number < 0 ? 0 : regions_[number].hash);
      }
      for (const NodeId operand : operands(node)) hash = Combined(hash, above_[operand]);
      above_[node] = hash;
    }
    region.hash = above_[region.root];
  }
}

void ValueGraph::HashBelow(const Region& region) {
  for (NodeId node = region.end; node-- > region.begin;) {
    if (!IsValue(node)) continue;
    uint64_t sum = node == region.root ? 1 : 0;  // the order of users does not count
    for (const Use& use : users(node)) sum += Combined(below_[use.user], static_cast<uint64_t>(use.operand));
    below_[node] = Combined(operations_[node], sum);
  }
}

}  // namespace kashi::matching
