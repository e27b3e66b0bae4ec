#include "kashi/buffers/buffer_assigner.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/buffers/leaves.h"

namespace kashi::buffers {
namespace {

// Computations that several instructions call have steps for each of these, which may be far more than instructions.
constexpr int64_t kMostSteps = int64_t{1} << 20;
// Loops and branches within each other: each is some hundred bytes of the thread's stack, here and when they run.
constexpr int kDeepest = 500;

// Whether a result that is made element by element fits the array of an operand. One of other sizes is read elsewhere,
// even if it has as many bytes.
bool CanReplace(const HloInstruction& operand, const Shape& result) {
  return operand.shape().IsArray() && result.IsArray() && operand.shape().dimensions() == result.dimensions() &&
         LeafBytes(operand.shape()) == LeafBytes(result);
}

// The results of an elementwise instruction: arrays, of which it may have several.
const Shape& ResultShape(const HloInstruction& x, int64_t leaf) {
  return x.shape().IsTuple() ? x.shape().tuple_shapes(static_cast<int>(leaf)) : x.shape();
}

// Whether the instruction reads the buffer only here: it may then write to it before it has read its other operands.
bool IsReadOnce(const TurnOf& turn, int buffer) {
  int64_t count = 0;
  for (const Leaves& operand : turn.operands) count += absl::c_count(operand, buffer);
  return count == 1;
}

}  // namespace

std::optional<BufferAssignment> BufferAssigner::Assign(const HloComputation& computation) {
  std::vector<Leaves> arguments;
  for (const HloInstruction* parameter : computation.parameter_instructions()) {
    if (!AddArguments(parameter->shape(), &arguments)) return std::nullopt;
  }
  if (!AddResults(computation.root_instruction()->shape())) return std::nullopt;
  SetTenants(computation, arguments);
  const std::optional<Leaves> leaves = AssignSteps(computation, arguments, assignment_.results, &assignment_.steps);
  return leaves.has_value() ? Finish(*leaves) : std::nullopt;
}

std::optional<BufferAssignment> BufferAssigner::Assign(const HloInstruction& loop) {
  std::vector<Leaves> arguments;
  if (!AddArguments(loop.operand(0)->shape(), &arguments) || !AddResults(loop.shape())) return std::nullopt;
  pool_.Hold(arguments[0]);
  TurnOf turn = {loop, arguments, {true}, assignment_.results, {}};
  turn.step.instruction = &loop;
  const std::optional<Leaves> leaves = AssignWhile(*this, &turn);
  if (!leaves.has_value()) return std::nullopt;
  assignment_.steps.push_back(std::move(turn.step));
  return Finish(*leaves);
}

bool BufferAssigner::AddArguments(const Shape& shape, std::vector<Leaves>* arguments) {
  const std::optional<std::vector<int64_t>> bytes = LeafBytes(shape);
  if (!bytes.has_value()) return false;
  arguments->emplace_back();
  for (int64_t size : *bytes) {
    arguments->back().push_back(pool_.Add(Home::kArgument, assignment_.argument_count++, size));
  }
  return true;
}

bool BufferAssigner::AddResults(const Shape& shape) {
  const std::optional<std::vector<int64_t>> bytes = LeafBytes(shape);
  if (!bytes.has_value()) return false;
  assignment_.result_shape = shape;
  ShapeUtil::ForEachLeafShape(shape, [&](const Shape& leaf, const ShapeIndex&) {
    const size_t number = assignment_.results.size();
    assignment_.results.push_back(pool_.Add(Home::kResult, static_cast<int64_t>(number), (*bytes)[number],
                                            primitive_util::ByteWidth(leaf.element_type())));
  });
  return true;
}

void BufferAssigner::SetTenants(const HloComputation& computation, absl::Span<const Leaves> arguments) {
  for (const LeafAlias& alias : aliases_) {
    int64_t leaf = alias.argument, parameter = 0;
    for (; leaf >= static_cast<int64_t>(arguments[parameter].size()); ++parameter) {
      leaf -= static_cast<int64_t>(arguments[parameter].size());
    }
    pool_.SetTenant(assignment_.results[alias.result], arguments[parameter][leaf]);
    const std::optional<OperandUse> replacer =
        ReplacerOf(*computation.parameter_instruction(parameter), leaf, {computation.root_instruction(), alias.result});
    if (replacer.has_value()) replacements_.push_back(*replacer);
  }
}

// The operation that makes the leaf of the root element by element of this leaf of a parameter, or makes what is then
// changed in place.
std::optional<OperandUse> BufferAssigner::ReplacerOf(const HloInstruction& parameter, int64_t leaf,
                                                     const LeafOf& result) const {
  for (std::optional<LeafOf> at = result; at.has_value(); at = MadeFrom(*at)) {
    const HloInstruction& x = *at->instruction;
    if (!IsElementwise(x)) continue;
    for (int64_t i = 0; i < x.operand_count(); ++i) {
      if (!CanReplace(*x.operand(i), ResultShape(x, at->leaf))) continue;
      std::optional<LeafOf> origin = LeafOf{x.operand(i), 0};
      while (origin.has_value() && origin->instruction->opcode() != HloOpcode::kParameter) {
        origin = ForwardedFrom(*origin);
      }
      if (origin.has_value() && origin->instruction == &parameter && origin->leaf == leaf) return OperandUse{&x, i};
    }
  }
  return std::nullopt;
}

std::optional<Leaves> BufferAssigner::AssignWithin(const HloComputation& computation,
                                                   absl::Span<const Leaves> arguments, const Leaves& wanted,
                                                   BufferSequence* steps) {
  if (depth_ == kDeepest) return std::nullopt;
  ++depth_;
  std::optional<Leaves> leaves = AssignSteps(computation, arguments, wanted, steps);
  --depth_;
  return leaves;
}

std::optional<Leaves> BufferAssigner::AssignSteps(const HloComputation& computation, absl::Span<const Leaves> arguments,
                                                  const Leaves& wanted, BufferSequence* steps) {
  const absl::StatusOr<LinearSchedule> schedule =
      MakeLinearSchedule(computation, depth_ == 0 ? replacements_ : std::vector<OperandUse>());
  if (!schedule.ok()) return std::nullopt;
  const RootLeaves root_leaves =
      FindRootLeaves(*computation.root_instruction(), [this](const LeafOf& at) { return MadeFrom(at); });
  std::vector<Leaves> values(schedule->steps.size());
  // Arguments are there before the first step, which may come before the parameter in the schedule.
  for (size_t i = 0; i < values.size(); ++i) {
    const HloInstruction& instruction = *schedule->steps[i].instruction;
    if (instruction.opcode() == HloOpcode::kParameter) values[i] = Held(arguments[instruction.parameter_number()]);
  }
  for (size_t i = 0; i < schedule->steps.size(); ++i) {
    const ScheduledInstruction& scheduled = schedule->steps[i];
    if (scheduled.instruction->opcode() == HloOpcode::kParameter) continue;
    TurnOf turn = {*scheduled.instruction, {}, {}, {}, {}};
    for (const ScheduledInstruction::Operand& operand : scheduled.operands) {
      turn.operands.push_back(values[operand.step]);
      turn.is_last_use.push_back(operand.is_last_use);
    }
    const int64_t leaf_count = ShapeUtil::GetLeafCount(turn.instruction.shape());
    for (int64_t leaf = 0; leaf < leaf_count; ++leaf) {
      const auto found = root_leaves.find({&turn.instruction, leaf});
      turn.wanted.push_back(found == root_leaves.end() ? kNoBuffer : wanted[found->second]);
    }
    if (++step_count_ > kMostSteps) return std::nullopt;
    if (status_ = check_stopped_(); !status_.ok()) return std::nullopt;
    std::optional<Leaves> leaves = AssignStep(&turn);
    if (!leaves.has_value()) return std::nullopt;
    values[i] = *std::move(leaves);
    if (turn.step.kind != BufferStep::Kind::kMoves || !turn.step.moves.empty()) steps->push_back(std::move(turn.step));
    for (const ScheduledInstruction::Operand& operand : scheduled.operands) {
      if (operand.is_last_use) pool_.Release(values[operand.step]);
    }
  }
  return values[schedule->root];
}

std::optional<Leaves> BufferAssigner::AssignStep(TurnOf* turn) {
  const HloInstruction& instruction = turn->instruction;
  turn->step.instruction = &instruction;
  if (!LeafBytes(instruction.shape()).has_value()) return std::nullopt;
  switch (instruction.opcode()) {
    case HloOpcode::kTuple: {
      Leaves leaves;
      for (const Leaves& operand : turn->operands) leaves.insert(leaves.end(), operand.begin(), operand.end());
      return Held(std::move(leaves));
    }
    case HloOpcode::kGetTupleElement: {
      const auto begin =
          turn->operands[0].begin() + LeavesBefore(instruction.operand(0)->shape(), instruction.tuple_index());
      return Held(Leaves(begin, begin + ShapeUtil::GetLeafCount(instruction.shape())));
    }
    case HloOpcode::kConstant:
      return AssignConstant(instruction);
    default:
      break;
  }
  if (KeepsElements(instruction)) return Held(turn->operands[0]);
  const bool is_while = instruction.opcode() == HloOpcode::kWhile;
  if ((is_while || instruction.opcode() == HloOpcode::kConditional) && !rules_.IsOneStep(instruction)) {
    return is_while ? AssignWhile(*this, turn) : AssignConditional(*this, turn);
  }
  return AssignInstruction(turn);
}

std::optional<Leaves> BufferAssigner::AssignInstruction(TurnOf* turn) {
  const MemoryUse use = rules_.UseOf(turn->instruction);
  if (use.kind == MemoryUse::Kind::kUnknown) return std::nullopt;
  if (use.kind == MemoryUse::Kind::kOperand) return Held(turn->operands[0]);
  Leaves results;
  switch (use.kind) {
    case MemoryUse::Kind::kElementwise:
      results = TakeElementwiseResults(*turn);
      break;
    case MemoryUse::Kind::kUpdate:
      results = TakeUpdated(use, turn);
      break;
    case MemoryUse::Kind::kState:
      results = TakeState(use, turn);
      break;
    default:
      results = TakeResults(*turn);
  }
  turn->step.kind = BufferStep::Kind::kInstruction;
  turn->step.operands = turn->operands;
  turn->step.results = results;
  return results;
}

Leaves BufferAssigner::Held(Leaves leaves) {
  pool_.Hold(leaves);
  return leaves;
}

std::optional<Leaves> BufferAssigner::AssignConstant(const HloInstruction& constant) {
  if (!constant.shape().IsArray()) return std::nullopt;
  const int64_t number = static_cast<int64_t>(assignment_.constants.size());
  assignment_.constants.push_back(&constant);
  return Held({pool_.Add(Home::kConstant, number, LeafBytes(constant.shape())->front())});
}

Leaves BufferAssigner::TakeResults(const TurnOf& turn) {
  Leaves leaves;
  const std::vector<int64_t> bytes = *LeafBytes(turn.instruction.shape());
  for (size_t i = 0; i < bytes.size(); ++i) {
    leaves.push_back(pool_.Take(turn.wanted[i], bytes[i], &turn.instruction));
  }
  return leaves;
}

// For an instruction that no step hands on: a tuple, say.
bool BufferAssigner::IsElementwise(const HloInstruction& x) const {
  return x.operand_count() > 0 && x.opcode() != HloOpcode::kWhile && x.opcode() != HloOpcode::kConditional &&
         x.opcode() != HloOpcode::kTuple && x.opcode() != HloOpcode::kGetTupleElement && !KeepsElements(x) &&
         rules_.UseOf(x).kind == MemoryUse::Kind::kElementwise;
}

// The leaf of an operand that is best made where this one is wanted: the instruction hands it on, updates it, or may
// replace it, element by element, and nothing else uses it.
std::optional<LeafOf> BufferAssigner::MadeFrom(const LeafOf& at) const {
  if (const std::optional<LeafOf> from = ForwardedOrUpdatedFrom(at); from.has_value()) return from;
  const HloInstruction& x = *at.instruction;
  if (!IsElementwise(x)) return std::nullopt;
  int64_t earlier = at.leaf;  // results, each of which takes the place of another operand
  for (const HloInstruction* operand : x.operands()) {
    if (operand->user_count() > 1 || !CanReplace(*operand, ResultShape(x, at.leaf))) continue;
    if (earlier-- == 0) return LeafOf{operand, 0};
  }
  return std::nullopt;
}

// An operand that is used for the last time, and whose array this result may replace; kNoBuffer: none. The wanted one
// if possible, and none that another result wants.
int BufferAssigner::ReplaceableOperand(const TurnOf& turn, int64_t leaf) const {
  int found = kNoBuffer;
  for (size_t i = 0; i < turn.operands.size(); ++i) {
    if (!CanReplace(*turn.instruction.operand(static_cast<int64_t>(i)), ResultShape(turn.instruction, leaf))) continue;
    const int buffer = turn.operands[i][0];
    if (!turn.is_last_use[i] || !pool_.IsLastHolder(buffer)) continue;
    if (buffer == turn.wanted[leaf]) return buffer;
    if (found == kNoBuffer && !absl::c_linear_search(turn.wanted, buffer)) found = buffer;
  }
  return found;
}

// Whether the step is the last one to read the tenant of the wanted result, and the tenant has the sizes of that.
bool BufferAssigner::ReplacesTenant(const TurnOf& turn, int64_t leaf) const {
  const int wanted = turn.wanted[leaf];
  if (wanted == kNoBuffer || pool_.holders(wanted) > 0) return false;
  const int tenant = pool_.tenant(wanted);
  if (tenant == kNoBuffer || pool_.holders(tenant) != 1) return false;
  for (size_t i = 0; i < turn.operands.size(); ++i) {
    const HloInstruction& operand = *turn.instruction.operand(static_cast<int64_t>(i));
    if (!turn.is_last_use[i] || !CanReplace(operand, ResultShape(turn.instruction, leaf))) continue;
    if (turn.operands[i][0] == tenant) return true;
  }
  return false;
}

Leaves BufferAssigner::TakeElementwiseResults(const TurnOf& turn) {
  const std::vector<int64_t> bytes = *LeafBytes(turn.instruction.shape());
  Leaves results;
  for (size_t leaf = 0; leaf < bytes.size(); ++leaf) {
    const int wanted = turn.wanted[leaf];
    if (ReplacesTenant(turn, static_cast<int64_t>(leaf))) {
      pool_.TakeFree(wanted, &turn.instruction);
      results.push_back(wanted);
      continue;
    }
    const bool is_wanted_free = wanted != kNoBuffer && pool_.IsFree(wanted);
    const int replaced = is_wanted_free ? kNoBuffer : ReplaceableOperand(turn, static_cast<int64_t>(leaf));
    if (replaced != kNoBuffer) pool_.Hold(replaced);
    results.push_back(replaced != kNoBuffer ? replaced : pool_.Take(wanted, bytes[leaf], &turn.instruction));
  }
  return results;
}

Leaves BufferAssigner::TakeUpdated(const MemoryUse& use, TurnOf* turn) {
  const int updated = turn->operands[use.updated][0];
  if (use.is_in_place && IsReadOnce(*turn, updated)) {
    return {TakeWritable(updated, turn->is_last_use[use.updated], turn->wanted[0], turn)};
  }
  const int result = pool_.Take(turn->wanted[0], pool_.bytes(updated), &turn->instruction);
  turn->step.moves.push_back({updated, result});
  return {result};
}

Leaves BufferAssigner::TakeState(const MemoryUse& use, TurnOf* turn) {
  Leaves state;
  for (size_t i = 0; i < use.is_written.size(); ++i) {
    const int initial = turn->operands[0][i];
    const bool is_last_use = turn->is_last_use[0] && IsReadOnce(*turn, initial);
    state.push_back(use.is_written[i] ? TakeWritable(initial, is_last_use, turn->wanted[i], turn)
                                      : Held({initial}).front());
  }
  return state;
}

// Whether the result may begin as the argument, of which this is the last use.
bool BufferAssigner::CanGiveAway(int argument, int result) const {
  if (result == kNoBuffer || pool_[argument].home != Home::kArgument || pool_[result].home != Home::kResult)
    return false;
  const bool is_fresh = depth_ == 0 && !pool_.is_written(result) && pool_.holders(result) == 0;
  return is_fresh && pool_.holders(argument) == 1;
}

int BufferAssigner::TakeWritable(int from, bool is_last_use, int wanted, TurnOf* turn) {
  if (is_last_use && pool_.IsLastHolder(from)) {
    pool_.Hold(from);
    return from;
  }
  if (is_last_use && CanGiveAway(from, wanted)) {
    assignment_.updates.push_back({pool_[from].number, pool_[wanted].number});
    pool_.RemoveTenant(wanted);
    pool_.CloseResult(wanted);
    pool_.TakeFree(wanted, &turn->instruction);
    return wanted;
  }
  const int to = pool_.Take(wanted, pool_.bytes(from), &turn->instruction);
  turn->step.moves.push_back({from, to});
  return to;
}

void BufferAssigner::MoveAtEnd(const Leaves& from, const Leaves& to, BufferSequence* steps) {
  BufferStep end;
  Leaves sources = from, saved;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == to[i] || !absl::c_linear_search(to, from[i])) continue;
    const int64_t at = absl::c_find(to, from[i]) - to.begin();
    if (from[at] == to[at]) continue;  // it is not overwritten
    sources[i] = pool_.Take(kNoBuffer, pool_.bytes(from[i]), /*maker=*/nullptr);
    saved.push_back(sources[i]);
    end.moves.push_back({from[i], sources[i]});
  }
  for (size_t i = 0; i < from.size(); ++i) {
    if (sources[i] == to[i]) continue;
    pool_.MarkWritten(to[i], /*maker=*/nullptr);
    end.moves.push_back({sources[i], to[i]});
  }
  pool_.Release(saved);
  if (!end.moves.empty()) steps->push_back(std::move(end));
}

