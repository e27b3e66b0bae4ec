// The reader behind text_reader.h. One object reads one text and stops at the first error: a method that returns false
// or nullptr has set it.
//
//   mlir_reader.cc      the file: aliases, top-level operations, resources; errors
//   mlir_types.cc       tensor<2x?xf32>, (…) -> …, !quant.uniform<…>
//   mlir_attributes.cc  1 : i32, "text", [..], {..}, @a::@b, array<i64: 1>
//   mlir_elements.cc    dense<…>, dense_resource<…>
//   mlir_numbers.cc     numbers as the bytes of an element type
//   mlir_records.cc     #stablehlo.dot<…>, #stablehlo<precision HIGH>
//   mlir_sdy.cc         #sdy.sharding<…>
//   mlir_locations.cc   loc(…)
//   mlir_operations.cc  results, generic form, regions, values
//   mlir_functions.cc   module, func.func
//   pretty_forms.cc     the table of pretty forms, by operation
//  pretty_regions.cc   the pretty forms of operations with regions
#ifndef KASHI_STABLEHLO_TEXT_MLIR_READER_H_
#define KASHI_STABLEHLO_TEXT_MLIR_READER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/base/diagnostic.h"
#include "kashi/stablehlo/program/default_attributes.h"
#include "kashi/stablehlo/program/normal_form.h"
#include "kashi/stablehlo/program/operation_table.h"
#include "kashi/stablehlo/program/program.h"
#include "kashi/stablehlo/text/text_cursor.h"

namespace kashi::stablehlo {

struct PrettyForm;

// An operation while it is read.
struct OperationDraft {
  absl::string_view name;
  const OperationRow* row = nullptr;  // nullptr: not in the table
  size_t begin = 0;                   // its name's token
  size_t end = 0;
  absl::InlinedVector<Value*, 6> operands;
  absl::InlinedVector<const Type*, 4> result_types;
  absl::InlinedVector<NamedAttribute, 8> attributes;  // as the text has them, then in normal form
  absl::InlinedVector<Region, 2> regions;
};

class MlirReader {
 public:
  explicit MlirReader(const SourceText& source);
  absl::StatusOr<Program> Read();

  // ---- Errors. All return false. -----------------------------------------------------------------------------------
  bool Error(size_t begin, size_t end, std::string message);
  // "expected <what>, got `token`".
  bool ErrorHere(absl::string_view expected);
  bool Expect(char c, absl::string_view where);

  // ---- Types -------------------------------------------------------------------------------------------------------
  const Type* ReadType();
  // Appends the types in `T`, `(T, U)` or `()`.
  bool ReadTypeOrList(absl::InlinedVector<const Type*, 4>* types);
  bool ReadTypeList(absl::InlinedVector<const Type*, 4>* types);  // T, U
  const Type* IntegerListType(PrimitiveType element, int64_t count);
  const Type* TensorType(const Type* element, absl::Span<const int64_t> dimensions);

  // ---- Attributes --------------------------------------------------------------------------------------------------
  const Attribute* ReadAttribute();
  // Appends the fields of {a = 1, b}. An inner dictionary is sorted by name; those of operations are sorted later.
  bool ReadDictionary(absl::InlinedVector<NamedAttribute, 8>* fields);
  const Attribute* ReadSymbol();             // @a::@b
  bool ReadString(absl::string_view* text);  // without quotes, escapes decoded
  bool ReadInt(int64_t* value);              // -3, 0x10
  // A number that must be an f64: a `:` behind it belongs to the operation.
  const Attribute* ReadDouble();
  const Attribute* ReadIntegers();  // [1, 2]: kTensor of i64
  const Attribute* ReadElements();  // after `dense`
  const Attribute* ReadRecord();    // at `#`
  bool ReadRecordFields(absl::string_view record, absl::InlinedVector<NamedAttribute, 8>* fields);  // after `<`, to `>`
  const Attribute* FinishRecord(absl::string_view name, absl::Span<const NamedAttribute> fields, size_t begin);

  Attribute* NewAttribute(Attribute::Kind kind);
  const Attribute* NewInteger(PrimitiveType element, int64_t value);
  const Attribute* NewBool(bool value);
  const Attribute* NewText(Attribute::Kind kind, absl::string_view text);
  const Attribute* NewArray(absl::Span<const Attribute* const> elements);
  const Attribute* NewIntegers(absl::Span<const int64_t> values);
  const Attribute* NewRecord(absl::string_view name, absl::Span<const NamedAttribute> fields);

