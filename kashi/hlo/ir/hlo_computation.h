// HloComputation: a function of the program. It is a graph of instructions; the root is its result.
#ifndef KASHI_HLO_IR_HLO_COMPUTATION_H_
#define KASHI_HLO_IR_HLO_COMPUTATION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/base/arena.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi {

class HloComputationProto;

// From original instructions to their copies.
using HloInstructionMap = absl::flat_hash_map<const HloInstruction*, HloInstruction*>;
using HloComputationMap = absl::flat_hash_map<const HloComputation*, HloComputation*>;

// The instructions of a computation. Iterators skip removed instructions, so a loop may remove instructions. Adding an
// instruction invalidates iterators.
class HloInstructionRange {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = HloInstruction*;
    using difference_type = std::ptrdiff_t;
    using pointer = HloInstruction* const*;
    using reference = HloInstruction* const&;

    Iterator() = default;
    Iterator(pointer at, pointer end) : at_(at), end_(end) { SkipRemoved(); }
    reference operator*() const { return *at_; }
    pointer operator->() const { return at_; }
    Iterator& operator++() {
      ++at_;
      SkipRemoved();
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }
    friend bool operator!=(const Iterator& a, const Iterator& b) { return a.at_ != b.at_; }

   private:
    void SkipRemoved() {
      while (at_ != end_ && *at_ == nullptr) ++at_;
    }
    pointer at_ = nullptr;
    pointer end_ = nullptr;
  };
  using iterator = Iterator;
  using const_iterator = Iterator;
  using value_type = HloInstruction*;

  HloInstructionRange(absl::Span<HloInstruction* const> slots, int64_t size) : slots_(slots), size_(size) {}
  Iterator begin() const { return Iterator(slots_.data(), slots_.data() + slots_.size()); }
  Iterator end() const { return Iterator(slots_.data() + slots_.size(), slots_.data() + slots_.size()); }
  int64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  HloInstruction* front() const { return *begin(); }
  HloInstruction* back() const {
    auto last = slots_.rbegin();
    while (*last == nullptr) ++last;
    return *last;
  }
  operator std::vector<HloInstruction*>() const { return std::vector<HloInstruction*>(begin(), end()); }

 private:
  absl::Span<HloInstruction* const> slots_;
  int64_t size_;
};

class HloComputation {
 public:
  // Collects instructions; Build makes a computation from them.
  class Builder {
   public:
    explicit Builder(absl::string_view name) : name_(name) {}
    Builder(Builder&&) = default;
    virtual ~Builder();

    virtual HloInstruction* AddInstruction(std::unique_ptr<HloInstruction> instruction);
    HloInstruction* AddInstruction(std::unique_ptr<HloInstruction> instruction,
                                   std::optional<absl::string_view> new_name);
    // An error if the number is taken.
    absl::StatusOr<HloInstruction*> AddParameter(std::unique_ptr<HloInstruction> parameter);
    HloInstruction* last_added_instruction() const { return last_added_; }
    // The root is the last instruction if none is given. Dies if there is no instruction, if the root is not one of
    // them, or if the parameters are not numbered 0 to n-1.
    std::unique_ptr<HloComputation> Build(HloInstruction* root_instruction = nullptr);

   private:
    std::string name_;
    HloInstruction* last_added_ = nullptr;
    absl::flat_hash_set<int64_t> parameter_numbers_;  // of those added as parameters
    std::vector<std::unique_ptr<HloInstruction>> instructions_;
  };

  // An empty computation, which the reader, protos, the builder and clones fill step by step. SetRoot must follow.
  explicit HloComputation(absl::string_view name) : name_(name) {}
  ~HloComputation();
  HloComputation(const HloComputation&) = delete;
  HloComputation& operator=(const HloComputation&) = delete;

  absl::string_view name() const { return name_; }
  void SetAndSanitizeName(absl::string_view name);
  void set_name(absl::string_view name) { name_ = std::string(name); }
  int64_t unique_id() const { return unique_id_; }
  void SetUniqueId(int64_t id) { unique_id_ = id; }
  HloModule* parent() { return parent_; }
  const HloModule* parent() const { return parent_; }

