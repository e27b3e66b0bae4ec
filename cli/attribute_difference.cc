#include "cli/attribute_difference.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace kashi::cli {
namespace {

constexpr size_t kLong = 80;
constexpr size_t kContext = 16;  // characters shown on each side of a difference
constexpr int kMostDepth = 32;

struct Member {
  absl::string_view key;
  absl::string_view value;
};

// The end of the part that begins at `begin`: the next separator outside of brackets and strings.
size_t EndOfPart(absl::string_view text, size_t begin, absl::string_view separators) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"' || i >= text.size();
    } else if (c == '"') {
      in_string = true;
    } else if (depth == 0 && absl::StrContains(separators, c)) {
      return i;
    } else if (absl::StrContains("{[(", c)) {
      ++depth;
    } else if (absl::StrContains("}])", c)) {
      --depth;
    }
  }
  return text.size();
}

// The members of `key=value, …` or `"key":value, …`; nullopt if a part has no key.
std::optional<std::vector<Member>> Members(absl::string_view text) {
  std::vector<Member> members;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = EndOfPart(text, begin, ",");
    const absl::string_view part = absl::StripAsciiWhitespace(text.substr(begin, end - begin));
    const size_t middle = EndOfPart(part, 0, "=:");
    if (middle == part.size()) return std::nullopt;
    absl::string_view key = absl::StripAsciiWhitespace(part.substr(0, middle));
    if (key.size() > 1 && key.front() == '"' && key.back() == '"') key = key.substr(1, key.size() - 2);
    members.push_back({key, absl::StripAsciiWhitespace(part.substr(middle + 1))});
    begin = end + 1;
  }
  return members;
}

// The text between the braces; nullopt if there are none.
std::optional<absl::string_view> Inside(absl::string_view text) {
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') return std::nullopt;
  return text.substr(1, text.size() - 2);
}

std::string Around(absl::string_view text, size_t begin, size_t end) {
  const size_t from = begin > kContext ? begin - kContext : 0;
  const size_t to = std::min(text.size(), end + kContext);
  absl::string_view middle = text.substr(from, to - from);
  const bool is_cut = middle.size() > 2 * kLong;
  return absl::StrCat(from > 0 ? "..." : "", is_cut ? middle.substr(0, 2 * kLong) : middle,
                      is_cut || to < text.size() ? "..." : "");
}

std::string ValueChange(absl::string_view a, absl::string_view b) {
  if (a.size() <= kLong && b.size() <= kLong) return absl::StrCat(a, " -> ", b);
  const size_t shorter = std::min(a.size(), b.size());
  size_t front = 0;
  while (front < shorter && a[front] == b[front]) ++front;
  size_t back = 0;
  while (back < shorter - front && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
  return absl::StrCat(Around(a, front, a.size() - back), " -> ", Around(b, front, b.size() - back));
}

class Changes {
 public:
  // The differences of two lists of members.
  void AddMembers(const std::vector<Member>& a, const std::vector<Member>& b, const std::string& path, int depth) {
    for (const Member& member : a) {
      const Member* other = Find(b, member.key);
      if (other == nullptr) {
        Add(absl::StrCat(path, member.key), absl::StrCat(Shortened(member.value), " -> none"));
      } else {
        AddValue(member.value, other->value, absl::StrCat(path, member.key), depth);
      }
    }
    for (const Member& member : b) {
      if (Find(a, member.key) == nullptr) {
        Add(absl::StrCat(path, member.key), absl::StrCat("none -> ", Shortened(member.value)));
      }
    }
  }

  const std::string& text() const { return text_; }

 private:
  static const Member* Find(const std::vector<Member>& members, absl::string_view key) {
    const auto found =
        std::find_if(members.begin(), members.end(), [&](const Member& member) { return member.key == key; });
    return found == members.end() ? nullptr : &*found;
  }
  static std::string Shortened(absl::string_view value) {
    return value.size() <= kLong ? std::string(value) : absl::StrCat(value.substr(0, kLong), "...");
  }
  void Add(absl::string_view path, absl::string_view change) {
    absl::StrAppend(&text_, text_.empty() ? "" : "; ", path, " ", change);
  }
  void AddValue(absl::string_view a, absl::string_view b, const std::string& path, int depth) {
    if (a == b) return;
    const std::optional<absl::string_view> inside_a = Inside(a);
    const std::optional<absl::string_view> inside_b = Inside(b);
    if (a.size() + b.size() > kLong && inside_a && inside_b && depth < kMostDepth) {
      const std::optional<std::vector<Member>> members_a = Members(*inside_a);
      const std::optional<std::vector<Member>> members_b = Members(*inside_b);
      if (members_a && members_b) return AddMembers(*members_a, *members_b, absl::StrCat(path, "."), depth + 1);
    }
    Add(path, ValueChange(a, b));
  }

  std::string text_;
};

}  // namespace

std::string AttributeDifference(absl::string_view a, absl::string_view b) {
  const std::optional<std::vector<Member>> members_a = Members(a);
  const std::optional<std::vector<Member>> members_b = Members(b);
  if (!members_a || !members_b) return ValueChange(a, b);
  Changes changes;
  changes.AddMembers(*members_a, *members_b, "", 0);
  return changes.text().empty() ? ValueChange(a, b) : changes.text();
}

}  // namespace kashi::cli
