#include "kashi/buffers/in_place_order.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/ir/hlo_opcode.h"

namespace kashi::buffers {
namespace {

// Numbers of instructions: their places in the order that was given.
using Numbers = std::vector<int>;
// The buffers of an instruction's leaves.
using Buffers = std::vector<int>;

// Visits of instructions that a computation may take, for each of its instructions and in any case.
constexpr int64_t kVisitsOfEach = 256, kVisitsOfAny = 1 << 16;

// Whether body(state) has element i of its parameter as element i of its result.
bool KeepsElement(const HloComputation& body, int64_t i) {
  const HloInstruction& root = *body.root_instruction();
  if (root.opcode() != HloOpcode::kTuple || i >= root.operand_count()) return false;
  const HloInstruction& element = *root.operand(i);
  return element.opcode() == HloOpcode::kGetTupleElement && element.tuple_index() == i &&
         element.operand(0)->opcode() == HloOpcode::kParameter;
}

std::vector<const Shape*> LeavesOf(const Shape& shape) {
  std::vector<const Shape*> leaves;
  ShapeUtil::ForEachSubshape(shape, [&](const Shape& part, const ShapeIndex&) {
    if (!part.IsTuple()) leaves.push_back(&part);
  });
  return leaves;
}

// The effect of an instruction on the buffers of its operands.
enum class Kind : uint8_t { kRead, kUpdate, kLoop, kCall };

Kind KindOf(const HloInstruction& instruction) {
  const HloOpcodeInfo& info = GetHloOpcodeInfo(instruction.opcode());
  using InPlace = HloOpcodeFlags::InPlace;
  if (info.in_place == InPlace::kFirst || info.in_place == InPlace::kScatter) return Kind::kUpdate;
  if (info.flow == HloOpcodeFlags::Flow::kLoop) return Kind::kLoop;
  if (info.flow != HloOpcodeFlags::Flow::kCallee || instruction.opcode() == HloOpcode::kMap) return Kind::kRead;
  if (instruction.opcode() != HloOpcode::kFusion) return Kind::kCall;
  return OperandUpdatedInPlace(instruction) >= 0 ? Kind::kUpdate : Kind::kCall;
}

// Whether the result only hands operands on.
bool Forwards(const HloInstruction& instruction) {
  using Flow = HloOpcodeFlags::Flow;
  const Flow flow = GetHloOpcodeInfo(instruction.opcode()).flow;
  return flow == Flow::kOperand || flow == Flow::kTuple || flow == Flow::kElement || flow == Flow::kCopy ||
         instruction.opcode() == HloOpcode::kReshape;
}

// Calls visit(leaf, is_kept) for each leaf of the loop's state.
template <typename Visit>
void ForEachLeafOfState(const HloInstruction& loop, Visit&& visit) {
  const Shape& shape = loop.operand(0)->shape();
  if (!shape.IsTuple()) return visit(size_t{0}, false);
  size_t leaf = 0;
  for (int64_t k = 0; k < shape.tuple_shapes_size(); ++k) {
    const bool is_kept = KeepsElement(*loop.while_body(), k);
    for (int64_t n = ShapeUtil::GetLeafCount(shape.tuple_shapes(k)); n > 0; --n) visit(leaf++, is_kept);
  }
}

// The buffers of each instruction's value, and their uses, by numbers of instructions in the order given.
class BufferUses {
 public:
  struct Uses {
    Numbers users;  // in the order given
    bool is_result = false;
    bool is_cheap;  // to copy: one element
  };

  BufferUses(const std::vector<HloInstruction*>& given, const HloInstruction* root) : buffers_(given.size()) {
    for (size_t i = 0; i < given.size(); ++i) number_[given[i]] = static_cast<int>(i);
    for (size_t i = 0; i < given.size(); ++i) FindBuffers(*given[i], &buffers_[i]);
    for (size_t i = 0; i < given.size(); ++i) FindUses(*given[i], static_cast<int>(i), given[i] == root);
  }

