#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/text/hlo_reader.h"

namespace kashi::hlo {
namespace {

// The most tuples and elements of tuples that a text may imply without writing them: a constant (86 MB), plus a low
// estimate of those that it could have written. A tuple without a shape in text names its elements, so no program needs
// nearly as many.
constexpr int64_t kUnwrittenSubshapes = int64_t{1} << 18;
constexpr int64_t kBytesOfWrittenSubshape = 8;

// `add.07` and `add.0` are other names once they have been made unique; most modules have no such name.
bool IsCanonicalName(absl::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == absl::string_view::npos || dot + 1 == name.size()) return true;
  const char first = name[dot + 1];
  return first != '0' && first != '-';
}

}  // namespace

HloReader::HloReader(absl::string_view text, const HloModuleConfig& config, const HloParserOptions& options)
    : scan_(text),
      options_(options),
      unwritten_subshapes_(kUnwrittenSubshapes + static_cast<int64_t>(text.size()) / kBytesOfWrittenSubshape),
      config_(config),
      line_end_(text.find('\n')) {}

std::unique_ptr<HloModule> HloReader::ReadModule() {
  module_ = std::make_unique<HloModule>("", HloModuleConfig());
  frames_ = std::make_unique<StackFrameCopier>(&written_frames_, module_->mutable_stack_frame_index());
  const bool read =
      LooksLikeSingleInstruction() ? ReadSingleInstruction() : ReadModuleHead() && ReadTables() && ReadComputations();
  if (!read || errors_ > 0 || !Finish()) {
    // Every failure has reported an error.
    if (errors_ == 0) ErrorHere("an HLO module");
    return nullptr;
  }
  return std::move(module_);
}

// ---- Head -----------------------------------------------------------------------------------------------------------

// ["HloModule" NAME {, attribute}]
bool HloReader::ReadModuleHead() {
  if (scan_.PeekIdent() != "HloModule") return true;
  scan_.ReadIdent();
  const absl::string_view name = ReadName();
  if (name.empty()) return false;
  module_->set_name(name);
  return ReadHeadAttributes();
}

bool HloReader::ReadHeadAttributes() {
  absl::flat_hash_set<absl::string_view> seen;
  while (scan_.Match(',')) {
    absl::string_view name;
    size_t begin = 0;
    if (!ReadAttributeName(&name, &begin)) return false;
    if (!seen.insert(name).second) {
      return Error(begin, begin + name.size(), absl::StrCat("attribute \"", name, "\" already exists"));
    }
    if (!ReadHeadAttribute(name, begin)) return false;
  }
  return true;
}

bool HloReader::ReadHeadAttribute(absl::string_view name, size_t begin) {
  int64_t number = 0;
  bool flag = false;
  if (name == "is_scheduled") return ReadBoolValue(&is_scheduled_);
  if (name == "replica_count") {
    if (!ReadIntValue(&number)) return false;
    config_.set_replica_count(number);
    changes_config_ = changes_config_ || number != 1;
    return true;
  }
  if (name == "num_partitions") {
    if (!ReadIntValue(&number)) return false;
    config_.set_num_partitions(number);
    config_.set_use_spmd_partitioning(number != 1);
    changes_config_ = changes_config_ || number != 1;
    return true;
  }
  if (name == "input_output_alias") return ReadAliases();
  if (name == "buffer_donor") return ReadDonors();
  if (name == "alias_passthrough_params") {
    if (!ReadBoolValue(&flag)) return false;
    config_.set_alias_passthrough_params(flag);
    changes_config_ = changes_config_ || flag;
    return true;
  }
  if (name == "entry_computation_layout") return ReadEntryLayout();
  if (name == "frontend_attributes") {
    FrontendAttributes attributes;
    if (!ReadFrontendAttributes(&attributes)) return false;
    module_->set_frontend_attributes(std::move(attributes));
    return true;
  }
  HloModuleConfig::BoolList list;
  if (name == "allow_spmd_sharding_propagation_to_parameters") {
    if (!ReadPropagation(&list)) return false;
    if (list.empty()) return true;
    changes_config_ = true;
    config_.set_allow_spmd_sharding_propagation_to_parameters(std::move(list));
    return true;
  }
  if (name == "allow_spmd_sharding_propagation_to_output") {
    if (!ReadPropagation(&list)) return false;
    if (list.empty()) return true;
    changes_config_ = true;
    config_.set_allow_spmd_sharding_propagation_to_output(std::move(list));
    return true;
  }
  if (name == "origin_recovery_table") return ReadRecoveryTable();
  return Error(
      begin, begin + name.size(),
      absl::StrCat("unexpected attribute \"", name,
                   "\". Allowed attributes: alias_passthrough_params, allow_spmd_sharding_propagation_to_output, "
                   "allow_spmd_sharding_propagation_to_parameters, buffer_donor, entry_computation_layout, "
                   "frontend_attributes, input_output_alias, is_scheduled, num_partitions, "
                   "origin_recovery_table, replica_count"));
}

