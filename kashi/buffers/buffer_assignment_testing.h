// A machine that runs buffer assignments on made-up values, as an oracle for tests. A reference
// (buffer_reference_testing.h) evaluates the computation by values only, so the machine knows what each instruction
// must read. For each byte, its memory keeps the value that the byte is part of, and the position in that value.
//
//   TagMemory memory(assignment, argument_bytes, arguments, mode);
//   KASHI_RETURN_IF_ERROR(TagMachine(rules, &memory, &counts).RunSequence(assignment.steps, &reference));
#ifndef KASHI_BUFFERS_BUFFER_ASSIGNMENT_TESTING_H_
#define KASHI_BUFFERS_BUFFER_ASSIGNMENT_TESTING_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/buffers/buffer_assignment.h"
#include "kashi/buffers/buffer_reference_testing.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::buffers {

// The rules of an assignment that can be checked before it runs.
class AssignmentChecker {
 public:
  explicit AssignmentChecker(const BufferAssignment& assignment, std::vector<int64_t> argument_bytes)
      : assignment_(assignment),
        argument_bytes_(std::move(argument_bytes)),
        result_bytes_(BytesOfLeaves(assignment.result_shape)) {}

  absl::Status Check() const {
    if (assignment_.argument_count != static_cast<int64_t>(argument_bytes_.size())) return Error("argument_count");
    for (size_t i = 0; i < assignment_.buffers.size(); ++i) KASHI_RETURN_IF_ERROR(CheckBuffer(static_cast<int>(i)));
    KASHI_RETURN_IF_ERROR(CheckLiveRanges());
    if (assignment_.results.size() != result_bytes_.size()) return Error("number of results");
    for (size_t i = 0; i < result_bytes_.size(); ++i) {
      const Buffer& buffer = assignment_.buffers[assignment_.results[i]];
      if (buffer.home == Home::kArena) return Error("a result in the arena");
      if (buffer.home == Home::kResult && buffer.number != static_cast<int64_t>(i)) return Error("result numbers");
      if (buffer.bytes != result_bytes_[i]) return Error("bytes of a result");
    }
    return CheckUpdates();
  }

 private:
  static absl::Status Error(absl::string_view what) { return absl::InternalError(absl::StrCat("wrong: ", what)); }

  absl::Status CheckBuffer(int number) const {
    const Buffer& buffer = assignment_.buffers[number];
    if (buffer.home == Home::kArena && buffer.lies_in < 0) {
      const bool is_right = buffer.offset >= 0 && buffer.offset % kArenaAlignment == 0 &&
                            buffer.offset + buffer.bytes <= assignment_.arena_bytes;
      return is_right ? absl::OkStatus() : Error(absl::StrCat("place of ", assignment_.NameOf(number)));
    }
    if (buffer.home == Home::kArena) {
      const bool is_right = buffer.lies_in < static_cast<int64_t>(result_bytes_.size()) &&
                            buffer.bytes <= result_bytes_[buffer.lies_in] &&
                            assignment_.buffers[assignment_.results[buffer.lies_in]].home == Home::kResult;
      return is_right ? absl::OkStatus() : Error(absl::StrCat("lies_in of ", assignment_.NameOf(number)));
    }
    int64_t bytes = -1;
    if (buffer.home == Home::kConstant) {
      if (buffer.number >= 0 && buffer.number < static_cast<int64_t>(assignment_.constants.size())) {
        bytes = ShapeUtil::ByteSizeOf(assignment_.constants[buffer.number]->shape());
      }
    } else {
      const std::vector<int64_t>& all = buffer.home == Home::kArgument ? argument_bytes_ : result_bytes_;
      if (buffer.number >= 0 && buffer.number < static_cast<int64_t>(all.size())) bytes = all[buffer.number];
    }
    return bytes == buffer.bytes ? absl::OkStatus() : Error(absl::StrCat("bytes of ", assignment_.NameOf(number)));
  }

