#include "kashi/hlo/text/input_kind.h"

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "kashi/base/line_comments.h"

namespace kashi::hlo {
namespace {

// Advice on how to get HLO from the programs of frameworks.
constexpr char kDumpRemedy[] = "run the program with XLA_FLAGS=--xla_dump_to=DIR, and XLA writes its HLO there";

// ---- Text -----------------------------------------------------------------------------------------------------------

// Whether the text begins with this word, followed by white space.
bool BeginsWithWord(absl::string_view text, absl::string_view word) {
  return absl::ConsumePrefix(&text, word) && !text.empty() && absl::ascii_isspace(text[0]);
}

// Reports that XLA dumps beside a module: buffer assignment, live ranges, memory usage.
bool LooksLikeMemoryReport(absl::string_view text) {
  text = absl::StripLeadingAsciiWhitespace(text);
  for (const absl::string_view head : {"BufferAssignment:", "Total bytes used:", "HloLiveRange", "Memory Space:"}) {
    if (absl::StartsWith(text, head)) return true;
  }
  return false;
}

// ---- Protos ---------------------------------------------------------------------------------------------------------

// Reads the fields of a proto message from its wire format.
class WireFields {
 public:
  explicit WireFields(absl::string_view bytes) : bytes_(bytes) {}

  // False at the end, and if the bytes are not a message.
  bool Next() {
    const std::optional<uint64_t> tag = ReadVarint();
    if (!tag.has_value()) return false;
    number_ = *tag >> 3;
    wire_type_ = static_cast<int>(*tag & 7);
    return number_ > 0 && ReadValue();
  }
  uint64_t number() const { return number_; }
  bool is_bytes() const { return wire_type_ == 2; }
  // The contents of a string, bytes or a message.
  absl::string_view bytes() const { return value_; }
  uint64_t varint() const { return varint_; }
  bool is_varint() const { return wire_type_ == 0; }

 private:
  std::optional<uint64_t> ReadVarint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && !bytes_.empty(); shift += 7) {
      const unsigned char byte = static_cast<unsigned char>(bytes_[0]);
      bytes_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }
  bool Skip(uint64_t size) {
    if (size > bytes_.size()) return false;
    value_ = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return true;
  }
  bool ReadValue() {
    const std::optional<uint64_t> number =
        wire_type_ == 0 || wire_type_ == 2 ? ReadVarint() : std::optional<uint64_t>(wire_type_ == 1 ? 8 : 4);
    if (!number.has_value()) return false;
    varint_ = *number;
    if (wire_type_ == 0) return true;
    return (wire_type_ == 1 || wire_type_ == 2 || wire_type_ == 5) && Skip(*number);
  }

  absl::string_view bytes_;
  uint64_t number_ = 0;
  int wire_type_ = 0;
  uint64_t varint_ = 0;
  absl::string_view value_;
};

// The text in a field of a message; "" if the field is missing.
absl::string_view TextField(absl::string_view message, uint64_t number) {
  for (WireFields fields(message); fields.Next();) {
    if (fields.number() == number && fields.is_bytes()) return fields.bytes();
  }
  return "";
}

// XSpace: planes in field 1, whose name, field 2, is /host:CPU, /device:TPU:0, Task Environment ….
bool LooksLikeProfile(absl::string_view bytes) {
  WireFields fields(bytes);
  if (!fields.Next() || fields.number() != 1 || !fields.is_bytes()) return false;
  const absl::string_view name = TextField(fields.bytes(), 2);
  return absl::StartsWith(name, "/host:") || absl::StartsWith(name, "/device:") || name == "Task Environment";
}

// NodeDef: a name in field 1, an operation such as MatMul in field 2.
bool LooksLikeNode(absl::string_view message) {
  const absl::string_view name = TextField(message, 1);
  const absl::string_view operation = TextField(message, 2);
  const auto is_word = [](char c) { return absl::ascii_isalnum(c) || c == '_' || c == '/' || c == '.' || c == '>'; };
  return !name.empty() && !operation.empty() && std::all_of(operation.begin(), operation.end(), is_word) &&
         absl::ascii_isupper(operation[0]);
}

// GraphDef: nodes in field 1. SavedModel: its version 1 in field 1, a MetaGraphDef in field 2.
bool LooksLikeTensorFlow(absl::string_view bytes) {
  const absl::string_view text = base::AfterLineComments(bytes);
  if (absl::StartsWith(text, "node {") || absl::StartsWith(text, "saved_model_schema_version:")) return true;
  WireFields fields(bytes);
  if (!fields.Next() || fields.number() != 1) return false;
  if (fields.is_bytes()) return LooksLikeNode(fields.bytes());
  return fields.is_varint() && fields.varint() == 1 && fields.Next() && fields.number() == 2 && fields.is_bytes();
}

}  // namespace

// ---- Kinds ----------------------------------------------------------------------------------------------------------

