// `kashi relayout`: an array from one layout into another.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "cli/interrupt.h"
#include "cli/module_file.h"
#include "cli/progress.h"
#include "cli/relayout_array.h"
#include "cli/relayout_bench.h"
#include "cli/relayout_check.h"
#include "cli/relayout_options.h"
#include "cli/verb.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/lexer.h"
#include "kashi/array/primitive_util.h"
#include "kashi/base/status.h"
#include "kashi/literal/literal_parser.h"
#include "kashi/relayout/cache_model.h"
#include "kashi/relayout/relayout_measurements.h"
#include "kashi/relayout/relayout_plan.h"
#include "kashi/relayout/relayout_problem.h"

namespace kashi::cli {

using array::Lexer;
using array::Token;
using base::PageBuffer;
namespace {

// ---- Padding --------------------------------------------------------------------------------------------------------

// Parses "0x7fc0".
std::optional<absl::uint128> ParseBits(absl::string_view text) {
  constexpr size_t kMostDigits = 32;
  if (!absl::ConsumePrefix(&text, "0x") || text.empty() || text.size() > kMostDigits) return std::nullopt;
  absl::uint128 bits = 0;
  for (char c : text) {
    if (!absl::ascii_isxdigit(c)) return std::nullopt;
    const char lower = absl::ascii_tolower(c);
    bits = bits * 16 + (absl::ascii_isdigit(c) ? lower - '0' : lower - 'a' + 10);
  }
  return bits;
}

// For a complex type, a real number is accepted too.
absl::StatusOr<Literal> ParseNumber(const std::string& text, PrimitiveType type) {
  const bool is_real = !absl::StartsWith(absl::StripLeadingAsciiWhitespace(text), "(");
  if (primitive_util::IsComplexType(type) && is_real) return ParseNumber(absl::StrCat("(", text, ", 0)"), type);
  Shape scalar(type, {});
  LayoutUtil::SetToDefaultLayout(&scalar);
  Lexer lexer(text);
  std::vector<Diagnostic> diagnostics;
  std::optional<Literal> literal = ParseLiteralPrefix(&lexer, scalar, {}, &diagnostics);
  if (literal.has_value() && lexer.kind() == Token::Kind::kEnd) return *std::move(literal);
  const std::string why = diagnostics.empty() ? "text follows the number" : diagnostics.front().message;
  return InvalidArgument("--pad %s: %s", text, why);
}

// The bits of a number of this type; nullopt for `keep`.
absl::StatusOr<std::optional<absl::uint128>> ParsePadding(const std::string& text, PrimitiveType type) {
  if (text == kKeepPadding) return std::nullopt;
  const int width = primitive_util::BitWidth(type);
  const absl::uint128 mask = width == 128 ? absl::Uint128Max() : (absl::uint128(1) << width) - 1;
  if (const std::optional<absl::uint128> bits = ParseBits(text)) {
    if ((*bits & ~mask) == 0) return bits;
    return InvalidArgument("--pad %s: %s has %d bits", text, primitive_util::LowercasePrimitiveTypeName(type), width);
  }
  KASHI_ASSIGN_OR_RETURN(const Literal number, ParseNumber(text, type));
  absl::uint128 bits = 0;
  std::memcpy(&bits, number.untyped_data(), number.size_bytes());
  return bits & mask;
}

// ---- Sides ----------------------------------------------------------------------------------------------------------

RelayoutSide SideOf(const Placement& placement) {
  RelayoutSide side;
  side.shape = placement.shape();
  side.starts.assign(placement.starts().begin(), placement.starts().end());
  side.sizes.assign(placement.dimensions().begin(), placement.dimensions().end());
  side.is_part = !placement.is_whole_buffer();
  return side;
}

// A row-major array with the elements of a side.
RelayoutSide RowMajorOf(const RelayoutSide& side) {
  RelayoutSide whole;
  whole.shape = Shape(side.shape.element_type(), side.sizes);
  whole.starts.assign(side.sizes.size(), 0);
  whole.sizes = side.sizes;
  return whole;
}

bool IsLayoutAlone(absl::string_view text) { return absl::StartsWith(absl::StripLeadingAsciiWhitespace(text), "{"); }

// One relayout and its files.
struct Job {
  std::string name;
  Placement from;
  Placement to;
  std::optional<ArrayFile> source;  // nullopt: random data
  std::optional<ArrayFile> target;  // the existing OUT, if some of it stays
};

// ---- The verb -------------------------------------------------------------------------------------------------------

class RelayoutVerb {
 public:
  explicit RelayoutVerb(const RelayoutVerbOptions& options) : options_(options), answers_("", options.json) {}
  int Run();

