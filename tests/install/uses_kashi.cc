#include <iostream>

#include "kashi/array/shape_parser.h"
#include "kashi/array/shape_util.h"

int main() {
  const auto shape = kashi::ParseShape("f32[3,5]{1,0:T(2,2)}");
  if (!shape.ok()) {
    std::cerr << shape.status() << "\n";
    return 1;
  }
  std::cout << kashi::ShapeUtil::HumanStringWithLayout(*shape) << "\n";
  return 0;
}
