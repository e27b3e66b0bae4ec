// Functions on shapes, with XLA's names: ShapeUtil. The implementation is split by topic:
//
//   shape_make.cc        making shapes               shape_dimensions.cc  changing dimensions and their order
//   shape_validate.cc    the checks                  shape_tuples.cc      tuple trees and walks through them
//   shape_compare.cc     comparing                   shape_iteration.cc   loops over the indices of an array
//   shape_query.cc       queries                     shape_bitcast.cc     reshape and transpose as bitcasts
//   shape_sizes.cc       element counts and bytes
//
// The behaviour is XLA's, also where XLA's helper is only an approximation: byte sizes ignore tiles (ArraySize uses the
// first tile only), and bitcast tests use minor_to_major only (array-model.md, 4.2 and 6). IndexMap (index_map.h) gives
// exact positions, DeviceByteSize (device_size.h) exact bytes on a device.
//
// "Dies" below means a KASHI_CHECK. A function that returns a status never dies for the reason that it documents. An
// array argument `shape` may also be a buffer: then its array is used.
#ifndef KASHI_ARRAY_SHAPE_UTIL_H_
#define KASHI_ARRAY_SHAPE_UTIL_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/layout.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_index.h"
#include "kashi/base/printer.h"
#include "kashi/base/status.h"

namespace kashi {

class ShapeUtil {
 public:
  ShapeUtil() = delete;
  using DynamicSizeType = int32_t;
  using IndexedShape = ::kashi::IndexedShape;

  // ---------------------------------------------------------------------------------------------- sizes (shape_sizes.c

  // Product of the dimensions (bounds count as sizes) and whether it overflowed. With kBoundedDynamicOk, unbounded
  // dimensions are left out.
  template <bool kBoundedDynamicOk>
  static std::pair<int64_t, bool> ExtentProduct(const Shape& shape);
  static std::pair<int64_t, bool> StaticExtentProduct(const Shape& shape) { return ExtentProduct<true>(shape); }
  static int64_t ElementsIn(const Shape& shape);  // of an array; dies for other kinds; wraps on overflow as XLA does
  static int64_t ElementsInRecursive(const Shape& shape);

  // Bytes of the top-level buffer: of an array ByteSizeOfElements, of a tuple `pointer_size` an element (dies if that
  // is not positive), of a token 0, of an opaque value `pointer_size`.
  static int64_t ByteSizeOf(const Shape& shape, int64_t pointer_size = -1);
  static int64_t ByteSizeOfPrimitiveType(PrimitiveType type);
  static int64_t ByteSizeOfTupleIndexTable(const Shape& shape, int64_t pointer_size);
  // Elements times E bits (rounded up to bytes), or times the type's bytes. Tiles, L and M do not count.
  static int64_t ByteSizeOfElements(const Shape& shape);
  static int64_t ByteSizeOfElementsRecursive(const Shape& shape);
  // Size of a serialized literal: a header of 8 bytes, the shape's proto, then each leaf.
  // The proto's size is computed from its field table, without protobuf.
  static absl::StatusOr<int64_t> SerializedSize(const Shape& shape);
  static absl::StatusOr<int64_t> SerializedSizeWithProto(const Shape& shape, int64_t proto_byte_size);
  static absl::StatusOr<int64_t> SerializedSizeWithProto(const Shape& shape, const ShapeProto& proto);  // kashi/proto
  // Bytes with the padding of the first tile, split and tail padding; upstream's rule, see array-model.md 4.2.
  static int64_t ArraySize(const Shape& shape);
  // Bytes up to the last real element.
  static int64_t ArrayDataSize(const Shape& shape);
  static int64_t ElementSizeInBits(const Shape& shape);  // E, or 8 * bytes of the type
  // Strides of a dense array by minor_to_major; nullopt without a layout or where E is no whole number of bytes.
  static std::optional<absl::InlinedVector<int64_t, 4>> ByteStrides(const Shape& shape);
  static absl::Status ByteStrides(const Shape& shape, absl::Span<int64_t> strides);
  // Recursive: E becomes the bit width of sub-byte types if `pack_subbyte_types`, else 0.
  static void UpdateElementSizeInBits(Shape* shape, bool pack_subbyte_types);

