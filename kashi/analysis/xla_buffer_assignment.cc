#include "kashi/analysis/xla_buffer_assignment.h"

#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "kashi/analysis/value_positions.h"
#include "kashi/base/diagnostic.h"
#include "kashi/base/status.h"

namespace kashi {
namespace {

// The rest of a line, from which pieces are taken. The first piece that is not there makes an error; nothing is taken
// then.
class LineReader {
 public:
  LineReader(const SourceText& source, absl::string_view line) : source_(source), rest_(line) {}

  absl::string_view rest() const { return rest_; }
  bool TryTake(absl::string_view piece) {
    if (!status_.ok() || !absl::StartsWith(rest_, piece)) return false;
    rest_.remove_prefix(piece.size());
    return true;
  }
  void Take(absl::string_view piece) {
    if (status_.ok() && !TryTake(piece)) Fail(absl::StrCat("expected `", piece, "`"));
  }
  // A number that is not negative.
  int64_t TakeNumber() {
    size_t length = 0;
    while (length < rest_.size() && absl::ascii_isdigit(static_cast<unsigned char>(rest_[length]))) ++length;
    int64_t number = 0;
    if (!absl::SimpleAtoi(rest_.substr(0, length), &number)) Fail("expected a number below 2^63");
    if (status_.ok()) rest_.remove_prefix(length);
    return number;
  }
  // A number of bytes, which is added to those before it.
  int64_t TakeBytes(int64_t* total) {
    LineReader before = *this;
    const int64_t bytes = TakeNumber();
    if (status_.ok() && !AddToTotalBytes(bytes, total).ok()) {
      before.Fail("the sum of the sizes exceeds 2^60 bytes");
      status_ = before.status_;
    }
    return bytes;
  }
  // Takes the text before the last `end` of the line, and skips `end`.
  absl::string_view TakeUntilLast(absl::string_view end) { return TakeTo(rest_.rfind(end), end); }
  absl::string_view TakeUntil(absl::string_view end) { return TakeTo(rest_.find(end), end); }
  void Fail(absl::string_view message) {
    if (!status_.ok()) return;
    const size_t at = static_cast<size_t>(rest_.data() - source_.text.data());
    status_ = DiagnosticsToStatus(source_, {{Diagnostic::Severity::kError, at, at + 1, std::string(message)}});
  }
  const absl::Status& status() const { return status_; }

 private:
  absl::string_view TakeTo(size_t at, absl::string_view end) {
    if (!status_.ok()) return {};
    if (at == absl::string_view::npos) {
      Fail(absl::StrCat("expected `", end, "` after this"));
      return {};
    }
    const absl::string_view taken = rest_.substr(0, at);
    rest_.remove_prefix(at + end.size());
    return taken;
  }

