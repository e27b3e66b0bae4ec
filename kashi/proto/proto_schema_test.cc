// The messages against the tables of docs/spec/hlo.md, section 3, which are copied to tests/data/hlo_proto_schema.txt:
//
//   Name { rep type field=number; … }     messages; those within others are indented below them
//   enum Name { A=0, B=1 }
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"
#include "kashi/hlo/attributes/xla_data.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/proto/hlo.pb.h"

namespace kashi::proto {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;

// "HloModuleProto.ProfileInfo" of kashi.HloModuleProto.ProfileInfo; kashi.wire.Window is "Window".
std::string TableName(const std::string& full_name) {
  if (full_name == "google.protobuf.Any") return "google.Any";
  absl::string_view name = full_name;
  EXPECT_TRUE(absl::ConsumePrefix(&name, "kashi.")) << full_name;
  absl::ConsumePrefix(&name, "wire.");
  return std::string(name);
}

std::string TypeText(const FieldDescriptor& field) {
  if (field.is_map()) {
    return absl::StrCat("map<", TypeText(*field.message_type()->map_key()), ",",
                        TypeText(*field.message_type()->map_value()), ">");
  }
  if (field.message_type() != nullptr) return TableName(field.message_type()->full_name());
  if (field.enum_type() != nullptr) return TableName(field.enum_type()->full_name());
  return field.type_name();
}

std::string FieldText(const FieldDescriptor& field) {
  std::string text = absl::StrCat(TypeText(field), " ", field.name(), "=", field.number());
  if (field.has_optional_keyword()) return absl::StrCat("opt ", text);
  if (const auto* oneof = field.real_containing_oneof()) return absl::StrCat(text, " (oneof ", oneof->name(), ")");
  return field.is_repeated() && !field.is_map() ? absl::StrCat("rep ", text) : text;
}

std::string MessageText(const Descriptor& message) {
  std::set<std::string> parts;
  for (int i = 0; i < message.field_count(); ++i) parts.insert(FieldText(*message.field(i)));
  for (int i = 0; i < message.reserved_range_count(); ++i) {
    for (int number = message.reserved_range(i)->start; number < message.reserved_range(i)->end; ++number) {
      parts.insert(absl::StrCat("reserved ", number));
    }
  }
  return absl::StrJoin(parts, "; ");
}

std::string EnumText(const EnumDescriptor& type) {
  std::set<std::string> parts;
  for (int i = 0; i < type.value_count(); ++i) {
    parts.insert(absl::StrCat(type.value(i)->name(), "=", type.value(i)->number()));
  }
  return absl::StrJoin(parts, "; ");
}

// The parts of a row, in the order of the alphabet.
std::string RowText(absl::string_view body, bool is_enum) {
  std::set<std::string> parts;
  for (absl::string_view part : absl::StrSplit(body, is_enum ? ", " : ";", absl::SkipWhitespace())) {
    part = absl::StripAsciiWhitespace(part);
    if (!absl::ConsumePrefix(&part, "reserved ")) {
      parts.insert(std::string(part));
      continue;
    }
    for (const absl::string_view number : absl::StrSplit(part, ',')) parts.insert(absl::StrCat("reserved ", number));
  }
  return absl::StrJoin(parts, "; ");
}

struct Row {
  std::string name;  // with the messages around it
  bool is_enum;
  std::string text;
};

std::vector<Row> ReadRows() {
  std::ifstream file(KASHI_TEST_DATA "/hlo_proto_schema.txt");
  std::vector<Row> rows;
  std::vector<std::string> path;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t depth = line.find_first_not_of(' ') / 2;
    absl::string_view rest = absl::StripAsciiWhitespace(line);
    const bool is_enum = absl::ConsumePrefix(&rest, "enum ");
    const size_t brace = rest.find(" {");
    path.resize(depth);
    path.emplace_back(rest.substr(0, brace));
    rest.remove_prefix(brace + 2);
    absl::ConsumeSuffix(&rest, "}");
    rows.push_back({absl::StrJoin(path, "."), is_enum, RowText(rest, is_enum)});
  }
  return rows;
}

// Left over from sparse layouts: numbers that XLA has and that are reserved here.
std::string WithoutSparseLayouts(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"rep DimLevelType dim_level_types=9", "reserved 9"},
                                    {"rep bool dim_unique=13", "reserved 13"},
                                    {"rep bool dim_ordered=14", "reserved 14"}});
}

TEST(ProtoSchema, IsThatOfTheTables) {
  google::protobuf::LinkMessageReflection<HloModuleProto>();
  const auto& pool = *google::protobuf::DescriptorPool::generated_pool();
  const std::vector<Row> rows = ReadRows();
  ASSERT_GT(rows.size(), 110);
  for (const Row& row : rows) {
    if (row.is_enum) {
      const EnumDescriptor* type = pool.FindEnumTypeByName("kashi." + row.name);
      if (type == nullptr) type = pool.FindEnumTypeByName("kashi.wire." + row.name);
      ASSERT_NE(type, nullptr) << row.name;
      EXPECT_EQ(EnumText(*type), row.text) << row.name;
    } else {
      const Descriptor* message = pool.FindMessageTypeByName("kashi." + row.name);
      if (message == nullptr) message = pool.FindMessageTypeByName("kashi.wire." + row.name);
      ASSERT_NE(message, nullptr) << row.name;
      const std::string expected = row.name == "LayoutProto" ? WithoutSparseLayouts(row.text) : row.text;
      EXPECT_EQ(RowText(MessageText(*message), false), RowText(expected, false)) << row.name;
    }
  }
}

TEST(ProtoSchema, EnumsOfRecordsHaveTheSameNumbers) {
#define EXPECT_SAME(value) EXPECT_EQ(static_cast<int>(value), static_cast<int>(wire::value))
  EXPECT_SAME(IRFFT);
  EXPECT_SAME(RNG_NORMAL);
  EXPECT_SAME(RNG_PHILOX);
  EXPECT_SAME(PADDING_SAME);
  EXPECT_SAME(SCHEDULE_EARLIEST);
  EXPECT_SAME(API_VERSION_TYPED_FFI);
  EXPECT_SAME(TRI_STATE_FALSE);
  EXPECT_SAME(CONVOLUTION_KIND_WGRAD);
  EXPECT_SAME(TriangularSolveOptions::ADJOINT);
  EXPECT_SAME(ResultAccuracy::HIGHEST);
  EXPECT_SAME(PrecisionConfig::HIGHEST);
  EXPECT_SAME(PrecisionConfig::ALG_DOT_BF16_BF16_F32_X9);
  EXPECT_SAME(INTEGER);
  EXPECT_SAME(PROFILE_SOURCE_REMOTE);
  EXPECT_SAME(COMPILATION_EVENT_RECOMPILATION);
  EXPECT_SAME(PROFILE_GENERATION_STRATEGY_LCM_MOE);
  EXPECT_SAME(OpSharding::UNREDUCED);
  EXPECT_SAME(OpSharding::LIKE);
  EXPECT_EQ(static_cast<int>(HloInputOutputAliasConfig::kMustAlias), static_cast<int>(wire::MUST_ALIAS));
#undef EXPECT_SAME
}

}  // namespace
}  // namespace kashi::proto
