// Kernels that go over each row several times (row_analysis.h).
//
// Members are in phases: a reduce is done at the end of the phase that computes its operand, and its users are in later
// phases. What several phases need is computed in each of them. If it is expensive, it is kept in memory: in the row of
// the result or in a buffer, either of which is in the cache.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/codegen/element_emitters.h"
#include "kashi/codegen/fused_elements.h"
#include "kashi/codegen/kernel.h"
#include "kashi/codegen/loop_builder.h"
#include "kashi/codegen/row_sums.h"
#include "kashi/passes/row_analysis.h"

namespace kashi::codegen {
namespace {

constexpr int kMostKept = 2;
constexpr int64_t kMostBufferBytes = 32768;  // on the stack
constexpr int kWorthKeeping = 6;             // cheap operations
constexpr int kExpensive = 10;               // as many cheap ones

// The plan of the kernel for each row, made before code is emitted.
struct RowPlan {
  passes::RowAnalysis analysis;
  int phases = 1;
  absl::flat_hash_map<const HloInstruction*, int> phase_of;  // in which it can be computed first
  std::vector<const HloInstruction*> reduces;                // operands first
  std::vector<const HloInstruction*> once_per_row;           // to compute ahead of the phase: operands first
  std::vector<const HloInstruction*> kept;                   // in memory, for later phases
};

class RowPlanner {
 public:
  explicit RowPlanner(const HloComputation& fused) : root_(*fused.root_instruction()) {
    plan_.analysis = passes::AnalyzeRows(root_, [](const HloInstruction&) { return true; });
    order_ = fused.MakeInstructionPostOrder();
  }

  RowPlan Make() {
    for (const HloInstruction* instruction : order_) {
      int phase = 0;
      for (const HloInstruction* operand : instruction->operands()) {
        const bool is_reduced = operand->opcode() == HloOpcode::kReduce;
        phase = std::max(phase, plan_.phase_of[operand] + (is_reduced ? 1 : 0));
      }
      plan_.phase_of[instruction] = phase;
      const bool is_reduce = instruction->opcode() == HloOpcode::kReduce;
      if (is_reduce && instruction != &root_) plan_.reduces.push_back(instruction);
      if (!is_reduce && IsOncePerRow(*instruction) && FindElementEmitter(*instruction) != nullptr) {
        plan_.once_per_row.push_back(instruction);
      }
    }
    plan_.phases = plan_.phase_of[&root_] + 1;
    ChooseKept();
    return std::move(plan_);
  }

 private:
  bool IsOncePerRow(const HloInstruction& instruction) const {
    return plan_.analysis.once_per_row.contains(&instruction);
  }

  // Adds what a loop over the columns computes: all operands up to values of the whole row and kept values.
  void AddNeeded(const HloInstruction& instruction, absl::flat_hash_set<const HloInstruction*>* needed) const {
    std::vector<const HloInstruction*> to_visit = {&instruction};
    while (!to_visit.empty()) {
      const HloInstruction& next = *to_visit.back();
      to_visit.pop_back();
      if (IsOncePerRow(next) || ShapeUtil::IsScalar(next.shape()) || !needed->insert(&next).second) continue;
      if (&next != &instruction && absl::c_linear_search(plan_.kept, &next)) continue;
      to_visit.insert(to_visit.end(), next.operands().begin(), next.operands().end());
    }
  }

  // The number of phases that compute each instruction.
  absl::flat_hash_map<const HloInstruction*, int> CountPhases() const {
    std::vector<absl::flat_hash_set<const HloInstruction*>> needed(plan_.phases);
    for (const HloInstruction* reduce : plan_.reduces)
      AddNeeded(*reduce->operand(0), &needed[plan_.phase_of.at(reduce)]);
    AddNeeded(root_.opcode() == HloOpcode::kReduce ? *root_.operand(0) : root_, &needed.back());
    absl::flat_hash_map<const HloInstruction*, int> count;
    for (const auto& instructions : needed) {
      for (const HloInstruction* instruction : instructions) ++count[instruction];
    }
    return count;
  }

  int Cost(const HloInstruction& instruction) const {
    absl::flat_hash_set<const HloInstruction*> needed;
    AddNeeded(instruction, &needed);
    int cost = 0;
    for (const HloInstruction* x : needed) {
      const ElementEmitterRow* row = FindElementEmitter(*x);
      if (row != nullptr && !absl::c_linear_search(plan_.kept, x)) cost += row->is_expensive ? kExpensive : 1;
    }
    return cost;
  }