 private:
  int64_t memory_limit() const {
    return static_cast<int64_t>(std::min<uint64_t>(options_.memory_limit, std::numeric_limits<int64_t>::max()));
  }

  int RunProblems();
  void RunProblem(const SourceText& line);
  int RunFiles();
  absl::Status RunFilesFrom(const std::optional<RelayoutSide>& from);
  // Prints an error and returns false if the side is bad.
  bool ReadSide(const char* name, const std::string& text, const RelayoutSide* other,
                std::optional<RelayoutSide>* side);
  absl::StatusOr<std::optional<ArrayFile>> ReadTarget(const RelayoutSide& to);

  absl::Status RunJob(Job job);
  absl::StatusOr<RelayoutPlan> MakePlan(const Job& job) const;
  absl::StatusOr<ArrayFile> RandomSource(const Placement& from) const;
  absl::Status Move(const RelayoutPlan& plan, Job* job);
  absl::StatusOr<PageBuffer> PrepareCheck(const RelayoutPlan& plan, bool is_fresh, ArrayFile* target) const;
  absl::Status Bench(const RelayoutPlan& plan, const Job& job);
  void AddText(absl::string_view text) {
    if (!options_.json) answers_.Add(text);
  }
  int Finish();
  absl::Status ReadMeasurements();
  int WriteMeasurements() const;

