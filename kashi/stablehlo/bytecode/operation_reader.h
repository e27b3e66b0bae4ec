// The section of operations (docs/spec/vhlo.md 1.7, 3.4). Upgrades operations of old versions to the newest (4).
#ifndef KASHI_STABLEHLO_BYTECODE_OPERATION_READER_H_
#define KASHI_STABLEHLO_BYTECODE_OPERATION_READER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/stablehlo/bytecode/byte_cursor.h"
#include "kashi/stablehlo/bytecode/bytecode_file.h"
#include "kashi/stablehlo/bytecode/entries.h"
#include "kashi/stablehlo/bytecode/plain_properties.h"
#include "kashi/stablehlo/program/default_attributes.h"
#include "kashi/stablehlo/program/normal_form.h"
#include "kashi/stablehlo/program/operation_table.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {

// The most regions within each other; more is an error, so that code that walks a program may recurse.
inline constexpr size_t kDeepestRegion = 64;

class OperationReader {
 public:
  // Borrows everything.
  OperationReader(const BytecodeFile& file, Program* program, ReadError* error);

  // Sets the program's module, or the error.
  void Read();

 private:
  // The name of an operation, which is looked up at its first use.
  struct Name {
    absl::string_view text;             // "stablehlo.add"; empty before the first use
    const OperationRow* row = nullptr;  // null: an operation of chlo
    int8_t version = 1;                 // of VHLO
    bool is_vhlo = false;
    std::vector<PlainProperty> properties = {};  // not of VHLO
  };
  // An entry of the section of properties, as attributes of the operation that used it last.
  struct Properties {
    size_t name = 0;
    bool is_read = false;
    absl::Span<const NamedAttribute> attributes;
  };
  // A region that is being read.
  struct Frame {
    explicit Frame(const ByteCursor& behind) : after(behind) {}

    ByteCursor after;  // behind the regions' section, if they have one of their own
    bool has_section = false;
    bool is_isolated = false;
    const Operation* parent = nullptr;
    absl::Span<Region> regions;  // of the parent
    size_t region = 0;
    size_t block = 0;
    size_t operation = 0;
    absl::Span<Operation> operations;  // of the block
    size_t scope = 0;                  // of the values around an isolated parent
    size_t first_value = 0;            // of the region, in values_
    size_t next_value = 0;
  };
  // Parts of an operation between its name and its regions.
  struct Header {
    size_t name = 0;
    size_t begin = 0;
    uint8_t mask = 0;
    const Attribute* dictionary = nullptr;
    bool has_properties = false;  // in their section: entry `properties`
    size_t properties = 0;
    const Attribute* unregistered = nullptr;
  };

  void ReadTop();
  void Step();
  void BeginRegion(Frame* frame);
  void BeginBlock(Frame* frame);
  void ReadArguments(Frame* frame, Block* block);
  void EndRegion();
  void ReadOperation(Operation* operation, Frame* frame);
  void ReadHeader(Header* header, Operation* operation);
  void ReadResults(Operation* operation, Frame* frame);
  void ReadOperands(Operation* operation);
  void ReadRegions(Operation* operation, const Header& header);
  void SkipUseListOrders(size_t values);
  void Define(Value* value, Frame* frame);
  const Name* FindName(size_t name, size_t begin);
  void CheckCounts(const Operation& operation, const OperationRow& row, size_t begin);

  // Attributes.
  void SetAttributes(const Header& header, const Name& name, Operation* operation);
  void ReadProperties(const Header& header, const Name& name, const Operation& operation, Properties* properties);
  void SetPlainAttributes(const Header& header, const Name& name, Operation* operation);
  void ReadPlainProperties(const Header& header, const Name& name);
  void AddNewer(const Name& name, const Operation& operation, size_t begin);
  bool IsProperty(const Name& name, absl::string_view attribute) const;
  const Attribute* VhloForm(const Attribute* attribute, const AttributeRow& row, const OperationRow& operation,
                            size_t begin);
  bool CountCopies(const Header& header);
  ByteCursor PropertiesOf(const Header& header);

  const BytecodeFile& file_;
  Program* program_;
  ReadError* error_;
  DefaultAttributes defaults_;
  NormalForm normal_form_;
  Entries entries_;
  ByteCursor bytes_;
  std::vector<Name> names_;
  std::vector<Properties> properties_;
  std::vector<Frame> frames_;
  std::vector<Value*> values_;   // of the regions that are being read; nullptr: not defined yet
  size_t scope_ = 0;             // where numbers of values begin
  size_t undefined_values_ = 0;  // in values_
  absl::flat_hash_map<const Attribute*, const Attribute*> symbols_;  // by arrays of strings
  std::vector<NamedAttribute> scratch_;
  size_t copied_attributes_ = 0;  // from dictionaries
};

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_BYTECODE_OPERATION_READER_H_
