// For tests of the literal room: random shapes and literals, and element access that relies only on the
// definition of minor_to_major.
#ifndef KASHI_LITERAL_LITERAL_ORACLE_TESTING_H_
#define KASHI_LITERAL_LITERAL_ORACLE_TESTING_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/literal/literal.h"

namespace kashi::literal::testing_oracle {

// A scalar of the type of the value.
template <typename T>
Literal R0(T value) {
  Literal literal(ShapeUtil::MakeShapeWithType<T>({}));
  literal.Set<T>({}, value);
  return literal;
}
template <typename T>
Literal R1(std::initializer_list<T> values) {
  Literal literal(ShapeUtil::MakeShapeWithType<T>({static_cast<int64_t>(values.size())}));
  literal.PopulateR1<T>(values);
  return literal;
}

// All indices of a box in row-major order.
inline std::vector<std::vector<int64_t>> AllIndices(absl::Span<const int64_t> bounds) {
  std::vector<std::vector<int64_t>> indices = {{}};
  for (int64_t bound : bounds) {
    std::vector<std::vector<int64_t>> longer;
    for (const std::vector<int64_t>& index : indices) {
      for (int64_t i = 0; i < bound; ++i) {
        longer.push_back(index);
        longer.back().push_back(i);
      }
    }
    indices = std::move(longer);
  }
  return indices;
}

inline int64_t Position(const Shape& shape, absl::Span<const int64_t> index) {
  int64_t position = 0;
  const absl::Span<const int64_t> order = shape.layout().minor_to_major();
  for (size_t i = order.size(); i > 0; --i) {
    position = position * shape.dimensions(static_cast<int>(order[i - 1])) + index[order[i - 1]];
  }
  return position;
}

// The bytes of one element.
inline std::string ElementBytes(const LiteralBase& literal, absl::Span<const int64_t> index) {
  const int64_t bytes = primitive_util::ByteWidth(literal.shape().element_type());
  const char* memory = static_cast<const char*>(literal.untyped_data());
  return std::string(memory + Position(literal.shape(), index) * bytes, bytes);
}

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}

  // A random number in [low, high].
  int64_t Number(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(engine_); }
  std::vector<int64_t> Permutation(int64_t size) {
    std::vector<int64_t> permutation(size);
    std::iota(permutation.begin(), permutation.end(), 0);
    std::shuffle(permutation.begin(), permutation.end(), engine_);
    return permutation;
  }
  std::vector<int64_t> Dimensions(int64_t max_rank, int64_t max_elements) {
    std::vector<int64_t> dimensions(Number(0, max_rank));
    int64_t room = max_elements;
    for (int64_t& size : dimensions) {
      size = Number(Number(0, 20) == 0 ? 0 : 1, std::max<int64_t>(std::min<int64_t>(room, 40), 1));
      if (size > 0) room /= size;
    }
    std::shuffle(dimensions.begin(), dimensions.end(), engine_);
    return dimensions;
  }
  Shape Array(PrimitiveType type, absl::Span<const int64_t> dimensions) {
    Shape shape(type, dimensions);
    *shape.mutable_layout() = LayoutUtil::MakeLayout(Permutation(static_cast<int64_t>(dimensions.size())));
    return shape;
  }
  PrimitiveType Type() {
    static const std::vector<PrimitiveType>* const kTypes = [] {
      auto* types = new std::vector<PrimitiveType>;
      primitive_util::ArrayTypeForEach([&](auto type) { types->push_back(type); });
      return types;
    }();
    return (*kTypes)[Number(0, static_cast<int64_t>(kTypes->size()) - 1)];
  }
  // Random bytes; of a narrow type only its bits.
  kashi::Literal Literal(const Shape& shape) {
    kashi::Literal literal(shape);
    auto* bytes = static_cast<uint8_t*>(literal.untyped_data());
    const int bits = primitive_util::BitWidth(shape.element_type());
    for (int64_t i = 0; i < literal.size_bytes(); ++i) {
      bytes[i] = static_cast<uint8_t>(Number(0, bits < 8 ? (1 << bits) - 1 : 255));
    }
    return literal;
  }

 private:
  std::mt19937 engine_;
};

}  // namespace kashi::literal::testing_oracle

#endif  // KASHI_LITERAL_LITERAL_ORACLE_TESTING_H_
