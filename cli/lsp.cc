// `kashi lsp`: a language server over standard input and output.
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "cli/lsp_server.h"
#include "cli/verb.h"
#include "kashi/base/status.h"
#include "nlohmann/json.hpp"

namespace kashi::cli {
namespace {

// A message has a header, `Content-Length: 123`, an empty line, and JSON of that many bytes.
class MessageReader {
 public:
  // Whether more bytes are here already.
  bool HasMore() const {
    if (!buffer_.empty()) return true;
    pollfd input{STDIN_FILENO, POLLIN, 0};
    return poll(&input, 1, 0) > 0;
  }

  // nullopt at the end of the input. INVALID_ARGUMENT if the header is none.
  absl::StatusOr<std::optional<std::string>> Next() {
    std::optional<size_t> length;
    while (true) {
      const std::optional<std::string> line = ReadLine();
      if (!line.has_value()) return std::optional<std::string>();
      if (line->empty()) break;
      if (line->size() > kLongestHeader) return absl::InvalidArgumentError("a line of the header is too long");
      absl::string_view value = *line;
      if (!absl::StartsWithIgnoreCase(value, "Content-Length:")) continue;
      value.remove_prefix(value.find(':') + 1);
      size_t number = 0;
      if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(value), &number) || number > kLongestMessage) {
        return absl::InvalidArgumentError(absl::StrCat("bad header `", *line, "`"));
      }
      length = number;
    }
    if (!length.has_value()) return absl::InvalidArgumentError("a header without Content-Length");
    while (buffer_.size() < *length) {
      if (!ReadMore()) return std::optional<std::string>();
    }
    std::string message = buffer_.substr(0, *length);
    buffer_.erase(0, *length);
    return std::optional<std::string>(std::move(message));
  }

 private:
  static constexpr size_t kLongestHeader = 4096;
  static constexpr size_t kLongestMessage = size_t{1} << 30;

  // Without its end. A line longer than a header is returned as far as it is read.
  std::optional<std::string> ReadLine() {
    size_t end = buffer_.find('\n');
    while (end == std::string::npos && buffer_.size() <= kLongestHeader) {
      const size_t old = buffer_.size();
      if (!ReadMore()) return std::nullopt;
      end = buffer_.find('\n', old);
    }
    if (end == std::string::npos) return buffer_;
    std::string line(absl::StripSuffix(absl::string_view(buffer_).substr(0, end), "\r"));
    buffer_.erase(0, end + 1);
    return line;
  }
  bool ReadMore() {
    char bytes[1 << 16];
    const ssize_t count = read(STDIN_FILENO, bytes, sizeof(bytes));
    if (count <= 0) return false;
    buffer_.append(bytes, static_cast<size_t>(count));
    return true;
  }

  std::string buffer_;
};

absl::Status Send(const std::vector<Json>& messages) {
  for (const Json& message : messages) {
    const std::string text = message.dump();
    KASHI_RETURN_IF_ERROR(WriteOutput("", absl::StrCat("Content-Length: ", text.size(), "\r\n\r\n", text)));
  }
  return absl::OkStatus();
}

int RunLsp() {
  MessageReader reader;
  LspServer server;
  while (!server.is_over()) {
    const absl::StatusOr<std::optional<std::string>> text = reader.Next();
    if (!text.ok()) return Fail(text.status());
    if (!text->has_value()) break;
    const JsonInput message = JsonInput::parse(**text, nullptr, /*allow_exceptions=*/false);
    if (message.is_discarded()) return Fail(absl::InvalidArgumentError("a message is no JSON"));
    absl::Status status = Send(server.Handle(message));
    // While somebody types, the next letter waits already.
    if (status.ok() && !reader.HasMore()) status = Send(server.Publish());
    if (!status.ok()) return Fail(status);
  }
  return server.is_shut_down() ? kSuccess : kBadInput;
}

}  // namespace

void AddLspVerb(Command* command) {
  VerbHelp help;
  help.group = kProgramVerbs;
  help.summary = "Serve an editor: errors, hover, definitions, outline and renaming of HLO text";
  help.examples = "  kashi lsp      # an editor starts it; see docs/editors.md";
  help.sections.push_back({"",
                           "Speaks the Language Server Protocol 3.17 over standard input and output. It knows each "
                           "open text, also one that "
                           "is not saved, and says what the verifier finds in it.",
                           {}});
  help.failure = "The editor left without `shutdown`, or sent what is no message";
  command->AddVerb("lsp", help, RunLsp);
}

}  // namespace kashi::cli