// { {output}: (parameter, {index} [, may-alias | must-alias]), … }
bool HloReader::ReadAliases() {
  if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of input_output_alias");
  if (scan_.Match('}')) return true;
  do {
    AliasText entry;
    scan_.SkipSpace();
    entry.begin = scan_.offset();
    if (!ReadShapeIndex(&entry.output_index)) return false;
    if (!scan_.Match(':')) return ErrorHere("':' after the output index");
    if (!scan_.Match('(')) return ErrorHere("'(' before the parameter number");
    if (!ReadIntValue(&entry.alias.parameter_number)) return false;
    if (!scan_.Match(',')) return ErrorHere("',' after the parameter number");
    if (!ReadShapeIndex(&entry.alias.parameter_index)) return false;
    if (scan_.Match(',')) {
      const absl::string_view kind = scan_.PeekIdent();
      if (kind != "may-alias" && kind != "must-alias") return ErrorHere("may-alias or must-alias");
      if (kind == "must-alias") entry.alias.kind = HloInputOutputAliasConfig::kMustAlias;
      scan_.ReadIdent();
    }
    if (!scan_.Match(')')) return ErrorHere("')' at the end of an alias");
    entry.end = scan_.offset();
    aliases_.push_back(std::move(entry));
  } while (scan_.Match(','));
  return scan_.Match('}') || ErrorHere("'}' at the end of input_output_alias");
}

// { (parameter, {index}), … }
bool HloReader::ReadDonors() {
  if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of buffer_donor");
  if (scan_.Match('}')) return true;
  do {
    int64_t parameter = 0;
    ShapeIndex index;
    if (!scan_.Match('(')) return ErrorHere("'(' before the parameter number");
    const size_t begin = scan_.offset();
    if (!ReadIntValue(&parameter)) return false;
    if (parameter < 0) return Error(begin, scan_.offset(), "a parameter number must not be negative");
    if (!scan_.Match(',')) return ErrorHere("',' after the parameter number");
    if (!ReadShapeIndex(&index)) return false;
    if (!scan_.Match(')')) return ErrorHere("')' at the end of a donor");
    donors_.AddBufferDonor(parameter, index);
  } while (scan_.Match(','));
  return scan_.Match('}') || ErrorHere("'}' at the end of buffer_donor");
}

// {(shapes)->shape}
bool HloReader::ReadEntryLayout() {
  if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of entry_computation_layout");
  if (!scan_.Match('(')) return ErrorHere("'(' before the parameter shapes");
  std::vector<Shape> parameters;
  SharedShape shape;
  if (!scan_.Match(')')) {
    do {
      if (!ReadShape(&shape)) return false;
      parameters.push_back(shape->shape());
    } while (scan_.Match(','));
    if (!scan_.Match(')')) return ErrorHere("')' after the parameter shapes");
  }
  if (!scan_.Match("->")) return ErrorHere("'->' before the shape of the result");
  if (!ReadShape(&shape)) return false;
  if (!scan_.Match('}')) return ErrorHere("'}' at the end of entry_computation_layout");
  ComputationLayout layout{ShapeLayout(shape->shape())};
  for (Shape& parameter : parameters) layout.add_parameter_layout(ShapeLayout(std::move(parameter)));
  config_.set_entry_computation_layout(std::move(layout));
  return true;
}