  // ------------------------------------------------------------------------------------------- questions (shape_query.

  static bool IsScalar(const Shape& shape) { return shape.IsArray() && shape.dimensions_size() == 0; }
  static bool IsEffectiveScalar(const Shape& shape) { return shape.IsArray() && TrueNumDimensions(shape) == 0; }
  static bool IsScalarWithElementType(const Shape& shape, PrimitiveType element_type);
  static int64_t TrueNumDimensions(const Shape& shape);  // how many are not 1: a 0 counts
  static bool IsZeroElementArray(const Shape& shape);
  static bool HasDegenerateDimensions(const Shape& shape);                         // some dimension is 1
  static bool HasPrimitiveType(const Shape& shape, PrimitiveType primitive_type);  // recursive; TUPLE finds tuples
  static bool ElementIsIntegral(const Shape& shape);                               // PRED is not
  static bool ElementIsFloating(const Shape& shape);
  static bool ElementIsComplex(const Shape& shape);
  static bool ElementIsSigned(const Shape& shape);  // floats count as signed
  static bool ElementHasBitWidth(const Shape& shape, int bits);
  static bool ElementIsIntegralWithBits(const Shape& shape, int bits);
  static bool ElementCanUpcast(const Shape& from, const Shape& to);
  static bool IsInitialized(const Shape& shape);  // the element type is valid
  static bool LastDimIsMinorMost(const Shape& shape);
  // True if all more major dimensions have size 1.
  static bool IsEffectivelyMostMajorDimension(const Shape& shape, int64_t dimension);
  // A negative number counts from the end; one that is still negative then dies.
  static int64_t GetDimension(const Shape& shape, int64_t dimension_number);
  static int64_t GetDimensionNumber(const Shape& shape, int64_t dimension_number);
  static DimensionVector CreateDimensionVectorFromShape(const Shape& shape);  // empty for non-arrays
  // [a]{0:T(x)(y)(p,1)} -> p. INVALID_ARGUMENT for other layouts.
  static absl::StatusOr<int64_t> PackedFactorFor1DInterleavedArray(const Shape& shape);
  // True if a device shape has no parts that a host shape lacks: no tiles, memory space, element size, tail padding.
  static bool DeviceShapeIsHostShape(const Shape& shape);
  static Shape DeviceShapeToHostShape(Shape shape);

  static std::string HumanString(const Shape& shape);
  static std::string HumanStringWithLayout(const Shape& shape);
  static std::string HumanString(const ProgramShape& program_shape);
  static void PrintHumanString(Printer* printer, const Shape& shape);
  static void PrintHumanStringWithLayout(Printer* printer, const Shape& shape);
  static void PrintHumanString(Printer* printer, const ProgramShape& program_shape);

  // ----------------------------------------------------------------------------------------- comparing (shape_compare.

  static bool Equal(const Shape& lhs, const Shape& rhs);
  static bool EqualIgnoringElementType(const Shape& lhs, const Shape& rhs);
  static bool EqualIgnoringFpPrecision(const Shape& lhs, const Shape& rhs);
  static bool EqualStructure(const Shape& lhs, const Shape& rhs);  // the tuple tree only
  // Layouts and dynamic flags do not count, `?` equals any size.
  static bool Compatible(const Shape& lhs, const Shape& rhs);
  static bool CompatibleIgnoringElementType(const Shape& lhs, const Shape& rhs);
  static bool CompatibleIgnoringFpPrecision(const Shape& lhs, const Shape& rhs);
  // Structure and ranks only.
  static bool CompatibleKind(const Shape& lhs, const Shape& rhs, bool ignore_buffer = false);
  static bool SameDimensions(const Shape& lhs, const Shape& rhs);  // `?` matches any size
  static bool SameRank(const Shape& lhs, const Shape& rhs);
  static bool SameElementType(const Shape& lhs, const Shape& rhs);
  static bool SameElementTypeIgnoringFpPrecision(const Shape& lhs, const Shape& rhs);
  static PrimitiveType HigherPrecisionElementType(const Shape& lhs, const Shape& rhs);
  // Same tree and ranks, and every size of `dynamic_shape` at most the bound.
  static bool DynamicShapeIsCompatible(const Shape& dynamic_shape, const Shape& bounded_shape);
  static bool DynamicArrayShapeIsCompatible(const Shape& dynamic_shape, const Shape& bounded_shape);