bool BeginsLikeHloText(absl::string_view bytes) {
  if (BeginsWithWord(base::AfterLineComments(bytes), "HloModule")) return true;
  // A proto begins with a newline, the tag of field 1, and any bytes can follow. No proto begins with these.
  if (bytes.empty() || bytes[0] == '\n') return false;
  const absl::string_view text = absl::StripLeadingAsciiWhitespace(bytes);
  return BeginsWithWord(text, "ENTRY") || absl::StartsWith(text, "%") || absl::StartsWith(text, "//") ||
         absl::StartsWith(text, "/*");
}

namespace {

struct Signature {
  absl::string_view beginning;
  const char* kind;
};

// Files that begin with these bytes.
constexpr Signature kSignatures[] = {
    {"\x93NUMPY", "a NumPy array (.npy), not a program: `kashi run --input` takes it as an argument"},
    {"\x89PNG", "a PNG image, not a program"},
    {"\xff\xd8\xff", "a JPEG image, not a program"},
    {"GIF8", "a GIF image, not a program"},
    {"%PDF-", "a PDF document, not a program"},
    {"PK\x03\x04", "a zip archive (.zip, .npz, .whl), not a program: unpack it first"},
    {"\x7f"
     "ELF",
     "machine code (ELF), not HLO"},
    {"BC\xc0\xde", "LLVM bitcode, which XLA's compiler makes of HLO, not HLO"},
    {"; ModuleID", "LLVM IR, which XLA's compiler makes of HLO, not HLO"},
    {"source_filename = ", "LLVM IR, which XLA's compiler makes of HLO, not HLO"},
    {"target datalayout", "LLVM IR, which XLA's compiler makes of HLO, not HLO"},
    {"xla_", "XLA's options (debug_options), not a module"},
    {"\xfd"
     "7zXZ",
     "packed by xz: unpack it first; kashi reads gzip"},
    {"(\xb5/\xfd", "packed by zstd: unpack it first; kashi reads gzip"},
    {"BZh", "packed by bzip2: unpack it first; kashi reads gzip"},
    {"\x80\x04", "a Python pickle, not a program"},
    {"\x89HDF", "an HDF5 file, not a program"},
    {"<!DOCTYPE", "a web page, not a program"},
    {"<html", "a web page, not a program"},
    {"<?xml", "an XML file, not a program"},
    {"#!", "a script, not HLO"},
    {"import ", "a Python program, not HLO"},
    {"from ", "a Python program, not HLO"},
};

// A heading of Markdown, or a block of code.
bool LooksLikeMarkdown(absl::string_view text) {
  absl::string_view heading = text;
  absl::ConsumePrefix(&heading, "#");
  while (absl::ConsumePrefix(&heading, "#")) continue;
  const bool has_heading = heading.size() < text.size() && absl::StartsWith(heading, " ");
  // StableHLO text may begin with `#name = …`, which has no space.
  return has_heading || absl::StartsWith(text, "```") || absl::StrContains(text, "\n```");
}

// The code of a GPU, as XLA dumps it.
bool LooksLikePtx(absl::string_view text) {
  text = base::AfterLineComments(text);
  return BeginsWithWord(text, ".version");
}

// Text has none of these bytes.
bool IsBinary(absl::string_view bytes) {
  constexpr size_t kEnough = 4096;
  const absl::string_view beginning = bytes.substr(0, kEnough);
  return std::any_of(beginning.begin(), beginning.end(),
                     [](char c) { return static_cast<unsigned char>(c) < ' ' && !absl::ascii_isspace(c); });
}

// "" for an unknown kind of text.
std::string KindOf(absl::string_view bytes) {
  const absl::string_view text = absl::StripLeadingAsciiWhitespace(bytes);
  for (const Signature& signature : kSignatures) {
    if (absl::StartsWith(text, signature.beginning)) return signature.kind;
  }
  if (LooksLikePtx(text)) return "PTX, the code of a GPU that XLA's compiler makes of HLO, not HLO";
  if (IsBinary(bytes)) return "";
  return LooksLikeMarkdown(text) ? "a Markdown document, not a program" : "";
}

}  // namespace

bool IsEmptyInput(absl::string_view bytes) { return absl::StripLeadingAsciiWhitespace(bytes).empty(); }

std::string DescribeOtherKind(absl::string_view bytes) {
  if (LooksLikeMemoryReport(bytes)) {
    return "this is XLA's report about the memory of a module, not a module: give the module file beside it, whose "
           "name lacks `-buffer-assignment` or the like; `kashi memory` then reads this report too";
  }
  if (LooksLikeProfile(bytes)) {
    return absl::StrCat("this is a profile (xplane), not a program: ", kDumpRemedy);
  }
  if (LooksLikeTensorFlow(bytes)) {
    return absl::StrCat(
        "this is a TensorFlow graph, not HLO: for f = tf.function(jit_compile=True), "
        "f.experimental_get_compiler_ir(x)(stage='hlo') gives HLO; or ",
        kDumpRemedy);
  }
  const std::string kind = KindOf(bytes);
  return kind.empty() ? "" : absl::StrCat("this is ", kind);
}

}  // namespace kashi::hlo