bool HloReader::ReadPropagation(HloModuleConfig::BoolList* list) {
  bool value = false;
  if (scan_.Peek() != '{') {
    if (!ReadBoolValue(&value)) return false;
    list->push_back(value);
    return true;
  }
  std::vector<bool> values;
  if (!ReadParameterReplication(&values)) return false;
  list->assign(values.begin(), values.end());
  return true;
}

// { {"old" {index}} : {"new" {index}} [, "module"] … }
bool HloReader::ReadRecoveryTable() {
  if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of origin_recovery_table");
  while (!scan_.Match('}')) {
    OriginalValueRecoveryEntry entry;
    if (!scan_.Match('{') || !ReadOriginalArray(&entry.old_array)) return ErrorHere("{\"instruction\" {index}}");
    if (!scan_.Match('}')) return ErrorHere("'}' after an original array");
    if (!scan_.Match(':')) return ErrorHere("':' between original arrays");
    if (!scan_.Match('{')) return ErrorHere("'{' before an original array");
    if (scan_.Peek() != '}' && !ReadOriginalArray(&entry.new_array)) return false;
    if (!scan_.Match('}')) return ErrorHere("'}' after an original array");
    if (scan_.Match(',') && (scan_.Peek() == '"' || scan_.Peek() == '\'')) {
      const size_t begin = scan_.offset();
      std::string text;
      if (!ReadStringValue(&text)) return false;
      HloReader reader(text, HloModuleConfig(), options_);
      reader.unlisted_bytes_ = unlisted_bytes_;
      reader.unwritten_subshapes_ = unwritten_subshapes_;
      entry.recovery_module = reader.ReadModule();
      unlisted_bytes_ = reader.unlisted_bytes_;
      unwritten_subshapes_ = reader.unwritten_subshapes_;
      if (entry.recovery_module == nullptr) {
        return Error(begin, scan_.offset(),
                     absl::StrCat("in the recovery module: ", reader.diagnostics().back().message));
      }
      scan_.Match(',');
    }
    module_->mutable_original_value_recovery_table()->push_back(std::move(entry));
    if (scan_.AtEnd()) return ErrorHere("'}' at the end of origin_recovery_table");
  }
  return true;
}

// ---- Tables of source positions -------------------------------------------------------------------------------------

// FileNames, FunctionNames, FileLocations, StackFrames: all four in this order, or none. The printed numbers of the
// entries have no meaning: the number of an entry is its place.
bool HloReader::ReadTables() {
  if (scan_.PeekIdent() != "FileNames") return true;
  scan_.ReadIdent();
  StackFrameIndex* index = &written_frames_;
  const auto read_strings = [this](std::vector<std::string>* strings) {
    while (scan_.ReadInt().has_value()) {
      strings->emplace_back();
      if (!ReadStringValue(&strings->back())) return false;
    }
    return true;
  };
  if (!read_strings(&index->file_names)) return false;
  if (scan_.PeekIdent() != "FunctionNames") return ErrorHere("FunctionNames");
  scan_.ReadIdent();
  return read_strings(&index->function_names) && ReadFrames();
}

