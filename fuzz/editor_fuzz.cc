// Any bytes as a text in an editor: at each of some places, all questions have an answer. Places lie in the text and in
// its order; a name is among the places of itself; renaming a name to a new one and back gives the text again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "fuzz/hlo_text_mutator.h"
#include "kashi/base/check.h"
#include "kashi/editor/document.h"
#include "kashi/hlo/verifier/hlo_verifier.h"

namespace kashi::fuzz {
namespace {

using editor::Document;
using editor::TextRange;

std::vector<HloFinding> Verify(const HloModule& module) { return VerifyHlo(module); }

std::string Replaced(std::string text, const std::vector<TextRange>& places, absl::string_view by) {
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    text.replace(place->begin, place->end - place->begin, by.data(), by.size());
  }
  return text;
}

void CheckPlaces(const std::vector<TextRange>& places, size_t size) {
  size_t last = 0;
  for (const TextRange& place : places) {
    KASHI_CHECK(last <= place.begin && place.begin < place.end && place.end <= size);
    last = place.end;
  }
}

void CheckRenaming(const Document& document, size_t offset) {
  const auto places = document.Rename(offset, "a_name_that_no_text_has");
  if (!places.ok()) return;
  const absl::string_view old = document.index().TextOf(*document.DefinitionAt(offset));
  const Document renamed("b", Replaced(document.text(), *places, "a_name_that_no_text_has"), Verify);
  const auto back = renamed.Rename((*places)[0].begin, old);
  if (back.ok()) KASHI_CHECK_EQ(Replaced(renamed.text(), *back, old), document.text());
}

void CheckText(absl::string_view text) {
  const Document document("a", std::string(text), Verify);
  document.Outline();
  const size_t step = std::max<size_t>(1, text.size() / 50);
  for (size_t offset = 0; offset <= text.size(); offset += step) {
    document.HoverAt(offset);
    document.CompletionsAt(offset);
    const std::vector<TextRange> places = document.PlacesAt(offset);
    CheckPlaces(places, text.size());
    if (places.empty()) continue;
    const TextRange here = *document.index().RangeAt(offset);
    KASHI_CHECK(std::find(places.begin(), places.end(), here) != places.end());
    CheckRenaming(document, offset);
    const editor::TextPosition position = document.positions().PositionOf(here.begin);
    KASHI_CHECK_EQ(document.positions().OffsetOf(position), here.begin);
  }
}

}  // namespace
}  // namespace kashi::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kashi::fuzz::CheckText(absl::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  return kashi::fuzz::MutateHloText(data, size, max_size, seed);
}
