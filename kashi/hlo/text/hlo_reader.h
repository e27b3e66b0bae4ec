// Internal to hlo_parser: the reader of HLO text. One pass over the bytes. Each construct has one function, which moves
// the scanner to the end of the construct, and returns false after an error. Grammar: docs/spec/hlo.md, section 1.
//
//   hlo_reader_module.cc             module head, tables, order of computations, steps at the end
//   hlo_reader_computation.cc        computations and names
//   hlo_reader_instruction.cc        an instruction: shape, opcode, operands
//   hlo_reader_operation.cc          single operations: fields, inferred results
//   hlo_reader_check.cc              checks of single operations
//   hlo_reader_attributes.cc         attributes, one function for each codec of attributes.def
//   hlo_reader_common_attributes.cc  attributes of any instruction: metadata, sharding, origin and others
//   hlo_reader_values.cc             values of attributes: numbers, lists, windows, literals, groups of devices
//
// The reader is fast because it remembers: shapes, metadata and backend configs repeat, so it reads each distinct text
// once and shares the value.
#ifndef KASHI_HLO_TEXT_HLO_READER_H_
#define KASHI_HLO_TEXT_HLO_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kashi/base/diagnostic.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/ir/original_value.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/hlo/text/stack_frames.h"
#include "kashi/hlo/text/text_scanner.h"
#include "kashi/literal/literal_parser.h"

namespace kashi::hlo {

// The parts of an instruction that have been read so far.
struct PendingInstruction {
  HloOpcode opcode = HloOpcode::kAdd;
  // Of `add-start(…)`: the opcode is async-start, -update or -done, and this is the wrapped operation.
  std::optional<HloOpcode> wrapped_opcode;
  size_t opcode_begin = 0;
  size_t begin = 0;  // of the instruction
  HloTextPlace place;
  absl::string_view name;
  bool has_shape = false;
  bool is_wrapped = false;    // the wrapped operation of the short form `add-start(…)`
  bool has_operands = false;  // the operands are read, and the scanner is after them
  SharedShape shape;
  absl::InlinedVector<HloInstruction*, 8> operands;
  HloFieldList fields;
  base::SharedValue<OpMetadata> metadata;
  base::SharedValue<std::string> backend_config;
  std::unique_ptr<HloInstructionExtras> extras;
  std::vector<HloInstruction*> control_predecessors;
  // The attributes read so far: bits of the operation's list, then of the common ones.
  uint32_t seen = 0;
  uint32_t seen_common = 0;

  HloInstructionExtras* mutable_extras() {
    if (!extras) extras = std::make_unique<HloInstructionExtras>();
    return extras.get();
  }
};

// A computation that is being read.
struct ReaderScope {
  std::unique_ptr<HloComputation> computation;
  absl::flat_hash_map<absl::string_view, HloInstruction*> names;  // null: its definition had an error
  absl::flat_hash_set<int64_t> parameter_numbers;
  HloInstruction* root = nullptr;  // marked ROOT
  HloInstruction* last = nullptr;  // read last
};

class HloReader {
 public:
  HloReader(absl::string_view text, const HloModuleConfig& config, const HloParserOptions& options);

  // Reads the whole text as a module; null after errors.
  std::unique_ptr<HloModule> ReadModule();
  // Reads the whole text as such a part; false after an error.
  bool ReadWhole(std::vector<Shape>* shapes) { return ReadShapeBraces(shapes) && ExpectEnd(); }
  bool ReadWhole(FrontendAttributes* attributes) { return ReadFrontendAttributes(attributes) && ExpectEnd(); }
  bool ReadWhole(StatisticsViz* statistics) { return ReadStatistics(statistics) && ExpectEnd(); }
  bool ReadWhole(std::shared_ptr<OriginalValue>* origin) { return ReadOrigin(origin) && ExpectEnd(); }
  bool ReadWhole(std::vector<bool>* replicated) { return ReadParameterReplication(replicated) && ExpectEnd(); }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  std::vector<Diagnostic>* mutable_diagnostics() { return &diagnostics_; }

 private:
  using Pending = PendingInstruction;
  using Scope = ReaderScope;

  // ---- Errors.
  bool Error(size_t begin, size_t end, std::string message);
  bool ErrorHere(absl::string_view expected);  // "expects …", at the current token
  bool ExpectEnd() { return scan_.AtEnd() || ErrorHere("the end of the text"); }
  size_t TokenEnd(size_t begin) const;
  HloTextPlace PlaceOf(size_t offset);
  void Warning(size_t begin, size_t end, std::string message);

