// Lines of the text of a module that fit a regular expression, with the computation and the instruction that they
// belong to.
#ifndef KASHI_QUERY_TEXT_SEARCH_H_
#define KASHI_QUERY_TEXT_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/query/regular_expression.h"

namespace kashi::query {

struct TextMatch {
  int64_t line = 1;                             // of the text
  absl::string_view text;                       // the line without its newline
  size_t begin = 0, end = 0;                    // the first fit: bytes of the line
  const HloComputation* computation = nullptr;  // null: the head of the module, or between computations
  const HloInstruction* instruction = nullptr;  // null: the head of the computation
};

// Where the instructions and computations of a module are in its text.
class ModuleText {
 public:
  // The text that the module was read from. Both must outlive this. O(text).
  static ModuleText ReadFrom(const HloModule& module, absl::string_view text);
  // The module as text: what HloModule::ToString prints. The module must outlive this.
  static ModuleText PrintOf(const HloModule& module);
  ModuleText(ModuleText&&) = default;
  ModuleText& operator=(ModuleText&&) = default;

  // Calls `visit` for each line that fits, until it returns false. O(text).
  void Find(const RegularExpression& pattern, absl::FunctionRef<bool(const TextMatch&)> visit) const;

 private:
  // What begins at a place of the text; nothing: the end of a computation.
  struct Place {
    size_t line = 0;    // from 0 on
    size_t column = 0;  // bytes from the beginning of the line
    const HloComputation* computation = nullptr;
    const HloInstruction* instruction = nullptr;
  };

  ModuleText() = default;
  void SplitLines(absl::string_view text);
  void AddEndsAndHeads();
  void SortPlaces();

  std::string printed_;
  std::vector<absl::string_view> lines_;
  std::vector<Place> places_;  // in the order of the text
};

}  // namespace kashi::query

#endif  // KASHI_QUERY_TEXT_SEARCH_H_
