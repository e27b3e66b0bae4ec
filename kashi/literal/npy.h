// NumPy's .npy files: one array, `\x93NUMPY`, a version, a header such as
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
// and the elements.
//
// Types that NumPy lacks (bf16, f8..., s4, ...) are written as ml_dtypes writes them: void of the width in memory,
// '<V2'. To read such an array, give its type; its dtype may be void, unsigned, or the ml_dtypes name.
#ifndef KASHI_LITERAL_NPY_H_
#define KASHI_LITERAL_NPY_H_

#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/shape.h"
#include "kashi/literal/literal.h"

namespace kashi {

// Versions 1 to 3, both byte orders, at most 64 dimensions. With `expected`, a static array, the file must have its
// dimensions and type (PRED: also unsigned bytes; all but 0 are true), and the literal gets its layout, if it
// has one. Else the literal's layout is the file's: {...,1,0}, or {0,1,...} for fortran_order.
// INVALID_ARGUMENT for anything else, such as files with fewer bytes than their header claims, or with more.
absl::StatusOr<Literal> ReadNpy(absl::string_view bytes, const std::optional<Shape>& expected = std::nullopt);

// Reads a file of this size that is not in memory: its elements are read directly into the literal. Headers end
// within the first 65545 bytes, more than any array needs. `read` puts the next `size` bytes of the file at `to`; its
// error is returned.
using NpySource = absl::FunctionRef<absl::Status(char* to, int64_t size)>;
absl::StatusOr<Literal> ReadNpy(int64_t file_bytes, NpySource read,
                                const std::optional<Shape>& expected = std::nullopt);

// A box of the array in such a file: `sizes` elements from `starts` on, in the file's layout. `whole` is the array, as
// `expected` is above. Reads the header and the elements of the box, in runs that are as long as the box allows.
// `read_at` puts `size` bytes from `offset` on at `to`. INVALID_ARGUMENT also for a box that is not within the array.
using NpyPlaces = absl::FunctionRef<absl::Status(int64_t offset, char* to, int64_t size)>;
absl::StatusOr<Literal> ReadNpyPart(int64_t file_bytes, NpyPlaces read_at, const Shape& whole,
                                    absl::Span<const int64_t> starts, absl::Span<const int64_t> sizes);

// The sizes in the header. Reads no elements.
absl::StatusOr<DimensionVector> ReadNpySizes(absl::string_view bytes);

// The bytes of the elements within a file, for callers that read them there: copies nothing.
struct NpyElements {
  Shape shape;                 // static, with the file's layout
  absl::string_view bytes;     // within the file
  bool is_big_endian = false;  // the bytes of each number are in the other order
};
// Like ReadNpy, but ignores the layout of `expected`. Bits above those of a narrow type, and bytes of a PRED, may be
// anything.
absl::StatusOr<NpyElements> FindNpyElements(absl::string_view bytes,
                                            const std::optional<Shape>& expected = std::nullopt);

// Replaces `*bytes` by the beginning of the file of an array, up to its elements: a multiple of 64 bytes.
// INVALID_ARGUMENT unless the array is static and its elements lie as in ReadNpy's literals.
absl::Status WriteNpyHeader(const Shape& shape, std::string* bytes);

// Replaces `*bytes` by the file of an array, version 1.0, in fortran_order if that is how the elements lie. For a
// dynamic array: the valid elements. INVALID_ARGUMENT unless the literal is a known array.
absl::Status WriteNpy(const LiteralSlice& literal, std::string* bytes);

}  // namespace kashi

#endif  // KASHI_LITERAL_NPY_H_
