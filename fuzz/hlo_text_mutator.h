// Mutations of HLO text for libFuzzer. A changed byte breaks nearly every module. If one type, size or operation is
// replaced everywhere, the instructions still agree with each other, so that many such modules still pass the
// verifier. tests/mutation_test.py changes modules in the same ways.
//
//   extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
//     return kashi::MutateHloText(data, size, max_size, seed);
//   }
#ifndef KASHI_FUZZ_HLO_TEXT_MUTATOR_H_
#define KASHI_FUZZ_HLO_TEXT_MUTATOR_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kashi/array/primitive_util.h"
#include "kashi/hlo/ir/hlo_opcode.h"

// libFuzzer's own mutation of bytes.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace kashi::fuzz {

class HloTextMutator {
 public:
  explicit HloTextMutator(unsigned seed) : random_(seed) {}

  // The text with one change; unchanged if there is nothing to change.
  std::string Mutate(absl::string_view text) {
    switch (Draw(13)) {
      case 0:
      case 1:
        return ReplaceEverywhere(text, IsType, AnyType());
      case 2:
      case 3:
        return ReplaceEverywhere(text, IsSize, AnyNumber());
      case 4:
      case 5:
        return ReplaceOpcode(text);
      case 6:
        return ReplaceEverywhere(text, IsSize, Draw(2) == 0 ? "?" : absl::StrCat("<=", AnyNumber()));
      case 7:
        return ReplaceEverywhere(text, IsNumber, AnyNumber());
      case 8:
        return ReplaceOne(text, IsNumber, AnyNumber());
      case 9:
        return ReplaceName(text);
      case 10:
        return ReplaceLayouts(text);
      case 11:
        return ReplaceOne(text, IsType, AnyType());
      default:
        return ChangeHead(text);
    }
  }

 private:
  // Whether a word of the text is of a kind.
  using Kind = bool (*)(absl::string_view text, absl::string_view word);

  static char Before(absl::string_view text, absl::string_view word) {
    return word.data() == text.data() ? ' ' : word.data()[-1];
  }
  static char After(absl::string_view text, absl::string_view word) {
    const char* const end = word.data() + word.size();
    return end == text.data() + text.size() ? ' ' : *end;
  }
  static bool IsNumber(absl::string_view, absl::string_view word) { return absl::ascii_isdigit(word[0]); }
  static bool IsSize(absl::string_view text, absl::string_view word) {
    const char before = Before(text, word);
    const char after = After(text, word);
    return IsNumber(text, word) && (before == '[' || before == ',' || before == '=') && (after == ']' || after == ',');
  }
  static bool IsType(absl::string_view text, absl::string_view word) {
    return After(text, word) == '[' && primitive_util::IsPrimitiveTypeName(word);
  }
  static bool IsOpcode(absl::string_view text, absl::string_view word) {
    return After(text, word) == '(' && Before(text, word) == ' ' && FindHloOpcode(word).has_value();
  }
  static bool IsName(absl::string_view text, absl::string_view word) {
    return absl::ascii_isalpha(word[0]) && !IsType(text, word) && !IsOpcode(text, word);
  }

