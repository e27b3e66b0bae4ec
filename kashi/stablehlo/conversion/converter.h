// The parts that conversion functions (convert_*.cc) use: the module under construction, the computation that
// receives the instructions, and the operation to convert.
#ifndef KASHI_STABLEHLO_CONVERSION_CONVERTER_H_
#define KASHI_STABLEHLO_CONVERSION_CONVERTER_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/spmd/sdy_sharding.h"
#include "kashi/stablehlo/conversion/known_values.h"
#include "kashi/stablehlo/conversion/locations.h"
#include "kashi/stablehlo/conversion/stablehlo_to_hlo.h"
#include "kashi/stablehlo/conversion/text_places.h"
#include "kashi/stablehlo/program/attribute_access.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {

using Instructions = std::vector<HloInstruction*>;
using PairList = std::vector<std::pair<int64_t, int64_t>>;

// The limit on nested regions, and on nested calls of functions whose sizes depend on the caller.
inline constexpr int kDeepestConvertedRegion = 200;

// A computation under construction, and the instructions of its values.
struct Scope {
  Scope(std::string name, int depth, const Scope* outer)
      : computation(std::make_unique<HloComputation>(name)), depth(depth), outer(outer) {}
  std::unique_ptr<HloComputation> computation;
  absl::flat_hash_map<const Value*, HloInstruction*> values;
  int depth;
  const Scope* outer;  // of the region around this one; nullptr: a function
};

// The functions that an operation calls by name.
std::vector<absl::string_view> Callees(const Operation& operation);

// Calls `visit` with each operation in the block, and in the regions of its operations.
template <typename Visit>
void ForEachOperation(const Block& block, Visit visit) {
  std::vector<const Block*> open = {&block};
  while (!open.empty()) {
    const Block* at = open.back();
    open.pop_back();
    for (const Operation* operation : at->operations) {
      visit(*operation);
      for (const Region& region : operation->regions) {
        for (const Block& inner : region.blocks) open.push_back(&inner);
      }
    }
  }
}

// Whether the value is a constant, which regions may use without taking it as an argument.
bool IsConstant(const Value& value);

class ModuleConverter {
 public:
  ModuleConverter(const Program& program, const ConversionOptions& options);

  absl::StatusOr<std::unique_ptr<HloModule>> Convert();

  // An error about an operation: adds the place and the name of the operation, unless the error has a place already.
  absl::Status ErrorAt(const Operation& operation, const absl::Status& error) const;
  // The instruction of a value in the scope. A constant of an outer region is copied. An error at `user` otherwise.
  absl::StatusOr<HloInstruction*> Lookup(Scope* scope, const Value& value, const Operation& user);

  HloModule* module() { return module_.get(); }
  // Values that are known before the program runs.
  KnownValues& known() { return known_; }
  // ShapeOfType(type, UnknownSizes::kAllowed), computed once for each type. The pointer is valid until the next call.
  absl::StatusOr<const Shape*> ShapeOf(const Type& type);
  // The expressed type of a quantized type; other types are returned unchanged. It lives as long as this object.
  const Type* ExpressedType(const Type& type);
  LocationConverter& locations() { return locations_; }
  // The place of the operation in the text; line 0 if the program is not text.
  HloTextPlace PlaceOf(const Operation& operation) const {
    return places_.has_value() ? places_->At(operation.begin) : HloTextPlace();
  }

  // The computation of a function that was converted before its callers; an error if there is no such function.
  absl::StatusOr<HloComputation*> Function(absl::string_view name) const;
  // The computation of a function whose sizes may depend on its arguments: converts it for these arguments, unless an
  // earlier call was of the same kind.
  absl::StatusOr<HloComputation*> FunctionFor(const Scope& caller, absl::string_view name,
                                              absl::Span<HloInstruction* const> arguments);
  // The sdy.mesh of that name; nullptr if there is none.
  const Attribute* FindMesh(absl::string_view name) const;
  const hlo::SdyMeshes& sdy_meshes() const { return sdy_meshes_; }

  // Converts the operations of the block into the scope. Returns the values that the last operation returns.
  absl::StatusOr<Instructions> ConvertBlock(Scope* scope, const Block& block);
  // Adds a computation that is complete except for its root.
  HloComputation* Finish(std::unique_ptr<Scope> scope, HloInstruction* root);
  // A scope for a region of an operation in `outer`; an error if regions are nested too deeply.
  absl::StatusOr<std::unique_ptr<Scope>> OpenRegion(const Scope& outer);

 private:
  absl::Status ReadSymbols();
  absl::StatusOr<const Operation*> FindEntry() const;
  absl::Status ReadModuleAttributes();
  // The functions that the entry calls, callees first, the entry last.
  absl::StatusOr<std::vector<const Operation*>> OrderFunctions(const Operation& entry) const;
  // Finds the functions whose sizes depend on their arguments. Pre: callees come first.
  void FindDynamicFunctions(absl::Span<const Operation* const> order);
  absl::Status ConvertFunction(const Operation& function, bool is_entry);
  absl::Status CheckShardings(const Operation& function) const;
  absl::StatusOr<HloComputation*> ConvertInstance(const Scope& caller, const Operation& function,
                                                  absl::Span<HloInstruction* const> arguments);
  // The shape of an argument of the entry, from its type and from the options.
  absl::StatusOr<Shape> EntryArgumentShape(const Type& type, int64_t number, const KnownArgument& known) const;
  absl::StatusOr<KnownArgument> AskForArgument(const Operation& function, int64_t number) const;
  absl::Status SetKnownArgument(const HloInstruction& parameter, int64_t value);
  // Adds the parameter for an argument, with the shape of its type; AddParameter: with this shape.
  absl::Status MakeParameter(Scope* scope, const Operation& function, int64_t number, bool is_entry);
  HloInstruction* AddParameter(Scope* scope, const Operation& function, int64_t number, const Shape& shape);
  absl::StatusOr<HloInstruction*> MakeEntryRoot(Scope* scope, const Operation& function, Instructions results);
  void KeepMemoryKinds(const Operation& function);
  absl::Status SetEntryAttributes(const Operation& function);
  absl::Status SetEntryLayouts(const Operation& function, ComputationLayout* layout);
  absl::Status ConvertOperation(Scope* scope, const Operation& operation);

