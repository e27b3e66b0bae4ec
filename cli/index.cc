// `kashi index`: where an element lies, and what lies at a place.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "cli/verb.h"
#include "kashi/array/dimension_names.h"
#include "kashi/array/index_map.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"

namespace kashi::cli {

using array::DimensionName;
namespace {

struct IndexOptions {
  std::string shape;
  std::vector<std::string> indices;
  std::vector<std::string> positions;
  bool json = false;
  bool strict = false;
  std::string output;
};

// An error about `part` of `text`.
template <typename... Args>
Diagnostic ErrorAt(absl::string_view text, absl::string_view part, const Args&... message) {
  Diagnostic error;
  error.begin = part.data() - text.data();
  error.end = error.begin + part.size();
  error.message = absl::StrCat(message...);
  return error;
}

// The text without its brackets, if it has any: "2,3", "(2,3)" or "{2,3}".
std::optional<absl::string_view> StripBrackets(absl::string_view text, Diagnostic* error) {
  absl::string_view list = absl::StripAsciiWhitespace(text);
  const char* closing = absl::ConsumePrefix(&list, "(") ? ")" : absl::ConsumePrefix(&list, "{") ? "}" : "";
  if (absl::ConsumeSuffix(&list, closing)) return list;
  *error = ErrorAt(text, list.substr(list.size()), "expected `", closing, "` to end the index");
  return std::nullopt;
}

// The index in one dimension.
std::optional<int64_t> ParseEntry(absl::string_view text, absl::string_view entry, int dimension, const IndexMap& map,
                                  Diagnostic* error) {
  int64_t index = 0;
  if (!absl::SimpleAtoi(entry, &index)) {
    *error = ErrorAt(text, entry, "`", entry, "` is not an integer; write one number per dimension, such as 2,3");
    return std::nullopt;
  }
  const int64_t size = map.dimensions()[dimension];
  if (index >= 0 && index < size) return index;
  *error = ErrorAt(text, entry, "index ", index, " of dimension ", dimension, " (",
                   DimensionName(map.rank(), dimension), ") is out of range [0, ", size, ")");
  return std::nullopt;
}

std::optional<std::vector<int64_t>> ParseIndex(absl::string_view text, const IndexMap& map, Diagnostic* error) {
  const std::optional<absl::string_view> list = StripBrackets(text, error);
  if (!list.has_value()) return std::nullopt;
  std::vector<absl::string_view> entries;
  if (!list->empty()) entries = absl::StrSplit(*list, ',');
  if (static_cast<int>(entries.size()) != map.rank()) {
    *error = ErrorAt(text, *list, "an index of rank ", entries.size(), ", but the shape has rank ", map.rank());
    return std::nullopt;
  }
  std::vector<int64_t> index;
  for (int i = 0; i < map.rank(); ++i) {
    const std::optional<int64_t> entry = ParseEntry(text, entries[i], i, map, error);
    if (!entry.has_value()) return std::nullopt;
    index.push_back(*entry);
  }
  return index;
}

std::optional<int64_t> ParsePosition(absl::string_view text, const IndexMap& map, Diagnostic* error) {
  const absl::string_view number = absl::StripAsciiWhitespace(text);
  int64_t position = 0;
  if (!absl::SimpleAtoi(number, &position)) {
    *error = ErrorAt(text, number, "`", number, "` is not an integer");
    return std::nullopt;
  }
  if (position >= 0 && position < map.padded_element_count()) return position;
  *error = ErrorAt(text, number, "position ", position, " is out of range [0, ", map.padded_element_count(), ")");
  return std::nullopt;
}

// "17  byte 68", "9  byte 4, bits 4 to 7", "2  byte 0, bit 6 to byte 1, bit 0"
std::string PlaceText(const IndexMap& map, int64_t physical) {
  const int64_t bits = map.element_size_in_bits(), byte = map.ByteOffset(physical), first = map.BitInByte(physical);
  const int64_t last = first + bits - 1;  // counted from the same byte
  const std::string text = absl::StrCat(physical, "  byte ", byte);
  if (bits % 8 == 0) return text;
  if (bits == 1) return absl::StrCat(text, ", bit ", first);
  if (last < 8) return absl::StrCat(text, ", bits ", first, " to ", last);
  return absl::StrCat(text, ", bit ", first, " to byte ", byte + last / 8, ", bit ", last % 8);
}

std::string TextOfIndex(const IndexMap& map, const std::vector<int64_t>& index) {
  return PlaceText(map, map.LogicalToPhysical(index));
}

Json JsonOfIndex(const IndexMap& map, const std::vector<int64_t>& index) {
  const int64_t physical = map.LogicalToPhysical(index);
  Json answer;
  answer["index"] = index;
  answer["linear"] = physical;
  answer["byte_offset"] = map.ByteOffset(physical);
  answer["bit_offset"] = map.BitInByte(physical);
  return answer;
}

// The index of the element at a position; nullopt for padding.
std::optional<std::vector<int64_t>> ElementAt(const IndexMap& map, int64_t position) {
  std::vector<int64_t> index(map.rank());
  if (!map.PhysicalToLogical(position, absl::MakeSpan(index))) return std::nullopt;
  return index;
}

std::string TextOfPosition(const IndexMap& map, int64_t position) {
  const std::optional<std::vector<int64_t>> index = ElementAt(map, position);
  if (!index.has_value()) return "padding";
  return index->empty() ? "()" : absl::StrJoin(*index, ",");
}

Json JsonOfPosition(const IndexMap& map, int64_t position) {
  const std::optional<std::vector<int64_t>> index = ElementAt(map, position);
  Json answer;
  answer["linear"] = position;
  answer["padding"] = !index.has_value();
  if (index.has_value()) answer["index"] = *index;
  return answer;
}

class IndexVerb {
 public:
  explicit IndexVerb(const IndexOptions& options)
      : options_(options), is_linear_(!options.positions.empty()), answers_(options.output, options.json) {}

