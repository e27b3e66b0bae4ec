// The names in HLO text: where they are defined and used.
//
//   sum {                                  computation
//     x = f32[] parameter(0)               instruction
//     y = f32[] parameter(1)
//     ROOT z = f32[] add(x, y)             … with uses of x and y
//   }
//   ENTRY main { …  ROOT r = f32[] reduce(v, zero), dimensions={0}, to_apply=sum   … and of sum
//
// The index reads any text and never fails: it skips what is no computation and no instruction. So it also serves a
// text that is being written. Names within computations that are written as attributes (`to_apply={ … }`) are skipped.
#ifndef KASHI_EDITOR_TEXT_INDEX_H_
#define KASHI_EDITOR_TEXT_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace kashi::editor {

// The bytes [begin, end) of the text.
struct TextRange {
  size_t begin = 0;
  size_t end = 0;

  bool Contains(size_t offset) const { return begin <= offset && offset <= end; }
};
bool operator==(const TextRange& a, const TextRange& b);

struct IndexedInstruction {
  TextRange name;  // without %
  TextRange whole;
  TextRange shape;  // empty: the text leaves it out
  TextRange opcode;
  bool is_root = false;
};

struct IndexedComputation {
  TextRange name;   // without %
  TextRange whole;  // from ENTRY or the name to the closing brace
  bool is_entry = false;
  std::vector<IndexedInstruction> instructions;
};

class TextIndex {
 public:
  // Borrows the text. O(text).
  explicit TextIndex(absl::string_view text);

  absl::string_view text() const { return text_; }
  absl::string_view TextOf(TextRange range) const { return text_.substr(range.begin, range.end - range.begin); }
  // In the order of the text.
  const std::vector<IndexedComputation>& computations() const { return computations_; }

  // A name that the text defines. Of several definitions of one name, the last.
  struct Name {
    int32_t computation = -1;
    int32_t instruction = -1;  // -1: the name of the computation

    friend bool operator==(Name a, Name b) { return a.computation == b.computation && a.instruction == b.instruction; }
  };
  // The name at `offset` or directly before it, defined or used there. nullopt: none that the text defines.
  std::optional<Name> NameAt(size_t offset) const;
  // The bytes of the name at `offset`, also if it is not defined.
  std::optional<TextRange> RangeAt(size_t offset) const;
  TextRange DefinitionOf(Name name) const;
  // Everywhere that the name is written, its definition included, in the order of the text. O(names).
  std::vector<TextRange> PlacesOf(Name name) const;
  // Whether the scope of `name` has another name with this text.
  bool IsTaken(Name name, absl::string_view text) const;
  // The last computation that begins at `offset` or before it, and ends behind it; -1: none.
  int32_t ComputationAt(size_t offset) const;

 private:
  friend class TextIndexer;

  struct Mention {
    TextRange range;
    int32_t scope;  // the computation that the name of an instruction belongs to; -1: the name of a computation
  };

  const Mention* MentionAt(size_t offset) const;
  std::optional<Name> Resolve(const Mention& mention) const;

  absl::string_view text_;
  std::vector<IndexedComputation> computations_;
  std::vector<Mention> mentions_;  // in the order of the text
  absl::flat_hash_map<absl::string_view, int32_t> computation_numbers_;
  std::vector<absl::flat_hash_map<absl::string_view, int32_t>> instruction_numbers_;  // by computation
};

}  // namespace kashi::editor

#endif  // KASHI_EDITOR_TEXT_INDEX_H_
