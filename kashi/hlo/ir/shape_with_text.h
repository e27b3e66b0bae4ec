// Shapes that the instructions of a module share.
#ifndef KASHI_HLO_IR_SHAPE_WITH_TEXT_H_
#define KASHI_HLO_IR_SHAPE_WITH_TEXT_H_

#include <atomic>
#include <string>
#include <utility>

#include "kashi/array/shape.h"
#include "kashi/base/shared_value.h"

namespace kashi {

// A shape that instructions share, with its text, which printing needs over and over.
class ShapeWithText {
 public:
  explicit ShapeWithText(Shape shape) : shape_(std::move(shape)) {}
  ShapeWithText(const ShapeWithText& other) : shape_(other.shape_) {}
  ShapeWithText(ShapeWithText&& other) noexcept : shape_(std::move(other.shape_)) {}
  ShapeWithText& operator=(const ShapeWithText&) = delete;
  ~ShapeWithText() { delete text_.load(std::memory_order_relaxed); }

  const Shape& shape() const { return shape_; }
  // The shape with its layout as HLO text has it. Thread-safe; made by the first call and kept. The text of a shape
  // that somebody may be writing to is made anew each time, and is valid until the same thread's next such call.
  const std::string& text() const;
  // Whoever writes to the shape takes the text away for good: the writer may keep the pointer.
  Shape* mutable_shape();
  bool may_be_written() const { return written_; }

 private:
  Shape shape_;
  bool written_ = false;
  mutable std::atomic<const std::string*> text_{nullptr};
};
using SharedShape = internal::SharedValue<ShapeWithText>;

}  // namespace kashi

#endif  // KASHI_HLO_IR_SHAPE_WITH_TEXT_H_