  // ---- Module.
  bool ReadModuleHead();
  bool ReadHeadAttributes();
  bool ReadHeadAttribute(absl::string_view name, size_t begin);
  bool ReadTables();
  bool ReadFrames();
  bool ReadFieldOfTable(absl::string_view name, int32_t* value);
  bool ReadComputations();
  bool LooksLikeSingleInstruction();
  bool ReadSingleInstruction();
  bool Finish();
  bool SettleAliases();
  bool SettleEntry();
  void SettleNames();
  void SettleThreads();
  void SettleSchedule();
  bool ReadAliases();
  bool ReadDonors();
  bool ReadEntryLayout();
  bool ReadPropagation(HloModuleConfig::BoolList* list);
  bool ReadRecoveryTable();
  bool ReadOriginalArray(OriginalArray* array);

  // ---- Computations.
  bool ReadComputation();
  bool ReadSignature(std::optional<Shape>* result_shape, size_t* shape_begin);
  bool ReadInstructionList();
  bool FinishComputation(bool is_entry, absl::string_view name, size_t name_begin);
  HloComputation* ReadInlineComputation();
  HloComputation* ReadComputationName();
  // A name as instructions and computations have it: `%name`, `name`, `name:`. Empty after an error.
  absl::string_view ReadName();
  bool NameIsLegal(absl::string_view name, size_t begin);
  static bool IsRefusedName(absl::string_view name);  // of instructions
  void SkipInstruction(size_t begin);

  // ---- Instructions.
  bool ReadInstruction();
  bool ReadRightSide(Pending* pending, bool nested);
  bool ReadOpcode(Pending* pending);
  bool ReadShape(SharedShape* shape);
  bool MayBeShape();
  absl::string_view FindShapeText();
  bool ReadOperands(Pending* pending);
  bool OpensParenthesis(size_t ahead) const;
  bool ReadOperand(Pending* pending);
  bool ReadOperandOfSingleInstruction(Pending* pending, const SharedShape& shape, bool has_shape);
  bool ReadParameterNumber(Pending* pending);
  bool ReadConstant(Pending* pending);
  bool CheckArity(Pending* pending);
  bool ReadNestedOperand(Pending* pending, Pending* operand, absl::string_view opcode);
  bool MakeNestedOperand(Pending* pending, Pending* operand, absl::string_view opcode);
  HloInstruction* MakeInstruction(Pending* pending);
  bool CompleteFields(Pending* pending);
  bool CompleteField(HloAttribute attribute, Pending* pending);
  bool CheckOperation(const Pending& pending);
  bool CheckDefault(const Pending& pending);
#define KASHI_TEXT_CHECK(name) bool Check##name(const Pending& pending);
#include "kashi/hlo/ir/op_rules.def"
  bool CheckHasTupleShape(const Pending& pending);
  bool CheckSlicing(const Pending& pending, size_t fixed_operands);
  static const Shape* WrittenShape(const Pending& pending) {
    return pending.has_shape ? &pending.shape->shape() : nullptr;
  }
  bool RebuildShape(Pending* pending);
  bool InferShape(const Pending& pending, HloInstruction* instruction);
  bool TakeUnwritten(const Pending& pending, const Shape& shape);
  HloInstruction* Add(Pending* pending);
  bool ErrorIn(const Pending& pending, std::string message);  // on the opcode
  bool FatalIn(const Pending& pending, std::string message);  // where XLA ends its process
  bool CompleteAsyncStart(Pending* pending);
  bool CompleteAsyncLater(Pending* pending);
  HloComputation* WrapAsync(Pending* pending);
  void TellWrapped(HloInstruction* instruction);

  // ---- Attributes.
  bool ReadAttributes(Pending* pending);
  // `name=`. `begin` is the position of the name.
  bool ReadAttributeName(absl::string_view* name, size_t* begin);
  bool HasSeen(const Pending& pending, HloAttribute attribute) const;
  bool ReadAttribute(Pending* pending);
  static absl::Span<const absl::string_view> CommonAttributes();  // that any instruction may have
  static bool IsAnyAttribute(absl::string_view name);
  bool ReadCommonAttribute(absl::string_view name, Pending* pending, bool* found);
  bool ReadUnknownAttribute(absl::string_view name, size_t begin, Pending* pending);
  std::string AllowedAttributes(const Pending& pending) const;
  bool MayHave(const Pending& pending, HloAttribute attribute) const;
  absl::Span<const HloOpcodeAttribute> AttributesOf(const Pending& pending) const;
  bool CheckRequired(const Pending& pending);
  bool ReadMetadata(Pending* pending);
  bool ReadBackendConfig(Pending* pending);
  bool ReadSharding(std::shared_ptr<const HloSharding>* sharding);
  bool ReadFrontendAttributes(FrontendAttributes* attributes);
  bool ReadStatistics(StatisticsViz* statistics);
  bool ReadParameterReplication(std::vector<bool>* replicated);
  bool ReadParameterReplicationOf(Pending* pending);
  bool ReadControlPredecessors(std::vector<HloInstruction*>* predecessors);
  bool ReadOrigin(std::shared_ptr<OriginalValue>* origin);
  bool ReadOriginNode(OriginalValue::Node* node, int depth);

