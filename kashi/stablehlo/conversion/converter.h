// The parts that conversion functions (convert_*.cc) work with: the module that is being made, the computation that
// instructions go to, and the operation at hand.
#ifndef KASHI_STABLEHLO_CONVERSION_CONVERTER_H_
#define KASHI_STABLEHLO_CONVERSION_CONVERTER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/stablehlo/conversion/locations.h"
#include "kashi/stablehlo/conversion/stablehlo_to_hlo.h"
#include "kashi/stablehlo/program/attribute_access.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {

using Instructions = std::vector<HloInstruction*>;
using PairList = std::vector<std::pair<int64_t, int64_t>>;

// Regions may nest this deep.
inline constexpr int kDeepestConvertedRegion = 200;

// A computation on its way, and what its values have become.
struct Scope {
  explicit Scope(std::string name, int depth) : computation(std::make_unique<HloComputation>(name)), depth(depth) {}
  std::unique_ptr<HloComputation> computation;
  absl::flat_hash_map<const Value*, HloInstruction*> values;
  int depth;
};

// Whether the value is a constant, which regions may use without taking it as an argument.
bool IsConstant(const Value& value);

class ModuleConverter {
 public:
  ModuleConverter(const Program& program, const ConversionOptions& options);

  absl::StatusOr<std::unique_ptr<HloModule>> Convert();

  // An error about an operation: adds the place and the name of the operation, unless it has a place already.
  absl::Status ErrorAt(const Operation& operation, const absl::Status& error) const;
  // What a value has become in the scope. A constant of a region around is copied. An error at `user` otherwise.
  absl::StatusOr<HloInstruction*> Lookup(Scope* scope, const Value& value, const Operation& user);

  HloModule* module() { return module_.get(); }
  LocationConverter& locations() { return locations_; }

  // The computation of a function that was converted before its callers; an error if there is no such function.
  absl::StatusOr<HloComputation*> Function(absl::string_view name) const;
  // The sdy.mesh of that name; nullptr if there is none.
  const Attribute* FindMesh(absl::string_view name) const;

  // The operations of the block, into the scope. Returns what its last operation returns.
  absl::StatusOr<Instructions> ConvertBlock(Scope* scope, const Block& block);
  // Adds a computation that is complete but for its root.
  HloComputation* Finish(std::unique_ptr<Scope> scope, HloInstruction* root);
  // A scope for a region of an operation in `outer`; an error if regions nest too deep.
  absl::StatusOr<std::unique_ptr<Scope>> OpenRegion(const Scope& outer);

 private:
  absl::Status ReadSymbols();
  absl::StatusOr<const Operation*> FindEntry() const;
  absl::Status ReadModuleAttributes();
  // The functions that the entry calls, callees first, the entry last.
  absl::StatusOr<std::vector<const Operation*>> OrderFunctions(const Operation& entry) const;
  absl::Status ConvertFunction(const Operation& function, bool is_entry);
  absl::StatusOr<HloInstruction*> MakeParameter(Scope* scope, const Operation& function, int64_t number, bool is_entry);
  absl::StatusOr<HloInstruction*> MakeEntryRoot(Scope* scope, const Operation& function, Instructions results);
  absl::Status SetEntryAttributes(const Operation& function);
  absl::Status SetEntryLayouts(const Operation& function, ComputationLayout* layout);
  absl::Status ConvertOperation(Scope* scope, const Operation& operation);

  const Program& program_;
  const ConversionOptions& options_;
  std::unique_ptr<HloModule> module_;
  LocationConverter locations_;
  absl::flat_hash_map<absl::string_view, const Operation*> functions_;
  absl::flat_hash_map<absl::string_view, const Attribute*> meshes_;
  absl::flat_hash_map<absl::string_view, HloComputation*> computations_;
  int64_t region_count_ = 0;
};

// The operation that a conversion function converts. Operands are converted; the number of operands, results and
// regions is what the table of operations says.
class OperationConverter {
 public:
  OperationConverter(ModuleConverter* module, Scope* scope, const Operation& operation, Instructions operands)
      : module_(*module), scope_(*scope), operation_(operation), operands_(std::move(operands)) {}

