#include "kashi/proto/hlo_proto_io.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/stubs/common.h"
#include "google/protobuf/stubs/logging.h"
#include "google/protobuf/text_format.h"
#include "kashi/base/status.h"
#include "kashi/proto/module_settings_proto.h"
#include "kashi/proto/utf8_strings.h"

namespace kashi {
namespace {

using google::protobuf::Message;

// Messages within messages. Protobuf's own limit of 100 stops tuples within tuples early; every level is recursion
// there.
constexpr int kMaxNesting = 1000;

// ---- The kind of the bytes ------------------------------------------------------------------------------------------

bool HasControlByte(absl::string_view text, absl::string_view allowed) {
  return std::any_of(text.begin(), text.end(), [allowed](char c) {
    return static_cast<unsigned char>(c) < 0x20 && allowed.find(c) == absl::string_view::npos;
  });
}

// The first word after white space and comments; empty if there is none, or if it is not followed by `:`, `{` or `<`.
absl::string_view FirstFieldName(absl::string_view text) {
  while (true) {
    text = absl::StripLeadingAsciiWhitespace(text);
    if (text.empty() || text[0] != '#') break;
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
  size_t end = 0;
  while (end < text.size() && (absl::ascii_isalnum(text[end]) || text[end] == '_')) ++end;
  const absl::string_view rest = absl::StripLeadingAsciiWhitespace(text.substr(end));
  const bool is_field = !rest.empty() && (rest[0] == ':' || rest[0] == '{' || rest[0] == '<');
  return is_field ? text.substr(0, end) : absl::string_view();
}

bool HasField(const Message& message, absl::string_view name) {
  return message.GetDescriptor()->FindFieldByName(std::string(name)) != nullptr;
}

std::optional<HloProtoKind> KindOfText(absl::string_view text) {
  const absl::string_view name = FirstFieldName(text);
  if (name.empty() || HasControlByte(text, "\t\n\v\f\r")) return std::nullopt;
  if (HasField(HloProto::default_instance(), name)) return HloProtoKind::kHlo;
  if (HasField(HloSnapshot::default_instance(), name)) return HloProtoKind::kSnapshot;
  if (HasField(HloUnoptimizedSnapshot::default_instance(), name)) return HloProtoKind::kUnoptimizedSnapshot;
  if (HasField(HloModuleProto::default_instance(), name)) return HloProtoKind::kModule;
  return std::nullopt;
}

// Facts about a message that are known without reading it.
struct Outline {
  absl::string_view field1;  // the first one, if it is bytes
  bool has_field2 = false;
  bool field3_is_number = false;
};

Outline OutlineOf(absl::string_view bytes) {
  constexpr int kNumber = 0, kBytes = 2;  // wire types
  Outline outline;
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  while (const uint32_t tag = stream.ReadTag()) {
    const int field = static_cast<int>(tag >> 3), type = static_cast<int>(tag & 7);
    outline.has_field2 |= field == 2;
    outline.field3_is_number |= field == 3 && type == kNumber;
    uint64_t number = 0;
    uint32_t size = 0;
    if (type == kNumber) {
      if (!stream.ReadVarint64(&number)) break;
    } else if (type == kBytes) {
      if (!stream.ReadVarint32(&size)) break;
      const size_t begin = static_cast<size_t>(stream.CurrentPosition());
      if (size > bytes.size() - begin || !stream.Skip(static_cast<int>(size))) break;
      if (field == 1 && outline.field1.data() == nullptr) outline.field1 = bytes.substr(begin, size);
    } else if (type == 1 || type == 5) {
      if (!stream.Skip(type == 1 ? 8 : 4)) break;
    } else {
      break;
    }
  }
  return outline;
}

// A name has no such bytes, a message that holds computations always.
bool IsMessage(absl::string_view field) { return HasControlByte(field, ""); }

HloProtoKind KindOfBytes(absl::string_view bytes) {
  const Outline outline = OutlineOf(bytes);
  if (!IsMessage(outline.field1)) return HloProtoKind::kModule;
  if (IsMessage(OutlineOf(outline.field1).field1)) return HloProtoKind::kSnapshot;
  return outline.has_field2 || outline.field3_is_number ? HloProtoKind::kUnoptimizedSnapshot : HloProtoKind::kHlo;
}

// ---- Reading a message ----------------------------------------------------------------------------------------------

class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column, const std::string& message) override {
    if (text_.empty()) text_ = absl::StrCat(line + 1, ":", column + 1, ": error: ", message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

absl::Status ParseText(absl::string_view text, Message* message) {
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.SetRecursionLimit(kMaxNesting);
  google::protobuf::io::ArrayInputStream input(text.data(), static_cast<int>(text.size()));
  if (parser.Parse(&input, message)) return absl::OkStatus();
  return InvalidArgument("%s: %s", message->GetDescriptor()->name(), error.text());
}

absl::Status ParseBytes(absl::string_view bytes, Message* message) {
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  stream.SetRecursionLimit(kMaxNesting);
  if (message->ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage()) return absl::OkStatus();
  return InvalidArgument("the bytes are not a valid %s", message->GetDescriptor()->name());
}

// Protobuf writes errors about its input to standard error; here they are silenced.
absl::Status Parse(absl::string_view bytes, bool text_format, Message* message) {
  const google::protobuf::LogSilencer silencer;
  return text_format ? ParseText(bytes, message) : ParseBytes(bytes, message);
}

absl::StatusOr<std::unique_ptr<HloModule>> MakeModule(const HloModuleProto& proto, const ModuleSettings& settings,
                                                      bool prohibit_empty_literal) {
  KASHI_ASSIGN_OR_RETURN(HloModuleConfig config, HloModule::CreateModuleConfigFromProto(proto));
  proto::proto_internal::ApplySettings(settings, &config);
  return HloModule::CreateFromProto(proto, config, prohibit_empty_literal);
}

// The proto that a file has for the module; in text format the settings stand in front of the whole file.
HloModuleProto ModuleProtoOf(const HloModule& module, bool text_format) {
  HloModuleProto proto = module.ToProto();
  if (!text_format) proto::proto_internal::AddSettings(module.config(), &proto);
  return proto;
}

// ---- Writing a message ----------------------------------------------------------------------------------------------

void AppendBytes(const Message& message, std::string* bytes) {
  google::protobuf::io::StringOutputStream output(bytes);
  google::protobuf::io::CodedOutputStream stream(&output);
  stream.SetSerializationDeterministic(true);
  message.SerializePartialToCodedStream(&stream);
}

absl::Status Write(const Message& message, bool text_format, std::string* bytes) {
  const google::protobuf::LogSilencer silencer;
  bytes->clear();
  if (message.ByteSizeLong() > std::numeric_limits<int>::max()) {
    return ResourceExhausted("a %s of 2 GiB or more cannot be written", message.GetDescriptor()->name());
  }
  if (const auto* field = proto::proto_internal::FindStringThatIsNotUtf8(message)) {
    return InvalidArgument("a string that is not UTF-8 cannot be written: %s", field->full_name());
  }
  if (text_format) {
    google::protobuf::TextFormat::PrintToString(message, bytes);
  } else {
    AppendBytes(message, bytes);
  }
  return absl::OkStatus();
}

}  // namespace

HloProtoKind GuessHloProtoKind(absl::string_view bytes, bool* text_format) {
  const std::optional<HloProtoKind> kind = KindOfText(bytes);
  *text_format = kind.has_value();
  return kind.has_value() ? *kind : KindOfBytes(bytes);
}

absl::StatusOr<std::unique_ptr<HloModule>> ReadHloProto(absl::string_view bytes, HloProtoFile* file,
                                                        bool prohibit_empty_literal) {
  if (bytes.empty()) return InvalidArgument("the file is empty");
  if (bytes.size() > std::numeric_limits<int>::max()) return ResourceExhausted("a proto must be smaller than 2 GiB");
  HloProtoFile own_file;
  if (file == nullptr) file = &own_file;
  *file = HloProtoFile();
  file->kind = GuessHloProtoKind(bytes, &file->text_format);

  HloModuleProto proto;
  if (file->kind == HloProtoKind::kModule) {
    KASHI_RETURN_IF_ERROR(Parse(bytes, file->text_format, &proto));
  } else if (file->kind == HloProtoKind::kSnapshot) {
    KASHI_RETURN_IF_ERROR(Parse(bytes, file->text_format, &file->snapshot));
  } else if (file->kind == HloProtoKind::kHlo) {
    const absl::Status status = Parse(bytes, file->text_format, file->snapshot.mutable_hlo());
    if (!status.ok()) {
      file->snapshot.Clear();
      file->kind = HloProtoKind::kUnoptimizedSnapshot;
      if (!Parse(bytes, file->text_format, &file->unoptimized_snapshot).ok()) return status;
    }
  } else {
    KASHI_RETURN_IF_ERROR(Parse(bytes, file->text_format, &file->unoptimized_snapshot));
  }
  if (file->unoptimized_snapshot.has_hlo_module()) {
    proto = std::move(*file->unoptimized_snapshot.mutable_hlo_module());
    file->unoptimized_snapshot.clear_hlo_module();
  } else if (file->snapshot.hlo().has_hlo_module()) {
    proto = std::move(*file->snapshot.mutable_hlo()->mutable_hlo_module());
    file->snapshot.mutable_hlo()->clear_hlo_module();
  }
  const ModuleSettings settings =
      file->text_format ? proto::proto_internal::SettingsInComment(bytes) : proto::proto_internal::SettingsIn(proto);
  return MakeModule(proto, settings, prohibit_empty_literal);
}

namespace {
absl::Status WriteMessage(const HloModule& module, const HloProtoFile& file, std::string* bytes) {
  switch (file.kind) {
    case HloProtoKind::kModule:
      return Write(ModuleProtoOf(module, file.text_format), file.text_format, bytes);
    case HloProtoKind::kHlo: {
      HloProto hlo = file.snapshot.hlo();
      *hlo.mutable_hlo_module() = ModuleProtoOf(module, file.text_format);
      return Write(hlo, file.text_format, bytes);
    }
    case HloProtoKind::kSnapshot: {
      HloSnapshot snapshot = file.snapshot;
      *snapshot.mutable_hlo()->mutable_hlo_module() = ModuleProtoOf(module, file.text_format);
      return Write(snapshot, file.text_format, bytes);
    }
    case HloProtoKind::kUnoptimizedSnapshot: {
      HloUnoptimizedSnapshot snapshot = file.unoptimized_snapshot;
      *snapshot.mutable_hlo_module() = ModuleProtoOf(module, file.text_format);
      return Write(snapshot, file.text_format, bytes);
    }
  }
  return InvalidArgument("unknown kind of file");
}
}  // namespace

absl::Status WriteHloProto(const HloModule& module, const HloProtoFile& file, std::string* bytes) {
  KASHI_RETURN_IF_ERROR(WriteMessage(module, file, bytes));
  if (file.text_format) bytes->insert(0, proto::proto_internal::SettingsComment(module.config()));
  return absl::OkStatus();
}

absl::Status WriteHloProto(const HloModule& module, HloProtoKind kind, bool text_format, std::string* bytes) {
  HloProtoFile file;
  file.kind = kind;
  file.text_format = text_format;
  return WriteHloProto(module, file, bytes);
}

}  // namespace kashi
