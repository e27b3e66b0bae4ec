// The example of docs/api.md that needs kashi::cpu: a module, compiled, called on the caller's memory.
#include <cstdio>
#include <memory>
#include <vector>

#include "kashi/engine/program.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace {

absl::Status Compile(const kashi::HloModule& module) {
  absl::StatusOr<std::unique_ptr<kashi::Program>> program = kashi::Program::Compile(module);
  if (!program.ok()) return program.status();
  const std::vector<float> x = {1, 2, 3, 4};
  std::vector<float> y(4);
  const absl::Status status = (*program)->ExecuteOnMemory({x.data()}, {y.data()});
  std::printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);  // 2 5 10 17
  return status;
}

}  // namespace

int main() {
  const auto module = kashi::ParseAndReturnUnverifiedModule(
      "HloModule m\nENTRY e { x = f32[4] parameter(0) o = f32[] constant(1) ones = f32[4] broadcast(o), dimensions={} "
      "s = f32[4] multiply(x, x) ROOT y = f32[4] add(s, ones) }");
  return module.ok() && Compile(**module).ok() ? 0 : 1;
}