  const Operation& operation() const { return operation_; }
  ModuleConverter& module() { return module_; }
  Scope& scope() { return scope_; }

  const Instructions& operands() const { return operands_; }
  HloInstruction* operand(size_t i) const { return operands_[i]; }
  // The shape of a result's type.
  absl::StatusOr<Shape> ResultShape(size_t i = 0) const;
  // Of all results: the shape of the only one, otherwise a tuple.
  absl::StatusOr<Shape> ResultsShape() const;

  // ---- Attributes. Errors name the attribute.
  absl::StatusOr<const Attribute*> Find(absl::string_view name) const { return FindAttribute(operation_, name); }
  absl::StatusOr<bool> Bool(absl::string_view name) const { return Read<bool>(name, &ReadBool); }
  absl::StatusOr<int64_t> Int(absl::string_view name) const { return Read<int64_t>(name, &ReadInt64); }
  absl::StatusOr<double> Double(absl::string_view name) const { return Read<double>(name, &ReadDouble); }
  absl::StatusOr<absl::string_view> String(absl::string_view name) const {
    return Read<absl::string_view>(name, &ReadString);
  }
  absl::StatusOr<std::vector<int64_t>> Ints(absl::string_view name) const {
    return Read<std::vector<int64_t>>(name, &ReadInt64List);
  }
  absl::StatusOr<std::vector<std::pair<int64_t, int64_t>>> Pairs(absl::string_view name) const {
    return Read<std::vector<std::pair<int64_t, int64_t>>>(name, &ReadPairs);
  }
  absl::StatusOr<std::vector<bool>> Bools(absl::string_view name) const {
    return Read<std::vector<bool>>(name, &ReadBoolList);
  }

  // ---- Instructions. All get the metadata of the operation's location. An error if the shape is not what the
  // operation makes of its operands.
  absl::StatusOr<HloInstruction*> Add(std::unique_ptr<HloInstruction> instruction);
  // The same in two steps: the check, and adding what passed it.
  static absl::Status CheckShape(const HloInstruction& instruction);
  HloInstruction* AddUnchecked(std::unique_ptr<HloInstruction> instruction);
  // The instruction that stands for the operation: it also gets sharding and frontend attributes. Its value is the
  // result; of an operation with none or several results it is a tuple of them.
  absl::Status Finish(std::unique_ptr<HloInstruction> instruction);
  absl::Status Finish(absl::StatusOr<std::unique_ptr<HloInstruction>> instruction);
  // The operation's values are these instructions, which were added.
  absl::Status SetResults(absl::Span<HloInstruction* const> results);
  // The elements of a tuple that was added are the results.
  absl::Status SetResultsToElements(HloInstruction* tuple);
  absl::StatusOr<HloInstruction*> AddTuple(absl::Span<HloInstruction* const> elements);
  absl::StatusOr<HloInstruction*> AddElement(HloInstruction* tuple, int64_t index);
  // Sharding and frontend attributes of the operation, for an instruction that was added.
  absl::Status AddAttributesTo(HloInstruction* instruction);

  // A region whose block takes and returns arrays, as a computation with a parameter for each argument. A region that
  // returns several values returns their tuple.
  absl::StatusOr<HloComputation*> RegionAsComputation(size_t region);

  template <typename... Args>
  static absl::Status Invalid(const absl::FormatSpec<Args...>& format, const Args&... args) {
    return InvalidArgument(format, args...);
  }

 private:
  HloInstruction* AddChecked(std::unique_ptr<HloInstruction> instruction);
  template <typename T, typename Reader>
  absl::StatusOr<T> Read(absl::string_view name, Reader reader) const {
    KASHI_ASSIGN_OR_RETURN(const Attribute* attribute, Find(name));
    absl::StatusOr<T> value = reader(*attribute);
    if (!value.ok()) return InvalidArgument("attribute `%s`: %s", name, value.status().message());
    return value;
  }

  ModuleConverter& module_;
  Scope& scope_;
  const Operation& operation_;
  Instructions operands_;
};

// How an operation is converted.
using ConversionFunction = absl::Status (*)(OperationConverter& converter);
// nullptr if there is none for operations of this name.
ConversionFunction FindConversion(absl::string_view operation_name);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_CONVERSION_CONVERTER_H_
