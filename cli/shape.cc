// `kashi shape`: the canonical text and the facts of shapes.
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/verb.h"
#include "kashi/array/device_size.h"
#include "kashi/array/index_map.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_parser.h"
#include "kashi/array/shape_util.h"
#include "kashi/array/tpu_tiling.h"
#include "kashi/base/status.h"
#include "kashi/draw/shape_explanation.h"
#include "nlohmann/json.hpp"

namespace kashi::cli {
namespace {

using Json = nlohmann::ordered_json;

// Text waits up to this size before it goes to standard output.
constexpr size_t kFlushBytes = 1 << 16;

struct ShapeOptions {
  std::vector<std::string> shapes;
  bool json = false;
  bool strict = false;
  std::string target;
  std::string output;
};

Json DimensionsJson(const Shape& shape) {
  Json dimensions = Json::array();
  for (int i = 0; i < shape.dimensions_size(); ++i) {
    dimensions.push_back(shape.is_unbounded_dynamic_dimension(i) ? Json() : Json(shape.dimensions(i)));
  }
  return dimensions;
}

// Returns the sizes: they come from the same index map.
absl::StatusOr<DeviceSize> AddArrayFacts(const Shape& shape, Json* facts) {
  (*facts)["dimensions"] = DimensionsJson(shape);
  if (shape.is_dynamic()) (*facts)["dynamic_dimensions"] = shape.dynamic_dimensions();
  if (!shape.has_layout()) return GetDeviceSize(shape);
  (*facts)["layout"] = shape.layout().ToString();
  (*facts)["memory_space"] = shape.layout().memory_space();
  const absl::StatusOr<IndexMap> map = IndexMap::Make(shape);
  if (!map.ok()) return map.status();
  (*facts)["elements"] = map->element_count();
  (*facts)["physical_dimensions"] = map->physical_dimensions();
  return GetDeviceSize(shape, *map);
}

// `bytes` and the like; null where there is no size.
void AddSizes(const absl::StatusOr<DeviceSize>& size, Json* facts) {
  if (!size.ok()) {
    for (const char* key : {"unpadded_bytes", "bytes", "padding_bytes", "expansion"}) (*facts)[key] = nullptr;
    (*facts)["no_size"] = std::string(size.status().message());
    return;
  }
  (*facts)["unpadded_bytes"] = size->unpadded_bytes;
  (*facts)["bytes"] = size->bytes;
  (*facts)["padding_bytes"] = size->padding_bytes;
  (*facts)["expansion"] = size->unpadded_bytes == 0
                              ? Json()
                              : Json(static_cast<double>(size->bytes) / static_cast<double>(size->unpadded_bytes));
}

// Text that names the shape is made once, at the root: doing so at every node of a deep tuple would cost its square.
Json ShapeFacts(const Shape& shape, bool is_root) {
  Json facts;
  if (is_root || !shape.IsTuple()) {
    facts["shape"] = shape.ToString(/*print_layout=*/true);
    facts["type"] = primitive_util::LowercasePrimitiveTypeName(shape.element_type_including_buffer());
  } else {
    facts["type"] = "tuple";
  }
  if (shape.IsBuffer()) facts["element_type"] = primitive_util::LowercasePrimitiveTypeName(shape.element_type());
  if (shape.IsArray()) {
    AddSizes(AddArrayFacts(shape, &facts), &facts);
  } else if (is_root || !shape.IsTuple()) {
    AddSizes(GetDeviceSize(shape), &facts);
  }
  if (shape.IsTuple()) {
    Json& children = facts["tuple"] = Json::array();
    for (const Shape& element : shape.tuple_shapes()) children.push_back(ShapeFacts(element, /*is_root=*/false));
  }
  return facts;
}

// Gives every array without tiles the layout that the generation would choose for it.
absl::Status ApplyTarget(TpuGeneration target, Shape* shape) {
  return ShapeUtil::ForEachMutableLeafShapeWithStatus(shape, [&](Shape* leaf, const ShapeIndex&) -> absl::Status {
    if (!leaf->IsArray() || (leaf->has_layout() && !leaf->layout().tiles().empty())) return absl::OkStatus();
    KASHI_ASSIGN_OR_RETURN(Layout layout, ChooseTpuLayout(*leaf, target));
    *leaf->mutable_layout() = std::move(layout);
    return absl::OkStatus();
  });
}

class ShapeVerb {
 public:
  explicit ShapeVerb(const ShapeOptions& options) : options_(options) {}

  int Run();

 private:
  void Answer(absl::string_view text, absl::string_view source_name, size_t line);
  void AnswerError(const absl::Status& status, const std::vector<Diagnostic>& diagnostics, absl::string_view text);
  void AnswerLines();
  void Flush();

