// Shapes that the instructions of a module share.
#ifndef KASHI_HLO_IR_SHAPE_WITH_TEXT_H_
#define KASHI_HLO_IR_SHAPE_WITH_TEXT_H_

#include <atomic>
#include <string>
#include <utility>

#include "kashi/array/shape.h"
#include "kashi/base/shared_value.h"

namespace kashi {

// A shape that instructions share, with its text, because the printer needs it often.
class ShapeWithText {
 public:
  explicit ShapeWithText(Shape shape) : shape_(std::move(shape)) {}
  ShapeWithText(const ShapeWithText& other) : shape_(other.shape_) {}
  ShapeWithText(ShapeWithText&& other) noexcept : shape_(std::move(other.shape_)) {}
  ShapeWithText& operator=(const ShapeWithText&) = delete;
  ~ShapeWithText() { delete text_.load(std::memory_order_relaxed); }

  const Shape& shape() const { return shape_; }
  // The HLO text of the shape with its layout. Thread-safe. The first call makes the text and keeps it. If the shape
  // may be written to, each call makes the text again; it is valid until the next such call on the same thread.
  const std::string& text() const;
  // Disables the kept text forever, because the caller may keep the pointer and write to the shape later.
  Shape* mutable_shape();
  bool may_be_written() const { return written_; }

 private:
  Shape shape_;
  bool written_ = false;
  mutable std::atomic<const std::string*> text_{nullptr};
};
using SharedShape = base::SharedValue<ShapeWithText>;

}  // namespace kashi

#endif  // KASHI_HLO_IR_SHAPE_WITH_TEXT_H_
