#include "kashi/pjrt/executable.h"

#include <limits>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/analysis/hlo_cost_analysis.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_parser.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/buffers/buffer_assignment.h"
#include "kashi/engine/build_facts.h"
#include "kashi/engine/leaves.h"
#include "kashi/engine/program_door.h"
#include "kashi/evaluator/device_group.h"
#include "kashi/hlo/spmd/program_scope.h"
#include "kashi/hlo/verifier/hlo_verifier.h"
#include "kashi/partition/partition_program.h"
#include "kashi/pjrt/alias_donors.h"
#include "kashi/pjrt/custom_call_partitioners.h"
#include "kashi/pjrt/debug_options.h"
#include "kashi/pjrt/ffi_handlers.h"
#include "kashi/pjrt/ffi_host.h"
#include "kashi/pjrt/inspect_sharding.h"
#include "kashi/pjrt/layouts_extension.h"
#include "kashi/pjrt/types.h"
#include "kashi/proto/hlo_proto_io.h"
#include "kashi/proto/records_proto.h"
#include "kashi/stablehlo/conversion/read_stablehlo.h"

namespace kashi::pjrt {
namespace {

// protobuf counts bytes by an int.
template <typename Message>
absl::Status Parse(absl::string_view bytes, absl::string_view what, Message* message) {
  const bool is_short = bytes.size() <= static_cast<size_t>(std::numeric_limits<int>::max());
  if (is_short && message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return absl::OkStatus();
  return InvalidArgument("the bytes are no %s", what);
}
template <typename Message>
absl::StatusOr<std::string> ToBytes(const Message& message) {
  std::string bytes;
  if (message.SerializeToString(&bytes)) return bytes;
  return absl::ResourceExhaustedError("the program takes more than 2 GiB as bytes");
}

absl::StatusOr<std::unique_ptr<HloModule>> ReadProgram(const PJRT_Program& program, stablehlo::MemoryKinds* kinds) {
  const absl::string_view code(program.code, program.code_size);
  const absl::string_view format(program.format, program.format_size);
  if (format == "mlir") {
    if (!stablehlo::IsStableHlo(code))
      return InvalidArgument("the program is neither an artifact nor text of StableHLO");
    stablehlo::ConversionOptions options;
    options.memory_kinds = kinds;
    return stablehlo::ReadStableHlo(code, "program", options);
  }
  if (format == "hlo") return ReadHloProto(code, nullptr);
  if (format == "hlo_with_config") {
    HloModuleProtoWithConfig proto;
    KASHI_RETURN_IF_ERROR(Parse(code, "HloModuleProtoWithConfig", &proto));
    return ReadHloProto(proto.hlo_module(), nullptr);
  }
  return Unimplemented("programs are \"mlir\", \"hlo\" or \"hlo_with_config\", not \"%s\"", format);
}

absl::Status Verify(const HloModule& module) {
  const std::vector<HloFinding> findings = VerifyHlo(module, HloVerifierOpts().AllowMixedPrecision());
  if (findings.empty()) return absl::OkStatus();
  const std::string place =
      findings[0].instruction == nullptr ? "" : absl::StrCat(findings[0].instruction->name(), ": ");
  return InvalidArgument("%s: %s%s", module.name(), place, findings[0].message);
}

absl::StatusOr<CompileOptionsProto> ParseOptions(absl::string_view bytes) {
  CompileOptionsProto options;
  KASHI_RETURN_IF_ERROR(Parse(bytes, "CompileOptionsProto", &options));
  return options;
}

// XLA's flags are accepted, because programs set them for all backends; most are about passes that Kashi does not have.
absl::StatusOr<CompileOptions> EngineOptionsOf(const CompileOptionsProto& proto) {
  CompileOptions options;
  options.keep_code = true;
  for (const auto& [name, value] : proto.env_option_overrides()) {
    KASHI_RETURN_IF_ERROR(CheckDebugOption(name, value));
    if (name == "xla_allow_excess_precision") options.numbers.excess_precision = BoolOfDebugOption(value);
  }
  return options;
}

// The program of each device.
absl::StatusOr<std::unique_ptr<HloModule>> ModuleOfDevices(std::unique_ptr<HloModule> module,
                                                           const ExecutableBuildOptionsProto& options) {
  const int64_t replicas = std::max<int64_t>(1, options.num_replicas());
  const int64_t partitions = std::max<int64_t>(1, options.num_partitions());
  if (replicas > kMaxDevices || partitions > kMaxDevices) {
    return InvalidArgument("a program has at most %d replicas and partitions, not %d and %d", kMaxDevices, replicas,
                           partitions);
  }
  module->mutable_config().set_replica_count(replicas);
  module->mutable_config().set_num_partitions(partitions);
  KASHI_RETURN_IF_ERROR(Verify(*module));
  const bool is_of_one_device = module->has_schedule() && !ProgramScopeOf(*module).is_global();
  if (partitions == 1 || is_of_one_device) return module;
  PartitionOptions partition;
  partition.num_partitions = partitions;
  const auto& open = options.allow_spmd_sharding_propagation_to_output();
  const int64_t results = ShapeUtil::GetLeafCount(module->entry_computation()->root_instruction()->shape());
  // One answer may be for all.
  partition.open_results.assign(results, open.size() == 1 && open[0]);
  if (open.size() == results) partition.open_results.assign(open.begin(), open.end());
  const auto& open_arguments = options.allow_spmd_sharding_propagation_to_parameters();
  const int64_t arguments = module->entry_computation()->num_parameters();
  partition.open_parameters.assign(arguments, open_arguments.size() == 1 && open_arguments[0]);
  if (open_arguments.size() == arguments) {
    partition.open_parameters.assign(open_arguments.begin(), open_arguments.end());
  }
  partition.inspect = TellInspector;
  partition.custom_calls = &RegisteredPartitioners::Global();
  partition.use_shardy_partitioner = options.use_shardy_partitioner();
  return PartitionProgram(*module, partition);
}

// Whether it has calls of handlers. NOT_FOUND if one is not there, as from XLA: handlers come before programs.
absl::StatusOr<bool> NeedsHandlers(const HloModule& module) {
  bool needs = false;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() != HloOpcode::kCustomCall || !IsHandled(*instruction)) continue;
      if (!FfiHandlers::Global().Find(instruction->custom_call_target())) return NoHandlerFor(*instruction);
      needs = true;
    }
  }
  return needs;
}

