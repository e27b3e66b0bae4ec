// Types of values for the writer of StableHLO text.
//
//   f32[2,3]                              tensor<2x3xf32>
//   (f32[2,3], (s32[], token[]))          tuple<tensor<2x3xf32>, tuple<tensor<i32>, !stablehlo.token>>
//   a tuple with a long text              !tuple0, and the line `!tuple0 = tuple<…>` in front of the module
//
// Each operation has the types of its operands and results. Without aliases, the text that takes apart a tuple of n
// elements, or of depth n, has n^2 parts; with them it has n.
#ifndef KASHI_STABLEHLO_CONVERSION_STABLEHLO_TYPE_TEXTS_H_
#define KASHI_STABLEHLO_CONVERSION_STABLEHLO_TYPE_TEXTS_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "kashi/array/shape.h"

namespace kashi::stablehlo {

class TypeTexts {
 public:
  // Pre: a tuple keeps its address and its value while this object lives. Cost for a tuple: the number of its parts
  // at the first call, then the length of the result. For a type that StableHLO does not have, returns some text, and
  // error() has the error.
  std::string Of(const Shape& shape);

  // The lines of the aliases. Each comes after the aliases that it uses.
  const std::string& definitions() const { return definitions_; }

  // The first error since the last call of TakeError: UNIMPLEMENTED.
  const absl::Status& error() const { return error_; }
  absl::Status TakeError();

 private:
  std::string OfLeaf(const Shape& shape);
  const std::string& OfTuple(const Shape& shape);
  std::string Shortened(std::string text);

  absl::flat_hash_map<const Shape*, std::string> tuples_;
  absl::flat_hash_map<std::string, std::string> aliases_;  // by what they stand for
  std::string definitions_;
  absl::Status error_;
};

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_CONVERSION_STABLEHLO_TYPE_TEXTS_H_
