#include "cli/known_arguments.h"

#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "cli/module_file.h"
#include "cli/verb.h"
#include "kashi/base/status.h"
#include "kashi/literal/npy.h"

namespace kashi::cli {
namespace {

// --argument, as given.
std::vector<std::string> argument_options;

struct NumberedArgument {
  int64_t number = 0;
  stablehlo::KnownArgument known;
};

// "0=[8,3]" or "1=5".
absl::StatusOr<NumberedArgument> ParseArgument(absl::string_view option) {
  const auto wrong = [&]() {
    return InvalidArgument("`%s` is not NUMBER=[SIZE,...] or NUMBER=VALUE, such as 0=[8,3] or 1=5", option);
  };
  const std::pair<absl::string_view, absl::string_view> sides = absl::StrSplit(option, absl::MaxSplits('=', 1));
  NumberedArgument argument;
  if (!absl::SimpleAtoi(sides.first, &argument.number) || argument.number < 0) return wrong();
  absl::string_view text = sides.second;
  if (!absl::ConsumePrefix(&text, "[")) {
    int64_t value = 0;
    if (!absl::SimpleAtoi(text, &value)) return wrong();
    argument.known.value = value;
    return argument;
  }
  if (!absl::ConsumeSuffix(&text, "]")) return wrong();
  argument.known.sizes.emplace();
  if (text.empty()) return argument;
  for (const absl::string_view word : absl::StrSplit(text, ',')) {
    int64_t size = 0;
    if (!absl::SimpleAtoi(word, &size) || size < 0) return wrong();
    argument.known.sizes->push_back(size);
  }
  return argument;
}

}  // namespace

void AddArgumentOption(Verb* verb) {
  verb->AddOption("--argument", &argument_options,
                  "Sizes of an argument whose type leaves them open, NUMBER=[SIZE,...], or the value of an integer on "
                  "which sizes depend, NUMBER=VALUE; may be repeated (StableHLO with symbolic sizes)")
      ->Value("NUMBER=SIZES")
      ->OneEach()
      ->Check([](const std::string& text) { return std::string(ParseArgument(text).status().message()); });
}

absl::StatusOr<stablehlo::KnownArgument> FindKnownArgument(int64_t number, const std::vector<std::string>& inputs) {
  for (const std::string& option : argument_options) {
    KASHI_ASSIGN_OR_RETURN(NumberedArgument argument, ParseArgument(option));
    if (argument.number == number) return std::move(argument.known);
  }
  stablehlo::KnownArgument known;
  if (number >= static_cast<int64_t>(inputs.size())) return known;
  KASHI_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(inputs[number]));
  KASHI_ASSIGN_OR_RETURN(const DimensionVector sizes, ReadNpySizes(bytes));
  known.sizes.emplace(sizes.begin(), sizes.end());
  if (!sizes.empty()) return known;
  KASHI_ASSIGN_OR_RETURN(const Literal scalar, ReadNpy(bytes));
  if (!scalar.shape().AreAllLeavesIntegers()) return known;
  KASHI_ASSIGN_OR_RETURN(const Literal wide, scalar.Convert(S64));
  known.value = wide.Get<int64_t>({});
  return known;
}

}  // namespace kashi::cli