  // --------------------------------------------------------------------------------------------- making (shape_make.cc

  // Make… die on a bad argument, MakeValidated… return INVALID_ARGUMENT. The layout is the default one; a size of
  // Shape::kUnboundedSize makes the dimension dynamic.
  static Shape MakeShape(PrimitiveType element_type, absl::Span<const int64_t> dimensions);
  static Shape MakeShape(PrimitiveType element_type, absl::Span<const int64_t> dimensions,
                         const std::vector<bool>& dynamic_dimensions);
  static absl::StatusOr<Shape> MakeValidatedShape(PrimitiveType element_type, absl::Span<const int64_t> dimensions);
  static absl::StatusOr<Shape> MakeValidatedShape(PrimitiveType element_type, absl::Span<const int64_t> dimensions,
                                                  const std::vector<bool>& dynamic_dimensions);
  static Shape MakeScalarShape(PrimitiveType element_type);
  static absl::StatusOr<Shape> MakeValidatedScalarShape(PrimitiveType element_type);
  template <typename T>
  static Shape MakeShapeWithType(absl::Span<const int64_t> dimensions) {
    return MakeShape(primitive_util::NativeToPrimitiveType<T>(), dimensions);
  }
  template <typename T>
  static absl::StatusOr<Shape> MakeValidatedShapeWithType(absl::Span<const int64_t> dimensions) {
    return MakeValidatedShape(primitive_util::NativeToPrimitiveType<T>(), dimensions);
  }
  // The layout is validated; an element size equal to 8 * bytes of the type is stored as 0.
  static Shape MakeShapeWithDenseLayout(PrimitiveType element_type, absl::Span<const int64_t> dimensions,
                                        absl::Span<const int64_t> minor_to_major, absl::Span<const Tile> tiles = {},
                                        int64_t tail_padding_alignment_in_elements = 1,
                                        int64_t element_size_in_bits = 0, int64_t memory_space = 0,
                                        absl::Span<const SplitConfig> split_configs = {});
  static absl::StatusOr<Shape> MakeValidatedShapeWithDenseLayout(
      PrimitiveType element_type, absl::Span<const int64_t> dimensions, absl::Span<const int64_t> minor_to_major,
      absl::Span<const Tile> tiles = {}, int64_t tail_padding_alignment_in_elements = 1,
      int64_t element_size_in_bits = 0, int64_t memory_space = 0, absl::Span<const SplitConfig> split_configs = {});
  // Left over from sparse layouts: now the same as dense.
  static absl::StatusOr<Shape> MakeValidatedShapeWithSparseLayout(PrimitiveType element_type,
                                                                  absl::Span<const int64_t> dimensions,
                                                                  absl::Span<const int64_t> minor_to_major);
  static Shape MakeShapeWithDescendingLayout(PrimitiveType element_type, absl::Span<const int64_t> dimensions);
  static absl::StatusOr<Shape> MakeValidatedShapeWithDescendingLayout(PrimitiveType element_type,
                                                                      absl::Span<const int64_t> dimensions);
  // Logical dimensions are put in physical order; tiles, element size, tail padding, memory space and dynamism stay.
  static Shape MakeShapeWithDescendingLayoutAndSamePhysicalLayout(const Shape& shape);
  static absl::StatusOr<Shape> MakeValidatedShapeWithDescendingLayoutAndSamePhysicalLayout(const Shape& shape);
  static Shape MakeShapeWithStaticDimensions(const Shape& shape);  // clears the dynamic flags, recursively
  static Shape MakeStaticShape(const Shape& original);             // … and the metadata prefix

