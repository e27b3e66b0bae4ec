#include "kashi/mpi/rank_mail.h"

#include "gtest/gtest.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"

namespace kashi::mpi {
namespace {

TEST(RankMailTest, AReaderReadsWhatTheWriterWrote) {
  MessageWriter writer;
  writer.Add(-7).Add(std::string("a\0b", 3)).Add(int64_t{1} << 40);
  AddStatus(WithLimitKind(ResourceExhausted("too much"), LimitKind::kMemory), &writer);
  AddStatus(absl::OkStatus(), &writer);
  const std::string text = writer.Finish();
  MessageReader reader(text);
  EXPECT_EQ(reader.ReadNumber(), -7);
  EXPECT_EQ(reader.ReadText(), std::string("a\0b", 3));
  EXPECT_EQ(reader.ReadNumber(), int64_t{1} << 40);
  const absl::Status status = ReadStatus(&reader);
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_EQ(status.message(), "too much");
  EXPECT_EQ(LimitKindOf(status), LimitKind::kMemory);
  EXPECT_TRUE(ReadStatus(&reader).ok());
  EXPECT_TRUE(reader.is_at_end());
}

TEST(RankMailTest, ATextThatIsCutEndsInZeros) {
  MessageWriter writer;
  writer.Add(5).Add(std::string("hello"));
  const std::string text = writer.Finish();
  for (size_t size = 0; size < text.size(); ++size) {
    const std::string cut = text.substr(0, size);
    MessageReader reader(cut);
    EXPECT_EQ(reader.ReadNumber(), size < 8 ? 0 : 5);
    EXPECT_LE(reader.ReadText().size(), 5U);
    EXPECT_EQ(reader.ReadNumber(), 0);
    EXPECT_TRUE(reader.is_at_end());
  }
}

}  // namespace
}  // namespace kashi::mpi
