#include "kashi/proto/hlo_proto_io.h"

#include <string>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/proto/utf8_strings.h"

namespace kashi::proto {
namespace {

using ::testing::HasSubstr;

constexpr char kText[] = "HloModule m\n\nENTRY main {\n  ROOT p = f32[2]{0} parameter(0)\n}\n";

std::unique_ptr<HloModule> Module(absl::string_view text = kText) {
  return ParseAndReturnUnverifiedModule(text).value();
}

std::string Read(absl::string_view bytes, HloProtoFile* file = nullptr) {
  const absl::StatusOr<std::unique_ptr<HloModule>> module = ReadHloProto(bytes, file);
  return module.ok() ? (*module)->ToString() : module.status().ToString();
}

TEST(HloProtoIoTest, EveryKindComesBackInBothFormats) {
  const auto module = Module();
  for (const HloProtoKind kind :
       {HloProtoKind::kModule, HloProtoKind::kHlo, HloProtoKind::kSnapshot, HloProtoKind::kUnoptimizedSnapshot}) {
    for (const bool text_format : {false, true}) {
      for (const bool with_more : {false, true}) {
        SCOPED_TRACE(testing::Message() << static_cast<int>(kind) << text_format << with_more);
        HloProtoFile file;
        file.kind = kind;
        file.text_format = text_format;
        // Only its contents beside the module distinguish an unoptimized snapshot from an HloProto.
        if (with_more || kind == HloProtoKind::kUnoptimizedSnapshot) {
          file.snapshot.mutable_hlo()->mutable_buffer_assignment()->add_logical_buffers()->set_size(5);
          if (kind == HloProtoKind::kSnapshot) file.snapshot.set_execution_platform("cpu");
          file.unoptimized_snapshot.add_partitions();
          file.unoptimized_snapshot.set_version(3);
        }
        std::string bytes;
        ASSERT_TRUE(WriteHloProto(*module, file, &bytes).ok());
        HloProtoFile read;
        EXPECT_EQ(Read(bytes, &read), module->ToString());
        EXPECT_EQ(read.kind, kind);
        EXPECT_EQ(read.text_format, text_format);
        std::string again;
        ASSERT_TRUE(WriteHloProto(*ReadHloProto(bytes, &read).value(), read, &again).ok());
        EXPECT_EQ(again, bytes);
      }
    }
  }
}

TEST(HloProtoIoTest, NamesThatLookLikeSomethingElse) {
  // With the length of the name as a second byte these begin like a comment and like a field of the text format.
  for (const std::string& name : {std::string(35, 'x'), "ame" + std::string(107, 'x'), std::string("computations"),
                                  std::string(32, 'n'), std::string("m")}) {
    const auto module = Module();
    module->set_name(name);
    std::string bytes;
    ASSERT_TRUE(WriteHloProto(*module, HloProtoKind::kModule, /*text_format=*/false, &bytes).ok());
    HloProtoFile file;
    EXPECT_EQ(Read(bytes, &file), module->ToString());
    EXPECT_EQ(file.kind, HloProtoKind::kModule);
    EXPECT_FALSE(file.text_format);
  }
}

TEST(HloProtoIoTest, TextFormatMayBeginWithComments) {
  std::string bytes;
  ASSERT_TRUE(WriteHloProto(*Module(), HloProtoKind::kHlo, /*text_format=*/true, &bytes).ok());
  EXPECT_EQ(Read("# a comment\n\n  # another\n" + bytes), Module()->ToString());
}

TEST(HloProtoIoTest, RefusesWhatIsNone) {
  EXPECT_THAT(Read(""), HasSubstr("the file is empty"));
  EXPECT_THAT(Read(kText), HasSubstr("INVALID_ARGUMENT: the bytes are not a valid HloModuleProto"));
  EXPECT_THAT(Read("name: \"m\"\nnope: 3\n"), HasSubstr("HloModuleProto: 2:5: error: Message type"));
  EXPECT_THAT(Read("\xff\xff\xff"), HasSubstr("not a valid HloModuleProto"));
  EXPECT_THAT(Read("hlo_module { name: 3 }"), HasSubstr("HloProto: 1:20: error: Expected string"));
  EXPECT_THAT(Read("hlo_module { name: \"m\" }"), HasSubstr("No program shape"));
  std::string bytes;
  ASSERT_TRUE(WriteHloProto(*Module(), HloProtoKind::kSnapshot, /*text_format=*/false, &bytes).ok());
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(ReadHloProto(bytes.substr(0, size), nullptr).ok());
}

TEST(HloProtoIoTest, NestingHasALimit) {
  std::string shape = "f32[]";
  for (int i = 0; i < 500; ++i) shape = "(" + shape + ")";
  const auto module = Module("HloModule m\nENTRY main { ROOT p = " + shape + " parameter(0) }");
  for (const bool text_format : {false, true}) {
    std::string bytes;
    ASSERT_TRUE(WriteHloProto(*module, HloProtoKind::kModule, text_format, &bytes).ok());
    EXPECT_EQ(Read(bytes), module->ToString());
  }
  std::string deep = "computations { instructions { shape { ";
  for (int i = 0; i < 3000; ++i) deep += "tuple_shapes { ";
  EXPECT_THAT(Read(deep), HasSubstr("INVALID_ARGUMENT"));
}

TEST(HloProtoIoTest, StringsAreUtf8) {
  const auto module = Module("HloModule m\nENTRY main { ROOT p = f32[] parameter(0), metadata={op_name=\"\\377\"} }");
  std::string bytes;
  EXPECT_THAT(WriteHloProto(*module, HloProtoKind::kModule, false, &bytes).ToString(),
              HasSubstr("not UTF-8 cannot be written: kashi.wire.OpMetadata.op_name"));
  ASSERT_TRUE(WriteHloProto(*Module(), HloProtoKind::kModule, false, &bytes).ok());
  bytes[2] = '\xff';  // the name
  EXPECT_THAT(Read(bytes), HasSubstr("INVALID_ARGUMENT"));

  using proto_internal::IsUtf8;
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_TRUE(IsUtf8("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"));
  for (const char* bad : {"\x80", "\xc0\x80", "\xc3", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "a\xe2\x82"}) {
    EXPECT_FALSE(IsUtf8(bad));
  }
}

}  // namespace
}  // namespace kashi::proto