  static Shape MakeTupleShape(absl::Span<const Shape> shapes);
  static absl::StatusOr<Shape> MakeValidatedTupleShape(absl::Span<const Shape> shapes);
  static Shape MakeTupleShapeWithPtrs(absl::Span<const Shape* const> shapes);
  static absl::StatusOr<Shape> MakeValidatedTupleShapeWithPtrs(absl::Span<const Shape* const> shapes);
  static Shape MakeMaybeTupleShape(absl::Span<const Shape> shapes);  // one element: that element itself
  static absl::StatusOr<Shape> MakeValidatedMaybeTupleShape(absl::Span<const Shape> shapes);
  static Shape MakeNil() { return MakeTupleShape({}); }
  static Shape MakeOpaqueShape();
  static Shape MakeTokenShape();
  static absl::StatusOr<Shape> MakeValidatedBufferShape(PrimitiveType element_type,
                                                        absl::Span<const int64_t> dimensions);
  static absl::StatusOr<Shape> MakeValidatedBufferShape(Shape shape);
  static ProgramShape MakeProgramShape(std::initializer_list<Shape> parameters, Shape result);
  static absl::Status PopulateShape(PrimitiveType element_type, absl::Span<const int64_t> dimensions, Shape* shape);

  // Text: ParseShape (shape_parser.h).

  // ---------------------------------------------------------------------------------------- checking (shape_validate.c

  static absl::Status ValidateShape(const Shape& shape);  // every array needs a layout
  static absl::Status ValidateShapeWithOptionalLayout(const Shape& shape);

  // --------------------------------------------------------------------------------------- changing (shape_dimensions.

  // Recursive. The element size becomes 0 unless the new type is narrower than a byte.
  static Shape ChangeElementType(const Shape& original, PrimitiveType type);
  static Shape ComplexComponentShape(const Shape& complex_shape);

  static void AppendShapeToTuple(const Shape& shape, Shape* tuple_shape);
  static void UpdateTupleShape(const Shape& shape, int64_t index, Shape* tuple_shape);
  static void UpdateDynamicDimension(Shape* shape, ShapeIndexView index, int64_t dim, bool is_dynamic);
  static void CopyDynamicDimensions(Shape* to, const Shape& from);
  static Shape SliceTuple(const Shape& tuple, int64_t start, int64_t limit);

  static void AppendMajorDimension(int bound, Shape* shape);       // new last logical dimension, physically most major
  static void AppendMinorDimension(int bound, Shape* shape);       // new last logical dimension, physically most minor
  static Shape PrependMajorDimension(int64_t bound, Shape shape);  // new dimension 0, most major; flags are lost
  // New dimensions stand before logical dimension `index`, next more major than it; at the end: most minor. Flags are
  // lost.
  static Shape InsertDimensionAtIndex(Shape shape, int64_t index, int64_t bound);
  static Shape InsertDimensionsAtIndex(Shape shape, int64_t index, absl::Span<const int64_t> bounds);
  static Shape DeleteDimension(int64_t dim_to_delete, Shape shape);
  static Shape DeleteDimensions(absl::Span<const int64_t> dims_to_delete, Shape shape);
  static Shape FilterDimensions(absl::FunctionRef<bool(int64_t)> keep, Shape shape);
  static Shape DropDegenerateDimensions(const Shape& shape);
  // Keeps the order of the layout, but not its other parts; without a layout: the default order. Tuples recurse.
  static Shape MoveDimToMajor(const Shape& shape, int64_t dim);
  // result.dim[i] = shape.dim[permutation[i]], with the layout that makes this transpose a bitcast.
  static Shape PermuteDimensions(absl::Span<const int64_t> permutation, const Shape& shape);
  static Shape ReorderLogicalDimensions(const Shape& shape, absl::Span<const int64_t> permutation);  // the same
  // Like PermuteDimensions, but the layout stays unchanged: it then has another meaning.
  static Shape PermuteDimensionsIgnoringLayout(absl::Span<const int64_t> permutation, const Shape& shape);

  // ------------------------------------------------------------------------------------------- tuples (shape_tuples.cc

