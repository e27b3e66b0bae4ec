// `kashi ops`: the table of operations.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "cli/suggest.h"
#include "cli/verb.h"
#include "kashi/evaluator/operation_table.h"
#include "kashi/hlo/ir/hlo_opcode.h"

namespace kashi::cli {

using evaluator::FindEvaluation;
namespace {

struct OpsOptions {
  std::vector<std::string> names;
  std::string output;
  bool json = false;
  bool markdown = false;
};

constexpr char kMarkdownHead[] =
    "# The operations of HLO\n\n"
    "`kashi ops --markdown` makes this page from `kashi/hlo/ir/ops.def` and the evaluator's table. Attributes in "
    "brackets "
    "are\n"
    "optional. Infer: `yes` if text may leave out the shape of the result; `checked` if text must give the shape, and\n"
    "Kashi infers it to check or complete it. What `custom-call` evaluates is in "
    "[custom-calls.md](custom-calls.md).\n\n"
    "| operation | operands | attributes | read | write | verify | infer | evaluate | |\n"
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";

std::string OperandsOf(const HloOpcodeInfo& info) { return info.arity < 0 ? "any" : absl::StrCat(info.arity); }

// Required attributes as they are, others in brackets.
std::string AttributesOf(const HloOpcodeInfo& info, absl::string_view quote) {
  return absl::StrJoin(info.attributes, ", ", [quote](std::string* out, const HloOpcodeAttribute& entry) {
    const bool required = entry.need == HloOpcodeAttribute::kRequired;
    absl::StrAppend(out, required ? "" : "[", quote, HloAttributeName(entry.attribute), quote, required ? "" : "]");
  });
}

bool CanEvaluate(HloOpcode opcode) { return FindEvaluation(opcode) != nullptr; }

// Whether Kashi infers the shape of the result.
std::string Inference(const HloOpcodeInfo& info) {
  if (info.Has(HloOpcodeFlags::kInferable)) return "yes";
  return info.shape_rule == HloShapeRule::kNone ? "" : "checked";
}

Json OpJson(HloOpcode opcode) {
  const HloOpcodeInfo& info = GetHloOpcodeInfo(opcode);
  Json json;
  json["name"] = std::string(info.name);
  json["operands"] = info.arity < 0 ? Json() : Json(info.arity);
  json["infers_shape"] = info.Has(HloOpcodeFlags::kInferable);
  json["evaluates"] = CanEvaluate(opcode);
  Json& attributes = json["attributes"] = Json::array();
  for (const HloOpcodeAttribute& entry : info.attributes) {
    Json& attribute = attributes.emplace_back();
    attribute["name"] = std::string(HloAttributeName(entry.attribute));
    attribute["required"] = entry.need == HloOpcodeAttribute::kRequired;
  }
  json["doc"] = std::string(info.doc);
  return json;
}

// The reader, the printer and the verifier support every operation.
std::string MarkdownRow(HloOpcode opcode) {
  const HloOpcodeInfo& info = GetHloOpcodeInfo(opcode);
  return absl::StrCat("| `", info.name, "` | ", OperandsOf(info), " | ", AttributesOf(info, "`"),
                      " | yes | yes | yes | ", Inference(info), " | ", CanEvaluate(opcode) ? "yes" : "", " | ",
                      absl::StrReplaceAll(info.doc, {{"|", "\\|"}}), " |\n");
}

std::string PlainRow(const HloOpcodeInfo& info) {
  const std::string attributes = AttributesOf(info, "");
  return absl::StrCat(info.name, "(", OperandsOf(info), attributes.empty() ? ")" : "), ", attributes, "\n    ",
                      info.doc, "\n");
}

std::vector<std::string> AllNames() {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < HloOpcodeCount(); ++i) names.emplace_back(HloOpcodeString(static_cast<HloOpcode>(i)));
  return names;
}

// The operation of this name; else all that have the text in their names. Capitals count as small letters.
std::vector<HloOpcode> FindOperations(const std::string& given, const std::vector<std::string>& all) {
  const std::string text = absl::AsciiStrToLower(given);
  if (const std::optional<HloOpcode> opcode = FindHloOpcode(text)) return {*opcode};
  std::vector<HloOpcode> found;
  for (const std::string& name : all) {
    if (!text.empty() && absl::StrContains(name, text)) found.push_back(*FindHloOpcode(name));
  }
  return found;
}

int RunOps(const OpsOptions& options) {
  const std::vector<std::string> all = AllNames();
  Answers answers(options.output, options.json);
  if (options.markdown) answers.Add(kMarkdownHead);
  for (const std::string& text : options.names.empty() ? all : options.names) {
    const std::vector<HloOpcode> found = FindOperations(text, all);
    if (found.empty()) {
      const std::string error = absl::StrCat("unknown operation `", text, "`", DidYouMean(text, all));
      answers.AddError({"<argument>", text}, ErrorAboutText({"<argument>", text}, absl::InvalidArgumentError(error)));
    }
    for (const HloOpcode opcode : found) {
      if (options.json) {
        answers.AddLine(OpJson(opcode));
      } else {
        answers.Add(options.markdown ? MarkdownRow(opcode) : PlainRow(GetHloOpcodeInfo(opcode)));
      }
    }
  }
  return answers.Finish();
}

}  // namespace

void AddOpsVerb(Command* command) {
  auto options = std::make_shared<OpsOptions>();
  VerbHelp help;
  help.group = kProgramVerbs;
  help.summary = "List the operations of HLO with their operands and attributes";
  help.examples =
      "  kashi ops gather scatter        two operations\n"
      "  kashi ops gath                  all operations with `gath` in their names\n"
      "  kashi ops                       all operations\n"
      "  kashi ops --json                all operations, one object per line";
  help.failure = "An operation does not exist, or the output cannot be written";
  Verb* verb = command->AddVerb("ops", help, [options] { return RunOps(*options); });
  verb->AddOption("NAME", &options->names, "Operations, or parts of their names (default: all)");
  verb->AddFlag("--markdown", &options->markdown, "Print a Markdown table");
  AddOutputOption(verb, &options->output, "Write to this file");
  AddJsonFlag(verb, &options->json);
}

}  // namespace kashi::cli
