// Any bytes as the file of a snapshot, binary or text format: a module with its arguments and its result. What reads is
// written again, which reads as the same; its literals are made, or refused, and the program runs on them where they
// fit.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "fuzz/hlo_text_mutator.h"
#include "fuzz/small_program.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/check.h"
#include "kashi/evaluator/hlo_evaluator.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/proto/hlo_proto_io.h"

namespace kashi::fuzz {
namespace {

std::unique_ptr<HloModule> ReadAgain(const HloModule& module, HloProtoFile* file) {
  std::string bytes;
  KASHI_CHECK_OK(WriteHloProto(module, *file, &bytes));
  absl::StatusOr<std::unique_ptr<HloModule>> again = ReadHloProto(bytes, file);
  KASHI_CHECK_OK(again);
  KASHI_CHECK_EQ((*again)->ToString(), module.ToString());
  return *std::move(again);
}

// The elements that are literals.
template <typename Protos>
std::vector<Literal> LiteralsOf(const Protos& protos) {
  std::vector<Literal> literals;
  for (const LiteralProto& proto : protos) {
    absl::StatusOr<Literal> literal = Literal::CreateFromProto(proto);
    if (!literal.ok()) continue;
    const LiteralProto written = literal->ToProto();
    const absl::StatusOr<Literal> again = Literal::CreateFromProto(written);
    KASHI_CHECK_OK(again);
    KASHI_CHECK(ShapeUtil::Equal(again->shape(), literal->shape())) << ShapeUtil::HumanString(again->shape());
    literals.push_back(*std::move(literal));
  }
  return literals;
}

void Run(const HloModule& module, const std::vector<Literal>& arguments) {
  if (!IsSmall(module) || !VerifyHlo(module, HloVerifierOpts{}.AllowMixedPrecision()).empty()) return;
  const absl::StatusOr<Literal> result =
      HloEvaluator(OptionsOfSmallRun()).Evaluate(module, absl::MakeConstSpan(arguments));
  KASHI_CHECK(result.ok() || !result.status().message().empty());
}

}  // namespace
}  // namespace kashi::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kashi::HloProtoFile file;
  const auto module = kashi::ReadHloProto({reinterpret_cast<const char*>(data), size}, &file);
  if (!module.ok()) return 0;
  const auto again = kashi::fuzz::ReadAgain(**module, &file);
  kashi::fuzz::Run(*again, kashi::fuzz::LiteralsOf(file.snapshot.arguments()));
  for (const auto& partition : file.unoptimized_snapshot.partitions()) {
    kashi::fuzz::Run(*again, kashi::fuzz::LiteralsOf(partition.arguments()));
  }
  if (!file.snapshot.has_result()) return 0;
  const auto result = kashi::Literal::CreateFromProto(file.snapshot.result());
  if (result.ok()) result->ToString();
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  return kashi::fuzz::MutateHloText(data, size, max_size, seed);
}
