// The examples of docs/api.md: each block there is a part of this file, without its indentation
// (tests/scripts_test.py).
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/analysis/cost_analysis.h"
#include "kashi/analysis/memory_analysis.h"
#include "kashi/array/device_size.h"
#include "kashi/array/index_map.h"
#include "kashi/array/shape_parser.h"
#include "kashi/draw/layout_figure.h"
#include "kashi/evaluator/hlo_evaluator.h"
#include "kashi/hlo/builder/xla_builder.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/hlo/verifier/hlo_verifier.h"
#include "kashi/literal/literal.h"
#include "kashi/literal/literal_util.h"
#include "kashi/proto/hlo_proto_io.h"
#include "kashi/relayout/relayout_plan.h"

namespace {

void LayOut() {
  const kashi::Shape shape = kashi::ParseShape("bf16[500,6144]{1,0:T(8,128)(2,1)}").value();
  const kashi::IndexMap map = kashi::IndexMap::Make(shape).value();
  std::cout << map.LogicalToPhysical({5, 130}) << "\n";                    // 1541; a few nanoseconds
  std::cout << kashi::GetDeviceSize(shape)->padding_bytes << "\n";         // 49152
  std::cout << kashi::ToTerminal(kashi::MakeLayoutFigure(shape).value());  // what `kashi draw` prints
}

void Move() {
  const kashi::Shape host = kashi::ParseShape("bf16[500,6144]").value();
  const kashi::Shape device = kashi::ParseShape("bf16[500,6144]{1,0:T(8,128)(2,1)}").value();
  const kashi::RelayoutPlan plan = kashi::RelayoutPlan::Make(host, device).value();
  std::vector<char> from(plan.source_bytes()), to(plan.target_bytes());
  plan.Execute(from.data(), to.data());  // any number of threads may use a plan at once
}

absl::Status Read(const std::string& text) {
  absl::StatusOr<std::unique_ptr<kashi::HloModule>> module = kashi::ParseAndReturnUnverifiedModule(text);
  if (!module.ok()) return module.status();  // its message has the place: line, column, source line, caret
  for (kashi::HloInstruction* instruction : (*module)->entry_computation()->MakeInstructionPostOrder()) {
    std::cout << instruction->opcode() << " " << instruction->shape().ToString() << "\n";
  }
  for (const kashi::HloFinding& finding : kashi::VerifyHlo(**module)) std::cout << finding.message << "\n";
  std::cout << (*module)->ToString();  // byte for byte what XLA prints

  std::string bytes;
  return kashi::WriteHloProto(**module, kashi::HloProtoKind::kModule, /*text_format=*/false, &bytes);
}

absl::StatusOr<kashi::XlaComputation> Build() {
  kashi::XlaBuilder builder("f");
  const kashi::XlaOp x = kashi::Parameter(&builder, 0, kashi::ParseShape("f32[4]").value(), "x");
  kashi::Add(kashi::Mul(x, x), kashi::ConstantR0<float>(&builder, 1));
  return builder.Build();
}

absl::StatusOr<kashi::Literal> Run(const kashi::HloModule& module) {
  const kashi::Literal x = kashi::LiteralUtil::CreateR1<float>({1, 2, 3, 4});
  kashi::HloEvaluator evaluator;
  return evaluator.Evaluate(module, {&x});  // {2, 5, 10, 17}
}

absl::Status Analyze(const kashi::HloModule& module) {
  absl::StatusOr<kashi::MemoryAnalysis> memory = kashi::AnalyzeMemory(module);
  if (!memory.ok()) return memory.status();
  for (const kashi::MemorySpaceUsage& space : memory->spaces) std::cout << space.peak_bytes << "\n";
  return absl::OkStatus();
}

}  // namespace

int main() {
  LayOut();
  Move();
  const absl::Status read = Read("HloModule m\nENTRY e { x = f32[4] parameter(0) ROOT y = f32[4] negate(x) }");
  const absl::StatusOr<kashi::XlaComputation> computation = Build();
  if (!read.ok() || !computation.ok()) return 1;
  const absl::StatusOr<kashi::Literal> result = Run(computation->module());
  if (!result.ok() || !Analyze(computation->module()).ok()) return 1;
  std::cout << result->ToString() << "\n";
  return 0;
}
