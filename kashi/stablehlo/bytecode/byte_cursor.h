// The numbers of MLIR bytecode, one after the other (docs/spec/vhlo.md 1).
//
// Reading past the end, or any other error, sets the file's one error. From then on a cursor returns zeros
// and is at its end. So loops end, and one check after a whole record is enough. Counts are checked against the
// number of bytes left, so that an allocation for `Count` elements is bounded by the size of the file.
#ifndef KASHI_STABLEHLO_BYTECODE_BYTE_CURSOR_H_
#define KASHI_STABLEHLO_BYTECODE_BYTE_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kashi/base/status.h"

namespace kashi::stablehlo {

// The first error in a file.
class ReadError {
 public:
  bool is_set() const { return is_set_; }
  // `offset`: from the file's first byte.
  void Set(size_t offset, std::string message) {
    if (is_set_) return;
    is_set_ = true;
    offset_ = offset;
    message_ = std::move(message);
  }
  // Pre: is_set().
  absl::Status ToStatus() const { return InvalidArgument("MLIR bytecode, byte %d: %s", offset_, message_); }

 private:
  bool is_set_ = false;
  size_t offset_ = 0;
  std::string message_;
};

class ByteCursor {
 public:
  // The bytes [begin, end) of the file. `part` names them in errors: "strings". Borrows everything.
  ByteCursor(absl::string_view file, size_t begin, size_t end, const char* part, ReadError* error)
      : file_(file.data()), next_(file.data() + begin), end_(file.data() + end), part_(part), error_(error) {}

  bool ok() const { return !error_->is_set(); }
  bool AtEnd() const { return next_ == end_; }
  size_t offset() const { return static_cast<size_t>(next_ - file_); }
  size_t left() const { return static_cast<size_t>(end_ - next_); }

  uint8_t Byte() {
    if (AtEnd()) return EndsEarly();
    return static_cast<uint8_t>(*next_++);
  }
  uint64_t Varint() {
    if (!AtEnd() && (*next_ & 1) != 0) return static_cast<uint8_t>(*next_++) >> 1;
    return LongVarint();
  }
  int64_t SignedVarint() {
    const uint64_t value = Varint();
    return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
  }
  uint64_t FlaggedVarint(bool* flag) {
    const uint64_t value = Varint();
    *flag = (value & 1) != 0;
    return value >> 1;
  }
  // A number below `limit`, the size of a table of `what`: "strings".
  size_t Index(size_t limit, const char* what) {
    const size_t begin = offset();
    const uint64_t index = Varint();
    if (index >= limit) return BadIndex(begin, index, limit, what);
    return static_cast<size_t>(index);
  }
  // A number of items that take at least `bytes_each` bytes each.
  size_t Count(size_t bytes_each) { return CheckCount(offset(), Varint(), bytes_each); }
  size_t CheckCount(size_t begin, uint64_t count, size_t bytes_each) {
    if (count > left() / bytes_each) return BadCount(begin, count);
    return static_cast<size_t>(count);
  }
  absl::string_view Bytes(uint64_t size) {
    if (size > left()) {
      EndsEarly();
      return absl::string_view();
    }
    const absl::string_view bytes(next_, static_cast<size_t>(size));
    next_ += size;
    return bytes;
  }
  // A varint n, then n bytes.
  absl::string_view Blob() { return Bytes(Varint()); }
  // The text up to the next 00 byte. Skips that byte, too.
  absl::string_view TextUpToZero() {
    const void* zero = AtEnd() ? nullptr : std::memchr(next_, 0, left());
    if (zero == nullptr) {
      EndsEarly();
      return absl::string_view();
    }
    const absl::string_view text(next_, static_cast<size_t>(static_cast<const char*>(zero) - next_));
    next_ += text.size() + 1;
    return text;
  }

  // Skips bytes CB up to the next multiple of `alignment`, counted from the file's first byte.
  void SkipPadding(uint64_t alignment) {
    if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > (uint64_t{1} << 32)) {
      return Fail(absl::StrCat("an alignment of ", alignment, " is not a power of two"));
    }
    const size_t rest = offset() & (alignment - 1);
    for (const char byte : Bytes(rest == 0 ? 0 : alignment - rest)) {
      if (byte != '\xCB') return Fail("the padding before aligned bytes must be CB");
    }
  }
  // Byte id, varint length, perhaps an alignment: returns a cursor over the section's bytes, and moves behind them.
  ByteCursor Section(uint8_t* id, const char* part) {
    const uint8_t byte = Byte();
    *id = byte & 0x7F;
    const uint64_t size = Varint();
    if ((byte & 0x80) != 0) SkipPadding(Varint());
    const size_t begin = offset();
    const absl::string_view bytes = Bytes(size);
    ByteCursor section = *this;
    section.part_ = part;
    section.next_ = file_ + (ok() ? begin : offset());
    section.end_ = section.next_ + bytes.size();
    return section;
  }

  void ExpectEnd() {
    if (!AtEnd()) Fail(absl::StrCat(left(), " bytes are left over at the end of the ", part_));
  }
  // Sets the error at the present position, or at `begin`, and moves to the end.
  void Fail(std::string message) { Fail(offset(), std::move(message)); }
  void Fail(size_t begin, std::string message) {
    error_->Set(begin, std::move(message));
    next_ = end_;
  }

 private:
  uint64_t LongVarint() {
    if (AtEnd()) return EndsEarly();
    const auto first = static_cast<uint8_t>(*next_);
    const size_t size = first == 0 ? 8 : static_cast<size_t>(__builtin_ctz(first)) + 1;
    if (first == 0) ++next_;
    if (size > left()) return EndsEarly();
    const uint64_t value = LittleEndian(size);
    next_ += size;
    return first == 0 ? value : value >> size;
  }
  // The next 1 to 8 bytes. One load of 8 bytes, if there are 8: a copy of `size` bytes would stall the load that
  // reads them back.
  uint64_t LittleEndian(size_t size) const {
    uint64_t value = 0;
    if (left() < sizeof(value)) {
      std::memcpy(&value, next_, size);
      return value;
    }
    std::memcpy(&value, next_, sizeof(value));
    const size_t unused = 8 * (sizeof(value) - size);
    return value << unused >> unused;
  }
  uint8_t EndsEarly() {
    Fail(file_ == end_ ? 0 : static_cast<size_t>(end_ - file_), absl::StrCat("the ", part_, " ends early"));
    return 0;
  }
  size_t BadIndex(size_t begin, uint64_t index, size_t limit, const char* what) {
    if (ok()) Fail(begin, absl::StrCat("number ", index, " in the ", part_, ": there are only ", limit, " ", what));
    return 0;
  }
  size_t BadCount(size_t begin, uint64_t count) {
    if (ok()) Fail(begin, absl::StrCat("the ", part_, " is too short for the ", count, " things that it should hold"));
    return 0;
  }

  const char* file_;
  const char* next_;
  const char* end_;
  const char* part_;
  ReadError* error_;
};

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_BYTECODE_BYTE_CURSOR_H_
