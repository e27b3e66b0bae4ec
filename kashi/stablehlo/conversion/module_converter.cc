#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/base/diagnostic.h"
#include "kashi/base/status.h"
#include "kashi/stablehlo/conversion/converter.h"
#include "kashi/stablehlo/conversion/quantized_values.h"
#include "kashi/stablehlo/conversion/sdy_text.h"
#include "kashi/stablehlo/conversion/shapes.h"
#include "kashi/stablehlo/conversion/stablehlo_to_hlo.h"
#include "kashi/stablehlo/program/operation_table.h"

namespace kashi::stablehlo {
namespace {

// Marks errors that have a place.
constexpr char kPlaceUrl[] = "kashi/place";

// The one block of a module's region, or of a function's; nullptr if there is none.
const Block* OnlyBlock(const Operation& operation) {
  if (operation.regions.size() != 1 || operation.regions[0].blocks.size() != 1) return nullptr;
  return &operation.regions[0].blocks[0];
}

absl::string_view SymbolName(const Operation& operation) {
  const Attribute* name = operation.Find("sym_name");
  return name == nullptr ? absl::string_view() : name->text;
}

}  // namespace

std::vector<absl::string_view> Callees(const Operation& operation) {
  std::vector<absl::string_view> names;
  for (const absl::string_view key : {"callee", "decomposition"}) {
    const Attribute* callee = operation.Find(key);
    if (callee != nullptr) names.push_back(callee->text);
  }
  const Attribute* computations = operation.Find("called_computations");
  if (computations != nullptr) {
    for (const Attribute* name : computations->elements) names.push_back(name->text);
  }
  // The functions of interpreter.run_parallel.
  for (const absl::string_view key : {"programs", "infeed"}) {
    const Attribute* lists = operation.Find(key);
    if (lists == nullptr) continue;
    for (const Attribute* list : lists->elements) {
      names.push_back(list->text);
      for (const Attribute* name : list->elements) names.push_back(name->text);
    }
  }
  return names;
}

bool IsConstant(const Value& value) {
  constexpr absl::string_view kConstants[] = {"stablehlo.constant", "chlo.constant", "sdy.constant"};
  return value.definition != nullptr && absl::c_linear_search(kConstants, value.definition->name);
}

ModuleConverter::ModuleConverter(const Program& program, const ConversionOptions& options)
    : program_(program),
      options_(options),
      module_(std::make_unique<HloModule>("module", HloModuleConfig())),
      locations_(module_->mutable_stack_frame_index()) {
  if (options.source_is_text) places_.emplace(options.source);
}

absl::Status ModuleConverter::ErrorAt(const Operation& operation, const absl::Status& error) const {
  if (error.GetPayload(kPlaceUrl).has_value()) return error;  // of an operation in a region of this one
  const Diagnostic diagnostic{Diagnostic::Severity::kError, operation.begin, operation.end,
                              absl::StrCat("`", operation.name, "`: ", error.message())};
  const absl::string_view name = options_.source.name.empty() ? "program" : options_.source.name;
  absl::Status placed(error.code(), options_.source_is_text ? RenderDiagnostic(options_.source, diagnostic)
                                                            : absl::StrCat(name, ": byte ", operation.begin,
                                                                           ": error: ", diagnostic.message));
  placed.SetPayload(kPlaceUrl, absl::Cord());
  return placed;
}

absl::StatusOr<HloComputation*> ModuleConverter::Function(absl::string_view name) const {
  const auto function = functions_.find(name);
  if (function != functions_.end() && dynamic_functions_.contains(function->second)) {
    return Unimplemented("the sizes of function @%s are not known here: only calls can say them", name);
  }
  const auto found = computations_.find(name);
  if (found == computations_.end()) return InvalidArgument("the module has no function @%s", name);
  return found->second;
}

absl::StatusOr<const Shape*> ModuleConverter::ShapeOf(const Type& type) {
  const auto found = shapes_.find(&type);
  if (found != shapes_.end()) return &found->second;
  KASHI_ASSIGN_OR_RETURN(Shape shape, ShapeOfType(type, UnknownSizes::kAllowed));
  return &shapes_.emplace(&type, std::move(shape)).first->second;
}

const Attribute* ModuleConverter::FindMesh(absl::string_view name) const {
  const auto found = meshes_.find(name);
  return found == meshes_.end() ? nullptr : found->second;
}

absl::Status ModuleConverter::ReadSymbols() {
  const Operation* module = program_.module;
  if (module == nullptr || module->name != "builtin.module") return InvalidArgument("the program has no module");
  const Block* block = OnlyBlock(*module);
  if (block == nullptr) return ErrorAt(*module, InvalidArgument("a module has one region of one block"));
  for (const Operation* operation : block->operations) {
    if (operation->name == "sdy.mesh") {
      meshes_.emplace(SymbolName(*operation), operation->Find("mesh"));
    } else if (operation->name == "func.func") {
      if (functions_.emplace(SymbolName(*operation), operation).second) continue;
      return ErrorAt(*operation, InvalidArgument("a second function @%s", SymbolName(*operation)));
    } else if (operation->name == "builtin.module") {
      return ErrorAt(*operation, Unimplemented("modules in modules"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<const Operation*> ModuleConverter::FindEntry() const {
  const absl::string_view wanted = options_.entry.empty() ? "main" : absl::string_view(options_.entry);
  const auto found = functions_.find(wanted);
  if (found != functions_.end()) return found->second;
  if (options_.entry.empty() && functions_.size() == 1) return functions_.begin()->second;
  std::vector<absl::string_view> names;
  for (const Operation* operation : OnlyBlock(*program_.module)->operations) {
    if (operation->name == "func.func") names.push_back(SymbolName(*operation));
  }
  if (names.empty()) return ErrorAt(*program_.module, InvalidArgument("the module has no function"));
  return ErrorAt(*program_.module,
                 NotFound("the module has no function @%s: choose one of @%s", wanted, absl::StrJoin(names, ", @")));
}

absl::StatusOr<std::vector<const Operation*>> ModuleConverter::OrderFunctions(const Operation& entry) const {
  enum class State { kOpen, kDone };
  absl::flat_hash_map<const Operation*, State> states;
  std::vector<const Operation*> order;
  std::vector<const Operation*> stack = {&entry};
  while (!stack.empty()) {
    const Operation* function = stack.back();
    const auto [state, is_new] = states.try_emplace(function, State::kOpen);
    if (!is_new) {
      stack.pop_back();
      if (state->second == State::kOpen) order.push_back(function);
      state->second = State::kDone;
      continue;
    }
    const Block* block = OnlyBlock(*function);
    if (block == nullptr) return ErrorAt(*function, Unimplemented("a function without a body, or with several blocks"));
    absl::Status error;
    ForEachOperation(*block, [&](const Operation& operation) {
      for (const absl::string_view name : Callees(operation)) {
        const auto callee = functions_.find(name);
        if (callee == functions_.end()) continue;  // an error where the call is converted
        const auto found = states.find(callee->second);
        if (found == states.end()) {
          stack.push_back(callee->second);
        } else if (found->second == State::kOpen) {
          error.Update(ErrorAt(operation, InvalidArgument("@%s calls itself: HLO has no recursion", name)));
        }
      }
    });
    if (!error.ok()) return error;
  }
  return order;
}

absl::StatusOr<std::unique_ptr<HloModule>> ModuleConverter::Convert() {
  KASHI_RETURN_IF_ERROR(ReadSymbols());
  KASHI_ASSIGN_OR_RETURN(const Operation* entry, FindEntry());
  const absl::Status attributes = ReadModuleAttributes();
  if (!attributes.ok()) return ErrorAt(*program_.module, attributes);
  absl::StatusOr<hlo::SdyMeshes> meshes = hlo::SdyMeshesOf(*module_);
  if (!meshes.ok()) return ErrorAt(*program_.module, meshes.status());
  sdy_meshes_ = *std::move(meshes);
  KASHI_ASSIGN_OR_RETURN(const std::vector<const Operation*> order, OrderFunctions(*entry));
  FindDynamicFunctions(order);
  for (const Operation* function : order) {
    const bool is_entry = function == entry;
    if (is_entry || !dynamic_functions_.contains(function)) KASHI_RETURN_IF_ERROR(ConvertFunction(*function, is_entry));
  }
  module_->RemoveDeadCode();
  return std::move(module_);
}

absl::StatusOr<Instructions> ModuleConverter::ConvertBlock(Scope* scope, const Block& block) {
  if (block.operations.empty()) return InvalidArgument("a block must end with a return");
  const Operation& last = *block.operations.back();
  if (!absl::EndsWith(last.name, ".return")) return ErrorAt(last, InvalidArgument("a block must end with a return"));
  for (const Operation* operation : block.operations) {
    if (operation != &last) KASHI_RETURN_IF_ERROR(ConvertOperation(scope, *operation));
  }
  Instructions results;
  for (const Value* operand : last.operands) {
    KASHI_ASSIGN_OR_RETURN(results.emplace_back(), Lookup(scope, *operand, last));
  }
  return results;
}

// Constants of regions around, and values that are known from sizes, are copied into the computation, since HLO's
// computations see only their parameters.
absl::StatusOr<HloInstruction*> ModuleConverter::Lookup(Scope* scope, const Value& value, const Operation& user) {
  const auto found = scope->values.find(&value);
  if (found != scope->values.end()) return found->second;
  if (!IsConstant(value)) {
    for (const Scope* outer = scope->outer; outer != nullptr; outer = outer->outer) {
      const auto there = outer->values.find(&value);
      const Literal* known = there == outer->values.end() ? nullptr : known_.Find(there->second);
      if (known == nullptr) continue;
      return scope->values[&value] = scope->computation->AddInstruction(HloInstruction::CreateConstant(known->Clone()));
    }
    return ErrorAt(user, InvalidArgument("uses a value that is not defined before it in its region; of the values "
                                         "around this region it may only use constants"));
  }
  KASHI_RETURN_IF_ERROR(ConvertOperation(scope, *value.definition));
  return scope->values.at(&value);
}

absl::Status ModuleConverter::ConvertOperation(Scope* scope, const Operation& operation) {
  const ConversionFunction convert = FindConversion(operation.name);
  if (convert == nullptr) return ErrorAt(operation, Unimplemented("HLO has no such operation"));
  const OperationRow* row = FindOperation(operation.name);
  const bool is_complete = row == nullptr || (row->operands.Allows(operation.operands.size()) &&
                                              row->results.Allows(operation.results.size()) &&
                                              (row->regions < 0 || operation.regions.size() == size_t(row->regions)));
  if (!is_complete) return ErrorAt(operation, InvalidArgument("has a wrong number of operands, results or regions"));
  Instructions operands;
  for (const Value* operand : operation.operands) {
    KASHI_ASSIGN_OR_RETURN(operands.emplace_back(), Lookup(scope, *operand, operation));
  }
  if (ComputesQuantized(operation)) {
    const absl::Status status = ConvertQuantized(this, scope, operation, operands, convert);
    return status.ok() ? status : ErrorAt(operation, status);
  }
  OperationConverter converter(this, scope, operation, std::move(operands));
  const absl::Status status = convert(converter);
  return status.ok() ? status : ErrorAt(operation, status);
}

HloComputation* ModuleConverter::Finish(std::unique_ptr<Scope> scope, HloInstruction* root) {
  scope->computation->set_root_instruction(root, /*accept_different_shape=*/true);
  return module_->AddEmbeddedComputation(std::move(scope->computation));
}

absl::StatusOr<std::unique_ptr<Scope>> ModuleConverter::OpenRegion(const Scope& outer) {
  if (outer.depth >= kDeepestConvertedRegion)
    return Unimplemented("regions are nested more than %d deep", kDeepestConvertedRegion);
  return std::make_unique<Scope>(absl::StrCat("region_", region_count_++), outer.depth + 1, &outer);
}

absl::StatusOr<std::unique_ptr<HloModule>> ConvertToHlo(const Program& program, const ConversionOptions& options) {
  absl::StatusOr<std::unique_ptr<HloModule>> module = ModuleConverter(program, options).Convert();
  if (module.ok()) return module;
  return absl::Status(module.status().code(), module.status().message());
}

namespace {

bool ComparesValues(const Operation& operation) {
  if (absl::StartsWith(operation.name, "check.expect_")) return true;
  const Attribute* target = operation.Find("call_target_name");
  return target != nullptr && absl::StartsWith(target->text, "check.expect_");
}

// The one block of the program's module; nullptr if there is none.
const Block* BodyOf(const Program& program) { return program.module == nullptr ? nullptr : OnlyBlock(*program.module); }

}  // namespace

bool HasTests(const Program& program) {
  const Block* block = BodyOf(program);
  if (block == nullptr) return false;
  const std::vector<std::string> free = FreeFunctions(program);
  int64_t functions = 0;
  bool has_main = false;
  for (const Operation* operation : block->operations) {
    if (operation->name != "func.func") continue;
    ++functions;
    has_main = has_main || SymbolName(*operation) == "main";
  }
  if (!has_main) return functions > 1 && !free.empty();
  if (free.size() < 2 || !absl::c_linear_search(free, "main")) return false;
  bool compares = false;
  ForEachOperation(*block, [&](const Operation& operation) { compares = compares || ComparesValues(operation); });
  return compares;
}

std::vector<std::string> FreeFunctions(const Program& program) {
  std::vector<std::string> names;
  const Block* block = BodyOf(program);
  if (block == nullptr) return names;
  absl::flat_hash_set<absl::string_view> called;
  ForEachOperation(*block, [&](const Operation& operation) {
    for (const absl::string_view name : Callees(operation)) called.insert(name);
  });
  for (const Operation* operation : block->operations) {
    if (operation->name != "func.func" || called.contains(SymbolName(*operation))) continue;
    const Block* body = OnlyBlock(*operation);
    if (body != nullptr && body->arguments.empty()) names.emplace_back(SymbolName(*operation));
  }
  return names;
}

}  // namespace kashi::stablehlo