  const SourceText& source_;
  absl::string_view rest_;
  absl::Status status_;
};

// Cuts the next line off the text and returns it without its line end; the result points into the text.
absl::string_view TakeLine(absl::string_view* text) {
  const size_t end = text->find('\n');
  absl::string_view line = text->substr(0, end);
  text->remove_prefix(end == absl::string_view::npos ? text->size() : end + 1);
  if (absl::EndsWith(line, "\r")) line.remove_suffix(1);
  return line;
}

// "|f32[8,128]| at ShapeIndex {0}" or "|f32[]|": shapes hold no bars.
void SkipShape(LineReader* line) {
  line->Take("|");
  line->TakeUntil("|");
  if (!line->TryTake(" at ShapeIndex {")) return;
  line->TakeUntil("}");
}

// "allocation 0: size 4, color 1, parameter 0, shape |f32[]| at ShapeIndex {}, maybe-live-out:". Unknown flags are
// skipped.
XlaBufferAssignment::Allocation ReadAllocation(LineReader* line, int64_t* total) {
  XlaBufferAssignment::Allocation allocation;
  line->TakeNumber();
  line->Take(": size ");
  allocation.bytes = line->TakeBytes(total);
  while (line->status().ok() && line->TryTake(", ")) {
    if (line->TryTake("color ")) {
      allocation.memory_space = line->TakeNumber();
    } else if (line->TryTake("parameter ")) {
      allocation.is_argument = true;
      line->TakeNumber();
    } else if (line->TryTake("shape ") || line->TryTake("output shape is ")) {
      SkipShape(line);
    } else if (line->TryTake("constant")) {
      allocation.is_constant = true;
    } else if (line->TryTake("thread-local")) {
      allocation.is_thread_local = true;
    } else if (line->TryTake("maybe-live-out")) {
      allocation.lives_out = true;
    } else if (line->TryTake("preallocated-temp")) {
      allocation.is_temporary = true;
    } else {
      line->Fail(
          "expected a fact about an allocation: color, parameter, shape, constant, thread-local, output shape, "
          "maybe-live-out or preallocated-temp");
    }
  }
  line->Take(":");
  return allocation;
}

// "<42 while.5{1} (phi) @0> (size=32768,offset=0): f32[64,128]{1,0}"
XlaBufferAssignment::Value ReadValue(const XlaBufferAssignment::Allocation& allocation, LineReader* line) {
  XlaBufferAssignment::Value value;
  line->Take("<");
  line->TakeNumber();
  line->Take(" ");
  absl::string_view name = line->TakeUntil(" @");
  absl::ConsumeSuffix(&name, " (phi)");
  value.name = std::string(name);
  value.memory_space = line->TakeNumber();
  line->Take("> (size=");
  value.bytes = line->TakeNumber();
  line->Take(",offset=");
  value.offset = line->TakeNumber();
  if (value.bytes > allocation.bytes || value.offset > allocation.bytes - value.bytes) {
    line->Fail(absl::StrCat("the value exceeds its allocation of ", allocation.bytes, " bytes"));
  }
  line->Take(")");
  return value;
}

}  // namespace

absl::StatusOr<XlaBufferAssignment> ParseXlaBufferAssignment(absl::string_view text, absl::string_view name) {
  const SourceText source = {name, text};
  XlaBufferAssignment result;
  int64_t total = 0;
  absl::string_view rest = text;
  LineReader head(source, TakeLine(&rest));
  head.Take("BufferAssignment:");
  KASHI_RETURN_IF_ERROR(head.status());
  while (!rest.empty()) {
    LineReader line(source, TakeLine(&rest));
    if (line.TryTake("allocation ")) {
      result.allocations.push_back(ReadAllocation(&line, &total));
      KASHI_RETURN_IF_ERROR(line.status());
    } else if (line.TryTake(" value: ")) {
      if (result.allocations.empty()) line.Fail("expected an allocation before its values");
      if (line.status().ok()) {
        XlaBufferAssignment::Allocation& allocation = result.allocations.back();
        allocation.values.push_back(ReadValue(allocation, &line));
      }
      KASHI_RETURN_IF_ERROR(line.status());
    } else {
      break;
    }
  }
  return result;
}

absl::StatusOr<std::vector<XlaMemoryUsage>> ParseXlaMemoryUsageReport(absl::string_view text, absl::string_view name) {
  const SourceText source = {name, text};
  std::vector<XlaMemoryUsage> result;
  bool has_total = true;
  int64_t total = 0;
  absl::string_view rest = text;
  while (!rest.empty()) {
    LineReader line(source, TakeLine(&rest));
    if (line.TryTake("Memory Space: ")) {
      line.TakeUntilLast("(color=");
      result.push_back({line.TakeNumber(), 0});
      has_total = false;
    } else if (line.TryTake("Total bytes: ")) {
      if (has_total) line.Fail("expected a memory space before its total");
      const int64_t bytes = line.TakeBytes(&total);
      KASHI_RETURN_IF_ERROR(line.status());
      result.back().bytes = bytes;
      has_total = true;
    }
    KASHI_RETURN_IF_ERROR(line.status());
  }
  if (result.empty() || !has_total) {
    return InvalidArgument(
        "%s: the file has no `Memory Space:` and `Total bytes:` lines, so it is not a memory usage report", name);
  }
  return result;
}

}  // namespace kashi
