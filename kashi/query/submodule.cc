#include "kashi/query/submodule.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/check.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/query/submodule_selection.h"

namespace kashi::query {
namespace {

bool HasToken(const Shape& shape) { return ShapeUtil::HasPrimitiveType(shape, TOKEN); }

bool IsInMainThread(const HloInstruction& x) { return x.parent()->IsMainThread(); }

// Makes the module from the selection. Each function needs those before it.
class SubmoduleMaker {
 public:
  SubmoduleMaker(const HloModule& original, const SubmoduleSelection& selection)
      : original_(original),
        selection_(selection),
        builder_(selection.computations() == 1 ? selection.order().front()->parent()->name() : "main") {}

  Submodule Make() && {
    part_.module = std::make_unique<HloModule>(original_.name(), Config());
    module_ = part_.module.get();
    CopyCallees();
    for (const HloInstruction* x : selection_.StandIns()) copies_[x] = MakeStandIn(*x, x->shape(), {});
    for (const HloInstruction* x : selection_.order()) CopyOf(x);
    for (const HloInstruction* x : selection_.Results()) AddResult(x, copies_.at(x), {});
    AddEntry();
    CopyControlDependencies();
    CopySchedule();
    CopyModuleData();
    return std::move(part_);
  }

 private:
  // What is about the original's parameters and result is left out.
  HloModuleConfig Config() const {
    HloModuleConfig config = original_.config();
    config.clear_entry_computation_layout();
    config.set_allow_spmd_sharding_propagation_to_parameters({false});
    config.set_allow_spmd_sharding_propagation_to_output({false});
    return config;
  }

  void CopyCallees() {
    for (const HloComputation* computation : original_.MakeComputationPostOrder()) {
      if (!selection_.callees().contains(computation)) continue;
      HloInstructionMap& copies = callee_instructions_[computation];
      callees_[computation] = module_->AddEmbeddedComputation(computation->Clone(/*suffix=*/"", &callees_, &copies));
    }
  }

  // A parameter for the value at `index` of the instruction, or a tuple of parameters and tokens.
  HloInstruction* MakeStandIn(const HloInstruction& x, const Shape& shape, ShapeIndex index) {
    const std::string name =
        index.empty() ? std::string(x.name()) : absl::StrCat(x.name(), ".", absl::StrJoin(index, "."));
    if (shape.IsToken()) {
      has_new_tokens_ = true;
      return builder_.AddInstruction(HloInstruction::CreateToken(), name);
    }
    if (shape.IsTuple() && HasToken(shape)) {
      std::vector<HloInstruction*> elements;
      for (int i = 0; i < shape.tuple_shapes_size(); ++i) {
        ShapeIndex part = index;
        part.push_back(i);
        elements.push_back(MakeStandIn(x, shape.tuple_shapes(i), std::move(part)));
      }
      return builder_.AddInstruction(HloInstruction::CreateTuple(elements), name);
    }
    const auto number = static_cast<int64_t>(part_.parameters.size());
    auto parameter = HloInstruction::CreateParameter(number, shape, name);
    if (x.has_metadata()) parameter->set_metadata(x.metadata());
    if (x.has_sharding() && index.empty()) parameter->set_sharding(x.sharding_ptr());
    if (x.has_sharding() && !index.empty() && x.sharding().IsTuple()) {
      parameter->set_sharding(x.sharding().GetSubSharding(x.shape(), index));
    }
    part_.parameters.push_back({&x, std::move(index)});
    return builder_.AddInstruction(std::move(parameter));
  }

  // The copy, which is made if there is none. Constants and the like are copied where they are first used.
  HloInstruction* CopyOf(const HloInstruction* x) {
    if (const auto found = copies_.find(x); found != copies_.end()) return found->second;
    std::vector<HloInstruction*> operands;
    // Operands come before in the order, except constants and broadcasts of constants.
    for (const HloInstruction* operand : x->operands()) operands.push_back(CopyOf(operand));
    std::unique_ptr<HloInstruction> copy = x->CloneWithNewOperands(x->shape(), operands, /*suffix=*/"");
    for (size_t i = 0; i < x->called_computations().size(); ++i) {
      HloComputation* const callee = callees_.at(x->called_computations()[i]);
      copy->set_called_computation(static_cast<int64_t>(i), callee);
      // The new entry is in the main thread, so what it calls is there too.
      if (!x->IsAsynchronous() && !IsInMainThread(*x)) {
        callee->SpreadExecutionThread(HloInstruction::kMainExecutionThread, &in_main_thread_);
      }
    }
    return copies_[x] = builder_.AddInstruction(std::move(copy));
  }