  const Buffers& BuffersOf(const HloInstruction* operand) const {
    static const Buffers* const kNone = new Buffers();
    const auto found = number_.find(operand);
    return found == number_.end() ? *kNone : buffers_[found->second];
  }
  const Uses& UsesOf(int buffer) const { return uses_[buffer]; }
  // -1: none of the instructions given.
  int NumberOf(const HloInstruction* instruction) const {
    const auto found = number_.find(instruction);
    return found == number_.end() ? -1 : found->second;
  }

 private:
  int NewBuffer(const Shape& leaf) {
    uses_.emplace_back();
    uses_.back().is_cheap = !leaf.IsArray() || ShapeUtil::IsEffectiveScalar(leaf);
    return static_cast<int>(uses_.size()) - 1;
  }

  void FindBuffers(const HloInstruction& instruction, Buffers* found) {
    const std::vector<const Shape*> leaves = LeavesOf(instruction.shape());
    Buffers& buffers = *found;
    if (instruction.opcode() == HloOpcode::kTuple) {
      for (const HloInstruction* operand : instruction.operands()) {
        buffers.insert(buffers.end(), BuffersOf(operand).begin(), BuffersOf(operand).end());
      }
    } else if (instruction.opcode() == HloOpcode::kGetTupleElement) {
      buffers = ElementOf(instruction, leaves.size());
    } else if (Forwards(instruction)) {
      buffers = BuffersOf(instruction.operand(0));
    } else if (KindOf(instruction) == Kind::kLoop) {
      buffers = StateAfter(instruction, leaves);
    }
    if (buffers.size() == leaves.size()) return;
    // All are new. (The shapes of an unverified module need not fit together.)
    buffers.clear();
    for (const Shape* leaf : leaves) buffers.push_back(NewBuffer(*leaf));
  }

  Buffers ElementOf(const HloInstruction& element, size_t count) const {
    const HloInstruction* tuple = element.operand(0);
    const Buffers& buffers = BuffersOf(tuple);
    if (!tuple->shape().IsTuple() || element.tuple_index() >= tuple->shape().tuple_shapes_size()) return {};
    int64_t begin = 0;
    for (int64_t k = 0; k < element.tuple_index(); ++k)
      begin += ShapeUtil::GetLeafCount(tuple->shape().tuple_shapes(k));
    if (static_cast<size_t>(begin) + count > buffers.size()) return {};
    return Buffers(buffers.begin() + begin, buffers.begin() + begin + static_cast<int64_t>(count));
  }

  Buffers StateAfter(const HloInstruction& loop, const std::vector<const Shape*>& leaves) {
    Buffers after;
    const Buffers& before = BuffersOf(loop.operand(0));
    if (before.size() != leaves.size()) return after;
    ForEachLeafOfState(loop, [&](size_t leaf, bool is_kept) {
      if (leaf < leaves.size()) after.push_back(is_kept ? before[leaf] : NewBuffer(*leaves[leaf]));
    });
    return after;
  }

  void FindUses(const HloInstruction& instruction, int i, bool is_root) {
    if (is_root) {
      for (int buffer : buffers_[i]) uses_[buffer].is_result = true;
    }
    if (Forwards(instruction)) return;
    for (const HloInstruction* operand : instruction.operands()) {
      for (int buffer : BuffersOf(operand)) {
        Numbers& users = uses_[buffer].users;
        if (users.empty() || users.back() != i) users.push_back(i);
      }
    }
  }

  absl::flat_hash_map<const HloInstruction*, int> number_;
  std::vector<Buffers> buffers_;  // by instruction
  std::vector<Uses> uses_;        // by buffer
};

// Goes through the updates, and moves each behind the other uses of its buffer.
class UpdateOrder {
 public:
  UpdateOrder(std::vector<HloInstruction*> order, const HloInstruction* root)
      : given_(std::move(order)), root_(root), buffers_(given_, root), after_(given_.size()), order_(given_.size()) {
    std::iota(order_.begin(), order_.end(), 0);
    place_ = order_;
    visits_left_ = kVisitsOfAny + kVisitsOfEach * static_cast<int64_t>(given_.size());
  }

