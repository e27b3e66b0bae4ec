// A frame: a place for a form in a whole program, so that the engine runs it in one of its ways. Each frame surrounds
// the form with operations that belong to that way: neighbours that fuse, a loop, a row reduction, a concatenation, a
// large array.
#ifndef KASHI_TESTS_ENGINES_FRAME_H_
#define KASHI_TESTS_ENGINES_FRAME_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/shape.h"
#include "tests/engines/form.h"

namespace kashi::tests {

// One form, or a producer and its consumer, without the parameters.
struct Core {
  std::vector<Shape> operands;
  std::string computations;
  std::string lines;  // with $0, $1 … and $r, like a form's
  Shape result;
  std::optional<Shape> middle;  // the producer's result, which is named `middle`
};
Core CoreOf(const Form& form);
// The producer's result is operand `slot` of the consumer. The other operands of the consumer follow the producer's.
Core CoreOf(const Form& producer, const Form& consumer, size_t slot);

struct Frame {
  absl::string_view name;
  // The text of the module; empty where the frame has no place for the core.
  std::string (*write)(const Core& core);
};
absl::Span<const Frame> Frames();

}  // namespace kashi::tests

#endif  // KASHI_TESTS_ENGINES_FRAME_H_
