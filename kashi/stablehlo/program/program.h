// A StableHLO program in memory: both readers (bytecode/, text/) make it, and conversion/ turns it into HLO.
//
// It has MLIR's structure without MLIR's code: operations hold operands, results, attributes and regions;
// a region holds blocks; a block holds arguments and operations.
//
//   builtin.module @jit_f                       Operation; its one region holds one block
//     func.func @main(%arg0: tensor<4xf32>)     Operation; its block's argument is %arg0
//       %0 = stablehlo.sine %arg0               Operation; one operand, one result
//       func.return %0
//
// One vocabulary for all sources (docs/spec/vhlo.md 3.6 and 4):
//  * Operation names are those of StableHLO's text: "stablehlo.add", "func.func", "func.call", "sdy.mesh",
//   "chlo.erf", "check.expect_eq". VHLO's version suffix is removed: `vhlo.add_v1` is "stablehlo.add". VHLO's three
//   operations of other dialects are "func.func", "func.call" and "func.return"; a `return_v1` at the end of a region
//   that is not a function's is "stablehlo.return".
//  * Attribute names and their meaning are those of the newest version in VHLO's table, which is flat: a dot has
//    "lhs_batching_dimensions", not a record "dot_dimension_numbers". Readers upgrade older operations and flatten the
//    records of text (#stablehlo.dot<…>, #stablehlo.conv<…>, #stablehlo.gather<…>, channel_handle = …).
// * Attributes that the table names always exist: readers add the default if the text omits one. All others
//    ("discardable": mhlo.sharding, mhlo.frontend_attributes, sdy.sharding, …) follow them.
//
// The Program's arena owns everything. Spans and texts are borrowed from the arena or from the
// source, which must outlive the program. Types and attributes may be shared by pointer; equal ones need not be.
#ifndef KASHI_STABLEHLO_PROGRAM_PROGRAM_H_
#define KASHI_STABLEHLO_PROGRAM_PROGRAM_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_type.h"
#include "kashi/base/arena.h"
#include "kashi/base/page_buffer.h"

namespace kashi::stablehlo {

struct Attribute;
struct Operation;
struct Region;

// The size of a dynamic dimension (`?`), and the bound of a dimension without a bound.
inline constexpr int64_t kDynamic = std::numeric_limits<int64_t>::min();

struct Quantization;

struct Type {
  enum class Kind : uint8_t {
    kElement,         // f32, i8, complex<f64>, …: `element`
    kQuantized,       // !quant.uniform<…>: `quantization`
    kIndex,           // index
    kTensor,          // tensor<2x?xf32>: `dimensions`, `bounds`, `types[0]` is kElement, kQuantized or kIndex
    kUnrankedTensor,  // tensor<*xf32>: `types[0]`
    kBuffer,          // memref<2xf32>, VHLO's ranked buffer: `dimensions`, `types[0]`
    kToken,           // !stablehlo.token
    kTuple,           // tuple<…>: `types`
    kFunction,        // (…) -> (…): `types` are the inputs, then the results
    kFuture,          // !stablehlo.future<…>: `types`
    kNone,            // none: in place of an absent option
    kOther,           // a type without a form in HLO: `name` is its text (tf32, f6E2M3FN, !shape.witness, …)
  };
  Kind kind = Kind::kNone;
  PrimitiveType element = PRIMITIVE_TYPE_INVALID;
  int64_t input_count = 0;               // kFunction
  absl::Span<const int64_t> dimensions;  // kDynamic where the size is not known
  absl::Span<const int64_t> bounds;      // empty: no dimension has one. Else one each, kDynamic where there is none.
  absl::Span<const Type* const> types;
  const Quantization* quantization = nullptr;
  absl::string_view name;

