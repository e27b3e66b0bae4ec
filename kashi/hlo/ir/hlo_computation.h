// HloComputation: a function of the program, a graph of instructions of which one is the result.
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

// Instructions by the instruction that they are a copy of.
using HloInstructionMap = absl::flat_hash_map<const HloInstruction*, HloInstruction*>;
using HloComputationMap = absl::flat_hash_map<const HloComputation*, HloComputation*>;

// The instructions of a computation. Those that were removed meanwhile are skipped, so instructions may be removed
// while somebody walks through them; adding one ends all walks.
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
  // Collects instructions; Build makes the computation of them.
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
    // The root is the last instruction if none is named. Dies when there is no instruction, when the root is none of
    // them, or when the parameters are not numbered 0 to n-1.
    std::unique_ptr<HloComputation> Build(HloInstruction* root_instruction = nullptr);

   private:
    std::string name_;
    HloInstruction* last_added_ = nullptr;
    absl::flat_hash_set<int64_t> parameter_numbers_;  // of those added as parameters
    std::vector<std::unique_ptr<HloInstruction>> instructions_;
  };

  // An empty computation, for those that fill it step by step: reader, protos, builder, clone. SetRoot must follow.
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

  // Takes the instruction. It gets a name and an id that the module does not have yet. Dies for a parameter.
  HloInstruction* AddInstruction(std::unique_ptr<HloInstruction> instruction, absl::string_view new_name = "");
  // The next parameter; dies if its number is another, or in the entry computation, whose callers are not told.
  HloInstruction* AddParameter(std::unique_ptr<HloInstruction> parameter);
  // The same with memory from the module's arena: what reader, proto reader and clone use. Any opcode; a parameter is
  // entered by its number when FinishParameters is called. The name is borrowed, from the same arena.
  HloInstruction* AddInArena(internal::Arena* arena, HloOpcode opcode, SharedShape shape,
                             absl::Span<HloInstruction* const> operands, HloFieldList fields, absl::string_view name);
  // Orders the parameters by their number. An error unless they are 0 to n-1, each once.
  absl::Status FinishParameters();

  // An error if it has users, is the root or has control dependencies. Frees it.
  absl::Status RemoveInstruction(HloInstruction* instruction);
  // That and the operands that then have no users and no side effect.
  absl::Status RemoveInstructionAndUnusedOperands(HloInstruction* instruction);
  // Every use of the old one becomes a use of the new one; the old one goes. An error if the shapes are not compatible.
  absl::Status ReplaceInstruction(HloInstruction* old_instruction, HloInstruction* new_instruction);
  absl::Status ReplaceWithNewInstruction(HloInstruction* old_instruction, std::unique_ptr<HloInstruction> instruction);
  // Removes several instructions at once, none of which may have a user that stays. O(all instructions).
  void RemoveDeadInstructions(absl::FunctionRef<bool(const HloInstruction*)> is_dead);
  // Whether RemoveInstruction may take it if nobody uses it: no parameter but a fusion's, no control dependencies.
  bool IsSafelyRemovable(const HloInstruction* instruction) const;
  // Closes the gaps that removed instructions have left. Local ids change.
  void Cleanup();

  // XLA's way to hand a computation to an analysis: `Visit(const HloComputation&)` of that.
  template <typename Visitor>
  absl::Status Accept(Visitor* visitor) const {
    return visitor->Visit(*this);
  }

  // ---- Orders. Operands and control predecessors come before their users (docs/spec/hlo.md 1.4: also the print
  // order).
  std::vector<HloInstruction*> MakeInstructionPostOrder() const;
  // Computations called by this one, directly or not, each once; callees first. In print order, which is XLA's, the
  // callees of one instruction are all entered when it is met, so that of two callees the first stands before the
  // second even if it calls it: text in that order cannot always be read again, but its bytes are XLA's.
  std::vector<HloComputation*> MakeEmbeddedComputationsList(bool print_order = false) const;

  // ---- What it is.
  bool IsEntryComputation() const;
  bool IsFusionComputation() const { return fusion_instruction_ != nullptr || is_fusion_computation_; }
  HloInstruction* FusionInstruction() const { return fusion_instruction_; }
  void SetFusionInstruction(HloInstruction* fusion) { fusion_instruction_ = fusion; }
  void set_is_fusion_computation(bool value) { is_fusion_computation_ = value; }
  // The async-start that calls it; null if none does.
  HloInstruction* AsyncStart() const { return async_start_; }
  void SetAsyncStart(HloInstruction* start) { async_start_ = start; }
  bool IsAsyncComputation() const { return async_start_ != nullptr; }
  // Only parameters and a root: what the sugar `add-start(…)` can say.
  bool CanExpandIntoSingleInstruction() const;
  bool HasSideEffect() const;
  absl::string_view execution_thread() const { return execution_thread_; }
  void SetExecutionThread(absl::string_view thread) { execution_thread_ = std::string(thread); }
  // The thread of this computation, of all that it calls, and of the asynchronous operations in them. What `done` holds
  // is left alone, with all that it calls; it receives the rest.
  void SpreadExecutionThread(absl::string_view thread, absl::flat_hash_set<const HloComputation*>* done);
  bool IsMainThread() const { return execution_thread_ == kMainExecutionThread; }
  std::vector<HloInstruction*> caller_instructions() const;  // O(instructions of the module)
  // The instruction of this opcode that calls it, if it is the only one. O(instructions of the module).
  std::optional<HloInstruction*> GetUniqueCaller(HloOpcode opcode) const;

  // With layouts. Names: of the parameters, with their ids unless `include_ids` is false.
  ProgramShape ComputeProgramShape(bool include_ids = true) const;

  // The same graph: roots equal, and so on down to the parameters, in the called computations too.
  bool Equal(const HloComputation& other, bool layout_sensitive, bool ignore_channel_id_values = false,
             bool ignore_execution_thread = false) const;
  bool operator==(const HloComputation& other) const { return Equal(other, /*layout_sensitive=*/true); }
  // Computations that are equal (==) have equal hashes, within a run of a program.
  size_t Hash() const;

  // ---- Text.
  std::string ToString() const;
  std::string ToString(const HloPrintOptions& options) const;
  std::string ToString(const HloPrintOptions& options, absl::Span<const HloInstruction* const> order) const;
  void Print(Printer* printer, const HloPrintOptions& options) const;
  void Print(Printer* printer, const HloPrintOptions& options, absl::Span<const HloInstruction* const> order) const;

  // A copy in no module yet. Called computations stay the same unless the map names others.
  std::unique_ptr<HloComputation> Clone(absl::string_view suffix = "clone",
                                        const HloComputationMap* computations = nullptr,
                                        HloInstructionMap* instructions = nullptr) const;

  HloComputationProto ToProto() const;  // kashi/proto

 private:
  friend class HloModule;
  friend class HloInstruction;

  // Puts a copy of all instructions into an empty computation, with memory of the arena if there is one. copies: by the
  // local id of the original.
  std::vector<HloInstruction*> CopyInstructionsTo(HloComputation* to, internal::Arena* arena,
                                                  absl::FunctionRef<std::string(absl::string_view)> name_of_copy,
                                                  const HloComputationMap& computations) const;
  // The instruction is this computation's from now on.
  HloInstruction* Take(HloInstruction* instruction);
  // Fusion and asynchronous computations know their caller.
  void NoteCallees(HloInstruction* instruction);
  void ForgetCallees(const HloInstruction* instruction);
  absl::Status CheckRemovable(const HloInstruction* instruction) const;
  void Free(HloInstruction* instruction);
  // After some of them have gone.
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