  InPlaceOrder Make(absl::Span<const OperandUse> replacements) {
    for (const Kind kind : {Kind::kUpdate, Kind::kLoop, Kind::kCall}) {
      for (size_t i = 0; i < given_.size(); ++i) {
        if (KindOf(*given_[i]) == kind) FindUpdates(static_cast<int>(i), kind);
      }
    }
    for (const OperandUse& replacement : replacements) {
      const int i = buffers_.NumberOf(replacement.instruction);
      const Buffers& replaced = buffers_.BuffersOf(replacement.instruction->operand(replacement.operand));
      if (i >= 0 && replaced.size() == 1) PutLast(i, replaced[0]);
    }
    for (int i : order_) result_.order.push_back(given_[i]);
    return std::move(result_);
  }

 private:
  void FindUpdates(int i, Kind kind) {
    const HloInstruction& instruction = *given_[i];
    if (kind == Kind::kLoop) {
      ForEachLeafOfState(instruction, [&](size_t leaf, bool is_kept) {
        if (!is_kept) AddUpdate(i, 0, leaf);
      });
      return;
    }
    int64_t begin = 0, end = 1;
    if (kind == Kind::kCall) end = instruction.operand_count();
    if (instruction.opcode() == HloOpcode::kScatter) end = instruction.operand_count() / 2;
    if (kind == Kind::kUpdate && instruction.opcode() == HloOpcode::kFusion) {
      begin = OperandUpdatedInPlace(instruction);
      end = begin + 1;
    }
    for (int64_t k = begin; k < end && k < instruction.operand_count(); ++k) {
      for (size_t leaf = 0; leaf < buffers_.BuffersOf(instruction.operand(k)).size(); ++leaf) AddUpdate(i, k, leaf);
    }
  }

  void AddUpdate(int i, int64_t operand, size_t leaf) {
    const Buffers& buffers = buffers_.BuffersOf(given_[i]->operand(operand));
    if (leaf >= buffers.size() || buffers_.UsesOf(buffers[leaf]).is_cheap) return;
    InPlaceUpdate update = {given_[i], operand, static_cast<int64_t>(leaf), PutLast(i, buffers[leaf]), {}};
    if (update.later_use == nullptr) {
      for (int user : buffers_.UsesOf(buffers[leaf]).users) {
        if (user != i) update.earlier_uses.push_back(given_[user]);
      }
    }
    result_.updates.push_back(std::move(update));
  }

  // Moves instruction i behind all other uses of the buffer, and keeps it there. A use that cannot come before: none is
  // moved.
  const HloInstruction* PutLast(int i, int buffer) {
    const BufferUses::Uses& uses = buffers_.UsesOf(buffer);
    if (uses.is_result) return root_;
    if (UsesTwice(*given_[i], buffer)) return given_[i];
    int last = i;
    for (int user : uses.users) {
      if (place_[user] > place_[last]) last = user;
    }
    visits_left_ -= static_cast<int64_t>(uses.users.size());
    if (visits_left_ < 0) return given_[last];
    if (last != i) {
      const Numbers moved = DependentsUntil(i, place_[last]);
      for (int user : uses.users) {
        if (user != i && absl::c_binary_search(moved, user)) return given_[user];
      }
      if (visits_left_ < 0 || !MayMove(moved)) return given_[last];
      Move(moved, place_[i], place_[last]);
    }
    for (int user : uses.users) {
      if (user != i) after_[user].push_back(i);
    }
    return nullptr;
  }

  // The branches of a conditional do not run together.
  bool UsesTwice(const HloInstruction& instruction, int buffer) const {
    if (instruction.opcode() == HloOpcode::kConditional) return false;
    int64_t count = 0;
    for (const HloInstruction* operand : instruction.operands())
      count += absl::c_count(buffers_.BuffersOf(operand), buffer);
    return count > 1;
  }

