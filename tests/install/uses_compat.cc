#include <iostream>

#include "xla/shape_util.h"
#include "xla/xla_data.pb.h"

namespace xla {
void Print(const Shape& shape) { std::cout << ShapeUtil::HumanStringWithLayout(shape) << "\n"; }
}  // namespace xla

int main() {
  xla::Print(xla::ShapeUtil::MakeShape(xla::F32, {3, 5}));
  return 0;
}