  // ---- Records of sdy; each at its `<`, or at the first bracket of its short form. ---------------------------------
  const Attribute* ReadSdyRecord(absl::string_view name);  // after `#sdy.name`
  const Attribute* ReadSharding();
  const Attribute* ReadShardings();
  const Attribute* ReadMesh();
  const Attribute* ReadManualAxes();
  const Attribute* ReadAxisRefs(char open, char close);

  // ---- Locations ---------------------------------------------------------------------------------------------------
  // Reads loc(…) if there is one; otherwise leaves *location.
  bool ReadOptionalLocation(const Location** location);

  // ---- Operations --------------------------------------------------------------------------------------------------
  bool ReadOperands(char close, OperationDraft* draft);  // %a, %b and the closing mark
  bool ReadOperand(OperationDraft* draft);
  // Whether an operand follows: there is a `%`.
  bool AtValue() { return cursor_.Peek() == '%'; }
  // {…} with its blocks. `arguments`: of an entry block without a label.
  struct NamedArgument {
    absl::string_view name;
    size_t offset = 0;
    const Type* type = nullptr;
    const Location* location = nullptr;
  };
  using ArgumentList = absl::InlinedVector<NamedArgument, 4>;
  bool ReadRegion(absl::Span<const NamedArgument> arguments, OperationDraft* draft, bool isolated = false);
  bool ReadArgument(NamedArgument* argument);  // %a: T
  // Checks that the operand types of a function type are those of the operands.
  bool CheckOperandTypes(absl::Span<const Type* const> types, const OperationDraft& draft, size_t begin);
  // Reads {…}, if there is one, as attributes of the operation.
  bool ReadOptionalAttributes(OperationDraft* draft);
  void AddAttribute(absl::string_view name, const Attribute* value, OperationDraft* draft);

  TextCursor& cursor() { return cursor_; }
  Program& program() { return program_; }
  DefaultAttributes& defaults() { return defaults_; }

  // Adds a region with an operation of one result: `reduce … applies`.
  bool AddReductionBody(absl::string_view operation, OperationDraft* draft);

 private:
  static constexpr int kMaxRegionDepth = 200;
  static constexpr int kMaxDepth = 100;  // of types and attributes

  // Counts nesting; an error if it is too deep.
  class Depth {
   public:
    Depth(MlirReader* reader, int limit, int* depth) : depth_(depth) { ok_ = ++*depth <= limit || reader->TooDeep(); }
    ~Depth() { --*depth_; }
    bool ok() const { return ok_; }

   private:
    int* depth_;
    bool ok_;
  };
  bool TooDeep() { return Error(cursor_.offset(), cursor_.offset() + 1, "too many levels of nesting"); }

  // The size of a type or an attribute after its aliases are written out. A chain of aliases, each with the one before
  // twice, is short.
  struct WrittenSize {
    static constexpr int64_t kMost = int64_t{1} << 50;
    int depth = 0;
    int64_t parts = 1;
    void Add(const WrittenSize& part) {
      depth = std::max(depth, part.depth + 1);
      parts = std::min(parts + part.parts, kMost);
    }
  };
  // The limit for one type, for the types of all values together, and for all uses of attribute aliases together.
  int64_t MostParts() const { return 64 * (static_cast<int64_t>(source_.text.size()) + 1024); }
  WrittenSize SizeOf(const Type* type) const;
  WrittenSize SizeOf(const Attribute& attribute) const;
  // A type that is composed of types; nullptr after an error.
  Type* NewComposite(Type::Kind kind, absl::Span<const Type* const> types);
  // Sets the type of a value whose definition has these bytes.
  bool SetType(const Type* type, size_t begin, size_t end, Value* value);

  // ---- The file ----
  bool ReadTopLevel();
  bool ReadAlias();
  bool ReadResources();
  bool ReadResourceEntry();
  bool FillResources();
  bool CheckLocations();
  bool FinishModule(std::vector<Operation*>* operations);

  // ---- Types ----
  const Type* ReadTypeUncached();
  const Type* ReadTensor();
  bool ReadDimensions(absl::InlinedVector<int64_t, 8>* dimensions);
  bool ReadEncoding(Type* type);
  bool ReadBounds(Type* type);
  const Type* ReadMemref();
  const Type* ReadComplex();
  const Type* ReadTuple();
  const Type* ReadFunctionType();
  const Type* ReadDialectType();
  const Type* ReadFuture();
  const Type* ReadQuantized();
  bool ReadQuantizedStorage(Quantization* quantization);
  bool ReadScales(Quantization* quantization);
  const Type* NewOtherType(size_t begin);
  Type* NewType(Type::Kind kind);
  // Skips <…>, with strings and other brackets inside.
  bool SkipBalanced();

