#include "kashi/query/facts.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_join.h"
#include "kashi/base/check.h"
#include "kashi/base/status.h"
#include "kashi/base/suggest.h"
#include "kashi/query/prepared_facts.h"

namespace kashi::query {
namespace {

constexpr FactInfo kFacts[] = {
#define KASHI_FACT(key, type, need, doc) {#key, FactType::k##type, FactNeed::k##need, doc},
#include "kashi/query/facts.def"
};

bool Needs(const FactSet& facts, FactNeed need) {
  for (size_t i = 0; i < kFactCount; ++i) {
    if (facts.test(i) && kFacts[i].need == need) return true;
  }
  return false;
}

void AddDepths(const HloComputation& computation, absl::flat_hash_map<const HloInstruction*, int64_t>* depths) {
  for (const HloInstruction* x : computation.MakeInstructionPostOrder()) {
    int64_t depth = 0;
    for (const HloInstruction* operand : x->operands()) depth = std::max(depth, depths->at(operand) + 1);
    (*depths)[x] = depth;
  }
}

}  // namespace

absl::Span<const FactInfo> Facts() { return kFacts; }
const FactInfo& InfoOf(Fact fact) { return kFacts[static_cast<size_t>(fact)]; }

std::optional<Fact> FindFact(absl::string_view key) {
  const auto* const found = absl::c_find_if(kFacts, [&](const FactInfo& info) { return info.key == key; });
  if (found == std::end(kFacts)) return std::nullopt;
  return static_cast<Fact>(found - std::begin(kFacts));
}

std::vector<std::string> FactKeys() {
  std::vector<std::string> keys;
  for (const FactInfo& info : kFacts) keys.emplace_back(info.key);
  return keys;
}

absl::Status UnknownFact(absl::string_view key) {
  return InvalidArgumentStrCat("unknown key `", key, "`", base::DidYouMean(key, FactKeys()));
}

ModuleFacts::Prepared::Prepared(const HloModule& module, CallGraph call_graph, ModuleFactsOptions options)
    : module(module), call_graph(std::move(call_graph)), options(std::move(options)) {}

const DeviceSize& ModuleFacts::Prepared::SizeOf(const HloInstruction& instruction) const {
  const Shape* const shape = &instruction.shape();
  const auto [size, is_new] = sizes_.try_emplace(shape);
  if (is_new) {
    DeviceSizeOptions size_options;
    size_options.pad_untiled = false;
    if (const auto known = GetDeviceSize(*shape, size_options); known.ok()) size->second = *known;
  }
  return size->second;
}

Cost ModuleFacts::Prepared::CostOf(const HloInstruction& instruction) const {
  const bool runs_by_itself = call_graph.NodeOf(instruction.parent()).has_buffers;
  if (!runs_by_itself && !instruction.IsFused()) return Cost();
  Cost own = cost->OwnCostOf(&instruction);
  if (!runs_by_itself) own.bytes_accessed = 0;
  return own * execution_counts().CountOf(&instruction);
}

absl::StatusOr<ModuleFacts> ModuleFacts::Prepare(const HloModule& module, const FactSet& facts,
                                                 const ModuleFactsOptions& options) {
  KASHI_ASSIGN_OR_RETURN(CallGraph call_graph, CallGraph::Build(module));
  auto prepared = std::make_unique<Prepared>(module, std::move(call_graph), options);
  const bool needs_time = Needs(facts, FactNeed::kTime);
  if (Needs(facts, FactNeed::kDepth)) {
    for (const HloComputation* computation : module.computations()) AddDepths(*computation, &prepared->depths);
  }
  const bool needs_scopes = Needs(facts, FactNeed::kScopes);
  if (Needs(facts, FactNeed::kCost) || needs_time) {
    KASHI_ASSIGN_OR_RETURN(prepared->cost, insight::CountedCost::Compute(module));
  } else if (Needs(facts, FactNeed::kCounts) || needs_scopes) {
    KASHI_ASSIGN_OR_RETURN(prepared->counts, insight::ExecutionCounts::Compute(module));
  }
  if (needs_scopes) {
    KASHI_ASSIGN_OR_RETURN(prepared->scopes, insight::Scopes::Create(module, prepared->execution_counts()));
  }
  if (needs_time && options.accelerator == nullptr) {
    return InvalidArgument("seconds and what bounds them need a device");
  }
  if (needs_time) {
    KASHI_ASSIGN_OR_RETURN(prepared->roofline,
                           insight::Roofline::Compute(module, *prepared->cost, *options.accelerator));
  }
  return ModuleFacts(std::move(prepared));
}

ModuleFacts::ModuleFacts(std::unique_ptr<Prepared> prepared) : prepared_(std::move(prepared)) {}
ModuleFacts::ModuleFacts(ModuleFacts&&) noexcept = default;
ModuleFacts& ModuleFacts::operator=(ModuleFacts&&) noexcept = default;
ModuleFacts::~ModuleFacts() = default;

const HloModule& ModuleFacts::module() const { return prepared_->module; }
const CallGraph& ModuleFacts::call_graph() const { return prepared_->call_graph; }

FactValue ModuleFacts::ValueOf(Fact fact, const HloInstruction& instruction) const {
  return FunctionOf(fact)(*prepared_, instruction);
}
std::string ModuleFacts::TextOf(Fact fact, const HloInstruction& instruction) const {
  return std::get<std::string>(ValueOf(fact, instruction));
}
bool ModuleFacts::FlagOf(Fact fact, const HloInstruction& instruction) const {
  return std::get<bool>(ValueOf(fact, instruction));
}
Number ModuleFacts::NumberOf(Fact fact, const HloInstruction& instruction) const {
  return std::get<Number>(ValueOf(fact, instruction));
}
std::vector<std::string> ModuleFacts::NamesOf(Fact fact, const HloInstruction& instruction) const {
  return std::get<std::vector<std::string>>(ValueOf(fact, instruction));
}

std::string ValueText(const FactValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* names = std::get_if<std::vector<std::string>>(&value)) return absl::StrJoin(*names, ",");
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  return std::get<Number>(value).ToString();
}

}  // namespace kashi::query
