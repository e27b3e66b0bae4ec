// Any bytes as an expression of `kashi query`: reading never ends the process, an error has a place in the text, and
// what reads finds the same instructions however it is written in a larger expression.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kashi/base/check.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/insight/accelerators.h"
#include "kashi/query/expression.h"
#include "kashi/query/facts.h"
#include "kashi/query/regular_expression.h"
#include "kashi/query/shape_pattern.h"

namespace kashi::fuzz {
namespace {

constexpr char kModule[] = R"(HloModule m
fused {
  p = f32[8,128]{1,0:T(8,128)} parameter(0)
  ROOT e = f32[8,128]{1,0:T(8,128)} exponential(p), metadata={op_name="jit(f)/layer_1/exp" source_file="m.py"}
}
body {
  s = (s32[], f32[8,128]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = f32[8,128] get-tuple-element(s), index=1
  o = s32[] constant(1)
  j = s32[] add(i, o)
  w = f32[8,128] fusion(v), kind=kLoop, calls=fused
  ROOT t = (s32[], f32[8,128]) tuple(j, w)
}
condition {
  c = (s32[], f32[8,128]) parameter(0)
  k = s32[] get-tuple-element(c), index=0
  n = s32[] constant(5)
  ROOT l = pred[] compare(k, n), direction=LT
}
ENTRY main {
  a = f32[8,128] parameter(0), sharding={replicated}
  z = s32[] constant(0)
  b = (s32[], f32[8,128]) tuple(z, a)
  x = (s32[], f32[8,128]) while(b), condition=condition, body=body
  y = f32[8,128] get-tuple-element(x), index=1
  ROOT r = f32[8,128] custom-call(y, a), custom_call_target="kernel"
})";

const query::ModuleFacts& TheFacts() {
  static const auto* const module = ParseAndReturnUnverifiedModule(kModule).value().release();
  static const auto* const facts = [] {
    query::ModuleFactsOptions options;
    options.accelerator = insight::FindAccelerator("v5e");
    return new query::ModuleFacts(query::ModuleFacts::Prepare(*module, query::FactSet().set(), options).value());
  }();
  return *facts;
}

using Found = std::vector<const HloInstruction*>;

Found Find(absl::string_view text) {
  const auto expression = query::Expression::Parse(text);
  KASHI_CHECK_OK(expression) << text;
  return expression->FindIn(TheFacts());
}

void CheckLaws(absl::string_view text, const Found& found) {
  KASHI_CHECK(Find(absl::StrCat("(", text, ")")) == found) << text;
  KASHI_CHECK(Find(absl::StrCat("not not (", text, ")")) == found) << text;
  KASHI_CHECK(Find(absl::StrCat("(", text, ") and true or false")) == found) << text;
  const Found others = Find(absl::StrCat("not (", text, ")"));
  absl::flat_hash_set<const HloInstruction*> all(found.begin(), found.end());
  all.insert(others.begin(), others.end());
  KASHI_CHECK_EQ(all.size(), found.size() + others.size()) << text;
  KASHI_CHECK_EQ(all.size(), Find("true").size()) << text;
}

void CheckExpression(absl::string_view text) {
  std::vector<Diagnostic> diagnostics;
  const auto expression = query::Expression::Parse(text, &diagnostics);
  if (expression.ok()) {
    KASHI_CHECK(diagnostics.empty()) << text;
    // Parentheses around it may be too many.
    const bool fits = query::Expression::Parse(absl::StrCat("not not (", text, ")")).ok();
    if (fits) CheckLaws(text, expression->FindIn(TheFacts()));
    return;
  }
  KASHI_CHECK_EQ(diagnostics.size(), 1) << text;
  KASHI_CHECK(diagnostics[0].begin <= diagnostics[0].end && diagnostics[0].end <= text.size()) << text;
  KASHI_CHECK(!diagnostics[0].message.empty()) << text;
}

// Any text is found by its escaped form, and its quoted form is one string.
void CheckQuotes(absl::string_view text) {
  const auto escaped = query::RegularExpression::Compile(query::RegularExpression::Escaped(text));
  if (escaped.ok()) KASHI_CHECK(escaped->Finds(text)) << text;
  const std::string quoted = query::Quoted(query::RegularExpression::Escaped(text));
  KASHI_CHECK_EQ(query::Expression::Parse(absl::StrCat("name ~ ", quoted)).ok(), escaped.ok()) << text;
}

void CheckPattern(absl::string_view text) {
  size_t at = 0;
  const auto pattern = query::ShapePattern::Parse(text, &at);
  if (!pattern.ok()) {
    KASHI_CHECK_LE(at, text.size()) << text;
    return;
  }
  for (const HloComputation* computation : TheFacts().module().computations()) {
    for (const HloInstruction* x : computation->instructions()) {
      if (pattern->Matches(x->shape())) KASHI_CHECK(pattern->MatchesPart(x->shape())) << text;
    }
  }
}

}  // namespace
}  // namespace kashi::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kLongest = 4096;
  if (size > kLongest) return 0;
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  kashi::fuzz::CheckExpression(text);
  kashi::fuzz::CheckPattern(text);
  kashi::fuzz::CheckQuotes(text);
  return 0;
}