// leaves: the buffers in which the results were made.
void BufferAssigner::KeepAliases(const Leaves& leaves) {
  for (const LeafAlias& alias : aliases_) {
    const int made_in = leaves[alias.result], result = assignment_.results[alias.result];
    const bool is_own = pool_[result].home == Home::kResult;
    if (is_own && made_in != result && pool_.was_refused(result)) costly_aliases_.push_back(alias);
    const auto is_given_away = [&](const auto& update) { return update.argument == alias.argument; };
    const auto is_argument = [&](int buffer) {
      return pool_[buffer].home == Home::kArgument && pool_[buffer].number == alias.argument;
    };
    const bool is_kept = is_own && pool_.tenant(result) != kNoBuffer && absl::c_none_of(leaves, is_argument) &&
                         absl::c_none_of(assignment_.updates, is_given_away);
    if (is_kept) {
      assignment_.aliases.push_back(alias);
    } else if (is_own) {
      pool_.RemoveTenant(result);
    }
  }
}

std::optional<BufferAssignment> BufferAssigner::Finish(const Leaves& leaves) {
  const Leaves own = assignment_.results;
  Leaves from, to;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Home home = pool_[leaves[i]].home;
    if (home == Home::kArgument || home == Home::kConstant) {
      assignment_.results[i] = leaves[i];
      // Its own memory may have served before.
      pool_.CloseResult(own[i]);
      if (pool_.is_written(own[i])) pool_.MoveToArena(own[i]);
      const auto is_updated = [i](const auto& update) { return update.result == static_cast<int64_t>(i); };
      if (absl::c_any_of(assignment_.updates, is_updated)) return std::nullopt;
    } else {
      from.push_back(leaves[i]);
      to.push_back(own[i]);
    }
  }
  MoveAtEnd(from, to, &assignment_.steps);
  KeepAliases(leaves);
  std::optional<BufferPool::Placed> placed = std::move(pool_).Place();
  if (!placed.has_value()) return std::nullopt;
  assignment_.buffers = std::move(placed->buffers);
  assignment_.arena_bytes = placed->arena_bytes;
  return std::move(assignment_);
}