  static bool IsNestedTuple(const Shape& shape);
  static bool IsEmptyTuple(const Shape& shape);
  static int64_t TupleElementCount(const Shape& shape);  // dies unless a tuple
  static const Shape& GetTupleElementShape(const Shape& shape, int64_t index);
  static int64_t SubshapeCount(const Shape& shape);  // all nodes, the root included
  static int64_t GetLeafCount(const Shape& shape);   // 1 for a non-tuple
  static int64_t GetLeafCountTuple(const Shape& shape);
  static std::vector<IndexedShape> GetLeafShapes(const Shape& shape);
  static bool IsLeafIndex(const Shape& shape, const ShapeIndex& index);
  static bool IndexIsValid(const Shape& shape, ShapeIndexView index);
  static const Shape& GetSubshape(const Shape& shape, ShapeIndexView index);  // dies if there is none
  static absl::StatusOr<const Shape*> TryGetSubshape(const Shape& shape, ShapeIndexView index);
  static Shape* GetMutableSubshape(Shape* shape, ShapeIndexView index);
  // The tuple tree of `prefix` is a prefix of that of `shape`: an empty tuple of any; another tuple of a tuple with
  // at least as many elements, element by element; a non-tuple only of an equal shape.
  static bool IsPrefix(const Shape& prefix, const Shape& shape);
  static std::vector<const Shape*> FlattenTupleShape(const Shape& shape);
  static void FlattenTupleShape(const Shape& shape, std::vector<const Shape*>& flattened);

  // Walks through the tree: pre-order from the root `{}`, or post-order; Leaf: non-tuples only.
  // `fn(const Shape&, const ShapeIndex&)`, mutable forms `fn(Shape*, const ShapeIndex&)`. A void form ignores fn's
  // result; a WithStatus form stops at the first error and returns it.
  template <typename Fn>
  static void ForEachSubshape(const Shape& shape, Fn&& fn) {
    Walk(shape, IgnoreResult<const Shape&>(fn), kPreOrder).IgnoreError();
  }
  template <typename Fn>
  static void ForEachMutableSubshape(Shape* shape, Fn&& fn) {
    WalkMutable(shape, IgnoreResult<Shape*>(fn), kPreOrder).IgnoreError();
  }
  template <typename Fn>
  static absl::Status ForEachSubshapeWithStatus(const Shape& shape, Fn&& fn) {
    return Walk(shape, fn, kPreOrder);
  }
  template <typename Fn>
  static absl::Status ForEachMutableSubshapeWithStatus(Shape* shape, Fn&& fn) {
    return WalkMutable(shape, fn, kPreOrder);
  }
  template <typename Fn>
  static void ForEachSubshapePostOrder(const Shape& shape, Fn&& fn) {
    Walk(shape, IgnoreResult<const Shape&>(fn), kPostOrder).IgnoreError();
  }
  template <typename Fn>
  static void ForEachMutableSubshapePostOrder(Shape* shape, Fn&& fn) {
    WalkMutable(shape, IgnoreResult<Shape*>(fn), kPostOrder).IgnoreError();
  }
  template <typename Fn>
  static absl::Status ForEachSubshapePostOrderWithStatus(const Shape& shape, Fn&& fn) {
    return Walk(shape, fn, kPostOrder);
  }
  template <typename Fn>
  static absl::Status ForEachMutableSubshapePostOrderWithStatus(Shape* shape, Fn&& fn) {
    return WalkMutable(shape, fn, kPostOrder);
  }
  template <typename Fn>
  static void ForEachLeafShape(const Shape& shape, Fn&& fn) {
    Walk(shape, IgnoreResult<const Shape&>(fn), kLeaves).IgnoreError();
  }
  template <typename Fn>
  static void ForEachMutableLeafShape(Shape* shape, Fn&& fn) {
    WalkMutable(shape, IgnoreResult<Shape*>(fn), kLeaves).IgnoreError();
  }
  template <typename Fn>
  static absl::Status ForEachLeafShapeWithStatus(const Shape& shape, Fn&& fn) {
    return Walk(shape, fn, kLeaves);
  }
  template <typename Fn>
  static absl::Status ForEachMutableLeafShapeWithStatus(Shape* shape, Fn&& fn) {
    return WalkMutable(shape, fn, kLeaves);
  }