  // Adds the value to the results, without its tokens.
  void AddResult(const HloInstruction* x, HloInstruction* value, ShapeIndex index) {
    const Shape& shape = value->shape();
    if (shape.IsToken()) return;
    if (!shape.IsTuple() || !HasToken(shape)) {
      results_.push_back(value);
      part_.results.push_back({x, std::move(index)});
      return;
    }
    for (int i = 0; i < shape.tuple_shapes_size(); ++i) {
      if (shape.tuple_shapes(i).IsToken()) continue;
      ShapeIndex part = index;
      part.push_back(i);
      AddResult(x, builder_.AddInstruction(HloInstruction::CreateGetTupleElement(value, i)), std::move(part));
    }
  }

  void AddEntry() {
    HloInstruction* const root =
        results_.size() == 1 ? results_.front() : builder_.AddInstruction(HloInstruction::CreateTuple(results_));
    entry_ = module_->AddEntryComputation(builder_.Build(root));
    module_->mutable_config().set_entry_computation_layout(module_->compute_computation_layout());
  }

  void CopyControlDependencies() {
    for (const HloInstruction* x : selection_.order()) {
      for (const HloInstruction* before : x->control_predecessors()) {
        const bool both = selection_.Has(before) && !selection_.IsStandIn(*before) && !selection_.IsStandIn(*x);
        if (both) KASHI_CHECK_OK(copies_.at(before)->AddControlDependencyTo(copies_.at(x)));
      }
    }
  }

  // The entry runs in the order in which its instructions were added.
  void CopySchedule() {
    if (!original_.has_schedule()) return;
    HloSchedule schedule(module_);
    schedule.set_sequence(entry_, entry_->instructions());
    for (const auto& [original, copies] : callee_instructions_) {
      const std::vector<HloInstruction*>* const sequence = original_.schedule().Find(original);
      if (sequence == nullptr) continue;
      std::vector<HloInstruction*> copied;
      for (const HloInstruction* x : *sequence) copied.push_back(copies.at(x));
      schedule.set_sequence(callees_.at(original), std::move(copied));
    }
    module_->set_unverified_schedule(std::move(schedule));
  }

  void CopyModuleData() {
    module_->set_frontend_attributes(original_.frontend_attributes());
    *module_->mutable_stack_frame_index() = original_.stack_frame_index();
    module_->set_is_dynamic(original_.is_dynamic());
    module_->set_source_name(original_.source_name());
    part_.notes = selection_.notes();
    const auto note = [&](bool holds, absl::string_view text) {
      if (holds) part_.notes.emplace_back(text);
    };
    note(selection_.computations() > 1,
         absl::StrCat("parts of ", selection_.computations(), " computations stand side by side"));
    note(!original_.input_output_alias_config().empty(),
         "aliases of parameters and results (input_output_alias) are left out");
    note(!original_.buffer_donor_config().empty(), "donated parameters (buffer_donor) are left out");
    note(has_new_tokens_, "tokens from outside are new ones (after-all)");
    note(part_.results.empty(), "the part has no result: the root is an empty tuple");
  }

  const HloModule& original_;
  const SubmoduleSelection& selection_;
  Submodule part_;
  HloModule* module_ = nullptr;
  HloComputation::Builder builder_;
  HloComputation* entry_ = nullptr;
  HloInstructionMap copies_;  // into the entry
  HloComputationMap callees_;
  absl::flat_hash_map<const HloComputation*, HloInstructionMap> callee_instructions_;
  absl::flat_hash_set<const HloComputation*> in_main_thread_;
  std::vector<HloInstruction*> results_;
  bool has_new_tokens_ = false;
};

}  // namespace

absl::StatusOr<Submodule> ExtractSubmodule(const HloModule& module,
                                           absl::Span<const HloInstruction* const> instructions,
                                           const SubmoduleOptions& options) {
  KASHI_ASSIGN_OR_RETURN(const SubmoduleSelection selection,
                         SubmoduleSelection::Make(module, instructions, options.with_operands));
  return SubmoduleMaker(module, selection).Make();
}

}  // namespace kashi::query