  // ---- Instructions, in the order in which they were added; removed ones are skipped.
  HloInstructionRange instructions() const { return HloInstructionRange(instructions_, instruction_count()); }
  int64_t instruction_count() const { return static_cast<int64_t>(instructions_.size()) - removed_count_; }
  HloInstruction* root_instruction() const { return root_; }
  // Dies if the shapes are not compatible, unless that is accepted.
  void set_root_instruction(HloInstruction* root, bool accept_different_shape = false);
  int64_t num_parameters() const { return static_cast<int64_t>(parameters_.size()); }
  HloInstruction* parameter_instruction(int64_t number) const {
    KASHI_CHECK(number >= 0 && number < num_parameters());
    return parameters_[number];
  }
  const std::vector<HloInstruction*>& parameter_instructions() const { return parameters_; }
  HloInstruction* GetInstructionWithName(absl::string_view name) const;  // null if there is none

  // Takes the instruction, and gives it a name and an id that are unique in the module. Dies for a parameter.
  HloInstruction* AddInstruction(std::unique_ptr<HloInstruction> instruction, absl::string_view new_name = "");
  // Adds the next parameter. Dies if its number is not the next one. Dies in the entry computation, because its callers
  // are outside of the module.
  HloInstruction* AddParameter(std::unique_ptr<HloInstruction> parameter);
  // Adds an instruction in memory of the module's arena, for the readers of text and protos and for clones. Any opcode;
  // FinishParameters registers parameters by their number. The name is borrowed from the same arena.
  HloInstruction* AddInArena(base::Arena* arena, HloOpcode opcode, SharedShape shape,
                             absl::Span<HloInstruction* const> operands, HloFieldList fields, absl::string_view name);
  // Orders the parameters by their number. An error unless they are 0 to n-1, each once.
  absl::Status FinishParameters();

  // Frees the instruction. An error if it has users, is the root or has control dependencies.
  absl::Status RemoveInstruction(HloInstruction* instruction);
  // Also removes the operands that then have neither users nor side effects.
  absl::Status RemoveInstructionAndUnusedOperands(HloInstruction* instruction);
  // Replaces every use of the old instruction by the new one, and removes the old one. An error if the shapes are not
  // compatible.
  absl::Status ReplaceInstruction(HloInstruction* old_instruction, HloInstruction* new_instruction);
  absl::Status ReplaceWithNewInstruction(HloInstruction* old_instruction, std::unique_ptr<HloInstruction> instruction);
  // Removes several instructions at once. Their users must be among them. O(all instructions).
  void RemoveDeadInstructions(absl::FunctionRef<bool(const HloInstruction*)> is_dead);
  // Whether RemoveInstruction can remove it once it has no users: it has no control dependencies, and is not a
  // parameter, except of a fusion.
  bool IsSafelyRemovable(const HloInstruction* instruction) const;
  // Closes the gaps of removed instructions. Local ids change.
  void Cleanup();

  // XLA's way to pass a computation to an analysis: calls its `Visit(const HloComputation&)`.
  template <typename Visitor>
  absl::Status Accept(Visitor* visitor) const {
    return visitor->Visit(*this);
  }

  // ---- Orders. Operands and control predecessors come before their users (docs/spec/hlo.md 1.4: also the print
  // order).
  std::vector<HloInstruction*> MakeInstructionPostOrder() const;
  // The computations that this one calls, directly or not, each once; callees first. XLA's print order enters all
  // callees of an instruction at once. So the first of two callees comes first even if it calls the second. Text in
  // that order has XLA's bytes, but cannot always be read again.
  std::vector<HloComputation*> MakeEmbeddedComputationsList(bool print_order = false) const;

