// A server of the Language Server Protocol for HLO text, without its transport: a message in, messages out.
//
//   LspServer server;
//   for (const Json& reply : server.Handle(request)) … send it …
//
// https://microsoft.github.io/language-server-protocol, version 3.17. Positions are UTF-16 columns.
#ifndef KASHI_CLI_LSP_SERVER_H_
#define KASHI_CLI_LSP_SERVER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/json.h"
#include "kashi/editor/document.h"
#include "nlohmann/json_fwd.hpp"

namespace kashi::cli {

// A value of a message that came in.
using JsonInput = nlohmann::json;

class LspServer {
 public:
  // The answers to a message, and what the server says by itself. A request that cannot be answered has an error as its
  // answer; a notification that is none is ignored.
  std::vector<Json> Handle(const JsonInput& message);
  // Reads the documents that were changed, and says which errors they have. To be called when no message waits: while
  // somebody types, each letter is a message.
  std::vector<Json> Publish();

  // After `exit`. The exit status is 0 if `shutdown` came before it.
  bool is_over() const { return is_over_; }
  bool is_shut_down() const { return is_shut_down_; }

 private:
  struct Open {
    std::string text;
    int64_t version = 0;
    bool is_published = false;
    std::unique_ptr<editor::Document> document;  // of this text; null: not read yet
  };

  // The result of a request; sets `error` instead if it has none.
  Json Answer(const std::string& method, const JsonInput& params, std::optional<Json>* error);
  Json AnswerAbout(const editor::Document& document, const std::string& method, const JsonInput& params,
                   std::optional<Json>* error) const;
  void Notice(const std::string& method, const JsonInput& params, std::vector<Json>* out);
  void Change(const JsonInput& params);
  // Reads the document if it is new. Null if it is not open.
  const editor::Document* Find(const std::string& uri);
  Json Diagnostics(const std::string& uri, const Open& open) const;

  std::map<std::string, Open> open_;
  bool is_initialized_ = false;
  bool is_shut_down_ = false;
  bool is_over_ = false;
};

}  // namespace kashi::cli

#endif  // KASHI_CLI_LSP_SERVER_H_