  absl::Span<const Type* const> inputs() const { return types.subspan(0, input_count); }
  absl::Span<const Type* const> results() const { return types.subspan(input_count); }
};

// !quant.uniform<storage<min:max>:expressed:dimension, {scale:zero_point, …}>
struct Quantization {
  const Type* storage = nullptr;
  const Type* expressed = nullptr;
  bool is_signed = true;
  int64_t storage_min = 0;
  int64_t storage_max = 0;
  int64_t dimension = -1;  // -1: one scale for the tensor
  absl::Span<const double> scales;
  absl::Span<const int64_t> zero_points;
};

struct NamedAttribute {
  absl::string_view name;
  const Attribute* value = nullptr;
};

struct Attribute {
  enum class Kind : uint8_t {
    kUnit,        // there or not there
    kBool,        // `integer` is 0 or 1
    kInteger,     // `integer`, sign-extended where `type` is signed or signless, else zero-extended; `type`
    kFloat,       // `integer` holds the bit pattern of the number in `type`
    kString,      // `text`, raw bytes
    kSymbol,      // @name: `text`, without the @; nested references are joined by "::@"
    kEnum,        // a value of an enumeration, by StableHLO's spelling in `text`: "EQ", "HIGHEST", "THREE_FRY"
    kType,        // `type`
    kArray,       // `elements`
    kDictionary,  // `fields`
    kTensor,      // dense<…>: `type`, `text` holds the elements (below), `is_splat`
    kRecord,      // a record of a dialect: `text` is its name, "sdy.sharding"; `fields`. The readers' tables say which.
    kOther,       // anything else that HLO has no use for: `text` is its spelling
  };
  Kind kind = Kind::kUnit;
  bool is_splat = false;
  int64_t integer = 0;
  const Type* type = nullptr;
  // kTensor: elements in row-major order, little-endian, each in whole bytes (sub-byte integers sign- or zero-extended
  // to a byte; sub-byte floats in the low bits; pred one byte of 0 or 1; complex real, then imaginary). One element if
  // `is_splat`. The reader checks that the size fits the type. Bytes are not aligned.
  absl::string_view text;
  absl::Span<const Attribute* const> elements;
  absl::Span<const NamedAttribute> fields;
};

// The origin of an operation, MLIR's loc(…).
struct Location {
  enum class Kind : uint8_t {
    kUnknown,
    kFile,      // `name` is the file; lines and columns
    kName,      // `name`, children[0] (may be absent)
    kCallSite,  // children[0] is the callee, children[1] the caller
    kFused,     // children
  };
  Kind kind = Kind::kUnknown;
  absl::string_view name;
  int64_t line = 0;
  int64_t column = 0;
  int64_t end_line = 0;  // 0: a point, not a range
  int64_t end_column = 0;
  absl::Span<const Location* const> children;
};

// The result of an operation, or an argument of a block.
struct Value {
  const Type* type = nullptr;
  const Operation* definition = nullptr;  // nullptr: an argument
  int64_t index = 0;                      // which result or argument
  const Location* location = nullptr;     // of an argument; nullptr: unknown
  // Free for a pass that walks the program: a number that the pass gives to the value.
  int64_t number = -1;
};

struct Block {
  absl::Span<Value> arguments;
  absl::Span<Operation* const> operations;
};

struct Region {
  absl::Span<Block> blocks;  // StableHLO's regions have one block, or none
};

struct Operation {
  absl::string_view name;
  absl::Span<Value* const> operands;
  absl::Span<Value> results;
  absl::Span<const NamedAttribute> attributes;  // properties first, then discardable attributes
  absl::Span<Region> regions;
  const Location* location = nullptr;  // nullptr: unknown
  // The operation's bytes in the source, for errors: in text the token of its name, in bytecode its first byte.
  size_t begin = 0;
  size_t end = 0;

  // nullptr if there is none. Cost: linear in the number of attributes.
  const Attribute* Find(absl::string_view attribute_name) const {
    for (const NamedAttribute& attribute : attributes) {
      if (attribute.name == attribute_name) return attribute.value;
    }
    return nullptr;
  }
};

// A module and the memory that it lives in. Movable.
class Program {
 public:
  Program() = default;
  Program(Program&& other) noexcept { *this = static_cast<Program&&>(other); }
  Program& operator=(Program&& other) noexcept {
    arena_.Swap(&other.arena_);
    std::swap(reserve_, other.reserve_);
    std::swap(reserve_used_, other.reserve_used_);
    module = other.module;
    return *this;
  }

  Operation* module = nullptr;  // "builtin.module"

  // Allocates memory for a program of about this size at once, in large pages if it is large: page faults can cost more
  // than the rest of reading. Memory that is not used stays untouched.
  void Reserve(size_t bytes) {
    constexpr size_t kMost = size_t{64} << 20;
    bytes = std::min(bytes, kMost);
    if (bytes < static_cast<size_t>(base::kLargeBlockBytes)) return;
    absl::StatusOr<base::PageBuffer> reserve = base::PageBuffer::Make(static_cast<int64_t>(bytes));
    if (reserve.ok()) reserve_ = *std::move(reserve);
  }

  // Makes a default-constructed T, or `count` of them, which live as long as the program. T needs no destructor. Pre:
  // the caller has checked `count` against the size of the source.
  template <typename T>
  T* New() {
    return new (Allocate(sizeof(T), alignof(T))) T();
  }
  template <typename T>
  absl::Span<T> NewArray(size_t count) {
    if (count == 0) return {};
    // Arrays of pointers are intended here; clang-tidy takes their size for a mistake.
    // NOLINTBEGIN(bugprone-sizeof-expression)
    T* items = static_cast<T*>(Allocate(count * sizeof(T), alignof(T)));
    // Copies of one item: for some types, compilers make T() with a slow string instruction.
    static const T kItem = T();
    static_assert(std::is_trivially_copyable_v<T>);
    for (size_t i = 0; i < count; ++i) std::memcpy(static_cast<void*>(items + i), &kItem, sizeof(T));
    // NOLINTEND(bugprone-sizeof-expression)
    return absl::MakeSpan(items, count);
  }
  template <typename T>
  absl::Span<const T> CopyArray(absl::Span<const T> source) {
    absl::Span<T> copy = NewArray<T>(source.size());
    for (size_t i = 0; i < source.size(); ++i) copy[i] = source[i];
    return copy;
  }
  absl::string_view CopyText(absl::string_view text) { return arena_.Copy(text); }

 private:
  void* Allocate(size_t size, size_t alignment) {
    const size_t begin = (reserve_used_ + alignment - 1) / alignment * alignment;
    if (begin + size > static_cast<size_t>(reserve_.size())) return arena_.Allocate(size, alignment);
    reserve_used_ = begin + size;
    return static_cast<char*>(reserve_.data()) + begin;
  }

  base::Arena arena_;
  base::PageBuffer reserve_;
  size_t reserve_used_ = 0;
};

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_PROGRAM_PROGRAM_H_
