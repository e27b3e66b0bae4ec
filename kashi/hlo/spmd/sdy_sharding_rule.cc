#include "kashi/hlo/spmd/sdy_sharding_rule.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/hlo/attributes/tile_assignment.h"
#include "kashi/hlo/text/hlo_place.h"
#include "kashi/hlo/text/text_scanner.h"

namespace kashi::hlo {
namespace {

// The names of factors i to z.
constexpr int kLetters = 'z' - 'i' + 1;

// Functions return false after an error; status() has it.
class RuleReader {
 public:
  explicit RuleReader(absl::string_view text) : scanner_(text) {}

  bool Read(SdyShardingRule* rule) {
    if (!Expect("#sdy.op_sharding_rule") || !Expect("<") || !ReadMappings(&rule->operands) || !Expect("->") ||
        !ReadMappings(&rule->results) || !ReadSizes(rule) || !ReadKinds(rule)) {
      return false;
    }
    if (scanner_.Match(',') && !Expect("custom")) return false;
    if (!Expect(">")) return false;
    return scanner_.AtEnd() || Fail("the end");
  }
  absl::Status status() const {
    return InvalidArgument("`%s`, at byte %d: expected %s", scanner_.text(), scanner_.offset(), expected_);
  }

 private:
  bool Fail(std::string expected) {
    expected_ = std::move(expected);
    return false;
  }
  bool Expect(absl::string_view text) { return scanner_.Match(text) || Fail(absl::StrCat("`", text, "`")); }

  template <typename ReadItem>
  bool ReadList(char open, char close, ReadItem read_item) {
    if (!Expect(absl::string_view(&open, 1))) return false;
    if (scanner_.Match(close)) return true;
    do {
      if (!read_item()) return false;
    } while (scanner_.Match(','));
    return Expect(absl::string_view(&close, 1));
  }

  // i, z_3; the number may touch the next factor.
  bool ReadFactor(int* factor) {
    const char letter = scanner_.Peek();
    if (letter < 'i' || letter > 'z') return Fail("a factor");
    scanner_.Seek(scanner_.offset() + 1);
    *factor = letter - 'i';
    if (scanner_.PeekHere() != '_') return true;
    scanner_.Seek(scanner_.offset() + 1);
    int number = 0;
    for (char digit = scanner_.PeekHere(); digit >= '0' && digit <= '9'; digit = scanner_.PeekHere()) {
      number = number * 10 + (digit - '0');
      if (number > kMostFactors) break;
      scanner_.Seek(scanner_.offset() + 1);
    }
    if (letter != 'z' || number < 1 || number > kMostFactors) return Fail("the number of a factor");
    *factor = kLetters - 1 + number;
    return true;
  }

  // [ij, k]: factors of a dimension touch each other.
  bool ReadMapping(SdyShardingRule::Mapping* mapping) {
    return ReadList('[', ']', [&] {
      SdyShardingRule::Dimension& dimension = mapping->emplace_back();
      do {
        if (!ReadFactor(&dimension.emplace_back())) return false;
        most_ = std::max(most_, dimension.back());
      } while (scanner_.PeekHere() >= 'i' && scanner_.PeekHere() <= 'z');
      return true;
    });
  }

  bool ReadMappings(std::vector<SdyShardingRule::Mapping>* mappings) {
    return ReadList('(', ')', [&] { return ReadMapping(&mappings->emplace_back()); });
  }

  // {i=8, j=16}: all factors in order. Absent for a rule without factors.
  bool ReadSizes(SdyShardingRule* rule) {
    const auto read_size = [&] {
      int factor = 0;
      if (!ReadFactor(&factor) || !Expect("=")) return false;
      if (factor != static_cast<int>(rule->factor_sizes.size())) return Fail("the sizes of all factors in order");
      const std::optional<int64_t> size = scanner_.ReadInt();
      if (!size.has_value() || *size < 0) return Fail("the size of a factor");
      rule->factor_sizes.push_back(*size);
      return true;
    };
    if (scanner_.Peek() == '{' && !ReadList('{', '}', read_size)) return false;
    return most_ < static_cast<int>(rule->factor_sizes.size()) || Fail("the sizes of all factors");
  }

