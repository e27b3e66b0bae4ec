// A linear algebra call of JAX: the program names kashi::kashi alone, and has LAPACK with it.
#include <iostream>
#include <memory>

#include "kashi/evaluator/hlo_evaluator.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/literal/literal.h"

namespace {

// The Schur form of a triangular matrix is the matrix; the diagonal has the eigenvalues.
constexpr char kSchur[] = R"(HloModule schur
ENTRY e {
  a = f64[2,2]{0,1} constant({{1, 5}, {0, 3}})
  form = (f64[2,2]{0,1}, f64[2,2]{0,1}, f64[2]{0}, f64[2]{0}, s32[], /*index=5*/s32[]) custom-call(a),
    custom_call_target="lapack_dgees_ffi", operand_layout_constraints={f64[2,2]{0,1}},
    api_version=API_VERSION_TYPED_FFI, backend_config={mode = 86 : ui8, sort = 78 : ui8}
  ROOT eigenvalues = f64[2]{0} get-tuple-element(form), index=2
})";

}  // namespace

int main() {
  const auto module = kashi::ParseAndReturnUnverifiedModule(kSchur);
  if (!module.ok()) {
    std::cerr << module.status() << "\n";
    return 1;
  }
  kashi::HloEvaluator evaluator;
  const absl::StatusOr<kashi::Literal> result = evaluator.Evaluate(**module, {});
  if (!result.ok()) {
    std::cerr << result.status() << "\n";
    return 1;
  }
  std::cout << result->ToString() << "\n";
  return 0;
}
