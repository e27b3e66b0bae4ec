// Operations on arrays of a few elements that live in registers: one vector with a lane for each element, row-major.
// The number of lanes is a power of two; lanes beyond the last element hold any defined values.
#ifndef KASHI_CODEGEN_SMALL_ARRAY_H_
#define KASHI_CODEGEN_SMALL_ARRAY_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "kashi/codegen/lane_builder.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::codegen {

// Whether arrays of this shape live in registers: static, of a register type, with 1 to passes::kMostSmallElements
// elements.
bool IsSmallArray(const Shape& shape);
LaneBuilder SmallLanes(const LaneBuilder& lanes, const Shape& shape);

// Whether the first operands have the element type of the result.
bool KeepsElementType(const HloInstruction& instruction, int64_t operands = 1);
// Whether a dynamic-slice or dynamic-update-slice has a scalar start for each dimension, all of one type.
bool HasStartsOfOneType(const HloInstruction& slice, int64_t first_start);

// Whether EmitSmallArray supports it: operands and result are small arrays, and the operation is elementwise, moves
// elements by fixed rules, or is a constant, reduce, dynamic slice, dynamic update of a slice, gather or scatter.
bool CanEmitSmallArray(const HloInstruction& instruction);
llvm::Value* EmitSmallArray(const LaneBuilder& lanes, const HloInstruction& instruction,
                            absl::Span<llvm::Value* const> operands);

// Memory of the frame with the array, for elements at computed places. LLVM 19 aborts where it makes one vector of
// several such elements of another vector in a register, on processors with AVX-512.
llvm::Value* SpillSmallArray(const LaneBuilder& lanes, const Shape& shape, llvm::Value* array);

// Converts between registers and dense memory.
llvm::Value* LoadSmallArray(const LaneBuilder& lanes, const Shape& shape, llvm::Value* pointer);
void StoreSmallArray(const LaneBuilder& lanes, const Shape& shape, llvm::Value* value, llvm::Value* pointer);

// The linear indices (i64), row-major, in the array of a slice's elements. The slice has `slice_sizes` and `starts`,
// clamped so that it is within the array. `starts`: scalars of the type of `start_type`.
std::vector<llvm::Value*> SliceIndices(const LaneBuilder& lanes, absl::Span<const int64_t> array_sizes,
                                       absl::Span<const int64_t> slice_sizes, absl::Span<llvm::Value* const> starts,
                                       PrimitiveType start_type);
// Element i (i64) of an array; an array from its elements; the coordinates of element number `linear`.
llvm::Value* SmallElement(Ir& ir, llvm::Value* array, llvm::Value* i);
llvm::Value* SmallFromElements(const LaneBuilder& lanes, const Shape& shape, absl::Span<llvm::Value* const> elements);
std::vector<int64_t> SmallCoordinates(int64_t linear, absl::Span<const int64_t> sizes);
// Loads or stores the elements of memory at these indices.
llvm::Value* LoadSmallElements(const LaneBuilder& lanes, const Shape& shape, llvm::Value* pointer,
                               absl::Span<llvm::Value* const> indices);
void StoreSmallElements(const LaneBuilder& lanes, const Shape& shape, llvm::Value* value, llvm::Value* pointer,
                        absl::Span<llvm::Value* const> indices);

}  // namespace kashi::codegen

#endif  // KASHI_CODEGEN_SMALL_ARRAY_H_