bool HloReader::ReadFrames() {
  StackFrameIndex* index = &written_frames_;
  if (scan_.PeekIdent() != "FileLocations") return ErrorHere("FileLocations");
  scan_.ReadIdent();
  while (scan_.ReadInt().has_value()) {
    StackFrameIndex::FileLocation location;
    if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of a file location");
    if (!ReadFieldOfTable("file_name_id", &location.file_name_id) ||
        !ReadFieldOfTable("function_name_id", &location.function_name_id) ||
        !ReadFieldOfTable("line", &location.line) || !ReadFieldOfTable("end_line", &location.end_line) ||
        !ReadFieldOfTable("column", &location.column) || !ReadFieldOfTable("end_column", &location.end_column)) {
      return false;
    }
    if (!scan_.Match('}')) return ErrorHere("'}' at the end of a file location");
    index->file_locations.push_back(location);
  }
  if (scan_.PeekIdent() != "StackFrames") return ErrorHere("StackFrames");
  scan_.ReadIdent();
  while (scan_.ReadInt().has_value()) {
    StackFrameIndex::StackFrame frame;
    if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of a stack frame");
    if (!ReadFieldOfTable("file_location_id", &frame.file_location_id) ||
        !ReadFieldOfTable("parent_frame_id", &frame.parent_frame_id)) {
      return false;
    }
    if (!scan_.Match('}')) return ErrorHere("'}' at the end of a stack frame");
    // In the text, callers count from 1; 0 means none.
    if (frame.parent_frame_id > 0) --frame.parent_frame_id;
    index->stack_frames.push_back(frame);
  }
  return true;
}

bool HloReader::ReadFieldOfTable(absl::string_view name, int32_t* value) {
  scan_.SkipSpace();
  const size_t begin = scan_.offset();
  if (scan_.ReadIdentHere() != name || scan_.PeekHere() != '=') {
    scan_.Seek(begin);
    return ErrorHere(absl::StrCat(name, "="));
  }
  scan_.Match('=');
  int64_t number = 0;
  if (!ReadIntValue(&number)) return false;
  *value = static_cast<int32_t>(number);
  return *value == number || Error(begin, scan_.offset(), absl::StrCat(name, " does not fit 32 bits"));
}

// ---- Computations ---------------------------------------------------------------------------------------------------

bool HloReader::ReadComputations() {
  do {
    if (!ReadComputation()) return false;
  } while (!scan_.AtEnd());
  return true;
}

// Neither a module nor a computation: no HloModule, no ENTRY, and no `{` after a name and its signature.
bool HloReader::LooksLikeSingleInstruction() {
  TextScanner scan(scan_.text());
  const absl::string_view first = scan.PeekIdent();
  if (first == "HloModule" || first == "ENTRY") return false;
  if (scan.Peek() == '%') scan.Match('%');
  scan.ReadIdentHere();
  const char behind = scan.Peek();
  if (behind == '{' && !first.empty()) return false;
  if (behind != '(') return true;
  // NAME "(" … ")" "->" is a computation; anything else an instruction without a name, or an operation without a shape.
  return scan.ReadBracketed().empty() || !scan.Match("->");
}

// A module with one computation around it; the operands are parameters (docs/spec/hlo.md 1.2).
bool HloReader::ReadSingleInstruction() {
  single_instruction_ = true;
  module_->set_name("_");
  scopes_.push_back(std::make_unique<Scope>());
  Scope& scope = *scopes_.back();
  scope.computation = std::make_unique<HloComputation>("");
  Pending pending;
  scan_.SkipSpace();
  pending.begin = scan_.offset();
  pending.place = PlaceOf(pending.begin);
  pending.name = "_";
  // [["ROOT"] NAME "="] in front: left out only where a shape is the first.
  if (!MayBeShape()) {
    if (scan_.PeekIdent() == "ROOT") scan_.ReadIdent();
    pending.name = ReadName();
    if (pending.name.empty()) return false;
    if (!scan_.Match('=')) return ErrorHere("'=' in instruction");
  }
  if (!ReadRightSide(&pending, /*nested=*/false)) return false;
  HloInstruction* root = MakeInstruction(&pending);
  if (root == nullptr) return false;
  if (!scan_.AtEnd()) return ErrorHere("the end of the text after the instruction");
  scope.computation->set_root_instruction(root, /*accept_different_shape=*/true);
  is_scheduled_ = true;
  return FinishComputation(/*is_entry=*/true, "_", pending.begin);
}

// ---- Steps at the end -----------------------------------------------------------------------------------------------