  // -------------------------------------------------------------------------------------- iteration (shape_iteration.c

  // Loops over the indices base <= index < base + count (extents, not numbers of steps) by incr, in the order of
  // minor_to_major (its first dimension fastest; needs a layout). An array without elements: no call; a scalar: one
  // call with an empty index; a count of 0: that dimension is visited at its base all the same. A visitor that returns
  // false or an error ends the loop. An incr below 0 dies; with 0 only the visitor can end the loop (the parallel forms
  // die).
  using ForEachVisitorFunction = absl::FunctionRef<absl::StatusOr<bool>(absl::Span<const int64_t>)>;
  using ForEachVisitorFunctionNoStatus = absl::FunctionRef<bool(absl::Span<const int64_t>)>;
  using ForEachParallelVisitorFunction = absl::FunctionRef<absl::StatusOr<bool>(absl::Span<const int64_t>, int)>;
  struct IndexIterationSpace {
    std::vector<int64_t> index_base;
    std::vector<int64_t> index_count;
    std::vector<int64_t> index_incr;
  };

  static void ForEachIndex(const Shape& shape, absl::Span<const int64_t> base, absl::Span<const int64_t> count,
                           absl::Span<const int64_t> incr, ForEachVisitorFunction visitor);  // errors are dropped
  static void ForEachIndex(const Shape& shape, ForEachVisitorFunction visitor);
  static absl::Status ForEachIndexWithStatus(const Shape& shape, absl::Span<const int64_t> base,
                                             absl::Span<const int64_t> count, absl::Span<const int64_t> incr,
                                             ForEachVisitorFunction visitor);
  static absl::Status ForEachIndexWithStatus(const Shape& shape, const IndexIterationSpace& space,
                                             ForEachVisitorFunction visitor);
  static absl::Status ForEachIndexWithStatus(const Shape& shape, ForEachVisitorFunction visitor);
  static void ForEachIndexNoStatus(const Shape& shape, absl::Span<const int64_t> base, absl::Span<const int64_t> count,
                                   absl::Span<const int64_t> incr, ForEachVisitorFunctionNoStatus visitor);
  static void ForEachIndexNoStatus(const Shape& shape, ForEachVisitorFunctionNoStatus visitor);

  // Visits the same indices from several threads: every index exactly once, in no order; the visitor also gets a thread
  // number below GetForEachIndexParallelThreadCount(); its bool is ignored. An error does not stop the others;
  // the one that a serial loop would meet first is returned (or dies in the form without status).
  static void ForEachIndexParallel(const Shape& shape, absl::Span<const int64_t> base, absl::Span<const int64_t> count,
                                   absl::Span<const int64_t> incr, ForEachParallelVisitorFunction visitor);
  static void ForEachIndexParallel(const Shape& shape, ForEachParallelVisitorFunction visitor);
  static absl::Status ForEachIndexParallelWithStatus(const Shape& shape, absl::Span<const int64_t> base,
                                                     absl::Span<const int64_t> count, absl::Span<const int64_t> incr,
                                                     ForEachParallelVisitorFunction visitor);
  static absl::Status ForEachIndexParallelWithStatus(const Shape& shape, ForEachParallelVisitorFunction visitor);
  static int GetForEachIndexParallelThreadCount();

  // ----------------------------------------------------------------------------------------- bitcasts (shape_bitcast.c