  const Program& program_;
  const ConversionOptions& options_;
  std::unique_ptr<HloModule> module_;
  LocationConverter locations_;
  std::optional<TextPlaces> places_;
  absl::flat_hash_map<absl::string_view, const Operation*> functions_;
  absl::flat_hash_map<absl::string_view, const Attribute*> meshes_;
  hlo::SdyMeshes sdy_meshes_;
  absl::flat_hash_map<absl::string_view, HloComputation*> computations_;
  absl::flat_hash_set<const Operation*> dynamic_functions_;
  absl::flat_hash_map<std::string, HloComputation*> instances_;  // of dynamic functions, by name and arguments
  KnownValues known_;
  absl::flat_hash_map<const Type*, Shape> shapes_;
  std::deque<Type> expressed_types_;
  std::deque<const Type*> expressed_elements_;
  absl::flat_hash_map<const Type*, const Type*> expressed_;
  int64_t region_count_ = 0;
  int64_t operations_left_ = 0;  // that functions may still have in all instances together
};

// The operation that a conversion function converts. Operands are already converted; the numbers of operands, results
// and regions agree with the table of operations.
class OperationConverter {
 public:
  OperationConverter(ModuleConverter* module, Scope* scope, const Operation& operation, Instructions operands)
      : module_(*module), scope_(*scope), operation_(operation), operands_(std::move(operands)) {}

  const Operation& operation() const { return operation_; }
  ModuleConverter& module() { return module_; }
  Scope& scope() { return scope_; }

  const Instructions& operands() const { return operands_; }
  HloInstruction* operand(size_t i) const { return operands_[i]; }
  // The shape of a result's type. Sizes that the type does not give are unbounded dynamic: Add and Finish put in
  // the sizes that follow from the operands.
  absl::StatusOr<Shape> ResultShape(size_t i = 0) const;
  // The shape whose sizes are the elements of operand `sizes`, for a type that does not give them.
  absl::StatusOr<Shape> ResultShapeOfSizes(size_t sizes, size_t i = 0) const;
  // The elements of an operand, which must be known before the program runs; `what` describes them in the error.
  absl::StatusOr<std::vector<int64_t>> KnownOperand(size_t i, absl::string_view what) const;
  // The elements of an array of integers that is known before the program runs.
  std::optional<std::vector<int64_t>> KnownNumbers(const HloInstruction* instruction) const;
  // The shape of the only result, otherwise a tuple of all results.
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

  // ---- Instructions. All get the metadata of the operation's location. An error if the shape does not follow from the
  // operands, or if sizes stay unknown.
  absl::StatusOr<HloInstruction*> Add(std::unique_ptr<HloInstruction> instruction);
  // Add in two steps: the check, and adding an instruction that was checked.
  static absl::Status CheckShape(const HloInstruction& instruction);
  static absl::Status SettleShape(HloInstruction* instruction);
  HloInstruction* AddUnchecked(std::unique_ptr<HloInstruction> instruction);
  // Adds the instruction for the operation, with sharding and frontend attributes. Its value is the
  // result; for an operation with no or several results, a tuple of them.
  absl::Status Finish(std::unique_ptr<HloInstruction> instruction);
  absl::Status Finish(absl::StatusOr<std::unique_ptr<HloInstruction>> instruction);
  // Makes these instructions, which were added before, the results.
  absl::Status SetResults(absl::Span<HloInstruction* const> results);
  // Makes the elements of this tuple, which was added before, the results.
  absl::Status SetResultsToElements(HloInstruction* tuple);
  absl::StatusOr<HloInstruction*> AddTuple(absl::Span<HloInstruction* const> elements);
  absl::StatusOr<HloInstruction*> AddElement(HloInstruction* tuple, int64_t index);
  // Adds sharding and frontend attributes of the operation to an instruction that was added before.
  absl::Status AddAttributesTo(HloInstruction* instruction);

  // The computation of a region whose block takes and returns arrays, with a parameter for each argument. If the region
  // returns several values, the computation returns their tuple.
  absl::StatusOr<HloComputation*> RegionAsComputation(size_t region);

  template <typename... Args>
  static absl::Status Invalid(const absl::FormatSpec<Args...>& format, const Args&... args) {
    return InvalidArgument(format, args...);
  }

 private:
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

// Converts an operation.
using ConversionFunction = absl::Status (*)(OperationConverter& converter);
// The conversion of operations with this name; nullptr if there is none.
ConversionFunction FindConversion(absl::string_view operation_name);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_CONVERSION_CONVERTER_H_