// The layouts that the program gives to leaves of its arguments or results; "" where it is the default.
std::vector<std::string> LayoutsOf(const std::vector<const Shape*>& shapes) {
  std::vector<std::string> layouts;
  for (const Shape* shape : shapes) {
    ShapeUtil::ForEachLeafShape(*shape, [&](const Shape& leaf, const ShapeIndex&) {
      const bool is_default = !leaf.IsArray() || LayoutUtil::IsMonotonicWithDim0Major(leaf.layout());
      layouts.push_back(is_default ? "" : leaf.layout().ToString());
    });
  }
  return layouts;
}

void KeepLayouts(const HloModule& module, SerializedExecutableProto* facts) {
  if (!module.config().has_entry_computation_layout()) return;
  const ComputationLayout& layout = module.entry_computation_layout();
  std::vector<const Shape*> parameters;
  for (int i = 0; i < layout.parameter_count(); ++i) parameters.push_back(&layout.parameter_shape(i));
  const std::vector<std::string> arguments = LayoutsOf(parameters), results = LayoutsOf({&layout.result_shape()});
  facts->mutable_argument_layouts()->Assign(arguments.begin(), arguments.end());
  facts->mutable_result_layouts()->Assign(results.begin(), results.end());
}

// texts: one for each leaf, or none.
template <typename Texts>
std::string TextOf(const Texts& texts, const std::vector<Shape>& shapes, size_t leaf) {
  return texts.size() == static_cast<int>(shapes.size()) ? texts[static_cast<int>(leaf)] : "";
}

