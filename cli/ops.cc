// `kashi ops`: the table of operations.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "cli/verb.h"
#include "kashi/hlo/hlo_opcode.h"

namespace kashi::cli {
namespace {

struct OpsOptions {
  std::vector<std::string> names;
  std::string output;
  bool json = false;
  bool markdown = false;
};

std::string OperandsOf(const HloOpcodeInfo& info) { return info.arity < 0 ? "any" : absl::StrCat(info.arity); }

// Required attributes as they are, others in brackets.
std::string AttributesOf(const HloOpcodeInfo& info, absl::string_view quote) {
  return absl::StrJoin(info.attributes, ", ", [quote](std::string* out, const HloOpcodeAttribute& entry) {
    const bool required = entry.need == HloOpcodeAttribute::kRequired;
    absl::StrAppend(out, required ? "" : "[", quote, HloAttributeName(entry.attribute), quote, required ? "" : "]");
  });
}

Json OpJson(const HloOpcodeInfo& info) {
  Json json;
  json["name"] = std::string(info.name);
  json["operands"] = info.arity < 0 ? Json() : Json(info.arity);
  json["infers_shape"] = info.Has(HloOpcodeFlags::kInferable);
  Json& attributes = json["attributes"] = Json::array();
  for (const HloOpcodeAttribute& entry : info.attributes) {
    Json& attribute = attributes.emplace_back();
    attribute["name"] = std::string(HloAttributeName(entry.attribute));
    attribute["required"] = entry.need == HloOpcodeAttribute::kRequired;
  }
  json["doc"] = std::string(info.doc);
  return json;
}

std::string MarkdownRow(const HloOpcodeInfo& info) {
  return absl::StrCat("| `", info.name, "` | ", OperandsOf(info), " | ",
                      info.Has(HloOpcodeFlags::kInferable) ? "may be left out" : "", " | ", AttributesOf(info, "`"),
                      " | ", absl::StrReplaceAll(info.doc, {{"|", "\\|"}}), " |\n");
}

std::string PlainRow(const HloOpcodeInfo& info) {
  const std::string attributes = AttributesOf(info, "");
  return absl::StrCat(info.name, "(", OperandsOf(info), attributes.empty() ? ")" : "), ", attributes, "\n    ",
                      info.doc, "\n");
}

int RunOps(const OpsOptions& options) {
  std::vector<HloOpcode> opcodes;
  for (const std::string& name : options.names) {
    const absl::StatusOr<HloOpcode> opcode = StringToHloOpcode(name);
    if (!opcode.ok()) return Fail(opcode.status());
    opcodes.push_back(*opcode);
  }
  for (uint32_t i = 0; options.names.empty() && i < HloOpcodeCount(); ++i) opcodes.push_back(static_cast<HloOpcode>(i));

  Answers answers(options.output, options.json);
  if (options.markdown) {
    answers.Add(
        "# The operations of HLO\n\nMade from `kashi/hlo/ops.def` by `kashi ops --markdown`. Attributes in brackets "
        "may be "
        "left out.\n\n| operation | operands | result shape | attributes | |\n| --- | --- | --- | --- | --- |\n");
  }
  for (const HloOpcode opcode : opcodes) {
    const HloOpcodeInfo& info = GetHloOpcodeInfo(opcode);
    if (options.json) {
      answers.AddLine(OpJson(info));
    } else {
      answers.Add(options.markdown ? MarkdownRow(info) : PlainRow(info));
    }
  }
  return answers.Finish();
}

}  // namespace

void AddOpsVerb(Command* command) {
  auto options = std::make_shared<OpsOptions>();
  const std::string examples =
      "  kashi ops gather scatter        operands and attributes of two operations\n"
      "  kashi ops --json                all operations, one object a line";
  CLI::App* verb = AddVerb(command, "ops", "List the operations of HLO, their operands and attributes", examples,
                           [options] { return RunOps(*options); });
  verb->add_option("NAME", options->names, "Operations; all if none is named");
  AddJsonFlag(verb, &options->json);
  AddFlag(verb, "--markdown", &options->markdown, "As a table for a document");
  AddOutputOption(verb, &options->output, "Write to this file");
}

}  // namespace kashi::cli
