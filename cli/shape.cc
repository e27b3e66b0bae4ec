// `kashi shape`: the canonical text and the facts of shapes.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/verb.h"
#include "kashi/array/device_size.h"
#include "kashi/array/index_map.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_util.h"
#include "kashi/array/tpu_tiling.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/draw/shape_explanation.h"

namespace kashi::cli {
namespace {

struct ShapeOptions {
  std::vector<std::string> shapes;
  bool json = false;
  bool strict = false;
  std::optional<TpuGeneration> target;
  std::string output;
};

Json DimensionsJson(const Shape& shape) {
  Json dimensions = Json::array();
  for (int i = 0; i < shape.dimensions_size(); ++i) {
    dimensions.push_back(shape.is_unbounded_dynamic_dimension(i) ? Json() : Json(shape.dimensions(i)));
  }
  return dimensions;
}

// null if a dimension is unbounded or the product overflows. Needs no index map.
Json ElementsJson(const Shape& shape) {
  if (shape.is_unbounded_dynamic()) return Json();
  if (absl::c_linear_search(shape.dimensions(), 0)) return 0;
  int64_t elements = 1;
  for (int64_t dimension : shape.dimensions()) {
    const std::optional<int64_t> product = CheckedMultiply(elements, dimension);
    if (!product.has_value()) return Json();
    elements = *product;
  }
  return elements;
}

// Returns the sizes too: they need the same index map.
absl::StatusOr<DeviceSize> AddArrayFacts(const Shape& shape, Json* facts) {
  (*facts)["dimensions"] = DimensionsJson(shape);
  if (shape.is_dynamic()) (*facts)["dynamic_dimensions"] = shape.dynamic_dimensions();
  if (shape.has_layout()) {
    (*facts)["layout"] = shape.layout().ToString();
    (*facts)["memory_space"] = shape.layout().memory_space();
  }
  (*facts)["elements"] = ElementsJson(shape);
  const absl::StatusOr<IndexMap> map = IndexMap::Make(shape);
  (*facts)["physical_dimensions"] = map.ok() ? Json(map->physical_dimensions()) : Json();
  if (!map.ok()) return map.status();
  return GetDeviceSize(shape, *map);
}

// The sum of the sizes that --json prints.
absl::StatusOr<DeviceSize> AddChecked(const DeviceSize& a, const DeviceSize& b) {
  const std::optional<int64_t> bytes = CheckedAdd(a.bytes, b.bytes);
  const std::optional<int64_t> unpadded_bytes = CheckedAdd(a.unpadded_bytes, b.unpadded_bytes);
  const std::optional<int64_t> padding_bytes = CheckedAdd(a.padding_bytes, b.padding_bytes);
  if (!bytes || !unpadded_bytes || !padding_bytes) {
    return InvalidArgumentStrCat("the size of the tuple does not fit in 64 bits");
  }
  DeviceSize sum;
  sum.bytes = *bytes;
  sum.unpadded_bytes = *unpadded_bytes;
  sum.padding_bytes = *padding_bytes;
  return sum;
}

// `bytes` and the other sizes; null if there is no size.
void AddSizes(const absl::StatusOr<DeviceSize>& size, Json* facts) {
  if (!size.ok()) {
    for (const char* key : {"unpadded_bytes", "bytes", "padding_bytes", "expansion"}) (*facts)[key] = nullptr;
    return;
  }
  (*facts)["unpadded_bytes"] = size->unpadded_bytes;
  (*facts)["bytes"] = size->bytes;
  (*facts)["padding_bytes"] = size->padding_bytes;
  (*facts)["expansion"] = size->unpadded_bytes == 0
                              ? Json()
                              : Json(static_cast<double>(size->bytes) / static_cast<double>(size->unpadded_bytes));
}

absl::StatusOr<DeviceSize> AddFacts(const Shape& shape, bool is_root, Json* facts);

// Adds the facts of each element to `children` and returns the sum of the sizes.
absl::StatusOr<DeviceSize> AddElementFacts(const Shape& tuple, Json* children) {
  absl::StatusOr<DeviceSize> sum = DeviceSize();
  for (const Shape& element : tuple.tuple_shapes()) {
    Json& facts = children->emplace_back(Json::object());
    const absl::StatusOr<DeviceSize> size = AddFacts(element, /*is_root=*/false, &facts);
    if (sum.ok()) sum = size.ok() ? AddChecked(*sum, *size) : size;
  }
  return sum;
}

// Only the root of a tuple has its text: the text of every node of a deep tuple would take quadratic time.
absl::StatusOr<DeviceSize> AddFacts(const Shape& shape, bool is_root, Json* facts) {
  const bool has_text = is_root || !shape.IsTuple();
  if (has_text) (*facts)["shape"] = shape.ToString(/*print_layout=*/true);
  (*facts)["type"] = primitive_util::LowercasePrimitiveTypeName(shape.element_type_including_buffer());
  if (shape.IsBuffer()) {
    (*facts)["element_type"] = primitive_util::LowercasePrimitiveTypeName(shape.element_type());
  }
  Json children = Json::array();
  const absl::StatusOr<DeviceSize> size = shape.IsTuple()   ? AddElementFacts(shape, &children)
                                          : shape.IsArray() ? AddArrayFacts(shape, facts)
                                                            : GetDeviceSize(shape);
  AddSizes(size, facts);
  if (has_text && !size.ok()) (*facts)["no_size"] = std::string(size.status().message());
  if (shape.IsTuple()) (*facts)["tuple"] = std::move(children);
  return size;
}

// Sets the layout of every array without tiles to the one that XLA chooses for the generation.
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
  explicit ShapeVerb(const ShapeOptions& options) : options_(options), answers_(options.output, options.json) {}

