#include "kashi/engine/serialized_program.h"

#include <cstdint>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kashi/base/fingerprint.h"
#include "kashi/base/status.h"
#include "kashi/engine/build_facts.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/hlo/verifier/hlo_verifier.h"

namespace kashi::engine {
namespace {

constexpr absl::string_view kMagic = "kashi program\n";
constexpr size_t kChecksumBytes = 16;
constexpr uint64_t kFlushDenormals = 1, kExcessPrecision = 2;

class Writer {
 public:
  void Add(uint64_t number) {
    for (int i = 0; i < 8; ++i) bytes_.push_back(static_cast<char>(number >> (8 * i)));
  }
  void Add(absl::string_view text) {
    Add(static_cast<uint64_t>(text.size()));
    AddPlain(text);
  }
  void Add(const base::Fingerprint& key) {
    Add(key.low);
    Add(key.high);
  }
  void AddPlain(absl::string_view text) { bytes_.append(text.data(), text.size()); }
  std::string Finish() && {
    Add(base::FingerprintOf(bytes_));
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
};

// A reader of bytes that may be cut short. Missing bytes read as zeros and empty texts; is_whole() then is false.
class Reader {
 public:
  explicit Reader(absl::string_view bytes) : bytes_(bytes) {}

  absl::string_view ReadPlain(uint64_t size) {
    if (size > bytes_.size()) {
      is_cut_ = true;
      bytes_ = absl::string_view();
      return bytes_;
    }
    const absl::string_view read = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return read;
  }
  uint64_t ReadNumber() {
    uint64_t number = 0;
    const absl::string_view bytes = ReadPlain(8);
    for (size_t i = 0; i < bytes.size(); ++i) {
      number |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    }
    return number;
  }
  std::string ReadText() { return std::string(ReadPlain(ReadNumber())); }
  base::Fingerprint ReadKey() {
    const uint64_t low = ReadNumber();
    return {low, ReadNumber()};
  }
  bool is_cut() const { return is_cut_; }
  bool is_whole() const { return !is_cut_ && bytes_.empty(); }

 private:
  absl::string_view bytes_;
  bool is_cut_ = false;
};

absl::Status NotAProgram(absl::string_view why) {
  return InvalidArgument("the bytes are no program of Kashi, or were changed: %s", why);
}

}  // namespace

std::string WriteProgram(const SerializedProgram& program) {
  Writer writer;
  writer.AddPlain(absl::StrCat(kMagic, Version(), "\n"));
  writer.Add(program.engine);
  writer.Add(program.target);
  writer.Add((program.numbers.flush_denormals ? kFlushDenormals : 0) |
             (program.numbers.excess_precision ? kExcessPrecision : 0));
  writer.Add(program.module);
  writer.Add(static_cast<uint64_t>(program.objects.size()));
  for (const CompiledObject& object : program.objects) {
    writer.Add(object.key);
    writer.Add(object.code);
  }
  return std::move(writer).Finish();
}

absl::StatusOr<SerializedProgram> ReadProgram(absl::string_view bytes) {
  if (!absl::StartsWith(bytes, kMagic)) return NotAProgram("they do not begin as one");
  const size_t end = bytes.find('\n', kMagic.size());
  if (end == absl::string_view::npos || bytes.size() < end + 1 + kChecksumBytes) return NotAProgram("they end early");
  const absl::string_view checked = bytes.substr(0, bytes.size() - kChecksumBytes);
  if (Reader(bytes.substr(checked.size())).ReadKey() != base::FingerprintOf(checked))
    return NotAProgram("wrong checksum");
  const absl::string_view version = bytes.substr(kMagic.size(), end - kMagic.size());
  if (version != Version()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the program was written by Kashi ", version, ", this is ", Version()));
  }
  Reader reader(checked.substr(end + 1));
  SerializedProgram program;
  program.engine = reader.ReadText();
  program.target = reader.ReadText();
  const uint64_t flags = reader.ReadNumber();
  program.numbers.flush_denormals = (flags & kFlushDenormals) != 0;
  program.numbers.excess_precision = (flags & kExcessPrecision) != 0;
  program.module = reader.ReadText();
  for (uint64_t left = reader.ReadNumber(); left > 0 && !reader.is_cut(); --left) {
    const base::Fingerprint key = reader.ReadKey();
    program.objects.push_back({key, reader.ReadText()});
  }
  if (!reader.is_whole()) return NotAProgram("a length is wrong");
  return program;
}

absl::StatusOr<std::unique_ptr<HloModule>> ReadModule(const SerializedProgram& program) {
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module, ParseAndReturnUnverifiedModule(program.module));
  HloVerifier verifier(/*layout_sensitive=*/false, /*allow_mixed_precision=*/true);
  KASHI_RETURN_IF_ERROR(verifier.Run(module.get()).status());
  return module;
}

}  // namespace kashi::engine
