// Helpers of the builder's tests: shapes from text, and the printed lines of a program.
#ifndef KASHI_HLO_BUILDER_XLA_BUILDER_TESTING_H_
#define KASHI_HLO_BUILDER_XLA_BUILDER_TESTING_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_parser.h"
#include "kashi/hlo/builder/xla_builder.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::hlo {

inline Shape ShapeOf(absl::string_view text) { return ParseShape(text).value(); }

inline XlaOp Param(XlaBuilder* builder, int64_t number, absl::string_view shape) {
  return Parameter(builder, number, ShapeOf(shape), absl::StrCat("p", number));
}

// The entry's instructions except parameters, one line each: `broadcast f32[4]->f32[4,2] dimensions={0}`, that is,
// opcode, shapes of the operands, shape, attributes. No layouts and no names.
inline std::string Lines(const XlaComputation& computation) {
  const HloPrintOptions options = HloPrintOptions::ShortParsable()
                                      .set_print_result_shape(false)
                                      .set_include_layout_in_shapes(false)
                                      .set_print_operand_shape(false)
                                      .set_print_backend_config(true);
  std::string lines;
  for (const HloInstruction* x : computation.module().entry_computation()->MakeInstructionPostOrder()) {
    if (x->opcode() == HloOpcode::kParameter) continue;
    absl::StrAppend(&lines, lines.empty() ? "" : "\n", HloOpcodeString(x->opcode()), " ");
    for (int64_t i = 0; i < x->operand_count(); ++i) {
      absl::StrAppend(&lines, i ? ", " : "", ShapeUtil::HumanString(x->operand(i)->shape()));
    }
    absl::StrAppend(&lines, "->", ShapeUtil::HumanString(x->shape()));
    // `name = opcode(operands), attributes`
    const std::string text = x->ToString(options);
    const size_t end = text.find("), ");
    if (end != std::string::npos) absl::StrAppend(&lines, " ", text.substr(end + 3));
  }
  return lines;
}

// Builds, and expects that the text reads back as the same text. Returns the entry's lines, or the error message.
inline std::string BuildLines(XlaBuilder* builder) {
  const absl::StatusOr<XlaComputation> computation = builder->Build();
  if (!computation.ok()) return absl::StrCat("error: ", computation.status().message());
  const std::string text = computation->module().ToString();
  const auto again = ParseAndReturnUnverifiedModule(text);
  EXPECT_TRUE(again.ok()) << again.status() << "\n" << text;
  if (again.ok()) {
    EXPECT_EQ((*again)->ToString(), text);
  }
  return Lines(*computation);
}

// x, y -> x op y, for reductions.
inline XlaComputation ScalarFunction(XlaOp (*op)(XlaOp, XlaOp, absl::Span<const int64_t>), absl::string_view type) {
  XlaBuilder builder("f");
  const XlaOp x = Param(&builder, 0, type), y = Param(&builder, 1, type);
  op(x, y, {});
  return builder.Build().value();
}

}  // namespace kashi::hlo

#endif  // KASHI_HLO_BUILDER_XLA_BUILDER_TESTING_H_