  // A number, a list, … of any attribute.
  bool ReadIntValue(int64_t* value);
  bool ReadBoolValue(bool* value);
  bool ReadIntBraces(Int64List* list);
  bool ReadStringValue(std::string* value);
  bool ReadShapeIndex(ShapeIndex* index);
  bool ReadShapeBraces(std::vector<Shape>* shapes);
  bool ReadIntLists(std::vector<Int64List>* lists);
  bool ReadPairs(SourceTargetPairs* pairs);
  bool ReadComputationNames(ComputationVector* computations);
  bool ReadSliceRanges(SliceRanges* ranges);
  bool ReadAliasingPairs(OutputOperandAliasingPairs* pairs);
  bool ReadWindowText(Window* window);
  bool ReadDimLabelsText(ConvolutionDimensionNumbers* numbers);
  bool ReadPaddingText(PaddingConfig* padding);
  bool ReadAccuracyText(ResultAccuracy* accuracy);
  bool ReadDeviceList(CollectiveDeviceList* devices);
  bool ReadGroupModeName();
  bool ReadDomainShardings(std::optional<DomainShardings>* shardings);
  std::optional<Literal> ReadLiteralWithShape(int depth);

  // Codecs: attributes.def. `argument` as there.
  template <typename Enum, typename Parse>
  bool ReadWord(absl::string_view what, Parse parse, Enum* value);
  using AttributeFunction = bool (HloReader::*)(Pending*);
  static AttributeFunction FunctionOf(HloAttribute attribute);
#define KASHI_CODEC(name)                 \
  template <HloField field, int argument> \
  bool Read##name(Pending* pending);
#include "kashi/hlo/ir/codecs.def"

  TextScanner scan_;
  const HloParserOptions options_;
  std::vector<Diagnostic> diagnostics_;
  int64_t errors_ = 0;
  bool is_fatal_ = false;  // one of the errors ends XLA's process
  int nesting_ = 0;        // of operands
  // The remaining budget for data that the text implies without writing it. Normal text implies little more than it
  // writes.
  int64_t unlisted_bytes_ = kDefaultUnlistedBytes;
  int64_t unwritten_subshapes_;

  std::unique_ptr<HloModule> module_;
  HloModuleConfig config_;
  std::vector<std::unique_ptr<Scope>> scopes_;  // the computation being read last; the others around it
  std::unique_ptr<Scope> spare_scope_;
  absl::flat_hash_map<absl::string_view, HloComputation*> computation_names_;
  struct FinishedComputation {
    std::unique_ptr<HloComputation> computation;
    bool is_entry;
  };
  std::vector<FinishedComputation> finished_;
  HloComputation* entry_ = nullptr;
  bool is_scheduled_ = false;
  bool changes_config_ = false;  // the head gives replicas, partitions, propagation or passed parameters
  bool single_instruction_ = false;
  std::vector<HloInstruction*> async_starts_;  // in the order of the text

  // Head attributes that need the computations.
  struct AliasText {
    size_t begin;
    size_t end;
    ShapeIndex output_index;
    HloInputOutputAliasConfig::Alias alias;
  };
  std::vector<AliasText> aliases_;
  HloBufferDonorConfig donors_;

  // The tables as they are written; the module has them in the order of use.
  StackFrameIndex written_frames_;
  std::unique_ptr<StackFrameCopier> frames_;

  // The values of texts that have been read before.
  absl::flat_hash_map<absl::string_view, SharedShape> shapes_;
  absl::flat_hash_map<absl::string_view, base::SharedValue<OpMetadata>> metadata_;
  absl::flat_hash_map<absl::string_view, base::SharedValue<std::string>> backend_configs_;
  absl::flat_hash_map<absl::string_view, std::shared_ptr<const HloSharding>> shardings_;

  // The position up to which lines have been counted.
  uint32_t line_ = 1;
  size_t line_begin_ = 0;
  size_t line_end_;
};

}  // namespace kashi::hlo

#endif  // KASHI_HLO_TEXT_HLO_READER_H_