  static bool IsInWord(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-'; }

  static std::vector<absl::string_view> WordsOf(absl::string_view text, Kind is_wanted) {
    std::vector<absl::string_view> words;
    for (size_t begin = 0; begin < text.size();) {
      size_t end = begin;
      while (end < text.size() && IsInWord(text[end])) ++end;
      const absl::string_view word = text.substr(begin, end - begin);
      if (!word.empty() && is_wanted(text, word)) words.push_back(word);
      begin = end + 1;
    }
    return words;
  }

  // Replaces each of `parts`, which are in the text in this order, by `with`.
  static std::string Replace(absl::string_view text, const std::vector<absl::string_view>& parts,
                             absl::string_view with) {
    std::string result;
    const char* begin = text.data();
    for (const absl::string_view part : parts) {
      result.append(begin, part.data());
      result.append(with.data(), with.size());
      begin = part.data() + part.size();
    }
    return result.append(begin, text.data() + text.size());
  }

  // The elements of `parts` that are equal to `old`.
  static std::string ReplaceEqual(absl::string_view text, std::vector<absl::string_view> parts, absl::string_view old,
                                  absl::string_view with) {
    parts.erase(std::remove_if(parts.begin(), parts.end(), [old](absl::string_view part) { return part != old; }),
                parts.end());
    return Replace(text, parts, with);
  }
  // Replaces one word of a kind, everywhere.
  std::string ReplaceEverywhere(absl::string_view text, Kind kind, absl::string_view with) {
    const std::vector<absl::string_view> words = WordsOf(text, kind);
    return words.empty() ? std::string(text) : ReplaceEqual(text, words, words[Draw(words.size())], with);
  }
  std::string ReplaceOne(absl::string_view text, Kind kind, absl::string_view with) {
    const std::vector<absl::string_view> words = WordsOf(text, kind);
    return words.empty() ? std::string(text) : Replace(text, {words[Draw(words.size())]}, with);
  }
  std::string ReplaceName(absl::string_view text) {
    const std::vector<absl::string_view> names = WordsOf(text, IsName);
    return names.empty() ? std::string(text) : ReplaceOne(text, IsName, names[Draw(names.size())]);
  }

  // Usually by an opcode with the same number of operands.
  std::string ReplaceOpcode(absl::string_view text) {
    const std::vector<absl::string_view> words = WordsOf(text, IsOpcode);
    if (words.empty()) return std::string(text);
    const absl::string_view chosen = words[Draw(words.size())];
    const int8_t arity = GetHloOpcodeInfo(*FindHloOpcode(chosen)).arity;
    const bool is_alike = Draw(5) != 0;
    std::vector<absl::string_view> names;
    for (uint32_t i = 0; i < HloOpcodeCount(); ++i) {
      const HloOpcodeInfo& info = GetHloOpcodeInfo(static_cast<HloOpcode>(i));
      if (!is_alike || info.arity == arity) names.push_back(info.name);
    }
    return ReplaceEqual(text, words, chosen, names[Draw(names.size())]);
  }

  // Replaces a layout behind the sizes of a shape, "{1,0:T(8,128)}", and all equal ones, by another one or by none.
  std::string ReplaceLayouts(absl::string_view text) {
    std::vector<absl::string_view> layouts;
    for (size_t at = text.find("]{"); at != absl::string_view::npos; at = text.find("]{", at + 1)) {
      const size_t end = text.find('}', at);
      if (end != absl::string_view::npos) layouts.push_back(text.substr(at + 1, end - at));
    }
    const char* const all[] = {"",           "{0}",
                               "{1,0}",      "{0,1}",
                               "{2,1,0}",    "{1,0:T(8,128)}",
                               "{0:T(256)}", "{1,0:T(2,128)(2,1)S(1)}",
                               "{1,0:E(4)}", "{0:L(16)}",
                               "{0:S(5)}",   "{1,0:D(D,C)}",
                               "{0:M(1024)}"};
    if (layouts.empty()) return std::string(text);
    return ReplaceEqual(text, layouts, layouts[Draw(layouts.size())], all[Draw(std::size(all))]);
  }

  // Changes the number of devices of the module, or marks it as output of a compiler, which mixes precisions.
  std::string ChangeHead(absl::string_view text) {
    constexpr absl::string_view kHead = "HloModule ";
    if (text.substr(0, kHead.size()) != kHead) return std::string(text);
    size_t end = kHead.size();
    while (end < text.size() && IsInWord(text[end])) ++end;
    const char* const attributes[] = {"",
                                      ", is_scheduled=true",
                                      ", replica_count=2",
                                      ", num_partitions=2",
                                      ", replica_count=2, num_partitions=2",
                                      ", replica_count=4"};
    return absl::StrCat(text.substr(0, end), attributes[Draw(std::size(attributes))], text.substr(end));
  }

  std::string AnyType() {
    while (true) {
      const auto type = static_cast<PrimitiveType>(Draw(size_t{PrimitiveType_MAX} + 1));
      if (PrimitiveType_IsValid(type)) return primitive_util::LowercasePrimitiveTypeName(type);
    }
  }

  std::string AnyNumber() {
    if (Draw(2) == 0) return absl::StrCat(Draw(9));
    const int64_t numbers[] = {-1,
                               16,
                               17,
                               64,
                               100,
                               255,
                               1000,
                               65536,
                               int64_t{1} << 31,
                               int64_t{1} << 32,
                               int64_t{1} << 40,
                               int64_t{1} << 61,
                               int64_t{1} << 62,
                               INT64_MAX,
                               INT64_MIN};
    return absl::StrCat(numbers[Draw(std::size(numbers))]);
  }

  size_t Draw(size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random_); }

  std::minstd_rand random_;
};

// A LLVMFuzzerCustomMutator: uses libFuzzer's own mutation every third time.
inline size_t MutateHloText(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  if (seed % 3 == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::string mutant = HloTextMutator(seed).Mutate({reinterpret_cast<const char*>(data), size});
  if (mutant.empty() || mutant.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, mutant.data(), mutant.size());
  return mutant.size();
}

}  // namespace kashi::fuzz

#endif  // KASHI_FUZZ_HLO_TEXT_MUTATOR_H_
