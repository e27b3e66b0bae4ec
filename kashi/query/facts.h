// The facts of instructions by key (facts.def), and their values for the instructions of a module.
//
//   KASHI_ASSIGN_OR_RETURN(auto facts, ModuleFacts::Prepare(*module, FactSet().set(…), {}));
//   facts.ValueOf(Fact::bytes, *instruction)
#ifndef KASHI_QUERY_FACTS_H_
#define KASHI_QUERY_FACTS_H_

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/analysis/call_graph.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/insight/accelerators.h"
#include "kashi/query/number.h"

namespace kashi::query {

enum class Fact : uint8_t {
#define KASHI_FACT(key, ...) key,
#include "kashi/query/facts.def"
};

inline constexpr size_t kFactCount = [] {
  size_t count = 0;
#define KASHI_FACT(...) ++count;
#include "kashi/query/facts.def"
  return count;
}();
using FactSet = std::bitset<kFactCount>;
inline FactSet SetOf(Fact fact) { return FactSet().set(static_cast<size_t>(fact)); }

enum class FactType { kText, kShape, kNames, kFlag, kCount, kBytes, kFlops, kSeconds };
inline bool IsNumber(FactType type) { return type >= FactType::kCount; }

enum class FactNeed { kNothing, kDepth, kCounts, kCost, kScopes, kTime };

struct FactInfo {
  absl::string_view key;
  FactType type;
  FactNeed need;
  absl::string_view doc;
};

absl::Span<const FactInfo> Facts();  // in the order of the enum
const FactInfo& InfoOf(Fact fact);
std::optional<Fact> FindFact(absl::string_view key);
std::vector<std::string> FactKeys();
// INVALID_ARGUMENT "unknown key `opcod`; did you mean `opcode`?"
absl::Status UnknownFact(absl::string_view key);

// By the type of the fact: std::string for Text and Shape, a list for Names, bool for Flag, and Number.
using FactValue = std::variant<std::string, std::vector<std::string>, bool, Number>;

struct ModuleFactsOptions {
  std::string file;                                   // the value of `file`
  const insight::Accelerator* accelerator = nullptr;  // for `seconds` and `bound`; must outlive the facts
};

class ModuleFacts {
 public:
  // Computes what these facts need of the whole module, and nothing else. INVALID_ARGUMENT for modules with broken
  // links or recursion, and for facts that need a device if there is none. The module must outlive the result and must
  // not change. O(instructions + operands).
  static absl::StatusOr<ModuleFacts> Prepare(const HloModule& module, const FactSet& facts,
                                             const ModuleFactsOptions& options = {});
  ModuleFacts(ModuleFacts&&) noexcept;
  ModuleFacts& operator=(ModuleFacts&&) noexcept;
  ~ModuleFacts();

  // Pre: the module was prepared for the fact.
  FactValue ValueOf(Fact fact, const HloInstruction& instruction) const;
  std::string TextOf(Fact fact, const HloInstruction& instruction) const;                // pre: a Text or a Shape
  bool FlagOf(Fact fact, const HloInstruction& instruction) const;                       // pre: a Flag
  Number NumberOf(Fact fact, const HloInstruction& instruction) const;                   // pre: a number
  std::vector<std::string> NamesOf(Fact fact, const HloInstruction& instruction) const;  // pre: Names

  const HloModule& module() const;
  const CallGraph& call_graph() const;

  struct Prepared;
  const Prepared& prepared() const { return *prepared_; }

 private:
  explicit ModuleFacts(std::unique_ptr<Prepared> prepared);

  std::unique_ptr<Prepared> prepared_;
};

// "1536", "model.py:12", "true"; names with `,` between them.
std::string ValueText(const FactValue& value);

}  // namespace kashi::query

#endif  // KASHI_QUERY_FACTS_H_
