#include "kashi/cpu/thunks/native_regions.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "kashi/base/status.h"

namespace kashi::cpu {
namespace {

using buffers::BufferStep;

// Instructions of one function, about, of several steps: LLVM's time grows with the square of a straight line.
constexpr int64_t kMostSize = 2000;

// Adds `change` for each mention of a buffer in the step.
void CountUses(const BufferStep& step, int change, std::vector<int>* uses) {
  const auto count = [&](int buffer) {
    if (buffer != buffers::kNoBuffer) (*uses)[buffer] += change;
  };
  const auto count_all = [&](absl::Span<const int> all) { absl::c_for_each(all, count); };
  for (const BufferStep::Move& move : step.moves) count_all({move.from, move.to});
  for (const buffers::Leaves& operand : step.operands) count_all(operand);
  count_all(step.results);
  count(step.selector);
  count_all(step.kept);
  for (const BufferStep::Move& swap : step.swaps) count_all({swap.from, swap.to});
  for (const buffers::BufferSequence& steps : step.computations) {
    for (const BufferStep& inner : steps) CountUses(inner, change, uses);
  }
}

}  // namespace

NativeRegions::NativeRegions(const ThunkKinds& kinds, const buffers::BufferAssignment& assignment, NativeCode& code)
    : kinds_(kinds), assignment_(assignment), code_(code), uses_(assignment.buffers.size()) {
  for (const BufferStep& step : assignment.steps) CountUses(step, 1, &uses_);
}

int64_t NativeRegions::CountSteps(Steps steps) const {
  const auto is_native = [&](const BufferStep& step) {
    return codegen::IsNativeStep(step, assignment_, code_.find_kernel);
  };
  int64_t count = 0, size = 0;
  for (const BufferStep& step : steps) {
    if (!is_native(step)) break;
    size += std::min(kMostSize, codegen::NativeStepSize(step, code_.find_kernel));
    if (count > 0 && size > kMostSize) break;
    ++count;
  }
  const auto gains = [&](const BufferStep& step) {
    if (step.kind == BufferStep::Kind::kInstruction) return kinds_.KindOf(*step.instruction) != ThunkKind::kStep;
    return step.kind != BufferStep::Kind::kMoves;
  };
  return count >= 2 || absl::c_any_of(steps.first(count), gains) ? count : 0;
}

std::vector<bool> NativeRegions::OwnBuffers(Steps steps) const {
  std::vector<int> others = uses_;
  for (const BufferStep& step : steps) CountUses(step, -1, &others);
  std::vector<bool> is_own;
  for (size_t b = 0; b < others.size(); ++b) {
    is_own.push_back(others[b] == 0 && assignment_.buffers[b].home == buffers::Home::kArena);
  }
  return is_own;
}

absl::StatusOr<std::optional<codegen::NativeFunction>> NativeRegions::TryMake(Steps steps) {
  const std::string name = absl::StrCat("native", code_.thunks.size());
  absl::StatusOr<std::optional<codegen::NativeFunction>> function = codegen::TryEmitNativeFunction(
      steps, assignment_, OwnBuffers(steps), code_.find_kernel, name, code_.numbers, code_.compiler.module());
  if (!function.ok()) {
    code_.refusals.push_back(function.status());
    return std::nullopt;
  }
  if (function->has_value()) KASHI_RETURN_IF_ERROR(code_.compiler.CompileIfLarge());
  return function;
}

}  // namespace kashi::cpu
