// `kashi index`: where an element lies, and what lies at a place.
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "cli/verb.h"
#include "kashi/array/dimension_names.h"
#include "kashi/array/index_map.h"
#include "kashi/array/shape_parser.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "nlohmann/json.hpp"

namespace kashi::cli {
namespace {

using Json = nlohmann::ordered_json;

struct IndexOptions {
  std::string shape;
  std::vector<std::string> indices;
  std::vector<std::string> positions;
  bool json = false;
  std::string output;
};

// "2,3", "(2,3)" or "{2,3}"; an empty list for a scalar.
absl::StatusOr<std::vector<int64_t>> ParseIndex(absl::string_view text, const IndexMap& map) {
  absl::string_view list = absl::StripAsciiWhitespace(text);
  if (absl::ConsumePrefix(&list, "(")) {
    if (!absl::ConsumeSuffix(&list, ")")) return InvalidArgument("`%s` lacks a `)`", text);
  } else if (absl::ConsumePrefix(&list, "{") && !absl::ConsumeSuffix(&list, "}")) {
    return InvalidArgument("`%s` lacks a `}`", text);
  }
  std::vector<int64_t> index;
  if (!list.empty()) {
    for (absl::string_view entry : absl::StrSplit(list, ',')) {
      if (!absl::SimpleAtoi(entry, &index.emplace_back())) {
        return InvalidArgument("`%s` is no index: `%s` is no integer; write one number a dimension, such as 2,3", text, entry);
      }
    }
  }
  if (static_cast<int>(index.size()) != map.rank()) {
    return InvalidArgument("`%s` is an index of rank %d, but the shape has rank %d", text, index.size(), map.rank());
  }
  for (int i = 0; i < map.rank(); ++i) {
    if (index[i] < 0 || index[i] >= map.dimensions()[i]) {
      return InvalidArgument("index %d of dimension %d (%s) is out of range [0, %d)", index[i], i,
                             DimensionName(map.rank(), i), map.dimensions()[i]);
    }
  }
  return index;
}

// "17  byte 68", "9  byte 4, bits 4 to 7"
std::string PlaceText(const IndexMap& map, int64_t physical) {
  const int64_t bit = map.BitOffset(physical), bits = map.element_size_in_bits();
  std::string text = absl::StrCat(physical, "  byte ", bit / 8);
  if (bits % 8 == 0) return text;
  return absl::StrCat(text, bits == 1 ? ", bit " : ", bits ", bit % 8, bits == 1 ? "" : absl::StrCat(" to ", bit % 8 + bits - 1));
}

absl::StatusOr<std::string> AnswerIndex(const IndexMap& map, const std::string& query, bool json) {
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> index, ParseIndex(query, map));
  const int64_t physical = map.LogicalToPhysical(index);
  if (!json) return PlaceText(map, physical);
  Json answer;
  answer["index"] = index;
  answer["linear"] = physical;
  answer["byte_offset"] = map.BitOffset(physical) / 8;
  answer["bit_offset"] = map.BitOffset(physical);
  return answer.dump();
}

absl::StatusOr<std::string> AnswerLinear(const IndexMap& map, const std::string& query, bool json) {
  int64_t physical = 0;
  if (!absl::SimpleAtoi(query, &physical)) return InvalidArgument("`%s` is no integer", query);
  if (physical < 0 || physical >= map.padded_element_count()) {
    return InvalidArgument("position %d is out of range [0, %d)", physical, map.padded_element_count());
  }
  std::vector<int64_t> index(map.rank());
  const bool is_element = map.PhysicalToLogical(physical, absl::MakeSpan(index));
  if (!json) {
    if (!is_element) return std::string("padding");
    return index.empty() ? std::string("()") : absl::StrJoin(index, ",");
  }
  Json answer;
  answer["linear"] = physical;
  answer["padding"] = !is_element;
  if (is_element) answer["index"] = index;
  return answer.dump();
}

std::vector<std::string> ReadLines() {
  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line);) lines.push_back(line);
  return lines;
}

int RunIndex(const IndexOptions& options) {
  absl::StatusOr<Shape> shape = ParseShape(options.shape);
  if (!shape.ok()) return Fail(shape.status());
  if (options.indices.empty() && options.positions.empty() && !ShapeUtil::IsScalar(*shape)) {
    return FailUsage("say an index, such as 2,3, or --linear and a position");
  }
  absl::StatusOr<IndexMap> map = IndexMap::Make(*shape);
  if (!map.ok()) return Fail(map.status());

  const bool linear = !options.positions.empty();
  std::vector<std::string> queries = linear ? options.positions : options.indices;
  if (queries.size() == 1 && queries[0] == "-") queries = ReadLines();
  if (queries.empty() && map->rank() == 0) queries = {""};

  int exit_status = kSuccess;
  std::string out;
  for (const std::string& query : queries) {
    absl::StatusOr<std::string> answer =
        linear ? AnswerLinear(*map, query, options.json) : AnswerIndex(*map, query, options.json);
    if (answer.ok()) {
      absl::StrAppend(&out, *answer, "\n");
    } else {
      exit_status = Fail(answer.status());
    }
  }
  // A file with answers missing would be half a file.
  if (exit_status != kSuccess && !options.output.empty()) return exit_status;
  absl::Status written = WriteOutput(options.output, out);
  return written.ok() ? exit_status : Fail(written);
}

}  // namespace

void AddIndexVerb(Command* command) {
  auto options = std::make_shared<IndexOptions>();
  CLI::App* verb = AddVerb(command, "index", "Tell where an element lies in memory, or what lies at a position",
                           "  kashi index 'f32[3,5]{1,0:T(2,2)}' 2,3             17  byte 68\n"
                           "  kashi index 'f32[3,5]{1,0:T(2,2)}' --linear 17     2,3\n"
                           "  kashi index 's4[4096]{0:T(1024)E(4)}' 9            9  byte 4, bits 4 to 7",
                           [options] { return RunIndex(*options); });
  verb->add_option("SHAPE", options->shape, "A shape with its layout")->required();
  CLI::Option* indices =
      verb->add_option("INDEX", options->indices,
                       "Logical indices, one number a dimension: 2,3; `-` reads one a line from standard input");
  verb->add_option("--linear", options->positions,
                   "The other way round: a position in memory, counted in elements; may be repeated; `-` as above")
      ->expected(1)
      ->take_all()
      ->excludes(indices);
  verb->add_flag("--json", options->json, "One JSON object a line");
  verb->add_option("-o,--output", options->output, "Write to this file");
}

}  // namespace kashi::cli