bool HloReader::Finish() {
  if (finished_.empty()) return ErrorHere("a computation");
  // Without ENTRY the last computation is the entry.
  if (entry_ == nullptr) {
    finished_.back().is_entry = true;
    entry_ = finished_.back().computation.get();
  }
  if (module_->name().empty()) module_->set_name(absl::StrCat("module_", entry_->name()));
  if (!SettleAliases() || !SettleEntry()) return false;
  SettleThreads();
  for (FinishedComputation& finished : finished_) {
    module_->AddComputationAsIs(std::move(finished.computation), finished.is_entry);
  }
  SettleNames();
  if (is_scheduled_) SettleSchedule();
  module_->set_buffer_donor_config(std::move(donors_));
  module_->set_config(std::move(config_));
  return true;
}

bool HloReader::SettleAliases() {
  HloInputOutputAliasConfig config(entry_->root_instruction()->shape());
  for (const AliasText& entry : aliases_) {
    absl::Status status = config.SetUpAlias(entry.output_index, entry.alias.parameter_number,
                                            entry.alias.parameter_index, entry.alias.kind);
    if (!status.ok()) return Error(entry.begin, entry.end, std::string(status.message()));
  }
  module_->set_input_output_alias_config(std::move(config));
  return true;
}

// A layout that the text does not give is that of the instructions. In a module whose head sets up the configuration
// XLA forgets their order of dimensions.
bool HloReader::SettleEntry() {
  if (config_.has_entry_computation_layout()) return true;
  const auto layout_of = [this](const HloInstruction* instruction) {
    Shape shape = instruction->shape();
    if (changes_config_) LayoutUtil::SetToDefaultLayout(&shape);
    return ShapeLayout(std::move(shape));
  };
  ComputationLayout layout{layout_of(entry_->root_instruction())};
  for (const HloInstruction* parameter : entry_->parameter_instructions()) {
    layout.add_parameter_layout(layout_of(parameter));
  }
  config_.set_entry_computation_layout(std::move(layout));
  return true;
}

// Sets ids, and makes names unique in the module. If two are equal, or one is written in an unusual way, all names
// are made anew in the order of the text, as in XLA; otherwise the names in the text are already unique.
void HloReader::SettleNames() {
  int64_t id = 0;
  bool unique = true;
  absl::flat_hash_set<absl::string_view> names;
  int64_t count = 0;
  for (const HloComputation* computation : module_->computations()) count += computation->instruction_count();
  names.reserve(count);
  absl::flat_hash_set<absl::string_view> computation_names;
  for (HloComputation* computation : module_->computations()) {
    computation->SetUniqueId(id);
    // A computation may have a name that no instruction may have; it gets another name.
    unique = unique && IsCanonicalName(computation->name()) && !IsRefusedName(computation->name()) &&
             computation_names.insert(computation->name()).second;
    for (HloInstruction* instruction : computation->instructions()) {
      instruction->SetUniqueId(HloInstruction::CalculateUniqueId(static_cast<int32_t>(id), instruction->local_id()));
      unique = unique && IsCanonicalName(instruction->name()) && names.insert(instruction->name()).second;
    }
    ++id;
  }
  if (!unique) module_->MakeNamesUnique();
}

// The thread of an async-start is that of all computations that it calls. The last of several starts counts; going back
// from it, each computation is visited once.
void HloReader::SettleThreads() {
  absl::flat_hash_set<const HloComputation*> done;
  for (auto start = async_starts_.rbegin(); start != async_starts_.rend(); ++start) {
    // An outer async-start may have changed its thread meanwhile.
    HloComputation* const wrapped = (*start)->async_wrapped_computation();
    wrapped->SpreadExecutionThread((*start)->async_execution_thread(), &done);
  }
}

void HloReader::SettleSchedule() {
  HloSchedule schedule;
  for (const HloComputation* computation : module_->computations()) {
    if (computation->IsFusionComputation()) continue;
    const auto instructions = computation->instructions();
    schedule.set_sequence(computation, std::vector<HloInstruction*>(instructions.begin(), instructions.end()));
  }
  module_->set_unverified_schedule(std::move(schedule));
}

}  // namespace kashi::hlo
