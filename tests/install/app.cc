#include <iostream>
#include "kashi/array/index_map.h"
#include "kashi/array/shape_parser.h"

int main() {
  const kashi::Shape shape = kashi::ParseShape("bf16[512,6144]{1,0:T(8,128)(2,1)}").value();
  std::cout << kashi::IndexMap::Make(shape)->LogicalToPhysical({5, 130}) << "\n";  // 1541
}