// kinds, layouts: one for each leaf, or none.
template <typename Texts>
absl::StatusOr<std::vector<Executable::Leaf>> LeavesOfShapes(const std::vector<Shape>& shapes, const Texts& kinds,
                                                             const Texts& layouts) {
  std::vector<Executable::Leaf> leaves;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const std::string kind = TextOf(kinds, shapes, i), layout = TextOf(layouts, shapes, i);
    leaves.push_back({BufferTypeOf(shapes[i].element_type()), shapes[i], kind.empty() ? "device" : kind, std::nullopt});
    Shape& shape = leaves.back().shape;
    if (shape.IsArray()) LayoutUtil::SetToDefaultLayout(&shape);
    if (layout.empty()) continue;
    KASHI_ASSIGN_OR_RETURN(const Layout parsed, ParseLayout(layout));
    KASHI_RETURN_IF_ERROR(SetVisibleLayout(parsed, &shape));
  }
  return leaves;
}

int64_t BytesOf(const std::vector<Executable::Leaf>& leaves) {
  int64_t bytes = 0;
  for (const Executable::Leaf& leaf : leaves) {
    if (leaf.shape.IsArray()) bytes += ShapeUtil::ByteSizeOf(leaf.shape);
  }
  return bytes;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Executable>> Executable::Compile(const PJRT_Program& program,
                                                                      absl::string_view options, int64_t device_count) {
  KASHI_ASSIGN_OR_RETURN(const CompileOptionsProto parsed, ParseOptions(options));
  KASHI_ASSIGN_OR_RETURN(const CompileOptions engine_options, EngineOptionsOf(parsed));
  stablehlo::MemoryKinds kinds;
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module, ReadProgram(program, &kinds));
  SerializedExecutableProto proto;
  KeepLayouts(*module, &proto);
  KASHI_ASSIGN_OR_RETURN(module, ModuleOfDevices(std::move(module), parsed.executable_build_options()));
  KASHI_RETURN_IF_ERROR(AliasDonors(module.get()));
  std::shared_ptr<const HloModule> of_device = std::move(module);
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<Program> compiled, Program::Compile(of_device, engine_options));
  *proto.mutable_options() = parsed;
  proto.mutable_argument_memory_kinds()->Assign(kinds.arguments.begin(), kinds.arguments.end());
  proto.mutable_result_memory_kinds()->Assign(kinds.results.begin(), kinds.results.end());
  return Make(std::move(of_device), std::move(compiled), std::move(proto), device_count);
}

absl::StatusOr<std::shared_ptr<const Executable>> Executable::Make(std::shared_ptr<const HloModule> module,
                                                                   std::unique_ptr<Program> program,
                                                                   SerializedExecutableProto facts,
                                                                   int64_t device_count) {
  std::shared_ptr<Executable> executable(new Executable);
  executable->module_ = std::move(module);
  executable->program_ = std::move(program);
  executable->facts_ = std::move(facts);
  const HloModule& of_device = *executable->module_;
  executable->name_ = of_device.name();
  executable->replicas_ = of_device.config().replica_count();
  executable->partitions_ = of_device.config().num_partitions();
  KASHI_RETURN_IF_ERROR(executable->SetDevices(device_count));
  executable->fingerprint_ = absl::StrCat(engine::Version(), "-", of_device.GetFingerprint128(), "-",
                                          absl::StrJoin(executable->devices_, "."));
  KASHI_ASSIGN_OR_RETURN(executable->calls_handlers_, NeedsHandlers(of_device));
  const HloComputation& entry = *of_device.entry_computation();
  const SerializedExecutableProto& known = executable->facts_;
  KASHI_ASSIGN_OR_RETURN(
      executable->arguments_,
      LeavesOfShapes(engine::ArgumentLeaves(entry), known.argument_memory_kinds(), known.argument_layouts()));
  KASHI_ASSIGN_OR_RETURN(executable->results_, LeavesOfShapes(engine::ResultLeaves(entry), known.result_memory_kinds(),
                                                              known.result_layouts()));
  if (executable->partitions_ > 1) executable->SetShardings();
  KASHI_RETURN_IF_ERROR(executable->CheckLeaves());
  return std::shared_ptr<const Executable>(std::move(executable));
}