  // If two shapes differ only by dimensions of size 1: the numbers of these dimensions on either side.
  struct ShapeEqualityDescriptor {
    std::vector<int64_t> deleted_dimensions;
    std::vector<int64_t> inserted_dimensions;
  };
  static std::optional<ShapeEqualityDescriptor> InsertedOrDeleted1SizedDimensions(const Shape& shape_pre,
                                                                                  const Shape& shape_post);
  // Pairs (input, output) of dimensions that a row-major reshape leaves alone:
  // [a,b,x,y,cd] -> [ab,x,1,y,c,d] gives (2,1), (3,3). Dies if the numbers of elements differ.
  static std::vector<std::pair<int64_t, int64_t>> DimensionsUnmodifiedByReshape(const Shape& input_shape,
                                                                                const Shape& output_shape);
  // The new places of the given input dimensions, if the reshape leaves them all alone; nullopt also if not sorted.
  static std::optional<std::vector<int64_t>> ReshapeLeavesDimensionsUnmodified(
      const Shape& from_shape, const Shape& to_shape, absl::Span<const int64_t> input_dim_indices);

  // All need layouts (die without) and look at minor_to_major only.
  static bool TransposeIsBitcast(const Shape& input_shape, const Shape& output_shape,
                                 absl::Span<const int64_t> dimension_mapping, bool ignore_element_type = false);
  static bool ReshapeIsBitcast(const Shape& input_shape, const Shape& output_shape, bool ignore_element_type = false);
  static bool IsReshapeOrTransposeBitcast(const Shape& a, const Shape& b, bool ignore_element_type = false);
  static std::optional<std::vector<int64_t>> DeduceTransposeDimensionsForBitcast(const Shape& input_shape,
                                                                                 const Shape& output_shape);

  struct BitcastDecompositionReshape {};
  struct BitcastDecompositionTranspose {
    std::vector<int64_t> transpose_dims;
  };
  // transpose, reshape, transpose
  struct BitcastDecompositionTrt {
    std::vector<int64_t> transpose1_dims;
    Shape transpose1_shape;  // the result of the first transpose: row major
    Shape reshape_shape;     // the result of the reshape: row major
    std::vector<int64_t> transpose2_dims;
    bool IsTranspose1Identity() const;
    bool IsTranspose2Identity() const;
  };
  using BitcastDecomposition =
      std::optional<std::variant<BitcastDecompositionReshape, BitcastDecompositionTranspose, BitcastDecompositionTrt>>;
  // True for arrays with the same number of elements, of any types.
  static bool IsDecomposableBitcast(const Shape& a, const Shape& b);
  // The simplest of the three that takes the input to the output; nullopt if it is not decomposable. Needs layouts.
  static BitcastDecomposition DecomposeBitcast(const Shape& input_shape, const Shape& output_shape);
  static std::optional<BitcastDecompositionTrt> DecomposeBitcastToTrt(const Shape& input_shape,
                                                                      const Shape& output_shape);
  // `output_shape` with a layout that makes the reshape of `input_shape` to it a bitcast, if there is one. Dimensions
  // of size 1 become most major, in descending order.
  static std::optional<Shape> AlignLayouts(const Shape& input_shape, const Shape& output_shape);
  // Sizes of the result of a transpose with neighbours that stay together merged and 1s dropped, for a transpose of
  // descending layouts; `permutation` becomes the one of the merged dimensions.
  static absl::InlinedVector<int64_t, 3> GetNormalizedLogicalTransposeShape(
      const Shape& output_shape, absl::Span<const int64_t> dims, absl::InlinedVector<int64_t, 3>& permutation);

 private:
  enum WalkOrder { kPreOrder, kPostOrder, kLeaves };
  using SubshapeVisitor = absl::FunctionRef<absl::Status(const Shape&, const ShapeIndex&)>;
  using MutableSubshapeVisitor = absl::FunctionRef<absl::Status(Shape*, const ShapeIndex&)>;
  static absl::Status Walk(const Shape& shape, SubshapeVisitor visitor, WalkOrder order);
  static absl::Status WalkMutable(Shape* shape, MutableSubshapeVisitor visitor, WalkOrder order);
  template <typename ShapeArg, typename Fn>
  static auto IgnoreResult(Fn& fn) {
    return [&fn](ShapeArg shape, const ShapeIndex& index) {
      (void)fn(shape, index);
      return absl::OkStatus();
    };
  }
};

}  // namespace kashi

#endif  // KASHI_ARRAY_SHAPE_UTIL_H_
