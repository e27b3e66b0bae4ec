#include "kashi/mpi/rank_mail.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "kashi/base/work_meter.h"

namespace kashi::mpi {
namespace {

constexpr int kMailTag = 1;

}  // namespace

absl::Status RankMail::Send(int to, std::string text) {
  const std::lock_guard<std::mutex> lock(world_.mutex());
  for (auto it = sent_.begin(); it != sent_.end();) {
    int done = 0;
    KASHI_RETURN_IF_MPI_ERROR(MPI_Test, &it->request, &done, MPI_STATUS_IGNORE);
    it = done != 0 ? sent_.erase(it) : std::next(it);
  }
  Sent& sent = sent_.emplace_back(Sent{std::move(text), MPI_REQUEST_NULL});
  return MpiStatus(MPI_Isend(sent.text.data(), static_cast<int>(sent.text.size()), MPI_CHAR, to, kMailTag,
                             world_.control(), &sent.request),
                   "MPI_Isend");
}

absl::StatusOr<std::optional<RankMail::Message>> RankMail::Receive() {
  const std::lock_guard<std::mutex> lock(world_.mutex());
  int has_come = 0, size = 0;
  MPI_Status status;
  KASHI_RETURN_IF_MPI_ERROR(MPI_Iprobe, MPI_ANY_SOURCE, kMailTag, world_.control(), &has_come, &status);
  if (has_come == 0) return std::optional<Message>();
  KASHI_RETURN_IF_MPI_ERROR(MPI_Get_count, &status, MPI_CHAR, &size);
  Message message{status.MPI_SOURCE, std::string(static_cast<size_t>(size), '\0')};
  KASHI_RETURN_IF_MPI_ERROR(MPI_Recv, message.text.data(), size, MPI_CHAR, message.from, kMailTag, world_.control(),
                            MPI_STATUS_IGNORE);
  return std::optional<Message>(std::move(message));
}

MessageWriter& MessageWriter::Add(int64_t number) {
  char bytes[sizeof(number)];
  std::memcpy(bytes, &number, sizeof(number));
  text_.append(bytes, sizeof(number));
  return *this;
}

MessageWriter& MessageWriter::Add(const std::string& text) {
  Add(static_cast<int64_t>(text.size()));
  text_ += text;
  return *this;
}

int64_t MessageReader::ReadNumber() {
  int64_t number = 0;
  if (text_.size() - at_ < sizeof(number)) {
    at_ = text_.size();
    return 0;
  }
  std::memcpy(&number, text_.data() + at_, sizeof(number));
  at_ += sizeof(number);
  return number;
}

std::string MessageReader::ReadText() {
  const auto size = static_cast<size_t>(std::max<int64_t>(0, ReadNumber()));
  std::string text = text_.substr(at_, size);
  at_ += text.size();
  return text;
}

void AddStatus(const absl::Status& status, MessageWriter* writer) {
  writer->Add(static_cast<int64_t>(status.code())).Add(static_cast<int64_t>(LimitKindOf(status)));
  writer->Add(std::string(status.message()));
}

absl::Status ReadStatus(MessageReader* reader) {
  const auto code = static_cast<absl::StatusCode>(reader->ReadNumber());
  const auto kind = static_cast<LimitKind>(reader->ReadNumber());
  const absl::Status status(code, reader->ReadText());
  return status.ok() || kind == LimitKind::kNone ? status : WithLimitKind(status, kind);
}

}  // namespace kashi::mpi
