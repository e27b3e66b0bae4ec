// StableHLO to HLO (docs/spec/vhlo.md 6, 7 and 5.3).
//
//   absl::StatusOr<std::unique_ptr<HloModule>> module = ConvertToHlo(program, {.entry = "main"});
//
// One operation becomes one instruction of the same meaning, with few exceptions (docs/stablehlo.md lists them). Types
// give the shapes; every shape is compared with the one that follows from the operands.
//
// Sizes that types do not give (`?`) follow from the shapes of the entry's arguments: operations give sizes of their
// results, shape arithmetic is computed if it depends only on sizes and constants, and a function is converted once
// for each kind of call. This is what StableHLO's passes stablehlo-refine-arguments, stablehlo-refine-shapes,
// stablehlo-canonicalize-dynamism and stablehlo-check-shape-assertions do. Sizes that depend on values are an error.
#ifndef KASHI_STABLEHLO_CONVERSION_STABLEHLO_TO_HLO_H_
#define KASHI_STABLEHLO_CONVERSION_STABLEHLO_TO_HLO_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/base/diagnostic.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {

// Facts about an argument of the entry whose type leaves sizes open.
struct KnownArgument {
  std::optional<std::vector<int64_t>> sizes;  // of its dimensions
  std::optional<int64_t> value;               // of a scalar of integers, on which sizes may depend
};

// The memories that JAX wants for the arguments and results of the entry, such as "pinned_host"; "" where it leaves
// that open. HLO has no place for them before layouts are chosen.
struct MemoryKinds {
  std::vector<std::string> arguments, results;
};

struct ConversionOptions {
  // The function that becomes the entry computation. Empty: `main`, or the only function that no other function calls.
  std::string entry;
  // For errors. In text: name:line:column, the line and a caret; in bytecode: name and byte offset.
  SourceText source;
  bool source_is_text = false;
  // Returns the known facts of argument `number` of the entry. Called, in order, for arguments whose types leave sizes
  // open, and for integer scalars if sizes may depend on them. Null: nothing is known.
  std::function<absl::StatusOr<KnownArgument>(int64_t number)> argument;
  // Not null: set by the conversion.
  MemoryKinds* memory_kinds = nullptr;
};

// INVALID_ARGUMENT if the program breaks StableHLO's rules. UNIMPLEMENTED if HLO has no form for it. Both name the
// operation and its place. NOT_FOUND if there is no such entry; the message lists the functions. The module borrows
// nothing from the program. It has only what the entry reaches, no instructions without effect. Cost: linear in
// operations and in the bytes of constants; regions that capture values also pay for each level that captures them.
absl::StatusOr<std::unique_ptr<HloModule>> ConvertToHlo(const Program& program, const ConversionOptions& options = {});

// The functions that can run alone, in the order of the text: those without arguments that no other function
// calls. Cost: linear in the program.
std::vector<std::string> FreeFunctions(const Program& program);

// Whether the program is a test of StableHLO: all its FreeFunctions are to run. It has several functions and no @main,
// or, beside a free @main, functions that compare values by the dialect `check`. Cost: linear in the program.
bool HasTests(const Program& program);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_CONVERSION_STABLEHLO_TO_HLO_H_
