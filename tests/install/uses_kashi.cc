#include <iostream>

#include "kashi/hlo/text/hlo_parser.h"

int main() {
  const auto module = kashi::ParseAndReturnUnverifiedModule("f32[3,5]{1,0:T(2,2)} add(f32[3,5] %x, f32[3,5] %y)");
  if (!module.ok()) {
    std::cerr << module.status() << "\n";
    return 1;
  }
  std::cout << (*module)->entry_computation()->root_instruction()->ToString() << "\n";
  return 0;
}
