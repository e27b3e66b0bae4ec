// One open HLO text, and the answers to an editor's questions about it. All places are byte offsets of the text.
//
//   Document document("m.hlo", text, verify);
//   document.HoverAt(offset)            shape, layout, bytes of the thing there, as Markdown
//   document.DefinitionAt(offset)       where its name is defined
//   document.Rename(offset, "logits")   the places to replace
//
// Names are found in any text; facts about shapes need a text that the reader of HLO accepts.
#ifndef KASHI_EDITOR_DOCUMENT_H_
#define KASHI_EDITOR_DOCUMENT_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/base/diagnostic.h"
#include "kashi/editor/text_index.h"
#include "kashi/editor/text_positions.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/verifier/hlo_verifier.h"

namespace kashi::editor {

struct Hover {
  TextRange range;       // the text that it is about
  std::string markdown;  // ends with a newline
};

// A line of the outline. Instructions are children of their computation.
struct OutlineItem {
  std::string name;
  std::string detail;  // "ENTRY, 12 instructions", or "f32[2,3] dot"
  TextRange whole;
  TextRange selection;  // the name
  std::vector<OutlineItem> children;
};

struct Completion {
  enum class Kind { kOpcode, kAttribute, kInstruction, kComputation };
  std::string text;
  Kind kind = Kind::kOpcode;
  std::string detail;  // one line: the meaning of the opcode, the shape of the instruction
};

using VerifyFunction = std::function<std::vector<HloFinding>(const HloModule&)>;

class Document {
 public:
  // Reads the text and, if it is a module, calls `verify`. Never fails: errors are diagnostics.
  Document(std::string name, std::string text, const VerifyFunction& verify);

  const std::string& text() const { return *text_; }
  const TextIndex& index() const { return index_; }
  const TextPositions& positions() const { return positions_; }
  // Null if the text has errors.
  const HloModule* module() const { return module_.get(); }
  // In the order of the text.
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

  std::optional<Hover> HoverAt(size_t offset) const;
  std::optional<TextRange> DefinitionAt(size_t offset) const;
  // Everywhere that the name at `offset` is written; empty if no defined name is there.
  std::vector<TextRange> PlacesAt(size_t offset) const;
  std::vector<OutlineItem> Outline() const;
  // The opcodes, attributes and names that begin with the word before `offset`, and fit there.
  std::vector<Completion> CompletionsAt(size_t offset) const;
  // The places to replace by `name`. INVALID_ARGUMENT if there is no name at `offset`, if `name` is none in HLO text,
  // or if its scope has it already.
  absl::StatusOr<std::vector<TextRange>> Rename(size_t offset, absl::string_view name) const;

 private:
  void AddFindings(const std::vector<HloFinding>& findings);
  // The module's instruction with this name; null without a module.
  const HloInstruction* Find(TextIndex::Name name) const;
  const HloComputation* FindComputation(TextIndex::Name name) const;
  // The instruction whose text has `offset`.
  std::optional<TextIndex::Name> InstructionAround(size_t offset) const;
  std::optional<Hover> HoverOfOperation(size_t offset) const;

  std::string name_;
  std::unique_ptr<const std::string> text_;  // a place of its own, as others borrow it
  TextIndex index_;
  TextPositions positions_;
  std::unique_ptr<HloModule> module_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace kashi::editor

#endif  // KASHI_EDITOR_DOCUMENT_H_
