// RankMail: short messages between ranks, outside of programs. Only one thread of a process at a time may use it.
#ifndef KASHI_MPI_RANK_MAIL_H_
#define KASHI_MPI_RANK_MAIL_H_

#include <mpi.h>

#include <list>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/mpi/mpi_world.h"

namespace kashi::mpi {

class RankMail {
 public:
  explicit RankMail(MpiWorld* world) : world_(*world) {}

  struct Message {
    int from;
    std::string text;
  };
  // Returns at once.
  absl::Status Send(int to, std::string text);
  // The next message, if one has come.
  absl::StatusOr<std::optional<Message>> Receive();

 private:
  struct Sent {
    std::string text;
    MPI_Request request;
  };
  MpiWorld& world_;
  std::list<Sent> sent_;  // that MPI may still read
};

// Writes integers and texts into one text.
class MessageWriter {
 public:
  MessageWriter& Add(int64_t number);
  MessageWriter& Add(const std::string& text);
  std::string Finish() { return std::move(text_); }

 private:
  std::string text_;
};
// Reads the output of the writer; zeros and empty texts after its end.
class MessageReader {
 public:
  explicit MessageReader(const std::string& text) : text_(text) {}
  int64_t ReadNumber();
  std::string ReadText();
  bool is_at_end() const { return at_ >= text_.size(); }

 private:
  const std::string& text_;
  size_t at_ = 0;
};

// Adds an error with its code and its limit.
void AddStatus(const absl::Status& status, MessageWriter* writer);
absl::Status ReadStatus(MessageReader* reader);

}  // namespace kashi::mpi

#endif  // KASHI_MPI_RANK_MAIL_H_
