// Internal to the printer of HLO text: a buffer with fast appends (no virtual calls), and helpers that the parts of the
// printer share.
#ifndef KASHI_HLO_TEXT_HLO_TEXT_H_
#define KASHI_HLO_TEXT_HLO_TEXT_H_

#include <charconv>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/base/printer.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_print_options.h"

namespace kashi {

class TextBuffer final : public Printer {
 public:
  void Append(const absl::AlphaNum& text) override { Add(text.Piece()); }
  void Add(absl::string_view text) { text_.append(text.data(), text.size()); }
  void Add(char c) { text_.push_back(c); }
  void AddInt(int64_t value) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
    text_.append(digits, end - digits);
  }
  // 1,2,3
  void AddInts(absl::Span<const int64_t> values) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0) Add(',');
      AddInt(values[i]);
    }
  }
  void Reserve(size_t size) { text_.reserve(size); }
  absl::string_view text() const { return text_; }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

// Prints an instruction and the computations that it calls. `tmp_0`, … are the canonical names of the computation being
// printed.
class HloTextPrinter {
 public:
  HloTextPrinter(TextBuffer* out, const HloPrintOptions& options) : out_(*out), options_(options) {}

  void PrintModule(const HloModule& module);
  void PrintComputation(const HloComputation& computation, absl::Span<const HloInstruction* const> order);
  void PrintComputation(const HloComputation& computation);
  void PrintInstruction(const HloInstruction& instruction);

 private:
  using CanonicalNames = absl::flat_hash_map<const HloInstruction*, int64_t>;

  void PrintModuleHead(const HloModule& module);
  void PrintTables(const HloModule& module);
  void PrintRecoveryTable(const HloModule& module);
  void PrintSignature(const HloComputation& computation);
  void PrintName(absl::string_view name);
  void PrintCanonicalName(const HloInstruction* instruction);
  void PrintShape(const SharedShape& shape);
  void PrintOpcode(const HloInstruction& instruction);
  void PrintOperands(const HloInstruction& instruction);
  void PrintOperand(const HloInstruction* operand);
  void PrintConstant(const HloInstruction& instruction);
  void PrintAttributes(const HloInstruction& instruction);
  void PrintAttributesOf(const HloInstruction& instruction, bool frontend);
  void PrintAttribute(const HloInstruction& instruction, HloAttribute attribute);
  void PrintOperationAttributes(const HloInstruction& instruction);
  void PrintStatistics(const HloInstruction& instruction);
  void PrintExtras(const HloInstruction& instruction, bool frontend);
  void PrintMetadataAttribute(const HloInstruction& instruction);
  void PrintBackendConfig(const HloInstruction& instruction);
  void PrintBodies(const HloInstruction& instruction);
  void PrintCalled(const HloComputation* computation);
  bool NamesCalledComputations() const {
    return options_.print_subcomputation_mode() == HloPrintOptions::PrintSubcomputationMode::kNameOnly;
  }
  bool IsEssential(const HloInstruction& constant) const;

  // `, name=`: every codec begins its attribute with it.
  void Begin(HloAttribute attribute);

  using AttributeFunction = void (HloTextPrinter::*)(const HloInstruction&, HloOpcodeAttribute);
  static AttributeFunction FunctionOf(HloAttribute attribute);
  template <HloField field, int argument>
  void PrintValue(const HloInstruction& instruction, HloOpcodeAttribute entry);
#define KASHI_CODEC(name)                 \
  template <HloField field, int argument> \
  void Print##name(const HloInstruction& instruction, HloOpcodeAttribute entry);
#include "kashi/hlo/ir/codecs.def"

  TextBuffer& out_;
  HloPrintOptions options_;
  const HloModule* module_ = nullptr;
  CanonicalNames* canonical_names_ = nullptr;
};

// `{a="1",b={"c":2}}`: values that look like JSON dictionaries have no quotes. See ParseFrontendAttributes.
std::string FrontendAttributesToString(const FrontendAttributes& attributes);

}  // namespace kashi

#endif  // KASHI_HLO_TEXT_HLO_TEXT_H_
