#include "kashi/literal/literal_piece.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kashi/base/math.h"
#include "kashi/base/page_buffer.h"
#include "kashi/base/status.h"

namespace kashi::literal {
namespace {

// No host gives more to one array, so memory for a larger shape is not even requested.
constexpr int64_t kMaxBytes = int64_t{1} << 40;

}  // namespace

int64_t LiteralPiece::size_bytes() const {
  if (subshape_->IsArray()) return element_count() * primitive_util::ByteWidth(subshape_->element_type());
  KASHI_CHECK(!subshape_->IsTuple()) << "a tuple has no elements in memory: " << *subshape_;
  return 0;
}

absl::Status LiteralPiece::Allocate() {
  Free();
  const int64_t bytes = size_bytes();
  if (bytes <= kInlineBytes) {
    buffer_ = inline_;
  } else {
    void* memory = bytes >= kMaxBytes ? nullptr : base::AllocateBlock(bytes);
    if (memory == nullptr) {
      return ResourceExhausted("Out of memory allocating %d bytes for a literal %s", bytes, subshape_->ToString());
    }
    buffer_ = static_cast<char*>(memory);
    owned_bytes_ = bytes;
    owns_buffer_ = true;
  }
  if (subshape_->is_dynamic()) MakeDynamicSizes();
  return absl::OkStatus();
}

void LiteralPiece::Borrow(char* bytes) {
  Free();
  buffer_ = bytes;
  if (!subshape_->is_dynamic() || bytes == nullptr) return;
  const int64_t offset = RoundUpTo<int64_t>(size_bytes(), sizeof(DynamicSizeType));
  dynamic_sizes_ = reinterpret_cast<DynamicSizeType*>(bytes + offset);
}

void LiteralPiece::BorrowFrom(const LiteralPiece& other) {
  Free();
  state_ = other.state_;
  buffer_ = other.buffer_;
  dynamic_sizes_ = other.dynamic_sizes_;
}

void LiteralPiece::TakeFrom(LiteralPiece* other) {
  Free();
  state_ = other->state_;
  dynamic_sizes_ = std::exchange(other->dynamic_sizes_, nullptr);
  owns_dynamic_sizes_ = std::exchange(other->owns_dynamic_sizes_, false);
  owns_buffer_ = std::exchange(other->owns_buffer_, false);
  buffer_ = std::exchange(other->buffer_, nullptr);
  if (owns_buffer_) owned_bytes_ = other->owned_bytes_;
  if (buffer_ == other->inline_) {
    std::memcpy(inline_, other->inline_, kInlineBytes);
    buffer_ = inline_;
  }
}

void LiteralPiece::Free() {
  if (owns_buffer_) base::FreeBlock(buffer_, owned_bytes_);
  if (owns_dynamic_sizes_) delete[] dynamic_sizes_;
  buffer_ = nullptr;
  dynamic_sizes_ = nullptr;
  owns_buffer_ = owns_dynamic_sizes_ = false;
}

void LiteralPiece::set_dynamic_size(int64_t dimension, DynamicSizeType size) {
  if (dynamic_sizes_ == nullptr) MakeDynamicSizes();
  dynamic_sizes_[dimension] = size;
}

DimensionVector LiteralPiece::current_sizes() const {
  DimensionVector sizes(subshape_->dimensions().begin(), subshape_->dimensions().end());
  if (dynamic_sizes_ == nullptr) return sizes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (subshape_->is_dynamic_dimension(static_cast<int>(i))) sizes[i] = dynamic_sizes_[i];
  }
  return sizes;
}

void LiteralPiece::MakeDynamicSizes() {
  dynamic_sizes_ = new DynamicSizeType[subshape_->dimensions_size()];
  owns_dynamic_sizes_ = true;
  std::transform(subshape_->dimensions().begin(), subshape_->dimensions().end(), dynamic_sizes_,
                 [](int64_t size) { return static_cast<DynamicSizeType>(size); });
}

void LiteralPiece::DieWithoutMemory() const {
  KASHI_LOG_FATAL() << "there are no elements of " << *subshape_
                    << (state_ == ArrayValueState::kKnown ? "" : ", which is unknown");
  std::abort();
}

void LiteralPiece::DieOfType(PrimitiveType asked_for) const {
  KASHI_LOG_FATAL() << "elements of " << *subshape_ << " asked for as "
                    << primitive_util::LowercasePrimitiveTypeName(asked_for);
  std::abort();
}

LiteralTree::LiteralTree(Shape tree_shape) : shape(std::move(tree_shape)) {
  root.set_subshape(&shape);
  if (!shape.IsTuple()) return;
  std::vector<const Shape*> subshapes = {&shape};
  for (size_t i = 0; i < subshapes.size(); ++i) {
    if (!subshapes[i]->IsTuple()) continue;
    for (const Shape& element : subshapes[i]->tuple_shapes()) subshapes.push_back(&element);
  }
  descendants = std::vector<LiteralPiece>(subshapes.size() - 1);
  size_t next_child = 0;
  for (size_t i = 0; i < subshapes.size(); ++i) {
    LiteralPiece& piece = i == 0 ? root : descendants[i - 1];
    piece.set_subshape(subshapes[i]);
    if (!subshapes[i]->IsTuple()) continue;
    const size_t arity = subshapes[i]->tuple_shapes().size();
    piece.set_children(absl::MakeSpan(descendants).subspan(next_child, arity));
    next_child += arity;
  }
}

}  // namespace kashi::literal
