#include "kashi/hlo/ir/shape_with_text.h"

#include <memory>

namespace kashi {

const std::string& ShapeWithText::text() const {
  if (written_) {
    static thread_local std::string text;
    text = shape_.ToString(/*print_layout=*/true);
    return text;
  }
  const std::string* text = text_.load(std::memory_order_acquire);
  if (text != nullptr) return *text;
  auto made = std::make_unique<const std::string>(shape_.ToString(/*print_layout=*/true));
  if (text_.compare_exchange_strong(text, made.get(), std::memory_order_acq_rel)) text = made.release();
  return *text;
}

Shape* ShapeWithText::mutable_shape() {
  written_ = true;
  delete text_.exchange(nullptr, std::memory_order_acq_rel);
  return &shape_;
}

}  // namespace kashi