  int Run();

 private:
  absl::StatusOr<SourceText> ShapeSource();
  int RunShape(const SourceText& source);
  int FailAt(const SourceText& source, const std::vector<Diagnostic>& errors);
  int RunQueries(const IndexMap& map);
  absl::Status AnswerLines(const IndexMap& map);
  void Answer(const IndexMap& map, const SourceText& source);

  const IndexOptions& options_;
  const bool is_linear_;
  InputLines input_;
  Answers answers_;
};

void IndexVerb::Answer(const IndexMap& map, const SourceText& source) {
  Diagnostic error;
  const auto answer = [&](const auto& query, auto text_of, auto json_of) {
    if (!query.has_value()) return answers_.AddError(source, {error});
    if (options_.json) return answers_.AddLine(json_of(map, *query));
    answers_.Add(absl::StrCat(text_of(map, *query), "\n"));
  };
  if (is_linear_) {
    answer(ParsePosition(source.text, map, &error), TextOfPosition, JsonOfPosition);
  } else {
    answer(ParseIndex(source.text, map, &error), TextOfIndex, JsonOfIndex);
  }
}

absl::Status IndexVerb::AnswerLines(const IndexMap& map) {
  while (!answers_.is_broken() && input_.Next()) {
    if (input_.is_blank()) {
      answers_.AddBlankLine();
    } else {
      Answer(map, input_.line());
    }
  }
  return input_.status();
}

// `-` stands for the first line of standard input that is not blank.
absl::StatusOr<SourceText> IndexVerb::ShapeSource() {
  if (options_.shape != "-") return SourceText{"shape", options_.shape};
  while (input_.Next()) {
    if (!input_.is_blank()) return input_.line();
  }
  KASHI_RETURN_IF_ERROR(input_.status());
  return NoShapeInInput();
}

int IndexVerb::RunQueries(const IndexMap& map) {
  absl::Status input;
  for (const std::string& query : is_linear_ ? options_.positions : options_.indices) {
    if (query == "-") {
      input.Update(AnswerLines(map));
    } else {
      Answer(map, {is_linear_ ? "linear" : "index", query});
    }
  }
  if (!is_linear_ && options_.indices.empty()) Answer(map, {"index", ""});
  return answers_.Finish(input);
}

int IndexVerb::FailAt(const SourceText& source, const std::vector<Diagnostic>& errors) {
  answers_.AddError(source, errors);
  return answers_.Finish();
}

int IndexVerb::RunShape(const SourceText& source) {
  std::vector<Diagnostic> diagnostics;
  const absl::StatusOr<Shape> shape = ReadShape(source, options_.strict, &diagnostics);
  if (!shape.ok()) return FailAt(source, diagnostics);
  answers_.Warn(source, diagnostics);
  if (!is_linear_ && options_.indices.empty() && !ShapeUtil::IsScalar(*shape)) {
    return FailUsage("give an index, such as 2,3, or --linear and a position");
  }
  const absl::StatusOr<IndexMap> map = IndexMap::Make(*shape);
  return map.ok() ? RunQueries(*map) : FailAt(source, ErrorAboutText(source, map.status()));
}

int IndexVerb::Run() {
  const absl::StatusOr<SourceText> source = ShapeSource();
  return source.ok() ? RunShape(*source) : Fail(source.status());
}

}  // namespace

void AddIndexVerb(Command* command) {
  auto options = std::make_shared<IndexOptions>();
  VerbHelp help;
  help.group = kArrayVerbs;
  help.summary = "Convert between logical indices and positions in memory";
  help.examples =
      "  kashi index 'f32[3,5]{1,0:T(2,2)}' 2,3             17  byte 68\n"
      "  kashi index 'f32[3,5]{1,0:T(2,2)}' --linear 17     2,3\n"
      "  kashi index 's4[4096]{0:T(1024)E(4)}' 9            9  byte 4, bits 4 to 7";
  help.sections = {{"Keys of --json",
                    "",
                    {{"index", "The logical index"},
                     {"linear", "The position in memory, in elements"},
                     {"byte_offset", "The byte that holds the first bit of the element"},
                     {"bit_offset", "The first bit of the element in that byte: 0 (lowest) to 7"},
                     {"padding", "With --linear: whether the position holds padding; then there is no index"}}}};
  help.failure = "The shape, an index or a position is bad, or the output cannot be written";
  Verb* verb = command->AddVerb("index", help, [options] { return IndexVerb(*options).Run(); });
  verb->AddOption("SHAPE", &options->shape,
                  "A shape with its layout; `-` reads it from the first line of standard input")
      ->Required();
  Option* indices = verb->AddOption(
      "INDEX", &options->indices,
      "Logical indices, such as 2,3: one number per dimension; `-` reads one per line from standard input");
  verb->AddOption("--linear", &options->positions,
                  "Print the logical index at this position in memory, in elements; may be repeated; `-` reads one per "
                  "line from standard input")
      ->Value("POSITION")
      ->OneEach()
      ->Excludes(indices);
  AddStrictFlag(verb, &options->strict);
  AddOutputOption(verb, &options->output, "Write to this file");
  AddJsonFlag(verb, &options->json);
}

}  // namespace kashi::cli
