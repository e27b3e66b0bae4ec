// Files of protos: HloModuleProto, HloProto, HloSnapshot or HloUnoptimizedSnapshot, as bytes or in protobuf's text
// format.
//
//   HloProtoFile file;
//   KASHI_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module, ReadHloProto(bytes, &file));
//   …
//   KASHI_RETURN_IF_ERROR(WriteHloProto(*module, file, &bytes));   // the same kind, with the
//                                                                  // other contents of the file
//
// Such a file does not name its kind. The contents decide:
//
//   text format   no byte below 0x20 but white space, and the first word is a field of one of the four kinds:
//                 `hlo` …: snapshot; `hlo_module` …: HloProto, or unoptimized snapshot if only that can be read
//   bytes         field 1 is a name in an HloModuleProto and a message in the others; a serialized module always has a
//                 byte below 0x20 (the tag of its computations), a name never. Field 1 of that message identifies an
//                 HloSnapshot in the same way. An HloUnoptimizedSnapshot has a field 2 or a number for field 3.
#ifndef KASHI_PROTO_HLO_PROTO_IO_H_
#define KASHI_PROTO_HLO_PROTO_IO_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/proto/hlo.pb.h"

namespace kashi {

enum class HloProtoKind { kModule, kHlo, kSnapshot, kUnoptimizedSnapshot };

// The kind of a file, and its contents besides the module.
struct HloProtoFile {
  HloProtoKind kind = HloProtoKind::kModule;
  bool text_format = false;
  HloSnapshot snapshot;                         // of kSnapshot; of kHlo `snapshot.hlo`; without the module
  HloUnoptimizedSnapshot unoptimized_snapshot;  // without the module
};

// The kind by the rules above; kModule for all other bytes. O(size) for text, else O(number of computations).
HloProtoKind GuessHloProtoKind(absl::string_view bytes, bool* text_format);

// INVALID_ARGUMENT: not one of the four, nested deeper than 1000 messages, strings that are not UTF-8; otherwise the
// errors of HloModule::CreateFromProto. Of text format the message gives line and column. `file` may be null.
absl::StatusOr<std::unique_ptr<HloModule>> ReadHloProto(absl::string_view bytes, HloProtoFile* file,
                                                        bool prohibit_empty_literal = true);

// Equal modules give equal bytes. Strings are written as they are: one that is not UTF-8 (text may have
// `op_name="\377"`) is refused here, because the file could not be read.
absl::Status WriteHloProto(const HloModule& module, const HloProtoFile& file, std::string* bytes);
absl::Status WriteHloProto(const HloModule& module, HloProtoKind kind, bool text_format, std::string* bytes);

}  // namespace kashi

#endif  // KASHI_PROTO_HLO_PROTO_IO_H_
