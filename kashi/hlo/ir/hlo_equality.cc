// Whether two computations are equal graphs, and hashes that agree with this.
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi {
namespace {

// Objects that were found, or are assumed, to be equal, as sets that grow together. Two objects are compared only if
// they are not in one set yet. So the number of objects bounds the comparisons, though each may be met along many
// paths (Hopcroft and Karp's test of equivalence).
template <typename T>
class EqualSets {
 public:
  // False if they were in one set already.
  bool Unite(const T* a, const T* b) {
    const T* const root_a = Find(a);
    const T* const root_b = Find(b);
    if (root_a == root_b) return false;
    parents_[root_a] = root_b;
    return true;
  }

 private:
  const T* Find(const T* x) {
    while (true) {
      const auto parent = parents_.find(x);
      if (parent == parents_.end()) return x;
      const auto grandparent = parents_.find(parent->second);
      if (grandparent == parents_.end()) return parent->second;
      x = parent->second = grandparent->second;  // halves the path
    }
  }
  absl::flat_hash_map<const T*, const T*> parents_;
};

struct EqualityOptions {
  bool layout_sensitive;
  bool ignore_channel_id_values;
  bool ignore_execution_thread;
};

class EqualityTest {
 public:
  explicit EqualityTest(EqualityOptions options) : options_(options) {}

  bool Equal(const HloComputation* a, const HloComputation* b) {
    Enqueue(a, b);
    while (!computations_.empty()) {
      const auto [x, y] = computations_.back();
      computations_.pop_back();
      if (!BodiesEqual(x, y)) return false;
    }
    return true;
  }

 private:
  bool Enqueue(const HloComputation* a, const HloComputation* b) {
    if (equal_computations_.Unite(a, b)) computations_.emplace_back(a, b);
    return true;
  }
  void Enqueue(const HloInstruction* a, const HloInstruction* b) {
    if (equal_instructions_.Unite(a, b)) instructions_.emplace_back(a, b);
  }

  bool BodiesEqual(const HloComputation* a, const HloComputation* b) {
    if (!options_.ignore_execution_thread && a->execution_thread() != b->execution_thread()) return false;
    if (a->instruction_count() != b->instruction_count() || a->num_parameters() != b->num_parameters()) return false;
    Enqueue(a->root_instruction(), b->root_instruction());
    while (!instructions_.empty()) {
      const auto [x, y] = instructions_.back();
      instructions_.pop_back();
      if (!InstructionsEqual(x, y)) return false;
      for (int64_t i = 0; i < x->operand_count(); ++i) Enqueue(x->operand(i), y->operand(i));
    }
    return true;
  }

  // Compares all but called computations and operands, which are compared later.
  bool InstructionsEqual(const HloInstruction* a, const HloInstruction* b) {
    return a->operand_count() == b->operand_count() &&
           a->Identical(
               *b, [](const HloInstruction*, const HloInstruction*) { return true; },
               [this](const HloComputation* x, const HloComputation* y) { return Enqueue(x, y); },
               options_.layout_sensitive, /*sharding_sensitive=*/false, options_.ignore_channel_id_values);
  }

  const EqualityOptions options_;
  EqualSets<HloComputation> equal_computations_;
  EqualSets<HloInstruction> equal_instructions_;
  std::vector<std::pair<const HloComputation*, const HloComputation*>> computations_;
  std::vector<std::pair<const HloInstruction*, const HloInstruction*>> instructions_;
};

using ComputationHashes = absl::flat_hash_map<const HloComputation*, size_t>;

// Hashes only what the root depends on, because equality compares only that.
size_t HashOfBody(const HloComputation& computation, const ComputationHashes& callees) {
  absl::flat_hash_map<const HloInstruction*, size_t> hashes;
  for (const HloInstruction* instruction : computation.MakeInstructionPostOrder()) {
    size_t hash = absl::HashOf(instruction->opcode(), instruction->shape(), instruction->fields().Hash(),
                               instruction->raw_backend_config_string());
    for (const HloInstruction* operand : instruction->operands()) hash = absl::HashOf(hash, hashes[operand]);
    for (const HloComputation* callee : instruction->called_computations()) {
      const auto found = callees.find(callee);
      hash = absl::HashOf(hash, found == callees.end() ? 0 : found->second);
    }
    hashes[instruction] = hash;
  }
  return absl::HashOf(hashes[computation.root_instruction()], computation.instruction_count(),
                      computation.execution_thread());
}

}  // namespace

bool HloComputation::Equal(const HloComputation& other, bool layout_sensitive, bool ignore_channel_id_values,
                           bool ignore_execution_thread) const {
  return this == &other ||
         EqualityTest({layout_sensitive, ignore_channel_id_values, ignore_execution_thread}).Equal(this, &other);
}

size_t HloComputation::Hash() const {
  ComputationHashes hashes;
  for (const HloComputation* callee : MakeEmbeddedComputationsList()) hashes[callee] = HashOfBody(*callee, hashes);
  return HashOfBody(*this, hashes);
}

bool HloModule::Equal(const HloModule& other, bool layout_sensitive) const {
  return entry_computation()->Equal(*other.entry_computation(), layout_sensitive);
}

size_t HloModule::Hash() const { return entry_computation()->Hash(); }

}  // namespace kashi