  const RelayoutVerbOptions& options_;
  Answers answers_;
  std::optional<Interrupt> interrupt_;
  std::atomic<const char*> stage_{"reading"};  // for the progress line
  Json json_;                                  // the answer to the current problem
  bool is_shown_ = false;                      // an error about --from or --to was printed
  int64_t known_measurements_ = 0;             // that --measure-file has
  bool is_different_ = false;                  // a check found a difference
};

bool RelayoutVerb::ReadSide(const char* name, const std::string& text, const RelayoutSide* other,
                            std::optional<RelayoutSide>* side) {
  std::vector<Diagnostic> diagnostics;
  *side = ParseRelayoutSide(text, other, options_.strict, &diagnostics);
  const SourceText source{name, text};
  if (side->has_value()) {
    answers_.Warn(source, diagnostics);
    return true;
  }
  answers_.AddError(source, diagnostics);
  is_shown_ = true;
  return false;
}

// Reads the existing OUT if only a part of it is replaced.
absl::StatusOr<std::optional<ArrayFile>> RelayoutVerb::ReadTarget(const RelayoutSide& to) {
  const bool keeps_padding = options_.pad == kKeepPadding && !options_.writes_npy();
  if (options_.out.empty() || (!to.is_part && !keeps_padding)) return std::nullopt;
  if (!IsFile(options_.out)) return InvalidArgument("--to is a part of an array: OUT must be a file");
  return ReadTargetFile(options_.out, to, memory_limit());
}

absl::Status RelayoutVerb::RunFilesFrom(const std::optional<RelayoutSide>& from) {
  std::optional<RelayoutSide> to;
  const bool to_needs_source = !from.has_value() && IsLayoutAlone(options_.to);
  if (!options_.to.empty() && !to_needs_source &&
      !ReadSide("--to", options_.to, from.has_value() ? &*from : nullptr, &to)) {
    return absl::OkStatus();
  }
  std::optional<ArrayFile> source;
  if (!options_.in.empty()) {
    KASHI_ASSIGN_OR_RETURN(source, ReadSourceFile(options_.in, from, to, options_.convert, memory_limit()));
  }
  interrupt_.emplace();
  KASHI_ASSIGN_OR_RETURN(const Placement from_place,
                         source.has_value() ? absl::StatusOr<Placement>(source->placement) : from->ToPlacement());
  const RelayoutSide from_side = SideOf(from_place);
  if (options_.to.empty()) to = RowMajorOf(from_side);
  if (to_needs_source && !ReadSide("--to", options_.to, &from_side, &to)) return absl::OkStatus();
  KASHI_ASSIGN_OR_RETURN(std::optional<ArrayFile> target, ReadTarget(*to));
  KASHI_ASSIGN_OR_RETURN(const Placement to_place,
                         target.has_value() ? absl::StatusOr<Placement>(target->placement) : to->ToPlacement());
  return RunJob({"", from_place, to_place, std::move(source), std::move(target)});
}

int RelayoutVerb::RunFiles() {
  std::optional<RelayoutSide> from;
  if (!options_.from.empty() && !ReadSide("--from", options_.from, nullptr, &from)) return Finish();
  const Progress stage([this] { return std::string(stage_.load()); });
  const absl::Status status = RunFilesFrom(from);
  if (interrupt_.has_value() && interrupt_->flag().load()) return PrintInterrupted();
  if (!status.ok()) answers_.AddFileError(options_.in.empty() ? "--from" : options_.in, status);
  return Finish();
}

// ---- Many problems --------------------------------------------------------------------------------------------------

void RelayoutVerb::RunProblem(const SourceText& line) {
  std::vector<Diagnostic> diagnostics;
  const std::optional<RelayoutProblem> problem = ParseRelayoutProblem(line.text, options_.strict, &diagnostics);
  if (!problem.has_value()) return answers_.AddError(line, diagnostics);
  answers_.Warn(line, diagnostics);
  const auto run = [&]() -> absl::Status {
    KASHI_ASSIGN_OR_RETURN(const Placement from, problem->from.ToPlacement());
    KASHI_ASSIGN_OR_RETURN(const Placement to, problem->to.ToPlacement());
    return RunJob({problem->name, from, to, std::nullopt, std::nullopt});
  };
  const absl::Status status = run();
  if (!status.ok()) answers_.AddError(line, ErrorAboutText(line, status));
}

// The lines that are not blank.
std::vector<SourceText> LinesOf(const std::string& name, absl::string_view text) {
  std::vector<SourceText> lines;
  size_t number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (!absl::StripAsciiWhitespace(WithoutComment(line)).empty()) lines.push_back({name, line, number});
  }
  return lines;
}

int RelayoutVerb::RunProblems() {
  const absl::StatusOr<std::string> text = ReadFile(options_.problems);
  if (!text.ok()) {
    answers_.AddFileError(options_.problems, text.status());
    return Finish();
  }
  interrupt_.emplace();
  const std::string name = options_.problems == "-" ? "<stdin>" : options_.problems;
  const std::vector<SourceText> lines = LinesOf(name, *text);
  ItemProgress progress("problem", lines.size());
  const Progress stage([this] { return std::string(stage_.load()); });
  for (const SourceText& line : lines) {
    progress.Next(line.text);
    RunProblem(line);
    if (interrupt_->flag().load()) return PrintInterrupted();
    if (answers_.is_broken()) break;
  }
  return Finish();
}

// ---- One relayout ---------------------------------------------------------------------------------------------------

absl::StatusOr<RelayoutPlan> RelayoutVerb::MakePlan(const Job& job) const {
  const PrimitiveType from = job.from.element_type(), to = job.to.element_type();
  if (from != to && !options_.convert) {
    return InvalidArgument("the element types differ: %s and %s (--convert converts the elements)",
                           primitive_util::LowercasePrimitiveTypeName(from),
                           primitive_util::LowercasePrimitiveTypeName(to));
  }
  RelayoutOptions relayout;
  relayout.convert = options_.convert;
  relayout.threads = options_.threads;
  if (!options_.caches.empty()) {
    KASHI_ASSIGN_OR_RETURN(relayout.caches, ParseCacheModel(options_.caches));
  }
  KASHI_ASSIGN_OR_RETURN(relayout.padding, ParsePadding(options_.pad, to));
  KASHI_ASSIGN_OR_RETURN(const RelayoutPlan plan, RelayoutPlan::Make(job.from, job.to, relayout));
  if (!options_.measure && options_.measure_file.empty()) return plan;
  const double bytes = static_cast<double>(plan.source_bytes()) + static_cast<double>(plan.target_bytes());
  KASHI_RETURN_IF_ERROR(CheckMemory(bytes, memory_limit()));
  relayout.measure = true;
  return RelayoutPlan::Make(job.from, job.to, relayout);
}

absl::StatusOr<ArrayFile> RelayoutVerb::RandomSource(const Placement& from) const {
  KASHI_ASSIGN_OR_RETURN(ArrayFile source, MakeTargetFile(from, /*is_npy=*/false));
  FillRandomArray(from, source.array(), options_.seed);
  return source;
}

// Fills a new target with random bytes, and returns a copy of the target for the index loop.
absl::StatusOr<PageBuffer> RelayoutVerb::PrepareCheck(const RelayoutPlan& plan, bool is_fresh,
                                                      ArrayFile* target) const {
  if (is_fresh) FillRandom(target->array(), plan.target_bytes(), options_.seed + 1);
  KASHI_ASSIGN_OR_RETURN(PageBuffer wanted, PageBuffer::Make(plan.target_bytes()));
  if (!wanted.empty()) std::memcpy(wanted.data(), target->array(), wanted.size());
  return wanted;
}

// Sets the bytes before the first and after the last position to zero in a new file: no plan writes them.
void ClearMargins(const Placement& to, char* array) {
  const IndexMap& map = to.map();
  std::memset(array, 0, map.prefix_bytes());
  if (map.padded_element_count() == 0) return;
  const int used_bits = map.BitInByte(map.padded_element_count());
  if (used_bits != 0) array[map.byte_size() - 1] &= static_cast<char>((1 << used_bits) - 1);
}

absl::Status RelayoutVerb::Move(const RelayoutPlan& plan, Job* job) {
  const double targets = options_.check ? 2 : 1;
  KASHI_RETURN_IF_ERROR(CheckMemory(plan.source_bytes() + targets * plan.target_bytes(), memory_limit()));
  if (!job->source.has_value()) {
    stage_ = "making random data";
    KASHI_ASSIGN_OR_RETURN(job->source, RandomSource(plan.from()));
  }
  const bool is_fresh = !job->target.has_value();
  stage_ = "moving";
  if (is_fresh) {
    KASHI_ASSIGN_OR_RETURN(job->target, MakeTargetFile(plan.to(), !options_.out.empty() && options_.writes_npy()));
  }
  ArrayFile& target = *job->target;
  PageBuffer wanted;
  if (options_.check) {
    KASHI_ASSIGN_OR_RETURN(wanted, PrepareCheck(plan, is_fresh, &target));
  }
  plan.Execute(job->source->array(), target.array());
  if (options_.check) {
    stage_ = "checking";
    const CheckResult result = CheckByIndex(plan, job->source->array(), target.array(), wanted.data());
    AddText(ToText(result));
    AddTo(result, &json_);
    is_different_ |= !result.is_equal;
    if (!result.is_equal) return absl::OkStatus();
  }
  if (options_.out.empty() || interrupt_->flag().load()) return absl::OkStatus();
  stage_ = "writing";
  if (is_fresh) ClearMargins(plan.to(), target.array());
  return WriteOutput(options_.out, target.content());
}

absl::Status RelayoutVerb::Bench(const RelayoutPlan& plan, const Job& job) {
  const int64_t copied = TrafficOf(plan).copied();
  const int64_t source_bytes = std::max(plan.source_bytes(), copied);
  const int64_t target_bytes = std::max(plan.target_bytes(), copied);
  const double file_bytes = job.source.has_value() ? static_cast<double>(job.source->bytes) : 0;
  KASHI_RETURN_IF_ERROR(CheckMemory(file_bytes + source_bytes + target_bytes, memory_limit()));
  KASHI_ASSIGN_OR_RETURN(PageBuffer source, PageBuffer::Make(source_bytes));
  KASHI_ASSIGN_OR_RETURN(PageBuffer target, PageBuffer::Make(target_bytes));
  FillRandom(source.data(), source.size(), options_.seed);
  FillRandom(target.data(), target.size(), options_.seed);
  stage_ = "measuring";
  if (job.source.has_value()) {
    std::memcpy(source.data(), job.source->array(), plan.source_bytes());
  } else {
    FillRandomArray(plan.from(), source.data(), options_.seed);
  }
  const RelayoutBench bench =
      MeasureRelayout(plan, source.data(), target.data(), options_.min_seconds, interrupt_->flag());
  AddText(ToText(bench));
  AddTo(bench, &json_);
  return absl::OkStatus();
}

absl::Status RelayoutVerb::RunJob(Job job) {
  stage_ = "planning";
  KASHI_ASSIGN_OR_RETURN(const RelayoutPlan plan, MakePlan(job));
  json_ = Json::object();
  if (!job.name.empty()) json_["name"] = job.name;
  json_["from"] = plan.from().ToString();
  json_["to"] = plan.to().ToString();
  if (!job.name.empty()) AddText(absl::StrCat(job.name, ": "));
  if (options_.plan) {
    AddText(plan.ToString());  // begins with the sides
    json_["plan"] = plan.ToString();
  } else if (!options_.problems.empty()) {
    AddText(absl::StrCat(plan.from().ToString(), " -> ", plan.to().ToString(), "\n"));
  }
  if (options_.check || !options_.out.empty()) {
    KASHI_RETURN_IF_ERROR(Move(plan, &job));
    job.target.reset();
    if (options_.in.empty()) job.source.reset();
  }
  if (options_.bench && !interrupt_->flag().load()) {
    KASHI_RETURN_IF_ERROR(Bench(plan, job));
  }
  if (options_.json && !interrupt_->flag().load()) answers_.AddLine(json_);
  return absl::OkStatus();
}

int RelayoutVerb::Finish() {
  const int status = std::max(answers_.Finish(), is_different_ || is_shown_ ? kBadInput : kSuccess);
  return std::max(status, WriteMeasurements());
}

int FailOfFile(const std::string& file, const absl::Status& status) {
  return Fail(absl::Status(status.code(), absl::StrCat(file, ": ", status.message())));
}

// --measure-file: what earlier runs have measured. A file that is not there is an empty one.
absl::Status RelayoutVerb::ReadMeasurements() {
  if (options_.measure_file.empty()) return absl::OkStatus();
  if (!std::filesystem::exists(options_.measure_file)) return absl::OkStatus();
  KASHI_ASSIGN_OR_RETURN(const std::string text, ReadFile(options_.measure_file));
  KASHI_RETURN_IF_ERROR(AddRelayoutMeasurements(text));
  known_measurements_ = RelayoutMeasurementCount();
  return absl::OkStatus();
}

// The file again, with what this run has measured.
int RelayoutVerb::WriteMeasurements() const {
  if (options_.measure_file.empty() || RelayoutMeasurementCount() == known_measurements_) return kSuccess;
  const absl::Status status = WriteOutput(options_.measure_file, RelayoutMeasurementsToText());
  return status.ok() ? kSuccess : FailOfFile(options_.measure_file, status);
}

int RelayoutVerb::Run() {
  const std::string usage_error = RelayoutUsageError(options_);
  if (!usage_error.empty()) return FailUsage(usage_error);
  if (const absl::Status status = ReadMeasurements(); !status.ok()) return FailOfFile(options_.measure_file, status);
  return options_.problems.empty() ? RunFiles() : RunProblems();
}

}  // namespace

void AddRelayoutVerb(Command* command) {
  auto options = std::make_shared<RelayoutVerbOptions>();
  Verb* verb = command->AddVerb("relayout", RelayoutHelp(), [options] { return RelayoutVerb(*options).Run(); });
  AddRelayoutOptions(verb, options.get());
}

}  // namespace kashi::cli
