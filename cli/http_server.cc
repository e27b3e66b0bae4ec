#include "cli/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kashi/base/status.h"

namespace kashi::cli {
namespace {

constexpr size_t kLongestHead = 16 << 10;
constexpr size_t kMostConnections = 64;
constexpr std::chrono::seconds kLongestRequest(10);     // to send its head
constexpr std::chrono::seconds kLongestSilence(60);     // while it takes an answer
constexpr std::chrono::milliseconds kLongestWait(200);  // until `stop` and deadlines are looked at

absl::string_view ReasonOf(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 431:
      return "Request Header Fields Too Large";
    default:
      return "Internal Server Error";
  }
}

HttpAnswer Refusal(int status, absl::string_view text) {
  return {status, "text/plain; charset=utf-8", absl::StrCat(text, "\n")};
}

std::string ResponseText(const HttpAnswer& answer, bool with_body) {
  return absl::StrCat("HTTP/1.1 ", answer.status, " ", ReasonOf(answer.status), "\r\nContent-Type: ", answer.type,
                      "\r\nContent-Length: ", answer.body.size(),
                      "\r\nConnection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                      "X-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n"
                      "Cross-Origin-Resource-Policy: same-origin\r\n\r\n",
                      with_body ? answer.body : "");
}

// The value of the only header of this name; nullopt if there is none, or several.
std::optional<absl::string_view> OnlyHeader(const std::vector<absl::string_view>& lines, absl::string_view name) {
  std::optional<absl::string_view> found;
  for (size_t i = 1; i < lines.size(); ++i) {
    const size_t colon = lines[i].find(':');
    if (colon == absl::string_view::npos || !absl::EqualsIgnoreCase(lines[i].substr(0, colon), name)) continue;
    if (found.has_value()) return std::nullopt;
    found = absl::StripAsciiWhitespace(lines[i].substr(colon + 1));
  }
  return found;
}

// In the same time for all texts of one length.
bool AreEqual(absl::string_view a, absl::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char differences = 0;
  for (size_t i = 0; i < a.size(); ++i) differences |= static_cast<unsigned char>(a[i] ^ b[i]);
  return differences == 0;
}

absl::StatusOr<std::string> MakeToken() {
  std::array<char, 16> bytes;
  size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t count = getrandom(bytes.data() + filled, bytes.size() - filled, 0);
    if (count < 0 && errno != EINTR) return Unavailable("no random numbers: %s", std::strerror(errno));
    if (count > 0) filled += static_cast<size_t>(count);
  }
  return absl::BytesToHexString(absl::string_view(bytes.data(), bytes.size()));
}

bool IsTemporary(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Listen(int64_t port) {
  KASHI_ASSIGN_OR_RETURN(std::string token, MakeToken());
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0) return Unavailable("cannot open a socket: %s", std::strerror(errno));
  const int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  socklen_t size = sizeof(address);
  const bool listens = bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
                       listen(listener, SOMAXCONN) == 0 &&
                       getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  if (!listens) {
    const int error = errno;
    close(listener);
    return Unavailable("cannot listen on 127.0.0.1:%d: %s", port, std::strerror(error));
  }
  // Its constructor is private.
  return std::unique_ptr<HttpServer>(new HttpServer(listener, ntohs(address.sin_port), std::move(token)));
}

HttpServer::~HttpServer() {
  for (const Connection& connection : connections_) close(connection.socket);
  close(socket_);
}

std::string HttpServer::url() const { return absl::StrCat("http://127.0.0.1:", port_, "/", token_, "/"); }

bool HttpServer::IsOurHost(absl::string_view host) const {
  return host == absl::StrCat("127.0.0.1:", port_) || absl::EqualsIgnoreCase(host, absl::StrCat("localhost:", port_));
}