  const ShapeOptions& options_;
  std::optional<TpuGeneration> target_;
  std::string out_;
  int exit_status_ = kSuccess;
  int explained_ = 0;
};

void ShapeVerb::AnswerError(const absl::Status& status, const std::vector<Diagnostic>& diagnostics,
                            absl::string_view text) {
  exit_status_ = kBadInput;
  if (!options_.json) {
    Flush();  // so that the error stands behind what was answered before it
    Fail(status);
    return;
  }
  Json facts;
  facts["error"] = diagnostics.empty() ? std::string(status.message()) : diagnostics.front().message;
  if (!diagnostics.empty()) facts["column"] = FindLineColumn(text, diagnostics.front().begin).column;
  absl::StrAppend(&out_, facts.dump(-1, ' ', false, Json::error_handler_t::replace), "\n");
}

void ShapeVerb::Answer(absl::string_view text, absl::string_view source_name, size_t line) {
  ShapeParserOptions parser;
  parser.strict = options_.strict;
  parser.source_name = source_name;
  parser.first_line = line;
  std::vector<Diagnostic> diagnostics;
  absl::StatusOr<Shape> shape = ParseShape(text, parser, &diagnostics);
  if (!shape.ok()) return AnswerError(shape.status(), diagnostics, text);
  if (target_.has_value()) {
    absl::Status status = ApplyTarget(*target_, &*shape);
    if (!status.ok()) return AnswerError(InvalidArgument("%s: %s", text, status.message()), {}, text);
  }
  if (options_.json) {
    Json facts = ShapeFacts(*shape, /*is_root=*/true);
    if (!diagnostics.empty()) facts["warnings"] = Json::array();
    for (const Diagnostic& warning : diagnostics) facts["warnings"].push_back(warning.message);
    absl::StrAppend(&out_, facts.dump(-1, ' ', false, Json::error_handler_t::replace), "\n");
  } else {
    Flush();
    for (const Diagnostic& warning : diagnostics) {
      std::fprintf(stderr, "%s\n", RenderDiagnostic({source_name, text, line}, warning).c_str());
    }
    absl::StrAppend(&out_, explained_++ > 0 ? "\n" : "", ExplainShape(*shape));
  }
  if (out_.size() > kFlushBytes) Flush();
}

void ShapeVerb::AnswerLines() {
  std::ios::sync_with_stdio(false);
  size_t number = 0;
  for (std::string line; std::getline(std::cin, line);) {
    ++number;
    // A blank line between shapes is for people; scripts get an answer a line.
    if (!options_.json && absl::StripAsciiWhitespace(line).empty()) continue;
    Answer(line, "<stdin>", number);
  }
}

// With an output file everything waits for the end: the file appears whole or not at all.
void ShapeVerb::Flush() {
  if (!options_.output.empty() || out_.empty()) return;
  absl::Status written = WriteOutput("", out_);
  if (!written.ok()) exit_status_ = Fail(written);
  out_.clear();
}

int ShapeVerb::Run() {
  if (!options_.target.empty()) {
    target_ = ParseTpuGeneration(options_.target);
    if (!target_.has_value()) {
      std::vector<absl::string_view> names;
      for (const TpuGenerationInfo& info : TpuGenerations()) names.push_back(info.name);
      return FailUsage(absl::StrCat("no TPU generation `", options_.target, "`; there are: ", absl::StrJoin(names, " ")));
    }
  }
  for (const std::string& text : options_.shapes) {
    if (text == "-") {
      AnswerLines();
    } else {
      Answer(text, "shape", 1);
    }
  }
  Flush();
  if (options_.output.empty()) return exit_status_;
  absl::Status written = WriteOutput(options_.output, out_);
  return written.ok() ? exit_status_ : Fail(written);
}

}  // namespace

void AddShapeVerb(Command* command) {
  auto options = std::make_shared<ShapeOptions>();
  CLI::App* verb = AddVerb(command, "shape", "Explain shapes: canonical text, layout, bytes, padding",
                           "  kashi shape 'bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}'\n"
                           "  kashi shape --target v5e 'f32[1000,3]'\n"
                           "  kashi shape --json 'f32[3,5]{1,0:T(2,2)}' '(s32[], pred[4])'\n"
                           "  grep -o 'f32.*}' dump.txt | kashi shape --json -",
                           [options] { return ShapeVerb(*options).Run(); });
  verb->add_option("SHAPE", options->shapes, "Shapes as XLA writes them; `-` reads one a line from standard input")
      ->required();
  verb->add_flag("--json", options->json, "One JSON object a line");
  verb->add_flag("--strict", options->strict, "Refuse sloppy or invalid text that XLA accepts all the same");
  verb->add_option("--target", options->target,
                   "Give shapes without tiles the layout of a TPU generation (v2 v3 v4 v5e v5p v6e tpu7x)");
  verb->add_option("-o,--output", options->output, "Write to this file");
}

}  // namespace kashi::cli