  template <typename F>
  void ForEachSuccessor(int i, F&& f) const {
    const auto visit = [&](const HloInstruction* user) {
      if (const int number = buffers_.NumberOf(user); number >= 0) f(number);
    };
    for (const HloInstruction* user : given_[i]->users()) visit(user);
    for (const HloInstruction* successor : given_[i]->control_successors()) visit(successor);
    for (int successor : after_[i]) f(successor);
  }

  // Instruction i and what must come after it, up to this place; sorted by number.
  Numbers DependentsUntil(int i, int last_place) {
    Numbers found = {i};
    visits_left_ -= last_place - place_[i];
    std::vector<bool> is_found(static_cast<size_t>(last_place - place_[i]) + 1, false);
    is_found[0] = true;
    for (size_t next = 0; next < found.size(); ++next) {
      ForEachSuccessor(found[next], [&](int successor) {
        --visits_left_;
        if (place_[successor] > last_place || is_found[place_[successor] - place_[i]]) return;
        is_found[place_[successor] - place_[i]] = true;
        found.push_back(successor);
      });
    }
    absl::c_sort(found);
    return found;
  }
  bool MayMove(const Numbers& moved) const {
    return absl::c_none_of(moved, [&](int i) {
      return given_[i]->HasSideEffect() || GetHloOpcodeInfo(given_[i]->opcode()).Has(HloOpcodeFlags::kCollective);
    });
  }

  // Moves these, which lie in places first … last, behind all others there.
  void Move(const Numbers& moved, int first, int last) {
    const auto begin = order_.begin() + first, end = order_.begin() + last + 1;
    std::stable_partition(begin, end, [&](int i) { return !absl::c_binary_search(moved, i); });
    for (int place = first; place <= last; ++place) place_[order_[place]] = place;
  }

  const std::vector<HloInstruction*> given_;
  const HloInstruction* const root_;
  const BufferUses buffers_;
  std::vector<Numbers> after_;  // instructions that must come after an instruction, besides its users
  Numbers order_, place_;       // the order so far, and the place of each instruction in it
  int64_t visits_left_ = 0;
  InPlaceOrder result_;
};

}  // namespace

std::string InPlaceOrder::ToString() const {
  std::string text;
  for (const InPlaceUpdate& update : updates) {
    absl::StrAppend(&text, update.instruction->name(), ": operand ", update.operand);
    const Shape& shape = update.instruction->operand(update.operand)->shape();
    if (shape.IsTuple()) absl::StrAppend(&text, " leaf ", update.leaf);
    absl::StrAppend(&text, update.later_use == nullptr ? " in place\n"
                                                       : absl::StrCat(" copied, for ", update.later_use->name(), "\n"));
  }
  return text;
}

int64_t OperandUpdatedInPlace(const HloInstruction& instruction) {
  using InPlace = HloOpcodeFlags::InPlace;
  const InPlace rule = GetHloOpcodeInfo(instruction.opcode()).in_place;
  if (rule == InPlace::kFirst) return 0;
  if (rule == InPlace::kScatter) return instruction.operand_count() == 3 ? 0 : -1;
  if (instruction.opcode() != HloOpcode::kFusion) return -1;
  const HloInstruction& root = *instruction.fused_instructions_computation()->root_instruction();
  if (root.opcode() == HloOpcode::kFusion) return -1;  // one within another
  const int64_t updated = OperandUpdatedInPlace(root);
  if (updated < 0 || root.operand(updated)->opcode() != HloOpcode::kParameter) return -1;
  return root.operand(updated)->parameter_number();
}

InPlaceOrder OrderUsesBeforeInPlaceUpdates(std::vector<HloInstruction*> order, const HloInstruction* root,
                                           absl::Span<const OperandUse> replacements) {
  return UpdateOrder(std::move(order), root).Make(replacements);
}

}  // namespace kashi::buffers
