#include "kashi/stablehlo/conversion/stablehlo_type_texts.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kashi/stablehlo/conversion/stablehlo_attribute_text.h"

namespace kashi::stablehlo {
namespace {

// Longer texts of tuples get an alias. Short ones are easier to read in place.
constexpr size_t kLongestTuple = 120;

}  // namespace

std::string TypeTexts::Of(const Shape& shape) { return shape.IsTuple() ? OfTuple(shape) : OfLeaf(shape); }

absl::Status TypeTexts::TakeError() { return std::exchange(error_, absl::OkStatus()); }

std::string TypeTexts::OfLeaf(const Shape& shape) {
  absl::StatusOr<std::string> text = TypeTextOfShape(shape);
  if (text.ok()) return *std::move(text);
  error_.Update(text.status());
  return "none";
}

// Without recursion: the text of a proto may nest tuples a thousand deep.
const std::string& TypeTexts::OfTuple(const Shape& root) {
  struct Level {
    const Shape* tuple;
    size_t next = 0;  // the element that comes next
    std::string elements = {};
  };
  std::vector<Level> levels;
  if (!tuples_.contains(&root)) levels.push_back({&root});
  while (!levels.empty()) {
    Level& level = levels.back();
    if (level.next == level.tuple->tuple_shapes().size()) {
      tuples_[level.tuple] = Shortened(absl::StrCat("tuple<", level.elements, ">"));
      levels.pop_back();
      continue;
    }
    const Shape& element = level.tuple->tuple_shapes()[level.next];
    const auto known = element.IsTuple() ? tuples_.find(&element) : tuples_.end();
    if (element.IsTuple() && known == tuples_.end()) {
      levels.push_back({&element});
      continue;
    }
    absl::StrAppend(&level.elements, level.next == 0 ? "" : ", ", element.IsTuple() ? known->second : OfLeaf(element));
    ++level.next;
  }
  return tuples_.at(&root);
}

std::string TypeTexts::Shortened(std::string text) {
  if (text.size() <= kLongestTuple) return text;
  const auto [alias, is_new] = aliases_.try_emplace(text);
  if (is_new) {
    alias->second = absl::StrCat("!tuple", aliases_.size() - 1);
    absl::StrAppend(&definitions_, alias->second, " = ", text, "\n");
  }
  return alias->second;
}

}  // namespace kashi::stablehlo