  void ChooseKept() {
    for (size_t i = order_.size(); i-- > 0 && plan_.kept.size() < kMostKept;) {
      const HloInstruction& instruction = *order_[i];
      if (FindElementEmitter(instruction) == nullptr || !plan_.analysis.at_result.contains(&instruction)) continue;
      const PrimitiveType type = instruction.shape().element_type();
      if (type != F32 && type != F64) continue;
      if (CountPhases()[&instruction] > 1 && Cost(instruction) >= kWorthKeeping) plan_.kept.push_back(&instruction);
    }
  }

  const HloInstruction& root_;
  std::vector<HloInstruction*> order_;
  RowPlan plan_;
};

class RowKernelEmitter {
 public:
  RowKernelEmitter(KernelBuilder& builder, Kernel* kernel)
      : builder_(builder),
        ir_(builder.ir),
        kernel_(kernel),
        root_(*builder.fused.root_instruction()),
        sizes_(*passes::RowSizesOf(root_)),
        columns_(sizes_.back()),
        plan_(RowPlanner(builder.fused).Make()) {}

  void Emit() {
    kernel_->columns = columns_;
    kernel_->splits_columns = false;
    kernel_->work_per_column = plan_.phases;
    kernel_->rows = 1;
    for (int64_t size : sizes_.first(sizes_.size() - 1)) kernel_->rows *= size;
    widths_ = builder_.Widths(columns_, /*columns_are_known=*/true);
    for (const HloInstruction* reduce : plan_.reduces) sums_.emplace_back(builder_, *reduce, widths_);
    if (root_.opcode() == HloOpcode::kReduce) sums_.emplace_back(builder_, root_, widths_);
    AllocateKept();
    EmitLoop(ir_, builder_.row_begin, builder_.row_end, 1, [&](llvm::Value* row) {
      row_ = row;
      known_.clear();
      is_in_memory_.clear();
      for (phase_ = 0; phase_ < plan_.phases; ++phase_) {
        EmitOncePerRow();
        EmitPhase();
        EmitTotals();
      }
    });
  }

 private:
  bool is_last() const { return phase_ == plan_.phases - 1; }
  PrimitiveType root_type() const { return root_.shape().element_type(); }

  void AllocateKept() {
    bool result_is_free = root_.opcode() != HloOpcode::kReduce;
    for (const HloInstruction* kept : plan_.kept) {
      const PrimitiveType type = kept->shape().element_type();
      const bool fits_buffer = columns_ * primitive_util::ByteWidth(type) <= kMostBufferBytes;
      if (result_is_free && type == root_type()) {
        result_is_free = false;
        kept_memory_[kept] = nullptr;
      } else if (fits_buffer) {
        kept_memory_[kept] = builder_.Allocate(builder_.Lanes(1).ScalarMemory(type), columns_);
      }
    }
  }

  llvm::Value* InRow(llvm::Value* column) {
    return ir_.CreateNSWAdd(ir_.CreateNSWMul(row_, ir_.getInt64(columns_)), column);
  }
  // Memory and index of the kept element of a column.
  std::pair<llvm::Value*, llvm::Value*> KeptAt(const HloInstruction& kept, llvm::Value* column) {
    llvm::Value* memory = kept_memory_.at(&kept);
    if (memory != nullptr) return {memory, column};
    return {builder_.results[0], InRow(column)};
  }

  std::vector<Coordinate> RowCoordinates(const CoordinateMath& math) {
    return ElementIndex::FromLinear(sizes_.first(sizes_.size() - 1), {row_, 0, nullptr}).Coordinates(math);
  }

  void EmitOncePerRow() {
    for (const HloInstruction* instruction : plan_.once_per_row) {
      if (plan_.phase_of.at(instruction) != phase_) continue;
      FusedElements elements(builder_.Lanes(1), builder_.lane_type, builder_.operands, false);
      SetKnown(&elements);
      const std::vector<Coordinate> rows = RowCoordinates(elements.math());
      std::vector<Coordinate> coordinates;
      for (const passes::Affine& affine : plan_.analysis.once_per_row.at(instruction)) {
        const bool is_known = affine.dimension >= 0;
        const Coordinate scaled =
            is_known ? elements.math().Multiply(rows[affine.dimension], affine.step) : Coordinate();
        coordinates.push_back(is_known ? elements.math().Add(scaled, affine.offset) : elements.math().Constant(0));
      }
      ElementIndex* index =
          elements.AddIndex(ElementIndex::FromCoordinates(instruction->shape().dimensions(), std::move(coordinates)));
      known_[instruction] = elements.At(*instruction, index);
    }
  }

