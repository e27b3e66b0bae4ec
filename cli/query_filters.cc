#include "cli/query_filters.h"

#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "kashi/query/expression.h"
#include "kashi/query/regular_expression.h"

namespace kashi::cli {
namespace {

std::vector<std::string> OpcodesOf(const std::string& list) { return absl::StrSplit(list, ','); }

// The error of the expression `key operator "value"`, without its place; "" if there is none.
std::string ErrorOf(absl::string_view key_and_operator, absl::string_view value) {
  std::vector<Diagnostic> diagnostics;
  const auto parsed = query::Expression::Parse(absl::StrCat(key_and_operator, query::Quoted(value)), &diagnostics);
  return parsed.ok() ? "" : diagnostics.front().message;
}

std::vector<std::string> EndsOf(const std::string& path) { return absl::StrSplit(path, ',', absl::SkipEmpty()); }

std::string CheckOpcodes(const std::string& list) {
  for (const std::string& opcode : OpcodesOf(list)) {
    std::string error = ErrorOf("opcode == ", opcode);
    if (!error.empty()) return error;
  }
  return "";
}

std::string CheckPattern(const std::string& pattern) {
  const auto compiled = query::RegularExpression::Compile(pattern);
  return compiled.ok() ? "" : std::string(compiled.status().message());
}

// `model.py`, `model.py:12`, `layers/model.py`: the end of a path.
std::string SourcePattern(absl::string_view source) {
  const size_t colon = source.rfind(':');
  int64_t line = 0;
  const bool has_line = colon != absl::string_view::npos && absl::SimpleAtoi(source.substr(colon + 1), &line);
  return absl::StrCat("(^|/)", query::RegularExpression::Escaped(source), has_line ? "$" : ":[0-9]+$");
}

std::string HasText(absl::string_view key, absl::string_view text) {
  return absl::StrCat(key, " ~ ", query::Quoted(query::RegularExpression::Escaped(text)));
}

}  // namespace

void AddFilterOptions(Verb* verb, QueryFilters* filters) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  verb->BeginGroup("Filters, all of which must hold");
  verb->AddOption("--opcode", &filters->opcodes, "Operations: dot, or all-reduce,all-gather")
      ->OneEach()
      ->Value("NAME")
      ->Check(CheckOpcodes);
  verb->AddOption("--shape", &filters->shape, "The shape of the result, or a part of its tuple: 'f32[*,128]'")
      ->Value("PATTERN")
      ->Check([](const std::string& pattern) { return ErrorOf("shape ~ ", pattern); });
  verb->AddOption("--op-name", &filters->op_name, "A regular expression that is found in the op_name")
      ->Value("REGEX")
      ->Check(CheckPattern);
  verb->AddOption("--source", &filters->source, "The line in the user's program: model.py, or model.py:12")
      ->Value("FILE[:LINE]");
  verb->AddSizeOption("--larger", &filters->larger, "Results of more bytes than this: 1M");
  verb->AddOption("--in", &filters->computation, "Only this computation")->Value("NAME");
  verb->AddOption("--call-target", &filters->call_target,
                  "A regular expression that is found in the target of a custom call")
      ->Value("REGEX")
      ->Check(CheckPattern);
  verb->AddOption("--sharding", &filters->sharding, "Shardings that have this text")->Value("TEXT");
  verb->AddOption("--layout", &filters->layout, "Layouts that have this text: '{0,1'")->Value("TEXT");
  verb->AddOption("--users-of", &filters->users_of, "The users of this instruction")->Value("NAME");
  verb->AddOption("--operands-of", &filters->operands_of, "The operands of this instruction")->Value("NAME");
  verb->AddOption("--around", &filters->around, "This instruction with its users and operands")->Value("NAME");
  verb->AddOption("--path", &filters->path,
                  "The instructions on the shortest way of data between these two: dot.3,add.7")
      ->Value("FROM,TO")
      ->Check([](const std::string& text) {
        return EndsOf(text).size() == 2 ? "" : "give two names with a comma between them";
      });
  verb->AddOption("--depth", &filters->depth, "Follow users and operands this many steps (default: 1)")
      ->Within(0, kMost);
}

std::string FilterExpression(const QueryFilters& filters) {
  std::vector<std::string> parts;
  std::vector<std::string> opcodes;
  for (const std::string& list : filters.opcodes) {
    for (const std::string& opcode : OpcodesOf(list)) opcodes.push_back(query::Quoted(opcode));
  }
  if (!opcodes.empty()) parts.push_back(absl::StrCat("opcode in (", absl::StrJoin(opcodes, ", "), ")"));
  const auto add = [&parts](absl::string_view key_and_operator, const std::string& value) {
    if (!value.empty()) parts.push_back(absl::StrCat(key_and_operator, query::Quoted(value)));
  };
  add("shape ~ ", filters.shape);
  add("op_name ~ ", filters.op_name);
  if (!filters.source.empty()) add("source ~ ", SourcePattern(filters.source));
  if (filters.larger > 0) parts.push_back(absl::StrCat("bytes > ", filters.larger));
  add("computation == ", std::string(absl::StripPrefix(filters.computation, "%")));
  add("custom_call_target ~ ", filters.call_target);
  if (!filters.sharding.empty()) parts.push_back(HasText("sharding", filters.sharding));
  if (!filters.layout.empty()) parts.push_back(HasText("layout", filters.layout));
  const auto add_near = [&](absl::string_view function, const std::string& name) {
    if (!name.empty()) parts.push_back(absl::StrCat(function, "(", query::Quoted(name), ", ", filters.depth, ")"));
  };
  add_near("users_of", filters.users_of);
  add_near("operands_of", filters.operands_of);
  add_near("around", filters.around);
  if (!filters.path.empty()) {
    const std::vector<std::string> ends = EndsOf(filters.path);
    parts.push_back(absl::StrCat("path(", query::Quoted(ends.at(0)), ", ", query::Quoted(ends.at(1)), ")"));
  }
  return absl::StrJoin(parts, " and ");
}

}  // namespace kashi::cli