HttpAnswer HttpServer::AnswerTo(absl::string_view head,
                                absl::FunctionRef<HttpAnswer(absl::string_view path)> answer) const {
  const std::vector<absl::string_view> lines = absl::StrSplit(head, "\r\n");
  const std::vector<absl::string_view> words = absl::StrSplit(lines[0], ' ');
  if (words.size() != 3 || !absl::StartsWith(words[2], "HTTP/1.") || !absl::StartsWith(words[1], "/")) {
    return Refusal(400, "This is no request of HTTP/1.1.");
  }
  const std::optional<absl::string_view> host = OnlyHeader(lines, "Host");
  if (!host.has_value() || !IsOurHost(*host)) return Refusal(403, "The Host header is not the address of this server.");
  absl::string_view path = words[1].substr(1);
  path = path.substr(0, path.find('?'));
  const size_t slash = path.find('/');
  if (slash == absl::string_view::npos || !AreEqual(path.substr(0, slash), token_)) {
    return Refusal(403, "The address lacks the token that kashi serve has printed.");
  }
  if (words[0] != "GET" && words[0] != "HEAD") return Refusal(405, "Only GET and HEAD are answered.");
  return answer(path.substr(slash + 1));
}

void HttpServer::Accept() {
  for (size_t i = 0; i < kMostConnections; ++i) {  // the others wait until these had a turn
    const int accepted = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (accepted < 0) return;  // none waits, or there are too many open files: it is tried again
    if (connections_.size() >= kMostConnections) {
      close(connections_.front().socket);
      connections_.pop_front();
    }
    connections_.push_back({accepted, Clock::now() + kLongestRequest, "", "", 0});
  }
}

bool HttpServer::Read(Connection* connection, absl::FunctionRef<HttpAnswer(absl::string_view path)> answer) {
  std::array<char, 4096> bytes;
  const ssize_t count = recv(connection->socket, bytes.data(), bytes.size(), 0);
  if (count < 0) return IsTemporary(errno);
  if (count == 0) return false;  // it has ended before its request has
  connection->request.append(bytes.data(), static_cast<size_t>(count));
  const size_t end = connection->request.find("\r\n\r\n");
  if (end == std::string::npos && connection->request.size() <= kLongestHead) return true;
  const HttpAnswer made = end == std::string::npos || end > kLongestHead
                              ? Refusal(431, "The head of the request is too long.")
                              : AnswerTo(absl::string_view(connection->request).substr(0, end), answer);
  connection->response = ResponseText(made, !absl::StartsWith(connection->request, "HEAD "));
  connection->deadline = Clock::now() + kLongestSilence;
  return true;
}

bool HttpServer::Write(Connection* connection) const {
  const absl::string_view rest = absl::string_view(connection->response).substr(connection->sent);
  const ssize_t count = send(connection->socket, rest.data(), rest.size(), MSG_NOSIGNAL);
  if (count < 0) return IsTemporary(errno);
  connection->sent += static_cast<size_t>(count);
  connection->deadline = Clock::now() + kLongestSilence;
  if (connection->sent < connection->response.size()) return true;
  // A client that still sends would lose the answer if the connection were closed at once.
  shutdown(connection->socket, SHUT_WR);
  std::array<char, 4096> ignored;
  while (recv(connection->socket, ignored.data(), ignored.size(), MSG_DONTWAIT) > 0) {
  }
  return false;
}

void HttpServer::CloseLate() {
  const Clock::time_point now = Clock::now();
  connections_.remove_if([&](const Connection& connection) {
    if (connection.deadline > now) return false;
    close(connection.socket);
    return true;
  });
}

absl::Status HttpServer::Run(const std::atomic<bool>& stop,
                             absl::FunctionRef<HttpAnswer(absl::string_view path)> answer) {
  while (!stop.load()) {
    std::vector<pollfd> waiting = {{socket_, POLLIN, 0}};
    for (const Connection& each : connections_) {
      waiting.push_back({each.socket, static_cast<short>(each.response.empty() ? POLLIN : POLLOUT), 0});
    }
    const int ready = poll(waiting.data(), waiting.size(), static_cast<int>(kLongestWait.count()));
    if (ready < 0 && !IsTemporary(errno)) return Unavailable("cannot serve: %s", std::strerror(errno));
    size_t i = 1;
    for (auto each = connections_.begin(); ready > 0 && each != connections_.end() && i < waiting.size(); ++i) {
      bool is_open = true;
      if (waiting[i].revents != 0) is_open = each->response.empty() ? Read(&*each, answer) : Write(&*each);
      if (!is_open) close(each->socket);
      each = is_open ? std::next(each) : connections_.erase(each);
    }
    if (ready > 0 && waiting[0].revents != 0) Accept();
    CloseLate();
  }
  return absl::OkStatus();
}

}  // namespace kashi::cli