  void SetKnown(FusedElements* elements) const {
    for (const auto& [instruction, value] : known_) elements->SetScalar(*instruction, value);
  }

  void EmitPhase() {
    const std::vector<const HloInstruction*> kept_before = is_in_memory_;
    for (RowSums* sums : SumsOfPhase()) sums->Clear();
    size_t w = 0;
    EmitLaneLoops(ir_, ir_.getInt64(0), ir_.getInt64(columns_), widths_, [&](int width, llvm::Value* column) {
      FusedElements elements(builder_.Lanes(width), builder_.lane_type, builder_.operands, false);
      SetKnown(&elements);
      std::vector<Coordinate> coordinates = RowCoordinates(elements.math());
      coordinates.push_back({column, 1, nullptr, {0, columns_ - 1}});
      ElementIndex* index =
          elements.AddIndex(ElementIndex::Make(sizes_, std::move(coordinates), {InRow(column), 1, nullptr}));
      for (const HloInstruction* kept : kept_before) {
        const auto [memory, at] = KeptAt(*kept, column);
        elements.SetElements(*kept, index,
                             elements.lanes().LoadConsecutive(kept->shape().element_type(), memory, at, false));
      }
      EmitColumn(elements, index, column, w++);
    });
    for (const auto& [kept, memory] : kept_memory_) {
      if (IsComputedNow(*kept)) is_in_memory_.push_back(kept);
    }
  }

  // Each kept instruction is computed in the first phase in which it can be: others need it there, or later.
  bool IsComputedNow(const HloInstruction& kept) const { return plan_.phase_of.at(&kept) == phase_; }

  std::vector<RowSums*> SumsOfPhase() {
    std::vector<RowSums*> found;
    for (size_t i = 0; i < sums_.size(); ++i) {
      if (plan_.phase_of.at(&ReduceOf(i)) == phase_) found.push_back(&sums_[i]);
    }
    return found;
  }
  const HloInstruction& ReduceOf(size_t i) const { return i < plan_.reduces.size() ? *plan_.reduces[i] : root_; }

  void EmitColumn(FusedElements& elements, ElementIndex* index, llvm::Value* column, size_t width_number) {
    for (const auto& [kept, memory] : kept_memory_) {
      if (!IsComputedNow(*kept)) continue;
      const auto [to, at] = KeptAt(*kept, column);
      elements.lanes().StoreConsecutive(kept->shape().element_type(), elements.At(*kept, index), to, at);
    }
    for (size_t i = 0; i < sums_.size(); ++i) {
      if (plan_.phase_of.at(&ReduceOf(i)) != phase_) continue;
      sums_[i].Add(width_number, elements.At(*ReduceOf(i).operand(0), index));
    }
    if (is_last() && root_.opcode() != HloOpcode::kReduce) {
      elements.lanes().StoreConsecutive(root_type(), elements.At(root_, index), builder_.results[0], InRow(column));
    }
  }

  void EmitTotals() {
    const LaneBuilder lane = builder_.Lanes(1);
    for (size_t i = 0; i < sums_.size(); ++i) {
      const HloInstruction& reduce = ReduceOf(i);
      if (plan_.phase_of.at(&reduce) != phase_) continue;
      FusedElements elements(lane, builder_.lane_type, builder_.operands, false);
      llvm::Value* total = sums_[i].Total(elements.Scalar(*reduce.operand(1)));
      if (&reduce == &root_) {
        lane.StoreConsecutive(root_type(), total, builder_.results[0], row_);
      } else {
        known_[&reduce] = lane.Round(reduce.shape().element_type(), total);
      }
    }
  }

  KernelBuilder& builder_;
  Ir& ir_;
  Kernel* kernel_;
  const HloInstruction& root_;
  const absl::Span<const int64_t> sizes_;  // of rows, then the columns
  const int64_t columns_;
  const RowPlan plan_;
  std::vector<int> widths_;
  std::vector<RowSums> sums_;  // of plan_.reduces, then of the root
  // Null: the row of the result.
  absl::flat_hash_map<const HloInstruction*, llvm::Value*> kept_memory_;

  // While a row is emitted:
  llvm::Value* row_ = nullptr;
  int phase_ = 0;
  absl::flat_hash_map<const HloInstruction*, llvm::Value*> known_;  // one per row
  std::vector<const HloInstruction*> is_in_memory_;
};

}  // namespace

void EmitRowKernel(KernelBuilder& builder, Kernel* kernel) { RowKernelEmitter(builder, kernel).Emit(); }

}  // namespace kashi::codegen
