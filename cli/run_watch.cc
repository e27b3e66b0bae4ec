#include "cli/run_watch.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "cli/npy_file.h"
#include "cli/run_outputs.h"
#include "cli/suggest.h"
#include "cli/verb.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"

namespace kashi::cli {

using base::HumanBytes;
using base::WithThousands;

// ---- Tracer ---------------------------------------------------------------------------------------------------------

namespace {

constexpr int64_t kNpyHeaderBytes = 128;
constexpr int64_t kDiskBlockBytes = 4096;

// The name of an instruction in a proto may have characters that a file name cannot have.
std::string FileNamePart(absl::string_view name) {
  constexpr size_t kLongest = 100;
  std::string part(name.substr(0, kLongest));
  for (char& c : part) {
    if (!absl::ascii_isalnum(c) && c != '.' && c != '-') c = '_';
  }
  return part;
}

std::string LeafPart(const ShapeIndex& index) {
  return index.empty() ? "" : absl::StrCat(".", absl::StrJoin(index, "."));
}

}  // namespace

absl::Status Tracer::Begin() {
  index_ = "file\tinstruction\tcomputation\toccurrence\tleaf\tshape\n";
  KASHI_RETURN_IF_ERROR(MakeDirectory(directory_));
  return Finish();
}

absl::Status Tracer::Finish() {
  return WriteOutput((std::filesystem::path(directory_) / "index.tsv").string(), index_);
}

absl::Status Tracer::OnValue(const HloInstruction& instruction, const Value& value) {
  if (is_full_) return absl::OkStatus();
  ++values_;
  ++occurrences_[&instruction];
  ShapeIndex index;
  return WriteLeaves(instruction, value, &index);
}

absl::Status Tracer::WriteLeaves(const HloInstruction& instruction, const Value& value, ShapeIndex* index) {
  if (value.is_array()) return WriteArray(instruction, value, *index);
  if (!value.is_tuple()) return absl::OkStatus();
  for (size_t i = 0; i < value.elements().size(); ++i) {
    index->push_back(static_cast<int64_t>(i));
    KASHI_RETURN_IF_ERROR(WriteLeaves(instruction, value.element(static_cast<int64_t>(i)), index));
    index->pop_back();
  }
  return absl::OkStatus();
}

absl::Status Tracer::WriteArray(const HloInstruction& instruction, const Value& array, const ShapeIndex& index) {
  if (is_full_) return absl::OkStatus();
  const int64_t bytes_on_disk = RoundUpTo(array.byte_count() + kNpyHeaderBytes, kDiskBlockBytes);
  if (bytes_on_disk > limit_bytes_ - written_bytes_) {
    is_full_ = true;
    PrintWarning(absl::StrCat("the trace stops before `", instruction.name(), "`: it would exceed ",
                              HumanBytes(limit_bytes_), " (--trace-limit sets the limit)"));
    return absl::OkStatus();
  }
  written_bytes_ += bytes_on_disk;
  const std::string file =
      absl::StrCat(absl::Dec(values_, absl::kZeroPad6), ".", FileNamePart(instruction.name()), LeafPart(index), ".npy");
  KASHI_ASSIGN_OR_RETURN(const Literal literal, array.ToLiteral(array.shape()));
  KASHI_RETURN_IF_ERROR(WriteNpyFile((std::filesystem::path(directory_) / file).string(), literal));
  absl::StrAppend(&index_, file, "\t", instruction.name(), "\t", instruction.parent()->name(), "\t",
                  occurrences_[&instruction], "\t", index.ToString(), "\t", ShapeUtil::HumanString(array.shape()),
                  "\n");
  return absl::OkStatus();
}

// ---- Until ----------------------------------------------------------------------------------------------------------

absl::Status Until::OnValue(const HloInstruction& instruction, const Value& value) {
  if (&instruction != instruction_) return absl::OkStatus();
  value_ = value;
  return Cancelled("%s has its value", instruction.name());
}

absl::StatusOr<const HloInstruction*> FindInstruction(const HloModule& module, absl::string_view name) {
  absl::ConsumePrefix(&name, "%");
  for (const HloComputation* computation : module.computations()) {
    const HloInstruction* instruction = computation->GetInstructionWithName(name);
    if (instruction != nullptr) return instruction;
  }
  std::vector<std::string> names;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) names.emplace_back(instruction->name());
  }
  constexpr size_t kMost = 5;
  const std::vector<std::string> similar = SimilarWords(name, names, kMost);
  return NotFound("the module has no instruction `%s`%s", name,
                  similar.empty() ? "" : absl::StrCat("; did you mean ", absl::StrJoin(similar, ", "), "?"));
}