  int Run();

 private:
  void Answer(const SourceText& source);
  void AnswerJson(const Shape& shape, const std::vector<Diagnostic>& warnings);
  absl::Status AnswerLines();

  const ShapeOptions& options_;
  Answers answers_;
  int explained_ = 0;
};

void ShapeVerb::AnswerJson(const Shape& shape, const std::vector<Diagnostic>& warnings) {
  Json facts;
  (void)AddFacts(shape, /*is_root=*/true, &facts);
  if (!warnings.empty()) facts["warnings"] = Json::array();
  for (const Diagnostic& warning : warnings) facts["warnings"].push_back(warning.message);
  answers_.AddLine(facts);
}

void ShapeVerb::Answer(const SourceText& source) {
  std::vector<Diagnostic> diagnostics;
  absl::StatusOr<Shape> shape = ReadShape(source, options_.strict, &diagnostics);
  if (!shape.ok()) return answers_.AddError(source, diagnostics);
  if (options_.target.has_value()) {
    const absl::Status status = ApplyTarget(*options_.target, &*shape);
    if (!status.ok()) return answers_.AddError(source, ErrorAboutText(source, status));
  }
  if (options_.json) return AnswerJson(*shape, diagnostics);
  answers_.Warn(source, diagnostics);
  answers_.Add(absl::StrCat(explained_++ > 0 ? "\n" : "", ExplainShape(*shape)));
}

absl::Status ShapeVerb::AnswerLines() {
  InputLines input;
  while (!answers_.is_broken() && input.Next()) {
    if (input.is_blank()) {
      answers_.AddBlankLine();
    } else {
      Answer(input.line());
    }
  }
  return input.status();
}

int ShapeVerb::Run() {
  absl::Status input;
  for (size_t i = 0; i < options_.shapes.size() && input.ok(); ++i) {
    const std::string& text = options_.shapes[i];
    if (text == "-") {
      input = AnswerLines();
    } else {
      const std::string name = options_.shapes.size() == 1 ? "shape" : absl::StrCat("argument ", i + 1);
      Answer({name, text});
    }
  }
  return answers_.Finish(input);
}

std::string TargetNames() {
  return absl::StrJoin(TpuGenerations(), " ",
                       [](std::string* out, const TpuGenerationInfo& info) { absl::StrAppend(out, info.name); });
}

void AddTargetOption(Verb* verb, std::optional<TpuGeneration>* target) {
  const auto set = [target](const std::string& name) {
    *target = ParseTpuGeneration(name);
    if (target->has_value()) return std::string();
    return absl::StrCat("unknown TPU generation `", name, "`; the generations are: ", TargetNames());
  };
  verb->AddOption("--target", set,
                  absl::StrCat("Give shapes without tiles the layout of this TPU generation: ", TargetNames()));
}

}  // namespace

void AddShapeVerb(Command* command) {
  auto options = std::make_shared<ShapeOptions>();
  VerbHelp help;
  help.group = kArrayVerbs;
  help.summary = "Explain shapes: canonical text, layout, bytes and padding";
  help.examples =
      "  kashi shape 'bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}'\n"
      "  kashi shape --target v5e 'f32[1000,3]'\n"
      "  kashi shape --json 'f32[3,5]{1,0:T(2,2)}' '(s32[], pred[4])'\n"
      "  grep -oE '[a-z][a-z0-9]*\\[[0-9,]*\\]\\{[^{}]*\\}' dump.txt | kashi shape --json -";
  help.failure = "A shape is bad, or the output cannot be written";
  Verb* verb = command->AddVerb("shape", help, [options] { return ShapeVerb(*options).Run(); });
  verb->AddOption("SHAPE", &options->shapes, "Shapes as XLA writes them; `-` reads one per line from standard input")
      ->Required();
  AddTargetOption(verb, &options->target);
  AddStrictFlag(verb, &options->strict);
  AddOutputOption(verb, &options->output, "Write to this file");
  AddJsonFlag(verb, &options->json);
}

}  // namespace kashi::cli