  // Buffers of the arena may share bytes only at different times.
  absl::Status CheckLiveRanges() const {
    for (const Buffer& a : assignment_.buffers) {
      if (a.home != Home::kArena || a.bytes == 0) continue;
      if (a.first > a.last) return Error("a live range that ends before it begins");
      for (const Buffer& b : assignment_.buffers) {
        if (&a >= &b || b.home != Home::kArena || b.bytes == 0 || a.lies_in != b.lies_in) continue;
        const bool share_bytes = a.lies_in >= 0 || (a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes);
        if (share_bytes && a.first <= b.last && b.first <= a.last) return Error("live ranges of buffers in one place");
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckUpdates() const {
    std::vector<LeafAlias> all = assignment_.aliases;
    for (const BufferAssignment::Update& update : assignment_.updates) all.push_back({update.argument, update.result});
    absl::flat_hash_set<int64_t> arguments, results;
    for (const LeafAlias& one : all) {
      if (!arguments.insert(one.argument).second || !results.insert(one.result).second) {
        return Error("an argument is given away twice");
      }
      if (argument_bytes_[one.argument] != result_bytes_[one.result] ||
          assignment_.buffers[assignment_.results[one.result]].home != Home::kResult) {
        return Error("an update or an alias of another size, or of no result");
      }
    }
    for (int result : assignment_.results) {
      const Buffer& buffer = assignment_.buffers[result];
      if (buffer.home == Home::kArgument && arguments.contains(buffer.number)) {
        return Error("an argument is given away and returned");
      }
    }
    return absl::OkStatus();
  }

  const BufferAssignment& assignment_;
  std::vector<int64_t> argument_bytes_, result_bytes_;
};

// How often the machine met the cases that tests must cover.
struct MachineCounts {
  int64_t programs = 0, runs = 0, steps = 0, moves = 0, in_place = 0, swaps = 0, kept = 0, updates = 0, lies_in = 0;
  int64_t aliases = 0, aliases_wanted = 0;
};

// The memory of a run. All places begin at multiples of 64 bytes, so one tag for each 64 bytes detects all overlaps.
class TagMemory {
 public:
  TagMemory(const BufferAssignment& assignment, absl::Span<const int64_t> argument_bytes,
            absl::Span<const uint64_t> arguments, const RunMode& mode)
      : assignment_(assignment) {
    int64_t end = LinesOf(assignment.arena_bytes);
    std::vector<Place> results, inputs, constants;
    const auto take = [&end](std::vector<Place>* places, int64_t bytes) {
      places->push_back({end, end + LinesOf(bytes)});
      end = places->back().end;
    };
    for (int64_t bytes : BytesOfLeaves(assignment.result_shape)) take(&results, bytes);
    for (int64_t bytes : argument_bytes) take(&inputs, bytes);
    for (const HloInstruction* constant : assignment.constants) {
      take(&constants, ShapeUtil::ByteSizeOf(constant->shape()));
    }
    tags_.assign(end, 0);
    for (size_t i = 0; i < constants.size(); ++i) {
      Fill(constants[i], ReferenceRun({}, 0, mode).ValueOf(*assignment.constants[i])[0]);
    }
    for (size_t i = 0; i < inputs.size(); ++i) Fill(inputs[i], arguments[i]);
    for (const BufferAssignment::Update& update : assignment.updates) {
      Fill(results[update.result], arguments[update.argument]);
      if (!mode.GivesAway(update.argument)) continue;
      Fill(inputs[update.argument], 0);
      inputs[update.argument] = results[update.result];
    }
    for (const LeafAlias& alias : assignment.aliases) {
      if (mode.GivesAway(alias.argument)) results[alias.result] = inputs[alias.argument];
    }
    for (const Buffer& buffer : assignment.buffers) {
      const int64_t begin = buffer.home == Home::kArgument   ? inputs[buffer.number].begin
                            : buffer.home == Home::kConstant ? constants[buffer.number].begin
                            : buffer.home == Home::kResult   ? results[buffer.number].begin
                            : buffer.lies_in >= 0            ? results[buffer.lies_in].begin
                                                             : buffer.offset / kArenaAlignment;
      places_.push_back({begin, begin + LinesOf(buffer.bytes)});
    }
  }

  absl::Status CheckHolds(int buffer, int64_t bytes, uint64_t value, absl::string_view what) const {
    KASHI_RETURN_IF_ERROR(CheckIsBuffer(buffer, bytes, what));
    const Place& place = places_[buffer];
    for (int64_t i = place.begin; i < place.end; ++i) {
      if (tags_[i] != value + static_cast<uint64_t>(i - place.begin)) {
        return absl::InternalError(absl::StrCat(what, " is not in ", assignment_.NameOf(buffer)));
      }
    }
    return absl::OkStatus();
  }
  absl::Status Write(int buffer, int64_t bytes, uint64_t value) {
    KASHI_RETURN_IF_ERROR(CheckIsBuffer(buffer, bytes, "a result"));
    KASHI_RETURN_IF_ERROR(CheckMayWrite(buffer));
    Fill(places_[buffer], value);
    return absl::OkStatus();
  }
  absl::Status Move(const BufferStep::Move& move) {
    KASHI_RETURN_IF_ERROR(CheckPair(move));
    KASHI_RETURN_IF_ERROR(CheckMayWrite(move.to));
    Copy(places_[move.from], places_[move.to]);
    return absl::OkStatus();
  }
  // Checks two buffers of equal size, which must have no byte in common.
  absl::Status CheckPair(const BufferStep::Move& move) const {
    KASHI_RETURN_IF_ERROR(CheckIsBuffer(move.to, -1, "a move"));
    KASHI_RETURN_IF_ERROR(CheckIsBuffer(move.from, assignment_.buffers[move.to].bytes, "a move"));
    const bool is_one = move.from == move.to || ShareBytes(move.from, move.to);
    return is_one ? absl::InternalError("a move or swap between buffers that overlap") : absl::OkStatus();
  }
  absl::Status CheckIsBuffer(int buffer, int64_t bytes, absl::string_view what) const {
    const bool is_one = buffer >= 0 && buffer < static_cast<int>(places_.size()) &&
                        (bytes < 0 || assignment_.buffers[buffer].bytes == bytes);
    return is_one ? absl::OkStatus() : absl::InternalError(absl::StrCat("no buffer of its size: ", what));
  }
  absl::Status CheckMayWrite(int buffer) const {
    const Home home = assignment_.buffers[buffer].home;
    bool may_write = home != Home::kArgument && home != Home::kConstant;
    for (const Place& kept : kept_) may_write &= !ShareBytes(kept, places_[buffer]);
    if (may_write) return absl::OkStatus();
    return absl::InternalError(absl::StrCat("writes ", assignment_.NameOf(buffer), ", which is only read"));
  }

  bool ShareBytes(int a, int b) const { return ShareBytes(places_[a], places_[b]); }
  bool IsOnePlace(int a, int b) const {
    return places_[a].begin == places_[b].begin && assignment_.buffers[a].bytes == assignment_.buffers[b].bytes;
  }
  void ChangePlaces(const BufferStep::Move& swap) { std::swap(places_[swap.from], places_[swap.to]); }
  // After an odd number of swaps: moves the state to its expected place, and both buffers back.
  void ChangeBack(const BufferStep::Move& swap) {
    Copy(places_[swap.to], places_[swap.from]);
    ChangePlaces(swap);
  }
  // Forbids writes to these buffers until the loop ends.
  void Keep(const Leaves& buffers) {
    for (int buffer : buffers) kept_.push_back(places_[buffer]);
  }
  void EndKeep(const Leaves& buffers) { kept_.resize(kept_.size() - buffers.size()); }

 private:
  struct Place {
    int64_t begin = 0, end = 0;
  };
  static int64_t LinesOf(int64_t bytes) { return (bytes + kArenaAlignment - 1) / kArenaAlignment; }
  static bool ShareBytes(const Place& a, const Place& b) { return std::max(a.begin, b.begin) < std::min(a.end, b.end); }
  void Fill(const Place& place, uint64_t value) {
    for (int64_t i = place.begin; i < place.end; ++i) tags_[i] = value + static_cast<uint64_t>(i - place.begin);
  }
  void Copy(const Place& from, const Place& to) {
    std::copy(tags_.begin() + from.begin, tags_.begin() + from.end, tags_.begin() + to.begin);
  }

  const BufferAssignment& assignment_;
  std::vector<uint64_t> tags_;  // a value plus the position in it
  std::vector<Place> places_;   // of each buffer, now
  std::vector<Place> kept_;
};

class TagMachine {
 public:
  TagMachine(const MemoryRules& rules, TagMemory* memory, MachineCounts* counts)
      : rules_(rules), memory_(*memory), counts_(*counts) {}

  // `reference` is the run of the computation that has these steps.
  absl::Status RunSequence(const BufferSequence& sequence, ReferenceRun* reference) {
    for (const BufferStep& step : sequence) {
      ++counts_.steps;
      absl::Status status = RunMoves(step);
      if (status.ok() && step.kind != BufferStep::Kind::kMoves) status = RunStep(step, reference);
      if (status.ok()) continue;
      return absl::InternalError(absl::StrCat(
          step.instruction == nullptr ? absl::string_view("end") : step.instruction->name(), ": ", status.message()));
    }
    return absl::OkStatus();
  }

  absl::Status CheckHolds(const Leaves& buffers, const HloInstruction& instruction, const LeafValues& values,
                          absl::string_view what) {
    const std::vector<int64_t>& bytes = BytesOf(instruction);
    if (buffers.size() != values.size()) return absl::InternalError(absl::StrCat("number of arrays: ", what));
    for (size_t i = 0; i < buffers.size(); ++i) {
      KASHI_RETURN_IF_ERROR(memory_.CheckHolds(buffers[i], bytes[i], values[i], absl::StrCat(what, ", leaf ", i)));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status RunMoves(const BufferStep& step) {
    for (const BufferStep::Move& move : step.moves) KASHI_RETURN_IF_ERROR(memory_.Move(move));
    counts_.moves += static_cast<int64_t>(step.moves.size());
    return absl::OkStatus();
  }

  absl::Status RunStep(const BufferStep& step, ReferenceRun* reference) {
    const HloInstruction& instruction = *step.instruction;
    if (static_cast<int64_t>(step.operands.size()) != instruction.operand_count()) {
      return absl::InternalError("number of operands");
    }
    for (int64_t i = 0; i < instruction.operand_count(); ++i) {
      const HloInstruction& operand = *instruction.operand(i);
      KASHI_RETURN_IF_ERROR(
          CheckHolds(step.operands[i], operand, reference->ValueOf(operand), absl::StrCat("operand ", i)));
    }
    if (step.kind == BufferStep::Kind::kWhile) {
      KASHI_RETURN_IF_ERROR(RunLoop(step, reference));
    } else if (step.kind == BufferStep::Kind::kConditional) {
      KASHI_RETURN_IF_ERROR(RunBranch(step, reference));
    } else {
      KASHI_RETURN_IF_ERROR(RunOperation(step, reference));
    }
    return CheckHolds(step.results, instruction, reference->ValueOf(instruction), "result");
  }

  absl::Status RunOperation(const BufferStep& step, ReferenceRun* reference) {
    const HloInstruction& instruction = *step.instruction;
    const LeafValues& values = reference->ValueOf(instruction);
    const MemoryUse use = rules_.UseOf(instruction);
    if (use.kind == MemoryUse::Kind::kOperand) return absl::OkStatus();
    if (use.kind == MemoryUse::Kind::kUpdate || use.kind == MemoryUse::Kind::kState) {
      const HloInstruction& changed = *instruction.operand(use.updated);
      KASHI_RETURN_IF_ERROR(CheckHolds(step.results, changed, reference->ValueOf(changed), "the array to change"));
    }
    if (step.results.size() != values.size()) return absl::InternalError("number of results");
    for (size_t i = 0; i < values.size(); ++i) {
      if (IsWritten(use, i)) KASHI_RETURN_IF_ERROR(CheckOverlaps(step, use, i));
    }
    for (size_t i = 0; i < values.size(); ++i) {
      if (!IsWritten(use, i)) continue;
      KASHI_RETURN_IF_ERROR(memory_.Write(step.results[i], BytesOf(instruction)[i], values[i]));
    }
    return absl::OkStatus();
  }
  static bool IsWritten(const MemoryUse& use, size_t leaf) {
    return use.kind != MemoryUse::Kind::kState || use.is_written[leaf];
  }

  // Checks that result `leaf` is in memory of an operand only if the memory use allows it.
  absl::Status CheckOverlaps(const BufferStep& step, const MemoryUse& use, size_t leaf) {
    const int to = step.results[leaf];
    for (int other : step.results) KASHI_RETURN_IF_ERROR(memory_.CheckIsBuffer(other, -1, "a result"));
    for (size_t i = 0; i < step.results.size(); ++i) {
      if (i != leaf && memory_.ShareBytes(step.results[i], to)) return absl::InternalError("results overlap");
    }
    for (size_t operand = 0; operand < step.operands.size(); ++operand) {
      for (size_t i = 0; i < step.operands[operand].size(); ++i) {
        const int from = step.operands[operand][i];
        if (!memory_.ShareBytes(from, to)) continue;
        bool may_overlap = false;
        if (use.kind == MemoryUse::Kind::kElementwise) {
          const Shape shape = step.instruction->operand(static_cast<int64_t>(operand))->shape();
          const Shape result = ShapeUtil::GetLeafShapes(step.instruction->shape())[leaf].shape;
          may_overlap = shape.IsArray() && shape.dimensions() == result.dimensions();
        }
        if (use.kind == MemoryUse::Kind::kUpdate) {
          may_overlap = static_cast<int64_t>(operand) == use.updated && use.is_in_place;
        }
        if (use.kind == MemoryUse::Kind::kState) may_overlap = i == leaf;
        if (!may_overlap || !memory_.IsOnePlace(from, to)) {
          return absl::InternalError(absl::StrCat("result ", leaf, " overlaps operand ", operand));
        }
        ++counts_.in_place;
      }
    }
    return absl::OkStatus();
  }

  absl::Status RunBranch(const BufferStep& step, ReferenceRun* reference) {
    const HloInstruction& conditional = *step.instruction;
    const int64_t branch = reference->Branch(conditional);
    const HloInstruction& index = *conditional.operand(0);
    KASHI_RETURN_IF_ERROR(CheckHolds({step.selector}, index, reference->ValueOf(index), "selector"));
    ReferenceRun run = reference->Call(conditional, reference->ValueOf(*conditional.operand(branch + 1)), 0);
    if (step.computations.size() != conditional.called_computations().size()) {
      return absl::InternalError("number of branches");
    }
    return RunSequence(step.computations[branch], &run);
  }

  absl::Status RunLoop(const BufferStep& step, ReferenceRun* reference) {
    const HloInstruction& loop = *step.instruction;
    KASHI_RETURN_IF_ERROR(CheckLoop(step));
    memory_.Keep(step.kept);
    LeafValues state = reference->ValueOf(*loop.while_init());
    const int64_t trips = reference->Trips(loop);
    for (int64_t n = 0;; ++n) {
      KASHI_RETURN_IF_ERROR(CheckHolds(step.results, loop, state, absl::StrCat("state before iteration ", n)));
      ReferenceRun condition = reference->Call(loop, state, 2 * n + 1);
      KASHI_RETURN_IF_ERROR(RunSequence(step.computations[0], &condition));
      const HloInstruction& goes_on = *loop.while_condition()->root_instruction();
      KASHI_RETURN_IF_ERROR(CheckHolds({step.selector}, goes_on, condition.ValueOf(goes_on), "condition"));
      if (n == trips) break;
      ReferenceRun body = reference->Call(loop, std::move(state), 2 * n);
      KASHI_RETURN_IF_ERROR(RunSequence(step.computations[1], &body));
      state = body.ValueOf(*loop.while_body()->root_instruction());
      for (const BufferStep::Move& swap : step.swaps) memory_.ChangePlaces(swap);
    }
    for (const BufferStep::Move& swap : step.swaps) {
      if (trips % 2 == 1) memory_.ChangeBack(swap);
    }
    memory_.EndKeep(step.kept);
    return absl::OkStatus();
  }

  absl::Status CheckLoop(const BufferStep& step) {
    if (step.computations.size() != 2) return absl::InternalError("condition and body");
    for (int buffer : step.kept) {
      if (std::count(step.results.begin(), step.results.end(), buffer) == 0) {
        return absl::InternalError("keeps what is no state");
      }
    }
    absl::flat_hash_set<int> swapped;
    for (const BufferStep::Move& swap : step.swaps) {
      KASHI_RETURN_IF_ERROR(memory_.CheckPair(swap));
      KASHI_RETURN_IF_ERROR(memory_.CheckMayWrite(swap.from));
      KASHI_RETURN_IF_ERROR(memory_.CheckMayWrite(swap.to));
      if (!swapped.insert(swap.from).second || !swapped.insert(swap.to).second) {
        return absl::InternalError("a buffer in two swaps");
      }
      if (std::count(step.results.begin(), step.results.end(), swap.to) != 1) {
        return absl::InternalError("swaps what is no state");
      }
    }
    counts_.swaps += static_cast<int64_t>(step.swaps.size());
    counts_.kept += static_cast<int64_t>(step.kept.size());
    return absl::OkStatus();
  }

  const std::vector<int64_t>& BytesOf(const HloInstruction& instruction) {
    auto [found, is_new] = bytes_.try_emplace(&instruction);
    if (is_new) found->second = BytesOfLeaves(instruction.shape());
    return found->second;
  }

  const MemoryRules& rules_;
  TagMemory& memory_;
  MachineCounts& counts_;
  std::unordered_map<const HloInstruction*, std::vector<int64_t>> bytes_;
};

}  // namespace kashi::buffers

#endif  // KASHI_BUFFERS_BUFFER_ASSIGNMENT_TESTING_H_