  // ---- Attributes ----
  const Attribute* ReadNumber();
  const Attribute* ReadArray();
  const Attribute* ReadDenseArray();
  const Attribute* ReadDenseResource();
  const Attribute* ReadWordAttribute();
  bool ReadConvolutionSide(const absl::string_view (&names)[3], absl::InlinedVector<NamedAttribute, 8>* fields);
  const Attribute* ReadFieldValue(absl::string_view record, absl::string_view field);
  const Attribute* NewOther(size_t begin);
  bool ParseElements(absl::string_view literal, size_t begin, Attribute* attribute);
  bool ParseHexElements(absl::string_view digits, size_t begin, Attribute* attribute);
  bool UnpackBools(absl::string_view bytes, Attribute* attribute, int64_t count);
  const Attribute* NumberAttribute(absl::string_view token, size_t begin, const Type* type);

  // ---- Records of sdy ----
  const Attribute* ReadDimensionSharding();
  bool ReadAxisRef(const Attribute** axis);
  const Attribute* ReadMeshAxis();

  // ---- Locations ----
  const Location* ReadLocation();  // inside loc( )
  const Location* ReadFileOrName();
  const Location* ReadFused();
  const Location* ReadCallSite();
  bool ReadFilePosition(Location* location);
  Location* LocationAlias(absl::string_view name, size_t offset);

  // ---- Operations ----
  struct ResultName {
    absl::string_view name;
    size_t offset = 0;
    int64_t count = 1;
  };
  bool ReadOperation(std::vector<Operation*>* operations);
  bool ReadResultNames(absl::InlinedVector<ResultName, 4>* names);
  bool ReadOperationName(OperationDraft* draft, bool* generic);
  bool FindOperationName(absl::string_view name, OperationDraft* draft);
  bool UnknownOperation(absl::string_view name, size_t begin, size_t end);
  bool ReadGeneric(OperationDraft* draft);
  bool ReadSignature(OperationDraft* draft);
  bool Finish(OperationDraft* draft, absl::Span<const ResultName> names, std::vector<Operation*>* operations);
  bool NormaliseAttributes(OperationDraft* draft, Operation* operation);
  bool CheckCounts(const OperationDraft& draft);
  bool DefineResults(Operation* operation, absl::Span<const ResultName> names);
  bool ReadBlocks(absl::Span<const NamedArgument> arguments, Region* region);
  bool ReadBlock(absl::Span<const NamedArgument> arguments, Block* block);
  bool ReadBlockLabel(ArgumentList* arguments);

  // ---- Values ----
  struct ValueEntry {
    Value* first = nullptr;
    int64_t count = 0;
    size_t log_index = 0;
  };
  ValueEntry* FindEntry(absl::string_view name, bool create);
  bool Define(absl::string_view name, size_t offset, Value* first, int64_t count);
  void Forget(size_t log_size);

  SourceText source_;
  TextCursor cursor_;
  Program program_;
  DefaultAttributes defaults_;
  NormalForm normal_form_;
  Diagnostic error_;
  bool failed_ = false;

  int depth_ = 0;
  int region_depth_ = 0;

  absl::flat_hash_map<absl::string_view, const Type*> types_;  // by spelling
  absl::flat_hash_map<absl::string_view, const Type*> type_aliases_;
  absl::flat_hash_map<const Type*, WrittenSize> type_sizes_;  // of types of types
  int64_t value_parts_ = 0;                                   // of the types of all values
  absl::flat_hash_map<absl::string_view, const Attribute*> aliases_;
  absl::flat_hash_map<const Attribute*, WrittenSize> attribute_sizes_;  // of aliases
  int64_t alias_parts_ = 0;                                             // of all uses of them

  struct NamedLocation {
    Location* location = nullptr;
    size_t offset = 0;
    bool defined = false;
  };
  absl::flat_hash_map<absl::string_view, NamedLocation> locations_;
  absl::flat_hash_set<const Location*> undefined_locations_;  // used, or begun, but not defined so far

  // Values by name: %12 is in numbered_, others are in named_. The log undoes the definitions of a region.
  std::vector<ValueEntry> numbered_;
  absl::flat_hash_map<absl::string_view, ValueEntry> named_;
  struct LogEntry {
    absl::string_view name;
    ValueEntry before;
  };
  std::vector<LogEntry> log_;
  size_t first_visible_ = 0;  // entries of the log before it lie outside of an isolated region

  struct ResourceUse {
    absl::string_view name;
    size_t begin = 0;
    size_t end = 0;
    Attribute* attribute = nullptr;
  };
  std::vector<ResourceUse> resource_uses_;
  struct Resource {
    absl::string_view digits;  // without "0x"
    size_t offset = 0;
  };
  absl::flat_hash_map<absl::string_view, Resource> resources_;
};

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_TEXT_MLIR_READER_H_
