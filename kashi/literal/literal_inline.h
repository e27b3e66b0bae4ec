// The template bodies of literal.h, which includes this file at its end.
#ifndef KASHI_LITERAL_LITERAL_INLINE_H_
#define KASHI_LITERAL_LITERAL_INLINE_H_

#include "kashi/array/element_convert.h"
#include "kashi/literal/literal.h"

namespace kashi {

// --------------------------------------------------------------------------------------------------------- LiteralBase

template <typename NativeT>
bool LiteralBase::EachCellUntilFailure(
    absl::FunctionRef<bool(absl::Span<const int64_t> indices, NativeT value)> per_cell) const {
  const DimensionVector sizes = root_->current_sizes();
  const NativeT* elements = root_->data<NativeT>().data();
  return literal::WalkRowMajor(
      sizes, literal::ElementStrides(shape()),
      [&](absl::Span<const int64_t> index, int64_t position) { return per_cell(index, elements[position]); });
}

template <typename NativeT>
void LiteralBase::EachCell(absl::FunctionRef<void(absl::Span<const int64_t> indices, NativeT value)> per_cell) const {
  EachCellUntilFailure<NativeT>([&](absl::Span<const int64_t> index, NativeT value) {
    per_cell(index, value);
    return true;
  });
}

template <typename T>
LiteralBase::CountedValue LiteralBase::CountedValueOf(T value) {
  if constexpr (is_specialized_floating_point_v<T>) {
    return {CountedValue::kReal, 0, 0, static_cast<double>(value), {}};
  } else if constexpr (std::numeric_limits<T>::is_signed) {
    return {CountedValue::kSigned, static_cast<int64_t>(value), 0, 0, {}};
  } else {
    return {CountedValue::kUnsigned, 0, static_cast<uint64_t>(value), 0, {}};
  }
}

template <typename H, bool kIsLayoutSensitive, int64_t kByteLimit>
H LiteralBase::Hash(H state, const LiteralBase& literal) {
  state = Shape::Hash<H, kIsLayoutSensitive>(std::move(state), literal.shape());
  ShapeUtil::ForEachLeafShape(literal.shape(), [&](const Shape& leaf, const ShapeIndex& index) {
    if (!leaf.IsArray()) return;
    const Piece& piece = literal.piece(index);
    state = H::combine(std::move(state), static_cast<int>(piece.state()));
    if (piece.buffer() == nullptr) return;
    const bool has_spare_bits = primitive_util::IsSubByteNonPredType(leaf.element_type());
    if (leaf.is_static() && !has_spare_bits && (kIsLayoutSensitive || literal::IsStoredRowMajor(leaf))) {
      state = H::combine_contiguous(std::move(state), piece.buffer(), std::min(piece.size_bytes(), kByteLimit));
      return;
    }
    const std::vector<char> bytes = RowMajorBytes(piece, kByteLimit);
    state = H::combine_contiguous(std::move(state), bytes.data(), bytes.size());
  });
  return state;
}

// -------------------------------------------------------------------------------------------------- MutableLiteralBase

template <typename NativeT>
void MutableLiteralBase::PopulateR1(absl::Span<const NativeT> values) {
  PopulateFromRowMajor(primitive_util::NativeToPrimitiveType<NativeT>(), {static_cast<int64_t>(values.size())},
                       values.data());
}

template <typename BitmapT, std::enable_if_t<std::is_same_v<BitmapT, tsl::core::Bitmap>, int>>
void MutableLiteralBase::PopulateR1(const BitmapT& values) {
  const auto elements = std::make_unique<bool[]>(values.bits());
  for (size_t i = 0; i < values.bits(); ++i) elements[i] = values.get(i);
  PopulateR1<bool>(absl::MakeConstSpan(elements.get(), values.bits()));
}

template <typename NativeT>
void MutableLiteralBase::PopulateR2(std::initializer_list<std::initializer_list<NativeT>> values) {
  const int64_t rows = static_cast<int64_t>(values.size());
  const int64_t columns = rows == 0 ? 0 : static_cast<int64_t>(values.begin()->size());
  // Not a vector: std::vector<bool> would store bits.
  const auto elements = std::make_unique<NativeT[]>(rows * columns);
  NativeT* next = elements.get();
  for (const std::initializer_list<NativeT>& row : values) {
    KASHI_CHECK_EQ(static_cast<int64_t>(row.size()), columns) << "rows of different lengths";
    next = std::copy(row.begin(), row.end(), next);
  }
  PopulateFromRowMajor(primitive_util::NativeToPrimitiveType<NativeT>(), {rows, columns}, elements.get());
}

template <typename NativeT>
void MutableLiteralBase::PopulateFromArray(const Array<NativeT>& values) {
  PopulateFromRowMajor(primitive_util::NativeToPrimitiveType<NativeT>(), values.dimensions(), values.data());
}
template <typename NativeT>
void MutableLiteralBase::PopulateR2FromArray2D(const Array2D<NativeT>& values) {
  PopulateFromArray<NativeT>(values);
}
template <typename NativeT>
void MutableLiteralBase::PopulateR3FromArray3D(const Array3D<NativeT>& values) {
  PopulateFromArray<NativeT>(values);
}
template <typename NativeT>
void MutableLiteralBase::PopulateR4FromArray4D(const Array4D<NativeT>& values) {
  PopulateFromArray<NativeT>(values);
}

template <typename NativeT>
void MutableLiteralBase::PopulateWithValue(NativeT value) {
  KASHI_CHECK_OK(PrepareToPopulate(primitive_util::NativeToPrimitiveType<NativeT>()));
  const absl::Span<NativeT> elements = data<NativeT>();
  std::fill(elements.begin(), elements.end(), value);
}

namespace literal {

// Elements that one thread takes at a time, at least.
inline constexpr int64_t kPopulateGrain = 1024;

}  // namespace literal

template <typename Visit>
void MutableLiteralBase::ForEachInStorage(Visit&& visit) const {
  literal::WalkStorage(shape(), 0, element_count(), visit);
}

template <typename Visit>
void MutableLiteralBase::ForEachPositionParallel(Visit&& visit) const {
  const bool inline_only = element_count() <= literal::kPopulateGrain;
  base::ParallelFor(element_count(), literal::kPopulateGrain, [&](int64_t begin, int64_t end, int thread) {
    for (int64_t position = begin; position < end; ++position) visit(position, inline_only ? -1 : thread);
  });
}

template <typename Visit>
void MutableLiteralBase::ForEachInStorageParallel(Visit&& visit) const {
  const bool inline_only = element_count() <= literal::kPopulateGrain;
  base::ParallelFor(element_count(), literal::kPopulateGrain, [&](int64_t begin, int64_t end, int thread) {
    literal::WalkStorage(shape(), begin, end, [&](absl::Span<const int64_t> index, int64_t position) {
      visit(index, position, inline_only ? -1 : thread);
    });
  });
}

template <typename NativeT, typename Generator,
          std::enable_if_t<std::is_invocable_r_v<NativeT, Generator, absl::Span<const int64_t>>, int>>
absl::Status MutableLiteralBase::Populate(Generator&& generator) {
  KASHI_RETURN_IF_ERROR(PrepareToPopulate(primitive_util::NativeToPrimitiveType<NativeT>()));
  NativeT* elements = data<NativeT>().data();
  ForEachInStorage([&](absl::Span<const int64_t> index, int64_t position) { elements[position] = generator(index); });
  return absl::OkStatus();
}

template <typename NativeT, typename Generator,
          std::enable_if_t<std::is_invocable_r_v<NativeT, Generator, absl::Span<const int64_t>, int>, int>>
absl::Status MutableLiteralBase::PopulateParallel(Generator&& generator) {
  KASHI_RETURN_IF_ERROR(PrepareToPopulate(primitive_util::NativeToPrimitiveType<NativeT>()));
  NativeT* elements = data<NativeT>().data();
  ForEachInStorageParallel([&](absl::Span<const int64_t> index, int64_t position, int thread) {
    elements[position] = generator(index, thread);
  });
  return absl::OkStatus();
}

template <typename NativeT, typename Generator,
          std::enable_if_t<std::is_invocable_r_v<NativeT, Generator, int64_t>, int>>
absl::Status MutableLiteralBase::PopulateLinear(Generator&& generator) {
  KASHI_RETURN_IF_ERROR(PrepareToPopulate(primitive_util::NativeToPrimitiveType<NativeT>()));
  const absl::Span<NativeT> elements = data<NativeT>();
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = generator(static_cast<int64_t>(i));
  return absl::OkStatus();
}

template <typename NativeT, typename Generator,
          std::enable_if_t<std::is_invocable_r_v<NativeT, Generator, int64_t, int>, int>>
absl::Status MutableLiteralBase::PopulateLinearParallel(Generator&& generator) {
  KASHI_RETURN_IF_ERROR(PrepareToPopulate(primitive_util::NativeToPrimitiveType<NativeT>()));
  NativeT* elements = data<NativeT>().data();
  ForEachPositionParallel([&](int64_t position, int thread) { elements[position] = generator(position, thread); });
  return absl::OkStatus();
}

template <typename Populator, std::enable_if_t<std::is_invocable_v<Populator, void*, absl::Span<const int64_t>>, int>>
absl::Status MutableLiteralBase::PopulateInplace(Populator&& populator) {
  KASHI_RETURN_IF_ERROR(PrepareToPopulate());
  const int64_t element_bytes = primitive_util::ByteWidth(shape().element_type());
  char* elements = root_->memory();
  ForEachInStorage([&](absl::Span<const int64_t> index, int64_t position) {
    populator(static_cast<void*>(elements + position * element_bytes), index);
  });
  return absl::OkStatus();
}

template <typename Populator,
          std::enable_if_t<std::is_invocable_v<Populator, void*, absl::Span<const int64_t>, int>, int>>
absl::Status MutableLiteralBase::PopulateInplaceParallel(Populator&& populator) {
  KASHI_RETURN_IF_ERROR(PrepareToPopulate());
  const int64_t element_bytes = primitive_util::ByteWidth(shape().element_type());
  char* elements = root_->memory();
  ForEachInStorageParallel([&](absl::Span<const int64_t> index, int64_t position, int thread) {
    populator(static_cast<void*>(elements + position * element_bytes), index, thread);
  });
  return absl::OkStatus();
}

template <typename Populator, std::enable_if_t<std::is_invocable_v<Populator, void*, int64_t>, int>>
absl::Status MutableLiteralBase::PopulateLinearInplace(Populator&& populator) {
  KASHI_RETURN_IF_ERROR(PrepareToPopulate());
  const int64_t element_bytes = primitive_util::ByteWidth(shape().element_type());
  char* elements = root_->memory();
  for (int64_t i = 0; i < element_count(); ++i) populator(static_cast<void*>(elements + i * element_bytes), i);
  return absl::OkStatus();
}

template <typename Populator, std::enable_if_t<std::is_invocable_v<Populator, void*, int64_t, int>, int>>
absl::Status MutableLiteralBase::PopulateLinearInplaceParallel(Populator&& populator) {
  KASHI_RETURN_IF_ERROR(PrepareToPopulate());
  const int64_t element_bytes = primitive_util::ByteWidth(shape().element_type());
  char* elements = root_->memory();
  ForEachPositionParallel([&](int64_t position, int thread) {
    populator(static_cast<void*>(elements + position * element_bytes), position, thread);
  });
  return absl::OkStatus();
}

template <typename NativeT>
void MutableLiteralBase::MutableEachCell(
    absl::FunctionRef<NativeT(absl::Span<const int64_t> indices, NativeT value)> per_cell) {
  NativeT* elements = data<NativeT>().data();
  literal::WalkRowMajor(shape().dimensions(), literal::ElementStrides(shape()),
                        [&](absl::Span<const int64_t> index, int64_t position) {
                          elements[position] = per_cell(index, elements[position]);
                          return true;
                        });
}

template <typename NativeT>
Literal LiteralBase::Replicate(int64_t times) const {
  KASHI_CHECK(shape().element_type() == primitive_util::NativeToPrimitiveType<NativeT>()) << shape();
  return ReplicateElements(times);
}

}  // namespace kashi

#endif  // KASHI_LITERAL_LITERAL_INLINE_H_
