// A small HTTP/1.1 server for one user's own browser: GET and HEAD, one answer per connection, on 127.0.0.1 only.
//
// What it is careful of: other machines cannot reach the address. Other users and programs of this machine do not know
// the token in the path. Pages of other sites in the same browser do not know it either, and a name of theirs that
// leads to 127.0.0.1 is not in the Host header that is asked for. A client that sends nothing, too much or nonsense
// loses its connection, and nothing else happens.
#ifndef KASHI_CLI_HTTP_SERVER_H_
#define KASHI_CLI_HTTP_SERVER_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kashi::cli {

struct HttpAnswer {
  int status = 200;
  std::string type = "text/html; charset=utf-8";
  std::string body;
};

class HttpServer {
 public:
  // Listens on 127.0.0.1. `port` 0: a free one. UNAVAILABLE if the port is taken.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Listen(int64_t port);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // "http://127.0.0.1:8123/0f3a…/": the token has 128 random bits.
  std::string url() const;

  // Serves until `stop` is set. `answer` gets the path below the token, "" or "module/m3". An error only if nothing can
  // be served any more.
  absl::Status Run(const std::atomic<bool>& stop, absl::FunctionRef<HttpAnswer(absl::string_view path)> answer);

 private:
  using Clock = std::chrono::steady_clock;
  struct Connection {
    int socket = -1;
    Clock::time_point deadline;
    std::string request;   // as far as it has come
    std::string response;  // empty: the request is not complete
    size_t sent = 0;
  };

  HttpServer(int socket, int port, std::string token) : socket_(socket), port_(port), token_(std::move(token)) {}
  void Accept();
  // False if the connection is over.
  bool Read(Connection* connection, absl::FunctionRef<HttpAnswer(absl::string_view path)> answer);
  bool Write(Connection* connection) const;
  // The answer to a whole head of a request.
  HttpAnswer AnswerTo(absl::string_view head, absl::FunctionRef<HttpAnswer(absl::string_view path)> answer) const;
  bool IsOurHost(absl::string_view host) const;
  void CloseLate();

  int socket_;
  int port_;
  std::string token_;
  std::list<Connection> connections_;  // the oldest first
};

}  // namespace kashi::cli

#endif  // KASHI_CLI_HTTP_SERVER_H_