absl::Status Executable::SetDevices(int64_t device_count) {
  const ExecutableBuildOptionsProto& build = options().executable_build_options();
  const int64_t count = replicas_ * partitions_;
  devices_.resize(count);
  for (int64_t i = 0; i < count; ++i) devices_[i] = i;
  if (build.has_device_assignment()) {
    const DeviceAssignmentProto& assignment = build.device_assignment();
    const bool has_partitions = assignment.computation_devices_size() == partitions_;
    if (!has_partitions || !absl::c_all_of(assignment.computation_devices(), [&](const auto& of_partition) {
          return of_partition.replica_device_ids_size() == replicas_;
        })) {
      return InvalidArgument("the device assignment is not for %d replicas and %d partitions", replicas_, partitions_);
    }
    for (int64_t i = 0; i < count; ++i) {
      devices_[i] = assignment.computation_devices(i % partitions_).replica_device_ids(i / partitions_);
    }
  } else if (count == 1 && build.device_ordinal() > 0) {
    devices_[0] = build.device_ordinal();
  }
  std::set<int64_t> seen;
  for (const int64_t device : devices_) {
    if (device < 0 || device >= device_count) {
      return InvalidArgument("the program runs on device %d, but there are %d", device, device_count);
    }
    if (!seen.insert(device).second) return InvalidArgument("device %d is assigned twice", device);
  }
  return absl::OkStatus();
}

// Bytes may hold a module and a program that have nothing to do with each other.
absl::Status Executable::CheckLeaves() const {
  const HloComputation& entry = *program_->module().entry_computation();
  const auto agree = [](const std::vector<Leaf>& leaves, const std::vector<Shape>& shapes) {
    return absl::c_equal(leaves, shapes,
                         [](const Leaf& leaf, const Shape& shape) { return ShapeUtil::Compatible(leaf.shape, shape); });
  };
  if (!agree(arguments_, engine::ArgumentLeaves(entry)) || !agree(results_, engine::ResultLeaves(entry)) ||
      program_->module().config().replica_count() != replicas_ ||
      program_->module().config().num_partitions() != partitions_) {
    return InvalidArgument("the bytes hold a module and another program");
  }
  for (const std::vector<Leaf>* leaves : {&arguments_, &results_}) {
    for (const Leaf& leaf : *leaves) {
      const std::string& kind = leaf.memory_kind;
      if (kind == "device" || kind == "pinned_host" || kind == "unpinned_host") continue;
      return InvalidArgument("devices have the memories device, pinned_host and unpinned_host, not %s", kind);
    }
  }
  return absl::OkStatus();
}

// The partitioner leaves them on parameters and on the root. A parameter that is a tuple has none for its leaves.
void Executable::SetShardings() {
  const std::vector<HloSharding> of_parameters = ParameterShardings(*module_);
  const std::vector<std::optional<HloSharding>> of_results = ResultShardings(*module_);
  for (size_t i = 0; i < arguments_.size() && of_parameters.size() == arguments_.size(); ++i) {
    arguments_[i].sharding = SerializedSharding(of_parameters[i]);
  }
  for (size_t i = 0; i < results_.size() && of_results.size() == results_.size(); ++i) {
    results_[i].sharding = SerializedSharding(of_results[i].value_or(HloSharding::Replicate()));
  }
}

std::string Executable::SerializedDeviceAssignment() const {
  DeviceAssignmentProto assignment;
  assignment.set_replica_count(static_cast<int32_t>(replicas_));
  assignment.set_computation_count(static_cast<int32_t>(partitions_));
  for (int64_t partition = 0; partition < partitions_; ++partition) {
    auto* const of_partition = assignment.add_computation_devices();
    for (int64_t replica = 0; replica < replicas_; ++replica) {
      of_partition->add_replica_device_ids(devices_[replica * partitions_ + partition]);
    }
  }
  return assignment.SerializeAsString();
}

absl::StatusOr<std::string> Executable::Serialize() const {
  SerializedExecutableProto proto = facts_;
  KASHI_RETURN_IF_ERROR(WriteHloProto(*module_, HloProtoKind::kModule, /*text_format=*/false, proto.mutable_module()));
  KASHI_ASSIGN_OR_RETURN(*proto.mutable_program(), program_->Serialize());
  return ToBytes(proto);
}

