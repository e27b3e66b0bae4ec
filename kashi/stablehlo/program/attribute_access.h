// Attributes as C++ values: ReadInt64List(*operation.Find("dimensions")) -> {0, 1}.
//
// A reader of a Program has checked that the attributes in the table exist and have the form in the table
// (operation_table.h), but not the elements of arrays, nor that numbers make sense. All functions return an error if
// the attribute has another form. It says what was expected, but not where: callers add the operation.
#ifndef KASHI_STABLEHLO_PROGRAM_ATTRIBUTE_ACCESS_H_
#define KASHI_STABLEHLO_PROGRAM_ATTRIBUTE_ACCESS_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {

// Lists from an attribute have at most this many elements. A splat costs no bytes per element, and real lists of
// dimensions, strides, pairs or devices are much smaller.
inline constexpr int64_t kLargestList = int64_t{1} << 20;

// The number of elements of a tensor whose dimensions are all known; nullopt if one is not, or if the product does not
// fit int64_t.
std::optional<int64_t> ElementCount(const Type& tensor);
// Bytes of an element in Attribute::text; 0 for types that no tensor attribute holds. An index has 8 bytes.
int64_t ElementBytes(const Type& element);

// The attribute with this name; if there is none, an error that names the attribute and the operation.
absl::StatusOr<const Attribute*> FindAttribute(const Operation& operation, absl::string_view name);
// The field of a record or dictionary; nullptr if there is none.
const Attribute* FindField(const Attribute& attribute, absl::string_view name);

absl::StatusOr<bool> ReadBool(const Attribute& attribute);
// kInteger of any type, or kBool.
absl::StatusOr<int64_t> ReadInt64(const Attribute& attribute);
// A kFloat of f64, f32, f16, bf16.
absl::StatusOr<double> ReadDouble(const Attribute& attribute);
// kString, kSymbol or kEnum.
absl::StatusOr<absl::string_view> ReadString(const Attribute& attribute);
absl::StatusOr<const Type*> ReadType(const Attribute& attribute);

// A tensor of integers (any width, index) of any rank, in row-major order; a splat is expanded. Also a kArray of
// kInteger.
absl::StatusOr<std::vector<int64_t>> ReadInt64List(const Attribute& attribute);
// A tensor of pred.
absl::StatusOr<std::vector<bool>> ReadBoolList(const Attribute& attribute);
// A kArray of kString, kSymbol or kEnum.
absl::StatusOr<std::vector<absl::string_view>> ReadStringList(const Attribute& attribute);

// A tensor of integers of shape [k,2]: padding of windows, source-target pairs. An empty tensor of any shape: no pairs.
absl::StatusOr<std::vector<std::pair<int64_t, int64_t>>> ReadPairs(const Attribute& attribute);
// A tensor of integers of shape [m,n], row by row. An empty tensor of any shape: no rows. `replica_groups` fills short
// rows with -1, which stays in the result.
absl::StatusOr<std::vector<std::vector<int64_t>>> ReadRows(const Attribute& attribute);
// A kArray of lists: layouts.
absl::StatusOr<std::vector<std::vector<int64_t>>> ReadInt64Lists(const Attribute& attribute);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_PROGRAM_ATTRIBUTE_ACCESS_H_