  bool ReadKinds(SdyShardingRule* rule) {
    while (scanner_.Peek() != ',' && scanner_.Peek() != '>') {
      std::vector<int>* factors = nullptr;
      if (scanner_.Match("reduction")) {
        factors = &rule->reduction;
      } else if (scanner_.Match("need_replication")) {
        factors = &rule->need_replication;
      } else if (scanner_.Match("permutation")) {
        factors = &rule->permutation;
      } else if (scanner_.Match("blocked_propagation")) {
        factors = &rule->blocked_propagation;
      } else {
        return Fail("a kind of factors");
      }
      const auto read_factor = [&] {
        const bool read = ReadFactor(&factors->emplace_back());
        if (!read) return false;
        return factors->back() < static_cast<int>(rule->factor_sizes.size()) || Fail("a factor with a size");
      };
      if (!Expect("=") || !ReadList('{', '}', read_factor)) return false;
    }
    return true;
  }

  static constexpr int kMostFactors = 100'000;

  TextScanner scanner_;
  std::string expected_;
  int most_ = -1;  // the last factor of a mapping
};

// Factors of 1 are useless beside others, and Shardy has none: a size has no more factors than this.
constexpr size_t kMostInDimension = 62;

bool Fits(const SdyShardingRule& rule, const SdyShardingRule::Mapping& mapping, const Shape& shape) {
  if (!shape.IsArray()) return mapping.empty() && !shape.IsTuple();
  if (static_cast<int64_t>(mapping.size()) != shape.rank()) return false;
  for (size_t i = 0; i < mapping.size(); ++i) {
    int64_t size = 1;
    for (const int factor : mapping[i]) size = SaturatingProduct({size, rule.factor_sizes[factor]});
    if (mapping[i].size() > kMostInDimension) return false;
    if (size != shape.dimensions(static_cast<int>(i))) return false;
  }
  return true;
}

bool Fits(const SdyShardingRule& rule, const HloInstruction& instruction) {
  std::vector<const Shape*> operands, results;
  for (const HloInstruction* operand : instruction.operands()) operands.push_back(&operand->shape());
  ShapeUtil::ForEachLeafShape(instruction.shape(),
                              [&](const Shape& leaf, const ShapeIndex&) { results.push_back(&leaf); });
  const auto fit = [&rule](const std::vector<SdyShardingRule::Mapping>& mappings,
                           const std::vector<const Shape*>& shapes) {
    return std::equal(
        mappings.begin(), mappings.end(), shapes.begin(), shapes.end(),
        [&](const SdyShardingRule::Mapping& mapping, const Shape* shape) { return Fits(rule, mapping, *shape); });
  };
  return fit(rule.operands, operands) && fit(rule.results, results);
}

}  // namespace

absl::StatusOr<SdyShardingRule> ParseSdyShardingRule(absl::string_view text) {
  RuleReader reader(text);
  SdyShardingRule rule;
  if (!reader.Read(&rule)) return reader.status();
  return rule;
}

absl::StatusOr<std::optional<SdyShardingRule>> SdyShardingRuleOf(const HloInstruction& instruction) {
  if (!instruction.has_frontend_attributes()) return std::nullopt;
  const auto& attributes = instruction.frontend_attributes().map();
  const auto found = attributes.find("xla.sdy.sharding_rule");
  if (found == attributes.end()) return std::nullopt;
  absl::StatusOr<SdyShardingRule> rule = ParseSdyShardingRule(found->second);
  if (!rule.ok()) {
    return AtInstruction(WithMessage(rule.status(), absl::StrCat("xla.sdy.sharding_rule: ", rule.status().message())),
                         instruction);
  }
  if (!Fits(*rule, instruction)) {
    return AtInstruction(InvalidArgument("xla.sdy.sharding_rule: `%s` is for other shapes", found->second),
                         instruction);
  }
  return *std::move(rule);
}

}  // namespace kashi::hlo