  // ---- What it is.
  bool IsEntryComputation() const;
  bool IsFusionComputation() const { return fusion_instruction_ != nullptr || is_fusion_computation_; }
  HloInstruction* FusionInstruction() const { return fusion_instruction_; }
  void SetFusionInstruction(HloInstruction* fusion) { fusion_instruction_ = fusion; }
  void set_is_fusion_computation(bool value) { is_fusion_computation_ = value; }
  // The async-start that calls it; null if there is none.
  HloInstruction* AsyncStart() const { return async_start_; }
  void SetAsyncStart(HloInstruction* start) { async_start_ = start; }
  bool IsAsyncComputation() const { return async_start_ != nullptr; }
  // Whether there are only parameters and a root, so that text can use the short form `add-start(…)`.
  bool CanExpandIntoSingleInstruction() const;
  bool HasSideEffect() const;
  absl::string_view execution_thread() const { return execution_thread_; }
  void SetExecutionThread(absl::string_view thread) { execution_thread_ = std::string(thread); }
  // Sets the thread of this computation, of the computations that it calls, and of their asynchronous operations. Skips
  // the computations in `done` and those that they call, and adds the others to `done`.
  void SpreadExecutionThread(absl::string_view thread, absl::flat_hash_set<const HloComputation*>* done);
  bool IsMainThread() const { return execution_thread_ == kMainExecutionThread; }
  std::vector<HloInstruction*> caller_instructions() const;  // O(instructions of the module)
  // The instruction of this opcode that calls it, if it is the only one. O(instructions of the module).
  std::optional<HloInstruction*> GetUniqueCaller(HloOpcode opcode) const;

  // With layouts. Names: of the parameters, with their ids unless `include_ids` is false.
  ProgramShape ComputeProgramShape(bool include_ids = true) const;

  // Whether the graphs are equal: roots, operands and so on down to the parameters, also in called computations.
  bool Equal(const HloComputation& other, bool layout_sensitive, bool ignore_channel_id_values = false,
             bool ignore_execution_thread = false) const;
  bool operator==(const HloComputation& other) const { return Equal(other, /*layout_sensitive=*/true); }
  // Equal computations (==) have equal hashes. Hashes may differ between runs of a program.
  size_t Hash() const;

  // ---- Text.
  std::string ToString() const;
  std::string ToString(const HloPrintOptions& options) const;
  std::string ToString(const HloPrintOptions& options, absl::Span<const HloInstruction* const> order) const;
  void Print(Printer* printer, const HloPrintOptions& options) const;
  void Print(Printer* printer, const HloPrintOptions& options, absl::Span<const HloInstruction* const> order) const;

  // A copy without a module. It calls the same computations, unless the map replaces them.
  std::unique_ptr<HloComputation> Clone(absl::string_view suffix = "clone",
                                        const HloComputationMap* computations = nullptr,
                                        HloInstructionMap* instructions = nullptr) const;

  HloComputationProto ToProto() const;  // kashi/proto

 private:
  friend class HloModule;
  friend class HloInstruction;

  // Copies all instructions into an empty computation, with memory from the arena if there is one. `copies` is indexed
  // by the local id of the original.
  std::vector<HloInstruction*> CopyInstructionsTo(HloComputation* to, base::Arena* arena,
                                                  absl::FunctionRef<std::string(absl::string_view)> name_of_copy,
                                                  const HloComputationMap& computations) const;
  // Takes ownership of the instruction.
  HloInstruction* Take(HloInstruction* instruction);
  // Fusion and asynchronous computations have a pointer to their caller.
  void NoteCallees(HloInstruction* instruction);
  void ForgetCallees(const HloInstruction* instruction);
  absl::Status CheckRemovable(const HloInstruction* instruction) const;
  void Free(HloInstruction* instruction);
  // After some parameters were removed.
  void RenumberParameters();

  std::string name_;
  int64_t unique_id_ = -1;
  HloModule* parent_ = nullptr;
  HloInstruction* root_ = nullptr;
  HloInstruction* fusion_instruction_ = nullptr;
  HloInstruction* async_start_ = nullptr;
  bool is_fusion_computation_ = false;
  std::string execution_thread_ = std::string(kMainExecutionThread);
  int64_t next_instruction_id_ = 0;            // the lower half of the next unique id
  std::vector<HloInstruction*> instructions_;  // by local id; owned, deleted by HloInstructionDeleter; null: removed
  int64_t removed_count_ = 0;
  std::vector<HloInstruction*> parameters_;  // by number
};

}  // namespace kashi

#endif  // KASHI_HLO_IR_HLO_COMPUTATION_H_