absl::StatusOr<std::shared_ptr<const Executable>> Executable::Deserialize(absl::string_view bytes,
                                                                          absl::string_view overridden_options,
                                                                          int64_t device_count) {
  SerializedExecutableProto proto;
  KASHI_RETURN_IF_ERROR(Parse(bytes, "executable of Kashi", &proto));
  if (proto.program().empty()) return InvalidArgument("the bytes are no executable of Kashi");
  if (!overridden_options.empty()) {
    KASHI_ASSIGN_OR_RETURN(*proto.mutable_options(), ParseOptions(overridden_options));
  }
  KASHI_ASSIGN_OR_RETURN(const CompileOptions engine_options, EngineOptionsOf(proto.options()));
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module, ReadHloProto(proto.module(), nullptr));
  KASHI_RETURN_IF_ERROR(Verify(*module));
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<Program> program, Program::Deserialize(proto.program(), engine_options));
  proto.clear_module();
  proto.clear_program();
  return Make(std::move(module), std::move(program), std::move(proto), device_count);
}

// Passes may replace a root, and with it its sharding.
absl::StatusOr<std::string> Executable::OptimizedModule() const {
  HloModuleProto proto = program_->module().ToProto();
  const auto entry_of = [](auto& module) {
    return absl::c_find_if(*module.mutable_computations(),
                           [&](const auto& c) { return c.id() == module.entry_computation_id(); });
  };
  HloModuleProto from = module_->ToProto();
  auto* const target = &*entry_of(proto);
  auto* const source = &*entry_of(from);
  absl::flat_hash_map<int64_t, const wire::OpSharding*> of_parameters;
  const wire::OpSharding* of_root = nullptr;
  for (const auto& instruction : source->instructions()) {
    if (!instruction.has_sharding()) continue;
    if (instruction.opcode() == "parameter") of_parameters[instruction.parameter_number()] = &instruction.sharding();
    if (instruction.id() == source->root_id()) of_root = &instruction.sharding();
  }
  for (auto& instruction : *target->mutable_instructions()) {
    const auto found = of_parameters.find(instruction.parameter_number());
    if (instruction.opcode() == "parameter" && found != of_parameters.end()) {
      *instruction.mutable_sharding() = *found->second;
    }
    if (of_root != nullptr && instruction.id() == target->root_id()) *instruction.mutable_sharding() = *of_root;
  }
  HloModuleProtoWithConfig with_config;
  *with_config.mutable_hlo_module() = proto.SerializeAsString();
  // Its first field is the layout of the entry computation.
  HloModuleConfigProto config;
  *config.mutable_entry_computation_layout() = proto.host_program_shape();
  config.set_replica_count(replicas_);
  config.set_num_partitions(partitions_);
  *with_config.mutable_config() = config.SerializeAsString();
  return ToBytes(with_config);
}

absl::StatusOr<std::vector<Executable::Property>> Executable::Costs() const {
  HloCostAnalysis analysis;
  KASHI_RETURN_IF_ERROR(analysis.Visit(*module_->entry_computation()));
  std::vector<Property> properties;
  analysis.properties().ForEach([&](absl::string_view name, float value) {
    properties.push_back({std::string(name), value});
  });
  return properties;
}

Executable::Memory Executable::MemoryUse() const {
  Memory memory = {};
  memory.argument_bytes = BytesOf(arguments_);
  memory.output_bytes = BytesOf(results_);
  memory.code_bytes = engine::ProgramDoor::CodeBytes(*program_);
  const std::vector<bool> donated = engine::DonatedLeaves(*module_);
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (donated[i]) memory.alias_bytes += BytesOf({arguments_[i]});
  }
  const buffers::BufferAssignment* const assignment = engine::ProgramDoor::BuffersOf(*program_);
  if (assignment != nullptr) memory.temporary_bytes = assignment->arena_bytes;
  return memory;
}

}  // namespace kashi::pjrt
