// The storage of a literal: the tree of pieces of literal.h, with the memory that they own or borrow.
#ifndef KASHI_LITERAL_LITERAL_PIECE_H_
#define KASHI_LITERAL_LITERAL_PIECE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/base/optimization.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/check.h"

namespace kashi::literal {

// The state of an array leaf. An undetermined one may become known later, an unknown one never.
enum class ArrayValueState { kKnown = 0, kUnknown = 1, kUndetermined = 2 };

// One node of a literal's tree. It has a pointer to its elements, and knows whether it owns their memory.
class LiteralPiece {
 public:
  using DynamicSizeType = ShapeUtil::DynamicSizeType;
  static constexpr int64_t kInlineBytes = 24;

  LiteralPiece() = default;
  LiteralPiece(const LiteralPiece&) = delete;
  LiteralPiece& operator=(const LiteralPiece&) = delete;
  ~LiteralPiece() { Free(); }

  const Shape& subshape() const { return *subshape_; }
  void set_subshape(const Shape* shape) { subshape_ = shape; }
  ArrayValueState state() const { return state_; }
  void set_state(ArrayValueState state) { state_ = state; }

  // Children of a tuple.
  absl::Span<LiteralPiece> children() const { return absl::Span<LiteralPiece>(children_, num_children_); }
  void set_children(absl::Span<LiteralPiece> children) {
    children_ = children.data();
    num_children_ = children.size();
  }

  // Elements of an array, 0 for others; bytes they take (dies for a tuple). The shape's sizes were checked when it was
  // made: no overflow.
  int64_t element_count() const;
  int64_t size_bytes() const;

  // Memory of the elements, or null.
  char* buffer() const { return buffer_; }
  // Dies if there is none.
  char* memory() const {
    if (ABSL_PREDICT_FALSE(buffer_ == nullptr)) DieWithoutMemory();
    return buffer_;
  }
  template <typename NativeT>
  absl::Span<NativeT> data() const {
    if (ABSL_PREDICT_FALSE(subshape_->element_type() != primitive_util::NativeToPrimitiveType<NativeT>())) {
      DieOfType(primitive_util::NativeToPrimitiveType<NativeT>());
    }
    return absl::Span<NativeT>(reinterpret_cast<NativeT*>(memory()), element_count());
  }
  // Storage position of an index. Bounds are checked in debug builds only.
  int64_t LinearIndex(absl::Span<const int64_t> multi_index) const;
  template <typename NativeT>
  NativeT Get(absl::Span<const int64_t> multi_index) const {
    return data<NativeT>()[LinearIndex(multi_index)];
  }

  // RESOURCE_EXHAUSTED if there is not enough memory. Uninitialised; aligned to 64 bytes, if it is more than
  // kInlineBytes.
  absl::Status Allocate();
  // Borrowed memory with the layout above. After the elements of a dynamic shape, at the next multiple of 4, come the
  // current sizes, one DynamicSizeType per dimension.
  void Borrow(char* bytes);
  // The memory and the sizes that `other` uses.
  void BorrowFrom(const LiteralPiece& other);
  // Moves memory, state and sizes from a piece of an equal shape.
  void TakeFrom(LiteralPiece* other);
  void Free();

  // Current size of a dimension, and the list of them.
  DynamicSizeType dynamic_size(int64_t dimension) const {
    return dynamic_sizes_ != nullptr && subshape_->is_dynamic_dimension(static_cast<int>(dimension))
               ? dynamic_sizes_[dimension]
               : static_cast<DynamicSizeType>(subshape_->dimensions(static_cast<int>(dimension)));
  }
  void set_dynamic_size(int64_t dimension, DynamicSizeType size);
  DimensionVector current_sizes() const;

 private:
  [[noreturn]] void DieWithoutMemory() const;
  [[noreturn]] void DieOfType(PrimitiveType asked_for) const;
  void MakeDynamicSizes();

  const Shape* subshape_ = nullptr;
  char* buffer_ = nullptr;                    // into inline_, owned memory, or borrowed memory
  DynamicSizeType* dynamic_sizes_ = nullptr;  // by dimension; null: all are the bounds
  LiteralPiece* children_ = nullptr;          // side by side in Tree::descendants
  size_t num_children_ = 0;
  ArrayValueState state_ = ArrayValueState::kKnown;
  bool owns_buffer_ = false;
  bool owns_dynamic_sizes_ = false;
  union {
    alignas(8) char inline_[kInlineBytes];
    int64_t owned_bytes_;  // of owned memory, also if the shape changes
  };
};

// A shape and its pieces, in one allocation if it is not a tuple. Never moves in memory.
struct LiteralTree {
  explicit LiteralTree(Shape tree_shape);  // pieces without memory
  Shape shape;
  LiteralPiece root;
  std::vector<LiteralPiece> descendants;  // breadth first: the children of each tuple side by side
};

// Calls visit(piece of a, piece of b) for all nodes of two trees of the same form. Trees may be thousands deep: no
// recursion.
template <typename Visit>
void VisitPairs(const LiteralPiece& a, const LiteralPiece& b, Visit visit) {
  std::vector<std::pair<const LiteralPiece*, const LiteralPiece*>> open = {{&a, &b}};
  while (!open.empty()) {
    const auto [left, right] = open.back();
    open.pop_back();
    // Literals have const pointers to their trees; the callers ensure that the tree may be written.
    visit(const_cast<LiteralPiece&>(*left), const_cast<LiteralPiece&>(*right));
    for (size_t i = 0; i < left->children().size(); ++i) {
      open.push_back({&left->children()[i], &right->children()[i]});
    }
  }
}

inline int64_t LiteralPiece::element_count() const {
  if (!subshape_->IsArray()) return 0;
  int64_t count = 1;
  for (int64_t size : subshape_->dimensions()) count *= size;
  return count;
}

inline int64_t LiteralPiece::LinearIndex(absl::Span<const int64_t> multi_index) const {
  const absl::Span<const int64_t> dimensions = subshape_->dimensions();
  KASHI_CHECK(multi_index.size() == dimensions.size()) << "index of " << multi_index.size() << " in " << *subshape_;
  int64_t position = 0, stride = 1;
  for (int64_t dimension : subshape_->layout().minor_to_major()) {
    KASHI_DCHECK(multi_index[dimension] >= 0 && multi_index[dimension] < dimensions[dimension]) << *subshape_;
    position += multi_index[dimension] * stride;
    stride *= dimensions[dimension];
  }
  return position;
}

}  // namespace kashi::literal

#endif  // KASHI_LITERAL_LITERAL_PIECE_H_