// ---- NanCheck -------------------------------------------------------------------------------------------------------

namespace {

// Whether the observer also sees the instructions of the called computations.
bool CallsObserved(HloOpcode opcode) {
  const HloOpcodeInfo& info = GetHloOpcodeInfo(opcode);
  return opcode == HloOpcode::kFusion || info.Has(HloOpcodeFlags::kControlFlow) || info.Has(HloOpcodeFlags::kAsync);
}

bool IsInput(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kParameter && instruction.parent()->IsEntryComputation();
}

bool HasGivenValue(HloOpcode opcode) { return opcode == HloOpcode::kParameter || opcode == HloOpcode::kConstant; }

}  // namespace

absl::Status NanCheck::OnValue(const HloInstruction& instruction, const Value& value) {
  const ValueSummary summary = Summarize(value);
  summaries_[&instruction] = summary;
  if (IsInput(instruction) && summary.finite() < summary.elements) {
    PrintWarning(absl::StrCat("parameter `", instruction.name(), "` is not finite: ", ToText(summary)));
  }
  if (HasGivenValue(instruction.opcode()) || CallsObserved(instruction.opcode())) return absl::OkStatus();
  int64_t nans_before = 0;
  int64_t infinities_before = 0;
  for (const HloInstruction* operand : instruction.operands()) {
    nans_before += summaries_[operand].nans;
    infinities_before += summaries_[operand].infinities;
  }
  const bool makes_nan = summary.nans > 0 && nans_before == 0;
  const bool makes_infinity = summary.infinities > 0 && infinities_before == 0;  // a NaN makes no infinity
  if (!makes_nan && !makes_infinity) {
    if (summary.finite() < summary.elements) passed_on_.insert(&instruction);
    return absl::OkStatus();
  }
  Describe(instruction, makes_nan ? NonFinite::kNan : NonFinite::kInfinity, value);
  return Cancelled("%s is not finite", instruction.name());
}

void NanCheck::Describe(const HloInstruction& instruction, NonFinite kind, const Value& value) {
  const std::string place = FirstPlaceOf(kind, value);
  finding_ = absl::StrCat(instruction.name(), " in ", instruction.parent()->name(), " is the first to make ",
                          kind == NonFinite::kNan ? "a NaN" : "an infinity", ", at ", place, ": ",
                          ToText(summaries_[&instruction]), "\n  ", ShortText(instruction), "\n");
  for (const HloInstruction* operand : instruction.operands()) {
    absl::StrAppend(&finding_, "  operand ", operand->name(), "  ", ShapeUtil::HumanString(operand->shape()), "  ",
                    ToText(summaries_[operand]), "\n");
  }
  const std::string source = SourceOf(instruction);
  if (!source.empty()) absl::StrAppend(&finding_, "  source ", source, "\n");
}

// ---- RunProgress ----------------------------------------------------------------------------------------------------

RunProgress::RunProgress(const HloModule& module, int64_t devices, std::string label)
    : label_(std::move(label)),
      entry_(module.entry_computation()),
      instructions_(entry_->instruction_count() * devices) {
  if (devices > 1) return;  // each device runs its own loops
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() == HloOpcode::kWhile) iterations_of_[instruction->while_body()->root_instruction()] = 0;
    }
  }
}

absl::Status RunProgress::OnValue(const HloInstruction& instruction, const Value&) {
  const auto body = iterations_of_.find(&instruction);
  if (body != iterations_of_.end()) iterations_.store(++body->second);
  if (instruction.parent() == entry_) seen_.fetch_add(1);
  last_.store(&instruction);
  return absl::OkStatus();
}

std::string RunProgress::Text() const {
  const HloInstruction* last = last_.load();
  std::string text = label_;
  if (last == nullptr) return text;
  absl::StrAppend(&text, text.empty() ? "" : ", ", "instruction ",
                  WithThousands(std::min(seen_.load() + 1, instructions_)), " of ", WithThousands(instructions_));
  if (iterations_.load() > 0) absl::StrAppend(&text, ", iteration ", WithThousands(iterations_.load()));
  return absl::StrCat(text, ", last ", last->name(), " in ", last->parent()->name());
}

}  // namespace kashi::cli