absl::StatusOr<std::optional<BufferAssignment>> AssignBuffers(const HloComputation& computation,
                                                              const MemoryRules& rules, StopFunction check_stopped) {
  const HloModule* const module = computation.parent();
  const bool is_entry = module != nullptr && module->entry_computation() == &computation;
  std::vector<LeafAlias> aliases = is_entry ? AliasesOf(*module) : std::vector<LeafAlias>();
  while (true) {
    BufferAssigner assigner(rules, check_stopped, aliases);
    std::optional<BufferAssignment> assignment = assigner.Assign(computation);
    if (!assigner.status().ok()) return assigner.status();
    const std::vector<LeafAlias>& costly = assigner.costly_aliases();
    if (!assignment.has_value() || costly.empty()) return assignment;
    const auto is_costly = [&costly](const LeafAlias& alias) {
      return absl::c_any_of(costly, [&alias](const LeafAlias& other) { return other.result == alias.result; });
    };
    aliases.erase(std::remove_if(aliases.begin(), aliases.end(), is_costly), aliases.end());
  }
}

absl::StatusOr<std::optional<BufferAssignment>> AssignBuffers(const HloInstruction& loop, const MemoryRules& rules,
                                                              StopFunction check_stopped) {
  BufferAssigner assigner(rules, check_stopped);
  std::optional<BufferAssignment> assignment = assigner.Assign(loop);
  if (!assigner.status().ok()) return assigner.status();
  return assignment;
}

}  // namespace kashi::buffers
